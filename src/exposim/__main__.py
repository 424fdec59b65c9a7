"""``python -m exposim``: the command line."""

from exposim.cli import main

if __name__ == "__main__":
    main()
