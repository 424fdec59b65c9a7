"""Local errors and times of steps, against two ground truths: see :mod:`paper.experiments.accuracy`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from exposim import scenarios
from exposim.analysis.local_error import GroundTruth, ground_truth, local_errors, summary
from exposim.analysis.stopwatch import DISTURBED, speed_of_this_machine
from exposim.simulation.integrators import ExplicitEuler
from exposim.simulation.simulator import Simulator
from paper.cell import FILE, Cell, Rows
from paper.measure.variants import OURS, VARIANTS, steps_of

HERE = "paper.measure.accuracy"
OWN_STEP = 1e-3 / 64
LOOKED_AT = 4  # steps of a control period that are timed


def common_truth(scenario: str, duration: float, dt: float, folder: Path) -> Rows:
    """Writes the common ground truth, and says how far from converged it is."""
    setting = scenarios.get(scenario)
    truth = ground_truth(setting, ExplicitEuler(), dt, duration)
    cell = Cell(f"{HERE}:common_truth", {"scenario": scenario, "duration": duration, "dt": dt})
    file = truth_file(folder, cell.key)
    truth.save(file)
    coarser = local_errors(setting, ExplicitEuler(), 2 * dt, truth)
    # First order: what doubling the step adds is about what the step itself leaves.
    other = local_errors(setting, VARIANTS[OURS], OWN_STEP, truth)
    return [
        {
            "scenario": scenario,
            "dt": dt,
            "left": float(coarser.mean()),
            "Expo at 1/64 ms": float(other.mean()),
            "changing periods": float(truth.changes.mean()),
            FILE: file.name,
        }
    ]


def errors(scenario: str, variant: str, duration: float, common: str, quick: bool, folder: Path) -> Rows:
    """Errors of one variant at all steps, against its own truth and the common one."""
    setting, chosen = scenarios.get(scenario), VARIANTS[variant]
    own = ground_truth(setting, chosen, OWN_STEP, duration)
    truths = {"own": own, "common": GroundTruth.load(truth_file(folder, common))}
    rows: Rows = []
    for dt in steps_of(chosen, setting.control_period)[:: 2 if quick else 1]:
        for kind, truth in truths.items():
            found = local_errors(setting, chosen, dt, truth)
            rows.append(
                {"scenario": scenario, "variant": variant, "dt": dt, "truth": kind, "periods": len(truth)}
                | summary(found, truth.changes)
            )
    return rows


def times(scenario: str, variant: str, common: str, quick: bool, repeats: int, folder: Path) -> Rows:
    """Time per step of one variant at all steps, from states all over the motion."""
    setting, chosen = scenarios.get(scenario), VARIANTS[variant]
    truth = GroundTruth.load(truth_file(folder, common))
    periods = np.unique(np.linspace(0, len(truth) - 1, 10 if quick else 40).astype(int))
    before = speed_of_this_machine()
    rows: Rows = []
    for dt in steps_of(chosen, setting.control_period)[:: 2 if quick else 1]:
        steps = round(setting.control_period / dt)
        sim = Simulator(setting.robot, setting.ground, chosen, dt, on_divergence="stop")
        rows.append(
            {"scenario": scenario, "variant": variant, "dt": dt} | _measure(sim, truth, periods, steps, repeats)
        )
    changed = abs(speed_of_this_machine() / before - 1.0) > DISTURBED
    return [row | {"disturbed": changed or row["disturbed"]} for row in rows]


def _measure(sim: Simulator, truth: GroundTruth, periods: Any, steps: int, repeats: int) -> dict[str, float]:
    """Time per step, and what Newton's method did, if any.

    Every step is timed alone, in C++; its median over repeats does not see what else the machine did now and then.
    """
    states, torques, taken, iterations, failed = [], [], 0, 0.0, 0
    for i in periods:
        sim.state = truth.state(i)
        looked_at = set(np.linspace(0, steps - 1, min(steps, LOOKED_AT)).astype(int))
        for step in range(steps):
            if step in looked_at and not sim.diverged:
                states.append(sim.state.to_array()[None])
                torques.append(truth.tau[i])
            sim.step(truth.tau[i])
        done = sim.statistics
        taken, failed = taken + done.steps, failed + done.not_converged
        iterations += done.steps * done.mean_iterations
    samples = [
        [sim._core.time_steps(state, tau)[0][0] for state, tau in zip(states, torques, strict=True)]
        for _ in range(repeats)
    ]
    typical, best = float(np.median(samples, axis=0).mean()), float(np.min(samples, axis=0).mean())
    return {
        "seconds": typical,
        "iterations": iterations / max(1, taken),
        "not converged": failed / max(1, taken),
        "disturbed": typical > (1.0 + DISTURBED) * best,
    }


def truth_file(folder: Path, key: str) -> Path:
    """Where a common ground truth lies."""
    return folder / f"{key}.truth.npz"
