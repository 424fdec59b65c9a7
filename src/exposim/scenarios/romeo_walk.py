"""Romeo takes two steps forward: inverse dynamics on a walking pattern."""

from __future__ import annotations

from functools import partial

import numpy as np
import pinocchio as pin

from exposim.contact.surfaces import HalfSpace
from exposim.controllers import InverseDynamics
from exposim.controllers.tasks import CentreOfMass, FramePose, Posture
from exposim.robots.robot import Robot
from exposim.scenarios.measures import Judgement, judge_upright
from exposim.scenarios.paper import load_as_in_the_paper
from exposim.scenarios.scenario import Scenario
from exposim.scenarios.standing import pressed_into_ground
from exposim.scenarios.walking import Side, Step, WalkingPattern
from exposim.simulation.trajectory import Trajectory

CONTROL_PERIOD = 0.04  # [s] as in the paper
STRIDE = 0.15  # [m]
DURATION = 5.0  # [s]
FEET: dict[Side, str] = {"left": "LAnkleRoll", "right": "RAnkleRoll"}
STEPS = (Step("right", STRIDE, start=0.8, end=1.6), Step("left", STRIDE, start=2.2, end=3.0))


def scenario() -> Scenario:
    """Starts and ends standing on both feet, one beside the other."""
    robot, ground = load_as_in_the_paper("romeo"), HalfSpace()
    return Scenario(
        name="romeo-walk",
        description=f"Romeo takes two steps of {100 * STRIDE:g} cm: inverse dynamics, four contact points per sole",
        robot=robot,
        make_controller=lambda: controller(robot),
        control_period=CONTROL_PERIOD,
        ground=ground,
        q0=pressed_into_ground(robot, ground.material),
        duration=DURATION,
        judge=lambda trajectory: judge(robot, trajectory),
    )


def pattern(robot: Robot) -> WalkingPattern:
    """Two steps from where the robot stands."""
    model = robot.model
    data = model.createData()
    com = np.array(pin.centerOfMass(model, data, robot.q0))
    pin.framesForwardKinematics(model, data, robot.q0)
    feet = {side: data.oMf[model.getFrameId(frame)].copy() for side, frame in FEET.items()}
    return WalkingPattern(feet, com, STEPS, DURATION)


def controller(robot: Robot) -> InverseDynamics:
    """Centre of mass, feet and trunk first; the posture for what is left.

    Accelerations are those of the middle of the control period, over which the torque is held.
    """
    walk, ahead = pattern(robot), CONTROL_PERIOD / 2
    on_sole = {side: [name for name in robot.feet if name.startswith(frame)] for side, frame in FEET.items()}
    trunk = pin.XYZQUATToSE3(robot.q0[:7])
    return InverseDynamics(
        robot,
        [
            CentreOfMass(lambda t: walk.centre_of_mass(t, ahead), weight=1.0, kp=30.0),
            FramePose("body", trunk, "orientation", weight=0.3, kp=30.0),
            *(
                FramePose(frame, partial(walk.foot, side, ahead=ahead), weight=1.0, kp=100.0)
                for side, frame in FEET.items()
            ),
            Posture(weight=1e-3, kp=20.0),
        ],
        contacts=lambda t: [name for side in walk.standing(t) for name in on_sole[side]],
    )


def judge(robot: Robot, trajectory: Trajectory) -> Judgement:
    """How far the feet went, and how far from between them the pelvis ends."""
    frame_of = np.array([contact.frame for contact in trajectory.contacts])
    soles = {side: trajectory.position[:, frame_of == frame].mean(axis=1) for side, frame in FEET.items()}
    went = {side: float(sole[-1, 0] - sole[0, 0]) for side, sole in soles.items()}
    between = (soles["left"][-1] + soles["right"][-1]) / 2
    off = float(np.linalg.norm(trajectory.q[-1, :2] - between[:2]))
    complaints = [
        f"the {side} foot went {100 * way:.1f} cm instead of {100 * STRIDE:g} cm"
        for side, way in went.items()
        if trajectory.t[-1] >= STEPS[-1].end and abs(way - STRIDE) > 0.03
    ]
    if off > 0.1:
        complaints.append(f"the pelvis ended {100 * off:.1f} cm from above the feet")
    measures = {f"{side} foot went [m]": way for side, way in went.items()}
    return judge_upright(trajectory) + Judgement(measures | {"pelvis off the feet [m]": off}, tuple(complaints))
