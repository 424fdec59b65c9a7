"""Value objects as plain data that JSON can hold, and back: each declared once, by its fields."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_args, get_type_hints

from exposim.contact.materials import Material, NamedMaterial
from exposim.contact.surfaces import HalfSpace, NamedSurface, Surface
from exposim.errors import InvalidArgument
from exposim.kernels import Pade
from exposim.robots.robot import ContactPoint
from exposim.simulation.integrators import SCHEMES

# What may stand in a place for several kinds: written with the name of its type.
_KINDS = (HalfSpace, NamedSurface, Material, NamedMaterial, ContactPoint, Pade, *SCHEMES.values())
_TYPES: dict[str, type] = {kind.__name__: kind for kind in _KINDS}

R = TypeVar("R", bound="Record")


class Record:
    """Base of dataclasses that a file holds as mappings from their fields' names."""

    def describe(self) -> dict[str, Any]:
        """Plain data."""
        return {f.name: describe(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def build(cls: type[R], described: Mapping[str, Any]) -> R:
        """What :meth:`describe` described; further entries are ignored.

        Raises:
            InvalidArgument: If a field is missing or unknown to this version.
        """
        hints = get_type_hints(cls)
        try:
            return cls(**{f.name: _build_field(hints[f.name], described[f.name]) for f in fields(cls)})  # type: ignore[arg-type]
        except KeyError as missing:
            raise InvalidArgument(f"{cls.__name__} has no {missing.args[0]!r}; it is of another version") from None


def describe(value: Any) -> Any:
    """A value object of this package as plain data; lists, mappings and plain values as they are."""
    if isinstance(value, Record):
        return value.describe()
    if isinstance(value, Surface) and type(value) not in _KINDS:
        return describe(NamedSurface.of(value))
    if isinstance(value, Material) and type(value) not in _KINDS:
        return describe(NamedMaterial.of(value))
    if is_dataclass(value) and type(value) in _KINDS:
        return {"type": type(value).__name__} | {f.name: describe(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, (list, tuple)):
        return [describe(each) for each in value]
    if value is None or isinstance(value, (str, bool, int, float, Mapping)):
        return value
    raise InvalidArgument(f"{value!r} cannot be written into a file; it holds only exposim's own surfaces and schemes")


def build(described: Any) -> Any:
    """What :func:`describe` described, but for records, which say themselves what they are."""
    if isinstance(described, Mapping):
        kind = _TYPES.get(described.get("type", ""))
        if kind is None:
            raise InvalidArgument(f"settings have a {described.get('type')!r}, which this version does not know")
        try:
            return kind(**{key: build(each) for key, each in described.items() if key != "type"})
        except TypeError:
            raise InvalidArgument(
                f"settings have a {kind.__name__} with other fields than this version knows"
            ) from None
    return tuple(map(build, described)) if isinstance(described, list) else described


def _build_field(kind: Any, described: Any) -> Any:
    for each in (kind, *get_args(kind)):  # also of an optional one
        if inspect.isclass(each) and issubclass(each, Record):
            return None if described is None else each.build(described)
        if each is dict or getattr(each, "__origin__", None) is dict:
            return described
    return build(described)
