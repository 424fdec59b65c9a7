"""The file of a flight recorder: the last steps before a divergence, and all that it takes to take them again."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from exposim import _core
from exposim._checks import Array
from exposim._npz import Archive
from exposim.contact.surfaces import Surface
from exposim.errors import SimulationDiverged, UnknownFile, UnreadableFile
from exposim.robots.robot import Robot
from exposim.simulation.file_format import FLIGHT, check_array, read_header, versions, write
from exposim.simulation.recorder import settings_of
from exposim.simulation.records import Record
from exposim.simulation.settings import RunSettings
from exposim.simulation.simulator import Simulator

if TYPE_CHECKING:
    from exposim.simulation.flight_replay import Flight

R = TypeVar("R", bound=Record)

MOST_KEPT = 100_000  # steps that a recorder is asked for

# Array by array: what its axes count, and its kind of number. NaN: was not given.
_ARRAYS: dict[str, tuple[tuple[str | int, ...], str]] = {
    "state": (("states", "nx"), "f"),
    "state_before": (("states",), "i"),
    "steps": (("calls",), "i"),
    "tau": (("calls", "nv"), "f"),
    "target": (("calls", "nq"), "f"),
    "target_velocity": (("calls", "nv"), "f"),
    "wrench": (("calls", "frames", 6), "f"),
    "choice": (("calls", 5), "f"),
    "end": (("nx",), "f"),
    "diverged_q": (("nq",), "f"),
    "diverged_v": (("nv",), "f"),
}


class Call(NamedTuple):
    """One of a simulator, and what it was given.

    Args:
        steps: That it took.
        state: Before it, flat, where it was kept.
        tau: (nv,)
        target: Of the drives, (nq,); ``None``: what they rest at.
        target_velocity: Likewise, (nv,); ``None``: at rest.
        wrenches: By frame name.
        choice: Where steps were chosen by their error: until when they go [s], which is tried first, accuracy, smallest
            and largest.
    """

    steps: int
    state: Array | None
    tau: Array
    target: Array | None
    target_velocity: Array | None
    wrenches: Mapping[str, Array]
    choice: tuple[float, ...] | None


@dataclass(frozen=True)
class Diverged(Record):
    """How it ended.

    Args:
        t: End of the step that diverged [s].
        step: Its number since the last reset, from 1.
        joints: Names of those whose position or velocity went wrong.
        message: All of it, with advice.
    """

    t: float
    step: int
    joints: tuple[str, ...]
    message: str


class FlightDump:
    """The last steps of a simulator that diverged, from the file that a :class:`exposim.FlightRecorder` wrote.

    ::

        flight = xs.FlightDump.load("dumps/diverged-001.npz").replay()
        print(flight.mismatch or "the same bits")
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], header: Mapping[str, Any], file: Path | None = None):
        self._arrays = arrays
        self._header = header
        self.file = file

    @classmethod
    def of(
        cls, sim: Simulator, calls: Sequence[Call], found: _core.Divergence, described: SimulationDiverged
    ) -> FlightDump:
        """Of the last calls of a simulator."""
        robot = sim.robot
        frames = list(dict.fromkeys(frame for call in calls for frame in call.wrenches))
        wrench = np.full((len(calls), len(frames), 6), np.nan)
        for i, call in enumerate(calls):
            for frame, each in call.wrenches.items():
                wrench[i, frames.index(frame)] = each
        arrays = {
            "state": np.array([call.state for call in calls if call.state is not None]),
            "state_before": np.array([i for i, call in enumerate(calls) if call.state is not None]),
            "steps": np.array([call.steps for call in calls]),
            "tau": np.array([call.tau for call in calls]),
            "target": _or_nan([call.target for call in calls], robot.nq),
            "target_velocity": _or_nan([call.target_velocity for call in calls], robot.nv),
            "wrench": wrench,
            "choice": _or_nan([call.choice for call in calls], 5),
            "end": found.start,
            "diverged_q": found.q,
            "diverged_v": found.v,
        }
        header = {
            "format": FLIGHT.format,
            "format_version": FLIGHT.version,
            **versions(),
            "settings": settings_of(sim).describe(),
            "frames": frames,
            "diverged": Diverged(found.t, found.step, described.joints, str(described)).describe(),
        }
        return cls(arrays, header)

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes a compressed file, all of it or nothing; the suffix is ``.npz``.

        Raises:
            UnwritableFile: If there is no space, for example; what was there before is then still there.
        """
        target = Path(path)
        write(target, self._header, {name: self._arrays[name] for name in _ARRAYS})
        return target

    @classmethod
    def load(cls, path: str | PathLike[str]) -> FlightDump:
        """Opens a file that a flight recorder wrote. Nothing of it is run.

        Raises:
            UnknownFile: If there is none.
            UnreadableFile: If it is damaged, or something else than a dump.
        """
        file = Path(path)
        if not file.is_file():
            raise UnknownFile(f"there is no file {file}")
        arrays = Archive(file, FLIGHT.what)
        header = read_header(arrays, FLIGHT)
        prefix = f"{file} is damaged: "
        if missing := [name for name in _ARRAYS if name not in arrays]:
            raise UnreadableFile(f"{prefix}it has no {', '.join(missing)}")
        frames = header.get("frames")
        if not isinstance(frames, list) or not all(isinstance(each, str) for each in frames):
            raise UnreadableFile(f"{prefix}its header does not name the frames of wrenches")
        shapes = {name: arrays.describe(name).shape for name in _ARRAYS}
        sizes: dict[str, int] = {"frames": len(frames)}
        for name, key in (("state_before", "states"), ("steps", "calls"), ("end", "nx")):
            sizes[key] = sum(shapes[name][:1])
        for name, key in (("diverged_q", "nq"), ("diverged_v", "nv")):
            sizes[key] = sum(shapes[name][:1])
        for name, (axes, kind) in _ARRAYS.items():
            wanted = tuple(axis if isinstance(axis, int) else sizes[axis] for axis in axes)
            check_array(name, arrays.describe(name), wanted, kind, prefix)
        dump = cls(arrays, header, file)
        dump._check(prefix)
        return dump

    @cached_property
    def settings(self) -> RunSettings:
        """Robot, ground, integrator and step."""
        return self._build(RunSettings, "settings")

    @cached_property
    def diverged(self) -> Diverged:
        """When and where it did."""
        return self._build(Diverged, "diverged")

    @property
    def steps(self) -> int:
        """That were taken before the one that diverged."""
        return int(self._arrays["steps"].sum())

    @property
    def end(self) -> Array:
        """The last good state, flat."""
        return self._arrays["end"]

    @property
    def led_to(self) -> tuple[Array, Array]:
        """Configuration and velocity that the last step led to, (nq,) and (nv,); some entries may be no numbers."""
        return self._arrays["diverged_q"], self._arrays["diverged_v"]

    @property
    def calls(self) -> Iterator[Call]:
        """One by one; the last is the one that diverged, after so many steps."""
        arrays = self._arrays
        kept = dict(zip(arrays["state_before"].tolist(), arrays["state"], strict=True))
        for i, steps in enumerate(arrays["steps"].tolist()):
            acting = zip(self._header["frames"], arrays["wrench"][i], strict=True)
            choice = _given(arrays["choice"][i])
            yield Call(
                steps,
                kept.get(i),
                arrays["tau"][i],
                _given(arrays["target"][i]),
                _given(arrays["target_velocity"][i]),
                {frame: wrench for frame, wrench in acting if not np.isnan(wrench).all()},
                None if choice is None else tuple(choice.tolist()),
            )

    def replay(self, *, robot: Robot | None = None, ground: Surface | Iterable[Surface] | None = None) -> Flight:
        """Takes the steps again, compares every state that was kept bit for bit, and looks at each step.

        Args:
            robot: By default loaded again from the file that the settings name.
            ground: By default that of the settings, which have none that was written in Python.

        Raises:
            UnreadableFile: If what is in the file cannot be simulated.
        """
        replaying: Any = importlib.import_module("exposim.simulation.flight_replay")  # which knows dumps
        flight: Flight = replaying.replay(self, robot, ground)
        return flight

    def __repr__(self) -> str:
        return f"FlightDump({self.settings.robot.name!r}, {self.steps} steps to t = {self.diverged.t:g} s)"

    def _check(self, prefix: str) -> None:
        steps, before = self._arrays["steps"], self._arrays["state_before"]
        if not len(steps) or (steps < 0).any() or not 0 <= steps.astype(float).sum() <= 3 * MOST_KEPT:
            raise UnreadableFile(f"{prefix}its steps are none that a flight recorder keeps")
        if not len(before) or before[0] != 0 or (np.diff(before) <= 0).any() or before[-1] >= len(steps):
            raise UnreadableFile(f"{prefix}its states are not in the order of its calls, or the first is missing")
        _ = self.diverged

    def _build(self, kind: type[R], name: str) -> R:
        try:
            return kind.build(self._header[name])
        except Exception as error:  # the header may hold anything that JSON can
            raise UnreadableFile(f"the header of {self.file} is damaged, or of another version: {error}") from None


def _or_nan(rows: Sequence[Any], size: int) -> Array:
    return np.array([np.full(size, np.nan) if row is None else row for row in rows]).reshape(len(rows), size)


def _given(row: Array) -> Array | None:
    return None if np.isnan(row).all() else row
