"""Triangles from STL and OBJ files, and whether they enclose something."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.errors import InvalidArgument, UnknownFile, UnreadableFile

Faces = NDArray[np.int32]

SUFFIXES = (".stl", ".obj")
_HEADER = 84  # bytes of a binary STL file before its triangles
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def read_bytes(path: Path, suffixes: Sequence[str] = SUFFIXES) -> bytes:
    """Of a file of triangles.

    Args:
        path: Of the file.
        suffixes: That it may have; none for any.

    Raises:
        InvalidArgument: If its name says that it is something else.
        UnknownFile: If it is not there.
        UnreadableFile: If the system refuses.
    """
    wanted = " or ".join(suffixes)
    if suffixes and path.suffix.lower() not in suffixes:
        raise InvalidArgument(f"path is {str(path)!r}; give a file of triangles, {wanted}")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UnknownFile(f"there is no file {path}; give the path of a mesh{wanted and ', '}{wanted}") from None
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # a name that no file has
        raise InvalidArgument(f"path is {str(path)!r}: {error}; give the path of a mesh") from None


def closed_mesh(path: Path, data: bytes) -> tuple[Array, Faces]:
    """Corners (n, 3) and triangles (m, 3), counterclockwise seen from outside.

    Raises:
        UnreadableFile: If it is damaged, or does not enclose anything; says by how much.
    """
    try:
        corners = _obj(data) if path.suffix.lower() == ".obj" else _stl(data)
    except (ValueError, IndexError, UnicodeDecodeError, OverflowError) as error:
        raise UnreadableFile(f"{path} is no mesh, or is damaged: {error}") from None
    if not len(corners) or not np.isfinite(corners).all():
        raise UnreadableFile(f"{path} has {'no triangles' if not len(corners) else 'coordinates that are not finite'}")
    vertices, index = np.unique((corners + 0.0).reshape(-1, 3), axis=0, return_inverse=True)
    faces = index.reshape(-1, 3).astype(np.int32)
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]  # what is a line or a point encloses nothing
    return vertices, outwards(path, vertices, faces)


def outwards(path: Path, vertices: Array, faces: Faces) -> Faces:
    """Triangles (m, 3) that all face the same way, counterclockwise seen from outside.

    Raises:
        UnreadableFile: If they do not enclose anything; says by how much.
    """
    _check_closed(path, faces, len(vertices))
    with np.errstate(all="ignore"):  # of sizes that no number holds
        p = (vertices - vertices[0]) / np.ptp(vertices, axis=0).max()
        volume = np.einsum("ij,ij->", p[faces[:, 0]], np.cross(p[faces[:, 1]], p[faces[:, 2]])) / 6.0
    if not abs(volume) > 1e-9:
        raise UnreadableFile(f"{path} encloses no volume; give a mesh with an inside")
    return np.ascontiguousarray(faces[:, ::-1]) if volume < 0.0 else faces


def _check_closed(path: Path, faces: Faces, count: int) -> None:
    start, end = faces.reshape(-1), np.roll(faces, -1, axis=1).reshape(-1)
    low, high = np.minimum(start, end).astype(np.int64), np.maximum(start, end).astype(np.int64)
    _, of_edge, uses = np.unique(low * count + high, return_inverse=True, return_counts=True)
    ways = np.bincount(of_edge, np.where(start < end, 1, -1), len(uses))
    found = {
        "open, with one triangle": int((uses == 1).sum()),
        "shared by more than two": int((uses > 2).sum()),
        "between triangles that face opposite ways": int(((uses == 2) & (ways != 0)).sum()),
    }
    if any(found.values()) or not len(faces):
        wrong = "; ".join(f"{n} {what}" for what, n in found.items() if n)
        raise UnreadableFile(
            f"{path} encloses nothing: of its {len(uses)} edges, {wrong}. Each must have two triangles that face the "
            f"same way: close the mesh and merge its parts in a mesh editor, for example with trimesh or Blender"
        )


def _stl(data: bytes) -> Array:
    """Corners of the triangles, (m, 3, 3), of a binary or an ASCII file."""
    count = int.from_bytes(data[80:_HEADER], "little")
    length = _HEADER + _TRIANGLE.itemsize * count
    if len(data) == length:
        return np.frombuffer(data, _TRIANGLE, offset=_HEADER)["corners"].astype(float)
    words = data.decode("ascii", errors="ignore").split()
    if not data.isascii() or not words or words[0].lower() != "solid":
        binary = f"its header says {count} triangles, which take {length} bytes, and it has {len(data)}"
        raise ValueError(f"{binary if len(data) >= _HEADER else 'it is shorter than a header'}; it is no text either")
    at = [i + 1 for i, word in enumerate(words) if word.lower() == "vertex"]
    return np.array([[float(each) for each in words[i : i + 3]] for i in at]).reshape(-1, 3, 3)


def _obj(data: bytes) -> Array:
    """Corners of the triangles, (m, 3, 3); faces with more corners are fans of triangles."""
    vertices: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for line in data.decode("utf-8", errors="replace").splitlines():
        what, *words = line.split() or [""]
        if what == "v":
            vertices.append([float(each) for each in words[:3]])
        elif what == "f":
            numbers = [int(each.split("/")[0]) for each in words]
            corners = [n - 1 if n > 0 else len(vertices) + n for n in numbers]
            if len(corners) < 3 or not all(0 <= each < len(vertices) for each in corners):
                raise ValueError(f"it has a face {' '.join(words)!r}, whose corners it does not have")
            triangles += [(corners[0], one, other) for one, other in pairwise(corners[1:])]
    return np.asarray(np.array(vertices).reshape(-1, 3)[np.array(triangles, dtype=int).reshape(-1, 3)])
