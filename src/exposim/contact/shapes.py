"""Simple shapes, in the world or carried by a link of a robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from exposim import _checks, _core
from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.contact.surfaces import CoreSurface, Point
from exposim.errors import InvalidArgument

Quaternion: TypeAlias = Sequence[float] | Array

# A quaternion this far from unit length is taken for one that was rounded, not for a mistake.
_ROUNDED = 1e-3


@dataclass(frozen=True)
class Box(CoreSurface):
    """A box.

    Args:
        size: Its edges along x, y, z [m], full lengths.
        position: Of its centre [m], in the world or in ``frame``.
        rotation: Quaternion x, y, z, w, from its axes to those of the world or of ``frame``.
        material: Of the contact.
        frame: Of the robot that carries it, by name; ``None``: it is part of the world.
        rounding: Radius of its edges and corners [m], at most half the shortest edge; the size stays what it is.
    """

    size: Point
    position: Point = (0.0, 0.0, 0.0)
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)
    material: Material = field(default_factory=Material, kw_only=True)
    frame: str | None = field(default=None, kw_only=True)
    rounding: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        self._check_material_and_frame()
        size = _checks.vector("size", self.size, 3, "x, y, z in metres")
        if not (size > 0.0).all():
            raise InvalidArgument(f"size is {self.size!r}; give three lengths above 0 [m]")
        object.__setattr__(self, "size", tuple(size.tolist()))
        object.__setattr__(self, "position", checked_position(self.position))
        object.__setattr__(self, "rotation", checked_rotation(self.rotation))
        object.__setattr__(self, "rounding", _checked_rounding(self.rounding, 0.5 * float(size.min())))

    @cached_property
    def _made(self) -> _core.Surface:
        return placed(_core.Box(0.5 * np.array(self.size), self.rounding), self.position, self.rotation)


@dataclass(frozen=True)
class Sphere(CoreSurface):
    """A ball.

    Args:
        radius: [m], above zero.
        position: Of its centre [m], in the world or in ``frame``.
        material: Of the contact.
        frame: Of the robot that carries it, by name; ``None``: it is part of the world.
    """

    radius: float
    position: Point = (0.0, 0.0, 0.0)
    material: Material = field(default_factory=Material, kw_only=True)
    frame: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self._check_material_and_frame()
        object.__setattr__(self, "radius", _checks.number("radius", self.radius, "[m]", above=0.0))
        object.__setattr__(self, "position", checked_position(self.position))

    @cached_property
    def _made(self) -> _core.Surface:
        return placed(_core.Sphere(self.radius), self.position)


@dataclass(frozen=True)
class Capsule(CoreSurface):
    """A cylinder with half a ball on either end, along its own z axis.

    Args:
        radius: [m], above zero.
        length: Between the centres of the two balls [m], not negative.
        position: Of its centre [m], in the world or in ``frame``.
        rotation: Quaternion x, y, z, w, from its axes to those of the world or of ``frame``.
        material: Of the contact.
        frame: Of the robot that carries it, by name; ``None``: it is part of the world.
    """

    radius: float
    length: float
    position: Point = (0.0, 0.0, 0.0)
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)
    material: Material = field(default_factory=Material, kw_only=True)
    frame: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self._check_material_and_frame()
        object.__setattr__(self, "radius", _checks.number("radius", self.radius, "[m]", above=0.0))
        object.__setattr__(self, "length", _checks.number("length", self.length, "[m]", least=0.0))
        object.__setattr__(self, "position", checked_position(self.position))
        object.__setattr__(self, "rotation", checked_rotation(self.rotation))

    @cached_property
    def _made(self) -> _core.Surface:
        return placed(_core.Capsule(self.radius, 0.5 * self.length), self.position, self.rotation)


@dataclass(frozen=True)
class Cylinder(CoreSurface):
    """A cylinder along its own z axis.

    Args:
        radius: [m], above zero.
        length: From face to face [m], above zero.
        position: Of its centre [m], in the world or in ``frame``.
        rotation: Quaternion x, y, z, w, from its axes to those of the world or of ``frame``.
        material: Of the contact.
        frame: Of the robot that carries it, by name; ``None``: it is part of the world.
        rounding: Radius of its rims [m], at most the radius and half the length; the size stays what it is.
    """

    radius: float
    length: float
    position: Point = (0.0, 0.0, 0.0)
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)
    material: Material = field(default_factory=Material, kw_only=True)
    frame: str | None = field(default=None, kw_only=True)
    rounding: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        self._check_material_and_frame()
        object.__setattr__(self, "radius", _checks.number("radius", self.radius, "[m]", above=0.0))
        object.__setattr__(self, "length", _checks.number("length", self.length, "[m]", above=0.0))
        object.__setattr__(self, "position", checked_position(self.position))
        object.__setattr__(self, "rotation", checked_rotation(self.rotation))
        object.__setattr__(self, "rounding", _checked_rounding(self.rounding, min(self.radius, 0.5 * self.length)))

    @cached_property
    def _made(self) -> _core.Surface:
        shape = _core.Cylinder(self.radius, 0.5 * self.length, self.rounding)
        return placed(shape, self.position, self.rotation)


def checked_position(value: Point) -> tuple[float, ...]:
    """Three coordinates [m]."""
    return tuple(_checks.vector("position", value, 3, "x, y, z in metres").tolist())


def checked_rotation(value: Quaternion) -> tuple[float, ...]:
    """A quaternion of length one; one that was rounded is put right."""
    rotation = _checks.vector("rotation", value, 4, "a quaternion x, y, z, w")
    with np.errstate(over="ignore"):
        length = float(np.linalg.norm(rotation))
    if not abs(length - 1.0) <= _ROUNDED:
        raise InvalidArgument(
            f"rotation is {value!r}, of length {length:.6g}; give a quaternion x, y, z, w of length 1, "
            f"for example (0, 0, 0, 1) for none"
        )
    if abs(length - 1.0) > 4e-16:  # one that has been put right stays as it is
        rotation /= length
    return tuple(rotation.tolist())


def placed(shape: _core.Surface, position: Point, rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)) -> _core.Surface:
    """A shape of the core, turned and moved; itself where there is nothing to do."""
    p, q = np.array(position), np.array(rotation)
    if not p.any() and not q[:3].any():
        return shape
    return _core.Placed(shape, rotation_matrix(q), p)


def rotation_matrix(q: Array) -> Array:
    """Of a quaternion x, y, z, w of unit length, (3, 3)."""
    x, y, z, w = q
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def _checked_rounding(value: float, most: float) -> float:
    rounding = _checks.number("rounding", value, "[m]", least=0.0)
    if rounding > most:
        raise InvalidArgument(f"rounding is {value!r}; give at most {most:g} [m], or the shape would lose its size")
    return rounding
