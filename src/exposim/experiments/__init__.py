"""The paper's experiments: one file each, every one a list of cells, tables made of them, and figures of the tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from exposim.experiments import accuracy, forces, stability, stiffness, timing
from exposim.experiments.cells import Cell, Notebook, Progress, compute
from exposim.experiments.variants import SCENARIOS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# Each module has `phases(chosen, quick)`, `tables(notebook, chosen, quick)` and `figures(tables)`.
EXPERIMENTS: dict[str, ModuleType] = {
    "accuracy": accuracy,
    "stiffness": stiffness,
    "stability": stability,
    "forces": forces,
    "timing": timing,
}


@dataclass(frozen=True)
class Result:
    """What an experiment gave: tidy tables by name, and figures by name."""

    tables: dict[str, pd.DataFrame]
    figures: dict[str, Figure]


def run(
    name: str,
    folder: Path,
    chosen: tuple[str, ...] = SCENARIOS,
    *,
    quick: bool = False,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Result:
    """Does an experiment, or what is left of it.

    Args:
        name: One of EXPERIMENTS.
        folder: Where finished cells are kept; a second call there computes only what is missing.
        chosen: Names of scenarios.
        quick: At reduced resolution.
        jobs: Processes at once.
        progress: Told what happens.
    """
    experiment, notebook = EXPERIMENTS[name], Notebook(folder)
    compute(experiment.phases(chosen, quick), notebook, jobs, progress)
    tables = experiment.tables(notebook, chosen, quick)
    return Result(tables, experiment.figures(tables))


__all__ = ["EXPERIMENTS", "SCENARIOS", "Cell", "Notebook", "Progress", "Result", "compute", "run"]
