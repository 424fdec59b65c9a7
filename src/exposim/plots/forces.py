"""What the ground did to the robot."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.plots.style import BLACK, BLUE, GREEN, NORMAL, SMALL, VERMILION, name_panel, over_time, panels, title
from exposim.scenarios.measures import forces_by_direction
from exposim.simulation.header import ContactColumn
from exposim.simulation.trajectory import Trajectory, as_trajectory

SLIPPING = "#F7D9C4"
# How events are marked, and their names in the legend: landings and lift-offs below the forces, slips above them.
MARKS: dict[str, tuple[str, dict[str, Any]]] = {
    "land": ("lands", {"marker": "v", "color": GREEN, "ms": 4.5, "mew": 0.0}),
    "lift": ("lifts", {"marker": "^", "color": GREEN, "ms": 4.0, "mew": 0.8, "mfc": "white"}),
    "slip": ("slips", {"marker": "|", "color": VERMILION, "ms": 6.0, "mew": 1.0}),
    "stick": ("sticks", {"marker": "|", "color": BLUE, "ms": 6.0, "mew": 1.0}),
}
LOW, HIGH = 0.03, 0.985  # of the panel: where they stand
# A contact with more of one kind than this gets none of it: they would be one line.
MOST_MARKS = 80
IN_A_ROW = 6  # of the legend
# Impacts above this many times what a contact usually carries leave the panel; the highest is written above it.
IMPACT = 2.5
# Up to so many contacts are drawn whether they press or not; of others that do, so many; and side by side.
FEW, MOST, BESIDE = 8, 24, 6


def forces(trajectory: Trajectory | str | PathLike[str]) -> Figure | None:
    """Normal and tangential force of every contact over time, the friction limit μλ_n, and where it slips.

    Marks tell when a contact lands, lifts, slips and sticks again, unless a contact has more than 80 of a kind.
    Contact points of one foot are below each other. Contacts that never press are left out if there are more than
    eight, and of more than 24 those that press least. ``None`` for a robot without contacts.

    Args:
        trajectory: What to show, or its file.
    """
    trajectory = as_trajectory(trajectory)
    contacts = trajectory.contacts
    if not contacts:
        return None
    normal, tangential = forces_by_direction(trajectory)
    shown = _shown(normal)
    layout = _layout([contacts[i].frame for i in shown])
    rows, columns = layout.shape
    figure, axes = panels(rows, columns, 2.1 if rows < 3 else 1.45, sharex=True, sharey=True)
    top = _ceiling(normal, trajectory)
    marks = _marks(trajectory)
    for panel, i in zip(axes.flat, layout.flat, strict=True):
        if i < 0:
            panel.set_axis_off()
            continue
        k = shown[i]
        _draw(panel, trajectory, k, normal[:, k], tangential[:, k], top)
        _draw_marks(panel, marks.get(k, {}))
    drawn = {kind for k in shown for kind in marks.get(k, {})}
    axes.flat[0].set_ylim((-0.1 if drawn & {"land", "lift"} else -0.03) * top, top)
    for panel in axes[:, 0]:
        panel.set_ylabel("force [N]", fontsize=NORMAL)
    over_time(axes, trajectory)
    _legend(figure, contacts, [kind for kind in MARKS if kind in drawn])
    some = "" if len(shown) == len(contacts) else f" (of {len(shown)} of {len(contacts)} contacts)"
    title(figure, trajectory, f"Contact forces{some}")
    return figure


def _draw(axes: Axes, trajectory: Trajectory, i: int, normal: Array, tangential: Array, top: float) -> None:
    t, contact = trajectory.t, trajectory.contacts[i]
    slips = trajectory.slipping[:, i] & trajectory.active[:, i] & (normal > 0.0)
    axes.fill_between(
        t, 0.0, 1.0, where=_with_next(slips), transform=axes.get_xaxis_transform(), color=SLIPPING, lw=0, zorder=0
    )
    axes.plot(t, normal, color=BLUE, lw=1.2)
    axes.plot(t, tangential, color=VERMILION, lw=1.2)
    if contact.friction is not None and contact.friction != 1.0:
        axes.plot(t, contact.friction * normal, color=BLACK, lw=0.7, ls=(0, (4, 2)))
    peak = int(np.argmax(np.nan_to_num(normal, nan=-np.inf)))
    if normal[peak] > top:
        axes.set_title(f"peak {_newtons(normal[peak])}", loc="right", fontsize=SMALL, color=BLUE)
    name_panel(axes, contact.name)


def _marks(trajectory: Trajectory) -> dict[int, dict[str, Array]]:
    """Times of the events of each contact by their kind, where there are not too many."""
    if not trajectory.has_events:
        return {}
    events = trajectory.events.select(kind=MARKS)
    found: dict[int, dict[str, Array]] = {}
    for k in np.unique(events.index).tolist():
        kinds, times = events.kind[events.index == k], events.t[events.index == k]
        of_kind = {kind: times[kinds == kind] for kind in MARKS}
        found[k] = {kind: each for kind, each in of_kind.items() if 0 < len(each) <= MOST_MARKS}
    return found


def _draw_marks(axes: Axes, marks: dict[str, Array]) -> None:
    for kind, times in marks.items():
        at = np.full(len(times), LOW if kind in ("land", "lift") else HIGH)
        look = MARKS[kind][1]
        axes.plot(times, at, ls="none", transform=axes.get_xaxis_transform(), clip_on=False, zorder=5, **look)


def _legend(figure: Figure, contacts: tuple[ContactColumn, ...], marked: list[str]) -> None:
    frictions = {contact.friction for contact in contacts}
    handles: list[Any] = [
        Line2D([], [], color=BLUE, lw=1.2, label="normal λₙ" + (" (= μλₙ)" if frictions == {1.0} else "")),
        Line2D([], [], color=VERMILION, lw=1.2, label="tangential ‖λₜ‖"),
    ]
    if frictions - {None, 1.0}:
        mu = f", μ = {next(iter(frictions)):g}" if len(frictions) == 1 else ""
        handles.append(Line2D([], [], color=BLACK, lw=0.8, ls=(0, (4, 2)), label=f"friction limit μλₙ{mu}"))
    handles.append(Patch(color=SLIPPING, lw=0, label="slipping"))
    handles += [Line2D([], [], ls="none", label=name, **look) for name, look in (MARKS[kind] for kind in marked)]
    columns = len(handles) if len(handles) <= IN_A_ROW else (len(handles) + 1) // 2
    figure.legend(handles=handles, frameon=False, fontsize=SMALL, ncols=columns, loc="outside lower left")


def _ceiling(normal: Array, trajectory: Trajectory) -> float:
    """Top of the panels [N]."""
    pressing = normal[np.isfinite(normal) & (normal > 0.0)]
    if pressing.size == 0:
        return 1.0
    usual = float(np.quantile(pressing, 0.9 if trajectory.outcome.diverged_at is None else 0.5))
    return min(1.08 * float(pressing.max()), IMPACT * usual)


def _newtons(force: float) -> str:
    return (
        f"{force:.3g} N" if force < 999.5 else f"{force / 1e3:.3g} kN" if force < 999.5e3 else f"{force / 1e6:,.3g} MN"
    )


def _shown(normal: Array) -> list[int]:
    """Which contacts are drawn, in their order."""
    if normal.shape[1] <= FEW:
        return list(range(normal.shape[1]))
    pressed = np.nan_to_num(np.maximum(normal, 0.0)).sum(axis=0)
    most = np.argsort(-pressed, kind="stable")[:MOST]
    return sorted(int(i) for i in most if pressed[i] > 0.0) or list(range(FEW))


def _layout(frames: list[str]) -> NDArray[np.int64]:
    """Which contact goes where, -1 for none: one column per foot if few feet have several points, else two or four."""
    feet = list(dict.fromkeys(frames))
    if len(feet) in (1, len(frames)) or len(feet) > BESIDE:
        columns = 1 if len(frames) == 1 else 2 if len(frames) <= FEW else 4
        rows = -(-len(frames) // columns)
        cells = np.full(rows * columns, -1)
        cells[: len(frames)] = np.arange(len(frames))
        return cells.reshape(rows, columns)
    points = [[i for i, frame in enumerate(frames) if frame == foot] for foot in feet]
    cells = np.full((max(map(len, points)), len(feet)), -1)
    for column, own in enumerate(points):
        cells[: len(own), column] = own
    return cells


def _with_next(holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Also the instant after each stretch, so that a single one has a width."""
    longer: NDArray[np.bool_] = holds | np.concatenate([[False], holds[:-1]])
    return longer
