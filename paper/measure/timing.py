"""Times of steps and of their stages, and norms of the matrix: see :mod:`paper.experiments.timing`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from exposim import _core, scenarios
from exposim._checks import Array
from exposim.analysis.stopwatch import (
    DISTURBED,
    measure,
    samples_of,
    speed_of_this_machine,
    states_of,
)
from exposim.simulation.integrators import Expo
from exposim.simulation.profile import STAGES
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import State
from paper.cell import Rows
from paper.measure.variants import AVERAGED, VERSIONS, simulator_of

HERE = "paper.measure.timing"
TROT, WALK = "solo-trot", "romeo-walk"
LABELS = (*VERSIONS, "Expo, 0 products", "Expo, full exponential", "Expo, not balanced", "explicit Euler")
STEP = "step"


def times(dt: float, count: int, repeats: int, folder: Path) -> Rows:
    """Whole steps and their stages, of states all along the trot."""
    setting = scenarios.get(TROT)
    states, torques = states_of(setting, count)
    before = speed_of_this_machine()
    sims = {label: simulator_of(label, setting, dt) for label in LABELS}
    whole = dict(zip(LABELS, measure(list(sims.values()), states, torques, repeats), strict=True))
    shares = {label: _stage_shares(simulator_of(label, setting, dt, profile=True), states, torques) for label in LABELS}
    disturbed = abs(speed_of_this_machine() / before - 1.0) > DISTURBED
    contacts = float(np.mean([state.active.sum() for state in states]))
    rows: Rows = []
    for label in LABELS:
        seconds = whole[label]["seconds"]
        parts = {STEP: 1.0} | shares[label]
        rows += [
            {"variant": label, "dt": dt, "operation": operation, "microseconds": 1e6 * seconds * share}
            | {"disturbed": disturbed, "mean contacts": contacts}
            for operation, share in parts.items()
        ]
    return rows


def transitions(dt: float, count: int, repeats: int, folder: Path) -> Rows:
    """What a step of each version of Expo costs through the trot, in the mean and at the worst, and why.

    ``worst microseconds``: of the state whose step takes longest, the median over repeats.
    """
    setting = scenarios.get(TROT)
    states, torques = states_of(setting, count)
    before = speed_of_this_machine()
    sims = [simulator_of(label, setting, dt) for label in VERSIONS]
    seconds, _ = samples_of(sims, states, torques, repeats)
    disturbed = abs(speed_of_this_machine() / before - 1.0) > DISTURBED
    typical = np.median(seconds, axis=1)  # (versions, states)
    mean = dict(zip(VERSIONS, typical.mean(axis=1), strict=True))
    return [
        {"variant": label, "dt": dt, "steps": len(states), "microseconds": 1e6 * mean[label]}
        | {"ratio to averaged": mean[label] / mean[AVERAGED], "worst microseconds": 1e6 * worst}
        | _resolved(sim, states, torques)
        | {"disturbed": disturbed}
        for label, sim, worst in zip(VERSIONS, sims, typical.max(axis=1), strict=True)
    ]


def norms(scenario: str, duration: float, interval: float, folder: Path) -> Rows:
    """1-norms of the matrix of ``eq:contact_dyn`` before and after balancing, through a motion."""
    setting = scenarios.get(scenario)
    states, _ = states_of(setting, round(duration / interval), duration)
    sim = Simulator(setting.robot, setting.ground, Expo(), setting.control_period)
    rows: Rows = []
    for state in states:
        if not state.active.any():
            continue
        sim.state = state
        A = np.asarray(sim._core.contact_matrix())
        balanced, _ = _core.balance(A)
        rows.append(
            {
                "scenario": scenario,
                "t": state.t,
                "norm before": norm1(A),
                "norm after": norm1(np.asarray(balanced)),
                "contacts": int(state.active.sum()),
            }
        )
    return rows


def norm1(A: Array) -> float:
    """Largest column sum of absolute values."""
    return float(np.abs(A).sum(axis=0).max())


def _resolved(sim: Simulator, states: Sequence[State], torques: Sequence[Array]) -> dict[str, float]:
    """Shares of steps that are resolved and limited, and micro-steps of one that takes any."""
    done = []
    for state, tau in zip(states, torques, strict=True):
        sim.state = state
        sim.step(tau)
        done.append((sim.info.resolved, sim.info.limited, sim.info.micro_steps))
    resolved, limited, micro_steps = np.array(done, float).T
    return {
        "share resolved": float(resolved.mean()),
        "share limited": float(limited.mean()),
        "micro-steps": float(micro_steps.sum() / max(1, (micro_steps > 0).sum())),
    }


def _stage_shares(sim: Simulator, states: Sequence[State], torques: Sequence[Array]) -> dict[str, float]:
    """Share of each stage, 0 to 1; in sum one. Under the conditions of :func:`measure`."""
    arrays = [state.to_array()[None] for state in states]
    seconds = np.zeros((5, len(STAGES)))
    for row in seconds:
        for state, tau in zip(arrays, torques, strict=True):
            sim._core.time_steps(state, tau)
            row += [total for _, total in sim._core.profile]  # of this step alone
    median = np.median(seconds, axis=0)
    return {stage: float(share) for stage, share in zip(STAGES, median / median.sum(), strict=True) if share > 0.0}
