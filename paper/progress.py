"""Progress of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from types import TracebackType

from exposim._progress import clock
from exposim.cli.console import say
from exposim.cli.simulate import progress_bar
from paper.cell import Cell
from paper.notebook import Progress

QUIET = 60.0  # [s] between two lines where there is no terminal to draw a bar in


class CellProgress(Progress):
    """A bar with an estimate of the time left; now and then a line where there is no terminal.

    Args:
        total: How many cells there are, done ones included.
    """

    def __init__(self, total: int):
        self._total = total
        self._waiting: list[Cell] = []
        self._bar = progress_bar()
        self._task = self._bar.add_task("", total=total, shown="")

    def __enter__(self) -> CellProgress:
        self._bar.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.__exit__(kind, error, at)

    def begin(self, cells: Sequence[Cell], jobs: int) -> None:
        """These are to be computed, so many at once."""
        self._waiting, self._jobs = list(cells), jobs
        self._work = self._left()
        self._started = self._said = monotonic()
        if cells:
            self._show(f"{len(cells)} cells to compute")

    def done(self, cell: Cell) -> None:
        """One is finished."""
        self._waiting.remove(cell)
        now = monotonic()
        finished = self._work - self._left()
        left = (now - self._started) * self._left() / finished if finished > 0.0 else 0.0
        self._show(f"{self._total - len(self._waiting)} of {self._total} cells · {clock(left)} left · {cell.name}")

    def _show(self, text: str) -> None:
        if self._bar.disable:
            if monotonic() - self._said > QUIET:
                self._said = monotonic()
                say(text)
            return
        self._bar.update(self._task, completed=self._total - len(self._waiting), shown=text, refresh=True)

    def _left(self) -> float:
        """Expected work [s] of what waits: cells that run alone do not share it."""
        return sum(cell.cost / (1 if cell.alone else self._jobs) for cell in self._waiting)
