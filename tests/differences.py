"""Derivatives of a step by finite differences of steps, whatever the simulator says of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from exposim.simulation.parameters import Parameters

STEPS = {  # the longest and the shortest
    "x": (1e-2, 1e-11),
    "stretch": (1e-5, 1e-12),
    "force": (1.0, 1e-8),
    "target": (1e-2, 1e-10),
    "parameter": (1e-2, 1e-8),  # of itself
}
AGREES = 1e-7  # no test asks for more
ROUNDS = 1e-4, 4  # closer than that, and not improved by so many more strides: rounding is all that is left
# What a smaller column counts by: of the largest entry of q or v by its kind. Stretches, of which 1e-7 may be left at
# the end of a step, and which nothing feels while contacts slip, are lengths as q is.
LEAST = 0.1
# Shorter strides say nothing to seven digits: rounding. Where no longer one comes closer than that, as it leads across
# an edge of the ground, a column that is right to some digits is not judged.
TELLS = 5e-9
ACROSS = 0.5


class Around:
    """Steps around one, by displacements of its state and other torques.

    Args:
        sim: Whose steps they are; it stays where it is.
        state: Where the step starts.
        tau: What it is given.
        given: What else.
    """

    def __init__(self, sim, state, tau, **given):
        self.sim, self.state, self.tau, self.given = sim, state, tau, given
        self.other = sim.copy()
        self.end, self.choices = self._take(state, tau)
        nv = sim.robot.nv
        self._blocks = slice(0, nv), slice(nv, 2 * nv), slice(2 * nv, None)

    @property
    def changes(self) -> bool:
        """Whether contacts change in the step."""
        return self.choices[2]

    def _take(self, state, tau, **given):
        self.other.state = state
        self.other.step(tau, **(self.given | given))
        info, end = self.other.info, self.other.state
        events = tuple((event.contact, event.kind) for event in self.other.events)
        return end, (info.micro_steps, info.parts, info.resolved, events, tuple(end.mode))

    def _column(self, move: Callable[[float], tuple], kind: str, found, least) -> float | None:
        """How far a column is off, relative to its largest entry of each of q, v and stretches, the worst of these.

        Strides become shorter until one agrees: long ones are felt where a step bends, short ones by rounding, at
        other lengths in q, v and stretches. Steps may bend within 1e-7, as where a contact stops to slip: from two
        strides the bend is known. Where choices differ on one side, the other counts; None where on both, always.
        """
        best, before, last, told = np.full(len(least), np.inf), {}, (np.inf, 0), np.inf
        for k, step in enumerate(_strides(*STEPS[kind])):
            slopes = {}
            for side in (1.0, -1.0):
                end, choices = move(side * step)
                if choices == self.choices:
                    slopes[side] = self.sim.difference(self.end, end) / (side * step)
            central = len(slopes) == len((1.0, -1.0))
            seen = {0.0: sum(slopes.values()) / 2.0} if central else slopes
            for side, slope in seen.items():
                if central:
                    best = np.minimum(best, self._off(found, slope, least))
                if side in before:
                    shorter = (before[side][0] / step) ** (2 if central else 1)
                    without_bend = (shorter * slope - before[side][1]) / (shorter - 1.0)
                    best = np.minimum(best, self._off(found, without_bend, least))
            told = best.max() if step > TELLS else told
            last = min(last, (best.max(), k))
            if best.max() < AGREES or (best.max() < ROUNDS[0] and k - last[1] >= ROUNDS[1]):
                break
            before = {side: (step, slope) for side, slope in (seen | slopes).items()}
        across = told > ACROSS and best.max() < ROUNDS[0]
        return best.max() if np.isfinite(best).all() and not across else None

    def _off(self, found, column, least):
        return [
            np.abs(found[rows] - column[rows]).max(initial=0.0) / max(np.abs(column[rows]).max(initial=0.0), scale)
            for rows, scale in zip(self._blocks, least, strict=True)
        ]

    def errors(self, d) -> list[float]:
        """Of derivatives found: one to each column of d.x and d.tau whose choices hold nearby."""
        q, v, stretch = (d.x[:, columns] for columns in self._blocks)
        nv = self.sim.robot.nv
        lengths = self._least(np.hstack([q, stretch]))
        touching = 2 * nv + np.flatnonzero(
            np.append(np.repeat(self.state.active, 3), np.ones(d.x.shape[1], dtype=bool))
        )
        felt = touching[touching < d.x.shape[1]]  # of open contacts no stretch is
        return [
            *self._columns(q, "x", self._displaced, lengths),
            *self._columns(v, "x", lambda i, step: self._displaced(nv + i, step)),
            *self._columns(d.x[:, felt], "stretch", lambda i, step: self._displaced(felt[i], step), lengths),
            *self._columns(d.tau, "force", lambda i, step: self._take(self.state, _at(self.tau, i, step))),
        ]

    def target_errors(self, d) -> list[float]:
        """Of derivatives by where drives are told to be."""
        target = self.given["target"]
        return self._columns(
            d.target, "target", lambda i, step: self._take(self.state, self.tau, target=_at(target, i, step))
        )

    def wrench_errors(self, d) -> list[float]:
        """Of derivatives by wrenches."""
        result = []
        for frame, found in d.wrenches.items():

            def pushed(i, step, frame=frame):
                wrenches = self.given["wrenches"]
                wrenches = wrenches | {frame: _at(wrenches[frame], i, step)}
                return self._take(self.state, self.tau, wrenches=wrenches)

            result += self._columns(found, "force", pushed)
        return result

    def parameter_errors(self, d) -> list[float]:
        """Of derivatives by parameters."""
        result = []
        for k, parameter in enumerate(Parameters(self.sim).named(d.names)):

            def changed(_, step, parameter=parameter):
                self.other.set(**parameter.changes(parameter.value * (1.0 + step)))
                taken = self._take(self.state, self.tau)
                self.other = self.sim.copy()
                return taken

            result += self._columns(d.parameters[:, [k]] * parameter.value, "parameter", changed)
        return result

    def _displaced(self, i, step):
        dx = np.zeros(self.sim.difference(self.end, self.end).size)
        dx[i] = step
        return self._take(self.sim.integrate(self.state, dx), self.tau)

    def _columns(self, found, kind: str, move: Callable[[int, float], tuple], least=None) -> list[float]:
        """Of all columns of a kind whose choices hold nearby."""
        least = least or self._least(found)
        off = [self._column(partial(move, i), kind, found[:, i], least) for i in range(found.shape[1])]
        return [each for each in off if each is not None]

    def _least(self, found) -> list[float]:
        q, v, stretch = (np.abs(found[rows]).max(initial=1e-12) for rows in self._blocks)
        return [LEAST * each for each in (q, v, max(q, stretch))]


def _strides(longest: float, shortest: float):
    """Two to a decade."""
    return np.geomspace(longest, shortest, 1 + round(2.0 * np.log10(longest / shortest)))


def _at(values, i: int, step: float):
    values = np.array(values, dtype=float)
    values[i] += step
    return values
