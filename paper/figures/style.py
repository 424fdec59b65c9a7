"""How figures of experiments look: sized for a paper's columns, one colour per scheme everywhere."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMN, PAGE = 3.5, 7.2  # [inch] widths
SMALL, NORMAL = 7.0, 8.0  # [pt]

# Okabe and Ito.
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK, GREY = "#E69F00", "#56B4E9", "#000000", "#7F7F7F"
INK = "#303030"
SCHEME_COLOURS = {
    "Expo": BLUE,
    "Expo, order 1": SKY,
    "Expo, averaged (paper)": INK,
    "explicit Euler": VERMILION,
    "semi-implicit Euler": GREEN,
    "RK4": PURPLE,
    "implicit Euler": ORANGE,
}


def colour_of(variant: str) -> str:
    """Of a variant's scheme; variants of the paper's method have its colour."""
    return SCHEME_COLOURS.get(variant, INK if variant.startswith("Expo") else GREY)


def line_of(variant: str) -> dict[str, Any]:
    """Colour, dashes, width and height of a scheme's curve: ours solid and on top, the paper's dashed."""
    looks: dict[str, dict[str, Any]] = {
        "Expo": {"lw": 1.9, "zorder": 5.0},
        "Expo, order 1": {"ls": "-.", "zorder": 4.0},
        "Expo, averaged (paper)": {"ls": "--", "lw": 1.4, "zorder": 4.5},
    }
    return {"color": colour_of(variant), "ls": "-", "lw": 1.2, "zorder": 3.0} | looks.get(variant, {})


def panels(
    rows: int = 1, columns: int = 1, width: float = COLUMN, height: float = 2.4, **options: Any
) -> tuple[Figure, NDArray[Any]]:
    """A figure of equal panels, (rows, columns), drawn without pyplot and so without global state.

    Args:
        rows: Of panels.
        columns: Of panels.
        width: Of the figure [inch].
        height: Of the figure [inch].
        options: As in ``Figure.subplots``.
    """
    module = importlib.import_module("matplotlib.figure")  # slow to import
    figure: Figure = module.Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for each in axes.flat:
        each.spines[["top", "right"]].set_visible(False)
        each.tick_params(which="both", labelsize=SMALL)
        each.set_axisbelow(True)
        each.xaxis.label.set_fontsize(NORMAL)
        each.yaxis.label.set_fontsize(NORMAL)
    return figure, axes


def name_panel(axes: Axes, text: str) -> None:
    """A panel's name, above it on the left."""
    axes.set_title(text, loc="left", fontsize=NORMAL)


def legend(axes: Axes, **options: Any) -> None:
    """Without a frame, and only if there is something to tell apart."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(**{"frameon": False, "fontsize": SMALL, "handlelength": 1.6} | options)


def figure_legend(figure: Figure, **options: Any) -> None:
    """One for all panels, below them, every label once."""
    found: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if found:
        look = {"frameon": False, "fontsize": SMALL, "handlelength": 1.6} | options
        figure.legend(list(found.values()), list(found), loc="outside lower center", **look)


def logarithmic(axes: Axes, which: str = "xy") -> None:
    """Log axes, which need something finite and positive to show."""
    for name in which:
        getattr(axes, f"set_{name}scale")("log")


def mark_lost(axes: Axes, x: Sequence[float], colour: str, row: int = 0) -> None:
    """Values that are infinite or missing: crosses at the top edge, those of other curves in rows above."""
    if x:  # a line without points would spoil the layout
        places, above = [1.0 + 0.05 * row] * len(x), axes.get_xaxis_transform()
        axes.plot(x, places, "x", color=colour, ms=4.0, mew=1.1, transform=above, clip_on=False, zorder=6)


def label_ends(axes: Axes, labels: dict[str, tuple[float, str]], gap: float = 0.075) -> None:
    """Names of curves beside their right ends, moved apart where they would overlap.

    Args:
        axes: Whose limits are final.
        labels: Where each text belongs, in data coordinates of the vertical axis, and its colour.
        gap: Least distance, as a share of the axes' height.
    """
    to_axes = axes.transData + axes.transAxes.inverted()
    low = axes.get_xlim()[0]
    wanted = {
        text: float(np.clip(to_axes.transform((low, y))[1], 0.0, 1.0)) if np.isfinite(y) else 1.0
        for text, (y, _) in labels.items()
    }
    order = sorted(wanted, key=lambda text: wanted[text])
    places = spread(np.array([wanted[text] for text in order]), gap)
    places = places - places.max(initial=1.0) + 1.0  # within the height of the axes
    places = places - places.min(initial=0.0)
    for text, place in zip(order, places, strict=True):
        axes.text(
            1.02, float(place), text, transform=axes.transAxes, va="center", fontsize=SMALL, color=labels[text][1]
        )


def spread(places: NDArray[Any], gap: float) -> NDArray[Any]:
    """The same sorted places, moved as little as leaves a gap between neighbours (as in isotonic regression)."""
    shifted = places - gap * np.arange(len(places))
    blocks: list[list[float]] = []  # sum and count of places that end up in one row
    for value in shifted:
        blocks.append([float(value), 1.0])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total, blocks[-1][1] + count]
    level = np.concatenate([np.full(int(count), total / count) for total, count in blocks]) if blocks else shifted
    apart: NDArray[Any] = level + gap * np.arange(len(places))
    return apart
