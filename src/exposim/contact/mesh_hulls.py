"""Corners of mesh files of any format that Coal reads, and their convex hulls."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np

from exposim._checks import Array
from exposim.contact.mesh_files import Faces, outwards, read_bytes
from exposim.errors import ExposimError, UnreadableFile, reason

# Meshes of robots have some megabytes at the most.
LARGEST_MESH = 2**28
# Of the extent along each axis: corners closer than that are one, so that no facets are close to none.
_FINEST = 2.0**-20
# Of the same: what is thinner in some direction is flat. Coal ends the process if its hull has no volume.
_THINNEST = 1e-4


def read_any(path: Path) -> bytes:
    """Of a mesh file in any format.

    Raises:
        UnknownFile: If it is not there.
        UnreadableFile: If it is too large, or the system refuses.
    """
    with suppress(OSError, ValueError):  # which reading tells of
        _refuse_large(path.stat().st_size, path)
    return read_bytes(path, ())


def vertices(path: Path, scale: Sequence[float] = (1.0, 1.0, 1.0)) -> Array:
    """Corners of a mesh, each once, scaled [m], (n, 3).

    Raises:
        UnreadableFile: If there are none, or the file cannot be read.
    """
    try:
        status = path.stat()
        _refuse_large(status.st_size, path)
        found = _read_vertices(path, status.st_size, status.st_mtime_ns)
    except ExposimError:
        raise
    except Exception as error:  # Boost.Python turns C++ errors into many types
        raise UnreadableFile(f"{path} is no mesh that can be read: {reason(error)}") from None
    if len(found) == 0 or not np.isfinite(found).all():
        raise UnreadableFile(f"{path} has no vertices, or some that are not finite")
    scaled: Array = found * np.array(scale)
    return scaled


@cache
def convex_hull(path: Path, sha256: str) -> tuple[Array, Faces]:
    """Corners (n, 3) and triangles (m, 3), counterclockwise seen from outside, of the convex hull of a mesh.

    Args:
        path: Of the mesh.
        sha256: Of the file, by which another one of that name is told.

    Raises:
        UnreadableFile: If the file cannot be read, or all is in a plane.
    """
    del sha256
    found = vertices(path)
    low, high = found.min(axis=0), found.max(axis=0)
    with np.errstate(over="ignore"):
        extent = high - low
    flat = f"the corners of {path} are all in a plane, and have no volume between them"
    if not np.isfinite(extent).all():
        raise UnreadableFile(f"{path} has corners that are too far apart")
    if not (extent > np.finfo(float).tiny).all():
        raise UnreadableFile(flat)
    # A hull stays one however it is stretched; of a plate, a cube is easier to find.
    p = np.unique(np.round((found - low) / extent / _FINEST) * _FINEST, axis=0)
    axes = np.linalg.svd(p - p.mean(axis=0), full_matrices=False)[2]
    if len(p) < 4 or np.ptp(p @ axes.T, axis=0).min() < _THINNEST:
        raise UnreadableFile(flat)
    corners, faces = _hull_of(p, path)
    corners = low + corners * extent
    faces = outwards(path, corners, faces)
    corners.flags.writeable = faces.flags.writeable = False
    return corners, faces


def _hull_of(p: Array, path: Path) -> tuple[Array, Faces]:
    """Corners and triangles that all face outwards."""
    coal = import_module("coal")
    points = coal.StdVec_Vec3s()
    points.extend(list(p))
    for how in ("Qt", "QJ"):  # the second moves points by 1e-11, where too many triangles share a corner
        with suppress(RuntimeError, ValueError):
            hull = coal.ConvexBase.convexHull(points, True, how)
            break
    else:
        raise UnreadableFile(f"{path} has no convex hull that can be found")
    corners = np.array(hull.points(), dtype=float).reshape(-1, 3)
    triangles = map(hull.polygons, range(hull.num_polygons))
    faces = np.array([(each[0], each[1], each[2]) for each in triangles], dtype=np.int32)
    a, b, c = (corners[faces[:, k]] for k in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c - 3.0 * corners.mean(axis=0)) < 0.0
    faces[inwards] = faces[inwards, ::-1]
    return corners, faces


def _refuse_large(size: int, path: Path) -> None:
    if size > LARGEST_MESH:
        raise UnreadableFile(f"{path} is larger than {LARGEST_MESH >> 20} MB")


@cache
def _read_vertices(path: Path, size: int, changed: int) -> Array:
    del size, changed  # by which another file of that name is told
    coal = import_module("coal")
    mesh = coal.MeshLoader(coal.NODE_TYPE.BV_AABB).load(str(path), np.ones(3))
    found = np.unique(np.array(mesh.vertices(), dtype=float).reshape(-1, 3), axis=0)
    found.flags.writeable = False
    return found
