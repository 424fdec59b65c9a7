r"""The paper's measure of accuracy: the error that an integrator makes within one control period.

A ground truth :math:`x(t)` is simulated once, under control. Then every control period is simulated again with the
integrator and step in question, from the true state (contacts included) and with the true torques, and compared at its
end: :math:`e = \|x(t) \ominus \hat x(t)\|_\infty` over positions and velocities.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.robots.robot import Robot
from exposim.scenarios import Run, Scenario
from exposim.simulation.integrators import Integrator
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import State

# How often the contacts of a ground truth are looked at, to find out whether they change [s].
WATCHING_INTERVAL = 1.25e-4


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """States at the beginning of every control period and at the end of the last, and the torques in between.

    Args:
        states: As flat arrays, (n + 1, size of a state).
        tau: Held over each period, (n, nu).
        changes: Whether a contact landed, lifted, began or stopped to slip within each period, (n,).
    """

    states: Array
    tau: Array
    changes: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.tau)

    @property
    def t(self) -> Array:
        """Of the states [s], (n + 1,)."""
        return self.states[:, 0]

    def state(self, i: int) -> State:
        """At the beginning of period i, complete."""
        return State.from_array(self.states[i])

    def save(self, path: Path) -> None:
        """As an .npz file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, **{f.name: getattr(self, f.name) for f in fields(self)})

    @classmethod
    def load(cls, path: Path) -> GroundTruth:
        """What :meth:`save` wrote."""
        with np.load(path, allow_pickle=False) as arrays:
            return cls(**{f.name: arrays[f.name] for f in fields(cls)})


def ground_truth(
    scenario: Scenario, integrator: Integrator | str, dt: float, duration: float | None = None
) -> GroundTruth:
    """Simulates a scenario with a small step; ends early if that diverges.

    Args:
        scenario: What is simulated.
        integrator: The scheme, or its name.
        dt: Small step [s].
        duration: [s] By default the scenario's.
    """
    steps = round(scenario.control_period / dt)
    watched = max(n for n in range(1, max(1, round(WATCHING_INTERVAL / dt)) + 1) if steps % n == 0)
    run = Run(scenario, integrator, dt, duration, record_every=steps)
    sim = run.sim
    periods = run.steps // steps
    states, torques, changes = [sim.state], [], []
    for _ in range(periods):
        state = states[-1]
        tau, target = np.asarray(run.torques(state)), scenario.target_at(state.t)
        changed = False
        for _ in range(steps // watched):
            sim.step(tau, watched, target=target)
            now = sim.state
            changed |= not (np.array_equal(now.active, state.active) and np.array_equal(now.slipping, state.slipping))
            if sim.diverged:
                break
        if sim.diverged:
            break
        states.append(now)
        torques.append(tau)
        changes.append(changed)
    tau = np.array(torques).reshape(len(torques), -1)
    return GroundTruth(np.array([each.to_array() for each in states]), tau, np.array(changes, dtype=bool))


def local_errors(scenario: Scenario, integrator: Integrator | str, dt: float, truth: GroundTruth) -> Array:
    """Error of every control period of a ground truth, (n,); infinite where it diverges.

    Args:
        scenario: Whose robot, ground, collisions and targets.
        integrator: The scheme in question, or its name.
        dt: Its step [s], of which a whole number makes the control period.
        truth: Where every period begins and should end.
    """
    steps = round(scenario.control_period / dt)
    if abs(steps * dt / scenario.control_period - 1.0) > 1e-9:
        raise InvalidArgument(f"dt is {dt}, of which no whole number makes the control period")
    sim = Simulator(
        scenario.robot,
        scenario.ground,
        integrator,
        scenario.control_period / steps,
        collisions=scenario.collisions,
        on_divergence="stop",
    )
    errors = np.full(len(truth), np.inf)
    for i in range(len(truth)):
        sim.state = truth.state(i)
        sim.step(truth.tau[i], steps, target=scenario.target_at(truth.t[i]))
        if not sim.diverged:
            errors[i] = distance(scenario.robot, truth.state(i + 1), sim.state)
    return errors


def distance(robot: Robot, one: State, other: State) -> float:
    """Largest entry of the difference of two states on the manifold [m, rad, m/s, rad/s]."""
    off = pin.difference(robot.model, one.q, other.q)
    return float(max(np.abs(off).max(), np.abs(other.v - one.v).max()))


def summary(errors: Array, changes: NDArray[np.bool_]) -> dict[str, float]:
    """Mean, median and maximum over time, and the share of the sum that comes from periods with a contact change."""
    total = float(errors.sum())
    return {
        "mean": float(errors.mean()),
        "median": float(np.median(errors)),
        "max": float(errors.max()),
        "share of changes": float(errors[changes].sum() / total) if 0.0 < total < np.inf else float("nan"),
        "diverged": float(np.isinf(errors).mean()),
    }
