"""Figures of the experiment on computation times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exposim._durations import show_time
from exposim.simulation.profile import STAGES
from paper.figures.style import (
    BLUE,
    COLUMN,
    GREY,
    ORANGE,
    PAGE,
    SKY,
    SMALL,
    VERMILION,
    figure_legend,
    logarithmic,
    name_panel,
    panels,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STEP = "step"

STAGE_COLOURS = dict(zip(STAGES, (SKY, ORANGE, BLUE, GREY), strict=True))


def figures(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """Stacked bars of the stages, and norms before and after balancing."""
    drawn = {}
    if (table := tables.get("timing")) is not None and not table.empty:
        drawn["timing"] = _bars(table)
    if (table := tables.get("balancing")) is not None and not table.empty:
        drawn["balancing"] = _norms(table)
    return drawn


def _bars(table: pd.DataFrame) -> Figure:
    """One bar per variant, as multiples of an explicit Euler step of the same run; the paper's beside it."""
    figure, axes = panels(1, 1, PAGE, 3.4)
    panel = axes[0, 0]
    labels, y = [], 0
    for variant in dict.fromkeys(table["variant"]):
        rows = table[table["variant"] == variant]
        whole, stages = rows[rows["operation"] == STEP].iloc[0], rows[rows["operation"] != STEP]
        shown = dict(zip(stages["operation"], stages["ratio to explicit Euler"], strict=True))
        _bar(panel, y, shown, f"{whole['ratio to explicit Euler']:.1f} ({show_time(1e-6 * whole['microseconds'], 3)})")
        labels.append((y, variant))
        theirs = stages[stages["paper ratio"].notna()]
        if len(theirs):
            y += 1
            paper = dict(zip(theirs["operation"], theirs["paper ratio"], strict=True))
            paper["integration"] = whole["paper ratio"] - sum(paper.values())
            _bar(
                panel,
                y,
                paper,
                f"{whole['paper ratio']:.1f} ({show_time(1e-6 * whole['paper microseconds'], 3)})",
                alpha=0.45,
            )
            labels.append((y, "paper's"))
        y += 1
    panel.set_yticks([place for place, _ in labels], [label for _, label in labels])
    panel.invert_yaxis()
    panel.tick_params(axis="y", length=0)
    panel.margins(x=0.16)
    panel.set_xlabel("time per step over that of explicit Euler in the same run")
    figure_legend(figure, ncols=len(STAGES))
    return figure


def _bar(panel: Axes, y: int, parts: dict[str, float], text: str, alpha: float = 1.0) -> None:
    left = 0.0
    for stage, width in parts.items():
        label = stage if alpha == 1.0 else None
        panel.barh(y, width, left=left, height=0.72, color=STAGE_COLOURS[stage], alpha=alpha, label=label)
        left += width
    panel.annotate(text, (left, y), (3, 0), textcoords="offset points", va="center", fontsize=SMALL)


def _norms(table: pd.DataFrame) -> Figure:
    names = list(dict.fromkeys(table["scenario"]))
    figure, axes = panels(len(names), 1, COLUMN, 1.6 * len(names) + 0.4)
    for panel, name in zip(axes[:, 0], names, strict=True):
        rows = table[table["scenario"] == name]
        logarithmic(panel, "y")
        for column, colour in (("norm before", VERMILION), ("norm after", BLUE)):
            panel.plot(rows["t"], rows[column], ".", color=colour, ms=2.0)
            panel.annotate(
                column.removeprefix("norm ") + " balancing",
                (0.99, float(rows[column].iloc[-1])),
                (0, -4),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                ha="right",
                va="top",
                fontsize=SMALL,
                color=colour,
            )
        panel.set_ylim(float(rows["norm after"].min()) / 5.0, 3.0 * float(rows["norm before"].max()))
        panel.set_ylabel("‖A‖₁")
        name_panel(panel, name)
    axes[-1, 0].set_xlabel("time [s]")
    return figure
