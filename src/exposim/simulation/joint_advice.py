r"""How stiff the joints are, and what that asks of the step.

Gains and dampers make :math:`\ddot y = -W (K y + B \dot y)` of the joints that have any, where :math:`W` is their part
of :math:`M^{-1}`: what an explicit scheme makes of that is a linear map, stable or not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim._durations import show_time
from exposim.robots.joint_laws import JointArrays
from exposim.robots.models import free_dofs
from exposim.robots.robot import Robot
from exposim.simulation.integrators import (
    Expo,
    ImplicitEuler,
    Integrator,
    RungeKutta4,
    SemiImplicitEuler,
)
from exposim.simulation.joint_names import names_of

# Makes the matrix of a step of h from those of stiffness and damping over inertia.
StepMap = Callable[[float, Array, Array], Array]


@dataclass(frozen=True)
class JointAdvice:
    """What drives, dampers and dry friction ask of a step, with the robot as it is now.

    Args:
        joint: That asks for the smallest explicit step; of a robot without any of them the lightest one.
        stiffness: What holds it [N·m/rad or N/m]: ``kp`` of its drive, and of dry friction while it sticks.
        damping: What brakes it [N·m·s/rad or N·s/m]: ``kd``, the joint's own damping, and of dry friction likewise.
        inertia: What it moves, all others free to follow [kg·m² or kg]: 1 / (M⁻¹)_jj.
        explicit_euler_dt: Largest step at which explicit Euler is stable with all joints [s]; infinite without any.
        stable: Whether the simulator's scheme is, at its step; ``Expo`` is at any.
        largest_dt: Largest step at which the simulator's scheme is [s].
        longest_hold: For which a controller may hold torques of the gains that the drives have [s]; infinite without.
        lightest: Joint that moves least.
        least_inertia: That it moves [kg·m² or kg].
        dt: The simulator's step [s].
    """

    joint: str
    stiffness: float
    damping: float
    inertia: float
    explicit_euler_dt: float
    stable: bool
    largest_dt: float
    longest_hold: float
    lightest: str
    least_inertia: float
    dt: float

    def rows(self) -> dict[str, str]:
        """For a table."""
        step = show_time(self.dt, 3)
        rows = {"lightest joint": f"{self.lightest}: inertia {self.least_inertia:.3g}"}
        if np.isinf(self.longest_hold):
            rows["PD control held for a step"] = f"stable there for kd below {2.0 * self.least_inertia / self.dt:.2g}"
        else:
            rows["PD control of these gains"] = f"stable if held for less than {show_time(self.longest_hold, 3)}"
        if np.isinf(self.explicit_euler_dt):
            return rows
        verdict = f"stable at {step}" + (", and at any other" if np.isinf(self.largest_dt) else "")
        if not self.stable:
            verdict = f"unstable at {step}: take at most {show_time(self.largest_dt, 3)}, or Expo()"
        gains = f"stiffness {self.stiffness:.3g}, damping {self.damping:.3g}, inertia {self.inertia:.3g}"
        return {
            "stiffest joint": f"{self.joint}: {gains}",
            "explicit Euler, joints alone": f"stable up to {show_time(self.explicit_euler_dt, 3)}",
            "joints in this simulator": verdict,
            **rows,
        }


def advise_joints(robot: Robot, q: Array, laws: JointArrays, integrator: Integrator, dt: float) -> JointAdvice | None:
    """Of a robot at a configuration; none if it has no joints, or if its inertia cannot be told."""
    W = _inverse_inertia(robot, q)
    own = np.setdiff1d(np.arange(robot.nv), free_dofs(robot.model))
    if W is None or own.size == 0:
        return None
    rough = laws.static_friction > 0.0
    stiffness = laws.kp + np.where(rough, laws.friction_stiffness, 0.0)
    damping = laws.kd + robot.joint_damping + np.where(rough, laws.friction_damping, 0.0)
    inertia = 1.0 / np.diag(W)
    lightest = int(own[np.argmin(inertia[own])])
    alone = [_largest(explicit_euler, W[i : i + 1, i : i + 1], stiffness[[i]], damping[[i]]) for i in own]
    stiffest = int(own[np.argmin(alone)]) if np.isfinite(alone).any() else lightest
    step_map = _map_of(integrator)
    largest = np.inf if step_map is None else _largest(step_map, W, stiffness, damping)
    return JointAdvice(
        joint=names_of(robot, [stiffest])[0],
        stiffness=float(stiffness[stiffest]),
        damping=float(damping[stiffest]),
        inertia=float(inertia[stiffest]),
        explicit_euler_dt=_largest(explicit_euler, W, stiffness, damping),
        stable=dt <= largest,
        largest_dt=largest,
        longest_hold=_largest(explicit_euler, W, laws.kp, laws.kd),
        lightest=names_of(robot, [lightest])[0],
        least_inertia=float(inertia[lightest]),
        dt=dt,
    )


def explicit_euler(h: float, K: Array, B: Array) -> Array:
    """Of (y, ẏ); also of a controller that holds its torque for h."""
    identity = np.eye(len(K))
    return np.block([[identity - h * h / 2.0 * K, h * identity - h * h / 2.0 * B], [-h * K, identity - h * B]])


def semi_implicit_euler(h: float, K: Array, B: Array) -> Array:
    """Position by the velocity at the end of the step."""
    identity = np.eye(len(K))
    return np.block([[identity - h * h * K, h * identity - h * h * B], [-h * K, identity - h * B]])


def runge_kutta4(h: float, K: Array, B: Array) -> Array:
    """The exponential up to its fourth power."""
    m = len(K)
    A = h * np.block([[np.zeros((m, m)), np.eye(m)], [-K, -B]])
    identity = np.eye(2 * m)
    return identity + A @ (identity + A / 2.0 @ (identity + A / 3.0 @ (identity + A / 4.0)))


def _map_of(integrator: Integrator) -> StepMap | None:
    """None for one that is stable at every step."""
    if isinstance(integrator, (Expo, ImplicitEuler)):
        return None
    if isinstance(integrator, SemiImplicitEuler):
        return semi_implicit_euler
    return runge_kutta4 if isinstance(integrator, RungeKutta4) else explicit_euler


def _largest(step_map: StepMap, W: Array, stiffness: Array, damping: Array) -> float:
    """Step [s] up to which a map is stable, by bisection; infinite where nothing holds or brakes a joint."""
    held = np.flatnonzero((stiffness > 0.0) | (damping > 0.0))
    if held.size == 0:
        return np.inf
    W = W[np.ix_(held, held)]
    with np.errstate(all="ignore"):
        K, B = W * stiffness[held], W * damping[held]
        # In a unit of time in which no entry is large, so that no product overflows.
        rate = max(float(np.sqrt(np.abs(K).max())), float(np.abs(B).max()))
        if not np.isfinite(rate):
            return 0.0
        K, B = K / rate / rate, B / rate

        def is_stable(h: float) -> bool:
            step = step_map(h, K, B)
            return bool(np.isfinite(step).all() and np.abs(np.linalg.eigvals(step)).max() <= 1.0 + 1e-9)

        low, high = 1e-6, 1e6
        if not is_stable(low):
            return 0.0
        while high / low > 1.0 + 1e-6:
            middle = float(np.sqrt(low * high))
            low, high = (middle, high) if is_stable(middle) else (low, middle)
        return low / rate


def _inverse_inertia(robot: Robot, q: Array) -> Array | None:
    model = robot.model
    M = pin.crba(model, model.createData(), q)
    M = np.triu(M) + np.triu(M, 1).T
    with np.errstate(all="ignore"):
        scale = np.sqrt(np.diag(M))  # kilograms beside gram-metres
        try:
            W = np.linalg.inv(M / scale / scale[:, None]) / scale / scale[:, None]
        except np.linalg.LinAlgError:
            return None
    return W if np.isfinite(W).all() and (np.diag(W) > 0.0).all() else None
