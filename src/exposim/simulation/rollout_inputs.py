"""What rows of a rollout start from and are given: checked, and broadcast without being copied out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument, StateMismatch
from exposim.robots.robot import Robot
from exposim.simulation.inputs import Inputs
from exposim.simulation.layout import Layout
from exposim.simulation.mismatch import refuse_layout
from exposim.simulation.state import State

# An array, and which of its entries belongs where.
Channel = tuple[Array, list[tuple[int, int]]]


def numbers(name: str, value: Any) -> Array:
    """As floats; those that are floats already are not copied."""
    if isinstance(value, np.ndarray) and value.dtype == np.float64 and value.flags.aligned:
        return value if all(stride % 8 == 0 for stride in value.strides) else value.copy()
    return _checks.as_array(name, value)


def flat_states(states: Any, layout: Layout, robot: Robot) -> Array:
    """Flat states, (N, size), of one state, several, or an array of flat ones.

    Raises:
        StateMismatch: Of states of another layout.
    """
    if isinstance(states, State):
        refuse_layout(states, layout, robot)
        return states._x[None]
    if isinstance(states, Sequence) and any(isinstance(each, State) for each in states):
        for each in states:
            refuse_layout(each, layout, robot)
        return np.stack([each._x for each in states])
    x = numbers("states", states)
    x = x[None] if x.ndim == 1 else x
    size = layout.size
    if x.ndim == 2 and x.shape[1] == size + len(layout.end) and (layout.nf or layout.nh):
        x = x[:, :size]  # as State.to_array has them, which also says what they are of
    if x.ndim != 2 or x.shape[1] != size or not len(x):
        raise StateMismatch(
            f"states has shape {x.shape}; give states of this simulator of {robot.name!r}, or their flat arrays, "
            f"(N, {size}), as pool.pack and pool.reset return them"
        )
    return x


@dataclass
class RowInputs:
    """What rows are given, before it is known how many there are.

    Args:
        steps: Of every row.
        rows: That are known to be: by name of the argument, how many.
    """

    steps: int
    rows: dict[str, int] = field(default_factory=dict)

    def series(self, name: str, value: Any) -> Array:
        """(rows or 1, steps or 1, n), of (n,), (steps, n), or (rows, steps, n), with 1 for what is held."""
        array = numbers(name, value)
        if array.ndim == 0 or array.ndim > 3 or array.shape[-1] == 0:
            raise InvalidArgument(f"{name} has shape {array.shape}; give (n,), (steps, n) or (rows, steps, n)")
        array = array[(None,) * (3 - array.ndim)]
        if array.shape[1] not in (1, self.steps):
            rows = f"; one for each row is (rows, 1, {array.shape[2]})" if array.shape[0] == 1 else ""
            raise InvalidArgument(
                f"{name} has shape {np.shape(value)}, of {array.shape[1]} steps; give {self.steps} (steps), or 1 for "
                f"what is held{rows}"
            )
        self.count(name, array.shape[0])
        return array

    def count(self, name: str, rows: int) -> None:
        """Takes note of how many rows an argument has."""
        if rows == 0:
            raise InvalidArgument(f"{name} has no rows; give at least one")
        if rows > 1:
            self.rows[name] = rows

    def number_of_rows(self) -> int:
        """That all arguments agree on."""
        counts = set(self.rows.values())
        if len(counts) > 1:
            said = ", ".join(f"{name} has {rows}" for name, rows in self.rows.items())
            raise InvalidArgument(f"there is more than one number of rows: {said}; give each as many, or 1 for all")
        return counts.pop() if counts else 1


def spread(array: Array, rows: int, steps: int) -> Array:
    """(rows, steps, n), without a copy."""
    return np.broadcast_to(array, (rows, steps, array.shape[2]))


def of_dofs(name: str, value: Any, inputs: Inputs, given: RowInputs) -> Channel | None:
    """Torques or velocities of all degrees of freedom, or of the actuated ones."""
    if value is None:
        return None
    array = given.series(name, value)
    return array, inputs.dof_entries(name, array.shape[2])


def of_targets(value: Any, robot: Robot, inputs: Inputs, given: RowInputs) -> Channel | None:
    """Configurations, or positions of the actuated degrees of freedom."""
    if value is None:
        return None
    inputs.refuse_without_drives("targets")
    array = given.series("targets", value)
    size, actuated = array.shape[2], len(robot.actuated_dofs)
    if size not in (robot.nq, actuated):
        raise InvalidArgument(
            f"targets has {size} entries; give {robot.nq} (nq of {robot.name}) "
            f"or {actuated} (one per actuated degree of freedom)"
        )
    entries = inputs.target_entries(size)
    if entries is not None:
        return array, entries
    # Joints that turn in circles or in space: each target becomes a configuration; there are as many as were given.
    whole = np.full((*array.shape[:2], robot.nq), np.nan)
    for at in np.ndindex(array.shape[:2]):
        if np.isfinite(array[at]).all():
            whole[at] = inputs.target(array[at])
    return whole, [(i, i) for i in range(robot.nq)]


def of_wrenches(value: Any, robot: Robot, given: RowInputs) -> list[tuple[int, Array, Array]]:
    """Joint, position in its frame, and forces and torques, by frame."""
    if value is None:
        return []
    if not isinstance(value, Mapping):
        raise InvalidArgument(f"wrenches is {value!r}; give a mapping from frame names to arrays of six numbers")
    found = []
    for frame, wrench in value.items():
        joint, placement = robot.locate(frame)
        array = given.series(f"wrenches[{frame!r}]", wrench)
        if array.shape[2] != 6:
            raise InvalidArgument(
                f"wrenches[{frame!r}] has {array.shape[2]} entries; give 6 (force, then torque, in world axes)"
            )
        found.append((joint, placement.translation, array))
    return found
