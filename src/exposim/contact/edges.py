"""Edges of surfaces, which shapes of bodies may come to lie on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from itertools import product

import numpy as np
import pinocchio as pin

from exposim import _core
from exposim._checks import Array
from exposim.contact.profiles import Profile
from exposim.contact.shapes import Box, Capsule, Cylinder, rotation_matrix
from exposim.contact.surfaces import Surface

SPACING = 0.01  # [m] of the points of an edge, at most
LEAST_PIECES = 10  # between them
MOST_ON_RIM = 64
UP = np.array([0.0, 0.0, 1.0])
SLIGHT = 0.1  # [rad] by which a profile may bend without an edge


@dataclass(frozen=True, eq=False)
class Edge:
    """A straight edge, or the axis of a capsule, as a row of balls.

    Args:
        start: Where it begins [m], in the world or in the frame of the surface, (3,).
        end: Where it ends [m], (3,); ``None``: it goes through the start and has no end on either side.
        direction: Unit vector, (3,).
        radius: By which it is rounded [m]; it lies so far inside.
    """

    start: Array
    end: Array | None
    direction: Array
    radius: float

    def moved(self, placement: pin.SE3) -> Edge:
        """In the axes in which the frame has that placement."""
        end = None if self.end is None else placement.act(self.end)
        return Edge(placement.act(self.start), end, placement.rotation @ self.direction, self.radius)

    def _build(self, surface: int, joint: int) -> _core.Edge:
        length = 0.0 if self.end is None else float(np.linalg.norm(self.end - self.start))
        pieces = max(LEAST_PIECES, int(np.ceil(length / SPACING))) if length > 0.0 else 0
        spacing = length / pieces if pieces else SPACING
        count = 0 if self.end is None else pieces + 1
        return _core.Edge(self.start, self.direction, spacing, count, self.radius, surface, joint)


@singledispatch
def edges_of(surface: Surface) -> tuple[Edge, ...]:
    """Of a surface, in the world or in its frame: none of planes and fields, of meshes and surfaces of one's own."""
    del surface
    return ()


@edges_of.register
def _(surface: Box) -> tuple[Edge, ...]:
    half = 0.5 * np.array(surface.size) - surface.rounding
    found = []
    for axis in range(3):
        for signs in product((-1.0, 1.0), repeat=2):
            end = half * np.insert(np.array(signs), axis, 1.0)
            start = end.copy()
            start[axis] = -end[axis]
            found.append((start, end, np.eye(3)[axis], surface.rounding))
    return _placed(surface, found)


@edges_of.register
def _(surface: Cylinder) -> tuple[Edge, ...]:
    radius, z = surface.radius - surface.rounding, 0.5 * surface.length - surface.rounding
    count = int(np.clip(np.ceil(2.0 * np.pi * radius / SPACING), 1, MOST_ON_RIM))
    angle = 2.0 * np.pi * np.arange(count) / count
    rim = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    points = [np.append(xy, side * z) for side in (-1.0, 1.0) for xy in rim]
    # Those of a body are among its contact points.
    return _placed(surface, [(p, p, UP, surface.rounding) for p in points]) if surface.frame is None else ()


@edges_of.register
def _(surface: Capsule) -> tuple[Edge, ...]:
    half = 0.5 * surface.length
    return _placed(surface, [(-half * UP, half * UP, UP, surface.radius)])


@edges_of.register
def _(surface: Profile) -> tuple[Edge, ...]:
    corners = np.array(surface.corners)
    level = np.array([[1.0, 0.0]])
    pieces = np.vstack([level, np.diff(corners, axis=0), level])
    angle = np.arctan2(pieces[:, 1], pieces[:, 0])
    found = []
    for corner, turn, along in zip(corners, np.diff(angle), 0.5 * (angle[:-1] + angle[1:]), strict=True):
        if turn < -SLIGHT:  # it sticks out
            inwards = np.array([np.sin(along), -np.cos(along)]) * surface.rounding / np.cos(0.5 * turn)
            x, z = corner + inwards
            found.append((np.array([x, 0.0, z]), None, np.array([0.0, 1.0, 0.0]), surface.rounding))
    return _placed(surface, found)


def _placed(
    surface: Box | Capsule | Cylinder | Profile, edges: Sequence[tuple[Array, Array | None, Array, float]]
) -> tuple[Edge, ...]:
    R, p = rotation_matrix(np.array(surface.rotation)), np.array(surface.position)
    return tuple(
        Edge(p + R @ start, None if end is None else p + R @ end, R @ direction, radius)
        for start, end, direction, radius in edges
    )
