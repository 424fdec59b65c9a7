"""The last steps before a divergence: who put energy in, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, SymmetricalLogLocator

from exposim._checks import Array
from exposim.analysis.first_to_go import FirstToGo, Gone, running_sum
from exposim.plots.style import BLACK, BLUE, COLOURS, GREEN, GREY, LARGE, NORMAL, ORANGE, PURPLE, SMALL, literal, panels
from exposim.simulation.flight_replay import Flight

# Lines of a panel.
MOST = 5
# The steps since something went take at least this share of the width.
SHARE = 0.5
# Decades below the largest that are drawn, at most; smaller ones are near zero.
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
        above.plot(t[1:], running_sum(flown.work[each.source]), color=colour, lw=1.3, label=literal(str(each.source)))
    if not found.is_sudden:
        above.axhline(found.usual, color=GREY, lw=0.8, ls=(0, (4, 2)), label="more than usual")
    _finish(above, "Energy put in, by four steps", "[J]", shown)
    _draw_speeds(speeds, flown, gone, t)
    _finish(speeds, "Joint speeds", "[rad/s, m/s]", shown)
    _draw_forces(contacts, flown, gone, t)
    _finish(contacts, "Contact forces", "[N]", shown)
    parts = {"kinetic": BLUE, "gravity": GREEN, "in contacts": ORANGE, "in joints": PURPLE}
    for (name, colour), values in zip(parts.items(), flown.energy.T, strict=True):
        if np.any(values):
            energies.plot(t, values, color=colour, lw=1.3, label=name)
    _finish(energies, "Energy", "[J]", shown)
    _mark(axes[:, 0].tolist(), flown, found)
    energies.set_xlim(start, -0.03 * start)
    energies.set_xlabel("time before the divergence [ms]", fontsize=NORMAL)
    first = "nothing unusual before it" if found.is_sudden else f"{found.first} went first"
    robot = flown.sim.robot.name
    text = f"{first} · {robot}, diverged at {flown.diverged_at:.4g} s"
    figure.suptitle(literal(text), x=0.01, ha="left", fontsize=LARGE)
    figure.align_ylabels(axes[:, 0])
    return figure


def _first_shown(t: Array, found: FirstToGo) -> float:
    """Time [ms] from which on steps are shown."""
    if found.is_sudden:
        return float(t[0])
    since = float(t[found.gone[0].step])
    return max(float(t[0]), since / SHARE)


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
    _draw(axes, force, [each.source.name for each in gone if each.source.kind == "contact"], strongest, gone, "contact", t)


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
    for name in reversed(names):
        axes.plot(t, values[name], color=taken.get(name) or free.pop(), lw=1.6 if name in taken else 0.9, label=literal(name))


def _finish(axes: Axes, name: str, unit: str, shown: Array) -> None:
    """Name, unit and legend, and a logarithmic axis over some decades, below which it is linear."""
    lines = [np.abs(np.asarray(line.get_ydata(), dtype=float)) for line in axes.get_lines()]
    lines = [line[-np.count_nonzero(shown) :] for line in lines if line.size > 2]
    values = np.concatenate([*lines, np.zeros(1)])
    values = values[np.isfinite(values) & (values > 0.0)]
    if values.size:
        largest = float(values.max())
        least = max(float(np.quantile(values, 0.1)), largest * 10.0**-DECADES)
        axes.set_yscale("symlog", linthresh=least, linscale=0.3)
        decades = np.log10(largest / least)
        locator = SymmetricalLogLocator(base=10.0 if decades < 6 else 100.0, linthresh=10.0 ** np.ceil(np.log10(least)))
        axes.yaxis.set_major_locator(locator)
        axes.yaxis.set_minor_locator(NullLocator())
    axes.set_title(name, loc="left", fontsize=NORMAL)
    axes.set_ylabel(unit, fontsize=NORMAL)
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(
            handles, labels, frameon=False, fontsize=SMALL, loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.2
        )


def _mark(axes: Sequence[Axes], flown: Flight, found: FirstToGo) -> None:
    """When each went, and when it was over."""
    for panel in axes:
        panel.axvline(0.0, color=BLACK, lw=0.9, ls="-.")
        for each, colour in zip(() if found.is_sudden else found.gone[:MOST], COLOURS, strict=False):
            at = 1e3 * (each.t - flown.diverged_at)
            panel.axvline(at, color=colour, lw=0.8, ls=":", zorder=0)
