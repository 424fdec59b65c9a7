"""How far something is, in a line."""

from __future__ import annotations

from time import monotonic
from typing import Any

REFRESH = 0.2  # [s] between two pictures of a line that is drawn over
QUIET = 60.0  # [s] between two lines where nothing can be drawn over
BAR = 30  # characters


def clock(seconds: float) -> str:
    """A time left, as a clock shows it: ``1:05``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Line:
    """One that is drawn over on a terminal or in a notebook, and elsewhere now and then a new one.

    Args:
        label: What it is of.
        stream: To write to.
    """

    def __init__(self, label: str, stream: Any):
        self._stream = stream
        self._is_drawn_over = stream.isatty() or type(stream).__module__.startswith("ipykernel")
        self._start = self._last = monotonic()
        self._label = label
        self._length = 0

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return monotonic() - self._start

    @property
    def is_due(self) -> bool:
        """Whether it is time to show it again."""
        return monotonic() - self._last >= (REFRESH if self._is_drawn_over else QUIET)

    def show(self, text: str, share: float) -> None:
        """Writes it.

        Args:
            text: Behind the bar.
            share: That is done, from 0 to 1.
        """
        self._last = monotonic()
        if not self._is_drawn_over:
            print(f"{self._label}: {text}", file=self._stream, flush=True)
            return
        done = int(BAR * share)
        text = f"{self._label} {'━' * done}{'╌' * (BAR - done)} {text}"
        print(f"\r{text:{self._length}}", end="", file=self._stream, flush=True)
        self._length = len(text)

    def clear(self) -> None:
        """Takes it away."""
        if self._length:
            print(f"\r{'':{self._length}}\r", end="", file=self._stream, flush=True)
