"""Time per call of the controllers, on the scenarios that use them: python benchmarks/control.py [--repeats 300]."""

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=300, help="calls per scenario, at most as the motion has")
    repeats = parser.parse_args().repeats
    table = Table(title="One call of the controller, ms")
    for column in ("scenario", "controller", "median", "95 %", "worst", "calls"):
        table.add_column(column, justify="left" if column in ("scenario", "controller") else "right")
    warnings.simplefilter("ignore", xs.ModelWarning)
    for name in SCENARIOS:
        seconds = 1e3 * seconds_of_calls(name, repeats)
        kind = type(xs.scenarios.get(name).make_controller()).__name__
        figures = (np.median(seconds), np.percentile(seconds, 95), seconds.max())
        table.add_row(name, kind, *(f"{figure:.3f}" for figure in figures), str(len(seconds)))
    Console().print(table)


if __name__ == "__main__":
    main()
