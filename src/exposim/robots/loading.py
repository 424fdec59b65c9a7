"""Loading robots: known ones by name, others from URDF, MJCF or a Pinocchio model."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim.errors import (
    InvalidArgument,
    ModelParseError,
    ModelWarning,
    UnknownFile,
    UnknownRobot,
    UnsupportedModel,
    did_you_mean,
)
from exposim.robots.known import KNOWN_ROBOTS, KnownRobot
from exposim.robots.model_files import parse, refuse_what_is_no_tree
from exposim.robots.robot import ContactPoint, Robot

# How far below z = 0 the feet of a standing robot are put [m].
TOUCHING_DEPTH = 1e-10


def load_robot(
    source: str | PathLike[str] | pin.Model,
    *,
    floating_base: bool | None = None,
    package_dirs: Sequence[str | PathLike[str]] = (),
    contact_points: Iterable[ContactPoint] | None = None,
    q0: ArrayLike | None = None,
    name: str | None = None,
) -> Robot:
    """Loads a robot.

    Args:
        source: Name of a known robot (solo12, go2, anymal_c, romeo, talos, g1), path of a ``.urdf`` or MJCF
            ``.xml`` file, or a ``pinocchio.Model``.
        floating_base: Whether the base is free to move. By default it is for a URDF file, and is what the
            file or model itself says for MJCF and Pinocchio models.
        package_dirs: Folders in which ``package://`` addresses of meshes are looked up.
        contact_points: Where the robot may touch something. Known robots have theirs; others have none.
        q0: Configuration to start from. By default known robots stand with their feet on z = 0. Others are in the
            alphabetically first reference configuration of the model (a keyframe of MJCF), or else its neutral one
            with the lowest contact point of a floating base on z = 0.
        name: For messages and tables.

    Warns:
        ModelWarning: If the model asks for what is not simulated: joint limits, dry joint friction, contact of
            links without contact points.
    """
    if floating_base is not None:
        floating_base = _checks.flag("floating_base", floating_base)
    folders = _folders(package_dirs)
    known = KNOWN_ROBOTS.get(_normalised(source))
    if isinstance(source, pin.Model):
        _refuse_floating_base("a pinocchio.Model", floating_base)
        path = None
        robot = Robot(source, () if contact_points is None else contact_points, q0=q0, name=name, package_dirs=folders)
    elif known is not None:
        _refuse_floating_base("a known robot", floating_base)
        path = None
        robot = _load_known(_normalised(source), known, contact_points, q0, name)
    else:
        path = _model_file(source)
        model = _read_mjcf(path, floating_base) if path.suffix.lower() == ".xml" else _read_urdf(path, floating_base)
        robot = Robot(
            model,
            () if contact_points is None else contact_points,
            q0=q0,
            name=name or model.name or path.stem,
            source=path,
            package_dirs=folders,
        )
    if q0 is None and known is None:
        robot._start_at(_starting_configuration(robot))
    _warn_of_what_is_not_simulated(robot, path)
    return robot


def stand_on_ground(robot: Robot, q: Array) -> Array:
    """The configuration nearest to q, base upright as it is, with every contact point on z = 0.

    A hair below, in fact: all of them touch at reset, rather than those that rounding has put there.
    """
    model, q = robot.model, robot.check_configuration(q)
    data = model.createData()
    base = 6 if robot.has_floating_base else 0
    if base:
        q[2] -= _heights(robot, data, q)[0].mean()
    for _ in range(10):
        heights, J = _heights(robot, data, q)
        if np.abs(heights).max() < 1e-12:
            break
        J[:, :base] = 0.0  # the joints level the soles; the base keeps its attitude
        q = pin.integrate(model, q, -np.linalg.lstsq(J, heights, rcond=1e-6)[0])
    if base:
        q[2] -= _heights(robot, data, q)[0].max() + TOUCHING_DEPTH
    return q


def _heights(robot: Robot, data: pin.Data, q: Array) -> tuple[Array, Array]:
    """Height above z = 0 of the lowest point of every contact point, and its derivative with respect to q."""
    pin.computeJointJacobians(robot.model, data, q)
    heights, rows = [], []
    for point in robot.contact_points:
        joint, placement = robot.locate(point.frame)
        arm = data.oMi[joint].rotation @ placement.act(np.array(point.offset))
        J = pin.getJointJacobian(robot.model, data, joint, pin.LOCAL_WORLD_ALIGNED)
        heights.append(data.oMi[joint].translation[2] + arm[2] - point.radius)
        rows.append((J[:3] - pin.skew(arm) @ J[3:])[2])
    return np.array(heights), np.array(rows)


def _load_known(
    key: str,
    known: KnownRobot,
    contact_points: Iterable[ContactPoint] | None,
    q0: ArrayLike | None,
    name: str | None,
) -> Robot:
    folder = robot_data_folder()
    path = folder / known.urdf
    model = _read_urdf(path, floating_base=True)
    q = pin.neutral(model)
    if known.srdf is not None:
        srdf = str(folder / known.srdf)
        pin.loadReferenceConfigurations(model, srdf, False)
        if "rotor_params" in Path(srdf).read_text(encoding="utf-8"):
            pin.loadRotorParameters(model, srdf, False)
        q = np.array(model.referenceConfigurations[known.posture])
    for joint, angle in known.joints.items():
        q[model.joints[model.getJointId(joint)].idx_q] = angle

    # Mesh addresses start at the folder above the package: package://example-robot-data/robots/…
    robot = Robot(model, known.contact_points, name=name or key, source=path, package_dirs=[folder.parents[1]])
    robot = robot.replace(q0=stand_on_ground(robot, q))
    return robot.replace(contact_points=contact_points, q0=q0)


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


def _refuse_floating_base(what: str, floating_base: bool | None) -> None:
    if floating_base is not None:
        raise InvalidArgument(f"floating_base is for model files; {what} has its base already, leave it out")


def _read_urdf(path: Path, floating_base: bool | None) -> pin.Model:
    refuse_what_is_no_tree(path, parse(path, root_tag="robot", kind="URDF"))
    base = () if floating_base is False else (pin.JointModelFreeFlyer(),)
    try:
        return pin.buildModelFromUrdf(str(path), *base)
    except Exception as error:  # Boost.Python turns C++ errors into many types
        raise ModelParseError(f"{path} is not a valid URDF file: {_reason(error)}") from None


def _read_mjcf(path: Path, floating_base: bool | None) -> pin.Model:
    root = parse(path, root_tag="mujoco", kind="MJCF")
    _refuse_short_vectors(path, root)
    is_free = root.find("worldbody/body/freejoint") is not None or any(
        joint.get("type") == "free" for joint in root.iterfind("worldbody/body/joint")
    )
    if floating_base is False and is_free:
        raise InvalidArgument(f"floating_base is False, but the file {path} has a free joint; remove it there")
    try:
        if not floating_base or is_free:
            return pin.buildModelFromMJCF(str(path))
        model = pin.buildModelFromMJCFAndRootJoint(str(path), pin.JointModelFreeFlyer())
    except Exception as error:  # Boost.Python turns C++ errors into many types
        raise ModelParseError(f"{path} is not a valid MJCF file: {_reason(error)}") from None
    if not (model.njoints > 1 and model.joints[1].shortname() == "JointModelFreeFlyer"):
        raise InvalidArgument(f"floating_base is True, but the base of {path} has a joint; put a <freejoint/> there")
    return model


def _refuse_short_vectors(path: Path, root: ElementTree.Element) -> None:
    """Pinocchio reads what is not there as noise."""
    sizes = {"pos": 3, "quat": 4, "axis": 3, "euler": 3, "axisangle": 4, "diaginertia": 3, "fullinertia": 6}
    for element in root.iter():
        for name, size in sizes.items():
            given = element.get(name)
            if given is not None and len(given.split()) != size:
                raise ModelParseError(
                    f'{path} is not a valid MJCF file: {name}="{given}" of <{element.tag}> should have {size} numbers'
                )


def _reason(error: Exception) -> str:
    """What Pinocchio says, less where in its source it says it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if any(line.startswith("message:") for line in lines):
        start = next(i for i, line in enumerate(lines) if line.startswith("message:"))
        lines = [lines[start].removeprefix("message:").strip(), *lines[start + 1 :]]
    return next(filter(None, lines), type(error).__name__)


def _starting_configuration(robot: Robot) -> Array:
    """A reference configuration, or the neutral one with the lowest contact point on z = 0."""
    model = robot.model
    references = {entry.key(): entry.data() for entry in model.referenceConfigurations}
    initial = references.pop("qpos0", None)  # every MJCF file has it; a keyframe says more
    for reference in [*references.values(), initial]:
        if reference is not None:
            return np.array(reference)
    q = robot.q0
    if robot.has_floating_base and robot.contact_points:
        q[2] -= _heights(robot, model.createData(), q)[0].min()
    return q


def _warn_of_what_is_not_simulated(robot: Robot, path: Path | None) -> None:
    """One warning for all that the model asks for in vain. `path`: of a file that the user named."""
    model = robot.model
    complaints = []
    if limited := [name for name in robot.actuated_joints if _has_limits(model, name)]:
        complaints.append(f"position limits ({_some(limited)})")
    rubbing = [model.names[j] for j in range(1, model.njoints) if np.any(model.upperDryFrictionLimit[_dofs(model, j)])]
    if rubbing:
        complaints.append(f"dry joint friction ({_some(rubbing)})")
    if path is not None and (lost := [b.get("name", "") for b in _bodies_of_the_world(path)[1:]]):
        complaints.append(f"more than one robot in a file ({_some(lost)} was left out)")
    if path is not None and (included := [part.get("file", "") for part in _root(path).iter("include")]):
        complaints.append(f"other files that it includes, which are not read ({_some(included)})")
    if robot.source is not None and (mimics := [joint.get("name", "") for joint in _mimic_joints(robot.source)]):
        complaints.append(f"the coupling of mimic joints, which move freely ({_some(mimics)})")
    if np.any(model.rotorInertia * model.rotorGearRatio**2 > 0) and not np.any(model.armature > 0):
        complaints.append("rotor inertia that is not in model.armature, where Pinocchio's dynamics look for it")
    if not robot.contact_points:
        complaints.append("contact: no contact points were named, so nothing of it touches anything")
    elif path is not None and (bare := _links_without_contact_points(robot, path)):
        complaints.append(f"contact of links without contact points, which pass through the ground ({_some(bare)})")
    if complaints:
        warnings.warn(f"robot {robot.name!r}: not simulated: {'; '.join(complaints)}", ModelWarning, stacklevel=3)


def _has_limits(model: pin.Model, joint_name: str) -> bool:
    joint = model.joints[model.getJointId(joint_name)]
    if joint.nq != joint.nv:
        return False
    part = slice(joint.idx_q, joint.idx_q + joint.nq)
    full_turn = 2.0 * np.pi  # wider than this either way is no limit in earnest
    return bool(
        np.any(model.lowerPositionLimit[part] > -full_turn) or np.any(model.upperPositionLimit[part] < full_turn)
    )


def _root(path: Path) -> ElementTree.Element:
    return ElementTree.parse(path).getroot()  # of a file that has been read before


def _bodies_of_the_world(path: Path) -> list[ElementTree.Element]:
    return _root(path).findall("worldbody/body")


def _mimic_joints(path: Path) -> list[ElementTree.Element]:
    return [joint for joint in _root(path).iter("joint") if joint.find("mimic") is not None]


def _dofs(model: pin.Model, joint: int) -> slice:
    return slice(model.idx_vs[joint], model.idx_vs[joint] + model.nvs[joint])


def _links_without_contact_points(robot: Robot, path: Path) -> list[str]:
    root = _root(path)
    solid = [link.get("name", "") for link in root.iter("link") if link.find("collision") is not None]
    solid += [body.get("name", "") for body in root.iter("body") if body.find("geom") is not None]
    touching = {robot.locate(point.frame)[0] for point in robot.contact_points}
    return [name for name in solid if robot.model.existFrame(name) and robot.locate(name)[0] not in touching]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
