"""Balls that reach as far as solids do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.contact.mesh_hulls import vertices
from exposim.robots.collision_shapes import surface_of
from exposim.robots.reach import directions, extremes, furthest_first, reach_of
from exposim.robots.shape_points import points_of
from exposim.robots.solids import Solid

# A ball stands for a mesh if it misses less than half of what so many points do, and adds no more than that [m], on
# sides where the mesh is cut off: where it has less than nine tenths of the ball.
FEW = 8
MOST_ADDED = 0.015
CUT = 0.1


@dataclass(frozen=True)
class Hull:
    """Balls that can stand for a solid, in the frame of its link, and how far it reaches itself.

    Args:
        centres: [m], (n, 3).
        radii: [m], (n,); zero for points.
        reach: By direction of :func:`directions` [m], (nd,).
        is_round: Whether one ball stands for a mesh.
    """

    centres: Array
    radii: Array
    reach: Array
    is_round: bool = False


def hull_of(solid: Solid, placement: pin.SE3) -> Hull:
    """Of a solid of any kind, in the frame in which its link has that placement.

    Raises:
        UnreadableFile: Of a mesh that cannot be read.
        InvalidArgument: Of a size that no shape can have.
    """
    d = directions()
    placed = placement * solid.placement
    to_frame, position = placed.rotation, placed.translation
    local = d @ to_frame  # the directions in the axes of the solid
    if solid.kind == "mesh":
        assert solid.path is not None
        p = vertices(solid.path, solid.size) @ to_frame.T + position
        furthest = extremes(p)
        return _ball_or_points(furthest, (d * furthest).sum(axis=1))
    if solid.kind == "ellipsoid":
        radii = np.array(solid.size)
        scaled = local * radii
        length = np.linalg.norm(scaled, axis=1)
        p = (scaled * radii / length[:, None]) @ to_frame.T + position
        return Hull(p, np.zeros(len(p)), length + d @ position)
    surface = surface_of(solid)
    assert surface is not None
    points = points_of(surface, solid.link, solid.link)
    centres = np.array([placement.act(np.array(point.offset)) for point in points])
    radii = np.array([point.radius for point in points])
    if solid.kind == "cylinder":  # its points leave out what is between them on the rims
        radius, length = solid.size
        reach = radius * np.hypot(local[:, 0], local[:, 1]) + 0.5 * length * np.abs(local[:, 2]) + d @ position
        return Hull(centres, radii, reach)
    return Hull(centres, radii, reach_of(centres, radii, d))


def _ball_or_points(furthest: Array, reach: Array) -> Hull:
    """A ball, if it misses less of what is small and round than points do; otherwise the extreme points, each once."""
    d = directions()
    points = np.unique(furthest, axis=0)
    few = iter(range(FEW))
    order = furthest_first(d @ points.T, reach, (), lambda _: next(few, None) is not None, MOST_ADDED / 100.0)
    missed_by_points = (reach - reach_of(points[[at for at, _ in order]], np.zeros(1), d)).max()
    # The ball that reaches as far, d·c + r = h(d), in the mean square, but for the sides where the solid is cut off.
    weight = np.ones(len(d))
    for _ in range(10):
        rows = np.column_stack([d, np.ones(len(d))]) * weight[:, None]
        *centre, radius = np.linalg.lstsq(rows, reach * weight, rcond=None)[0]
        missed = reach - d @ np.array(centre) - radius
        weight = np.where(missed > -CUT * radius, 1.0, 0.02)
    if radius > 0.0 and missed.max() < 0.5 * missed_by_points and -missed.min() < min(0.65 * radius, MOST_ADDED):
        return Hull(np.array([centre]), np.array([radius]), reach, is_round=True)
    return Hull(points, np.zeros(len(points)), reach)
