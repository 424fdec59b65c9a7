"""Time per step of every integrator and kernel, beside explicit Euler and beside the floor of bare Pinocchio calls.

    python benchmarks/step.py [solo12-4 solo12-2 romeo-8] [--repeats 41] [--save now.json] [--compare before.json]

All take one step of 1 ms from the same recorded states of a robot that has just been dropped: contacts slip and leave
in nearly all of them, and Expo resolves that (`exposim reproduce timing` has the mean over a real motion). A figure is
the median over interleaved
repeats of the mean over the states; ratios are taken within one run, because machines are noisy. The *floor* is the sum
of bare Pinocchio calls, timed from C++ in the same process: for explicit Euler forwardKinematics, contact frames and
Jacobians, aba, integrate; for Expo crba, nonLinearEffects, contact Jacobians, Cholesky, solve for Jᵀ, integrate. With
`pip install mujoco`, a step of MuJoCo 4 on the same robot is timed beside them (benchmarks/rival.py).
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import exposim as xs
from exposim import _bench

try:
    from rival import INTEGRATORS as RIVALS
    from rival import MujocoSteps
except ModuleNotFoundError:  # MuJoCo is not installed: its rows are left out
    RIVALS = {}

DT = 1e-3
SCHEMES: dict[str, xs.Integrator] = {
    "explicit Euler": xs.ExplicitEuler(),
    "semi-implicit Euler": xs.SemiImplicitEuler(),
    "RK4": xs.RungeKutta4(),
    "implicit Euler": xs.ImplicitEuler(),
    # The paper's method with each of its kernels, then ours.
    **{f"Expo, Padé {degree}": xs.PaperExpo(kernel=xs.Pade(degree)) for degree in (1, 2, 3, 5, 7)},
    "Expo, exponential": xs.PaperExpo(kernel="expm"),
    "Expo, not balanced": xs.PaperExpo(kernel="expm", balance=False),
    "Expo, averaged": xs.PaperExpo(),
    "Expo, order 1": xs.Expo(order=1),
    "Expo": xs.Expo(),
}
FLOORS = {"floor of explicit Euler": 0, "floor of Expo": 1}

# What must hold in one run: (name, value from the medians of a scene, scenes, bar).
BARS = [
    ("explicit Euler / its floor", lambda m: m["explicit Euler"] / m["floor of explicit Euler"], None, 1.4),
    ("RK4 / explicit Euler", lambda m: m["RK4"] / m["explicit Euler"], None, 4.5),
    (
        "implicit Euler per Newton iteration / explicit Euler",
        lambda m: m["implicit Euler, per iteration"] / m["explicit Euler"],
        ("solo12-4", "solo12-2"),
        10.0,
    ),
    ("Expo, Padé 1 / explicit Euler", lambda m: m["Expo, Padé 1"] / m["explicit Euler"], ("solo12-2",), 4.3),
    ("Expo, exponential / explicit Euler", lambda m: m["Expo, exponential"] / m["explicit Euler"], ("solo12-2",), 8.0),
    ("Expo, averaged / explicit Euler", lambda m: m["Expo, averaged"] / m["explicit Euler"], ("solo12-2",), 2.2),
    (
        "Expo, averaged / explicit Euler",
        lambda m: m["Expo, averaged"] / m["explicit Euler"],
        ("solo12-4", "romeo-8"),
        2.8,
    ),
    (
        "Expo, averaged / MuJoCo's discrete integrator",
        lambda m: m["Expo, averaged"] / m.get("MuJoCo, discrete", np.nan),
        ("solo12-4", "romeo-8"),
        1.0,
    ),
    ("a step from Python above one within n=1000 [µs]", lambda m: 1e6 * m["call from Python"], ("solo12-4",), 2.0),
]


def record(scene: str, count: int = 60) -> tuple[xs.Robot, list[xs.State]]:
    """States of a moving robot with just the feet down that the scene's name says."""
    name, down = scene.split("-")
    robot = xs.load_robot(name)
    posture = robot.q0
    if scene == "solo12-2":  # lift a diagonal pair
        for knee in ("FR_KFE", "HL_KFE"):
            i = robot.model.joints[robot.model.getJointId(knee)].idx_q
            posture[i] *= 1.15
    sim = xs.Simulator(robot, xs.HalfSpace(), xs.Expo(), dt=2e-4)
    rng = np.random.default_rng(0)
    states: list[xs.State] = []
    while len(states) < count:
        q = posture.copy()
        q[7:] += 2e-3 * rng.standard_normal(robot.nq - 7)
        sim.reset(q)
        lowest = sorted(c.position[2] for c in sim.contacts)
        q[2] -= lowest[int(down) - 1] + 2e-4
        sim.reset(q, 0.02 * rng.standard_normal(robot.nv))
        sim.step(n=3)
        if sim.state.active.sum() == int(down):
            states.append(sim.state)
    return robot, states


def measure(scene: str, repeats: int, progress: Progress) -> dict[str, float]:
    """Medians over interleaved repeats [s]."""
    robot, states = record(scene)
    packed = np.array([state.to_array() for state in states])
    tau = np.zeros(robot.nv)
    sims = {name: xs.Simulator(robot, xs.HalfSpace(), scheme, DT)._core for name, scheme in SCHEMES.items()}
    rivals = {name: MujocoSteps(robot, integrator, DT) for name, integrator in RIVALS.items()}
    names = [*SCHEMES, *FLOORS, "implicit Euler, per iteration", *rivals]
    samples: dict[str, list[float]] = {name: [] for name in names}
    for _ in progress.track(range(repeats), description=scene):
        for name, sim in sims.items():
            seconds, iterations = sim.time_steps(packed, tau)
            samples[name].append(statistics.mean(seconds))
            if name == "implicit Euler":
                samples["implicit Euler, per iteration"].append(sum(seconds) / max(1, sum(iterations)))
        for name, rival in rivals.items():
            samples[name].append(rival.time()[0])
        floors = _bench.time_floor(sims["Expo, exponential"], packed)
        for name, i in FLOORS.items():
            samples[name].append(statistics.mean(floors[i]))
    medians = {name: statistics.median(values) for name, values in samples.items()}
    medians["call from Python"] = measure_call(robot, states[0], repeats)
    return medians


def measure_call(robot: xs.Robot, state: xs.State, repeats: int) -> float:
    """What sim.step(tau) costs above a step inside sim.step(tau, n=1000) [s]."""
    sim = xs.Simulator(robot, xs.HalfSpace(), xs.ExplicitEuler(), 1e-7)
    tau = np.zeros(robot.nv)
    differences = []
    for _ in range(repeats):
        sim.state = state
        start = perf_counter()
        for _ in range(1000):
            sim.step(tau)
        outside = perf_counter() - start
        sim.state = state
        start = perf_counter()
        sim.step(tau, n=1000)
        differences.append((outside - (perf_counter() - start)) / 1000)
    return statistics.median(differences)


def table_of(scene: str, medians: dict[str, float], before: dict[str, float] | None) -> Table:
    table = Table(title=f"{scene}: one step of {1e3 * DT:g} ms", title_justify="left")
    table.add_column("")
    for column in ("µs", "/ explicit Euler", "/ its floor", *(["before"] if before else [])):
        table.add_column(column, justify="right")
    euler = medians["explicit Euler"]
    for name, seconds in medians.items():
        expo = name.startswith("Expo")
        explicit = name in ("explicit Euler", "semi-implicit Euler")
        floor = medians["floor of Expo" if expo else "floor of explicit Euler"] if expo or explicit else None
        row = [name, f"{1e6 * seconds:.2f}", f"{seconds / euler:.2f}", f"{seconds / floor:.2f}" if floor else ""]
        if before:  # ratios to explicit Euler of either run: absolute times do not compare
            row.append(f"{before[name] / before['explicit Euler']:.2f}" if name in before else "–")
        table.add_row(*row)
    return table


def bars_of(results: dict[str, dict[str, float]]) -> Table:
    table = Table(title="Bars", title_justify="left")
    for column in ("what", "scene", "found", "bar", ""):
        table.add_column(column, justify="right" if column in ("found", "bar") else "left")
    for name, value, scenes, bar in BARS:
        for scene, medians in results.items():
            if scenes is None or scene in scenes:
                found = value(medians)
                verdict = "not measured" if np.isnan(found) else "met" if found <= bar else "[red]missed"
                table.add_row(name, scene, f"{found:.2f}", f"≤ {bar:g}", verdict)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", default=["solo12-4", "solo12-2", "romeo-8"])
    parser.add_argument("--repeats", type=int, default=41)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--compare", type=Path)
    arguments = parser.parse_args()

    warnings.simplefilter("ignore", xs.ModelWarning)
    before = json.loads(arguments.compare.read_text())["seconds"] if arguments.compare else {}
    console = Console(width=100)
    results = {}
    with Progress(console=console, transient=True) as progress:
        for scene in arguments.scenes:
            results[scene] = measure(scene, arguments.repeats, progress)
    for scene, medians in results.items():
        console.print(table_of(scene, medians, before.get(scene)))
    console.print(bars_of(results))
    if arguments.save:
        about = {"version": xs.__version__, "python": platform.python_version(), "machine": platform.machine()}
        arguments.save.write_text(json.dumps({"about": about, "dt": DT, "seconds": results}, indent=1))
        console.print(f"saved {arguments.save}")


if __name__ == "__main__":
    main()
