"""A recorded motion, step by step again: what was within the steps."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from exposim import _core
from exposim._checks import Array
from exposim.contact.modes import OPEN, SLIPPING, STICKING
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument, SetupWarning, StateMismatch
from exposim.robots.robot import Robot
from exposim.simulation.path import Path
from exposim.simulation.settings import RunSettings
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import STATE_FIELDS, State

if TYPE_CHECKING:
    from exposim.simulation.trajectory import Trajectory

# Times that are as near to an instant as this share of the step mean the instant.
SAME_TIME = 1e-9
# What a contact is doing after an event.
_MODE_AFTER = {"land": STICKING, "lift": OPEN, "slip": SLIPPING, "stick": STICKING}
# Held from each instant on, or remembered since.
_MEMORY = ("phi0", "stretch", "friction_stretch", "friction_slips")
_COMMANDS = ("commands", "command_t", "command_target", "command_velocity")
_HELD = ("tau", "target", "target_velocity", "wrench", *_MEMORY, *_COMMANDS)
# Where the contact points are and what they touch.
_PLACES = ("position", "normal", "velocity", "surface")
# Where a step must end, beside t; targets that are on their way are thrown away by the call, not by the step.
COMPARED = tuple(name for name in STATE_FIELDS if name not in ("t", *_COMMANDS))


@dataclass(frozen=True, eq=False)
class _Step:
    """One that was taken again.

    Args:
        interval: After which recorded instant.
        number: Of the step within the interval.
        asked: Which of the times are in it.
        path: That it took.
    """

    interval: int
    number: int
    asked: NDArray[np.int_]
    path: Path


class Replay:
    """Steps of a trajectory, taken again from its states and with its inputs.

    Args:
        trajectory: What was recorded.
        robot: That moved.
        ground: That it moved on.
    """

    def __init__(self, trajectory: Trajectory, robot: Robot, ground: Surface | Iterable[Surface]):
        if unrecorded := trajectory.outcome.unrecorded:
            raise InvalidArgument(
                f"the steps cannot be taken again: the robot was moved by {unrecorded}; leave them out"
            )
        if len(trajectory) == 1:
            raise InvalidArgument("the trajectory has one instant alone, and no steps to look into; record some")
        self._sim, self._probe = (simulator_of(trajectory.settings, robot, ground) for _ in range(2))
        self._size = self._sim.dt
        self._trajectory = trajectory
        self._has_drives = trajectory.target.shape[1] > 0

    def forces(self, times: Array) -> Array:
        """At times [s] in any order, (nt, nc, 3)."""
        order = np.argsort(times, kind="stable")
        at = self._within(times[order])
        found = np.zeros((len(at), *self._trajectory.force.shape[1:]))
        for step in self._steps(at):
            found[order[step.asked]] = step.path.forces(_clipped(at[step.asked], step.path))
        return found

    def instants(self, times: Array) -> dict[str, NDArray[Any]]:
        """All arrays of a trajectory at times [s] that follow one another."""
        trajectory = self._trajectory
        at = self._within(times)
        before = np.searchsorted(trajectory.t, at, side="right") - 1  # the instants that hold
        arrays: dict[str, NDArray[Any]] = {name: getattr(trajectory, name)[before] for name in _HELD}
        arrays |= {"t": times, "mode": self._modes(at, before), "steps": np.zeros(len(at), dtype=int)}
        for name in ("q", "v", "force", "torque", "step_size", *_PLACES):
            recorded = getattr(trajectory, name)
            arrays[name] = np.zeros((len(at), *recorded.shape[1:]), recorded.dtype)
        recorded_at = at == trajectory.t[before]
        for name in _PLACES:
            arrays[name][recorded_at] = getattr(trajectory, name)[before[recorded_at]]
        taken = np.cumsum(trajectory.steps)
        for step in self._steps(at):
            asked, inside = step.asked, _clipped(at[step.asked], step.path)
            arrays["q"][asked], arrays["v"][asked] = step.path(inside)
            arrays["force"][asked] = step.path.forces(inside)
            arrays["torque"][asked] = self._sim.torques
            arrays["step_size"][asked] = trajectory.step_size[step.interval + 1]
            arrays["steps"][asked] = taken[step.interval] + step.number + (inside >= step.path.end)
            state = trajectory.state(step.interval)
            for k in asked[~recorded_at[asked]]:
                self._look(state, arrays, k)
        first = at == trajectory.t[0]  # to which no step led
        arrays["torque"][first], arrays["step_size"][first] = trajectory.torque[0], 0.0
        arrays["steps"] = np.diff(arrays["steps"], prepend=arrays["steps"][:1])
        return arrays

    def _look(self, state: State, arrays: dict[str, NDArray[Any]], k: int) -> None:
        """Where the contact points are and what they touch at the k-th instant, with the memory of a state."""
        probe, layout = self._probe, state.layout
        x = state.to_array()[: layout.size]
        x[1 : 1 + layout.nq + layout.nv] = *arrays["q"][k], *arrays["v"][k]
        layout.memory(x)[:, 3:] = 0.0  # springs, along the ground where they were: it may be inclined otherwise here
        probe.state = State._of(x, layout)
        arrays["position"][k], arrays["velocity"][k] = probe.positions, probe.velocities
        arrays["normal"][k], arrays["surface"][k] = probe.normals, probe.state.surface

    def _modes(self, at: Array, before: NDArray[np.int_]) -> NDArray[np.int_]:
        """What contacts are doing: at recorded instants that, after them what the events say."""
        t, modes = self._trajectory.t, np.array(self._trajectory.mode[before])
        for event in self._trajectory.events.select(kind=_MODE_AFTER):
            interval = min(int(np.searchsorted(t, event.t, side="right")) - 1, len(t) - 2)
            first = np.searchsorted(at, max(event.t, np.nextafter(t[interval], np.inf)))
            end = np.searchsorted(at, t[interval + 1])
            modes[first:end, event.index] = _MODE_AFTER[event.kind]
        return modes

    def _steps(self, at: Array) -> Iterator[_Step]:
        """The steps that times [s], which follow one another, are in: of those that a time is between, the first."""
        trajectory, sim = self._trajectory, self._sim
        intervals = np.maximum(np.searchsorted(trajectory.t, at, side="left") - 1, 0)
        for interval in np.unique(intervals).tolist():
            asked = np.flatnonzero(intervals == interval)
            count = int(trajectory.steps[interval + 1])
            self._set_step(float(trajectory.step_size[interval + 1]))
            sim.state = trajectory.state(interval)
            for number in range(count):
                self._step(interval)
                path = sim.path
                inside = asked if number == count - 1 else asked[at[asked] <= path.end]
                if inside.size:
                    yield _Step(interval, number, inside, path)
                    asked = asked[inside.size :]
            self._compare(interval + 1)

    def _set_step(self, size: float) -> None:
        """Of the simulator [s]: steps that were chosen by their error are all of different sizes."""
        if size != self._size:
            scheme = self._sim.integrator._build()
            self._sim._core = _core.Simulator(self._sim._world, scheme, size, True)
            self._size = size

    def _step(self, interval: int) -> None:
        """One more, with what was held since an instant."""
        trajectory, sim = self._trajectory, self._sim
        held: dict[str, Any] = {}
        if self._has_drives:
            held = {name: getattr(trajectory, name)[interval] for name in ("target", "target_velocity")}
        acting = zip(trajectory.columns.wrench, trajectory.wrench[interval], strict=True)
        sim.step(
            trajectory.tau[interval],
            wrenches={frame: wrench for frame, wrench in acting if wrench.any()} or None,
            **held,
        )

    def _compare(self, instant: int) -> None:
        reached, recorded = self._sim.state, self._trajectory.state(instant)
        differing = [name for name in COMPARED if not np.array_equal(getattr(reached, name), getattr(recorded, name))]
        if abs(reached.t - recorded.t) > SAME_TIME * self._size:  # the end of a control period is set exactly
            differing.insert(0, "t")
        if differing:
            raise StateMismatch(
                f"taken again, the steps to t = {recorded.t:g} s end elsewhere ({', '.join(differing)} differ): the "
                f"robot, the ground or the version of exposim is another one, or something moved the robot that was "
                f"not recorded; give the robot= and the ground= that were recorded"
            )

    def _within(self, times: Array) -> Array:
        """Those that mean a recorded instant made equal to it; refuses what is outside."""
        t, tolerance = self._trajectory.t, SAME_TIME * self._trajectory.settings.step
        outside = np.flatnonzero((times < t[0] - tolerance) | (times > t[-1] + tolerance))
        if outside.size:
            raise InvalidArgument(
                f"times has {times[outside[0]]:g} s; give times from {t[0]:g} to {t[-1]:g} s, which were recorded"
            )
        after = np.clip(np.searchsorted(t, times), 1, len(t) - 1)
        near = np.where(times - t[after - 1] < t[after] - times, t[after - 1], t[after])
        return np.where(np.abs(times - near) <= tolerance, near, times)


def simulator_of(settings: RunSettings, robot: Robot, ground: Surface | Iterable[Surface]) -> Simulator:
    """One as the settings have it, which stops where it diverges."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetupWarning)  # it was given when the motion was made
        return Simulator(
            robot,
            ground,
            settings.integrator,
            settings.step,
            collisions=[(one, other) for one, other in settings.collisions],
            edges=settings.edges,
            slots=settings.slots,
            on_divergence="stop",
        )


def _clipped(times: Array, path: Path) -> Array:
    return np.clip(times, path.start, path.end)
