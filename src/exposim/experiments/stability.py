"""The largest step at which a motion stays bounded, found by halving: the paper's table of stability.

Closed loop, from the control period downwards. *Bounded*: no step led to NaN or to velocities beyond 1e5. *On task*:
bounded, and the scenario's own judge has no complaint. Two halvings below the one found are tried as well, since a
scheme may be stable by chance: ``non-monotonic`` says so.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from exposim import scenarios
from exposim.experiments.cells import Cell, Notebook, Rows
from exposim.experiments.style import BLACK, NORMAL, PAGE, SMALL, colour_of, logarithmic, name_panel, panels
from exposim.experiments.variants import AVERAGED, QUICK_DURATIONS, SCENARIOS, VARIANTS, VERSIONS
from exposim.scenarios import Scenario

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HERE = "exposim.experiments.stability"
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
FURTHER = 2  # halvings below the one found
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


# Cells.


def halving(scenario: str, variant: str, duration: float | None, smallest: float, folder: Path) -> Rows:
    """Runs a scenario at halved steps until enough is known."""
    setting, chosen = scenarios.get(scenario), VARIANTS[variant]

    def attempt(dt: float) -> dict[str, Any]:
        return {"scenario": scenario, "variant": variant, "control period": setting.control_period} | try_step(
            setting, dt, duration, integrator=chosen
        )

    return halve(setting.control_period, smallest, attempt)


def try_step(setting: Scenario, dt: float, duration: float | None = None, **settings: Any) -> dict[str, Any]:
    """One run in closed loop: when it diverged, if it did, and what its judge says."""
    trajectory = setting.run(dt=dt, duration=duration, **settings)
    diverged_at = trajectory.outcome["diverged_at"]
    with np.errstate(all="ignore"):  # what came just before a divergence may be beyond all bounds
        complaints = setting.judge(trajectory).complaints
    return {
        "dt": dt,
        "bounded": diverged_at is None,
        "on task": diverged_at is None and not complaints,
        "diverged at": math.nan if diverged_at is None else diverged_at,
        "complaints": "; ".join(complaints),
    }


def halve(largest: float, smallest: float, attempt: Callable[[float], dict[str, Any]]) -> Rows:
    """Attempts at halved steps, until one is on task and `FURTHER` more below both that and the first bounded one.

    Args:
        largest: Step to begin with [s].
        smallest: Step below which nothing is tried [s].
        attempt: Says of a step at least whether it is ``bounded`` and ``on task``.
    """
    rows: Rows = []
    dt = largest
    while dt >= smallest * (1.0 - 1e-9):
        rows.append(attempt(dt))
        first = [_first(rows, goal) for goal in ("bounded", "on task")]
        if all(i is not None and len(rows) > i + FURTHER for i in first):
            break
        dt /= 2
    return rows


def conclude(rows: Rows) -> dict[str, Any]:
    """The largest steps among attempts in falling order, and the goals that a smaller step of them misses again."""
    bounded, on_task = _first(rows, "bounded"), _first(rows, "on task")
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


def _first(rows: Rows, goal: str) -> int | None:
    return next((i for i, row in enumerate(rows) if row[goal]), None)


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


# Figures.


def figures(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """Dots on a log axis: every scenario a panel, every variant a row."""
    table = tables.get("stability")
    if table is None or table.empty:
        return {}
    names = list(dict.fromkeys(table["scenario"]))
    figure, axes = panels(1, len(names), PAGE, 3.2, sharey=True, sharex=True)
    labels = [label for label in LABELS if label in set(table["variant"])][::-1]
    for panel, name in zip(axes[0], names, strict=True):
        logarithmic(panel, "x")
        _draw(panel, table[table["scenario"] == name], labels)
        name_panel(panel, name)
    axes[0, 0].set_yticks(range(len(labels)), labels)
    axes[0, 0].set_ylim(-0.6, len(labels) - 0.3)
    axes[0, 0].set_xticks([0.1, 1.0, 10.0], ["0.1", "1", "10"])
    for tick, label in zip(axes[0, 0].get_yticklabels(), labels, strict=True):
        tick.set_color(colour_of(label))
    figure.supxlabel("largest step [ms]:  ○ bounded (number)   ● on task   | paper   ┊ control period", fontsize=NORMAL)
    return {"stability": figure}


def _draw(axes: Axes, rows: pd.DataFrame, labels: list[str]) -> None:
    axes.axvline(1e3 * float(rows["control period"].iloc[0]), color=BLACK, lw=0.7, ls=":")
    axes.grid(True, axis="y", color="0.92", lw=0.6)
    for row in rows.to_dict("records"):
        y, colour = labels.index(row["variant"]), colour_of(row["variant"])
        bounded, on_task, paper = (1e3 * row[key] for key in ("largest bounded dt", "largest dt on task", "paper dt"))
        axes.plot([on_task, bounded], [y, y], color=colour, lw=0.8)
        axes.plot(bounded, y, "o", color=colour, mfc="none", ms=7, mew=1.0)
        axes.plot(on_task, y, "o", color=colour, ms=3.5)
        axes.plot(paper, y, "|", color=BLACK, ms=11, mew=1.2, zorder=5)
        if np.isfinite(bounded):
            above: dict[str, Any] = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center"}
            behind = {"fc": "white", "ec": "none", "pad": 0.4}
            axes.annotate(f"{bounded:.3g}", (bounded, y), fontsize=SMALL - 1, bbox=behind, zorder=4, **above)
