"""What joints remember, friction and targets on their way, is part of the state: shown, kept, restored bit for bit."""

import functools
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import exposim as xs
from bad_input import refused
from exposim.scenarios import Run
from exposim.simulation.state import STATE_FIELDS

FIELDS = ("friction_stretch", "friction_slips", "commands", "command_t", "command_target", "command_velocity")


@pytest.fixture(scope="module")
def robot():
    drive = xs.Drive(25.0, 0.5, delay=0.012)
    return xs.load_robot("go2").replace(drives=drive, joint_friction={"*_calf_joint": xs.DryFriction(0.2, 0.3)})


def moving(robot, targets=5):
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=5e-3)
    for i in range(targets):
        sim.step(target=robot.q0[7:] + 0.1 * i)
    return sim


def test_a_state_shows_what_joints_remember(robot):
    state = moving(robot).state
    assert state.layout.nf == 4
    assert state.friction_stretch.shape == state.friction_slips.shape == (4,)
    assert state.friction_stretch.any()
    assert 2 <= state.commands <= state.layout.nh
    times, targets = state.command_t[: state.commands], state.command_target[: state.commands]
    assert_array_equal(times, np.sort(times))
    assert times[-1] == pytest.approx(0.02)
    assert_array_equal(targets[-1][7:], robot.q0[7:] + 0.4)
    assert state.command_target.shape == (state.layout.nh, robot.nq)
    assert state.command_velocity.shape == (state.layout.nh, robot.nv)
    for name in ("friction_stretch", "command_t", "command_target", "command_velocity"):
        assert not getattr(state, name).flags.writeable


def test_a_robot_without_friction_or_delay_has_none_of_it():
    state = xs.Simulator(xs.load_robot("go2").replace(drives=xs.Drive(25.0, 0.5)), xs.HalfSpace()).state
    assert (state.layout.nf, state.layout.nh, state.commands) == (0, 0, 0)
    assert state.to_array().size == 1 + 19 + 18 + 6 * 4 + 2


@pytest.mark.parametrize("way", ["array", "pickle", "fields", "replace"])
def test_it_continues_with_the_same_bits(way, robot):
    sim = moving(robot)
    state = sim.state
    again = {
        "array": lambda: xs.State.from_array(state.to_array()),
        "pickle": lambda: pickle.loads(pickle.dumps(state)),
        "fields": lambda: xs.State(
            *(getattr(state, name) for name in ("t", "q", "v", "surface", "mode", "phi0", "stretch", *FIELDS))
        ),
        "replace": lambda: state.replace(t=state.t),
    }[way]()
    assert again == state
    other = xs.Simulator(robot, xs.HalfSpace(), dt=5e-3)
    other.state = again
    for each in (sim, other):
        each.step(target=robot.q0[7:], n=1)
        each.step(n=20)
    assert sim.state == other.state
    assert sim.state.to_array().tobytes() == other.state.to_array().tobytes()


def test_a_run_records_what_states_and_simulator_show(robot):
    target = lambda t: robot.q0[7:] + 0.1 * np.sin(20 * t)  # noqa: E731
    run = Run(xs.scenarios.Scenario("swaying", robot, None, 5e-3, 0.1, target=target))
    seen = []
    while not run.done:
        sim = run.sim
        seen.append((sim.state, sim.torques, sim.positions, sim.normals, sim.forces))
        run.advance()
    states, *beside = zip(*seen, strict=True)
    for name in STATE_FIELDS:
        assert_array_equal(getattr(run.trajectory, name)[:-1], [getattr(state, name) for state in states], name)
    for name, column in zip(("torque", "position", "normal", "force"), beside, strict=True):
        assert_array_equal(getattr(run.trajectory, name)[:-1], column, name)


def test_what_is_on_its_way_matters(robot):
    sim, other = moving(robot), moving(robot)
    other.state = other.state.replace(commands=0, command_target=np.zeros_like(sim.state.command_target))
    for each in (sim, other):
        each.step()
    assert np.abs(sim.q - other.q).max() > 1e-6


def test_a_stretch_of_friction_matters(robot):
    sim, other = moving(robot), moving(robot)
    other.state = other.state.replace(friction_stretch=np.zeros(4), friction_slips=np.zeros(4))
    for each in (sim, other):
        each.step()
    assert np.abs(sim.q - other.q).max() > 1e-9


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("friction_slips", [0, 1, 2, 0], "give 1 for what slips"),
        ("friction_slips", [0, 1], "has 2 entries; give 4"),
        ("friction_stretch", [np.nan] * 4, "finite"),
        ("commands", -1, "whole number from 0 to"),
        ("commands", 1.5, "whole number from 0 to"),
        ("commands", 1000, "whole number from 0 to"),
        ("command_t", "soon", "give"),
        ("command_target", np.zeros((2, 2)), "give ("),
        ("command_velocity", [np.inf], "give ("),
    ],
)
def test_nonsense_in_a_state_is_refused(name, value, words, robot):
    state = moving(robot).state
    refused(xs.InvalidArgument, functools.partial(state.replace, **{name: value}), name, words)


def test_times_that_do_not_follow_one_another_are_refused(robot):
    state = moving(robot).state
    times = state.command_t.copy()
    times[: state.commands] = times[: state.commands][::-1]
    refused(xs.InvalidArgument, lambda: state.replace(command_t=times), "command_t", "follow one another")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda x: x[:-1],
        lambda x: x[:-3],
        lambda x: np.append(x[:-3], [4.0, 0.0, -1.0]),
        lambda x: np.append(x[:-3], [0.5, x[-2], -1.0]),
        lambda x: np.append(x[:-3], [-4.0, x[-2], -1.0]),
        lambda x: np.append(x[:-3], [1e9, x[-2], -1.0]),
        lambda x: x[3:],
        lambda x: x[-4:],
    ],
)
def test_an_array_that_is_no_such_state_is_refused(spoil, robot):
    x = moving(robot).state.to_array()
    with pytest.raises(xs.InvalidArgument, match="array"):
        xs.State.from_array(spoil(x))


def test_a_flag_that_is_none_is_refused_in_an_array(robot):
    state = moving(robot).state
    x = state.to_array()
    x[1 + 19 + 18 + 24 + 1] = 0.5
    refused(xs.InvalidArgument, lambda: xs.State.from_array(x), "give 1 for what slips")


def test_a_state_of_other_joints_is_a_mismatch(robot):
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=5e-3)
    before = sim.state
    plain = xs.Simulator(robot.replace(drives=False, joint_friction=0.0), xs.HalfSpace()).state
    with pytest.raises(xs.StateMismatch, match=r"0 joints with dry friction.*instead of 4 and"):
        sim.state = plain
    assert sim.state == before


def test_displacements_stretch_friction_too(robot):
    sim = moving(robot)
    start = sim.state
    sim.step()
    end = sim.state
    dx = sim.difference(start, end)
    assert dx.shape == (2 * 18 + 3 * 4 + 4,)
    moved = sim.integrate(start, dx)
    np.testing.assert_allclose(moved.friction_stretch, end.friction_stretch, atol=1e-15)


def test_a_run_is_saved_and_resumed_with_the_same_bits(robot, tmp_path):
    def make():
        posture = robot.q0[7:]
        return xs.scenarios.Scenario(
            "wave", robot, None, 0.01, 0.2, dt=5e-3, target=lambda t: posture + 0.2 * np.sin(10.0 * t)
        )

    whole = make().run()
    run = xs.scenarios.Run(make())
    for _ in range(7):
        run.advance()
    run.trajectory.save(tmp_path / "part.npz")
    resumed = xs.scenarios.Run.resume(xs.Trajectory.load(tmp_path / "part.npz"), make())
    while not resumed.done:
        resumed.advance()
    for name in ("q", "v", "torque", "friction_stretch", "command_t"):
        assert_array_equal(getattr(resumed.trajectory, name), getattr(whole, name), err_msg=name)
    assert whole.columns.friction == ("FL_calf_joint", "FR_calf_joint", "RL_calf_joint", "RR_calf_joint")
    assert not whole.torque[0].any()
    assert whole.torque[1:].all()
    assert {"torque_FL_hip_joint", "tau_FL_hip_joint"} <= set(whole.to_dataframe().columns)
    assert whole.state(5) == xs.State.from_array(whole.state(5).to_array())
