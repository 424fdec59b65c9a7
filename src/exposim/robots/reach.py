r"""How far solids reach, by direction: :math:`h(d) = \max_p d \cdot p`.

What a ground touches first of a solid is what reaches furthest against its normal; so the difference of two such
functions says how deep one of two shapes would sink before the other touches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from exposim._checks import Array

PER_OCTANT = 40


@cache
def directions() -> Array:
    """Unit vectors all around, (nd, 3), the same in all octants, so that mirrored links get mirrored points."""
    i = np.arange(PER_OCTANT) + 0.5
    angle = (i * (np.sqrt(5.0) - 1.0) / 2.0) % 1.0 * np.pi / 2.0
    z = i / PER_OCTANT
    flat = np.sqrt(1.0 - z**2)
    octant = np.stack([flat * np.cos(angle), flat * np.sin(angle), z], axis=1)
    signs = np.array([[x, y, z] for x in (1, -1) for y in (1, -1) for z in (1, -1)], dtype=float)
    around = np.concatenate([octant * sign for sign in signs] + [signs / np.sqrt(3.0), np.eye(3), -np.eye(3)])
    around.flags.writeable = False
    return around


def reach_of(centres: Array, radii: Array, d: Array) -> Array:
    """Of balls, all together, in directions (nd, 3): (nd,)."""
    reach: Array = (d @ centres.T + radii).max(axis=1)
    return reach


def extremes(p: Array) -> Array:
    """Of points (n, 3) those that reach furthest, one for each direction, (nd, 3)."""
    at = np.concatenate([(part @ p.T).argmax(axis=1) for part in np.array_split(directions(), 8)])
    furthest: Array = p[at]
    return furthest


def furthest_first(
    of_points: Array, reach: Array, first: Sequence[int], may_be_taken: Callable[[int], bool], finest: float
) -> list[tuple[int, float]]:
    """Points in an order in which each is the one that is missed most, and how much without it [m].

    Args:
        of_points: Reach of each by direction [m], (nd, n).
        reach: Of all [m], (nd,).
        first: Taken before all others, as if they were missed infinitely.
        may_be_taken: Asked of every point before it is.
        finest: What is missed less is not worth a point [m].
    """
    order = [(at, np.inf) for at in first if may_be_taken(at)]
    of_points = of_points.copy()
    of_first = of_points[:, [at for at, _ in order]]
    # Of a solid without points all is missing, from one side to the other.
    missing = reach - of_first.max(axis=1) if order else 2.0 * (reach - of_points.mean(axis=1))
    of_points[:, [at for at, _ in order]] = -np.inf
    while missing.max() > finest:
        k = int(missing.argmax())
        at = int(of_points[k].argmax())
        helps = reach[k] - of_points[k, at] < missing[k]
        if not helps:
            missing[k] = 0.0  # between points, of which there are no more
        elif may_be_taken(at):
            order.append((at, min(float(missing[k]), order[-1][1] if order else np.inf)))
            missing = np.minimum(missing, reach - of_points[:, at])
        if helps:
            of_points[:, at] = -np.inf
    return order
