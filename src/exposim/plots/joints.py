"""Many joints in few panels: one for each limb."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np
from matplotlib.figure import Figure

from exposim._checks import Array
from exposim.plots.style import COLOURS, NORMAL, SMALL, bounds, literal, name_panel, over_time, panels, title
from exposim.robots.robot import Robot
from exposim.simulation.trajectory import Trajectory, as_trajectory

MOST = len(COLOURS)  # lines in one panel
FEW = 3  # joints that hardly make a limb: put together with other such


@dataclass(frozen=True)
class Grouping:
    """Which columns go into one panel.

    Args:
        columns: Of the array.
        labels: Of each, without what all have in common.
        name: What they have in common, or the first and the last.
    """

    columns: tuple[int, ...]
    labels: tuple[str, ...]
    name: str

    @classmethod
    def of(cls, names: Sequence[str], robot: Robot | None) -> list[Grouping]:
        """One group for each limb of the robot, or for every few columns if it is not known."""
        limbs = _in_pieces(range(len(names))) if robot is None else _limbs(names, robot)
        return [cls._named(limb, names) for limb in limbs]

    @classmethod
    def _named(cls, columns: tuple[int, ...], names: Sequence[str]) -> Grouping:
        own = [names[i] for i in columns]
        common = _common_words(own) if len(own) > 1 else ""
        labels = tuple(name.removeprefix(common).removesuffix("_joint") for name in own)
        shown = common.strip("_") or (own[0] if len(own) == 1 else f"{labels[0]} … {labels[-1]}")
        return cls(columns, labels, shown)


def _common_words(names: Sequence[str]) -> str:
    """What all names begin with, up to an underscore."""
    first, last = min(names), max(names)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[: first.rfind("_", 0, same) + 1]


def torques(trajectory: Trajectory | str | PathLike[str], robot: Robot | None = None) -> Figure | None:
    """What the motor of every actuated joint gave over time, one panel for each limb; ``None`` without actuated joints.

    Args:
        trajectory: What to show, or its file.
        robot: Tells the limbs; without it joints are grouped as they come.
    """
    trajectory = as_trajectory(trajectory)
    names = trajectory.columns.tau
    if not names:
        return None
    sliding = robot is not None and any(joint.shortname().startswith("JointModelP") for joint in robot.model.joints)
    unit = "torque or force [N·m, N]" if sliding else "torque [N·m]"
    given = np.vstack([trajectory.torque[1:], trajectory.torque[-1:]])  # from each instant on
    figure = draw_groups(trajectory, given, Grouping.of(names, robot), unit, held=True)
    title(figure, trajectory, "Joint torques")
    return figure


def draw_groups(trajectory: Trajectory, values: Array, groups: Sequence[Grouping], unit: str, *, held: bool) -> Figure:
    """One panel per group, all over the same time.

    Args:
        trajectory: That the values are of.
        values: One column per joint, (n, m).
        groups: What goes together.
        unit: Label of the vertical axes.
        held: Whether values are held from each instant on, rather than moving.
    """
    columns = 1 if len(groups) == 1 else 2
    rows = -(-len(groups) // columns)
    figure, axes = panels(rows, columns, 2.4 if rows == 1 else 1.75, sharex=True)
    alike = len({group.labels for group in groups}) == 1
    for panel, group in zip(axes.flat, groups, strict=False):
        shown = values[:, list(group.columns)]
        for column, label, colour in zip(shown.T, group.labels, COLOURS, strict=False):
            style = "steps-post" if held else "default"
            panel.plot(trajectory.t, column, color=colour, lw=1.1, label=literal(label), drawstyle=style)
        panel.set_ylim(*bounds(shown, trajectory, least_span=1e-3))
        name_panel(panel, group.name)
        if not alike and len(group.labels) > 1:
            panel.legend(
                frameon=False,
                fontsize=SMALL - 1.0,
                loc="center left",
                bbox_to_anchor=(1.0, 0.5),
                handlelength=1.0,
                labelspacing=0.25,
            )
    for panel in axes.flat[len(groups) :]:
        panel.set_axis_off()
    for panel in axes[:, 0]:
        panel.set_ylabel(unit, fontsize=NORMAL)
    figure.align_ylabels(axes[:, 0])
    over_time(axes, trajectory)
    if columns > 1 and len(groups) % columns:  # the panel above the empty one has the last time axis of its column
        axes[-2, -1].tick_params(labelbottom=True)
    if alike and len(groups[0].labels) > 1:
        handles, labels = axes.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, frameon=False, fontsize=SMALL, ncols=len(labels), loc="outside lower left")
    return figure


def _limbs(names: Sequence[str], robot: Robot) -> list[tuple[int, ...]]:
    """Columns of each unbranched chain of joints; chains of very few joints are put together."""
    model = robot.model
    chain_of: dict[int, int] = {}
    children = np.bincount(model.parents[1:], minlength=model.njoints)
    for joint in range(1, model.njoints):
        parent = model.parents[joint]
        begins = parent == 0 or children[parent] > 1
        chain_of[joint] = joint if begins else chain_of[parent]
    chains: dict[int, list[int]] = {}
    for column, name in enumerate(names):
        stem = name if model.existJointName(name) else name.rpartition("_")[0]
        if not model.existJointName(stem):
            return _in_pieces(range(len(names)))
        chains.setdefault(chain_of[model.getJointId(stem)], []).append(column)
    limbs = [chain for chain in chains.values() if len(chain) >= FEW]
    rest = [column for chain in chains.values() if len(chain) < FEW for column in chain]
    if rest and limbs and len(rest) < FEW and len(rest) + min(map(len, limbs)) <= MOST:
        rest += limbs.pop(int(np.argmin([len(limb) for limb in limbs])))  # a trunk goes with its head
    return [piece for chain in (*limbs, sorted(rest)) for piece in _in_pieces(chain)]


def _in_pieces(columns: Sequence[int]) -> list[tuple[int, ...]]:
    """As few pieces of at most MOST columns as there can be, of about the same size."""
    count = -(-len(columns) // MOST)
    return [tuple(int(i) for i in piece) for piece in np.array_split(np.array(columns, int), count)] if count else []
