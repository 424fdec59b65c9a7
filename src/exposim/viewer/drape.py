"""Ground of any kind as triangles: a cloth laid over a signed distance from above, finer where it bends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array

Distance = Callable[[Array], Array]
Triangles = tuple[Array, NDArray[np.int_]]

# Lines of a cloth along each of its axes, at most; and parts that a tile has at least and at most.
MOST_LINES = 360
COARSE, FINE = 2, 512
# The ground is looked for from above in steps of at least this part of the depth that is searched.
STEP = 1 / 1024
# A slope between lines where a wall may be, how level the normal of one is, and how much alike they have to be directed
# for the cloth to be turned to them.
STEEP, LEVEL, ALIKE = 0.3, 0.95, 0.95


@dataclass(frozen=True)
class Region:
    """What is looked at, as a box, and how closely.

    Args:
        low: Lowest x, y, z of what moves [m], (3,).
        high: Highest [m], (3,).
        margin: Around it, to every side [m].
        tile: Edge of a tile [m].
        tolerance: By which flat triangles may miss the ground near what moves [m], but for a few; more, further away.
    """

    low: Array
    high: Array
    margin: float
    tile: float
    tolerance: float


def heights(distance: Distance, x: Array, y: Array, bottom: float, top: float) -> Array:
    """Highest z of the surface over points x, y [m], (n,); NaN where there is none between bottom and top."""
    p = np.column_stack([x, y, np.full(len(x), top)])
    z = np.full(len(x), np.nan)
    least = STEP * (top - bottom)
    gap = distance(p)
    falling = np.flatnonzero(gap > 0.0)
    above, below = np.full(len(x), top), np.full(len(x), np.nan)
    gap = gap[falling]
    while len(falling):
        above[falling] = p[falling, 2]
        p[falling, 2] -= np.maximum(gap, least)
        gap = distance(p[falling])
        landed = gap <= 0.0
        below[falling[landed]] = p[falling[landed], 2]
        on = ~landed & (p[falling, 2] > bottom)
        falling, gap = falling[on], gap[on]
    found = np.flatnonzero(np.isfinite(below))
    above, below = above[found], below[found]
    while len(found) and np.max(above - below) > 1e-9 * (top - bottom):
        p[found, 2] = middle = (above + below) / 2.0
        inside = distance(p[found]) <= 0.0
        above, below = np.where(inside, above, middle), np.where(inside, middle, below)
    z[found] = (above + below) / 2.0
    return z


@dataclass(frozen=True)
class Cloth:
    """Heights over a grid of lines that may be turned.

    Args:
        x: Of the lines, in axes turned by the angle [m], (nx,).
        y: Of the lines across them [m], (ny,).
        z: Where they cross [m], (nx, ny); NaN where there is no ground.
        angle: About z [rad].
        tile: Edge of a tile [m].
    """

    x: Array
    y: Array
    z: Array
    angle: float
    tile: float

    @classmethod
    def over(cls, distance: Distance, region: Region) -> Cloth:
        """The surface as it is seen from above, around what moves.

        Raises:
            Exception: Whatever the distance raises.
        """
        weave = _Weave(distance, region, 0.0)
        x, y = weave.lines(0), weave.lines(1)
        angle = weave.heading(x, y, weave.heights(x, y))
        if angle:
            weave = _Weave(distance, region, angle)
            x, y = weave.lines(0), weave.lines(1)
        x, z = weave.refined(x, y, weave.heights(x, y), 0)
        y, z = weave.refined(y, x, z.T, 1)
        return cls(x, y, z.T, angle, region.tile)

    def triangles(self) -> tuple[Array, NDArray[np.int_], NDArray[np.bool_]]:
        """Vertices [m], (n, 3), faces, (m, 3), with the normal upwards, and which of them are on dark tiles, (m,)."""
        nx, ny = self.z.shape
        number = np.arange(nx * ny).reshape(nx, ny)
        a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
        # Of the two ways to fold a cell the flatter one.
        z = self.z
        along = np.abs(z[:-1, :-1] - z[1:, 1:]) <= np.abs(z[1:, :-1] - z[:-1, 1:])
        first = np.where(along[..., None], np.stack([a, b, c], axis=-1), np.stack([a, b, d], axis=-1))
        second = np.where(along[..., None], np.stack([a, c, d], axis=-1), np.stack([b, c, d], axis=-1))
        whole = np.isfinite(z[:-1, :-1] + z[1:, :-1] + z[1:, 1:] + z[:-1, 1:])
        middle = [np.floor((lines[1:] + lines[:-1]) / 2.0 / self.tile).astype(int) for lines in (self.x, self.y)]
        dark = (middle[0][:, None] + middle[1]) % 2 == 1
        x, y = _turned(np.repeat(self.x, ny), np.tile(self.y, nx), self.angle)
        vertices = np.column_stack([x, y, np.nan_to_num(z.ravel())])
        faces = np.concatenate([first[whole], second[whole]])
        return vertices, faces, np.concatenate([dark[whole], dark[whole]])


class _Weave:
    """Puts lines where they are needed."""

    def __init__(self, distance: Distance, region: Region, angle: float):
        self._distance, self._region, self._angle = distance, region, angle
        corners = np.array([(x, y) for x in (region.low[0], region.high[0]) for y in (region.low[1], region.high[1])])
        turned = np.column_stack(_turned(corners[:, 0], corners[:, 1], -angle))
        self._low, self._high = turned.min(axis=0), turned.max(axis=0)
        self._top, self._bottom = self._depth()

    def _depth(self) -> tuple[float, float]:
        """Where the ground is looked for: from where nothing is below ground, if there is such a height."""
        low, high = self._region.low[2], self._region.high[2]
        reach = self._region.margin
        x, y = (np.linspace(self._low[k] - reach, self._high[k] + reach, 12) for k in (0, 1))
        for _ in range(4):
            p = np.column_stack([*_grid(x, y, self._angle), np.full(144, high + reach)])
            if (self._distance(p) > 0.0).all():
                break
            reach *= 2.0
        return float(high + reach), float(low - reach)

    def lines(self, axis: int) -> Array:
        """Evenly, through the edges of all tiles."""
        tile, margin = self._region.tile, self._region.margin
        first = np.floor((self._low[axis] - margin) / tile)
        last = np.ceil((self._high[axis] + margin) / tile)
        return np.asarray(tile * np.arange(COARSE * first, COARSE * last + 1) / COARSE)

    def heights(self, x: Array, y: Array) -> Array:
        """Over the crossings of lines, (nx, ny)."""
        z = heights(self._distance, *_grid(x, y, self._angle), self._bottom, self._top)
        return z.reshape(len(x), len(y))

    def heading(self, x: Array, y: Array, z: Array) -> float:
        """Direction of walls about z [rad], modulo a quarter turn; zero if there are none, or of all directions."""
        ends = []
        for axis in (0, 1):
            i, j = np.nonzero(np.abs(np.diff(z, axis=axis)) > STEEP * (x[1] - x[0]))
            k, m = (i + 1, j) if axis == 0 else (i, j + 1)
            ends.append(np.stack([x[i], y[j], z[i, j], x[k], y[m], z[k, m]], axis=1))
        start, end = np.split(np.concatenate(ends), 2, axis=1)
        if not len(start):
            return 0.0
        between = start
        middle = (start[:, 2] + end[:, 2]) / 2.0
        is_up = start[:, 2] > middle
        for _ in range(20):  # to the wall itself
            between = (start + end) / 2.0
            between[:, 2] = middle
            solid = (self._distance(between) <= 0.0) == is_up
            start, end = np.where(solid[:, None], between, start), np.where(solid[:, None], end, between)
        steps = 1e-5 * np.eye(3)[:2]
        slope = np.array([self._distance(between + step) - self._distance(between - step) for step in steps]) / 2e-5
        walls = slope[:, np.hypot(*slope) > LEVEL]
        if walls.shape[1] < 8:
            return 0.0
        fourfold = np.mean(np.exp(4j * np.arctan2(walls[1], walls[0])))
        angle = float(np.angle(fourfold)) / 4.0
        return angle if abs(fourfold) > ALIKE and abs(angle) > 1e-6 else 0.0

    def refined(self, lines: Array, across: Array, z: Array, axis: int) -> tuple[Array, Array]:
        """Lines, and heights over them and those across, with more of them where straight ones would miss the ground.

        Returns:
            The lines [m], (n,), and heights [m], (n, len(across)).
        """
        least = self._region.tile / FINE
        unsettled = np.ones(len(lines) - 1, dtype=bool)
        while unsettled.any() and len(lines) < MOST_LINES:
            left = np.flatnonzero(unsettled)
            middle = (lines[left] + lines[left + 1]) / 2.0
            found = self.heights(middle, across) if axis == 0 else self.heights(across, middle).T
            missed = np.abs(found - (z[left] + z[left + 1]) / 2.0)
            missed[np.isnan(missed) & (np.isfinite(found) | np.isfinite(z[left]) | np.isfinite(z[left + 1]))] = np.inf
            far = self._far(middle, axis)[:, None] + self._far(across, 1 - axis)
            worst = np.nan_to_num(missed / (1.0 + far / self._region.tile), posinf=np.inf).max(axis=1)
            # A third of it: what is missed along x, along y and by the fold of a cell adds up.
            bad = (worst > self._region.tolerance / 3.0) & (lines[left + 1] - lines[left] > 2.0 * least)
            order = np.argsort(np.where(bad, -worst, np.inf), kind="stable")
            bad[order[MOST_LINES - len(lines) :]] = False
            unsettled = np.insert(np.zeros(len(lines) - 1, dtype=bool), left[bad] + 1, True)
            unsettled[np.flatnonzero(unsettled) - 1] = True
            lines, z = np.insert(lines, left[bad] + 1, middle[bad]), np.insert(z, left[bad] + 1, found[bad], axis=0)
        return lines, z

    def _far(self, lines: Array, axis: int) -> Array:
        """How far lines are from what moves [m]."""
        away: Array = np.maximum(0.0, np.maximum(self._low[axis] - lines, lines - self._high[axis]))
        return away


def _grid(x: Array, y: Array, angle: float) -> tuple[Array, Array]:
    return _turned(np.repeat(x, len(y)), np.tile(y, len(x)), angle)


def _turned(x: Array, y: Array, angle: float) -> tuple[Array, Array]:
    cos, sin = np.cos(angle), np.sin(angle)
    return cos * x - sin * y, sin * x + cos * y
