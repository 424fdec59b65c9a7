"""Pushes at the base, now and then."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.envs.draws import Draws, Index
from exposim.envs.rows import Flags
from exposim.envs.task import Task


class Pushes:
    """When each row is pushed, how, and for how long still.

    Args:
        task: Whose :class:`exposim.envs.Randomise` says how they are drawn.
        count: Of rows.
    """

    def __init__(self, task: Task, count: int):
        self._drawn = drawn = task.randomise
        self._period, self._base = task.period, task.base
        self._lasting = max(1, round(drawn.push_time / task.period))
        mass = sum(inertia.mass for inertia in list(task.robot.model.inertias)[1:])
        self._force = mass / (self._lasting * task.period)  # for a speed of 1 m/s [N]
        self._next = np.zeros(count, dtype=int)  # period in which it begins
        self._left = np.zeros(count, dtype=int)
        self._wrench = np.zeros((count, 1, 6))

    def begin(self, rows: Index, first: Array) -> None:
        """New episodes, whose first push is after this time [s], (len(rows),)."""
        self._left[rows] = 0
        self._next[rows] = self._periods(first)

    def wrenches(self, elapsed: Array, live: Flags | None, draws: Draws) -> dict[str, Array] | None:
        """Of all rows in the period after this many, (count, 1, 6); none where nobody is ever pushed."""
        drawn = self._drawn
        if drawn.push is None:
            return None
        due = elapsed == self._next
        if live is not None:
            due &= live
        if due.any():
            rows = np.flatnonzero(due)
            angle, speed, wait = draws.uniform(rows, 3).T
            angle, force = 2.0 * np.pi * angle, self._force * between(drawn.push, speed)
            self._wrench[rows, 0, 0], self._wrench[rows, 0, 1] = force * np.cos(angle), force * np.sin(angle)
            self._left[rows] = self._lasting
            self._next[rows] += self._periods(between(drawn.push_every, wait))
        pushed = self._left > 0
        self._left -= pushed
        return {self._base: self._wrench * pushed[:, None, None]}

    def _periods(self, seconds: Array) -> NDArray[np.int_]:
        return np.maximum(1, np.rint(seconds / self._period)).astype(int)


def between(bounds: tuple[float, float], share: Array) -> Array:
    """Numbers between two bounds, by their shares of the way from 0 to 1."""
    low, high = bounds
    return np.asarray(low + (high - low) * share)
