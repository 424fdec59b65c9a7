"""Where contact points are in surfaces, at a configuration."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.contact.surfaces import Surface
from exposim.robots.robot import ContactPoint, Robot


class Places:
    """Where the frames of a robot are.

    Args:
        robot: That has them.
        q: Its configuration, (nq,).
    """

    def __init__(self, robot: Robot, q: Array):
        self._robot = robot
        self._data = robot._model.createData()
        pin.forwardKinematics(robot._model, self._data, q)
        self._found: dict[str, pin.SE3] = {}

    def gap(self, point: ContactPoint, surface: Surface) -> float:
        """Between the ball of a contact point and a surface of the world or of a body [m], negative within it."""
        centre = self._of(point.frame).act(np.array(point.offset))
        if surface.frame is not None:
            centre = self._of(surface.frame).actInv(centre)
        return float(np.asarray(surface.distance(centre[None]))[0]) - point.radius

    def _of(self, frame: str) -> pin.SE3:
        if frame not in self._found:  # which takes a while
            joint, placement = self._robot.locate(frame)
            self._found[frame] = self._data.oMi[joint] * placement
        return self._found[frame]
