"""The last steps before a divergence: who put energy in, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.analysis.first_to_go import FirstToGo, Gone, running_sum
from exposim.plots.style import BLACK, BLUE, COLOURS, GREY, LARGE, NORMAL, ORANGE, PURPLE, SMALL, literal, panels
from exposim.simulation.flight_replay import Flight

# Lines of a panel.
MOST = 5
# The steps since something went take this share of the width, and at least so many are shown.
SHARE, FEWEST = 0.5, 12
# A step alone between others that are off the axis is seen, too.
POINTS: dict[str, Any] = {"marker": "o", "ms": 2.2}
# Decades below the largest that are drawn, at most.
DECADES = 7


def flight(flown: Flight, found: FirstToGo) -> Figure:
    """Energy put in by those that went, speeds of joints, contact forces, and where the energy is.

    All over the time before the divergence, on logarithmic axes, on which what grows by a factor in every step is a
    straight line. Where each went is marked.

    Args:
        flown: What :meth:`exposim.FlightDump.replay` returns.
        found: What :func:`exposim.analysis.first_to_go` found in it.
    """
    figure, axes = panels(4, 1, 1.75, sharex=True)
    above, speeds, contacts, energies = axes[:, 0]
    t = 1e3 * (flown.t - flown.diverged_at)  # [ms]
    start = _first_shown(t, found)
    shown = t >= start
    gone = found.gone[:MOST]
    for each, colour in zip(gone, COLOURS, strict=False):
        above.plot(
            t[1:], running_sum(flown.work[each.source]), color=colour, lw=1.3, label=literal(str(each.source)), **POINTS
        )
    if not found.is_sudden:
        above.axhline(found.usual, color=GREY, lw=0.8, ls=(0, (4, 2)), label="more than usual")
    _finish(above, "Energy put in by four steps", "[J]", shown, None if found.is_sudden else found.usual / 10.0)
    _draw_speeds(speeds, flown, gone, t)
    _finish(speeds, "Joint speeds", "[rad/s, m/s]", shown)
    _draw_forces(contacts, flown, gone, t)
    _finish(contacts, "Contact forces", "[N]", shown)
    parts = {"kinetic": (BLUE, 0), "of springs in contacts": (ORANGE, 2), "of springs in joints": (PURPLE, 3)}
    for name, (colour, column) in parts.items():
        if flown.energy[:, column].any():
            energies.plot(t, flown.energy[:, column], color=colour, lw=1.3, label=name, **POINTS)
    _finish(energies, "Energy", "[J]", shown)
    _mark(axes[:, 0].tolist(), flown, found)
    energies.set_xlim(start, -0.03 * start)
    energies.set_xlabel("time before the divergence [ms]", fontsize=NORMAL)
    first = "went within a step" if found.is_sudden else f"{found.first} went first"
    robot = flown.sim.robot.name
    text = f"{first} · {robot}, diverged at {flown.diverged_at:.4g} s"
    figure.suptitle(literal(text), x=0.01, ha="left", fontsize=LARGE)
    figure.align_ylabels(axes[:, 0])
    return figure


def _first_shown(t: Array, found: FirstToGo) -> float:
    """Time [ms] from which on steps are shown."""
    if found.is_sudden:
        return float(t[0])
    since = min(float(t[found.gone[0].step]) / SHARE, float(t[-FEWEST:][0]))
    return max(float(t[0]), since)


def _draw_speeds(axes: Axes, flown: Flight, gone: Sequence[Gone], t: Array) -> None:
    """Of those that went, in their colours, then of the fastest at the end."""
    model = flown.sim.robot.model
    of = {str(model.names[i]): model.joints[i] for i in range(1, model.njoints)}
    speed = {name: np.linalg.norm(flown.v[:, each.idx_v : each.idx_v + each.nv], axis=1) for name, each in of.items()}
    fastest = sorted(speed, key=lambda name: -speed[name][-1])
    _draw(axes, speed, [each.source.name for each in gone if each.source.kind == "joint"], fastest, gone, "joint", t)


def _draw_forces(axes: Axes, flown: Flight, gone: Sequence[Gone], t: Array) -> None:
    size = np.linalg.norm(flown.forces, axis=2)
    force = {label: size[:, i] for i, label in enumerate(flown.contact_labels) if size[:, i].any()}
    strongest = sorted(force, key=lambda label: -force[label].max())
    _draw(
        axes, force, [each.source.name for each in gone if each.source.kind == "contact"], strongest, gone, "contact", t
    )


def _draw(
    axes: Axes,
    values: dict[str, Array],
    culprits: Sequence[str],
    others: Sequence[str],
    gone: Sequence[Gone],
    kind: str,
    t: Array,
) -> None:
    names = [name for name in dict.fromkeys([*culprits, *others]) if name in values][:MOST]
    taken = {
        each.source.name: colour
        for each, colour in reversed(list(zip(gone, COLOURS, strict=False)))
        if each.source.kind == kind
    }
    free = [colour for colour in COLOURS if colour not in taken.values()]
    for i, name in enumerate(names):
        colour, width = (taken[name], 1.6) if name in taken else (free.pop(), 0.9)
        axes.plot(t, values[name], color=colour, lw=width, label=literal(name), zorder=3.0 - 0.01 * i, **POINTS)


def _finish(axes: Axes, name: str, unit: str, shown: NDArray[np.bool_], floor: float | None = None) -> None:
    """Name, unit and legend, and a logarithmic axis over some decades, or down to a floor."""
    lines = [np.asarray(line.get_ydata(), dtype=float) for line in axes.get_lines()]
    values = np.concatenate([*(line[-np.count_nonzero(shown) :] for line in lines), np.zeros(1)])
    values = values[np.isfinite(values) & (values > 0.0)]
    if values.size:
        largest = float(values.max())
        least = max(float(np.quantile(values, 0.15)), largest * 10.0**-DECADES) if floor is None else floor
        axes.set_yscale("log", nonpositive="mask")
        axes.set_ylim(least / 3.0, 3.0 * largest)
        axes.yaxis.set_major_locator(LogLocator(numticks=5))
        axes.yaxis.set_minor_locator(NullLocator())
    axes.set_title(name, loc="left", fontsize=NORMAL)
    axes.set_ylabel(unit, fontsize=NORMAL)
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(
            handles,
            labels,
            frameon=False,
            fontsize=SMALL,
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            handlelength=1.2,
        )


def _mark(axes: Sequence[Axes], flown: Flight, found: FirstToGo) -> None:
    """When each went, and when it was over."""
    for panel in axes:
        panel.axvline(0.0, color=BLACK, lw=0.9, ls="-.")
        for each, colour in zip(() if found.is_sudden else found.gone[:MOST], COLOURS, strict=False):
            at = 1e3 * (each.t - flown.diverged_at)
            panel.axvline(at, color=colour, lw=1.0 if each is found.gone[0] else 0.7, ls=":", zorder=0)
    if not found.is_sudden:
        at = 1e3 * (found.gone[0].t - flown.diverged_at)
        where, text = (at, 1.0), f"{found.gone[0].source.name} went"
        axes[0].annotate(
            literal(text), where, (-3, -2), xycoords=("data", "axes fraction"), textcoords="offset points",
            ha="right", va="top", fontsize=SMALL, color=COLOURS[0],
        )  # fmt: skip
