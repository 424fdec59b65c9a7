"""Figures show what they should, of any robot and any run, and touch nothing global."""

import functools
import subprocess
import sys

import numpy as np
import pytest

import exposim as xs
from bad_input import GOOD_URDF
from exposim import plots
from exposim.plots.joints import Grouping
from exposim.scenarios import Scenario


@functools.cache
def dropped(robot="solo12", **settings):
    scenario = xs.scenarios.get("drop", robot=robot)
    friction = settings.pop("friction", 1.0)
    return scenario.with_material(friction=friction).run(duration=settings.pop("duration", 0.25), **settings)


@functools.cache
def diverged():
    scenario = xs.scenarios.get("drop").with_material(stiffness=1e8)
    trajectory = scenario.run(xs.ExplicitEuler(), duration=0.5)
    assert trajectory.outcome.diverged_at is not None
    return trajectory


def labels(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def names(figure):
    return [axes.get_title("left") for axes in figure.axes if axes.axison]


def test_the_motion_of_the_base_has_units_and_its_own_panels():
    figure = plots.motion(dropped())
    assert names(figure) == [
        "height of the base [m]",
        "way along the ground [m]",
        "attitude [°]",
        "velocity in world axes [m/s]",
    ]
    assert figure.axes[-1].get_xlabel() == "time [s]"
    assert "grey: no contact" in figure.get_suptitle()


def test_torques_are_grouped_by_limb():
    robot = xs.load_robot("solo12")
    figure = plots.torques(dropped(), robot)
    assert names(figure) == ["FL", "FR", "HL", "HR"]
    assert labels(figure) == ["HAA", "HFE", "KFE"]
    line = figure.axes[0].lines[0]
    np.testing.assert_array_equal(line.get_ydata()[:-1], dropped().torque[1:, 0])


def test_many_joints_are_shared_out_among_panels():
    robot = xs.load_robot("romeo")
    columns = robot.model.names[2:]
    groups = Grouping.of(list(columns), robot)
    assert sorted(column for group in groups for column in group.columns) == list(range(31))
    assert max(len(group.columns) for group in groups) <= 8
    assert [group.name for group in groups][:2] == ["LHipYaw … LAnkleRoll", "RHipYaw … RAnkleRoll"]
    without = Grouping.of(list(columns), None)
    assert sorted(column for group in without for column in group.columns) == list(range(31))


def test_forces_show_normal_tangential_limit_and_slip():
    figure = plots.forces(dropped(friction=0.3))
    assert names(figure) == ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]
    assert labels(figure)[:4] == ["normal λₙ", "tangential ‖λₜ‖", "friction limit μλₙ, μ = 0.3", "slipping"]
    normal, tangential, limit = (line.get_ydata() for line in figure.axes[0].lines[:3])  # before marks of events
    np.testing.assert_array_equal(normal, dropped(friction=0.3).force[:, 0, 2])
    np.testing.assert_allclose(limit, 0.3 * normal)
    assert np.all(tangential >= 0.0)


def test_the_limit_is_the_normal_force_where_friction_is_one():
    assert labels(plots.forces(dropped()))[0] == "normal λₙ (= μλₙ)"


def test_contact_points_of_one_foot_are_in_one_column():
    figure = plots.forces(dropped("romeo", duration=0.02))
    shown = names(figure)
    assert len(shown) == 8
    assert all(name.startswith("LAnkleRoll") for name in shown[::2])
    assert all(name.startswith("RAnkleRoll") for name in shown[1::2])


def test_an_impact_that_leaves_the_panel_is_written_above_it():
    trajectory = dropped(duration=0.5)
    figure = plots.forces(trajectory)
    peak = trajectory.force[:, 0, 2].max()
    assert figure.axes[0].get_ylim()[1] < peak
    assert figure.axes[0].get_title("right") == f"peak {peak:.3g} N"


@pytest.mark.parametrize("draw", [plots.motion, plots.torques, plots.forces])
def test_a_diverged_run_is_shown_up_to_where_it_flew_apart(draw, tmp_path):
    figure = draw(diverged())
    assert any("diverged at" in text.get_text() for text in figure.axes[0].texts)
    path = plots.save(figure, tmp_path / "diverged.png")
    assert path.stat().st_size > 10_000


def test_the_first_instant_alone_can_be_drawn(tmp_path):
    run = xs.scenarios.Run(xs.scenarios.get("drop"))
    for draw in (plots.motion, plots.torques, plots.forces):
        plots.save(draw(run.trajectory), tmp_path / "one.png")


def test_a_fixed_base_shows_its_joints(tmp_path):
    (tmp_path / "arm.urdf").write_text(GOOD_URDF)
    robot = xs.load_robot(tmp_path / "arm.urdf", floating_base=False)
    trajectory = Scenario("swing", robot, None, 1e-3, 0.05).run()
    figure = plots.motion(trajectory, robot)
    assert names(figure) == ["hinge"]
    assert plots.forces(trajectory) is None
    plots.save(figure, tmp_path / "arm.png")
    plots.save(plots.comparison({"one": trajectory, "other": trajectory}), tmp_path / "both.png")


def test_a_robot_without_joints_has_no_torques(tmp_path):
    (tmp_path / "arm.urdf").write_text(GOOD_URDF)
    robot = xs.load_robot(tmp_path / "arm.urdf", floating_base=False).replace(actuated_joints=[])
    assert plots.torques(Scenario("swing", robot, None, 1e-3, 0.01).run(), robot) is None


def test_a_comparison_marks_what_diverged(tmp_path):
    figure = plots.comparison({"expo": dropped(), "explicit-euler": diverged()})
    assert labels(figure) == ["expo", "explicit-euler"]
    assert "× = diverged" in figure.get_suptitle()
    for axes in figure.axes:
        assert sum(line.get_marker() == "x" for line in axes.lines) == 1
    plots.save(figure, tmp_path / "comparison.png")


def test_figures_leave_pyplot_and_the_settings_of_matplotlib_alone(tmp_path):
    code = f"""
import sys, matplotlib
look = lambda: {{key: matplotlib.rcParams[key] for key in matplotlib.rcParams if key != "backend"}}
before = look()
import exposim as xs
from exposim import plots
trajectory = xs.scenarios.get("drop").run(duration=0.01)
for draw in (plots.motion, plots.torques, plots.forces):
    plots.save(draw(trajectory), {str(tmp_path / "x.png")!r})
assert "matplotlib.pyplot" not in sys.modules
assert look() == before
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
