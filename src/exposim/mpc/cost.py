"""Cost of a motion along a horizon, and its expansion to second order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.mpc.points import Points
from exposim.mpc.terms import Term


@dataclass(frozen=True, eq=False)
class Expansion:
    """Of costs at N points, in the tangent space of each.

    Args:
        x: By states, (N, ndx).
        xx: Twice, (N, ndx, ndx).
        u: By controls, (N, nu).
        uu: Twice, (N, nu, nu).
    """

    x: Array
    xx: Array
    u: Array
    uu: Array


class Cost:
    """A sum of terms, at all knots of a horizon.

    Args:
        terms: Such as :class:`Posture`, :class:`Velocity`, :class:`Control`, :class:`Place`, :class:`Force`.
    """

    def __init__(self, *terms: Term):
        for each in terms:
            if not isinstance(each, Term):
                raise InvalidArgument(f"a term of the cost is {each!r}; give an exposim.mpc.Posture, Velocity, …")
        self.terms = terms

    @classmethod
    def of(cls, given: Cost | Term | Iterable[Term]) -> Cost:
        """Of a cost itself, one term or several."""
        if isinstance(given, Cost):
            return given
        if isinstance(given, Term):
            return cls(given)
        return cls(*_checks.several("cost", given, "an exposim.mpc.Cost, or a list of terms"))

    def values(self, at: Points) -> Array:
        """At each of the points, (N,)."""
        total = np.zeros(len(at.x))
        for term in self._asked(at):
            weights = term.weights(at)
            counts = np.asarray(weights.any(axis=1))
            if counts.any():
                squares = term.residual(at.rows(counts)) ** 2
                total[counts] += 0.5 * (weights[counts] * squares).sum(axis=1)
        return total

    def expand(self, at: Points) -> Expansion:
        """At each of the points, by Gauss and Newton."""
        rows, ndx = len(at.x), at.sim._world.tangent_size
        nu = len(at.robot.actuated_dofs)
        found = Expansion(
            np.zeros((rows, ndx)), np.zeros((rows, ndx, ndx)), np.zeros((rows, nu)), np.zeros((rows, nu, nu))
        )
        for term in self._asked(at):
            weights = term.weights(at)
            counts = np.asarray(weights.any(axis=1))
            if not counts.any():
                continue
            some, w = at.rows(counts), weights[counts]
            R = term.jacobian(some)
            weighted = np.swapaxes(R * w[:, :, None], 1, 2)  # (n, size) of each
            n = R.shape[2]
            first, second = (found.u, found.uu) if term.of_controls else (found.x, found.xx)
            places = np.flatnonzero(counts)
            first[places, :n] += (weighted @ term.residual(some)[:, :, None])[:, :, 0]
            second[places, :n, :n] += weighted @ R
        return found

    def at_knot(self, knot: int, horizon: int) -> Cost:
        """Of the terms that may count at a knot, for points of this knot alone: weights are asked for once."""
        return _KnotCost(*(each for each in self.terms if each.counts_at(knot, horizon)))

    def _asked(self, at: Points) -> list[Term]:
        return [term for term in self.terms if not (term.of_controls and at.u is None)]


class _KnotCost(Cost):
    """Of one point at a time, as solvers ask that go from knot to knot."""

    def __init__(self, *terms: Term):
        super().__init__(*terms)
        self._weights: dict[Term, Array] = {}
        self._products: dict[Term, tuple[Array, Array]] = {}

    def values(self, at: Points) -> Array:
        if len(at.x) != 1:
            return super().values(at)
        total = 0.0
        for term in self._asked(at):
            residual = term.residual(at)[0]
            total += 0.5 * float(self._weights_of(term, at) @ (residual * residual))
        return np.array([total])

    def expand(self, at: Points) -> Expansion:
        if len(at.x) != 1:
            return super().expand(at)
        ndx, nu = at.sim._world.tangent_size, len(at.robot.actuated_dofs)
        x, xx, u, uu = np.zeros(ndx), np.zeros((ndx, ndx)), np.zeros(nu), np.zeros((nu, nu))
        for term in self._asked(at):
            weighted, product = self._products_of(term, at)
            first, second = (u, uu) if term.of_controls else (x, xx)
            n = len(product)
            first[:n] += weighted @ term.residual(at)[0]
            second[:n, :n] += product
        return Expansion(x[None], xx[None], u[None], uu[None])

    def _weights_of(self, term: Term, at: Points) -> Array:
        weights = self._weights.get(term)
        if weights is None:
            weights = term.weights(at)[0]
            if not term.varies_in_time:
                self._weights[term] = weights
        return weights

    def _products_of(self, term: Term, at: Points) -> tuple[Array, Array]:
        """RᵀW and RᵀWR."""
        found = self._products.get(term)
        if found is None:
            R = term.jacobian(at)[0]
            weighted = (R * self._weights_of(term, at)[:, None]).T
            found = weighted, weighted @ R
            if term.linear and not term.varies_in_time:
                self._products[term] = found
        return found
