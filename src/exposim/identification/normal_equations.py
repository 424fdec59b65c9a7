r"""Least squares in parameters that all windows share and starts that are each window's own.

.. math:: \begin{bmatrix} H_{xx} & H_{xp} \\ H_{xp}^\top & H_{pp} \end{bmatrix}
          \begin{bmatrix} \delta x \\ \delta p \end{bmatrix} = \begin{bmatrix} g_x \\ g_p \end{bmatrix}

with :math:`H_{xx}` in one block to a window, which is eliminated: what is left of :math:`H_{pp}` is the information
that the motions have of the parameters.

Products are taken instant by instant: larger ones BLAS shares out among threads, which wait for each other where the
processor has other work, and take three times its time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.identification.observability import deviations

# Of the largest entry on a diagonal, which starts have at least: of directions that nothing was measured of.
LEAST = 1e-12
# Holds parameters in place that nothing depends on; of an estimate of 1 % it is a hundred-thousandth.
HOLD = 0.1


@dataclass(eq=False)
class NormalEquations:
    """Of a linearization: ``J`` and what comes of it.

    Args:
        J: Residuals' derivatives by the start and the logarithms of parameters, (W, T + 1, 2 nv, ndx + np).
        products: JᵀJ, and one over the variances of what is known of starts, (W, ndx + np, ndx + np).
        shares: Weights of the windows, (W,).
        lost: Windows that have no derivatives, (W,).
        known: One over the variances of what is known of starts, (ndx,).
        estimated: Whether starts are estimated; else they are given.
    """

    J: Array
    products: Array
    shares: Array
    lost: NDArray[np.bool_]
    known: Array
    estimated: bool

    @classmethod
    def empty(cls, shape: tuple[int, ...], known: Array, parameters: int, estimated: bool) -> NormalEquations:
        """Of residuals of this shape, (W, T + 1, 2 nv), to be renewed."""
        W, n = shape[0], len(known) + parameters
        J, products = np.zeros((*shape, n)), np.zeros((W, n, n))
        return cls(J, products, np.zeros(W), np.ones(W, dtype=bool), known, estimated)

    def renew(self, rows: NDArray[np.int_], J: Array) -> None:
        """With derivatives of some windows, as ``J`` has them, which are zero where they are not finite."""
        products = np.zeros((len(rows), *J.shape[3:], *J.shape[3:]))
        for k in range(J.shape[1]):
            products += np.matmul(J[:, k].transpose(0, 2, 1), J[:, k])
        lost = ~np.isfinite(products).all(axis=(1, 2))
        if lost.any():
            J[lost], products[lost] = 0.0, 0.0
        i = np.arange(self.ndx)
        products[:, i, i] += self.known
        self.J[rows], self.products[rows], self.lost[rows] = J, products, lost

    def weigh(self, costs: Array, limits: Array) -> None:
        """Windows count less beyond the limits of their costs, and nothing without derivatives."""
        self.shares = np.where(self.lost, 0.0, np.minimum(1.0, limits / np.maximum(costs, 1e-300)))

    @property
    def H(self) -> Array:
        """Times the weights of windows."""
        return np.asarray(self.products * self.shares[:, None, None])

    @property
    def ndx(self) -> int:
        """Size of a start's displacement."""
        return len(self.known)

    def gradient(self, residuals: Array, away: Array) -> Array:
        """Jᵀr of every window, times its weight, (W, ndx + np).

        Args:
            residuals: (W, T + 1, 2 nv).
            away: Of starts from what is known of them, (W, ndx).
        """
        g = np.matmul(residuals[:, :, None], self.J)[:, :, 0].sum(axis=1)
        g[:, : self.ndx] -= self.known * away
        return np.asarray(g * self.shares[:, None])

    def foreseen(self, dx: Array, dp: Array) -> Array:
        """By how much residuals fall with steps of the starts and the parameters, (W, T + 1, 2 nv)."""
        step = np.concatenate([dx, np.broadcast_to(dp, (len(dx), len(dp)))], axis=1)
        return np.asarray(np.matmul(self.J, step[:, None, :, None])[..., 0])

    def solve(self, g: Array, damping: Array, least: Array, most: Array) -> tuple[Array, Array, Array]:
        """Steps of the starts and of the parameters, within bounds, and standard deviations of the latter.

        Args:
            g: As :meth:`gradient` gives it.
            damping: λ of Levenberg and Marquardt of each window, (W,).
            least: Bounds of the step of the parameters, (np,).
            most: Likewise.
        """
        X, S, s = self._eliminated(g, damping)
        mean = float(np.mean(damping))
        spread = deviations(S)
        S = S + np.diag(mean * np.diag(S) + HOLD)
        dp = _bounded(S, s, least, most)
        dx = np.zeros((len(g), self.ndx))
        if self.estimated:
            dx = X[:, :, -1] - X[:, :, :-1] @ dp
        return dx, dp, spread

    def information(self) -> Array:
        """Of the parameters' logarithms, whatever the starts are, (np, np)."""
        zero = np.zeros(len(self.J))
        return self._eliminated(np.zeros(self.products.shape[:2]), zero)[1]

    def freedoms(self) -> float:
        """How many numbers the starts were fitted by: less than there are, as something is known of some."""
        if not self.estimated:
            return 0.0
        n = self.ndx
        i = np.arange(n)
        Hxx = self.products[self.shares > 0.0][:, :n, :n]
        Hxx[:, i, i] += LEAST * Hxx[:, i, i].max(axis=1, keepdims=True)
        return float(n * len(Hxx) - np.sum(self.known * np.linalg.inv(Hxx)[:, i, i]))

    def _eliminated(self, g: Array, damping: Array) -> tuple[Array, Array, Array]:
        """H_xx⁻¹ [H_xp g_x], and H_pp and g_p less what starts take away."""
        n, H = self.ndx, self.H
        Hpp, gp = H[:, n:, n:].sum(axis=0), g[:, n:].sum(axis=0)
        if not self.estimated:
            return np.zeros((len(g), n, Hpp.shape[0] + 1)), Hpp, gp
        Hxx = H[:, :n, :n].copy()
        i = np.arange(n)
        diagonal = Hxx[:, i, i]
        Hxx[:, i, i] += damping[:, None] * diagonal + LEAST * diagonal.max(axis=1, keepdims=True)
        Hxp = H[:, :n, n:]
        X = np.linalg.solve(Hxx, np.concatenate([Hxp, g[:, :n, None]], axis=2))
        S = Hpp - np.einsum("wxp,wxq->pq", Hxp, X[:, :, :-1])
        s = gp - np.einsum("wxp,wx->p", Hxp, X[:, :, -1])
        return X, 0.5 * (S + S.T), s


def _bounded(S: Array, s: Array, least: Array, most: Array) -> Array:
    """Minimum of pᵀSp/2 − sᵀp within bounds, those that stop it one after the other."""
    step = np.zeros(len(s))
    free = np.ones(len(s), dtype=bool)
    for _ in range(len(s)):
        if not free.any():
            break
        rest = s[free] - S[np.ix_(free, ~free)] @ step[~free]
        step[free] = np.linalg.lstsq(S[np.ix_(free, free)], rest, rcond=1e-14)[0]
        beyond = free & ((step < least) | (step > most))
        step = np.clip(step, least, most)
        if not beyond.any():
            break
        free &= ~beyond
    return step
