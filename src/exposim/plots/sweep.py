"""What came of a sweep: measures over one axis of the grid, lines by another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.plots.style import COLOURS, GREY, LARGE, NORMAL, SMALL, literal, name_panel, panels
from exposim.sweeps import Results
from exposim.sweeps.results import unit_of
from exposim.sweeps.settings import short_number, shown, titled

MOST_COLUMNS = 4
LOGARITHMIC = 9.0  # values on an axis whose greatest is so many times the least are spaced by their logarithms
VERY_DIFFERENT = 100.0  # likewise measures


def sweep(results: Results, measures: str | Iterable[str] | None = None) -> Figure:
    """Measures over the first axis of the grid that has several numbers; lines by the next, panels by the rest.

    Cells that diverged, failed or are missing have a cross at the upper edge.

    Args:
        results: Of a sweep.
        measures: Names of some of ``results.measures``; by default two of the scenario and the greatest force.
    """
    if not isinstance(results, Results):
        raise InvalidArgument(f"results is {results!r}; give what exposim.sweep returns")
    given = (measures,) if isinstance(measures, str) else measures
    names = _default_measures(results) if given is None else _checks.several("measures", given, "a list of names")
    if not names:
        raise InvalidArgument("no cell has a measure that could be shown; give the sweep cells that can be run")
    along = _along(results)
    others = [name for name in results.grid.axes if name != along]
    lines, rest = others[:1], others[1:]
    columns = list(product(*(range(len(results.grid.axes[name])) for name in rest)))
    drawn = columns[:MOST_COLUMNS]
    figure, axes = panels(len(names), len(drawn), 2.3, sharex=True, sharey="row")
    for row, name in enumerate(names):
        table = _ordered(results, results.values(name), [*rest, *lines, along])
        failed = _ordered(results, _has_failed(results), [*rest, *lines, along])
        for column, place in enumerate(drawn):
            if failed.any():  # room for their crosses
                axes[row, column].set_ymargin(0.08 + 0.07 * min(failed.shape[-2] if lines else 1, 8))
            _draw(axes[row, column], results, along, lines, table[place], failed[place])
        finite = table[np.isfinite(table)]
        if finite.size and finite.min() > 0.0 and finite.max() >= VERY_DIFFERENT * finite.min():
            axes[row, 0].set_yscale("log")
        name_panel(axes[row, 0], unit_of(str(name)))
    for panel in axes[-1]:
        panel.set_xlabel(literal(titled(along)), fontsize=NORMAL)
    for column, place in enumerate(drawn if rest else []):
        told = ", ".join(_told(results, name, i) for name, i in zip(rest, place, strict=True))
        axes[0, column].set_title(literal(told), loc="right", fontsize=SMALL, color="0.35")
    _legend(figure, results, lines)
    left_out = f" · {len(columns) - len(drawn)} panels left out" if len(drawn) < len(columns) else ""
    text = literal(f"Sweep · {_name(results)}{left_out}")
    figure.suptitle(text, x=0.01, ha="left", fontsize=LARGE)
    return figure


def _default_measures(results: Results) -> list[str]:
    own = [name for name in results.measures if "[" in name][:2]
    return own + [name for name in ("peak_force",) if name in results.measures]


def _along(results: Results) -> str:
    axes = results.grid.axes
    several = [name for name, values in axes.items() if len(values) > 1]
    numbers = [name for name in several if _numbers(axes[name]) is not None]
    return next(iter([*numbers, *several, *axes]))


def _numbers(values: Sequence[Any]) -> Array | None:
    """None, if one is no number."""
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return np.array(values, dtype=float)
    return None


def _ordered(results: Results, table: Array, names: Sequence[str]) -> Any:
    """With its axes in that order."""
    order = list(results.grid.axes)
    return np.transpose(table, [order.index(name) for name in names])


def _has_failed(results: Results) -> Any:
    return np.array([status != "done" for status in results.statuses]).reshape(results.grid.shape)


def _draw(axes: Axes, results: Results, along: str, lines: list[str], table: Array, failed: Any) -> None:
    values = results.grid.axes[along]
    numbers = _numbers(values)
    x = np.arange(len(values), dtype=float) if numbers is None else numbers
    order = np.argsort(x)
    for i in range(len(results.grid.axes[lines[0]]) if lines else 1):
        y, bad = (table[i], failed[i]) if lines else (table, failed)
        colour = COLOURS[i % len(COLOURS)]
        # Thinner from line to line, so that equal ones show each other; crosses of the same cells below each other.
        thin = 1.0 - i / max(len(table) - 1, 1) if lines else 0.0
        axes.plot(x[order], y[order], color=colour, lw=1.2 + thin, marker="o", ms=3.5 + 2 * thin, zorder=3 + i)
        marks = np.full(int(bad.sum()), 0.98 - 0.06 * (i % 8))
        axes.plot(x[bad], marks, "x", color=colour, ms=6, mew=1.6, transform=axes.get_xaxis_transform(), zorder=20)
    if numbers is None:
        axes.set_xticks(x, [literal(shown(along, value)) for value in values], fontsize=SMALL)
        axes.margins(x=0.15)
    elif x.min() > 0.0 and x.max() >= LOGARITHMIC * x.min():
        axes.set_xscale("log")
        _tick_at(axes, along, values)
    elif len(values) <= 8:
        _tick_at(axes, along, values)


def _tick_at(axes: Axes, along: str, values: Sequence[Any]) -> None:
    """At the values themselves, if they are few."""
    if len(values) > 8:
        return
    axes.xaxis.set_major_locator(FixedLocator([float(value) for value in values]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks([float(value) for value in values], [short_number(float(value)) for value in values])


def _legend(figure: Figure, results: Results, lines: list[str]) -> None:
    handles: list[Line2D] = []
    if lines:
        for i in range(len(results.grid.axes[lines[0]])):
            label = literal(_told(results, lines[0], i))
            handles.append(Line2D([], [], color=COLOURS[i % len(COLOURS)], marker="o", ms=4, lw=1.4, label=label))
    if set(results.statuses) != {"done"}:
        handles.append(Line2D([], [], color=GREY, marker="x", ls="", ms=6, mew=1.6, label=_crosses(results)))
    if handles:
        columns = min(len(handles), 5)
        figure.legend(handles=handles, frameon=False, fontsize=SMALL, ncols=columns, loc="outside lower left")


def _crosses(results: Results) -> str:
    """What the crosses in a figure stand for."""
    return ", ".join(dict.fromkeys(status for status in results.statuses if status != "done"))


def _told(results: Results, name: str, number: int) -> str:
    return f"{name.replace('_', ' ')} {shown(name, results.grid.axes[name][number])}"


def _name(results: Results) -> str:
    summary = next((record["summary"] for record in results.records if record and "summary" in record), None)
    if summary is None:
        return results.grid.scenario
    return str(summary["scenario"]) + ("" if "robot" in results.grid.axes else f", {summary['robot']}")
