r"""Where the time of a step goes, and what balancing does to the matrix: the paper's table of computation times.

Stages of :class:`exposim.Simulator` stand for the paper's operations: *contacts* for ``computeContactForces``,
*dynamics terms* for ``prepareExpLDS``, *kernel* for ``computeIntegrals``; *integration* is the rest. Stages are
measured with the profiler on, whole steps with it off; a stage's time is its share of the former times the latter.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import numpy as np

from paper.cell import Cell
from paper.figures.timing import figures
from paper.measure.timing import HERE, STEP, TROT, WALK
from paper.measure.variants import QUICK_DURATIONS, SCENARIOS
from paper.notebook import Notebook

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["figures", "phases", "tables"]

# What the paper has: [µs] of a step and of its operations.
PAPER_OPERATIONS = {
    STEP: "step",
    "contacts": "computeContactForces",
    "dynamics terms": "prepareExpLDS",
    "kernel": "computeIntegrals",
}
PAPER = {
    "Expo, 0 products": {STEP: 39.0, "contacts": 8.0, "dynamics terms": 13.0, "kernel": 13.0},
    # The standard routine, which does not balance.
    "Expo, not balanced": {STEP: 94.0, "contacts": 8.0, "dynamics terms": 13.0, "kernel": 67.0},
    "explicit Euler": {STEP: 9.0},
}


def phases(chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> list[list[Cell]]:
    """Norms, then times, which stand alone."""
    return [_norm_cells(chosen, quick), _time_cells(chosen, quick) + _transition_cells(chosen, quick)]


def tables(notebook: Notebook, chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> dict[str, pd.DataFrame]:
    """Tables of this experiment.

    ``timing``: every variant and operation beside the paper's; ``transitions``: what it costs to resolve them;
    ``balancing``: norms before and after.
    """
    pd = importlib.import_module("pandas")  # slow to import
    rows = notebook.rows(_time_cells(chosen, quick))
    steps = {row["variant"]: row["microseconds"] for row in rows if row["operation"] == STEP}
    for row in rows:
        label, operation = row["variant"], row["operation"]
        paper = PAPER.get(label, {})
        row["share"] = row["microseconds"] / steps[label]
        row["paper operation"] = PAPER_OPERATIONS.get(operation, "")
        row["paper microseconds"] = paper.get(operation, np.nan)
        row["paper share"] = row["paper microseconds"] / paper.get(STEP, np.nan)
        row["ratio to explicit Euler"] = row["microseconds"] / steps.get("explicit Euler", np.nan)
        row["paper ratio"] = row["paper microseconds"] / PAPER["explicit Euler"][STEP]
    return {
        "timing": pd.DataFrame(rows),
        "transitions": pd.DataFrame(notebook.rows(_transition_cells(chosen, quick))),
        "balancing": pd.DataFrame(notebook.rows(_norm_cells(chosen, quick))),
    }


def _norm_cells(chosen: tuple[str, ...], quick: bool) -> list[Cell]:
    durations = QUICK_DURATIONS if quick else {TROT: 4.0, WALK: 5.0}
    return [
        Cell(f"{HERE}:norms", {"scenario": name, "duration": durations[name], "interval": 0.04 if quick else 0.01})
        for name in (TROT, WALK)
        if name in chosen
    ]


def _time_cells(chosen: tuple[str, ...], quick: bool) -> list[Cell]:
    size = {"count": 50, "repeats": 7} if quick else {"count": 300, "repeats": 41}
    return [Cell(f"{HERE}:times", {"dt": 2e-3} | size, alone=True)] if TROT in chosen else []


def _transition_cells(chosen: tuple[str, ...], quick: bool) -> list[Cell]:
    size = {"count": 200, "repeats": 7} if quick else {"count": 2000, "repeats": 21}
    return [Cell(f"{HERE}:transitions", {"dt": 2e-3} | size, alone=True, cost=6.0)] if TROT in chosen else []
