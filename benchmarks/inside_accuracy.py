"""Errors and costs of steps that are chosen by accuracy, beside those of fixed steps: for benchmarks/inside.py."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from time import thread_time_ns
from typing import Any

import numpy as np

import exposim as xs
from inside_problems import Problem, Start
from workload import WARMING_UP, cost_of_the_clock

TRUTHS = (2.5e-6, 5e-6)  # [s] of RK4: the first is the truth, the second shows how good it is
ACCURACIES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
SURE = 0.1  # of the accuracy: truths that differ by more cannot tell whether it is met
DIVISIONS = (
    *range(1, 9),
    10,
    12,
    14,
    16,
    20,
    24,
    28,
    32,
    40,
    48,
    64,
    80,
    96,
    128,
    160,
    192,
    256,
    320,
    384,
    512,
)  # of a control period
REACHES = 1.01  # times the error: steps that are the same but for rounding reach it
SMALLEST = 4e-5  # fixed step [s]
COLD, WARM = "alone", "going on"  # how a period is begun: with the largest step; with that which the last one proposes

# What takes a period, from a state: a simulator, and how.
Contestant = tuple[xs.Simulator, Callable[[int], Any]]
Results = dict[str, Any]


def measure(problem: Problem, repeats: int, tick: Callable[[], None]) -> Results:
    """Errors, (periods,), and seconds of CPU time of every period, by what took it."""
    truth, rough = (_ends(problem, h, tick) for h in TRUTHS)
    contestants = {
        **{f"{COLD} {each:g}": _by_accuracy(problem, each, carried=False) for each in ACCURACIES},
        **{f"{WARM} {each:g}": _by_accuracy(problem, each, carried=True) for each in ACCURACIES},
        **{f"fixed {n}": _by_steps(problem, n) for n in DIVISIONS if n == 1 or problem.period / n >= SMALLEST},
    }
    errors = {name: _errors(problem, each, truth) for name, each in contestants.items()}
    seconds: dict[str, list[np.ndarray]] = {name: [] for name in contestants}
    clock = cost_of_the_clock()
    for _ in range(repeats):
        for name, each in contestants.items():
            seconds[name].append(_time(problem.starts, each) - clock)
        tick()
    return {
        "period": problem.period,
        "gaps": [xs.analysis.distance(problem.robot, *each) for each in zip(truth, rough, strict=True)],
        "errors": {name: list(each) for name, each in errors.items()},
        "seconds": {name: list(np.median(each, axis=0)) for name, each in seconds.items()},
    }


def _ends(problem: Problem, h: float, tick: Callable[[], None]) -> list[xs.State]:
    """Where the periods truly end."""
    sim, ends = problem.simulator(xs.RungeKutta4(), h), []
    for start in problem.starts:
        sim.state = start.state
        sim.step(start.tau, round(problem.period / h))
        ends.append(sim.state)
        tick()
    return ends


def _by_steps(problem: Problem, n: int) -> Contestant:
    sim = problem.simulator(xs.Expo(), problem.period / n)
    return sim, lambda i: sim.step(problem.starts[i].tau, n)


def _by_accuracy(problem: Problem, accuracy: float, *, carried: bool) -> Contestant:
    sim, period = problem.simulator(xs.Expo(), problem.period), problem.period
    first: list[float | None] = [None] * len(problem.starts)
    for i, before in enumerate(problem.before):
        if carried and before is not None:
            sim.state = before.state
            first[i] = sim.advance(period, before.tau, accuracy).next_step
    return sim, lambda i: sim.advance(period, problem.starts[i].tau, accuracy, first_step=first[i])


def _errors(problem: Problem, contestant: Contestant, truth: list[xs.State]) -> np.ndarray:
    sim, take = contestant
    errors = np.full(len(truth), np.inf)
    for i, (start, end) in enumerate(zip(problem.starts, truth, strict=True)):
        sim.state = start.state
        take(i)
        if not sim.diverged:
            errors[i] = xs.analysis.distance(problem.robot, end, sim.state)
    return errors


def _time(starts: tuple[Start, ...], contestant: Contestant) -> np.ndarray:
    """CPU seconds of every period."""
    sim, take = contestant
    spent = np.empty(len(starts))
    for i in [*range(min(WARMING_UP, len(starts))), *range(len(starts))]:
        sim.state = starts[i].state
        before = thread_time_ns()
        take(i)
        spent[i] = thread_time_ns() - before
    return 1e-9 * spent


def pooled(by_seed: dict[int, Results]) -> Results:
    """All periods of several runs, and of which seed each is."""
    runs = list(by_seed.values())
    arrays = {
        what: {name: [x for run in runs for x in run[what][name]] for name in runs[0][what]}
        for what in ("errors", "seconds")
    }
    seeds = [seed for seed, run in by_seed.items() for _ in run["gaps"]]
    return {"period": runs[0]["period"], "gaps": [x for run in runs for x in run["gaps"]], "seeds": seeds, **arrays}


def of_seed(found: Results, seed: int) -> Results:
    """Its periods alone."""

    def some(values: list[float]) -> list[float]:
        return [x for x, its in zip(values, found["seeds"], strict=True) if its == seed]

    arrays = {what: {name: some(each) for name, each in found[what].items()} for what in ("errors", "seconds")}
    return {"period": found["period"], "gaps": some(found["gaps"]), "seeds": some(found["seeds"]), **arrays}


def is_sure(found: Results, accuracy: float) -> np.ndarray:
    """Periods in which the truth is good enough to judge by, (periods,)."""
    return np.array(found["gaps"]) <= SURE * accuracy


def mean(found: Results, what: str, name: str, of: np.ndarray) -> float:
    """Error, or seconds, over some periods."""
    values = np.array(found[what][name])[of]
    return float(values.mean()) if values.size else float("nan")


def judge(found: Results, accuracy: float, how: str = COLD) -> Results:
    """Of an accuracy: mean error and cost, and the cheapest fixed step that errs no more, in the same periods."""
    sure, name = is_sure(found, accuracy), f"{how} {accuracy:g}"
    error, seconds = (mean(found, what, name, sure) for what in ("errors", "seconds"))
    fixed = [each for each in found["errors"] if each.startswith("fixed ")]
    reach = [each for each in fixed if mean(found, "errors", each, sure) <= REACHES * error]
    cheapest = min(reach, key=lambda each: mean(found, "seconds", each, sure), default=None)
    others = mean(found, "seconds", cheapest, sure) if cheapest else float("inf")
    return {
        "periods": int(sure.sum()),
        "error": error,
        "of the accuracy": error / accuracy,
        "worst": float(np.max(np.array(found["errors"][name])[sure], initial=0.0)),
        "seconds": seconds,
        "fixed": found["period"] / int(cheapest.split()[1]) if cheapest else None,
        "cost by the fixed": seconds / others,
    }


def is_monotone(found: Results, how: str = COLD) -> bool:
    """Whether asking for ten times more never gives less, in the periods that can tell."""
    return all(
        mean(found, "errors", f"{how} {fine:g}", is_sure(found, fine))
        <= REACHES * mean(found, "errors", f"{how} {coarse:g}", is_sure(found, fine))
        for coarse, fine in pairwise(ACCURACIES)
        if is_sure(found, fine).any()
    )
