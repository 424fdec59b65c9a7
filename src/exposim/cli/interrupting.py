"""Interruptions of work that is done in pieces."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(KeyboardInterrupt):
    """By SIGINT or SIGTERM."""

    status = 130


@contextmanager
def interruptible() -> Iterator[None]:
    """Within, SIGINT and SIGTERM raise :class:`Interrupted`, also where they are ignored by inheritance."""

    def stop(number: int, frame: FrameType | None) -> None:
        error = Interrupted()
        error.status = 128 + number
        raise error

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
