"""Local integration error against step and against real-time factor: the paper's figures of accuracy and speed.

Two ground truths. *own*: the simulator under test at 1/64 ms, as in the paper. *common*: explicit Euler at 1/2048 ms
for all, since a scheme compared with itself hides its bias.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from paper.cell import Cell
from paper.figures.accuracy import figures
from paper.measure.accuracy import HERE
from paper.measure.variants import DURATIONS, QUICK_DURATIONS, SCENARIOS, VARIANTS
from paper.notebook import Notebook

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["figures", "phases", "tables"]

COMMON_STEP = 1e-3 / 2048
QUICK_COMMON_STEP = 1e-3 / 512
REPEATS, QUICK_REPEATS = 15, 7  # of every timing
ERROR_COLUMNS = [
    *("scenario", "variant", "dt", "truth", "periods"),
    *("mean", "median", "max", "share of changes", "diverged"),
]
TIME_COLUMNS = ["scenario", "variant", "dt", "seconds", "iterations", "not converged", "disturbed"]
TRUTH_COLUMNS = ["scenario", "dt", "left", "Expo at 1/64 ms", "changing periods"]


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
