"""Where the robot went."""

from __future__ import annotations

from os import PathLike

import numpy as np
import pinocchio as pin
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from exposim._checks import Array
from exposim.plots.joints import Grouping, draw_groups
from exposim.plots.style import BLUE, COLOURS, SMALL, bounds, name_panel, over_time, panels, title
from exposim.robots.robot import Robot
from exposim.scenarios.measures import flights, has_floating_base, roll_pitch_yaw
from exposim.simulation.trajectory import Trajectory, as_trajectory


def motion(trajectory: Trajectory | str | PathLike[str], robot: Robot | None = None) -> Figure:
    """Position, attitude and velocity of the base over time; of a robot with a fixed base, its joints.

    Args:
        trajectory: What to show, or its file.
        robot: Groups the joints by limbs; without it they are grouped as they come.
    """
    trajectory = as_trajectory(trajectory)
    return _base(trajectory) if has_floating_base(trajectory) else _joints(trajectory, robot)


def _base(trajectory: Trajectory) -> Figure:
    figure, axes = panels(2, 2, 2.1, sharex=True)
    position = trajectory.q[:, :3]
    moved = position[:, :2] - position[0, :2]
    angles = np.degrees(np.unwrap(roll_pitch_yaw(trajectory), axis=0))
    velocity = np.array(
        [
            pin.Quaternion(q).toRotationMatrix() @ v
            for q, v in zip(trajectory.q[:, 3:7], trajectory.v[:, :3], strict=True)
        ]
    )
    _draw(axes[0, 0], trajectory, position[:, 2:], ("z",), "height of the base [m]", 0.01)
    _draw(axes[0, 1], trajectory, moved, ("x", "y"), "way along the ground [m]", 0.01)
    _draw(axes[1, 0], trajectory, angles, ("roll", "pitch", "yaw"), "attitude [°]", 1.0)
    _draw(axes[1, 1], trajectory, velocity, ("x", "y", "z"), "velocity in world axes [m/s]", 0.05)
    in_flight = [span for span in flights(trajectory) if span[1] > span[0]]
    for each in axes.flat:
        for start, end in in_flight:
            each.axvspan(start, end, color="0.93", lw=0, zorder=0)
    over_time(axes, trajectory)
    title(figure, trajectory, "Motion of the base" + (" (grey: no contact)" if in_flight else ""))
    return figure


def _draw(
    axes: Axes, trajectory: Trajectory, values: Array, labels: tuple[str, ...], name: str, least_span: float
) -> None:
    for column, label, colour in zip(values.T, labels, COLOURS, strict=False):
        axes.plot(trajectory.t, column, color=BLUE if len(labels) == 1 else colour, lw=1.3, label=label)
    axes.set_ylim(*bounds(values, trajectory, least_span=least_span))
    name_panel(axes, name)
    if len(labels) > 1:
        axes.legend(
            frameon=False,
            fontsize=SMALL,
            ncols=len(labels),
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            borderpad=0.0,
            handlelength=1.2,
            columnspacing=1.0,
        )


def _joints(trajectory: Trajectory, robot: Robot | None) -> Figure:
    names = trajectory.columns.q
    groups = Grouping.of(names, robot)
    figure = draw_groups(trajectory, trajectory.q, groups, "position [rad or m]", held=False)
    title(figure, trajectory, "Motion of the joints")
    return figure
