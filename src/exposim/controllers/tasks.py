r"""Tasks of inverse dynamics: what a part of the robot should do, as an acceleration it should have.

Each gives linear equations in the joint accelerations, :math:`J \dot v = a_{des} - \dot J v`, with the desired
acceleration from a reference and a spring and damper around it:

.. math:: a_{des} = \ddot y_{ref} + k_d\,(\dot y_{ref} - \dot y) + k_p\,(y_{ref} \ominus y)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeVar

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.robots.robot import Robot
from exposim.simulation.state import State


class Point(NamedTuple):
    """A wanted position with its two derivatives, (3,) each [m, m/s, m/s²]."""

    position: ArrayLike
    velocity: ArrayLike = (0.0, 0.0, 0.0)
    acceleration: ArrayLike = (0.0, 0.0, 0.0)


class Pose(NamedTuple):
    """A wanted placement in the world, with linear and angular velocity and acceleration in world axes, (6,) each."""

    placement: pin.SE3
    velocity: ArrayLike = (0.0,) * 6
    acceleration: ArrayLike = (0.0,) * 6


Wanted = TypeVar("Wanted", Point, Pose)


class Equations(NamedTuple):
    r""":math:`J \dot v = a`."""

    J: Array  # (m, nv)
    a: Array  # (m,)


# At a time, with kinematics, centre of mass, Jacobians, M and nle of the state in data; accelerations there: those with
# zero joint accelerations.
BoundTask = Callable[[float, State, pin.Data], Equations]


class Task(ABC):
    r"""A wanted motion, followed with a stiffness and a damping, and weighed against the other tasks.

    Args:
        weight: Of the squared error of the acceleration, above zero.
        kp: Stiffness [1/s²], not negative.
        kd: Damping [1/s], not negative; by default critical, :math:`2\sqrt{k_p}`.
    """

    def __init__(self, weight: float, kp: float, kd: float | None):
        self.weight = _checks.number("weight", weight, "", above=0.0)
        self.kp = _checks.number("kp", kp, "[1/s²]", least=0.0)
        self.kd = 2.0 * np.sqrt(self.kp) if kd is None else _checks.number("kd", kd, "[1/s]", least=0.0)

    @abstractmethod
    def bind(self, robot: Robot, model: pin.Model) -> BoundTask:
        """Looks up what the task is about, once; refuses what is not there. May add frames to the model."""


def _ask(reference: Callable[[float], Wanted], t: float, kind: type[Wanted]) -> Wanted:
    wanted = reference(t)
    if not isinstance(wanted, kind) and not all(hasattr(wanted, field) for field in kind._fields):
        raise InvalidArgument(f"a reference gave {type(wanted).__name__} at t = {t:g} s; give a {kind.__name__}")
    return wanted


class CentreOfMass(Task):
    """The centre of mass follows a point.

    Args:
        reference: The wanted :class:`Point` at a time [s], or one fixed position.
        weight: As in :class:`Task`.
        kp: As in :class:`Task`.
        kd: As in :class:`Task`.
    """

    def __init__(
        self,
        reference: Callable[[float], Point] | ArrayLike,
        weight: float = 1.0,
        kp: float = 50.0,
        kd: float | None = None,
    ):
        super().__init__(weight, kp, kd)
        self._reference = reference if callable(reference) else _fixed_point(reference)

    def bind(self, robot: Robot, model: pin.Model) -> BoundTask:
        """Three equations."""

        def equations(t: float, state: State, data: pin.Data) -> Equations:
            wanted = _ask(self._reference, t, Point)
            a = (
                np.asarray(wanted.acceleration)
                + self.kd * (np.asarray(wanted.velocity) - data.vcom[0])
                + self.kp * (np.asarray(wanted.position) - data.com[0])
            )
            return Equations(data.Jcom, a - data.acom[0])

        return equations


class Posture(Task):
    """The actuated joints stay near a posture.

    Args:
        q_ref: Posture, (nq,); by default ``robot.q0``. The base's part of it is ignored.
        weight: As in :class:`Task`.
        kp: As in :class:`Task`.
        kd: As in :class:`Task`.
    """

    def __init__(self, q_ref: ArrayLike | None = None, weight: float = 1e-2, kp: float = 20.0, kd: float | None = None):
        super().__init__(weight, kp, kd)
        self._q_ref = q_ref

    def bind(self, robot: Robot, model: pin.Model) -> BoundTask:
        """One equation per actuated degree of freedom."""
        target = robot.q0 if self._q_ref is None else robot.check_configuration(self._q_ref, "q_ref")
        dofs = robot.actuated_dofs
        J = np.eye(robot.nv)[dofs]

        def equations(t: float, state: State, data: pin.Data) -> Equations:
            error = pin.difference(model, state.q, target)[dofs]
            return Equations(J, self.kp * error - self.kd * state.v[dofs])

        return equations


class FramePose(Task):
    """A frame follows a pose, or its position or orientation alone.

    Args:
        frame: Its name.
        reference: The wanted :class:`Pose` at a time [s], or one fixed placement.
        axes: What of it is wanted.
        weight: As in :class:`Task`.
        kp: As in :class:`Task`.
        kd: As in :class:`Task`.
    """

    def __init__(
        self,
        frame: str,
        reference: Callable[[float], Pose] | pin.SE3,
        axes: Literal["pose", "position", "orientation"] = "pose",
        weight: float = 1.0,
        kp: float = 100.0,
        kd: float | None = None,
    ):
        super().__init__(weight, kp, kd)
        if not callable(reference) and not isinstance(reference, pin.SE3):
            raise InvalidArgument(f"reference is {reference!r}; give a pinocchio.SE3, or a function of time")
        self._frame = frame
        self._reference = reference if callable(reference) else _fixed_pose(reference)
        rows = {"pose": slice(0, 6), "position": slice(0, 3), "orientation": slice(3, 6)}
        self._rows = rows[_checks.choice("axes", axes, tuple(rows))]

    def bind(self, robot: Robot, model: pin.Model) -> BoundTask:
        """Three equations or six, linear first, in world axes at the frame's origin."""
        frame = add_frame(model, *robot.locate(self._frame))

        def equations(t: float, state: State, data: pin.Data) -> Equations:
            wanted = _ask(self._reference, t, Pose)
            now = pin.updateFramePlacement(model, data, frame)
            J, velocity, drift = frame_motion(model, data, frame)
            off = wanted.placement.translation - now.translation
            turned = pin.log3(wanted.placement.rotation @ now.rotation.T)  # in world axes
            error = np.concatenate([off, turned])
            a = np.asarray(wanted.acceleration) + self.kd * (np.asarray(wanted.velocity) - velocity) + self.kp * error
            return Equations(J[self._rows], (a - drift)[self._rows])

        return equations


class FrameMotion(NamedTuple):
    """Of a frame's origin in world axes, linear part first."""

    J: Array  # (6, nv)
    velocity: Array  # (6,)
    drift: Array  # (6,) acceleration with zero joint accelerations, the linear part as one sees the point accelerate


def add_frame(model: pin.Model, joint: int, placement: pin.SE3) -> int:
    """Number of a new frame fixed to a joint."""
    return int(model.addFrame(pin.Frame(f"added_{model.nframes}", joint, placement, pin.FrameType.OP_FRAME)))


def frame_motion(model: pin.Model, data: pin.Data, frame: int) -> FrameMotion:
    """With the kinematics in data."""
    return FrameMotion(
        pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED),
        pin.getFrameVelocity(model, data, frame, pin.LOCAL_WORLD_ALIGNED).vector,
        pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL_WORLD_ALIGNED).vector,
    )


def _fixed_point(position: ArrayLike) -> Callable[[float], Point]:
    given = _checks.vector("reference", position, 3, "x, y, z in metres, or a function of time")
    point = Point(given, np.zeros(3), np.zeros(3))  # arrays need no conversion at every call
    return lambda t: point


def _fixed_pose(placement: pin.SE3) -> Callable[[float], Pose]:
    pose = Pose(placement, np.zeros(6), np.zeros(6))
    return lambda t: pose
