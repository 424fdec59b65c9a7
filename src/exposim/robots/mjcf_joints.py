"""The joints of MJCF files. Of what is written there Pinocchio reads a part, and some of it otherwise than MuJoCo.

It takes ranges of sliding joints for degrees, shifts ranges by ``ref`` though not the configuration, knows no
``limited="false"``, and leaves out damping and friction of ball joints; so all of it is read here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.errors import ModelParseError
from exposim.robots.models import has_floating_base, parts_of

Element = ElementTree.Element
ACTUATORS = (
    *("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion"),
    *("dcmotor", "plugin"),
)
# All that is read of a joint, here or by Pinocchio, and what is for the eye.
_READ = {"name", "class", "type", "group", "user", "pos", "axis", "range", "limited", "damping", "frictionloss"} | {
    *("armature", "ref", "actuatorfrcrange", "actuatorfrclimited")
}


@dataclass(frozen=True)
class MjcfJoint:
    """A joint of the file.

    Args:
        name: That it has in the file, if any.
        model_name: Of the model's joint that it is, or is part of.
        kind: hinge, slide, ball or free.
        in_q: Its first entry of q.
        dofs: Its entries of v.
        attributes: As they stand in the file, those of its class included.
    """

    name: str | None
    model_name: str
    kind: str
    in_q: int
    dofs: slice
    attributes: Mapping[str, str]

    @property
    def unread(self) -> list[str]:
        """Attributes that have no effect."""
        return sorted(key for key in self.attributes if key not in _READ)


class Mjcf:
    """What an MJCF file says, with the defaults of its classes filled in."""

    def __init__(self, path: Path, root: Element):
        self.path, self.root = path, root
        self._classes: dict[str, dict[str, dict[str, str]]] = {}
        self._actuators: dict[str, list[list[Element]]] = {}
        for default in root.iterfind("default"):
            self._read_class(default, "main", self._classes.get("main", {}), self._actuators.get("main", []))
        self.compiler: dict[str, str] = {}
        for element in root.iterfind("compiler"):
            self.compiler |= element.attrib
        self.per_angle = 1.0 if self.compiler.get("angle") == "radian" else np.pi / 180.0
        self._autolimits = self.compiler.get("autolimits", "true") != "false"

    def _read_class(
        self, default: Element, name: str, inherited: dict[str, dict[str, str]], above: list[list[Element]]
    ) -> None:
        own, by_tag = [], dict(inherited)
        for element in default:
            if element.tag in ("joint", "geom", "site", "mesh"):
                by_tag[element.tag] = by_tag.get(element.tag, {}) | element.attrib
            elif element.tag in ACTUATORS:
                own.append(element)
        self._classes[name], self._actuators[name] = by_tag, [*above, own]
        for element in default.iterfind("default"):
            self._read_class(element, element.get("class", ""), by_tag, [*above, own])

    def attributes(self, element: Element, inherited: str = "main") -> dict[str, str]:
        """Of an element, with those of its class; `inherited` is the class that its body gives to what has none."""
        return self._classes.get(element.get("class", inherited), {}).get(element.tag, {}) | element.attrib

    def actuator_defaults(self, element: Element) -> list[list[Element]]:
        """What stands for an actuator in its class and those above, class by class, the outermost first."""
        return self._actuators.get(element.get("class", "main"), self._actuators.get("main", []))

    def numbers(self, attributes: Mapping[str, str], name: str, default: str, count: int = 1) -> list[float]:
        """The numbers of an attribute, at least so many."""
        text = attributes.get(name, default)
        try:
            found = [float(each) for each in text.split()]
        except ValueError:
            found = [np.nan]
        if len(found) < count or not np.isfinite(found).all():
            raise ModelParseError(
                f'{self.path} is not a valid MJCF file: {name}="{text}" should be {count} or more numbers'
            )
        return found

    def range_of(self, attributes: Mapping[str, str], name: str, limited: str) -> tuple[float, float] | None:
        """A range that holds: it says so itself, or is one and nothing else is said."""
        lower, upper = self.numbers(attributes, name, "0 0", 2)[:2]
        said = attributes.get(limited, "auto")
        holds = said == "true" or (said == "auto" and self._autolimits)
        return (lower, upper) if holds and lower < upper else None

    def joints(self, model: pin.Model) -> list[MjcfJoint] | None:
        """The joints that Pinocchio has read, in the order of the model; None if it has read the file otherwise."""
        bodies = list(self._bodies_with_joints())
        is_free = bool(bodies) and bodies[0][0][1] == "free"
        first = 2 if has_floating_base(model) and not is_free else 1  # after a base that the user asked for
        if len(bodies) != model.njoints - first:
            return None
        found = []
        for joints, model_joint, model_name in zip(
            bodies, list(model.joints)[first:], list(model.names)[first:], strict=True
        ):
            parts = parts_of(model_joint)
            if [_dofs_of_kind(kind) for _, kind, _ in joints] != [part.nv for part in parts]:
                return None
            for (name, kind, attributes), part in zip(joints, parts, strict=True):
                dofs = slice(part.idx_v, part.idx_v + part.nv)
                found.append(MjcfJoint(name, model_name, kind, int(part.idx_q), dofs, attributes))
        return found

    def _bodies_with_joints(self) -> Iterator[list[tuple[str | None, str, dict[str, str]]]]:
        """Name, kind and attributes of the joints of every body that has some, as Pinocchio goes through them."""
        waiting = [(body, "main") for body in self.root.findall("worldbody/body")[:1]]
        while waiting:
            body, inherited = waiting.pop()
            of_joints = body.get("childclass", inherited)
            joints = []
            for element in body:
                if element.tag == "freejoint":
                    joints.append((element.get("name"), "free", dict(element.attrib)))
                elif element.tag == "joint":
                    attributes = self.attributes(element, of_joints)
                    joints.append((element.get("name"), attributes.get("type", "hinge"), attributes))
            if joints:
                yield joints
            waiting += [(child, of_joints) for child in reversed(body.findall("body"))]

    def apply(self, model: pin.Model, joints: list[MjcfJoint]) -> list[str]:
        """Writes limits, damping, friction and armature into the model, and gravity.

        Returns the names of joints whose torque limits differ by direction, of which the greater holds.
        """
        uneven = []
        lower, upper = np.array(model.lowerPositionLimit), np.array(model.upperPositionLimit)
        damping, armature = np.array(model.damping), np.array(model.armature)
        friction, effort = np.array(model.upperDryFrictionLimit), np.full(model.nv, np.inf)
        for joint in joints:
            if joint.kind == "free":
                continue
            values = joint.attributes
            damping[joint.dofs] = self.numbers(values, "damping", "0")[0]
            friction[joint.dofs] = self.numbers(values, "frictionloss", "0")[0]
            armature[joint.dofs] = self.numbers(values, "armature", "0")[0]
            if joint.kind == "ball":
                continue
            unit = self.per_angle if joint.kind == "hinge" else 1.0
            ends = self.range_of(values, "range", "limited") or (-np.inf, np.inf)
            lower[joint.in_q], upper[joint.in_q] = unit * ends[0], unit * ends[1]
            if (most := self.range_of(values, "actuatorfrcrange", "actuatorfrclimited")) is not None:
                effort[joint.dofs] = max(map(abs, most))
                uneven += [joint.name or joint.model_name] if most[0] != -most[1] else []
        model.lowerPositionLimit, model.upperPositionLimit = lower, upper
        model.damping, model.armature = damping, armature
        model.upperDryFrictionLimit, model.lowerDryFrictionLimit = friction, -friction
        set_effort(model, effort)
        for option in self.root.iterfind("option"):
            if option.get("gravity") is not None:
                gravity = self.numbers(option.attrib, "gravity", "", 3)[:3]
                model.gravity = pin.Motion(np.array(gravity), np.zeros(3))
        return uneven


def set_effort(model: pin.Model, effort: Array) -> None:
    """The same in both directions."""
    model.effortLimit, model.lowerEffortLimit = effort, -effort


def _dofs_of_kind(kind: str) -> int:
    return {"free": 6, "ball": 3}.get(kind, 1)
