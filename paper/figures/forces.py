"""Figures of the experiment on contact forces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paper.figures.style import (
    BLACK,
    BLUE,
    COLUMN,
    GREY,
    ORANGE,
    PAGE,
    SMALL,
    VERMILION,
    colour_of,
    legend,
    logarithmic,
    name_panel,
    panels,
)
from paper.measure.variants import AVERAGED, OURS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figures(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """One per table that has rows."""
    drawings = {
        "force_prediction": prediction,
        "force_jump": jump,
        "touchdown": touchdown,
        "foot_force": foot_force,
        "slip_decay": slip_decay,
    }
    return {
        name: draw(tables[name])
        for name, draw in drawings.items()
        if tables.get(name) is not None and not tables[name].empty
    }


def prediction(table: pd.DataFrame) -> Figure:
    """One foot, predicted and true, of each case."""
    cases = list(dict.fromkeys(table["case"]))
    figure, axes = panels(len(cases), 1, COLUMN, 1.7 * len(cases) + 0.3, sharex=True)
    for panel, case in zip(axes[:, 0], cases, strict=True):
        rows = table[(table["case"] == case) & (table["foot"] == table["foot"].iloc[0])]
        panel.plot(1e3 * rows["t"], rows["true"], color=BLACK, lw=2.2, label="simulated at 1/256 ms")
        panel.plot(1e3 * rows["t"], rows["predicted"], "--", color=BLUE, lw=1.4, label="predicted at t = 0")
        panel.set_ylabel("normal force [N]")
        panel.set_ylim(min(0.0, float(np.nanmin(rows["predicted"]))), None)
        name_panel(panel, f"{rows['foot'].iloc[0]}, {case}")
    legend(axes[0, 0])
    axes[-1, 0].set_xlabel("time [ms]")
    return figure


def jump(table: pd.DataFrame) -> Figure:
    """Force at touchdown against speed."""
    figure, axes = panels(1, 1, COLUMN, 2.5)
    panel = axes[0, 0]
    logarithmic(panel)
    theory = table.drop_duplicates("speed").sort_values("speed")
    panel.plot(theory["speed"], theory["theory"], color=GREY, lw=1.0, label="B·v")
    for dt, colour in zip(sorted(set(table["dt"])), (BLUE, ORANGE, VERMILION), strict=False):
        rows = table[table["dt"] == dt].groupby("speed", as_index=False)["force"].mean()
        late = f"1/{round(1e-3 / dt)}" if dt < 1e-3 else f"{1e3 * dt:g}"
        panel.plot(rows["speed"], rows["force"], "o", color=colour, ms=4, label=f"noticed {late} ms late")
    _label_speeds(panel, table)
    panel.set_ylabel("first normal force [N]")
    legend(panel)
    return figure


def touchdown(table: pd.DataFrame) -> Figure:
    """Force at the end of the step of a touchdown, against speed."""
    figure, axes = panels(1, 1, COLUMN, 2.5)
    panel = axes[0, 0]
    logarithmic(panel)
    mean = table.groupby(["variant", "speed"], as_index=False)[["force", "true"]].mean()
    true = mean.drop_duplicates("speed").sort_values("speed")
    panel.plot(true["speed"], true["true"], color=GREY, lw=1.0, label="simulated at 1/2048 ms")
    for label, marker in ((OURS, "o"), (AVERAGED, "s")):
        rows, filled = mean[mean["variant"] == label], label == OURS
        colour = colour_of(label)
        look = {"color": colour, "ms": 4.5, "mfc": colour if filled else "none"}
        panel.plot(rows["speed"], rows["force"], marker, label=f"{label}, {1e3 * table['dt'].iloc[0]:g} ms", **look)
    _label_speeds(panel, table)
    panel.set_ylabel(f"normal force after {1e3 * table['dt'].iloc[0]:g} ms [N]")
    legend(panel)
    return figure


def _label_speeds(panel: Axes, table: pd.DataFrame) -> None:
    speeds = sorted(set(table["speed"]))
    panel.set_xticks(speeds, [f"{speed:g}" for speed in speeds])
    panel.minorticks_off()
    panel.set_xlabel("speed of the foot at touchdown [m/s]")


def foot_force(table: pd.DataFrame) -> Figure:
    """Normal force over time, and its jump where a foot lands; a row for each motion."""
    names = list(dict.fromkeys(table["scenario"]))
    figure, axes = panels(len(names), 2, PAGE, 1.9 * len(names) + 0.2, width_ratios=(3, 1), sharey="row")
    for (panel, detail), name in zip(axes, names, strict=True):
        rows = table[table["scenario"] == name]
        contacts = dict.fromkeys(rows["contact"])
        soles = [contact for contact in contacts if "corner" not in contact]
        shown = soles + [contact for contact in contacts if contact == f"{soles[-1]}, one corner"]
        touchdown = _first_touchdown(rows[rows["contact"] == soles[-1]])
        span = 5.0 if len(soles) == 1 else 100.0  # a sole rocks on its corners for a while
        for contact, colour in zip(shown, (BLUE, VERMILION, GREY), strict=False):
            curve = rows[rows["contact"] == contact]
            panel.plot(curve["t"], curve["normal"], color=colour, lw=0.9, label=contact)
            detail.plot(1e3 * (curve["t"] - touchdown), curve["normal"], color=colour, lw=0.9)
        panel.set_ylim(0.0, 1.1 * max(1.0, float(rows["normal"].max())))
        panel.set_xlim(rows["t"].min(), rows["t"].max())
        detail.set_xlim(-0.2 * span, span)
        panel.set_ylabel("normal force [N]")
        name_panel(panel, name)
        name_panel(detail, "touchdown")
        legend(panel, loc="lower right", bbox_to_anchor=(1.0, 0.97), ncols=3)
    axes[-1, 0].set_xlabel("time [s]")
    axes[-1, 1].set_xlabel("since touchdown [ms]")
    return figure


def slip_decay(table: pd.DataFrame) -> Figure:
    """What is left of the difference of velocities, over the time since slipping starts."""
    figure, axes = panels(1, 1, COLUMN, 2.5)
    panel = axes[0, 0]
    continuous = table[table["law"] == "continuous law"]
    for (rate, rows), colour in zip(continuous.groupby("K/B", sort=False), (BLUE, VERMILION), strict=False):
        panel.plot(1e3 * rows["t"], rows["fraction"], color=colour, lw=1.6, label=f"the law, K/B = {rate:.0f}/s")
        left = rows[rows["fraction"] <= 0.05]
        if not left.empty:
            t = 1e3 * float(left["t"].iloc[0])
            panel.plot(t, 0.05, "o", color=colour, ms=4)
            panel.annotate(
                f"5 % after {t:.1f} ms", (t, 0.0), (0, -12), ha="center", textcoords="offset points", fontsize=SMALL
            )
    own = table[(table["law"] == "exposim") & (table["K/B"] == table["K/B"].iloc[0])]
    panel.plot(1e3 * own["t"], own["fraction"], ":", color=BLACK, lw=1.6, label="exposim: zero at once")
    panel.set_xlim(0.0, 1e3 * float(table["t"].max()))
    panel.set_ylim(-0.14, 1.02)
    panel.set_xlabel("time since slipping starts [ms]")
    panel.set_ylabel("(ṗ₀ − ṗ) over its first value")
    legend(panel)
    return figure


def _first_touchdown(rows: pd.DataFrame) -> float:
    """When a contact first lands [s]."""
    t, force = rows["t"].to_numpy(), rows["normal"].to_numpy()
    lands = np.flatnonzero((force[:-1] <= 0.0) & (force[1:] > 0.0))
    return float(t[int(lands[0]) + 1] if lands.size else t[0])
