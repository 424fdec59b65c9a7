"""The rules that judge bars of our own, on tables made up to meet them or to fall short."""

import numpy as np
import pytest
from made_up_tables import OURS, PAPERS, made_up_tables, scale

from paper.claims.bars import BARS, evaluate_bars


@pytest.fixture
def tables():
    return made_up_tables()


def test_bars_are_met_by_a_method_that_meets_them(tables):
    for found in evaluate_bars(tables):
        assert found.verdict == "met", found.measured
        assert any(figure in found.measured for figure in "0123456789")


@pytest.mark.parametrize(
    ("number", "change", "says"),
    [
        (
            "1",
            lambda t: scale(t["accuracy"], "mean", 3.0, variant=OURS, scenario="solo-jump", dt=7e-3),
            "solo-jump 8 ms",
        ),
        ("1", lambda t: scale(t["accuracy"], "mean", np.inf, variant=OURS, scenario="solo-trot"), "0×"),
        ("2", lambda t: scale(t["accuracy"], "mean", 1e-6, variant="RK4", scenario="solo-squat"), "solo-squat, RK4"),
        ("3", lambda t: scale(t["transitions"], "ratio to averaged", 1.2, variant=OURS), "1.68×"),
        ("4", lambda t: scale(t["stability"], "largest dt on task", 0.5, variant=OURS), "solo-trot 1 ms (2 ms)"),
        ("4", lambda t: scale(t["stability"], "largest dt on task", np.nan, variant=OURS), "none"),
    ],
)
def test_what_falls_short_of_a_bar_is_said(number, change, says, tables):
    change(tables)
    (found,) = [each for each in evaluate_bars(tables) if each.letter == number]
    assert found.verdict == "not met"
    assert says in found.measured


def test_the_squat_does_not_count_for_the_bar_on_contact_changes(tables):
    scale(tables["accuracy"], "mean", 100.0, variant=OURS, scenario="solo-squat")
    (found,) = [each for each in evaluate_bars(tables) if each.letter == "1"]
    assert found.verdict == "met" and "solo-squat" in found.details


def test_bars_that_were_not_measured_are_said_to_be_so(tables):
    assert {each.verdict for each in evaluate_bars({})} == {"not measured"}
    only = {"accuracy": tables["accuracy"][tables["accuracy"]["variant"] != PAPERS]}
    found = {each.letter: each.verdict for each in evaluate_bars(only)}
    assert found == {bar.letter: "met" if bar.letter == "2" else "not measured" for bar in BARS}
