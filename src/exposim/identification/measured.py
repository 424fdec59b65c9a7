"""Motions as they were measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.robots.robot import Robot
from exposim.simulation.simulator import Simulator
from exposim.simulation.trajectory import Trajectory, as_trajectory

# Of an interval, by which times may be off: clocks round.
UNEVEN = 1e-3


@dataclass(frozen=True, eq=False)
class Measured:
    """A motion as sensors saw it, at equal intervals, and what the robot was given meanwhile.

    Args:
        t: Times [s], (n,).
        q: Configurations, (n, nq).
        v: Velocities, (n, nv); without, they are not compared.
        tau: Torques held from each time to the next [N·m or N], (n, nu) or (n, nv), of which the last is of no effect;
            by default none.
        target: Of drives, likewise; by default ``robot.q0``.
        target_velocity: Likewise; by default at rest.
        wrenches: External forces and torques, six numbers in world axes by frame name, (n, 6), held likewise.
    """

    t: ArrayLike
    q: ArrayLike
    v: ArrayLike | None = None
    tau: ArrayLike | None = None
    target: ArrayLike | None = None
    target_velocity: ArrayLike | None = None
    wrenches: Mapping[str, ArrayLike] = field(default_factory=dict)

    @classmethod
    def of(cls, trajectory: Trajectory) -> Measured:
        """A recorded motion, taken for a measured one."""
        drives = trajectory.target.shape[1] > 0
        acting = (k for k in range(trajectory.wrench.shape[1]) if trajectory.wrench[:, k].any())
        return cls(
            trajectory.t,
            trajectory.q,
            trajectory.v,
            trajectory.tau if trajectory.tau.shape[1] else None,
            trajectory.target if drives else None,
            trajectory.target_velocity if drives else None,
            {trajectory.columns.wrench[k]: trajectory.wrench[:, k] for k in acting},
        )


@dataclass(frozen=True, eq=False)
class Motion:
    """A measured motion after checks.

    Args:
        t: Times [s], (n,).
        q: (n, nq).
        v: (n, nv), or ``None``.
        steps: Of the simulator from time to time.
        inputs: Arrays of a row per time, as a rollout takes them, by its arguments.
        wrenches: Likewise, by frame.
        recorded: Of what was simulated, the trajectory.
    """

    t: Array
    q: Array
    v: Array | None
    steps: int
    inputs: dict[str, Array]
    wrenches: dict[str, Array]
    recorded: Trajectory | None = None

    @property
    def intervals(self) -> int:
        """From time to time."""
        return len(self.t) - 1


def motions_of(given: Any, simulator: Simulator) -> list[Motion]:
    """Of one measured motion or several.

    Raises:
        InvalidArgument: Of arrays that do not fit each other, the robot, or the simulator's step.
    """
    several = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    if not several:
        raise InvalidArgument("trajectory is an empty list; give a Trajectory or a Measured, or several")
    motions = [_checked(each, simulator, f"[{i}]" if len(several) > 1 else "") for i, each in enumerate(several)]
    wrenched = {frozenset(each.wrenches) for each in motions}
    kinds = {frozenset(each.inputs) for each in motions}
    if len(wrenched) > 1 or len(kinds) > 1:
        raise InvalidArgument("trajectories differ in what the robot is given (tau, target, wrenches); give all alike")
    if len({each.v is None for each in motions}) > 1:
        raise InvalidArgument("some trajectories have velocities and some have none; give all or none")
    return motions


def _checked(given: Any, simulator: Simulator, which: str) -> Motion:
    recorded = None
    if isinstance(given, (Trajectory, str, PathLike)):
        recorded = as_trajectory(given)
        _refuse_incomplete(recorded)
        given = Measured.of(recorded)
    if not isinstance(given, Measured):
        raise InvalidArgument(
            f"trajectory{which} is a {type(given).__name__}; give a Trajectory, or a Measured(t, q, v, tau)"
        )
    robot = simulator.robot
    t = _checks.vector(f"trajectory{which}.t", given.t)
    n = len(t)
    if n < 3:
        raise InvalidArgument(f"trajectory{which} has {n} instants; give at least three")
    q = _checks.matrix(f"trajectory{which}.q", given.q, n, robot.nq)
    v = None if given.v is None else _checks.matrix(f"trajectory{which}.v", given.v, n, robot.nv)
    inputs = {
        f"{name}s" if name != "target_velocity" else "target_velocities": _series(f"trajectory{which}.{name}", value, n)
        for name in ("tau", "target", "target_velocity")
        if (value := getattr(given, name)) is not None
    }
    wrenches = {
        frame: _checks.matrix(f"trajectory{which}.wrenches[{frame!r}]", value, n, 6)
        for frame, value in given.wrenches.items()
    }
    return Motion(t, _normalized(q, robot), v, _steps(t, simulator, which), inputs, wrenches, recorded)


def _refuse_incomplete(trajectory: Trajectory) -> None:
    if trajectory.outcome.unrecorded:
        raise InvalidArgument(f"the robot was moved by {trajectory.outcome.unrecorded}, which is not in the trajectory")


def _series(name: str, value: ArrayLike, n: int) -> Array:
    array = _checks.as_array(name, value)
    if array.ndim != 2 or len(array) != n:
        raise InvalidArgument(f"{name} has shape {array.shape}; give a row for each of the {n} times")
    return _checks.finite(name, array)


def _steps(t: Array, simulator: Simulator, which: str) -> int:
    """Of the simulator from time to time."""
    intervals = np.diff(t)
    interval = float(np.mean(intervals))
    if interval <= 0.0 or np.abs(intervals - interval).max() > UNEVEN * interval:
        raise InvalidArgument(
            f"trajectory{which}.t has intervals from {intervals.min():g} to {intervals.max():g} s; give times at equal "
            f"intervals"
        )
    steps = round(interval / simulator.dt)
    if steps < 1 or abs(steps * simulator.dt - interval) > UNEVEN * interval:
        raise InvalidArgument(
            f"trajectory{which} has an interval of {interval:g} s, no multiple of the simulator's step of "
            f"{simulator.dt:g} s; give Simulator(dt={interval:g}), or a part of it"
        )
    return steps


def _normalized(q: Array, robot: Robot) -> Array:
    """With quaternions of length one, which noise makes others of."""
    return np.stack([pin.normalize(robot._model, each) for each in q])
