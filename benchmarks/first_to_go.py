"""How often the joint that was made unstable is said to have gone first: python benchmarks/first_to_go.py go2.

A robot stands by a PD controller whose torques are held for 5 ms. After 60 steps one damping gain is a multiple of what
is stable there, 2 I / dt. Of those runs that diverge, who went first is asked of their energy, of their speeds (which
joint leaves its median by ten deviations first), and of the error (which joint it names first).
"""

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin

import exposim as xs
from exposim.analysis.first_to_go import first_to_go
from exposim.simulation.flight_replay import Flight

DT = 5e-3
CALM, STEPS = 60, 600


def inertias(robot: xs.Robot) -> np.ndarray:
    """That each actuated joint moves, all others free to follow [kg·m²], (nu,)."""
    upper = np.triu(pin.crba(robot.model, robot.model.createData(), robot.q0))
    M = upper + np.triu(upper, 1).T + np.diag(robot.armature)
    return 1.0 / np.diag(np.linalg.inv(M))[robot.actuated_dofs]


def dump_of(robot: xs.Robot, joint: int, factor: float, seed: int, folder: Path) -> tuple[xs.FlightDump, str] | None:
    inertia, noise = inertias(robot), np.random.default_rng(seed)
    kd = 0.2 * inertia / DT
    unstable = np.where(np.arange(len(kd)) == joint, factor * 2.0 * inertia / DT, kd)
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=DT)
    recorder = xs.FlightRecorder(sim, folder)
    try:
        for k in range(STEPS):
            held = 3.0 * kd * (robot.q0[7:] - sim.q[7:]) - (kd if k < CALM else unstable) * sim.v[6:]
            sim.step(held + 0.01 * inertia / inertia.mean() * noise.standard_normal(len(kd)))
    except xs.SimulationDiverged as error:
        return xs.FlightDump.load(recorder.dumps[0]), error.joints[0]
    return None


def first_by_speed(flight: Flight) -> int | None:
    """The actuated joint that leaves its own median for good first."""
    speed = np.abs(flight.v[:-1, 6:])
    calm = speed[: len(speed) // 2]
    median = np.median(calm, axis=0)
    usual = median + 10.0 * 1.4826 * np.median(np.abs(calm - median), axis=0)
    quiet_until = [np.flatnonzero(column).max(initial=-1) for column in (speed <= usual).T]
    order = np.lexsort((-speed[-1], quiet_until))
    return int(order[0]) if quiet_until[order[0]] < len(speed) - 1 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=["solo12", "go2", "anymal_c"])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--factors", type=float, nargs="+", default=[10.0, 40.0])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in arguments.robots:
        robot = xs.load_robot(name).replace(effort_limits=False)
        right = dict.fromkeys(("runs", "diverged", "same bits", "energy", "speed", "error"), 0)
        for joint, planted in enumerate(robot.actuated_joints):
            for factor in arguments.factors:
                for seed in range(arguments.seeds):
                    right["runs"] += 1
                    with tempfile.TemporaryDirectory() as folder:
                        made = dump_of(robot, joint, factor, seed, Path(folder))
                        if made is None:
                            continue
                        flight = made[0].replay()
                    found = first_to_go(flight)
                    right["diverged"] += 1
                    right["same bits"] += flight.mismatch is None
                    right["energy"] += found.first is not None and found.first.name == planted
                    right["speed"] += first_by_speed(flight) == joint
                    right["error"] += made[1] == planted
        print(f"{name:10}" + ", ".join(f"{what} {count}" for what, count in right.items()))


if __name__ == "__main__":
    main()
