"""What acts in a robot's joints: drives, limits and dry friction as values that users give and read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument


@dataclass(frozen=True)
class Drive:
    r"""A servo inside the step: it sees position and velocity at every instant, not once per control period.

    .. math:: \tau = \mathrm{clip}(\tau_{ff} + k_p (q_t - q) + k_d (v_t - v)), \qquad
              |\tau| \le \text{effort} \cdot \mathrm{clip}(1 - v / \text{velocity}, 0, 1)

    with :math:`v` counted positive in the direction of :math:`\tau`: the faster the joint, the less is left of the
    torque that would make it faster still.

    Args:
        kp: Position gain [N·m/rad or N/m], not negative.
        kd: Velocity gain [N·m·s/rad or N·s/m], not negative.
        effort: Torque limit [N·m or N], above zero; ``inf`` for none. ``None``: the joint's own, while the robot's
            ``effort_limits`` is on.
        velocity: No-load speed of the torque-speed line [rad/s or m/s], above zero; ``inf`` for the same torque at
            every speed. ``None``: the joint's own, while the robot's ``effort_limits`` is on.
        delay: The drive acts on the target that was given this long ago [s].
    """

    kp: float
    kd: float
    effort: float | None = None
    velocity: float | None = None
    delay: float = 0.0

    def __post_init__(self) -> None:
        checked = {
            "kp": _checks.number("kp", self.kp, "[N·m/rad or N/m]", least=0.0),
            "kd": _checks.number("kd", self.kd, "[N·m·s/rad or N·s/m]", least=0.0),
            "effort": _bound("effort", self.effort, "[N·m or N]"),
            "velocity": _bound("velocity", self.velocity, "[rad/s or m/s]"),
            "delay": _checks.number("delay", self.delay, "[s]", least=0.0),
        }
        _set(self, checked)


@dataclass(frozen=True)
class JointLimits:
    r"""How hard the stops are at the ends of the joints: :math:`\lambda = \max(0, -K \varphi - B \dot\varphi)`.

    :math:`\varphi` is the way left to the limit, and there is no force before it is used up.

    Args:
        stiffness: :math:`K` [N·m/rad or N/m], above zero, of every joint. ``None``: of each joint its own,
            the greater of :math:`I (600\,\mathrm{rad/s})^2` and effort / 0.02 rad, where :math:`I = 1/(M^{-1})_{jj}`
            at ``q0`` is the inertia that the joint feels.
        damping: :math:`B` [N·m·s/rad or N·s/m], not negative, of every joint. ``None``: 3 ms of the stiffness.
    """

    stiffness: float | None = None
    damping: float | None = None

    def __post_init__(self) -> None:
        _set(
            self,
            {
                "stiffness": _checks.optional("stiffness", self.stiffness, "[N·m/rad or N/m]", above=0.0),
                "damping": _checks.optional("damping", self.damping, "[N·m·s/rad or N·s/m]", least=0.0),
            },
        )


@dataclass(frozen=True)
class DryFriction:
    r"""Friction that holds a joint until it is overcome, and then brakes it whatever its speed.

    While it sticks it is a stiff spring and damper, so that a joint at rest stays at rest.

    Args:
        dynamic: Of a joint that moves [N·m or N], not negative.
        static: That must be overcome to move it [N·m or N], at least ``dynamic``; by default the same.
        stiffness: While it sticks [N·m/rad or N/m], above zero; by default ``static`` is reached after 1e-3 rad (or m).
        damping: While it sticks [N·m·s/rad or N·s/m], not negative; by default critical for the inertia
            :math:`1/(M^{-1})_{jj}` that the joint feels at ``q0``.
    """

    dynamic: float
    static: float | None = None
    stiffness: float | None = None
    damping: float | None = None

    def __post_init__(self) -> None:
        dynamic = _checks.number("dynamic", self.dynamic, "[N·m or N]", least=0.0)
        static = dynamic if self.static is None else _checks.number("static", self.static, "[N·m or N]", least=0.0)
        if static < dynamic:
            raise InvalidArgument(f"static is {static:g}, below dynamic {dynamic:g} [N·m or N]; give at least that")
        _set(
            self,
            {
                "dynamic": dynamic,
                "static": static,
                "stiffness": _checks.optional("stiffness", self.stiffness, "[N·m/rad or N/m]", above=0.0),
                "damping": _checks.optional("damping", self.damping, "[N·m·s/rad or N·s/m]", least=0.0),
            },
        )


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint of a robot, to look at: a number each, or for a joint of several degrees of freedom one for every one.

    Args:
        name: Of the joint.
        lower: Position limit [rad or m]; ``-inf`` for none, and in joints that are not one angle or one length.
        upper: Likewise; ``inf`` for none.
        effort: Torque limit that the model states [N·m or N]; ``inf`` for none.
        velocity: Speed limit that the model states [rad/s or m/s]; ``inf`` for none.
        damping: Viscous [N·m·s/rad or N·s/m].
        friction: Dry, of the moving joint [N·m or N].
        static_friction: Dry, of the joint at rest [N·m or N].
        armature: Rotor inertia seen at the joint [kg·m² or kg].
        drive: Its servo, if it has one.
    """

    name: str
    lower: float | Array
    upper: float | Array
    effort: float | Array
    velocity: float | Array
    damping: float | Array
    friction: float | Array
    static_friction: float | Array
    armature: float | Array
    drive: Drive | None


def _bound(name: str, value: Any, unit: str) -> float | None:
    """A number above zero, which may be infinite, or None."""
    return None if value is None else _checks.positive(name, value, f"{unit}, inf for no limit, or None for its own")


def _set(frozen: object, values: dict[str, Any]) -> None:
    for name, value in values.items():
        object.__setattr__(frozen, name, value)
