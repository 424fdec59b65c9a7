"""What users ask of a simulator beside its state: energy, frames, and who pushes whom."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from exposim import _core
from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument, UnknownFrame, did_you_mean
from exposim.robots.joint_laws import JointArrays
from exposim.robots.made_of import innermost
from exposim.robots.robot import Robot
from exposim.simulation.collisions import CarriedSurface
from exposim.simulation.energy import Energy, in_contacts, in_joints
from exposim.simulation.frames import Frames
from exposim.simulation.world import material_between

GROUND = "ground"
Side = set[int] | Surface  # joints of bodies, of which 0 is the world; or a surface alone


class Queries:
    """Answers for one simulator, from what its core says at the moment.

    Args:
        robot: That is simulated.
        laws: Of its joints.
        standing: Surfaces of the world.
        carried: Surfaces that bodies carry, which come after them.
        contacts: Of the core: point, or ``None`` for a shape on an edge, and surface that it belongs to.
    """

    def __init__(
        self,
        robot: Robot,
        laws: JointArrays,
        standing: tuple[Surface, ...],
        carried: tuple[CarriedSurface, ...],
        contacts: Sequence[tuple[int | None, int]],
    ):
        self.frames = Frames(robot)
        self._robot = robot
        self._laws = laws
        self._standing = standing
        self._carried = carried
        self._contacts = contacts
        joint_of_point = [robot.locate(point.frame)[0] for point in robot.contact_points]
        # Of every surface; last, where the index −1 finds it, what a bilateral contact is attached to.
        self._joint_of_surface = np.array([*(0 for _ in standing), *(each.joint for each in carried), 0])
        self._joints = np.array(  # the force on these is what the core says
            [self._joint_of_surface[k] if point is None else joint_of_point[point] for point, k in contacts], dtype=int
        )
        self._own_surface = np.array([k if point is None else -1 for point, k in contacts], dtype=int)

    def energy(self, core: _core.Simulator, friction_stretch: Array) -> Energy:
        """Now."""
        q = core.q
        joints = in_joints(self._robot, self._laws, q, friction_stretch)
        contacts = float(in_contacts(core, self.materials(core)).sum())
        return Energy(*self.frames.energies(q, core.v), contacts, joints)

    def materials(self, core: _core.Simulator) -> list[Material | None]:
        """Of what every contact is made; ``None`` where it does not touch."""
        points = self._robot.contact_points
        return [
            material_between(contact, int(k), points, self._standing, self._carried) if active else None
            for contact, k, active in zip(self._contacts, core.touched, core.active, strict=True)
        ]

    def force_on(self, frame: str, core: _core.Simulator) -> Array:
        """Force and torque about the frame's origin on the body that it belongs to, (6,)."""
        joint, _ = self.frames.locate(frame)
        origin = self.frames.pose(frame, core.q).translation
        forces, arms = core.forces, core.positions - origin
        sign = (self._joints == joint).astype(float) - (self._joint_of_surface[core.touched] == joint)
        forces = sign[:, None] * forces
        return np.concatenate([forces.sum(axis=0), np.cross(arms, forces).sum(axis=0)])

    def force_between(self, a: str | Surface, b: str | Surface, core: _core.Simulator) -> Array:
        """On the first from the second, (3,)."""
        one, other = self._side("a", a), self._side("b", b)
        if one is other or (isinstance(one, set) and isinstance(other, set) and one & other):
            raise InvalidArgument(f"a is {a!r} and b is {b!r}, which have a body in common; give two that have none")
        touched = core.touched
        onto, from_ = (self._is_of(side, self._joints, self._own_surface) for side in (one, other))
        above, below = (self._is_of(side, self._joint_of_surface[touched], touched) for side in (one, other))
        sign = (onto & below).astype(float) - (from_ & above)
        return np.asarray(sign @ core.forces)

    def _is_of(self, side: Side, joints: NDArray[np.integer], surfaces: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Of every contact, whether one of its two ends is of a side."""
        if isinstance(side, set):
            return np.isin(joints, list(side))
        every = (*self._standing, *(each.shape for each in self._carried))
        return np.isin(surfaces, [k for k, each in enumerate(every) if each is side])

    def _side(self, what: str, given: str | Surface) -> Side:
        """The bodies that a name stands for."""
        robot = self._robot
        if isinstance(given, Surface):
            if not any(given is each for each in (*self._standing, *(each.shape for each in self._carried))):
                raise InvalidArgument(f"{what} is {given!r}, which is not in this simulator; give one of sim.surfaces")
            return given
        if given == GROUND:
            return {0}
        frames = robot._model.frames
        if given == robot.name and not any(frame.name == given for frame in frames):
            return set(range(1, robot._model.njoints))
        members = [name for name in innermost(robot) if robot.members]
        if isinstance(given, str) and any(name == given or name.startswith(f"{given}/") for name in members):
            names = list(robot._model.names)
            return {joint for joint in range(1, len(names)) if names[joint].startswith(f"{given}/")}
        try:
            return {self.frames.locate(given)[0]}
        except UnknownFrame:
            known = [GROUND, robot.name, *members, *(frame.name for frame in frames)]
            near = did_you_mean(str(given), known) or f"; robots are {', '.join(members or [robot.name])}"
            raise UnknownFrame(
                f"{what} is {given!r}, which is no robot, link or frame of {robot.name!r}, nor 'ground'{near}"
            ) from None
