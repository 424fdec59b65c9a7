"""Any loop of one's own becomes a trajectory, and callbacks are told of events."""

import pickle
import signal
from contextlib import nullcontext

import numpy as np
import pytest

import exposim as xs

PUSH = {"base_link": (3.0, 1.0, 0.0, 0.0, 0.0, 0.2)}


def simulator(robot="solo12", dt=5e-3, **settings):
    ground = xs.HalfSpace(material=xs.Material(friction=0.4))
    return xs.Simulator(xs.load_robot(robot) if isinstance(robot, str) else robot, ground, dt=dt, **settings)


def thrown(**settings):
    """A simulator of a robot above the ground, which turns."""
    sim = simulator(**settings)
    q = sim.robot.q0
    q[2] += 0.02
    v = np.zeros(sim.robot.nv)
    v[0], v[4] = 0.5, 1.0
    sim.reset(q, v)
    return sim


def torques(i):
    return 0.3 * np.sin(0.1 * i + np.arange(12))


def assert_replays(trajectory):
    """Taken again, the steps lead from every instant to the next, with the recorded forces."""
    assert np.array_equal(trajectory.forces_at(trajectory.t), trajectory.force)


def test_a_loop_becomes_a_trajectory_that_is_saved_and_continued(tmp_path):
    sim = thrown()
    recorder = xs.Recorder(sim)
    rows, events = [], []
    for i in range(40):
        rows.append((sim.t, sim.q, sim.v, sim.forces, sim.velocities, sim.positions))
        sim.step(torques(i))
        events += sim.events
    trajectory = xs.Trajectory.load(recorder.trajectory.save(tmp_path / "loop.npz"))
    for name, column in zip(("t", "q", "v", "force", "velocity", "position"), zip(*rows, strict=True), strict=True):
        assert np.array_equal(getattr(trajectory, name)[:-1], column), name
    assert np.array_equal(trajectory.tau[:-1], [torques(i) for i in range(40)])
    assert trajectory.state(-1) == sim.state
    assert [(each.t, each.kind, each.contact) for each in trajectory.events] == [
        (each.t, each.kind, each.contact) for each in events
    ]
    assert "land" in trajectory.events.kind
    assert trajectory.outcome.finished and trajectory.outcome.steps == 40
    assert trajectory.settings.scenario.name == "solo12"
    assert_replays(trajectory)


def test_the_recorded_loop_is_drawn_and_shown(tmp_path):
    plots, viewer = (pytest.importorskip(f"exposim.{each}") for each in ("plots", "viewer"))
    sim = thrown()
    recorder = xs.Recorder(sim)
    for _ in range(10):
        sim.step()
    trajectory = recorder.trajectory
    for figure in (plots.forces(trajectory), plots.motion(trajectory), plots.torques(trajectory)):
        plots.save(figure, tmp_path / "figure.png")
    viewer.write_replay(trajectory, tmp_path / "loop.html")


def test_a_loop_is_no_scenario():
    with pytest.raises(xs.InvalidArgument, match="recorded from a loop, not made by a scenario"):
        xs.scenarios.of(xs.Recorder(simulator()).trajectory)


def test_several_steps_of_one_call_are_one_instant_and_are_looked_into():
    coarse, fine = thrown(), thrown()
    one, other = xs.Recorder(coarse), xs.Recorder(fine)
    for i in range(6):
        coarse.step(torques(i), n=5)
        for _ in range(5):
            fine.step(torques(i))
    few, many = one.trajectory, other.trajectory
    assert few.steps.tolist() == [0] + [5] * 6 and few.outcome.steps == 30
    assert np.array_equal(few.events.t, many.events.t)
    assert np.array_equal(few.forces_at(many.t), many.force)
    inside = few.resample(coarse.dt)
    for name in ("q", "v", "force", "position", "velocity", "torque", "steps", "tau"):
        assert np.array_equal(getattr(inside, name), getattr(many, name)), name


def test_targets_of_drives_and_wrenches_are_recorded(tmp_path):
    robot = xs.load_robot("solo12").replace(drives=xs.Drive(kp=5.0, kd=0.1, delay=0.013))
    sim = thrown(robot=robot)
    recorder = xs.Recorder(sim)
    for i in range(30):
        target = robot.q0[7:] + 0.1 * torques(i) if i % 3 else None
        velocity = torques(i) if i % 2 else None
        sim.step(n=1 + i % 2, target=target, target_velocity=velocity, wrenches=PUSH if i > 20 else None)
    trajectory = xs.Trajectory.load(recorder.trajectory.save(tmp_path / "driven.npz"))
    assert trajectory.columns.wrench == ("base_link",)
    assert np.array_equal(trajectory.wrench[[0, 20, 21, 29], 0], [np.zeros(6)] * 2 + [PUSH["base_link"]] * 2)
    assert np.array_equal(trajectory.target[0], robot.q0)
    assert np.array_equal(trajectory.target[1, 7:], robot.q0[7:] + 0.1 * torques(1))
    assert_replays(trajectory)


def test_arrays_that_are_changed_later_stay_as_they_were_given():
    sim = simulator()
    recorder = xs.Recorder(sim)
    tau, wrench = np.ones(12), np.ones(6)
    sim.step(tau, wrenches={"base_link": wrench})
    tau[:] = wrench[:] = 5.0
    assert np.array_equal(recorder.trajectory.tau[0], np.ones(12))
    assert np.array_equal(recorder.trajectory.wrench[0, 0], np.ones(6))


def test_a_reset_and_a_state_begin_a_new_trajectory():
    sim = simulator()
    recorder = xs.Recorder(sim)
    sim.reset()  # nothing was done before it
    sim.step(n=3)
    middle = sim.state
    sim.step()
    sim.reset()
    sim.step()
    sim.state = middle
    sim.step()
    ends = [(each.t[0], each.t[-1]) for each in recorder.trajectories]
    np.testing.assert_allclose(ends, [(0.0, 0.02), (0.0, 0.005), (0.015, 0.02)], atol=1e-12)
    assert len(recorder.trajectory) == 2
    assert all(np.all(np.diff(each.t) > 0.0) for each in recorder.trajectories)


def test_a_change_begins_a_new_trajectory_of_what_is_changed(tmp_path):
    sim = thrown()
    recorder = xs.Recorder(sim)
    sim.step(n=10)
    sim.set(friction=0.1, gravity=(0.0, 0.0, -5.0))
    sim.step(n=10)
    sim.set(mass={"base_link": 3.0})
    sim.step(n=10)
    before, lighter, heavier = recorder.trajectories
    assert [each.contacts[0].friction for each in (before, lighter)] == [0.4, 0.1]
    assert lighter.t[0] == before.t[-1]
    for name, each in {"before": before, "lighter": lighter, "heavier": heavier}.items():
        assert_replays(each)
        assert_replays(xs.Trajectory.load(each.save(tmp_path / f"{name}.npz")))


def test_it_stops_when_it_is_told_to():
    sim = simulator()
    with xs.Recorder(sim) as recorder:
        sim.step()
        assert recorder.is_recording
    sim.step()
    sim.reset()
    assert len(recorder.trajectory) == 2 and not recorder.is_recording
    assert sim._observers == ()


def test_a_step_that_is_refused_leaves_no_trace():
    sim = simulator()
    recorder = xs.Recorder(sim)
    sim.step()
    for tau in (np.zeros(3), np.full(12, np.nan)):
        with pytest.raises(xs.InvalidArgument):
            sim.step(tau)
    assert len(recorder.trajectory) == 2


@pytest.mark.parametrize("on_divergence", ["raise", "stop"])
def test_a_divergence_is_part_of_the_record(on_divergence):
    stiff = xs.HalfSpace(material=xs.Material(stiffness=1e8))
    sim = xs.Simulator(xs.load_robot("solo12"), stiff, xs.ExplicitEuler(), on_divergence=on_divergence)
    q = sim.robot.q0
    q[2] += 1e-3
    sim.reset(q)
    recorder = xs.Recorder(sim)
    with pytest.raises(xs.SimulationDiverged) if on_divergence == "raise" else nullcontext():
        sim.step(n=1000)
    trajectory = recorder.trajectory
    assert trajectory.outcome.diverged_at == sim.divergence.time
    assert trajectory.t[-1] == sim.t > 0.0 and trajectory.outcome.steps == sim.statistics.steps
    sim.reset()
    assert recorder.trajectories[0].outcome == trajectory.outcome
    assert recorder.trajectory.outcome.diverged_at is None


def test_steps_before_an_interruption_are_recorded():
    sim = thrown()
    recorder = xs.Recorder(sim)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        with pytest.raises(KeyboardInterrupt):
            sim.step(torques(1), n=10**9)
    finally:
        signal.signal(signal.SIGALRM, before)
    sim.step(torques(2))
    trajectory = recorder.trajectory
    assert trajectory.steps.tolist() == [0, sim.statistics.steps - 1, 1]
    assert trajectory.state(-1) == sim.state


def test_torques_without_motors_are_not_recorded_and_nothing_is_made_up():
    sim = simulator()
    recorder = xs.Recorder(sim)
    sim.step(np.zeros(18))
    assert_replays(recorder.trajectory)
    sim.step(np.eye(18)[2])
    with pytest.raises(xs.InvalidArgument, match=r"moved by torques of degrees of freedom without motors, from 0\.005"):
        recorder.trajectory.forces_at([0.001])


def test_a_copy_is_not_recorded():
    sim = simulator()
    recorder = xs.Recorder(sim)
    pickle.loads(pickle.dumps(sim)).step()
    assert len(recorder.trajectory) == 1


def test_only_simulators_are_recorded():
    with pytest.raises(xs.InvalidArgument, match="sim is a Robot; give an"):
        xs.Recorder(xs.load_robot("solo12"))


def test_every_event_is_told_once_until_it_is_ended():
    sim, told, expected = thrown(), [], []
    end = sim.on_event(told.append)
    for i in range(40):
        sim.step(torques(i))
        expected += sim.events
        with pytest.raises(xs.InvalidArgument):
            sim.step(np.zeros(1))  # tells nothing again
    assert [(each.t, each.index, each.kind) for each in told] == [(each.t, each.index, each.kind) for each in expected]
    assert len(told) > 4
    end()
    sim.reset(sim.robot.q0 + np.eye(19)[2] * 0.01)
    sim.step(n=40)
    assert sim.events and len(told) == len(expected)


def test_a_callback_may_raise_but_not_move_the_simulator():
    sim = thrown()
    sim.on_event(lambda event: sim.step())
    with pytest.raises(xs.InvalidArgument, match="moved the simulator"):
        sim.step(n=40)
    with pytest.raises(xs.InvalidArgument, match="give a function of an event"):
        sim.on_event("land")


def test_what_is_recorded_does_not_depend_on_who_looks():
    watched, alone = thrown(), thrown()
    recorder = xs.Recorder(watched)
    watched.on_event(lambda event: None)
    for i in range(60):
        watched.step(torques(i))
        alone.step(torques(i))
        if i % 7 == 0:
            _ = recorder.trajectory.forces_at([watched.t]), watched.path
    assert watched.state == alone.state


def test_what_was_before_a_change_is_looked_into_with_the_robot_of_then():
    sim = thrown()
    recorder = xs.Recorder(sim)
    sim.step(n=10)
    sim.set(friction=0.1, gravity=(0.0, 0.0, -3.7), mass={"base_link": 3.0})
    sim.step(n=10)
    assert len(recorder.trajectories) == 2
    for trajectory in recorder.trajectories:
        assert_replays(trajectory)
