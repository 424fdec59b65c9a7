"""The paper's experiments: one file each, every one a list of cells, tables made of them, and figures of the tables."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from paper.experiments import accuracy, forces, stability, stiffness, timing

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
