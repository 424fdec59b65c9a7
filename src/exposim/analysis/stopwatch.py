"""How time is measured: steps from given states, in C++, and whether the machine was busy with something else."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from exposim._checks import Array
from exposim.scenarios import Scenario
from exposim.simulation.integrators import Expo
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import State

DISTURBED = 0.25  # a machine whose speed changes by more during a measurement is busy with something else


def speed_of_this_machine() -> float:
    """Seconds of a fixed piece of work: should be the same before and after a measurement."""
    a = np.arange(40_000.0).reshape(200, 200) % 7.0
    samples = []
    for _ in range(15):
        start = perf_counter()
        _ = a @ a
        samples.append(perf_counter() - start)
    return float(np.median(samples))


def measure(
    sims: Sequence[Simulator], states: Sequence[State], torques: Sequence[Array], repeats: int
) -> list[dict[str, float]]:
    """Of each simulator: seconds per step, Newton iterations per step, and the share of steps where they failed.

    The seconds are the median over interleaved repeats of the mean over the states, taken in C++.
    """
    seconds, iterations = samples_of(sims, states, torques, repeats)
    return [
        {
            "seconds": float(np.median(seconds[k].mean(axis=1))),
            "iterations": float(iterations[k].mean()),
            "not converged": _share_not_converged(sim, states, torques),
        }
        for k, sim in enumerate(sims)
    ]


def samples_of(
    sims: Sequence[Simulator], states: Sequence[State], torques: Sequence[Array], repeats: int
) -> tuple[Array, Array]:
    """Seconds of every step, (sims, repeats, states), and its Newton iterations, (sims, states); interleaved."""
    arrays = [state._x[None] for state in states]
    seconds, iterations = np.zeros((len(sims), repeats, len(arrays))), np.zeros((len(sims), len(arrays)))
    for i in range(repeats):
        for k, sim in enumerate(sims):
            for j, (state, tau) in enumerate(zip(arrays, torques, strict=True)):
                (seconds[k, i, j],), (iterations[k, j],) = sim._core.time_steps(state, tau)
    return seconds, iterations


def states_of(setting: Scenario, count: int, duration: float | None = None) -> tuple[list[State], list[Array]]:
    """States all along a motion, at beginnings of control periods, and the torques that follow them."""
    dt = setting.control_period / max(1, round(setting.control_period / 1e-3))
    every = round(setting.control_period / dt)
    trajectory = setting.run(Expo(), dt, duration, record_every=every)
    chosen = np.unique(np.linspace(0, len(trajectory) - 2, count).astype(int))
    return [trajectory.state(int(i)) for i in chosen], [trajectory.tau[i] for i in chosen]


def _share_not_converged(sim: Simulator, states: Sequence[State], torques: Sequence[Array]) -> float:
    failed = 0
    for state, tau in zip(states, torques, strict=True):
        sim.state = state
        sim.step(tau)
        failed += sim.statistics.not_converged
    return failed / len(states)
