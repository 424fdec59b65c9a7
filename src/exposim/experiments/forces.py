r"""Contact forces: predicted over 20 ms, jumping at touchdown, and on the friction cone when slipping starts.

The paper's figures of force prediction and of normal forces, and its claim that :math:`\dot p_0^t - \dot p^t` of a
slipping contact decays at the rate K/B, on which it rests setting :math:`\dot p_0^t = \dot p^t` at once.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from exposim import scenarios
from exposim._checks import Array
from exposim.experiments import force_figures
from exposim.experiments.cells import Cell, Notebook, Rows
from exposim.experiments.variants import SCENARIOS
from exposim.ground import HalfSpace, Material
from exposim.integrators import Expo, RungeKutta4
from exposim.robot import ContactPoint, Robot
from exposim.robots import load_robot
from exposim.scenarios import Scenario
from exposim.simulator import Simulator

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

HERE = "exposim.experiments.forces"
SQUAT, TROT, WALK = "solo-squat", "solo-trot", "romeo-walk"
HORIZON = 0.02  # [s] of the prediction
FINE = 1e-3 / 256  # [s] step of what counts as true
IMPACTS = {"impact at 0.1 m/s": 0.1, "at rest": 0.0}  # [m/s] downwards
SPEEDS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # [m/s] of feet that land
JUMP_STEPS = (1e-3 / 2048, 1e-3 / 4, 1e-3)  # [s]
# Which part of a motion is shown [s], and how finely it is simulated and kept.
SHOWN = {TROT: (1.3, 2.5), WALK: (0.5, 3.5)}
FORCE_STEP = 1e-3 / 8
KEPT = {TROT: 1, WALK: 4}  # of so many steps one
# Stiffness and damping of slipping contacts: the paper's K/B = 1000/s, and that of the default material.
SLIPPING = ((1e5, 100.0), (1e5, 300.0))
MASS, MU, GRAVITY = 2.0, 1.0, 9.81
PUSH = 2.0  # horizontal force over the greatest friction force


def phases(chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> list[list[Cell]]:
    """All at once."""
    return [[cell for cells in _cells(chosen, quick).values() for cell in cells]]


def tables(notebook: Notebook, chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> dict[str, pd.DataFrame]:
    """``force_prediction``, ``force_jump``, ``foot_force`` and ``slip_decay``."""
    pd = importlib.import_module("pandas")  # slow to import
    return {name: pd.DataFrame(notebook.rows(cells)) for name, cells in _cells(chosen, quick).items()}


def figures(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """One per table."""
    return force_figures.figures(tables)


# Cells.


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
    """Normal force of each foot of Solo at the first instant at which it is found on the ground.

    The feet start 1 nm above it, so that a whole step passes before the touchdown is noticed: ``latest`` is what that
    makes of the jump.
    """
    robot = load_robot("solo12")
    ground = HalfSpace()
    sim = Simulator(robot, ground, Expo(transitions="averaged"), dt)
    lowest = min(contact.position[2] for contact in sim.contacts)
    q, v = robot.q0, np.zeros(robot.nv)
    q[2] += 1e-9 - lowest
    v[2] = -speed
    sim.reset(q, v)
    while not all(contact.active for contact in sim.contacts):
        sim.step()
    K, B = (float(np.ravel(value)[0]) for value in (ground.material.stiffness, ground.material.damping))
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


def slip_by_continuous_law(stiffness: float, damping: float, duration: float, dt: float) -> tuple[Array, Array]:
    """Time since slipping starts [s], and anchor minus point velocity [m/s], by the differential equations.

    While it sticks the anchor rests; while it slips the anchor moves so that the force stays on the cone:
    K (p₀ − p) + B (ṗ₀ − ṗ) = −μλ_n, which gives ṗ₀. Classical Runge-Kutta.
    """
    limit = MU * MASS * GRAVITY
    push = PUSH * limit

    def trial(x: Array) -> float:
        return float(stiffness * (x[2] - x[0]) - damping * x[1])

    def anchor_velocity(x: Array) -> float:
        return float(x[1] + (-limit - stiffness * (x[2] - x[0])) / damping)

    def sticking(x: Array) -> Array:
        return np.array([x[1], (push + trial(x)) / MASS, 0.0])

    def slipping(x: Array) -> Array:
        return np.array([x[1], (push - limit) / MASS, anchor_velocity(x)])

    x = np.zeros(3)  # position and velocity of the point, position of the anchor
    while trial(after := _runge_kutta(sticking, x, dt)) > -limit:
        x = after
    x = _runge_kutta(sticking, x, dt * (trial(x) + limit) / (trial(x) - trial(after)))  # just onto the cone
    steps = round(duration / dt)
    difference = np.zeros(steps + 1)
    for k in range(steps + 1):
        difference[k] = anchor_velocity(x) - x[1]
        x = _runge_kutta(slipping, x, dt)
    return dt * np.arange(steps + 1.0), difference


def slip_in_simulator(stiffness: float, damping: float, duration: float, dt: float) -> tuple[Array, Array]:
    """The same of the simulator, with a step so small that only the law matters; first the last instant that sticks."""
    robot = _block()
    ground = HalfSpace(Material(stiffness, damping, MU))
    sim = Simulator(robot, ground, Expo(), dt)
    weight = MASS * GRAVITY
    sim.reset([0.0, 0.0, -weight / stiffness])
    push = [PUSH * MU * weight, 0.0, 0.0]
    before = 0.0
    while not sim.contacts[0].slipping:
        before = -float(sim.v[0])  # the anchor of a sticking contact rests
        sim.step(push)
    steps = round(duration / dt)
    difference = np.full(steps + 1, before)
    for k in range(1, steps + 1):
        difference[k] = sim.state.dp0[0, 0] - sim.v[0]
        sim.step(push)
    return dt * np.arange(steps + 1.0), difference


def _block() -> Robot:
    """A mass that moves along three axes, with one contact point."""
    model = pin.Model()
    model.name = "block"
    joint = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "translation")
    model.appendBodyToJoint(joint, pin.Inertia(MASS, np.zeros(3), 1e-3 * np.eye(3)), pin.SE3.Identity())
    model.addFrame(pin.Frame("tip", joint, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    return load_robot(model, contact_points=[ContactPoint("tip")])


def _runge_kutta(f: Any, x: Array, dt: float) -> Array:
    k1 = f(x)
    k2 = f(x + dt / 2 * k1)
    k3 = f(x + dt / 2 * k2)
    k4 = f(x + dt * k3)
    moved: Array = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return moved


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


def _cells(chosen: tuple[str, ...], quick: bool) -> dict[str, list[Cell]]:
    """By the name of the table that they make."""
    squat = SQUAT in chosen
    shown = {TROT: (1.3, 1.8), WALK: (0.7, 1.9)} if quick else SHOWN
    return {
        "force_prediction": [Cell(f"{HERE}:prediction", {"case": case, "dt": FINE}) for case in IMPACTS if squat],
        "force_jump": [
            Cell(f"{HERE}:jump", {"speed": speed, "dt": dt})
            for speed in (SPEEDS[::2] if quick else SPEEDS)
            for dt in JUMP_STEPS
        ],
        "foot_force": [
            Cell(
                f"{HERE}:foot_force",
                {"scenario": name, "start": shown[name][0], "end": shown[name][1]}
                | {"dt": FORCE_STEP, "every": KEPT[name]},
            )
            for name in (TROT, WALK)
            if name in chosen
        ],
        "slip_decay": [
            Cell(f"{HERE}:slip_decay", {"stiffness": K, "damping": B, "duration": 0.012, "dt": 1e-5})
            for K, B in SLIPPING
        ],
    }
