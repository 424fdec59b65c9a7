"""What is told of a robot that was loaded: what was read of its file, and what is not simulated, nothing left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from exposim.robots.joint_laws import position_limits, stated_bounds
from exposim.robots.mjcf_actuators import Actuated
from exposim.robots.mjcf_geoms import moves
from exposim.robots.mjcf_joints import MjcfJoint
from exposim.robots.models import dofs_of, joint_names, parts_of
from exposim.robots.robot import Robot

Element = ElementTree.Element

# What is read of URDF files, here or by Pinocchio; all else is told of.
_IN_ROBOT = {"link", "joint", "material"}
_IN_LINK = {"inertial", "visual", "collision"}
_IN_JOINT = {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"}
_OF_JOINT = {"limit": {"lower", "upper", "effort", "velocity"}, "dynamics": {"damping", "friction"}}
# Likewise of MJCF files, with what is for the eye or says how MuJoCo computes.
_IN_MUJOCO = {"compiler", "option", "size", "visual", "statistic", "asset", "worldbody", "default", "keyframe"} | {
    *("actuator", "custom", "include")
}
_IN_BODY = {"body", "joint", "freejoint", "inertial", "geom", "site", "camera", "light"}
_OF_BODY = {"name", "childclass", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "user"}
_OF_KEY = {"name", "time", "qpos"}
_OF_COMPILER = {
    "angle",
    "eulerseq",
    "autolimits",
    "meshdir",
    "texturedir",
    "assetdir",
    "strippath",
    "inertiafromgeom",
} | {*("boundmass", "boundinertia", "discardvisual", "usethread", "fusestatic", "convexhull", "fitaabb", "coordinate")}
_PHYSICAL_OPTIONS = ("density", "viscosity", "wind", "magnetic", "o_margin", "o_friction")
_OF_CONTACT = ("friction", "solref", "solimp", "condim", "margin", "gap")


def some(names: Sequence[str]) -> str:
    """The first three, and how many more there are; each once."""
    names = list(dict.fromkeys(names))
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def what_was_read(robot: Robot) -> list[str]:
    """Of the joints of a robot, as they are simulated."""
    joints = robot.joints

    def of(what: str, has: Callable[[str], bool]) -> list[str]:
        found = [name for name in joints if has(name)]
        return [f"{what} ({some(found)})"] if found else []

    return [
        *of("position limits", lambda name: bool(position_limits(robot.model, name))),
        *of("no way to move between them", lambda name: bool(np.any(joints[name].lower == joints[name].upper))),
        *of("effort limits", lambda name: bool(np.isfinite(joints[name].effort).any())),
        *of(
            "velocity limits, as torque-speed lines of drives",
            lambda name: bool(np.isfinite(joints[name].velocity).any()),
        ),
        *of("damping", lambda name: bool(np.any(joints[name].damping))),
        *of("dry friction", lambda name: bool(np.any(joints[name].friction))),
        *of("armature", lambda name: bool(np.any(joints[name].armature))),
        *of("drives", lambda name: joints[name].drive is not None),
    ]


def left_out_of_model(robot: Robot) -> list[str]:
    """What a model asks for in vain."""
    model = robot.model
    told = []
    if crossed := [name for name in joint_names(model) if _is_crossed(model, name)]:
        told.append(f"position limits of which the lower is above the upper ({some(crossed)})")
    if turned := [name for name in joint_names(model) if _has_limits_of_attitude(model, name)]:
        told.append(f"position limits of joints that are not angles or lengths ({some(turned)})")
    if uneven := [name for name in joint_names(model) if _has_uneven_effort(model, name)]:
        told.append(f"effort limits that differ by direction, of which the upper one holds ({some(uneven)})")
    if np.any(model.rotorInertia * model.rotorGearRatio**2 > 0) and not np.any(model.armature > 0):
        told.append("rotor inertia that is not in model.armature, where Pinocchio's dynamics look for it")
    return told


def left_out_of_contact(robot: Robot, root: Element | None) -> list[str]:
    """What touches nothing; `root` of a file that the user named."""
    if not robot.contact_points:
        return ["contact: no contact points were named, so nothing of it touches anything"]
    if root is None:
        return []
    solid = [link.get("name", "") for link in root.iter("link") if link.find("collision") is not None]
    solid += [body.get("name", "") for body in root.iter("body") if body.find("geom") is not None]
    touching = {robot.locate(point.frame)[0] for point in robot.contact_points}
    bare = [name for name in solid if robot.model.existFrame(name) and robot.locate(name)[0] not in touching]
    return [f"contact of links without contact points, which pass through the ground ({some(bare)})"] if bare else []


def left_out_of_points(robot: Robot) -> list[str]:
    """Shapes from which no points could be chosen, of a robot for which that was tried."""
    if robot.file_shapes.points is None:
        return []
    # How many points are on a link is for `print(robot)` to say.
    lost = [each for each in robot.file_shapes.left_out if not each.what.endswith("points")]
    return [f"contact of {each.what} of {each.link}: {each.why}" for each in lost[:3]] + (
        [f"contact of {len(lost) - 3} more shapes, which print(robot) lists"] if len(lost) > 3 else []
    )


def mimic_joints(root: Element) -> list[str]:
    """Told of for known robots too."""
    moving = [joint for joint in root.iter("joint") if joint.get("type") != "fixed"]
    names = [joint.get("name", "") for joint in moving if joint.find("mimic") is not None]
    return [f"the coupling of mimic joints, which move freely ({some(names)})"] if names else []


def left_out_of_urdf(root: Element) -> list[str]:
    """All that stands in a URDF file and is not read."""
    told = _by_tag(root, _IN_ROBOT)
    for part, known in (("link", _IN_LINK), ("joint", _IN_JOINT)):
        unknown: dict[str, list[str]] = defaultdict(list)
        for element in root.iterfind(part):
            for child in element:
                if child.tag not in known:
                    unknown[f"<{child.tag}>"].append(element.get("name", ""))
                for attribute in set(child.attrib) - _OF_JOINT.get(child.tag, set(child.attrib)):
                    unknown[f"{attribute} of <{child.tag}>"].append(element.get("name", ""))
        told += _with_names(unknown)
    several = [
        joint.get("name", "")
        for joint in root.iterfind("joint")
        if joint.get("type") in ("planar", "floating", "spherical") and joint.find("limit") is not None
    ]
    if several:
        told.append(f"limits of joints with several degrees of freedom ({some(several)})")
    return told + mimic_joints(root)


def left_out_of_mjcf(
    root: Element, joints: Sequence[MjcfJoint] | None, actuated: Actuated | None, uneven: Sequence[str]
) -> list[str]:
    """All that stands in an MJCF file and is not read; `uneven`: joints with torque limits that differ by direction."""
    told = []
    others = root.findall("worldbody/body")[1:]
    if lost := [body.get("name", "") for body in others if moves(body)]:
        told.append(f"more than one robot in a file ({some(lost)} was left out)")
    if included := [part.get("file", "") for part in root.iter("include")]:
        told.append(f"other files that it includes, which are not read ({some(included)})")
    if joints is None:
        told.append(
            "limits, friction and actuators of joints, which Pinocchio has put together otherwise than the file"
        )
    actuated = actuated or Actuated()
    for what, names in {
        "actuators of other kinds than motors and servos of single joints": actuated.others,
        "filters of actuators": actuated.filtered,
        "torque limits that differ by direction, of which the greater holds": [*uneven, *actuated.uneven],
        "bounds of the targets of servos": actuated.bounded,
    }.items():
        told += [f"{what} ({some(names)})"] if names else []
    told += _by_tag(root, _IN_MUJOCO)
    unknown: dict[str, list[str]] = defaultdict(list)
    for joint in joints or ():
        for attribute in joint.unread:
            unknown[f"{attribute} of joints"].append(joint.name or joint.model_name)
        if joint.kind == "ball" and "range" in joint.attributes:
            unknown["limits of ball joints"].append(joint.name or joint.model_name)
    for body in root.iterfind("worldbody//body"):
        for child in body:
            if child.tag not in _IN_BODY:
                unknown[f"<{child.tag}>"].append(body.get("name", ""))
        for attribute in sorted(set(body.attrib) - _OF_BODY):
            unknown[f"{attribute} of bodies"].append(body.get("name", ""))
    for key in root.iterfind("keyframe/key"):
        for attribute in sorted(set(key.attrib) - _OF_KEY):
            unknown[f"{attribute} of keyframes"].append(key.get("name", ""))
    told += _with_names(unknown)
    in_world = {child.tag for world in root.iterfind("worldbody") for child in world}
    told += [f"<{tag}> of the world" for tag in sorted(in_world - _IN_BODY)]
    if root.find("worldbody/geom") is not None or len(lost) < len(others):
        told.append("geometry that is fixed to the world, which exposim.load_ground reads")
    if settings := sorted({a for geom in root.iter("geom") for a in geom.attrib if a in _OF_CONTACT}):
        told.append(f"what geoms say of contact, which surfaces and points say here ({some(settings)})")
    if settings := sorted({a for element in root.iterfind("compiler") for a in set(element.attrib) - _OF_COMPILER}):
        told.append(f"settings of the compiler ({some(settings)})")
    options = {a for option in root.iterfind("option") for a in option.attrib if a in _PHYSICAL_OPTIONS}
    options |= {f"{a} of <flag>" for flag in root.iterfind("option/flag") for a in flag.attrib}
    return told + ([f"options ({some(sorted(options))})"] if options else [])


def _by_tag(root: Element, known: Iterable[str]) -> list[str]:
    """What stands beside the known: by the names of what it holds, or its own."""
    found: dict[str, list[str]] = defaultdict(list)
    for element in root:
        if element.tag in known:
            continue
        within = [child.get("name") or child.tag for child in element] if not element.get("name") else []
        found[f"<{element.tag}>"] += within or [element.get("name") or element.get("reference") or "unnamed"]
    return _with_names(found)


def _with_names(found: Mapping[str, list[str]]) -> list[str]:
    return [f"{what} ({some(names)})" for what, names in found.items()]


def _is_crossed(model: pin.Model, joint_name: str) -> bool:
    joint = model.joints[model.getJointId(joint_name)]
    part = slice(joint.idx_q, joint.idx_q + joint.nq)
    return bool(np.any(model.lowerPositionLimit[part] > model.upperPositionLimit[part]))


def _has_limits_of_attitude(model: pin.Model, joint_name: str) -> bool:
    """Beyond the one, or a little more, that Pinocchio itself gives to cosines, sines and quaternions."""
    for joint in parts_of(model.joints[model.getJointId(joint_name)]):
        if joint.nq != joint.nv:
            part = slice(joint.idx_q, joint.idx_q + joint.nq)
            if np.any(model.lowerPositionLimit[part] > -1.0) or np.any(model.upperPositionLimit[part] < 1.0):
                return True
    return False


def _has_uneven_effort(model: pin.Model, joint_name: str) -> bool:
    dofs = dofs_of(model, joint_name)
    lower, upper = stated_bounds(-model.lowerEffortLimit[dofs]), stated_bounds(model.effortLimit[dofs])
    return bool(np.any(np.isfinite(lower) & (lower != upper)))
