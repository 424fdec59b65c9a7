"""Rows of a rollout with materials and masses of their own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from exposim import _checks, _core
from exposim.contact.materials import Material
from exposim.errors import InvalidArgument
from exposim.robots.joint_laws import JointArrays, LawsByInertia, felt_inertia
from exposim.robots.masses import checked_masses, set_masses
from exposim.robots.robot import ContactPoint
from exposim.simulation.changing import OF_MATERIAL, with_materials
from exposim.simulation.world import material_of

if TYPE_CHECKING:
    from exposim.simulation.simulator import Simulator


class Variations:
    """Worlds that differ from a simulator's in materials and masses.

    Where nothing but the ground and the robot's points take part, a world is copied with other laws; where bodies carry
    surfaces, whose laws come of pairs of materials, it is made anew.

    Args:
        simulator: That rows are variations of.
    """

    def __init__(self, simulator: Simulator):
        self._simulator = simulator.copy()
        self._robot = simulator.robot
        self._ground = simulator._ground
        self._scheme = simulator.integrator._build()
        self._weighed = self._robot._model.copy()
        self._data = self._weighed.createData()
        self._last: tuple[dict[int, float], tuple[_core.Robot, _core.JointLaws]] | None = None
        self._named: dict[str, list[tuple[int, float]]] = {}
        self._by_inertia = LawsByInertia.of(self._weighed, self._robot.actuated_joints, self._robot._joint_settings)

    def world(self, changes: Mapping[str, Any]) -> _core.World:
        """With these changes."""
        of_material = {name: changes[name] for name in OF_MATERIAL if name in changes}
        masses = self._masses(changes)
        if not of_material and not masses:
            return self._simulator._world
        if self._simulator.carried:
            return self._made_anew(of_material, masses)
        points, ground = with_materials(self._robot, self._ground, of_material)
        body, joints = self._weighing(masses) if masses else (None, None)
        return self._simulator._world.varied(
            body,
            [self._law_of_point(*both) for both in zip(points, self._robot.contact_points, strict=True)],
            [self._law(*(each.material for each in both)) for both in zip(ground, self._ground, strict=True)],
            joints,
        )

    def _weighing(self, masses: dict[int, float]) -> tuple[_core.Robot, _core.JointLaws]:
        """A robot of these masses and the laws of its joints; the last ones again where only materials differ."""
        if self._last is None or self._last[0] != masses:
            body = self._robot._core.with_masses(list(masses.items()))
            self._last = masses, (body, _core.JointLaws(**vars(self._joint_arrays(masses))))
        return self._last[1]

    def _law(self, material: Material | None, before: Material | None) -> _core.Law | None:
        return None if material is None or material == before else material._law(self._scheme)

    def _law_of_point(self, point: ContactPoint, before: ContactPoint) -> _core.Law | None:
        if not point.bilateral:
            return self._law(point.material, before.material)
        return None if point == before else _core.Bilateral(material_of(point, None)._build())

    def _masses(self, changes: Mapping[str, Any]) -> dict[int, float]:
        """By joint [kg]."""
        found: dict[int, float] = {}
        for name, unit in (("mass_factor", ""), ("mass", "[kg]")):
            values = changes.get(name, {})
            if name in changes and not (isinstance(values, Mapping) and values):
                checked_masses(values, self._weighed, self._robot.name, name, unit)  # says what is wrong
            for pattern, value in values.items():
                own = _checks.number(f"{name}[{pattern!r}]", value, unit, above=0.0)
                for joint, mass in self._bodies(name, pattern, unit):
                    found[joint] = own if unit else own * mass
        return found

    def _bodies(self, name: str, pattern: str, unit: str) -> list[tuple[int, float]]:
        """Joints whose bodies are meant by the name of a link or a glob, and how heavy these are [kg]."""
        if pattern not in self._named:
            joints = checked_masses({pattern: 1.0}, self._weighed, self._robot.name, name, unit)
            self._named[pattern] = [(joint, float(self._robot._model.inertias[joint].mass)) for joint in joints]
        return self._named[pattern]

    def _joint_arrays(self, masses: Mapping[int, float]) -> JointArrays:
        """Of joints that move these masses: what depends on inertia follows them."""
        robot = self._robot
        set_masses(self._weighed, masses)
        try:
            inertia = felt_inertia(self._weighed, robot._q0, self._data)
        finally:
            for joint in masses:
                self._weighed.inertias[joint] = robot._model.inertias[joint]
        return dataclasses.replace(
            robot._joint_arrays(),
            friction_damping=self._by_inertia.friction_damping(inertia),
            limits=self._by_inertia.limits(inertia),
        )

    def _made_anew(self, of_material: Mapping[str, Any], masses: Mapping[int, float]) -> _core.World:
        by_link = {
            frame.name: masses[frame.parentJoint]
            for frame in self._robot._model.frames
            if frame.parentJoint in masses and frame.name in self._robot.masses
        }
        simulator = self._simulator.copy()
        simulator.set(**of_material, mass=by_link or None)
        return simulator._world


def checked_rows(rows: Any, count: int | None) -> tuple[list[int], int]:
    """Indices of rows, from a slice, a mask or indices; and how many rows there are."""
    many = "" if count is None else f"{count} "
    refusal = InvalidArgument(f"rows is {rows!r}; give indices of {many}rows, a mask, or a slice")
    try:
        count = _last_row(rows) + 1 if count is None else count
        indices = np.atleast_1d(np.arange(max(count, 0))[rows])
    except (IndexError, TypeError, ValueError):
        raise refusal from None
    if count < 1:
        raise InvalidArgument(f"rows is {rows!r}, which does not say how many there are; give slice(N) at first")
    if indices.ndim != 1 or indices.size == 0:
        raise refusal
    return indices.tolist(), count


def _last_row(rows: Any) -> int:
    """The last that is spoken of; −1 if that is not said."""
    if isinstance(rows, slice):
        return -1 if rows.stop is None else int(rows.stop) - 1
    given = np.asarray(rows)
    return given.size - 1 if given.dtype == bool else int(given.max(initial=-1))


def joined(before: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Changes of a row, and later ones: of those by names, names that are not given again stay."""
    result = dict(before)
    for name, value in new.items():
        known = before.get(name)
        if isinstance(value, Mapping) and isinstance(known, Mapping):
            result[name] = {key: each for key, each in known.items() if key not in value} | dict(value)
        else:
            result[name] = value
    return result


def per_row(name: str, value: Any, rows: int) -> list[Any]:
    """A change of every row, of one for all, or one to a row; of mappings, of their values."""
    if isinstance(value, Mapping):
        columns = {key: per_row(f"{name}[{key!r}]", each, rows) for key, each in value.items()}
        return [{key: column[i] for key, column in columns.items()} for i in range(rows)]
    if isinstance(value, tuple) and len(value) == 2 and name.startswith(("stiffness", "damping")):  # normal, tangential
        both = [per_row(name, each, rows) for each in value]
        return list(zip(*both, strict=True))
    array = np.asarray(value)
    if array.ndim == 0:
        return [value] * rows
    if array.shape != (rows,):
        raise InvalidArgument(f"{name} has shape {array.shape} for {rows} rows; give one for all, or ({rows},)")
    return list(array.tolist())
