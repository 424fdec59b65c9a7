"""A sweep as a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from exposim.cli.tables import NOTHING
from exposim.sweeps import Results
from exposim.sweeps.results import unit_of
from exposim.sweeps.settings import TIMES, shown, titled

MOST_ROWS = 60
COLOURS = {"done": "green", "diverged": "red", "failed": "bold red", "lost": "bold red", "missing": "dim"}
ALWAYS = ("peak_force", "real_time_factor")  # beside the scenario's own


def sweep_table(results: Results, measures: Sequence[str] | None = None) -> Table:
    """One row per cell, of the first at most; the values on the axes, what came of it, and a few measures."""
    names = list(measures) if measures else _few(results)
    table = Table(header_style="bold", box=box.SIMPLE_HEAD)
    for axis in results.grid.axes:
        named = axis.replace("_", " ") if axis in TIMES else titled(axis)  # their values have units
        table.add_column(Text(named.replace(" [", "\n[")), justify="right", no_wrap=True)
    table.add_column("outcome", no_wrap=True)
    for name in names:
        table.add_column(Text(unit_of(name).replace(" [", "\n[")), justify="right", no_wrap=True)
    columns = [results.values(name).ravel() for name in names]
    for i, (cell, status) in enumerate(zip(results.grid.cells, results.statuses, strict=True)):
        if i >= MOST_ROWS:
            table.caption = f"and {len(results.records) - MOST_ROWS} more"
            break
        values = [NOTHING if np.isnan(column[i]) else f"{column[i]:.4g}" for column in columns]
        where = [shown(axis, cell.settings[axis]) for axis in results.grid.axes]
        table.add_row(*map(Text, where), Text(status, COLOURS[status]), *values)
    return table


def _few(results: Results) -> list[str]:
    own = [name for name in results.measures if "[" in name][:3]
    return own + [name for name in ALWAYS if name in results.measures]
