"""Where pictures are taken from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.viewer.rays import Floats

FIELD_OF_VIEW = 35.0  # vertical [degrees]
WIDEST = 170.0


@dataclass(frozen=True)
class Camera:
    """A camera that stands somewhere; pictures are taken with z up.

    Args:
        position: Where it is [m], x, y, z.
        target: What is in the middle of the picture [m], x, y, z.
        field_of_view: From the picture's lower edge to its upper one [degrees], below 170.
    """

    position: tuple[float, float, float]
    target: tuple[float, float, float]
    field_of_view: float = FIELD_OF_VIEW

    def __post_init__(self) -> None:
        ends = [_checks.vector(name, getattr(self, name), 3, "x, y, z in m") for name in ("position", "target")]
        if not np.linalg.norm(ends[1] - ends[0]) > 0.0:
            raise InvalidArgument(f"position and target of the camera are both {self.target}; give two places")
        for name, end in zip(("position", "target"), ends, strict=True):
            object.__setattr__(self, name, tuple(end.tolist()))
        angle = _checks.number("field_of_view", self.field_of_view, "[degrees]", above=0.0)
        if angle >= WIDEST:
            raise InvalidArgument(f"field_of_view is {angle:g} degrees; give less than {WIDEST:g}")

    def axes(self) -> Array:
        """To the right, up and ahead, the rows of a rotation, (3, 3)."""
        ahead = np.subtract(self.target, self.position)
        ahead /= np.linalg.norm(ahead)
        right = np.cross(ahead, (0.0, 0.0, 1.0))
        if np.linalg.norm(right) < 1e-9:  # straight up or down
            right = np.array([1.0, 0.0, 0.0])
        right /= np.linalg.norm(right)
        return np.array([right, np.cross(right, ahead), ahead])

    def rays(self, columns: Array, rows: Array, height: int) -> Floats:
        """Directions of unit length through places of a picture so high [pixels], from its middle, (n, 3)."""
        across, down = (np.asarray(each, dtype=np.float32) * np.float32(self.pixel(height)) for each in (columns, rows))
        right, up, ahead = self.axes().astype(np.float32)
        through: Floats = across[:, None] * right - down[:, None] * up + ahead
        through *= 1.0 / np.sqrt(1.0 + across**2 + down**2)[:, None]
        return through

    def places(self, points: Array, height: int) -> tuple[Array, Array, Array]:
        """Columns and rows from the middle at which points [m], (n, 3), are seen, and how far ahead they are [m]."""
        right, up, ahead = self.axes() @ (points - np.array(self.position)).T
        scale = 1.0 / (np.where(ahead > 0.0, ahead, np.inf) * self.pixel(height))
        return right * scale, -up * scale, ahead

    def pixel(self, height: int) -> float:
        """Width of a pixel in the middle at a distance of one [-]."""
        return 2.0 * float(np.tan(np.radians(self.field_of_view) / 2.0)) / height
