"""The shapes of a robot as triangles."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import trimesh
from numpy.typing import NDArray

from exposim._checks import Array
from exposim._extras import load
from exposim.viewer.terrain_meshes import joined

# Vertices [m], (n, 3), triangles of them, (m, 3), and red, green, blue from 0 to 1.
Coloured = tuple[Array, NDArray[np.int_], tuple[float, ...]]


def triangles(shape: pin.GeometryObject, scale: Any) -> trimesh.Trimesh | None:
    """The surface of a shape; none for boxes, spheres and cylinders, which viser knows itself."""
    geometry = shape.geometry
    if isinstance(geometry, coal.BVHModelBase):
        if Path(shape.meshPath).suffix.lower() in (".stl", ".obj") and Path(shape.meshPath).is_file():
            mesh = trimesh.load_mesh(shape.meshPath)
            return trimesh.Trimesh(mesh.vertices * scale, mesh.faces, process=False)
        if parts := _collada(shape, scale):
            return trimesh.Trimesh(*joined(part[:2] for part in parts), process=False)
        faces = _corners(geometry.tri_indices, geometry.num_tris)
        return trimesh.Trimesh(np.array(geometry.vertices()), faces, process=False)
    if isinstance(geometry, coal.ConvexBase):
        faces = _corners(geometry.polygons, geometry.num_polygons)
        return trimesh.Trimesh(np.array(geometry.points()), faces, process=False)
    drawn: trimesh.Trimesh | None = None
    if isinstance(geometry, coal.Capsule):
        drawn = trimesh.creation.capsule(2.0 * geometry.halfLength, geometry.radius)
    elif isinstance(geometry, coal.Cone):
        drawn = trimesh.creation.cone(geometry.radius, 2.0 * geometry.halfLength)
        drawn.apply_translation((0.0, 0.0, -geometry.halfLength))
    elif isinstance(geometry, coal.Ellipsoid):
        drawn = trimesh.creation.icosphere(subdivisions=3)
        drawn.apply_scale(geometry.radii)
    return drawn


def coloured(shape: pin.GeometryObject) -> list[Coloured]:
    """All parts of a shape with their colours; of one that has no end, none."""
    colour, geometry = tuple(float(part) for part in shape.meshColor[:3]), shape.geometry
    if parts := _collada(shape, np.array(shape.meshScale)):
        return parts  # with the colours of the file, as in the replay
    drawn = triangles(shape, np.array(shape.meshScale))
    if isinstance(geometry, coal.Box):
        drawn = trimesh.creation.box(2.0 * np.array(geometry.halfSide))
    elif isinstance(geometry, coal.Sphere):
        drawn = trimesh.creation.icosphere(subdivisions=3, radius=geometry.radius)
    elif isinstance(geometry, coal.Cylinder):
        drawn = trimesh.creation.cylinder(geometry.radius, 2.0 * geometry.halfLength, sections=40)
    return [] if drawn is None else [(np.array(drawn.vertices), np.array(drawn.faces), colour)]


def _collada(shape: pin.GeometryObject, scale: Any) -> list[Coloured]:
    """Parts of a mesh in a Collada file, of which Coal mixes up those that have several materials.

    Nothing of other files, nor where units or axes are understood in another way than Pinocchio does.
    """
    path = Path(shape.meshPath)
    if path.suffix.lower() != ".dae" or not path.is_file():
        return []
    parts = _read_collada(path, path.stat().st_mtime_ns)
    placed = [(vertices * scale, faces, colour) for vertices, faces, colour in parts]
    if not placed:
        return []
    here, there = (_box(each) for each in (np.concatenate([part[0] for part in placed]), shape.geometry.vertices()))
    return placed if np.allclose(here, there, rtol=0.0, atol=1e-3 * float(np.ptp(there, axis=0).max())) else []


@lru_cache(maxsize=128)
def _read_collada(path: Path, _changed: int) -> list[Coloured]:
    load("collada")  # which trimesh reads them with
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        scene = trimesh.load_scene(path)
    parts = []
    for node in scene.graph.nodes_geometry:
        pose, name = scene.graph[node]
        mesh = scene.geometry[name]
        if isinstance(mesh, trimesh.Trimesh):
            vertices = np.array(mesh.vertices) @ pose[:3, :3].T + pose[:3, 3]
            parts.append((vertices, np.array(mesh.faces), _colour(mesh)))
    return parts


def _colour(mesh: trimesh.Trimesh) -> tuple[float, ...]:
    visual: Any = mesh.visual
    colour = visual.material.main_color if visual.kind == "texture" else visual.main_color
    return tuple(float(part) / 255.0 for part in colour[:3])


def _box(vertices: Any) -> Array:
    points = np.array(vertices)
    return np.array([points.min(axis=0), points.max(axis=0)])


def _corners(triangle: Callable[[int], Any], count: int) -> NDArray[np.int_]:
    return np.array([[corners[i] for i in range(3)] for corners in map(triangle, range(count))])
