"""A controller for each member of a combined robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.robots.robot import Robot
from exposim.simulation.state import State


class Together:
    """Runs controllers side by side: each is given the time, q and v of its own member, and says its torques.

    ::

        both = xs.combine(left=go2, right=solo12)
        left, right = xs.controllers.PD(go2, 50, 1), xs.controllers.PD(solo12, 8, 0.1)
        controller = xs.controllers.Together(both, left=left, right=right)

    What a controller is told of a free base is in the world; the world of a robot whose fixed base was moved
    (``combine(poses=...)``) is its own. Of contacts, frictions and targets on their way it is told nothing.

    Args:
        robot: From :func:`exposim.combine`.
        controllers: By the names of members; those without one have no torques.
    """

    def __init__(self, robot: Robot, **controllers: Callable[[float, State], ArrayLike]):
        if not isinstance(robot, Robot) or not robot.members:
            raise InvalidArgument(f"robot is {robot!r}; give what exposim.combine returns")
        for name, controller in controllers.items():
            robot.part(name)  # is there
            if not callable(controller):
                raise InvalidArgument(f"{name} is {controller!r}; give a controller, a callable (t, state) -> tau")
        self._robot = robot
        self._controllers = controllers
        self._parts = {name: robot.part(name) for name in controllers}
        self._members = robot.members

    def __call__(self, t: float, state: State) -> Array:
        """Torques of all members, one per actuated degree of freedom."""
        tau = np.zeros(self._robot.nv)
        for name, controller in self._controllers.items():
            part, member = self._parts[name], self._members[name]
            own = _checks.vector(f"the torque of {name!r}", controller(t, State(t, state.q[part.q], state.v[part.v])))
            if own.size not in (member.nv, len(member.actuated_dofs)):
                raise InvalidArgument(
                    f"the controller of {name!r} returned {own.size} torques at t = {t:g} s; give "
                    f"{len(member.actuated_dofs)}, one per actuated degree of freedom of {member.name!r}"
                )
            entries = part.v.start + (np.arange(member.nv) if own.size == member.nv else member.actuated_dofs)
            tau[entries] = own
        dofs = self._robot.actuated_dofs
        if np.delete(tau, dofs).any():
            joints = self._robot.joints_of(
                np.zeros(self._robot.nq, dtype=bool), (tau != 0.0) & ~np.isin(np.arange(tau.size), dofs)
            )
            raise InvalidArgument(f"controllers gave torques to {', '.join(joints)}, which no motor drives; give zeros")
        return tau[dofs]

    @property
    def memory(self) -> dict[str, Array]:
        """What controllers remember from call to call, named ``"member/name"``."""
        return {
            f"{name}/{key}": value
            for name, controller in self._controllers.items()
            for key, value in getattr(controller, "memory", {}).items()
        }

    @memory.setter
    def memory(self, memory: Mapping[str, Any]) -> None:
        for name, controller in self._controllers.items():
            own = {key.removeprefix(f"{name}/"): value for key, value in memory.items() if key.startswith(f"{name}/")}
            if own:
                controller.memory = own  # type: ignore[attr-defined]
