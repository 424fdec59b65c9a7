"""What was identified, as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, ScalarFormatter

from exposim._checks import Array
from exposim.plots.style import BLUE, COLOURS, GREY, LARGE, NORMAL, SMALL, VERMILION, literal, name_panel, panels

if TYPE_CHECKING:
    from exposim.identification.result import Identified

ROW_HEIGHT = 2.2  # [inch]
WIDEST = 5.0  # residuals shown [standard deviations]


def figure_of(result: Identified) -> Figure:
    """Residuals of positions and velocities over time, their distribution, windows, and the iterations."""
    figure, axes = panels(3, 2, ROW_HEIGHT)
    figure.suptitle(literal(f"Identification · {result.robot}"), x=0.01, ha="left", fontsize=LARGE)
    nv = len(result.columns)
    for ax, part, name in ((axes[0, 0], slice(0, nv), "q"), (axes[0, 1], slice(nv, None), "v")):
        _over_time(ax, result, part, f"residuals of {name} [standard deviations]")
    scaled = np.concatenate([each.scaled for each in result.residuals])
    _distribution(axes[1, 0], scaled[:, :nv], scaled[:, nv:])
    _windows(axes[1, 1], result)
    _estimates(axes[2, 0], result)
    _cost(axes[2, 1], result)
    return figure


def _over_time(ax: Axes, result: Identified, part: slice, name: str) -> None:
    offset = 0.0
    for each in result.residuals:
        t = each.t - each.t[0] + offset
        ax.plot(t, np.clip(each.scaled[:, part], -WIDEST, WIDEST), ".", ms=1.2, color=BLUE, alpha=0.25, rasterized=True)
        offset = float(t[-1])
    for level in (-2.0, 2.0):
        ax.axhline(level, color=GREY, lw=0.8, ls="--")
    ax.set_ylim(-WIDEST, WIDEST)
    ax.set_xlabel("time [s]", fontsize=NORMAL)
    name_panel(ax, name)


def _distribution(ax: Axes, q: Array, v: Array) -> None:
    edges = np.linspace(-WIDEST, WIDEST, 61)
    for values, colour, name in ((q, BLUE, "q"), (v, VERMILION, "v")):
        measured = values[:, values.any(axis=0)]
        if measured.size:
            ax.hist(measured.ravel(), edges.tolist(), density=True, histtype="step", color=colour, label=name)
    ax.plot(edges, np.exp(-0.5 * edges**2) / np.sqrt(2.0 * np.pi), color=GREY, lw=1.0, ls="--", label="noise")
    ax.legend(fontsize=SMALL, frameon=False)
    ax.set_xlabel("residual [standard deviations]", fontsize=NORMAL)
    name_panel(ax, "distribution of the residuals")


def _windows(ax: Axes, result: Identified) -> None:
    chi2 = np.concatenate([each.chi2 for each in result.residuals])
    doubtful = np.concatenate([each.doubtful for each in result.residuals])
    ax.bar(np.arange(len(chi2)), chi2, color=np.where(doubtful, VERMILION, BLUE))
    ax.axhline(1.0, color=GREY, lw=0.8, ls="--")
    ax.set_ylim(0.0, max(1.2, 1.5 * float(np.quantile(chi2, 0.9))))
    ax.set_xlabel("window", fontsize=NORMAL)
    name_panel(ax, "χ² of each window, per number measured")


def _estimates(ax: Axes, result: Identified) -> None:
    accepted = [each for each in result.history if each.accepted]
    for i, name in enumerate(result.names):
        shares = [each.values[i] / result.estimate[name] for each in accepted]
        ax.plot([each.number for each in accepted], shares, ".-", color=COLOURS[i % len(COLOURS)], lw=1.0, label=name)
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(ScalarFormatter())
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(fontsize=SMALL, frameon=False)
    ax.set_xlabel("iteration", fontsize=NORMAL)
    name_panel(ax, "estimates, as shares of the last")


def _cost(ax: Axes, result: Identified) -> None:
    for accepted, colour, name in ((True, BLUE, "accepted"), (False, VERMILION, "refused")):
        chosen = [each for each in result.history if each.accepted == accepted]
        if chosen:
            ax.semilogy(
                [each.number for each in chosen], [each.chi2 for each in chosen], "o", ms=3.5, color=colour, label=name
            )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(fontsize=SMALL, frameon=False)
    ax.set_xlabel("iteration", fontsize=NORMAL)
    name_panel(ax, "χ²")
