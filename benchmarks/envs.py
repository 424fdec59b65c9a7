"""Environment steps a second, ours beside MuJoCo's: python benchmarks/envs.py [--spread 0.2] [--save x.json].

Go2 follows velocities, 64 environments with random actions, four steps of 5 ms for each of the policy: ours; the same
task, line by line, with `mujoco.rollout` in place of the pool (`discrete`, contacts mapped to the same stiffness and
damping); and Gymnasium's MuJoCo Ant (five steps of 10 ms). Medians of interleaved rounds, by CPU time: a second of one
core. What is no rollout is ours to keep small: the overhead, by CPU time on one thread and by the clock on two.

Without MuJoCo (`pip install mujoco`) ours alone.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import gymnasium
import numpy as np

import exposim.envs  # noqa: F401  # registers them

ID, ROWS = "exposim/Go2-v0", 64


class Timed:
    """A pool whose calls are timed."""

    def __init__(self, pool: Any, clock: Callable[[], float]):
        self._pool, self._clock, self.seconds = pool, clock, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    def __call__(self, *args: Any, **options: Any) -> Any:
        """As the pool does."""
        start = self._clock()
        out = self._pool(*args, **options)
        self.seconds += self._clock() - start
        return out


class Contestant:
    """A vector environment with actions at random, timed by its own clock."""

    def __init__(self, envs: Any, clock: Callable[[], float] = process_time):
        self._envs, self._clock, self._rng = envs, clock, np.random.default_rng(0)
        self.seconds: list[float] = []  # of an environment step
        self.bare: list[float] = []  # of those, in the pool
        self.ends = 0
        batch = getattr(envs, "_batch", None)
        self._pool = None if batch is None else Timed(batch._pool, clock)
        if batch is not None:
            batch._pool = self._pool
        envs.reset(seed=0)

    def run(self, steps: int, spread: float) -> None:
        """Take steps of all environments, with actions of at most that."""
        count, size = self._envs.action_space.shape
        actions = spread * self._rng.uniform(-1.0, 1.0, (steps, count, size)).astype(np.float32)
        before, start = 0.0 if self._pool is None else self._pool.seconds, self._clock()
        for action in actions:
            _, _, terminated, truncated, _ = self._envs.step(action)
            self.ends += int((terminated | truncated).sum())
        self.seconds.append((self._clock() - start) / (steps * count))
        if self._pool is not None:
            self.bare.append((self._pool.seconds - before) / (steps * count))

    @property
    def result(self) -> dict[str, float]:
        """Median time of an environment step [s], how many a second, and what is not spent in the pool."""
        found = {"seconds": float(np.median(self.seconds)), "per second": float(1.0 / np.median(self.seconds))}
        if self.bare:
            found["overhead"] = float(np.median(np.array(self.seconds) / self.bare) - 1.0)
        return found


def contestants() -> dict[str, Contestant]:
    found = {
        "exposim, Go2": Contestant(gymnasium.make_vec(ID, num_envs=ROWS, threads=1)),
        "exposim, Go2, two threads by the clock": Contestant(
            gymnasium.make_vec(ID, num_envs=ROWS, threads=2), perf_counter
        ),
        "exposim, Go2, rough ground": Contestant(gymnasium.make_vec(ID, num_envs=ROWS, threads=1, terrain="rough")),
    }
    try:
        from rival_pool import MujocoPool  # noqa: PLC0415
    except ModuleNotFoundError:
        return found
    theirs = gymnasium.make_vec(ID, num_envs=ROWS, threads=1)
    MujocoPool.put_into(theirs)
    found["mujoco.rollout, the same Go2"] = Contestant(theirs)
    ants = gymnasium.make_vec("Ant-v5", num_envs=ROWS, vectorization_mode="sync")
    found["Gymnasium, MuJoCo Ant"] = Contestant(ants)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two short rounds")
    parser.add_argument("--spread", type=float, default=1.0, help="of the actions: 1 is all there is, 0 stands")
    parser.add_argument("--save", type=Path, help="a JSON file")
    options = parser.parse_args()
    rounds, steps = (2, 3) if options.quick else (15, 40)
    found = contestants()
    for each in found.values():
        each.run(steps, options.spread)  # once to warm up
        each.seconds.clear()
        each.bare.clear()
    for _ in range(rounds):
        for each in found.values():
            each.run(steps, options.spread)
    results = {name: each.result for name, each in found.items()}
    first = results["exposim, Go2"]["per second"]
    print(f"{'':42}{'env steps/s':>12}{'of ours':>9}{'overhead':>10}{'ends':>7}")
    for name, each in results.items():
        overhead = f"{100 * each['overhead']:.0f} %" if "overhead" in each else ""
        print(f"{name:42}{each['per second']:12.0f}{each['per second'] / first:9.2f}{overhead:>10}{found[name].ends:7}")
    if options.save:
        options.save.write_text(json.dumps({"machine": platform.processor(), "results": results}, indent=1))


if __name__ == "__main__":
    main()
