"""The complete state of a simulation."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array


@dataclass(frozen=True, eq=False)
class State:
    """All that the future of a simulation depends on, nothing else; picklable.

    Args:
        t: Time [s].
        q: Configuration, (nq,).
        v: Velocity, (nv,).
        active: Per contact, whether it touches, (nc,).
        slipping: Per contact, whether it slips, (nc,).
        p0: Per contact, position of the anchor in the world [m], (nc, 3); zero where inactive.
        dp0: Per contact, velocity of the anchor [m/s], (nc, 3).
    """

    t: float
    q: Array
    v: Array
    active: NDArray[np.bool_]
    slipping: NDArray[np.bool_]
    p0: Array
    dp0: Array

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return all(np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]  # arrays inside
