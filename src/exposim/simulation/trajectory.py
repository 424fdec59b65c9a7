"""What a simulation recorded, in memory and in a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exposim import _checks
from exposim._checks import Array
from exposim._extras import load
from exposim._npz import Archive
from exposim.contact.modes import OPEN, without_hold
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument, UnknownFile, UnreadableFile
from exposim.robots.robot import Robot
from exposim.simulation.event_table import OF_JOINTS, Events, Names
from exposim.simulation.events import KINDS, contact_labels
from exposim.simulation.file_format import (
    ARRAYS,
    EVENT_ARRAYS,
    MEMORY,
    SAMPLES,
    TRAJECTORY,
    Memory,
    check_sizes,
    is_lacking,
    read_header,
    write,
)
from exposim.simulation.header import Columns, ContactColumn, Outcome
from exposim.simulation.records import Record
from exposim.simulation.replaying import Replay
from exposim.simulation.settings import RunSettings
from exposim.simulation.state import STATE_FIELDS, State
from exposim.simulation.summary_page import page_of

if TYPE_CHECKING:
    import pandas as pd

R = TypeVar("R", bound=Record)

# Of a trajectory that is resampled.
MOST_INSTANTS = 10**7


class Trajectory:
    """A recorded motion, with the settings that made it.

    Made by :meth:`exposim.scenarios.Scenario.run`, by :class:`exposim.Recorder` of any loop, or read by :meth:`load`.
    Every recorded instant is complete: a simulator continues from ``trajectory.state(i)`` bit for bit.

    Attributes:
        t: Time of each instant [s], (n,).
        q: Configurations, (n, nq).
        v: Velocities, (n, nv).
        tau: Torques of the actuated joints held from each instant on [N·m or N], (n, nu); at the last instant,
            those that led to it. Of drives, what is added to what they do.
        torque: Of the motors, after limits, on average over the step that led to each instant [N·m or N], (n, nu); zero
            at the first.
        position: Of the contact points in the world [m], (n, nc, 3).
        normal: Of the surfaces there, (n, nc, 3); z where a contact has none.
        force: On the robot in the world [N], (n, nc, 3).
        velocity: Of the bodies at the contact points, in the world [m/s], (n, nc, 3).
        target: Of the drives, held from each instant on, (n, nq); (n, 0) of a robot without drives.
        target_velocity: Likewise, (n, nv) or (n, 0).
        wrench: External forces and torques in world axes [N, N·m], held from each instant on, (n, nw, 6): at the frames
            ``columns.wrench``.
        steps: How many led to each instant from the one before, (n,); zero at the first.
        step_size: Of the last of them [s], (n,); zero at the first.
        surface: Which surface each contact touches or belongs to, (n, nc); −1: none.
        mode: What each contact is doing, (n, nc): open, idle, sticking, slipping, bilateral.
        phi0: Gap at which the normal spring of each contact is at rest [m], (n, nc).
        stretch: From each contact's anchor to the point [m], (n, nc, 3).
        friction_stretch: Per degree of freedom with dry friction, of the spring that holds it [rad or m], (n, nf).
        friction_slips: Whether each of them slips, 1 or 0, (n, nf).
        commands: How many targets are on their way to drives with a delay, (n,).
        command_t: When each of them was given [s], (n, nh).
        command_target: What it was, (n, nh, nq).
        command_velocity: And its velocity, (n, nh, nv).
        header: Plain data: ``settings`` of the run, names of all columns, ``outcome``, version of exposim.
        memory: What the controller and sensors remember at the end, by name, and what sensors measured.
    """

    t: Array
    q: Array
    v: Array
    tau: Array
    torque: Array
    position: Array
    normal: Array
    force: Array
    velocity: Array
    target: Array
    target_velocity: Array
    wrench: Array
    steps: NDArray[np.int_]
    step_size: Array
    surface: NDArray[np.int_]
    mode: NDArray[np.int_]
    phi0: Array
    stretch: Array
    friction_stretch: Array
    friction_slips: NDArray[np.int_]
    commands: NDArray[np.int_]
    command_t: Array
    command_target: Array
    command_velocity: Array

    def __init__(
        self,
        arrays: Mapping[str, NDArray[Any]],
        header: Mapping[str, Any],
        memory: Mapping[str, Array] | None = None,
    ):
        self.header = dict(header)
        self._arrays = arrays
        self.memory: Mapping[str, Array] = {} if memory is None else memory
        self._made_with: tuple[Robot, tuple[Surface, ...]] | None = None  # where they are still at hand
        if not isinstance(arrays, Archive):
            check_sizes(arrays, self.header)

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name not in ARRAYS:
            raise AttributeError(f"a Trajectory has no {name!r}; its arrays are {', '.join(ARRAYS)}")
        self._refuse_lacking(name)
        return self._arrays[name]

    @cached_property
    def settings(self) -> RunSettings:
        """What was simulated, and how: scenario, robot, ground, integrator, steps."""
        return self._build(RunSettings, self.header["settings"])

    @cached_property
    def outcome(self) -> Outcome:
        """Whether it finished, or when and how it diverged."""
        return self._build(Outcome, self.header["outcome"])

    @cached_property
    def columns(self) -> Columns:
        """Names of the entries of q, v and tau."""
        return self._build(Columns, self.header["columns"])

    @cached_property
    def contacts(self) -> tuple[ContactColumn, ...]:
        """Which contacts the arrays have, in their order."""
        return tuple(self._build(ContactColumn, each) for each in self.header["contacts"])

    @property
    def active(self) -> NDArray[np.bool_]:
        """Whether each contact touches, (n, nc)."""
        return np.asarray(self.mode != OPEN)

    @property
    def slipping(self) -> NDArray[np.bool_]:
        """Whether each contact slips, or has no force to hold it, (n, nc)."""
        return without_hold(self.mode)

    @cached_property
    def events(self) -> Events:
        """What happened within the steps: contacts that landed, lifted, slipped or stuck, joints at their limits.

        Raises:
            InvalidArgument: If it was loaded from a file of a version that recorded none.
        """
        if not all(name in self._arrays for name in EVENT_ARRAYS):
            self._refuse_lacking("events", EVENT_ARRAYS)
            return self._events(np.zeros(0), *np.zeros((2, 0), dtype=int), *np.zeros((2, 0, 3)))
        t, kind, index, velocity, force = (self._arrays[name] for name in EVENT_ARRAYS)
        good = np.isfinite(t).all() and (np.diff(t) >= 0.0).all() and np.isin(kind, range(len(KINDS))).all()
        of_joints = np.isin(kind, [KINDS.index(each) for each in OF_JOINTS])
        most = np.where(of_joints, len(self.columns.v), len(self.contacts))
        if not good or np.any((index < 0) | (index >= most)):
            where = "" if self.file is None else f"{self.file} is damaged: "
            raise UnreadableFile(f"{where}its events are none of this robot, or not in the order of time")
        return self._events(t, kind, index, velocity, force)

    @property
    def has_events(self) -> bool:
        """Whether they were recorded; files of older versions have none."""
        return not is_lacking("event_t", self.header)

    def _event_arrays(self) -> dict[str, NDArray[Any]]:
        """All of them, or none."""
        return {name: self._arrays[name] for name in EVENT_ARRAYS if name in self._arrays}

    def _events(self, *arrays: NDArray[Any]) -> Events:
        names = Names(self.contact_labels, self.contact_names, self.columns.v)
        return Events(names, *arrays)

    def _refuse_lacking(self, what: str, names: Iterable[str] | None = None) -> None:
        if any(is_lacking(name, self.header) for name in names or (what,)):
            where = "it" if self.file is None else str(self.file)
            raise InvalidArgument(
                f"{where} has no {what}: exposim {self.header.get('exposim')}, which wrote it, did not record them; "
                f"run it again"
            )

    @property
    def resampled(self) -> float | None:
        """Period [s] of one that :meth:`resample` made, of which instants are no complete states."""
        period: float | None = self.header.get("resampled")
        return period

    @cached_property
    def contact_labels(self) -> tuple[str, ...]:
        """Names of the contacts; where a point has several, with the number of the surface, or of a slot."""
        return contact_labels(self.contact_names, [contact.surface for contact in self.contacts])

    @property
    def contact_names(self) -> tuple[str, ...]:
        """Of the contacts, in the order of the arrays."""
        return tuple(contact.name for contact in self.contacts)

    @property
    def readings(self) -> dict[str, dict[str, NDArray[Any]]]:
        """All samples of the scenario's sensors by their names: arrays with a row for each, as their readings have."""
        found: dict[str, dict[str, NDArray[Any]]] = {}
        for key in self.memory:
            if key.startswith(SAMPLES):
                _, name, what = key.split("/", 2)
                found.setdefault(name, {})[what] = self.memory[key]
        return found

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"Trajectory({self.settings.scenario.name!r}, {len(self)} instants, {self.t[0]:g} to {self.t[-1]:g} s)"

    @property
    def file(self) -> Path | None:
        """That it was loaded from, if it was."""
        return self._arrays.path if isinstance(self._arrays, Archive) else None

    def _build(self, kind: type[R], described: Any) -> R:
        """What the header has of a kind."""
        try:
            return kind.build(described)
        except Exception as error:  # the header may hold anything that JSON can
            if self.file is None:
                raise
            raise UnreadableFile(f"the header of {self.file} is damaged, or of another version: {error}") from None

    def state(self, i: int = -1) -> State:
        """The complete state at an instant, for a simulator of the same robot and ground.

        Raises:
            InvalidArgument: Of a trajectory that was resampled.
        """
        if self.resampled is not None:
            raise InvalidArgument(
                f"the trajectory was resampled every {self.resampled:g} s, and has no complete states; "
                f"take one of the trajectory that it was made of"
            )
        try:
            return State(*(self._arrays[name][i] for name in STATE_FIELDS))
        except InvalidArgument as error:
            if self.file is None:
                raise
            raise UnreadableFile(f"{self.file} is damaged: instant {i}: {error}") from None

    def to_dataframe(self) -> pd.DataFrame:
        """One row per instant, one named column per number; what contacts and joints remember is left out."""
        pd = load("pandas")
        names = self.columns.describe()
        columns: dict[str, Any] = {"t": self.t}
        for array, prefix in (("q", "q_"), ("v", "v_"), ("tau", "tau_"), ("torque", "torque_")):
            entries = names["tau" if array == "torque" else array]
            columns |= {prefix + name: self._arrays[array][:, i] for i, name in enumerate(entries)}
        beside = [("position", ""), ("force", "f")]
        beside += [] if is_lacking("velocity", self.header) else [("velocity", "v")]
        for c, contact in enumerate(self.contact_labels):
            for array, prefix in beside:
                columns |= {f"{contact}_{prefix}{axis}": self._arrays[array][:, c, k] for k, axis in enumerate("xyz")}
            columns |= {f"{contact}_{flag}": getattr(self, flag)[:, c] for flag in ("active", "slipping")}
        return pd.DataFrame(columns)

    def forces_at(
        self,
        times: ArrayLike,
        *,
        robot: Robot | None = None,
        ground: Surface | Iterable[Surface] | None = None,
    ) -> Array:
        """Contact forces at any times, also within steps: a force sensor of any rate.

        The steps around them are taken again, from the recorded states and with the recorded inputs; each must end at
        the next recorded instant, bit for bit.

        Args:
            times: Within those of the trajectory [s], (nt,), in any order.
            robot: That moved; by default the one at hand, or loaded again from the file that the settings name.
            ground: That it moved on; by default likewise. A file has none that was written in Python.

        Returns:
            On the robot in the world [N], (nt, nc, 3).

        Raises:
            InvalidArgument: If a time is outside, or what moved the robot was not all recorded.
            StateMismatch: If a step taken again ends elsewhere: with another robot, ground or version of exposim.
        """
        at = _checks.vector("times", times)
        return self._replay(robot, ground).forces(at)

    def resample(
        self,
        period: float,
        *,
        robot: Robot | None = None,
        ground: Surface | Iterable[Surface] | None = None,
    ) -> Trajectory:
        """The same motion at equal intervals, also finer than the steps: what was within them is computed again.

        Configurations, velocities and forces are those of the path that each step took; modes of contacts follow from
        the events. What contacts and joints remember is that of the recorded instant before, so that instants are no
        complete states: see :attr:`resampled`.

        Args:
            period: [s]. From the first instant on; the last one is left out unless it is a multiple.
            robot: As in :meth:`forces_at`.
            ground: Likewise.

        Raises:
            InvalidArgument: As of :meth:`forces_at`.
            StateMismatch: Likewise.
        """
        step = _checks.number("period", period, "[s]", above=0.0)
        replay = self._replay(robot, ground)
        count = (float(self.t[-1]) - float(self.t[0])) / step * (1.0 + 1e-12)
        if count > MOST_INSTANTS:
            raise InvalidArgument(f"period is {period!r}, which makes more than {MOST_INSTANTS} instants; give more")
        arrays = replay.instants(float(self.t[0]) + step * np.arange(int(count + 1e-6) + 1, dtype=float))
        arrays |= self._event_arrays()
        made = Trajectory(arrays, self.header | {"resampled": step})
        made._made_with = self._made_with
        return made

    def _replay(self, robot: Robot | None, ground: Surface | Iterable[Surface] | None) -> Replay:
        if self.resampled is not None:
            raise InvalidArgument(
                f"the trajectory was resampled every {self.resampled:g} s; ask the one that it was made of"
            )
        for name in ("steps", "target"):
            self._refuse_lacking(name)
        own_robot, own_ground = self._made_with or (None, None)
        robot = own_robot if robot is None else robot
        robot = self.settings.robot.load() if robot is None else robot
        ground = own_ground if ground is None else ground
        return Replay(self, robot, self.settings.ground if ground is None else ground)

    def _repr_html_(self) -> str:
        """For notebooks: what was simulated, how it ended, what happened, and a small picture."""
        return page_of(self)

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes a compressed file, all of it or nothing; the suffix is ``.npz``, whose arrays NumPy reads too.

        Raises:
            UnwritableFile: If there is no space, for example; what was there before is then still there.
        """
        target = Path(path)
        contents = {name: self._arrays[name] for name in ARRAYS if not is_lacking(name, self.header)}
        contents |= self._event_arrays()
        contents |= {MEMORY + name: np.asarray(array) for name, array in self.memory.items()}
        write(target, self.header, contents)
        return target

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Trajectory:
        """Opens a file written by :meth:`save`. Its arrays are read when they are first looked at.

        Raises:
            UnknownFile: If there is none.
            UnreadableFile: If it is damaged, or not a trajectory, or of another format; also later, where the damage
                is in an array or in the settings.
        """
        file = Path(path)
        if not file.is_file():
            raise UnknownFile(f"there is no file {file}")
        arrays = Archive(file, TRAJECTORY.what)
        header = read_header(arrays)
        known = [name for name in (*ARRAYS, *EVENT_ARRAYS) if name in arrays]
        check_sizes({name: arrays.describe(name) for name in known}, header, f"{file} is damaged: ")
        return cls(arrays, header, Memory(arrays))


def as_trajectory(given: Trajectory | str | PathLike[str]) -> Trajectory:
    """A trajectory itself, or the one in a file."""
    if isinstance(given, Trajectory):
        return given
    if isinstance(given, (str, PathLike)):
        return Trajectory.load(given)
    raise InvalidArgument(f"trajectory is a {type(given).__name__}; give a Trajectory, or the path of a saved one")
