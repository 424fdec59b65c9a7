"""Surfaces as triangles, in the axes of their frames: shapes as they are, ground without an end around a place."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch

import numpy as np
import pinocchio as pin
import trimesh
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.contact.meshes import Mesh
from exposim.contact.shapes import Box, Capsule, Cylinder, Sphere
from exposim.contact.surfaces import HalfSpace, Surface
from exposim.viewer.drape import Cloth, Region, Triangles
from exposim.viewer.tiles import placement

# Faces that meet at a smaller angle are shown as one that bends, at a larger one with a line along their edge [rad].
CREASE, LINE = np.radians(30.0), np.radians(50.0)
# How many times an icosahedron is divided into a ball; and corners of a round section.
FINENESS, SECTIONS = 3, 40


def mesh_of(surface: Surface, near: Array, size: float) -> Triangles:
    """Triangles of a surface, in the axes of its frame, with the normals out of it.

    Args:
        surface: Whole if it has an end; otherwise what is seen of it from above.
        near: Around where, if it has no end [m], (3,).
        size: Edge of the square that is drawn of it then [m].

    Returns:
        Vertices [m], (n, 3), and triangles of them, (m, 3).
    """
    own = shape_mesh(surface)
    if own is not None:
        return own
    if isinstance(surface, HalfSpace):
        corners = size * (np.array([(0.0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]) - (0.5, 0.5, 0.0))
        plane = placement(surface, near, size / 48)
        return corners @ plane.rotation.T + plane.translation, np.array([(0, 1, 2), (0, 2, 3)])
    middle = np.array(near, dtype=float)
    vertices, faces, _ = Cloth.over(surface.distance, Region(middle, middle, size / 2, size / 48, 1e-3)).triangles()
    return used(vertices, faces)


@singledispatch
def shape_mesh(surface: Surface, fineness: int = FINENESS) -> Triangles | None:
    """Triangles of a surface that has an end; none of others. Round ones get finer with their fineness."""
    return None


@shape_mesh.register
def _(surface: Box, fineness: int = FINENESS) -> Triangles:
    return _drawn(surface, trimesh.creation.box(surface.size))


@shape_mesh.register
def _(surface: Sphere, fineness: int = FINENESS) -> Triangles:
    ball = trimesh.creation.icosphere(subdivisions=fineness, radius=surface.radius)
    return np.array(ball.vertices) + np.array(surface.position), np.array(ball.faces)


@shape_mesh.register
def _(surface: Capsule, fineness: int = FINENESS) -> Triangles:
    sections = max(8, SECTIONS >> (FINENESS - fineness))
    count = [sections, sections // 2]
    return _drawn(surface, trimesh.creation.capsule(surface.length, surface.radius, count=count))


@shape_mesh.register
def _(surface: Cylinder, fineness: int = FINENESS) -> Triangles:
    sections = max(8, SECTIONS >> (FINENESS - fineness))
    return _drawn(surface, trimesh.creation.cylinder(surface.radius, surface.length, sections=sections))


@shape_mesh.register
def _(surface: Mesh, fineness: int = FINENESS) -> Triangles:
    vertices, faces = surface.triangles()
    return _placed(surface, vertices, faces.astype(int))


def pose_of(surface: Surface) -> pin.SE3:
    """Of a shape in its frame; where it has no position or rotation, as the frame itself."""
    turn = pin.Quaternion(np.array(getattr(surface, "rotation", (0.0, 0.0, 0.0, 1.0)), dtype=float))
    at = np.array(getattr(surface, "position", (0.0, 0.0, 0.0)), dtype=float)
    return pin.SE3(turn.normalized().toRotationMatrix(), at)


def _drawn(surface: Surface, mesh: trimesh.Trimesh) -> Triangles:
    return _placed(surface, np.array(mesh.vertices), np.array(mesh.faces))


def _placed(surface: Surface, vertices: Array, faces: NDArray[np.int_]) -> Triangles:
    pose = pose_of(surface)
    return vertices @ pose.rotation.T + pose.translation, faces


# What is done with triangles.


def joined(meshes: Iterable[Triangles]) -> Triangles:
    """Several meshes as one."""
    vertices, faces, count = [np.empty((0, 3))], [np.empty((0, 3), dtype=int)], 0
    for own, corners in meshes:
        vertices.append(own)
        faces.append(corners + count)
        count += len(own)
    return np.concatenate(vertices), np.concatenate(faces)


def used(vertices: Array, faces: NDArray[np.int_]) -> Triangles:
    """Without the vertices that no face has."""
    kept, corners = np.unique(faces, return_inverse=True)
    return vertices[kept], corners.reshape(faces.shape)


def creased(vertices: Array, faces: NDArray[np.int_]) -> Triangles:
    """The same triangles with vertices of their own on both sides of sharp edges, which smooth shading then shows."""
    one, other = _shared_edges(faces)
    smooth = _angles(vertices, faces, one // 3, other // 3) < CREASE
    # Corners of triangles that share a vertex and are on the same smooth sheet get the same lowest number.
    ends = [(one, _next(other)), (_next(one), other)]  # neighbours run along their edge in opposite directions
    a, b = (np.concatenate([pair[k][smooth] for pair in ends]) for k in (0, 1))
    sheet = np.arange(faces.size)
    while True:
        before = sheet.copy()
        np.minimum.at(sheet, a, before[b])
        np.minimum.at(sheet, b, before[a])
        sheet = sheet[sheet]
        if (sheet == before).all():
            break
    corners, numbers = np.unique(sheet, return_inverse=True)
    return vertices[faces.ravel()[corners]], numbers.reshape(faces.shape)


def sharp_edges(vertices: Array, faces: NDArray[np.int_]) -> Array:
    """Edges at which faces meet at an angle [m], (n, 2, 3)."""
    one, other = _shared_edges(faces)
    sharp = one[_angles(vertices, faces, one // 3, other // 3) > LINE]
    return np.stack([vertices[faces.ravel()[sharp]], vertices[faces.ravel()[_next(sharp)]]], axis=1)


def _shared_edges(faces: NDArray[np.int_]) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """Pairs of corners, numbered along all faces, from which the edge to the next corner is the same; (n,) each."""
    ends = np.stack([faces.ravel(), faces[:, [1, 2, 0]].ravel()], axis=1)
    key = ends.min(axis=1) * (faces.max(initial=0) + 1) + ends.max(axis=1)
    order = np.argsort(key, kind="stable")
    pairs = np.flatnonzero(key[order][1:] == key[order][:-1])
    return order[pairs], order[pairs + 1]


def _next(corner: NDArray[np.int_]) -> NDArray[np.int_]:
    return corner - corner % 3 + (corner + 1) % 3


def normals(vertices: Array, faces: NDArray[np.int_]) -> Array:
    """Out of the faces, as long as their area [m²], (m, 3)."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    outward: Array = np.cross(b - a, c - a) / 2.0
    return outward


def _angles(vertices: Array, faces: NDArray[np.int_], one: NDArray[np.int_], other: NDArray[np.int_]) -> Array:
    """Between the normals of pairs of faces [rad]."""
    normal = normals(vertices, faces)
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    angles: Array = np.arccos(np.einsum("ij,ij->i", normal[one], normal[other]).clip(-1.0, 1.0))
    return angles
