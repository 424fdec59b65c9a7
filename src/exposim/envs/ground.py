"""Ready-made ground of environments, and how high ground is below a point."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from exposim import _checks, terrain
from exposim._checks import Array
from exposim.contact.height_fields import HeightField
from exposim.contact.surfaces import HalfSpace, Surface

TERRAINS = ("flat", "rough")
EXTENT = 100.0  # of rough ground, in standing heights
NEAR = 1e-3  # at which the way down has ended [m]
MOST = 50  # parts of the way down


def make_ground(kind: str, size: float) -> tuple[Surface, float]:
    """Ground by its name for a robot that stands so high [m]; and half the width of where episodes begin [m]."""
    if _checks.choice("terrain", kind, TERRAINS) == "flat":
        return HalfSpace(), 0.0
    extent = EXTENT * size
    return terrain.rough(extent, 0.1 * size, wavelength=1.5 * size, spacing=0.25 * size), 0.35 * extent


def heights_of(surfaces: Sequence[Surface]) -> Callable[[Array], Array]:
    """The function that tells the height of the ground [m] below points, (n, 3) to (n,)."""
    world = [surface for surface in surfaces if surface.frame is None]
    if not world:
        return lambda points: np.full(len(points), -np.inf)
    if len(world) == 1 and isinstance(world[0], HeightField):
        field = world[0]
        return lambda points: field.height(points[:, :2])
    if all(isinstance(each, HalfSpace) and each.normal == (0.0, 0.0, 1.0) for each in world):
        highest = max(each.point[2] for each in world if isinstance(each, HalfSpace))
        return lambda points: np.full(len(points), highest)
    return lambda points: _down(world, points)


def _down(world: Sequence[Surface], points: Array) -> Array:
    """Straight down as far as nothing can be, again and again; from within the ground up."""
    at = points.copy()
    for _ in range(MOST):
        gap = np.min([surface.distance(at) for surface in world], axis=0)
        at[:, 2] -= gap
        if (np.abs(gap) < NEAR).all():
            break
    return np.asarray(at[:, 2])
