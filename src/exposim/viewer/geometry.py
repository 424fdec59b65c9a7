"""What is drawn of a robot: the shapes of its file, or a stick figure where there are none."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import coal
import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.errors import ModelWarning
from exposim.robots.robot import Robot

STICK_COLOUR = np.array([0.35, 0.42, 0.50, 1.0])
JOINT_COLOUR = np.array([0.85, 0.55, 0.20, 1.0])


def visual_model(robot: Robot) -> pin.GeometryModel:
    """The robot's visual shapes, else its collision shapes, else a stick figure.

    Warns:
        ModelWarning: If it is a stick figure, with what is missing.
    """
    try:
        for kind in (pin.GeometryType.VISUAL, pin.GeometryType.COLLISION):
            shapes = _without_planes(_read(robot, kind))
            if shapes.ngeoms:
                return shapes
        missing = f"{robot.source} has no shapes"
    except Exception as error:  # Pinocchio raises various types for a missing mesh, a damaged one, an unknown frame
        missing = str(error).strip()
    warnings.warn(f"robot {robot.name!r} is drawn as a stick figure: {missing}", ModelWarning, stacklevel=2)
    return stick_figure(robot)


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


def bounds(robot: Robot, shapes: pin.GeometryModel, q: Array) -> tuple[Array, Array]:
    """Lowest and highest x, y, z that the shapes reach in the world at q [m], (3,) each."""
    data, placed = robot.model.createData(), shapes.createData()
    pin.updateGeometryPlacements(robot.model, data, shapes, placed, q)
    corners = []
    for shape, place in zip(shapes.geometryObjects, placed.oMg, strict=True):
        shape.geometry.computeLocalAABB()
        box = shape.geometry.aabb_local
        ends = np.array([box.min_, box.max_])
        for i in range(8):
            corners.append(place.act(np.array([ends[i >> k & 1, k] for k in range(3)])))
    reached = np.array(corners)
    return reached.min(axis=0), reached.max(axis=0)
