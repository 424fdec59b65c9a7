"""How bright what a ray meets is: a sun that casts shadows, light from the sky, ground that fades into the distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.contact.surfaces import HalfSpace
from exposim.viewer import scene as looks
from exposim.viewer.rays import Floats, Hits, Solid

# Towards the sun, before it is made a unit vector, and how bright it is; light from above and from below.
SUN, SUNLIGHT = (0.6, -0.35, 2.2), 0.50
FROM_ABOVE, FROM_BELOW = 0.56, 0.42
SKY, HORIZON = np.array([(0.80, 0.87, 0.95), (0.97, 0.975, 0.98)], dtype=np.float32)
# Planes fade into the horizon between these distances from what is looked at, in tiles.
FADE = (12.0, 40.0)


@dataclass(frozen=True)
class Stage:
    """All that rays may meet, and the light on it.

    Args:
        solids: What casts shadows.
        shining: What casts none, and is seen in its own colour.
        planes: Ground without an end, in tiles.
        tile: Edge of a tile [m].
        focus: What is looked at [m], (3,).
        size: Of the robot [m].
    """

    solids: Sequence[Solid]
    shining: Sequence[Solid]
    planes: Sequence[HalfSpace]
    tile: float
    focus: Array
    size: float

    def colours(self, origin: Array, directions: Floats, pixel: float) -> Floats:
        """Of what rays of so many radians across see, from one place [m], (n, 3)."""
        found = Hits.none(len(directions))
        for solid in self.solids:
            found = found.nearer(solid.hits(origin, directions))
        for plane in self.planes:
            found = found.nearer(self._hits_of(plane, origin, directions, pixel))
        seen = HORIZON + np.clip(directions[:, 2:] / 0.6, 0.0, 1.0) * (SKY - HORIZON)
        met = np.flatnonzero(np.isfinite(found.far))
        places = origin.astype(np.float32) + found.far[met, None] * directions[met]
        # Meshes of files have faces that look inwards.
        inward = np.einsum("ij,ij->i", found.normal[met], directions[met]) > 0.0
        normal = np.where(inward[:, None], -found.normal[met], found.normal[met])
        first, last = (tiles * self.tile for tiles in FADE)
        away = np.linalg.norm(places[:, :2] - self.focus[:2].astype(np.float32), axis=1)
        clear = np.clip((last - away) / (last - first), 0.0, 1.0)[:, None] ** 2
        lit = found.colour[met] * self._light(places, normal)[:, None]
        seen[met] += clear * (lit - seen[met])
        for shining in self.shining:
            drawn = shining.hits(origin, directions)
            in_front = np.flatnonzero(drawn.far < found.far)
            facing = np.abs(np.einsum("ij,ij->i", drawn.normal[in_front], directions[in_front]))
            seen[in_front] = drawn.colour[in_front] * (0.75 + 0.25 * facing)[:, None]
        clipped: Floats = np.clip(seen, 0.0, 1.0)
        return clipped

    def _light(self, places: Floats, normal: Floats) -> Floats:
        sun = np.array(SUN, dtype=np.float32) / np.float32(np.linalg.norm(SUN))
        bright = np.maximum(normal @ sun, 0.0)
        facing = np.flatnonzero(bright > 0.0)
        off = places[facing] + 2e-3 * self.size * normal[facing]
        hidden = np.zeros(len(facing), dtype=bool)
        for solid in self.solids:
            hidden |= solid.hides(off, sun)
        bright[facing[hidden]] = 0.0
        up = 0.5 + 0.5 * normal[:, 2]
        light: Floats = FROM_BELOW + up * (FROM_ABOVE - FROM_BELOW) + SUNLIGHT * bright
        return light

    def _hits_of(self, plane: HalfSpace, origin: Array, directions: Floats, pixel: float) -> Hits:
        hits = Hits.none(len(directions))
        upright = np.array(plane.normal)
        height = float((origin - plane.point) @ upright)
        down = -(directions @ upright.astype(np.float32))
        met = np.flatnonzero(down * height > 1e-6 * abs(height))
        far = hits.far[met] = height / down[met]
        turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), upright).toRotationMatrix()[:, :2]
        along = directions[met] @ turn.astype(np.float32)
        at = ((origin - plane.point) @ turn).astype(np.float32) + far[:, None] * along
        # What a ray covers: longer the flatter it comes in, which the tiles are averaged over.
        along = np.abs(along) / np.maximum(np.linalg.norm(along, axis=1), 1e-6)[:, None]
        cover = (far * pixel)[:, None] * (along[:, ::-1] + along / np.maximum(np.abs(down[met]), 1e-4)[:, None])
        wave = _waves(at / self.tile, np.maximum(cover / self.tile, 1e-3))
        dark = 0.5 - 0.5 * wave[:, :1] * wave[:, 1:]
        hits.colour[met] = looks.LIGHT_TILE + dark * np.subtract(looks.DARK_TILE, looks.LIGHT_TILE).astype(np.float32)
        hits.normal[:] = upright
        return hits


def _waves(at: Floats, width: Floats) -> Floats:
    """Of a wave that is 1 on [0, 1), −1 on [1, 2), 1 again on [2, 3) ..., the average around places."""

    def integral(x: Floats) -> Any:
        return 1.0 - 2.0 * np.abs((x / 2.0) % 1.0 - 0.5)

    averages: Floats = (integral(at + width / 2.0) - integral(at - width / 2.0)) / width
    return averages
