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
from exposim.identification.sensitivities import Sensitivities, Steps
from exposim.identification.starts import SmoothedStarts
from exposim.identification.windows import ALL, Rows, Windows
from exposim.simulation.parameters import Parameter, Parameters
from exposim.simulation.rollout import Rollout

# Of how parameters change in one iteration, at most by this factor or its inverse.
MOST_FACTOR = 2.0
# It is stuck beyond the last of these, mean of the windows.
FIRST_DAMPING, LEAST_DAMPING, AFTER_FAILURE, MOST_DAMPING = 1e-2, 1e-7, 1e-3, 1.0
# What is known of stretches before anything is measured [m or rad].
STRETCH = 3e-4
# Standard deviations above the median, from which on the χ² of a window counts less.
FAR = 6.0
# Derivatives of a window are used again, all of them, for as long as the change of its residuals that they do not
# foresee is no more than this share of the one that they do, in squares, or than this of the noise's own, whose square
# is one; beyond that, those of its steps that do not mislead.
TRUSTED, UNSEEN = 0.1, 1.0
# Of the step of a start, that is tried where the whole makes a window worse.
SHORTER = (0.3, 0.0)
# Cost of a window that diverges.
DIVERGED = 1e12
# It ends after so many iterations in which no parameter moved by more than this share of its standard deviation, and
# the cost fell by less than this share. Starts may go on to follow the noise, from contact to contact that changes.
QUIET, SETTLED, LITTLE = 2, 0.1, 0.01
# And then, with derivatives of all windows computed anew, one in which none moved by more than this share. It may be as
# much as the last of a step that leads nowhere better, as at kinks.
SURELY_SETTLED, IN_VAIN = 0.3, 0.5

Ended = Literal["converged", "no better nearby", "after the most iterations"]


@dataclass(eq=False)
class Tally:
    """What it took.

    Attributes:
        rollouts: Of all windows; of some, or of fewer steps before one, their share.
        linearizations: Of all steps of all windows; of some, their share.
        rollout_seconds: In the rollouts.
        linearize_seconds: In derivatives and what is made of them.
        seconds: In all.
    """

    rollouts: float = 0.0
    linearizations: float = 0.0
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
        renewed: Share of the steps whose derivatives were computed anew for it.
    """

    number: int
    chi2: float
    damping: float
    values: tuple[float, ...]
    accepted: bool
    renewed: float


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
    ended: Ended = "after the most iterations"

    def __post_init__(self) -> None:
        world, nv = self.windows.simulator._world, self.windows.simulator.robot.nv
        self.known = np.zeros(world.tangent_size)
        self.known[2 * nv :] = 1.0 / STRETCH**2
        self.sensitivities = Sensitivities(self.windows, [each.name for each in self.asked])

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
            given = self._smoothed_starts(pool, np.arange(len(self.windows)))
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

    def linearize(self, point: Point, equations: NormalEquations, stale: Steps) -> None:
        """Renews derivatives of some steps, and with them those of residuals by starts and logarithms of parameters."""
        if not stale.any():
            return
        began = time.perf_counter()
        rows = np.flatnonzero(stale.any(axis=1))
        self.sensitivities.renew(point.pool, point.states, np.exp(point.p), stale)
        equations.renew(rows, self.sensitivities.of_residuals(rows))
        self.tally.linearize_seconds += time.perf_counter() - began
        self.tally.linearizations += self._share(stale)

    def _share(self, steps: Steps) -> float:
        return float(steps.sum() / self.sensitivities.steps.sum())

    def limits(self, point: Point) -> Array:
        """Costs of windows from which on they count less, (W,): far above the others', by their spread."""
        counts = self.windows.counts
        each = 2.0 * point.costs / counts
        median = float(np.median(each))
        spread = np.maximum(1.48 * np.median(np.abs(each - median)), median * np.sqrt(2.0 / counts))
        return np.asarray(0.5 * counts * (median + FAR * spread))

    def run(self, point: Point, most_iterations: int) -> tuple[Point, NormalEquations]:
        """From a point to the best near it."""
        W, every = len(self.windows), self.sensitivities.steps
        damping, growth = np.full(W, FIRST_DAMPING), 2.0
        equations = NormalEquations.empty(point.residuals.shape, self.known, len(self.asked), self.estimated)
        current = np.ones(W, dtype=bool)  # whether derivatives are those of the point, or as good
        point, limits, _ = self._renewed(point, equations, every)
        self._note(0, point, damping, True, 1.0)
        quiet, checked, renewed = 0, False, 1.0
        for number in range(1, most_iterations + 1):
            g = equations.gradient(point.residuals, point.away)
            dx, dp, spread = equations.solve(g, damping, *self._reach(point.p))
            trial = self._moved(point, dx, dp)
            before = _merit(point.costs, limits)
            fell = before - _merit(trial.costs, limits)
            self._note(number, trial, damping, fell > 0.0, renewed)
            far = IN_VAIN if fell <= 0.0 else SURELY_SETTLED if checked else SETTLED
            small = np.all(np.abs(dp) < far * spread)
            quiet = quiet + 1 if small and fell < LITTLE * before else 0
            checked = checked and quiet > 0
            surprised = self._surprised(equations, point, trial, dp)
            stale = self._misleading(point, trial, dp, fell > 0.0, surprised if fell > 0.0 else surprised & ~current)
            if fell > 0.0:
                damping = np.where(trial.costs > point.costs, damping, damping / 5.0)
                growth, point, current = 2.0, trial, np.zeros(W, dtype=bool)
            elif current[surprised].all():
                damping, growth = np.maximum(2.0 * growth * damping, AFTER_FAILURE), 2.0 * growth
            damping = np.maximum(damping, LEAST_DAMPING)
            stuck = float(damping.mean()) > MOST_DAMPING
            if (quiet >= QUIET or stuck) and not (checked or current.all()):
                stale, quiet, checked = every, QUIET - 1, True
                damping, growth = np.minimum(damping, FIRST_DAMPING), 2.0
            elif quiet >= QUIET or stuck:
                other = self._begun_elsewhere(point, np.arange(W))
                if _merit(other.costs, limits) > (1.0 - LITTLE) * _merit(point.costs, limits):
                    self.ended = "converged" if quiet >= QUIET else "no better nearby"
                    break
                point, quiet, damping, stale = other, 0, np.full(W, FIRST_DAMPING), every
            if stale.any():
                point, limits, stale = self._renewed(point, equations, stale)
                current |= stale.any(axis=1)
            renewed = self._share(stale)
        self.linearize(point, equations, stale if checked else every & ~current[:, None])
        return point, equations

    def _misleading(self, point: Point, trial: Point, dp: Array, accepted: bool, windows: NDArray[np.bool_]) -> Steps:
        began, p = time.perf_counter(), trial.p if accepted else point.p
        found = self.sensitivities.misleading(point.states, trial.states, dp, p, windows)
        self.tally.linearize_seconds += time.perf_counter() - began
        return found

    def _renewed(self, point: Point, equations: NormalEquations, stale: Steps) -> tuple[Point, Array, Steps]:
        """With derivatives of some steps, and of windows that are begun elsewhere, added to them; and with limits."""
        begun = point.starts
        point = self._begun_elsewhere(point)
        stale = stale | self.sensitivities.steps & (point.starts != begun).any(axis=1)[:, None]
        limits = self.limits(point)
        self.linearize(point, equations, stale)
        equations.weigh(point.costs, limits)
        return point, limits, stale

    @staticmethod
    def _surprised(equations: NormalEquations, point: Point, trial: Point, dp: Array) -> NDArray[np.bool_]:
        """Windows of which a step came to something else than derivatives foresaw, (W,)."""
        foreseen = equations.foreseen(trial.away - point.away, dp)
        off = np.sum((point.residuals - trial.residuals - foreseen) ** 2, axis=(1, 2))
        return np.asarray((off > UNSEEN) & (off > TRUSTED * np.sum(foreseen**2, axis=(1, 2))))

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
        point = self._better(point, far, self._smoothed_starts(point.pool, far))
        follow = far[(far > 0) & (self.windows.motion[far] == self.windows.motion[far - 1])]
        if follow.size:
            starts = point.states[follow - 1, self.windows.lengths[follow - 1]]
            starts[:, 0] = point.starts[follow, 0]
            point = self._better(point, follow, starts)
        return point

    def _smoothed_starts(self, pool: Rollout, rows: NDArray[np.int_]) -> Array:
        assert self.smoothed is not None
        starts, steps, seconds = self.smoothed.in_world(pool, rows)
        self.tally.rollout_seconds += seconds
        self.tally.rollouts += steps / (self.windows.T * len(self.windows))
        return starts

    def _better(self, point: Point, rows: NDArray[np.int_], starts: Array, away: Array | None = None) -> Point:
        """With other starts of windows, where they are better."""
        away = np.zeros((len(rows), len(self.known))) if away is None else away
        states, residuals, costs = self._simulated(point.pool, starts, rows)
        costs = costs + 0.5 * np.sum(self.known * away**2, axis=1)
        better = costs < point.costs[rows]
        parts = (each[better] for each in (starts, away, states, residuals, costs))
        return point.with_rows(rows[better], *parts)

    def _note(self, number: int, point: Point, damping: Array, accepted: bool, renewed: float) -> None:
        values = tuple(np.exp(point.p).tolist())
        self.history.append(Iteration(number, 2.0 * point.cost, float(damping.mean()), values, bool(accepted), renewed))


def _merit(costs: Array, limits: Array) -> float:
    """What is to fall: the cost of a window, or beyond its limit the logarithm of it."""
    beyond = limits * (1.0 + np.log(np.maximum(costs, limits) / limits))
    return float(np.where(costs > limits, beyond, costs).sum())
