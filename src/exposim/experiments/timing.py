r"""Where the time of a step goes, and what balancing does to the matrix: the paper's table of computation times.

Stages of :class:`exposim.Simulator` stand for the paper's operations: *contacts* for ``computeContactForces``,
*dynamics terms* for ``prepareExpLDS``, *kernel* for ``computeIntegrals``; *integration* is the rest. Stages are
measured with the profiler on, whole steps with it off; a stage's time is its share of the former times the latter.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from exposim import _core, scenarios
from exposim._checks import Array
from exposim.experiments.accuracy import speed_of_this_machine
from exposim.experiments.cells import Cell, Notebook, Rows
from exposim.experiments.style import (
    BLUE,
    COLUMN,
    GREY,
    ORANGE,
    PAGE,
    SKY,
    SMALL,
    VERMILION,
    figure_legend,
    logarithmic,
    name_panel,
    panels,
)
from exposim.experiments.variants import QUICK_DURATIONS, SCENARIOS, VARIANTS
from exposim.integrators import Expo
from exposim.profile import STAGES
from exposim.scenarios import Scenario
from exposim.simulator import Simulator
from exposim.state import State

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HERE = "exposim.experiments.timing"
TROT, WALK = "solo-trot", "romeo-walk"
LABELS = ("Expo, 0 products", "Expo", "Expo, full exponential", "Expo, not balanced", "explicit Euler")
STEP = "step"
# What the paper has: [µs] of a step and of its operations.
PAPER_OPERATIONS = {
    STEP: "step",
    "contacts": "computeContactForces",
    "dynamics terms": "prepareExpLDS",
    "kernel": "computeIntegrals",
}
PAPER = {
    "Expo, 0 products": {STEP: 39.0, "contacts": 8.0, "dynamics terms": 13.0, "kernel": 13.0},
    # The standard routine, which does not balance.
    "Expo, not balanced": {STEP: 94.0, "contacts": 8.0, "dynamics terms": 13.0, "kernel": 67.0},
    "explicit Euler": {STEP: 9.0},
}
# A machine whose speed changes by more during a measurement is busy with something else.
DISTURBED = 0.25


def phases(chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> list[list[Cell]]:
    """Norms, then times, which stand alone."""
    return [_norm_cells(chosen, quick), _time_cells(chosen, quick)]


def tables(notebook: Notebook, chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> dict[str, pd.DataFrame]:
    """``timing``: every variant and operation beside the paper's; ``balancing``: norms before and after."""
    pd = importlib.import_module("pandas")  # slow to import
    rows = notebook.rows(_time_cells(chosen, quick))
    steps = {row["variant"]: row["microseconds"] for row in rows if row["operation"] == STEP}
    for row in rows:
        label, operation = row["variant"], row["operation"]
        paper = PAPER.get(label, {})
        row["share"] = row["microseconds"] / steps[label]
        row["paper operation"] = PAPER_OPERATIONS.get(operation, "")
        row["paper microseconds"] = paper.get(operation, np.nan)
        row["paper share"] = row["paper microseconds"] / paper.get(STEP, np.nan)
        row["ratio to explicit Euler"] = row["microseconds"] / steps.get("explicit Euler", np.nan)
        row["paper ratio"] = row["paper microseconds"] / PAPER["explicit Euler"][STEP]
    return {
        "timing": pd.DataFrame(rows),
        "balancing": pd.DataFrame(notebook.rows(_norm_cells(chosen, quick))),
    }


# Cells.


def times(dt: float, count: int, repeats: int, folder: Path) -> Rows:
    """Whole steps and their stages, of states all along the trot."""
    setting = scenarios.get(TROT)
    states, torques = states_of(setting, count)
    before = speed_of_this_machine()
    sims = {label: _simulator(setting, label, dt) for label in LABELS}
    whole = dict(zip(LABELS, measure(list(sims.values()), states, torques, repeats), strict=True))
    shares = {label: _stage_shares(_simulator(setting, label, dt, profile=True), states, torques) for label in LABELS}
    disturbed = abs(speed_of_this_machine() / before - 1.0) > DISTURBED
    contacts = float(np.mean([state.active.sum() for state in states]))
    rows: Rows = []
    for label in LABELS:
        seconds = whole[label]["seconds"]
        parts = {STEP: 1.0} | shares[label]
        rows += [
            {"variant": label, "dt": dt, "operation": operation, "microseconds": 1e6 * seconds * share}
            | {"disturbed": disturbed, "mean contacts": contacts}
            for operation, share in parts.items()
        ]
    return rows


def norms(scenario: str, duration: float, interval: float, folder: Path) -> Rows:
    """1-norms of the matrix of ``eq:contact_dyn`` before and after balancing, through a motion."""
    setting = scenarios.get(scenario)
    states, _ = states_of(setting, round(duration / interval), duration)
    sim = Simulator(setting.robot, setting.ground, Expo(), setting.control_period)
    rows: Rows = []
    for state in states:
        if not state.active.any():
            continue
        sim.state = state
        A = np.asarray(sim._core.contact_matrix())
        balanced, _ = _core.balance(A)
        rows.append(
            {
                "scenario": scenario,
                "t": state.t,
                "norm before": norm1(A),
                "norm after": norm1(np.asarray(balanced)),
                "contacts": int(state.active.sum()),
            }
        )
    return rows


def measure(
    sims: Sequence[Simulator], states: Sequence[State], torques: Sequence[Array], repeats: int
) -> list[dict[str, float]]:
    """Of each simulator: seconds per step, Newton iterations per step, and the share of steps where they failed.

    The seconds are the median over interleaved repeats of the mean over the states, taken in C++.
    """
    cores = [_core_state(state) for state in states]
    samples: list[list[float]] = [[] for _ in sims]
    iterations = [0.0] * len(sims)
    for _ in range(repeats):
        for k, sim in enumerate(sims):
            taken = [_core.time_steps(sim._core, [core], tau) for core, tau in zip(cores, torques, strict=True)]
            samples[k].append(float(np.mean([seconds[0] for seconds, _ in taken])))
            iterations[k] = float(np.mean([count[0] for _, count in taken]))
    return [
        {
            "seconds": float(np.median(samples[k])),
            "iterations": iterations[k],
            "not converged": _share_not_converged(sim, states, torques),
        }
        for k, sim in enumerate(sims)
    ]


def states_of(setting: Scenario, count: int, duration: float | None = None) -> tuple[list[State], list[Array]]:
    """States all along a motion, at beginnings of control periods, and the torques that follow them."""
    dt = setting.control_period / max(1, round(setting.control_period / 1e-3))
    every = round(setting.control_period / dt)
    trajectory = setting.run(Expo(), dt, duration, record_every=every)
    chosen = np.unique(np.linspace(0, len(trajectory) - 2, count).astype(int))
    return [trajectory.state(int(i)) for i in chosen], [trajectory.tau[i] for i in chosen]


def norm1(A: Array) -> float:
    """Largest column sum of absolute values."""
    return float(np.abs(A).sum(axis=0).max())


def _share_not_converged(sim: Simulator, states: Sequence[State], torques: Sequence[Array]) -> float:
    failed = 0
    for state, tau in zip(states, torques, strict=True):
        sim.state = state
        sim.step(tau)
        failed += sim.statistics.not_converged
    return failed / len(states)


def _stage_shares(sim: Simulator, states: Sequence[State], torques: Sequence[Array]) -> dict[str, float]:
    """Share of each stage, 0 to 1; in sum one. Under the conditions of :func:`measure`."""
    cores = [_core_state(state) for state in states]
    seconds = np.zeros((5, len(STAGES)))
    for row in seconds:
        for core, tau in zip(cores, torques, strict=True):
            _core.time_steps(sim._core, [core], tau)
            row += [total for _, total in sim._core.profile]  # of this step alone
    median = np.median(seconds, axis=0)
    return {stage: float(share) for stage, share in zip(STAGES, median / median.sum(), strict=True) if share > 0.0}


def _core_state(s: State) -> _core.State:
    return _core.State(s.t, s.q, s.v, s.active, s.slipping, s.p0, s.dp0)


def _simulator(setting: Scenario, label: str, dt: float, **options: Any) -> Simulator:
    return Simulator(setting.robot, setting.ground, VARIANTS[label].integrator, dt, on_divergence="stop", **options)


def _norm_cells(chosen: tuple[str, ...], quick: bool) -> list[Cell]:
    durations = QUICK_DURATIONS if quick else {TROT: 4.0, WALK: 5.0}
    return [
        Cell(f"{HERE}:norms", {"scenario": name, "duration": durations[name], "interval": 0.04 if quick else 0.01})
        for name in (TROT, WALK)
        if name in chosen
    ]


def _time_cells(chosen: tuple[str, ...], quick: bool) -> list[Cell]:
    size = {"count": 50, "repeats": 7} if quick else {"count": 300, "repeats": 41}
    return [Cell(f"{HERE}:times", {"dt": 2e-3} | size, alone=True)] if TROT in chosen else []


# Figures.

STAGE_COLOURS = dict(zip(STAGES, (SKY, ORANGE, BLUE, GREY), strict=True))


def figures(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """Stacked bars of the stages, and norms before and after balancing."""
    drawn = {}
    if (table := tables.get("timing")) is not None and not table.empty:
        drawn["timing"] = _bars(table)
    if (table := tables.get("balancing")) is not None and not table.empty:
        drawn["balancing"] = _norms(table)
    return drawn


def _bars(table: pd.DataFrame) -> Figure:
    """One bar per variant, as multiples of an explicit Euler step of the same run; the paper's beside it."""
    figure, axes = panels(1, 1, PAGE, 2.9)
    panel = axes[0, 0]
    labels, paper_unit, y = [], PAPER["explicit Euler"][STEP], 0
    for variant in dict.fromkeys(table["variant"]):
        rows = table[table["variant"] == variant]
        whole, stages = rows[rows["operation"] == STEP].iloc[0], rows[rows["operation"] != STEP]
        shown = dict(zip(stages["operation"], stages["ratio to explicit Euler"], strict=True))
        _bar(panel, y, shown, f"{whole['ratio to explicit Euler']:.1f} ({whole['microseconds']:.1f} µs)")
        labels.append((y, variant))
        if variant in PAPER and variant != "explicit Euler":
            y += 1
            paper = {name: PAPER[variant][name] / paper_unit for name in STAGES if name in PAPER[variant]}
            total = PAPER[variant][STEP] / paper_unit
            paper["integration"] = total - sum(paper.values())
            _bar(panel, y, paper, f"{total:.1f} ({PAPER[variant][STEP]:.0f} µs)", alpha=0.45)
            labels.append((y, "paper's"))
        y += 1
    panel.set_yticks([place for place, _ in labels], [label for _, label in labels])
    panel.invert_yaxis()
    panel.tick_params(axis="y", length=0)
    panel.margins(x=0.16)
    panel.set_xlabel("time per step over that of explicit Euler in the same run")
    figure_legend(figure, ncols=len(STAGES))
    return figure


def _bar(panel: Axes, y: int, parts: dict[str, float], text: str, alpha: float = 1.0) -> None:
    left = 0.0
    for stage, width in parts.items():
        label = stage if alpha == 1.0 else None
        panel.barh(y, width, left=left, height=0.72, color=STAGE_COLOURS[stage], alpha=alpha, label=label)
        left += width
    panel.annotate(text, (left, y), (3, 0), textcoords="offset points", va="center", fontsize=SMALL)


def _norms(table: pd.DataFrame) -> Figure:
    names = list(dict.fromkeys(table["scenario"]))
    figure, axes = panels(len(names), 1, COLUMN, 1.6 * len(names) + 0.4)
    for panel, name in zip(axes[:, 0], names, strict=True):
        rows = table[table["scenario"] == name]
        logarithmic(panel, "y")
        for column, colour in (("norm before", VERMILION), ("norm after", BLUE)):
            panel.plot(rows["t"], rows[column], ".", color=colour, ms=2.0)
            panel.annotate(
                column.removeprefix("norm ") + " balancing",
                (0.99, float(rows[column].iloc[-1])),
                (0, -4),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                ha="right",
                va="top",
                fontsize=SMALL,
                color=colour,
            )
        panel.set_ylim(float(rows["norm after"].min()) / 5.0, 3.0 * float(rows["norm before"].max()))
        panel.set_ylabel("‖A‖₁")
        name_panel(panel, name)
    axes[-1, 0].set_xlabel("time [s]")
    return figure
