"""Ground by its heights on a grid."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks, _core
from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.contact.surfaces import CoreSurface, Point
from exposim.errors import InvalidArgument

HIGHEST = 1e6  # [m], up or down


@dataclass(frozen=True, eq=False)
class HeightField(CoreSurface):
    """Smooth ground through heights on a grid.

    Cubic between the heights, with slopes by central differences: without edges, but steps from one height to the next
    swing over by a few percent; stairs are better made by :func:`exposim.terrain.stairs`. The distance is that of the
    closest point, from above and from below, not the vertical one; more than 20 spacings above all of the ground it is
    how far above.

    Beyond its border the ground goes on for ever: level, with the height of the border beside it, to which it turns
    within one spacing. Only a grid that is a plane goes on as that plane.

    Args:
        heights: z [m], up to 1e6, (nx, ny) of at least (2, 2); ``heights[i, j]`` is at ``x = origin[0] + i * spacing``,
            ``y = origin[1] + j * spacing``. Kept as an array that cannot be written to.
        spacing: Of the grid, along x and y [m].
        origin: x and y of ``heights[0, 0]`` [m].
        material: Of the contact.
    """

    heights: ArrayLike
    spacing: float = 0.05
    origin: Point = (0.0, 0.0)
    material: Material = field(default_factory=Material, kw_only=True)

    def __post_init__(self) -> None:
        self._check_material_and_frame()
        heights = _checks.as_array("heights", self.heights)
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise InvalidArgument(f"heights has shape {heights.shape}; give (nx, ny), two or more either way")
        _checks.finite("heights", heights)
        if (furthest := float(np.abs(heights).max())) > HIGHEST:
            raise InvalidArgument(f"heights go to {furthest:g} m; give metres, at most {HIGHEST:g}")
        heights.flags.writeable = False
        origin = _checks.vector("origin", self.origin, 2, "x, y in metres")
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "spacing", _checks.number("spacing", self.spacing, "[m]", above=0.0))
        object.__setattr__(self, "origin", tuple(origin.tolist()))

    def height(self, xy: ArrayLike) -> Array:
        """Of the ground [m] at places [m]: (n, 2) to (n,)."""
        places = _checks.as_array("xy", xy, "places, (n, 2) [m]")
        if places.ndim != 2 or places.shape[1] != 2:
            raise InvalidArgument(f"xy has shape {places.shape}; give places, (n, 2) [m]")
        return self._field.heights_at(_checks.finite("xy", places))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HeightField) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    def __repr__(self) -> str:
        heights = np.asarray(self.heights)
        return (
            f"HeightField({heights.shape[0]} x {heights.shape[1]} heights from {heights.min():g} to "
            f"{heights.max():g} m, spacing={self.spacing!r}, origin={self.origin!r}, material={self.material!r})"
        )

    @cached_property
    def _parts(self) -> tuple[object, ...]:
        """By which two are told apart."""
        heights = np.asarray(self.heights)
        digest = hashlib.sha256((heights + 0.0).tobytes()).digest()  # without negative zeros
        return heights.shape, digest, self.spacing, self.origin, self.material

    @property
    def _field(self) -> _core.HeightField:
        made = self._made
        assert isinstance(made, _core.HeightField)
        return made

    @cached_property
    def _made(self) -> _core.Surface:
        return _core.HeightField(np.asarray(self.heights), self.spacing, np.array(self.origin))
