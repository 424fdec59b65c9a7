"""Steps that are chosen by their error."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import exposim as xs

GROUND = xs.HalfSpace(xs.Material(1e5, 300.0, 0.8))


def dropped(name="solo12", ground=GROUND, dt=1e-2, height=0.05, seed=0, **changes):
    robot = xs.load_robot(name)
    sim = xs.Simulator(robot.replace(**changes) if changes else robot, ground, dt=dt)
    q = sim.robot.q0.copy()
    q[2] += height
    sim.reset(q, 0.3 * np.random.default_rng(seed).standard_normal(sim.robot.nv))
    return sim


def test_it_ends_exactly_where_it_should_and_asks_at_every_control_time():
    sim = dropped()
    asked = []

    def controller(t, state):
        asked.append(t)
        assert_allclose(state.t, t, rtol=0.0, atol=0.0)
        return np.zeros(12)

    steps = []
    info = sim.advance(0.035, controller, 1e-3, control_period=1e-2, on_step=lambda at: steps.append(at.t))
    assert sim.t == 0.035
    assert_allclose(asked, [0.0, 0.01, 0.02, 0.03], rtol=1e-15)
    assert set(asked[1:]) <= set(steps)
    assert len(steps) == info.steps
    lengths = np.diff([0.0, *steps])
    assert_allclose([info.smallest, info.largest], [lengths.min(), lengths.max()], rtol=1e-9)


def test_steps_grow_to_the_control_period_in_flight_and_at_rest_and_shrink_at_impacts():
    flying = dropped(height=1.0, seed=1)
    flying.reset(flying.q, np.r_[0.0, 0.0, 1.0, np.zeros(15)])
    assert flying.advance(0.1, lambda t, state: np.zeros(12), 1e-3).steps == 10
    box = xs.Simulator(xs.rigid_body("box", xs.Box((0.3, 0.2, 0.1)), 1.0), GROUND, dt=1e-2)
    box.reset([0.0, 0.0, 0.2, 0.1, 0.0, 0.0, np.sqrt(0.99)], [0.5, 0.0, 0.0, 1.0, 0.0, 0.0])
    landing = box.advance(0.3, lambda t, state: np.zeros(0), 1e-4)
    assert landing.smallest < 2e-3
    box.advance(2.0, lambda t, state: np.zeros(0), 1e-4)
    assert box.advance(0.5, lambda t, state: np.zeros(0), 1e-4).steps == 50


def test_what_was_rejected_leaves_no_trace():
    sim, again, step_by_step = dropped(), dropped(), dropped()
    info = sim.advance(0.1, None, 1e-4)
    assert info.rejected > 0
    ends = []
    other = again.advance(0.1, None, 1e-4, on_step=lambda at: ends.append(at.path.end))
    assert (other.steps, other.rejected) == (info.steps, info.rejected)
    assert_allclose(again.state.to_array(), sim.state.to_array(), rtol=0.0, atol=0.0)
    for end in ends:  # the same steps one by one, each of a simulator that has seen nothing else
        alone = xs.Simulator(sim.robot, GROUND, dt=end - step_by_step.t)
        alone.state = step_by_step.state
        alone.step()
        step_by_step.state = alone.state
    assert_allclose(step_by_step.q, sim.q, rtol=0.0, atol=1e-9)


def error(name, accuracy, seed=0):
    sim = dropped(name, seed=seed)
    truth = xs.Simulator(sim.robot, GROUND, xs.RungeKutta4(), 5e-6)
    off = []
    for _ in range(12):
        truth.state = sim.state
        sim.advance(1e-2, None, accuracy)
        truth.step(n=2000)
        off.append(xs.analysis.distance(sim.robot, sim.state, truth.state))
        sim.state = truth.state
    return np.mean(off)


@pytest.mark.parametrize("seed", [1, 2])
def test_errors_are_about_as_large_as_they_may_be(seed):
    errors = [error("solo12", accuracy, seed) for accuracy in (1e-1, 1e-2, 1e-3)]
    assert sorted(errors, reverse=True) == errors
    assert np.all(errors < np.array([1.0, 1e-1, 1e-2]))


@pytest.mark.parametrize("case", ["drives", "limits", "terrain", "delay"])
def test_it_goes_with_drives_limits_and_terrain(case):
    drive = xs.Drive(20.0, 0.5, delay=4e-3) if case == "delay" else xs.Drive(20.0, 0.5)
    changes = {"joint_limits": True} if case == "limits" else {"drives": drive}
    ground = xs.terrain.rough(4.0, 0.03, seed=1) if case == "terrain" else GROUND
    sim = dropped("solo12", ground, height=0.1, **changes)
    target = None if case == "limits" else sim.robot.q0[7:] + 0.1
    infos = [sim.advance(1e-2, None, accuracy, target=target) for accuracy in [1e-3] * 20]
    assert sim.t == pytest.approx(0.2, rel=1e-12)
    assert sum(info.steps for info in infos) > 20
    assert np.isfinite(sim.q).all()


def test_bounds_hold_and_the_smallest_is_taken_whatever_its_error():
    sim = dropped()
    info = sim.advance(0.1, None, 1e-12, smallest=5e-4, largest=2e-3)
    assert info.steps == 200
    assert info.smallest >= 4.9e-4
    assert dropped().advance(0.1, None, 1e3, largest=4e-3).largest <= 4e-3 * (1.0 + 1e-9)


def test_what_makes_no_sense_is_refused_and_changes_nothing():
    sim = dropped()
    before = sim.state.to_array()
    for bad in (
        {"duration": 0.0},
        {"duration": 0.1, "accuracy": 0.0},
        {"duration": 0.1, "accuracy": np.nan},
        {"duration": 0.1, "tau": np.zeros(3)},
        {"duration": 0.1, "control_period": 0.01},
        {"duration": 0.1, "smallest": 0.1, "largest": 0.01},
        {"duration": 0.1, "first_step": -1.0},
    ):
        with pytest.raises(xs.InvalidArgument):
            sim.advance(**bad)
    assert_allclose(sim.state.to_array(), before, rtol=0.0, atol=0.0)
    for integrator in (xs.ExplicitEuler(), xs.Expo(order=1), xs.PaperExpo()):
        with pytest.raises(xs.InvalidArgument, match="Expo"):
            xs.Simulator(sim.robot, GROUND, integrator, 1e-3).advance(0.1)


def test_events_are_of_the_whole_call():
    sim = dropped(height=0.02, seed=3)
    sim.advance(0.2, None, 1e-3)
    lands = [event for event in sim.events if event.kind == "land"]
    assert {event.index for event in lands} == {0, 1, 2, 3}
    assert sim.path.end == sim.t


@pytest.mark.parametrize("on_divergence", ["raise", "stop"])
def test_where_it_diverges_it_stays_at_the_last_good_state(on_divergence):
    robot = xs.load_robot("solo12")
    hard = np.full(12, 1e9)
    free = xs.Simulator(robot.replace(effort_limits=False), GROUND, dt=1e-2, on_divergence=on_divergence)
    free.reset(robot.q0)
    if on_divergence == "raise":
        with pytest.raises(xs.SimulationDiverged):
            free.advance(0.1, hard, 1e-3)
        t = free.t
        assert t < 0.1
        free.advance(0.02)  # goes on, as step does
        assert free.t == t + 0.02
        return
    free.advance(0.1, hard, 1e-3)
    assert free.diverged
    assert free.t < 0.1
    before = free.state.to_array()
    assert free.advance(0.1).steps == 0
    assert_allclose(free.state.to_array(), before, rtol=0.0, atol=0.0)


def test_whoever_is_called_on_the_way_may_not_move_or_change_the_simulator():
    def meddle(sim, how):
        {"step": sim.step, "reset": sim.reset, "set": lambda: sim.set(friction=0.2)}[how]()

    for how in ("step", "reset", "set"):
        sim = dropped()
        with pytest.raises(xs.InvalidArgument, match="on_step"):
            sim.advance(0.05, on_step=lambda sim, how=how: meddle(sim, how))
        sim = dropped()
        with pytest.raises(xs.InvalidArgument, match="controller"):
            sim.advance(0.05, lambda t, state, sim=sim, how=how: meddle(sim, how) if t > 0.0 else None)
    with pytest.raises(xs.InvalidArgument, match="on_step"):
        dropped().advance(0.05, on_step=3)


@pytest.mark.parametrize(("name", "kp", "kd"), [("go2", 25.0, 0.6), ("solo12", 8.0, 0.2)])
def test_the_error_of_drives_in_flight_is_seen(name, kp, kd):
    robot = xs.load_robot(name).replace(drives=xs.Drive(kp, kd))
    q = robot.q0
    q[2] += 0.5
    v = np.r_[np.zeros(6), np.random.default_rng(0).normal(size=12)]
    truth = xs.Simulator(robot, None, xs.RungeKutta4(), 1e-5)
    truth.reset(q, v)
    truth.step(n=2000)
    sim, errors = xs.Simulator(robot, None, dt=1e-2), []
    for accuracy in (1e-1, 1e-2, 1e-3):
        sim.reset(q, v)
        sim.advance(0.02, accuracy=accuracy)
        errors.append(np.abs(sim.v - truth.v).max() / accuracy)
    assert max(errors) < 3.0
