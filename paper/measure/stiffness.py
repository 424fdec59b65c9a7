"""The trot on other ground, its errors and its times: see :mod:`paper.experiments.stiffness`."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np

from exposim import scenarios
from exposim.analysis.local_error import GroundTruth, ground_truth, local_errors, summary
from exposim.analysis.stopwatch import DISTURBED, measure, speed_of_this_machine
from exposim.scenarios import Scenario
from exposim.simulation.integrators import Expo
from paper.cell import FILE, Cell, Rows
from paper.measure.accuracy import truth_file
from paper.measure.variants import VARIANTS, VERSIONS, simulator_of

HERE = "paper.measure.stiffness"
SCENARIO = "solo-trot"
FIXED_STIFFNESS, FIXED_RATIO = 1e5, 0.5
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
CONVERGED = 1e-3  # an own truth that is further than this from the common one within a period is none
JUDGED = 0.25  # share at the end of a truth by which it is judged


def damping_of(stiffness: float, ratio: float) -> float:
    """B [N·s/m] from K [N/m] and the paper's damping ratio, B/(2√K)."""
    return 2.0 * ratio * math.sqrt(stiffness)


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


def _setting(stiffness: float, ratio: float) -> Scenario:
    return scenarios.get(SCENARIO).with_material(stiffness=stiffness, damping=damping_of(stiffness, ratio))


def _end_of(truth: GroundTruth) -> GroundTruth:
    """The last stretch of it, by which it is judged."""
    first = int(np.searchsorted(truth.t, (1.0 - JUDGED) * truth.t[-1]))
    return GroundTruth(**{f.name: getattr(truth, f.name)[first:] for f in dataclasses.fields(truth)})
