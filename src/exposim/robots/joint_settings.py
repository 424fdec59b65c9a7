"""What users say of a robot's joints: checked, and found by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, TypeVar

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from exposim import _checks
from exposim.errors import InvalidArgument, did_you_mean
from exposim.robots.joints import Drive, DryFriction, JointLimits
from exposim.robots.models import dofs_of, joint_names

# What drives= and joint_friction= take.
Drives = Drive | Mapping[str, Drive | None] | bool
Friction = ArrayLike | DryFriction | Sequence[DryFriction] | Mapping[str, float | DryFriction]
# What joint_damping= and armature= take.
PerDof = ArrayLike | Mapping[str, float]
# What joint_limits= and effort_limits= take.
Limits = JointLimits | bool | Mapping[str, JointLimits | bool]
EffortLimits = bool | Mapping[str, bool]

Setting = TypeVar("Setting")


@dataclass(frozen=True)
class JointSettings:
    """What a robot says of its joints beside its model.

    Args:
        drives: By the names of the joints that have one.
        limits: How hard the stops are; ``None`` where there are none. One for all joints, or by their names.
        effort_limits: Whether the torque limits that the model states hold, likewise.
        friction: Of every degree of freedom.
    """

    drives: Mapping[str, Drive]
    limits: JointLimits | Mapping[str, JointLimits | None] | None
    effort_limits: bool | Mapping[str, bool]
    friction: tuple[DryFriction, ...]

    def limits_of(self, joint: str) -> JointLimits | None:
        """Of one joint."""
        return self.limits[joint] if isinstance(self.limits, Mapping) else self.limits

    def limits_effort_of(self, joint: str) -> bool:
        """Of one joint."""
        return self.effort_limits[joint] if isinstance(self.effort_limits, Mapping) else self.effort_limits


def checked_actuated_joints(names: Sequence[str] | None, model: pin.Model, robot_name: str) -> tuple[str, ...]:
    """Names of joints, once each; by default of all but free bases, which are never driven."""
    movable = joint_names(model)
    if names is None:
        return tuple(movable)
    names = _checks.several("actuated_joints", names, "a list of names of joints")
    for name in names:
        if isinstance(name, str) and name in list(model.names)[1:] and name not in movable:
            raise InvalidArgument(
                f"actuated_joints has {name!r}, a free base of {robot_name!r}, which no motor drives; leave it out"
            )
        if not isinstance(name, str) or name not in movable:
            near = did_you_mean(str(name), movable)
            raise InvalidArgument(f"actuated_joints has {name!r}, which is no joint of {robot_name!r}{near}")
        if names.count(name) > 1:
            raise InvalidArgument(f"actuated_joints has {name!r} more than once; give each joint once")
    return names


def matching(what: str, pattern: object, names: Sequence[str], robot_name: str, kind: str = "joint") -> list[str]:
    """The joints that a name or glob stands for."""
    if isinstance(pattern, str):
        found = [pattern] if pattern in names else [name for name in names if fnmatchcase(name, pattern)]
        if found:
            return found
    near = did_you_mean(str(pattern), names)
    raise InvalidArgument(
        f"{what} has {pattern!r}, which is no {kind} of {robot_name!r}"
        f"{near or '; give names of joints, or globs like *_knee'}"
    )


def changed_drives(
    given: Drives, present: Mapping[str, Drive], actuated: Sequence[str], robot_name: str
) -> dict[str, Drive]:
    """One for all actuated joints, or by names and globs, of which later ones go before; nothing removes all."""
    if given is False or (isinstance(given, Mapping) and not given):
        return {}
    if not isinstance(given, (Drive, Mapping)):
        raise InvalidArgument(
            f"drives is {given!r}; give an exposim.Drive, a mapping from names or globs of joints to drives, or False"
        )
    if not actuated:
        raise InvalidArgument(f"drives are for actuated joints, and {robot_name!r} has none; leave them out")
    if isinstance(given, Drive):
        return dict.fromkeys(actuated, given)
    drives = dict(present)
    for pattern, drive in given.items():
        if drive is None:  # also of a joint that is not actuated any more
            names = matching(
                "drives", pattern, list(dict.fromkeys([*actuated, *present])), robot_name, "actuated joint"
            )
            drives = {name: each for name, each in drives.items() if name not in names}
        elif isinstance(drive, Drive):
            drives |= dict.fromkeys(matching("drives", pattern, actuated, robot_name, "actuated joint"), drive)
        else:
            raise InvalidArgument(f"drives has {drive!r} for {pattern!r}; give an exposim.Drive, or None for no drive")
    return drives


def checked_limits(given: Any) -> JointLimits | None:
    """From True, False or a JointLimits."""
    if isinstance(given, JointLimits):
        return given
    if isinstance(given, (bool, np.bool_)):
        return JointLimits() if given else None
    raise InvalidArgument(
        f"joint_limits is {given!r}; give True, False or an exposim.JointLimits, or a mapping from names or globs of "
        f"joints to such"
    )


def checked_effort_limits(given: Any) -> bool:
    """From True or False."""
    return _checks.flag("effort_limits", given)


def per_joint(
    name: str,
    given: Any,
    check: Callable[[Any], Setting],
    present: Setting | Mapping[str, Setting],
    model: pin.Model,
    robot_name: str,
) -> Setting | Mapping[str, Setting]:
    """One for all joints, or by names and globs in place of what is present, of which later ones go before."""
    if not isinstance(given, Mapping):
        return check(given)
    names = joint_names(model)
    settings = dict(present) if isinstance(present, Mapping) else dict.fromkeys(names, present)
    for pattern, value in given.items():
        settings |= dict.fromkeys(matching(name, pattern, names, robot_name), check(value))
    return same_for_all(settings, present)


def same_for_all(
    settings: Mapping[str, Setting], otherwise: Setting | Mapping[str, Setting]
) -> Setting | Mapping[str, Setting]:
    """One setting in place of many equal ones, or another in place of none."""
    different = set(settings.values())
    return settings if len(different) > 1 else different.pop() if different else otherwise


def per_dof(
    name: str, given: Any, present: Sequence[Any], model: pin.Model, actuated: Sequence[str], robot_name: str
) -> list[Any]:
    """What is given in place of what is present: nv entries, by names and globs, or one for all actuated joints.

    Entries are numbers of at least zero; where there are DryFrictions at present, also such.
    """
    is_friction = name == "joint_friction"

    def one(label: str, value: Any) -> Any:
        if is_friction and isinstance(value, DryFriction):
            return value
        number = _checks.number(label, value, "", least=0.0)
        return DryFriction(number) if is_friction else number

    if isinstance(given, Mapping):
        if not given:
            raise InvalidArgument(f"{name} is {given!r}; give values by names or globs of joints")
        changes = [
            (joint, one(f"{name}[{pattern!r}]", value))
            for pattern, value in given.items()
            for joint in matching(name, pattern, joint_names(model), robot_name)
        ]
    elif _is_row(given):
        if not (is_friction and all(isinstance(each, DryFriction) for each in given)):
            given = _checks.vector(name, given, model.nv, f"nv of {robot_name}, or one number")
        elif len(given) != model.nv:
            raise InvalidArgument(f"{name} has {len(given)} entries; give {model.nv} (nv of {robot_name})")
        return [one(f"{name}[{i}]", each) for i, each in enumerate(given)]
    else:
        value = one(name, given)
        changes = [(joint, value) for joint in actuated]
    result = list(present)
    for joint, value in changes:
        dofs = dofs_of(model, joint)
        result[dofs] = [value] * (dofs.stop - dofs.start)
    return result


def _is_row(given: Any) -> bool:
    if isinstance(given, np.ndarray):
        return given.ndim > 0
    return isinstance(given, Sequence) and not isinstance(given, (str, bytes))
