"""Solo12 squats on four feet: its centre of mass follows a vertical sinusoid, by inverse dynamics."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.contact.surfaces import HalfSpace
from exposim.controllers import InverseDynamics
from exposim.controllers.tasks import CentreOfMass, FramePose, Point, Posture
from exposim.robots.robot import Robot
from exposim.scenarios.measures import Judgement, centre_of_mass, judge_upright
from exposim.scenarios.paper import load_as_in_the_paper
from exposim.scenarios.scenario import Scenario
from exposim.scenarios.standing import pressed_into_ground
from exposim.simulation.trajectory import Trajectory

AMPLITUDE = 0.03  # [m] up and down
FREQUENCY = 1.0  # [Hz]
CONTROL_PERIOD = 0.04  # [s] as in the paper


def scenario() -> Scenario:
    """Starts standing, which is the highest point of the sinusoid."""
    robot, ground = load_as_in_the_paper("solo12"), HalfSpace()
    return Scenario(
        name="solo-squat",
        description="Solo12 squats by ±3 cm at 1 Hz: inverse dynamics on four feet",
        robot=robot,
        make_controller=lambda: controller(robot),
        control_period=CONTROL_PERIOD,
        ground=ground,
        q0=pressed_into_ground(robot, ground.material),
        duration=4.0,
        judge=lambda trajectory: judge(robot, trajectory),
    )


def controller(robot: Robot) -> InverseDynamics:
    """Centre of mass first, the trunk level, and the posture for what is left."""
    standing = np.array(pin.centerOfMass(robot.model, robot.model.createData(), robot.q0))
    trunk = pin.XYZQUATToSE3(robot.q0[:7])
    return InverseDynamics(
        robot,
        [
            CentreOfMass(lambda t: squat(standing, t), weight=1.0, kp=30.0),
            FramePose("base_link", trunk, "orientation", weight=0.1, kp=30.0),
            Posture(weight=1e-6, kp=10.0),
        ],
    )


def squat(standing: Array, t: float) -> Point:
    """The sinusoid. The acceleration is that of the middle of the control period, over which the torque is held."""
    w = 2.0 * np.pi * FREQUENCY
    height = AMPLITUDE * (np.cos(w * t) - 1.0)
    velocity = -AMPLITUDE * w * np.sin(w * t)
    acceleration = -AMPLITUDE * w**2 * np.cos(w * (t + CONTROL_PERIOD / 2))
    return Point(standing + np.array([0.0, 0.0, height]), [0.0, 0.0, velocity], [0.0, 0.0, acceleration])


def judge(robot: Robot, trajectory: Trajectory) -> Judgement:
    """Amplitude and frequency of the centre of mass after the first period."""
    judgement = judge_upright(trajectory)
    settled = trajectory.t > 1.0 / FREQUENCY
    if settled.sum() < 10:
        return judgement
    height = centre_of_mass(robot, trajectory)[settled, 2]
    amplitude, frequency = sinusoid_in(trajectory.t[settled], height)
    complaints = []
    if abs(amplitude / AMPLITUDE - 1.0) > 0.2:
        complaints.append(f"squatted by {1e3 * amplitude:.1f} mm instead of {1e3 * AMPLITUDE:.0f} mm")
    if abs(frequency / FREQUENCY - 1.0) > 0.1:
        complaints.append(f"squatted at {frequency:.2f} Hz instead of {FREQUENCY:g} Hz")
    return judgement + Judgement({"amplitude [m]": amplitude, "frequency [Hz]": frequency}, tuple(complaints))


def sinusoid_in(t: Array, y: Array) -> tuple[float, float]:
    """Amplitude and frequency [Hz] of the sinusoid, with an offset, that fits best."""
    found = []
    for frequency in np.linspace(0.5, 2.0, 301) * FREQUENCY:
        phase = 2.0 * np.pi * frequency * t
        basis = np.column_stack([np.cos(phase), np.sin(phase), np.ones_like(t)])
        coefficients = np.linalg.lstsq(basis, y, rcond=None)[0]
        misfit = np.linalg.norm(y - basis @ coefficients)
        found.append((float(misfit), float(np.hypot(*coefficients[:2])), float(frequency)))
    _, amplitude, frequency = min(found)
    return amplitude, frequency
