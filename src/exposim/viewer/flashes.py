"""Light at contacts for a moment after they land."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.simulation.trajectory import Trajectory

FLASHING = (1.0, 0.70, 0.0)
DURATION = 0.12  # of a flash [s]
SWELLING = 2.0  # how much larger a point is at the start of its flash


@dataclass(frozen=True)
class Flashes:
    """When which contacts land.

    Args:
        t: In order [s], (n,).
        contact: Which, (n,).
        count: Of all contacts.
    """

    t: Array
    contact: NDArray[np.int_]
    count: int

    @classmethod
    def of(cls, trajectory: Trajectory) -> Flashes:
        """Of a recorded motion."""
        t, contact = landings(trajectory)
        return cls(t, contact, len(trajectory.contact_names))

    def at(self, t: float) -> Array:
        """How much is left of each contact's flash at a time [s], from 1 down to 0, (contacts,)."""
        left = np.zeros(self.count)
        first, last = np.searchsorted(self.t, (t - DURATION, t + 1e-9))
        np.maximum.at(left, self.contact[first:last], left_of_flash(t - self.t[first:last]))
        return left


def landings(trajectory: Trajectory) -> tuple[Array, NDArray[np.int_]]:
    """Times [s], in order, and numbers of the contacts that land then."""
    try:
        events = trajectory.events.select("land")
        return events.t, events.index
    except InvalidArgument:  # of a file that has none
        pass
    touches = np.diff(trajectory.active.astype(int), axis=0) > 0
    when, which = np.nonzero(touches)
    return trajectory.t[when + 1], which


def left_of_flash(since: Array) -> Array:
    """How much is left of flashes so long after landings [s], from 1 down to 0."""
    return 1.0 - np.clip(since / DURATION, 0.0, 1.0)


def lit(colours: Array, flash: Array) -> Array:
    """Colours of contact points, (…, 3), with so much of their flash left, (…)."""
    return colours + flash[..., None] * (np.array(FLASHING) - colours)
