"""Contact points of shapes: where a body of that shape touches what is flat or larger."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.contact.meshes import Mesh
from exposim.contact.shapes import Box, Capsule, Cylinder, Sphere
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument
from exposim.robots.contact_points import ContactPoint
from exposim.robots.reach import directions, extremes, furthest_first

# On each rim of a cylinder.
RIM_POINTS = 8
# Corners of a mesh that have a point, at most; one must reach further than the others do by this part of its size.
MOST_CORNERS = 16
FINEST_CORNER = 0.01
# A capsule longer than this many radii has a point in its middle too.
LONG = 4.0


def placement_of(shape: Any) -> pin.SE3:
    """Of a shape's own axes in its frame."""
    rotation = pin.Quaternion(np.array(getattr(shape, "rotation", (0.0, 0.0, 0.0, 1.0)), dtype=float))
    return pin.SE3(rotation.normalized().toRotationMatrix(), np.array(shape.position, dtype=float))


def points_of(shape: Surface, frame: str, prefix: str) -> tuple[ContactPoint, ...]:
    """Balls that a shape is held by, in the frame that carries it, named after the prefix.

    A sphere has one, ``prefix``; a capsule ``prefix_end_0`` and ``_1`` (below and above on its axis z), and
    ``prefix_middle`` if it is longer than two diameters; a box ``prefix_corner_0`` to ``_7``, those below first, x
    changing fastest; a cylinder ``prefix_rim_0`` to ``_15``, around the lower rim from its x axis and then around the
    upper. Those of boxes and cylinders have the shape's ``rounding`` for their radius, and lie inside by that. A mesh
    has no more than 16 of its extreme corners, ``prefix_corner_0`` and so on, those below first, without a radius.

    Raises:
        InvalidArgument: For a shape of another kind.
        UnreadableFile: If the file of a mesh has changed.
    """
    find = next((find for kind, find in _FINDERS.items() if isinstance(shape, kind)), None)
    if find is None:
        raise InvalidArgument(
            f"shape is {shape!r}, of which no contact points are known; give a Box, Sphere, Capsule, Cylinder or Mesh, "
            f"or contact_points=..."
        )
    positions, radius, names = find(shape)
    placement = placement_of(shape)
    return tuple(
        ContactPoint(frame, placement.act(position), f"{prefix}{name}", radius)
        for position, name in zip(positions, names, strict=True)
    )


Found = tuple[Array, float, list[str]]


def _of_sphere(shape: Sphere) -> Found:
    return np.zeros((1, 3)), shape.radius, [""]


def _of_capsule(shape: Capsule) -> Found:
    heights, names = [-shape.length / 2.0, shape.length / 2.0], ["_end_0", "_end_1"]
    if shape.length > LONG * shape.radius:
        heights, names = [*heights, 0.0], [*names, "_middle"]
    return np.array([(0.0, 0.0, height) for height in heights]), shape.radius, names


def _of_box(shape: Box) -> Found:
    half = np.array(shape.size, dtype=float) / 2.0 - shape.rounding
    corners = np.array([(x, y, z) for z, y, x in product((-1.0, 1.0), repeat=3)])
    return half * corners, shape.rounding, [f"_corner_{i}" for i in range(8)]


def _of_cylinder(shape: Cylinder) -> Found:
    radius, height = shape.radius - shape.rounding, shape.length / 2.0 - shape.rounding
    angles = 2.0 * np.pi * np.arange(RIM_POINTS) / RIM_POINTS
    rims = [(radius * np.cos(a), radius * np.sin(a), z) for z in (-height, height) for a in angles]
    return np.array(rims), shape.rounding, [f"_rim_{i}" for i in range(2 * RIM_POINTS)]


def _of_mesh(shape: Mesh) -> Found:
    furthest = extremes(shape.triangles()[0])
    reach = (directions() * furthest).sum(axis=1)
    corners = np.unique(furthest, axis=0)
    corners = corners[np.lexsort(corners.T)]  # by z, then y, then x
    few = iter(range(MOST_CORNERS))
    finest = FINEST_CORNER * float(np.ptp(corners, axis=0).max())
    order = furthest_first(directions() @ corners.T, reach, (), lambda _: next(few, None) is not None, finest)
    kept = corners[sorted(at for at, _ in order)]
    return kept, 0.0, [f"_corner_{i}" for i in range(len(kept))]


_FINDERS: dict[type, Callable[[Any], Found]] = {
    Sphere: _of_sphere,
    Capsule: _of_capsule,
    Box: _of_box,
    Cylinder: _of_cylinder,
    Mesh: _of_mesh,
}
