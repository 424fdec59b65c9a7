"""Controls between bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument


def checked_bounds(bounds: ArrayLike | None, nu: int) -> Array | None:
    """Least and largest controls, (2, nu), of so many or of two numbers."""
    if bounds is None:
        return None
    array = _checks.as_array("bounds", bounds)
    if array.shape == (2,):
        array = np.repeat(array[:, None], nu, axis=1)
    if array.shape != (2, nu) or not np.all(array[0] < array[1]):
        raise InvalidArgument(
            f"bounds is {bounds!r}; give the least and the largest control, two numbers or (2, {nu}), the first below "
            f"the second"
        )
    return array
