"""Torques beyond what a motor can give."""

from __future__ import annotations

import numpy as np

from exposim._checks import Array
from exposim.robots.robot import Robot
from exposim.simulation.joint_names import names_of, slides


class Clipping:
    """Says which torque is cut off, and by which limit.

    Args:
        robot: Whose motors they are.
        effort: Their limits [N·m or N], infinite for none, (nv,).
    """

    def __init__(self, robot: Robot, effort: Array):
        self._robot = robot
        self._dofs = robot.actuated_dofs
        self._effort = effort
        self.can_happen = bool(np.isfinite(effort[self._dofs]).any())

    def message(self, tau: Array) -> str | None:
        """Of torques of all degrees of freedom, or of the actuated ones; none if they are all within their limits."""
        given = tau[self._dofs] if tau.size == self._robot.nv else tau
        excess = np.abs(given) - self._effort[self._dofs]
        worst, count = int(np.argmax(excess)), np.count_nonzero(excess > 0.0)
        if count == 0:
            return None
        dof = int(self._dofs[worst])
        (name,) = names_of(self._robot, [dof])
        unit = "N" if slides(self._robot, name) else "N·m"
        others = "" if count == 1 else ", as is one more" if count == 2 else f", as are {count - 1} more"
        drive = self._robot.drives.get(name)
        whose, remedy = "its effort limit", "robot.replace(effort_limits=False) lifts the limits"
        if drive is not None and drive.effort is not None:
            whose, remedy = "the effort of its drive", "another exposim.Drive(effort=...) has another"
        return (
            f"tau of {name!r} is {given[worst]:.4g} {unit}, {whose} {self._effort[dof]:.4g} {unit}: clipped{others}; "
            f"sim.info.saturated names those that are, {remedy}"
        )
