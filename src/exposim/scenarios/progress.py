"""How far a run is, in a line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from exposim.errors import InvalidArgument
from exposim.scenarios.run import Run

REFRESH = 0.2  # [s] between two pictures of a line that is drawn over
QUIET = 60.0  # [s] between two lines where nothing can be drawn over
BAR = 30  # characters


def told(run: Run, began_at: float, seconds: float) -> str:
    """Time, speed and time left of a run that has taken so many seconds from a time [s] on."""
    duration = run.settings.duration
    factor = (run.t - began_at) / seconds if seconds > 0.0 else 0.0
    left = (duration - run.t) / factor if factor > 0.0 else 0.0
    return f"{run.t:.2f} / {duration:g} s · {factor:.3g}× real time · {clock(left)} left"


def clock(seconds: float) -> str:
    """A time left, as a clock shows it: ``1:05``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@contextmanager
def shown(progress: bool | Callable[[Run], object], run: Run) -> Iterator[Callable[[Run], object]]:
    """What to call after every control period of a run.

    Args:
        progress: ``True``: draws a line; a function: that one; ``False``: nothing.
        run: That is to be advanced.
    """
    if progress is True:
        line = _Line(run, sys.stderr)
        try:
            yield line.show
        finally:
            line.clear()
    elif progress is False:
        yield lambda run: None
    elif callable(progress):
        yield progress
    else:
        raise InvalidArgument(f"progress is {progress!r}; give True, False or a function of the run")


class _Line:
    """One that is drawn over on a terminal or in a notebook, and elsewhere now and then a new one."""

    def __init__(self, run: Run, stream: Any):
        self._stream = stream
        self._is_drawn_over = stream.isatty() or type(stream).__module__.startswith("ipykernel")
        self._start = self._last = monotonic()
        self._began_at, self._label = run.t, run.scenario.name
        self._length = 0

    def show(self, run: Run) -> None:
        now = monotonic()
        if now - self._last < (REFRESH if self._is_drawn_over else QUIET):
            return
        self._last = now
        text = told(run, self._began_at, now - self._start)
        if not self._is_drawn_over:
            print(f"{self._label}: {text}", file=self._stream, flush=True)
            return
        done = int(BAR * run.steps_done / run.steps)
        text = f"{self._label} {'━' * done}{'╌' * (BAR - done)} {text}"
        print(f"\r{text:{self._length}}", end="", file=self._stream, flush=True)
        self._length = len(text)

    def clear(self) -> None:
        if self._length:
            print(f"\r{'':{self._length}}\r", end="", file=self._stream, flush=True)
