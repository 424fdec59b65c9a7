"""How often examples/sampling_mpc.py stays on its feet and arrives, and how long its plans take.

python benchmarks/sampling_mpc.py --seeds 4 --save now.json     # --tasks stand walk time
"""

from __future__ import annotations

import argparse
import json
import runpy
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

EXAMPLE = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "sampling_mpc.py"))
NEAR = 0.1  # of the goal [m]
PLANTS: dict[str, dict[str, Any]] = {
    "as planned": {},
    "friction 0.5": {"friction": 0.5},
    "mass × 1.2": {"mass": 1.2},
    "friction 0.5, mass × 1.2": {"friction": 0.5, "mass": 1.2},
}


def standing(seeds: int) -> Iterator[dict[str, Any]]:
    """Pushed once, from a side that each seed draws, beside drives that hold the posture."""
    for speed in (0.5, 1.0, 1.25, 1.5):
        sides = [2.0 * np.pi * np.random.default_rng(seed).random() for seed in range(seeds)]
        for who in ("hold", "plan", "late plan"):
            runs = []
            for seed, side in enumerate(sides):
                mpc = None if who == "hold" else EXAMPLE["planner"](EXAMPLE["GoTo"](), seed)
                pushes = [(0.3, speed, side)]
                runs.append(EXAMPLE["run"](EXAMPLE["simulator"](), mpc, 2.0, pushes, late=who == "late plan"))
            stand = sum(not each.fell for each in runs)
            yield {"task": f"push of {speed} m/s", "plant": "as planned", "who": who, "runs": seeds, "stand": stand}


def walking(seeds: int) -> Iterator[dict[str, Any]]:
    """To a point 1 m ahead within 5 s, of a robot as it is planned with and of others."""
    for plant, who in [*((plant, "plan") for plant in PLANTS), ("as planned", "late plan")]:
        arrivals, stand = [], 0
        for seed in range(seeds):
            mpc = EXAMPLE["planner"](EXAMPLE["GoTo"]((1.0, 0.0)), seed)
            done = EXAMPLE["run"](EXAMPLE["simulator"](**PLANTS[plant]), mpc, 5.0, late=who == "late plan")
            near = np.linalg.norm(np.array(done.q)[:, :2] - (1.0, 0.0), axis=1) < NEAR
            stand += not done.fell
            if near.any() and not done.fell:
                arrivals.append(done.t[int(np.argmax(near))])
        row = {"task": "walk 1 m", "plant": plant, "who": who, "runs": seeds, "stand": stand, "arrive": len(arrivals)}
        yield row | ({"after [s], median": float(np.median(arrivals))} if arrivals else {})


def timing(seeds: int) -> Iterator[dict[str, Any]]:
    """Of plans while walking, 64 × 40 × 10 ms, two threads."""
    walls, rollouts, cpu, plans, wall, seconds = [], [], 0.0, 0, 0.0, 0.0
    for seed in range(seeds):
        mpc, sim = EXAMPLE["planner"](EXAMPLE["GoTo"]((1.0, 0.0)), seed), EXAMPLE["simulator"]()
        begin, begin_cpu = time.perf_counter(), time.process_time()
        done = EXAMPLE["run"](sim, mpc, 3.0)
        wall, cpu = wall + time.perf_counter() - begin, cpu + time.process_time() - begin_cpu
        walls += [plan.seconds for plan in done.plans]
        rollouts += [plan.rollout_seconds for plan in done.plans]
        plans, seconds = plans + len(done.plans), seconds + sim.t
    yield {
        "task": "time",
        "plans": plans,
        "plans per second, median": 1.0 / float(np.median(walls)),
        "share in rollouts": sum(rollouts) / sum(walls),
        "CPU per plan with its 50 ms of robot [ms]": 1e3 * cpu / plans,
        "CPU per plan, standing [ms]": 1e3 * _cpu_of_standing(),
        "real-time factor": seconds / wall,
    }


def _cpu_of_standing(plans: int = 20) -> float:
    mpc, sim = EXAMPLE["planner"](EXAMPLE["GoTo"]()), EXAMPLE["simulator"]()
    EXAMPLE["run"](sim, mpc, 0.3)
    begin = time.process_time()
    EXAMPLE["run"](sim, mpc, 0.3 + EXAMPLE["PERIOD"] * plans)
    return (time.process_time() - begin) / plans


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    tasks = {"stand": standing, "walk": walking, "time": timing}
    parser.add_argument("--tasks", nargs="+", choices=tasks, default=[*tasks])
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--save", type=Path)
    given = parser.parse_args()
    rows = []
    for task in given.tasks:
        for row in tasks[task](given.seeds):
            rows.append(row)
            print(", ".join(f"{key}: {value}" for key, value in row.items()), flush=True)
    if given.save:
        given.save.write_text(json.dumps(rows, indent=1))
