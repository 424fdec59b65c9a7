"""Several runs of one scenario, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.plots.style import COLOURS, SMALL, literal, name_panel, panels, title
from exposim.scenarios.measures import forces_by_direction, has_floating_base
from exposim.simulation.trajectory import Trajectory, as_trajectory

LINES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)))
FORCE_OF_INTEREST = 10.0  # [N] below which forces are shown linearly at the most
WORTH_SHOWING = 0.05  # [m] of way along the ground


@dataclass(frozen=True)
class _Panel:
    name: str
    values: Mapping[str, Array]
    logarithmic: bool = False


def comparison(trajectories: Mapping[str, Trajectory | str | PathLike[str]]) -> Figure:
    """Height and way of the base (or the joint that moves most) and the sum of the normal forces, over time.

    What diverged ends with a cross.

    Args:
        trajectories: Of one scenario, or their files, by label.
    """
    if not isinstance(trajectories, Mapping) or not trajectories:
        raise InvalidArgument(f"trajectories is {trajectories!r}; give a mapping from labels to trajectories")
    return _comparison({name: as_trajectory(each) for name, each in trajectories.items()})


def _comparison(trajectories: Mapping[str, Trajectory]) -> Figure:
    first = next(iter(trajectories.values()))
    shown = _positions(trajectories)
    if first.contact_names:
        sums = {name: forces_by_direction(each)[0].sum(axis=1) for name, each in trajectories.items()}
        shown.append(_Panel("sum of the normal forces [N]", sums, logarithmic=True))
    figure, axes = panels(len(shown), 1, 2.1, sharex=True)
    for panel, content in zip(axes[:, 0], shown, strict=True):
        _draw(panel, content, trajectories)
    axes[-1, 0].set_xlabel("time [s]")
    start, end = float(first.t[0]), max(float(each.t[-1]) for each in trajectories.values())
    axes[-1, 0].set_xlim(start, end if end > start else start + first.settings.dt)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, fontsize=SMALL, ncols=min(len(labels), 4), loc="outside lower left")
    diverged = any(_diverged(each) for each in trajectories.values())
    title(figure, first, "Comparison" + (" (× = diverged)" if diverged else ""))
    return figure


def _positions(trajectories: Mapping[str, Trajectory]) -> list[_Panel]:
    first = next(iter(trajectories.values()))
    if not has_floating_base(first):
        most = int(np.argmax(np.ptp(first.q, axis=0)))
        name = first.columns.q[most]
        return [_Panel(f"position of {name} [rad or m]", {key: each.q[:, most] for key, each in trajectories.items()})]
    shown = [_Panel("height of the base [m]", {name: each.q[:, 2] for name, each in trajectories.items()})]
    way = {name: each.q[:, 0] - each.q[0, 0] for name, each in trajectories.items()}
    steady = [np.ptp(way[name]) for name, each in trajectories.items() if not _diverged(each)]
    if steady and max(steady) > WORTH_SHOWING:
        shown.append(_Panel("way forward of the base [m]", way))
    return shown


def _draw(axes: Axes, content: _Panel, trajectories: Mapping[str, Trajectory]) -> None:
    low, high = _limits(content, trajectories)
    for i, (name, trajectory) in enumerate(trajectories.items()):
        colour, values = COLOURS[i % len(COLOURS)], content.values[name]
        # Thinner from run to run, so that equal curves show each other.
        width = 1.0 + 1.6 * (1.0 - i / max(len(trajectories) - 1, 1))
        axes.plot(
            trajectory.t, values, color=colour, lw=width, ls=LINES[i % len(LINES)], label=literal(name), zorder=3 + i
        )
        if _diverged(trajectory):
            at = float(np.clip(np.nan_to_num(values[-1]), low, high))
            axes.plot(trajectory.t[-1], at, "x", color=colour, ms=8, mew=2, clip_on=False, zorder=20)
    if content.logarithmic:
        axes.set_yscale("symlog", linthresh=min(FORCE_OF_INTEREST, max(high, 1e-9) / 10.0))
    axes.set_ylim(low, high)
    name_panel(axes, content.name)


def _limits(content: _Panel, trajectories: Mapping[str, Trajectory]) -> tuple[float, float]:
    """That show all of the runs that did not diverge, and a little more."""
    stable = [content.values[name] for name, each in trajectories.items() if not _diverged(each)]
    every = np.concatenate(stable or [values[: max(1, 3 * len(values) // 4)] for values in content.values.values()])
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    if content.logarithmic:
        return min(0.0, low), 1.5 * max(high, 1.0)
    margin = 0.08 * max(high - low, 1e-3)
    return low - margin, high + margin


def _diverged(trajectory: Trajectory) -> bool:
    return trajectory.outcome.diverged_at is not None
