"""Spherical feet: they roll, they rest where they should, they are as accurate as points."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from systems import GRAVITY, ball, block, downhill, energy, slope, spring_energy

STEPS = (1e-3, 2e-3, 5e-3, 1e-2)
UNIT = (0.0, 0.0, 0.0, 1.0)


def in_world(sim):
    """Velocity of a free ball's centre and its angular velocity, world axes."""
    R = pin.Quaternion(sim.q[3:7]).matrix()
    return R @ sim.v[:3], R @ sim.v[3:]


def resting(radius, stiffness=1e5, mass=1.0):
    """Configuration of a ball on the ground."""
    return [0.0, 0.0, radius - mass * GRAVITY / stiffness, *UNIT]


# Rolling.


@pytest.mark.parametrize("radius", [0.03, 0.1])
@pytest.mark.parametrize("dt", STEPS)
def test_a_ball_that_rolls_keeps_its_speed(dt, radius):
    sim = xs.Simulator(ball(radius), xs.HalfSpace(), xs.Expo(), dt)
    sim.reset(resting(radius), [0.6, 0.8, 0.0, -0.8 / radius, 0.6 / radius, 0.0])
    sim.step(n=round(5.0 / dt))
    dc, omega = in_world(sim)
    assert_allclose(dc, [0.6, 0.8, 0.0], atol=1e-9)
    assert_allclose(radius * omega, [-0.8, 0.6, 0.0], atol=1e-9)
    assert_allclose(sim.q[:2], [3.0, 4.0], atol=1e-8)


@pytest.mark.parametrize(
    "integrator, dt",
    [
        *((integrator, dt) for integrator in (xs.Expo(order=1), xs.PaperExpo(), xs.ImplicitEuler()) for dt in STEPS),
        *((integrator, 1e-4) for integrator in (xs.RungeKutta4(), xs.ExplicitEuler(), xs.SemiImplicitEuler())),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_ball_rolls_with_every_scheme_where_its_centre_moves_on_translations(integrator, dt):
    """On a free joint the schemes of first order gain or lose speed by the turning of its axes, not by the contact."""
    sim = xs.Simulator(ball(0.05, on_translations=True), xs.HalfSpace(), integrator, dt)
    sim.reset(resting(0.05), [1.0, 0.0, 0.0, 0.0, 20.0, 0.0])
    sim.step(n=round(5.0 / dt))
    assert_allclose(sim.v, [1.0, 0.0, 0.0, 0.0, 20.0, 0.0], atol=1e-5)


def test_a_free_ball_rolls_with_runge_kutta():
    sim = xs.Simulator(ball(0.05), xs.HalfSpace(), xs.RungeKutta4(), 1e-4)
    sim.reset(resting(0.05), [1.0, 0.0, 0.0, 0.0, 20.0, 0.0])
    sim.step(n=50_000)
    assert_allclose(in_world(sim)[0], [1.0, 0.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("dt", STEPS)
def test_a_ball_rolls_down_a_slope_with_five_sevenths_of_what_pulls_it(dt):
    angle, radius, seconds = np.arctan(0.1), 0.05, 1.0
    sim = xs.Simulator(ball(radius), slope(angle), xs.Expo(), dt)
    up = np.array([np.sin(angle), 0.0, np.cos(angle)])
    sim.reset([*((radius - GRAVITY * np.cos(angle) / 1e5) * up), *UNIT])
    start = energy(sim.robot, sim.q, sim.v) + spring_energy(sim)
    sim.step(n=round(0.1 / dt))  # until its spring has stretched
    before = in_world(sim)[0]
    for _ in range(round(seconds / dt)):
        sim.step()
        assert energy(sim.robot, sim.q, sim.v) + spring_energy(sim) <= start + 1e-7
    gained = in_world(sim)[0] - before
    assert gained @ downhill(angle) / seconds == pytest.approx(5 / 7 * GRAVITY * np.sin(angle), rel=1e-3)


@pytest.mark.parametrize("spin", [-60.0, 0.0, 90.0])
@pytest.mark.parametrize("dt", STEPS)
def test_a_ball_that_skids_ends_up_rolling_at_the_speed_that_its_moment_about_the_ground_demands(dt, spin):
    """Whatever friction does, m r v + I ω is kept: v = 5/7 v0 + 2/7 r ω0."""
    radius = 0.05
    sim = xs.Simulator(ball(radius), xs.HalfSpace(xs.Material(friction=0.3)), xs.Expo(), dt)
    sim.reset(resting(radius), [1.0, 0.0, 0.0, 0.0, spin, 0.0])
    start = energy(sim.robot, sim.q, sim.v)
    sim.step(n=round(2.0 / dt))
    dc, omega = in_world(sim)
    expected = 5 / 7 * 1.0 + 2 / 7 * radius * spin
    assert dc[0] == pytest.approx(expected, abs=2e-3)
    assert radius * omega[1] == pytest.approx(dc[0], abs=1e-6)
    assert energy(sim.robot, sim.q, sim.v) < start


def test_the_anchor_rolls_along_and_a_twist_in_place_winds_nothing_up():
    radius = 0.05
    sim = xs.Simulator(ball(radius), xs.HalfSpace(), xs.Expo(), 5e-3)
    sim.reset(resting(radius), [1.0, 0.0, 0.0, 0.0, 1.0 / radius, 3.0])
    for _ in range(100):
        sim.step()
        (contact,) = sim.contacts
        assert not contact.slipping
        assert_allclose(contact.anchor[:2], contact.position[:2], atol=1e-8)
    assert contact.anchor[0] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("integrator", [xs.ExplicitEuler(), xs.RungeKutta4(), xs.ImplicitEuler(), xs.Expo()], ids=repr)
def test_the_stretch_grows_by_the_travel_of_the_material(integrator):
    """Over one step, for a foot that moves and turns about any axis: Δc + r n × θ, tangentially."""
    radius, n = 0.05, np.array([0.3, -0.2, 0.9])
    n /= np.linalg.norm(n)
    sim = xs.Simulator(ball(radius), xs.HalfSpace(xs.Material(1e4, 20.0, 50.0), normal=n), integrator, 1e-3)
    sim.reset([*((radius - 5e-3) * n), *UNIT], [0.02, 0.03, -0.01, 3.0, -2.0, 5.0])
    sim.step(n=3)
    before, q = sim.contacts[0], sim.q
    sim.step()
    after = sim.contacts[0]
    assert not (before.slipping or after.slipping)
    turned = pin.Quaternion(sim.q[3:7]).matrix() @ pin.Quaternion(q[3:7]).matrix().T
    travel = sim.q[:3] - q[:3] + radius * np.cross(n, pin.log3(turned))
    stretch = [c.position - c.anchor for c in (before, after)]
    tangential = np.eye(3) - np.outer(n, n)
    assert_allclose(tangential @ (stretch[1] - stretch[0]), tangential @ travel, atol=1e-15)


# Rest.


@pytest.mark.parametrize("axis", [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.64, 0.48)])
@pytest.mark.parametrize("dt", STEPS)
def test_a_ball_that_spins_in_place_without_friction_rests_at_its_weight(dt, axis):
    sim = xs.Simulator(ball(0.05), xs.HalfSpace(xs.Material(friction=0.0)), xs.Expo(), dt)
    sim.reset(resting(0.05), [0.0, 0.0, 0.0, *(100.0 * np.array(axis))])
    for _ in range(round(0.5 / dt)):
        sim.step()
        assert_allclose(0.05 - sim.q[2], GRAVITY / 1e5, rtol=1e-9)
        assert_allclose(sim.info.lam_pr[0], [0.0, 0.0, GRAVITY], atol=1e-8)


def test_the_free_acceleration_of_a_foot_that_turns_has_no_part_towards_its_centre():
    """Predicted forces are those of the frozen system: with rω² = 500 m/s² in it they would rise by tons."""
    sim = xs.Simulator(ball(0.05), xs.HalfSpace(xs.Material(friction=0.0)), xs.Expo(), 1e-3)
    sim.reset(resting(0.05), [0.0, 0.0, 0.0, 0.0, 100.0, 0.0])
    assert_allclose(sim.predict_forces([0.0, 2e-3, 2e-2])[:, 0, 2], GRAVITY, rtol=1e-9)


# Curved ground.


class Dome(xs.Surface):
    def __init__(self, radius, **material):
        self.radius, self.centre, self.material = radius, np.array([0.0, 0.0, -radius]), xs.Material(**material)

    def distance(self, p):
        return np.linalg.norm(p - self.centre, axis=1) - self.radius

    def normal(self, p):
        outwards = p - self.centre
        return outwards / np.linalg.norm(outwards, axis=1, keepdims=True)


@pytest.mark.parametrize("spin", [0.0, 15.0])
def test_a_ball_rolls_over_a_dome_as_with_runge_kutta(spin):
    """Also spinning about the normal, which is where the turning of the arm is felt."""
    radius = 0.1

    def end_of(integrator, dt):
        sim = xs.Simulator(ball(radius), Dome(1.0, friction=0.8), integrator, dt)
        sim.reset(resting(radius), [0.8, 0.2, 0.0, -0.2 / radius, 0.8 / radius, spin])
        sim.step(n=round(0.3 / dt))
        assert not sim.slipping.any()
        return np.r_[sim.q[:3], np.concatenate(in_world(sim))]

    truth = end_of(xs.RungeKutta4(), 1e-4)
    errors = [np.abs(end_of(xs.Expo(), dt) - truth).max() for dt in (1e-2, 5e-3, 2.5e-3, 1.25e-3)]
    assert max(errors) < 2e-3
    assert errors[3] < errors[2] / 2.8


# Robots.


@pytest.mark.parametrize("dt", STEPS)
def test_a_tumbler_rocks_on_its_foot_and_keeps_its_energy(dt):
    """A body that is round below and heavy: it rolls to and fro, and nothing rubs."""
    radius, low, angle = 0.1, 0.03, 0.8
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.07), pin.SE3(np.eye(3), np.array([0.0, 0.0, -low])))
    model.addFrame(pin.Frame("tumbler", joint, 0, pin.SE3.Identity(), pin.FrameType.BODY))
    robot = xs.load_robot(model, contact_points=[xs.ContactPoint("tumbler", radius=radius)])
    sim = xs.Simulator(robot, xs.HalfSpace(), xs.Expo(), dt)
    sim.reset([*resting(radius)[:3], *pin.Quaternion(pin.rpy.rpyToMatrix(0.0, angle, 0.0)).coeffs()])
    start = energy(robot, sim.q, sim.v) + spring_energy(sim)
    swing = GRAVITY * low * (1.0 - np.cos(angle))
    way = []
    for _ in range(round(5.0 / dt)):
        sim.step()
        way.append(sim.q[0])
        assert abs(energy(robot, sim.q, sim.v) + spring_energy(sim) - start) < 2e-3 * swing
    assert max(way) - min(way) == pytest.approx(2.0 * radius * angle, rel=0.01)


def test_all_schemes_tend_to_the_same_motion_of_a_block_on_balls():
    robot = block(half=(0.1, 0.08, 0.06), radius=0.04)
    ground = slope(0.1, stiffness=2e3, damping=20.0, friction=20.0)

    def end_of(integrator, dt):
        sim = xs.Simulator(robot, ground, integrator, dt)
        sim.reset([0.0, 0.0, 0.058, *UNIT], [0.3, 0.2, 0.0, -0.8, 1.5, 0.5])
        sim.step(n=round(0.01 / dt))
        return np.r_[sim.q, sim.v]

    truth = end_of(xs.RungeKutta4(), 2e-5)
    assert np.abs(end_of(xs.Expo(), 1e-3) - truth).max() < 1e-4
    assert np.abs(end_of(xs.Expo(), 1e-4) - truth).max() < 2e-6
    for integrator in (
        xs.Expo(order=1),
        xs.PaperExpo(),
        xs.ExplicitEuler(),
        xs.SemiImplicitEuler(),
        xs.ImplicitEuler(),
    ):
        errors = [np.abs(end_of(integrator, dt) - truth).max() for dt in (1e-4, 5e-5)]
        assert errors[0] < 2e-2, integrator
        assert errors[1] < 0.6 * errors[0], integrator


def driven_go2(radius, seed, dt=4e-6, seconds=0.5):
    """States every 10 ms and the torques in between of Go2 driven to random targets, by explicit Euler."""
    robot = xs.load_robot("go2")
    q = robot.q0
    if radius == 0.0:
        q[2] -= robot.contact_points[0].radius
    feet = [xs.ContactPoint(p.frame, p.offset, p.name, radius) for p in robot.contact_points]
    robot, rng = robot.replace(contact_points=feet), np.random.default_rng(seed)
    sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(friction=0.7)), xs.ExplicitEuler(), dt)
    sim.reset(q)
    states, torques = [sim.state], []
    for period in range(round(seconds / 1e-2)):
        if period % 10 == 0:
            target = q[7:] + 0.15 * rng.standard_normal(12)
        torques.append(30.0 * (target - sim.q[7:]) - 0.5 * sim.v[6:])
        sim.step(torques[-1], n=round(1e-2 / dt))
        states.append(sim.state)
    return sim, states, torques


def test_go2_on_its_balls_is_as_accurate_as_on_points():
    medians = {}
    for radius in (0.0, 0.022):
        true, states, torques = driven_go2(radius, seed=90210)
        for dt in (1e-2, 5e-3, 2e-3):
            sim = xs.Simulator(true.robot, true.surfaces, xs.Expo(), dt)
            errors = []
            for start, tau, end in zip(states[:-1], torques, states[1:], strict=True):
                sim.state = start
                sim.step(tau, n=round(1e-2 / dt))
                off = pin.difference(sim.robot.model, end.q, sim.q), sim.v - end.v
                errors.append(np.abs(off).max())
            medians[radius, dt] = np.median(errors)
    for dt in (1e-2, 5e-3, 2e-3):
        assert medians[0.022, dt] < 2.0 * medians[0.0, dt]
