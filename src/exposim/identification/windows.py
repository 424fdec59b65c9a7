"""Measured motions in windows, each of which is simulated from a start of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.identification.measured import Motion
from exposim.identification.tangents import Tangents
from exposim.simulation.rollout import Rollout
from exposim.simulation.simulator import Simulator

Rows = slice | NDArray[np.int_]
ALL = slice(None)


@dataclass(frozen=True, eq=False)
class Noise:
    """Standard deviations of what was measured.

    Args:
        q: In the tangent space of configurations [m or rad], (nv,).
        v: [m/s or rad/s], (nv,).
    """

    q: Array
    v: Array

    @property
    def weights(self) -> Array:
        """One over each, (2 nv,)."""
        return np.asarray(1.0 / np.concatenate([self.q, self.v]))


class Windows:
    """W windows of T steps each, of one motion or several; shorter ones are filled up with steps that do not count.

    Attributes:
        q: Measured, (W, T + 1, nq); where nothing was, something.
        v: Likewise, (W, T + 1, nv).
        weights: What a residual is multiplied with, (W, T + 1, 2 nv): zero where nothing was measured, one over its
            standard deviation, and over √2 more where two windows share an instant.
        motion: Number of the motion of each window, (W,).
        first: Number of its first instant, (W,).
        lengths: Its steps, (W,).
        noise: Of what was measured.
    """

    def __init__(self, simulator: Simulator, motions: Sequence[Motion], length: float, noise: Noise):
        self.simulator = simulator
        self.motions = motions
        self.noise = noise
        self.tangents = Tangents(simulator.robot._model)
        cuts = [_cuts(motion, length) for motion in motions]
        of = [(m, int(a), int(b)) for m, cut in enumerate(cuts) for a, b in pairwise(cut)]
        self.motion = np.array([m for m, _, _ in of])
        self.first = np.array([a for _, a, _ in of])
        self.lengths = np.array([(b - a) * motions[m].steps for m, a, b in of])
        self._every = np.array([motions[m].steps for m, _, _ in of])
        self.T = int(self.lengths.max())
        steps = np.arange(self.T + 1)
        # Instants at which each step begins, those that hold meanwhile, and whether one was measured there.
        self._instants = np.minimum(
            self.first[:, None] + steps // self._every[:, None], (self.first + self.lengths // self._every)[:, None]
        )
        measured = (steps % self._every[:, None] == 0) & (steps <= self.lengths[:, None])
        self.q, self.v = self._taken("q"), self._taken("v")
        self.weights = self._weighted(measured, noise)
        held = self._instants[:, : self.T]
        self.inputs: dict[str, Array] = {
            name: self._stacked([motion.inputs[name] for motion in motions], held) for name in motions[0].inputs
        }
        self.wrenches = {
            frame: self._stacked([motion.wrenches[frame] for motion in motions], held) for frame in motions[0].wrenches
        }

    def __len__(self) -> int:
        return len(self.first)

    def _stacked(self, arrays: Sequence[Array], instants: NDArray[np.int_]) -> Array:
        return np.stack([arrays[m][at] for m, at in zip(self.motion, instants, strict=True)])

    def _taken(self, name: str) -> Array:
        arrays = [getattr(motion, name) for motion in self.motions]
        if arrays[0] is None:
            return np.zeros((len(self), self.T + 1, self.simulator.robot.nv))
        return self._stacked(arrays, self._instants)

    def _weighted(self, measured: NDArray[np.bool_], noise: Noise) -> Array:
        each = noise.weights
        if self.motions[0].v is None:
            each = np.where(np.arange(each.size) < each.size // 2, each, 0.0)
        shares = measured.astype(float)
        ends = self.first + self.lengths // self._every
        for w, m in enumerate(self.motion):
            if self.first[w] > 0:
                shares[w, 0] = np.sqrt(0.5)
            if ends[w] < self.motions[m].intervals:
                shares[w, self.lengths[w]] = np.sqrt(0.5)
        return np.asarray(shares[:, :, None] * each)

    @cached_property
    def counts(self) -> Array:
        """How many numbers were measured in each window, those of shared instants by half, (W,)."""
        most = self.weights.max(axis=(0, 1))
        return np.asarray(((self.weights / np.where(most > 0.0, most, 1.0)) ** 2).sum(axis=(1, 2)))

    def simulate(self, pool: Rollout, starts: Array, rows: Rows = ALL) -> tuple[Array, NDArray[np.bool_]]:
        """Flat states at the beginning and after every step, (W, T + 1, nx); whether each window came to its end.

        Args:
            pool: In the world of the parameters.
            starts: Flat states, one to a window.
            rows: Which windows.
        """
        inputs: dict[str, Any] = {name: each[rows] for name, each in self.inputs.items()}
        wrenches = {frame: each[rows] for frame, each in self.wrenches.items()} or None
        out = pool(starts, **inputs, wrenches=wrenches, steps=self.T, record=("states",))
        states = np.concatenate([starts[:, None], out.states], axis=1)
        good = (out.status == 0) | (out._stopped_at > self.lengths[rows])
        return states, np.asarray(good)

    def residuals(self, states: Array, rows: Rows = ALL) -> Array:
        """Measured less simulated, in standard deviations, (W, T + 1, 2 nv)."""
        nq, nv = self.simulator.robot.nq, self.simulator.robot.nv
        q, v = states[..., 1 : 1 + nq], states[..., 1 + nq : 1 + nq + nv]
        apart = np.concatenate([self.tangents.difference(q, self.q[rows]), self.v[rows] - v], axis=-1)
        apart *= self.weights[rows]
        return apart if np.isfinite(apart.sum()) else np.nan_to_num(apart, copy=False, nan=0.0)

    def difference(self, start: Array, end: Array) -> Array:
        """Of flat states, (..., ndx), as of :meth:`exposim.Simulator.difference`; stretches in axes of the world."""
        layout = self.simulator._layout
        nq, nv = layout.nq, layout.nv
        lead = start.shape[:-1]
        between = end - start
        return np.concatenate(
            [
                self.tangents.difference(start[..., 1 : 1 + nq], end[..., 1 : 1 + nq]),
                between[..., 1 + nq : 1 + nq + nv],
                layout.memory(between)[..., 3:].reshape(*lead, 3 * layout.nc),
                layout.grips(between)[..., 0],
            ],
            axis=-1,
        )


def _cuts(motion: Motion, length: float) -> NDArray[np.int_]:
    """Instants at which windows begin and end, as near to that length [s] as may be."""
    interval = float(motion.t[-1] - motion.t[0]) / motion.intervals
    count = max(1, round(motion.intervals * interval / length))
    cuts = np.round(np.linspace(0, motion.intervals, min(count, motion.intervals) + 1)).astype(int)
    return cuts[np.diff(cuts, prepend=-1) > 0]
