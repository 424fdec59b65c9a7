"""Any robot, dropped on the ground while its joints hold their posture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pinocchio as pin

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.robots.joints import Drive
from exposim.robots.loading import load_robot
from exposim.robots.robot import ContactPoint, Robot
from exposim.scenarios.measures import Judgement, judge_upright
from exposim.scenarios.scenario import Scenario
from exposim.simulation.trajectory import Trajectory

STEP = 1e-3  # [s]
# Light joints are held no stiffer than that [rad/s].
FASTEST = 220.0


def scenario(
    robot: str = "solo12",
    contacts: Sequence[str] | Mapping[str, float] = (),
    height: float = 0.1,
    kp: float | None = None,
    kd: float | None = None,
) -> Scenario:
    """A robot dropped from above its standing height.

    Args:
        robot: A known robot's name, or the path of a URDF or MJCF file.
        contacts: Frames whose origins may touch the ground, or the radius [m] of a ball around each; by default those
            of the known robot.
        height: Of the fall [m].
        kp: Of the drives that hold the joints [N·m/rad]; by default those that the model has, or what the weight asks
            for.
        kd: Likewise [N·m·s/rad].
    """
    dropped = falling_robot(robot, contacts)
    q0 = dropped.q0
    q0[2] += _checks.number("height", height, "[m]", least=0.0)
    if kp is not None or kd is not None or not dropped.drives:
        dropped = dropped.replace(drives=posture_drives(dropped, kp, kd))
    return Scenario(
        name="drop",
        description=f"{dropped.name} dropped from {height:g} m above standing, joints held by drives",
        robot=dropped,
        make_controller=None,
        control_period=STEP,
        duration=2.0,
        q0=q0,
        judge=judge,
    )


def falling_robot(
    robot: str,
    contacts: Sequence[str] | Mapping[str, float],
    points: Literal["auto"] | Sequence[ContactPoint] | None = None,
) -> Robot:
    """One that can be dropped, and touches at the origins of these frames or balls there, or else at these points."""
    if isinstance(contacts, str) or not isinstance(contacts, (Sequence, Mapping)):
        raise InvalidArgument(f"contacts is {contacts!r}; give a list of names of frames, or a radius [m] by name")
    radii = contacts if isinstance(contacts, Mapping) else dict.fromkeys(contacts, 0.0)
    chosen = [ContactPoint(frame, radius=radius) for frame, radius in radii.items()]
    dropped = load_robot(robot, contact_points=chosen or points)
    if not dropped.contact_points:
        raise InvalidArgument(
            f"robot {robot!r} has no contact points; name frames that may touch the ground (contacts)"
        )
    if not dropped.has_floating_base:
        raise InvalidArgument(f"robot {robot!r} has a fixed base and cannot fall; take one with a floating base")
    return dropped


def posture_drives(robot: Robot, kp: float | None = None, kd: float | None = None) -> dict[str, Drive]:
    """Drives of every actuated joint, of these gains or else of gains that carry the robot's weight."""
    gains = zip(robot.actuated_joints, *posture_gains(robot), strict=True)
    return {
        joint: Drive(stiffness if kp is None else kp, damping if kd is None else kd)
        for joint, stiffness, damping in gains
    }


def posture_gains(robot: Robot) -> tuple[Array, Array]:
    """Of every actuated joint, such that they carry the robot's weight."""
    model = robot.model
    data = model.createData()
    # What a motor feels in the air, where the base gives way.
    felt = 1.0 / np.diag(pin.computeMinverse(model, data, robot.q0))
    joints = [model.joints[model.getJointId(name)] for name in robot.actuated_joints]
    inertia = np.array([felt[each.idx_v : each.idx_v + each.nv].min() for each in joints])
    pin.forwardKinematics(model, data, robot.q0)
    links = [robot.locate(point.frame) for point in robot.contact_points]
    lowest = min(float(data.oMi[joint].act(placement).translation[2]) for joint, placement in links)
    leg = abs(float(robot.q0[2]) - lowest)
    weight = 9.81 * sum(body.mass for body in model.inertias)
    carries = weight * max(leg, 0.1) / 0.6
    kp = np.minimum(carries, inertia * FASTEST**2)
    kd = np.minimum(0.5 * inertia * FASTEST, 0.02 * kp)
    return kp, kd


def judge(trajectory: Trajectory) -> Judgement:
    """Upright at the end, and how high the base then is."""
    return judge_upright(trajectory) + Judgement({"final height [m]": float(trajectory.q[-1, 2])})
