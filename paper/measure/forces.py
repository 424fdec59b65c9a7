"""Forces predicted, at touchdown, through a motion, and of a slipping contact: see :mod:`paper.experiments.forces`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from exposim import scenarios
from exposim.contact.surfaces import HalfSpace
from exposim.robots.loading import load_robot
from exposim.scenarios import Scenario
from exposim.simulation.integrators import ExplicitEuler, Expo, Integrator, RungeKutta4
from exposim.simulation.simulator import Simulator
from paper.cell import Rows
from paper.measure.slipping import slip_by_continuous_law, slip_in_simulator
from paper.measure.variants import AVERAGED, OURS, VARIANTS

HERE = "paper.measure.forces"
SQUAT, TROT, WALK = "solo-squat", "solo-trot", "romeo-walk"
HORIZON = 0.02  # [s] of the prediction
IMPACTS = {"impact at 0.1 m/s": 0.1, "at rest": 0.0}  # [m/s] downwards
JUMP_STEPS = (1e-3 / 2048, 1e-3 / 4, 1e-3)  # [s]
GRAVITY = 9.81


def prediction(case: str, dt: float, folder: Path) -> Rows:
    """Normal forces at the start of the squat, feet just touching: predicted at once, and simulated."""
    setting = scenarios.get(SQUAT)
    robot = setting.robot
    v = np.zeros(robot.nv)
    v[2] = -IMPACTS[case]
    sim = Simulator(robot, setting.ground, RungeKutta4(), dt)
    sim.reset(robot.q0, v)
    assert setting.make_controller is not None
    tau = setting.make_controller()(0.0, sim.state)
    every = max(1, round(1e-4 / dt))
    times = dt * every * np.arange(round(HORIZON / (dt * every)) + 1)
    predicted = sim.predict_forces(times, tau)[:, :, 2]
    rows: Rows = []
    for k, t in enumerate(times):
        if k > 0:
            sim.step(tau, every)
        for foot, force in zip(sim.contacts, predicted[k], strict=True):
            true = float(foot.force[2])
            rows.append({"case": case, "t": float(t), "foot": foot.name, "predicted": float(force), "true": true})
    return rows


def jump(speed: float, dt: float, folder: Path) -> Rows:
    """Normal force of each foot of Solo at the first instant at which the averaged Expo finds it on the ground.

    The feet start 1 nm above it, so that a whole step passes before the touchdown is noticed: ``latest`` is what that
    makes of the jump.
    """
    sim = _landing(speed, VARIANTS[AVERAGED], dt)
    while not all(contact.active for contact in sim.contacts):
        sim.step()
    material = HalfSpace().material
    K, B = (float(np.ravel(value)[0]) for value in (material.stiffness, material.damping))
    return [
        {
            "speed": speed,
            "dt": dt,
            "foot": contact.name,
            "force": float(contact.force[2]),
            "theory": B * speed,
            "latest": B * (speed + GRAVITY * dt) + K * (speed * dt + GRAVITY * dt**2 / 2),
        }
        for contact in sim.contacts
    ]


def touchdown(speed: float, dt: float, folder: Path) -> Rows:
    """Normal force of each foot dt after it touches: of one step of ours, of one of the paper's method, and truly.

    Ours lands within the step. In the paper's method the foot falls freely to its end.
    """

    def forces(integrator: Integrator, step: float) -> list[float]:
        sim = _landing(speed, integrator, step)
        sim.step(n=round(dt / step))
        return [float(contact.force[2]) for contact in sim.contacts]

    true = forces(ExplicitEuler(), JUMP_STEPS[0])
    feet = load_robot("solo12").feet
    return [
        {"speed": speed, "dt": dt, "variant": label, "foot": foot, "force": force, "true": exact}
        for label in (OURS, AVERAGED)
        for foot, force, exact in zip(feet, forces(VARIANTS[label], dt), true, strict=True)
    ]


def foot_force(scenario: str, start: float, end: float, dt: float, every: int, folder: Path) -> Rows:
    """Normal forces through a motion: of one foot of the trot; of the soles of the walk, and of one corner of each."""
    setting = scenarios.get(scenario)
    trajectory = setting.run(Expo(), dt, end, record_every=every)
    normal = trajectory.force[:, :, 2]
    rows: Rows = []
    for name, contacts in _shown_contacts(setting).items():
        columns = [trajectory.contact_names.index(contact) for contact in contacts]
        for t, force in zip(trajectory.t, normal[:, columns].sum(axis=1), strict=True):
            if t >= start:
                rows.append({"scenario": scenario, "contact": name, "t": float(t), "normal": float(force)})
    return rows


def slip_decay(stiffness: float, damping: float, duration: float, dt: float, folder: Path) -> Rows:
    """A block pushed harder than friction holds: anchor velocity minus point velocity, from where it starts to slip."""
    rows: Rows = []
    for law, run in (("continuous law", slip_by_continuous_law), ("exposim", slip_in_simulator)):
        t, difference = run(stiffness, damping, duration, dt)
        rows += [
            {
                "law": law,
                "K": stiffness,
                "B": damping,
                "K/B": stiffness / damping,
                "t": float(t[i]),
                "difference": float(difference[i]),
                "fraction": float(difference[i] / difference[0]),
            }
            for i in range(0, len(t), max(1, round(1e-4 / dt)))
        ]
    return rows


def _landing(speed: float, integrator: Integrator, dt: float) -> Simulator:
    """Solo, the feet 1 nm above the ground, falling."""
    robot = load_robot("solo12")
    sim = Simulator(robot, HalfSpace(), integrator, dt)
    lowest = min(contact.position[2] for contact in sim.contacts)
    q, v = robot.q0, np.zeros(robot.nv)
    q[2] += 1e-9 - lowest
    v[2] = -speed
    sim.reset(q, v)
    return sim


def _shown_contacts(setting: Scenario) -> dict[str, list[str]]:
    """Names of what is shown, and which contacts make it up."""
    feet = setting.robot.feet
    if setting.name != WALK:
        return {feet[0]: [feet[0]]}
    points = setting.robot.contact_points
    soles = {side: [p.name for p in points if p.frame == f"{side[0].upper()}AnkleRoll"] for side in ("left", "right")}
    return {f"{side} sole": names for side, names in soles.items()} | {
        f"{side} sole, one corner": names[:1] for side, names in soles.items()
    }
