"""Where a cost is asked for its value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.robots.robot import Robot
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import State


@dataclass(frozen=True, eq=False)
class Points:
    """States and controls, one to a row, and the knots of the horizon that they belong to.

    Args:
        sim: A simulator of whom the states are; costs set it as they like.
        x: Flat states, (N, nx).
        u: Controls that begin there, (N, nu); ``None`` at the end of a horizon.
        knot: Which knot each is, (N,).
        horizon: Knot at which it ends.
    """

    sim: Simulator
    x: Array
    u: Array | None
    knot: NDArray[np.int_]
    horizon: int

    @property
    def robot(self) -> Robot:
        """Whose states they are."""
        return self.sim.robot

    @property
    def t(self) -> Array:
        """Times [s], (N,)."""
        return self.x[:, 0]

    @property
    def q(self) -> Array:
        """Configurations, (N, nq)."""
        return self.x[:, 1 : 1 + self.robot.nq]

    @property
    def v(self) -> Array:
        """Velocities, (N, nv)."""
        first = 1 + self.robot.nq
        return self.x[:, first : first + self.robot.nv]

    def states(self) -> list[State]:
        """As objects."""
        return [State._of(np.array(row), self.sim._layout) for row in self.x]

    def rows(self, chosen: NDArray[np.bool_]) -> Points:
        """Some of them."""
        if chosen.all():
            return self
        u = None if self.u is None else self.u[chosen]
        return Points(self.sim, self.x[chosen], u, self.knot[chosen], self.horizon)
