"""What can be read of a simulator: what takes part, where it is, what the last step did."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exposim import _core
from exposim._checks import Array
from exposim.contact.contacts import Contact
from exposim.contact.surfaces import Surface
from exposim.robots.robot import ContactPoint, Robot
from exposim.simulation.collisions import CarriedSurface
from exposim.simulation.integrators import Integrator
from exposim.simulation.profile import Profile
from exposim.simulation.step_info import Statistics, StepInfo
from exposim.simulation.world import frictions


class Readings:
    """The part of a simulator that is read."""

    _robot: Robot
    _standing: tuple[Surface, ...]
    _carried: tuple[CarriedSurface, ...]
    _carried_ground: tuple[CarriedSurface, ...]
    _surfaces: tuple[Surface, ...]
    _collisions: tuple[tuple[str, str], ...]
    _overlaps: tuple[tuple[ContactPoint, Surface], ...]
    _contact_points: tuple[ContactPoint, ...]
    _integrator: Integrator
    _dt: float
    _world: _core.World
    _core: _core.Simulator

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self._robot

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        """What it may touch: the ground, of which what bodies carry is last, then the shapes that take part."""
        return self._surfaces

    @property
    def carried(self) -> tuple[CarriedSurface, ...]:
        """The last of the surfaces: those that bodies carry, with the materials of their contacts."""
        return self._carried

    @property
    def carried_ground(self) -> tuple[CarriedSurface, ...]:
        """The first of these: what was given in the ground."""
        return self._carried_ground

    @property
    def collisions(self) -> tuple[tuple[str, str], ...]:
        """Names of the robots that may touch each other, as pairs."""
        return self._collisions

    @property
    def overlaps(self) -> tuple[tuple[ContactPoint, Surface], ...]:
        """Contact points within shapes of the same robot at ``robot.q0``: these never touch each other."""
        return self._overlaps

    @property
    def pairs(self) -> tuple[tuple[ContactPoint, Surface | None], ...]:
        """Contact point and surface of every contact, in the order of :attr:`contacts`; no surface: free, or bound."""
        touched = (None if k < 0 else self._surfaces[k] for k in self._core.touched)
        return tuple(zip(self._contact_points, touched, strict=True))

    @property
    def contact_points(self) -> tuple[ContactPoint, ...]:
        """The contact point of every contact, in the order of :attr:`contacts`."""
        return self._contact_points

    @property
    def belongs_to(self) -> tuple[int | None, ...]:
        """Which surface each contact belongs to for good; ``None`` of a bilateral one, or where surfaces change."""
        return tuple(None if surface < 0 or point is None else surface for point, surface in self._world.contacts)

    @property
    def frictions(self) -> tuple[float | None, ...]:
        """Coefficient of every contact; ``None`` of a bilateral one, or where it depends on what is touched."""
        return frictions(self._world.contacts, self._robot.contact_points, self._standing, self._carried)

    @property
    def integrator(self) -> Integrator:
        """The scheme."""
        return self._integrator

    @property
    def dt(self) -> float:
        """Time step [s]."""
        return self._dt

    @property
    def t(self) -> float:
        """Time [s]."""
        return self._core.t

    @property
    def q(self) -> Array:
        """Configuration, (nq,); a copy."""
        return self._core.q

    @property
    def v(self) -> Array:
        """Velocity, (nv,); a copy."""
        return self._core.v

    @property
    def positions(self) -> Array:
        """Of the contact points in the world [m], one row per contact, (nc, 3)."""
        return self._core.positions

    @property
    def velocities(self) -> Array:
        """Of the bodies at the contact points [m/s], (nc, 3)."""
        return self._core.velocities

    @property
    def normals(self) -> Array:
        """Of the surfaces at the contact points, (nc, 3); z where a contact has none."""
        return self._core.normals

    @property
    def forces(self) -> Array:
        """Contact forces on the robot in the world [N], (nc, 3)."""
        return self._core.forces

    @property
    def active(self) -> NDArray[np.bool_]:
        """Whether each contact touches, (nc,)."""
        return self._core.active

    @property
    def slipping(self) -> NDArray[np.bool_]:
        """Whether each contact slips, or has no force to hold it, (nc,)."""
        return self._core.slipping

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """All contacts that a point can have, active or not: one per slot.

        With no more surfaces than slots there is one for each contact point and surface; otherwise a slot has a surface
        only while it is touched. Arrays of all of them: :attr:`forces`, :attr:`positions`, :attr:`active` and so on.
        """
        core = self._core
        return tuple(
            Contact(point.name, None if surface < 0 else self._surfaces[surface], bool(active), bool(slipping), *arrays)
            for point, surface, active, slipping, *arrays in zip(
                self._contact_points,
                core.touched,
                core.active,
                core.slipping,
                core.positions,
                core.velocities,
                core.anchors,
                core.forces,
                strict=True,
            )
        )

    @property
    def torques(self) -> Array:
        """What the motors gave, on average over the last step, after limits [N·m or N], one per actuated dof, (nu,)."""
        return self._core.torques

    @property
    def limit_forces(self) -> Array:
        """Of the position limits along every degree of freedom, now [N·m or N], (nv,); zero away from them."""
        return self._core.limit_forces

    @property
    def friction_torques(self) -> Array:
        """Of the dry friction of joints, now [N·m or N], (nv,)."""
        return self._core.friction_torques

    @property
    def acceleration(self) -> Array:
        """Of all degrees of freedom now, with what the last step was given as input, (nv,); none after a reset."""
        return self._core.acceleration

    @property
    def info(self) -> StepInfo:
        """What the last step did; zeros after a reset."""
        return StepInfo.of(self._core, self._robot)

    @property
    def statistics(self) -> Statistics:
        """Of the steps since the last reset."""
        return Statistics.of(self._core)

    @property
    def profile(self) -> Profile:
        """Where the time of the steps since the last reset went; print it. Empty unless made with ``profile=True``."""
        return Profile.of(self._core.profile)
