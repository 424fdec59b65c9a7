"""Instants of a simulator, kept one by one, and the trajectory that they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exposim._checks import Array
from exposim.simulation.event_table import event_arrays
from exposim.simulation.events import Event
from exposim.simulation.file_format import ARRAYS, FORMAT, FORMAT_VERSION, versions
from exposim.simulation.header import Columns, ContactColumn, Outcome
from exposim.simulation.observing import Taken
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import unpacked
from exposim.simulation.trajectory import Trajectory

_BESIDE = ("torque", "position", "normal", "force")  # what the core tells beside the state, in this order


class Given(NamedTuple):
    """What a robot is given, and held from an instant on.

    Args:
        tau: Torques of the actuated joints, (nu,).
        target: Of the drives, (nq,); ``None``: what they rest at.
        target_velocity: Likewise, (nv,); ``None``: at rest.
        wrenches: By frame name.
    """

    tau: Array
    target: Array | None = None
    target_velocity: Array | None = None
    wrenches: Mapping[str, ArrayLike] | None = None


class _Row(NamedTuple):
    """An instant, kept as one, so that an interruption leaves it whole or not at all.

    Args:
        record: The flat state with what is read beside it.
        velocities: Of the contact points, (nc, 3).
        steps: That led to it.
        size: Of each of them [s].
        events: That happened in them.
        given: From it on.
    """

    record: Array
    velocities: Array
    steps: int
    size: float
    events: Sequence[Event]
    given: Given


class Recording:
    """What a simulator went through, from the present instant on.

    Args:
        sim: That is recorded; at every call of :meth:`add` it is where the next instant is.
    """

    def __init__(self, sim: Simulator):
        self._sim = sim
        # As they are now: they may be changed later.
        self._robot, self._ground, self._rest, self._layout = sim.robot, sim._ground, sim._laws.rest, sim._layout
        self._contacts = [contact.describe() for contact in contacts_of(sim)]
        self._rows = [self._row(0, 0.0, (), Given(np.zeros(len(sim.robot.actuated_dofs))))]
        self._before: Mapping[str, NDArray[Any]] | None = None  # what was recorded by somebody else
        self._frames: dict[str, None] = {}  # that wrenches have acted at, in the order of the first

    @classmethod
    def after(cls, trajectory: Trajectory, sim: Simulator) -> Recording:
        """That goes on where a trajectory ended; the simulator is set to its last state."""
        sim.state = last = trajectory.state(-1)
        made = cls(sim)
        arrays = {name: getattr(trajectory, name) for name in ARRAYS}
        end = {name: array[-1] for name, array in arrays.items()}
        made._frames = dict.fromkeys(trajectory.columns.wrench)
        wrenches = dict(zip(made._frames, end["wrench"], strict=True))
        target, velocity = (None if each.size == 0 else each for each in (end["target"], end["target_velocity"]))
        record = np.concatenate([last._x, *(end[name].ravel() for name in _BESIDE)])
        given = Given(end["tau"], target, velocity, wrenches)
        made._rows = [_Row(record, end["velocity"], int(end["steps"]), float(end["step_size"]), (), given)]
        made._before = {name: array[:-1] for name, array in arrays.items()}
        made._before |= event_arrays(()) | trajectory._event_arrays()
        return made

    def __len__(self) -> int:
        """How many instants there are, which :meth:`cut` takes; without those of an earlier recording."""
        return len(self._rows)

    def cut(self, count: int) -> None:
        """Forgets the instants that came later."""
        del self._rows[count:]

    def give(self, given: Given) -> None:
        """What is held from the last instant on."""
        self._rows[-1] = self._rows[-1]._replace(given=given)
        if given.wrenches:
            self._frames |= dict.fromkeys(given.wrenches)

    def add(self, steps: int, size: float, events: Sequence[Event]) -> None:
        """The present instant, to which so many steps led, each of a size [s], and what happened in them."""
        self._rows.append(self._row(steps, size, events, self._rows[-1].given))

    # What the simulator tells, if it is told to.

    def stepped(self, sim: Simulator, taken: Taken) -> None:
        """Adds the instant."""
        if taken.steps:
            self.add(taken.steps, taken.size, taken.events)

    def restarted(self, sim: Simulator) -> None:
        """Whoever does it takes another recording."""

    def time(self, count: int | None = None) -> float:
        """Of the last instant, or of the last of the first so many [s]."""
        return float(self._rows[-1 if count is None else count - 1].record[0])

    def steps(self, count: int | None = None) -> int:
        """That led to the last instant, or to the last of the first so many."""
        before = 0 if self._before is None else int(self._before["steps"].sum())
        return before + sum(row.steps for row in self._rows[:count])

    def trajectory(
        self,
        settings: Mapping[str, Any],
        outcome: Outcome,
        memory: Mapping[str, Array] | None = None,
        count: int | None = None,
    ) -> Trajectory:
        """All of it, or the first instants.

        Args:
            settings: Described.
            outcome: How it ended.
            memory: What a controller remembers.
            count: Of the instants.
        """
        header = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            **versions(),
            "settings": settings,
            "columns": Columns.of(self._robot, tuple(self._frames)).describe(),
            "contacts": self._contacts,
            "outcome": outcome.describe(),
        }
        made = Trajectory(self._arrays(self._rows[:count]), header, memory)
        made._made_with = self._robot, self._ground
        return made

    def _row(self, steps: int, size: float, events: Sequence[Event], given: Given) -> _Row:
        return _Row(self._sim._core.recorded, self._sim._core.velocities, steps, size, events, given)

    def _arrays(self, kept: list[_Row]) -> dict[str, NDArray[Any]]:
        layout, robot, rows = self._layout, self._robot, len(kept)
        given = [row.given for row in kept]
        records = np.array([row.record for row in kept])
        ends = np.cumsum([layout.size, len(robot.actuated_dofs), 3 * layout.nc, 3 * layout.nc])
        x, torque, *of_contacts = np.split(records, ends, axis=1)
        beside = [torque, *(each.reshape(rows, layout.nc, 3) for each in of_contacts)]
        arrays = unpacked(x, layout) | dict(zip(_BESIDE, beside, strict=True))
        arrays["velocity"] = np.array([row.velocities for row in kept]).reshape(rows, layout.nc, 3)
        arrays["steps"] = np.array([row.steps for row in kept])
        arrays["step_size"] = np.array([row.size for row in kept])
        arrays["tau"] = np.array([each.tau for each in given])
        targets = [(self._rest if each.target is None else each.target) for each in given]
        at_rest = np.zeros(layout.nv)
        velocities = [(at_rest if each.target_velocity is None else each.target_velocity) for each in given]
        arrays["target"] = np.array(targets if robot.drives else np.zeros((rows, 0)))
        arrays["target_velocity"] = np.array(velocities if robot.drives else np.zeros((rows, 0)))
        arrays["wrench"] = np.zeros((rows, len(self._frames), 6))
        for i, each in enumerate(given):
            for k, frame in enumerate(self._frames):
                if each.wrenches and frame in each.wrenches:
                    arrays["wrench"][i, k] = each.wrenches[frame]
        return self._with_earlier(arrays | event_arrays([event for row in kept for event in row.events]))

    def _with_earlier(self, arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        if self._before is None:
            return arrays
        before = dict(self._before)
        new_frames = arrays["wrench"].shape[1] - before["wrench"].shape[1]
        before["wrench"] = np.pad(before["wrench"], ((0, 0), (0, new_frames), (0, 0)))
        return {name: np.concatenate([before[name], array]) for name, array in arrays.items()}


def contacts_of(sim: Simulator) -> list[ContactColumn]:
    """Of a simulator, in their order."""
    return [
        ContactColumn(point.name, point.frame, k, friction)
        for point, k, friction in zip(sim.contact_points, sim.belongs_to, sim.frictions, strict=True)
    ]
