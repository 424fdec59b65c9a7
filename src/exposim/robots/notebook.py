"""A robot as notebooks show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from exposim import _html
from exposim._checks import Array
from exposim.robots.contact_points import ContactPoint
from exposim.robots.joints import Drive, Joint

MOST = 60  # rows of a table


def shown(heading: str, mass: float, joints: Mapping[str, Joint], points: Iterable[ContactPoint]) -> str:
    """Mass [kg], joints and contact points in tables."""
    joint_rows = [
        (each.name, _range(each.lower, each.upper), _number(each.effort), _number(each.velocity), _drive(each.drive))
        for each in joints.values()
    ]
    point_rows = [
        (each.name, each.frame, " ".join(f"{part:.4g}" for part in each.offset), f"{each.radius:.4g}")
        for each in points
    ]
    parts = [_html.table(heading, [("mass [kg]", f"{mass:.4g}")])]
    if joint_rows:
        names = ("joint", "from … to [rad or m]", "effort [N·m or N]", "velocity [rad/s or m/s]", "drive")
        parts.append(_html.table("joints", joint_rows[:MOST], names, _more(joint_rows)))
    if point_rows:
        titles = ("contact point", "frame", "offset [m]", "radius [m]")
        parts.append(_html.table("contact points", point_rows[:MOST], titles, _more(point_rows)))
    return "".join(parts)


def _more(rows: Sequence[object]) -> str:
    return f"and {len(rows) - MOST} more" if len(rows) > MOST else ""


def _number(value: float | Array) -> str:
    return ", ".join("–" if np.isinf(each) else f"{each:.4g}" for each in np.atleast_1d(value))


def _range(lower: float | Array, upper: float | Array) -> str:
    ends = zip(np.atleast_1d(lower), np.atleast_1d(upper), strict=True)
    return ", ".join("–" if np.isinf(low) and np.isinf(high) else f"{low:.4g} … {high:.4g}" for low, high in ends)


def _drive(drive: Drive | None) -> str:
    return "–" if drive is None else f"kp {drive.kp:g}, kd {drive.kd:g}"
