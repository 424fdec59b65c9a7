"""The world in the live page: what stands somewhere, and ground that goes along under the robot."""

from __future__ import annotations

import numpy as np
import viser

from exposim._checks import Array
from exposim.viewer import scene as looks
from exposim.viewer.ground import Look
from exposim.viewer.scene import Scene
from exposim.viewer.terrain_places import TerrainPlaces
from exposim.viewer.tiles import placement, tiles

SHADES = (looks.LIGHT_TILE, looks.DARK_TILE)


class ViserGround:
    """Draws the world of a scene below a node of a page."""

    def __init__(self, scene: Scene, server: viser.ViserServer, root: str):
        self._scene, self._page, self._root = scene, server.scene, root
        self._patches: list[viser.FrameHandle] = []
        self._places = TerrainPlaces(scene)
        for i in range(len(scene.ground.planes)):
            patch = f"{root}/ground/{i}"
            self._patches.append(self._page.add_frame(patch, show_axes=False))
            for shade, colour in enumerate(SHADES):
                vertices, faces = tiles(scene.tile, shade)
                self._page.add_mesh_simple(f"{patch}/{shade}", vertices, faces, color=colour, cast_shadow=False)
        if (solids := scene.ground.solid_look()) is not None:
            self._add(f"{root}/solids", solids, looks.SOLID, is_ground=False)
        self.move(scene.focus(scene.robot.q0[None])[0])

    @property
    def terrain(self) -> list[tuple[Look, Look]]:
        """What is drawn of it now."""
        return self._places.terrain

    def move(self, near: Array) -> None:
        """Puts the patches of ground under the robot, by whole tiles: the ground has no end."""
        for patch, surface in zip(self._patches, self._scene.ground.planes, strict=True):
            place = placement(surface, near, 2.0 * self._scene.tile)
            patch.position, patch.wxyz = place.translation, looks.quaternion_wxyz(place.rotation)
        before = self._places.place
        terrain = self._places.around(near)
        if self._places.place == before:
            return
        for i, shades in enumerate(terrain):
            for shade, (look, colour) in enumerate(zip(shades, SHADES, strict=True)):
                self._add(f"{self._root}/terrain/{i}/{shade}", look, colour, is_ground=True)

    def _add(self, name: str, look: Look, colour: tuple[float, ...], *, is_ground: bool) -> None:
        """A part of the world, in place of what had its name."""
        self._page.add_mesh_simple(
            f"{name}/faces",
            *look.mesh,
            color=np.array(colour),
            side="double",
            cast_shadow=not is_ground,  # not both: it would be darkened by its own
            receive_shadow=is_ground,
        )
        # Half of a line is hidden by the faces that it lies on.
        self._page.add_line_segments(
            f"{name}/edges", look.edges, np.array(looks.EDGE), thickness=2.0, thickness_units="screen"
        )
