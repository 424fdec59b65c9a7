"""Loading robots: known ones by name, others from URDF, MJCF or a Pinocchio model."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from exposim import _checks
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument, ModelWarning, UnknownFile, UnknownRobot, UnsupportedModel, did_you_mean
from exposim.robots.auto_points import AutoPoints, with_auto_points
from exposim.robots.collision_shapes import FileShapes
from exposim.robots.contact_points import ContactPoint
from exposim.robots.known import KNOWN_ROBOTS, KnownRobot
from exposim.robots.notes import (
    left_out_of_contact,
    left_out_of_model,
    left_out_of_points,
    mimic_joints,
    some,
    what_was_read,
)
from exposim.robots.postures import put_down, stand_on_ground, starting_configuration
from exposim.robots.reading import Base, Reading, read_ground, read_mjcf, read_urdf
from exposim.robots.robot import Robot
from exposim.robots.solids import solids_of_urdf


def load_robot(
    source: str | PathLike[str] | pin.Model,
    *,
    floating_base: Base = "auto",
    package_dirs: Sequence[str | PathLike[str]] = (),
    contact_points: Iterable[ContactPoint] | AutoPoints | Literal["auto"] | None = None,
    q0: ArrayLike | None = None,
    name: str | None = None,
    srdf: str | PathLike[str] | None = None,
) -> Robot:
    """Loads a robot, with all that its file says of its joints: limits, damping, dry friction, armature, actuators.

    Of an MJCF file, motors become torque limits and servos (position, velocity, and general ones that mean the same)
    become drives; joints without an actuator are not actuated, if any has one. Efforts and velocities of zero are no
    limits.

    Args:
        source: Name of a known robot (solo12, go2, anymal_c, romeo, talos, g1), path of a ``.urdf`` or MJCF
            ``.xml`` file, or a ``pinocchio.Model``.
        floating_base: Whether the base is free to move. ``"auto"``: a URDF file's is, unless its root link is named
            ``world``; MJCF files and Pinocchio models say it themselves.
        package_dirs: Folders in which ``package://`` addresses of meshes are looked up.
        contact_points: Where the robot may touch something. ``"auto"``, or an :class:`AutoPoints` that says on which
            links and how many: chosen from the collision geometry of its file. By default known robots have theirs,
            files get those of ``"auto"``, if they have shapes, and models have none.
        q0: Configuration to start from. By default known robots stand with their feet on z = 0. Others are in a
            reference configuration of the model (a keyframe of MJCF, a pose of SRDF named standing, half_sitting or
            reference), or else the neutral one, every joint within its limits, with the lowest contact point of a
            floating base on z = 0.
        name: For messages and tables.
        srdf: File with reference poses and rotor inertias of a URDF file. By default the one of the same name beside
            it, or in a folder ``srdf`` next to its own, if there is one.

    Warns:
        ModelWarning: Of a file, what was read and what is not simulated, unless the base is as asked for and all is.
            Of other robots, what is not simulated.
    """
    if floating_base != "auto":
        floating_base = _checks.flag("floating_base", floating_base)
    folders = _folders(package_dirs)
    wanted = _wanted(contact_points)
    known = KNOWN_ROBOTS.get(_normalised(source))
    if isinstance(source, pin.Model) or known is not None:
        what = "a known robot" if known else "a pinocchio.Model"
        _refuse_for_others("floating_base", what, floating_base != "auto")
        _refuse_for_others("srdf", what, srdf is not None)
    root, read, left_out, has_decided = None, list[str](), list[str](), False
    if known is not None:
        robot, known_root = _load_known(_normalised(source), known, wanted, q0, name)
        left_out = [*mimic_joints(known_root), *left_out_of_points(robot)]
    elif isinstance(source, pin.Model):
        if isinstance(wanted, AutoPoints):
            raise InvalidArgument(
                "contact_points is 'auto', but a pinocchio.Model has no collision geometry; give "
                "exposim.ContactPoint objects, or load the robot from its file"
            )
        robot = Robot(source, () if wanted is None else wanted, q0=q0, name=name, package_dirs=folders)
        if q0 is None:
            robot._start_at(starting_configuration(robot)[0])
    else:
        robot, reading = _load_file(_model_file(source), floating_base, srdf, wanted, q0, name, folders)
        root, read, left_out, has_decided = reading.root, reading.read, reading.left_out, reading.has_decided
        read = [*read, *what_was_read(robot)]
    left_out = [*left_out_of_model(robot), *left_out, *left_out_of_contact(robot, root)]
    if left_out or has_decided:
        told = [
            f"{what}: {'; '.join(each)}" for what, each in {"read": read, "not simulated": left_out}.items() if each
        ]
        warnings.warn(f"robot {robot.name!r}: {'. '.join(told)}", ModelWarning, stacklevel=2)
    return robot


def load_ground(source: str | PathLike[str]) -> tuple[Surface, ...]:
    """What an MJCF file fixes to the world, as surfaces for ``Simulator(robot, ground)``.

    Planes, boxes, spheres, capsules, cylinders and meshes of the world, and of bodies without joints beside the robot,
    with their friction; meshes are their convex hulls, as in MuJoCo. Other files that it includes are not read. What
    has contype and conaffinity 0 is for the eye.

    Args:
        source: Path of an MJCF ``.xml`` file.

    Raises:
        UnsupportedModel: If it is another kind of file, or nothing in it can be stood on.

    Warns:
        ModelWarning: Of what was left out, and why.
    """
    if isinstance(source, str) and not Path(source).suffix:
        what = "is a robot, with" if source in KNOWN_ROBOTS else "is no file, and has"
        raise UnsupportedModel(
            f"{source!r} {what} no world to stand on; give the path of an MJCF .xml file, or to Simulator surfaces "
            f"such as exposim.HalfSpace()"
        )
    path = _model_file(source)
    if path.suffix.lower() != ".xml":
        raise UnsupportedModel(f"{path} is a URDF file, which has no world; give surfaces such as exposim.HalfSpace()")
    surfaces, left_out = read_ground(path)
    told = "; ".join(f"{each.what}: {each.why}" for each in left_out)
    if not surfaces:
        why = told or "the world has no geoms that touch"
        raise UnsupportedModel(f"{path} has nothing to stand on ({why}); give surfaces such as exposim.HalfSpace()")
    if told:
        warnings.warn(f"ground of {path.name}: not simulated: {told}", ModelWarning, stacklevel=2)
    return tuple(surfaces)


def _load_file(
    path: Path,
    floating_base: Base,
    srdf: str | PathLike[str] | None,
    points: Sequence[ContactPoint] | AutoPoints | None,
    q0: ArrayLike | None,
    name: str | None,
    folders: Sequence[Path],
) -> tuple[Robot, Reading]:
    if path.suffix.lower() == ".urdf":
        reading = read_urdf(path, floating_base, srdf)
    else:
        _refuse_for_others("srdf", "an MJCF file", srdf is not None)
        reading = read_mjcf(path, floating_base)
    solids = reading.solids or solids_of_urdf(reading.root, path, folders)
    is_decided = points is None and bool(solids.solids)
    robot = Robot(
        reading.model,
        () if points is None or isinstance(points, AutoPoints) else points,
        q0=q0,
        name=name or reading.model.name or path.stem,
        actuated_joints=reading.actuated_joints,
        drives=reading.drives,
        source=path,
        package_dirs=folders,
        shapes=FileShapes(tuple(solids.solids), tuple(solids.left_out)),
    )
    if isinstance(points, AutoPoints) or is_decided:
        q = starting_configuration(robot, reading.poses)[0] if q0 is None else robot.q0
        robot = with_auto_points(robot, q, points if isinstance(points, AutoPoints) else AutoPoints(), is_decided)
        reading.left_out += left_out_of_points(robot)
        if robot.contact_points:
            reading.has_decided |= is_decided
            reading.read.append(f"contact points of its collision geometry ({some(robot.feet)})")
    if q0 is None:
        q, pose = starting_configuration(robot, reading.poses)
        robot._start_at(q)
        reading.read += [f"q0 from its pose {pose!r}"] if pose else []
    return robot, reading


def _load_known(
    key: str,
    known: KnownRobot,
    points: Sequence[ContactPoint] | AutoPoints | None,
    q0: ArrayLike | None,
    name: str | None,
) -> tuple[Robot, ElementTree.Element]:
    folder = robot_data_folder()
    path = folder / known.urdf
    reading = read_urdf(path, True, None if known.srdf is None else folder / known.srdf)
    model = reading.model
    q = np.array(model.referenceConfigurations[known.posture]) if known.posture else pin.neutral(model)
    for joint, angle in known.joints.items():
        q[model.joints[model.getJointId(joint)].idx_q] = angle

    # Mesh addresses start at the folder above the package: package://example-robot-data/robots/…
    folders = [folder.parents[1]]
    solids = solids_of_urdf(reading.root, path, folders)
    robot = Robot(
        model,
        known.contact_points,
        name=name or key,
        source=path,
        package_dirs=folders,
        shapes=FileShapes(tuple(solids.solids), tuple(solids.left_out)),
    )
    robot = robot.replace(q0=stand_on_ground(robot, q))
    if isinstance(points, AutoPoints):
        robot = with_auto_points(robot, robot.q0, points)
        return robot.replace(q0=put_down(robot, robot.q0) if q0 is None else q0), reading.root
    return robot.replace(contact_points=points, q0=q0), reading.root


def _wanted(contact_points: Any) -> tuple[ContactPoint, ...] | AutoPoints | None:
    if contact_points is None or isinstance(contact_points, AutoPoints):
        return contact_points
    if isinstance(contact_points, str) and contact_points == "auto":
        return AutoPoints()
    return _checks.several("contact_points", contact_points, "'auto', or a list of exposim.ContactPoint objects")


def robot_data_folder() -> Path:
    """Where the files of the known robots are installed."""
    metadata: Any = importlib.import_module("importlib.metadata")  # slow to import
    try:
        package = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        raise UnknownFile(
            "the files of the known robots are not installed; run: pip install example-robot-data"
        ) from None
    return Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots"))).resolve()


def _normalised(source: object) -> str:
    return source.lower().replace("-", "_") if isinstance(source, str) else ""


def _folders(package_dirs: Sequence[str | PathLike[str]]) -> list[Path]:
    if isinstance(package_dirs, (str, bytes)) or not isinstance(package_dirs, Iterable):
        raise InvalidArgument(f"package_dirs is {package_dirs!r}; give a list of folders")
    for folder in package_dirs:
        if not isinstance(folder, (str, PathLike)) or not Path(folder).is_dir():
            raise InvalidArgument(f"package_dirs has {folder!r}, which is not a folder; give folders that exist")
    return [Path(folder).resolve() for folder in package_dirs]


def _model_file(source: str | PathLike[str]) -> Path:
    if not isinstance(source, (str, PathLike)):
        raise InvalidArgument(
            f"source is a {type(source).__name__}; give a robot's name, the path of a .urdf or MJCF .xml file, "
            f"or a pinocchio.Model"
        )
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix == ".sdf":
        raise UnsupportedModel(f"{path} is an SDF file, which Pinocchio's wheels cannot read; convert it to URDF")
    if suffix not in (".urdf", ".xml"):
        if isinstance(source, str) and not suffix and "/" not in source:
            known = ", ".join(KNOWN_ROBOTS)
            raise UnknownRobot(
                f"robot {source!r} is not known{did_you_mean(source, KNOWN_ROBOTS) or '.'} Known robots: {known}; "
                f"any other is loaded by the path of its .urdf or .xml file"
            )
        raise UnsupportedModel(f"{path} is neither a .urdf nor an MJCF .xml file")
    try:
        if path.is_file():
            return path.resolve()
        beside = [p.name for p in path.parent.glob("*") if p.suffix.lower() in (".urdf", ".xml") and p.is_file()]
    except (OSError, ValueError):  # a name too long, or with a null character
        beside = []
    raise UnknownFile(f"there is no file {path}{did_you_mean(path.name, beside)}")


def _refuse_for_others(argument: str, what: str, is_given: bool) -> None:
    if is_given:
        owned = {"floating_base": "its base", "srdf": "its poses"}[argument]
        raise InvalidArgument(f"{argument} is for model files; {what} has {owned} already, leave it out")
