"""Pinocchio's visualizer for viser, for all shapes that a robot may have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import viser
from pinocchio.visualize import ViserVisualizer

from exposim.viewer.robot_meshes import triangles
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
