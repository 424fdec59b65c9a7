"""Errors against stiffness and damping."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paper.figures.style import (
    NORMAL,
    PAGE,
    colour_of,
    label_ends,
    line_of,
    logarithmic,
    mark_lost,
    name_panel,
    panels,
)
from paper.measure.stiffness import FIXED_RATIO

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TRUTHS = {"own": "the scheme itself at 1/64 ms (× where that fails)", "common": "Expo at a far smaller step"}


def figures(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """One figure per truth: mean and median error against stiffness, and against damping ratio."""
    table = tables.get("stiffness")
    if table is None or table.empty:
        return {}
    drawn = {}
    for truth, rows in table.groupby("truth"):
        figure, axes = panels(2, 2, PAGE, 4.6, sharex="col", sharey="row")
        for row, measure_of in zip(axes, ("mean", "median"), strict=True):
            for panel, sweep, x in zip(row, ("stiffness", "damping"), ("K", "damping ratio"), strict=True):
                _draw(panel, rows[rows.sweep == sweep], x, measure_of)
            row[0].set_ylabel(f"{measure_of} local error")
        figure.suptitle(f"truth: {TRUTHS[truth]}", x=0.01, ha="left", fontsize=NORMAL)
        name_panel(axes[0, 0], f"damping ratio {FIXED_RATIO}")
        name_panel(axes[0, 1], "K = 10⁵ N/m")
        axes[1, 0].set_xlabel("stiffness K [N/m]")
        axes[1, 1].set_xlabel("damping ratio B/(2√K)")
        figure.draw_without_rendering()  # limits are final now
        for row, measure_of in zip(axes, ("mean", "median"), strict=True):
            label_ends(row[1], _ends(rows[rows.sweep == "damping"], measure_of))
        drawn[f"stiffness_{truth}"] = figure
    return drawn


def _draw(axes: Axes, rows: pd.DataFrame, x: str, measure_of: str) -> None:
    logarithmic(axes, "xy")
    lost = 0
    for (variant, dt), curve in rows.sort_values(x).groupby(["variant", "dt"], sort=False):
        look = line_of(variant) | ({"ls": ":"} if dt < 1e-4 else {})
        shown = np.isfinite(curve[measure_of]) & (curve[measure_of] > 0.0)
        axes.plot(curve.loc[shown, x], curve.loc[shown, measure_of], marker="o", ms=2.5, **look)
        mark_lost(axes, list(curve.loc[~shown, x]), look["color"], row=lost)
        lost += not shown.all()
    if x != "K":
        ticks = [0.2, 0.4, 0.6, 0.8, 1.0]
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()


def _ends(rows: pd.DataFrame, measure_of: str) -> dict[str, tuple[float, str]]:
    """Where each curve ends, and its colour, by its name."""
    last = rows.sort_values("damping ratio").groupby(["variant", "dt"], sort=False).tail(1)
    return {
        f"{variant.removesuffix(' (paper)')}, {_milliseconds(dt)}": (float(y), colour_of(variant))
        for variant, dt, y in zip(last["variant"], last["dt"], last[measure_of], strict=True)
    }


def _milliseconds(dt: float) -> str:
    return f"{1e3 * dt:g} ms" if dt >= 1e-3 else f"1/{round(1e-3 / dt)} ms"
