"""What is known within steps, held against the truth: forces, landings, and errors of steps chosen by accuracy.

    python benchmarks/inside.py [forces] [events] [accuracy] [--windows 100] [--periods 30] [--repeats 5] [--seed 0 1 2]
        [--save now.json] [--compare before.json] [--load now.json] [--docs docs] [--quick]

*forces*: a step of 10 ms with the torque held, from states along a jump, a trot, and go2 sent to random targets; its
forces at 1 kHz and its impulses beside those of explicit Euler at 2 µs from the same state (and how far that differs
from 4 µs). *events*: when feet land in control periods of jump and trot that begin anew, against the same truth.
*accuracy*: the largest entry of the state's error [m, rad, m/s, rad/s] after a control period from a recorded state,
mean over periods in which RK4 at 2.5 and at 5 µs agree to a tenth of the accuracy; beside fixed steps, of which the
cheapest that errs no more is named. A time is CPU time of `sim.advance` or `sim.step`, the median of repeats that are
interleaved. *Alone*: the first step tried is the whole period. *Going on*: it is what the period before proposes, as in
runs by accuracy and in calls of `sim.advance` over many periods.

--docs writes the section of docs/results.md, and the plot. --load shows what was saved, and measures nothing.
"""

from __future__ import annotations

import argparse
import json
import platform
import warnings
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import exposim as xs
import inside_accuracy
import inside_forces
from inside_page import write_page
from inside_problems import PROBLEMS, problem
from inside_tables import Bar, Cells, accuracy_cells, bars_of, cost_cells, event_cells, force_cells

PARTS = ("forces", "events", "accuracy")
FORCES = ("solo-jump", "solo-trot", "go2 random targets")
EVENTS = {"solo-jump": [2e-3, 5e-3, 1e-2], "solo-trot": [1e-3, 2e-3]}  # steps [s]
SECONDS = 4.0  # of a motion, for events
SAME = ("seed", "windows", "periods", "quick")  # options without which runs do not compare


def forces(options: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """By motion."""
    found = {}
    for name in FORCES[:1] if options.quick else FORCES:
        motion = problem(name, options.seed[0]).some(options.windows, options.seed[0])
        task = progress.add_task(f"forces, {name}", total=len(motion.starts))
        found[name] = inside_forces.forces(motion, partial(progress.advance, task))
    return found


def events(options: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """By motion and step."""
    found = {}
    for name, steps in list(EVENTS.items())[: 1 if options.quick else None]:
        motion = problem(name, options.seed[0]).first(SECONDS)
        if options.quick:
            motion = inside_forces.where_it_lands(motion)
        task = progress.add_task(f"events, {name}", total=len(motion.starts))
        found[name] = inside_forces.landings(motion, steps, partial(progress.advance, task))
    return found


def accuracy(options: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """By problem."""
    found = {}
    for name in ["box tumbling"] if options.quick else PROBLEMS:
        by_seed = {}
        for seed in options.seed:
            motion = problem(name, seed).some(options.periods, seed)
            task = progress.add_task(f"accuracy, {name}, seed {seed}", total=2 * len(motion.starts) + options.repeats)
            tick = partial(progress.advance, task)
            by_seed[seed] = inside_accuracy.measure(motion, options.repeats, tick)
        found[name] = inside_accuracy.pooled(by_seed)
    return found


def measure(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Settings and results, as they are saved."""
    settings = {name: getattr(options, name) for name in (*SAME, "repeats")}
    about = {"exposim": xs.__version__, "python": platform.python_version(), "machine": platform.machine()}
    with Progress(console=console, transient=True) as progress:
        by_part = {"forces": forces, "events": events, "accuracy": accuracy}
        results = {part: by_part[part](options, progress) for part in PARTS if part in options.parts}
    return {"about": about, "settings": settings, "results": results}


def show(now: dict[str, Any], before: dict[str, Any], console: Console) -> None:
    results = now["results"]
    for part, make in {"forces": force_cells, "events": event_cells}.items():
        if part in results:
            console.print(table_of(make(results[part])))
    if "accuracy" in results:
        console.print(table_of(accuracy_cells(results["accuracy"])))
        console.print(table_of(cost_cells(results["accuracy"])))
    past = {each[:2]: each.found for each in bars_of(before["results"])} if before else {}
    console.print(table_of_bars(bars_of(results), past))


def table_of(cells: Cells) -> Table:
    table = Table(title=cells.title, title_justify="left")
    for i, column in enumerate(cells.columns):
        table.add_column(column, justify="left" if i == 0 else "right", no_wrap=i == 0)
    for row in cells.rows:
        table.add_row(*row)
    return table


def table_of_bars(bars: list[Bar], past: dict[tuple[str, ...], str]) -> Table:
    table = Table(title="Bars", title_justify="left")
    for column in ("where", "what", "found", "bar", "", *(("before",) if past else ())):
        table.add_column(column, justify="right" if column in ("found", "bar", "before") else "left")
    for each in bars:
        verdict = "met" if each.met else "[red]missed"
        before = (past.get(each[:2], ""),) if past else ()
        table.add_row(each.where, each.what, each.found, each.bar, verdict, *before)
    return table


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}; by default all")
    parser.add_argument("--windows", type=int, default=100, help="steps per motion, for forces")
    parser.add_argument("--periods", type=int, default=30, help="per problem and seed, for accuracy")
    parser.add_argument("--repeats", type=int, default=5, help="of which the median is the time")
    parser.add_argument(
        "--seed", type=int, nargs="+", default=[0, 1, 2], help="of accuracy all, of the others the first"
    )
    parser.add_argument("--save", type=Path)
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--load", type=Path, help="show this, measure nothing")
    parser.add_argument("--docs", type=Path, help="folder of results.md, whose section is written anew")
    parser.add_argument("--quick", action="store_true", help="one motion of each part, a few periods")
    options = parser.parse_args()
    options.parts = options.parts or list(PARTS)
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"{part!r} is no part; give some of {', '.join(PARTS)}")
    if options.quick:
        options.windows, options.periods, options.repeats, options.seed = 4, 4, 1, options.seed[:1]
    if min(options.windows, options.periods, options.repeats) < 1:
        parser.error("--windows, --periods and --repeats must be at least 1")
    for name in ("compare", "load"):
        file = getattr(options, name)
        if file and not file.is_file():
            parser.error(f"--{name} {file}: no such file; make it with --save")
    return options


def main() -> None:
    options = parse()
    warnings.simplefilter("ignore", xs.ModelWarning)
    console = Console(width=150)
    before = json.loads(options.compare.read_text()) if options.compare else {}
    now = json.loads(options.load.read_text()) if options.load else measure(options, console)
    for name in SAME if before else ():
        if before["settings"][name] != now["settings"][name]:
            console.print(f"[yellow]--{name} was {before['settings'][name]} before and is {now['settings'][name]} now")
    show(now, before, console)
    if options.save:
        options.save.write_text(json.dumps(now))
        console.print(f"saved {options.save}")
    if options.docs:
        console.print(f"wrote {write_page(now, options.docs)}")


if __name__ == "__main__":
    main()
