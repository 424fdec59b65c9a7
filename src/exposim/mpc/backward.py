"""Riccati recursion with bounds: how controls should change, to second order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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

    def expected(self, length: Any) -> Any:
        """Change of the cost of a step of so many times the full one, of one or of several."""
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
    eye = np.eye(nu)
    for at in range(knots - 1, -1, -1):
        Q, q = Ft[at] @ (V @ F[at]), Ft[at] @ g
        Quu, Qux, Qu = Q[ndx:, ndx:] + running.uu[at], Q[ndx:, :ndx], q[ndx:] + running.u[at]
        firm = Quu + (regularisation * Quu.trace() / nu) * eye
        found = _least(firm, Qu, Qux, None if room is None else room[at])
        if found is None:
            return None
        k[at], K[at], free = found
        by_k = Quu @ k[at]
        linear += float(k[at] @ Qu)
        quadratic += 0.5 * float(k[at] @ by_k)
        slope = max(slope, float(np.abs(Qu[free]).max(initial=0.0)))
        back = Qux.T @ np.column_stack([k[at], K[at]])
        g = q[:ndx] + running.x[at] + K[at].T @ (by_k + Qu) + back[:, 0]
        V = Q[:ndx, :ndx] + running.xx[at] + K[at].T @ (Quu @ K[at]) + back[:, 1:] + back[:, 1:].T
        V = 0.5 * (V + V.T)
    if not (np.isfinite(k).all() and np.isfinite(K).all()):
        return None
    return Descent(k, K, linear, quadratic, slope)


def _least(H: Array, g: Array, G: Array, room: Array | None) -> tuple[Array, Array, NDArray[np.bool_]] | None:
    """Least of ½ kᵀHk + (g + G δx)ᵀk within bounds: k at δx = 0, its change with δx, and which entries are free.

    None where H is not positive definite.
    """
    try:
        np.linalg.cholesky(H)
    except np.linalg.LinAlgError:
        return None
    both = np.asarray(-np.linalg.solve(H, np.column_stack([g, G])), dtype=np.float64)
    k, K = both[:, 0], both[:, 1:]
    if room is None or bool(((k > room[0]) & (k < room[1])).all()):
        return k, K, np.ones(len(g), dtype=bool)
    k, free = _within(H, g, np.clip(k, *room), room)
    K = np.zeros_like(K)
    if free.any():
        K[free] = -np.linalg.solve(H[np.ix_(free, free)], G[free])
    return k, K, free


def _within(H: Array, g: Array, k: Array, room: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Least of ½ kᵀHk + gᵀk within bounds, by projected Newton steps from k on, and which entries are free."""
    free = np.ones(len(g), dtype=bool)
    for _ in range(MOST_ROUNDS):
        slope = H @ k + g
        free = ~(((k <= room[0]) & (slope > 0.0)) | ((k >= room[1]) & (slope < 0.0)))
        if not free.any():
            break
        step = np.zeros(len(g))
        step[free] = -np.linalg.solve(H[np.ix_(free, free)], slope[free])
        if np.abs(step).max() <= 1e-9 * (1.0 + np.abs(k).max()):
            break
        k = _shortened(H, g, k, step, room)
    return k, free


def _shortened(H: Array, g: Array, k: Array, step: Array, room: Array) -> Array:
    """A step that goes down, bent along the bounds."""
    before = 0.5 * k @ H @ k + g @ k
    for halvings in range(20):
        there: Array = np.clip(k + 0.5**halvings * step, *room)
        if 0.5 * there @ H @ there + g @ there <= before + 1e-4 * (H @ k + g) @ (there - k):
            return there
    return k
