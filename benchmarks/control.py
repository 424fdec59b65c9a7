"""Time per call of the controllers, and speed of the runs they are in: python benchmarks/control.py [--repeats 300]."""

from __future__ import annotations

import argparse
import warnings
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

import exposim as xs
from exposim.scenarios import Run

SCENARIOS = ("solo-squat", "romeo-walk", "solo-jump", "solo-trot")


def seconds_of_calls(name: str, repeats: int) -> np.ndarray:
    """Of a controller at work: every call is for another state of a real motion."""
    scenario = xs.scenarios.get(name)
    run = Run(scenario, dt=scenario.control_period / round(scenario.control_period / 2e-3))
    seconds = []
    while len(seconds) < repeats and not run.done:
        state = run.sim.state
        controller = run.controller
        start = perf_counter()
        tau = controller(state.t, state)
        seconds.append(perf_counter() - start)
        run.sim.step(tau, n=run.steps_per_period)
    return np.array(seconds)


def times_real_time(name: str) -> float:
    """Speed of a run as ``exposim run`` advances it: controller, steps and recording, no start, plots or saving."""
    run = Run(xs.scenarios.get(name))
    start = perf_counter()
    while not run.done:
        run.advance()
    return run.t / (perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=300, help="calls per scenario, at most as the motion has")
    repeats = parser.parse_args().repeats
    table = Table(title="One call of the controller, µs, and the run as a multiple of real time, the best of three")
    for column in ("scenario", "controller", "median", "95 %", "worst", "calls", "run"):
        table.add_column(column, justify="left" if column in ("scenario", "controller") else "right")
    warnings.simplefilter("ignore", xs.ModelWarning)
    for name in SCENARIOS:
        microseconds = 1e6 * seconds_of_calls(name, repeats)
        kind = type(xs.scenarios.get(name).make_controller()).__name__
        figures = (np.median(microseconds), np.percentile(microseconds, 95), microseconds.max())
        speed = max(times_real_time(name) for _ in range(3))
        table.add_row(name, kind, *(f"{figure:.0f}" for figure in figures), str(len(microseconds)), f"{speed:.0f} ×")
    Console().print(table)


if __name__ == "__main__":
    main()
