"""Go2 stands up to pushes by plans from derivatives of contact steps, fifty times a second, without a schedule."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks
from exposim.contact.materials import Material
from exposim.contact.surfaces import HalfSpace
from exposim.mpc.cost import Cost
from exposim.mpc.ilqr import ILQR
from exposim.mpc.standing import standing_torques
from exposim.mpc.terms import Control, Posture, Velocity
from exposim.robots.joints import Drive
from exposim.robots.loading import load_robot
from exposim.robots.robot import Robot
from exposim.scenarios.measures import Judgement, judge_upright
from exposim.scenarios.scenario import Scenario
from exposim.scenarios.standing import pressed_into_ground
from exposim.simulation.integrators import Expo
from exposim.simulation.simulator import Simulator
from exposim.simulation.trajectory import Trajectory

PERIOD, STEP = 0.02, 5e-3  # from plan to plan, which is from knot to knot, and of the robot that is controlled [s]
KNOTS, STEPS = 20, 1  # of a plan, and steps of its model between them
DRIVE = Drive(kp=30.0, kd=2.0)  # holds the posture; what is planned are torques beside it
PUSHES = ((0.5, 1.0), (1.5, -1.0))  # when [s], and to which side
PUSHING = 0.2  # how long a push lasts [s]
NEAR = 0.05  # of where it stood, for it to be back [m]


def scenario(force: float = 60.0) -> Scenario:
    """Pushed to the left, then to the right.

    Args:
        force: Of a push, at the base [N].
    """
    force = _checks.number("force", force, "[N]")
    robot, material = load_robot("go2").replace(drives=DRIVE), Material()

    def disturbance(t: float) -> Mapping[str, ArrayLike]:
        side = sum(side for begin, side in PUSHES if begin - 1e-9 <= t < begin + PUSHING - 1e-9)
        return {"base": [0.0, force * side, 0.0, 0.0, 0.0, 0.0]}

    return Scenario(
        name="go2-mpc",
        description=f"Go2 is pushed with {force:g} N for {PUSHING:g} s, twice: iLQR plans, {KNOTS} knots of 20 ms",
        robot=robot,
        make_controller=lambda: planner(robot, material),
        control_period=PERIOD,
        dt=STEP,
        ground=HalfSpace(material),
        q0=pressed_into_ground(robot, material),
        duration=PUSHES[-1][0] + 1.0,
        disturbance=disturbance,
        judge=judge,
    )


def planner(robot: Robot, material: Material, steps: int = STEPS, threads: int | None = None) -> ILQR:
    """Plans to stand where and as it stood.

    Args:
        robot: With drives.
        material: Of the ground that is planned with.
        steps: Of the simulator between knots.
        threads: As of :class:`exposim.Rollout`.
    """
    # Of first order, as plans need no more: a fifth of the time, and pushed aside as far to half a millimetre.
    model = Simulator(robot, HalfSpace(material), Expo(order=1), PERIOD / steps)
    stand, rest = pressed_into_ground(robot, material), standing_torques(robot)
    running = np.r_[10.0, 10.0, 50.0, np.full(3, 20.0), np.full(12, 0.2)]
    cost = Cost(
        Posture(stand, running),
        Velocity(weight=np.r_[np.full(6, 0.5), np.full(12, 2e-3)]),
        Control(rest, 1e-3),
        Posture(stand, 5.0 * running, "terminal"),
        Velocity(weight=np.r_[np.full(6, 5.0), np.full(12, 2e-2)], when="terminal"),
    )
    return ILQR(model, KNOTS, cost, steps=steps, rest=rest, iterations=10, threads=threads)


def judge(trajectory: Trajectory) -> Judgement:
    """How far it was pushed aside and leant, and whether it came back."""
    away = np.linalg.norm(trajectory.q[:, :2] - trajectory.q[0, :2], axis=1)
    measures = {"pushed aside [m]": float(away.max()), "away at the end [m]": float(away[-1])}
    complaints: tuple[str, ...] = ()
    last = [begin for begin, _ in PUSHES if begin < trajectory.t[-1]]
    if last and trajectory.t[-1] - last[-1] >= 1.0 - 1e-9 and away[-1] > NEAR:
        complaints = (f"is {100.0 * away[-1]:.1f} cm from where it stood",)
    return judge_upright(trajectory) + Judgement(measures, complaints)
