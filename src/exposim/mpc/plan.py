"""What is tried, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exposim import _checks
from exposim._checks import Array
from exposim.mpc.splines import weights
from exposim.simulation.rollout_result import RolloutResult


@dataclass(frozen=True)
class Samples:
    """Plans that were tried, N of them, and the motions that they lead to: what a cost is a function of.

    Attributes:
        t: Times of the records [s], (T',).
        knots: Of the plans, (N, knots, n); the first row is the plan so far.
        values: The curves through them at the records, (N, T', n).
        targets: Of the drives at the records, (N, T', one per actuated degree of freedom).
        motions: The rollout with all that it recorded.
    """

    t: Array
    knots: Array
    values: Array
    targets: Array
    motions: RolloutResult

    @property
    def q(self) -> Array:
        """Configurations, (N, T', nq)."""
        return np.asarray(self.motions.q)

    @property
    def v(self) -> Array:
        """Velocities, (N, T', nv)."""
        return np.asarray(self.motions.v)


@dataclass(frozen=True)
class Plan:
    """What to do from a time on, and what came of the attempts that it is made of.

    Attributes:
        start: When it begins [s].
        spacing: From knot to knot [s].
        knots: (knots, n).
        spline: What goes through them.
        costs: Of all that was tried, (N,), infinite where a motion diverged.
        t: Times of the records [s], (T',).
        q: Configurations of the best motion among the attempts, (T', nq).
        v: Its velocities, (T', nv).
        seconds: How long it took to make, on the clock.
        rollout_seconds: Of these in the rollouts.
    """

    start: float
    spacing: float
    knots: Array
    spline: str
    costs: Array
    t: Array
    q: Array
    v: Array
    seconds: float
    rollout_seconds: float
    _decode: Callable[[Array, Array], Any] = field(repr=False)

    @property
    def cost(self) -> float:
        """Of the best attempt."""
        return float(np.min(self.costs))

    def values(self, t: float) -> Array:
        """The curve through the knots at a time [s], (n,)."""
        since = _checks.number("t", t, "[s]") - self.start
        return np.asarray(weights(np.array([since]), self.spacing, len(self.knots), self.spline)[0] @ self.knots)

    def target(self, t: float) -> Array:
        """Of the drives at a time [s], one per actuated degree of freedom; behind the end that of the end."""
        return np.asarray(self._decode(np.array([float(t)]), self.values(t)[None, None])[0, 0])
