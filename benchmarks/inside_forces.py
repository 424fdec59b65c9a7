"""Forces and landings within steps, held against explicit Euler in steps of microseconds: for benchmarks/inside.py."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

import exposim as xs
from inside_problems import Problem, Start

TRUTHS = (2e-6, 4e-6)  # [s] the first is the truth, the second shows how good it is
WINDOW = 1e-2  # [s] one step
RATE = 1e3  # of the sensor [Hz]
FINELY = 4000  # parts of a window, for impulses
GRAVITY = 9.81
LIGHT = 0.01  # of the weight: with less force no relative difference is taken

Tick = Callable[[], None]
Landings = dict[int, list[float]]  # when [s], by contact


def forces(problem: Problem, tick: Tick) -> dict[str, Any]:
    """Of single steps of 10 ms with torques held: at 1 kHz, and impulses, relative to the truth.

    Relative differences are of all contacts together, at every instant: Σ|λ − λ_true| / Σ|λ_true|. Impulses: the same
    of ∫λ over a window.
    """
    step = problem.simulator(xs.Expo(), WINDOW)
    truths = [problem.simulator(xs.ExplicitEuler(), h) for h in TRUTHS]
    light = LIGHT * GRAVITY * pin.computeTotalMass(problem.robot.model)
    found = defaultdict(list)
    for start in problem.starts:
        exact, again = (_by_small_steps(truth, start) for truth in truths)
        for name, (sampled, impulses) in {"step": _by_one_step(step, start), "truths": again}.items():
            pressed = _total(exact[0]) > light
            found[name].extend((_total(sampled - exact[0]) / np.maximum(_total(exact[0]), light))[pressed])
            found[f"{name}, off"].append(np.linalg.norm(impulses - exact[1], axis=1))
            out_of_nothing = ~pressed & (_total(sampled) > light)
            found[f"{name}, out of nothing"].append(out_of_nothing.sum())
        found["impulse"].append(np.linalg.norm(exact[1], axis=1))
        tick()
    true = np.array(found["impulse"])  # (windows, contacts)
    return {
        name: {
            "samples": len(found[name]),
            "mean": float(np.mean(found[name])),
            "median": float(np.median(found[name])),
            "out of nothing": int(np.sum(found[f"{name}, out of nothing"])),
            **_impulses(np.array(found[f"{name}, off"]), true, light * WINDOW),
        }
        for name in ("step", "truths")
    }


def _total(lam: np.ndarray) -> np.ndarray:
    """Sum over contacts of the norms, (nt,)."""
    return np.linalg.norm(lam, axis=2).sum(axis=1)


def _impulses(off: np.ndarray, true: np.ndarray, light: float) -> dict[str, float]:
    """Of contacts all in all, the worst of them; and of windows."""
    touches = true.sum(axis=0) > light
    windows = (off.sum(axis=1) / np.maximum(true.sum(axis=1), light))[true.sum(axis=1) > light]
    return {
        "impulse of the worst contact": float((off.sum(axis=0)[touches] / true.sum(axis=0)[touches]).max()),
        "impulse, mean": float(windows.mean()),
        "impulse, median": float(np.median(windows)),
    }


def _by_one_step(sim: xs.Simulator, start: Start) -> tuple[np.ndarray, np.ndarray]:
    """Forces at 1 kHz, (nt, nc, 3), and impulses, (nc, 3)."""
    sim.state = start.state
    sim.step(start.tau)
    path = sim.path
    times = np.linspace(path.start, path.end, round(WINDOW * RATE) + 1)[1:]
    middles = path.start + WINDOW / FINELY * (np.arange(FINELY) + 0.5)
    return path.forces(times), WINDOW * path.forces(middles).mean(axis=0)


def _by_small_steps(sim: xs.Simulator, start: Start) -> tuple[np.ndarray, np.ndarray]:
    """The same; a step of explicit Euler has the impulse of the force that it begins with."""
    sim.state = start.state
    steps = round(WINDOW / sim.dt)
    lam = np.empty((steps + 1, *sim.forces.shape))
    lam[0] = sim.forces
    for i in range(steps):
        sim.step(start.tau)
        lam[i + 1] = sim.forces
    every = round(steps / (WINDOW * RATE))
    return lam[every::every], sim.dt * lam[:-1].sum(axis=0)


def where_it_lands(problem: Problem) -> Problem:
    """Control periods alone in which something lands, if taken in one step."""
    sim = problem.simulator(xs.Expo(), problem.period)
    starts = tuple(start for start in problem.starts if _landings(sim, start, problem.period))
    return dataclasses.replace(problem, starts=starts)


def landings(problem: Problem, steps: list[float], tick: Tick) -> dict[str, Any]:
    """How far from their true times, by the step [ms]; every control period begins anew."""
    truth, rough = (problem.simulator(xs.ExplicitEuler(), h) for h in TRUTHS)
    sims = {f"{1e3 * dt:g} ms": problem.simulator(xs.Expo(), dt) for dt in steps} | {"truths": rough}
    off: dict[str, list[float]] = {name: [] for name in sims}
    wrong = {name: [0, 0] for name in sims}  # landings that are missed, and that are not there
    for start in problem.starts:
        true = _landings(truth, start, problem.period)
        for name, sim in sims.items():
            seen = _landings(sim, start, problem.period)
            for i in true.keys() | seen.keys():
                here, there = true.get(i, []), seen.get(i, [])
                off[name] += [abs(a - b) for a, b in zip(here, there, strict=False)]
                wrong[name][0] += max(0, len(here) - len(there))
                wrong[name][1] += max(0, len(there) - len(here))
        tick()
    return {
        name: {
            "landings": len(each),
            "largest": max(each, default=0.0),
            "median": float(np.median(each)) if each else 0.0,
            "missed": wrong[name][0],
            "made up": wrong[name][1],
        }
        for name, each in off.items()
    }


def _landings(sim: xs.Simulator, start: Start, seconds: float) -> Landings:
    sim.state = start.state
    sim.step(start.tau, round(seconds / sim.dt))
    found: Landings = {}
    for event in sim.events:
        if event.kind == "land":
            found.setdefault(event.index, []).append(event.t)
    return found
