"""Numbers of a world from motions that were measured in it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument, did_you_mean
from exposim.identification.fitting import Fit, Point
from exposim.identification.measured import Measured, motions_of
from exposim.identification.observability import refuse_unseen
from exposim.identification.result import Identified
from exposim.identification.starts import SmoothedStarts, recorded_starts
from exposim.identification.windows import Noise, Windows
from exposim.simulation.parameters import Parameter, Parameters
from exposim.simulation.rollout import Rollout
from exposim.simulation.simulator import Simulator
from exposim.simulation.trajectory import Trajectory

Motions = Trajectory | Measured | str | Sequence[Trajectory | Measured | str]

# Tried as well to begin with: where nothing slips, derivatives say nothing of friction.
LESS_FRICTION = (0.5, 0.25, 0.125)


def identify(
    simulator: Simulator,
    trajectory: Motions,
    parameters: Iterable[str],
    *,
    start: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    sigma_q: ArrayLike = 1e-3,
    sigma_v: ArrayLike = 1e-2,
    window: float = 0.04,
    states: Literal["estimated", "recorded"] = "estimated",
    most_deviation: float = 0.1,
    most_iterations: int = 40,
    threads: int | None = None,
) -> Identified:
    r"""Parameters with which the simulator moves as was measured: nonlinear least squares, with derivatives of steps.

    The motion is cut into windows, each simulated from a start of its own, which is estimated along with the parameters
    (Gauss–Newton, damped after Levenberg and Marquardt). Sensitivities go from step to step by
    :math:`S_{k+1} = A_k S_k + P_k`, with the derivatives that :meth:`exposim.Rollout.linearize` gives. Windows that
    stay far off the others count less.

    Args:
        simulator: Of the robot and ground; what it has for the parameters is where the search begins. It is not
            changed. The measured intervals are multiples of its step.
        trajectory: A :class:`exposim.Trajectory`, or a :class:`exposim.Measured` of arrays, or several of them.
        parameters: Names, as of :meth:`exposim.Simulator.derivatives`.
        start: Values to begin with by name, in the place of the simulator's.
        bounds: Least and greatest values by name; by default above zero. Estimates may lie on them.
        sigma_q: Standard deviation of measured positions [m or rad], one for all or (nv,); infinite: not measured.
        sigma_v: Of measured velocities [m/s or rad/s], likewise.
        window: Length of windows [s]. Long ones tell more of slow effects, until errors of the start have grown beyond
            what derivatives follow: docs/identification.md.
        states: ``"estimated"``: windows start near what was measured, as suits them. ``"recorded"``: where the
            trajectory was, of motions that were simulated, without noise.
        most_deviation: Standard deviation of an estimate, as a share of its value, beyond which it is refused: what the
            noise makes of it. Near that the deviations themselves are too small, as starts are fitted to noise too.
        most_iterations: After which it ends, converged or not.
        threads: As of :class:`exposim.Rollout`.

    Raises:
        InvalidArgument: Of arrays that do not fit, or names that are none.
        Unobservable: If the motion does not tell what is asked: a parameter that it does not depend on, or several that
            it depends on alike.
    """
    began = time.perf_counter()
    pool = Rollout(simulator, threads)
    known = Parameters(simulator)
    asked = known.named(parameters)
    if not asked:
        raise InvalidArgument("parameters is empty; give names, as stiffness, damping, friction or mass:LINK")
    nv = simulator.robot.nv
    noise = Noise(_deviation("sigma_q", sigma_q, nv), _deviation("sigma_v", sigma_v, nv))
    length = _checks.number("window", window, "[s]", above=0.0)
    seen = _checks.number("most_deviation", most_deviation, "", above=0.0)
    _checks.choice("states", states, ("estimated", "recorded"))
    windows = Windows(simulator, motions_of(trajectory, simulator), length, noise)
    first = _start(asked, start)
    smoothed = SmoothedStarts(windows, noise) if states == "estimated" else None
    fit = Fit(windows, pool, asked, known, _bounds(asked, bounds, first), smoothed)
    given = None if smoothed is not None else recorded_starts(windows, pool)
    point = _begun(fit, np.log(first), given)
    point, equations = fit.run(point, _checks.count("most_iterations", most_iterations))
    refuse_unseen(asked, equations.information(), seen)
    fit.tally.seconds = time.perf_counter() - began
    return Identified.of(fit, point, equations, first)


def _begun(fit: Fit, p: Array, given: Array | None) -> Point:
    """Where to begin: with less friction, if that is nearer to what was measured."""
    best = fit.begin(p, given)
    frictions = np.array([each.kind == "friction" for each in fit.asked])
    for factor in LESS_FRICTION if frictions.any() else ():
        other = fit.begin(np.clip(np.where(frictions, p + np.log(factor), p), *fit.bounds.T), given)
        if _typical(other) < _typical(best):
            best = other
    return best


def _typical(point: Point) -> float:
    """Cost of windows, of which none alone decides."""
    return float(np.log(point.costs + 1.0).sum())


def _deviation(name: str, value: ArrayLike, nv: int) -> Array:
    array = _checks.as_array(name, value)
    if array.shape not in ((), (nv,)):
        raise InvalidArgument(f"{name} has shape {array.shape}; give one number, or {nv} (nv)")
    if np.isnan(array).any() or (array <= 0.0).any():
        raise InvalidArgument(f"{name} is {value!r}; give standard deviations above zero, or infinite ones")
    return np.broadcast_to(array, nv).astype(float)


def _start(asked: Sequence[Parameter], start: Mapping[str, float] | None) -> Array:
    given = _of_parameters("start", start, asked)
    values = [_checks.number(f"start[{each.name!r}]", given.get(each.name, each.value), each.unit) for each in asked]
    for each, value in zip(asked, values, strict=True):
        if value <= 0.0:
            raise InvalidArgument(
                f"{each.name} is {value:g} to begin with; give a value above zero: start={{{each.name!r}: ...}}"
            )
    return np.array(values)


def _bounds(asked: Sequence[Parameter], bounds: Mapping[str, Any] | None, start: Array) -> Array:
    """Of the logarithms, (np, 2)."""
    given = _of_parameters("bounds", bounds, asked)
    found = np.empty((len(asked), 2))
    for i, each in enumerate(asked):
        pair = _checks.as_array(f"bounds[{each.name!r}]", given.get(each.name, (0.0, np.inf)))
        if pair.shape != (2,) or not 0.0 <= pair[0] < pair[1]:
            raise InvalidArgument(f"bounds[{each.name!r}] is {given[each.name]!r}; give (least, most), not negative")
        if not pair[0] <= start[i] <= pair[1]:
            raise InvalidArgument(
                f"{each.name} is {start[i]:g} to begin with, outside its bounds {pair[0]:g} and {pair[1]:g}; give "
                f"start={{{each.name!r}: ...}}"
            )
        with np.errstate(divide="ignore"):
            found[i] = np.log(pair)
    return found


def _of_parameters(name: str, given: Mapping[str, Any] | None, asked: Sequence[Parameter]) -> Mapping[str, Any]:
    names = [each.name for each in asked]
    for key in given or {}:
        if key not in names:
            near = did_you_mean(str(key), names) or f"; there are {', '.join(names)}"
            raise InvalidArgument(f"{name} has {key!r}, which is not among the parameters{near}")
    return given or {}
