"""Runs and recordings whose steps are chosen by their error: recorded step by step, resumed and taken again."""

import functools
import signal

import numpy as np
import pytest
from test_trajectory import assert_same

import exposim as xs
from exposim import scenarios
from exposim.scenarios import Run


@functools.cache
def jump():
    return scenarios.get("solo-jump").run(duration=0.9, accuracy=1e-3)


def test_every_step_is_recorded_and_control_periods_are_kept():
    trajectory = jump()
    assert trajectory.settings.accuracy == 1e-3 and trajectory.outcome.finished
    assert trajectory.outcome.steps == len(trajectory) - 1 > 90
    assert trajectory.steps[1:].tolist() == [1] * trajectory.outcome.steps
    np.testing.assert_allclose(np.cumsum(trajectory.step_size), trajectory.t, atol=1e-12)
    assert trajectory.step_size.max() == pytest.approx(10e-3) and trajectory.step_size[1:].min() < 5e-3
    ends = np.array([trajectory.t[np.argmin(np.abs(trajectory.t - 0.01 * k))] for k in range(91)])
    np.testing.assert_allclose(ends, 0.01 * np.arange(91), atol=1e-12)
    assert np.all(np.any(np.diff(trajectory.tau, axis=0) != 0.0, axis=1) <= np.isin(trajectory.t[1:], ends))


def test_its_steps_are_taken_again():
    trajectory = jump()
    np.testing.assert_allclose(trajectory.forces_at(trajectory.t), trajectory.force, rtol=1e-12, atol=1e-12)
    assert len(trajectory.resample(1e-3)) == 901


def test_it_resumes_with_the_same_bits(tmp_path):
    run = Run(scenarios.get("solo-jump"), duration=0.9, accuracy=1e-3)
    while run.t < 0.82:  # right after it has landed, with short steps
        run.advance()
    saved = xs.Trajectory.load(run.trajectory.save(tmp_path / "part.npz"))
    resumed = Run.resume(saved, scenarios.of(saved))
    while not resumed.done:
        resumed.advance()
    assert_same(resumed.trajectory, jump())
    assert resumed.trajectory.header == jump().header
    assert len(jump().events) == len(resumed.trajectory.events) > 8


def test_the_time_of_its_steps_is_measured():
    run = Run(scenarios.get("solo-jump"), duration=0.1, accuracy=1e-3)
    while not run.done:
        run.advance()
    assert len(run.seconds_per_step) == run.trajectory.outcome.steps and len(run.seconds_per_control) == 10


def test_run_again_it_is_the_same():
    again = Run.again(jump(), scenarios.of(jump()))
    while not again.done:
        again.advance()
    assert_same(again.trajectory, jump())


@pytest.mark.parametrize("given", [{"dt": 1e-3}, {"record_every": 2}])
def test_steps_are_not_chosen_twice(given):
    with pytest.raises(xs.InvalidArgument, match=f"leave out {next(iter(given))}, or accuracy"):
        Run(scenarios.get("drop"), accuracy=1e-3, **given)


def test_schemes_that_know_nothing_of_their_error_are_refused_at_once():
    with pytest.raises(xs.InvalidArgument, match="has no such estimate"):
        Run(scenarios.get("drop"), xs.ImplicitEuler(), accuracy=1e-3)
    with pytest.raises(xs.InvalidArgument, match="accuracy is 0"):
        Run(scenarios.get("drop"), accuracy=0)


def test_an_interruption_of_advance_begins_a_new_record_where_it_is():
    sim = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace())
    sim.reset(sim.robot.q0 + np.eye(19)[2] * 0.05)
    recorder = xs.Recorder(sim)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 1.0)  # again, should it come where nothing can be raised
    try:
        with pytest.raises(KeyboardInterrupt):
            sim.advance(1e6, np.full(12, 0.1))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    sim.step()
    for trajectory in (each for each in recorder.trajectories if len(each) > 1):
        np.testing.assert_allclose(trajectory.forces_at(trajectory.t), trajectory.force, rtol=1e-12, atol=1e-12)
    assert recorder.trajectory.state(-1) == sim.state


def test_a_loop_that_advances_is_recorded_with_all_its_events():
    sim = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace())
    sim.reset(sim.robot.q0 + np.eye(19)[2] * 0.05)
    recorder, told, steps = xs.Recorder(sim), [], 0
    sim.on_event(told.append)
    for tau in (np.zeros(12), lambda t, state: np.full(12, 0.1)):
        steps += sim.advance(0.15, tau, 1e-3).steps
        sim.step(np.full(12, 0.2))
    trajectory = recorder.trajectory
    assert trajectory.outcome.steps == steps + 2 == len(trajectory) - 1
    assert [each.t for each in told] == trajectory.events.t.tolist()
    assert np.all(np.diff(trajectory.events.t) >= 0.0) and len(told) > 4
    assert trajectory.state(-1) == sim.state
    np.testing.assert_allclose(trajectory.forces_at(trajectory.t), trajectory.force, rtol=1e-12, atol=1e-12)


def test_it_does_not_matter_who_looks():
    watched, alone = (xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace()) for _ in range(2))
    xs.Recorder(watched)
    infos = []
    for sim in (watched, alone):
        sim.reset(sim.robot.q0 + np.eye(19)[2] * 0.05)
        infos.append(sim.advance(0.3, np.full(12, 0.1), 1e-3))
    assert infos[0] == infos[1]
    assert watched.state == alone.state
