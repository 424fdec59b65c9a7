"""Times as text, in the unit that suits each."""

from __future__ import annotations

import math

_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


def show_time(seconds: float, digits: int = 4) -> str:
    """A time [s] in the unit that suits it, to so many digits: ``0.125 ms``, ``5.49 ms``, ``12 s``."""
    if seconds == 0.0 or not math.isfinite(seconds):
        return f"{seconds:g} s"
    unit, size = next((each for each in _UNITS if abs(seconds) >= 0.1 * each[1]), _UNITS[-1])
    number = f"{seconds / size:.{digits}g}"
    if "e" in number:  # more digits before the point than asked for
        number = f"{float(number):.0f}"
    return f"{number} {unit}"
