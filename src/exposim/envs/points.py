"""Where contact points are in a configuration, for starts that stand on the ground."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.robots.robot import Robot


class Points:
    """The contact points of a robot.

    Args:
        robot: That has some.
    """

    def __init__(self, robot: Robot):
        self._model = robot.model
        self._data = self._model.createData()
        located = [(*robot.locate(point.frame), point) for point in robot.contact_points]
        self._at = [(joint, place.act(np.array(point.offset))) for joint, place, point in located]
        self._down = np.array([[0.0, 0.0, -point.radius] for _, _, point in located])
        names = list(dict.fromkeys(point.frame for _, _, point in located))
        self.frames = tuple(names)
        """That have contact points: the feet."""
        self.foot_of = np.array([names.index(point.frame) for _, _, point in located])
        """Index of the foot of each point, (np,)."""

    def bottoms(self, q: Array) -> Array:
        """The lowest place of every point in the world [m], (np, 3)."""
        pin.forwardKinematics(self._model, self._data, q)
        centres = np.array([self._data.oMi[joint].act(place) for joint, place in self._at])
        return np.asarray(centres + self._down)
