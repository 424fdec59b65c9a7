"""The shapes of links as surfaces that other bodies can touch."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from exposim.contact.materials import Material
from exposim.contact.mesh_hulls import read_any
from exposim.contact.meshes import Mesh
from exposim.contact.shapes import Box, Capsule, Cylinder, Sphere
from exposim.contact.surfaces import Surface
from exposim.errors import ExposimError
from exposim.robots.contact_points import ContactPoint
from exposim.robots.solids import LeftOut, Solid


@dataclass(frozen=True)
class Found:
    """What was found on a link for ``contact_points="auto"``.

    Args:
        link: Its name.
        count: Of the points that it could have.
        missed: How far the body that it belongs to reaches beyond the points that were kept [m].
    """

    link: str
    count: int
    missed: float


@dataclass(frozen=True)
class FileShapes:
    """What the file of a robot says of its shapes, of which surfaces are made when someone asks for them.

    Args:
        solids: That can be touched.
        left_out: Of the file, and of the points that were chosen.
        points: That were chosen by ``contact_points="auto"``, if they were.
        found: For these, link by link.
    """

    solids: tuple[Solid, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    points: tuple[ContactPoint, ...] | None = None
    found: tuple[Found, ...] = ()

    def surfaces(self) -> tuple[Surface, ...]:
        """Of those that can be one."""
        return shapes_of(self.solids)[0]


def shapes_of(solids: Iterable[Solid]) -> tuple[tuple[Surface, ...], tuple[LeftOut, ...]]:
    """Surfaces, each with the frame of its link, and what cannot be one.

    The stiffness and damping are those of ``Material()``, friction is the file's where it states one. Meshes are
    their convex hulls; they are not read here: a simulator in which something may touch them does, once.
    """
    surfaces, left_out = [], []
    for solid in solids:
        try:
            surface = surface_of(solid)
        except ExposimError as error:
            left_out.append(LeftOut(solid.link, solid.kind, str(error)))
            continue
        if surface is None:
            left_out.append(LeftOut(solid.link, solid.kind, "there is no surface of that kind"))
        else:
            surfaces.append(surface)
    return tuple(surfaces), tuple(left_out)


def surface_of(solid: Solid) -> Surface | None:
    """None for an ellipsoid."""
    material = Material() if solid.friction is None else Material(friction=solid.friction)
    size, position, rotation, frame = solid.size, solid.position, solid.rotation, solid.link or None
    if solid.kind == "box":
        return Box(size, position, rotation, material=material, frame=frame)
    if solid.kind == "sphere":
        return Sphere(size[0], position, material=material, frame=frame)
    if solid.kind == "capsule":
        return Capsule(size[0], size[1], position, rotation, material=material, frame=frame)
    if solid.kind == "cylinder":
        return Cylinder(size[0], size[1], position, rotation, material=material, frame=frame)
    if solid.kind == "mesh" and solid.path is not None:
        sha256 = hashlib.sha256(read_any(solid.path)).hexdigest()  # with which it is not read before it is used
        return Mesh(solid.path, size, position, rotation, material=material, frame=frame, hull=True, sha256=sha256)
    return None
