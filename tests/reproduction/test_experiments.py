"""The experiments measure what they say, on pieces small enough to know the answer."""

import importlib
import inspect
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import exposim as xs
from exposim import _core, scenarios
from exposim.scenarios import Scenario
from paper.cell import Cell
from paper.experiments import EXPERIMENTS, stability, stiffness, timing
from paper.figures import style
from paper.measure import stability as halvings
from paper.measure import stiffness as on_other_ground
from paper.measure import timing as timed
from paper.notebook import Notebook
from systems import point_mass

NOWHERE = Path("nowhere")


# Cells in general.


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_cell_is_plain_data_for_a_function_that_takes_it(name, quick):
    cells = [cell for phase in EXPERIMENTS[name].phases(quick=quick) for cell in phase]
    assert len({cell.key for cell in cells}) == len(cells) > 0
    for cell in cells:
        assert json.loads(json.dumps(cell.arguments)) == cell.arguments
        module, _, function = cell.function.partition(":")
        inspect.signature(getattr(importlib.import_module(module), function)).bind(folder=NOWHERE, **cell.arguments)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_nothing_measured_gives_empty_tables_and_no_failure(name, tmp_path):
    module = EXPERIMENTS[name]
    tables = module.tables(Notebook(tmp_path))
    assert all(table.empty for table in tables.values())
    assert module.figures(tables) == {}


# Stiffness.


def test_damping_follows_from_the_damping_ratio_as_the_paper_defines_it():
    for sweep, points in stiffness.sweeps(quick=False).items():
        for K, ratio in points:
            (surface,) = on_other_ground._setting(K, ratio).ground
            assert surface.material.stiffness == K
            assert surface.material.damping / (2.0 * np.sqrt(K)) == pytest.approx(ratio)
            assert (ratio == 0.5) if sweep == "stiffness" else (K == 1e5)


def test_stiffness_errors_against_both_truths_and_missing_where_the_own_truth_fails(tmp_path):
    arguments = {"stiffness": 1e8, "ratio": 0.5, "duration": 0.04, "dt": 1e-3 / 64}
    cell = Cell(f"{on_other_ground.HERE}:common_truth", arguments)
    (truth,) = cell.compute(tmp_path)
    assert 0.0 < truth["left"] < 1e-2

    def errors(variant):
        rows = on_other_ground.errors(1e8, 0.5, variant, cell.key, 0.04, tmp_path)
        return {(row["truth"], row["dt"]): row for row in rows}

    expo, euler = errors("Expo"), errors("explicit Euler")
    assert expo["own", 2e-3]["mean"] == pytest.approx(expo["common", 2e-3]["mean"], rel=0.05)
    assert expo["own", 2e-3]["truth error"] < 1e-3
    assert euler["common", 5e-4]["mean"] > 100.0 * expo["common", 2e-3]["mean"]
    assert "mean" not in euler["own", 5e-4] and euler["own", 5e-4]["truth error"] > 1e-3


# Stability.


def attempts(stable):
    def attempt(dt):
        return {"dt": dt, "bounded": stable(dt), "on task": stable(2 * dt), "complaints": ""}

    return attempt


def test_halving_finds_the_largest_stable_step_and_looks_two_halvings_further():
    rows = halvings.halve(0.04, 1e-5, attempts(lambda dt: dt < 1.1e-3))
    found = stability.conclude(rows)
    assert found["largest bounded dt"] == pytest.approx(0.04 / 64)
    assert found["largest dt on task"] == pytest.approx(0.04 / 128)
    assert rows[-1]["dt"] == pytest.approx(0.04 / 512)
    assert found["non-monotonic"] == ""


def test_halving_notices_a_scheme_that_is_stable_by_chance():
    rows = halvings.halve(0.04, 1e-5, attempts(lambda dt: dt > 0.03 or dt < 0.006))
    found = stability.conclude(rows)
    assert found["largest bounded dt"] == 0.04
    assert "bounded" in found["non-monotonic"]


def test_halving_gives_up_at_the_smallest_step():
    rows = halvings.halve(0.04, 0.04 / 8, attempts(lambda dt: False))
    assert [row["dt"] for row in rows] == pytest.approx([0.04, 0.02, 0.01, 0.005])
    assert np.isnan(stability.conclude(rows)["largest bounded dt"])


def test_the_largest_step_of_explicit_euler_on_a_spring_is_that_of_theory():
    mass, K, B, period = 2.0, 1e5, 300.0, 0.04
    robot = point_mass(mass, bilateral=True, material=xs.Material(K, B))
    spring = Scenario("spring", robot, None, period, duration=8.0, ground=None, v0=[0.1, 0.0, 0.0])

    def contracts(dt):  # x⁺ = x + dt v + dt²/2 a, v⁺ = v + dt a
        a = np.array([-K, -B]) / mass
        update = np.array([[1.0, dt], [0.0, 1.0]]) + np.outer([dt**2 / 2, dt], a)
        return np.abs(np.linalg.eigvals(update)).max() < 1.0

    theory = next(dt for dt in period / 2.0 ** np.arange(12) if contracts(dt))
    rows = halvings.halve(period, 1e-5, lambda dt: halvings.try_step(spring, dt, integrator=xs.ExplicitEuler()))
    found = stability.conclude(rows)
    assert found["largest bounded dt"] == pytest.approx(theory) != period
    assert halvings.try_step(spring, period, integrator=xs.Expo())["on task"]


# Timing.


def test_stages_add_up_to_the_step_and_the_paper_s_numbers_stand_beside(tmp_path):
    notebook = Notebook(tmp_path)
    (cell,) = timing._time_cells(("solo-trot",), quick=True)
    notebook.write(cell, timed.times(2e-3, count=10, repeats=2, folder=tmp_path))
    table = timing.tables(notebook, ("solo-trot",), quick=True)["timing"]
    for variant in timed.LABELS:
        rows = table[table["variant"] == variant].set_index("operation")
        assert rows.drop("step")["share"].sum() == pytest.approx(1.0)
        assert (rows["microseconds"] > 0.0).all()
        assert ("kernel" in rows.index) == variant.startswith("Expo")
    ours = table.set_index(["variant", "operation"])
    assert ours.loc[("explicit Euler", "step"), "ratio to explicit Euler"] == 1.0
    assert ours.loc[("Expo, 0 products", "kernel"), "paper share"] == pytest.approx(0.33, abs=0.01)
    assert ours.loc[("Expo, not balanced", "kernel"), "paper share"] == pytest.approx(0.72, abs=0.01)
    assert set(timing.figures({"timing": table})) == {"timing"}


def test_resolving_transitions_costs_what_resolved_steps_cost(tmp_path):
    table = pd.DataFrame(timed.transitions(2e-3, count=60, repeats=2, folder=tmp_path)).set_index("variant")
    ours, averaged = table.loc["Expo"], table.loc["Expo, averaged (paper)"]
    assert averaged["ratio to averaged"] == 1.0
    assert averaged["share resolved"] == averaged["micro-steps"] == 0.0 < ours["share resolved"] < 0.5
    assert ours["micro-steps"] >= 2.0
    assert (table["worst microseconds"] >= table["microseconds"]).all()


def test_balancing_lowers_the_norm_but_not_below_the_spectral_radius():
    rows = timed.norms("solo-trot", 0.3, 0.05, NOWHERE)
    assert {row["contacts"] for row in rows} >= {2, 4}
    for row in rows:
        assert 100.0 < row["norm before"] / row["norm after"] < 1000.0
    setting = scenarios.get("solo-trot")
    sim = xs.Simulator(setting.robot, setting.ground)
    A = sim._core.contact_matrix()
    balanced, _ = _core.balance(A)
    radius = np.abs(np.linalg.eigvals(A)).max()
    assert np.abs(np.linalg.eigvals(balanced)).max() == pytest.approx(radius, rel=1e-9)
    assert radius < timed.norm1(balanced) < timed.norm1(A)
    assert timed.norm1(A) == np.linalg.norm(A, 1)


# Figures.


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_figures_show_what_diverged_or_is_missing(bad):
    row = {"sweep": "stiffness", "K": 1e5, "B": 300.0, "damping ratio": 0.5, "variant": "Expo", "dt": 2e-3}
    row |= {"truth": "own", "mean": 1e-2, "median": 1e-3}
    lost = row | {"variant": "explicit Euler", "mean": bad, "median": bad}
    stable = {"scenario": "solo-squat", "variant": "Expo", "control period": 0.04, "largest bounded dt": 0.04}
    stable |= {"largest dt on task": 0.04, "paper dt": 0.04}
    never = stable | {"variant": "RK4", "largest bounded dt": np.nan, "largest dt on task": np.nan, "paper dt": np.nan}
    drawn = stiffness.figures({"stiffness": pd.DataFrame([row, lost])})
    drawn |= stability.figures({"stability": pd.DataFrame([stable, never])})
    assert set(drawn) == {"stiffness_own", "stability"}
    for figure in drawn.values():
        figure.draw_without_rendering()
    crosses = [line for line in drawn["stiffness_own"].axes[0].lines if line.get_marker() == "x"]
    assert [list(line.get_xdata()) for line in crosses] == [[1e5]]


def test_labels_keep_their_distance_and_their_order():
    places = style.spread(np.array([0.1, 0.11, 0.12, 0.5, 0.95, 0.96]), 0.1)
    assert np.diff(places).min() >= 0.1 - 1e-12
    assert places[3] == 0.5
    assert places[:3].mean() == pytest.approx(0.11)
