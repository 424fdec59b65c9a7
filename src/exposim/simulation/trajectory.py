"""What a simulation recorded, in memory and in a file."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array
from exposim._extras import load
from exposim.contact.modes import OPEN, without_hold
from exposim.errors import InvalidArgument, UnknownFile, UnreadableFile
from exposim.simulation.header import Columns, ContactColumn, Outcome
from exposim.simulation.settings import RunSettings
from exposim.simulation.state import STATE_FIELDS, State

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "exposim trajectory"
FORMAT_VERSION = 2

# Array by array: what its last axes count, and its kind of number. Those of a state, and what is read beside it.
ARRAYS: dict[str, tuple[tuple[str | int, ...], str]] = {
    **STATE_FIELDS,
    "tau": (("nu",), "f"),
    "position": (("nc", 3), "f"),
    "normal": (("nc", 3), "f"),
    "force": (("nc", 3), "f"),
}
_MEMORY = "memory/"  # before the names of arrays that a controller remembers


class Trajectory:
    """A recorded motion, with the settings that made it.

    Made by :meth:`exposim.scenarios.Scenario.run`, or read by :meth:`load`. Every recorded instant is complete: a
    simulator continues from ``trajectory.state(i)`` bit for bit.

    Attributes:
        t: Time of each instant [s], (n,).
        q: Configurations, (n, nq).
        v: Velocities, (n, nv).
        tau: Torques of the actuated joints held from each instant on [N·m or N], (n, nu); at the last instant,
            those that led to it.
        position: Of the contact points in the world [m], (n, nc, 3).
        normal: Of the surfaces there, (n, nc, 3); z where a contact has none.
        force: On the robot in the world [N], (n, nc, 3).
        surface: Which surface each contact touches or belongs to, (n, nc); −1: none.
        mode: What each contact is doing, (n, nc): open, idle, sticking, slipping, bilateral.
        phi0: Gap at which the normal spring of each contact is at rest [m], (n, nc).
        stretch: From each contact's anchor to the point [m], (n, nc, 3).
        header: Plain data: ``settings`` of the run, names of all columns, ``outcome``, version of exposim.
        memory: What the controller remembers at the end, by name.
    """

    t: Array
    q: Array
    v: Array
    tau: Array
    position: Array
    normal: Array
    force: Array
    surface: NDArray[np.int_]
    mode: NDArray[np.int_]
    phi0: Array
    stretch: Array

    def __init__(
        self,
        arrays: Mapping[str, NDArray[Any]],
        header: Mapping[str, Any],
        memory: Mapping[str, Array] | None = None,
    ):
        self.header = dict(header)
        self._arrays = arrays
        self.memory: Mapping[str, Array] = {} if memory is None else memory
        if not isinstance(arrays, _LazyArrays):
            _check_shapes({name: (array.shape, array.dtype.kind) for name, array in arrays.items()}, self.header)

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name not in ARRAYS:
            raise AttributeError(f"a Trajectory has no {name!r}; its arrays are {', '.join(ARRAYS)}")
        return self._arrays[name]

    @cached_property
    def settings(self) -> RunSettings:
        """What was simulated, and how: scenario, robot, ground, integrator, steps."""
        return RunSettings.build(self.header["settings"])

    @cached_property
    def outcome(self) -> Outcome:
        """Whether it finished, or when and how it diverged."""
        return Outcome.build(self.header["outcome"])

    @cached_property
    def columns(self) -> Columns:
        """Names of the entries of q, v and tau."""
        return Columns.build(self.header["columns"])

    @cached_property
    def contacts(self) -> tuple[ContactColumn, ...]:
        """Which contacts the arrays have, in their order."""
        return tuple(map(ContactColumn.build, self.header["contacts"]))

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

    def state(self, i: int = -1) -> State:
        """The complete state at an instant, for a simulator of the same robot and ground."""
        return State(*(self._arrays[name][i] for name in STATE_FIELDS))

    def to_dataframe(self) -> pd.DataFrame:
        """One row per instant, one named column per number; what contacts remember is left out."""
        pd = load("pandas")
        names = self.columns.describe()
        columns: dict[str, Any] = {"t": self.t}
        for array, prefix in (("q", "q_"), ("v", "v_"), ("tau", "tau_")):
            columns |= {prefix + name: self._arrays[array][:, i] for i, name in enumerate(names[array])}
        for c, contact in enumerate(_labels(self.contacts)):
            for array, prefix in (("position", ""), ("force", "f")):
                columns |= {f"{contact}_{prefix}{axis}": self._arrays[array][:, c, k] for k, axis in enumerate("xyz")}
            columns |= {f"{contact}_{flag}": getattr(self, flag)[:, c] for flag in ("active", "slipping")}
        return pd.DataFrame(columns)

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes a compressed file, all of it or nothing; the suffix is ``.npz``, whose arrays NumPy reads too."""
        target = Path(path)
        if target.suffix != ".npz":
            raise InvalidArgument(f"path is {target}; give a name that ends in .npz")
        target.parent.mkdir(parents=True, exist_ok=True)
        contents = {name: self._arrays[name] for name in ARRAYS}
        contents |= {_MEMORY + name: np.asarray(array) for name, array in self.memory.items()}
        contents["header"] = np.array(json.dumps(self.header, ensure_ascii=False))
        unfinished = target.with_name(f"{target.name}.{os.getpid()}.part")
        try:
            with unfinished.open("wb") as stream:
                np.savez_compressed(stream, allow_pickle=False, **contents)
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
        return target

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Trajectory:
        """Opens a file written by :meth:`save`. Its arrays are read when they are first looked at.

        Raises:
            UnknownFile: If there is none.
            UnreadableFile: If it is damaged, or not a trajectory, or of a newer format.
        """
        file = Path(path)
        if not file.is_file():
            raise UnknownFile(f"there is no file {file}")
        lazy = _LazyArrays(file)
        header = lazy.header()
        _check_shapes(lazy.shapes(), header, f"{file} is damaged: ")
        memory = {name.removeprefix(_MEMORY): lazy[name] for name in lazy if name.startswith(_MEMORY)}
        return cls(lazy, header, memory)


class _LazyArrays(Mapping[str, "NDArray[Any]"]):
    """The arrays of a file, each read at first use and kept."""

    def __init__(self, path: Path):
        self._path = path
        self._version = self._stat()
        self._read: dict[str, NDArray[Any]] = {}
        try:
            with zipfile.ZipFile(path) as archive:
                self._names = [name.removesuffix(".npy") for name in archive.namelist()]
        except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise UnreadableFile(f"{path} is not a trajectory of exposim, or is damaged: {error}") from None

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._read:
            array = np.lib.format.read_array(io.BytesIO(self._bytes(name)), allow_pickle=False)
            array.flags.writeable = False
            self._read[name] = array
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def header(self) -> dict[str, Any]:
        foreign = f"{self._path} is not a trajectory of exposim"
        if "header" not in self._names:
            raise UnreadableFile(f"{foreign}: it has no header")
        try:
            header = json.loads(str(self["header"]))
        except ValueError:
            raise UnreadableFile(f"{foreign}: its header is not JSON") from None
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise UnreadableFile(foreign)
        version = header.get("format_version")
        if version != FORMAT_VERSION:
            older = isinstance(version, int) and version < FORMAT_VERSION
            remedy = "open it with that one, or run it again" if older else "update exposim"
            raise UnreadableFile(
                f"{self._path} has format {version!r}, written by exposim {header.get('exposim')}; this version reads "
                f"format {FORMAT_VERSION}: {remedy}"
            )
        return header

    def shapes(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """Shape and kind of every array, without reading it."""
        result: dict[str, tuple[tuple[int, ...], str]] = {}
        with zipfile.ZipFile(self._path) as archive:
            for name in ARRAYS.keys() & self._names:
                try:
                    with archive.open(name + ".npy") as stream:
                        version = np.lib.format.read_magic(stream)
                        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else None
                        shape, _, dtype = (read or np.lib.format.read_array_header_2_0)(stream)
                except (OSError, ValueError, zipfile.BadZipFile, zlib.error) as error:
                    raise UnreadableFile(f"{self._path} is damaged: {name}: {error}") from None
                result[name] = (shape, dtype.kind)
        return result

    def _bytes(self, name: str) -> bytes:
        if self._stat() != self._version:
            raise UnreadableFile(f"{self._path} has changed since it was opened; load it again")
        if name not in self._names:
            raise UnreadableFile(f"{self._path} is damaged: it has no {name!r}")
        try:
            with zipfile.ZipFile(self._path) as archive:
                return archive.read(name + ".npy")
        except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
            raise UnreadableFile(f"{self._path} is damaged: {name}: {error}") from None

    def _stat(self) -> tuple[int, int]:
        try:
            found = self._path.stat()
        except OSError as error:
            raise UnreadableFile(f"{self._path} cannot be read: {error.strerror}") from None
        return found.st_mtime_ns, found.st_size


def _check_shapes(
    shapes: Mapping[str, tuple[tuple[int, ...], str]], header: Mapping[str, Any], prefix: str = ""
) -> None:
    """Every array has as many instants as t and as many columns as the header names."""
    try:
        columns = header["columns"]
        sizes = {"nq": len(columns["q"]), "nv": len(columns["v"]), "nu": len(columns["tau"])}
        sizes["nc"] = len(header["contacts"])
        _ = [header["outcome"][f.name] for f in fields(Outcome)], [c["name"] for c in header["contacts"]]
        _ = [header["settings"][f.name] for f in fields(RunSettings)]
    except (KeyError, TypeError):
        raise UnreadableFile(f"{prefix}its header lacks the settings or the names of the columns") from None
    if missing := ARRAYS.keys() - shapes.keys():
        raise UnreadableFile(f"{prefix}it has no {', '.join(sorted(missing))}")
    instants = shapes["t"][0][:1]
    for name, (axes, kind) in ARRAYS.items():
        wanted = (*instants, *(axis if isinstance(axis, int) else sizes[axis] for axis in axes))
        if shapes[name] != (wanted, kind) or not instants or instants[0] == 0:
            raise UnreadableFile(
                f"{prefix}{name} has shape {shapes[name][0]} and kind {shapes[name][1]!r}, not {wanted} and {kind!r}"
            )


def _labels(contacts: tuple[ContactColumn, ...]) -> list[str]:
    """Names of the contacts; where a point has several, with the number of the surface, or of a slot."""
    names = [contact.name for contact in contacts]
    labels = []
    for i, (name, contact) in enumerate(zip(names, contacts, strict=True)):
        which = f"#{names[:i].count(name)}" if contact.surface is None else f"@{contact.surface}"
        labels.append(name if names.count(name) == 1 else name + which)
    return labels
