"""Several robots in one: a robot and what it pushes, two robots, many bodies."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument, UnsupportedModel, did_you_mean
from exposim.robots.carried_shapes import carried_by
from exposim.robots.contact_points import ContactPoint
from exposim.robots.joint_settings import same_for_all
from exposim.robots.loops import Loop
from exposim.robots.made_of import Combination
from exposim.robots.models import MOST_DOFS, free_bases, joint_names
from exposim.robots.robot import QUATERNION_TOLERANCE, Robot

# What a model says of every entry of q, and of every degree of freedom.
_PER_ENTRY = ("lowerPositionLimit", "upperPositionLimit", "positionLimitMargin")
_PER_DOF = (
    *("armature", "damping", "rotorInertia", "rotorGearRatio", "lowerEffortLimit", "upperEffortLimit"),
    *("lowerVelocityLimit", "upperVelocityLimit", "lowerDryFrictionLimit", "upperDryFrictionLimit"),
)


def combine(*, poses: Mapping[str, ArrayLike] | None = None, **members: Robot) -> Robot:
    """One robot of several, which can then touch each other.

    Joints, frames, contact points, and frames of shapes and loops are named ``"member/name"``; drives, limits and
    friction stay those of each joint. Members come one after the other in q, v and tau: ``both.part("go2")`` says
    where, ``both.members`` has them as they were. The same robot can be given under several names. Together they can
    have 300 degrees of freedom: 50 free bodies, six each.

    Args:
        poses: Where bases are at the start: x, y, z [m] and a quaternion x, y, z, w, by the names of members. It
            replaces the pose of a free base in ``q0``; a base that is fixed is moved with all that it carries, and its
            world with it. Others stay where they are.
        members: The robots, by the names that they shall have.

    Raises:
        InvalidArgument: If the robots differ in gravity, or a name or pose cannot be used.
        UnsupportedModel: If they have more than 300 degrees of freedom together.
    """
    _check_members(members)
    placements = _checked_poses({} if poses is None else poses, members)
    fixed = {name: at for name, at in placements.items() if not free_bases(members[name]._model)}
    model = pin.Model()
    model.name = "+".join(members)
    model.gravity = next(iter(members.values()))._model.gravity
    for name, robot in members.items():
        _append(model, robot._model, f"{name}/", _placement(fixed.get(name)))
    parts = list(members.items())
    for what in (*_PER_ENTRY, *_PER_DOF):
        setattr(model, what, np.concatenate([getattr(robot._model, what) for robot in members.values()]))
    return Robot(
        model,
        [_renamed_point(p, f"{name}/", fixed.get(name)) for name, robot in parts for p in robot.contact_points],
        q0=np.concatenate([_start(robot, None if name in fixed else placements.get(name)) for name, robot in parts]),
        actuated_joints=[f"{name}/{joint}" for name, robot in parts for joint in robot.actuated_joints],
        drives={f"{name}/{joint}": drive for name, robot in parts for joint, drive in robot.drives.items()},
        joint_limits=_of_all_joints(members, "joint_limits"),
        effort_limits=_of_all_joints(members, "effort_limits"),
        joint_friction=[friction for _, robot in parts for friction in robot.dry_friction],
        shapes=[_renamed_shape(shape, f"{name}/") for name, robot in parts for shape in robot.shapes],
        loops=[_renamed_loop(loop, f"{name}/") for name, robot in parts for loop in robot.loops],
        made_of=Combination(dict(members), {name: tuple(at.tolist()) for name, at in fixed.items()}),
    )


def _check_members(members: Mapping[str, Robot]) -> None:
    if not members:
        raise InvalidArgument("combine was given no robots; give them by name, for example go2=robot, crate=crate")
    for name, robot in members.items():
        if not isinstance(robot, Robot):
            raise InvalidArgument(f"{name} is {robot!r}; give an exposim.Robot")
        if not name or "/" in name or name == "universe":
            raise InvalidArgument(
                f"a member has the name {name!r}; give one without '/', which parts it from the names of its frames"
            )
    dofs = sum(robot.nv for robot in members.values())
    if dofs > MOST_DOFS:
        raise UnsupportedModel(
            f"combine was given {len(members)} robots with {dofs} degrees of freedom together; give robots with at "
            f"most {MOST_DOFS}, as {MOST_DOFS // 6} free bodies have"
        )
    (first, one), *others = members.items()
    for name, robot in others:
        gravity = [each._model.gravity.linear for each in (one, robot)]
        if not np.array_equal(*gravity):
            raise InvalidArgument(
                f"{first!r} has gravity {gravity[0].tolist()} and {name!r} {gravity[1].tolist()}; give both the same "
                f"(robot.replace(gravity=...))"
            )


def _checked_poses(poses: Any, members: Mapping[str, Robot]) -> dict[str, Array]:
    if not isinstance(poses, Mapping):
        raise InvalidArgument(f"poses is {poses!r}; give a mapping from names of members to seven numbers each")
    checked = {}
    for name, given in poses.items():
        if name not in members:
            near = did_you_mean(str(name), members) or f"; there are {', '.join(members)}"
            raise InvalidArgument(f"poses has {name!r}, which is no member{near}")
        pose = _checks.vector(f"poses[{name!r}]", given, 7, "x, y, z in metres, and a quaternion x, y, z, w")
        off = abs(float(np.linalg.norm(pose[3:])) - 1.0)
        if off > QUATERNION_TOLERANCE:
            raise InvalidArgument(
                f"poses[{name!r}] has a quaternion of length off by {off:.3g}: {pose[3:]}; give it unit length "
                f"(order x, y, z, w)"
            )
        pose[3:] /= np.linalg.norm(pose[3:])
        model = members[name]._model
        if free_bases(model) and sum(parent == 0 for parent in list(model.parents)[1:]) > 1:
            raise InvalidArgument(
                f"poses has {name!r}, which has several bases; give the poses where it was combined, or its q0"
            )
        checked[name] = pose
    return checked


def _placement(pose: Array | None) -> pin.SE3:
    return pin.SE3.Identity() if pose is None else pin.XYZQUATToSE3(pose)


def _append(model: pin.Model, other: pin.Model, prefix: str, base: pin.SE3) -> None:
    """Joints and frames of another model behind those of this one; `base` is the place of its world."""
    first_joint, first_frame = model.njoints - 1, model.nframes

    def moved(joint: int) -> int:
        return 0 if joint == 0 else first_joint + joint

    for i in range(other.njoints):
        inertia = other.inertias[i]
        if i == 0:  # bodies that are fixed in the world
            if inertia.mass > 0.0:
                model.appendBodyToJoint(0, inertia, base)
            continue
        parent = int(other.parents[i])
        placement = other.jointPlacements[i]
        joint = model.addJoint(
            moved(parent), other.joints[i], placement if parent else base * placement, prefix + other.names[i]
        )
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    for i, frame in enumerate(other.frames):
        joint = int(frame.parentJoint)
        parent = 0 if i == 0 else first_frame + int(frame.parentFrame)
        placement = frame.placement if joint else base * frame.placement
        renamed = pin.Frame(prefix + frame.name, moved(joint), parent, placement, frame.type, frame.inertia)
        model.addFrame(renamed, False)  # its inertia is the joint's already


def _start(robot: Robot, pose: Array | None) -> Array:
    q0 = robot.q0
    if pose is not None:
        at = robot._model.joints[free_bases(robot._model)[0]].idx_q
        q0[at : at + 7] = pose
    return q0


def _of_all_joints(members: Mapping[str, Robot], what: str) -> Any:
    """A setting that robots have for all their joints, or by joint."""
    settings: dict[str, Any] = {}
    for name, robot in members.items():
        setting = getattr(robot, what)
        for joint in joint_names(robot._model):
            settings[f"{name}/{joint}"] = setting[joint] if isinstance(setting, dict) else setting
    return same_for_all(settings, getattr(next(iter(members.values())), what))


def _renamed_point(point: ContactPoint, prefix: str, base: Array | None) -> ContactPoint:
    anchor = point.anchor if point.anchor is None else _placement(base).act(np.array(point.anchor))
    return dataclasses.replace(point, frame=prefix + point.frame, name=prefix + point.name, anchor=anchor)


def _renamed_shape(shape: Surface, prefix: str) -> Surface:
    return carried_by(f"{prefix}{shape.frame}", shape)


def _renamed_loop(loop: Loop, prefix: str) -> Loop:
    return dataclasses.replace(loop, frame_a=prefix + loop.frame_a, frame_b=prefix + loop.frame_b)
