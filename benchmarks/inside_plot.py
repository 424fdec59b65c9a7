"""Work and precision: a panel per problem, steps by accuracy beside fixed ones; for benchmarks/inside.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogLocator, NullFormatter

from exposim.plots.style import BLUE, GREY, LARGE, NORMAL, SKY, SMALL, VERMILION, name_panel, panels, save
from inside_accuracy import ACCURACIES, COLD, WARM, Results, is_sure, mean

COLUMNS = 4
JUDGED_AT = 1e-3  # accuracy whose periods are shown: one set for all points of a panel
BELOW = 0.3  # times the least error by accuracy: what fixed steps reach beyond is not shown
ROOM = 2.0  # beside the curves, for the names of accuracies: a factor
LOOKS: dict[str, dict[str, Any]] = {
    "fixed": {"color": VERMILION, "marker": "s", "ms": 2.6, "lw": 1.1, "label": "fixed steps"},
    COLD: {"color": SKY, "marker": "o", "ms": 3.2, "lw": 1.1, "ls": "--", "label": "by accuracy, a period alone"},
    WARM: {"color": BLUE, "marker": "o", "ms": 3.8, "lw": 1.8, "label": "by accuracy, going on"},
}


def draw(results: dict[str, Results], path: Path) -> Path:
    """Writes the picture.

    Args:
        results: Of measuring, by problem.
        path: Of the picture.
    """
    rows = -(-(len(results) + 1) // COLUMNS)  # a panel more, for the legend
    figure, axes = panels(rows, COLUMNS, 2.5)
    for at, (name, found) in zip(axes.flat, results.items(), strict=False):
        _panel(at, found)
        name_panel(at, f"{name}, {1e3 * found['period']:g} ms")
    for at in axes[:, 0]:
        at.set_ylabel("mean error [m, rad, m/s, rad/s]", fontsize=SMALL)
    for i, at in enumerate(axes.flat):
        if i >= len(results):
            at.axis("off")
        elif i + COLUMNS >= len(results):
            at.set_xlabel("CPU time of a period [µs]", fontsize=SMALL)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    axes.flat[len(results)].legend(handles, labels, loc="center", frameon=False, fontsize=NORMAL)
    text = "Error of a control period against what it costs; beside the points: the accuracy asked for"
    figure.suptitle(text, x=0.01, ha="left", fontsize=LARGE)
    return save(figure, path)


def _panel(axes: Axes, found: Results) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    sure = is_sure(found, JUDGED_AT)
    curves = {how: _points(found, how, sure) for how in LOOKS}
    least = BELOW * min(curves[how][:, 1].min() for how in (COLD, WARM))
    for how, points in curves.items():
        shown = points[np.logical_and.accumulate(points[:, 1] > least)]
        axes.plot(1e6 * shown[:, 0], shown[:, 1], zorder=4.0 if how == WARM else 3.0, **LOOKS[how])
    axes.set_xlim(left=axes.get_xlim()[0] / ROOM)
    _name_accuracies(axes, found, sure)
    floor = float(np.array(found["gaps"])[sure].mean())
    low, high = least, axes.get_ylim()[1]
    axes.axhline(floor, color=GREY, lw=0.9, ls=":", label="what the truth itself leaves")
    axes.set_ylim(low, high)  # a floor far below is not worth the room
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(numticks=12))
        axis.set_minor_formatter(NullFormatter())
    axes.grid(True, axis="both", color="0.92", lw=0.6)


def _points(found: Results, how: str, of: np.ndarray) -> np.ndarray:
    """Seconds and errors, (n, 2), of what did not diverge."""
    names = [name for name in found["errors"] if name.rpartition(" ")[0] == how]
    points = np.array([[mean(found, what, name, of) for what in ("seconds", "errors")] for name in names])
    return points[np.isfinite(points).all(axis=1)]


def _name_accuracies(axes: Axes, found: Results, sure: np.ndarray) -> None:
    """Beside points; where several are at one place, for they took the same steps, one name for all."""
    groups: list[tuple[float, float, list[float]]] = []
    for accuracy in ACCURACIES:
        seconds, error = (mean(found, what, f"{WARM} {accuracy:g}", sure) for what in ("seconds", "errors"))
        if groups and abs(np.log(error / groups[-1][1])) < 0.25:
            groups[-1][2].append(accuracy)
        else:
            groups.append((seconds, error, [accuracy]))
    for seconds, error, names in groups:
        text = f"${'' if len(names) == 1 else '≥'}10^{{{round(np.log10(names[-1]))}}}$"
        at: dict[str, Any] = {"xytext": (-5, -1), "textcoords": "offset points", "ha": "right", "va": "top"}
        edge = [withStroke(linewidth=1.8, foreground="white")]
        place = (1e6 * seconds, error)
        axes.annotate(text, place, fontsize=SMALL - 1.0, color=BLUE, path_effects=edge, zorder=5.0, **at)
