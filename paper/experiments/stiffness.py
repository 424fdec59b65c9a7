"""Local integration error against contact stiffness and damping: the paper's figure of the trot on other ground.

Two ground truths, as in :mod:`paper.experiments.accuracy`. *own*: the scheme under test at 1/64 ms; missing where
that diverges or has not converged. *common*: Expo at 1/512 ms for all, since explicit schemes at affordable steps fail
on the stiffest ground. ``truth error`` says how good a truth is: of the common one what doubling its step changes, of
an own one its distance from the common one.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import numpy as np

from exposim import scenarios
from paper.cell import Cell, Rows
from paper.figures.stiffness import figures
from paper.measure.stiffness import FIXED_RATIO, FIXED_STIFFNESS, HERE, SCENARIO, STEPS
from paper.measure.variants import SCENARIOS
from paper.notebook import Notebook

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["figures", "phases", "sweeps", "tables"]

STIFFNESSES = tuple(float(f"{K:.6g}") for K in np.geomspace(1e3, 1e8, 11))  # [N/m]
RATIOS = tuple(round(float(ratio), 3) for ratio in np.linspace(0.2, 1.0, 9))
QUICK_STIFFNESSES, QUICK_RATIOS = (1e3, 1e5, 1e8), (0.2, 0.5, 1.0)
TIMED_STIFFNESSES = (1e5, 1e8)
DURATION, QUICK_DURATION = 1.2, 0.4  # [s] Solo sets off, and trots at full speed at the end
COMMON_STEP, QUICK_COMMON_STEP = 1e-3 / 512, 1e-3 / 128
COLUMNS = [
    *("sweep", "K", "B", "damping ratio", "variant", "dt", "truth", "mean", "median", "max", "diverged"),
    *("share of changes", "truth error"),
]


def sweeps(quick: bool) -> dict[str, list[tuple[float, float]]]:
    """Stiffness [N/m] and damping ratio of every point of the two curves."""
    stiffnesses = QUICK_STIFFNESSES if quick else STIFFNESSES
    ratios = QUICK_RATIOS if quick else RATIOS
    return {
        "stiffness": [(K, FIXED_RATIO) for K in stiffnesses],
        "damping": [(FIXED_STIFFNESS, ratio) for ratio in ratios],
    }


def phases(chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> list[list[Cell]]:
    """Ground truths, then errors, then times. Only the trot is looked at."""
    if SCENARIO not in chosen:
        return []
    every = list(dict.fromkeys(point for points in sweeps(quick).values() for point in points))
    truths = [_truth_cell(point, quick) for point in every]
    errors = [cell for point in every for cell in _error_cells(point, quick)]
    return [truths, [*errors, *_trot_cells(every, quick)], _time_cells(quick)]


def tables(notebook: Notebook, chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> dict[str, pd.DataFrame]:
    """``stiffness``: the errors; ``stiffness_trots``: what Solo makes of it; ``stiffness_times``: time per step."""
    pd = importlib.import_module("pandas")  # slow to import
    if SCENARIO not in chosen:
        return {}
    rows: Rows = []
    for sweep, points in sweeps(quick).items():
        for point in points:
            left = [row["left"] for row in notebook.rows([_truth_cell(point, quick)])]
            for row in notebook.rows(_error_cells(point, quick)):
                own = row["truth"] == "own"
                rows.append({"sweep": sweep} | row | ({} if own or not left else {"truth error": left[0]}))
    every = list(dict.fromkeys(point for points in sweeps(quick).values() for point in points))
    return {
        "stiffness": pd.DataFrame(rows, columns=COLUMNS),
        "stiffness_trots": pd.DataFrame(notebook.rows(_trot_cells(every, quick))),
        "stiffness_times": pd.DataFrame(notebook.rows(_time_cells(quick))),
    }


def _truth_cell(point: tuple[float, float], quick: bool) -> Cell:
    K, ratio = point
    arguments = {"stiffness": K, "ratio": ratio, "duration": _duration(quick), "dt": _common_step(quick)}
    return Cell(f"{HERE}:common_truth", arguments, cost=12.0)


def _error_cells(point: tuple[float, float], quick: bool) -> list[Cell]:
    K, ratio = point
    common = {"common": _truth_cell(point, quick).key, "duration": _duration(quick)}
    labels = dict.fromkeys(label for label, _ in STEPS)
    return [Cell(f"{HERE}:errors", {"stiffness": K, "ratio": ratio, "variant": label} | common) for label in labels]


def _trot_cells(points: list[tuple[float, float]], quick: bool) -> list[Cell]:
    duration = scenarios.get(SCENARIO).duration / (4 if quick else 1)
    return [Cell(f"{HERE}:trot", {"stiffness": K, "ratio": ratio, "duration": duration}) for K, ratio in points]


def _time_cells(quick: bool) -> list[Cell]:
    return [
        Cell(
            f"{HERE}:times",
            {"stiffness": K, "common": _truth_cell((K, FIXED_RATIO), quick).key, "quick": quick},
            alone=True,
        )
        for K in TIMED_STIFFNESSES
    ]


def _duration(quick: bool) -> float:
    return QUICK_DURATION if quick else DURATION


def _common_step(quick: bool) -> float:
    return QUICK_COMMON_STEP if quick else COMMON_STEP
