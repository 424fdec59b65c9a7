"""Solo12 jumps in place: crouches, pushes off, flies with all feet off the ground, lands and stands."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from exposim.controllers import LinearFeedback, Reference
from exposim.robots.robot import Robot
from exposim.scenarios.measures import Judgement, flights, judge_upright
from exposim.scenarios.paper import load_as_in_the_paper
from exposim.scenarios.scenario import Scenario
from exposim.simulation.trajectory import Trajectory

# Made by tools/make_references.py.
REFERENCE = Path(__file__).parent / "references" / "solo_jump.npz"

CONTROL_PERIOD = 0.01  # [s] as in the paper


def scenario() -> Scenario:
    """Starts standing; pushes off after half a second, lands three tenths later."""
    robot = load_as_in_the_paper("solo12")
    reference = Reference.load(REFERENCE)
    return Scenario(
        name="solo-jump",
        description="Solo12 jumps 14 cm high in place: linear feedback around an optimal motion",
        robot=robot,
        make_controller=lambda: LinearFeedback(robot, reference),
        control_period=CONTROL_PERIOD,
        duration=2.0,
        judge=lambda trajectory: judge(robot, reference, trajectory),
    )


def judge(robot: Robot, reference: Reference, trajectory: Trajectory) -> Judgement:
    """How high and how long it flew, and whether it stands again at the end."""
    judgement = judge_upright(trajectory)
    standing = float(robot.q0[2])
    height = float(trajectory.q[:, 2].max()) - standing
    interval = float(trajectory.t[1] - trajectory.t[0]) if len(trajectory) > 1 else 0.0
    # Half an interval at either end, on average, was in the air too.
    flight = max((end - start + interval for start, end in flights(trajectory)), default=0.0)
    final = float(trajectory.q[-1, 2])
    measures = {
        "height above standing [m]": height,
        "flight time [s]": flight,
        "foot clearance [m]": float(trajectory.position[:, :, 2].min(axis=1).max()),
        "final height [m]": final,
    }
    complaints = []
    if trajectory.t[-1] >= reference.t[-1]:  # it has had the time
        if height < 0.1:
            complaints.append(f"rose by {100 * height:.1f} cm only")
        if flight < 0.2:
            complaints.append(f"flew for {flight:.2f} s only")
        if abs(final - standing) > 0.01:
            complaints.append(f"ended {100 * (final - standing):+.1f} cm from its standing height")
        if (speed := float(np.abs(trajectory.v[-1]).max())) > 0.1:
            complaints.append(f"still moves at the end, at up to {speed:.2g} m/s or rad/s")
    return judgement + Judgement(measures, tuple(complaints))
