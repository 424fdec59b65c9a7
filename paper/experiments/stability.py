"""The largest step at which a motion stays bounded, found by halving: the paper's table of stability.

Closed loop, from the control period downwards. *Bounded*: no step led to NaN or to velocities beyond 1e5. *On task*:
bounded, and the scenario's own judge has no complaint. Two halvings below the one found are tried as well, since a
scheme may be stable by chance: ``non-monotonic`` says so.
"""

from __future__ import annotations

import importlib
import math
from typing import TYPE_CHECKING, Any

from paper.cell import Cell, Rows
from paper.figures.stability import figures
from paper.measure.stability import HERE, first_to_reach
from paper.measure.variants import AVERAGED, QUICK_DURATIONS, SCENARIOS, VERSIONS
from paper.notebook import Notebook

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["conclude", "figures", "phases", "tables"]

LABELS = (
    *VERSIONS,
    "Expo, anchor as detected",
    "implicit Euler",
    "RK4",
    "explicit Euler",
    "semi-implicit Euler",
)
SMALLEST = 1e-3 / 64  # [s]
QUICK_SMALLEST = 1e-3 / 16
# [s] of the paper.
PAPER = {
    AVERAGED: {"solo-squat": 40e-3, "solo-jump": 10e-3, "solo-trot": 2e-3, "romeo-walk": 5e-3},
    "explicit Euler": {
        "solo-squat": 40e-3 / 512,
        "solo-jump": 10e-3 / 64,
        "solo-trot": 2e-3 / 16,
        "romeo-walk": 40e-3 / 32,
    },
    "implicit Euler": {"solo-squat": 20e-3, "solo-jump": 5e-3, "solo-trot": 2e-3, "romeo-walk": 10e-3},
}
COLUMNS = [
    *("scenario", "variant", "control period", "largest bounded dt", "largest dt on task"),
    *("complaints at the largest bounded dt", "non-monotonic", "paper dt", "ratio to paper"),
]


def phases(chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> list[list[Cell]]:
    """One cell for every scenario and variant."""
    return [_cells(chosen, quick)]


def tables(notebook: Notebook, chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> dict[str, pd.DataFrame]:
    """``stability``: the largest steps beside the paper's; ``stability_runs``: every run that was made."""
    pd = importlib.import_module("pandas")  # slow to import
    found = {(cell.arguments["scenario"], cell.arguments["variant"]): cell for cell in _cells(chosen, quick)}
    runs = {key: notebook.rows([cell]) for key, cell in found.items()}
    rows = [conclude(each) | _beside_paper(*key, each) for key, each in runs.items() if each]
    every = [row for each in runs.values() for row in each]
    return {"stability": pd.DataFrame(rows, columns=COLUMNS), "stability_runs": pd.DataFrame(every)}


def conclude(rows: Rows) -> dict[str, Any]:
    """The largest steps among attempts in falling order, and the goals that a smaller step of them misses again."""
    bounded, on_task = first_to_reach(rows, "bounded"), first_to_reach(rows, "on task")
    broken = [
        goal
        for goal, i in (("bounded", bounded), ("on task", on_task))
        if i is not None and not all(row[goal] for row in rows[i:])
    ]
    return {
        "largest bounded dt": math.nan if bounded is None else rows[bounded]["dt"],
        "largest dt on task": math.nan if on_task is None else rows[on_task]["dt"],
        "complaints at the largest bounded dt": "" if bounded is None else rows[bounded].get("complaints", ""),
        "non-monotonic": ", ".join(broken),
    }


def _beside_paper(scenario: str, variant: str, rows: Rows) -> dict[str, Any]:
    paper = PAPER.get(variant, {}).get(scenario, math.nan)
    return {
        "scenario": scenario,
        "variant": variant,
        "control period": rows[0]["control period"],
        "paper dt": paper,
        "ratio to paper": conclude(rows)["largest bounded dt"] / paper,
    }


def _cells(chosen: tuple[str, ...], quick: bool) -> list[Cell]:
    return [
        Cell(
            f"{HERE}:halving",
            {
                "scenario": scenario,
                "variant": label,
                "duration": QUICK_DURATIONS[scenario] if quick else None,
                "smallest": QUICK_SMALLEST if quick else SMALLEST,
            },
            cost=5.0,
        )
        for scenario in chosen
        for label in LABELS
    ]
