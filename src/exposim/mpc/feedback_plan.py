"""What a solver with derivatives plans."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pinocchio as pin

from exposim import _checks
from exposim._checks import Array
from exposim.robots.robot import Robot
from exposim.simulation.state import State

Reason = Literal["converged", "iterations", "no way down", "diverged"]


@dataclass(frozen=True, eq=False)
class FeedbackPlan:
    """A motion that the simulator makes, the controls that lead to it, and feedback that keeps to it.

    Attributes:
        start: When it begins [s].
        spacing: From knot to knot [s].
        u: Controls, (knots, nu).
        gains: Of ``u + gains @ (q ⊖ q_ref, v − v_ref)``, (knots, nu, 2 nv).
        x: Flat states at the beginning and after each step, (steps + 1, nx).
        costs: Of the first motion, and after every iteration.
        lengths: Of the steps that were taken, 1 is a full one; 0 where none led down.
        reason: Why it ended: ``"converged"``: a further iteration would bring next to nothing; ``"iterations"``: that
            was all; ``"no way down"``: no step, however short or cautious, led to less; ``"diverged"``: a motion from
            this state with the first guess diverges, so there is no plan but that.
        regularisation: At the end.
        grazing: Steps of the motion that are not differentiable; their derivatives are those to one side.
        seconds: How long it took, on the clock.
        derivative_seconds: Of these for derivatives of steps.
        rollout_seconds: For motions.
        backward_seconds: For the recursion.
    """

    start: float
    spacing: float
    u: Array
    gains: Array
    x: Array
    _robot: Robot = field(repr=False)
    _bounds: Array | None = field(repr=False)
    costs: Array = field(default_factory=lambda: np.full(1, np.nan))
    lengths: Array = field(default_factory=lambda: np.zeros(0))
    reason: Reason = "iterations"
    regularisation: float = 0.0
    grazing: int = 0
    seconds: float = 0.0
    derivative_seconds: float = 0.0
    rollout_seconds: float = 0.0
    backward_seconds: float = 0.0

    @property
    def cost(self) -> float:
        """Of the motion."""
        return float(self.costs[-1])

    @property
    def iterations(self) -> int:
        """How many there were."""
        return len(self.lengths)

    @property
    def t(self) -> Array:
        """Times of the states [s], (steps + 1,)."""
        return self.x[:, 0]

    @property
    def q(self) -> Array:
        """Configurations, (steps + 1, nq)."""
        return self.x[:, 1 : 1 + self._robot.nq]

    @property
    def v(self) -> Array:
        """Velocities, (steps + 1, nv)."""
        first = 1 + self._robot.nq
        return self.x[:, first : first + self._robot.nv]

    def control(self, t: float, state: State | None = None) -> Array:
        """Torques or targets at a time [s], (nu,); behind the end those of the end.

        Args:
            t: Time [s].
            state: Where the robot is then; without, there is no feedback.
        """
        since = _checks.number("t", t, "[s]") - self.start
        at = int(np.clip(np.floor(since / self.spacing + 1e-6), 0, len(self.u) - 1))
        u = self.u[at]
        if state is not None:
            q, v = self.reference(t)
            u = u + self.gains[at] @ np.concatenate([pin.difference(self._robot.model, q, state.q), state.v - v])
        return np.array(u) if self._bounds is None else np.clip(u, *self._bounds)

    def reference(self, t: float) -> tuple[Array, Array]:
        """Where the motion is, q (nq,) and v (nv,), at a time [s]; behind its end as there."""
        step = (self.t[-1] - self.t[0]) / (len(self.x) - 1)
        place = np.clip((t - self.start) / step, 0.0, len(self.x) - 1.0)
        before = min(int(place + 1e-6), len(self.x) - 2)
        s = float(np.clip(place - before, 0.0, 1.0))
        q = pin.interpolate(self._robot.model, self.q[before], self.q[before + 1], s)
        return q, np.asarray((1.0 - s) * self.v[before] + s * self.v[before + 1])
