"""Which contacts may come about: contact points of the robot, each with the surfaces it may touch."""

from __future__ import annotations

import numpy as np

from exposim import _core
from exposim.contact.materials import Material
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument
from exposim.kernels import is_proportional
from exposim.robots.robot import ContactPoint
from exposim.simulation.integrators import Integrator, PaperExpo

# A contact point and the surface it may touch; a bilateral point by itself.
Pair = tuple[ContactPoint, Surface | None]


def pair_up(points: tuple[ContactPoint, ...], surfaces: tuple[Surface, ...]) -> tuple[Pair, ...]:
    """Every point with every surface; a bilateral point by itself."""
    pairs: list[Pair] = []
    for point in points:
        pairs.extend([(point, None)] if point.bilateral else [(point, surface) for surface in surfaces])
    return tuple(pairs)


def material_of(point: ContactPoint, surface: Surface | None) -> Material:
    """The point's own, or the surface's, or the default of a bilateral point."""
    return point.material or (surface.material if surface else Material())


def refuse_modal_for_other_materials(integrator: Integrator, pairs: tuple[Pair, ...]) -> None:
    """The closed form needs B = c K with one c for all contacts."""
    if not (isinstance(integrator, PaperExpo) and integrator.kernel == "modal" and pairs):
        return
    materials = [material_of(*pair) for pair in pairs]
    K, B = (
        np.array([np.broadcast_to(value, 2) for value in values], dtype=float).ravel()
        for values in ([m.stiffness for m in materials], [m.damping for m in materials])
    )
    if not is_proportional(K, B):
        raise InvalidArgument(
            "kernel is 'modal', but damping is not proportional to stiffness over all contacts; give 'auto'"
        )


def specs_of(points: tuple[ContactPoint, ...], pairs: tuple[Pair, ...]) -> list[_core.ContactSpec]:
    """The pairs as the core takes them."""
    specs = []
    for point, surface in pairs:
        material = material_of(point, surface)
        anchor = None if point.anchor is None else np.array(point.anchor)
        built = None if surface is None else surface._build()
        specs.append(_core.ContactSpec(points.index(point), built, material._build(), anchor))
    return specs
