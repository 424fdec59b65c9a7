"""What a step is given: torques, targets of drives, wrenches; checked, and brought into the core's form."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks, _core
from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.robots.robot import Robot


class Inputs:
    """What a robot takes.

    Args:
        robot: That is driven.
        rest: Configuration that its drives hold if they are given no target, (nq,).
    """

    def __init__(self, robot: Robot, rest: Array):
        self._robot = robot
        self._rest = rest
        self._dofs = robot.actuated_dofs
        self.frames: tuple[str, ...] = ()  # that the last wrenches were given for
        self._in_q: list[int] = []  # of all actuated joints
        self._straight: list[tuple[int, int]] = []  # entry of one per degree of freedom, and the one of q that it is
        self._circles: list[tuple[int, int]] = []  # likewise, and the first of cosine and sine
        self._in_space: list[str] = []  # joints whose configuration is no list of angles
        entry = 0
        for name in robot.actuated_joints:
            joint = robot.model.joints[robot.model.getJointId(name)]
            self._in_q += range(joint.idx_q, joint.idx_q + joint.nq)
            if joint.nq == joint.nv:
                self._straight += [(entry + k, joint.idx_q + k) for k in range(joint.nq)]
            elif (joint.nq, joint.nv) == (2, 1):
                self._circles.append((entry, joint.idx_q))
            else:
                self._in_space.append(name)
            entry += joint.nv
        angles_alone = not self._in_space and not self._circles and len(self._dofs) != robot.nq
        self._passed_on = self._dofs.shape if robot.drives and angles_alone else None

    def tau(self, tau: ArrayLike) -> Array:
        """Torques of all degrees of freedom, or of the actuated ones."""
        if isinstance(tau, (int, float, np.number)) and np.asarray(tau).dtype.kind in "iuf":
            steps = f", or for {tau:g} steps n={tau:g}" if tau > 0 and float(tau).is_integer() else ""
            raise InvalidArgument(f"tau is {tau:g}, one number for {len(self._dofs)} torques; give all of them{steps}")
        return self._one_per_dof("tau", tau)

    def passes_on(self, target: ArrayLike | None) -> bool:
        """Whether the core takes a target as it is, or says that it does not: one angle per degree of freedom."""
        return target is None or (type(target) is np.ndarray and target.shape == self._passed_on)

    def target(self, target: ArrayLike | None) -> Array | None:
        """A configuration, (nq,): of the actuated joints what is given, of the others what they rest at."""
        if target is None:
            return None
        self.refuse_without_drives("target")
        robot = self._robot
        array = _checks.vector("target", target)
        q = self._rest.copy()
        if array.size == robot.nq:
            q[self._in_q] = array[self._in_q]
        elif array.size == len(self._dofs):
            if self._in_space:
                raise InvalidArgument(
                    f"target has {array.size} entries, one per actuated degree of freedom, but {self._in_space[0]!r} "
                    f"turns in space, which angles do not say; give {robot.nq} (nq of {robot.name})"
                )
            for k, at in self._straight:
                q[at] = array[k]
            for k, at in self._circles:
                q[at], q[at + 1] = np.cos(array[k]), np.sin(array[k])
        else:
            raise InvalidArgument(
                f"target has {array.size} entries; give {robot.nq} (nq of {robot.name}) "
                f"or {len(self._dofs)} (one per actuated degree of freedom)"
            )
        return robot.check_configuration(q, "target") if self._in_space or self._circles else q

    def dof_entries(self, name: str, size: int) -> list[tuple[int, int]]:
        """Which entry of so many, of torques or velocities, is which degree of freedom."""
        self._refuse_other_sizes(name, size)
        return [(i, i) for i in range(size)] if size == self._robot.nv else list(enumerate(self._dofs.tolist()))

    def target_entries(self, size: int) -> list[tuple[int, int]] | None:
        """Which entry of so many is which one of a configuration; none where that does not say it all."""
        if self._in_space or self._circles:
            return None
        return [(i, i) for i in self._in_q] if size == self._robot.nq else self._straight

    def target_velocity(self, velocity: ArrayLike | None) -> Array | None:
        """Of all degrees of freedom, (nv,)."""
        if velocity is None:
            return None
        self.refuse_without_drives("target_velocity")
        array = self._one_per_dof("target_velocity", velocity)
        if array.size == self._robot.nv:
            return array
        v = np.zeros(self._robot.nv)
        v[self._dofs] = array
        return v

    def wrenches(self, wrenches: Mapping[str, ArrayLike]) -> list[_core.ExternalWrench]:
        """By frame name, six numbers in world axes each."""
        if not isinstance(wrenches, Mapping):
            raise InvalidArgument(f"wrenches is {wrenches!r}; give a mapping from frame names to six numbers each")
        result = []
        for frame, wrench in wrenches.items():
            joint, placement = self._robot.locate(frame)
            w = _checks.vector(f"wrenches[{frame!r}]", wrench, 6, "force, then torque, in world axes")
            result.append(_core.ExternalWrench(joint, placement.translation, w[:3], w[3:]))
        self.frames = tuple(wrenches)
        return result

    def _one_per_dof(self, name: str, value: ArrayLike) -> Array:
        array = _checks.vector(name, value)
        self._refuse_other_sizes(name, array.size)
        return array

    def _refuse_other_sizes(self, name: str, size: int) -> None:
        nv, actuated = self._robot.nv, len(self._dofs)
        if size not in (nv, actuated):
            raise InvalidArgument(
                f"{name} has {size} entries; give {nv} (one per degree of freedom) "
                f"or {actuated} (one per actuated degree of freedom)"
            )

    def refuse_without_drives(self, name: str) -> None:
        """Of a robot that would not follow a target."""
        if not self._robot.drives:
            raise InvalidArgument(
                f"{name} is given, but {self._robot.name!r} has no drives that could follow it; give it some: "
                f"robot.replace(drives=exposim.Drive(kp=..., kd=...))"
            )
