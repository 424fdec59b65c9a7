"""Ground, ready made: stairs, slopes, rough ground, stepping stones."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, prod, radians, sin, tan

import numpy as np

from exposim import _checks
from exposim._checks import Array
from exposim.contact.height_fields import HeightField
from exposim.contact.materials import Material
from exposim.contact.profiles import Profile
from exposim.contact.shapes import Box
from exposim.contact.surfaces import Point
from exposim.errors import InvalidArgument

__all__ = ["HeightField", "Profile", "rough", "slopes", "stairs", "stepping_stones"]


def stairs(
    rise: float = 0.12,
    run: float = 0.3,
    steps: int = 8,
    *,
    down: bool = False,
    landing: float = 1.0,
    position: Point = (0.0, 0.0, 0.0),
    heading: float = 0.0,
    rounding: float = 0.01,
    material: Material | None = None,
) -> Profile:
    """Level ground, stairs and the level ground they lead to: one surface, as wide as one likes.

    Noses and inner corners are rounded; the treads between are flat, and nothing is felt where one part ends and
    another begins. A query takes as long for a thousand steps as for two.

    Args:
        rise: Height of a step [m]; negative: down.
        run: Depth of a tread [m].
        steps: How many, at least one.
        down: Whether as many lead back, after the landing, to the level of the start.
        landing: How long the ground is level before they do [m].
        position: Of the foot of the first riser [m]; the ground before it has its height.
        heading: Direction in which they lead, turned from x about z [rad].
        rounding: Radius of noses and inner corners [m], at most half the rise and half the run.
        material: Of the contact.

    Returns:
        One surface, a :class:`Profile`.
    """
    rise = _checks.number("rise", rise, "[m]")
    run = _checks.number("run", run, "[m]", above=0.0)
    steps = _checks.count("steps", steps)
    if rise == 0.0:
        raise InvalidArgument("rise is 0.0; give the height of a step [m], negative for stairs that lead down")
    at = np.arange(2 * steps)  # foot and nose of each
    up = np.column_stack([run * (at // 2), rise * ((at + 1) // 2)])
    corners = up
    if _checks.flag("down", down):
        landing = _checks.number("landing", landing, "[m]", above=0.0)
        middle = run * (steps - 1) + 0.5 * landing
        corners = np.vstack([up, (up * [-1.0, 1.0] + [2.0 * middle, 0.0])[::-1]])
    return _profile(corners, position, heading, rounding, material)


def slopes(
    angles: Sequence[float] = (10.0, -10.0),
    lengths: float | Sequence[float] = 2.0,
    *,
    position: Point = (0.0, 0.0, 0.0),
    heading: float = 0.0,
    rounding: float = 0.05,
    material: Material | None = None,
) -> Profile:
    """Ups and downs, one after the other, between level ground without end on either side: one surface.

    Args:
        angles: Of each slope [degrees], between −90 and 90, up along the way; 0: level.
        lengths: Of each along the ground plan [m]; one number is for all.
        position: Where the first begins [m].
        heading: Direction in which they lead, turned from x about z [rad].
        rounding: Radius of the bends between them [m].
        material: Of the contact.

    Returns:
        One surface, a :class:`Profile`.
    """
    tilts = _checks.vector("angles", angles, None)
    if not tilts.size or not (np.abs(tilts) < 90.0).all():
        raise InvalidArgument(f"angles is {angles!r}; give one or more between -90 and 90 degrees")
    ways = np.broadcast_to(lengths, tilts.shape) if np.ndim(lengths) == 0 else lengths
    ways = _checks.vector("lengths", ways, tilts.size, "one for each slope, in metres")
    if not (ways > 0.0).all():
        raise InvalidArgument(f"lengths is {lengths!r}; give lengths above 0 [m]")
    rises = ways * [tan(radians(tilt)) for tilt in tilts]
    corners = np.vstack([[0.0, 0.0], np.cumsum(np.column_stack([ways, rises]), axis=0)])
    return _profile(corners, position, heading, rounding, material)


def rough(
    size: float | Sequence[float],
    amplitude: float,
    seed: int = 0,
    *,
    wavelength: float = 0.4,
    spacing: float = 0.05,
    centre: Point = (0.0, 0.0),
    material: Material | None = None,
) -> HeightField:
    """Smooth ground with bumps and hollows at random, the same for the same seed; level, at height zero, around it.

    Args:
        size: Along x and y [m]; one number is for both.
        amplitude: The highest bump or deepest hollow [m].
        seed: Which of them, from 0.
        wavelength: Of the shortest waves [m], at least four spacings; the longest have three times as much.
        spacing: Of the heights [m].
        centre: x and y of its middle [m].
        material: Of the contact.

    Returns:
        One surface, a :class:`HeightField`; its outermost wavelength goes down to zero.
    """
    extent = _checks.vector("size", np.broadcast_to(size, 2) if np.ndim(size) == 0 else size, 2, "x, y in metres")
    amplitude = _checks.number("amplitude", amplitude, "[m]", least=0.0)
    spacing = _checks.number("spacing", spacing, "[m]", above=0.0)
    wavelength = _checks.number("wavelength", wavelength, "[m]", least=4.0 * spacing)
    middle = _checks.vector("centre", centre, 2, "x, y in metres")
    if not (extent >= 2.0 * wavelength).all():
        raise InvalidArgument(f"size is {size!r}; give at least two wavelengths, {2.0 * wavelength:g} m")
    rng = np.random.default_rng(_checked_seed(seed))
    if (nodes := prod(each / spacing + 1.0 for each in extent.tolist())) > _MOST_HEIGHTS:
        raise InvalidArgument(
            f"size is {size!r}, which at a spacing of {spacing:g} m has {nodes:.2g} heights, and {_MOST_HEIGHTS:.0e} "
            f"are possible; give a smaller size, or a larger spacing"
        )
    x, y = (spacing * (np.arange(n) - 0.5 * (n - 1)) for n in np.ceil(extent / spacing - 1e-9).astype(int) + 1)
    # A sum of waves in all directions, whose lengths are within a band.
    heights = np.zeros((len(x), len(y)))
    for _ in range(_WAVES):
        direction, phase = rng.uniform(0.0, 2.0 * np.pi, 2)
        k = 2.0 * np.pi / (wavelength * 3.0 ** rng.uniform())
        heights += np.sin(k * (cos(direction) * x[:, None] + sin(direction) * y[None, :]) + phase)
    heights *= _taper(x, wavelength)[:, None] * _taper(y, wavelength)[None, :]
    heights *= amplitude / np.abs(heights).max()
    origin = (float(middle[0] + x[0]), float(middle[1] + y[0]))
    return HeightField(heights, spacing, origin, material=Material() if material is None else material)


def stepping_stones(
    count: int = 8,
    *,
    gap: float = 0.1,
    size: Point = (0.3, 0.3, 0.2),
    rows: int = 2,
    jitter: float = 0.0,
    seed: int = 0,
    position: Point = (0.0, 0.0, 0.0),
    rounding: float = 0.01,
    material: Material | None = None,
) -> tuple[Box, ...]:
    """Boxes with flat tops to step on, in rows along x, with nothing in between.

    Args:
        count: Of stones in a row.
        gap: Between neighbours, along x and y [m].
        size: Of a stone along x, y, z [m].
        rows: How many, side by side along y.
        jitter: By which the height of a top may differ from ``position``, up or down, at random [m]; at most the gap,
            or half the height of a stone: so neighbours are still beside each other.
        seed: Of that.
        position: Of the middle of the first stones' near edges, at the height of the tops [m].
        rounding: Radius of the edges [m].
        material: Of the contact.

    Returns:
        Several surfaces, ``count * rows`` boxes: ``Simulator(robot, [pit, *stones])``.
    """
    count, rows = _checks.count("count", count), _checks.count("rows", rows)
    gap = _checks.number("gap", gap, "[m]", least=0.0)
    jitter = _checks.number("jitter", jitter, "[m]", least=0.0)
    extent = _checks.vector("size", size, 3, "x, y, z in metres")
    if jitter > (most := max(gap, 0.5 * float(extent[2]))):
        raise InvalidArgument(f"jitter is {jitter:g} m; give at most {most:g}, the gap or half the height of a stone")
    start = _checks.vector("position", position, 3, "x, y, z in metres")
    up = np.random.default_rng(_checked_seed(seed)).uniform(-jitter, jitter, (count, rows))
    material = Material() if material is None else material
    first = start + 0.5 * extent * [1.0, 1 - rows, -1.0] - [0.0, 0.5 * (rows - 1) * gap, 0.0]
    return tuple(
        Box(extent, first + [i, j, 0.0] * (extent + gap) + [0.0, 0.0, up[i, j]], rounding=rounding, material=material)
        for i in range(count)
        for j in range(rows)
    )


_MOST_HEIGHTS = 10_000_000  # of rough ground: 80 MB, and a few seconds
# Enough that no single one is seen.
_WAVES = 48


def _profile(corners: Array, position: Point, heading: float, rounding: float, material: Material | None) -> Profile:
    half = 0.5 * _checks.number("heading", heading, "[rad]")
    rotation = (0.0, 0.0, sin(half), cos(half))
    return Profile(
        corners, position, rotation, rounding=rounding, material=Material() if material is None else material
    )


def _taper(x: Array, width: float) -> Array:
    """From 0 at either end to 1 within a width, with slope zero at both."""
    inwards = np.clip((np.abs(x).max() - np.abs(x)) / width, 0.0, 1.0)
    return np.asarray(inwards * inwards * (3.0 - 2.0 * inwards))


def _checked_seed(seed: int) -> int:
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InvalidArgument(f"seed is {seed!r}; give a whole number from 0")
    return int(seed)
