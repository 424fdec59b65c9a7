"""What came of a sweep, as rows, arrays and a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from exposim._checks import Array
from exposim._tables import write_table
from exposim._writing import make_parents
from exposim.analysis.summary import UNITS, Summary
from exposim.errors import InvalidArgument, did_you_mean
from exposim.sweeps.cell import Cell
from exposim.sweeps.grid import Grid
from exposim.sweeps.settings import OPTION, shown
from exposim.tasks import Kept

CELLS, TABLE = "cells", "sweep.csv"
FINISHED = ("done", "diverged", "failed")  # in which nothing is left to do; also "lost", and "missing"
LOST, MISSING = "lost", "missing"


@dataclass(frozen=True)
class Results:
    """Records of the cells of a grid, as far as they are there.

    Attributes:
        grid: Which cells.
        records: One for each cell, in their order; ``None`` for one that has not been computed. ``status`` is
            ``"done"``, ``"diverged"``, ``"failed"`` (it raised an error, or could not be set up) or ``"lost"`` (its
            workers died), and ``reason`` says why.
    """

    grid: Grid
    records: tuple[Mapping[str, Any] | None, ...]

    @classmethod
    def load(cls, grid: Grid, folder: str | PathLike[str]) -> Results:
        """What is in a folder of a sweep, whichever process or machine computed it."""
        kept = Kept(Path(folder) / CELLS)
        return cls(grid, tuple(read(kept, cell) for cell in grid.cells))

    @property
    def statuses(self) -> tuple[str, ...]:
        """Of all cells; ``"missing"`` for one that has not been computed."""
        return tuple(MISSING if record is None else str(record["status"]) for record in self.records)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the numbers that :meth:`values` has: those of the scenario, then those of all runs."""
        own: dict[str, None] = {}
        common: dict[str, None] = {}
        for record in self.records:
            if record is not None and "summary" in record:
                own |= dict.fromkeys(record["summary"]["measures"])
                common |= {
                    name: None
                    for name, value in record["summary"].items()
                    if isinstance(value, (int, float)) and not isinstance(value, bool)
                }
        return (*own, *(name for name in common if name not in own))

    def values(self, measure: str) -> Array:
        """A measure of all cells, an array with an axis for each axis of the grid; NaN where the run did not end well.

        Args:
            measure: One of :attr:`measures`.
        """
        if measure not in self.measures:
            near = did_you_mean(measure, self.measures)
            raise InvalidArgument(f"measure is {measure!r}{near or ';'} give one of {', '.join(self.measures)}")
        found = [_value(record, measure) for record in self.records]
        return np.array(found, dtype=float).reshape(self.grid.shape)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One for each cell: values on the axes, status, and all that its summary has, plain values in SI units."""
        rows = []
        for cell, status, record in zip(self.grid.cells, self.statuses, self.records, strict=True):
            row = {name.removeprefix(OPTION): _flat(name, cell.settings[name]) for name in self.grid.axes}
            row |= {"status": status, "reason": "" if record is None else record.get("reason") or ""}
            if record is not None and "summary" in record:
                row = summary_of(record).to_row() | row
                row |= {"seconds": record["seconds"], "bits": record["bits"]}
            rows.append({name: row[name] for name in (*_first(self.grid), *row)} | {"key": cell.key})
        return rows

    def to_csv(self, path: str | PathLike[str]) -> Path:
        """Writes :attr:`rows`, all or nothing."""
        target = Path(path)
        make_parents(target)
        write_table(self.rows, target)
        return target


def read(kept: Kept, cell: Cell) -> dict[str, Any] | None:
    """The record of a cell; nothing where there is none, or a damaged one."""
    record = kept.read(cell.key)
    if record is None or record.get("key") != cell.key or record.get("status") not in (*FINISHED, LOST):
        return None
    if "summary" in record:
        try:
            summary_of(record)
        except (TypeError, ValueError, LookupError):
            return None
    elif record["status"] in ("done", "diverged"):
        return None
    return record


def summary_of(record: Mapping[str, Any]) -> Summary:
    """As it was when the cell ended."""
    given = {name: value for name, value in record["summary"].items() if name in Summary.__dataclass_fields__}
    given["complaints"] = tuple(given["complaints"])
    return Summary(**given)


def unit_of(measure: str) -> str:
    """Of a measure, in brackets; names of a scenario's own measures have theirs."""
    return f"{measure.replace('_', ' ')} [{UNITS[measure]}]" if measure in UNITS else measure.replace("_", " ")


def _first(grid: Grid) -> Sequence[str]:
    return [*(name.removeprefix(OPTION) for name in grid.axes), "status", "reason"]


def _value(record: Mapping[str, Any] | None, measure: str) -> float:
    if record is None or record["status"] != "done":
        return np.nan
    summary = record["summary"]
    value = summary["measures"].get(measure, summary.get(measure))
    return np.nan if value is None else float(value)


def _flat(name: str, value: Any) -> Any:
    """For one field of a table: numbers as they are."""
    return value if isinstance(value, (int, float, str)) else shown(name, value)
