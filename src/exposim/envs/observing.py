"""What policies see: parts one after the other, late and with noise, in numbers of about one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from exposim._checks import Array
from exposim.envs.draws import Floats, Index
from exposim.envs.rows import Rows
from exposim.envs.task import PARTS, Task
from exposim.errors import InvalidArgument

LIMIT = 100.0  # beyond which observations are cut off


class Observing:
    """Makes observations, and remembers what they are made of for as long as sensors are late.

    Args:
        task: Whose parts are observed.
        rows: By which their sizes are found out.
    """

    def __init__(self, task: Task, rows: Rows):
        self._parts = [_function(part) for part in task.observe]
        found = [_columns(part(rows)) for part in self._parts]
        self._names = [
            part if isinstance(part, str) else getattr(part, "__name__", "function") for part in task.observe
        ]
        for name, part in zip(self._names, found, strict=True):
            if part.ndim != 2 or len(part) != len(rows.q):
                raise InvalidArgument(f"observe {name!r} gave shape {part.shape}; give (n, k) or (n,) for n rows")
        sizes = [part.shape[1] for part in found]
        ends = np.cumsum(sizes)
        self._slices = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
        self.size = int(ends[-1])
        """Numbers of an observation."""
        scale = [PARTS[part] if isinstance(part, str) else 1.0 for part in task.observe]
        noise = [getattr(task.sensing, part, 0.0) if isinstance(part, str) else 0.0 for part in task.observe]
        self._scale = np.repeat(scale, sizes).astype(np.float32)
        self._noise: list[tuple[slice, slice, np.float32]] = []  # where, which of the noise, and its standard deviation
        self.noisy = 0
        """How many of them have noise."""
        for where, deviation, size in zip(self._slices, noise, sizes, strict=True):
            if deviation > 0.0:
                self._noise.append((where, slice(self.noisy, self.noisy + size), np.float32(deviation)))
                self.noisy += size
        self._dt, self._nq, self._step_count = task.dt, rows.q.shape[1], task.steps
        longest = round(task.sensing.delay[1] / task.dt)
        self.records: tuple[str, ...] = ("q", "v", "torques") if longest else ("torques",)
        """That are wanted of every step."""
        kept = max(longest + 1, task.steps) if longest else 0
        self._seen = np.zeros((len(rows.q), kept, self._nq + rows.v.shape[1]))
        self._late = np.zeros(len(rows.q), dtype=int)

    def begin(self, rows: Index, q: Array, v: Array, delay: Array) -> None:
        """New episodes at q, v, in which sensors are late by so much [s], (len(rows),)."""
        if self._seen.shape[1]:
            self._seen[rows] = np.concatenate([q, v], axis=1)[:, None]
            self._late[rows] = np.rint(delay / self._dt)

    def see(self, out: Any) -> None:
        """What happened in the steps of a period."""
        if self._seen.shape[1]:
            new = self._step_count
            self._seen[:, :-new] = self._seen[:, new:]
            self._seen[:, -new:, : self._nq] = out.q
            self._seen[:, -new:, self._nq :] = out.v

    def observation(self, which: Index, rows: Rows, noise: Floats | None) -> Floats:
        """Of some rows, (len(which), size)."""
        if self._seen.shape[1]:
            seen = self._seen[which, self._seen.shape[1] - 1 - self._late[which]]
            rows = dataclasses.replace(rows, q=seen[:, : self._nq], v=seen[:, self._nq :])
        made: Floats = np.empty((len(which), self.size), dtype=np.float32)
        for where, part in zip(self._slices, self._parts, strict=True):
            made[:, where] = _columns(part(rows))
        if noise is not None:
            for where, drawn, deviation in self._noise:
                made[:, where] += noise[:, drawn] * deviation
        made *= self._scale
        if not np.isfinite(made).all():
            bad = next(
                name for name, at in zip(self._names, self._slices, strict=True) if not np.isfinite(made[:, at]).all()
            )
            raise InvalidArgument(f"observe {bad!r} gave numbers that are not finite; give finite ones")
        return np.clip(made, -LIMIT, LIMIT, out=made)


def _columns(value: Any) -> Array:
    array = np.asarray(value)
    return array[:, None] if array.ndim == 1 else array


def _function(part: Any) -> Callable[[Rows], Array]:
    return part if callable(part) else _Named(part)


class _Named:
    def __init__(self, name: str):
        self._name = name

    def __call__(self, rows: Rows) -> Array:
        part: Array = getattr(rows, self._name)
        return part
