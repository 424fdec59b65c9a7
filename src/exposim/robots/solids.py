"""What files say of the shapes of links, in one form for URDF and MJCF; no mesh is read for it."""

from __future__ import annotations

import itertools
import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from exposim._checks import Array

Element = ElementTree.Element
Kind = Literal["box", "sphere", "capsule", "cylinder", "ellipsoid", "mesh"]
Numbers = tuple[float, ...]

# How many numbers say how large a solid of each kind is.
SIZES: dict[Kind, int] = {"box": 3, "sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "mesh": 3}


@dataclass(frozen=True)
class Solid:
    """A shape of a link, as its file has it.

    Args:
        link: Name of the body's frame in the model; empty for the world.
        kind: Of shape.
        size: Edges of a box, radius of a sphere, radius and length of a capsule (between the centres of its caps) or
            cylinder, radii of an ellipsoid [m]; scale of a mesh.
        position: In the frame [m].
        rotation: Quaternion x, y, z, w; axes are along z.
        path: Of a mesh.
        friction: That the file states, if any.
    """

    link: str
    kind: Kind
    size: Numbers
    position: Numbers = (0.0, 0.0, 0.0)
    rotation: Numbers = (0.0, 0.0, 0.0, 1.0)
    path: Path | None = None
    friction: float | None = None

    @property
    def placement(self) -> pin.SE3:
        """In the link's frame."""
        return pin.SE3(pin.Quaternion(np.array(self.rotation)), np.array(self.position))


@dataclass(frozen=True)
class LeftOut:
    """What is not taken of a link, and why; `of_points` if only its points are not."""

    link: str
    what: str
    why: str
    of_points: bool = False


@dataclass
class Solids:
    """All shapes of a file that can be touched, link by link, and what could not be read of them."""

    solids: list[Solid]
    left_out: list[LeftOut]


def placed(position: Array, rotation: Array) -> tuple[Numbers, Numbers]:
    """Position and quaternion as numbers, of a rotation matrix."""
    return tuple(position.tolist()), tuple(pin.Quaternion(rotation).normalized().coeffs().tolist())


def kind_of(word: str) -> Kind | None:
    """The kind of that name, if there is one."""
    return next((kind for kind in SIZES if kind == word), None)


def problem_of(kind: Kind, size: Sequence[float]) -> str | None:
    """What is wrong with a size, if anything."""
    good = len(size) == SIZES[kind] and np.isfinite(size).all()
    if good and (np.all(np.array(size) > 0.0) or (kind == "mesh" and np.all(np.array(size) != 0.0))):
        return None
    return f"its size is {' '.join(f'{each:g}' for each in size) or 'missing'}"


def solids_of_urdf(root: Element, path: Path, package_dirs: Sequence[Path]) -> Solids:
    """The collision shapes of a URDF file."""
    found = Solids([], [])
    folders = [*package_dirs, *path.parents]  # packages usually lie in a folder somewhere above the file
    for link in root.iterfind("link"):
        name = link.get("name", "")
        # Pinocchio's way to say that a cylinder has round ends.
        round_ends = {each.get("name") for each in link.iterfind("collision_checking/capsule")}
        for collision in link.iterfind("collision"):
            geometry = collision.find("geometry")
            for element in () if geometry is None else itertools.islice(geometry, 1):
                solid = _solid_of(element, collision, name, path, folders, collision.get("name") in round_ends)
                (found.solids if isinstance(solid, Solid) else found.left_out).append(solid)  # type: ignore[arg-type]
    return found


def _solid_of(
    element: Element, collision: Element, link: str, file: Path, folders: Sequence[Path], is_round: bool
) -> Solid | LeftOut:
    kind = kind_of(element.tag)
    if kind is None or kind == "ellipsoid":
        return LeftOut(link, f"<{element.tag}>", "a shape of that kind is not known")
    attributes = {"box": ("size",), "sphere": ("radius",), "mesh": ("scale",)}.get(kind, ("radius", "length"))
    texts = [element.get(each, "1 1 1" if each == "scale" else "") for each in attributes]
    size = numbers(" ".join(texts))
    if kind == "cylinder" and is_round:
        kind = "capsule"
    if (problem := problem_of(kind, size)) is not None:
        return LeftOut(link, kind, problem)
    address = element.get("filename", "")
    where = mesh_file(address, file, folders) if kind == "mesh" else None
    if kind == "mesh" and where is None:
        return LeftOut(link, "mesh", f"there is no file {address}")
    origin = collision.find("origin")
    xyz, rpy = (numbers("0 0 0" if origin is None else origin.get(each, "0 0 0")) for each in ("xyz", "rpy"))
    if len(xyz) != 3 or len(rpy) != 3 or not np.isfinite([xyz, rpy]).all():
        return LeftOut(link, kind, "its origin is not three numbers each")
    return Solid(link, kind, size, *placed(np.array(xyz), pin.rpy.rpyToMatrix(np.array(rpy))), where)


def mesh_file(address: str, file: Path, folders: Sequence[Path]) -> Path | None:
    """Where the mesh of an address is: in a package, or beside the file that names it."""
    package = address.removeprefix("package://")
    beside = os.path.join(file.parent, address.removeprefix("file://"))
    places = [os.path.join(folder, package) for folder in folders] if package != address else [beside]
    return next((Path(place) for place in places if os.path.isfile(place)), None)


def numbers(text: str) -> Numbers:
    """Of an attribute; none if one of them is none."""
    try:
        return tuple(float(each) for each in text.split())
    except ValueError:
        return ()


def by_link(solids: Sequence[Solid]) -> dict[str, list[Solid]]:
    """In the order of the file."""
    found: dict[str, list[Solid]] = defaultdict(list)
    for solid in solids:
        found[solid.link].append(solid)
    return dict(found)


def in_words(solids: Sequence[Solid]) -> str:
    """Such as ``box, 4 cylinders``."""
    kinds: dict[str, int] = defaultdict(int)
    for solid in solids:
        kinds[solid.kind] += 1
    plural = {"box": "boxes", "mesh": "meshes"}
    return ", ".join(kind if n == 1 else f"{n} {plural.get(kind, kind + 's')}" for kind, n in kinds.items())
