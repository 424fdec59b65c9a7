"""Surfaces beside an independent account of them: where their inside is, and samples of their boundary."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import exposim as xs
import mesh_shapes


@dataclass
class Known:
    """A surface with what is known of it otherwise.

    `level` of (n, 3) points is negative inside and zero on the boundary, of slope one close to it; `boundary` are
    (m, 3) points of it; `special` those where something ends or begins; `exact` how far its distance may be wrong, and
    beyond `bounded` it may be less than it is; `rough` is how far its slope may be from one.
    """

    surface: xs.Surface
    level: object
    boundary: np.ndarray
    special: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    exact: float = 1e-10
    bounded: float = np.inf
    rough: float = 0.0

    @property
    def core(self):
        return self.surface._build()

    def points(self, count, seed=1):
        """Near its boundary, on both sides, at what is special, and far away."""
        rng = np.random.default_rng(seed)
        on = self.boundary[rng.integers(len(self.boundary), size=count)]
        size = np.abs(self.boundary - self.boundary.mean(axis=0)).max()
        by = size * 10.0 ** rng.uniform(-4.0, 0.3, (count, 1))
        close = on + by * rng.standard_normal((count, 3))
        return np.vstack([close, self.special, 1e3 * size * np.eye(3), -1e3 * size * np.eye(3)])


def directions(count, seed=2):
    u = np.random.default_rng(seed).standard_normal((count, 3))
    return u / np.linalg.norm(u, axis=1, keepdims=True)


def where_rays_leave(level, reach, count):
    """Points of the boundary, seen from the origin, of what has no hidden sides."""
    u = directions(count)
    low, high = np.zeros(count), np.full(count, reach)
    for _ in range(60):
        middle = 0.5 * (low + high)
        inside = level(middle[:, None] * u) < 0.0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return high[:, None] * u


def corners(x, y, z):
    signs = np.array(np.meshgrid([-1, 0, 1], [-1, 0, 1], [-1, 0, 1])).reshape(3, -1).T
    return signs * np.array([x, y, z])


def turned(q):
    """Rotation of a quaternion, column by column: q e q*."""
    u, w = np.array(q[:3]), q[3]
    return np.array([e + 2.0 * np.cross(u, np.cross(u, e) + w * e) for e in np.eye(3)]).T


def place(shape, level, reach, special, count=20000):
    """What is known of a shape in its own axes, in those of the world."""
    R, at = turned(getattr(shape, "rotation", (0, 0, 0, 1))), np.array(shape.position)
    boundary = where_rays_leave(level, reach, count)
    size = np.linalg.norm(at) + reach
    return Known(
        shape, lambda p: level((p - at) @ R), boundary @ R.T + at, special @ R.T + at, 1e-12 * (1.0 + 1e3 * size)
    )


def box(size, rounding=0.0, **pose):
    half = 0.5 * np.array(size)

    def level(p):
        if rounding == 0.0:
            return (np.abs(p) - half).max(axis=1)
        nearest = np.clip(p, rounding - half, half - rounding)
        deepest = (np.abs(p) - half).max(axis=1)
        return np.where((nearest == p).all(axis=1), deepest, np.linalg.norm(p - nearest, axis=1) - rounding)

    special = np.vstack([corners(*half), corners(*(half - rounding)), 0.5 * corners(*half)])
    return place(xs.Box(size, rounding=rounding, **pose), level, 2.0 * np.linalg.norm(half), special)


def sphere(radius, **pose):
    return place(
        xs.Sphere(radius, **pose), lambda p: np.linalg.norm(p, axis=1) - radius, 2.0 * radius, radius * corners(1, 1, 1)
    )


def capsule(radius, length, **pose):
    def level(p):
        on_axis = np.clip(p[:, 2], -0.5 * length, 0.5 * length)
        return np.linalg.norm(p - on_axis[:, None] * [0, 0, 1], axis=1) - radius

    special = np.vstack([corners(0.0, 0.0, 0.5 * length), corners(radius, radius, 0.5 * length)])
    return place(xs.Capsule(radius, length, **pose), level, 2.0 * radius + length, special)


def cylinder(radius, length, rounding=0.0, **pose):
    def level(p):
        aside, above = np.hypot(p[:, 0], p[:, 1]) - radius, np.abs(p[:, 2]) - 0.5 * length
        rim = np.hypot(aside + rounding, above + rounding) - rounding
        return np.where((aside > -rounding) & (above > -rounding), rim, np.maximum(aside, above))

    inner = radius - rounding, radius - rounding, 0.5 * length - rounding
    special = np.vstack([corners(radius, 0.0, 0.5 * length), corners(*inner), corners(0.0, radius, 0.1 * length)])
    return place(xs.Cylinder(radius, length, rounding=rounding, **pose), level, 2.0 * radius + length, special)


def height_field(heights, spacing, origin=(0.0, 0.0)):
    """Cubics along x through cubics along y, node by node, level from the border on."""
    heights = np.asarray(heights, dtype=float)
    padded = np.pad(heights, 3, mode="edge")

    def along(values, t):
        """Hermite's cubic of (..., 4) values."""
        before, one, two, after = np.moveaxis(values, -1, 0)
        m1, m2 = (two - before) / 2, (after - one) / 2
        h00, h10, h01, h11 = 2 * t**3 - 3 * t**2 + 1, t**3 - 2 * t**2 + t, -2 * t**3 + 3 * t**2, t**3 - t**2
        return h00 * one + h10 * m1 + h01 * two + h11 * m2

    def f(xy):
        u = np.clip((xy - np.array(origin)) / spacing, -1.5, np.array(heights.shape) + 0.5)
        node = np.floor(u).astype(int)
        t = u - node
        rows = node[:, :1] + 2 + np.arange(4)
        columns = node[:, 1:] + 2 + np.arange(4)
        around = padded[rows[:, :, None], columns[:, None, :]]
        return along(along(around, t[:, 1:]), t[:, 0])

    def level(p):
        h = 1e-6
        slopes = [(f(p[:, :2] + h * e) - f(p[:, :2] - h * e)) / (2 * h) for e in np.eye(2)]
        return (p[:, 2] - f(p[:, :2])) / np.sqrt(1.0 + slopes[0] ** 2 + slopes[1] ** 2)

    fine = [np.linspace(-2.0, n + 1.0, 12 * n) * spacing + o for n, o in zip(heights.shape, origin, strict=True)]
    xy = np.stack(np.meshgrid(*fine, indexing="ij"), axis=-1).reshape(-1, 2)
    nodes = [np.arange(n) * spacing + o for n, o in zip(heights.shape, origin, strict=True)]
    at = np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, 2)
    return Known(
        xs.HeightField(heights, spacing, origin),
        level,
        np.column_stack([xy, f(xy)]),
        np.column_stack([at, heights.reshape(-1)]),
        exact=1e-8,
        bounded=20.0 * spacing,
    )


def stairs(rise, run, steps, rounding):
    """By the height over every place, and the walls."""

    def f(x):
        step = np.clip(np.floor(x / run), -1, steps - 1)
        on = x - step * run
        tread = rise * (step + 1)
        nose = np.where((step >= 0) & (on < rounding), on - rounding, 0.0)
        foot = np.where((step < steps - 1) & (on > run - rounding), on - (run - rounding), 0.0)
        round_off = np.sqrt(np.maximum(rounding**2 - nose**2, 0)) - np.sqrt(np.maximum(rounding**2 - foot**2, 0))
        return tread + round_off

    def level(p):
        x, z = p[:, 0], p[:, 2]
        step = np.clip(np.round(x / run), 0, steps - 1)
        above = z - rise * step
        on_wall = (above > rounding - 1e-7) & (above < rise - rounding + 1e-7)
        wall = on_wall & (np.abs(x - step * run) < 1e-9)
        return np.where(wall, step * run - x, z - f(x))

    x = np.linspace(-run, run * (steps + 1), 3000)
    z = np.linspace(rounding, rise - rounding, 50)
    walls = np.array([(run * k, 0.0, rise * k + each) for k in range(steps) for each in z])
    edges = np.array([(run * k, 0.0, rise * k + each) for k in range(steps) for each in (0.0, rise)])
    return Known(
        xs.terrain.stairs(rise, run, steps, rounding=rounding),
        level,
        np.vstack([np.column_stack([x, 0.0 * x, f(x)]), walls]),
        np.vstack([edges, walls]),
        exact=1e-8,
    )


_FOLDER = tempfile.TemporaryDirectory()  # to the end of the process


def mesh_ball(radius, cells, **pose):
    """A fine mesh of a ball on a coarse grid."""
    path = mesh_shapes.write_stl(Path(_FOLDER.name) / "ball.stl", mesh_shapes.ball(1.0, 5))
    mesh = xs.Mesh(path, radius, resolution=2.0 * radius / cells, **pose)
    at = np.array(mesh.position)
    return Known(
        mesh,
        lambda p: np.linalg.norm(p - at, axis=1) - radius,
        radius * directions(4000) + at,
        np.zeros((0, 3)),
        exact=0.03 * 2.0 * radius / cells,
        rough=0.02,
    )


TILTED = {"position": (0.3, -0.2, 0.1), "rotation": (0.1, 0.7, -0.5, 0.5)}


def known_surfaces():
    """One of every kind, or two, by name."""
    return {
        "box": box((0.4, 0.6, 0.3)),
        "rounded box": box((0.4, 0.6, 0.3), 0.05, **TILTED),
        "box that is all rounding": box((0.4, 0.4, 0.4), 0.2),
        "sphere": sphere(0.5, position=(0.3, -0.2, 0.1)),
        "capsule": capsule(0.1, 0.5, **TILTED),
        "capsule without length": capsule(0.1, 0.0),
        "cylinder": cylinder(0.2, 0.5),
        "rounded cylinder": cylinder(0.2, 0.5, 0.05, **TILTED),
        "wavy field": height_field(0.05 * np.sin(np.arange(12)[:, None] + 0.7 * np.arange(9)), 0.1, (-0.5, -0.4)),
        "field with a step": height_field(0.1 * (np.arange(8)[:, None] > 3) * np.ones(6), 0.1),
        "stairs": stairs(0.12, 0.3, 4, 0.01),
        "sharp stairs": stairs(0.12, 0.3, 4, 0.0),
        "mesh of a ball": mesh_ball(0.5, 24, **TILTED),
    }
