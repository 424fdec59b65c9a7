"""What the core simulates: contact points of the robot, the surfaces they may touch, and the laws in between."""

from __future__ import annotations

import math

import numpy as np

from exposim import _core
from exposim.contact.edges import edges_of
from exposim.contact.materials import Material
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument
from exposim.kernels import is_proportional
from exposim.robots.robot import ContactPoint, Robot
from exposim.simulation.collisions import CarriedSurface
from exposim.simulation.integrators import Integrator, PaperExpo

# Contacts that a point can have at once, unless there are fewer surfaces, or it is said otherwise.
SLOTS = 2
# As many surfaces meet in a corner: up to here each has a slot of its own.
CORNER = 3
# Points of edges that a shape can lie on at once.
GUESTS = 16
# On their way to drives at once, all of them part of every state.
MOST_TARGETS = 10_000


def slots_for(surfaces: int) -> int:
    """How many contacts a point can have at once, among so many surfaces, if nothing is said."""
    return max(1, surfaces) if surfaces <= CORNER else SLOTS


def material_of(point: ContactPoint, surface: Surface | None) -> Material:
    """The point's own, or the surface's, or the default of a bilateral point."""
    return point.material or (surface.material if surface else Material())


def material_between(
    contact: tuple[int | None, int],
    touched: int,
    points: tuple[ContactPoint, ...],
    ground: tuple[Surface, ...],
    carried: tuple[CarriedSurface, ...],
) -> Material | None:
    """Of what a contact of the core's is made with the surface that it touches; −1: none, it is bilateral."""
    point, own = contact
    if point is None:
        return _on_edges(carried[own - len(ground)], ground)[touched]
    if touched < len(ground):
        return material_of(points[point], None if touched < 0 else ground[touched])
    return carried[touched - len(ground)].materials[point]


def build_world(
    robot: Robot,
    surfaces: tuple[Surface, ...],
    carried: tuple[CarriedSurface, ...],
    integrator: _core.Integrator,
    slots: int,
    dt: float,
) -> _core.World:
    """The world that the core takes; which law a material stands for is the integrator's to say."""
    points = []
    for point in robot.contact_points:
        law: _core.Law | None = None
        if point.bilateral:
            law = _core.Bilateral(material_of(point, None)._build())
        elif point.material is not None:
            law = point.material._law(integrator)
        points.append(_core.Point(point.bilateral, law, None if point.anchor is None else np.array(point.anchor)))
    grounds = [_core.Ground(surface._build(), surface.material._law(integrator)) for surface in surfaces]
    grounds += [_carried(robot, each, surfaces, integrator) for each in carried]
    edges = _edges(robot, surfaces, carried)
    history = targets_under_way(float(robot._joint_arrays().delay.max(initial=0.0)), dt)
    return _core.World(robot._core, points, grounds, robot._bonds(), slots, robot._joint_laws(), history, edges)


def _edges(robot: Robot, surfaces: tuple[Surface, ...], carried: tuple[CarriedSurface, ...]) -> list[_core.Edge]:
    """Of the ground and of bodies, where some shape may lie on them."""
    found = []
    if any(each.lies_on_edges for each in carried):
        found += [edge._build(k, 0) for k, each in enumerate(surfaces) for edge in edges_of(each)]
    for k, each in enumerate(carried):
        if any(other.on_others[k] for other in carried):
            placement = robot.locate(str(each.shape.frame))[1]
            found += [edge.moved(placement)._build(len(surfaces) + k, each.joint) for edge in edges_of(each.shape)]
    return found


def _carried(
    robot: Robot, carried: CarriedSurface, ground: tuple[Surface, ...], integrator: _core.Integrator
) -> _core.Ground:
    on_edges = _on_edges(carried, ground)
    laws = {material: material._law(integrator) for material in {*carried.materials, *on_edges} if material is not None}
    placement = robot.locate(str(carried.shape.frame))[1]
    surface = _core.Placed(carried.shape._build(), placement.rotation, placement.translation)
    of_points, of_edges = (
        [None if material is None else laws[material] for material in materials]
        for materials in (carried.materials, on_edges)
    )
    law = carried.shape.material._law(integrator)
    return _core.Ground(surface, law, carried.joint, of_points, GUESTS if carried.meets_edges else 0, of_edges)


def frictions(
    contacts: list[tuple[int | None, int]],
    points: tuple[ContactPoint, ...],
    ground: tuple[Surface, ...],
    carried: tuple[CarriedSurface, ...],
) -> tuple[float | None, ...]:
    """Coefficients of the core's contacts, each a point or an edge and the surface it belongs to, if it is one only."""
    found = []
    for point, k in contacts:
        if point is None:
            touched = _on_edges(carried[k - len(ground)], ground)
        else:
            touched = (*(material_of(points[point], each) for each in ground), *(c.materials[point] for c in carried))
            touched = touched if k < 0 else touched[k : k + 1]
        bilateral = point is not None and points[point].bilateral
        coefficients = set() if bilateral else {each.friction for each in touched if each is not None}
        found.append(coefficients.pop() if len(coefficients) == 1 else None)
    return tuple(found)


def _on_edges(carried: CarriedSurface, ground: tuple[Surface, ...]) -> tuple[Material | None, ...]:
    """Of the contact of a shape with edges of every surface."""
    return (*(each.material if carried.lies_on_edges else None for each in ground), *carried.on_others)


def targets_under_way(delay: float, dt: float) -> int:
    """How many a state has to remember: one given in every step, and the one before."""
    if delay == 0.0:
        return 0
    if not delay <= MOST_TARGETS * dt:
        raise InvalidArgument(
            f"delay is {delay:g} s, in which more than {MOST_TARGETS} targets come at dt {dt:g} s; "
            "give a shorter delay, or longer steps"
        )
    return math.ceil(delay / dt) + 2


def refuse_modal_for_other_materials(
    integrator: Integrator, points: tuple[ContactPoint, ...], surfaces: tuple[Surface, ...]
) -> None:
    """The closed form needs B = c K with one c for all contacts."""
    if not (isinstance(integrator, PaperExpo) and integrator.kernel == "modal"):
        return
    materials = {
        material_of(point, surface) for point in points for surface in ((None,) if point.bilateral else surfaces)
    }
    K, B = (
        np.array([np.broadcast_to(value, 2) for value in values], dtype=float).ravel()
        for values in ([m.stiffness for m in materials], [m.damping for m in materials])
    )
    if materials and not is_proportional(K, B):
        raise InvalidArgument(
            "kernel is 'modal', but damping is not proportional to stiffness over all contacts; give 'auto'"
        )
