"""Two Go2 carry a beam on their backs, each with a controller of its own, and squat in turn."""

from __future__ import annotations

from functools import partial

import numpy as np
import pinocchio as pin

from exposim import _checks
from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.contact.shapes import Box
from exposim.contact.surfaces import HalfSpace
from exposim.controllers import InverseDynamics, Together
from exposim.controllers.tasks import CentreOfMass, FramePose, Point, Posture
from exposim.robots.combining import combine
from exposim.robots.contact_points import ContactPoint
from exposim.robots.loading import load_robot
from exposim.robots.rigid_bodies import rigid_body
from exposim.robots.robot import Robot
from exposim.scenarios.measures import Judgement, judge_upright
from exposim.scenarios.scenario import Scenario
from exposim.scenarios.standing import pressed_into_ground
from exposim.simulation.trajectory import Trajectory

CONTROL_PERIOD = 5e-3  # [s]
APART = 0.9  # [m] between the robots, side by side
AMPLITUDE, FREQUENCY = 0.03, 0.5  # [m] up and down, [Hz]; the one is up when the other is down
BEAM = (0.3, 1.4, 0.06)  # [m] along x, y, z
# Balls on a back on which the beam lies: where they are in frame base [m].
PADS = [(x, y, 0.06) for x in (0.1, -0.1) for y in (0.05, -0.05)]
PAD_RADIUS = 0.02  # [m]
PAD = Material(stiffness=2e4, damping=200.0, friction=0.8)


def scenario(mass: float = 4.0) -> Scenario:
    """The beam is put on both backs; neither controller knows of it, or of the other.

    Args:
        mass: Of the beam [kg].
    """
    mass = _checks.number("mass", mass, "[kg]", above=0.0)
    alone, ground = load_robot("go2"), HalfSpace()
    go2 = with_pads(alone)
    beam = rigid_body("beam", Box(size=BEAM), mass)
    standing = pressed_into_ground(alone, ground.material)[:7]
    top = standing[2] + PADS[0][2] + PAD_RADIUS + 0.5 * BEAM[2]
    poses = {
        "left": standing + 0.5 * APART * np.eye(7)[1],
        "right": standing - 0.5 * APART * np.eye(7)[1],
        "beam": [0.0, 0.0, top, 0.0, 0.0, 0.0, 1.0],
    }
    all_three = combine(left=go2, right=go2, beam=beam, poses=poses)

    def controllers() -> Together:
        left, right = (squat(go2, poses[name], phase) for name, phase in (("left", 0.0), ("right", np.pi)))
        return Together(all_three, left=left, right=right)

    return Scenario(
        name="two-robots",
        description=f"Two Go2 carry a beam of {mass:g} kg on their backs and squat in turn by ±{100 * AMPLITUDE:g} cm",
        robot=all_three,
        make_controller=controllers,
        control_period=CONTROL_PERIOD,
        ground=ground,
        collisions=[("left", "beam"), ("right", "beam")],
        duration=6.0,
        judge=lambda trajectory: judge(all_three, trajectory),
    )


def with_pads(go2: Robot) -> Robot:
    """Contact points on its back, beside the feet; its own shapes are left out."""
    pads = [ContactPoint("base", place, f"pad_{i}", PAD_RADIUS, material=PAD) for i, place in enumerate(PADS)]
    return go2.replace(contact_points=[*go2.contact_points, *pads], shapes=())


def squat(go2: Robot, pose: Array, phase: float) -> InverseDynamics:
    """Where it stands, up and down."""
    q = go2.q0
    q[:7] = pose
    com = np.array(pin.centerOfMass(go2.model, go2.model.createData(), q))
    feet = [name for name in go2.feet if name.endswith("_foot")]
    return InverseDynamics(
        go2,
        [
            CentreOfMass(partial(up_and_down, com, phase), weight=1.0, kp=200.0),
            FramePose("base", pin.XYZQUATToSE3(pose), "orientation", weight=0.3, kp=100.0),
            Posture(weight=1e-4, kp=20.0),
        ],
        contacts=feet,
    )


def up_and_down(com: Array, phase: float, t: float) -> Point:
    """A sinusoid that begins within the first second."""
    w = 2.0 * np.pi * FREQUENCY
    begun = min(t, 1.0) ** 2 * (3.0 - 2.0 * min(t, 1.0))
    height, rate = AMPLITUDE * begun * np.sin(w * t + phase), AMPLITUDE * begun * w * np.cos(w * t + phase)
    return Point(com + np.array([0.0, 0.0, height]), [0.0, 0.0, rate], [0.0, 0.0, -(w**2) * height])


def judge(robot: Robot, trajectory: Trajectory) -> Judgement:
    """Whether the beam stays on both backs, tilts as they move, and weighs on each with half of its weight."""
    beam = robot.part("beam").q.start
    weight = -trajectory.settings.robot.gravity[2] * robot.members["beam"].model.inertias[1].mass
    settled = trajectory.t > 1.0
    measures: dict[str, float] = {}
    complaints = []
    moved = trajectory.q[:, beam : beam + 2] - trajectory.q[0, beam : beam + 2]
    slid = float(np.linalg.norm(moved, axis=1).max())
    measures["beam moved by [m]"] = slid
    if slid > 0.02:
        complaints.append(f"the beam moved by {100 * slid:.1f} cm")
    if settled.any():
        for name in ("left", "right"):
            pads = [i for i, each in enumerate(trajectory.contact_names) if each.startswith(f"{name}/pad")]
            share = float(-trajectory.force[settled][:, pads, 2].sum(axis=1).mean() / weight)
            measures[f"share of the weight on the {name} [-]"] = share
            if abs(share - 0.5) > 0.05:
                complaints.append(f"the {name} one carries {100 * share:.0f} % of the beam")
        turns = (pin.Quaternion(each).toRotationMatrix() for each in trajectory.q[:, beam + 3 : beam + 7])
        roll = np.array([pin.rpy.matrixToRpy(each)[0] for each in turns])
        height = {name: trajectory.q[:, robot.part(name).q.start + 2] for name in ("left", "right")}
        off = float(np.abs(roll - np.arcsin((height["left"] - height["right"]) / APART))[settled].max())
        measures |= {"greatest tilt [rad]": float(np.abs(roll).max()), "tilt off the backs' [rad]": off}
        if off > 0.01:
            complaints.append(f"the beam tilts by {off:.3f} rad more or less than the backs under it")
    return judge_upright(trajectory) + Judgement(measures, tuple(complaints))
