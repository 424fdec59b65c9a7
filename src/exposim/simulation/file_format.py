"""What a trajectory's arrays are, and whether those of a file fit together."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from exposim._npz import Archive, max_bytes
from exposim._writing import make_parents, writing
from exposim.errors import InvalidArgument, UnreadableFile
from exposim.simulation.header import Columns, ContactColumn, Outcome
from exposim.simulation.settings import RunSettings
from exposim.simulation.state import STATE_FIELDS


class Kind(NamedTuple):
    """Of files.

    Args:
        format: What the header says that it is.
        version: That is written.
        oldest: That is read.
        what: It is called, with its article.
        shown_by: The command that takes it.
    """

    format: str
    version: int
    oldest: int
    what: str
    shown_by: str


TRAJECTORY = Kind("exposim trajectory", 4, 3, "a trajectory of exposim", "exposim view")
FLIGHT = Kind("exposim flight", 1, 1, "a dump of a flight recorder", "exposim replay")
KINDS = (TRAJECTORY, FLIGHT)
FORMAT, FORMAT_VERSION = TRAJECTORY.format, TRAJECTORY.version

# Array by array: what its last axes count, and its kind of number. Those of a state, and what is read beside it.
ARRAYS: dict[str, tuple[tuple[str | int, ...], str]] = {
    **STATE_FIELDS,
    "tau": (("nu",), "f"),
    "torque": (("nu",), "f"),
    "position": (("nc", 3), "f"),
    "normal": (("nc", 3), "f"),
    "force": (("nc", 3), "f"),
    "velocity": (("nc", 3), "f"),
    "target": (("nq of drives",), "f"),
    "target_velocity": (("nv of drives",), "f"),
    "wrench": (("nw", 6), "f"),
    "steps": ((), "i"),
    "step_size": ((), "f"),
}
# Likewise of events, with a row for each.
EVENT_ARRAYS: dict[str, tuple[tuple[int, ...], str]] = {
    "event_t": ((), "f"),
    "event_kind": ((), "i"),
    "event_index": ((), "i"),
    "event_velocity": ((3,), "f"),
    "event_force": ((3,), "f"),
}
# What files have only from version 4 on.
_NEW = ("velocity", "target", "target_velocity", "wrench", "steps", "step_size", *EVENT_ARRAYS)
_NEW_SETTINGS = ("accuracy", "edges", "slots")
MEMORY = "memory/"  # before the names of arrays that a controller remembers
SAMPLES = "samples/"  # behind that, before those of what sensors measured
MOST_HEADER_BYTES = 2**24  # four to a character; a run of Romeo has 32 kB


class _Array(Protocol):
    """What is checked of an array before its numbers are read."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...


class Memory(Mapping[str, "NDArray[Any]"]):
    """What a controller remembers, read from a file when it is looked at."""

    def __init__(self, arrays: Archive):
        self._arrays = arrays

    def __getitem__(self, name: str) -> NDArray[Any]:
        if MEMORY + name not in self._arrays:
            raise KeyError(name)
        return self._arrays[MEMORY + name]

    def __iter__(self) -> Iterator[str]:
        return (name.removeprefix(MEMORY) for name in self._arrays if name.startswith(MEMORY))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def is_lacking(name: str, header: Mapping[str, Any]) -> bool:
    """Whether an array was not recorded yet by the version that wrote a header."""
    return name in _NEW and header["format_version"] < FORMAT_VERSION


def read_header(arrays: Archive, kind: Kind = TRAJECTORY) -> dict[str, Any]:
    """Of a file that should be of a kind.

    Raises:
        UnreadableFile: If it has none, or one of another format.
    """
    foreign = f"{arrays.path} is not {kind.what}"
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
    if not isinstance(header, dict) or header.get("format") != kind.format:
        found = header.get("format") if isinstance(header, dict) else None
        others = [f", but {each.what}: {each.shown_by} takes it" for each in KINDS if each.format == found]
        raise UnreadableFile(foreign + "".join(others))
    version = header.get("format_version")
    if type(version) is not int or not kind.oldest <= version <= kind.version:
        older = isinstance(version, int) and version < kind.oldest
        remedy = "open it with that one, or run it again" if older else "update exposim"
        formats = f"formats {kind.oldest} to {kind.version}" if kind.oldest < kind.version else f"format {kind.version}"
        raise UnreadableFile(
            f"{arrays.path} has format {version!r}, written by exposim {header.get('exposim')}; this version reads "
            f"{formats}: {remedy}"
        )
    return header


def write(target: Path, header: Mapping[str, Any], contents: Mapping[str, NDArray[Any]]) -> None:
    """A compressed file of a header and arrays, all of it or nothing.

    Raises:
        InvalidArgument: If the name does not end in ``.npz``.
        UnwritableFile: If there is no space, for example; what was there before is then still there.
    """
    if target.suffix != ".npz":
        raise InvalidArgument(f"path is {target}; give a name that ends in .npz")
    arrays: dict[str, Any] = {**contents, "header": np.array(json.dumps(header, ensure_ascii=False))}
    make_parents(target)
    with writing(target) as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)
        if sum(array.nbytes for array in arrays.values()) > max_bytes(stream.tell()):
            stream.seek(0)  # a long rest packs so well that it could not be told from a file made to do harm
            stream.truncate()
            np.savez(stream, allow_pickle=False, **arrays)


def versions() -> dict[str, str]:
    """Of this package and of Pinocchio, for a header."""
    metadata: Any = importlib.import_module("importlib.metadata")  # slow to import
    return {"exposim": metadata.version("exposim"), "pinocchio": metadata.version("pin")}


def check_sizes(arrays: Mapping[str, _Array], header: Mapping[str, Any], prefix: str = "") -> None:
    """Every array has as many instants as t and as many columns as the header names.

    Raises:
        UnreadableFile: If not, which begins with the prefix.
    """
    is_old = header.get("format_version") != FORMAT_VERSION
    try:
        columns, contacts = Columns.build(header["columns"]), list(map(ContactColumn.build, header["contacts"]))
        steps = Outcome.build(header["outcome"]).steps
        named = [f.name for f in fields(RunSettings) if not (is_old and f.name in _NEW_SETTINGS)]
        _ = [header["settings"][name] for name in named]  # which are built when they are looked at
        resampled = header.get("resampled")
    except Exception:  # the header may hold anything that JSON can
        raise UnreadableFile(f"{prefix}its header lacks the settings or the names of the columns") from None
    if resampled is not None and (type(resampled) is not float or not 0.0 < resampled < np.inf):
        raise UnreadableFile(f"{prefix}it is resampled by {resampled!r}, which is no period")
    sizes = {"nq": len(columns.q), "nv": len(columns.v), "nu": len(columns.tau), "nf": len(columns.friction)}
    expected = [name for name in ARRAYS if not (is_old and name in _NEW)]
    if missing := set(expected) - arrays.keys():
        raise UnreadableFile(f"{prefix}it has no {', '.join(sorted(missing))}")
    instants = arrays["t"].shape[:1]
    sizes |= {"nc": len(contacts), "nh": sum(arrays["command_t"].shape[1:2]), "nw": len(columns.wrench)}
    has_drives = "target" in arrays and sum(arrays["target"].shape[1:2]) > 0
    sizes |= {f"{each} of drives": sizes[each] if has_drives else 0 for each in ("nq", "nv")}
    for name in expected:
        axes, kind = ARRAYS[name]
        check_array(
            name, arrays[name], (*instants, *(x if isinstance(x, int) else sizes[x] for x in axes)), kind, prefix
        )
    if not instants or instants[0] == 0:
        raise UnreadableFile(f"{prefix}it has no instants")
    if steps < (instants[0] - 1 if resampled is None else 0):
        raise UnreadableFile(f"{prefix}it has {instants[0]} instants of {steps} steps")
    _check_events(arrays, prefix)


def _check_events(arrays: Mapping[str, _Array], prefix: str) -> None:
    """They have their arrays all or none."""
    found = [name for name in EVENT_ARRAYS if name in arrays]
    if found and len(found) < len(EVENT_ARRAYS):
        raise UnreadableFile(f"{prefix}it has no {', '.join(sorted(EVENT_ARRAYS.keys() - found))}")
    for name in found:
        axes, kind = EVENT_ARRAYS[name]
        check_array(name, arrays[name], (*arrays["event_t"].shape[:1], *axes), kind, prefix)


def check_array(name: str, array: _Array, wanted: tuple[int, ...], kind: str, prefix: str) -> None:
    """That it has a shape, and numbers of a kind.

    Raises:
        UnreadableFile: If not, which begins with the prefix.
    """
    shape, dtype = array.shape, array.dtype
    if (shape, dtype.kind) != (wanted, kind) or dtype.itemsize > 8:
        raise UnreadableFile(f"{prefix}{name} has shape {shape} and type {dtype}, not {wanted} and kind {kind!r}")
