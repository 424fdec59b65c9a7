"""Riccati recursion with bounds: how controls should change, to second order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.mpc.cost import Expansion
from exposim.mpc.horizon import Slopes

MOST_ROUNDS = 20  # of a quadratic programme with bounds; it ends after as many as bounds change, and one


@dataclass(frozen=True, eq=False)
class Descent:
    """A way down: ``u + α k + K (x ⊖ x_ref)``.

    Args:
        k: Changes of controls, (knots, nu).
        K: Feedback, (knots, nu, ndx); zero of controls that are at their bounds.
        linear: Expected change of the cost, times α.
        quadratic: And times α².
        slope: Largest derivative of the cost by a control that is not held by its bound.
    """

    k: Array
    K: Array
    linear: float
    quadratic: float
    slope: float

    def expected(self, length: float) -> float:
        """Change of the cost of a step of so many times the full one."""
        return length * self.linear + length * length * self.quadratic


def descend(
    slopes: Slopes, running: Expansion, last: Expansion, room: Array | None, regularisation: float
) -> Descent | None:
    r"""Goes from the last knot to the first; none where a Q_uu is not positive definite.

    Of each knot it finds the change of controls, within their room, that makes the least of

    .. math:: \tfrac12 k^\top Q_{uu} k + Q_u^\top k, \qquad Q = F^\top V F + L, \qquad F = [A \; B],

    with L the expansion of the cost there and V that of all that follows.

    Args:
        slopes: Derivatives from knot to knot.
        running: Costs at all knots but the last.
        last: Cost at the last one.
        room: What controls may change by at least and at most, (knots, 2, nu).
        regularisation: Added to the diagonal of Q_uu, in units of its mean.
    """
    knots, ndx, nu = slopes.B.shape
    F = np.concatenate([slopes.A, slopes.B], axis=2)  # (knots, ndx, ndx + nu)
    Ft = np.ascontiguousarray(np.swapaxes(F, 1, 2))
    k, K = np.zeros((knots, nu)), np.zeros((knots, nu, ndx))
    V, g = last.xx[0], last.x[0]
    linear = quadratic = slope = 0.0
    for at in range(knots - 1, -1, -1):
        Q = Ft[at] @ (V @ F[at])
        Q[:ndx, :ndx] += running.xx[at]
        Q[ndx:, ndx:] += running.uu[at]
        q = Ft[at] @ g
        Qu, Qux, Quu = q[ndx:] + running.u[at], Q[ndx:, :ndx], 0.5 * (Q[ndx:, ndx:] + Q[ndx:, ndx:].T)
        firm = Quu + regularisation * (np.trace(Quu) / nu) * np.eye(nu)
        found = _within(firm, Qu, None if room is None else room[at])
        if found is None:
            return None
        k[at], free = found
        if free.all():
            K[at] = -np.linalg.solve(firm, Qux)
        elif free.any():
            K[at][free] = -np.linalg.solve(firm[np.ix_(free, free)], Qux[free])
        by_k, by_K = Quu @ k[at], Quu @ K[at]
        linear += float(k[at] @ Qu)
        quadratic += 0.5 * float(k[at] @ by_k)
        slope = max(slope, float(np.abs(Qu[free]).max(initial=0.0)))
        g = q[:ndx] + running.x[at] + K[at].T @ (by_k + Qu) + Qux.T @ k[at]
        V = Q[:ndx, :ndx] + K[at].T @ (by_K + Qux) + Qux.T @ K[at]
        V = 0.5 * (V + V.T)
    if not (np.isfinite(k).all() and np.isfinite(K).all()):
        return None
    return Descent(k, K, linear, quadratic, slope)


def _within(H: Array, g: Array, room: Array | None) -> tuple[Array, NDArray[np.bool_]] | None:
    """Least of ½ kᵀHk + gᵀk within bounds, by projected Newton steps, and which entries are free; none of a bad H."""
    try:
        np.linalg.cholesky(H)
    except np.linalg.LinAlgError:
        return None
    k = np.asarray(-np.linalg.solve(H, g), dtype=np.float64)
    if room is None:
        return k, np.ones(len(g), dtype=bool)
    k = np.clip(k, *room)
    free = np.ones(len(g), dtype=bool)
    for _ in range(MOST_ROUNDS):
        slope = H @ k + g
        now = ~(((k <= room[0]) & (slope > 0.0)) | ((k >= room[1]) & (slope < 0.0)))
        if not now.any():
            return k, now
        step = np.zeros(len(g))
        step[now] = -np.linalg.solve(H[np.ix_(now, now)], slope[now])
        if np.abs(step).max() <= 1e-9 * (1.0 + np.abs(k).max()):
            return k, now
        k, free = _shortened(H, g, k, step, room), now
    return k, free


def _shortened(H: Array, g: Array, k: Array, step: Array, room: Array) -> Array:
    """A step that goes down, bent along the bounds."""
    before = 0.5 * k @ H @ k + g @ k
    for halvings in range(20):
        there: Array = np.clip(k + 0.5**halvings * step, *room)
        if 0.5 * there @ H @ there + g @ there <= before + 1e-4 * (H @ k + g) @ (there - k):
            return there
    return k
