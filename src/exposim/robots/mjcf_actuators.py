"""The actuators of MJCF files, of which Pinocchio reads nothing: motors become torque limits, servos become drives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.robots.joint_laws import felt_inertia
from exposim.robots.joints import Drive
from exposim.robots.mjcf_joints import ACTUATORS, Mjcf, MjcfJoint, set_effort

Element = ElementTree.Element


@dataclass
class Actuated:
    """What the actuators of a file come to.

    Args:
        joints: Names of the model's joints that have one, in the order of the model.
        drives: By these names.
        others: Actuators of other kinds, which are left out.
        filtered: Those with a filter before them, which is left out.
        uneven: Those whose limits differ by direction, of which the greater holds.
        bounded: Servos whose targets are bounded, which bounds are left out.
    """

    joints: list[str] = field(default_factory=list)
    drives: dict[str, Drive] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    filtered: list[str] = field(default_factory=list)
    uneven: list[str] = field(default_factory=list)
    bounded: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Force:
    """What an actuator does to one degree of freedom, seen at the joint."""

    kp: float
    kd: float
    effort: float
    delay: float


@dataclass(frozen=True)
class _Law:
    """Force = gain · control + bias, with the dynamics of an activation before it."""

    kind: str = "general"
    gain: Sequence[float] = (1.0, 0.0, 0.0)
    bias: Sequence[float] = (0.0, 0.0, 0.0)
    gain_type: str = "fixed"
    bias_type: str = "none"
    dynamics: str = "none"


class _General:
    """MuJoCo's general actuator, of which all others are special cases."""

    def __init__(self, mjcf: Mjcf, element: Element):
        self._mjcf = mjcf
        self.attributes: dict[str, str] = {}
        self._law = _Law()
        above: list[_Law] = []
        for own in [*mjcf.actuator_defaults(element), [element]]:
            above = [*above, self._law]
            for each in own:
                self.attributes |= each.attrib
                self._law = self._changed(self._law, above, each)
        self.kind = element.tag

    def _changed(self, law: _Law, above: list[_Law], element: Element) -> _Law:
        """As MuJoCo reads: a line changes what is left of those before, in the last class of its kind or general."""
        kind, given = element.tag, element.attrib
        if kind == "general":
            return _Law(
                kind,
                self._list(given, "gainprm", law.gain),
                self._list(given, "biasprm", law.bias),
                given.get("gaintype", law.gain_type),
                given.get("biastype", law.bias_type),
                given.get("dyntype", law.dynamics),
            )
        law = next((each for each in (law, *reversed(above)) if each.kind in ("general", kind)), _Law())
        if kind == "position":
            kp, kv = self._number(given, "kp", law.gain[0]), law.bias[2]
            if "kv" in given:
                kv = -self._number(given, "kv", 0.0)
            if "dampratio" in given:
                kv = self._number(given, "dampratio", 0.0)  # above zero, where -kv is below
            dynamics = law.dynamics if law.dynamics == "filterexact" else "none"
            if "timeconst" in given:
                dynamics = "none" if self._number(given, "timeconst", 0.0) == 0.0 else "filterexact"
            return _Law(kind, [kp, *law.gain[1:]], [law.bias[0], -kp, kv], bias_type="affine", dynamics=dynamics)
        if kind == "velocity":
            kv = self._number(given, "kv", law.gain[0])
            return _Law(kind, [kv, *law.gain[1:]], [0.0, 0.0, -kv], bias_type="affine")
        return _Law(kind)  # a motor, or what is left out

    def _number(self, given: Mapping[str, str], name: str, default: float) -> float:
        return self._mjcf.numbers(given, name, repr(default))[0]

    def _list(self, given: Mapping[str, str], name: str, present: Sequence[float]) -> Sequence[float]:
        if name not in given:
            return present
        return [*self._mjcf.numbers(given, name, "")[:3], 0.0, 0.0][:3]

    def force_on(self, inertia: float, found: Actuated, name: str) -> _Force | None:
        """None for one that is of another kind than motors and servos."""
        law, gear = self._law, self._number(self.attributes, "gear", 1.0)
        is_known = self.kind in ("general", "motor", "position", "velocity") and law.gain_type == "fixed"
        if not is_known or law.dynamics not in ("none", "filter", "filterexact") or gear == 0.0:
            return None
        offset, kp, kd = 0.0, 0.0, 0.0
        if law.bias_type == "affine":
            offset, kp, kd = law.bias[0], -law.bias[1], -law.bias[2]
        elif law.bias_type != "none":
            return None
        if kp > 0.0 and kd < 0.0:  # a damping ratio
            kd = -2.0 * kd * np.sqrt(kp * inertia / gear**2)
        gain = law.gain[0]
        is_motor = kp == 0.0 and kd == 0.0 and gain != 0.0
        is_servo = min(kp, kd) >= 0.0 and gain > 0.0 and np.isclose(gain, kp or kd, rtol=1e-9, atol=0.0)
        if offset != 0.0 or not (is_motor or is_servo):
            return None
        most = np.inf
        for range_name, limited, unit in (
            ("ctrlrange", "ctrllimited", abs(gain)),
            ("forcerange", "forcelimited", 1.0),
        ):
            bounds = self._mjcf.range_of(self.attributes, range_name, limited)
            if bounds is None:
                continue
            if range_name == "ctrlrange" and is_servo:
                found.bounded.append(name)
                continue
            most = min(most, unit * max(map(abs, bounds)))
            if bounds[0] != -bounds[1]:
                found.uneven.append(name)
        if law.dynamics != "none":
            found.filtered.append(name)
        delay = self._number(self.attributes, "delay", 0.0)
        return _Force(kp * gear**2, kd * gear**2, abs(gear) * most, max(delay, 0.0))


def read_actuators(mjcf: Mjcf, model: pin.Model, joints: list[MjcfJoint]) -> Actuated | None:
    """Takes over the actuators of a file, and writes their torque limits into the model; None if there are none."""
    elements = [each for section in mjcf.root.iterfind("actuator") for each in section if each.tag in ACTUATORS]
    if not elements:
        return None
    found = Actuated()
    by_name = {joint.name: joint for joint in joints if joint.name is not None}
    inertia = _inertia_at_rest(model)
    forces: dict[str, list[_Force]] = defaultdict(list)
    for i, element in enumerate(elements):
        name = element.get("name") or element.get("joint") or f"{element.tag} {i}"
        joint = by_name.get(element.get("joint", element.get("jointinparent", "")))
        force = None
        if joint is not None and joint.name is not None and joint.kind in ("hinge", "slide"):
            force = _General(mjcf, element).force_on(inertia[joint.dofs.start], found, name)
            if force is not None:
                forces[joint.name].append(force)
        if force is None:
            found.others.append(name)
    _limit_efforts(model, by_name, forces)
    for model_name in model.names:
        parts = [joint for joint in joints if joint.model_name == model_name]
        of_parts = [_together(forces[part.name]) for part in parts if part.name in forces]
        if not of_parts:
            continue
        found.joints.append(model_name)
        drives = {Drive(force.kp, force.kd, delay=force.delay) for force in of_parts if force.kp or force.kd}
        if len(drives) == 1 and len(of_parts) == len(parts):
            found.drives[model_name] = drives.pop()
        elif drives:  # one drive for a joint, but its parts would have several
            found.others += [part.name for part in parts if part.name in forces and part.name is not None]
    return found


def _together(forces: list[_Force]) -> _Force:
    """Several at one joint add up."""
    return _Force(
        kp=sum(force.kp for force in forces),
        kd=sum(force.kd for force in forces),
        effort=sum(force.effort for force in forces),
        delay=max(force.delay for force in forces),
    )


def _limit_efforts(model: pin.Model, joints: Mapping[str, MjcfJoint], forces: Mapping[str, list[_Force]]) -> None:
    effort = np.array(model.effortLimit)
    for name, of_joint in forces.items():
        effort[joints[name].dofs] = np.minimum(effort[joints[name].dofs], _together(of_joint).effort)
    set_effort(model, effort)


def _inertia_at_rest(model: pin.Model) -> Array:
    """What each joint feels at qpos0, by which MuJoCo turns damping ratios into damping."""
    references = {entry.key(): np.array(entry.data()) for entry in model.referenceConfigurations}
    return felt_inertia(model, references.get("qpos0", pin.neutral(model)))
