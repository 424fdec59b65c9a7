"""What a contact looks like at an instant."""

from __future__ import annotations

from dataclasses import dataclass

from exposim._checks import Array
from exposim.contact.surfaces import Surface


@dataclass(frozen=True, eq=False)
class Contact:
    """One contact at one instant, in the world frame.

    Args:
        name: Of the contact point.
        surface: That it may touch; ``None`` for a bilateral contact, or a slot that nothing has taken.
        active: Whether it touches.
        slipping: Whether it slips, or has no force to hold it.
        position: Of the contact point [m].
        velocity: Of the body at the contact point [m/s].
        anchor: Where the virtual spring is attached [m], taken along by a sphere that rolls; NaN where inactive.
        force: On the robot [N].
    """

    name: str
    surface: Surface | None
    active: bool
    slipping: bool
    position: Array
    velocity: Array
    anchor: Array
    force: Array
