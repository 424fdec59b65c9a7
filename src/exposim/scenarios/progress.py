"""How far a run is, in a line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from exposim._progress import Line, clock
from exposim.errors import InvalidArgument
from exposim.scenarios.run import Run


def told(run: Run, began_at: float, seconds: float) -> str:
    """Time, speed and time left of a run that has taken so many seconds from a time [s] on."""
    duration = run.settings.duration
    factor = (run.t - began_at) / seconds if seconds > 0.0 else 0.0
    left = (duration - run.t) / factor if factor > 0.0 else 0.0
    return f"{run.t:.2f} / {duration:g} s · {factor:.3g}× real time · {clock(left)} left"


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
            yield line.show_run
        finally:
            line.clear()
    elif progress is False:
        yield lambda run: None
    elif callable(progress):
        yield progress
    else:
        raise InvalidArgument(f"progress is {progress!r}; give True, False or a function of the run")


class _Line(Line):
    """Of a run."""

    def __init__(self, run: Run, stream: Any):
        super().__init__(run.scenario.name, stream)
        self._began_at = run.t

    def show_run(self, run: Run) -> None:
        if self.is_due:
            self.show(told(run, self._began_at, self.seconds), run.steps_done / run.steps)
