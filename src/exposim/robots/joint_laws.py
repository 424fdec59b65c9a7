"""The laws of a robot's joints in numbers: what its model states and what its user says, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.robots.joint_settings import JointSettings
from exposim.robots.joints import DryFriction, Joint
from exposim.robots.models import dofs_of, joint_names, parts_of

# Beyond this a number of a model means that there is no limit: Pinocchio writes the largest float for it.
NO_LIMIT = 1e300
# A stop is a spring on which the joint's inertia has this frequency [rad/s], and stiffer where a strong motor pushes.
LIMIT_FREQUENCY = 600.0
LIMIT_GIVES_WAY = 0.02  # [rad or m]
LIMIT_DAMPING = 3e-3  # [s], B/K as of the default material
FRICTION_GIVES_WAY = 1e-3  # [rad or m] from rest to slipping

_LOOKED_AT = ("lower", "upper", "effort", "velocity", "damping", "friction", "static_friction", "armature")


@dataclass(frozen=True)
class JointArrays:
    """The laws of the joints in numbers: nv entries each, ``inf`` where there is no limit.

    Args:
        kp: Position gains.
        kd: Velocity gains.
        effort: Torque limits of the motors.
        velocity: No-load speeds of their torque-speed lines.
        delay: Of the targets [s].
        static_friction: Largest torque that holds.
        dynamic_friction: Torque that brakes.
        friction_stiffness: While it holds.
        friction_damping: While it holds.
        limits: Index in q, index in v, lower, upper, stiffness, damping of every joint with an end.
        rest: Configuration that drives hold if no target is given, (nq,).
    """

    kp: Array
    kd: Array
    effort: Array
    velocity: Array
    delay: Array
    static_friction: Array
    dynamic_friction: Array
    friction_stiffness: Array
    friction_damping: Array
    limits: list[tuple[int, int, float, float, float, float]]
    rest: Array


def stated_bounds(values: Array) -> Array:
    """Effort or velocity limits as they are meant: nothing, or zero, is no limit."""
    values = np.array(values, dtype=float)
    values[(values <= 0.0) | (values > NO_LIMIT)] = np.inf
    return values


def position_limits(model: pin.Model, joint_name: str) -> list[tuple[int, int, float, float]]:
    """Index in q, index in v, lower and upper end of every degree of freedom of a joint that has one.

    Such are angles and lengths, of which q counts what v is the rate of. A lower end above the upper is none.
    """
    found = []
    for part in parts_of(model.joints[model.getJointId(joint_name)]):
        for i in range(part.nv if part.nq == part.nv else 0):
            in_q, in_v = int(part.idx_q + i), int(part.idx_v + i)
            lower, upper = float(model.lowerPositionLimit[in_q]), float(model.upperPositionLimit[in_q])
            lower, upper = max(lower, -NO_LIMIT), min(upper, NO_LIMIT)
            if lower <= upper and (lower > -NO_LIMIT or upper < NO_LIMIT):
                found.append(
                    (in_q, in_v, lower if lower > -NO_LIMIT else -np.inf, upper if upper < NO_LIMIT else np.inf)
                )
    return found


def stated_friction(model: pin.Model) -> tuple[DryFriction, ...]:
    """Of every degree of freedom; the greater one where the two directions differ."""
    both = np.maximum(np.abs(model.upperDryFrictionLimit), np.abs(model.lowerDryFrictionLimit))
    return tuple(map(DryFriction, both.tolist()))


def joints_to_look_at(model: pin.Model, settings: JointSettings) -> dict[str, Joint]:
    """All joints but free bases, by name."""
    effort, velocity = stated_bounds(model.effortLimit), stated_bounds(model.velocityLimit)
    friction = np.array([each.dynamic for each in settings.friction])
    static = np.array([each.static for each in settings.friction])
    joints = {}
    for name in joint_names(model):
        dofs = dofs_of(model, name)
        lower, upper = np.full(dofs.stop - dofs.start, -np.inf), np.full(dofs.stop - dofs.start, np.inf)
        for _, in_v, low, high in position_limits(model, name):
            lower[in_v - dofs.start], upper[in_v - dofs.start] = low, high
        parts = (effort, velocity, model.damping, friction, static, model.armature)
        values = [_alone_or_read_only(part) for part in (lower, upper, *(part[dofs] for part in parts))]
        fields = dict(zip(_LOOKED_AT, values, strict=True))
        joints[name] = Joint(name=name, drive=settings.drives.get(name), **fields)
    return joints


def joint_arrays(model: pin.Model, q0: Array, actuated: Sequence[str], settings: JointSettings) -> JointArrays:
    """The laws of the joints as the core wants them."""
    nv = model.nv
    own_effort, own_velocity = stated_bounds(model.effortLimit), stated_bounds(model.velocityLimit)
    kp, kd, delay = np.zeros(nv), np.zeros(nv), np.zeros(nv)
    effort, velocity = np.full(nv, np.inf), np.full(nv, np.inf)
    for name in actuated:
        dofs, drive = dofs_of(model, name), settings.drives.get(name)
        has_limits = settings.limits_effort_of(name)
        if has_limits:
            effort[dofs] = own_effort[dofs]
        if drive is None:  # a torque alone, which has no torque-speed line
            continue
        kp[dofs], kd[dofs], delay[dofs] = drive.kp, drive.kd, drive.delay
        if has_limits:
            velocity[dofs] = own_velocity[dofs]
        if drive.effort is not None:
            effort[dofs] = drive.effort
        if drive.velocity is not None:
            velocity[dofs] = drive.velocity
    by_inertia = LawsByInertia.of(model, actuated, settings)
    inertia = felt_inertia(model, q0)
    return JointArrays(
        kp=kp,
        kd=kd,
        effort=effort,
        velocity=velocity,
        delay=delay,
        static_friction=np.array([each.static for each in settings.friction]),
        dynamic_friction=np.array([each.dynamic for each in settings.friction]),
        friction_stiffness=by_inertia.friction_stiffness,
        friction_damping=by_inertia.friction_damping(inertia),
        limits=by_inertia.limits(inertia),
        rest=np.array(q0),
    )


@dataclass(frozen=True)
class LawsByInertia:
    """The laws that depend on what joints move, where nothing else is said.

    Args:
        ends: Index in q, index in v, lower, upper of every joint with an end; stiffness and damping, if they are said;
            and the least stiffness otherwise.
        friction_stiffness: Of every degree of freedom.
        said_damping: Of its friction, if it is said.
    """

    ends: list[tuple[int, int, float, float, float | None, float | None, float]]
    friction_stiffness: Array
    said_damping: list[float | None]

    @classmethod
    def of(cls, model: pin.Model, actuated: Sequence[str], settings: JointSettings) -> LawsByInertia:
        """Of a robot."""
        strength = stated_bounds(model.effortLimit)
        for name in actuated:
            drive = settings.drives.get(name)
            if drive is not None and drive.effort is not None:
                strength[dofs_of(model, name)] = drive.effort
        ends = []
        for name in joint_names(model):
            limits = settings.limits_of(name)
            if limits is None:
                continue
            for in_q, in_v, lower, upper in position_limits(model, name):
                motor = strength[in_v] if np.isfinite(strength[in_v]) else 0.0
                least = float(motor / LIMIT_GIVES_WAY)
                ends.append((in_q, in_v, lower, upper, limits.stiffness, limits.damping, least))
        static = np.array([each.static for each in settings.friction])
        stiffness = [
            still / FRICTION_GIVES_WAY if each.stiffness is None else each.stiffness
            for still, each in zip(static.tolist(), settings.friction, strict=True)
        ]
        return cls(ends, np.array(stiffness), [each.damping for each in settings.friction])

    def friction_damping(self, inertia: Array) -> Array:
        """While it holds, (nv,)."""
        critical = 2.0 * np.sqrt(self.friction_stiffness * inertia)
        return np.array([critical[i] if said is None else said for i, said in enumerate(self.said_damping)])

    def limits(self, inertia: Array) -> list[tuple[int, int, float, float, float, float]]:
        """As of :class:`JointArrays`."""
        found = []
        for in_q, in_v, lower, upper, said, said_damping, least in self.ends:
            own = min(max(float(inertia[in_v]) * LIMIT_FREQUENCY**2, least), NO_LIMIT)
            stiffness = own if said is None else said
            damping = LIMIT_DAMPING * stiffness if said_damping is None else said_damping
            found.append((in_q, in_v, lower, upper, float(stiffness), float(damping)))
        return found


def felt_inertia(model: pin.Model, q0: Array, data: pin.Data | None = None) -> Array:
    """What a torque in one joint alone has to move, all others free to follow: 1 / (M⁻¹)_jj at q0."""
    M = pin.crba(model, model.createData() if data is None else data, q0)
    M = np.triu(M) + np.triu(M, 1).T
    diagonal: Array = np.diag(M).copy()
    scale = np.sqrt(diagonal)  # kilograms beside gram-metres: let the inverse be of numbers around one
    with np.errstate(all="ignore"):  # q0 may be singular, or numbers without measure
        try:
            felt = diagonal / np.diag(np.linalg.inv(M / scale / scale[:, None]))
        except np.linalg.LinAlgError:
            return diagonal
    usable = (felt > 0.0) & (felt <= diagonal)
    diagonal[usable] = felt[usable]
    return diagonal


def _alone_or_read_only(values: Array) -> float | Array:
    if values.size == 1:
        return float(values[0])
    values = np.array(values)
    values.flags.writeable = False
    return values
