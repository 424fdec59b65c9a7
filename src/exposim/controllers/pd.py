"""Posture control of the actuated joints."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim.robot import Robot
from exposim.state import State


class PD:
    r"""Joint springs and dampers towards a posture: :math:`\tau = k_p\,(q_{ref} \ominus q) - k_d\,v`.

    Args:
        robot: Whose actuated joints are driven.
        kp: Stiffness [N·m/rad or N/m], not negative.
        kd: Damping [N·m·s/rad or N·s/m], not negative.
        q_ref: Posture, (nq,); by default ``robot.q0``. The base's part of it is ignored.
    """

    def __init__(self, robot: Robot, kp: float, kd: float, q_ref: ArrayLike | None = None):
        self._robot = robot
        self._kp = _checks.number("kp", kp, "[N·m/rad or N/m]", least=0.0)
        self._kd = _checks.number("kd", kd, "[N·m·s/rad or N·s/m]", least=0.0)
        self._q_ref = robot.q0 if q_ref is None else robot.check_configuration(q_ref, "q_ref")
        self._dofs = np.array(robot.actuated_dofs, dtype=int)

    def __call__(self, t: float, state: State) -> Array:
        """Torques, one per actuated degree of freedom."""
        error = pin.difference(self._robot.model, state.q, self._q_ref)
        tau: Array = (self._kp * error - self._kd * state.v)[self._dofs]
        return tau
