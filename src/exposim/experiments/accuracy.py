"""Local integration error against step and against real-time factor: the paper's figures of accuracy and speed.

Two ground truths. *own*: the simulator under test at 1/64 ms, as in the paper. *common*: explicit Euler at 1/2048 ms
for all, since a scheme compared with itself hides its bias.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from exposim import _core, scenarios
from exposim.analysis.local_error import GroundTruth, ground_truth, local_errors, summary
from exposim.analysis.stopwatch import DISTURBED, core_state, speed_of_this_machine
from exposim.experiments.accuracy_figures import figures
from exposim.experiments.cells import FILE, Cell, Notebook, Rows
from exposim.experiments.variants import DURATIONS, OURS, QUICK_DURATIONS, SCENARIOS, VARIANTS, steps_of
from exposim.simulation.integrators import ExplicitEuler
from exposim.simulation.simulator import Simulator

if TYPE_CHECKING:
    import pandas as pd

HERE = "exposim.experiments.accuracy"
OWN_STEP = 1e-3 / 64
COMMON_STEP = 1e-3 / 2048
QUICK_COMMON_STEP = 1e-3 / 512
REPEATS, QUICK_REPEATS = 15, 7  # of every timing
LOOKED_AT = 4  # steps of a control period that are timed
ERROR_COLUMNS = [
    *("scenario", "variant", "dt", "truth", "periods"),
    *("mean", "median", "max", "share of changes", "diverged"),
]
TIME_COLUMNS = ["scenario", "variant", "dt", "seconds", "iterations", "not converged", "disturbed"]
TRUTH_COLUMNS = ["scenario", "dt", "left", "Expo at 1/64 ms", "changing periods"]

__all__ = [
    "common_truth",
    "errors",
    "figures",
    "phases",
    "tables",
    "times",
    "truth_file",
]


def phases(chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> list[list[Cell]]:
    """Ground truths, then errors, then times."""
    truths, errors, times = [], [], []
    for scenario in chosen:
        duration = (QUICK_DURATIONS if quick else DURATIONS)[scenario]
        step = QUICK_COMMON_STEP if quick else COMMON_STEP
        truths.append(Cell(f"{HERE}:common_truth", {"scenario": scenario, "duration": duration, "dt": step}, cost=30.0))
        for label in VARIANTS:
            common = truths[-1].key
            arguments = {"scenario": scenario, "variant": label, "duration": duration, "common": common, "quick": quick}
            errors.append(Cell(f"{HERE}:errors", arguments, cost=10.0 * duration))
            timing = {key: arguments[key] for key in ("scenario", "variant", "common", "quick")}
            timing["repeats"] = QUICK_REPEATS if quick else REPEATS
            times.append(Cell(f"{HERE}:times", timing, alone=True))
    return [truths, errors, times]


def tables(notebook: Notebook, chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> dict[str, pd.DataFrame]:
    """``accuracy``: errors beside times, one row per scenario, variant, step and truth; ``truths``: the common ones."""
    pd = importlib.import_module("pandas")  # slow to import
    truths, found, spent = (notebook.rows(phase) for phase in phases(chosen, quick))
    times = pd.DataFrame(spent, columns=TIME_COLUMNS)
    times.insert(4, "real-time factor", times["dt"] / times["seconds"])
    accuracy = pd.DataFrame(found, columns=ERROR_COLUMNS).merge(times, how="left", on=["scenario", "variant", "dt"])
    return {"accuracy": accuracy, "truths": pd.DataFrame(truths, columns=TRUTH_COLUMNS)}


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
                states.append(core_state(sim.state))
                torques.append(truth.tau[i])
            sim.step(truth.tau[i])
        done = sim.statistics
        taken, failed = taken + done.steps, failed + done.not_converged
        iterations += done.steps * done.mean_iterations
    samples = [
        [_core.time_steps(sim._core, [state], tau)[0][0] for state, tau in zip(states, torques, strict=True)]
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
