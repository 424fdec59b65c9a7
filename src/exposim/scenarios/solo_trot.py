"""Solo12 trots forward on diagonal pairs of feet, for as long as one likes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from exposim.controllers import LinearFeedback, Reference
from exposim.scenarios.measures import Judgement, judge_upright, roll_pitch_yaw
from exposim.scenarios.paper import load_as_in_the_paper
from exposim.scenarios.scenario import Scenario
from exposim.simulation.trajectory import Trajectory

# Made by tools/make_references.py.
REFERENCE = Path(__file__).parent / "references" / "solo_trot.npz"

CONTROL_PERIOD = 0.002  # [s] as in the paper
DIAGONALS = (("FL_FOOT", "HR_FOOT"), ("FR_FOOT", "HL_FOOT"))


def scenario() -> Scenario:
    """Starts standing and trots at full speed after one second."""
    robot = load_as_in_the_paper("solo12")
    reference = Reference.load(REFERENCE)
    return Scenario(
        name="solo-trot",
        description="Solo12 trots forward at 0.3 m/s: linear feedback around an optimal, periodic motion",
        robot=robot,
        make_controller=lambda: LinearFeedback(robot, reference),
        control_period=CONTROL_PERIOD,
        duration=10.0,
        judge=lambda trajectory: judge(reference, trajectory),
    )


def judge(reference: Reference, trajectory: Trajectory) -> Judgement:
    """Way, speed and attitude, and whether diagonal feet step together; the gait is judged once it is periodic."""
    judgement = judge_upright(trajectory)
    roll, pitch, _ = np.abs(roll_pitch_yaw(trajectory)).max(axis=0)
    way = trajectory.q[-1, :2] - trajectory.q[0, :2]
    measures = {
        "distance [m]": float(way[0]),
        "sideways [m]": float(way[1]),
        "greatest roll [rad]": float(roll),
        "greatest pitch [rad]": float(pitch),
    }
    complaints = []
    if max(roll, pitch) > 0.15:
        complaints.append(f"rolled by {roll:.2f} rad, pitched by {pitch:.2f} rad")
    assert reference.cycle is not None and reference.period is not None
    trotting = trajectory.t >= reference.t[reference.cycle]
    if trajectory.t[-1] < reference.t[-1]:  # less than one cycle of it
        return judgement + Judgement(measures, tuple(complaints))
    t, x = trajectory.t[trotting], trajectory.q[trotting, 0]
    speed, planned = (x[-1] - x[0]) / (t[-1] - t[0]), _planned_speed(reference)
    together, clearance = _diagonal_steps(trajectory, trotting)
    measures |= {
        "speed [m/s]": float(speed),
        "diagonal feet together [-]": together,
        "foot clearance [m]": clearance,
    }
    if abs(speed / planned - 1.0) > 0.1:
        complaints.append(f"trotted at {speed:.2f} m/s instead of {planned:.2f} m/s")
    if together < 0.9:
        complaints.append(f"diagonal feet stepped together {100 * together:.0f} % of the time only")
    if clearance < 0.02:
        complaints.append(f"lifted a foot by {1e3 * clearance:.0f} mm only")
    return judgement + Judgement(measures, tuple(complaints))


def _planned_speed(reference: Reference) -> float:
    assert reference.cycle is not None and reference.period is not None
    return float(reference.q[-1, 0] - reference.q[reference.cycle, 0]) / reference.period


def _diagonal_steps(trajectory: Trajectory, trotting: np.ndarray) -> tuple[float, float]:
    """Share of the time in which the feet of each pair do the same; height that the laziest foot reaches [m]."""
    column = trajectory.contact_names.index
    active = trajectory.active[trotting]
    same = [active[:, column(one)] == active[:, column(other)] for one, other in DIAGONALS]
    height = trajectory.position[trotting][:, :, 2].max(axis=0)
    return float(np.mean(np.logical_and(*same))), float(height.min())
