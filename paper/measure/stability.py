"""Runs in closed loop at halved steps: see :mod:`paper.experiments.stability`."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from exposim import scenarios
from exposim.scenarios import Scenario
from paper.cell import Rows
from paper.measure.variants import VARIANTS

HERE = "paper.measure.stability"
FURTHER = 2  # halvings below the one found


def halving(scenario: str, variant: str, duration: float | None, smallest: float, folder: Path) -> Rows:
    """Runs a scenario at halved steps until enough is known."""
    setting, chosen = scenarios.get(scenario), VARIANTS[variant]

    def attempt(dt: float) -> dict[str, Any]:
        return {"scenario": scenario, "variant": variant, "control period": setting.control_period} | try_step(
            setting, dt, duration, integrator=chosen
        )

    return halve(setting.control_period, smallest, attempt)


def try_step(setting: Scenario, dt: float, duration: float | None = None, **settings: Any) -> dict[str, Any]:
    """One run in closed loop: when it diverged, if it did, and what its judge says."""
    trajectory = setting.run(dt=dt, duration=duration, **settings)
    diverged_at = trajectory.outcome.diverged_at
    with np.errstate(all="ignore"):  # what came just before a divergence may be beyond all bounds
        complaints = setting.judge(trajectory).complaints
    return {
        "dt": dt,
        "bounded": diverged_at is None,
        "on task": diverged_at is None and not complaints,
        "diverged at": math.nan if diverged_at is None else diverged_at,
        "complaints": "; ".join(complaints),
    }


def halve(largest: float, smallest: float, attempt: Callable[[float], dict[str, Any]]) -> Rows:
    """Attempts at halved steps, until one is on task and `FURTHER` more below both that and the first bounded one.

    Args:
        largest: Step to begin with [s].
        smallest: Step below which nothing is tried [s].
        attempt: Says of a step at least whether it is ``bounded`` and ``on task``.
    """
    rows: Rows = []
    dt = largest
    while dt >= smallest * (1.0 - 1e-9):
        rows.append(attempt(dt))
        first = [first_to_reach(rows, goal) for goal in ("bounded", "on task")]
        if all(i is not None and len(rows) > i + FURTHER for i in first):
            break
        dt /= 2
    return rows


def first_to_reach(rows: Rows, goal: str) -> int | None:
    """Number of the first attempt that reached a goal."""
    return next((i for i, row in enumerate(rows) if row[goal]), None)
