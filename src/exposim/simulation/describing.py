"""A simulator in words: what is in it, what may touch what, and what is missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from exposim.contact.edges import edges_of
from exposim.contact.materials import Material
from exposim.contact.meshes import Mesh
from exposim.contact.surfaces import CoreSurface, HalfSpace, Surface
from exposim.robots.made_of import innermost
from exposim.robots.robot import Robot

if TYPE_CHECKING:
    from exposim.simulation.simulator import Simulator

MOST_NAMES = 5


def describe(sim: Simulator) -> str:
    """The text of ``print(sim)``."""
    heading = f"simulator of {sim.robot.name!r} by {sim.integrator.name}, dt {sim.dt:g} s, at t = {sim.t:g} s"
    sections = {
        "robots": [_robot(sim, name) for name in innermost(sim.robot)],
        "ground": _ground(sim),
        "collisions": _collisions(sim),
        "missed": _missed(sim),
    }
    lines = [heading]
    for title, told in sections.items():
        lines += [title, *(f"  {each}" for each in told)] if told else [f"{title}: none"]
    return "\n".join(lines)


def _robot(sim: Simulator, name: str) -> str:
    robot = innermost(sim.robot)[name]
    base = "a free base" if robot.has_floating_base else "a fixed base"
    points = sum(_is_of(sim.robot, name, point.frame) for point in sim.robot.contact_points)
    shapes = len(_links(sim.robot, name))
    return (
        f"{name}: {base}, {_count(len(robot.actuated_joints), 'actuated joint')}, {_count(points, 'contact point')}, "
        f"{_count(shapes, 'shape')}"
    )


def _ground(sim: Simulator) -> list[str]:
    surfaces = [*_world(sim), *(each.shape for each in sim.carried_ground)]
    kinds = Counter((type(each).__name__, each.material, each.frame) for each in surfaces)
    return [
        f"{f'{count} x ' if count > 1 else ''}{kind}{'' if frame is None else f' carried by {frame!r}'}: "
        f"{_material(material)}"
        for (kind, material, frame), count in kinds.items()
    ]


def _collisions(sim: Simulator) -> list[str]:
    shapes = sim.carried[len(sim.carried_ground) :]
    lying = [each for each in shapes if each.lies_on_edges]
    edges = sum(len(edges_of(each)) for each in _world(sim)) if lying else 0
    told = []
    if sim.collisions:
        pairs = [f"{one} with {'itself' if one == other else other}" for one, other in sim.collisions]
        meeting = [each for each in shapes if any(each.materials)]
        points = {i for each in meeting for i, material in enumerate(each.materials) if material is not None}
        told = [
            _some(pairs),
            f"{_count(len(points), 'contact point')} against {_count(len(meeting), 'shape')} of bodies",
        ]
    if edges:
        told.append(f"{_count(len(lying), 'shape')} of bodies against {_count(edges, 'edge')} of the ground")
    return told


def _missed(sim: Simulator) -> list[str]:
    robot = sim.robot
    touching = {robot.locate(point.frame)[0] for point in robot.contact_points}
    names = innermost(robot)
    with_shapes = dict.fromkeys(link for name in names for link in _links(robot, name))
    without_points = [link for link in with_shapes if (joint := robot.locate(link)[0]) and joint not in touching]
    paired = dict.fromkeys(name for pair in sim.collisions for name in pair)
    without_shapes = [name for name in paired if not _links(robot, name)]
    taking_part = [str(each.shape.frame) for each in sim.carried[len(sim.carried_ground) :]]
    aside = [
        name
        for name, each in names.items()
        if each.has_shapes_of_file and _links(robot, name) and not any(_is_of(robot, name, at) for at in taking_part)
    ]
    kinds = Counter(type(each).__name__ for each in sim.surfaces if _has_unknown_edges(each))
    overlaps = [f"{point.name} in {shape.frame}" for point, shape in sim.overlaps]
    found = {
        "links with shapes but without contact points, which pass through the ground": without_points,
        "robots in collisions without shapes, through which points of others pass": without_shapes,
        "shapes of files that take no part (collisions=, or edges=True on ground with edges)": aside,
        "edges that are not known, so that no shape lies on them": [f"{n} x {kind}" for kind, n in kinds.items()],
        "points within shapes of the same robot at q0, which do not touch them": overlaps,
    }
    return [f"{what}: {_some(each)}" for what, each in found.items() if each]


def _world(sim: Simulator) -> tuple[Surface, ...]:
    return sim.surfaces[: len(sim.surfaces) - len(sim.carried)]


def _has_unknown_edges(surface: Surface) -> bool:
    """Of meshes, and of what is written in Python."""
    is_known = isinstance(surface, (CoreSurface, HalfSpace)) and not isinstance(surface, Mesh)
    return not is_known and not edges_of(surface)


def _links(robot: Robot, name: str) -> list[str]:
    """Frames of the shapes of one of the robots, one for each shape; nothing is read for it."""
    if robot.has_shapes_of_file:
        return [solid.link for solid in robot.file_shapes.solids if solid.link]
    return [frame for shape in robot.shapes if _is_of(robot, name, frame := str(shape.frame))]


def _is_of(robot: Robot, name: str, frame: str) -> bool:
    return not robot.members or frame.startswith(f"{name}/")


def _material(material: Material) -> str:
    stiffness, damping = (
        " and ".join(f"{each:g}" for each in (value if isinstance(value, tuple) else (value,)))
        for value in (material.stiffness, material.damping)
    )
    return f"{stiffness} N/m, {damping} N·s/m, friction {material.friction:g}"


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _some(names: Iterable[str]) -> str:
    names = list(names)
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
