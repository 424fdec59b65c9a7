"""Which contacts may come about, and what they look like at an instant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from exposim import _core
from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.ground import Material, Surface
from exposim.integrators import Expo, Integrator
from exposim.kernels import is_proportional
from exposim.robot import ContactPoint

# A contact point and the surface it may touch; a bilateral point by itself.
Pair = tuple[ContactPoint, Surface | None]


@dataclass(frozen=True, eq=False)
class Contact:
    """One contact at one instant, in the world frame.

    Args:
        name: Of the contact point.
        surface: That it may touch; ``None`` for a bilateral contact.
        active: Whether it touches.
        slipping: Whether it slips, or has no force to hold it.
        position: Of the contact point [m].
        velocity: Of the body at the contact point [m/s].
        anchor: Where the virtual spring is attached [m]; NaN where inactive.
        force: On the robot [N].
    """

    name: str
    surface: Surface | None
    active: bool
    slipping: bool
    position: Array
    velocity: Array
    anchor: Array
    force: Array


def surfaces_of(ground: Surface | Iterable[Surface] | None) -> tuple[Surface, ...]:
    """One surface, several or none, as a tuple."""
    if ground is None:
        return ()
    surfaces = (ground,) if isinstance(ground, Surface) else tuple(ground) if isinstance(ground, Iterable) else None
    if surfaces is None or not all(isinstance(surface, Surface) for surface in surfaces):
        raise InvalidArgument(f"ground is {ground!r}; give a surface such as exposim.HalfSpace(), several, or None")
    return surfaces


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
    if not (isinstance(integrator, Expo) and integrator.kernel == "modal" and pairs):
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
