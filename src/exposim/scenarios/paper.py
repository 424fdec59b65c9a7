"""The robots of the paper, which stop at no limits."""

from __future__ import annotations

from exposim.robots.loading import load_robot
from exposim.robots.robot import Robot


def load_as_in_the_paper(name: str) -> Robot:
    """A known robot without limits of position or torque: Romeo's walk takes an ankle 0.116 rad beyond its own."""
    return load_robot(name).replace(joint_limits=False, effort_limits=False)
