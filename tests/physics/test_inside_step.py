"""Events and the path within steps."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from exposim.contact.modes import IDLE
from systems import GRAVITY

GROUND = xs.HalfSpace(xs.Material(1e5, 300.0, 0.5))
SCHEMES = [
    (xs.Expo(), 1e-2),
    (xs.Expo(), 2e-3),
    (xs.Expo(order=1), 5e-3),
    (xs.PaperExpo(), 2e-3),
    (xs.ImplicitEuler(), 2e-3),
    (xs.SemiImplicitEuler(), 1e-4),
    (xs.RungeKutta4(), 1e-4),
]
every_scheme = pytest.mark.parametrize("integrator, dt", SCHEMES, ids=lambda each: getattr(each, "name", str(each)))


class Chain:
    """What the events say of every contact and limit; fails where they do not alternate."""

    def __init__(self, sim):
        self.touching, self.loose = sim.active.copy(), sim.slipping & sim.active
        self.at_limit = {}
        self.count = 0

    def follow(self, events):
        assert [event.t for event in events] == sorted(event.t for event in events)
        for event in events:
            i = event.index
            self.count += 1
            if not event.is_contact:
                known = self.at_limit.get(event.contact, event.kind == "release")
                assert known == (event.kind == "release"), event
                self.at_limit[event.contact] = event.kind == "limit"
                continue
            assert self.touching[i] == (event.kind != "land"), event
            if event.kind in ("slip", "stick"):
                assert self.loose[i] == (event.kind == "stick"), event
            self.touching[i] = event.kind != "lift"
            self.loose[i] = event.kind == "slip"

    def agrees(self, sim):
        pushing = sim.state.mode != IDLE
        return np.array_equal(self.touching, sim.active) and np.array_equal(
            (self.loose & pushing), sim.slipping & sim.active & pushing
        )


def thrown(integrator, dt, ground=GROUND, name="go2", seed=0, **options):
    rng = np.random.default_rng(seed)
    robot = xs.load_robot(name)
    sim = xs.Simulator(robot, ground, integrator, dt, on_divergence="stop", **options)
    q = robot.q0.copy()
    q[2] += 0.03
    sim.reset(q, 0.3 * rng.standard_normal(robot.nv))
    return sim, rng


@every_scheme
def test_events_of_every_contact_alternate_and_end_in_what_the_contacts_do(integrator, dt):
    sim, rng = thrown(integrator, dt)
    chain = Chain(sim)
    steps = round(1.0 / dt)
    while steps > 0 and not sim.diverged:
        n = int(rng.integers(1, 1 + max(4, round(4e-3 / dt))))
        start = sim.t
        sim.step(5.0 * rng.standard_normal(12), n)
        chain.follow(sim.events)
        assert sim.diverged or chain.agrees(sim)
        assert all(start <= event.t <= sim.t for event in sim.events)
        steps -= n
    assert chain.count > 10


@pytest.mark.parametrize("seed", range(3))
def test_they_do_so_where_contacts_change_hands(seed):
    steps = [
        xs.Box((0.25, 0.25, 0.1), (0.3 * i, 0.3 * j, 0.02 * ((i + j) % 3))) for i in (-1, 0, 1) for j in (-1, 0, 1)
    ]
    sim, rng = thrown(xs.Expo(), 5e-3, [*steps, GROUND], "solo12", seed, slots=2)
    chain = Chain(sim)
    for _ in range(150):
        sim.step(0.5 * rng.standard_normal(12))
        chain.follow(sim.events)
        assert chain.agrees(sim)
    assert chain.count > 10


@pytest.mark.parametrize("integrator, dt", [(xs.Expo(), 5e-3), (xs.ExplicitEuler(), 1e-5)])
def test_limits_are_told_of(integrator, dt):
    robot = xs.load_robot("go2").replace(joint_limits=True)
    sim = xs.Simulator(robot, None, integrator, dt)
    chain, lower = Chain(sim), robot.model.lowerPositionLimit
    for k in range(10):
        sim.step((-1) ** k * 10.0 * np.ones(12), round(0.05 / dt))
        chain.follow(sim.events)
        for event in sim.events:
            assert event.contact in robot.model.names
            joint = robot.model.joints[robot.model.getJointId(event.contact)]
            assert joint.idx_v == event.index
            if event.kind == "limit":
                at_lower = event.velocity[0] < 0.0
                assert np.isfinite(lower[joint.idx_q]) and event.force[0] * (1.0 if at_lower else -1.0) >= 0.0
    assert chain.count > 10
    assert {event.kind for event in sim.events} <= {"limit", "release"}


def ball(height=0.1, ground=GROUND, dt=5e-3, integrator=None, velocity=(0.0, 0.0, 0.0)):
    sim = xs.Simulator(xs.rigid_body("ball", xs.Sphere(0.05), 1.0), ground, integrator, dt, collisions=None)
    sim.reset([0.0, 0.0, 0.05 + height, 0.0, 0.0, 0.0, 1.0], [*velocity, 0.0, 0.0, 0.0])
    return sim


@pytest.mark.parametrize("dt", [2e-3, 5e-3, 1e-2])
def test_a_ball_lands_when_and_as_fast_as_it_falls(dt):
    sim = ball(dt=dt)
    sim.step(n=round(0.2 / dt))
    lands = [event for event in sim.events if event.kind == "land"]
    fall = np.sqrt(2.0 * 0.1 / GRAVITY)
    assert_allclose(lands[0].t, fall, rtol=0.0, atol=1e-6)
    assert_allclose(lands[0].velocity, [0.0, 0.0, -GRAVITY * fall], atol=1e-4)
    assert_allclose(lands[0].force, [0.0, 0.0, 300.0 * GRAVITY * fall], rtol=1e-4)  # the damper's
    assert lands[0].contact == sim.contact_points[0].name
    assert {event.kind for event in sim.events} <= {"land", "lift"}  # straight down: nothing slips


@pytest.mark.parametrize("integrator, dt", [(xs.ExplicitEuler(), 1e-4), (xs.RungeKutta4(), 1e-4)])
def test_schemes_that_see_only_their_ends_locate_it_in_between(integrator, dt):
    sim = ball(dt=dt, integrator=integrator)
    sim.step(n=round(0.2 / dt))
    assert_allclose(sim.events[0].t, np.sqrt(2.0 * 0.1 / GRAVITY), rtol=0.0, atol=0.6 * dt)


def test_a_touch_within_one_step_is_not_lost():
    sim = ball(0.002, xs.HalfSpace(xs.Material(1e6, 0.0, 0.5)), 2e-2, velocity=(0.0, 0.0, -1.0))
    sim.step()
    assert not sim.active.any()
    assert [event.kind for event in sim.events if event.kind in ("land", "lift")] == ["land", "lift"]
    assert np.abs(sim.path.forces(np.linspace(0.0, 0.02, 401))).max() > 500.0


def test_nothing_happens_after_a_reset_or_a_restored_state():
    sim = ball()
    sim.step(n=40)
    assert sim.events
    state = sim.state
    sim.state = state
    assert sim.events == ()
    with pytest.raises(xs.InvalidArgument, match="before a step"):
        _ = sim.path
    sim.reset()
    assert sim.events == ()


@every_scheme
def test_a_path_goes_from_state_to_state_and_changes_nothing(integrator, dt):
    sim, rng = thrown(integrator, dt)
    other, _ = thrown(integrator, dt)
    for _ in range(40):
        tau, before = rng.standard_normal(12), sim.forces
        q0, v0 = sim.q, sim.v
        sim.step(tau)
        other.step(tau)
        path, h = sim.path, sim.path.end - sim.path.start
        assert_allclose([path.start, path.end], [sim.t - h, sim.t], rtol=1e-12)
        for t, q, v, forces in ((path.start, q0, v0, before), (path.end, sim.q, sim.v, sim.forces)):
            for found, known in zip((*path(t), path.forces([t])[0]), (q, v, forces), strict=True):
                assert_allclose(found, known, rtol=0.0, atol=0.0)
        close = path(path.end - 1e-6 * h)
        assert np.abs(close[0] - sim.q).max() < 1e-6
        assert np.abs(close[1] - sim.v).max() < 1e-2
        assert path.forces([path.start + 0.5 * h]).shape == (1, 4, 3)
        assert path.forces([]).shape == (0, 4, 3)
        assert_allclose(path.accelerations([path.end])[0], sim.acceleration, rtol=1e-12)
    assert_allclose(sim.state.to_array(), other.state.to_array(), rtol=0.0, atol=0.0)


def forces_off(sim, truth, tau, dt):
    """Of all contacts together, relative, in the last half of every millisecond."""
    sim.step(tau)
    times = sim.path.start + np.linspace(1e-3, dt, round(dt / 1e-3))
    found = sim.path.forces(times)
    off = []
    for t, forces in zip(times, found, strict=True):
        truth.step(tau, round((t - truth.t) / truth.dt))
        total = np.linalg.norm(truth.forces, axis=1).sum()
        off.append(np.linalg.norm(forces - truth.forces, axis=1).sum() / max(total, 1.0))
    return off


def test_forces_within_steps_of_ten_milliseconds_are_those_of_small_steps():
    sim, rng = thrown(xs.Expo(), 1e-2, seed=5)
    truth = xs.Simulator(sim.robot, GROUND, xs.ExplicitEuler(), 4e-6)
    off = []
    for _ in range(30):
        truth.state = sim.state
        off += forces_off(sim, truth, 2.0 * rng.standard_normal(12), 1e-2)
    assert np.median(off) < 0.01
    assert np.mean(off) < 0.1


def test_a_path_has_the_course_of_a_bounce():
    """A ball pressed into undamped ground: half a sine."""
    K, speed = 1e5, 0.5
    sim = ball(0.0, xs.HalfSpace(xs.Material(K, 0.0, 0.5)), 8e-3, velocity=(0.0, 0.0, -speed))
    sim.step()
    omega = np.sqrt(K)
    t = np.linspace(0.0, 8e-3, 41)
    z = -GRAVITY / omega**2 * (1.0 - np.cos(omega * t)) - speed / omega * np.sin(omega * t)
    dz = -GRAVITY / omega * np.sin(omega * t) - speed * np.cos(omega * t)
    q, v = sim.path(t)
    inside = t < 0.9 * np.pi / omega
    assert_allclose(q[inside, 2] - 0.05, z[inside], rtol=0.0, atol=2e-3 * np.abs(z).max())
    assert_allclose(v[inside, 2], dz[inside], rtol=0.0, atol=3e-3 * speed)
    lam = sim.path.forces(t)[:, 0, 2]
    assert_allclose(lam[inside], -K * z[inside], rtol=0.0, atol=3e-3 * K * np.abs(z).max())
    assert_allclose(sim.path.accelerations(t)[:, 2], lam - GRAVITY, rtol=0.0, atol=1e-9 * K)


def test_times_outside_the_step_are_refused():
    sim = ball()
    sim.step(n=3)
    for t in (-1.0, 0.009, 0.016, np.nan, [[0.012]], "now"):
        with pytest.raises(xs.InvalidArgument, match="t "):
            sim.path(t)


def test_no_times_have_no_forces():
    sim = ball()
    sim.step()
    assert sim.path.forces([]).shape == (0, 1, 3) and sim.path.accelerations([]).shape == (0, 6)


def test_accelerations_within_a_step_are_slopes_also_with_drives_and_dry_friction():
    robot = xs.load_robot("go2").replace(drives=xs.Drive(25.0, 0.6), joint_friction=xs.DryFriction(0.2, 0.3))
    sim = xs.Simulator(robot, GROUND, dt=5e-3)
    q = robot.q0
    q[2] += 0.5
    sim.reset(q, np.r_[np.zeros(6), np.random.default_rng(0).normal(size=12)])
    sim.step()
    t, h = 2.5e-3, 1e-6
    slope = (sim.path(t + h)[1] - sim.path(t - h)[1]) / (2.0 * h)
    assert_allclose(sim.path.accelerations([t])[0], slope, rtol=1e-6, atol=1e-6)


def test_events_go_on_in_a_copy_as_they_would_have():
    sim, rng = thrown(xs.Expo(), 5e-3, xs.HalfSpace(xs.Material(1e5, 300.0, 0.3)), seed=2)
    idle = 0
    for _ in range(200):
        sim.step(8.0 * rng.standard_normal(12))
        idle += int((sim.state.mode == IDLE).sum())
        copies = [sim.copy(), pickle.loads(pickle.dumps(sim))]
        tau = 8.0 * rng.standard_normal(12)
        sim.step(tau)
        for each in copies:
            each.step(tau)
            assert [(event.t, event.index, event.kind) for event in each.events] == [
                (event.t, event.index, event.kind) for event in sim.events
            ]
    assert idle > 0
