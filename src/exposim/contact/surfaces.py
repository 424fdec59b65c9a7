"""What a robot stands on."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from exposim import _checks, _core
from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.errors import InvalidArgument

if TYPE_CHECKING:
    from functools import cached_property

Point = Sequence[float] | Array


class Surface:
    """Something that contact points can touch: a signed distance, a normal, a material.

    A surface of your own needs :meth:`distance` and :meth:`normal`, of as many points at once as it is given, and a
    ``material`` (a class attribute will do). The normal must be defined wherever contact points come. They are called
    from the core for every contact point, once or twice in every step: some seventy microseconds a point, where a
    surface of the core takes ten nanoseconds.

    Attributes:
        material: Of the contact.
        frame: Of the robot that carries it, by name; ``None``: it is part of the world.
    """

    material: Material = Material()
    frame: str | None = None  # of the robot which carries it; None: the world

    def distance(self, p: Array) -> Array:
        """Signed distance of points [m], negative inside: (n, 3) to (n,). Smooth, of slope one near the surface."""
        raise InvalidArgument(f"{type(self).__name__} has no method distance; give it one, of (n, 3) points")

    if not TYPE_CHECKING:  # a half-space calls its one normal by this name

        def normal(self, p: Array) -> Array:
            """Gradient of the distance at points, of unit length, pointing out: (n, 3) to (n, 3)."""
            raise InvalidArgument(f"{type(self).__name__} has no method normal; give it one, of (n, 3) points")

    def _build(self) -> _core.Surface:
        name = type(self).__name__
        if not isinstance(self.material, Material):
            raise InvalidArgument(
                f"material of {name} is {self.material!r}; give an exposim.Material, for example exposim.Material()"
            )
        if self.frame is not None and not (isinstance(self.frame, str) and self.frame):
            raise InvalidArgument(f"frame of {name} is {self.frame!r}; give the name of a frame of the robot, or None")
        somewhere = np.array([[0.137, -0.213, 0.171], [1.31, 0.77, -0.59]])  # where no shape is likely to be special
        self._checked_distance(somewhere)
        self._checked_normal(somewhere)
        return _core.PythonSurface(self._checked_distance, self._checked_normal)

    def _checked_distance(self, p: Array) -> Array:
        return self._checked("distance", self.distance(p), (len(p),))

    def _checked_normal(self, p: Array) -> Array:
        n = self._checked("normal", self.normal(p), (len(p), 3))  # type: ignore[attr-defined]
        if not np.allclose(np.einsum("ij,ij->i", n, n), 1.0, rtol=0.0, atol=1e-6):
            raise InvalidArgument(f"{type(self).__name__}.normal returned {n!r}; give vectors of unit length")
        return n

    def _checked(self, what: str, value: Any, shape: tuple[int, ...]) -> Array:
        array = value if isinstance(value, np.ndarray) and value.dtype == np.float64 else _numbers(value)
        if array is None or array.shape != shape or not np.isfinite(array).all():
            raise InvalidArgument(
                f"{type(self).__name__}.{what} returned {value!r} for {shape[0]} points; give {shape} finite numbers"
            )
        return array


class CoreSurface(Surface):
    """Base of surfaces that the core has: made there at first use, and shared by all who ask."""

    if TYPE_CHECKING:

        @cached_property
        def _made(self) -> _core.Surface: ...

    def distance(self, p: Array) -> Array:
        """Signed distance of points [m], negative inside: (n, 3) to (n,)."""
        return self._made.distances(_points(p))

    def normal(self, p: Array) -> Array:
        """Gradient of the distance at points, of unit length, pointing out: (n, 3) to (n, 3)."""
        return self._made.normals(_points(p))

    def _build(self) -> _core.Surface:
        return self._made

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_made"}  # which another process makes

    def _check_material_and_frame(self) -> None:
        if not isinstance(self.material, Material):
            raise InvalidArgument(f"material is {self.material!r}; give an exposim.Material")
        if self.frame is not None and not (isinstance(self.frame, str) and self.frame):
            raise InvalidArgument(f"frame is {self.frame!r}; give the name of a frame of the robot, or None: the world")


@dataclass(frozen=True)
class HalfSpace(Surface):
    """Everything below a plane.

    Args:
        material: Of the contact.
        point: Any point of the plane [m].
        normal: Pointing out of the ground; of any length but zero, kept with length one.
    """

    material: Material = field(default_factory=Material)
    point: Point = (0.0, 0.0, 0.0)
    normal: Point = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        if not isinstance(self.material, Material):
            raise InvalidArgument(f"material is {self.material!r}; give an exposim.Material")
        point = _checks.vector("point", self.point, 3, "x, y, z in metres")
        normal = _checks.vector("normal", self.normal, 3, "a direction")
        largest = np.abs(normal).max()
        if largest == 0.0:
            raise InvalidArgument(f"normal is {self.normal!r}, which has no direction; give for example (0, 0, 1)")
        normal /= largest  # keeps the square of a huge or tiny entry in range
        object.__setattr__(self, "point", tuple(point.tolist()))
        object.__setattr__(self, "normal", tuple((normal / np.linalg.norm(normal)).tolist()))

    def distance(self, p: Array) -> Array:
        """Signed distance of points [m], negative below the plane: (n, 3) to (n,)."""
        return np.asarray((np.asarray(p, dtype=float) - np.array(self.point)) @ np.array(self.normal))

    def _build(self) -> _core.Surface:
        return _core.HalfSpace(np.array(self.point), np.array(self.normal))


@dataclass(frozen=True)
class NamedSurface(Surface):
    """Stands in a file for a surface written in Python, of which a file can hold the name alone.

    Args:
        name: Of its class.
        digest: Of what it is made of, by which another one of that name is told.
        material: Of the contact.
    """

    name: str
    digest: str
    material: Material

    @classmethod
    def of(cls, surface: Surface) -> NamedSurface:
        """What stands for a surface."""
        parts = repr(sorted((name, repr(value)) for name, value in vars(surface).items()))
        return cls(type(surface).__name__, hashlib.sha256(parts.encode()).hexdigest(), surface.material)

    def _build(self) -> _core.Surface:
        raise InvalidArgument(
            f"the surface {self.name!r} was written in Python, and a file has its name alone; give the scenario that "
            f"has the surface itself"
        )


def _numbers(value: Any) -> Array | None:
    """As an array; ``None`` where they are none."""
    try:
        return _checks.as_array("", value)
    except InvalidArgument:
        return None


def _points(p: Any) -> Array:
    array = _checks.as_array("p", p, "points, (n, 3) [m]")
    if array.ndim != 2 or array.shape[1] != 3:
        raise InvalidArgument(f"p has shape {array.shape}; give points, (n, 3) [m]")
    return _checks.finite("p", array)


def altered(surface: Surface, name: str, value: Any) -> Surface:
    """The same surface with another ``material`` or ``frame``; also one of somebody's own."""
    if dataclasses.is_dataclass(surface) and any(each.name == name for each in dataclasses.fields(surface)):
        changed = dataclasses.replace(surface, **{name: value})
        if "_made" in vars(surface):  # its geometry is the same, and may have taken seconds
            vars(changed)["_made"] = vars(surface)["_made"]
        return changed
    other = copy.copy(surface)
    object.__setattr__(other, name, value)  # also of a frozen one
    return other


def surfaces_of(ground: Surface | Iterable[Surface] | None) -> tuple[Surface, ...]:
    """One surface, several or none, as a tuple."""
    if ground is None:
        return ()
    wanted = "a surface such as exposim.HalfSpace(), several, or None"
    surfaces = (ground,) if isinstance(ground, Surface) else _checks.several("ground", ground, wanted)
    if not all(isinstance(surface, Surface) for surface in surfaces):
        raise InvalidArgument(f"ground is {ground!r}; give {wanted}")
    return surfaces
