"""What a world consists of for a viewer: planes, terrain around the motion, shapes, and what links carry."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.contact.surfaces import HalfSpace, NamedSurface, Surface, surfaces_of
from exposim.errors import ModelWarning
from exposim.viewer.drape import Cloth, Region, Triangles
from exposim.viewer.terrain_meshes import FINENESS, creased, joined, shape_mesh, sharp_edges, used

# Tiles to every side of what moves, and along an edge of the whole at most.
MARGIN, MOST_TILES = 24, 150
# How close triangles are to the ground near what moves, in parts of the robot's size.
TOLERANCE = 3e-3
# Above so many triangles round shapes get coarser.
MOST_TRIANGLES = 200_000
# What is on a surface or less below it counts as hidden by it [m].
HIDDEN = 1e-6


@dataclass(frozen=True)
class Look:
    """A mesh that is ready to be drawn with smooth shading, and lines along its sharp edges.

    Args:
        mesh: Vertices [m], (n, 3), and triangles of them, (m, 3).
        edges: Ends of lines [m], (k, 2, 3).
    """

    mesh: Triangles
    edges: Array


@dataclass(frozen=True)
class Ground:
    """The surfaces of a world, by the way in which they are drawn.

    Args:
        planes: Drawn as tiles without an end.
        terrain: Seen from above around the motion, in tiles too: without an end, or much larger than the robot.
        solids: Shapes that stand somewhere, drawn as they are.
        carried: Surfaces that move with links.
        tile: Edge of a tile [m].
        size: Of the robot [m].
    """

    planes: tuple[HalfSpace, ...]
    terrain: tuple[Surface, ...]
    solids: tuple[Surface, ...]
    carried: tuple[Surface, ...]
    tile: float
    size: float

    @classmethod
    def of(cls, ground: Surface | Iterable[Surface] | None, tile: float, size: float) -> Ground:
        """Sorts surfaces.

        Warns:
            ModelWarning: If there are some that cannot be drawn, with what to do.
        """
        sorts: dict[str, list[Surface]] = {"planes": [], "terrain": [], "solids": [], "carried": []}
        for surface in surfaces_of(ground):
            sort = _sort(surface, MARGIN * tile)
            if sort is not None:
                sorts[sort].append(surface)
        return cls(**{sort: tuple(found) for sort, found in sorts.items()}, tile=tile, size=size)  # type: ignore[arg-type]

    @property
    def has_tiles(self) -> bool:
        """Whether tiles show its scale."""
        return bool(self.planes or self.terrain)

    def solid_look(self) -> Look | None:
        """All shapes that stand somewhere, as one mesh: a thousand of them cost no more than one."""
        if not self.solids:
            return None
        for fineness in range(FINENESS, 0, -1):
            mesh = joined(filter(None, (shape_mesh(each, fineness) for each in self.solids)))
            if len(mesh[1]) < MOST_TRIANGLES:
                break
        return Look(creased(*mesh), sharp_edges(*mesh))

    def terrain_looks(self, low: Array, high: Array) -> list[tuple[Look, Look]]:
        """Light and dark tiles of every terrain around robots whose middle moves between two corners [m], (3,) each.

        Warns:
            ModelWarning: Of what raises an error instead.
        """
        middle, most = (low + high) / 2.0, (MOST_TILES / 2 - MARGIN) * self.tile
        low, high = np.maximum(low, middle - most) - self.size, np.minimum(high, middle + most) + self.size
        region = Region(low, high, MARGIN * self.tile, self.tile, TOLERANCE * self.size)
        looks, hiding = [], list[Surface](self.planes)
        for surface in self.terrain:
            try:
                vertices, faces, dark = Cloth.over(surface.distance, region).triangles()
                hidden = np.zeros(len(vertices), dtype=bool)
                for other in hiding:
                    hidden |= other.distance(vertices) <= HIDDEN
            except Exception as error:  # of a surface written by anybody
                say_not_drawn(surface, error)
                looks.append((_NOTHING, _NOTHING))
                continue
            hiding.append(surface)
            seen = ~hidden[faces].all(axis=1)
            looks.append(_two_shades(vertices, faces[seen], dark[seen]))
        return looks


def say_not_drawn(surface: Surface, error: Exception | str) -> None:
    """Warns of a surface that is left out."""
    name = surface.name if isinstance(surface, NamedSurface) else type(surface).__name__
    warnings.warn(f"surface {name} is not drawn: {error}", ModelWarning, stacklevel=3)


def _sort(surface: Surface, large: float) -> str | None:
    """How a surface is drawn, if it is, with what is larger than so much [m] as terrain."""
    if isinstance(surface, HalfSpace):
        return "planes"
    if isinstance(surface, NamedSurface):
        say_not_drawn(surface, "a file has its name alone; give the surface itself (ground=...)")
        return None
    if surface.frame is not None:
        return "carried"
    try:
        own = shape_mesh(surface, 1)
    except Exception as error:  # a file of a mesh that is missing or damaged
        say_not_drawn(surface, error)
        return None
    return "terrain" if own is None or float(np.ptp(own[0], axis=0).max()) > large else "solids"


_NOTHING = Look((np.empty((0, 3)), np.empty((0, 3), dtype=int)), np.empty((0, 2, 3)))


def _two_shades(vertices: Array, faces: NDArray[np.int_], dark: NDArray[np.bool_]) -> tuple[Look, Look]:
    if not len(faces):
        return _NOTHING, _NOTHING
    edges = sharp_edges(vertices, faces)
    sheets, corners = creased(vertices, faces)
    light = Look(used(sheets, corners[~dark]), edges)
    return light, Look(used(sheets, corners[dark]), _NOTHING.edges)
