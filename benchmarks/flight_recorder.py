"""What a flight recorder costs, call by call, beside none and a recorder: python benchmarks/flight_recorder.py.

Ratios of process times, taken in turn; medians.
"""

import argparse
import tempfile
from collections.abc import Callable
from time import process_time

import numpy as np

import exposim as xs

CALLS = 500


def standing(robot: xs.Robot) -> xs.Simulator:
    sim = xs.Simulator(robot.replace(drives=xs.Drive(kp=20.0, kd=1.0)), xs.HalfSpace())
    sim.reset()
    sim.step(n=200)
    return sim


def microseconds(sim: xs.Simulator, call: Callable[[xs.Simulator], None]) -> float:
    start = process_time()
    for _ in range(CALLS):
        call(sim)
    return (process_time() - start) / CALLS * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=["solo12", "go2", "talos"])
    parser.add_argument("--repeats", type=int, default=31)
    arguments = parser.parse_args()
    for name in arguments.robots:
        robot = xs.load_robot(name)
        plain, watched, recorded = (standing(robot) for _ in range(3))
        tau, target = np.zeros(len(robot.actuated_dofs)), robot.q0
        calls: dict[str, Callable[[xs.Simulator], None]] = {
            "step(tau)": lambda sim, tau=tau: sim.step(tau),
            "step(target=)": lambda sim, target=target: sim.step(target=target),
            "step(tau, 10)": lambda sim, tau=tau: sim.step(tau, 10),
        }
        with tempfile.TemporaryDirectory() as folder, xs.FlightRecorder(watched, folder):
            for what, call in calls.items():
                times = []
                for _ in range(arguments.repeats):
                    with xs.Recorder(recorded):
                        times.append([microseconds(sim, call) for sim in (plain, watched, recorded)])
                alone, *_ = np.median(times, axis=0)
                flight, recorder = (np.median([row[k] / row[0] for row in times]) for k in (1, 2))
                print(f"{name:8}{what:15}{alone:7.1f} µs; flight recorder × {flight:.3f}, recorder × {recorder:.2f}")


if __name__ == "__main__":
    main()
