"""Arrays in ``.npz`` files that anybody may have written: what is in them is known before it is unpacked."""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from exposim.errors import UnreadableFile

# A file may unpack to so many bytes, or to so many times its own size if that is more: two megabytes of deflated
# zeros are two gigabytes.
MOST_BYTES = 2**30
MOST_TIMES = 100

_SUFFIX = ".npy"
_MAGIC = b"\x93NUMPY\x01\x00"  # the only version that NumPy writes for arrays of numbers and texts
_DESCRIPTION = re.compile(
    r"\{'descr': '(?P<dtype>[<>|=]?[?biufcSU]\d*)', 'fortran_order': (?P<fortran>True|False), "
    r"'shape': \((?P<shape>(?:\d{1,18},? ?)*)\), \} *\n"
)


@dataclass(frozen=True)
class Description:
    """What an array is, without its numbers.

    Args:
        shape: Of the array.
        dtype: Of its entries.
        order: ``"C"`` or ``"F"``, as in NumPy.
        start: Bytes of the file before the numbers.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: Literal["C", "F"]
    start: int

    @property
    def size(self) -> int:
        """Of the numbers [bytes]."""
        return prod(self.shape) * self.dtype.itemsize


class Archive(Mapping[str, "NDArray[Any]"]):
    """The arrays of a file by name, each unpacked at first use and kept, read-only.

    Raises:
        UnreadableFile: At once if it is no such file or unpacks to too much, and later if an array is damaged.
    """

    def __init__(self, path: Path, what: str):
        self.path = path
        self._version = self._stat()
        self._read: dict[str, NDArray[Any]] = {}
        try:
            with zipfile.ZipFile(path) as archive:
                self._members = {each.filename.removesuffix(_SUFFIX): each for each in archive.infolist()}
                twice = len(archive.infolist()) > len(self._members)
        except Exception as error:  # zipfile has many for files that are none
            raise UnreadableFile(f"{path} is not {what}, or is damaged: {error}") from None
        if twice:
            raise UnreadableFile(f"{path} is damaged: it has the same array twice")
        total, most = sum(each.file_size for each in self._members.values()), max_bytes(path.stat().st_size)
        if total > most:
            raise UnreadableFile(
                f"{path} is not {what}, or is damaged: it would unpack to {total / 1e9:.3g} GB, "
                f"more than the {most / 1e9:.3g} GB that a file of its size may have"
            )

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._read:
            self._read[name] = self._unpack(name)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def describe(self, name: str) -> Description:
        """Shape and type of an array, without unpacking it."""
        with self._open(name) as (stream, member):
            return self._describe(stream, member)

    def _unpack(self, name: str) -> NDArray[Any]:
        with self._open(name) as (stream, member):
            description = self._describe(stream, member)
            data = stream.read(description.size)
            if len(data) != description.size:
                raise ValueError("it ends too early")
            array: NDArray[Any] = np.ndarray(description.shape, description.dtype, data, order=description.order)
            array.flags.writeable = False
            return array

    @contextmanager
    def _open(self, name: str) -> Iterator[tuple[IO[bytes], zipfile.ZipInfo]]:
        """One array, packed; within, whatever goes wrong is said of it."""
        if self._stat() != self._version:
            raise UnreadableFile(f"{self.path} has changed since it was opened; load it again")
        if name not in self._members:
            raise UnreadableFile(f"{self.path} is damaged: it has no {name!r}")
        member = self._members[name]
        try:
            # Of the other methods zipfile unpacks all that a block holds, however little is asked for.
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError("it is packed in another way than NumPy packs arrays")
            with zipfile.ZipFile(self.path) as archive, archive.open(member) as stream:
                yield stream, member
        except Exception as error:  # zipfile, zlib and NumPy have many
            raise UnreadableFile(f"{self.path} is damaged: {name}: {error or type(error).__name__}") from None

    def _describe(self, stream: IO[bytes], member: zipfile.ZipInfo) -> Description:
        start = stream.read(len(_MAGIC) + 2)
        if len(start) != len(_MAGIC) + 2 or not start.startswith(_MAGIC):
            raise ValueError("it is no array")
        (length,) = struct.unpack("<H", start[len(_MAGIC) :])
        found = _DESCRIPTION.fullmatch(stream.read(length).decode("latin-1"))
        if found is None:
            raise ValueError("it is no array of numbers or texts; pickled objects, which could run code, are not read")
        shape = tuple(int(each) for each in re.findall(r"\d+", found["shape"]))
        description = Description(
            shape, np.dtype(found["dtype"]), "F" if found["fortran"] == "True" else "C", len(start) + length
        )
        if description.start + description.size != member.file_size:
            raise ValueError(f"it has {member.file_size} bytes, which do not make an array of shape {shape}")
        return description

    def _stat(self) -> tuple[int, int]:
        try:
            found = self.path.stat()
        except OSError as error:
            raise UnreadableFile(f"{self.path} cannot be read: {error.strerror}") from None
        return found.st_mtime_ns, found.st_size


def max_bytes(size: int) -> int:
    """To which a file of a size [bytes] may unpack."""
    return max(MOST_BYTES, MOST_TIMES * size)
