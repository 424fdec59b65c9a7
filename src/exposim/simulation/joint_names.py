"""Joints by name, for those who read what the core says of degrees of freedom."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from exposim.robots.robot import Robot

_SLIDING = ("JointModelPX", "JointModelPY", "JointModelPZ", "JointModelPrismaticUnaligned", "JointModelTranslation")


def names_of(robot: Robot, dofs: Iterable[int]) -> tuple[str, ...]:
    """Of the joints that have these degrees of freedom."""
    marked = np.isin(np.arange(robot.nv), list(dofs))
    return robot.joints_of(np.zeros(robot.nq, dtype=bool), marked) if marked.any() else ()


def slides(robot: Robot, name: str) -> bool:
    """Whether a joint counts lengths, not angles."""
    return robot.model.joints[robot.model.getJointId(name)].shortname() in _SLIDING
