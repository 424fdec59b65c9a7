"""Checks of what users hand in; each failure names the argument, the value and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exposim.errors import InvalidArgument

Array = NDArray[np.float64]
Choice = TypeVar("Choice")


def vector(name: str, value: ArrayLike, size: int | None = None, meaning: str = "") -> Array:
    """A new float array of that size, or of any, finite."""
    array = as_array(name, value)
    wanted = "a vector" if size is None else f"{size} ({meaning})"
    if array.ndim != 1:
        raise InvalidArgument(f"{name} has shape {array.shape}; give {wanted}")
    if size is not None and array.size != size:
        raise InvalidArgument(f"{name} has {array.size} entries; give {wanted}")
    return finite(name, array)


def matrix(name: str, value: ArrayLike, rows: int, columns: int) -> Array:
    """A new float array of that shape, finite."""
    array = as_array(name, value)
    if array.shape != (rows, columns):
        raise InvalidArgument(f"{name} has shape {array.shape}; give ({rows}, {columns})")
    return finite(name, array)


def finite(name: str, array: Array) -> Array:
    """The array itself, if no entry is NaN or infinite."""
    good = np.isfinite(array)
    if good.all() or array.ndim == 0:  # which has no entries: whoever takes a number says so
        return array
    first = np.argwhere(~good)[0]
    raise InvalidArgument(f"{name} must be finite; entry {', '.join(map(str, first))} is {array[tuple(first)]}")


def number(name: str, value: Any, unit: str, *, above: float | None = None, least: float | None = None) -> float:
    """A finite float, greater than `above` or not less than `least`."""
    if type(value) is float and _is_within(value, above, least):  # by far the most common, and quickly seen
        return value
    bound = f" above {above:g}" if above is not None else f" of at least {least:g}" if least is not None else ""
    wanted = f"a finite number{bound} {unit}".rstrip()
    array = as_array(name, value, wanted)
    result = float(array) if array.ndim == 0 else np.nan
    if not _is_within(result, above, least):
        raise InvalidArgument(f"{name} is {value!r}; give {wanted}")
    return result


def _is_within(value: float, above: float | None, least: float | None) -> bool:
    return isfinite(value) and (above is None or value > above) and (least is None or value >= least)


def optional(name: str, value: Any, unit: str, **bound: float) -> float | None:
    """A finite float within a bound of :func:`number`, or None."""
    return None if value is None else number(name, value, f"{unit}, or None", **bound)


def positive(name: str, value: Any, unit: str) -> float:
    """A float above zero, which may be infinite."""
    wanted = f"a number above 0 {unit}"
    array = as_array(name, value, wanted)
    if array.ndim != 0 or not array > 0.0:
        raise InvalidArgument(f"{name} is {value!r}; give {wanted}")
    return float(array)


def count(name: str, value: Any, most: int = 2**31 - 1) -> int:
    """A whole number of at least 1, and not more than that."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or not 1 <= value <= most:
        raise InvalidArgument(f"{name} is {value!r}; give a whole number from 1 to {most}")
    return int(value)


def several(name: str, value: Any, wanted: str) -> tuple[Any, ...]:
    """What a list has in it, or whatever else can be gone through."""
    try:
        each = None if isinstance(value, (str, bytes)) else iter(value)
    except TypeError:
        each = None
    if each is None:
        raise InvalidArgument(f"{name} is {value!r}; give {wanted}")
    return tuple(each)


def flag(name: str, value: Any) -> bool:
    """True or False, nothing that merely looks like it."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidArgument(f"{name} is {value!r}; give True or False")
    return bool(value)


def choice(name: str, value: Any, choices: Sequence[Choice]) -> Choice:
    """One of the choices."""
    for each in choices:
        if type(value) is type(each) and value == each:
            return each
    raise InvalidArgument(f"{name} is {value!r}; give one of {', '.join(map(repr, choices))}")


def as_array(name: str, value: ArrayLike, wanted: str = "real numbers") -> Array:
    """A new float array of any shape; its entries may be anything."""
    try:
        array = _converted(value)
    except (TypeError, ValueError, OverflowError) as error:
        if not _is_about(value, error):
            raise
        array = None
    if array is None:
        raise InvalidArgument(f"{name} is {value!r}; give {wanted}")
    return array


def _converted(value: ArrayLike) -> Array | None:
    """None, or an error, if these are no numbers."""
    array = np.array(value)
    numbers = array.dtype.kind in "biuf" or (array.dtype.kind == "O" and not _has_text(array))
    return array.astype(np.float64, copy=False) if numbers else None


def _is_about(value: ArrayLike, error: Exception) -> bool:
    """Whether a conversion fails by itself: what a signal handler raised in the middle of it comes only once."""
    try:
        _converted(value)
    except (TypeError, ValueError, OverflowError) as again:
        return repr(again) == repr(error)
    return False


def _has_text(array: NDArray[Any]) -> bool:
    """Whether some entry is text, which NumPy would read as a number."""
    return any(isinstance(each, (str, bytes)) for each in array.flat)
