"""What sensors are told to measure, by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from exposim import _checks
from exposim.errors import InvalidArgument, did_you_mean

Names = str | Iterable[str] | None


def checked_names(what: str, given: Names) -> tuple[str, ...] | None:
    """Names or globs: one, several, or ``None`` for all there are."""
    if given is None:
        return None
    wanted = "names or globs, or None for all"
    names = (given,) if isinstance(given, str) else _checks.several(what, given, wanted)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise InvalidArgument(f"{what} is {given!r}; give {wanted}")
    return names


def chosen(what: str, wanted: tuple[str, ...] | None, names: Sequence[str], robot_name: str) -> list[str]:
    """Those of the names that are wanted, each once, in the order in which they are."""
    if wanted is None:
        found = list(dict.fromkeys(names))
    else:
        found = []
        for pattern in wanted:
            matching = [pattern] if pattern in names else [name for name in names if fnmatchcase(name, pattern)]
            if not matching:
                near = did_you_mean(pattern, names) or f"; there are {', '.join(dict.fromkeys(names)) or 'none'}"
                raise InvalidArgument(f"{what} has {pattern!r}, which is not one of {robot_name!r}{near}")
            found += [name for name in dict.fromkeys(matching) if name not in found]
    if not found:
        raise InvalidArgument(f"{what} is given, but {robot_name!r} has none; leave the sensor out")
    return found
