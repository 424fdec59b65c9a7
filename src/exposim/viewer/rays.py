"""What rays meet: triangles, by Intel's Embree, and planes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.viewer.terrain_meshes import creased, normals

# Of half the size: pictures have many rays, and need no more.
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Part:
    """Triangles of one colour, shaded smoothly.

    Args:
        vertices: [m], (n, 3).
        normals: At the vertices, of unit length, (n, 3).
        faces: Triangles of the vertices, (m, 3).
        colour: Red, green, blue from 0 to 1.
    """

    vertices: Array
    normals: Array
    faces: NDArray[np.int_]
    colour: tuple[float, ...]

    @classmethod
    def of(cls, vertices: Array, faces: NDArray[np.int_], colour: tuple[float, ...]) -> Part:
        """Of a mesh that already has vertices of its own on both sides of its sharp edges."""
        upright, areas = np.zeros_like(vertices), normals(vertices, faces)
        for k in range(3):
            np.add.at(upright, faces[:, k], areas)
        upright /= np.maximum(np.linalg.norm(upright, axis=1), 1e-300)[:, None]
        return cls(vertices, upright, faces, colour)

    @classmethod
    def of_mesh(cls, vertices: Array, faces: NDArray[np.int_], colour: tuple[float, ...]) -> Part:
        """Of any mesh, also one whose triangles have no vertex in common."""
        if not len(faces):
            return cls(np.empty((0, 3)), np.empty((0, 3)), np.empty((0, 3), dtype=int), colour)
        scale = float(np.abs(vertices).max()) or 1.0
        kept, numbers = np.unique(np.round(vertices / (1e-6 * scale)), axis=0, return_index=True, return_inverse=True)[
            1:
        ]
        return cls.of(*creased(vertices[kept], numbers.ravel()[faces]), colour)

    def moved(self, rotation: Array, translation: Array) -> Part:
        """The same elsewhere; the rotation may stretch, along axes that the normals stay with."""
        return Part(self.vertices @ rotation.T + translation, self.normals @ rotation.T, self.faces, self.colour)


@dataclass(frozen=True)
class Hits:
    """What rays meet first, (n,) each; for those that meet nothing, ``far`` is infinite and the rest means nothing."""

    far: Floats  # along the ray [m]
    normal: Floats  # (n, 3), of unit length
    colour: Floats  # (n, 3)

    @classmethod
    def none(cls, count: int) -> Hits:
        """Of so many rays."""
        normal, colour = np.zeros((2, count, 3), dtype=np.float32)
        return cls(np.full(count, np.inf, dtype=np.float32), normal, colour)

    def nearer(self, other: Hits) -> Hits:
        """Of two, what each ray meets first."""
        behind = self.far > other.far
        if not behind.any():
            return self
        normal, colour = self.normal.copy(), self.colour.copy()
        normal[behind], colour[behind] = other.normal[behind], other.colour[behind]
        return Hits(np.minimum(self.far, other.far), normal, colour)


class Solid:
    """Triangles that rays can be sent at."""

    def __init__(self, parts: list[Part]):
        parts = [part for part in parts if len(part.faces)]
        starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
        self._normals = np.concatenate([np.zeros((0, 3)), *(part.normals for part in parts)]).astype(np.float32)
        faces = [part.faces + start for part, start in zip(parts, starts, strict=False)]
        self._faces = np.concatenate([np.zeros((0, 3), dtype=int), *faces])
        self._colours = np.repeat(
            np.array([part.colour[:3] for part in parts], dtype=np.float32).reshape(-1, 3),
            [len(part.faces) for part in parts],
            axis=0,
        )
        self._scene: EmbreeScene | None = None
        if parts:
            vertices = np.concatenate([part.vertices for part in parts])
            self._scene = EmbreeScene()
            TriangleMesh(self._scene, vertices.astype(np.float32), self._faces.astype(np.int32))

    def hits(self, origin: Array, directions: Floats) -> Hits:
        """What rays from one place [m], (3,), meet."""
        hits = Hits.none(len(directions))
        if self._scene is None:
            return hits
        origins = np.empty_like(directions)
        origins[:] = origin
        found = self._scene.run(origins, directions, output=True)
        met = np.flatnonzero(found["primID"] >= 0)
        faces = found["primID"][met]
        u, v = found["u"][met, None], found["v"][met, None]
        a, b, c = (self._normals[self._faces[faces, k]] for k in range(3))
        turned = (1.0 - u - v) * a + u * b + v * c
        hits.far[met], hits.colour[met] = found["tfar"][met], self._colours[faces]
        hits.normal[met] = turned / np.maximum(np.linalg.norm(turned, axis=1), 1e-30)[:, None]
        return hits

    def hides(self, origins: Floats, direction: Floats) -> NDArray[np.bool_]:
        """Whether it is in the way of rays from places [m], (n, 3), in one direction, (3,)."""
        if self._scene is None or not len(origins):
            return np.zeros(len(origins), dtype=bool)
        directions = np.empty_like(origins)
        directions[:] = direction
        hidden: NDArray[np.bool_] = self._scene.run(origins, directions, query="OCCLUDED") >= 0
        return hidden


def tubes(lines: Array, radius: float, colour: tuple[float, ...]) -> Part:
    """Lines [m], (n, 2, 3), as prisms of three sides."""
    along = lines[:, 1] - lines[:, 0]
    along /= np.maximum(np.linalg.norm(along, axis=1), 1e-300)[:, None]
    across = np.cross(along, np.eye(3)[np.argmin(np.abs(along), axis=1)])
    across /= np.maximum(np.linalg.norm(across, axis=1), 1e-300)[:, None]
    turns = np.radians([0.0, 120.0, 240.0])[:, None, None]
    out = np.cos(turns) * across + np.sin(turns) * np.cross(along, across)  # (3, n, 3)
    vertices = lines[None] + radius * out[:, :, None]  # (3, n, 2, 3): corner, line, end
    number = np.arange(vertices[..., 0].size).reshape(vertices.shape[:3])
    faces = []
    for k in range(3):
        a, b = number[k], number[(k + 1) % 3]
        faces += [np.stack([a[:, 0], b[:, 0], b[:, 1]], axis=1), np.stack([a[:, 0], b[:, 1], a[:, 1]], axis=1)]
    outward = np.broadcast_to(out[:, :, None], vertices.shape)
    return Part(vertices.reshape(-1, 3), outward.reshape(-1, 3), np.concatenate(faces), colour)
