"""Largest steps with the gains that people use, as a table in Markdown.

    python benchmarks/largest_steps.py [--quick]

A robot is dropped from 10 cm, its drives holding its posture of rest, for 2 s. A step is good if nothing diverges and
the energy of robot, contacts, limits and drives, which by the laws of joints only falls, never rises by as much as the
robot fell with; both as the setting has it and with torques, positions and friction not bounded, where what is unstable
has nothing to hide behind. Of Expo the steps of 1, 2, 5, 10 and 20 ms are tried, of explicit Euler halves of 16 ms, by
bisection. *Joints alone* is explicit Euler's bound by the gains alone, from `sim.advise()`.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin
from rich.console import Console
from rich.progress import Progress

import exposim as xs
from joint_runs import GRAVITY, Ledger, Rise

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from joint_gains import SETTINGS

HEIGHT = 0.1  # [m]
SECONDS = 2.0
LOOKS_EVERY = 1e-3  # [s]
EXPO_STEPS = (1e-3, 2e-3, 5e-3, 1e-2, 2e-2)
EULER_STEPS = tuple(1.6e-2 / 2**k for k in reversed(range(13)))

WHOSE = {
    "go2 25/0.5": "Isaac Lab: Go2, 23.5 N·m, 30 rad/s",
    "go2 35/0.5": "Playground: Go1",
    "anymal_c 40/5": "Isaac Lab: ANYmal, 80 N·m",
    "anymal_c 400/1": "Playground: Spot, least damped",
    "anymal_c 300/20": "Playground: Spot, most damped",
    "g1 Isaac Lab": "Isaac Lab: G1, armature 0.001; legs 100–200 / 2.5–5, waist 5000 / 5, arms 3000 / 10",
    "g1 100/5": "no armature",
    "talos as given": "no drives; damping and dry friction of its files",
}


def holds(robot: xs.Robot, integrator: xs.Integrator, dt: float, seconds: float) -> bool:
    sim = xs.Simulator(robot, xs.HalfSpace(), integrator, dt, on_divergence="stop")
    q = robot.q0
    q[2] += HEIGHT
    # From an exact equilibrium, and from exact symmetry, instabilities hide.
    nudge = 1e-3 * np.random.default_rng(0).standard_normal(robot.nv)
    sim.reset(q, nudge)
    ledger, rise = Ledger(sim), Rise()
    fall = pin.computeTotalMass(robot.model) * GRAVITY * HEIGHT
    at_once = max(1, round(LOOKS_EVERY / dt))
    for _ in range(round(seconds / (at_once * dt))):
        rise.see(ledger.energy + ledger.drives)
        sim.step(n=at_once)
        if sim.diverged or rise.largest > fall:
            return False
    return True


def is_good(robots: Sequence[xs.Robot], integrator: xs.Integrator, dt: float, seconds: float) -> bool:
    return all(holds(robot, integrator, dt, seconds) for robot in robots)


def largest_in_a_row(robots: Sequence[xs.Robot], steps: Sequence[float], seconds: float, tick) -> float:
    """Up to which all are good; zero if the first is not."""
    largest = 0.0
    for dt in steps:
        good = is_good(robots, xs.Expo(), dt, seconds)
        tick()
        if not good:
            break
        largest = dt
    return largest


def largest_by_bisection(robots: Sequence[xs.Robot], steps: Sequence[float], seconds: float, tick) -> float:
    """Zero if none is good."""
    low, high = -1, len(steps)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_good(robots, xs.ExplicitEuler(), steps[middle], seconds) else (low, middle)
        tick()
    return steps[low] if low >= 0 else 0.0


def gains_in_words(robot: xs.Robot) -> str:
    drives = [joint.drive for joint in robot.joints.values() if joint.drive is not None]
    if not drives:
        return "none"
    ranges = [sorted({f"{getattr(drive, gain):g}" for drive in drives}, key=float) for gain in ("kp", "kd")]
    return " / ".join(f"{each[0]}–{each[-1]}" if len(each) > 1 else each[0] for each in ranges)


def ms(seconds: float) -> str:
    return f"{1e3 * seconds:.2g} ms" if 0.0 < seconds < np.inf else "–"


def row(name: str, seconds: float, tick) -> str:
    robot = SETTINGS[name].make()
    robots = [SETTINGS[name].make(linear=True), robot]
    expo = largest_in_a_row(robots, EXPO_STEPS, seconds, tick)
    euler = largest_by_bisection(robots, EULER_STEPS, seconds, tick)
    joints = xs.Simulator(robot, xs.HalfSpace()).advise().joints
    alone = np.inf if joints is None else joints.explicit_euler_dt
    cells = (SETTINGS[name].robot, gains_in_words(robot), WHOSE.get(name, ""), ms(expo), ms(euler), ms(alone))
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", default=list(SETTINGS), help=f"of {', '.join(SETTINGS)}")
    parser.add_argument("--quick", action="store_true", help="one robot, 0.2 s")
    arguments = parser.parse_args()
    names, seconds = (["go2 100/5"], 0.2) if arguments.quick else (arguments.settings, SECONDS)
    warnings.simplefilter("ignore")
    print("| robot | kp / kd | whose | Expo | explicit Euler | joints alone |\n|---|---|---|---|---|---|")
    for name in names:
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(name, total=len(EXPO_STEPS) + 4)
            print(row(name, seconds, lambda: progress.advance(task)), flush=True)  # noqa: B023


if __name__ == "__main__":
    main()
