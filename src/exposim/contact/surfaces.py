"""What a robot stands on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from exposim import _checks, _core
from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.errors import InvalidArgument

Point = Sequence[float] | Array


class Surface(ABC):
    """Something that contact points can touch: a signed distance, a normal, a material."""

    material: Material

    @abstractmethod
    def _build(self) -> _core.Surface: ...


@dataclass(frozen=True)
class HalfSpace(Surface):
    """Everything below a plane.

    Args:
        material: Of the contact.
        point: Any point of the plane [m].
        normal: Pointing out of the ground; of any length but zero, kept with length one.
    """

    material: Material = field(default_factory=Material)
    point: Point = (0.0, 0.0, 0.0)
    normal: Point = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        if not isinstance(self.material, Material):
            raise InvalidArgument(f"material is {self.material!r}; give an exposim.Material")
        point = _checks.vector("point", self.point, 3, "x, y, z in metres")
        normal = _checks.vector("normal", self.normal, 3, "a direction")
        largest = np.abs(normal).max()
        if largest == 0.0:
            raise InvalidArgument(f"normal is {self.normal!r}, which has no direction; give for example (0, 0, 1)")
        normal /= largest  # keeps the square of a huge or tiny entry in range
        object.__setattr__(self, "point", tuple(point.tolist()))
        object.__setattr__(self, "normal", tuple((normal / np.linalg.norm(normal)).tolist()))

    def _build(self) -> _core.Surface:
        return _core.HalfSpace(np.array(self.point), np.array(self.normal))


def surfaces_of(ground: Surface | Iterable[Surface] | None) -> tuple[Surface, ...]:
    """One surface, several or none, as a tuple."""
    if ground is None:
        return ()
    surfaces = (ground,) if isinstance(ground, Surface) else tuple(ground) if isinstance(ground, Iterable) else None
    if surfaces is None or not all(isinstance(surface, Surface) for surface in surfaces):
        raise InvalidArgument(f"ground is {ground!r}; give a surface such as exposim.HalfSpace(), several, or None")
    return surfaces
