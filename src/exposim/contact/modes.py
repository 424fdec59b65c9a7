"""What a contact is doing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# In the order of the core's.
MODES = ("open", "idle", "sticking", "slipping", "bilateral")
OPEN, IDLE, STICKING, SLIPPING, BILATERAL = range(len(MODES))


def without_hold(mode: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether a contact slips, or has no force to hold it."""
    return np.asarray((mode == SLIPPING) | (mode == IDLE))
