"""What is drawn of a robot: the shapes of its file and those that its links carry, or a stick figure."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping

import coal
import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.contact.shapes import Box, Capsule, Cylinder, Sphere
from exposim.contact.surfaces import Surface
from exposim.errors import ModelWarning
from exposim.robots.robot import Robot
from exposim.viewer.ground import say_not_drawn
from exposim.viewer.terrain_meshes import creased, mesh_of, pose_of

STICK_COLOUR = np.array([0.35, 0.42, 0.50, 1.0])
JOINT_COLOUR = np.array([0.85, 0.55, 0.20, 1.0])
# Of the members of a robot that have none of their own: sand, sage, clay, mauve, slate.
BODY_COLOURS = ((0.80, 0.70, 0.50), (0.60, 0.72, 0.58), (0.78, 0.60, 0.50), (0.68, 0.62, 0.74), (0.54, 0.66, 0.72))
# A carried surface may stick out of what is drawn of its body by so much of that, and counts as shown by it.
SLACK = 0.1
# Edge of what is drawn of a carried surface without an end [m].
UNKNOWN_SIZE = 1.0


def visual_model(robot: Robot) -> pin.GeometryModel:
    """What is drawn of a robot and moves with it.

    That is the visual shapes of its file, or of the files of those it was made of, else the collision shapes, else a
    stick figure; and the surfaces that links carry, where the former do not show them already.

    Warns:
        ModelWarning: If something is a stick figure, with what is missing.
    """
    drawn = pin.GeometryModel()
    for prefix, member in members_of(robot).items():
        carries = any(str(surface.frame).startswith(prefix) for surface in robot.shapes)
        for shape in _own_shapes(member, carries).geometryObjects:
            drawn.addGeometryObject(_in_whole(robot, prefix, member, shape))
    covered = _boxes(drawn)
    for i, surface in enumerate(robot.shapes):
        add_carried(drawn, robot, surface, f"shape_{i}", covered)
    return drawn if drawn.ngeoms else stick_figure(robot)


def members_of(robot: Robot, prefix: str = "") -> dict[str, Robot]:
    """The robots that one was made of, by what their names begin with; itself, by nothing, if it is of one piece."""
    if not robot.members:
        return {prefix: robot}
    found: dict[str, Robot] = {}
    for name, member in robot.members.items():
        found |= members_of(member, f"{prefix}{name}/")
    return found


def _own_shapes(robot: Robot, carries: bool) -> pin.GeometryModel:
    """Of its file, or a stick figure; nothing of a body without a file that carries surfaces, which are drawn."""
    if robot.source is None and carries:
        return pin.GeometryModel()
    try:
        for kind in (pin.GeometryType.VISUAL, pin.GeometryType.COLLISION):
            shapes = _without_planes(_read(robot, kind))
            if shapes.ngeoms:
                return shapes
        missing = f"{robot.source} has no shapes"
    except Exception as error:  # Pinocchio raises various types for a missing mesh, a damaged one, an unknown frame
        missing = str(error).strip()
    if carries:
        return pin.GeometryModel()
    warnings.warn(f"robot {robot.name!r} is drawn as a stick figure: {missing}", ModelWarning, stacklevel=3)
    return stick_figure(robot)


def _in_whole(robot: Robot, prefix: str, member: Robot, shape: pin.GeometryObject) -> pin.GeometryObject:
    """A shape of a member as one of the whole robot."""
    if not prefix:
        return shape
    moved, joint = shape.copy(), shape.parentJoint
    moved.name = prefix + shape.name
    moved.parentFrame = 0  # which has another number in the whole
    moved.parentJoint = robot.model.getJointId(prefix + member.model.names[joint]) if joint else 0
    if not joint:
        moved.placement = _base(robot, prefix, member) * shape.placement
    return moved


def _base(robot: Robot, prefix: str, member: Robot) -> pin.SE3:
    """Where a member's own world is in the whole: seen at a joint that is fixed to it."""
    for joint in range(1, member.model.njoints):
        if member.model.parents[joint] == 0:
            moved = robot.model.jointPlacements[robot.model.getJointId(prefix + member.model.names[joint])]
            return moved * member.model.jointPlacements[joint].inverse()
    return pin.SE3.Identity()


def add_carried(
    drawn: pin.GeometryModel,
    robot: Robot,
    surface: Surface,
    name: str,
    covered: Mapping[int, tuple[Array, Array]] | None = None,
) -> None:
    """Adds a surface that a link carries, unless what is drawn of its joint, in a box each [m], contains it."""
    joint, frame = robot.locate(str(surface.frame))
    try:
        geometry, pose = _geometry(surface)
    except Exception as error:  # a file of a mesh that is missing or damaged, a surface written by anybody
        say_not_drawn(surface, error)
        return
    shape = pin.GeometryObject(name, joint, frame * pose, geometry)
    if covered and joint in covered:
        low, high = covered[joint]
        slack = SLACK * float((high - low).max())
        corners = np.array([shape.placement.act(corner) for corner in _corners(shape)])
        if (corners.min(axis=0) >= low - slack).all() and (corners.max(axis=0) <= high + slack).all():
            return
    number = next((i for i, prefix in enumerate(members_of(robot)) if str(surface.frame).startswith(prefix)), 0)
    shape.meshColor = np.array([*BODY_COLOURS[number % len(BODY_COLOURS)], 1.0])
    drawn.addGeometryObject(shape)


def _geometry(surface: Surface) -> tuple[coal.CollisionGeometry, pin.SE3]:
    """Of a surface, and where it is in its frame."""
    if isinstance(surface, Box):
        return coal.Box(*surface.size), pose_of(surface)
    if isinstance(surface, Sphere):
        return coal.Sphere(surface.radius), pose_of(surface)
    if isinstance(surface, Cylinder):
        return coal.Cylinder(surface.radius, surface.length), pose_of(surface)
    if isinstance(surface, Capsule):
        return coal.Capsule(surface.radius, surface.length), pose_of(surface)
    vertices, faces = creased(*mesh_of(surface, np.zeros(3), UNKNOWN_SIZE))
    mesh = coal.BVHModelOBBRSS()
    mesh.beginModel(len(faces), len(vertices))
    mesh.addVertices(vertices)
    mesh.addTriangles(faces)
    mesh.endModel()
    return mesh, pin.SE3.Identity()


def _boxes(shapes: pin.GeometryModel) -> dict[int, tuple[Array, Array]]:
    """Around all that is drawn of each joint, in its axes: lowest and highest x, y, z [m]."""
    corners: dict[int, list[Array]] = {}
    for shape in shapes.geometryObjects:
        corners.setdefault(shape.parentJoint, []).extend(shape.placement.act(corner) for corner in _corners(shape))
    return {joint: (np.min(each, axis=0), np.max(each, axis=0)) for joint, each in corners.items()}


def _corners(shape: pin.GeometryObject) -> Iterator[Array]:
    """Of the box around a shape, in its own axes [m]."""
    shape.geometry.computeLocalAABB()
    box = shape.geometry.aabb_local
    ends = np.array([box.min_, box.max_])
    for i in range(8):
        yield np.array([ends[i >> k & 1, k] for k in range(3)])


def _read(robot: Robot, kind: pin.GeometryType) -> pin.GeometryModel:
    source = robot.source
    if source is None:
        raise FileNotFoundError("it was made from a pinocchio.Model, not from a file")
    if not source.is_file():
        raise FileNotFoundError(f"there is no file {source} any more")
    if source.suffix.lower() == ".xml":
        return pin.buildGeomFromMJCF(robot.model, str(source), kind)
    # Packages usually lie in a folder somewhere above the file.
    folders = [str(folder) for folder in (*robot.package_dirs, *source.parents)]
    return pin.buildGeomFromUrdf(robot.model, str(source), kind, package_dirs=folders)


def _without_planes(shapes: pin.GeometryModel) -> pin.GeometryModel:
    """Floors that stand in an MJCF file hide the ground that is simulated."""
    kept = pin.GeometryModel()
    for shape in shapes.geometryObjects:
        if not isinstance(shape.geometry, (coal.Plane, coal.Halfspace)):
            kept.addGeometryObject(shape)
    return kept


def stick_figure(robot: Robot) -> pin.GeometryModel:
    """Cylinders from joint to joint and to the contact points, a ball at every joint."""
    sticks = list(_sticks(robot))
    length = sum(float(np.linalg.norm(end)) for _, end in sticks)
    radius = 0.03 * length / max(1, len(sticks)) or 0.05
    figure = pin.GeometryModel()
    for i, (joint, end) in enumerate(sticks):
        span = float(np.linalg.norm(end))
        if span > 1e-6:
            turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), end / span).toRotationMatrix()
            _add(figure, f"stick_{i}", joint, pin.SE3(turn, end / 2.0), coal.Cylinder(radius, span), STICK_COLOUR)
            _add(figure, f"end_{i}", joint, pin.SE3(np.eye(3), end), coal.Sphere(1.5 * radius), STICK_COLOUR)
    for joint in range(1, robot.model.njoints):
        _add(figure, f"joint_{joint}", joint, pin.SE3.Identity(), coal.Sphere(2.0 * radius), JOINT_COLOUR)
    return figure


def _sticks(robot: Robot) -> Iterator[tuple[int, Array]]:
    """Joints, and in their frames where a stick from the joint leads to [m]."""
    model = robot.model
    ends_somewhere = set()
    for joint in range(1, model.njoints):
        parent = int(model.parents[joint])
        if parent or not robot.has_floating_base:
            ends_somewhere.add(parent)
            yield parent, model.jointPlacements[joint].translation
    for point in robot.contact_points:
        joint, placement = robot.locate(point.frame)
        ends_somewhere.add(joint)
        yield joint, placement.act(np.array(point.offset))
    for joint in set(range(1, model.njoints)) - ends_somewhere:
        yield joint, model.inertias[joint].lever


def _add(
    figure: pin.GeometryModel, name: str, joint: int, placement: pin.SE3, shape: coal.ShapeBase, colour: Array
) -> None:
    drawn = pin.GeometryObject(name, joint, placement, shape)
    drawn.meshColor = colour
    figure.addGeometryObject(drawn)


def bounds(robot: Robot, shapes: pin.GeometryModel, q: Array) -> dict[str, tuple[Array, Array]]:
    """Lowest and highest x, y, z that each member reaches in the world at q [m], (3,) each, as of :func:`owners`."""
    data, placed = robot.model.createData(), shapes.createData()
    pin.updateGeometryPlacements(robot.model, data, shapes, placed, q)
    reached: dict[str, list[Array]] = {}
    names = owners(robot)
    for shape, place in zip(shapes.geometryObjects, placed.oMg, strict=True):
        reached.setdefault(names[shape.parentJoint], []).extend(place.act(corner) for corner in _corners(shape))
    return {name: (np.min(each, axis=0), np.max(each, axis=0)) for name, each in reached.items()}


def owners(robot: Robot) -> list[str]:
    """For every joint what the names of its member begin with; nothing in a robot of one piece, and for the world."""
    prefixes = members_of(robot)
    ends = ([name[: i + 1] for i, letter in enumerate(name) if letter == "/"] for name in robot.model.names)
    return [next((prefix for prefix in own if prefix in prefixes), "") for own in ends]
