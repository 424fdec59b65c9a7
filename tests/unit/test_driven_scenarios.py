"""Scenarios with drives: of their own, by --kp and --kd; targets; what makes no sense is refused."""

import numpy as np
import pytest

import exposim as xs
from command_line import exposim, refused
from exposim import scenarios

PAPER = ("solo-squat", "solo-jump", "solo-trot", "romeo-walk")

STATES_TARGETS = """
import exposim as xs


def scenario():
    robot = xs.load_robot("solo12")
    posture = robot.q0[7:]
    return xs.scenarios.Scenario("nod", robot, None, 0.01, 0.05, target=lambda t: posture + t)
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(words):
    result = exposim("run", *words.split(), "--no-replay")
    assert result.exit_code == 0, result.output


def saved(folder="out"):
    return xs.Trajectory.load(f"{folder}/trajectory.npz")


def drives_of(trajectory):
    return {(drive.kp, drive.kd) for drive in trajectory.settings.robot.drives}


@pytest.mark.parametrize("name", PAPER)
def test_the_scenarios_of_the_paper_have_no_limits_of_joints(name):
    robot = scenarios.get(name).robot
    assert robot.joint_limits is False
    assert robot.effort_limits is False
    assert not robot.drives


def test_a_dropped_robot_is_held_by_drives():
    scenario = scenarios.get("drop")
    assert scenario.make_controller is None
    assert set(scenario.robot.drives) == set(scenario.robot.actuated_joints)
    trajectory = scenario.run(duration=0.5)
    assert not trajectory.tau.any()
    assert np.abs(trajectory.torque).max() > 0.1
    assert np.abs(trajectory.q[-1, 7:] - scenario.robot.q0[7:]).max() < 0.2


def test_gains_of_a_dropped_robot_are_an_option():
    drives = scenarios.get("drop", kp=7.0).robot.drives.values()
    assert {drive.kp for drive in drives} == {7.0}
    assert all(drive.kd > 0.0 for drive in drives)
    assert set(scenarios.get("drop", kp=7.0, kd=0.1).robot.drives.values()) == {xs.Drive(7.0, 0.1)}


def test_flags_give_drives_to_all_actuated_joints():
    run("drop --kp 9 --kd 0.2 --duration 5ms --output out")
    assert drives_of(saved()) == {(9.0, 0.2)}
    assert len(saved().settings.robot.driven_joints) == 12


def test_a_run_with_drives_is_run_again_and_resumed_with_them():
    run("drop --kp 9 --kd 0.2 --duration 5ms --output out")
    run("out --output again")
    assert np.array_equal(saved("again").q, saved().q)
    run("out --kp 8 --kd 0.2 --output softer")
    assert drives_of(saved("softer")) == {(8.0, 0.2)}
    run("drop --resume --output out --duration 10ms --kp 9 --kd 0.2")
    refused(
        "run", "drop", "--resume", "--output", "out", "--kp", "8", "--kd", "0.2",
        says=["holds a run with kp 9, kd 0.2, not kp 8, kd 0.2", "without --kp, --kd"],
    )  # fmt: skip
    run("drop --resume --output out --duration 15ms")
    assert drives_of(saved()) == {(9.0, 0.2)}
    assert saved().t[-1] == pytest.approx(0.015)


def test_one_gain_alone_is_refused():
    refused("run", "drop", "--kp", "9", says=["--kp is given alone", "--kp and --kd"])
    refused("run", "drop", "--kd", "9", says=["--kd is given alone", "--kp and --kd"])
    refused("run", "drop", "--kp", "-9", "--kd", "1", says=["kp is '-9'", "at least 0"])
    refused("run", "drop", "--kp", "stiff", "--kd", "1", says=["kp is 'stiff'", "give a number"])


@pytest.mark.parametrize("name", PAPER)
def test_drives_against_the_torques_of_a_controller_are_refused(name):
    for command in ("run", "compare"):
        refused(
            command, name, "--kp", "9", "--kd", "0.2",
            says=[f"scenario '{name}' moves", "torques of its controller", "leave them out"],
        )  # fmt: skip


def test_compare_takes_gains_too():
    words = "compare drop --kp 9 --kd 0.2 --integrators expo,rk4@0.1ms --duration 5ms --output out"
    assert exposim(*words.split()).exit_code == 0


def test_a_scenario_may_state_targets(here):
    (here / "nod.py").write_text(STATES_TARGETS)
    refused("run", "nod.py", "--no-replay", says=["states targets", "'solo12' has no drives", "--kp and --kd"])
    flags = "--kp 5 --kd 0.1 --duration 50ms --no-replay --output out"
    assert exposim("run", "nod.py", *flags.split()).exit_code in (0, 1)
    robot = xs.load_robot("solo12")
    assert (saved().q[-1, 7:] - robot.q0[7:]).mean() > 0.002
    with pytest.raises(xs.InvalidArgument, match="target is not callable"):
        scenarios.get("drop").replace(target=robot.q0)


def test_a_target_that_is_none_is_refused():
    scenario = scenarios.get("drop").replace(target=lambda t: np.zeros(5))
    with pytest.raises(xs.InvalidArgument, match="target has 5 entries"):
        scenario.run()
