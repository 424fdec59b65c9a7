"""Randomness of rows: of each its own, so that no row depends on how many others there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array

Index = NDArray[np.intp]
Floats = NDArray[np.float32]

AHEAD = 32  # observations whose noise is drawn at once, as a call costs more than a number


class Draws:
    """A generator for every row, and noise that is drawn ahead.

    Args:
        generators: One for each row.
        size: Noisy numbers of an observation.
    """

    def __init__(self, generators: Sequence[np.random.Generator], size: int):
        self.generators = list(generators)
        self._noise: Floats = np.empty((len(self.generators), AHEAD, size), dtype=np.float32)
        self._next = np.full(len(self.generators), AHEAD)

    def begin(self, row: int, generator: np.random.Generator) -> None:
        """Give a row another generator."""
        self.generators[row] = generator
        self._next[row] = AHEAD

    def uniform(self, rows: Index, count: int) -> Array:
        """Numbers from 0 to 1, (len(rows), count)."""
        return np.array([self.generators[row].random(count) for row in rows]).reshape(len(rows), count)

    def normal(self, rows: Index) -> Floats:
        """Of standard deviation one, for an observation of each of these rows, (len(rows), size)."""
        at = self._next[rows]
        for row in rows[at == AHEAD]:
            self.generators[row].standard_normal(out=self._noise[row], dtype=np.float32)
            self._next[row] = 0
        at[at == AHEAD] = 0
        self._next[rows] += 1
        drawn: Floats = self._noise[rows, at]
        return drawn
