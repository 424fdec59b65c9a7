"""Which tables are shown, with how many digits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paper.measure.variants import SCHEMES

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 60  # a longer table is for programs, as CSV
NOTHING, MARK = "–", " †"


@dataclass(frozen=True)
class Cells:
    """A table as text."""

    columns: list[str]
    rows: list[list[str]]


def tables_to_show(tables: Mapping[str, pd.DataFrame]) -> dict[str, Cells]:
    """Short tables as they are, that of accuracy condensed, long ones not at all."""
    shown: dict[str, Cells] = {}
    for name, table in tables.items():
        if name == "accuracy" and not table.empty:
            schemes = table[table["variant"].isin(SCHEMES)]
            own, common = (schemes[schemes["truth"] == truth] for truth in ("own", "common"))
            shown["errors"] = _by_variant(common, "mean", 1.0)
            shown["errors_own"] = _by_variant(own, "mean", 1.0)
            shown["times"] = _by_variant(own, "seconds", 1e6)
        elif 0 < len(table) <= MOST_ROWS:
            shown[name] = as_text(table)
    return shown


def as_text(table: pd.DataFrame) -> Cells:
    """A table with a mark on every time that was disturbed."""
    disturbed = table["disturbed"].fillna(False).astype(bool) if "disturbed" in table else None
    kept = [column for column in table.columns if column != "disturbed"]
    rows = []
    for i, record in enumerate(table[kept].to_dict("records")):
        row = [text_of(record[column]) for column in kept]
        if disturbed is not None and disturbed.iloc[i]:
            timed = next((j for j, column in enumerate(kept) if column in ("seconds", "microseconds")), 0)
            row[timed] += MARK
        rows.append(row)
    return Cells([str(column) for column in kept], rows)


def text_of(value: Any) -> str:
    """A value to three digits."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, float):
        return NOTHING if np.isnan(value) else "∞" if np.isinf(value) else f"{value:.3g}"
    return NOTHING if value is None or value == "" else str(value)


def _by_variant(table: pd.DataFrame, column: str, scale: float) -> Cells:
    """One row per scenario and step, one column per variant."""
    labels = [label for label in SCHEMES if label in set(table["variant"])]
    rows = []
    for (scenario, dt), group in table.sort_values("dt").groupby(["scenario", "dt"], sort=False):
        by_label = {record["variant"]: record for record in group.to_dict("records")}
        texts = []
        for label in labels:
            record = by_label.get(label, {})
            mark = MARK if column == "seconds" and record.get("disturbed") is True else ""
            texts.append(text_of(scale * record[column]) + mark if record else NOTHING)
        rows.append([scenario, f"{1e3 * dt:.4g} ms", *texts])
    order = {scenario: i for i, scenario in enumerate(dict.fromkeys(table["scenario"]))}
    return Cells(["scenario", "step", *labels], sorted(rows, key=lambda row: order[row[0]]))
