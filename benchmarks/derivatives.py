"""What derivatives of a step cost, beside the step itself.

python benchmarks/derivatives.py --save before.json
python benchmarks/derivatives.py --instructions --robots solo12 --dt 0.005   # needs valgrind

States along motions to random targets, as of benchmarks/workload.py; every figure is a ratio of CPU times in one run,
the median of interleaved repeats: derivatives of a step over the step, exact and not, of steps that are followed and of
others, by formulas and by differences; one thread over two. Or ratios of instructions, which do not mind a busy
machine: of rows that are gone through more often, what they add.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import exposim as xs

ROBOTS = {"solo12": (3.0, 0.035), "go2": (60.0, 1.2), "romeo": (100.0, 2.0)}
PARAMETERS = ("stiffness", "damping", "friction")
COUNTED = 20  # steps ...
MORE = 3  # ... so often


def states_of(name: str, dt: float, seed: int, count: int, drives: bool):
    """A simulator, states along a motion to random targets, what they were given, and which steps were followed."""
    kp, kd = ROBOTS[name]
    robot = xs.load_robot(name)
    if drives:
        robot = robot.replace(drives=xs.Drive(kp=kp, kd=kd))
    material = xs.Material(stiffness=1e5, damping=300.0, friction=0.8)
    sim = xs.Simulator(robot, xs.HalfSpace(material=material), dt=dt)
    rng = np.random.default_rng(seed)
    joints = len(robot.actuated_dofs)
    rest = robot.q0[-joints:]
    states, taus, targets, followed = [], [], [], []
    target = rest
    while len(states) < count:
        if round(sim.t / dt) % round(0.1 / dt) == 0:
            target = rest + rng.uniform(-0.2, 0.2, joints)
        tau = np.zeros(joints) if drives else kp * (target - sim.q[-joints:]) - kd * sim.v[-joints:]
        state = sim.state
        sim.step(tau, target=target if drives else None)
        states.append(state)
        taus.append(tau)
        targets.append(target)
        followed.append(sim.info.resolved)
        if sim.t > 2.0:
            sim.reset()
    return sim, states, np.array(taus), np.array(targets) if drives else None, np.array(followed)


def timed(call) -> float:
    """CPU seconds."""
    start = time.process_time()
    call()
    return time.process_time() - start


def measure(name: str, dt: float, args: argparse.Namespace) -> dict[str, float]:
    sim, states, taus, targets, followed = states_of(name, dt, args.seed, args.states, args.drives)
    pool, result = xs.Rollout(sim, threads=1), {"followed": float(np.mean(followed))}
    x = pool.pack(states)
    for kind, rows in (("calm", ~followed), ("followed", followed)):
        if rows.sum() < 5:
            continue
        given = {"taus": taus[rows], "targets": None if targets is None else targets[rows]}
        once = {key: None if value is None else value[:, None] for key, value in given.items()}
        calls = {
            "step": lambda r=rows, g=once: pool(x[r], **g, steps=1, record=()),
            "exact": lambda r=rows, g=given: pool.linearize(x[r], **g),
            "mean force": lambda r=rows, g=given: pool.linearize(x[r], **g, exact=False),
            "differences": lambda r=rows, g=given: pool.linearize(x[r], **g, method="differences"),
        }
        seconds = {key: [] for key in calls}
        for repeat in range(args.repeats):
            for key, call in calls.items():
                if key != "differences" or repeat == 0:
                    seconds[key].append(timed(call))
        step = np.median(seconds["step"])
        result[f"{kind} step [us]"] = 1e6 * step / rows.sum()
        for key in ("exact", "mean force", "differences"):
            result[f"{kind} {key}"] = float(np.median(seconds[key]) / step)
        result[f"{kind} by formulas"] = float(1.0 - np.mean(pool.linearize(x[rows], **given).differences))
        one, two = [], []
        both = xs.Rollout(sim, threads=2)
        for _ in range(args.repeats):
            for which, seen in ((pool, one), (both, two)):
                start = time.perf_counter()
                which.linearize(x[rows][:40], **{k: None if v is None else v[:40] for k, v in given.items()})
                seen.append(time.perf_counter() - start)
        result[f"{kind} two threads"] = float(np.median(one) / np.median(two))
    return result


def calls_of(sim, states, taus, rows) -> dict[str, object]:
    """What is counted, in one thread."""
    pool = xs.Rollout(sim, threads=1)
    x, tau = pool.pack(states)[rows], taus[rows]
    return {
        "step": lambda: pool(x, taus=tau[:, None], steps=1, record=()),
        "exact": lambda: pool.linearize(x, taus=tau),
        "exact, with materials": lambda: pool.linearize(x, taus=tau, parameters=PARAMETERS),
        "mean force": lambda: pool.linearize(x, taus=tau, exact=False),
    }


def run_counted(prepared: str) -> None:
    """In a process of its own, which valgrind watches: it writes down what it has counted at each call of getppid."""
    name, dt, states, taus, kinds = pickle.loads(Path(prepared).read_bytes())
    material = xs.Material(stiffness=1e5, damping=300.0, friction=0.8)
    sim = xs.Simulator(xs.load_robot(name), xs.HalfSpace(material=material), dt=dt)
    for rows in kinds.values():
        once, more = (calls_of(sim, states, taus, np.tile(rows, times)) for times in (1, MORE))
        for what, call in once.items():
            call()  # what it needs is made
            os.getppid()
            call()
            os.getppid()
            more[what]()
            os.getppid()


def count_instructions(name: str, dt: float, args: argparse.Namespace) -> dict[str, float]:
    """Of derivatives over those of the step: what rows add that are gone through more often, with setting the state."""
    _, states, taus, _, followed = states_of(name, dt, args.seed, args.states, drives=False)
    chosen = {"calm": np.flatnonzero(~followed)[:COUNTED], "followed": np.flatnonzero(followed)[:COUNTED]}
    kinds = {kind: rows for kind, rows in chosen.items() if len(rows) > 0}
    with tempfile.TemporaryDirectory() as folder:
        prepared, counted = Path(folder, "prepared.pickle"), Path(folder, "counted")
        prepared.write_bytes(pickle.dumps((name, dt, states, taus, kinds)))
        watch = ["valgrind", "--tool=callgrind", "--combine-dumps=yes", "--dump-before=getppid"]
        process = [sys.executable, __file__, "--counted", str(prepared)]
        environment = os.environ | {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [*watch, f"--callgrind-out-file={counted}", *process]
        subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        totals = iter([int(each) for each in re.findall(r"^totals: (\d+)", counted.read_text(), re.MULTILINE)])
    result = {}
    for kind, rows in kinds.items():
        counts = {}
        for what in ("step", "exact", "exact, with materials", "mean force"):
            _, few, many = (next(totals) for _ in range(3))
            counts[what] = (many - few) / ((MORE - 1) * len(rows))
        result[f"{kind} step [thousands]"] = counts["step"] / 1e3
        for what in ("exact", "exact, with materials", "mean force"):
            result[f"{kind} {what}"] = counts[what] / counts["step"]
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robots", nargs="*", default=["solo12", "go2", "romeo"], choices=list(ROBOTS))
    parser.add_argument("--dt", nargs="*", type=float, default=[0.01, 0.005, 0.002], help="[s]")
    parser.add_argument("--states", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--drives", action="store_true")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--instructions", action="store_true", help="counted by valgrind, instead of times")
    parser.add_argument("--counted", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.counted:
        return run_counted(args.counted)
    found = {}
    for name in args.robots:
        for dt in args.dt:
            measured = count_instructions if args.instructions else measure
            found[f"{name} {1e3 * dt:g} ms"] = result = measured(name, dt, args)
            print(f"{name} {1e3 * dt:g} ms")
            for key, value in result.items():
                print(f"    {key:24s} {value:8.3g}")
    if args.save:
        args.save.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
