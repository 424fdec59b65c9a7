"""Where the frames of a robot are and how they move, at any configuration."""

from __future__ import annotations

import threading

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.robots.robot import Robot


class Frames:
    """Kinematics of a robot's frames.

    Args:
        robot: That has them.
    """

    def __init__(self, robot: Robot):
        self._robot = robot
        self._model = robot._model
        self._located: dict[str, tuple[int, pin.SE3]] = {}
        self._of_thread = threading.local()  # simulators are shared between threads, Pinocchio's data is not

    def locate(self, name: str) -> tuple[int, pin.SE3]:
        """Joint that carries a frame, and the frame's placement in it."""
        found = self._located.get(name) if isinstance(name, str) else None
        if found is None:
            joint, placement = self._robot.locate(name)
            found = self._located[name] = (joint, placement.copy())
        return found

    def pose(self, name: str, q: Array) -> pin.SE3:
        """In the world."""
        joint, placement = self.locate(name)
        data = self._data
        pin.forwardKinematics(self._model, data, q)
        return data.oMi[joint] * placement

    def velocity(self, name: str, q: Array, v: Array) -> Array:
        """Linear and angular, of the frame's origin in world axes, (6,)."""
        joint, placement = self.locate(name)
        data = self._data
        pin.forwardKinematics(self._model, data, q, v)
        own = placement.actInv(data.v[joint])
        R = data.oMi[joint].rotation @ placement.rotation
        return np.concatenate([R @ own.linear, R @ own.angular])

    def jacobian(self, name: str, q: Array) -> Array:
        """That makes this velocity of v, (6, nv)."""
        joint, placement = self.locate(name)
        J = np.zeros((6, self._robot.nv))
        if joint:
            data = self._data
            pin.computeJointJacobians(self._model, data, q)
            J[:] = pin.getJointJacobian(self._model, data, joint, pin.LOCAL_WORLD_ALIGNED)
            J[:3] -= pin.skew(data.oMi[joint].rotation @ placement.translation) @ J[3:]
        return J

    def felt(self, name: str, q: Array, v: Array, dv: Array) -> tuple[Array, Array]:
        """What an inertial sensor feels in the frame's axes: p̈ − g of its origin [m/s²], and ω [rad/s], (3,) each."""
        joint, placement = self.locate(name)
        data = self._data
        pin.forwardKinematics(self._model, data, q, v, dv)
        velocity, spatial = placement.actInv(data.v[joint]), placement.actInv(data.a[joint])
        R = data.oMi[joint].rotation @ placement.rotation
        omega = np.array(velocity.angular)
        # Of the spatial acceleration to that of the point: the velocity turns along with the frame.
        return spatial.linear + np.cross(omega, velocity.linear) - R.T @ self._model.gravity.linear, omega

    def energies(self, q: Array, v: Array) -> tuple[float, float]:
        """Kinetic, rotors (armature) included, and potential of gravity [J]."""
        data = self._data
        kinetic = pin.computeKineticEnergy(self._model, data, q, v)
        return float(kinetic), float(pin.computePotentialEnergy(self._model, data, q))

    @property
    def _data(self) -> pin.Data:
        data = getattr(self._of_thread, "data", None)
        if data is None:
            data = self._of_thread.data = self._model.createData()
        return data
