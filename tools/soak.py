"""Random actions for as long as one likes: python tools/soak.py --steps 300000 --robot go2 --terrain rough.

Counts environment steps, ends and rows that diverged, with their reasons, and watches the memory. Exit status 1 if it
grows after the first tenth, or if more than one environment step in a million diverges.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

import numpy as np

import exposim.envs
from exposim.envs.registered import ROBOTS

GROWTH = 8.0  # of the memory that is allowed [MB]
RATE = 1e-6  # of environment steps that may diverge


def memory() -> float:
    """That the process holds [MB]."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        return int(pages.read_text().split()[1]) * resource.getpagesize() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def soak(robot: str, terrain: str, steps: int, rows: int, seed: int) -> bool:
    """Whether all went well."""
    envs = exposim.envs.VelocityVectorEnv(robot, terrain, num_envs=rows)
    envs.reset(seed=seed)
    rng = np.random.default_rng(seed)
    shape, taken, ends, start = envs.action_space.shape, 0, 0, time.perf_counter()
    settled, shown = None, 0
    while taken < steps:
        obs, reward, terminated, truncated, info = envs.step(rng.uniform(-1.0, 1.0, shape).astype(np.float32))
        taken += rows
        ends += int((terminated | truncated).sum())
        if not (np.isfinite(obs).all() and np.isfinite(reward).all()):
            raise SystemExit(f"{robot} on {terrain} ground: not finite after {taken} environment steps, seed {seed}")
        for row in np.flatnonzero(info["diverged"]):
            print(f"  row {row} after {taken} environment steps: {info['divergence'][row]}")
        if settled is None and taken >= steps // 10:
            settled = memory()
        if 10 * taken // steps > shown:
            shown = 10 * taken // steps
            speed, held = taken / (time.perf_counter() - start), memory()
            print(
                f"  {taken:>10} steps, {ends} ends, {envs.diverged} diverged, {held:.1f} MB, {speed:.0f}/s", flush=True
            )
    grown = memory() - (settled or 0.0)
    rate = envs.diverged / taken
    found = f"{envs.diverged} diverged ({rate:.1e}), {grown:+.1f} MB"
    print(f"{robot} on {terrain} ground: {taken} environment steps, {found}")
    return grown < GROWTH and rate <= RATE


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300_000, help="environment steps of each; 10000000 for a night")
    parser.add_argument("--robot", choices=[*ROBOTS, "all"], default="go2")
    parser.add_argument("--terrain", choices=["flat", "rough", "both"], default="both")
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    robots = ROBOTS if options.robot == "all" else [options.robot]
    terrains = ("flat", "rough") if options.terrain == "both" else (options.terrain,)
    good = [soak(each, kind, options.steps, options.rows, options.seed) for each in robots for kind in terrains]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
