"""What came of motions: how well they were integrated, how fast, and what the robot did."""

from exposim.analysis.first_to_go import FirstToGo, Gone, first_to_go
from exposim.analysis.local_error import GroundTruth, distance, ground_truth, local_errors
from exposim.analysis.stopwatch import measure, samples_of, speed_of_this_machine, states_of
from exposim.analysis.summary import Summary
from exposim.scenarios.measures import (
    centre_of_mass,
    flights,
    forces_by_direction,
    lean,
    roll_pitch_yaw,
    slip,
)

__all__ = [
    "FirstToGo",
    "Gone",
    "GroundTruth",
    "Summary",
    "centre_of_mass",
    "distance",
    "first_to_go",
    "flights",
    "forces_by_direction",
    "ground_truth",
    "lean",
    "local_errors",
    "measure",
    "roll_pitch_yaw",
    "samples_of",
    "slip",
    "speed_of_this_machine",
    "states_of",
]
