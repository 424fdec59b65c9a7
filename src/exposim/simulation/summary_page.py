"""A trajectory for notebooks: a small table and a small picture, without scripts."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array

if TYPE_CHECKING:
    from exposim.simulation.trajectory import Trajectory

WIDTH, HEIGHT, GAP = 420, 60, 16  # [px] of a panel, and above it
MOST_POINTS = 300  # of a line
MOST_MARKS = 200  # of events; more are no marks
BLUE, GREY = "#0072B2", "#999999"


def page_of(trajectory: Trajectory) -> str:
    """A table of what, how long, outcome and events, and lines over time."""
    rows = "".join(
        f'<tr><th style="text-align:left">{name}</th><td style="text-align:left">{html.escape(told)}</td></tr>'
        for name, told in _told(trajectory).items()
    )
    return f"<div><table>{rows}</table>{_picture(trajectory)}</div>"


def _told(trajectory: Trajectory) -> dict[str, str]:
    settings, outcome, t = trajectory.settings, trajectory.outcome, trajectory.t
    steps = f"{outcome.steps} steps of {1e3 * settings.step:g} ms"
    if settings.accuracy is not None:
        steps = f"{outcome.steps} steps by accuracy {settings.accuracy:g}"
    elif settings.scenario.is_loop:
        steps = f"{outcome.steps} steps"
    instants = f"{len(trajectory)} instants"
    if trajectory.resampled is not None:
        instants += f", resampled every {1e3 * trajectory.resampled:g} ms"
    ended = "finished" if outcome.finished else "not finished"
    if outcome.diverged_at is not None:
        ended = f"diverged at {outcome.diverged_at:.4g} s"
    return {
        "trajectory": f"{settings.scenario.name}, {settings.robot.name}",
        "time": f"{t[0]:g} to {t[-1]:g} s, {instants}",
        "steps": f"{type(settings.integrator).__name__}, {steps}",
        "outcome": ended,
        "events": _events(trajectory),
    }


def _events(trajectory: Trajectory) -> str:
    if not trajectory.has_events:
        return "not recorded"
    return ", ".join(f"{n} {kind}" for kind, n in trajectory.events.counts.items()) or "none"


def _picture(trajectory: Trajectory) -> str:
    """Height of a free base, or the joint that moves most, and the sum of the contact forces; ticks where feet land."""
    t = trajectory.t
    if len(t) < 2 or not np.isfinite(trajectory.q).all():
        return ""
    shown: list[tuple[str, Array]] = []
    if trajectory.settings.robot.floating_base:
        shown.append(("height of the base [m]", trajectory.q[:, 2]))
    elif trajectory.q.shape[1]:
        most = int(np.argmax(np.ptp(trajectory.q, axis=0)))
        shown.append((f"{trajectory.columns.q[most]} [rad or m]", trajectory.q[:, most]))
    if trajectory.contacts:
        shown.append(("sum of contact forces [N]", np.linalg.norm(trajectory.force.sum(axis=1), axis=1)))
    lines = [_panel(name, t, np.nan_to_num(values), GAP + i * (HEIGHT + GAP)) for i, (name, values) in enumerate(shown)]
    height = len(shown) * (HEIGHT + GAP) + 4
    marks = _marks(trajectory, height)
    style = 'style="background:white;font:11px sans-serif"'
    return f'<svg width="{WIDTH}" height="{height}" {style}>{marks}{"".join(lines)}</svg>'


def _panel(name: str, t: Array, values: Array, top: int) -> str:
    low, high = float(values.min()), float(values.max())
    chosen = _outline(values)
    x = (t[chosen] - t[0]) / (t[-1] - t[0]) * WIDTH
    y = top + HEIGHT * (1.0 - (values[chosen] - low) / max(high - low, 1e-9))
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    label = html.escape(f"{name}: {low:.3g} … {high:.3g}")
    return (
        f'<text x="0" y="{top - 4}">{label}</text>'
        f'<polyline points="{points}" fill="none" stroke="{BLUE}" stroke-width="1.2"/>'
    )


def _outline(values: Array) -> NDArray[np.int_]:
    """Numbers of so few values that a line can be drawn through them, smallest and largest of each stretch."""
    if len(values) <= MOST_POINTS:
        return np.arange(len(values))
    stretches = np.array_split(np.arange(len(values)), MOST_POINTS // 2)
    ends = [(part[np.argmin(values[part])], part[np.argmax(values[part])]) for part in stretches]
    return np.unique(ends)


def _marks(trajectory: Trajectory, height: int) -> str:
    landings = trajectory.events.select(kind="land").t if trajectory.has_events else np.zeros(0)
    if len(landings) > MOST_MARKS:
        return ""
    t = trajectory.t
    x = (landings - t[0]) / (t[-1] - t[0]) * WIDTH
    return "".join(
        f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{GAP}" y2="{height - 4}" stroke="{GREY}" stroke-width="0.5"/>'
        for at in x
    )
