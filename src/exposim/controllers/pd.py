"""Posture control of the actuated joints."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.robots.robot import Robot
from exposim.simulation.state import State


class PD:
    r"""Joint springs and dampers towards a posture: :math:`\tau = k_p\,(q_{ref} \ominus q) - k_d\,v`.

    Its torque is held until it is called again, as by a computer that closes the loop once per control period. A
    :class:`exposim.Drive` closes it at every instant inside the step, as a motor's own servo does, and is stable at any
    gain and step. Take a drive for what the motor does by itself (``robot.replace(drives=...)``, targets to
    ``sim.step(target=...)``), and also where the loop is closed so fast that the delay does not matter; take this one
    if the loop of the computer, with its delay, is what you study. ``sim.advise()`` says for how long a torque of
    which gains may be held.

    Args:
        robot: Whose actuated joints are driven.
        kp: Stiffness [N·m/rad or N/m], not negative: one number, or one per actuated degree of freedom.
        kd: Damping [N·m·s/rad or N·s/m], likewise. Held over a control period, it must stay well below the inertia that
            the joint moves divided by that; light joints of humanoids want gains of their own, armature, or drives.
        q_ref: Posture, (nq,); by default ``robot.q0``. The base's part of it is ignored.
    """

    def __init__(self, robot: Robot, kp: ArrayLike, kd: ArrayLike, q_ref: ArrayLike | None = None):
        if not isinstance(robot, Robot):
            raise InvalidArgument(f"robot is {robot!r}; give what exposim.load_robot returns")
        self._robot = robot
        self._kp = self._gains("kp", kp)
        self._kd = self._gains("kd", kd)
        self._q_ref = robot.q0 if q_ref is None else robot.check_configuration(q_ref, "q_ref")
        self._dofs = robot.actuated_dofs

    def __call__(self, t: float, state: State) -> Array:
        """Torques, one per actuated degree of freedom."""
        error = pin.difference(self._robot.model, state.q, self._q_ref)
        tau: Array = self._kp * error[self._dofs] - self._kd * state.v[self._dofs]
        return tau

    def _gains(self, name: str, value: ArrayLike) -> Array:
        count = len(self._robot.actuated_dofs)
        if _checks.as_array(name, value).ndim == 0:
            return np.full(count, _checks.number(name, value, "", least=0.0))
        gains = _checks.vector(name, value, count, "one per actuated degree of freedom, or one number")
        for i, gain in enumerate(gains):
            _checks.number(f"{name}[{i}]", gain, "", least=0.0)
        return gains
