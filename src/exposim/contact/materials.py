"""What surfaces are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from exposim import _checks, _core
from exposim.errors import InvalidArgument

Scalar = float | tuple[float, float]


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

    def _law(self, integrator: _core.Integrator) -> _core.Law:
        """The law of a contact of this material; a scheme may have its own reading of it."""
        return integrator.contact_law(self._build())

    def _build(self) -> _core.Material:
        K, B = _both(self.stiffness), _both(self.damping)
        return _core.Material(K[0], K[-1], B[0], B[-1], self.friction)


@dataclass(frozen=True)
class NamedMaterial(Material):
    """Stands in a file for a material with a law of one's own, of which a file can hold the name and the numbers alone.

    Args:
        stiffness: As of any material.
        damping: Likewise.
        friction: Likewise.
        name: Of its class.
    """

    name: str = ""

    @classmethod
    def of(cls, material: Material) -> NamedMaterial:
        """What stands for a material."""
        return cls(material.stiffness, material.damping, material.friction, type(material).__name__)

    def _law(self, integrator: _core.Integrator) -> _core.Law:
        raise InvalidArgument(
            f"the material {self.name!r} has a law of its own, and a file has its name alone; give the scenario that "
            f"has the material itself"
        )


def _both(value: Any) -> list[Any]:
    """Normal and tangential of a pair; one value alone, whatever it is, for the checks to judge."""
    is_list = isinstance(value, (tuple, list)) or (isinstance(value, np.ndarray) and value.ndim == 1)
    return list(value) if is_list and len(value) == 2 else [value]
