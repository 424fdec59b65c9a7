"""Numbers of a world that a step can be differentiated by, and that can be identified: of materials, and masses."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from exposim import _core
from exposim._checks import Array
from exposim.errors import InvalidArgument, did_you_mean
from exposim.robots.masses import checked_masses
from exposim.simulation.changing import OF_MATERIAL
from exposim.simulation.variations import Variations
from exposim.simulation.world import material_of

if TYPE_CHECKING:
    from exposim.contact.materials import Material
    from exposim.simulation.simulator import Simulator

KINDS = (*OF_MATERIAL, "mass")
UNITS = {"stiffness": "N/m", "damping": "N·s/m", "friction": "", "mass": "kg"}
# By which a parameter is changed on either side, of itself, or of one where it is zero.
RELATIVE = 1e-6

World = _core.World


@dataclass(frozen=True)
class Parameter:
    """A number that a world depends on.

    Args:
        name: ``"stiffness"``, ``"damping"``, ``"friction"``: of all contacts with the ground; ``"friction:FL_foot"``:
            of contact points by name or glob; ``"mass:base_link"``: of bodies by names or globs of their links.
        kind: What it is of, before the colon.
        of: Behind it; empty: of all.
        value: That it has. Of a stiffness or damping with a tangential one of its own, the normal one: the other
            changes in proportion.
        tangential: How many times as large the tangential one is.
    """

    name: str
    kind: str
    of: str
    value: float
    tangential: float = 1.0

    @property
    def unit(self) -> str:
        """In which it is counted."""
        return UNITS[self.kind]

    def changes(self, value: float) -> dict[str, Any]:
        """What makes it another, as :meth:`exposim.Simulator.set` takes it."""
        given: Any = value
        if self.kind in ("stiffness", "damping") and self.tangential != 1.0:
            given = (value, self.tangential * value)
        return {self.kind: {self.of: given} if self.of else given}


class Parameters:
    """Parameters of a simulator, and worlds in which they have other values.

    Args:
        simulator: Whose world it is.
    """

    def __init__(self, simulator: Simulator):
        self._simulator = simulator
        self._variations = Variations(simulator)
        self._others: dict[str, Parameter] = {}  # that are not as in the simulator
        self._pairs: dict[str, tuple[World, World, float]] = {}

    def at(self, parameters: Sequence[Parameter], values: Sequence[float] | Array) -> Parameters:
        """The same, of the world in which parameters have these values."""
        other = Parameters.__new__(Parameters)
        other._simulator, other._variations, other._pairs = self._simulator, self._variations, {}
        other._others = self._others | {
            each.name: dataclasses.replace(each, value=float(value))
            for each, value in zip(parameters, values, strict=True)
        }
        return other

    def named(self, names: Iterable[str]) -> tuple[Parameter, ...]:
        """Those of these names.

        Raises:
            InvalidArgument: Of a name that is none, or that stands for contacts whose values differ.
            UnknownFrame: Of a link that the robot does not have.
        """
        if isinstance(names, str):
            raise InvalidArgument(f"parameters is {names!r}; give several names: [{names!r}]")
        found = tuple(self._others.get(name) or self._named(name) for name in names)
        twice = {each.name for each in found if sum(other.name == each.name for other in found) > 1}
        if twice:
            raise InvalidArgument(f"parameters has {sorted(twice)[0]!r} twice; give each once")
        return found

    def world(self, parameters: Sequence[Parameter], values: Sequence[float] | Array) -> World:
        """That in which parameters have these values."""
        changes: dict[str, Any] = {}
        given = {each.name: (each, each.value) for each in self._others.values()}
        given |= {each.name: (each, value) for each, value in zip(parameters, values, strict=True)}
        for parameter, value in given.values():
            for kind, change in parameter.changes(float(value)).items():
                known = changes.get(kind)
                if isinstance(known, Mapping) and isinstance(change, Mapping):
                    changes[kind] = {**known, **change}
                elif known is None:
                    changes[kind] = change
                else:
                    raise InvalidArgument(f"parameters have {kind} of all contacts and of some; give one of the two")
        return self._variations.world(changes)

    def pairs(self, parameters: Sequence[Parameter]) -> list[tuple[World, World, float]]:
        """Of each, worlds in which it is a little more and a little less, and by how much it differs in the two."""
        for each in parameters:
            if each.name not in self._pairs:
                by = RELATIVE * (abs(each.value) or 1.0)
                less = max(each.value - by, 0.0)  # of friction and damping, nothing is below
                more = each.value + by
                self._pairs[each.name] = (self.world([each], [more]), self.world([each], [less]), more - less)
        return [self._pairs[each.name] for each in parameters]

    def _named(self, name: str) -> Parameter:
        kind, colon, of = str(name).partition(":")
        if kind not in KINDS or bool(colon) != bool(of) or (kind == "mass" and not of):
            near = did_you_mean(kind, KINDS) if kind not in KINDS else ""
            raise InvalidArgument(
                f"parameter {name!r} is none{near}; there are stiffness, damping, friction (of all contacts with the "
                f"ground, or 'friction:NAME' of contact points), and 'mass:LINK'"
            )
        if kind == "mass":
            return self._mass(name, of)
        values = {self._value(material, kind) for material in self._materials(name, of)}
        if len(values) > 1:
            several = ", ".join(f"{value:g}" for value, _ in sorted(values))
            raise InvalidArgument(
                f"parameter {name!r} stands for contacts that differ in it ({several}); name the contact points: "
                f"'{kind}:NAME'"
            )
        ((value, tangential),) = values
        return Parameter(name, kind, of, value, tangential)

    def _materials(self, name: str, of: str) -> list[Material]:
        robot, ground = self._simulator.robot, self._simulator._ground
        points = [point for point in robot.contact_points if not of or point.name == of or fnmatchcase(point.name, of)]
        if of and not points:
            names = [point.name for point in robot.contact_points]
            near = did_you_mean(of, names) or f"; there are {', '.join(names) or 'none'}"
            raise InvalidArgument(f"parameter {name!r} names no contact point of {robot.name!r}{near}")
        found = [material_of(point, None) for point in points if point.material is not None and not point.bilateral]
        if len(found) < len(points) or not points:
            found += [surface.material for surface in ground]
        if not found:
            raise InvalidArgument(f"parameter {name!r} is of contacts with the ground, and there is none")
        return found

    @staticmethod
    def _value(material: Material, kind: str) -> tuple[float, float]:
        normal, tangential = np.broadcast_to(getattr(material, kind), 2)
        return float(normal), float(tangential / normal) if normal else 1.0

    def _mass(self, name: str, of: str) -> Parameter:
        robot = self._simulator.robot
        joints = checked_masses({of: 1.0}, robot._model, robot.name, "parameters: mass")
        masses = {float(robot._model.inertias[joint].mass) for joint in joints}
        if len(masses) > 1:
            raise InvalidArgument(
                f"parameter {name!r} stands for bodies of {len(masses)} different masses; name one of them"
            )
        return Parameter(name, "mass", of, masses.pop())
