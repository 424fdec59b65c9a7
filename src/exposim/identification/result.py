"""What was identified."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array
from exposim._extras import extras
from exposim._writing import writing
from exposim.identification.fitting import Ended, Fit, Iteration, Point, Tally
from exposim.identification.normal_equations import NormalEquations
from exposim.identification.report import body_of, page_of
from exposim.simulation.parameters import Parameter

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Residuals:
    """Measured less simulated, of one motion.

    Args:
        t: Times [s], (n,).
        q: In the tangent space of configurations [m or rad], (n, nv).
        v: [m/s or rad/s], (n, nv).
        scaled: Both in standard deviations of the noise, (n, 2 nv); zero where nothing was measured.
        starts: Times at which windows begin [s].
        chi2: Of every window, per number that was measured in it.
        doubtful: Whether it is far off the others, and counted less.
    """

    t: Array
    q: Array
    v: Array
    scaled: Array
    starts: Array
    chi2: Array
    doubtful: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Identified:
    """Estimates, how sure they are, and what is left of the motion; ``print(result)``, ``result.report(path)``.

    Args:
        robot: Name of it.
        parameters: That were asked for, with the values that the simulator has.
        start: Values that the search began with, by name.
        estimate: By name.
        deviation: Standard deviation of each estimate, by name, in its unit.
        covariance: Of the estimates, (np, np), in the order of the names: from JᵀJ with starts unknown, times ``chi2``.
        correlation: Likewise, (np, np).
        chi2: Sum of squared residuals in standard deviations of the noise, per degree of freedom: 1 where the model and
            the noise are right.
        residuals: Of every motion.
        columns: Names of the degrees of freedom.
        ended: ``"converged"``; ``"no better nearby"``: what derivatives promise is not to be had, as at a kink where a
            contact changes what it does; ``"after the most iterations"``.
        history: Of the iterations.
        grazing: Steps that have derivatives to one side only.
        window: Length of the windows [s].
        tally: What it took.
    """

    robot: str
    parameters: tuple[Parameter, ...]
    start: dict[str, float]
    estimate: dict[str, float]
    deviation: dict[str, float]
    covariance: Array
    correlation: Array
    chi2: float
    residuals: tuple[Residuals, ...]
    columns: tuple[str, ...]
    ended: Ended
    history: tuple[Iteration, ...]
    grazing: int
    window: float
    tally: Tally

    @classmethod
    def of(cls, fit: Fit, point: Point, equations: NormalEquations, start: Array) -> Identified:
        """What a fit came to."""
        windows, values = fit.windows, np.exp(point.p)
        doubtful = equations.shares < 1.0
        good = ~doubtful
        freedoms = windows.counts[good].sum() - equations.freedoms() * good.mean() - len(values)
        chi2 = 2.0 * float(point.costs[good].sum()) / max(float(freedoms), 1.0)
        relative = np.linalg.inv(equations.information()) * chi2
        names = [each.name for each in fit.asked]
        deviation = values * np.sqrt(np.diag(relative))
        spread = np.sqrt(np.diag(relative))
        return cls(
            windows.simulator.robot.name,
            tuple(fit.asked),
            dict(zip(names, start.tolist(), strict=True)),
            dict(zip(names, values.tolist(), strict=True)),
            dict(zip(names, deviation.tolist(), strict=True)),
            relative * np.outer(values, values),
            relative / np.outer(spread, spread),
            chi2,
            tuple(_residuals(fit, point, doubtful, m) for m in range(len(windows.motions))),
            _columns(windows.simulator.robot),
            fit.ended,
            tuple(fit.history),
            int(fit.sensitivities.grazing.sum()),
            float(np.mean(windows.lengths)) * windows.simulator.dt,
            fit.tally,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Of the parameters."""
        return tuple(each.name for each in self.parameters)

    @property
    def converged(self) -> bool:
        """Whether it ended because nothing was left to gain."""
        return self.ended != "after the most iterations"

    @property
    def windows(self) -> int:
        """How many."""
        return sum(len(each.starts) for each in self.residuals)

    @property
    def doubtful(self) -> int:
        """Windows far off the others, which counted less."""
        return int(sum(each.doubtful.sum() for each in self.residuals))

    @property
    def changes(self) -> dict[str, Any]:
        """What makes a simulator that of the estimates: ``sim.set(**result.changes)``."""
        found: dict[str, Any] = {}
        for each in self.parameters:
            for kind, value in each.changes(self.estimate[each.name]).items():
                found[kind] = {**found[kind], **value} if kind in found else value
        return found

    def plot(self) -> Figure:
        """Residuals over time and their distribution, windows, and how the estimates came about."""
        with extras():
            plotting = importlib.import_module("exposim.identification.plotting")
        figure: Figure = plotting.figure_of(self)
        return figure

    def report(self, path: str | PathLike[str]) -> Path:
        """Writes a page of HTML: estimates, correlations, residuals, iterations; whole or not at all.

        Raises:
            UnwritableFile: If it cannot be written.
        """
        target = Path(path)
        with writing(target) as stream:
            stream.write(page_of(self).encode())
        return target

    def _repr_html_(self) -> str:
        return body_of(self)

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        lines = [
            f"Identified {len(self.names)} parameters of {self.robot} from {self._motions()}: {self.ended}, "
            f"{self.history[-1].number} iterations, {self.tally.seconds:.2g} s",
            f"  {'':{width}}  {'start':>10}  {'estimate':>10}  {'± std. dev.':>12}",
        ]
        for each in self.parameters:
            value, sd = self.estimate[each.name], self.deviation[each.name]
            lines.append(
                f"  {each.name:{width}}  {self.start[each.name]:>10.4g}  {value:>10.4g}  {sd:>12.2g} "
                f"{each.unit:5} ({100.0 * sd / value:.2g} %)"
            )
        lines.append(f"residuals: χ² per degree of freedom {self.chi2:.3g}{self._warning()}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.4g}" for name, value in self.estimate.items())
        return f"Identified({values}; {self.ended})"

    def _motions(self) -> str:
        seconds = sum(float(each.t[-1] - each.t[0]) for each in self.residuals)
        many = "a motion" if len(self.residuals) == 1 else f"{len(self.residuals)} motions"
        return f"{many} of {seconds:.3g} s in {self.windows} windows of {1e3 * self.window:.3g} ms"

    def _warning(self) -> str:
        told = f"; {self.doubtful} of {self.windows} windows far off the others" if self.doubtful else ""
        if self.chi2 > 1.5:
            told += ": the model, or sigma_q and sigma_v, are not those of the motion"
        return told


def _columns(robot: Any) -> tuple[str, ...]:
    model = robot._model
    names: list[str] = []
    for name, joint in zip(list(model.names)[1:], model.joints[1:], strict=True):
        axes = ("x", "y", "z", "rx", "ry", "rz") if joint.nv == 6 else tuple(map(str, range(joint.nv)))
        names += [name] if joint.nv == 1 else [f"{name}.{axis}" for axis in axes[: joint.nv]]
    return tuple(names)


def _residuals(fit: Fit, point: Point, doubtful: NDArray[np.bool_], m: int) -> Residuals:
    """Of a motion; an instant that two windows share is the later's first."""
    windows, motion = fit.windows, fit.windows.motions[m]
    nv = windows.simulator.robot.nv
    nq = windows.simulator.robot.nq
    own = np.flatnonzero(windows.motion == m)
    found = np.zeros((len(motion.t), 2 * nv))
    scaled = np.zeros_like(found)
    for w in own:
        steps = np.arange(0, windows.lengths[w] + 1, motion.steps)
        at = windows.first[w] + np.arange(len(steps))
        states = point.states[w, steps]
        q, v = states[:, 1 : 1 + nq], states[:, 1 + nq : 1 + nq + nv]
        found[at, :nv] = windows.tangents.difference(q, windows.q[w, steps])
        if motion.v is not None:
            found[at, nv:] = windows.v[w, steps] - v
        scaled[at] = found[at] * np.max(windows.weights[w], axis=0)
    chi2 = 2.0 * point.costs[own] / windows.counts[own]
    starts = motion.t[windows.first[own]]
    return Residuals(motion.t, found[:, :nv], found[:, nv:], scaled, starts, chi2, doubtful[own])
