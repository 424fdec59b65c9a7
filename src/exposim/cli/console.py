"""Where text goes, and what the exit status means."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import TextIO

from rich.console import Console
from rich.text import Text


class Status(IntEnum):
    """Exit status of the command."""

    WELL = 0
    DIVERGED = 1
    USAGE = 2
    FAILED = 3
    BUG = 70
    INTERRUPTED = 130
    TERMINATED = 143


STATUS_HELP = (
    "Exit status: 0 all well; 1 the simulation diverged; 2 bad usage or values; 3 the robot failed its task; "
    "130 interrupted, 143 terminated (what was simulated is saved)."
)


def out(least: int | None = None) -> Console:
    """For results; at least so many characters wide, whatever the terminal is."""
    console = Console(highlight=False)
    if least is not None and least > console.width:
        console.width = least
    return console


def say(text: str, style: str = "") -> None:
    """One line of results, however long."""
    out().print(Text(_plain(text), style), soft_wrap=True)


def note(text: str) -> None:
    """One line beside the results."""
    _line("note:", "yellow", text)


def complain(text: str) -> None:
    """One line about what went wrong."""
    _line("error:", "bold red", text)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Within, a warning is one line without the place in the source."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        note(str(message))

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _plain(text: str) -> str:
    """Without what moves a terminal's cursor or does worse: names may come from a file of somebody else's."""
    return "".join(each if each.isprintable() or each.isspace() else "\ufffd" for each in text)


def _line(label: str, style: str, text: str) -> None:
    one_line = " ".join(_plain(text).split())
    Console(stderr=True, highlight=False).print(Text.assemble((label, style), " ", one_line), soft_wrap=True)
