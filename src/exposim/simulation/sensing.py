"""What a simulator knows of sensors: they see every step, and are read at any time."""

from __future__ import annotations

import copy
import weakref
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from exposim import _checks
from exposim.errors import InvalidArgument, StateMismatch
from exposim.simulation.path import Path

if TYPE_CHECKING:
    from exposim._checks import Array
    from exposim.robots.robot import Robot
    from exposim.simulation.simulator import Simulator

Reading = TypeVar("Reading")
S = TypeVar("S", bound="Sensor[Any]")
SensorState = dict[str, NDArray[Any]]

# Of a second, by which two times may differ and be the same.
SAME_TIME = 1e-9


class Sensor(ABC, Generic[Reading]):
    """Base of sensors. ``sim.read(sensor)`` gives what it says now; it sees all steps from its first reading on.

    A sensor does not change the simulation. It belongs to one simulator at a time: where that is set to another state,
    or goes back in time, what was measured before is forgotten, and the sensor goes on from there.

    Args:
        delay: What is measured is known this long after [s].
    """

    def __init__(self, delay: float):
        self._delay = _checks.number("delay", delay, "[s]", least=0.0)
        self._seen: Array | None = None  # flat state of the simulator that was seen last
        self._robot: Robot | None = None  # that it was bound to
        self._steps: int | None = None  # that the simulator had taken then; of no meaning to another one
        self._unread = False

    @property
    def delay(self) -> float:
        """What is measured is known this long after [s]."""
        return self._delay

    @property
    @abstractmethod
    def samples(self) -> Reading:
        """What the last reading had new: a reading with a row for each sample that arrived since the one before."""

    @property
    def state(self) -> SensorState:
        """All that its future depends on, as plain arrays; setting it continues from there, bit for bit."""
        seen = np.empty(0) if self._seen is None else self._seen
        return {"seen": np.array(seen), "unread": np.array(self._unread)} | self._own_state()

    @state.setter
    def state(self, state: Mapping[str, Any]) -> None:
        present = self.state
        if not isinstance(state, Mapping) or state.keys() != present.keys():
            named = sorted(state) if isinstance(state, Mapping) else state
            raise StateMismatch(f"state is of {named!r}; give what state of a {type(self).__name__} was before")
        arrays = {name: np.array(value) for name, value in state.items()}
        for name, array in arrays.items():
            if (array.dtype.kind, array.ndim) != (present[name].dtype.kind, present[name].ndim):
                raise StateMismatch(f"state has {array!r} for {name!r}; give what state of a sensor was before")
        self._set_own_state(arrays)
        self._seen, self._steps = arrays["seen"] if arrays["seen"].size else None, None
        self._unread = bool(arrays["unread"])

    def reset(self) -> None:
        """Begins anew, as it was made, with the same randomness."""
        self._seen, self._steps, self._unread = None, None, False
        self._forget(entirely=True)

    def fresh(self: S) -> S:
        """Another one, as this was made."""
        other = copy.deepcopy(self)
        other.reset()
        return other

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_steps": None, "_robot": None}

    def _read(self, sim: Simulator) -> Reading:
        self._observe(sim)
        reading = self._tell(sim.t, self._unread)
        self._unread = False
        return reading

    def _observe(self, sim: Simulator) -> None:
        """Sees what a step did; nothing where it was seen before."""
        x = sim._core.state
        before = self._seen
        if before is not None and np.array_equal(x, before):
            return
        self._bind(sim)
        steps = sim._core.statistics.steps
        goes_on = before is not None and self._has_seen_all(sim, before[0], x[0], steps)
        if not goes_on:
            self._forget(entirely=False)
        self._see(sim, goes_on)
        self._seen, self._steps, self._unread = x, steps, True

    def _has_seen_all(self, sim: Simulator, before: float, now: float, steps: int) -> bool:
        """Whether one step led from where it saw the simulator last to now."""
        if self._steps is not None and steps == self._steps + 1 and abs(now - before - sim.dt) < SAME_TIME:
            return True  # which costs less than to ask for the path
        path = path_of(sim)
        return path is not None and abs(path.start - before) < SAME_TIME

    @abstractmethod
    def _bind(self, sim: Simulator) -> None:
        """Finds what it measures in a simulator."""

    @abstractmethod
    def _see(self, sim: Simulator, goes_on: bool) -> None:
        """Measures: in the last step, which may go on where it saw the simulator last; if there was none, now."""

    @abstractmethod
    def _tell(self, t: float, is_new: bool) -> Reading:
        """The reading at a time; that of before, if nothing was seen since."""

    @abstractmethod
    def _forget(self, entirely: bool) -> None:
        """What was measured; entirely: also what randomness has done."""

    @abstractmethod
    def _own_state(self) -> SensorState: ...

    @abstractmethod
    def _set_own_state(self, state: SensorState) -> None: ...


Attached = weakref.ReferenceType[Sensor[Any]]


def attached(sensors: list[Attached], sensor: Sensor[Any]) -> list[Attached]:
    """With one more, if it is not among them; those that nobody has any more are left out."""
    alive = [each for each in sensors if each() is not None]
    return alive if any(each() is sensor for each in alive) else [*alive, weakref.ref(sensor)]


def check(sensor: Any) -> None:
    """Refuses what is none."""
    if not isinstance(sensor, Sensor):
        raise InvalidArgument(
            f"sensor is {sensor!r}; give one of exposim.sensors, for example exposim.sensors.IMU(...)"
        )


def path_of(sim: Simulator) -> Path | None:
    """Of the step that led to now, if there was one."""
    try:
        path: Path = sim.path
    except InvalidArgument:
        return None
    return path if abs(path.end - sim.t) < SAME_TIME else None
