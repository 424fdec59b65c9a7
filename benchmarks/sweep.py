"""What a sweep costs beside its cells, for one and two workers: `python benchmarks/sweep.py --ray --save sweep.json`.

Tasks as large as cells of a sweep, whose results are as large and are kept as those are, but which compute nothing.
From that follows how many cores a sweep keeps busy: the process that hands out tasks and writes files takes `serial`
for each, so that cells of t seconds keep t / serial cores busy, however many there are.
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from exposim.sweeps import Grid
from exposim.sweeps.cell import compute
from exposim.sweeps.sweeping import _record
from exposim.tasks import Executor, InThisProcess, Kept, OnRay, Processes, Task

TASKS = 300
REPEATS = 5
CELLS = (0.05, 1.0, 60.0)  # [s] computing time of cells that are looked at
EFFICIENT = 0.9


def echo(arguments: object, value: dict) -> dict:
    """Nothing, by a task as large as a cell's, with a result as large."""
    return value


def start(make: type[Executor] | object) -> tuple[Executor, float]:
    """An executor that has performed something with every worker, and how long that took [s]."""
    began = perf_counter()
    executor = make()
    list(executor.outcomes([Task("time:time", {}) for _ in range(2 * executor.workers)]))
    return executor, perf_counter() - began


def measure(executor: Executor, cell, value: dict, folder: Path) -> dict[str, float]:
    """Per task [s]: on the clock, and of the processor in this process; with the file, and the file alone."""
    kept = Kept(folder)
    tasks = [Task("sweep:echo", {"arguments": dict(cell.task().arguments), "value": value}) for _ in range(TASKS)]
    clock, cpu = perf_counter(), process_time()
    done = [outcome for _, outcome in executor.outcomes(tasks)]
    clock, cpu = perf_counter() - clock, process_time() - cpu
    assert all(outcome.error is None for outcome in done), done[0].error
    writing = perf_counter()
    for number, outcome in enumerate(done):
        kept.write(f"{number}", _record(cell, outcome))
    writing = perf_counter() - writing
    return {"clock": clock / TASKS, "handing out": cpu / TASKS, "file": writing / TASKS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ray", action="store_true", help="Ray of this machine as well")
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    cell = Grid.of("solo-trot", {"stiffness": [1e5]}, {"duration": 0.1}).cells[0]
    value = compute(**cell.task().arguments)
    sent = len(pickle.dumps((cell.task().function, cell.task().arguments)))
    kinds = {"this process": InThisProcess, "1 process": lambda: Processes(1), "2 processes": lambda: Processes(2)}
    if options.ray:
        kinds |= {"Ray, 1 worker": lambda: OnRay(workers=1), "Ray, 2 workers": lambda: OnRay(workers=2)}
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, make in kinds.items():
            executor, started = start(make)
            with executor:
                each = [measure(executor, cell, value, Path(folder)) for _ in range(REPEATS)]
            found[name] = {key: median(one[key] for one in each) for key in each[0]} | {"start": started}
        size = Kept(Path(folder)).file("0").stat().st_size
    print(f"bytes: {sent} to a worker, {len(pickle.dumps(value))} back, {size} in a file\n")
    print(
        f"{'':16}{'start':>9}{'a task':>12}{'handing out':>14}{'file':>10}   cores at {EFFICIENT:.0%}, cells of", end=""
    )
    print("".join(f"{t:>9g} s" for t in CELLS))
    for name, one in found.items():
        serial = one["handing out"] + one["file"]
        cores = [EFFICIENT * t / serial for t in CELLS]
        line = f"{name:16}{one['start']:>7.2f} s{1e6 * one['clock']:>9.0f} µs{1e6 * one['handing out']:>11.0f} µs"
        print(f"{line}{1e6 * one['file']:>7.0f} µs{'':>28}" + "".join(f"{each:>11.0f}" for each in cores))
    if options.save is not None:
        options.save.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
