"""The experiment on contact forces measures what it says."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import exposim as xs
from paper.experiments import forces as experiment
from paper.measure import forces, slipping
from paper.notebook import Notebook, compute

NOWHERE = Path("nowhere")


@pytest.mark.parametrize("case", forces.IMPACTS)
def test_the_predicted_force_is_the_true_one_within_two_percent_over_20_ms(case):
    table = pd.DataFrame(forces.prediction(case, 1e-3 / 64, NOWHERE))
    assert set(table["foot"]) == set(xs.load_robot("solo12").feet)
    assert table["t"].max() == pytest.approx(forces.HORIZON, rel=0.01)
    assert np.abs(table["predicted"] - table["true"]).max() < 0.02 * table["true"].max()
    assert table["true"].iloc[0] == pytest.approx(300.0 * forces.IMPACTS[case], rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("speed", [0.02, 1.0])
def test_the_force_jumps_by_damping_times_speed(speed):
    for row in forces.jump(speed, 1e-3 / 2048, NOWHERE):
        assert row["force"] == pytest.approx(300.0 * speed, rel=0.01)
    for row in forces.jump(speed, 1e-3, NOWHERE):
        assert row["force"] == pytest.approx(row["latest"], rel=0.02)
        assert row["force"] > 1.3 * row["theory"]


@pytest.mark.parametrize("speed", [0.02, 1.0])
def test_ours_lands_within_the_step_and_the_papers_method_after_it(speed):
    for row in forces.touchdown(speed, 1e-3, NOWHERE):
        if row["variant"] == "Expo":
            assert row["force"] == pytest.approx(row["true"], rel=0.15)
        else:
            assert row["force"] > 3.0 * row["true"]


@pytest.mark.parametrize(("K", "B"), [(1e5, 100.0), (1e5, 300.0), (1e4, 50.0)])
def test_a_slipping_anchor_catches_up_at_the_rate_of_stiffness_over_damping(K, B):
    t, difference = slipping.slip_by_continuous_law(K, B, 0.01, 1e-5)
    rate = np.polyfit(t, np.log(np.abs(difference)), 1)[0]
    assert rate == pytest.approx(-K / B, rel=1e-4)
    first = difference[0]
    t, difference = slipping.slip_in_simulator(K, B, 0.01, 1e-5)
    assert difference[0] == pytest.approx(first, rel=0.01)
    assert np.abs(difference[1:]).max() < 1e-12


def test_normal_forces_of_the_trot_carry_its_weight_half_of_the_time():
    table = pd.DataFrame(forces.foot_force("solo-trot", 1.3, 1.7, 1e-3, 1, NOWHERE))
    robot = xs.load_robot("solo12")
    weight = 9.81 * sum(body.mass for body in robot.model.inertias)
    assert table["normal"].mean() == pytest.approx(weight / 4, rel=0.15)
    assert 0.3 < (table["normal"] > 0.0).mean() < 0.8


def test_forces_from_cells_to_figures(tmp_path):
    notebook = Notebook(tmp_path)
    cells = experiment._cells((), quick=True)
    compute([cells["slip_decay"], cells["force_jump"][:3], cells["touchdown"][:1]], notebook)
    tables = experiment.tables(notebook, (), quick=True)
    drawn = experiment.figures(tables)
    assert set(drawn) == {"slip_decay", "force_jump", "touchdown"}
    for figure in drawn.values():
        figure.draw_without_rendering()
