"""What a simulation recorded, in memory and in a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array
from exposim._extras import load
from exposim._npz import Archive, max_bytes
from exposim._writing import make_parents, writing
from exposim.contact.modes import OPEN, without_hold
from exposim.errors import InvalidArgument, UnknownFile, UnreadableFile
from exposim.simulation.header import Columns, ContactColumn, Outcome
from exposim.simulation.records import Record
from exposim.simulation.settings import RunSettings
from exposim.simulation.state import STATE_FIELDS, State

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "exposim trajectory"
FORMAT_VERSION = 3

# Array by array: what its last axes count, and its kind of number. Those of a state, and what is read beside it.
ARRAYS: dict[str, tuple[tuple[str | int, ...], str]] = {
    **STATE_FIELDS,
    "tau": (("nu",), "f"),
    "torque": (("nu",), "f"),
    "position": (("nc", 3), "f"),
    "normal": (("nc", 3), "f"),
    "force": (("nc", 3), "f"),
}
_MEMORY = "memory/"  # before the names of arrays that a controller remembers
MOST_HEADER_BYTES = 2**24  # four to a character; a run of Romeo has 32 kB

R = TypeVar("R", bound=Record)


class _Array(Protocol):
    """What is checked of an array before its numbers are read."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...


class Trajectory:
    """A recorded motion, with the settings that made it.

    Made by :meth:`exposim.scenarios.Scenario.run`, or read by :meth:`load`. Every recorded instant is complete: a
    simulator continues from ``trajectory.state(i)`` bit for bit.

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
        memory: What the controller remembers at the end, by name.
    """

    t: Array
    q: Array
    v: Array
    tau: Array
    torque: Array
    position: Array
    normal: Array
    force: Array
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
        if not isinstance(arrays, Archive):
            _check_sizes(arrays, self.header)

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name not in ARRAYS:
            raise AttributeError(f"a Trajectory has no {name!r}; its arrays are {', '.join(ARRAYS)}")
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

    @property
    def contact_names(self) -> tuple[str, ...]:
        """Of the contacts, in the order of the arrays."""
        return tuple(contact.name for contact in self.contacts)

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
        """The complete state at an instant, for a simulator of the same robot and ground."""
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
        for c, contact in enumerate(_labels(self.contacts)):
            for array, prefix in (("position", ""), ("force", "f")):
                columns |= {f"{contact}_{prefix}{axis}": self._arrays[array][:, c, k] for k, axis in enumerate("xyz")}
            columns |= {f"{contact}_{flag}": getattr(self, flag)[:, c] for flag in ("active", "slipping")}
        return pd.DataFrame(columns)

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes a compressed file, all of it or nothing; the suffix is ``.npz``, whose arrays NumPy reads too.

        Raises:
            UnwritableFile: If there is no space, for example; what was there before is then still there.
        """
        target = Path(path)
        if target.suffix != ".npz":
            raise InvalidArgument(f"path is {target}; give a name that ends in .npz")
        contents = {name: self._arrays[name] for name in ARRAYS}
        contents |= {_MEMORY + name: np.asarray(array) for name, array in self.memory.items()}
        contents["header"] = np.array(json.dumps(self.header, ensure_ascii=False))
        make_parents(target)
        with writing(target) as stream:
            np.savez_compressed(stream, allow_pickle=False, **contents)
            if sum(array.nbytes for array in contents.values()) > max_bytes(stream.tell()):
                stream.seek(0)  # a long rest packs so well that it could not be told from a file made to do harm
                stream.truncate()
                np.savez(stream, allow_pickle=False, **contents)
        return target

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Trajectory:
        """Opens a file written by :meth:`save`. Its arrays are read when they are first looked at.

        Raises:
            UnknownFile: If there is none.
            UnreadableFile: If it is damaged, or not a trajectory, or of a newer format; also later, where the damage
                is in an array or in the settings.
        """
        file = Path(path)
        if not file.is_file():
            raise UnknownFile(f"there is no file {file}")
        arrays = Archive(file, "a trajectory of exposim")
        header = _header_of(arrays)
        _check_sizes({name: arrays.describe(name) for name in ARRAYS if name in arrays}, header, f"{file} is damaged: ")
        return cls(arrays, header, _Memory(arrays))


def as_trajectory(given: Trajectory | str | PathLike[str]) -> Trajectory:
    """A trajectory itself, or the one in a file."""
    if isinstance(given, Trajectory):
        return given
    if isinstance(given, (str, PathLike)):
        return Trajectory.load(given)
    raise InvalidArgument(f"trajectory is a {type(given).__name__}; give a Trajectory, or the path of a saved one")


class _Memory(Mapping[str, "NDArray[Any]"]):
    """What a controller remembers, read from a file when it is looked at."""

    def __init__(self, arrays: Archive):
        self._arrays = arrays

    def __getitem__(self, name: str) -> NDArray[Any]:
        if _MEMORY + name not in self._arrays:
            raise KeyError(name)
        return self._arrays[_MEMORY + name]

    def __iter__(self) -> Iterator[str]:
        return (name.removeprefix(_MEMORY) for name in self._arrays if name.startswith(_MEMORY))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _header_of(arrays: Archive) -> dict[str, Any]:
    foreign = f"{arrays.path} is not a trajectory of exposim"
    if "header" not in arrays:
        raise UnreadableFile(f"{foreign}: it has no header")
    text = arrays.describe("header")
    if text.shape != () or text.dtype.kind != "U" or text.size > MOST_HEADER_BYTES:
        raise UnreadableFile(f"{foreign}: its header is not a text of at most {MOST_HEADER_BYTES} bytes")
    try:
        header = json.loads(str(arrays["header"]))
        json.dumps(header, ensure_ascii=False).encode()  # halves of characters, which no file or terminal takes
    except (ValueError, RecursionError):
        raise UnreadableFile(f"{foreign}: its header is not JSON") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise UnreadableFile(foreign)
    version = header.get("format_version")
    if version != FORMAT_VERSION:
        older = isinstance(version, int) and version < FORMAT_VERSION
        remedy = "open it with that one, or run it again" if older else "update exposim"
        raise UnreadableFile(
            f"{arrays.path} has format {version!r}, written by exposim {header.get('exposim')}; this version reads "
            f"format {FORMAT_VERSION}: {remedy}"
        )
    return header


def _check_sizes(arrays: Mapping[str, _Array], header: Mapping[str, Any], prefix: str = "") -> None:
    """Every array has as many instants as t and as many columns as the header names."""
    try:
        columns, contacts = Columns.build(header["columns"]), list(map(ContactColumn.build, header["contacts"]))
        steps = Outcome.build(header["outcome"]).steps
        _ = [header["settings"][f.name] for f in fields(RunSettings)]  # which are built when they are looked at
    except Exception:  # the header may hold anything that JSON can
        raise UnreadableFile(f"{prefix}its header lacks the settings or the names of the columns") from None
    sizes = {"nq": len(columns.q), "nv": len(columns.v), "nu": len(columns.tau), "nf": len(columns.friction)}
    if missing := ARRAYS.keys() - arrays.keys():
        raise UnreadableFile(f"{prefix}it has no {', '.join(sorted(missing))}")
    instants = arrays["t"].shape[:1]
    sizes |= {"nc": len(contacts), "nh": sum(arrays["command_t"].shape[1:2])}
    for name, (axes, kind) in ARRAYS.items():
        wanted = (*instants, *(axis if isinstance(axis, int) else sizes[axis] for axis in axes))
        shape, dtype = arrays[name].shape, arrays[name].dtype
        if (shape, dtype.kind) != (wanted, kind) or dtype.itemsize > 8 or not instants or instants[0] == 0:
            raise UnreadableFile(f"{prefix}{name} has shape {shape} and type {dtype}, not {wanted} and kind {kind!r}")
    if steps < instants[0] - 1:
        raise UnreadableFile(f"{prefix}it has {instants[0]} instants of {steps} steps")


def _labels(contacts: tuple[ContactColumn, ...]) -> list[str]:
    """Names of the contacts; where a point has several, with the number of the surface, or of a slot."""
    names = [contact.name for contact in contacts]
    labels = []
    for i, (name, contact) in enumerate(zip(names, contacts, strict=True)):
        which = f"#{names[:i].count(name)}" if contact.surface is None else f"@{contact.surface}"
        labels.append(name if names.count(name) == 1 else name + which)
    return labels
