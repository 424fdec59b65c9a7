"""Ground that is the same along one direction: stairs, ramps, ditches."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks, _core
from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.contact.shapes import Quaternion, checked_position, checked_rotation, placed
from exposim.contact.surfaces import CoreSurface, Point
from exposim.errors import InvalidArgument


@dataclass(frozen=True)
class Profile(CoreSurface):
    """Everything below a line of straight pieces in its plane of x and z, without end along y.

    One surface with one closest point, however many pieces it has: nothing is felt where they meet. All corners, those
    that stick out and those that stick in, are rounded by arcs, so that the normal turns smoothly to that depth and
    height. The ground is level before the first corner and after the last, for ever.

    Args:
        corners: x and z of each [m], (n, 2), in its own axes; x never falls from one to the next, and a wall straight
            up is not followed by one straight down.
        position: Of its origin [m].
        rotation: Quaternion x, y, z, w, from its axes to those of the world.
        material: Of the contact.
        rounding: Radius of all corners [m]; zero: sharp.
    """

    corners: ArrayLike
    position: Point = (0.0, 0.0, 0.0)
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)
    material: Material = field(default_factory=Material, kw_only=True)
    rounding: float = field(default=0.01, kw_only=True)

    def __post_init__(self) -> None:
        self._check_material_and_frame()
        corners = _checks.as_array("corners", self.corners)
        if corners.ndim != 2 or corners.shape[1] != 2 or not len(corners):
            raise InvalidArgument(f"corners has shape {corners.shape}; give x and z of each, (n, 2) [m]")
        _checks.finite("corners", corners)
        rounding = _checks.number("rounding", self.rounding, "[m]", least=0.0)
        _check_room(corners, rounding)
        object.__setattr__(self, "corners", tuple(map(tuple, corners.tolist())))
        object.__setattr__(self, "position", checked_position(self.position))
        object.__setattr__(self, "rotation", checked_rotation(self.rotation))
        object.__setattr__(self, "rounding", rounding)

    @cached_property
    def _made(self) -> _core.Surface:
        return placed(_core.Profile(np.array(self.corners), self.rounding), self.position, self.rotation)


def _check_room(corners: Array, rounding: float) -> None:
    """Of pieces that go on, for the arcs at either end of them."""
    pieces = np.diff(corners, axis=0)
    lengths = np.hypot(*pieces.T)
    for i, (piece, length) in enumerate(zip(pieces, lengths, strict=True)):
        if piece[0] < 0.0 or length == 0.0:
            raise InvalidArgument(
                f"corners {i} and {i + 1} are {corners[i].tolist()} and {corners[i + 1].tolist()}; x must not fall, "
                f"and each must be another place"
            )
    level = np.array([[1.0, 0.0]])
    along = np.vstack([level, pieces / lengths[:, None], level])
    one, next_one = along[:-1], along[1:]
    turn = np.arctan2(one[:, 0] * next_one[:, 1] - one[:, 1] * next_one[:, 0], (one * next_one).sum(axis=1))
    if (back := np.flatnonzero(np.abs(turn) > np.pi - 1e-6)).size:
        raise InvalidArgument(f"at corner {back[0]} the line turns back on itself; leave some way along x in between")
    cut = rounding * np.tan(0.5 * np.abs(turn))
    short = np.flatnonzero(cut[:-1] + cut[1:] > lengths * (1.0 + 1e-12))
    if short.size:
        i = int(short[0])
        most = rounding * lengths[i] / (cut[i] + cut[i + 1])
        raise InvalidArgument(
            f"rounding is {rounding:g} m, for which the piece from corner {i} to {i + 1}, of {lengths[i]:g} m, has no "
            f"room; give at most {most:g}"
        )
