"""Figures of accuracy: four panels, one per scenario, with the names of the curves beside their ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from exposim._checks import Array
from paper.figures.style import (
    BLACK,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PAGE,
    PURPLE,
    SKY,
    SMALL,
    VERMILION,
    label_ends,
    line_of,
    logarithmic,
    mark_lost,
    name_panel,
    panels,
)
from paper.measure.variants import AVERAGED, EXPO_KERNELS, PRODUCTS, SCHEMES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CEILING = 1e3  # errors above are shown at the top edge: no robot moves that fast
MARK: dict[str, Any] = {"marker": "o", "ms": 2.5}
ROW_HEIGHT = 2.7  # [inch]

# From dark to light as the kernel gets coarser.
KERNEL_COLOURS = dict(
    zip(
        (f"Expo, {products} products" for products in reversed(PRODUCTS)),
        ("#3B0F70", "#8C2981", "#DE4968", "#FE9F6D", "#E3B505"),
        strict=True,
    )
) | {AVERAGED: GREEN, "Expo, full exponential": BLACK}
PAPER_VARIANTS = {
    AVERAGED: INK,
    "Expo, anchor as detected": VERMILION,
    "Expo, position from lam_pr": PURPLE,
    "Expo, full exponential": SKY,
    "Expo, not balanced": ORANGE,
}


@dataclass(frozen=True)
class _Axis:
    """What is along the horizontal axis: a column, its scale, its name."""

    column: str
    scale: float
    name: str


SPEED = _Axis("real-time factor", 1.0, "real-time factor")
STEP = _Axis("dt", 1e3, "time step [ms]")


def figures(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """Errors against speed and step for both truths, kernels, variants, and where the error comes from."""
    table = tables.get("accuracy")
    if table is None or table.empty:
        return {}
    drawn = {}
    truths = tables.get("truths")
    left = {} if truths is None else dict(zip(truths["scenario"], truths["left"], strict=True))
    for truth, floor in (("own", {}), ("common", left)):
        rows = table[table["truth"] == truth]
        drawn[f"accuracy_speed_{truth}"] = _errors(rows, SPEED, _main_schemes(table), line_of, floor)
        drawn[f"accuracy_step_{truth}"] = _errors(rows, STEP, _main_schemes(table), line_of, floor)
    own, common = table[table["truth"] == "own"], table[table["truth"] == "common"]
    drawn["accuracy_kernels"] = _errors(own, SPEED, EXPO_KERNELS, _of(KERNEL_COLOURS))
    drawn["accuracy_variants"] = _errors(common, SPEED, tuple(PAPER_VARIANTS), _of(PAPER_VARIANTS))
    drawn["accuracy_changes"] = _shares(common, truths, _main_schemes(table))
    return drawn


def _main_schemes(table: pd.DataFrame) -> tuple[str, ...]:
    present = set(table["variant"])
    return tuple(label for label in SCHEMES if label in present)


def _of(colours: dict[str, str]) -> Callable[[str], dict[str, Any]]:
    """Looks of variants of one method; dashed are those whose curve may hide under another one."""

    def look(label: str) -> dict[str, Any]:
        hides = label in (AVERAGED, "Expo, not balanced")
        return {"color": colours[label], "ls": "--" if hides else "-", "lw": 1.2, "zorder": 4.0 if hides else 3.0}

    return look


def _errors(
    table: pd.DataFrame,
    axis: _Axis,
    labels: Sequence[str],
    look_of: Callable[[str], dict[str, Any]],
    floor: Mapping[str, float] = MappingProxyType({}),
) -> Figure:
    """Mean local error of several variants, named beside their ends unless these fall together.

    The floor, by scenario, is what the truth itself leaves: errors below it say nothing.
    """
    together = all(label.startswith("Expo") for label in labels)
    figure, axes = _one_per_scenario(table, axis.name, "mean local error")
    for scenario, panel in axes.items():
        logarithmic(panel)
        ends = {}
        lost: dict[str, Array] = {}
        for label in labels:
            curve = _curve(table, scenario, label)
            x, y = axis.scale * curve[axis.column].to_numpy(float), curve["mean"].to_numpy(float)
            shown = (y > 0.0) & (y < CEILING) & np.isfinite(x)
            lost[label] = x[~shown & np.isfinite(x)]
            look = look_of(label)
            panel.plot(x, np.where(shown, y, np.nan), label=_short(label), **look | MARK)
            if len(x):
                ends[label] = (float(y[shown][-1]) if shown.any() else np.inf, look["color"])
        if scenario in floor:
            panel.axhline(floor[scenario], color=GREY, lw=0.9, ls=":")
            ends["left by the truth"] = (floor[scenario], GREY)
        if not together:
            label_ends(panel, ends)
        for label, at in lost.items():
            if len(at):
                mark_lost(panel, list(at), look_of(label)["color"])
        if any(map(len, lost.values())):
            panel.text(0.98, 0.03, "× diverged, or above 10³", ha="right", size=SMALL, transform=panel.transAxes)
    if together:
        entries = figure.axes[0].get_legend_handles_labels()
        figure.legend(*entries, loc="outside upper center", ncols=4, frameon=False, fontsize=SMALL)
    return figure


def _shares(table: pd.DataFrame, truths: pd.DataFrame | None, labels: Sequence[str]) -> Figure:
    """Share of the error that comes from control periods in which a contact changes."""
    figure, axes = _one_per_scenario(table, STEP.name, "share of the error [%]")
    for scenario, panel in axes.items():
        logarithmic(panel, "x")
        panel.set_ylim(0.0, 104.0)
        ends = {}
        for label in labels:
            curve = _curve(table, scenario, label)
            x, y = STEP.scale * curve["dt"].to_numpy(float), 100.0 * curve["share of changes"].to_numpy(float)
            shown = np.isfinite(y)
            if shown.any():
                look = line_of(label)
                panel.plot(x[shown], y[shown], **look | MARK)
                ends[label] = (float(y[shown][-1]), look["color"])
        if truths is not None and (truths["scenario"] == scenario).any():
            share = 100.0 * float(truths.loc[truths["scenario"] == scenario, "changing periods"].iloc[0])
            panel.axhline(share, color=GREY, lw=0.9, ls=":")
            ends["share of periods"] = (share, GREY)
        label_ends(panel, ends)
    return figure


def _one_per_scenario(table: pd.DataFrame, below: str, beside: str) -> tuple[Figure, dict[str, Axes]]:
    scenarios = list(dict.fromkeys(table["scenario"]))
    rows, columns = (len(scenarios) + 1) // 2, min(2, len(scenarios))
    figure, grid = panels(rows, columns, PAGE, ROW_HEIGHT * rows)
    axes = list(grid.flat)
    for scenario, panel in zip(scenarios, axes, strict=False):
        name_panel(panel, scenario)
        panel.set_xlabel(below)
        panel.grid(True, color="0.92", lw=0.5)
    for panel in grid[:, 0]:
        panel.set_ylabel(beside)
    for panel in axes[len(scenarios) :]:
        panel.set_axis_off()
    return figure, dict(zip(scenarios, axes, strict=False))


def _curve(table: pd.DataFrame, scenario: str, label: str) -> pd.DataFrame:
    return table[(table["scenario"] == scenario) & (table["variant"] == label)].sort_values("dt")


def _short(label: str) -> str:
    """Among variants of Expo the word need not be said again."""
    if label == "Expo, 1 products":
        return "1 product"
    return "closed form" if label == AVERAGED else label.removeprefix("Expo, ")
