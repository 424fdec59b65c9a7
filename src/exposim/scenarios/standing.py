"""How a robot stands that has stood for a while."""

from __future__ import annotations

import numpy as np

from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.robots.robot import Robot


def pressed_into_ground(robot: Robot, material: Material) -> Array:
    """``robot.q0``, lowered until the springs under all contact points together carry its weight, (nq,)."""
    weight = -robot.model.gravity.linear[2] * sum(body.mass for body in robot.model.inertias)
    normal_stiffness = float(np.ravel(material.stiffness)[0])
    q = robot.q0
    q[2] -= weight / (normal_stiffness * len(robot.contact_points))
    return q
