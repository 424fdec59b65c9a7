"""Ground that goes along with what moves: drawn around a place, and anew at the next."""

from __future__ import annotations

import numpy as np

from exposim._checks import Array
from exposim.contact.surfaces import Surface
from exposim.simulation.simulator import Simulator
from exposim.viewer.ground import Look
from exposim.viewer.scene import Scene

# Terrain is drawn anew after so many tiles of the way, and kept for so many places.
STRETCH, KEPT = 8, 32


class TerrainPlaces:
    """The terrain of a scene around places."""

    def __init__(self, scene: Scene):
        self._scene = scene
        self._looks: dict[tuple[int, ...], list[tuple[Look, Look]]] = {}
        self.place: tuple[int, ...] | None = None  # that it is drawn around now, in stretches; none without terrain

    @property
    def terrain(self) -> list[tuple[Look, Look]]:
        """What is drawn now: light and dark tiles of each."""
        return [] if self.place is None else self._looks[self.place]

    def around(self, near: Array) -> list[tuple[Look, Look]]:
        """What is to be drawn where the robot is [m], (3,)."""
        stretch = STRETCH * self._scene.tile
        off = np.inf if self.place is None else np.abs(near / stretch - self.place).max()
        if self._scene.ground.terrain and off > 0.75:  # not back and forth where two places meet
            middle = np.round(near / stretch)
            self.place = tuple(int(part) for part in middle)
            if self.place not in self._looks:
                if len(self._looks) == KEPT:
                    self._looks.clear()
                self._looks[self.place] = self._scene.ground.terrain_looks(
                    stretch * (middle - 0.5), stretch * (middle + 0.5)
                )
        return self.terrain


def world_of(sim: Simulator) -> tuple[Surface, ...]:
    """The surfaces that a simulator was given as its ground: those that stand, and those that links carry."""
    standing = tuple(surface for surface in sim.surfaces if surface.frame is None)
    return standing + tuple(each.shape for each in sim.carried_ground)
