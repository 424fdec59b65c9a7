"""What a call from Python costs, as a ratio to a quiet step in C++: python benchmarks/calls.py [robot]."""

import itertools
import re
import statistics
import subprocess
import sys
from time import perf_counter

import numpy as np

import exposim as xs

REPEATS = 15


def seconds_of(call, count):
    start = perf_counter()
    for _ in range(count):
        call()
    return (perf_counter() - start) / count


def import_ratio() -> float:
    """Time that `import exposim` takes, relative to that of Pinocchio within it."""
    command = [sys.executable, "-X", "importtime", "-c", "import exposim"]
    report = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    ours, pinocchio = (
        int(re.search(rf"\|\s+(\d+) \|\s+{module}$", report, re.MULTILINE)[1]) for module in ("exposim", "pinocchio")
    )
    return ours / pinocchio


def main(name: str = "solo12") -> None:
    robot = xs.load_robot(name)
    sim, quiet = (xs.Simulator(robot, xs.HalfSpace(), dt=1e-3) for _ in range(2))
    controller = xs.controllers.PD(robot, 5.0, 0.05)
    rng = np.random.default_rng(0)
    sim.reset(robot.q0, 0.02 * rng.standard_normal(robot.nv))
    sim.step(controller(sim.t, sim.state), n=20)  # moving, all feet down
    state, tau = sim.state, controller(sim.t, sim.state)
    states = []
    for _ in range(50):  # each another one, or kinematics that are known already would not be computed again
        states.append(sim.state)
        sim.step(tau)
    turns = itertools.cycle(states)

    def restore():
        sim.state = next(turns)

    def reset():
        at = next(turns)
        sim.reset(at.q, at.v)

    def steps_in_one_call():
        quiet.state = state
        quiet.step(tau, n=40)  # short enough to stay where nothing changes

    calls = {
        "set a state": (restore, 2000),
        "reset": (reset, 2000),
        "read the state": (lambda: sim.state, 2000),
        "read q, v": (lambda: (sim.q, sim.v), 2000),
        "read forces, positions, active, slipping": (
            lambda: (sim.forces, sim.positions, sim.active, sim.slipping),
            2000,
        ),
    }
    quiet_steps, single_steps = [], []
    measured = {what: [] for what in calls}
    for _ in range(REPEATS):
        restoring = seconds_of(restore, 500)
        quiet_steps.append((seconds_of(steps_in_one_call, 20) - restoring) / 40)

        def forty_calls():
            sim.state = state
            for _ in range(40):
                sim.step(tau)

        single_steps.append((seconds_of(forty_calls, 20) - restoring) / 40)
        for what, (call, count) in calls.items():
            measured[what].append(seconds_of(call, count))
    step = statistics.median(quiet_steps)
    print(f"{robot.name}: a step inside step(n=40) takes {1e6 * step:.1f} µs; ratios to that, medians of {REPEATS}:")
    print(f"  {statistics.median(s / q for s, q in zip(single_steps, quiet_steps, strict=True)):5.2f}  step(tau)")
    for what, samples in measured.items():
        print(f"  {statistics.median(s / q for s, q in zip(samples, quiet_steps, strict=True)):5.2f}  {what}")
    print(f"  {statistics.median(import_ratio() for _ in range(REPEATS)):5.2f}  import exposim / import pinocchio")


if __name__ == "__main__":
    main(*sys.argv[1:])
