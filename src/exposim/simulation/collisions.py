"""Which contact points may touch which shapes of other bodies, and of what the contact between two bodies is made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement, product
from typing import Any, Literal

import numpy as np

from exposim import _checks
from exposim.contact.materials import Material
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument, did_you_mean
from exposim.robots.made_of import innermost
from exposim.robots.models import is_free_base
from exposim.robots.robot import ContactPoint, Robot

Collisions = Iterable[tuple[str, str]] | Literal["all"] | None


@dataclass(frozen=True)
class CarriedSurface:
    """A shape of a body that contact points of others may touch.

    Args:
        shape: The surface, in the frame that it names.
        joint: That carries it.
        materials: Of the contact with every contact point; ``None`` where the two never touch.
        lies_on_edges: Whether it may come to lie on edges of the ground.
        meets_others: Whether shapes of other robots and it may come to lie on each other's edges.
        on_others: Of the contact with edges of every other carried surface; ``None`` where the two never touch.
    """

    shape: Surface
    joint: int
    materials: tuple[Material | None, ...]
    lies_on_edges: bool = False
    meets_others: bool = False
    on_others: tuple[Material | None, ...] = ()

    @property
    def takes_part(self) -> bool:
        """Whether there is anything that it may touch."""
        return self.lies_on_edges or self.meets_others or any(self.materials)

    @property
    def meets_edges(self) -> bool:
        """Whether there are edges that it may lie on."""
        return self.lies_on_edges or any(self.on_others)


def checked_pairs(collisions: Collisions, robot: Robot) -> tuple[tuple[str, str], ...]:
    """Names of the innermost robots that may touch each other, as pairs; of one with itself: its own links.

    A member that is combined itself stands for all that it is made of, which is named ``"member/name"``.
    """
    if collisions is None:
        return ()
    names = tuple(innermost(robot))
    wanted = f"pairs of names such as ({names[0]!r}, {names[-1]!r}), 'all', or None"
    if isinstance(collisions, str):
        if collisions != "all":
            raise InvalidArgument(f"collisions is {collisions!r}; give {wanted}")
        return tuple(combinations(names, 2)) if len(names) > 1 else ((names[0], names[0]),)
    pairs: list[tuple[str, str]] = []
    for pair in _checks.several("collisions", collisions, wanted):
        if isinstance(pair, str) or len(both := _checks.several("collisions", pair, wanted)) != 2:
            raise InvalidArgument(f"collisions has {pair!r}; give {wanted}")
        one, other = (_named(name, names, robot) for name in both)
        pairs += combinations_with_replacement(one, 2) if one == other else product(one, other)
    return tuple(dict.fromkeys(pairs))


def _named(name: Any, names: tuple[str, ...], robot: Robot) -> list[str]:
    """The innermost robots of a name: one, or all within a combined member."""
    found = [each for each in names if isinstance(name, str) and (each == name or each.startswith(f"{name}/"))]
    if not found:
        near = did_you_mean(str(name), names) or f"; there are {', '.join(map(repr, names))}"
        raise InvalidArgument(f"collisions names {name!r}, which is no robot of {robot.name!r}{near}")
    return found


def carried_surfaces(
    robot: Robot, pairs: tuple[tuple[str, str], ...], edges: bool | None, ground_has_edges: bool
) -> tuple[CarriedSurface, ...]:
    """The shapes that take part in collisions, each with the points it may meet, and those that may lie on edges.

    Args:
        robot: That carries them.
        pairs: Of :func:`checked_pairs`.
        edges: Whether shapes may lie on edges; ``None``: those that were given as surfaces, and those in collisions.
        ground_has_edges: Whether there are any to lie on, beside those of shapes in collisions.
    """
    on_edges = set()
    meet_others = set() if edges is False else {name for pair in pairs if len(set(pair)) == 2 for name in pair}
    if ground_has_edges and edges is not False:
        on_edges = {name for name in innermost(robot) if edges or _lies_on_edges(robot, name, pairs)}
    if not pairs and not on_edges:
        return ()
    meets = {frozenset(pair) for pair in pairs}
    shapes = [(shape, _joint(robot, str(shape.frame)), member_of(robot, str(shape.frame))) for shape in robot.shapes]
    points = [(point, _joint(robot, point.frame), member_of(robot, point.frame)) for point in robot.contact_points]
    first_on = {}
    for shape, joint, _ in reversed(shapes):
        first_on[joint] = shape.material
    found = []
    for shape, joint, owner in shapes:
        materials = tuple(
            _between(point, first_on.get(point_joint), shape)
            if frozenset((owner, point_owner)) in meets
            and not point.bilateral
            and not _neighbours(robot, joint, point_joint)
            else None
            for point, point_joint, point_owner in points
        )
        found.append(CarriedSurface(shape, joint, materials, owner in on_edges, owner in meet_others))
    return tuple(each for each in found if each.takes_part)


def carried_ground(robot: Robot, ground: tuple[Surface, ...]) -> tuple[CarriedSurface, ...]:
    """The surfaces of the ground that name a frame of the robot: all points touch them but those of links nearby.

    Raises:
        UnknownFrame: If the robot has no such frame.
    """
    joints = [_joint(robot, point.frame) for point in robot.contact_points]
    found = []
    for surface in ground:
        if surface.frame is None:
            continue
        surface._build()  # looks at what it is made of, if it is somebody's own
        joint = _joint(robot, surface.frame)
        materials = tuple(
            None if point.bilateral or _neighbours(robot, joint, of_point) else point.material or surface.material
            for point, of_point in zip(robot.contact_points, joints, strict=True)
        )
        found.append(CarriedSurface(surface, joint, materials))
    return tuple(found)


def on_edges_of_each_other(
    robot: Robot,
    ground: tuple[CarriedSurface, ...],
    shapes: tuple[CarriedSurface, ...],
    pairs: tuple[tuple[str, str], ...],
) -> tuple[CarriedSurface, ...]:
    """All carried surfaces, those of the ground first; shapes of two robots may lie on each other's edges."""
    meets = {frozenset(pair) for pair in pairs}
    owners = [member_of(robot, str(each.shape.frame)) for each in shapes]
    none = (None,) * len(ground)
    found = [replace(each, on_others=none + (None,) * len(shapes)) for each in ground]
    for each, owner in zip(shapes, owners, strict=True):
        others = tuple(
            in_series(each.shape.material, other.shape.material)
            if owner != other_owner and frozenset((owner, other_owner)) in meets
            else None
            for other, other_owner in zip(shapes, owners, strict=True)
        )
        found.append(replace(each, on_others=none + others))
    return tuple(found)


def in_series(one: Material, other: Material) -> Material:
    """Of the contact between two bodies: springs and dampers one behind the other, the smaller friction."""
    K, B = (
        _series(np.broadcast_to(a, 2), np.broadcast_to(b, 2))
        for a, b in ((one.stiffness, other.stiffness), (one.damping, other.damping))
    )
    return Material((K[0], K[1]), (B[0], B[1]), min(one.friction, other.friction))


def _series(a: Any, b: Any) -> list[float]:
    return [float(x * y / (x + y)) if x + y > 0.0 else 0.0 for x, y in zip(a, b, strict=True)]


def _between(point: ContactPoint, own: Material | None, shape: Surface) -> Material:
    """A point's own goes before; else it is that of its body's shape and of the other in series."""
    if point.material is not None:
        return point.material
    return shape.material if own is None else in_series(own, shape.material)


def _lies_on_edges(robot: Robot, name: str, pairs: tuple[tuple[str, str], ...]) -> bool:
    return any(name in pair for pair in pairs) or not innermost(robot)[name].has_shapes_of_file


def _joint(robot: Robot, frame: str) -> int:
    return robot.locate(frame)[0]


def member_of(robot: Robot, frame: str) -> str:
    """Name of the innermost robot that a frame belongs to."""
    if not robot.members:
        return robot.name
    return next(name for name in innermost(robot) if frame.startswith(f"{name}/"))


def _neighbours(robot: Robot, one: int, other: int) -> bool:
    """Whether two links are the same, or joined to each other: these never collide. A free base joins nothing."""
    if one == other:
        return True
    model = robot._model
    return any(int(model.parents[a]) == b and not is_free_base(model, a) for a, b in ((one, other), (other, one)))
