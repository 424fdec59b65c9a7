"""Surfaces that links of a robot carry."""

from __future__ import annotations

from typing import Any

from exposim import _checks
from exposim.contact.surfaces import HalfSpace, Surface, altered
from exposim.errors import InvalidArgument


def carried_by(frame: str, shape: Surface) -> Surface:
    """The same shape in a frame of that name."""
    if isinstance(shape, HalfSpace):
        raise InvalidArgument("a HalfSpace stays in the world; give a body or link another shape, such as exposim.Box")
    return altered(shape, "frame", frame)


def checked_shapes(shapes: Any) -> tuple[Surface, ...]:
    """Surfaces, each with the name of a frame that carries it."""
    wanted = "surfaces that name the frame which carries them, such as exposim.Box(size, frame='trunk')"
    given = _checks.several("shapes", shapes, wanted)
    for shape in given:
        if not isinstance(shape, Surface) or isinstance(shape, HalfSpace) or not isinstance(shape.frame, str):
            raise InvalidArgument(f"shapes has {shape!r}; give {wanted}")
    return given
