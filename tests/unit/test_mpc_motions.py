"""Motions of examples/mpc.py and the scenario go2-mpc, in small."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import exposim as xs
from exposim import scenarios
from exposim.scenarios import Run, go2_mpc

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "mpc.py"))


def test_a_solo12_finds_a_jump_from_standing_without_a_schedule():
    task = EXAMPLE["jump"]("solo12")
    assert task.sim.surfaces[0].material.stiffness == 1e5
    q, how = EXAMPLE["by_ilqr"](task, iterations=8)
    rose = q[:, 2] - q[0, 2]
    assert rose.max() > 0.05, how
    assert abs(rose[-1]) < 0.02
    feet = []
    for each in q[::3]:
        task.sim.reset(each)
        feet.append(task.sim.positions[:, 2].min())
    assert max(feet) > 0.01  # all of them in the air


def test_fddp_finds_it_too():
    task = EXAMPLE["jump"]("solo12")
    q, how = EXAMPLE["by_fddp"](task, iterations=4)
    assert (q[:, 2] - q[0, 2]).max() > 0.05, how


def tilt(q):
    return np.arccos(1.0 - 2.0 * (q[..., 3] ** 2 + q[..., 4] ** 2))


def test_a_go2_recovers_from_a_push():
    task = EXAMPLE["push"]("go2")
    held = task.sim.copy()
    held.state = task.start
    leant = []
    for _ in range(task.horizon):
        held.step(target=task.rest)
        leant.append(tilt(held.q))
    q, how = EXAMPLE["by_ilqr"](task, iterations=6)
    assert tilt(q).max() < 0.5 * max(leant), how
    assert abs(q[-1, 1]) < 0.05


def test_a_foot_leaves_the_ground_for_a_box():
    task = EXAMPLE["box"]("go2")
    q, how = EXAMPLE["by_ilqr"](task, iterations=6)
    heights = []
    for each in q:
        task.sim.reset(each)
        heights.append(task.sim.frame_pose(task.sim.robot.feet[0]).translation[2])
    assert max(heights) > 0.06, how


@pytest.fixture(scope="module")
def pushed():
    """Up to the end of the first push."""
    return scenarios.get("go2-mpc").run(duration=0.7)


def test_a_go2_that_plans_gives_way_less_than_one_that_holds_its_posture(pushed):
    scenario = scenarios.get("go2-mpc")
    judgement = scenario.judge(pushed)
    assert judgement.complaints == ()
    tau = xs.mpc.standing_torques(scenario.robot)
    held = scenario.replace(make_controller=lambda: lambda t, state: tau).run(duration=0.7)
    assert judgement.measures["pushed aside [m]"] < 0.8 * scenario.judge(held).measures["pushed aside [m]"]
    assert judgement.measures["greatest lean [rad]"] < 0.5 * scenario.judge(held).measures["greatest lean [rad]"]


def test_a_run_of_plans_goes_on_with_the_same_bits(tmp_path):
    whole = Run(scenarios.get("go2-mpc"), duration=0.08)
    while not whole.done:
        whole.advance()
    part = Run(scenarios.get("go2-mpc"), duration=0.08)
    part.advance()
    part.advance()
    saved = xs.Trajectory.load(part.trajectory.save(tmp_path / "part.npz"))
    resumed = Run.resume(saved, scenarios.get("go2-mpc"))
    while not resumed.done:
        resumed.advance()
    assert_array_equal(resumed.trajectory.q, whole.trajectory.q)
    planner = go2_mpc.planner(scenarios.get("go2-mpc").robot, xs.Material())
    with pytest.raises(xs.StateMismatch, match="not of this horizon"):
        planner.memory = {"u": np.zeros(3)}
    assert planner.memory == {}
    planner.memory = {}


def test_a_fall_and_a_robot_that_does_not_come_back_are_complained_of():
    scenario = scenarios.get("go2-mpc", force=700.0)
    tau = xs.mpc.standing_torques(scenario.robot)
    held = scenario.replace(make_controller=lambda: lambda t, state: tau)
    said = held.judge(held.run(duration=2.5)).complaints
    assert any("fell over" in each for each in said)
    assert any("cm from where it stood" in each for each in said)
