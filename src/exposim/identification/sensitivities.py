"""Derivatives of all steps of windows, each used again for as long as it foresees where its step leads to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.identification.windows import Windows
from exposim.simulation.rollout import Rollout

# A step misleads if where it leads to changes by more than its derivatives foresee, in squares: more than this share of
# the change, and more than this of the noise's own. So it does if a parameter differs by more than this share from what
# it was when they were computed.
TRUSTED, UNSEEN, OTHER = 0.02, 0.01, 0.04
# Of a stretch, that counts as the noise's standard deviation does of what is measured [m or rad].
STRETCH = 1e-5

Steps = NDArray[np.bool_]


class Sensitivities:
    """Of steps by the state before and by the logarithms of parameters; of residuals by starts and those, in a chain.

    Args:
        windows: Whose steps they are.
        names: Of the parameters.

    Attributes:
        steps: Those within their window, (W, T).
        grazing: How often each is not differentiable, (W, T).
    """

    def __init__(self, windows: Windows, names: Sequence[str]):
        W, T, ndx = len(windows), windows.T, windows.simulator._world.tangent_size
        self._windows, self._names = windows, tuple(names)
        self._A, self._P = np.zeros((W, T, ndx, ndx)), np.zeros((W, T, ndx, len(names)))  # zero beyond a window's end
        noise = windows.noise.weights
        self._weights = np.concatenate([noise, np.full(ndx - noise.size, 1.0 / STRETCH)])
        self.steps: Steps = np.arange(T) < windows.lengths[:, None]
        self.grazing = np.zeros((W, T), dtype=int)
        self._p = np.zeros((W, T, len(names)))  # at which each was computed

    def renew(self, pool: Rollout, states: Array, values: Array, which: Steps) -> None:
        """Computes those of some steps anew.

        Args:
            pool: In the world of the parameters.
            states: As :meth:`Windows.simulate` gives them.
            values: Of the parameters.
            which: Steps, (W, T).
        """
        inputs: dict[str, Any] = {name: each[which] for name, each in self._windows.inputs.items()}
        wrenches = {frame: each[which] for frame, each in self._windows.wrenches.items()} or None
        found = pool.linearize(states[:, :-1][which], **inputs, wrenches=wrenches, by="nothing", parameters=self._names)
        self._A[which], self._P[which], self.grazing[which] = found.x, found.parameters * values, found.grazing
        self._p[which] = np.log(values)

    def of_residuals(self, rows: NDArray[np.int_]) -> Array:
        """Of the residuals of some windows by starts and logarithms of parameters, (rows, T + 1, 2 nv, ndx + np)."""
        windows, (W, T, ndx, count) = self._windows, self._P.shape
        nv = windows.simulator.robot.nv
        chosen = slice(None) if len(rows) == W else rows
        S = np.zeros((len(rows), ndx, ndx + count))
        S[:, :, :ndx] = np.eye(ndx)
        J = np.empty((len(rows), T + 1, 2 * nv, ndx + count))
        weights = windows.weights[rows, :, :, None]
        np.multiply(S[:, : 2 * nv], weights[:, 0], out=J[:, 0])
        for k in range(T):
            S = np.matmul(self._A[chosen, k], S)
            S[:, :, ndx:] += self._P[chosen, k]
            np.multiply(S[:, : 2 * nv], weights[:, k + 1], out=J[:, k + 1])
        return J

    def misleading(self, before: Array, after: Array, dp: Array, p: Array, windows: NDArray[np.bool_]) -> Steps:
        """Steps that come to something else than was foreseen; all of a window in which none does by itself.

        Args:
            before: States, as :meth:`Windows.simulate` gives them.
            after: Likewise, with other starts and parameters.
            dp: By how much the logarithms of parameters differ.
            p: These, where derivatives are wanted.
            windows: Of which steps are asked for, (W,).
        """
        found, rows = np.zeros_like(self.steps), np.flatnonzero(windows)
        dx = self._windows.difference(before[rows], after[rows])
        foreseen = np.matmul(self._A[rows], dx[:, :-1, :, None])[..., 0] + self._P[rows] @ dp
        off = np.sum(((dx[:, 1:] - foreseen) * self._weights) ** 2, axis=2)
        change = np.sum((dx[:, 1:] * self._weights) ** 2, axis=2)
        seen = ~(off <= np.maximum(UNSEEN, TRUSTED * change))  # also what is not a number
        seen |= (np.abs(p - self._p[rows]) > OTHER).any(axis=2)
        seen &= self.steps[rows]
        found[rows] = np.where(seen.any(axis=1, keepdims=True), seen, self.steps[rows])
        return found
