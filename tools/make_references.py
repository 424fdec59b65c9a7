"""Makes the reference motions of Solo12 by optimal control: python tools/make_references.py [jump] [trot].

Each motion is a list of stages, one per knot: which feet stand, where the others and the base should be. Crocoddyl
finds the cheapest motion of the robot on rigid ground and, with it, the Riccati gains that keep a robot on it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import crocoddyl
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

import exposim as xs
from exposim.controllers.linear_feedback import Reference

Array = NDArray[np.float64]

TARGET = Path(__file__).parents[1] / "src" / "exposim" / "scenarios" / "references"
WORLD_AXES = pin.LOCAL_WORLD_ALIGNED

KNOT = 0.01  # [s] from knot to knot: the jump's control period; the trot is followed at 2 ms, between knots
FRICTION = 0.6  # planned with less than the ground has
LEAST_FORCE = 0.3  # [N] of a standing foot
CONTACT_DAMPING = 50.0  # [1/s] how fast what is left of a foot's velocity dies out once it stands
DIAGONALS = (("FL_FOOT", "HR_FOOT"), ("FR_FOOT", "HL_FOOT"))

# How far the end of a trot cycle may be from its start [m and rad, m/s and rad/s].
SEAM = (1e-3, 1e-2)


@dataclass(frozen=True)
class Weights:
    """Of squared deviations; the stiffness of the feedback grows with the square root of a weight over `torque`."""

    base: tuple[float, ...] = (10.0, 10.0, 100.0, 100.0, 100.0, 30.0)  # x, y, z, roll, pitch, yaw
    base_velocity: float = 1.0
    joints: float = 1.0
    joint_velocity: float = 0.01
    torque: float = 1.0
    friction: float = 10.0
    swing: float = 1e4  # position of a foot in the air
    landing: float = 1e4  # velocity of a foot at the knot where it touches down
    place: float = 1e6  # position of a foot there


@dataclass(frozen=True)
class Stage:
    """What is wanted from one knot to the next."""

    x: Array  # state to be near: q, v
    stance: frozenset[str]
    swing: Mapping[str, Array] = field(default_factory=dict)  # feet in the air, and where they should be
    landing: Mapping[str, Array] = field(default_factory=dict)  # feet that just came down, and where


class Planner:
    """Turns stages into an optimal control problem, and its solution into a reference."""

    def __init__(self, robot: xs.Robot, weights: Weights):
        self.robot, self.model, self.weights = robot, robot.model, weights
        self.state = crocoddyl.StateMultibody(self.model)
        self.actuation = crocoddyl.ActuationModelFloatingBase(self.state)
        self.nu = self.actuation.nu
        self.x0 = np.concatenate([robot.q0, np.zeros(robot.nv)])
        data = self.model.createData()
        pin.framesForwardKinematics(self.model, data, robot.q0)
        self.feet = {foot: data.oMf[self.model.getFrameId(foot)].translation.copy() for foot in robot.feet}

    @cached_property
    def standing_torque(self) -> Array:
        """Torques that carry the weight at q0, shared evenly by the feet."""
        model, data, q = self.model, self.model.createData(), self.robot.q0
        g = pin.computeGeneralizedGravity(model, data, q)
        frames = [model.getFrameId(foot) for foot in self.feet]
        J = np.vstack([pin.computeFrameJacobian(model, data, q, frame, WORLD_AXES)[:3] for frame in frames])
        lam = np.linalg.lstsq(J[:, :6].T, g[:6], rcond=None)[0]
        torque: Array = (g - J.T @ lam)[6:]
        return torque

    def solve(self, stages: list[Stage]) -> crocoddyl.SolverFDDP:
        """The cheapest motion; ends the program if there is none."""
        actions = [self._action(stage) for stage in stages]
        solver = crocoddyl.SolverFDDP(crocoddyl.ShootingProblem(self.x0, actions[:-1], actions[-1]))
        solver.setCallbacks([crocoddyl.CallbackVerbose()])
        solver.th_stop = 1e-7
        guess = [self.x0] + [stage.x for stage in stages[1:]]
        solved = solver.solve(guess, [self.standing_torque] * (len(stages) - 1), 300, False)
        print(f"cost {solver.cost:.6g}, {solver.iter} iterations, converged: {solved}, feasible: {solver.isFeasible}")
        if not (solved and solver.isFeasible):
            sys.exit("the solver did not converge: change the weights or the timing of this motion")
        # The last iteration may have been regularised, which softens the gains.
        solver.preg = solver.dreg = 1e-12
        solver.computeDirection(True)
        return solver

    def reference(self, solver: crocoddyl.SolverFDDP, intervals: int, cycle: int | None = None) -> Reference:
        """The beginning of the solution; what comes after only made sure that it does not end abruptly."""
        x, u = np.array(solver.xs[: intervals + 1]), np.array(solver.us[:intervals])
        # Three digits are enough for a gain, and make a small file.
        gains = np.array(solver.K[:intervals]).astype(np.float16).astype(float)
        nq = self.robot.nq
        return Reference(KNOT * np.arange(intervals + 1), x[:, :nq], x[:, nq:], u, gains, cycle)

    def _action(self, stage: Stage) -> crocoddyl.ActionModelAbstract:
        contacts = crocoddyl.ContactModelMultiple(self.state, self.nu)
        for foot in sorted(stage.stance):
            # Damping without stiffness: a foot stays where it came down, not where it was meant to.
            gains = np.array([0.0, CONTACT_DAMPING])
            frame = self.model.getFrameId(foot)
            contact = crocoddyl.ContactModel3D(self.state, frame, np.zeros(3), WORLD_AXES, self.nu, gains)
            contacts.addContact(foot, contact)
        dynamics = crocoddyl.DifferentialActionModelContactFwdDynamics(
            self.state, self.actuation, contacts, self._costs(stage), 0.0, True
        )
        # Fourth order, because a foot that lands softly in Euler's eyes hits the ground in reality.
        return crocoddyl.IntegratedActionModelRK(dynamics, crocoddyl.RKType.four, KNOT)

    def _costs(self, stage: Stage) -> crocoddyl.CostModelSum:
        state, nu, w = self.state, self.nu, self.weights
        costs = crocoddyl.CostModelSum(state, nu)

        def add(name: str, weight: float, residual: Any, activation: Any = None) -> None:
            activation = crocoddyl.ActivationModelQuad(residual.nr) if activation is None else activation
            costs.addCost(name, crocoddyl.CostModelResidual(state, activation, residual), weight)

        n = self.robot.nv - 6
        entries = [*w.base, *[w.joints] * n, *[w.base_velocity] * 6, *[w.joint_velocity] * n]
        near = crocoddyl.ActivationModelWeightedQuad(np.array(entries))
        add("state", 1.0, crocoddyl.ResidualModelState(state, stage.x, nu), near)
        add("torque", w.torque, crocoddyl.ResidualModelControl(state, self.standing_torque))
        for foot in sorted(stage.stance):
            cone = crocoddyl.FrictionCone(np.eye(3), FRICTION, 4, False, LEAST_FORCE)
            inside = crocoddyl.ActivationModelQuadraticBarrier(crocoddyl.ActivationBounds(cone.lb, cone.ub))
            frame = self.model.getFrameId(foot)
            residual = crocoddyl.ResidualModelContactFrictionCone(state, frame, cone, nu, True)
            add(f"{foot} friction", w.friction, residual, inside)
        for foot, p in stage.swing.items():
            residual = crocoddyl.ResidualModelFrameTranslation(state, self.model.getFrameId(foot), p, nu)
            add(f"{foot} swing", w.swing, residual)
        for foot, p in stage.landing.items():
            frame = self.model.getFrameId(foot)
            add(f"{foot} place", w.place, crocoddyl.ResidualModelFrameTranslation(state, frame, p, nu))
            residual = crocoddyl.ResidualModelFrameVelocity(state, frame, pin.Motion.Zero(), WORLD_AXES, nu)
            linear = crocoddyl.ActivationModelWeightedQuad(np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]))
            add(f"{foot} landing", w.landing, residual, linear)
        return costs


def lift(s: float) -> float:
    """Height of a foot over a swing, s from 0 to 1, at most 1: up quickly, down softly."""
    top = 0.4
    return (s / top) ** 2 * ((1.0 - s) / (1.0 - top)) ** 3


def jump(robot: xs.Robot) -> Reference:
    """Crouch, push off, fly with all feet off the ground, land softly, stand."""
    push, flight, stand, beyond = 50, 30, 80, 60  # knots
    clearance, rise = 0.08, 0.15  # [m] of the feet; of the base, as a first guess: the time of flight decides
    planner = Planner(robot, Weights(torque=3.0, joint_velocity=0.003, swing=4e3, place=4e5))
    x0, feet = planner.x0, planner.feet
    all_feet = frozenset(feet)
    stages = [Stage(x0, all_feet)] * push
    for s in (np.arange(flight) + 1.0) / flight:
        x = x0.copy()
        x[2] += rise * 4.0 * s * (1.0 - s)
        up = np.array([0.0, 0.0, clearance * lift(s)])
        stages.append(Stage(x, frozenset(), {foot: p + up for foot, p in feet.items()}))
    stages.append(Stage(x0, all_feet, landing=feet))
    stages += [Stage(x0, all_feet)] * (stand + beyond)
    return planner.reference(planner.solve(stages), push + flight + stand)


def trot(robot: xs.Robot) -> Reference:
    """From standing into a trot that repeats for ever."""
    stand, swing, both = 10, 16, 4  # knots: at the start; one pair of feet in the air; all feet down in between
    half = swing + both
    before, beyond = 3, 4  # cycles up to the one that repeats, and after it: they make it independent of the ends
    speed, clearance = 0.3, 0.045  # [m/s], [m]
    planner = Planner(robot, Weights())
    all_feet = frozenset(planner.feet)

    def travelled(knot: float) -> float:
        """Way of the base [m]: the speed grows over the first cycle."""
        t, ramp = max(0.0, (knot - stand) * KNOT), 2 * half * KNOT
        return speed * (0.5 * t * t / ramp if t < ramp else t - ramp / 2)

    def wanted(knot: int) -> Array:
        x = planner.x0.copy()
        x[0] += travelled(knot)
        x[robot.nq] = (travelled(knot + 0.5) - travelled(knot - 0.5)) / KNOT
        return x

    stages = [Stage(wanted(knot), all_feet) for knot in range(stand)]
    feet = dict(planner.feet)
    for step in range(2 * (before + 1 + beyond)):
        pair, start = DIAGONALS[step % 2], len(stages)
        # A foot comes down where the hip will be in the middle of its stance.
        ahead = np.array([travelled(start + swing + (both + half) / 2), 0.0, 0.0])
        goals = {foot: planner.feet[foot] + ahead for foot in pair}
        for i in range(swing):
            s = i / swing
            along, up = s - np.sin(2 * np.pi * s) / (2 * np.pi), np.array([0.0, 0.0, clearance * lift(s)])
            air = {foot: feet[foot] + along * (goals[foot] - feet[foot]) + up for foot in pair}
            stages.append(Stage(wanted(start + i), all_feet - set(pair), air))
        stages.append(Stage(wanted(start + swing), all_feet, landing=goals))
        stages += [Stage(wanted(start + i), all_feet) for i in range(swing + 1, half)]
        feet.update(goals)
    cycle = stand + 2 * half * before
    reference = planner.reference(planner.solve(stages), cycle + 2 * half, cycle)
    check_seam(robot, reference)
    return reference


def check_seam(robot: xs.Robot, reference: Reference) -> None:
    """Ends the program if the end of the cycle is not its start again, moved on along x."""
    start, end = reference.q[reference.cycle].copy(), reference.q[-1]
    way = end[0] - start[0]
    start[0] = end[0]
    position = np.abs(pin.difference(robot.model, start, end)).max()
    velocity = np.abs(reference.v[-1] - reference.v[reference.cycle]).max()
    print(f"a cycle of {reference.period:.3g} s and {way:.5f} m; mismatch {position:.2g}, velocity {velocity:.2g}")
    if position > SEAM[0] or velocity > SEAM[1]:
        sys.exit("the cycle does not close: plan more cycles before and beyond it")


MOTIONS: dict[str, Callable[[xs.Robot], Reference]] = {"jump": jump, "trot": trot}


def main() -> None:
    """Makes the motions named, or all."""
    parser = argparse.ArgumentParser(description="Makes the reference motions of Solo12 by optimal control.")
    parser.add_argument("motion", nargs="*", help=f"{' or '.join(MOTIONS)}; by default all")
    names = parser.parse_args().motion or list(MOTIONS)
    if unknown := [name for name in names if name not in MOTIONS]:
        parser.error(f"there is no motion {unknown[0]!r}; give {' or '.join(MOTIONS)}")
    robot = xs.load_robot("solo12")
    TARGET.mkdir(exist_ok=True)
    for name in names:
        print(f"{name}:")
        reference = MOTIONS[name](robot)
        path = TARGET / f"solo_{name}.npz"
        reference.save(path)
        torque = np.abs(reference.u).max()
        print(f"wrote {path}: {reference.duration:g} s, at most {torque:.2g} N·m, {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
