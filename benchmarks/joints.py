"""How accurate steps with drives are: local errors of robots that land, beside plainly implicit drives and MuJoCo.

    python benchmarks/joints.py [--seeds 4] [--quick] [--no-mujoco]

A robot falls onto its feet, askew and moving, its drives on the way to a random target (effort, speed and position not
bounded, so that all ways have the same law). Every 10 ms of the truth are simulated again, from its state; the error is
the largest entry of the difference at their end [m, rad, m/s, rad/s], of which the mean over all periods and seeds is
shown. Truth: RungeKutta4() of the same laws at 5 µs, which tests/physics holds to an independent one.

*Plainly implicit*: M + dt kd + dt² kp, from an implicit Euler step of the drives: the same simulator with so much rotor
inertia added and the torque kp (target − q − dt v) − kd v of the start of the step. *Held*: the torque of the start of
the step, kp (target − q) − kd v. MuJoCo (4) has the same gains in position actuators and is held to its own truth, the
same integrator at 5 µs; its contacts have the same stiffness and damping (benchmarks/rival.py). Cost: seconds per
simulated second.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
import pinocchio as pin
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import exposim as xs

try:
    import mujoco

    from rival import Mujoco
except ModuleNotFoundError:  # MuJoCo is not installed: its rows are left out
    mujoco = None

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from joint_gains import SETTINGS

PERIOD = 0.01
TRUTH_STEP = 5e-6
MUJOCO_TRUTH_STEP = 5e-6
STEPS = (1e-2, 5e-3, 2.5e-3, 2e-3, 1e-3)
MUJOCO_STEPS = (2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5)
SCENES = ("go2 100/5", "go2 25/0.5", "g1 100/5")


class Landing:
    """Where a robot starts, and its target."""

    def __init__(self, robot: xs.Robot, seed: int):
        rng = np.random.default_rng(seed)
        nv, self.robot = robot.model.nv, robot
        turned = np.r_[np.zeros(3), 0.1 * rng.standard_normal(3), 0.1 * rng.standard_normal(nv - 6)]
        self.q = pin.integrate(robot.model, robot.q0, turned)
        sim = xs.Simulator(robot, xs.HalfSpace())
        sim.reset(self.q)
        self.q[2] += 0.005 - min(contact.position[2] for contact in sim.contacts)
        self.v = np.r_[0.3 * rng.standard_normal(2), -1.0, 0.5 * rng.standard_normal(nv - 3)]
        self.target = pin.integrate(robot.model, robot.q0, np.r_[np.zeros(6), 0.2 * rng.standard_normal(nv - 6)])


class Drives:
    """The simulator itself, with its drives inside the step."""

    name = "drives"

    def __init__(self, robot: xs.Robot, dt: float, integrator: xs.Integrator | None = None):
        self.sim = xs.Simulator(robot, xs.HalfSpace(), integrator or xs.Expo(), dt, on_divergence="stop")

    def run(self, target: np.ndarray, duration: float) -> None:
        """Simulate on."""
        self.sim.step(n=round(duration / self.sim.dt), target=target)


class ImplicitDrives:
    """Torques of a linearised implicit Euler step, whose inertia is that of the rotors."""

    name = "M + dt kd + dt² kp"

    def __init__(self, robot: xs.Robot, dt: float):
        self.robot, self.dt = robot, dt
        self.kp, self.kd = gains_of(robot)
        added = dt * self.kd + dt**2 * self.kp
        without = robot.replace(drives={}, armature=np.array(robot.model.armature) + added)
        self.sim = xs.Simulator(without, xs.HalfSpace(), dt=dt, on_divergence="stop")

    def run(self, target: np.ndarray, duration: float) -> None:
        """Simulate on."""
        sim = self.sim
        for _ in range(round(duration / self.dt)):
            error = pin.difference(self.robot.model, sim.q, target)
            sim.step((self.kp * (error - self.dt * sim.v) - self.kd * sim.v)[6:])


class HeldTorques:
    """Torques of the start of each step."""

    name = "held torques"

    def __init__(self, robot: xs.Robot, dt: float):
        self.robot, self.dt = robot, dt
        self.kp, self.kd = gains_of(robot)
        self.sim = xs.Simulator(robot.replace(drives={}), xs.HalfSpace(), dt=dt, on_divergence="stop")

    def run(self, target: np.ndarray, duration: float) -> None:
        """Simulate on."""
        sim = self.sim
        for _ in range(round(duration / self.dt)):
            error = pin.difference(self.robot.model, sim.q, target)
            sim.step((self.kp * error - self.kd * sim.v)[6:])


WAYS = (Drives, ImplicitDrives, HeldTorques)


def gains_of(robot: xs.Robot) -> tuple[np.ndarray, np.ndarray]:
    kp, kd = np.zeros(robot.model.nv), np.zeros(robot.model.nv)
    for name, joint in robot.joints.items():
        at = robot.model.joints[robot.model.getJointId(name)].idx_v
        if joint.drive is not None:
            kp[at], kd[at] = joint.drive.kp, joint.drive.kd
    return kp, kd


def truth_of(landing: Landing, periods: int, h: float = TRUTH_STEP) -> list[xs.State]:
    truth = Drives(landing.robot, h, xs.RungeKutta4())
    truth.sim.reset(landing.q, landing.v)
    states = [truth.sim.state]
    for _ in range(periods):
        truth.run(landing.target, PERIOD)
        states.append(truth.sim.state)
    return states


def measure(way, landing: Landing, states: list[xs.State]) -> tuple[list[float], float]:
    """Errors of all periods, infinite where it diverged; seconds that it took."""
    errors, seconds = [], 0.0
    for before, after in itertools.pairwise(states):
        put(way.sim, before)
        start = perf_counter()
        way.run(landing.target, PERIOD)
        seconds += perf_counter() - start
        diverged = way.sim.diverged
        errors.append(np.inf if diverged else xs.analysis.distance(landing.robot, after, way.sim.state))
    return errors, seconds


def put(sim: xs.Simulator, state: xs.State) -> None:
    """A state of the robot with drives, also where the drives are not the simulator's."""
    sim.reset(state.q, state.v)
    fresh = sim.state
    names = ("surface", "mode", "phi0", "stretch")
    sim.state = fresh.replace(**{name: getattr(state, name) for name in names})


def mujoco_rows(
    landings: list[Landing], periods: int, integrator: int, steps, tick
) -> dict[float, tuple[float, float]]:
    """Mean error and cost by step."""
    robot = landings[0].robot
    fine = Mujoco(robot, integrator, MUJOCO_TRUTH_STEP)
    truths = []
    for landing in landings:
        fine.reset(landing.q, landing.v)
        fine.command(target=landing.target[7:])
        states = [fine.save()]
        for _ in range(periods):
            fine.run(round(PERIOD / MUJOCO_TRUTH_STEP))
            states.append(fine.save())
        truths.append(states)
        tick()
    rows = {}
    for dt in steps:
        coarse, errors, seconds = Mujoco(robot, integrator, dt), [], 0.0
        for states in truths:
            for before, after in itertools.pairwise(states):
                coarse.restore(before)
                start = perf_counter()
                coarse.run(round(PERIOD / dt))
                seconds += perf_counter() - start
                errors.append(coarse.distance(after, coarse.save()))
        rows[dt] = float(np.mean(errors)), seconds / (PERIOD * len(errors))
        tick()
    return rows


def own_rows(landings: list[Landing], periods: int, steps, tick) -> dict[str, dict[float, tuple[float, float]]]:
    truths = []
    for landing in landings:
        truths.append(truth_of(landing, periods))
        tick()
    rows = {}
    for make in WAYS:
        rows[make.name] = {}
        for dt in steps:
            way, errors, seconds = make(landings[0].robot, dt), [], 0.0
            for landing, states in zip(landings, truths, strict=True):
                found, took = measure(way, landing, states)
                errors += found
                seconds += took
            rows[make.name][dt] = float(np.mean(errors)), seconds / (PERIOD * len(errors))
            tick()
    return rows


def cost_at(error: float, rows: dict[float, tuple[float, float]]) -> tuple[float, bool]:
    """Of the cheapest step with so small an error, between measured ones by powers; of the finest: there it is more."""
    points = sorted((e, c) for e, c in rows.values() if np.isfinite(e))
    errors, costs = np.log([p[0] for p in points]), np.log([p[1] for p in points])
    return float(np.exp(np.interp(np.log(error), errors, costs))), np.log(error) < errors[0]


def table_of(name: str, rows: dict[str, dict[float, tuple[float, float]]]) -> Table:
    steps = sorted({dt for row in rows.values() for dt in row}, reverse=True)
    table = Table(title=f"{name}: mean local error over 10 ms (cost)", title_justify="left")
    table.add_column("")
    for dt in steps:
        table.add_column(f"{1e3 * dt:g} ms", justify="right")
    for way, row in rows.items():
        table.add_row(way, *(f"{row[dt][0]:.1e} ({row[dt][1]:.3f})" if dt in row else "" for dt in steps))
    return table


def bars_of(name: str, rows: dict[str, dict[float, tuple[float, float]]], table: Table) -> None:
    def add(what: str, found: float, bar: float, more: bool = False) -> None:
        verdict = "met" if found >= bar else "open" if more else "[red]missed"
        table.add_row(name, what, f"{'> ' if more else ''}{found:.2f}", f"≥ {bar:g}", verdict)

    own = rows[Drives.name]
    for dt in (2.5e-3, 1e-3):
        if dt in own and name.startswith("go2"):
            add(f"plainly implicit / drives, {1e3 * dt:g} ms", rows[ImplicitDrives.name][dt][0] / own[dt][0], 2.5)
    theirs = {way: row for way, row in rows.items() if way.startswith("MuJoCo")}
    for dt in (2e-3, 1e-3):
        for way, row in theirs.items():
            if dt in own and dt in row:
                add(f"{way} / drives, {1e3 * dt:g} ms", row[dt][0] / own[dt][0], 5.0)
    for way, row in theirs.items():
        for dt in own:
            cost, more = cost_at(own[dt][0], row)
            add(f"cost of {way} at the error of {1e3 * dt:g} ms", cost / own[dt][1], 10.0, more)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", default=SCENES, help=f"of {', '.join(SETTINGS)}")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--periods", type=int, default=10, help="of 10 ms each")
    parser.add_argument("--quick", action="store_true", help="one seed, two steps, 50 ms")
    parser.add_argument("--no-mujoco", action="store_true")
    parser.add_argument("--points", action="store_true", help="feet without radius")
    arguments = parser.parse_args()
    seeds, periods, steps, theirs = arguments.seeds, arguments.periods, STEPS, MUJOCO_STEPS
    if arguments.quick:
        seeds, periods, steps, theirs = 1, 5, (2.5e-3, 1e-3), (1e-3, 2e-4)

    warnings.simplefilter("ignore")
    console = Console(width=150)
    bars = Table(title="Bars", title_justify="left")
    for column in ("scene", "what", "found", "bar", ""):
        bars.add_column(column, justify="right" if column in ("found", "bar") else "left")
    for name in arguments.scenes:
        robot = SETTINGS[name].make(linear=True)
        if arguments.points:
            robot = robot.replace(contact_points=[dataclasses.replace(p, radius=0.0) for p in robot.contact_points])
        landings = [Landing(robot, arguments.first_seed + seed) for seed in range(seeds)]
        with Progress(console=console, transient=True) as progress:
            task = progress.add_task(name, total=seeds + len(WAYS) * len(steps))
            rows = own_rows(landings, periods, steps, lambda: progress.advance(task))  # noqa: B023
            if mujoco is not None and not arguments.no_mujoco:
                for way, integrator in (
                    ("MuJoCo, discrete", mujoco.mjtIntegrator.mjINT_DISCRETE),
                    ("MuJoCo, implicitfast", mujoco.mjtIntegrator.mjINT_IMPLICITFAST),
                ):
                    task = progress.add_task(f"{name}, {way}", total=seeds + len(theirs))
                    tick = lambda: progress.advance(task)  # noqa: B023, E731
                    rows[way] = mujoco_rows(landings, periods, integrator, theirs, tick)
        console.print(table_of(name, rows))
        bars_of(name, rows, bars)
    console.print(bars)


if __name__ == "__main__":
    main()
