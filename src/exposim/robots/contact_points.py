"""Where a robot may touch something."""

from __future__ import annotations

from dataclasses import dataclass

from exposim import _checks
from exposim.contact.materials import Material
from exposim.contact.surfaces import Point
from exposim.errors import InvalidArgument


@dataclass(frozen=True)
class ContactPoint:
    """A point of the robot that may touch something.

    Args:
        frame: Name of the frame it is fixed to.
        offset: Position in that frame [m].
        name: Its own name; by default that of the frame.
        radius: Of a spherical foot around the point [m]; it rolls.
        bilateral: Always in contact, pulls as well as pushes, knows no friction limit, ignores the surfaces.
        material: Of a bilateral contact (default ``Material()``); otherwise instead of the surface's.
        anchor: Where a bilateral contact is attached in the world [m]; by default where the point is at reset.
    """

    frame: str
    offset: Point = (0.0, 0.0, 0.0)
    name: str = ""
    radius: float = 0.0
    bilateral: bool = False
    material: Material | None = None
    anchor: Point | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.frame, str) or not self.frame:
            raise InvalidArgument(f"frame is {self.frame!r}; give the name of a frame of the model")
        offset = _checks.vector("offset", self.offset, 3, "x, y, z in metres, in the frame")
        object.__setattr__(self, "offset", tuple(offset.tolist()))
        if not isinstance(self.name, str):
            raise InvalidArgument(f"name is {self.name!r}; give text, or leave it out")
        object.__setattr__(self, "name", self.name or self.frame)
        object.__setattr__(self, "radius", _checks.number("radius", self.radius, "[m]", least=0.0))
        _checks.flag("bilateral", self.bilateral)
        if self.material is not None and not isinstance(self.material, Material):
            raise InvalidArgument(f"material is {self.material!r}; give an exposim.Material or None")
        if self.anchor is not None:
            if not self.bilateral:
                raise InvalidArgument("anchor is for bilateral contacts only; set bilateral=True or leave it out")
            anchor = _checks.vector("anchor", self.anchor, 3, "x, y, z in metres, in the world")
            object.__setattr__(self, "anchor", tuple(anchor.tolist()))
