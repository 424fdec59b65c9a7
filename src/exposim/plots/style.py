"""How figures look: colours that all can tell apart, few lines that are not data."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from exposim._checks import Array
from exposim._writing import writing
from exposim.errors import InvalidArgument
from exposim.simulation.trajectory import Trajectory

# Okabe and Ito, without their yellow, which is faint on white.
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK, GREY = "#E69F00", "#56B4E9", "#000000", "#7F7F7F"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK, GREY)

WIDTH = 9.0  # [inch]
DPI = 150
SMALL, NORMAL, LARGE = 8.5, 9.5, 11.0  # [pt]


def panels(rows: int, columns: int, row_height: float, **options: Any) -> tuple[Figure, NDArray[Any]]:
    """A figure of equal panels, (rows, columns), drawn without pyplot and so without global state."""
    figure = Figure(figsize=(WIDTH, 0.5 + rows * row_height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for each in axes.flat:
        each.spines[["top", "right"]].set_visible(False)
        each.tick_params(labelsize=SMALL)
        each.grid(True, axis="y", color="0.92", lw=0.6)
        each.set_axisbelow(True)
    return figure, axes


def title(figure: Figure, trajectory: Trajectory, what: str) -> None:
    """What is shown, of which scenario and robot."""
    settings = trajectory.settings
    text = literal(f"{what} · {settings.scenario.name}, {settings.robot.name}")
    figure.suptitle(text, x=0.01, ha="left", fontsize=LARGE)


def literal(text: str) -> str:
    """Names as they are: a dollar sign in them begins no formula."""
    return text.replace("$", r"\$")


def name_panel(axes: Axes, text: str) -> None:
    """A panel's name, above it on the left."""
    axes.set_title(literal(text), loc="left", fontsize=NORMAL)


def over_time(axes: NDArray[Any], trajectory: Trajectory) -> None:
    """Labels and limits of the time axes, which all panels share, and where the simulation diverged."""
    start, diverged_at = float(trajectory.t[0]), trajectory.outcome.diverged_at
    end = max(float(trajectory.t[-1]), diverged_at or 0.0)
    end = end if end > start else start + trajectory.settings.dt  # one instant alone
    for each in axes.flat:
        each.set_xlim(start, end + (0.03 * (end - start) if diverged_at is not None else 0.0))
        if diverged_at is not None:
            each.axvline(diverged_at, color=BLACK, lw=0.9, ls="-.")
    for each in axes[-1]:
        each.set_xlabel("time [s]", fontsize=NORMAL)
    if diverged_at is not None:
        first = axes.flat[0]
        first.annotate(
            f"diverged at {diverged_at:.3g} s",
            (diverged_at, 1.0),
            (-3, -2),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="right",
            va="top",
            fontsize=SMALL,
            bbox={"facecolor": "white", "alpha": 0.85, "lw": 0, "pad": 1.0},
            zorder=10,
        )


def bounds(values: Array, trajectory: Trajectory, *, least_span: float = 0.0) -> tuple[float, float]:
    """Limits that show all values; of a run that diverged, what came before it flew apart.

    Args:
        values: All that one panel shows, time first.
        trajectory: That they are of.
        least_span: Noise smaller than this is not blown up.
    """
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return -1.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    if trajectory.outcome.diverged_at is not None:
        quarter, middle, three_quarters = np.quantile(finite, (0.1, 0.5, 0.9))
        reach = max(3.0 * (three_quarters - quarter), 1e-3 * abs(middle), least_span)
        low, high = max(low, quarter - reach), min(high, three_quarters + reach)
    missing = max(least_span - (high - low), 0.0) / 2.0
    margin = 0.06 * max(high - low, least_span, 1e-9)
    return low - missing - margin, high + missing + margin


def save(figure: Figure, path: str | PathLike[str]) -> Path:
    """Writes a picture whose format the suffix says, all of it or nothing."""
    target = Path(path)
    kind = target.suffix.removeprefix(".").lower()
    if kind not in (known := figure.canvas.get_supported_filetypes()):
        raise InvalidArgument(f"path is {target}; give a name that ends in one of .{', .'.join(known)}")
    with writing(target) as stream:
        figure.savefig(stream, dpi=DPI, format=kind)
    return target
