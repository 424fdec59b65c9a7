"""The largest stable steps, on a log axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paper.figures.style import BLACK, NORMAL, PAGE, SMALL, colour_of, logarithmic, name_panel, panels
from paper.measure.variants import VARIANTS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figures(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """Dots on a log axis: every scenario a panel, every variant a row."""
    table = tables.get("stability")
    if table is None or table.empty:
        return {}
    names = list(dict.fromkeys(table["scenario"]))
    figure, axes = panels(1, len(names), PAGE, 3.2, sharey=True, sharex=True)
    labels = [label for label in VARIANTS if label in set(table["variant"])][::-1]
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
