"""What the core simulates: contact points of the robot, the surfaces they may touch, and the laws in between."""

from __future__ import annotations

import math

import numpy as np

from exposim import _core
from exposim.contact.materials import Material
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument
from exposim.kernels import is_proportional
from exposim.robots.robot import ContactPoint, Robot
from exposim.simulation.integrators import Integrator, PaperExpo

# Contacts that a point can have at once, unless there are fewer surfaces, or it is said otherwise.
SLOTS = 2
# As many surfaces meet in a corner: up to here each has a slot of its own.
CORNER = 3
# On their way to drives at once, all of them part of every state.
MOST_TARGETS = 10_000


def slots_for(surfaces: tuple[Surface, ...]) -> int:
    """How many contacts a point can have at once, if nothing is said."""
    return max(1, len(surfaces)) if len(surfaces) <= CORNER else SLOTS


def material_of(point: ContactPoint, surface: Surface | None) -> Material:
    """The point's own, or the surface's, or the default of a bilateral point."""
    return point.material or (surface.material if surface else Material())


def build_world(
    robot: Robot, surfaces: tuple[Surface, ...], integrator: _core.Integrator, slots: int, dt: float
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
    grounds = [(surface._build(), surface.material._law(integrator)) for surface in surfaces]
    history = targets_under_way(float(robot._joint_arrays().delay.max(initial=0.0)), dt)
    return _core.World(robot._core, points, grounds, [], slots, robot._joint_laws(), history)


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
