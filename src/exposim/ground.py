"""What a robot stands on: surfaces and what they are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exposim import _checks, _core
from exposim._checks import Array
from exposim.errors import InvalidArgument

Scalar = float | tuple[float, float]
Point = Sequence[float] | Array


@dataclass(frozen=True)
class Material:
    r"""Linear visco-elastic contact with Coulomb friction: :math:`\lambda = -K \Delta p - B \Delta\dot p`.

    Args:
        stiffness: :math:`K` [N/m], above zero: one number, or (normal, tangential).
        damping: :math:`B` [N·s/m], not negative: one number, or (normal, tangential).
        friction: :math:`\mu`, not negative; static and dynamic friction are the same.
    """

    stiffness: Scalar = 1e5
    damping: Scalar = 300.0
    friction: float = 1.0

    def __post_init__(self) -> None:
        # Kept as a number or a tuple of two, so that materials compare and hash.
        pair = "or two: (normal, tangential)"
        for name, unit, bound in (("stiffness", "[N/m]", {"above": 0.0}), ("damping", "[N·s/m]", {"least": 0.0})):
            checked = [_checks.number(name, each, f"{unit}, {pair}", **bound) for each in _both(getattr(self, name))]
            object.__setattr__(self, name, checked[0] if len(checked) == 1 else tuple(checked))
        object.__setattr__(self, "friction", _checks.number("friction", self.friction, "", least=0.0))

    def _build(self) -> _core.Material:
        K, B = _both(self.stiffness), _both(self.damping)
        return _core.Material(K[0], K[-1], B[0], B[-1], self.friction)


def _both(value: Any) -> list[Any]:
    """Normal and tangential of a pair; one value alone, whatever it is, for the checks to judge."""
    is_list = isinstance(value, (tuple, list)) or (isinstance(value, np.ndarray) and value.ndim == 1)
    return list(value) if is_list and len(value) == 2 else [value]


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
