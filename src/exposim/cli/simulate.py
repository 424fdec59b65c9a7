"""Advancing a run with a progress bar, until it is done or somebody interrupts."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from time import monotonic
from types import FrameType, TracebackType
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn

from exposim.cli.console import out
from exposim.scenarios import Run
from exposim.scenarios.progress import told

REFRESH = 0.2  # [s] between two pictures of the progress bar
SHARE_OF_SAVING = 0.1  # at most of the time, however long a save takes


class Interruption:
    """Within, SIGINT and SIGTERM are noted rather than obeyed, so that a run can stop where it can be resumed.

    A second SIGINT is obeyed: a controller may hang.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._before: dict[int, Any] = {}

    @property
    def status(self) -> int:
        """Exit status of a process that was so interrupted."""
        return 128 + (self.signal or signal.SIGINT)

    def __enter__(self) -> Interruption:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signal = number
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Within, SIGINT has no effect: a file is being written."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)


def progress_bar() -> Progress:
    """Drawn by the loop itself: a thread would disturb the times that are measured."""
    console = out()
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[shown]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
        auto_refresh=False,
    )


def simulate(
    run: Run,
    progress: Progress,
    label: str,
    interruption: Interruption | None = None,
    save: Callable[[], object] | None = None,
    save_every: float = 30.0,
) -> None:
    """Advances a run until it is done or interrupted.

    Args:
        run: Where to go on.
        progress: The bar to show it in.
        label: Before the bar.
        interruption: Asked after every control period.
        save: Called now and then.
        save_every: Time between two saves [s], of the clock on the wall.
    """
    task = progress.add_task(label, total=run.steps, completed=run.steps_done, shown="")
    start, began_at = monotonic(), run.t
    shown, saved = start, start
    while not run.done and (interruption is None or interruption.signal is None):
        run.advance()
        now = monotonic()
        if now - shown > REFRESH or run.done:
            text = told(run, began_at, now - start)
            progress.update(task, completed=run.steps_done, shown=text, refresh=True)
            shown = now
        if save is not None and now - saved > save_every and not run.done:
            with undisturbed() if interruption is not None else nullcontext():
                save()
            saved = monotonic()
            save_every = max(save_every, (saved - now) / SHARE_OF_SAVING)
