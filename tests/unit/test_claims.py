"""The rules that hold the paper's claims against tables, on tables made up to confirm, exceed or contradict them."""

import numpy as np
import pandas as pd
import pytest

from exposim.experiments.claims import CLAIMS, evaluate
from exposim.experiments.findings import Curve, compare

SCENARIOS = ("solo-squat", "solo-jump", "solo-trot", "romeo-walk")
STEPS = 1e-3 * 2.0 ** np.arange(-3, 4)  # 1/8 to 8 ms
FEWER = [f"Expo, {products} products" for products in range(5)]
LEAST_PRODUCTS = dict(zip(STEPS, (0, 0, 1, 1, 2, 3, 4), strict=True))


def explicit_error(dt):
    return 5e-3 * dt / 1e-3 * (1.0 if dt < 3e-4 else 1e3)


def accuracy_rows():
    """Everything as the paper has it; Expo's step costs 40 µs."""
    schemes = {
        "Expo": (lambda dt: dt, 40e-6),
        "Expo, full exponential": (lambda dt: dt, 80e-6),
        "implicit Euler": (lambda dt: 1.2 * dt, 40 * 50e-6),
        "explicit Euler": (explicit_error, 9e-6),
        "RK4": (lambda dt: (1.5 if dt < 1.1e-3 else 5.0) * explicit_error(dt / 4), 36e-6),
    }
    for products in range(5):
        schemes[FEWER[products]] = (
            lambda dt, n=products: dt * (1.0 if n >= LEAST_PRODUCTS[dt] else 1.3),
            30e-6 + 5e-6 * products,
        )
    for scenario in SCENARIOS:
        for label, (error, seconds) in schemes.items():
            for dt in STEPS:
                for truth in ("own", "common"):
                    missed = 0.2 if label == "implicit Euler" and dt > 3e-3 else 0.0
                    yield {
                        "scenario": scenario, "variant": label, "dt": dt, "truth": truth, "mean": error(dt),
                        "seconds": seconds, "real-time factor": dt / seconds, "not converged": missed,
                    }  # fmt: skip


def stiffness_rows():
    for sweep, points in (
        ("stiffness", [(K, 0.5) for K in (1e4, 1e5, 1e6, 1e7, 1e8)]),
        ("damping", [(1e5, ratio) for ratio in (0.2, 0.6, 1.0)]),
    ):
        for K, ratio in points:
            errors = {
                ("Expo", 2e-3): 1e-2,
                ("implicit Euler", 2e-3): 5e-3 if K < 1e6 else 5e-2,
                ("explicit Euler", 5e-4): 1e-1 * K / 1e5 * ratio,
                ("explicit Euler", 1e-3 / 32): 1e-3,
            }
            for (label, dt), error in errors.items():
                yield {
                    "sweep": sweep, "K": K, "damping ratio": ratio, "variant": label, "dt": dt,
                    "truth": "own", "mean": error,
                }  # fmt: skip


def stability_rows():
    paper = {"solo-squat": (40e-3, 20e-3, 40e-3 / 512), "solo-trot": (2e-3, 2e-3, 2e-3 / 16)}
    for scenario, steps in paper.items():
        for label, dt in zip(("Expo", "implicit Euler", "explicit Euler"), steps, strict=True):
            yield {"scenario": scenario, "variant": label, "largest bounded dt": dt, "paper dt": dt}


def timing_rows():
    shares = {"Expo, not balanced": 0.72, "Expo, 0 products": 0.33, "Expo": 0.3, "explicit Euler": np.nan}
    steps = {"Expo, not balanced": 94.0, "Expo, 0 products": 39.0, "Expo": 25.0, "explicit Euler": 9.0}
    for label, step in steps.items():
        yield {"variant": label, "operation": "step", "microseconds": step, "share": 1.0, "disturbed": False}
        yield {
            "variant": label, "operation": "kernel", "microseconds": step * shares[label], "share": shares[label],
            "disturbed": False,
        }  # fmt: skip


def prediction_rows():
    for case in ("at rest", "impact"):
        for t in np.linspace(0.0, 0.02, 5):
            yield {"case": case, "t": t, "foot": "FL", "predicted": 10.0 + t, "true": 10.0}


@pytest.fixture
def tables():
    return {
        "accuracy": pd.DataFrame(accuracy_rows()),
        "stiffness": pd.DataFrame(stiffness_rows()),
        "stiffness_times": pd.DataFrame(
            {"variant": label, "dt": 2e-3, "K": K, "seconds": seconds}
            for label, seconds in (("Expo", 40e-6), ("implicit Euler", 40 * 50e-6))
            for K in (1e5, 1e8)
        ),
        "stability": pd.DataFrame(stability_rows()),
        "force_prediction": pd.DataFrame(prediction_rows()),
        "force_jump": pd.DataFrame(
            {"speed": speed, "dt": dt, "force": 300.0 * speed} for speed in (0.1, 0.5, 1.0) for dt in (1e-6, 1e-3)
        ),
        "balancing": pd.DataFrame({"scenario": ["solo-trot"], "norm before": [1e5], "norm after": [1e3]}),
        "timing": pd.DataFrame(timing_rows()),
    }


def scale(table, column, factor, **where):
    """Multiplies a column where other columns have these values, or are above these limits."""
    rows = np.ones(len(table), bool)
    for name, value in where.items():
        rows &= table[name].to_numpy() >= value if isinstance(value, float) else table[name].to_numpy() == value
    table.loc[rows, column] *= factor


def faster(tables, factor, **where):
    scale(tables["accuracy"], "seconds", 1.0 / factor, **where)
    scale(tables["accuracy"], "real-time factor", factor, **where)


# Letter, what it should become, and what has to change in the tables for that.
CHANGES = [
    ("a", "not confirmed", lambda t: scale(t["accuracy"], "mean", 1e7, variant="Expo")),
    ("b", "not confirmed", lambda t: scale(t["accuracy"], "mean", 1e7, variant="explicit Euler")),
    ("c", "not confirmed", lambda t: scale(t["accuracy"], "mean", 1e-3, variant="RK4")),
    ("c", "not confirmed", lambda t: scale(t["accuracy"], "mean", 1e3, variant="RK4")),
    ("d", "not confirmed", lambda t: scale(t["accuracy"], "mean", np.inf, variant="Expo", dt=7e-3)),
    ("d", "not confirmed", lambda t: t["accuracy"].update({"mean": t["accuracy"]["dt"]})),
    ("e", "exceeded", lambda t: scale(t["stiffness_times"], "seconds", 3.0, variant="implicit Euler")),
    ("e", "not confirmed", lambda t: scale(t["stiffness_times"], "seconds", 0.1, variant="implicit Euler")),
    ("e", "not confirmed", lambda t: scale(t["accuracy"], "mean", 10.0, variant="implicit Euler")),
    ("f", "not confirmed", lambda t: scale(t["accuracy"], "not converged", 0.0)),
    ("g", "exceeded", lambda t: faster(t, 2.0, variant="Expo")),
    ("g", "not confirmed", lambda t: faster(t, 10.0, variant="Expo, full exponential")),
    ("g", "not confirmed", lambda t: [scale(t["accuracy"], "mean", 9.0, variant=label) for label in FEWER]),
    ("h", "not confirmed", lambda t: scale(t["stiffness"], "mean", 100.0, variant="Expo", K=1e7)),
    ("h", "not confirmed", lambda t: scale(t["stiffness"], "mean", np.nan, variant="Expo", K=1e7)),
    ("h", "not confirmed", lambda t: scale(t["stiffness"], "mean", 0.1, variant="implicit Euler", K=1e6)),
    ("i", "exceeded", lambda t: scale(t["stability"], "largest bounded dt", 2.0, variant="Expo")),
    ("i", "not confirmed", lambda t: scale(t["stability"], "largest bounded dt", 0.5, variant="Expo")),
    ("i", "not confirmed", lambda t: scale(t["stability"], "largest bounded dt", 16.0, variant="explicit Euler")),
    ("i", "not confirmed", lambda t: scale(t["stability"], "largest bounded dt", np.nan, variant="Expo")),
    ("i", "not confirmed", lambda t: scale(t["stability"], "largest bounded dt", 0.1, variant="implicit Euler")),
    ("j", "not confirmed", lambda t: scale(t["force_prediction"], "predicted", 2.0, case="impact")),
    ("k", "not confirmed", lambda t: scale(t["force_jump"], "force", 0.0, speed=1.0)),
    ("l", "not confirmed", lambda t: scale(t["balancing"], "norm after", 50.0)),
    ("m", "exceeded", lambda t: scale(t["timing"], "share", 0.5, variant="Expo, 0 products", operation="kernel")),
    ("m", "not confirmed", lambda t: scale(t["timing"], "share", 2.0, variant="Expo, 0 products", operation="kernel")),
    ("n", "exceeded", lambda t: scale(t["timing"], "microseconds", 0.5, variant="Expo")),
    ("n", "not confirmed", lambda t: scale(t["timing"], "microseconds", 2.0, variant="Expo")),
]


def verdict(tables, letter):
    (claim,) = [each for each in CLAIMS if each.letter == letter]
    return claim.judge(tables, "Expo")


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.letter)
def test_what_the_paper_says_is_confirmed_by_what_the_paper_has(claim, tables):
    found = verdict(tables, claim.letter)
    assert found.verdict == "confirmed", found.measured
    assert any(figure in found.measured for figure in "0123456789")


@pytest.mark.parametrize(("letter", "outcome", "change"), CHANGES)
def test_other_numbers_lead_to_another_verdict(letter, outcome, change, tables):
    change(tables)
    found = verdict(tables, letter)
    assert found.verdict == outcome, found.measured
    assert found.explanation


def test_every_claim_can_be_contradicted_by_some_change():
    assert {letter for letter, outcome, _ in CHANGES if outcome == "not confirmed"} == {c.letter for c in CLAIMS}


def test_every_outcome_that_has_an_explanation_is_reached():
    reached = {(letter, outcome) for letter, outcome, _ in CHANGES} | {(claim.letter, "confirmed") for claim in CLAIMS}
    assert {(claim.letter, outcome) for claim in CLAIMS for outcome in claim.explanations} <= reached


@pytest.mark.parametrize("missing", ["all", "accuracy", "stiffness", "stability", "timing"])
def test_what_is_missing_was_not_measured(missing, tables):
    kept = {} if missing == "all" else {name: table for name, table in tables.items() if name != missing}
    experiments = {claim.experiment for claim in CLAIMS} if missing == "all" else {missing}
    for found in evaluate(kept):
        if found.experiment in experiments and found.letter != "l":
            assert found.verdict == "not measured"
            assert found.measured


def test_empty_tables_and_tables_of_other_scenarios_do_no_harm(tables):
    some = {name: table.iloc[:0] for name, table in tables.items()}
    assert {each.verdict for each in evaluate(some)} == {"not measured"}
    one = {"accuracy": tables["accuracy"][tables["accuracy"]["scenario"] == "solo-jump"]}
    assert {each.letter for each in evaluate(one) if each.verdict != "not measured"} == set("abcdefg")


def test_the_papers_method_is_told_from_ours_as_soon_as_there_are_two(tables):
    table = tables["accuracy"]
    papers = table[table["variant"] == "Expo"].assign(variant="Expo, averaged (paper)")
    scale(papers, "mean", 1e7)
    tables["accuracy"] = pd.concat([table, papers])
    found = {each.method: each.verdict for each in evaluate(tables) if each.letter == "a"}
    assert found == {"Expo, averaged (paper)": "not confirmed", "Expo": "confirmed"}


def test_where_expo_is_not_better_is_said(tables):
    scale(tables["accuracy"], "mean", 1e-6, variant="RK4", scenario="romeo-walk")
    found = verdict(tables, "a")
    assert found.verdict == "not confirmed"
    assert "romeo-walk, RK4 lower or equal in" in found.measured
    assert "solo-trot" not in found.measured


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        (([1, 10, 100], [1, 1, 1]), ([1, 10, 100], [2, 2, 2]), 1.0),
        (([1, 10, 100], [1, 1, 1]), ([1, 10, 100], [0.5, 1, 2]), 0.5),
        (([1, 10, 100], [1, 1, 1]), ([1, 10, 100], [0.5, 0.5, np.inf]), 0.5),
        (([10, 100], [1, 2]), ([1, 5], [3, 4]), 1.0),  # faster, and the better
        (([10, 100], [5, 6]), ([1, 5], [3, 4]), 0.0),  # faster, but not the better
        (([1, 5], [3, 4]), ([10, 100], [1, 2]), 0.0),
    ],
)
def test_curves_are_compared_over_their_common_range(one, other, share):
    curves = [Curve(np.array(x, float), np.array(y, float)) for x, y in (one, other)]
    assert compare(*curves).share == pytest.approx(share, abs=0.02)


def test_a_larger_step_that_takes_longer_is_left_out_of_a_curve():
    rows = pd.DataFrame({"dt": [1, 2, 4, 8], "real-time factor": [1.0, 2.0, 0.5, 3.0], "mean": [1.0, 2.0, 9.0, 3.0]})
    curve = Curve.of(rows)
    assert list(curve.factor) == [1.0, 2.0, 3.0]
    assert list(curve.error) == [1.0, 2.0, 3.0]
