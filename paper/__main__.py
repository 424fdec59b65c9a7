"""``python -m paper``: the paper's experiments."""

from paper.command import app

if __name__ == "__main__":
    app(prog_name="python -m paper")
