"""Links of one robot that are within each other where it starts: they were made so, and never collide."""

from __future__ import annotations

import dataclasses

from exposim.contact.surfaces import Surface
from exposim.robots.robot import ContactPoint, Robot
from exposim.simulation.collisions import CarriedSurface, member_of
from exposim.simulation.places import Places

Overlap = tuple[ContactPoint, Surface]


def without_overlaps(
    robot: Robot, shapes: tuple[CarriedSurface, ...]
) -> tuple[tuple[CarriedSurface, ...], tuple[Overlap, ...]]:
    """The shapes without the points of the same robot whose balls they reach into at ``robot.q0``, and these.

    Args:
        robot: That carries them; robots of a combined one are each for itself.
        shapes: With the points that may meet them.
    """
    if not shapes:
        return (), ()
    places = Places(robot, robot.q0)
    owners = [member_of(robot, point.frame) for point in robot.contact_points]
    kept, overlaps = [], list[Overlap]()
    for each in shapes:
        owner = member_of(robot, str(each.shape.frame))
        within = {
            i
            for i, (point, material) in enumerate(zip(robot.contact_points, each.materials, strict=True))
            if material is not None and owners[i] == owner and places.gap(point, each.shape) < 0.0
        }
        overlaps += [(robot.contact_points[i], each.shape) for i in sorted(within)]
        materials = tuple(None if i in within else material for i, material in enumerate(each.materials))
        kept.append(dataclasses.replace(each, materials=materials))
    return tuple(each for each in kept if each.takes_part), tuple(overlaps)
