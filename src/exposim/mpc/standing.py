"""Torques to begin with."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from exposim._checks import Array
from exposim.robots.robot import Robot


def standing_torques(robot: Robot, q: ArrayLike | None = None) -> Array:
    """Joint torques that hold a configuration on level ground, together with upward forces on contact points, (nu,).

    The forces are the least ones that carry the free bases, by least squares.

    Args:
        robot: With contact points, all of which carry it.
        q: Configuration; by default ``robot.q0``.
    """
    q = robot.q0 if q is None else robot.check_configuration(q, "q")
    model, data = robot.model, robot.model.createData()
    gravity = pin.computeGeneralizedGravity(model, data, q)
    pin.computeJointJacobians(model, data, q)
    up = np.zeros((len(robot.contact_points), model.nv))
    for row, point in zip(up, robot.contact_points, strict=True):
        joint, placement = robot.locate(point.frame)
        J = pin.getJointJacobian(model, data, joint, pin.LOCAL)
        arm = placement.act(np.asarray(point.offset, dtype=float))
        row[:] = (data.oMi[joint].rotation @ (J[:3] - pin.skew(arm) @ J[3:]))[2]
    free = np.setdiff1d(np.arange(model.nv), robot.actuated_dofs)
    forces, *_ = np.linalg.lstsq(up[:, free].T, gravity[free], rcond=None)
    return np.asarray((gravity - up.T @ forces)[robot.actuated_dofs])
