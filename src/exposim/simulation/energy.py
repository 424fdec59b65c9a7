"""Where the energy of a simulation is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exposim import _core
from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.robots.joint_laws import JointArrays
from exposim.robots.loops import LEVER, Loop, gaps
from exposim.robots.robot import Robot


@dataclass(frozen=True)
class Energy:
    r"""Energy at an instant [J].

    What springs of the simulation store is counted, and nothing that is given or taken away: dampers and friction take,
    motors give, drives among them, which are springs only as long as nobody moves their target.

    Args:
        kinetic: :math:`v^T M v / 2`, rotors (armature) included.
        gravity: :math:`-\sum m\, g \cdot c`: zero where the centre of mass is level with the world's origin.
        contacts: :math:`\Delta p^T K \Delta p / 2` of all contacts that touch, bilateral ones too.
        joints: Of springs at position limits, of dry friction that holds a joint, and of loops.
    """

    kinetic: float
    gravity: float
    contacts: float
    joints: float

    @property
    def total(self) -> float:
        """All of it [J]."""
        return self.kinetic + self.gravity + self.contacts + self.joints


def in_contacts(core: _core.Simulator, materials: list[Material | None]) -> Array:
    """Of each contact made of these [J], (nc,); ``None``: does not touch."""
    found = np.zeros(len(materials))
    active = [i for i, material in enumerate(materials) if material is not None]
    if not active:
        return found
    K = np.array([np.broadcast_to(materials[i].stiffness, 2) for i in active])  # type: ignore[union-attr]
    delta, n = (core.positions - core.anchors)[active], core.normals[active]
    along = np.einsum("ij,ij->i", delta, n)
    across = np.einsum("ij,ij->i", delta, delta) - along**2
    found[active] = 0.5 * (K[:, 0] * along**2 + K[:, 1] * across)
    return found


def in_limits(laws: JointArrays, q: Array) -> Array:
    """Of the position limits along every degree of freedom [J], (nv,)."""
    found = np.zeros(len(laws.static_friction))
    for in_q, in_v, lower, upper, stiffness, _ in laws.limits:
        found[in_v] += 0.5 * stiffness * max(0.0, lower - q[in_q], q[in_q] - upper) ** 2
    return found


def in_joints(robot: Robot, laws: JointArrays, q: Array, friction_stretch: Array) -> float:
    """Of limits, dry friction and loops."""
    total = float(in_limits(laws, q).sum())
    rough = laws.friction_stiffness[laws.static_friction > 0.0]
    total += 0.5 * float(rough @ friction_stretch**2)
    found = gaps(robot.loops, robot._model, q, robot.locate) if robot.loops else []
    for loop, gap in zip(robot.loops, found, strict=True):
        total += 0.5 * (loop.stiffness * gap.distance**2 + _angular_stiffness(loop) * gap.angle**2)
    return float(total)


def _angular_stiffness(loop: Loop) -> float:
    return loop.stiffness * LEVER**2 if loop.angular_stiffness is None else loop.angular_stiffness
