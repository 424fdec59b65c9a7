"""Geoms and sites of MJCF files, as MuJoCo reads them: with the defaults of their classes, and in all its notations.

Those of the robot become solids and frames of its model, those of the world surfaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.contact.surfaces import HalfSpace, Surface
from exposim.errors import ModelParseError
from exposim.robots.collision_shapes import shapes_of
from exposim.robots.mjcf_joints import Mjcf
from exposim.robots.solids import SIZES, Kind, LeftOut, Numbers, Solid, Solids, kind_of, mesh_file, placed, problem_of

Element = ElementTree.Element
_UNREAD = {
    "plane": "a plane that moves is no ground",
    "hfield": "height fields of files are not read; make an exposim.HeightField",
}
_AXES = {"x": np.array([1.0, 0.0, 0.0]), "y": np.array([0.0, 1.0, 0.0]), "z": np.array([0.0, 0.0, 1.0])}


def moves(body: Element) -> bool:
    """Whether a body, or one that hangs on it, has a joint."""
    return any(each.tag in ("joint", "freejoint") for each in body.iter())


def solids_of_mjcf(mjcf: Mjcf) -> Solids:
    """The geoms of the robot that can be touched."""
    found = Solids([], [])
    for body, link, inherited in _bodies(mjcf):
        for element in body.iterfind("geom"):
            geom = mjcf.attributes(element, inherited)
            solid = _solid(mjcf, geom, link)
            if isinstance(solid, Solid):
                found.solids.append(solid)
            elif solid is not None:
                found.left_out.append(solid)
    return found


def ground_of_mjcf(mjcf: Mjcf) -> tuple[list[Surface], list[LeftOut]]:
    """What is fixed to the world: its own geoms, and those of bodies without joints, unless they are the robot."""
    surfaces: list[Surface] = []
    left_out: list[LeftOut] = []
    for holder, inherited, placement in _fixed(mjcf):
        for element in holder.iterfind("geom"):
            geom = mjcf.attributes(element, inherited)
            found = _solid(mjcf, geom, "", placement)
            if isinstance(found, Solid):
                made, lost = shapes_of([found])
                surfaces += made
                left_out += lost
            elif geom.get("type") == "plane" and found is not None:
                M = placement * _placement(mjcf, geom)
                friction = _friction(mjcf, geom)
                material = Material() if friction is None else Material(friction=friction)
                surfaces.append(HalfSpace(material, M.translation, M.rotation[:, 2]))
            elif found is not None:
                left_out.append(found)
    return surfaces, left_out


def add_frames(mjcf: Mjcf, model: pin.Model) -> None:
    """Frames at geoms and sites that have a name; Pinocchio makes those of sites, but without defaults of classes."""
    ids = {frame.name: i for i, frame in enumerate(model.frames)}
    for body, link, inherited in _bodies(mjcf):
        if link not in ids:
            continue
        parent = next(i for i, f in enumerate(model.frames) if f.name == link and f.type == pin.FrameType.BODY)
        for element in (*body.iterfind("site"), *body.iterfind("geom")):
            name, attributes = element.get("name"), mjcf.attributes(element, inherited)
            if not name:
                continue
            frame = model.frames[parent]
            placement = frame.placement * _placement(mjcf, attributes)
            if name not in ids:
                ids[name] = model.addFrame(
                    pin.Frame(name, frame.parentJoint, parent, placement, pin.FrameType.OP_FRAME), False
                )
            elif element.tag == "site" and model.frames[ids[name]].type == pin.FrameType.OP_FRAME:
                model.frames[ids[name]].placement = placement


def _bodies(mjcf: Mjcf) -> Iterator[tuple[Element, str, str]]:
    """The bodies of the robot: each with the name of its frame in the model, and the class that it gives."""
    waiting = [(body, body.get("name") or "world", "main") for body in mjcf.root.findall("worldbody/body")[:1]]
    while waiting:
        body, link, inherited = waiting.pop()
        inherited = body.get("childclass", inherited)
        yield body, link, inherited
        # Pinocchio's name for what has none.
        waiting += [(child, child.get("name") or f"{link}Bis", inherited) for child in reversed(body.findall("body"))]


def _fixed(mjcf: Mjcf) -> Iterator[tuple[Element, str, pin.SE3]]:
    """The world and all bodies that are fixed to it: each with the class that it gives, and where it is."""
    first = mjcf.root.find("worldbody/body")
    waiting = [(world, "main", pin.SE3.Identity()) for world in reversed(mjcf.root.findall("worldbody"))]
    while waiting:
        holder, inherited, placement = waiting.pop()
        if holder.tag == "body":
            has_joints = any(holder.find(tag) is not None for tag in ("joint", "freejoint"))
            if has_joints or (holder is first and moves(holder)):  # the first body is Pinocchio's robot
                continue
            inherited = holder.get("childclass", inherited)
            placement = placement * _placement(mjcf, holder.attrib)
        yield holder, inherited, placement
        waiting += [(child, inherited, placement) for child in reversed(holder.findall("body"))]


def _solid(mjcf: Mjcf, geom: Mapping[str, str], link: str, within: pin.SE3 | None = None) -> Solid | LeftOut | None:
    """A geom, or why it cannot be one; None if it is for the eye alone."""
    if all(mjcf.numbers(geom, each, "1")[0] == 0.0 for each in ("contype", "conaffinity")):
        return None
    word, name = geom.get("type", "sphere"), geom.get("name")
    what, kind = f"{word} {name!r}" if name else word, kind_of(word)
    if kind is None:
        return LeftOut(link, what, _UNREAD.get(word, "a shape of that kind is not known"))
    path, size = None, _size(mjcf, geom, kind)
    if kind == "mesh":
        mesh = _meshes(mjcf).get(geom.get("mesh", ""))
        if mesh is None or not mesh.get("file"):
            return LeftOut(link, what, f"no file has its mesh {geom.get('mesh', '')!r}")
        if "refpos" in mesh or "refquat" in mesh:
            return LeftOut(link, what, "its mesh is moved by refpos or refquat")
        path, size = _mesh_path(mjcf, mesh["file"]), tuple(mjcf.numbers(mesh, "scale", "1 1 1", 3)[:3])
        if path is None:
            return LeftOut(link, what, f"there is no file {mesh['file']}")
    elif "mesh" in geom:
        return LeftOut(link, what, "a shape that is to be fitted to a mesh is not")
    if (problem := problem_of(kind, size)) is not None:
        return LeftOut(link, what, problem)
    M = _placement(mjcf, geom) if within is None else within * _placement(mjcf, geom)
    return Solid(link, kind, size, *placed(M.translation, M.rotation), path, _friction(mjcf, geom))


def _size(mjcf: Mjcf, geom: Mapping[str, str], kind: Kind) -> Numbers:
    """In full lengths, where MJCF has half ones."""
    size = mjcf.numbers(geom, "size", "", 0)
    if "fromto" in geom:
        half = 0.5 * float(np.linalg.norm(_ends(mjcf, geom)[1] - _ends(mjcf, geom)[0]))
        size = [*size[:1] * (2 if kind in ("box", "ellipsoid") else 1), half]
    size = size[: SIZES[kind]]
    if kind == "box":
        return tuple(2.0 * each for each in size)
    return (*size[:1], *(2.0 * each for each in size[1:])) if kind in ("capsule", "cylinder") else tuple(size)


def _friction(mjcf: Mjcf, geom: Mapping[str, str]) -> float | None:
    """Of sliding, which stands first."""
    if "friction" not in geom:
        return None
    friction = mjcf.numbers(geom, "friction", "")[0]
    if friction < 0.0:
        raise ModelParseError(f'{mjcf.path} is not a valid MJCF file: friction="{geom["friction"]}" is below 0')
    return friction


def _meshes(mjcf: Mjcf) -> dict[str, dict[str, str]]:
    found = {}
    for element in mjcf.root.iterfind("asset/mesh"):
        mesh = mjcf.attributes(element)
        found[mesh.get("name") or PurePosixPath(mesh.get("file", "")).stem] = mesh
    return found


def _mesh_path(mjcf: Mjcf, file: str) -> Path | None:
    folder = mjcf.compiler.get("meshdir", mjcf.compiler.get("assetdir", ""))
    if mjcf.compiler.get("strippath") == "true":
        file = PurePosixPath(file.replace("\\", "/")).name
    return mesh_file(str(PurePosixPath(folder) / file), mjcf.path, ())


def _ends(mjcf: Mjcf, geom: Mapping[str, str]) -> tuple[Array, Array]:
    ends = np.array(mjcf.numbers(geom, "fromto", "", 6)[:6])
    return ends[:3], ends[3:]


def _placement(mjcf: Mjcf, attributes: Mapping[str, str]) -> pin.SE3:
    """Of a geom, site or body in what holds it."""
    if "fromto" in attributes:
        start, end = _ends(mjcf, attributes)
        length = float(np.linalg.norm(end - start))
        along = (start - end) / length if length > 0.0 else _AXES["z"]
        return pin.SE3(pin.Quaternion.FromTwoVectors(_AXES["z"], along), 0.5 * (start + end))
    return pin.SE3(_rotation(mjcf, attributes), np.array(mjcf.numbers(attributes, "pos", "0 0 0", 3)[:3]))


def _rotation(mjcf: Mjcf, attributes: Mapping[str, str]) -> Array:
    def unit(vector: Array, name: str) -> Array:
        length = float(np.linalg.norm(vector))
        if length < 1e-12:
            raise ModelParseError(f'{mjcf.path} is not a valid MJCF file: {name}="{attributes[name]}" has no direction')
        return vector / length

    def of(name: str, count: int) -> Array:
        return np.array(mjcf.numbers(attributes, name, "", count)[:count])

    if "axisangle" in attributes:
        *about, angle = of("axisangle", 4)
        return np.asarray(pin.exp3(unit(np.array(about), "axisangle") * angle * mjcf.per_angle))
    if "xyaxes" in attributes:
        x, y = np.split(of("xyaxes", 6), 2)
        x = unit(x, "xyaxes")
        y = unit(y - (x @ y) * x, "xyaxes")
        return np.stack([x, y, np.cross(x, y)], axis=1)
    if "zaxis" in attributes:
        return np.asarray(pin.Quaternion.FromTwoVectors(_AXES["z"], unit(of("zaxis", 3), "zaxis")).toRotationMatrix())
    if "quat" in attributes and "euler" not in attributes:  # of which one may be a class's
        w, *xyz = unit(of("quat", 4), "quat")
        return np.asarray(pin.Quaternion(np.array([*xyz, w])).toRotationMatrix())
    turned: Array = np.eye(3)
    if "euler" in attributes:
        sequence = mjcf.compiler.get("eulerseq", "xyz")
        if len(sequence) != 3 or not set(sequence.lower()) <= set(_AXES):
            raise ModelParseError(f'{mjcf.path} is not a valid MJCF file: eulerseq="{sequence}" is no three axes')
        for letter, angle in zip(sequence, of("euler", 3), strict=True):
            turn = np.asarray(pin.exp3(_AXES[letter.lower()] * angle * mjcf.per_angle))
            turned = turned @ turn if letter.islower() else turn @ turned  # about turned axes, or about fixed ones
    return turned
