"""Stiffness, damping, friction and masses from two seconds of a trot: errors, and how long it takes.

python benchmarks/identify.py --seeds 10 11 12 --save now.json     # --friction 1.0, --plot identification.png
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads that wait for each other would count

import numpy as np
import pinocchio as pin

import exposim as xs

STIFFNESS, DAMPING = 1e5, 300.0
SIGMA_Q, SIGMA_V = 1e-3, 1e-2  # of the sensors [m or rad], [m/s or rad/s]
LEGS = "*_LOWER_LEG"
BASE = "base_link"
# Of the truth, that the search begins with.
WRONG = {"stiffness": 0.5, "damping": 1.7, "friction": 1.5, f"mass:{BASE}": 1.2, f"mass:{LEGS}": 0.8}
BARS = {"stiffness": 5.0, "damping": 10.0, "friction": 2.0, f"mass:{BASE}": 2.0, f"mass:{LEGS}": 2.0}  # [%]


def trot(friction: float, seconds: float, seed: int) -> tuple[xs.Simulator, xs.Measured, dict[str, float]]:
    """Solo12 trots: a simulator with the truth, what sensors saw, and the truth."""
    scenario = xs.scenarios.get("solo-trot").with_material(stiffness=STIFFNESS, damping=DAMPING, friction=friction)
    motion = scenario.run(duration=seconds)
    robot, rng = scenario.robot, np.random.default_rng(seed)
    q = [pin.integrate(robot.model, each, rng.normal(0.0, SIGMA_Q, robot.nv)) for each in motion.q]
    v = motion.v + rng.normal(0.0, SIGMA_V, motion.v.shape)
    masses = robot.masses
    truth = {"stiffness": STIFFNESS, "damping": DAMPING, "friction": friction}
    truth |= {f"mass:{BASE}": masses[BASE], f"mass:{LEGS}": masses[LEGS.replace("*", "FL")]}
    sim = xs.Simulator(robot, scenario.ground, xs.Expo(), dt=scenario.control_period)
    return sim, xs.Measured(motion.t, np.stack(q), v, motion.tau), truth


def measure(seed: int, friction: float, seconds: float, names: list[str], **options: Any) -> tuple[Any, dict[str, Any]]:
    """The result of a seed, and a row of the table."""
    sim, motion, truth = trot(friction, seconds, seed)
    start = {name: WRONG[name] * truth[name] for name in names}
    result = xs.identify(sim, motion, names, start=start, sigma_q=SIGMA_Q, sigma_v=SIGMA_V, **options)
    tally = result.tally
    row: dict[str, Any] = {"seed": seed}
    for name in names:
        row[f"{name} [%]"] = 100.0 * (result.estimate[name] / truth[name] - 1.0)
        row[f"{name} ± [%]"] = 100.0 * result.deviation[name] / result.estimate[name]
    row |= {"chi2": result.chi2, "iterations": result.history[-1].number, "ended": result.ended}
    row |= {"seconds": tally.seconds, "rollouts": tally.rollouts, "rollout_seconds": tally.rollout_seconds}
    row |= {"linearizations": tally.linearizations, "linearize_seconds": tally.linearize_seconds}
    return result, row | {"times the rollouts": tally.seconds / tally.rollout_seconds}


def within_bars(row: dict[str, Any], names: list[str]) -> bool:
    return all(abs(row[f"{name} [%]"]) <= BARS[name] for name in names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 11, 12], help="of the sensors' noise")
    parser.add_argument("--friction", type=float, default=0.3, help="of the ground; at 1 nothing slips")
    parser.add_argument("--seconds", type=float, default=2.0, help="of the trot")
    parser.add_argument("--window", type=float, default=0.04, help="[s]")
    parser.add_argument("--parameters", nargs="+", default=list(WRONG), choices=list(WRONG))
    parser.add_argument("--save", type=Path, help="a JSON file for the rows")
    parser.add_argument("--plot", type=Path, help="a picture of the last result")
    parser.add_argument("--report", type=Path, help="a page of the last result")
    given = parser.parse_args()
    names, rows = given.parameters, []
    for seed in given.seeds:
        result, row = measure(seed, given.friction, given.seconds, names, window=given.window)
        rows.append(row)
        errors = "  ".join(f"{name} {row[f'{name} [%]']:+.2f} ± {row[f'{name} ± [%]']:.2f} %" for name in names)
        print(f"seed {seed}: {errors}")
        print(
            f"  χ² {row['chi2']:.3f}, {row['ended']} after {row['iterations']} iterations; {row['seconds']:.2f} s, "
            f"{row['rollouts']:.1f} rollouts in {row['rollout_seconds']:.2f} s, {row['linearizations']:.1f} times "
            f"derivatives in {row['linearize_seconds']:.2f} s: {row['times the rollouts']:.1f} times the rollouts"
        )
    print(f"within the bars: {sum(within_bars(row, names) for row in rows)} of {len(rows)}")
    if given.save:
        given.save.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if given.plot:
        xs.plots.save(result.plot(), given.plot)
    if given.report:
        result.report(given.report)


if __name__ == "__main__":
    main()
