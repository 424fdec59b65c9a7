"""Pinocchio's visualizer for viser, for all shapes that a robot may have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pinocchio as pin
import trimesh
import viser
from numpy.typing import NDArray
from pinocchio.visualize import ViserVisualizer

from exposim.viewer.scene import Scene


class ViserRobot(ViserVisualizer):  # type: ignore[misc]
    """Draws meshes of every format and scale, capsules, cones and ellipsoids, which Pinocchio's own leaves out."""

    def __init__(self, scene: Scene, server: viser.ViserServer, root: str):
        # Pinocchio scales the places of the shapes instead of the shapes; ours are scaled, so places must not be.
        shapes = scene.shapes.copy()
        self._scales = {shape.name: np.array(shape.meshScale) for shape in shapes.geometryObjects}
        for shape in shapes.geometryObjects:
            shape.meshScale = np.ones(3)
        super().__init__(scene.robot.model, pin.GeometryModel(), shapes)
        self.initViewer(viewer=server)
        self.loadViewerModel(rootNodeName=root)

    def loadViewerGeometryObject(
        self, geometry_object: pin.GeometryObject, prefix: str = "", color: Any = None
    ) -> None:
        """Adds one shape to the page."""
        mesh = triangles(geometry_object, self._scales[geometry_object.name])
        if mesh is None:
            super().loadViewerGeometryObject(geometry_object, prefix, color)
            return
        name = f"{prefix}/{geometry_object.name}"
        colour = geometry_object.meshColor if color is None else color
        self.frames[name] = self.viewer.scene.add_mesh_simple(
            name,
            mesh.vertices,
            mesh.faces,
            color=tuple(float(part) for part in colour[:3]),
            opacity=float(colour[3]) if colour[3] < 1.0 else None,
            flat_shading=True,
            side="double",
        )


def triangles(shape: pin.GeometryObject, scale: Any) -> trimesh.Trimesh | None:
    """The surface of a shape; none for boxes, spheres and cylinders, which viser knows itself."""
    geometry = shape.geometry
    if isinstance(geometry, coal.BVHModelBase):
        if Path(shape.meshPath).suffix.lower() in (".stl", ".obj") and Path(shape.meshPath).is_file():
            mesh = trimesh.load_mesh(shape.meshPath)
            return trimesh.Trimesh(mesh.vertices * scale, mesh.faces, process=False)
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


def _corners(triangle: Callable[[int], Any], count: int) -> NDArray[np.int_]:
    return np.array([[corners[i] for i in range(3)] for corners in map(triangle, range(count))])
