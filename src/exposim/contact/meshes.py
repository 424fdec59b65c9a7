"""Ground and bodies by meshes of triangles."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exposim import _checks, _core, _extras
from exposim._checks import Array
from exposim._npz import Archive
from exposim._writing import make_parents, writing
from exposim.contact.materials import Material
from exposim.contact.mesh_files import Faces, closed_mesh, read_bytes
from exposim.contact.mesh_hulls import convex_hull, read_any
from exposim.contact.shapes import Quaternion, checked_position, checked_rotation, placed
from exposim.contact.surfaces import CoreSurface, Point
from exposim.errors import InvalidArgument, MissingExtra, UnreadableFile, UnwritableFile

_CELLS = 64  # along the longest side, unless it is said otherwise
_CELLS_OF_HULL = 24  # of which robots have dozens, and which are not true to the shape anyway
_CELLS_ACROSS_HULL = 6  # along the shortest side
_CELLS_ACROSS = (3, 2)  # along the shortest side of anything else, or what memory allows; with fewer it is hardly felt
_MARGIN = 4  # cells around the mesh, and a tenth of its size
_MOST_OF_SIZE = 7  # cells that this tenth has at most
_MOST_VALUES = 30_000_000  # a quarter of a gigabyte
_PATIENCE = 2.0  # [s] after which one is told how far it has come
_METHOD = "splines of distances 1"  # another one makes other numbers


@dataclass(frozen=True)
class Mesh(CoreSurface):
    """A closed mesh of triangles, or the convex hull of any, from a file, made smooth.

    Its signed distance is computed once on a grid and interpolated by a cubic spline: no facets are felt, and edges
    are rounded off by about a cell. Grids are kept in the user's cache folder (``$XDG_CACHE_HOME/exposim``, or
    ``~/.cache/exposim``) and made again where they are missing or damaged. Farther out than a tenth of its size, or ten
    cells, the distance is that of the triangles.

    Args:
        path: Of an STL or OBJ file. Its triangles must enclose a volume: every edge has two, which face the same way;
            those that all face inwards are turned around. Of a hull, any file that Coal reads (STL, OBJ, DAE, PLY...).
        scale: Metres per unit of the file; of a hull also three numbers, along the file's axes, of which some may be
            negative: it is a mirror image then.
        position: Of the file's origin [m], in the world or in ``frame``.
        rotation: Quaternion x, y, z, w, from the file's axes to those of the world or of ``frame``.
        material: Of the contact.
        frame: Of the robot that carries it, by name; ``None``: it is part of the world.
        resolution: Size of a cell of the grid [m], at most the mesh's shortest side; ``None``: 1/64 of its longest
            side, 1/24 of a hull's (where that is more than a sixth of its shortest side: that, but not less than 1/64).
            What is so thin that it would not be felt has smaller ones, a third or half of its shortest side.
        hull: Whether its convex hull is taken, which needs no closed mesh.
        sha256: Of the file, by which it is told from another one of that name; found by itself.

    Raises:
        UnknownFile: If there is no such file.
        UnreadableFile: If it is damaged, or encloses nothing; of a hull, if all corners are in a plane.
    """

    path: str | os.PathLike[str]
    scale: float | Sequence[float] = 1.0
    position: Point = (0.0, 0.0, 0.0)
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)
    material: Material = field(default_factory=Material, kw_only=True)
    frame: str | None = field(default=None, kw_only=True)
    resolution: float | None = field(default=None, kw_only=True)
    hull: bool = field(default=False, kw_only=True)
    sha256: str | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        self._check_material_and_frame()
        if not isinstance(self.path, (str, os.PathLike)):
            raise InvalidArgument(f"path is {self.path!r}; give the path of a mesh")
        object.__setattr__(self, "path", str(Path(self.path).absolute()))
        object.__setattr__(self, "hull", _checks.flag("hull", self.hull))
        object.__setattr__(self, "scale", self._checked_scale())
        object.__setattr__(self, "position", checked_position(self.position))
        object.__setattr__(self, "rotation", checked_rotation(self.rotation))
        if self.resolution is not None:
            resolution = _checks.number("resolution", self.resolution, "[m]", above=0.0)
            object.__setattr__(self, "resolution", resolution)
        if self.sha256 is None:  # otherwise it has been read before, and may not be there where a file of results is
            data = self._read()
            sha256 = hashlib.sha256(data).hexdigest()
            vertices, _ = self._corners_and_triangles(data, sha256)
            _Grid.around(vertices, self._spacing(vertices))
            object.__setattr__(self, "sha256", sha256)

    def _checked_scale(self) -> float | tuple[float, ...]:
        """Three numbers only where they are not one."""
        if not self.hull or np.ndim(self.scale) == 0:
            return _checks.number("scale", self.scale, "[m per unit of the file]", above=0.0)
        x, y, z = _checks.vector("scale", self.scale, 3, "one number, or three along x, y, z").tolist()
        if not (x and y and z):
            raise InvalidArgument(f"scale is {self.scale!r}; give three numbers other than 0")
        return x if x == y == z > 0.0 else (x, y, z)

    def _read(self) -> bytes:
        return read_any(Path(self.path)) if self.hull else read_bytes(Path(self.path))

    def _corners_and_triangles(self, data: bytes, sha256: str) -> tuple[Array, Faces]:
        if not self.hull:
            vertices, faces = closed_mesh(Path(self.path), data)
            return np.asarray(self.scale) * vertices, faces
        vertices, faces = convex_hull(Path(self.path), sha256)
        is_mirrored = np.prod(np.sign(self.scale)) < 0.0
        return np.asarray(self.scale) * vertices, np.ascontiguousarray(faces[:, ::-1]) if is_mirrored else faces

    def triangles(self) -> tuple[Array, Faces]:
        """Corners [m], (n, 3), before they are turned and moved, and triangles, (m, 3); of a hull, its own.

        Raises:
            UnknownFile: If the file is gone.
            UnreadableFile: If it has changed.
        """
        data = self._read()
        sha256 = hashlib.sha256(data).hexdigest()
        if sha256 != self.sha256:
            raise UnreadableFile(
                f"{self.path} has changed since this mesh was made; make a new one: Mesh({str(self.path)!r})"
            )
        return self._corners_and_triangles(data, sha256)

    def _spacing(self, vertices: Array) -> float:
        """Size of the cells [m]: as fine as the mesh asks for."""
        sides = np.ptp(vertices, axis=0)
        longest, shortest = float(sides.max()), float(sides.min())
        if self.resolution is not None:
            if self.resolution > shortest:
                raise InvalidArgument(
                    f"resolution is {self.resolution:g} m, of a mesh that is {shortest:.3g} m thin and would be lost; "
                    f"give at most {shortest / _CELLS_ACROSS[-1]:.2g}"
                )
            return self.resolution
        spacing = longest / _CELLS
        if self.hull:
            spacing = max(spacing, min(longest / _CELLS_OF_HULL, shortest / _CELLS_ACROSS_HULL))
        finer = [min(spacing, shortest / across) for across in _CELLS_ACROSS]
        counts = [_Grid.count(sides, each) for each in finer]
        for each, count in zip(finer, counts, strict=True):
            if count <= _MOST_VALUES:
                return each
        if self.hull:  # of which robots may have some for the eye
            return spacing
        raise InvalidArgument(
            f"{self.path} is {longest:.3g} m long and {shortest:.3g} m thin, for which a grid would have "
            f"{counts[-1]:.2g} cells, and more than {_MOST_VALUES:.0e} are not taken; give resolution={shortest:.2g} "
            f"if a coarse one will do, an exposim.Box, or smaller parts"
        )

    @cached_property
    def _made(self) -> _core.Surface:
        vertices, faces = self.triangles()
        exact = _core.Triangles(vertices, faces)
        grid = _Grid.around(vertices, self._spacing(vertices))
        key = f"{_METHOD}{' of the hull' if self.hull else ''} {self.sha256} {self.scale!r} {grid.spacing!r}"
        kept = _cache() / f"{hashlib.sha256(key.encode()).hexdigest()}.npz"
        values = _read(kept, grid.size)
        if values is None:
            values = grid.fill(exact, Path(self.path).name)
            _write(kept, values)
        shape = _core.DistanceGrid(values.reshape(-1), np.array(grid.size, np.int32), grid.low, grid.spacing, exact)
        return placed(shape, self.position, self.rotation)


@dataclass(frozen=True, eq=False)
class _Grid:
    """Where distances are computed."""

    low: Array
    spacing: float
    size: tuple[int, int, int]

    @classmethod
    def around(cls, vertices: Array, spacing: float) -> _Grid:
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        longest = float((high - low).max())
        if not (count := cls.count(high - low, spacing)) <= _MOST_VALUES:
            raise InvalidArgument(
                f"resolution is {spacing:g} m, which makes {count:.2g} cells of a mesh of {longest:.3g} m; give "
                f"{longest / 150.0:.2g} or more"
            )
        x, y, z = cls._size(high - low, spacing).astype(int).tolist()
        return cls(low - cls._margin(longest, spacing), spacing, (x, y, z))

    @classmethod
    def count(cls, sides: Array, spacing: float) -> float:
        """Of the cells that it would have."""
        return float(cls._size(sides, spacing).prod())

    @classmethod
    def _size(cls, sides: Array, spacing: float) -> Array:
        return np.asarray(np.ceil((sides + 2.0 * cls._margin(float(sides.max()), spacing)) / spacing) + 1.0)

    @staticmethod
    def _margin(longest: float, spacing: float) -> float:
        return _MARGIN * spacing + min(0.1 * longest, _MOST_OF_SIZE * spacing)

    def fill(self, exact: _core.Triangles, name: str) -> Array:
        """Coefficients of a spline of the triangles' distances, (nx, ny, nz)."""
        x, y, z = (start + self.spacing * np.arange(n) for start, n in zip(self.low, self.size, strict=True))
        plane = np.stack(np.meshgrid([0.0], y, z, indexing="ij"), axis=-1).reshape(-1, 3)
        values = np.empty(self.size)
        for i in _patiently(range(len(x)), f"distances of {name}"):
            plane[:, 0] = x[i]
            values[i] = exact.distances(plane).reshape(len(y), len(z))
        return _coefficients(values)


def _coefficients(values: Array) -> Array:
    """Of a cubic B-spline that is close to values on a grid.

    With the values themselves the spline would be smooth but off by a sixth of their Laplacian, so that is taken away:
    of values that have been smoothed, or the facets of a mesh, of about a cell, would come back as curvature.
    """
    smooth, result = values, values
    for _ in range(2):
        for axis in range(3):
            before, after = _beside(smooth, axis)
            smooth = (before + 4.0 * smooth + after) / 6.0
    for axis in range(3):
        before, after = _beside(smooth, axis)
        result = result - (before - 2.0 * smooth + after) / 6.0
    return result


def _beside(values: Array, axis: int) -> tuple[Array, Array]:
    """The neighbours before and after every value along an axis; beyond the border they go on straight."""
    width = [(1, 1) if each == axis else (0, 0) for each in range(3)]
    padded = np.pad(values, width, mode="reflect", reflect_type="odd")
    count = values.shape[axis]
    return np.take(padded, range(count), axis), np.take(padded, range(2, count + 2), axis)


def _cache() -> Path:
    folder = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(folder) if Path(folder).is_absolute() else Path.home() / ".cache") / "exposim" / "meshes"


def _read(path: Path, size: tuple[int, int, int]) -> Array | None:
    """What was kept of an earlier time, if it is whole."""
    try:
        values: NDArray[Any] = Archive(path, "a grid of distances")["values"]
    except UnreadableFile:
        return None
    whole = values.shape == size and values.dtype == np.float64 and bool(np.isfinite(values).all())
    return values if whole else None


def _write(path: Path, values: Array) -> None:
    with suppress(UnwritableFile):  # then it is computed again the next time
        make_parents(path)
        with writing(path) as stream:
            np.savez_compressed(stream, values=values)


def _patiently(items: Iterable[int], what: str) -> Iterator[int]:
    """The items; from a while on, a bar on the standard error shows how far one has come."""
    todo = list(items)
    begun = perf_counter()
    bar: Any = None
    try:
        for i, each in enumerate(todo):
            yield each
            if bar is None and perf_counter() - begun > _PATIENCE:
                bar = _bar(what, len(todo))
            if bar is not None:
                bar.update(0, completed=i + 1)
    finally:
        if bar is not None:
            bar.stop()


def _bar(what: str, total: int) -> Any:
    """Of rich, if that is installed."""
    try:
        progress, console = _extras.load("rich.progress"), _extras.load("rich.console")
    except MissingExtra:
        return None
    screen = console.Console(stderr=True)
    bar = progress.Progress(console=screen, transient=True, disable=not screen.is_terminal)
    bar.add_task(what, total=total)
    bar.start()
    return bar
