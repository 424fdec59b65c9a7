"""Patches of ground: tiles in two shades, so that motion over them is seen."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.contact.surfaces import HalfSpace

_SQUARE = ((0, 0), (1, 0), (1, 1), (0, 1))


def placement(surface: HalfSpace, near: Array, step: float) -> pin.SE3:
    """A frame in the plane near a point [m]: z along the normal, whole steps [m] away from the surface's own point."""
    up = np.array([0.0, 0.0, 1.0])
    turn = pin.Quaternion.FromTwoVectors(up, np.array(surface.normal)).toRotationMatrix()
    plane = pin.SE3(turn, np.array(surface.point))
    steps = np.round(plane.actInv(near) / step) * step
    return plane * pin.SE3(np.eye(3), np.array([steps[0], steps[1], 0.0]))


def tiles(edge: float, shade: int, count: int = 48) -> tuple[Array, NDArray[np.int_]]:
    """Every other tile of a patch around the origin in z = 0, of so many along its edge, an even number.

    Returns:
        Vertices [m], (n, 3), and triangles of them, (m, 3).
    """
    places = [(x, y) for x in range(count) for y in range(count) if (x + y) % 2 == shade]
    corners = np.array([(x + a, y + b, 0.0) for x, y in places for a, b in _SQUARE])
    first = 4 * np.arange(len(places))[:, None]
    triangles = np.concatenate([first + np.array(three) for three in ((0, 1, 2), (0, 2, 3))])
    return edge * (corners - (count / 2, count / 2, 0.0)), triangles
