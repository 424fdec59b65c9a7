"""How robots start: the poses that files name for them, and feet on the ground."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.errors import ModelParseError, reason
from exposim.robots.joint_laws import position_limits
from exposim.robots.model_files import parse
from exposim.robots.models import free_bases, free_dofs, joint_names, root_of
from exposim.robots.robot import Robot

# How far below z = 0 the feet of a standing robot are put [m].
TOUCHING_DEPTH = 1e-10
# Names of poses to start from, the best first.
POSES = ("standing", "half_sitting", "reference")


def stand_on_ground(robot: Robot, q: Array) -> Array:
    """The configuration nearest to q, base upright as it is, with every contact point on z = 0.

    A hair below, in fact: all of them touch at reset, rather than those that rounding has put there.
    """
    model, q = robot.model, robot.check_configuration(q)
    data = model.createData()
    base = free_dofs(model)
    if base:
        q[2] -= _heights(robot, data, q)[0].mean()
    for _ in range(10):
        heights, J = _heights(robot, data, q)
        if np.abs(heights).max() < 1e-12:
            break
        J[:, base] = 0.0  # the joints level the soles; the base keeps its attitude
        q = pin.integrate(model, q, -np.linalg.lstsq(J, heights, rcond=1e-6)[0])
    if base:
        q[2] -= _heights(robot, data, q)[0].max() + TOUCHING_DEPTH
    return q


def put_down(robot: Robot, q: Array) -> Array:
    """The configuration with a floating base so high that the lowest contact point is on z = 0, a hair below."""
    q = robot.check_configuration(q)
    if robot.has_floating_base and robot.contact_points:
        q[2] -= _heights(robot, robot.model.createData(), q)[0].min() + TOUCHING_DEPTH
    return q


def load_poses(model: pin.Model, path: Path) -> tuple[list[str], list[str]]:
    """Reads the reference poses of an SRDF file into the model, rotor inertias too.

    Returns the names of the poses, and of joints that the file calls passive, which is not read.
    """
    root = parse(path, root_tag="robot", kind="SRDF")
    try:
        pin.loadReferenceConfigurations(model, str(path), False)
        if next(root.iter("rotor_params"), None) is not None:
            pin.loadRotorParameters(model, str(path), False)
    except Exception as error:  # Boost.Python turns C++ errors into many types
        raise ModelParseError(f"{path} is not a valid SRDF file: {reason(error)}") from None
    poses, passive = ([each.get("name", "") for each in root.iterfind(tag)] for tag in ("group_state", "passive_joint"))
    return poses, passive


def poses_beside(path: Path) -> Path | None:
    """The SRDF file of a URDF file: of the same name, beside it or in a folder srdf next to its own."""
    name = f"{path.stem}.srdf"
    return next((each for each in (path.with_name(name), path.parent.parent / "srdf" / name) if each.is_file()), None)


def starting_configuration(robot: Robot, of_srdf: Sequence[str] | None = None) -> tuple[Array, str | None]:
    """A pose that the model names, and its name, or the neutral configuration with all joints within their limits.

    The lowest contact point of a floating base is on z = 0, unless the pose itself says where the base is: keyframes of
    MJCF do, poses of SRDF speak of joints, and of those only the ones known to be for standing are taken.
    """
    model = robot.model
    poses = {entry.key(): np.array(entry.data()) for entry in model.referenceConfigurations}
    initial = poses.pop("qpos0", None)  # every MJCF file has it; a keyframe says more
    others = [name for name in poses if name not in (of_srdf or ())]
    name = next((each for each in (*POSES, *others) if each in poses), None)
    q = poses[name] if name is not None else initial
    is_placed = q is not None and name not in (of_srdf or ())
    if q is None:
        q = robot.q0
        for joint in joint_names(model):
            for in_q, _, lower, upper in position_limits(model, joint):
                q[in_q] = min(max(q[in_q], lower), upper)
    return q if is_placed else on_the_ground(robot, q), name


def on_the_ground(robot: Robot, q: Array) -> Array:
    """The configuration in which the lowest contact point of every free base is on z = 0."""
    model, q = robot.model, q.copy()
    roots = np.array([root_of(model, robot.locate(point.frame)[0]) for point in robot.contact_points])
    heights = _heights(robot, model.createData(), q)[0]
    for base in free_bases(model):
        if (own := roots == base).any():
            q[model.idx_qs[base] + 2] -= heights[own].min()
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
