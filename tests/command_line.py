"""The command line, called within this process."""

from typer.testing import CliRunner

from exposim.cli.app import app
from paper.command import app as paper_app


def exposim(*words):
    """What a command printed, and its exit status."""
    return _invoke(app, "exposim", words)


def paper(*words):
    """The same of the paper's experiments."""
    return _invoke(paper_app, "python -m paper", words)


def _invoke(program, name, words):
    result = CliRunner().invoke(program, [str(word) for word in words], prog_name=name)
    assert "Traceback" not in result.output
    return result


def fails(status, *words, says, command=exposim):
    """The one line on stderr of a command that must fail, with these words in it."""
    result = command(*words)
    assert result.exit_code == status, result.output
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("error:")]
    for word in (says,) if isinstance(says, str) else says:
        assert word in line
    return line


def refused(*words, says, command=exposim):
    """As `fails`, for bad usage and bad values."""
    return fails(2, *words, says=says, command=command)
