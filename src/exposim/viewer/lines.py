"""Lines of one's own in what is drawn: a plan, a path, a reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument

PLANNED = (0.95, 0.45, 0.05)  # red, green, blue from 0 to 1
THICKNESS = 0.012  # of a line, as a part of the robot's size


@dataclass(frozen=True)
class Line:
    """From point to point [m], (n, 3), in a colour."""

    points: Array
    colour: tuple[float, float, float]

    @property
    def segments(self) -> Array:
        """Both ends of every piece, (n − 1, 2, 3)."""
        return np.stack([self.points[:-1], self.points[1:]], axis=1)


def checked_line(name: str, points: ArrayLike | None, colour: ArrayLike) -> Line | None:
    """A line, or none where there are no points."""
    if not isinstance(name, str) or not name.replace("_", "").replace("-", "").isalnum():
        raise InvalidArgument(f"name is {name!r}; give a text of letters, digits, - and _")
    red, green, blue = _checks.vector("colour", colour, 3, "red, green, blue from 0 to 1")
    if not all(0.0 <= part <= 1.0 for part in (red, green, blue)):
        raise InvalidArgument(f"colour is {colour!r}; give red, green and blue from 0 to 1")
    if points is None:
        return None
    array = _checks.finite("points", _checks.as_array("points", points))
    if array.ndim != 2 or array.shape[1] != 3 or len(array) < 2:
        raise InvalidArgument(f"points has shape {array.shape}; give (n, 3) with two or more points [m], or None")
    return Line(array, (float(red), float(green), float(blue)))
