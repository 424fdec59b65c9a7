"""Curves through knots at equal distances in time, as matrices that act on the knots."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from exposim._checks import Array

SPLINES = ("hold", "linear", "cubic")


def weights(times: ArrayLike, spacing: float, knots: int, spline: str) -> Array:
    """How much of each knot there is in the curve at times from the first knot on, (T, knots).

    Before the first knot and behind the last one the curve has the value of that knot.

    Args:
        times: Since the first knot [s], (T,).
        spacing: From knot to knot [s].
        knots: How many there are.
        spline: ``"hold"``: each knot until the next; ``"linear"``; ``"cubic"``: through the knots, with a continuous
            slope, at each the mean one from its neighbour to its neighbour (Catmull and Rom).
    """
    last = knots - 1
    place = np.clip(np.asarray(times, dtype=float) / spacing, 0.0, last)
    place = np.where(np.abs(place - np.round(place)) < 1e-9, np.round(place), place)  # a knot, but for rounding
    before = np.minimum(np.floor(place).astype(int), last)
    after = np.minimum(before + 1, last)
    s = (place - before)[:, None]
    values: Array = np.eye(knots)
    if spline == "hold":
        return np.asarray(values[before])
    if spline == "linear":
        return np.asarray((1.0 - s) * values[before] + s * values[after])
    slopes = np.gradient(values, axis=0) if knots > 1 else np.zeros((1, 1))  # one-sided at both ends
    return np.asarray(
        (2.0 * s**3 - 3.0 * s**2 + 1.0) * values[before]
        + (s**3 - 2.0 * s**2 + s) * slopes[before]
        + (3.0 * s**2 - 2.0 * s**3) * values[after]
        + (s**3 - s**2) * slopes[after]
    )
