"""Parameters and starts that bring simulated windows closest to the measured ones: Levenberg and Marquardt."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.identification.normal_equations import NormalEquations
from exposim.identification.observability import deviations
from exposim.identification.starts import SmoothedStarts
from exposim.identification.windows import ALL, Rows, Windows
from exposim.simulation.parameters import Parameter, Parameters
from exposim.simulation.rollout import Rollout

# Of how parameters change in one iteration, at most by this factor or its inverse.
MOST_FACTOR = 2.0
FIRST_DAMPING, LEAST_DAMPING, AFTER_FAILURE, MOST_DAMPING = 1e-2, 1e-7, 1e-3, 1e4
# What is known of stretches before anything is measured [m or rad].
STRETCH = 3e-4
# Standard deviations above the median, from which on the χ² of a window counts less.
FAR = 6.0
# Within which the promised decrease of the cost must be kept for the derivatives to be used once more.
TRUSTED = 0.25
# Of the step of a start, that is tried where the whole makes a window worse.
SHORTER = (0.3, 0.0)
# Cost of a window that diverges.
DIVERGED = 1e12
# It ends after so many iterations in which no parameter moved by more than this share of its standard deviation, and
# the cost fell by less than this share. Starts may go on to follow the noise, from contact to contact that changes.
QUIET, SETTLED, LITTLE = 2, 0.1, 0.01

Ended = Literal["converged", "no better nearby", "after the most iterations"]


@dataclass(eq=False)
class Tally:
    """What it took.

    Attributes:
        rollouts: Of all windows; of some, their share.
        linearizations: Likewise.
        rollout_seconds: In the rollouts.
        linearize_seconds: In derivatives and what is made of them.
        seconds: In all.
    """

    rollouts: float = 0.0
    linearizations: int = 0
    rollout_seconds: float = 0.0
    linearize_seconds: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True)
class Iteration:
    """One of a fit.

    Args:
        number: From 0, which is the start.
        chi2: Sum of the squared residuals, in standard deviations.
        damping: λ, mean over the windows.
        values: Of the parameters.
        accepted: Whether the cost fell.
        fresh: Whether derivatives were computed anew for it.
    """

    number: int
    chi2: float
    damping: float
    values: tuple[float, ...]
    accepted: bool
    fresh: bool


@dataclass(frozen=True, eq=False)
class Point:
    """Parameters and starts, and what comes of them.

    Args:
        p: Logarithms of the parameters, (np,).
        starts: Flat states, (W, nx).
        away: Of starts from what is known of them, (W, ndx).
        pool: In the world of the parameters.
        states: (W, T + 1, nx).
        residuals: (W, T + 1, 2 nv).
        costs: Half the sum of squares, of each window, (W,); very much where one diverges.
    """

    p: Array
    starts: Array
    away: Array
    pool: Rollout
    states: Array
    residuals: Array
    costs: Array

    @property
    def cost(self) -> float:
        """Of all windows."""
        return float(self.costs.sum())

    def with_rows(
        self, rows: NDArray[np.int_], starts: Array, away: Array, states: Array, residuals: Array, costs: Array
    ) -> Point:
        """With other starts of some windows."""
        own = (self.starts, self.away, self.states, self.residuals, self.costs)
        parts = [each.copy() for each in own]
        for part, new in zip(parts, (starts, away, states, residuals, costs), strict=True):
            part[rows] = new
        return Point(self.p, parts[0], parts[1], self.pool, *parts[2:])


@dataclass(eq=False)
class Fit:
    """Of windows.

    Args:
        windows: Measured.
        pool: That simulates them.
        asked: Parameters.
        parameters: Of the simulator.
        bounds: Of the logarithms, (np, 2).
        smoothed: Starts near what was measured; ``None`` where starts are given.
    """

    windows: Windows
    pool: Rollout
    asked: Sequence[Parameter]
    parameters: Parameters
    bounds: Array
    smoothed: SmoothedStarts | None
    tally: Tally = field(default_factory=Tally)
    history: list[Iteration] = field(default_factory=list)
    grazing: NDArray[np.int_] = field(default_factory=lambda: np.zeros(0, dtype=int))
    ended: Ended = "after the most iterations"

    def __post_init__(self) -> None:
        world, nv = self.windows.simulator._world, self.windows.simulator.robot.nv
        self.known = np.zeros(world.tangent_size)
        self.known[2 * nv :] = 1.0 / STRETCH**2

    def pool_at(self, p: Array) -> Rollout:
        """In the world of parameters."""
        return self.pool._at(self.parameters.at(self.asked, np.exp(p)))

    @property
    def estimated(self) -> bool:
        """Whether starts are."""
        return self.smoothed is not None

    def begin(self, p: Array, given: Array | None = None) -> Point:
        """From parameters, and starts that are given or near what was measured."""
        pool = self.pool_at(p)
        if given is None:
            assert self.smoothed is not None
            given = self.smoothed.in_world(pool, np.arange(len(self.windows)))
        return self.evaluate(p, given, np.zeros((len(given), len(self.known))), pool)

    def evaluate(self, p: Array, starts: Array, away: Array, pool: Rollout | None = None) -> Point:
        """Simulates the windows."""
        pool = self.pool_at(p) if pool is None else pool
        states, residuals, costs = self._simulated(pool, starts)
        return Point(p, starts, away, pool, states, residuals, costs + 0.5 * np.sum(self.known * away**2, axis=1))

    def _simulated(self, pool: Rollout, starts: Array, rows: Rows = ALL) -> tuple[Array, Array, Array]:
        """States, residuals, costs."""
        began = time.perf_counter()
        states, good = self.windows.simulate(pool, starts, rows)
        self.tally.rollout_seconds += time.perf_counter() - began
        self.tally.rollouts += len(starts) / len(self.windows)
        residuals = self.windows.residuals(states, rows)
        costs = 0.5 * np.sum(residuals**2, axis=(1, 2))
        return states, residuals, np.where(good, costs, DIVERGED)

    def linearize(self, point: Point, limits: Array) -> NormalEquations:
        """Derivatives of the residuals by starts and logarithms of parameters."""
        began = time.perf_counter()
        J, self.grazing = self.windows.sensitivities(point.pool, point.states, [each.name for each in self.asked])
        J[..., len(self.known) :] *= np.exp(point.p)
        lost = ~np.isfinite(J).all(axis=(1, 2, 3))
        J[lost] = 0.0
        shares = np.where(lost, 0.0, np.minimum(1.0, limits / np.maximum(point.costs, 1e-300)))
        equations = NormalEquations.of(J, shares, self.known, self.estimated)
        self.tally.linearize_seconds += time.perf_counter() - began
        self.tally.linearizations += 1
        return equations

    def limits(self, point: Point) -> Array:
        """Costs of windows from which on they count less, (W,): far above the others', by their spread."""
        counts = self.windows.counts
        each = 2.0 * point.costs / counts
        median = float(np.median(each))
        spread = np.maximum(1.48 * np.median(np.abs(each - median)), median * np.sqrt(2.0 / counts))
        return np.asarray(0.5 * counts * (median + FAR * spread))

    def run(self, point: Point, most_iterations: int) -> tuple[Point, NormalEquations]:
        """From a point to the best near it."""
        damping, growth = np.full(len(self.windows), FIRST_DAMPING), 2.0
        point = self._begun_elsewhere(point)
        limits = self.limits(point)
        self._note(0, point, damping, True, True)
        equations, fresh = self.linearize(point, limits), True
        quiet = 0
        for number in range(1, most_iterations + 1):
            least, most = self._reach(point.p)
            g = equations.gradient(point.residuals, point.away)
            dx, dp, promised = equations.solve(g, damping, least, most)
            trial = self._moved(point, dx, dp)
            before = _merit(point.costs, limits)
            fell = before - _merit(trial.costs, limits)
            accepted, kept = fell > 0.0, fell / max(promised, 1e-300)
            self._note(number, trial, damping, accepted, fresh)
            if accepted:
                settled = np.all(np.abs(dp) < SETTLED * deviations(equations.information())) and fell < LITTLE * before
                quiet = quiet + 1 if settled else 0
                damping = np.where(trial.costs > point.costs, damping, damping / 5.0)
                growth, point = 2.0, trial
            elif fresh:
                damping, growth = np.maximum(2.0 * growth * damping, AFTER_FAILURE), 2.0 * growth
            damping = np.maximum(damping, LEAST_DAMPING)
            ends = quiet >= QUIET or damping.min() > MOST_DAMPING
            if ends:
                self.ended = "converged" if quiet >= QUIET else "no better nearby"
                other = self._begun_elsewhere(point, np.arange(len(self.windows)))
                if _merit(other.costs, limits) > (1.0 - LITTLE) * _merit(point.costs, limits):
                    break
                point, quiet, damping = other, 0, np.full(len(self.windows), FIRST_DAMPING)
                self.ended = "after the most iterations"
            if ends or (accepted and abs(kept - 1.0) > TRUSTED) or not (accepted or fresh):
                point = self._begun_elsewhere(point)
                limits = self.limits(point)
                equations, fresh = self.linearize(point, limits), True
            elif accepted:
                fresh = False
        return point, equations

    def _reach(self, p: Array) -> tuple[Array, Array]:
        """Bounds of a step."""
        far = np.log(MOST_FACTOR)
        return np.maximum(self.bounds[:, 0] - p, -far), np.minimum(self.bounds[:, 1] - p, far)

    def _moved(self, point: Point, dx: Array, dp: Array) -> Point:
        """A step; of windows that it makes worse, a shorter one of their starts, or none."""
        trial = self.evaluate(point.p + dp, self._plus(point.starts, dx), point.away + dx)
        for share in SHORTER if self.estimated else ():
            rows = np.flatnonzero(trial.costs > point.costs)
            if not rows.size:
                break
            away = point.away[rows] + share * dx[rows]
            trial = self._better(trial, rows, self._plus(point.starts[rows], share * dx[rows]), away)
        return trial

    def _plus(self, starts: Array, dx: Array) -> Array:
        if not self.estimated:
            return starts
        plus = self.windows.simulator._core.plus
        moved = [plus(x, each) for x, each in zip(starts, dx, strict=True)]
        return np.stack([x if new is None else new for x, new in zip(starts, moved, strict=True)])

    def _begun_elsewhere(self, point: Point, rows: NDArray[np.int_] | None = None) -> Point:
        """With windows, by default those that are far off, begun elsewhere, if that suits them better.

        Where those before them end, or near what was measured, in the world as it is thought to be now: contacts that
        do something else than in truth are not found by derivatives.
        """
        far = np.flatnonzero(point.costs > self.limits(point)) if rows is None else rows
        if self.smoothed is None or not far.size:
            return point
        point = self._better(point, far, self.smoothed.in_world(point.pool, far))
        follow = far[(far > 0) & (self.windows.motion[far] == self.windows.motion[far - 1])]
        if follow.size:
            starts = point.states[follow - 1, self.windows.lengths[follow - 1]]
            starts[:, 0] = point.starts[follow, 0]
            point = self._better(point, follow, starts)
        return point

    def _better(self, point: Point, rows: NDArray[np.int_], starts: Array, away: Array | None = None) -> Point:
        """With other starts of windows, where they are better."""
        away = np.zeros((len(rows), len(self.known))) if away is None else away
        states, residuals, costs = self._simulated(point.pool, starts, rows)
        costs = costs + 0.5 * np.sum(self.known * away**2, axis=1)
        better = costs < point.costs[rows]
        parts = (each[better] for each in (starts, away, states, residuals, costs))
        return point.with_rows(rows[better], *parts)

    def _note(self, number: int, point: Point, damping: Array, accepted: bool, fresh: bool) -> None:
        values = tuple(np.exp(point.p).tolist())
        self.history.append(
            Iteration(number, 2.0 * point.cost, float(damping.mean()), values, bool(accepted), bool(fresh))
        )


def _merit(costs: Array, limits: Array) -> float:
    """What is to fall: the cost of a window, or beyond its limit the logarithm of it."""
    beyond = limits * (1.0 + np.log(np.maximum(costs, limits) / limits))
    return float(np.where(costs > limits, beyond, costs).sum())
