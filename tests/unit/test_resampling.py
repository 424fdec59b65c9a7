"""What was within the steps of a trajectory: forces at any time, resampling, and refusals instead of guesses."""

import functools

import numpy as np
import pytest

import exposim as xs
from exposim.contact.modes import MODES
from exposim.scenarios import Run, Scenario
from exposim.simulation.file_format import ARRAYS


@functools.cache
def jump(dt=10e-3):
    return xs.scenarios.get("solo-jump").run(dt=dt, duration=0.9)


@functools.cache
def pushed():
    """With drives, wrenches, several steps per control period and several per instant."""
    robot = xs.load_robot("solo12").replace(drives=xs.Drive(kp=5.0, kd=0.1, delay=0.007))
    scenario = Scenario(
        "pushed",
        robot,
        None,
        control_period=0.01,
        duration=0.2,
        target=lambda t: robot.q0[7:] + 0.2 * np.sin(20.0 * t),
        disturbance=lambda t: {"base_link": (5.0, 0.0, 0.0, 0.0, 0.0, 0.0)} if t > 0.05 else {},
    )
    return scenario.run(dt=1e-3, record_every=5)


@pytest.mark.parametrize("recorded", [jump, pushed])
def test_forces_at_the_instants_are_the_recorded_ones(recorded):
    trajectory = recorded()
    assert np.array_equal(trajectory.forces_at(trajectory.t), trajectory.force)
    mixed = np.random.default_rng(0).permutation(len(trajectory))
    assert np.array_equal(trajectory.forces_at(trajectory.t[mixed]), trajectory.force[mixed])


def test_within_steps_they_are_those_of_the_path():
    trajectory = jump()
    scenario = xs.scenarios.get("solo-jump")
    sim = xs.Simulator(scenario.robot, scenario.ground, dt=10e-3)
    for i in (50, 79, 80):
        sim.state = trajectory.state(i)
        sim.step(trajectory.tau[i])
        times = sim.path.start + np.array([0.1, 0.5, 0.9]) * 10e-3
        assert np.array_equal(trajectory.forces_at(times), sim.path.forces(times))


def test_resampled_finer_it_has_the_recorded_instants_and_what_is_between():
    trajectory = jump()
    fine = trajectory.resample(1e-3)
    assert len(fine) == 901 and fine.resampled == 1e-3
    np.testing.assert_allclose(fine.t, 1e-3 * np.arange(901), atol=1e-12)
    for name in ARRAYS.keys() - {"t", "steps"}:
        assert np.array_equal(getattr(fine, name)[::10], getattr(trajectory, name)), name
    assert np.array_equal(np.cumsum(fine.steps)[::10], np.arange(91))
    assert np.array_equal(fine.force, trajectory.forces_at(fine.t))
    # A foot is at rest while it sticks: positions between move with it.
    assert np.abs(np.diff(fine.position[:400], axis=0)).max() < 1e-4
    assert len(fine.events) == len(trajectory.events)


def test_contacts_within_steps_do_what_the_events_say():
    fine = jump().resample(1e-4)
    lands, lifts = (fine.events.select(kind=kind, contact="FL_FOOT").t for kind in ("land", "lift"))
    assert len(lands) > 0 and len(lifts) > 0
    touching = np.array([(lifts <= t).sum() == (lands <= t).sum() for t in fine.t])  # it stands at first
    assert np.array_equal(fine.active[:, 0], touching)
    assert not fine.force[~fine.active[:, 0], 0].any()
    assert set(np.unique(fine.mode)) <= set(range(len(MODES)))


def test_resampled_coarser_it_is_what_was_recorded():
    trajectory = pushed()
    coarse = trajectory.resample(0.02)
    assert np.array_equal(coarse.q, trajectory.q[::4])
    assert coarse.steps.tolist() == [0] + [20] * 10


def test_steps_of_unequal_size_are_taken_again():
    sim = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace(), dt=10e-3)
    sim.reset(sim.robot.q0 + np.eye(19)[2] * 0.01)
    recorder = xs.Recorder(sim)
    sizes = np.random.default_rng(0).uniform(1e-4, 1e-2, 30)
    for size in sizes:
        assert sim.advance(size, np.ones(12) * 0.1, accuracy=1e6).steps == 1
    trajectory = recorder.trajectory
    np.testing.assert_allclose(trajectory.step_size[1:], sizes, rtol=1e-9)
    np.testing.assert_allclose(trajectory.forces_at(trajectory.t), trajectory.force, rtol=1e-12, atol=1e-12)
    fine = trajectory.resample(1e-3)
    landings = trajectory.events.select(kind="land").t
    assert len(landings) > 0
    later = trajectory.forces_at(landings[:1] + 1e-7)
    assert later[0].any() and not trajectory.forces_at(landings[:1] - 1e-7).any()
    np.testing.assert_allclose(np.diff(fine.t), 1e-3, rtol=1e-9)


def test_on_inclined_ground_and_on_edges_too():
    box = xs.rigid_body("box", xs.Box(size=(0.2, 0.2, 0.1)), mass=2.0)
    for ground in (xs.terrain.stairs(), xs.terrain.rough((4.0, 4.0), 0.1, seed=3)):
        sim = xs.Simulator(box, ground, dt=0.01)
        sim.reset([0.05, 0.0, 0.35, 0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0, 1.0, 0.5])
        recorder = xs.Recorder(sim)
        for _ in range(60):
            sim.step()
        fine = recorder.trajectory.resample(2e-3)
        for name in ("q", "force", "position", "normal", "velocity"):
            assert np.array_equal(getattr(fine, name)[::5], getattr(recorder.trajectory, name)), name


def test_several_schemes_are_resampled():
    for scheme in (xs.SemiImplicitEuler(), xs.RungeKutta4(), xs.ImplicitEuler(), xs.PaperExpo()):
        trajectory = xs.scenarios.get("drop").run(scheme, duration=0.18, dt=5e-4)
        at = trajectory.t[::25]
        assert np.array_equal(trajectory.forces_at(at), trajectory.force[::25]), scheme


def test_a_loaded_trajectory_takes_its_steps_again_with_its_own_robot(tmp_path):
    loaded = xs.Trajectory.load(jump().save(tmp_path / "jump.npz"))
    at = np.linspace(0.78, 0.82, 23)
    assert np.array_equal(loaded.forces_at(at), jump().forces_at(at))
    fine = xs.Trajectory.load(loaded.resample(2e-3).save(tmp_path / "fine.npz"))
    assert fine.resampled == 2e-3 and len(fine) == 451


def test_a_surface_of_ones_own_is_at_hand_or_has_to_be_given(tmp_path):
    class Slope(xs.Surface):
        material = xs.Material()

        def distance(self, p):
            return p[:, 2] - 0.1 * p[:, 0]

        def normal(self, p):
            n = np.tile((-0.1, 0.0, 1.0), (len(p), 1))
            return n / np.linalg.norm(n, axis=1, keepdims=True)

    scenario = xs.scenarios.get("drop", height=0.05).replace(ground=Slope())
    made = scenario.run(duration=0.1, dt=5e-3)
    forces = made.forces_at(made.t)
    loaded = xs.Trajectory.load(made.save(tmp_path / "slope.npz"))
    with pytest.raises(xs.InvalidArgument, match="written in Python"):
        loaded.forces_at([0.05])
    assert np.array_equal(loaded.forces_at(made.t, ground=Slope()), forces)


def test_what_ends_elsewhere_is_refused():
    trajectory = jump()
    softer = xs.HalfSpace(material=xs.Material(stiffness=5e4))
    with pytest.raises(xs.StateMismatch, match=r"end elsewhere \(.*differ\).*give the robot= and the ground="):
        trajectory.forces_at([0.2], ground=softer)
    tau = np.array(trajectory.tau)
    tau[20] += 1e-12
    other = xs.Trajectory({**trajectory._arrays, "tau": tau}, trajectory.header)
    with pytest.raises(xs.StateMismatch, match=r"steps to t = 0\.21 s"):
        other.resample(5e-3)
    assert np.array_equal(other.forces_at([0.1]), trajectory.forces_at([0.1]))


def test_times_and_periods_that_cannot_be_are_refused():
    trajectory = jump()
    for times in ([-0.1], [0.1, 1.0], [np.nan]):
        with pytest.raises(xs.InvalidArgument):
            trajectory.forces_at(times)
    for period in (0.0, -1.0, np.inf, 1e-12, "fast"):
        with pytest.raises(xs.InvalidArgument, match="period"):
            trajectory.resample(period)
    assert trajectory.forces_at([]).shape == (0, 4, 3)


def test_resampled_instants_are_no_states():
    fine = jump().resample(5e-3)
    with pytest.raises(xs.InvalidArgument, match="no complete states"):
        fine.state(3)
    with pytest.raises(xs.InvalidArgument, match="ask the one that it was made of"):
        fine.forces_at([0.1])
    with pytest.raises(xs.InvalidArgument, match="no complete states"):
        Run.resume(fine, xs.scenarios.of(fine), duration=2.0)


def test_one_instant_alone_has_nothing_within():
    with pytest.raises(xs.InvalidArgument, match="one instant alone"):
        Run(xs.scenarios.get("drop")).trajectory.resample(1e-3)
