"""The rules that hold the paper's claims against tables, on tables made up to confirm, exceed or contradict them."""

import numpy as np
import pandas as pd
import pytest
from made_up_tables import FEWER, OURS, PAPERS, made_up_tables, scale

from paper.claims.claims import CLAIMS, evaluate
from paper.claims.findings import Curve, compare


@pytest.fixture
def tables():
    return made_up_tables()


def faster(tables, factor, **where):
    scale(tables["accuracy"], "seconds", 1.0 / factor, **where)
    scale(tables["accuracy"], "real-time factor", factor, **where)


# Letter, what it should become, and what has to change in the tables for that.
CHANGES = [
    ("a", "not confirmed", lambda t: scale(t["accuracy"], "mean", 1e7, variant=PAPERS)),
    ("b", "not confirmed", lambda t: scale(t["accuracy"], "mean", 1e7, variant="explicit Euler")),
    ("c", "not confirmed", lambda t: scale(t["accuracy"], "mean", 1e-3, variant="RK4")),
    ("c", "not confirmed", lambda t: scale(t["accuracy"], "mean", 1e3, variant="RK4")),
    ("d", "not confirmed", lambda t: scale(t["accuracy"], "mean", np.inf, variant=PAPERS, dt=7e-3)),
    ("d", "not confirmed", lambda t: t["accuracy"].update({"mean": t["accuracy"]["dt"]})),
    ("e", "exceeded", lambda t: scale(t["stiffness_times"], "seconds", 3.0, variant="implicit Euler")),
    ("e", "not confirmed", lambda t: scale(t["stiffness_times"], "seconds", 0.1, variant="implicit Euler")),
    ("e", "not confirmed", lambda t: scale(t["accuracy"], "mean", 10.0, variant="implicit Euler")),
    ("f", "not confirmed", lambda t: scale(t["accuracy"], "not converged", 0.0)),
    ("g", "exceeded", lambda t: faster(t, 2.0, variant=PAPERS)),
    ("g", "not confirmed", lambda t: faster(t, 10.0, variant="Expo, full exponential")),
    ("g", "not confirmed", lambda t: [scale(t["accuracy"], "mean", 9.0, variant=label) for label in FEWER]),
    ("h", "not confirmed", lambda t: scale(t["stiffness"], "mean", 100.0, variant=PAPERS, K=1e7)),
    ("h", "not confirmed", lambda t: scale(t["stiffness"], "mean", np.nan, variant=PAPERS, K=1e7)),
    ("h", "not confirmed", lambda t: scale(t["stiffness"], "mean", 0.1, variant="implicit Euler", K=1e6)),
    ("i", "exceeded", lambda t: scale(t["stability"], "largest bounded dt", 2.0, variant=PAPERS)),
    ("i", "not confirmed", lambda t: scale(t["stability"], "largest bounded dt", 0.5, variant=PAPERS)),
    ("i", "not confirmed", lambda t: scale(t["stability"], "largest bounded dt", 16.0, variant="explicit Euler")),
    ("i", "not confirmed", lambda t: scale(t["stability"], "largest bounded dt", np.nan, variant=PAPERS)),
    ("i", "not confirmed", lambda t: scale(t["stability"], "largest bounded dt", 0.1, variant="implicit Euler")),
    ("j", "not confirmed", lambda t: scale(t["force_prediction"], "predicted", 2.0, case="impact")),
    ("k", "not confirmed", lambda t: scale(t["force_jump"], "force", 0.0, speed=1.0)),
    ("l", "not confirmed", lambda t: scale(t["balancing"], "norm after", 50.0)),
    ("m", "exceeded", lambda t: scale(t["timing"], "share", 0.5, variant="Expo, 0 products", operation="kernel")),
    ("m", "not confirmed", lambda t: scale(t["timing"], "share", 2.0, variant="Expo, 0 products", operation="kernel")),
    ("n", "exceeded", lambda t: scale(t["timing"], "microseconds", 0.5, variant=PAPERS)),
    ("n", "not confirmed", lambda t: scale(t["timing"], "microseconds", 2.0, variant=PAPERS)),
]


def verdict(tables, letter, method=PAPERS):
    (claim,) = [each for each in CLAIMS if each.letter == letter]
    return claim.judge(tables, method)


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
    scale(tables["accuracy"], "mean", 1e7, variant=PAPERS)
    found = {each.method: each for each in evaluate(tables) if each.letter == "a"}
    assert {method: each.verdict for method, each in found.items()} == {PAPERS: "not confirmed", OURS: "confirmed"}
    assert "Expo, " not in found[OURS].measured  # versions of one method are no rivals


OUTCOMES_OF_OURS = {"a": "confirmed", "d": "confirmed", "e": "not confirmed", "h": "confirmed", "i": "confirmed"}
OUTCOMES_OF_OURS |= {"n": "confirmed"}


def test_every_claim_about_the_method_is_asked_of_ours_too(tables):
    found = {each.letter: each for each in evaluate(tables) if each.method == OURS}
    assert {letter: each.verdict for letter, each in found.items()} == OUTCOMES_OF_OURS
    assert set(found) == {claim.letter for claim in CLAIMS if claim.about_method}
    assert "far lower" in found["e"].explanation


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim.ours], ids=lambda claim: claim.letter)
def test_explanations_of_ours_are_told_of_ours_only(claim, tables):
    for label in (PAPERS, OURS):  # breaks every claim
        for name, column in (("accuracy", "mean"), ("stiffness", "mean"), ("timing", "microseconds")):
            scale(tables[name], column, 1e9, variant=label)
    scale(tables["stiffness"], "mean", 1e3, K=1e7)
    scale(tables["accuracy"], "mean", 1e9, dt=3e-3)
    ours, papers = verdict(tables, claim.letter, OURS), verdict(tables, claim.letter)
    assert ours.verdict == papers.verdict == "not confirmed"
    assert ours.explanation == claim.ours["not confirmed"] != papers.explanation


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
