"""Local integration error against contact stiffness and damping: the paper's figure of the trot on other ground.

Two ground truths, as in :mod:`exposim.experiments.accuracy`. *own*: the scheme under test at 1/64 ms; missing where
that diverges or has not converged. *common*: Expo at 1/512 ms for all, since explicit schemes at affordable steps fail
on the stiffest ground. ``truth error`` says how good a truth is: of the common one what doubling its step changes, of
an own one its distance from the common one.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from exposim import scenarios
from exposim.analysis.local_error import GroundTruth, ground_truth, local_errors, summary
from exposim.analysis.stopwatch import DISTURBED, measure, speed_of_this_machine
from exposim.experiments.accuracy import truth_file
from exposim.experiments.cells import FILE, Cell, Notebook, Rows
from exposim.experiments.style import (
    NORMAL,
    PAGE,
    colour_of,
    label_ends,
    line_of,
    logarithmic,
    mark_lost,
    name_panel,
    panels,
)
from exposim.experiments.variants import SCENARIOS, VARIANTS, VERSIONS, simulator_of
from exposim.scenarios import Scenario
from exposim.simulation.integrators import Expo

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HERE = "exposim.experiments.stiffness"
SCENARIO = "solo-trot"
STIFFNESSES = tuple(float(f"{K:.6g}") for K in np.geomspace(1e3, 1e8, 11))  # [N/m]
RATIOS = tuple(round(float(ratio), 3) for ratio in np.linspace(0.2, 1.0, 9))
QUICK_STIFFNESSES, QUICK_RATIOS = (1e3, 1e5, 1e8), (0.2, 0.5, 1.0)
FIXED_STIFFNESS, FIXED_RATIO = 1e5, 0.5
TIMED_STIFFNESSES = (1e5, 1e8)
# Variant and step [s]; the paper has the averaged Expo and the next two.
STEPS = (
    *((label, 2e-3) for label in VERSIONS),
    ("implicit Euler", 2e-3),
    ("explicit Euler", 1e-3 / 2),
    ("semi-implicit Euler", 1e-3 / 2),
    ("RK4", 1e-3 / 2),
    ("explicit Euler", 1e-3 / 32),
)
OWN_STEP = 1e-3 / 64
DURATION, QUICK_DURATION = 1.2, 0.4  # [s] Solo sets off, and trots at full speed at the end
COMMON_STEP, QUICK_COMMON_STEP = 1e-3 / 512, 1e-3 / 128
COLUMNS = [
    *("sweep", "K", "B", "damping ratio", "variant", "dt", "truth", "mean", "median", "max", "diverged"),
    *("share of changes", "truth error"),
]
TRUTHS = {"own": "the scheme itself at 1/64 ms (× where that fails)", "common": "Expo at a far smaller step"}
CONVERGED = 1e-3  # an own truth that is further than this from the common one within a period is none
JUDGED = 0.25  # share at the end of a truth by which it is judged


def damping_of(stiffness: float, ratio: float) -> float:
    """B [N·s/m] from K [N/m] and the paper's damping ratio, B/(2√K)."""
    return 2.0 * ratio * math.sqrt(stiffness)


def sweeps(quick: bool) -> dict[str, list[tuple[float, float]]]:
    """Stiffness [N/m] and damping ratio of every point of the two curves."""
    stiffnesses = QUICK_STIFFNESSES if quick else STIFFNESSES
    ratios = QUICK_RATIOS if quick else RATIOS
    return {
        "stiffness": [(K, FIXED_RATIO) for K in stiffnesses],
        "damping": [(FIXED_STIFFNESS, ratio) for ratio in ratios],
    }


def phases(chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> list[list[Cell]]:
    """Ground truths, then errors, then times. Only the trot is looked at."""
    if SCENARIO not in chosen:
        return []
    every = list(dict.fromkeys(point for points in sweeps(quick).values() for point in points))
    truths = [_truth_cell(point, quick) for point in every]
    errors = [cell for point in every for cell in _error_cells(point, quick)]
    return [truths, [*errors, *_trot_cells(every, quick)], _time_cells(quick)]


def tables(notebook: Notebook, chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> dict[str, pd.DataFrame]:
    """``stiffness``: the errors; ``stiffness_trots``: what Solo makes of it; ``stiffness_times``: time per step."""
    pd = importlib.import_module("pandas")  # slow to import
    if SCENARIO not in chosen:
        return {}
    rows: Rows = []
    for sweep, points in sweeps(quick).items():
        for point in points:
            left = [row["left"] for row in notebook.rows([_truth_cell(point, quick)])]
            for row in notebook.rows(_error_cells(point, quick)):
                own = row["truth"] == "own"
                rows.append({"sweep": sweep} | row | ({} if own or not left else {"truth error": left[0]}))
    every = list(dict.fromkeys(point for points in sweeps(quick).values() for point in points))
    return {
        "stiffness": pd.DataFrame(rows, columns=COLUMNS),
        "stiffness_trots": pd.DataFrame(notebook.rows(_trot_cells(every, quick))),
        "stiffness_times": pd.DataFrame(notebook.rows(_time_cells(quick))),
    }


# Cells.


def common_truth(stiffness: float, ratio: float, duration: float, dt: float, folder: Path) -> Rows:
    """Writes the common ground truth of one material, and says how far from converged it is."""
    setting = _setting(stiffness, ratio)
    truth = ground_truth(setting, Expo(), dt, duration)
    arguments = {"stiffness": stiffness, "ratio": ratio, "duration": duration, "dt": dt}
    file = truth_file(folder, Cell(f"{HERE}:common_truth", arguments).key)
    truth.save(file)
    # At least first order: what doubling the step adds is what the step itself leaves, or more.
    left = float(local_errors(setting, Expo(), 2 * dt, _end_of(truth)).mean())
    return [{"K": stiffness, "damping ratio": ratio, "dt": dt, "left": left, FILE: file.name}]


def errors(stiffness: float, ratio: float, variant: str, common: str, duration: float, folder: Path) -> Rows:
    """Errors of one variant on one material at its steps, against its own truth and the common one."""
    setting, chosen = _setting(stiffness, ratio), VARIANTS[variant]
    shared = GroundTruth.load(truth_file(folder, common))
    own = ground_truth(setting, chosen, OWN_STEP, duration)
    own_error = float(local_errors(setting, chosen, OWN_STEP, _end_of(shared)).mean())
    whole = len(own) == round(duration / setting.control_period)
    rows: Rows = []
    for label, dt in STEPS:
        if label != variant:
            continue
        for kind, truth in (("own", own), ("common", shared)):
            good = kind == "common" or (whole and own_error < CONVERGED)
            found = local_errors(setting, chosen, dt, truth) if good else None
            rows.append(
                {
                    "K": stiffness,
                    "B": damping_of(stiffness, ratio),
                    "damping ratio": ratio,
                    "variant": variant,
                    "dt": dt,
                    "truth": kind,
                    **({} if found is None else summary(found, truth.changes)),
                    "truth error": (own_error if whole else math.inf) if kind == "own" else math.nan,
                }
            )
    return rows


def trot(stiffness: float, ratio: float, duration: float, folder: Path) -> Rows:
    """Whether Solo still trots on such ground, simulated finely."""
    setting = _setting(stiffness, ratio)
    judgement = setting.judge(setting.run(Expo(), 1e-3 / 4, duration))
    wanted = {"speed": "speed [m/s]", "together": "diagonal feet together [-]", "clearance": "foot clearance [m]"}
    return [
        {"K": stiffness, "B": damping_of(stiffness, ratio), "damping ratio": ratio}
        | {name: judgement.measures.get(measure, math.nan) for name, measure in wanted.items()}
        | {"complaints": "; ".join(judgement.complaints)}
    ]


def times(stiffness: float, common: str, quick: bool, folder: Path) -> Rows:
    """Time per step of every variant, from states all over the trot."""
    setting = _setting(stiffness, FIXED_RATIO)
    truth = GroundTruth.load(truth_file(folder, common))
    periods = [int(i) for i in np.linspace(0, len(truth) - 1, 20 if quick else 60)]
    before = speed_of_this_machine()
    sims = [simulator_of(label, setting, dt) for label, dt in STEPS]
    states, torques = [truth.state(i) for i in periods], [truth.tau[i] for i in periods]
    measured = measure(sims, states, torques, repeats=5 if quick else 15)
    disturbed = abs(speed_of_this_machine() / before - 1.0) > DISTURBED
    return [
        {"variant": label, "dt": dt, "K": stiffness} | found | {"disturbed": disturbed}
        for (label, dt), found in zip(STEPS, measured, strict=True)
    ]


def _truth_cell(point: tuple[float, float], quick: bool) -> Cell:
    K, ratio = point
    arguments = {"stiffness": K, "ratio": ratio, "duration": _duration(quick), "dt": _common_step(quick)}
    return Cell(f"{HERE}:common_truth", arguments, cost=12.0)


def _error_cells(point: tuple[float, float], quick: bool) -> list[Cell]:
    K, ratio = point
    common = {"common": _truth_cell(point, quick).key, "duration": _duration(quick)}
    labels = dict.fromkeys(label for label, _ in STEPS)
    return [Cell(f"{HERE}:errors", {"stiffness": K, "ratio": ratio, "variant": label} | common) for label in labels]


def _trot_cells(points: list[tuple[float, float]], quick: bool) -> list[Cell]:
    duration = scenarios.get(SCENARIO).duration / (4 if quick else 1)
    return [Cell(f"{HERE}:trot", {"stiffness": K, "ratio": ratio, "duration": duration}) for K, ratio in points]


def _time_cells(quick: bool) -> list[Cell]:
    return [
        Cell(
            f"{HERE}:times",
            {"stiffness": K, "common": _truth_cell((K, FIXED_RATIO), quick).key, "quick": quick},
            alone=True,
        )
        for K in TIMED_STIFFNESSES
    ]


def _duration(quick: bool) -> float:
    return QUICK_DURATION if quick else DURATION


def _common_step(quick: bool) -> float:
    return QUICK_COMMON_STEP if quick else COMMON_STEP


def _setting(stiffness: float, ratio: float) -> Scenario:
    return scenarios.get(SCENARIO).with_material(stiffness=stiffness, damping=damping_of(stiffness, ratio))


def _end_of(truth: GroundTruth) -> GroundTruth:
    """The last stretch of it, by which it is judged."""
    first = int(np.searchsorted(truth.t, (1.0 - JUDGED) * truth.t[-1]))
    return GroundTruth(**{f.name: getattr(truth, f.name)[first:] for f in dataclasses.fields(truth)})


# Figures.


def figures(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """One figure per truth: mean and median error against stiffness, and against damping ratio."""
    table = tables.get("stiffness")
    if table is None or table.empty:
        return {}
    drawn = {}
    for truth, rows in table.groupby("truth"):
        figure, axes = panels(2, 2, PAGE, 4.6, sharex="col", sharey="row")
        for row, measure_of in zip(axes, ("mean", "median"), strict=True):
            for panel, sweep, x in zip(row, ("stiffness", "damping"), ("K", "damping ratio"), strict=True):
                _draw(panel, rows[rows.sweep == sweep], x, measure_of)
            row[0].set_ylabel(f"{measure_of} local error")
        figure.suptitle(f"truth: {TRUTHS[truth]}", x=0.01, ha="left", fontsize=NORMAL)
        name_panel(axes[0, 0], f"damping ratio {FIXED_RATIO}")
        name_panel(axes[0, 1], "K = 10⁵ N/m")
        axes[1, 0].set_xlabel("stiffness K [N/m]")
        axes[1, 1].set_xlabel("damping ratio B/(2√K)")
        figure.draw_without_rendering()  # limits are final now
        for row, measure_of in zip(axes, ("mean", "median"), strict=True):
            label_ends(row[1], _ends(rows[rows.sweep == "damping"], measure_of))
        drawn[f"stiffness_{truth}"] = figure
    return drawn


def _draw(axes: Axes, rows: pd.DataFrame, x: str, measure_of: str) -> None:
    logarithmic(axes, "xy")
    lost = 0
    for (variant, dt), curve in rows.sort_values(x).groupby(["variant", "dt"], sort=False):
        look = line_of(variant) | ({"ls": ":"} if dt < 1e-4 else {})
        shown = np.isfinite(curve[measure_of]) & (curve[measure_of] > 0.0)
        axes.plot(curve.loc[shown, x], curve.loc[shown, measure_of], marker="o", ms=2.5, **look)
        mark_lost(axes, list(curve.loc[~shown, x]), look["color"], row=lost)
        lost += not shown.all()
    if x != "K":
        ticks = [0.2, 0.4, 0.6, 0.8, 1.0]
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()


def _ends(rows: pd.DataFrame, measure_of: str) -> dict[str, tuple[float, str]]:
    """Where each curve ends, and its colour, by its name."""
    last = rows.sort_values("damping ratio").groupby(["variant", "dt"], sort=False).tail(1)
    return {
        f"{variant.removesuffix(' (paper)')}, {_milliseconds(dt)}": (float(y), colour_of(variant))
        for variant, dt, y in zip(last["variant"], last["dt"], last[measure_of], strict=True)
    }


def _milliseconds(dt: float) -> str:
    return f"{1e3 * dt:g} ms" if dt >= 1e-3 else f"1/{round(1e-3 / dt)} ms"
