"""Those who are told of every step of a simulator, and what they are told."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from exposim import _core
from exposim._checks import Array
from exposim.errors import InvalidArgument, SimulationDiverged
from exposim.simulation.events import Event, events_of

if TYPE_CHECKING:
    from exposim.robots.robot import Robot
    from exposim.simulation.flight_recorder import FlightRecorder
    from exposim.simulation.sensing import Attached, Reading, Sensor
    from exposim.simulation.simulator import Simulator


@dataclass(frozen=True, eq=False)
class Taken:
    """Steps that were taken with one input.

    Args:
        steps: How many.
        size: Of each [s].
        tau: As :meth:`exposim.Simulator.step` was given it.
        target: Of the drives, (nq,); ``None``: what they rest at.
        target_velocity: Likewise, (nv,); ``None``: at rest.
        wrenches: By frame name.
        events: That happened.
        divergence: How the step after them diverged, if it did.
    """

    steps: int
    size: float
    tau: ArrayLike | None
    target: Array | None
    target_velocity: Array | None
    wrenches: Mapping[str, ArrayLike] | None
    events: Sequence[Event]
    divergence: SimulationDiverged | None


class Observer(Protocol):
    """Is told of what a simulator does, right after it."""

    def stepped(self, sim: Simulator, taken: Taken) -> None:
        """Steps were taken, or one was tried and diverged."""

    def restarted(self, sim: Simulator) -> None:
        """It was reset, or set to a state, or changed."""


class EventCallback:
    """Hands on events.

    Args:
        callback: Called with each.
    """

    def __init__(self, callback: Callable[[Event], object]):
        if not callable(callback):
            raise InvalidArgument(f"callback is {callback!r}; give a function of an event")
        self._callback = callback

    def stepped(self, sim: Simulator, taken: Taken) -> None:
        """Calls back, event by event.

        Raises:
            InvalidArgument: If that moved the simulator.
        """
        t = sim.t
        for event in taken.events:
            self._callback(event)
            if sim.t != t:
                raise InvalidArgument(
                    "a callback of sim.on_event moved the simulator, of whose step others have not been told yet; "
                    "move it after the step"
                )

    def restarted(self, sim: Simulator) -> None:
        """Nothing happens by it."""


class Observed:
    """The part of a simulator that others look at: observers are told what it did, sensors are shown every step."""

    _core: _core.Simulator
    _robot: Robot
    _observers: tuple[Observer, ...]
    _told: int  # steps that they have been told of
    _sensors: list[Attached]
    _first_event: int  # of the step that these were shown last
    _flight: FlightRecorder | None

    def on_event(self, callback: Callable[[Event], object]) -> Callable[[], None]:
        """Calls back with every event to come, after the call of :meth:`step`, or the step of :meth:`advance`.

        Args:
            callback: Called with an :class:`exposim.Event`, in the order of time. It may look at the simulator, which
                is at the end of the step, but not move it. What it raises comes out of that call.

        Returns:
            A function that ends it.
        """
        observer = EventCallback(callback)
        self._observe(observer)
        return lambda: self._observe_no_more(observer)

    def _observe(self, observer: Observer) -> None:
        if not self._observers:
            self._told = self._core.statistics.steps
        self._observers = (*self._observers, observer)

    def _observe_no_more(self, observer: Observer) -> None:
        self._observers = tuple(each for each in self._observers if each is not observer)

    def _tell(
        self,
        size: float,
        tau: ArrayLike | None,
        target: Any,
        target_velocity: Any,
        wrenches: Mapping[str, ArrayLike] | None,
        first_event: int = 0,
    ) -> None:
        """What was done since observers were last told, in steps of a size [s], also where something was raised."""
        sim: Any = self
        steps = self._core.statistics.steps - self._told
        self._told += steps
        if steps or self._core.divergence is not None:
            events = events_of(self._core.events_from(first_event), sim._labels, self._robot) if steps else ()
            taken = Taken(steps, size, tau, target, target_velocity, wrenches, events, sim.divergence)
            for observer in self._observers:
                observer.stepped(sim, taken)

    def _tell_of_restart(self) -> None:
        sim: Any = self
        self._told = self._core.statistics.steps
        for observer in self._observers:
            observer.restarted(sim)
        if self._flight is not None:
            self._flight.begin()

    def read(self, sensor: Sensor[Reading]) -> Reading:
        """What a sensor says now; ``sensor.samples`` are all that are new in it.

        From its first reading on it sees every step, as long as it exists. Reading does not change the simulation, and
        at the same time gives the same.

        Args:
            sensor: Of :mod:`exposim.sensors`.

        Raises:
            InvalidArgument: If it is no sensor, or measures what is not there.
            UnknownFrame: If the robot has no such frame.
        """
        sensing: Any = importlib.import_module("exposim.simulation.sensing")  # which is loaded by all that has sensors
        sensing.check(sensor)
        sim: Any = self
        reading = sensor._read(sim)
        self._sensors = sensing.attached(self._sensors, sensor)
        return reading

    def _step_and_show(
        self, tau: Any, n: Any, forces: Any, target: Any, target_velocity: Any, continues: bool = False
    ) -> Any:
        """As the core does it, but one by one, for sensors to see each."""
        outcome: Any = 0
        one_by_one = isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n > 1
        for k in range(int(n) if one_by_one else 1):
            goes_on = continues or k > 0
            shown = self._core.event_count if goes_on else 0
            done = self._core.step(tau, 1 if one_by_one else n, forces, target, target_velocity, continues=goes_on)
            if done == -1:
                return done
            outcome = done or outcome
            self._show(shown)
            if not isinstance(done, int):  # how it diverged
                break
        return outcome

    def _step_and_keep(self, tau: Any, n: Any, forces: Any, target: Any, target_velocity: Any) -> Any:
        """As the core does it, or in front of sensors, but in pieces that a flight recorder keeps."""
        flight: Any = self._flight
        take = self._step_and_show if self._sensors else self._core.step
        flight.keep(self._core, tau, target, target_velocity, flight.wrenches)
        if type(n) is not int or n <= flight.steps:
            outcome = take(tau, n, forces, target, target_velocity)
        else:
            outcome = take(tau, flight.steps, forces, target, target_velocity)
            left = n - flight.steps
            while left > 0 and isinstance(outcome, int) and outcome != -1:
                flight.keep(self._core, tau, target, target_velocity, flight.wrenches)
                done = take(tau, min(left, flight.steps), forces, target, target_velocity, True)
                outcome = done or outcome
                left -= flight.steps
        if outcome:
            flight.look_at(self, outcome)
        return outcome

    def _show(self, first_event: int) -> None:
        """The last step to all sensors that somebody still has, with its events, which are from a number on."""
        sim: Any = self
        self._first_event = first_event
        for each in self._sensors:
            sensor = each()
            if sensor is not None:
                sensor._observe(sim)

    @property
    def _shown_events(self) -> Array:
        """Of the step that sensors are shown, as the core has them."""
        return self._core.events_from(self._first_event)
