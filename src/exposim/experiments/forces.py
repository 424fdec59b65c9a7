r"""Contact forces: predicted over 20 ms, jumping at touchdown, and on the friction cone when slipping starts.

The paper's figures of force prediction and of normal forces, and its claim that :math:`\dot p_0^t - \dot p^t` of a
slipping contact decays at the rate K/B, on which it rests setting :math:`\dot p_0^t = \dot p^t` at once.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from exposim import scenarios
from exposim.contact.surfaces import HalfSpace
from exposim.experiments import force_figures
from exposim.experiments.cells import Cell, Notebook, Rows
from exposim.experiments.slipping import slip_by_continuous_law, slip_in_simulator
from exposim.experiments.variants import AVERAGED, OURS, SCENARIOS, VARIANTS
from exposim.robots.loading import load_robot
from exposim.scenarios import Scenario
from exposim.simulation.integrators import ExplicitEuler, Expo, Integrator, RungeKutta4
from exposim.simulation.simulator import Simulator

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
GRAVITY = 9.81


def phases(chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> list[list[Cell]]:
    """All at once."""
    return [[cell for cells in _cells(chosen, quick).values() for cell in cells]]


def tables(notebook: Notebook, chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> dict[str, pd.DataFrame]:
    """``force_prediction``, ``force_jump``, ``touchdown``, ``foot_force`` and ``slip_decay``."""
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


def _cells(chosen: tuple[str, ...], quick: bool) -> dict[str, list[Cell]]:
    """By the name of the table that they make."""
    squat = SQUAT in chosen
    speeds = SPEEDS[::2] if quick else SPEEDS
    shown = {TROT: (1.3, 1.8), WALK: (0.7, 1.9)} if quick else SHOWN
    return {
        "force_prediction": [Cell(f"{HERE}:prediction", {"case": case, "dt": FINE}) for case in IMPACTS if squat],
        "force_jump": [Cell(f"{HERE}:jump", {"speed": speed, "dt": dt}) for speed in speeds for dt in JUMP_STEPS],
        "touchdown": [Cell(f"{HERE}:touchdown", {"speed": speed, "dt": JUMP_STEPS[-1]}) for speed in speeds],
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
