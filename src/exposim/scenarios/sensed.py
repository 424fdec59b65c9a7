"""The sensors of a run: what they say to its controller, and what is kept of them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exposim.errors import InvalidArgument, StateMismatch
from exposim.simulation.file_format import SAMPLES
from exposim.simulation.sensing import SAME_TIME, Sensor
from exposim.simulation.simulator import Simulator

# Before the names of what a run remembers of its sensors, beside what its controller does.
STATES = "sensors/"


def checked_sensors(sensors: Any) -> dict[str, Sensor[Any]]:
    """By names that a file can have."""
    wanted = "a mapping from names to sensors of exposim.sensors"
    if not isinstance(sensors, Mapping):
        raise InvalidArgument(f"sensors is {sensors!r}; give {wanted}")
    for name, sensor in sensors.items():
        if not isinstance(name, str) or not name or "/" in name or not isinstance(sensor, Sensor):
            raise InvalidArgument(f"sensors has {sensor!r} by the name {name!r}; give {wanted}, names without '/'")
    return dict(sensors)


class SensorsOfRun:
    """Sensors of one run, and all samples that they have taken.

    Args:
        sensors: Of the scenario, which stay as they are.
    """

    def __init__(self, sensors: Mapping[str, Sensor[Any]]):
        self._sensors = {name: sensor.fresh() for name, sensor in sensors.items()}
        self._taken: dict[str, dict[str, list[NDArray[Any]]]] = {name: {} for name in sensors}
        self._read_at: float | None = None
        self.readings: dict[str, Any] = {}

    def read(self, sim: Simulator) -> None:
        """What they say now, and what is new in it; once for every time."""
        if self._read_at == sim.t:
            return
        self._read_at = sim.t
        self.readings = {name: sim.read(sensor) for name, sensor in self._sensors.items()}
        for name, sensor in self._sensors.items():
            new = sensor.samples
            for each in fields(new):
                self._taken[name].setdefault(each.name, []).append(np.asarray(getattr(new, each.name)))

    @property
    def memory(self) -> dict[str, NDArray[Any]]:
        """What they remember."""
        return {
            f"{STATES}{name}/{key}": value
            for name, sensor in self._sensors.items()
            for key, value in sensor.state.items()
        }

    def samples(self, t: float) -> dict[str, NDArray[Any]]:
        """All that were taken up to a time [s], by the names that a trajectory has for them."""
        found: dict[str, NDArray[Any]] = {}
        for name, taken in self._taken.items():
            arrays = {key: np.concatenate(rows) for key, rows in taken.items()}
            kept = arrays["t"] <= t + SAME_TIME
            found |= {f"{SAMPLES}{name}/{key}": array[kept] for key, array in arrays.items()}
        return found

    def resume(self, memory: Mapping[str, NDArray[Any]], sim: Simulator) -> None:
        """Goes on from what was remembered, and taken up to then."""
        for name, sensor in self._sensors.items():
            prefix = f"{STATES}{name}/"
            state = {key.removeprefix(prefix): memory[key] for key in memory if key.startswith(prefix)}
            if not state:
                raise StateMismatch(f"the run was saved without the sensor {name!r}; resume with what made it")
            sensor.state = state
            taken = f"{SAMPLES}{name}/"
            self._taken[name] = {key.removeprefix(taken): [memory[key]] for key in memory if key.startswith(taken)}
        self._read_at = sim.t
        self.readings = {name: sim.read(sensor) for name, sensor in self._sensors.items()}


def remembered_by_controller(memory: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """What is not of sensors."""
    return {name: value for name, value in memory.items() if not name.startswith((STATES, SAMPLES))}


def takes_readings(controller: Any) -> bool:
    """Whether a controller has a parameter for them."""
    try:
        return "readings" in inspect.signature(controller).parameters
    except (TypeError, ValueError):  # not every callable says
        return False
