"""Derivatives of a step by finite differences of steps, whatever the simulator says of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from exposim.simulation.parameters import Parameters

STEPS = {
    "x": (1e-5, 1e-6, 1e-7, 1e-8),
    "stretch": (1e-6, 1e-7, 1e-8, 1e-9),
    "tau": (1e-1, 1e-3, 1e-4, 1e-5),
    "wrench": (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
    "parameter": (1e-3, 1e-4, 1e-5, 1e-6),  # of itself
}


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

    def _take(self, state, tau, **given):
        self.other.state = state
        self.other.step(tau, **(self.given | given))
        info, end = self.other.info, self.other.state
        events = tuple((event.contact, event.kind) for event in self.other.events)
        return end, (info.micro_steps, info.parts, info.resolved, events, tuple(end.mode))

    def _column(self, move: Callable[[float], tuple], steps, found, scale) -> float | None:
        """The least difference to a column found, relative to the largest entries; none where choices differ."""
        best = None
        for step in steps:
            (more, choices), (less, others) = move(step), move(-step)
            if not choices == others == self.choices:
                continue
            column = (self.sim.difference(self.end, more) - self.sim.difference(self.end, less)) / (2.0 * step)
            off = 0.0
            for rows, least in scale:
                if found[rows].size:
                    off = max(off, np.abs(found[rows] - column[rows]).max() / max(np.abs(column[rows]).max(), least))
            best = off if best is None else min(best, off)
        return best

    def errors(self, d) -> list[float]:
        """Of derivatives found: one to each column of d.x and d.tau whose choices hold nearby."""
        nv = self.sim.robot.nv
        scales = {"x": self._scales(d.x), "tau": self._scales(d.tau)}
        result = []
        for i in range(d.x.shape[1]):
            if i >= 2 * nv and not np.abs(d.x[:, i]).any():
                continue

            def displaced(step, i=i):
                dx = np.zeros(d.x.shape[1])
                dx[i] = step
                return self._take(self.sim.integrate(self.state, dx), self.tau)

            steps = STEPS["x"] if i < 2 * nv else STEPS["stretch"]
            result.append(self._column(displaced, steps, d.x[:, i], scales["x"]))
        for i in range(d.tau.shape[1]):

            def pushed(step, i=i):
                tau = np.array(self.tau)
                tau[i] += step
                return self._take(self.state, tau)

            result.append(self._column(pushed, STEPS["tau"], d.tau[:, i], scales["tau"]))
        return [each for each in result if each is not None]

    def wrench_errors(self, d) -> list[float]:
        """Of derivatives by wrenches: one to each column whose choices hold nearby."""
        result = []
        for frame, found in d.wrenches.items():
            scale = self._scales(found)
            for i in range(6):

                def pushed(step, frame=frame, i=i):
                    wrenches = {name: np.array(each, dtype=float) for name, each in self.given["wrenches"].items()}
                    wrenches[frame][i] += step
                    return self._take(self.state, self.tau, wrenches=wrenches)

                result.append(self._column(pushed, STEPS["wrench"], found[:, i], scale))
        return [each for each in result if each is not None]

    def parameter_errors(self, d) -> list[float]:
        """Of derivatives by parameters, likewise."""
        result = []
        for k, parameter in enumerate(Parameters(self.sim).named(d.names)):

            def changed(step, parameter=parameter):
                self.other.set(**parameter.changes(parameter.value * (1.0 + step)))
                taken = self._take(self.state, self.tau)
                self.other = self.sim.copy()
                return taken

            by = d.parameters[:, k] * parameter.value
            result.append(self._column(changed, STEPS["parameter"], by, self._scales(by[:, None])))
        return [each for each in result if each is not None]

    def _scales(self, found):
        rows_of = _blocks(self.sim.robot.nv)
        return [(rows, 1e-3 * max(np.abs(found[rows]).max(initial=0.0), 1e-9)) for rows in rows_of]


def _blocks(nv: int) -> tuple[slice, slice, slice]:
    return slice(0, nv), slice(nv, 2 * nv), slice(2 * nv, None)
