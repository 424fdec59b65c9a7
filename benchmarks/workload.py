"""What learners do all day, beside MuJoCo: random targets, feet that land, slip and lift; and calm standing.

    python benchmarks/workload.py [--robots solo12 go2 g1] [--steps 10 5 2] [--seed 0] [--friction 0.8] [--drives]
        [--repeats 9] [--errors] [--save now.json] [--compare before.json] [--quick]

*Workload*: robots dropped from a few centimetres on ground of K = 1e5 N/m, B = 300 N·s/m; joint torques by PD with
targets drawn every 100 ms, held for 10 ms, or the same gains inside the step (--drives); ten episodes of 2 s, a new one
after a fall. *Calm*: standing with a small squat, steps of 1 ms (`--robots` leaves out those not named).

Each simulator records the states at the beginnings of control periods in a motion of its own, then takes every period
again from these, in repeats that are interleaved. A time is CPU time of the call that takes the steps; µs per step are
from the least time of each call over the repeats, a ratio is the median of those within one repeat, the worst is a
whole control period (at 10 ms: a step). Resolved: steps in which contacts were followed through changes. Errors
(--errors): the largest entry of the state's error after one control period, mean over some of them, each simulator
against its own truth: ours explicit Euler at 4 µs, MuJoCo itself at 5 µs.

MuJoCo (4) `discrete` has contacts of the same K and B, `implicitfast` its default ones: benchmarks/rival.py.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import platform
import warnings
from collections.abc import Callable
from pathlib import Path
from time import thread_time_ns
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import exposim as xs
from workload_scenes import CALM, DAMPING, RESTLESS, STIFFNESS, Contestant, Ours, Scene

try:
    import mujoco

    from rival import Mujoco

    RIVALS = {
        "MuJoCo discrete": (mujoco.mjtIntegrator.mjINT_DISCRETE, True),
        "MuJoCo implicitfast": (mujoco.mjtIntegrator.mjINT_IMPLICITFAST, False),
    }
except ModuleNotFoundError:  # MuJoCo is not installed: its rows are left out
    mujoco, RIVALS = None, {}

OURS, RIVAL, EULER = "Expo", "MuJoCo discrete", "explicit Euler"
TRUTH_STEP, MUJOCO_TRUTH_STEP = 4e-6, 5e-6  # [s]
Results = dict[str, dict[str, Any]]  # what was found, by contestant
WARMING_UP = 20  # calls that bring a contestant back into the caches
SAME = {"seed", "friction", "drives", "periods"}  # options without which runs do not compare

# Largest ratios of times: to MuJoCo's, by step [ms] or robot; of the worst periods; to explicit Euler's.
BARS: dict[str, dict[Any, float]] = {
    "workload": {10.0: 1.0, 5.0: 1.0, 2.0: 1.2},
    "calm": {"solo12": 1.0, "go2": 1.0, "romeo": 1.05},
}
WORST_BAR, EULER_BAR = 1.5, 2.2


def contestants_of(scene: Scene, dt: float, material: xs.Material) -> dict[str, Contestant]:
    rivals = {
        name: Mujoco(scene.robot, integrator, dt, material, mapped) for name, (integrator, mapped) in RIVALS.items()
    }
    return {OURS: Ours(scene.robot, xs.Expo(), dt, material), **rivals}


def truth_of(name: str, scene: Scene, material: xs.Material) -> tuple[Contestant, int]:
    """What is as good as exact, and its steps per control period."""
    if name == OURS:
        truth: Contestant = Ours(scene.robot, xs.ExplicitEuler(), TRUTH_STEP, material)
        return truth, round(scene.period / TRUTH_STEP)
    integrator, mapped = RIVALS[name]
    return Mujoco(scene.robot, integrator, MUJOCO_TRUTH_STEP, material, mapped), round(scene.period / MUJOCO_TRUTH_STEP)


def time_calls(contestant: Contestant, starts: list[Any], n: int) -> np.ndarray:
    """CPU seconds of n steps from each of the states."""
    spent = np.empty(len(starts))
    for i, start in [*enumerate(starts[:WARMING_UP]), *enumerate(starts)]:
        contestant.restore(start)
        before = thread_time_ns()
        contestant.run(n)
        spent[i] = thread_time_ns() - before
    return 1e-9 * spent


def cost_of_the_clock() -> float:
    """Seconds between two looks at it."""
    looks = np.array([thread_time_ns() for _ in range(10_000)])
    return 1e-9 * float(np.median(np.diff(looks)))


def mean_error(
    contestant: Contestant, truth: tuple[Contestant, int], starts: list[Any], n: int, tick: Callable[[], None]
) -> float:
    exact, steps = truth
    errors = []
    for start in starts:
        for each, count in ((contestant, n), (exact, steps)):
            each.restore(start)
            each.run(count)
        errors.append(contestant.distance(exact.save(), contestant.save()))
        tick()
    return float(np.mean(errors))


def measure(motion: str, scene: Scene, dt: float, options: argparse.Namespace, progress: Progress) -> Results:
    """What each contestant took, by its name."""
    material = xs.Material(STIFFNESS, DAMPING, options.friction)
    n = round(scene.period / dt)
    contestants = contestants_of(scene, dt, material)
    task = progress.add_task(f"{motion}, {scene.name}, {1e3 * dt:g} ms", total=None)
    record = scene.calm if motion == "calm" else scene.restless
    motions = {name: record(each, n, options.periods, options.seed) for name, each in contestants.items()}
    starts = {name: states for name, (states, _) in motions.items()}
    ours = contestants[OURS]
    resolved = ours.share_resolved if isinstance(ours, Ours) else None
    if motion == "calm":  # in a motion of contacts that stick, a step of it is worth timing
        contestants[EULER], starts[EULER] = Ours(scene.robot, xs.ExplicitEuler(), dt, material), starts[OURS]

    judged = [name for name in contestants if name != EULER] if options.errors else []
    progress.update(task, total=options.repeats + len(judged) * options.errors)
    seconds: dict[str, list[np.ndarray]] = {name: [] for name in contestants}
    clock = cost_of_the_clock()
    for _ in range(options.repeats):
        for name, each in contestants.items():
            seconds[name].append(time_calls(each, starts[name], n) - clock)
        progress.advance(task)

    results: Results = {}
    for name, spent in seconds.items():
        least = np.min(spent, axis=0)
        results[name] = {
            "seconds per step": float(least.mean()) / n,
            "seconds per simulated second": float(least.mean()) / scene.period,
            "worst period": float(least.max()),
            "ratio": float(np.median(np.sum(seconds[OURS], axis=1) / np.sum(spent, axis=1))),
            "falls": motions[name][1] if name in motions else None,
            "resolved": resolved if name == OURS else None,
            "error": None,
        }
    for name in judged:
        some = starts[name][:: max(1, len(starts[name]) // options.errors)][: options.errors]
        truth = truth_of(name, scene, material)
        results[name]["error"] = mean_error(contestants[name], truth, some, n, lambda: progress.advance(task))
    progress.remove_task(task)
    return results


def table_of(results: dict[str, Results], before: dict[str, Results]) -> Table:
    title = "CPU time; ours/this: below 1 we are faster"
    table = Table(title=title, title_justify="left")
    for column in ("motion", "simulator"):
        table.add_column(column, no_wrap=True)
    numbers = ("µs/step", "ours/this", "ms/s", "worst µs", "ours/this", "resolved", "error", "falls")
    for column in (*numbers, *(("before: ours/this", "error") if before else ())):
        table.add_column(column, justify="right")
    for cell, found in results.items():
        ours = found[OURS]
        for name, one in found.items():
            row = [
                cell if name == OURS else "",
                name,
                f"{1e6 * one['seconds per step']:.1f}",
                "" if name == OURS else f"{one['ratio']:.2f}",
                f"{1e3 * one['seconds per simulated second']:.2f}",
                f"{1e6 * one['worst period']:.0f}",
                "" if name == OURS else f"{ours['worst period'] / one['worst period']:.2f}",
                "" if one["resolved"] is None else f"{100 * one['resolved']:.0f} %",
                "" if one["error"] is None else f"{one['error']:.1e}",
                "" if one["falls"] is None else str(one["falls"]),
            ]
            if before:
                past = before.get(cell, {}).get(name, {"ratio": None, "error": None})
                row.append("" if past["ratio"] is None or name == OURS else f"{past['ratio']:.2f}")
                row.append("" if past["error"] is None else f"{past['error']:.1e}")
            table.add_row(*row, end_section=name == list(found)[-1])
    return table


def bars_of(results: dict[str, Results]) -> Table:
    table = Table(title="Bars", title_justify="left")
    for column in ("motion", "what", "found", "bar", ""):
        table.add_column(column, justify="right" if column in ("found", "bar") else "left")

    def add(cell: str, what: str, found: float, bar: float) -> None:
        table.add_row(cell, what, f"{found:.2f}", f"≤ {bar:g}", "met" if found <= bar else "[red]missed")

    for cell, found in results.items():
        motion, robot, dt = cell.split()[:3]
        bar = BARS[motion].get(robot if motion == "calm" else float(dt))
        if RIVAL in found and bar is not None:
            add(cell, f"{OURS} / {RIVAL}", found[RIVAL]["ratio"], bar)
            if motion == "workload":
                worst = found[OURS]["worst period"] / found[RIVAL]["worst period"]
                add(cell, "worst, likewise", worst, WORST_BAR)
        if EULER in found and robot == "solo12":
            add(cell, f"{OURS} / {EULER}", found[EULER]["ratio"], EULER_BAR)
    return table


def parse() -> argparse.Namespace:
    known = sorted({*RESTLESS, *CALM})
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--motions", nargs="+", choices=("workload", "calm"), default=["workload", "calm"])
    parser.add_argument("--robots", nargs="+", choices=known, default=known)
    parser.add_argument("--steps", nargs="+", type=float, default=[10.0, 5.0, 2.0], help="of the workload [ms]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--friction", type=float, default=0.8)
    parser.add_argument("--drives", action="store_true", help="gains inside the step instead of torques that are held")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--periods", type=int, default=2000, help="control periods of the workload, 10 ms each")
    parser.add_argument("--errors", nargs="?", type=int, const=200, default=0, help="mean over so many periods")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--quick", action="store_true", help="solo12 at 10 ms for a second, three repeats")
    options = parser.parse_args()
    if options.quick:
        options.robots, options.steps, options.repeats, options.periods = ["solo12"], [10.0], 3, 100
        options.errors = min(options.errors, 10)
    for dt in options.steps:
        if dt <= 0.0 or abs(10.0 / dt - round(10.0 / dt)) > 1e-9:
            parser.error(f"--steps {dt:g}: of which no whole number makes the control period, 10 ms; give 10, 5, 2, …")
    if min(options.repeats, options.periods) < 1:
        parser.error("--repeats and --periods must be at least 1")
    if options.compare and not options.compare.is_file():
        parser.error(f"--compare {options.compare}: no such file; make it with --save")
    return options


def main() -> None:
    options = parse()
    warnings.simplefilter("ignore", xs.ModelWarning)
    console = Console(width=170)
    if mujoco is None:
        console.print("MuJoCo is not installed and left out: pip install mujoco")
    settings = {name: value for name, value in vars(options).items() if name not in ("save", "compare")}
    saved = json.loads(options.compare.read_text()) if options.compare else {"settings": {}, "results": {}}
    for name in sorted(SAME & saved["settings"].keys()):
        if saved["settings"][name] != settings[name]:
            console.print(f"[yellow]--{name} was {saved['settings'][name]} before and is {settings[name]} now")
    results: dict[str, Results] = {}
    with Progress(console=console, transient=True) as progress:
        for motion in options.motions:
            for name, scene in (CALM if motion == "calm" else RESTLESS).items():
                if name in options.robots:
                    for dt in [1.0] if motion == "calm" else options.steps:
                        moved = dataclasses.replace(scene, drives=options.drives)
                        results[f"{motion} {name} {dt:g} ms"] = measure(motion, moved, 1e-3 * dt, options, progress)
    console.print(table_of(results, saved["results"]))
    console.print(bars_of(results))
    if options.save:
        versions = {"exposim": xs.__version__, "mujoco": mujoco and mujoco.__version__}
        about = versions | {"python": platform.python_version(), "machine": platform.machine()}
        now = {"about": about, "settings": settings, "results": results}
        options.save.write_text(json.dumps(now, indent=1))
        console.print(f"saved {options.save}")


if __name__ == "__main__":
    main()
