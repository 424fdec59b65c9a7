"""Closed kinematic loops: two frames of a robot held together by stiff springs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pinocchio as pin

from exposim import _checks, _core
from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.errors import InvalidArgument

Locate = Callable[[str], tuple[int, pin.SE3]]


@dataclass(frozen=True)
class Loop:
    r"""Closes a loop: holds a frame of a robot at another one, :math:`\lambda = -K \Delta p - B \Delta\dot p`.

    It gives way by the force that it holds divided by its stiffness, in all directions alike, and pulls as well as
    pushes. The frames must meet at the start, within a millimetre.

    Args:
        frame_a: Name of a frame of the robot.
        frame_b: Of another body's, or ``"universe"``, the world.
        stiffness: :math:`K` [N/m], above zero.
        damping: :math:`B` [N·s/m], not negative. ``None``: critical at ``q0`` for the direction in which the frames are
            moved most easily, :math:`2 \sqrt{K m}` with :math:`1/m` the largest eigenvalue of their
            :math:`\Upsilon = J M^{-1} J^T`.
        axes: What is held: ``"position"`` of the origins, or ``"pose"``, position and axes.
        angular_stiffness: Of a pose [N·m/rad], above zero. ``None``: :math:`K` times the square of 0.1 m, as of a hinge
            with springs of :math:`K` that far from its centre.
        angular_damping: Of a pose [N·m·s/rad], not negative. ``None``: critical likewise, for turning.
    """

    frame_a: str
    frame_b: str
    stiffness: float = 1e6
    damping: float | None = None
    axes: Literal["position", "pose"] = "position"
    angular_stiffness: float | None = None
    angular_damping: float | None = None

    def __post_init__(self) -> None:
        for name in ("frame_a", "frame_b"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise InvalidArgument(f"{name} is {getattr(self, name)!r}; give the name of a frame of the robot")
        if self.frame_a == self.frame_b:
            raise InvalidArgument(
                f"frame_a and frame_b are both {self.frame_a!r}, on the same body; give frames of two"
            )
        _checks.choice("axes", self.axes, ("position", "pose"))
        checked: dict[str, float | None] = {
            "stiffness": _checks.number("stiffness", self.stiffness, "[N/m]", above=0.0),
            "damping": _checks.optional("damping", self.damping, "[N·s/m]", least=0.0),
            "angular_stiffness": _checks.optional("angular_stiffness", self.angular_stiffness, "[N·m/rad]", above=0.0),
            "angular_damping": _checks.optional("angular_damping", self.angular_damping, "[N·m·s/rad]", least=0.0),
        }
        if self.axes == "position" and (self.angular_stiffness is not None or self.angular_damping is not None):
            raise InvalidArgument("angular_stiffness and angular_damping are for poses; give axes='pose' or leave them")
        for name, value in checked.items():
            object.__setattr__(self, name, value)


# Lever that makes an angular stiffness of a linear one [m].
LEVER = 0.1


@dataclass(frozen=True)
class Gap:
    """Between the frames of a loop.

    Args:
        distance: Of their origins [m].
        angle: Between their axes [rad]; 0 where they are free.
    """

    distance: float
    angle: float


def checked_loops(loops: Any, locate: Locate) -> tuple[Loop, ...]:
    """Loops between frames that exist, of different bodies."""
    given = _checks.several("loops", loops, "a list of exposim.Loop objects")
    for loop in given:
        if not isinstance(loop, Loop):
            raise InvalidArgument(f"loops has {loop!r}; give exposim.Loop objects only")
        if locate(loop.frame_a)[0] == locate(loop.frame_b)[0]:
            raise InvalidArgument(
                f"loops has one between {loop.frame_a!r} and {loop.frame_b!r}, which are fixed to the same body; "
                f"give frames that can move against each other"
            )
    return given


def bonds_of(loops: tuple[Loop, ...], model: pin.Model, q0: Array, locate: Locate) -> list[_core.Bond]:
    """The loops as the core takes them."""
    bonds = []
    for loop in loops:
        (a, in_a), (b, in_b) = locate(loop.frame_a), locate(loop.frame_b)
        # Only what is not said has to be found out.
        ease = _ease(model, q0, (a, in_a), (b, in_b)) if _is_left_open(loop) else (0.0, 0.0)
        law = _law(loop.stiffness, loop.damping, ease[0])
        if loop.axes == "position":
            bonds.append(_core.Bond.position(a, in_a.translation, b, in_b.translation, law))
        else:
            stiffness = loop.stiffness * LEVER**2 if loop.angular_stiffness is None else loop.angular_stiffness
            angular = _law(stiffness, loop.angular_damping, ease[1])
            bonds.append(_core.Bond.pose(a, in_a.homogeneous, b, in_b.homogeneous, law, angular))
    return bonds


def gaps(loops: tuple[Loop, ...], model: pin.Model, q: Array, locate: Locate) -> list[Gap]:
    """How far apart the frames of each loop are at q."""
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    found = []
    for loop in loops:
        a, b = (data.oMi[joint] * placement for joint, placement in (locate(loop.frame_a), locate(loop.frame_b)))
        angle = np.linalg.norm(pin.log3(a.rotation.T @ b.rotation)) if loop.axes == "pose" else 0.0
        found.append(Gap(float(np.linalg.norm(a.translation - b.translation)), float(angle)))
    return found


def _is_left_open(loop: Loop) -> bool:
    return loop.damping is None or (loop.axes == "pose" and loop.angular_damping is None)


def _law(stiffness: float, damping: float | None, ease: float) -> _core.Law:
    if damping is None:
        damping = 2.0 * float(np.sqrt(stiffness / ease)) if ease > 0.0 else 0.0
    return _core.Bilateral(Material(stiffness, damping)._build())


def _ease(model: pin.Model, q0: Array, *ends: tuple[int, pin.SE3]) -> tuple[float, float]:
    """Largest eigenvalues of Υ = J M⁻¹ Jᵀ of the relative motion of two frames: of shifting [1/kg], of turning."""
    data = model.createData()
    pin.computeJointJacobians(model, data, q0)
    J = np.zeros((6, model.nv))
    for sign, (joint, placement) in zip((1.0, -1.0), ends, strict=True):
        if joint == 0:
            continue
        of_joint = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)
        arm = data.oMi[joint].rotation @ placement.translation
        J[:3] += sign * (of_joint[:3] - pin.skew(arm) @ of_joint[3:])
        J[3:] += sign * of_joint[3:]
    M = pin.crba(model, data, q0)
    M = np.triu(M) + np.triu(M, 1).T
    Upsilon = J @ np.linalg.solve(M, J.T)
    return float(np.linalg.eigvalsh(Upsilon[:3, :3])[-1]), float(np.linalg.eigvalsh(Upsilon[3:, 3:])[-1])
