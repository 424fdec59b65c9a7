"""The command line, called within this process."""

from typer.testing import CliRunner

from exposim.cli import app


def exposim(*words):
    """What a command printed, and its exit status."""
    result = CliRunner().invoke(app, [str(word) for word in words], prog_name="exposim")
    assert "Traceback" not in result.output
    return result


def fails(status, *words, says):
    """The one line on stderr of a command that must fail, with these words in it."""
    result = exposim(*words)
    assert result.exit_code == status, result.output
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("error:")]
    for word in (says,) if isinstance(says, str) else says:
        assert word in line
    return line


def refused(*words, says):
    """As `fails`, for bad usage and bad values."""
    return fails(2, *words, says=says)
