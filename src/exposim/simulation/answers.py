"""What a simulator answers, of where it is now."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import pinocchio as pin

from exposim import _core
from exposim._checks import Array
from exposim.contact.surfaces import Surface
from exposim.robots.joint_laws import JointArrays
from exposim.robots.robot import Robot
from exposim.simulation.collisions import CarriedSurface
from exposim.simulation.layout import Layout

if TYPE_CHECKING:
    from exposim.simulation.energy import Energy
    from exposim.simulation.queries import Queries


class Answers:
    """The part of a simulator that tells of energy, frames and forces, without a second kinematics for its user."""

    _robot: Robot
    _laws: JointArrays
    _standing: tuple[Surface, ...]
    _carried: tuple[CarriedSurface, ...]
    _world: _core.World
    _core: _core.Simulator
    _layout: Layout
    _queries: Queries | None  # made at the first question

    @property
    def energy(self) -> Energy:
        """Kinetic, of gravity, and of springs in contacts and joints, now [J]; ``sim.energy.total``."""
        return self._ask.energy(self._core, self._layout.grips(self._core.state)[:, 0])

    def frame_pose(self, name: str) -> pin.SE3:
        """Where a frame of the robot is in the world.

        Args:
            name: Of a link, joint or other frame; of a combined robot ``"member/name"``.

        Raises:
            UnknownFrame: If the robot has none of that name.
        """
        return self._ask.frames.pose(name, self._core.q)

    def frame_velocity(self, name: str) -> Array:
        """Of a frame's origin, in world axes: linear [m/s], then angular [rad/s], (6,).

        Raises:
            UnknownFrame: If the robot has none of that name.
        """
        return self._ask.frames.velocity(name, self._core.q, self._core.v)

    def frame_jacobian(self, name: str) -> Array:
        """That makes :meth:`frame_velocity` of v, in the same axes, (6, nv).

        Raises:
            UnknownFrame: If the robot has none of that name.
        """
        return self._ask.frames.jacobian(name, self._core.q)

    def force_on(self, link: str) -> Array:
        """What contacts do to a body: force [N], then torque about the frame's origin [N·m], in world axes, (6,).

        A body is a link with all that is fixed to it. Counted are its contact points, what presses against the
        shapes that it carries, and edges that these lie on. Loops and ``wrenches`` are not. What is fixed to the world
        is one with the ground.

        Args:
            link: Name of a link or of any other frame of the body.

        Raises:
            UnknownFrame: If the robot has none of that name.
        """
        return self._ask.force_on(link, self._core)

    def force_between(self, a: str | Surface, b: str | Surface) -> Array:
        """What contacts between two do to the first, in world axes [N], (3,).

        Args:
            a: Name of a robot or member of a combined one, of a link or other frame, which stands for its body, or
                ``"ground"``; or one of :attr:`surfaces`.
            b: Likewise.

        Raises:
            UnknownFrame: If there is none of that name.
            InvalidArgument: If both have a body in common.
        """
        return self._ask.force_between(a, b, self._core)

    @property
    def _ask(self) -> Queries:
        if self._queries is None:
            queries: Any = importlib.import_module("exposim.simulation.queries")  # only those who ask need it
            made: Queries = queries.Queries(
                self._robot, self._laws, self._standing, self._carried, self._world.contacts
            )
            self._queries = made
        return self._queries
