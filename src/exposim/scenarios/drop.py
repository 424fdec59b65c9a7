"""Any robot, dropped on the ground while its joints hold their posture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from exposim import _checks
from exposim._checks import Array
from exposim.controllers import PD
from exposim.errors import InvalidArgument
from exposim.robots.loading import load_robot
from exposim.robots.robot import ContactPoint, Robot
from exposim.scenarios.measures import Judgement, judge_upright
from exposim.scenarios.scenario import Scenario
from exposim.simulation.trajectory import Trajectory

CONTROL_PERIOD = 1e-3


def scenario(
    robot: str = "solo12",
    contacts: Sequence[str] = (),
    height: float = 0.1,
    kp: float | None = None,
    kd: float | None = None,
) -> Scenario:
    """A robot dropped from above its standing height.

    Args:
        robot: A known robot's name, or the path of a URDF or MJCF file.
        contacts: Frames whose origins may touch the ground; by default those of the known robot.
        height: Of the fall [m].
        kp: Joint stiffness [N·m/rad]; by default what the weight asks for.
        kd: Joint damping [N·m·s/rad]; likewise.
    """
    if isinstance(contacts, str) or not isinstance(contacts, Sequence):
        raise InvalidArgument(f"contacts is {contacts!r}; give a list of names of frames")
    points = [ContactPoint(frame) for frame in contacts] or None
    dropped = load_robot(robot, contact_points=points)
    if not dropped.contact_points:
        raise InvalidArgument(
            f"robot {robot!r} has no contact points; name frames that may touch the ground (contacts)"
        )
    if not dropped.has_floating_base:
        raise InvalidArgument(f"robot {robot!r} has a fixed base and cannot fall; take one with a floating base")
    q0 = dropped.q0
    q0[2] += _checks.number("height", height, "[m]", least=0.0)
    stiffness, damping = posture_gains(dropped)
    return Scenario(
        name="drop",
        description=f"{dropped.name} dropped from {height:g} m above standing, joints held by PD control",
        robot=dropped,
        make_controller=lambda: PD(
            dropped, stiffness if kp is None else kp, damping if kd is None else kd, q_ref=dropped.q0
        ),
        control_period=CONTROL_PERIOD,
        duration=2.0,
        q0=q0,
        judge=judge,
    )


def posture_gains(robot: Robot) -> tuple[Array, Array]:
    """Joint gains that carry the robot's weight, no stiffer than a torque held over the control period allows."""
    model = robot.model
    data = model.createData()
    # What a motor feels in the air, where the base gives way.
    inertia = 1.0 / np.diag(pin.computeMinverse(model, data, robot.q0))[robot.actuated_dofs]
    pin.framesForwardKinematics(model, data, robot.q0)
    feet = np.array([data.oMf[model.getFrameId(point.frame)].translation for point in robot.contact_points])
    leg = float(np.abs(robot.q0[2] - feet[:, 2].mean()))
    weight = 9.81 * sum(body.mass for body in model.inertias)
    carries = weight * max(leg, 0.1) / 0.6
    kp = np.minimum(carries, 0.05 * inertia / CONTROL_PERIOD**2)
    kd = np.minimum(0.1 * inertia / CONTROL_PERIOD, 0.02 * kp)
    return kp, kd


def judge(trajectory: Trajectory) -> Judgement:
    """Upright at the end, and how high the base then is."""
    return judge_upright(trajectory) + Judgement({"final height [m]": float(trajectory.q[-1, 2])})
