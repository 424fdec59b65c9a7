"""Steps per CPU-second of rollouts beside `mujoco.rollout`, what a rollout costs beside its steps, and threads.

    python benchmarks/rollout.py [--robots solo12 go2 g1] [--dt 5] [--rows 64] [--steps 20] [--repeats 7] [--seed 0]
        [--save now.json]

The workload of benchmarks/workload.py: robots dropped from a few centimetres, joints sent to random targets that are
held for 100 ms, by drives inside the step, or by torques that are held for 10 ms. Each simulator records states of its
own motion; from each of these a row takes steps with its target held, or from each of eight times as many the steps for
which its torques are. MuJoCo (4) `discrete` has contacts of the same K and B (benchmarks/rival.py).

*steps/s*: per second of CPU time, one thread, q and v recorded, least time over interleaved repeats; *ratio*: the
median of those within one repeat, ours over MuJoCo's. *Overhead*: CPU time of the rollout over that of setting each
state and calling `step(n)` of the core, which is a loop in C++. *Small call*: wall time of rows of 4 steps over the
same loop. *Two threads*: wall time of one over that of two, of meaning on an idle machine alone: the load is printed.
*Their CPU*: time of two threads together over that of one, which is 1 where they are not in each other's way.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import exposim as xs
from workload_scenes import DAMPING, RESTLESS, STIFFNESS, Ours, Scene

try:
    import mujoco
    import mujoco.rollout

    from rival import Mujoco
except ModuleNotFoundError:  # MuJoCo is not installed: its columns are left out
    mujoco = None

SMALL = 4  # steps of a small call


class OurRows:
    """Rows of ours, by a rollout and by a loop of steps."""

    def __init__(self, scene: Scene, dt: float, rows: int, steps: int, seed: int):
        ours = Ours(scene.robot, xs.Expo(), dt, xs.Material(STIFFNESS, DAMPING, 0.8))
        saved = chosen(scene.restless(ours, round(scene.period / dt), max(200, rows), seed)[0], rows)
        self._core = ours.sim._core
        self.steps = steps
        self.pools = {threads: xs.Rollout(ours.sim, threads=threads) for threads in (1, 2)}
        self._states = self.pools[1].pack([state for state, _, _ in saved])
        self._held = [(tau, None if target is None else np.r_[scene.robot.q0[:7], target]) for _, tau, target in saved]
        tau, target = (np.array([each[k] for each in self._held])[:, None] for k in (0, 1))
        self._inputs = {"targets": target} if scene.drives else {"taus": tau}
        self._out: dict[int, xs.RolloutResult | None] = {}

    def rolled(self, threads: int = 1, steps: int | None = None) -> None:
        """By a rollout, into the same arrays each time."""
        steps = steps or self.steps
        self._out[steps] = self.pools[threads](self._states, **self._inputs, steps=steps, out=self._out.get(steps))

    def looped(self, steps: int | None = None) -> None:
        """By the core's own loop of steps."""
        for state, (tau, target) in zip(self._states, self._held, strict=True):
            self._core.set_state(state)
            self._core.step(tau, steps or self.steps, (), target)


class TheirRows:
    """Rows of MuJoCo's."""

    def __init__(self, scene: Scene, dt: float, rows: int, steps: int, seed: int):
        rival = Mujoco(
            scene.robot, mujoco.mjtIntegrator.mjINT_DISCRETE, dt, xs.Material(STIFFNESS, DAMPING, 0.8), mapped=True
        )
        saved = chosen(scene.restless(rival, round(scene.period / dt), max(200, rows), seed)[0], rows)
        kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
        self._model, self._data, self._steps = rival.model, rival.data, steps
        self._spec = mujoco.mjtState.mjSTATE_CTRL if scene.drives else mujoco.mjtState.mjSTATE_QFRC_APPLIED
        self._states = np.empty((rows, mujoco.mj_stateSize(rival.model, kind)))
        self._warm = np.empty((rows, rival.model.nv))
        self._control = np.empty((rows, steps, mujoco.mj_stateSize(rival.model, self._spec)))
        for i, each in enumerate(saved):
            rival.restore(each)
            mujoco.mj_getState(rival.model, rival.data, self._states[i], kind)
            self._warm[i] = rival.data.qacc_warmstart
            self._control[i] = rival.data.ctrl if scene.drives else rival.data.qfrc_applied
        self._pool = mujoco.rollout.Rollout(nthread=0)

    def rolled(self) -> None:
        """By its rollout, in the calling thread."""
        self._pool.rollout(
            self._model,
            [self._data],
            self._states,
            self._control,
            control_spec=int(self._spec),
            nstep=self._steps,
            initial_warmstart=self._warm,
        )


def chosen(starts: list[Any], rows: int) -> list[Any]:
    """As many, evenly among them."""
    return [starts[i] for i in np.linspace(0, len(starts) - 1, rows).astype(int)]


def seconds(act: Callable[[], object], clock: Callable[[], float]) -> float:
    """That a call takes by a clock."""
    start = clock()
    act()
    return clock() - start


def measure(name: str, drives: bool, options: argparse.Namespace) -> dict[str, float | None]:
    """What was found of a robot."""
    scene, dt = replace(RESTLESS[name], drives=drives), 1e-3 * options.dt
    rows, steps = (options.rows, options.steps) if drives else (8 * options.rows, round(scene.period / dt))
    ours = OurRows(scene, dt, rows, steps, options.seed)
    theirs = TheirRows(scene, dt, rows, steps, options.seed) if mujoco else None
    acts: dict[str, tuple[Callable[[], object], Callable[[], float]]] = {
        "ours": (ours.rolled, process_time),
        "loop": (ours.looped, process_time),
        "small": (lambda: ours.rolled(steps=SMALL), perf_counter),
        "small loop": (lambda: ours.looped(SMALL), perf_counter),
        "one": (ours.rolled, perf_counter),
        "two": (lambda: ours.rolled(threads=2), perf_counter),
        "CPU of two": (lambda: ours.rolled(threads=2), process_time),
    }
    if theirs:
        acts["theirs"] = (theirs.rolled, process_time)
    for act, _ in acts.values():
        act()  # warms up
    spent = {name: np.empty(options.repeats) for name in acts}
    for i in range(options.repeats):
        for what, (act, clock) in acts.items():
            spent[what][i] = seconds(act, clock)
    taken = rows * steps
    return {
        "steps per CPU-second": taken / float(spent["ours"].min()),
        "MuJoCo's": taken / float(spent["theirs"].min()) if theirs else None,
        "ratio": float(np.median(spent["theirs"] / spent["ours"])) if theirs else None,
        "overhead": float(np.median(spent["ours"] / spent["loop"])) - 1.0,
        "small call": float(np.median(spent["small"] / spent["small loop"])),
        "two threads": float(np.median(spent["one"] / spent["two"])),
        "their CPU": float(np.median(spent["CPU of two"] / spent["ours"])),
    }


def main() -> None:
    """Measures, prints and saves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="+", default=list(RESTLESS), choices=list(RESTLESS))
    parser.add_argument("--dt", type=float, default=5.0, help="step [ms]")
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20, help="of a row")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", type=Path, help="file for the numbers")
    options = parser.parse_args()
    found = {
        f"{name}, {kind}": measure(name, kind == "drives", options)
        for kind in ("drives", "torques")
        for name in options.robots
    }
    table = Table("robot", *next(iter(found.values())), title="rollouts")
    for name, each in found.items():
        shown = [
            "–" if value is None else f"{value:+.1%}" if what == "overhead" else f"{value:.3g}"
            for what, value in each.items()
        ]
        table.add_row(name, *shown)
    Console().print(table)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    if options.save:
        options.save.write_text(json.dumps(found, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
