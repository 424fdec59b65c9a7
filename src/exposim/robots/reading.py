"""Model files read: URDF with the poses of an SRDF file, and MJCF."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import pinocchio as pin

from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument, ModelParseError, UnknownFile, reason
from exposim.robots.joints import Drive
from exposim.robots.mjcf_actuators import read_actuators
from exposim.robots.mjcf_geoms import add_frames, ground_of_mjcf, solids_of_mjcf
from exposim.robots.mjcf_joints import Mjcf
from exposim.robots.model_files import parse, refuse_what_is_no_tree, root_link
from exposim.robots.models import has_floating_base, joint_names
from exposim.robots.notes import left_out_of_mjcf, left_out_of_urdf, some
from exposim.robots.postures import load_poses, poses_beside
from exposim.robots.solids import LeftOut, Solids

Element = ElementTree.Element
Base = bool | Literal["auto"]


@dataclass
class Reading:
    """What a file comes to.

    Args:
        model: Of Pinocchio.
        root: Of the file.
        read: In words.
        left_out: In words.
        has_decided: Whether something was decided that the file does not say.
        poses: Names of those of an SRDF file.
        actuated_joints: If the file says which.
        drives: That it has.
        solids: Shapes of its links, of MJCF files.
    """

    model: pin.Model
    root: Element
    read: list[str]
    left_out: list[str]
    has_decided: bool = False
    poses: list[str] | None = None
    actuated_joints: list[str] | None = None
    drives: Mapping[str, Drive] = field(default_factory=dict)
    solids: Solids | None = None


def read_urdf(path: Path, floating_base: Base, srdf: str | PathLike[str] | None = None) -> Reading:
    """A URDF file, and the SRDF file that is given or found."""
    root = parse(path, root_tag="robot", kind="URDF")
    refuse_what_is_no_tree(path, root)
    base = root_link(root)
    is_free = base != "world" if floating_base == "auto" else floating_base
    try:
        model = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if is_free else []))
    except Exception as error:  # Boost.Python turns C++ errors into many types
        raise ModelParseError(f"{path} is not a valid URDF file: {reason(error)}") from None
    reading = Reading(model, root, [], left_out_of_urdf(root), has_decided=floating_base == "auto")
    if reading.has_decided:
        why = f"its root link is {base!r}, not 'world'; floating_base=False fixes it"
        reading.read.append(
            f"a floating base ({why})"
            if is_free
            else "a fixed base (its root link is 'world'; floating_base=True frees it)"
        )
    poses = poses_beside(path) if srdf is None else _given_file("srdf", srdf)
    if poses is not None:
        reading.poses, passive = load_poses(model, poses)
        reading.left_out += [f"<passive_joint> of {poses.name} ({some(passive)})"] if passive else []
        reading.read.append(f"poses of {poses.name} ({some(reading.poses) or 'none'})")
    return reading


def read_mjcf(path: Path, floating_base: Base) -> Reading:
    """An MJCF file: links by Pinocchio, joints and actuators here."""
    root = parse(path, root_tag="mujoco", kind="MJCF")
    _refuse_short_vectors(path, root)
    base = root.find("worldbody/body")
    _refuse_bodies_without_names(path, base)
    is_free = base is not None and (
        base.find("freejoint") is not None or any(joint.get("type") == "free" for joint in base.iterfind("joint"))
    )
    if floating_base is False and is_free:
        raise InvalidArgument(f"floating_base is False, but the file {path} has a free joint; remove it there")
    try:
        if floating_base is not True or is_free:
            model = pin.buildModelFromMJCF(str(path))
        else:
            model = pin.buildModelFromMJCFAndRootJoint(str(path), pin.JointModelFreeFlyer())
    except Exception as error:  # Boost.Python turns C++ errors into many types
        raise ModelParseError(f"{path} is not a valid MJCF file: {reason(error)}") from None
    if floating_base is True and not has_floating_base(model):
        raise InvalidArgument(f"floating_base is True, but the base of {path} has a joint; put a <freejoint/> there")
    mjcf = Mjcf(path, root)
    joints, actuated, uneven = mjcf.joints(model), None, []
    if joints is not None:
        uneven = mjcf.apply(model, joints)
        actuated = read_actuators(mjcf, model, joints)
    add_frames(mjcf, model)
    reading = Reading(model, root, [], left_out_of_mjcf(root, joints, actuated, uneven), solids=solids_of_mjcf(mjcf))
    if actuated is not None and actuated.joints:
        reading.actuated_joints, reading.drives = actuated.joints, actuated.drives
        are_all = len(actuated.joints) == len(joint_names(model))
        reading.read.append(f"actuators ({some(actuated.joints)}){'' if are_all else ', while other joints have none'}")
    return reading


def read_ground(path: Path) -> tuple[list[Surface], list[LeftOut]]:
    """What an MJCF file fixes to the world, and what cannot be read of it."""
    root = parse(path, root_tag="mujoco", kind="MJCF")
    _refuse_short_vectors(path, root)
    return ground_of_mjcf(Mjcf(path, root))


def _given_file(name: str, given: str | PathLike[str]) -> Path:
    if not isinstance(given, (str, PathLike)):
        raise InvalidArgument(f"{name} is {given!r}; give the path of a file, or leave it out")
    path = Path(given)
    if path.suffix.lower() != ".srdf":
        raise InvalidArgument(f"{name} is {str(path)!r}; give the path of an .srdf file, or leave it out")
    try:
        if path.is_file():
            return path.resolve()
    except (OSError, ValueError):  # a name too long, or with a null character
        pass
    raise UnknownFile(f"there is no file {path}")


def _refuse_short_vectors(path: Path, root: Element) -> None:
    """Pinocchio reads what is not there as noise."""
    sizes = {"pos": 3, "quat": 4, "axis": 3, "euler": 3, "axisangle": 4, "diaginertia": 3, "fullinertia": 6}
    for element in root.iter():
        for name, size in sizes.items():
            given = element.get(name)
            if given is not None and len(given.split()) != size:
                raise ModelParseError(
                    f'{path} is not a valid MJCF file: {name}="{given}" of <{element.tag}> should have {size} numbers'
                )


def _refuse_bodies_without_names(path: Path, base: Element | None) -> None:
    """Pinocchio skips bodies of which nothing is said, and takes several without a name in one body for the same."""
    if base is None:
        return
    for body in base.iter("body"):
        nameless = [child for child in body.iterfind("body") if not child.get("name")]
        if not body.attrib or len(nameless) > 1:
            raise ModelParseError(
                f"{path} has bodies without a name, in {body.get('name', 'the world')!r}, which Pinocchio would mix up "
                f"or lose; give them names"
            )
