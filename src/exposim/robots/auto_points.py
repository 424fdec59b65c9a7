"""Contact points from the collision geometry: what is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.robots.robot import Robot


@dataclass(frozen=True)
class AutoPoints:
    """Contact points from the collision geometry, as ``load_robot(..., contact_points="auto")`` takes them.

    Spheres give one point with their radius, capsules both ends and some between, boxes their corners, cylinders points
    on their rims, meshes one ball if they are about as round as one, or else extreme points of their convex hull. What
    is within another shape of the same body is left out. Of the others as many are kept as the bounds allow: first what
    the robot stands on, then always the one that reaches furthest beyond those of its body, then what fills gaps.

    Args:
        links: Names or globs of the links that get points; by default all that have shapes and can move.
        per_link: At most so many on a link.
        total: At most so many.
    """

    links: Sequence[str] = ("*",)
    per_link: int = 8
    total: int = 64

    def __post_init__(self) -> None:
        links = (self.links,) if isinstance(self.links, str) else self.links
        links = _checks.several("links", links, 'names or globs of links, such as ("*_foot", "base")')
        if not links or not all(isinstance(link, str) for link in links):
            raise InvalidArgument(f'links is {self.links!r}; give names or globs of links, such as ("*_foot", "base")')
        object.__setattr__(self, "links", links)
        object.__setattr__(self, "per_link", _checks.count("per_link", self.per_link, most=1000))
        object.__setattr__(self, "total", _checks.count("total", self.total, most=1000))


def with_auto_points(robot: Robot, q: Array, wanted: AutoPoints, may_have_none: bool = False) -> Robot:
    """The robot with points chosen for how it stands at q; with none, if it may have none, where nothing can touch."""
    shapes = robot.file_shapes
    try:
        choosing = importlib.import_module("exposim.robots.choosing")  # only those who choose need it
        chosen = choosing.choose_points(robot.model, q, shapes.solids, wanted)
    except InvalidArgument:
        if not may_have_none:
            raise
        return robot
    told = replace(
        shapes,
        left_out=(*shapes.left_out, *chosen.left_out),
        points=tuple(chosen.points),
        found=tuple(chosen.found),
    )
    return robot.replace(contact_points=chosen.points, shapes=told)
