"""Checks of what users hand in; each failure names the argument, the value and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exposim.errors import InvalidArgument

Array = NDArray[np.float64]
Choice = TypeVar("Choice")


def vector(name: str, value: ArrayLike, size: int, meaning: str) -> Array:
    """A new float array of that size, finite."""
    array = _as_array(name, value)
    if array.shape != (size,):
        got = f"{array.size} entries" if array.ndim == 1 else f"shape {array.shape}"
        raise InvalidArgument(f"{name} has {got}; give {size} ({meaning})")
    return finite(name, array)


def matrix(name: str, value: ArrayLike, rows: int, columns: int) -> Array:
    """A new float array of that shape, finite."""
    array = _as_array(name, value)
    if array.shape != (rows, columns):
        raise InvalidArgument(f"{name} has shape {array.shape}; give ({rows}, {columns})")
    return finite(name, array)


def finite(name: str, array: Array) -> Array:
    """The array itself, if no entry is NaN or infinite."""
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        where = ", ".join(map(str, bad[0]))
        raise InvalidArgument(f"{name} must be finite; entry {where} is {array[tuple(bad[0])]}")
    return array


def number(name: str, value: Any, unit: str, *, above: float | None = None, least: float | None = None) -> float:
    """A finite float, greater than `above` or not less than `least`."""
    bound = f" above {above:g}" if above is not None else f" of at least {least:g}" if least is not None else ""
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise InvalidArgument(f"{name} is {value!r}; give a number{bound} {unit}".rstrip()) from None
    good = np.isfinite(result) and (above is None or result > above) and (least is None or result >= least)
    if not good:
        raise InvalidArgument(f"{name} is {result:g}; give a finite number{bound} {unit}".rstrip())
    return result


def count(name: str, value: Any) -> int:
    """A whole number of at least 1."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InvalidArgument(f"{name} is {value!r}; give a whole number of at least 1")
    return int(value)


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


def _as_array(name: str, value: ArrayLike) -> Array:
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidArgument(f"{name} is {value!r}; give real numbers") from None
