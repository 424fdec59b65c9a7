"""What is said when something goes wrong: one line, with a suggestion."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

import exposim
from exposim.cli.console import Status, complain, warnings_as_notes
from exposim.errors import ExposimError, did_you_mean

DEBUG = "--debug"

# Typer carries Click along since 0.22 and imported it before: both are found from an exception of its own.
_ClickException: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


class _OneLineErrors:
    """Says every error in one line with a suggestion, and exits with its status."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Parses the command line and runs the command."""
        given = list(sys.argv[1:] if args is None else args)
        debug = DEBUG in given
        words = [word for word in given if word != DEBUG]  # wherever it stands
        run = partial(
            super().main,  # type: ignore[misc]  # of Typer's class beside this one
            words,
            prog_name,
            complete_var,
            windows_expand_args=windows_expand_args,
            **extra,
        )
        if debug:
            return run(standalone_mode=standalone_mode)
        try:
            with warnings_as_notes():
                status = run(standalone_mode=False)
        except ExposimError as error:
            status = _say(str(error))
        except _ClickException as error:
            status = _say(_usage(error))
        except (KeyboardInterrupt, typer.Abort):
            status = _say("interrupted", Status.INTERRUPTED)
        except OSError as error:
            where = "" if error.filename is None else f"{error.filename}: "
            status = _say(f"{where}{error.strerror or error}")
        except Exception as error:
            status = _unexpected(error)
        sys.exit(status if isinstance(status, int) else Status.WELL)


class OneLineCommand(_OneLineErrors, TyperCommand):
    """A command by itself."""


class OneLineGroup(_OneLineErrors, TyperGroup):
    """Several commands; an unknown one is told the nearest."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is meant, or the one that may be."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            known = [name for name in self.list_commands(ctx) if not self.commands[name].hidden]
            near = did_you_mean(args[0], known)
            raise typer.BadParameter(f"{args[0]} is no command{near or '; give one of ' + ', '.join(known)}")
        return super().resolve_command(ctx, args)


def _say(text: str, status: Status = Status.USAGE) -> Status:
    complain(text)
    return status


def _usage(error: Any) -> str:
    """What Click found, with the nearest option, and without its frame."""
    command = error.ctx.command_path if getattr(error, "ctx", None) is not None else "exposim"
    if (unknown := getattr(error, "option_name", None)) and type(error).__name__ == "NoSuchOption":
        known = [name for each in error.ctx.command.params if not getattr(each, "hidden", False) for name in each.opts]
        near = did_you_mean(unknown, [name for name in known if name.startswith("--")])
        return f"{unknown} is no option of {command}{near or f'; see {command} --help'}"
    if type(error) is typer.BadParameter and error.param is None:
        return str(error.message)
    return f"{error.format_message().rstrip('.')}; see {command} --help"


def _unexpected(error: Exception) -> Status:
    """One line: about the user's own file if that raised it, else about a bug of ours."""
    what = f"{type(error).__name__}: {error}"
    here = Path(exposim.__file__).parent
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.endswith(".py") and _is_users(Path(frame.filename), here)]
    if own:
        return _say(f"{own[-1].filename}, line {own[-1].lineno}: {what}; {DEBUG} shows where it came from")
    last = frames[-1]
    return _say(
        f"a bug in exposim, please report it: {what} ({Path(last.filename).name}, line {last.lineno}); "
        f"{DEBUG} shows the traceback",
        Status.BUG,
    )


def _is_users(file: Path, here: Path) -> bool:
    installed = {"site-packages", "dist-packages"} & set(file.parts)
    return not file.is_relative_to(here) and not installed and not file.is_relative_to(Path(sys.base_prefix))
