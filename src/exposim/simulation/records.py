"""Value objects as plain data that JSON can hold, and back: each declared once, by its fields."""

from __future__ import annotations

import inspect
import reprlib
import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from exposim.contact.height_fields import HeightField
from exposim.contact.materials import Material, NamedMaterial
from exposim.contact.meshes import Mesh
from exposim.contact.profiles import Profile
from exposim.contact.shapes import Box, Capsule, Cylinder, Sphere
from exposim.contact.surfaces import HalfSpace, NamedSurface, Surface
from exposim.errors import InvalidArgument
from exposim.kernels import Pade
from exposim.robots.contact_points import ContactPoint
from exposim.robots.joints import Drive, DryFriction, JointLimits
from exposim.robots.loops import Loop
from exposim.robots.made_of import RigidBody
from exposim.simulation.integrators import SCHEMES

# What may stand in a place for several kinds: written with the name of its type.
_SURFACES = (HalfSpace, Box, Sphere, Capsule, Cylinder, HeightField, Profile, Mesh, NamedSurface)
_CONTACT = (*_SURFACES, Material, NamedMaterial, ContactPoint)
_JOINTS = (Drive, DryFriction, JointLimits, Loop)
_KINDS: tuple[type, ...] = (*_CONTACT, *_JOINTS, RigidBody, Pade, *SCHEMES.values())
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
            InvalidArgument: If a field without a default is missing, or one is of another type, or unknown to this
                version.
        """
        if not isinstance(described, Mapping):
            raise InvalidArgument(f"{_short(described)} stands where {cls.__name__} should")
        hints = get_type_hints(cls)
        built: dict[str, Any] = {}
        for f in fields(cls):  # type: ignore[arg-type]
            if f.name not in described:
                if f.default is not MISSING:  # which files have not always had
                    continue
                raise InvalidArgument(f"{cls.__name__} has no {f.name!r}; it is of another version")
            built[f.name] = _build_field(hints[f.name], described[f.name])
            if not _is_of(hints[f.name], built[f.name]):
                raise InvalidArgument(f"{cls.__name__} has {_short(described[f.name])} for its {f.name!r}")
        return cls(**built)


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
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [describe(each) for each in value]
    if value is None or isinstance(value, (str, bool, int, float, Mapping)):
        return value
    raise InvalidArgument(f"{value!r} cannot be written into a file; it holds only exposim's own surfaces and schemes")


def build(described: Any) -> Any:
    """What :func:`describe` described, but for records, which say themselves what they are."""
    if isinstance(described, Mapping):
        name = described.get("type")
        kind = _TYPES.get(name) if isinstance(name, str) else None
        if kind is None:
            raise InvalidArgument(f"settings have a {_short(name)}, which this version does not know")
        try:
            return kind(**{key: build(each) for key, each in described.items() if key != "type"})
        except TypeError:
            raise InvalidArgument(
                f"settings have a {kind.__name__} with other fields than this version knows"
            ) from None
    return tuple(map(build, described)) if isinstance(described, list) else described


def _short(described: Any) -> str:
    """For messages, of what may be of any size."""
    return reprlib.repr(described)


def _is_of(kind: Any, value: Any) -> bool:
    """Whether a value is what a field's type says; numbers are finite."""
    if kind is Any:
        return True
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    arguments, origin = get_args(kind), get_origin(kind)
    if origin is tuple:
        return isinstance(value, tuple) and all(_is_of(arguments[0], each) for each in value)
    if origin is dict:
        return isinstance(value, dict)
    if arguments:  # one or the other
        return any(_is_of(each, value) for each in arguments)
    return isinstance(value, kind)


def _build_field(kind: Any, described: Any) -> Any:
    for each in (kind, *get_args(kind)):  # also of an optional one, or of several
        if inspect.isclass(each) and issubclass(each, Record):
            if get_origin(kind) is tuple and isinstance(described, (list, tuple)):
                try:
                    return tuple(each.build(one) for one in described)
                except RecursionError:
                    raise InvalidArgument(f"{each.__name__} is within itself more often than can be read") from None
            return None if described is None else each.build(described)
        if each is dict or getattr(each, "__origin__", None) is dict:
            return described
    return build(described)
