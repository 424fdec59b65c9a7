"""Limits and dry friction: bounces and stops of a pendulum where the truth has them, and rest that is rest."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp

import exposim as xs
from joint_truth import GRAVITY, bounce, joint_inertias, laws_of, pendulum, pendulum_at_rest, pendulum_bounces, truth_of
from systems import energy

LENGTH = 0.5
INERTIA = LENGTH**2


def limited_pendulum(upper=0.0, lower=-np.inf, **limits):
    model = pendulum(LENGTH)
    model.lowerPositionLimit, model.upperPositionLimit = np.array([lower]), np.array([upper])
    return xs.load_robot(model, contact_points=[]).replace(joint_limits=xs.JointLimits(**limits))


def swing(q, v, duration, stop_at):
    """Of the free pendulum until it passes an angle: time and speed there; `duration` may be negative."""

    def passes(_, x):
        return x[0] - stop_at

    passes.terminal = True
    way = solve_ivp(
        lambda _, x: [x[1], -GRAVITY / LENGTH * np.sin(x[0])],
        (0.0, duration),
        [q, v],
        events=passes,
        method="DOP853",
        rtol=1e-11,
        atol=1e-12,
    )
    return (way.t_events[0][0], way.y_events[0][0][1]) if len(way.t_events[0]) else None


def bounces_of(sim, upper, count):
    """(time, speed) at which it passed the limit on its way back, from the first free instant after each bounce."""
    found, was_free = [], True
    while len(found) < count and sim.t < 20.0:
        before = sim.v[0]
        sim.step()
        is_free = sim.q[0] < upper
        if is_free and sim.v[0] < 0.0 and (not was_free or before > 0.0):
            passed = swing(sim.q[0], sim.v[0], -0.1, upper)
            if passed is not None:
                found.append((sim.t + passed[0], -passed[1]))
        was_free = is_free
    return found


def true_bounces(start, upper, K, B, count):
    """The same of the truth; from beyond the limit, where it leaves it, to the limit it swings freely."""
    found = []
    for _, left, speed in pendulum_bounces(start, upper, K, B, count, LENGTH):
        depth = B / K * speed  # where the limit would begin to pull
        passed = swing(upper + depth, -speed, 0.1, upper) if depth > 0.0 else (0.0, -speed)
        found.append((left + passed[0], -passed[1]))
    return found


BOUNCES = [  # start, upper, stiffness, damping
    (-1.0, 0.0, 9e4, 60.0),
    (-1.0, 0.0, 9e4, 20.0),
    (-1.3, 0.0, 2e4, 20.0),
    (-0.7, 0.0, 1e6, 150.0),
    (-1.0, 0.0, 2e3, 5.0),
    (-1.2, 0.3, 9e4, 40.0),
    (-1.2, -0.2, 3e5, 60.0),
]


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.parametrize(("start", "upper", "K", "B"), BOUNCES)
def test_a_pendulum_bounces_off_its_limit_five_times_as_the_truth_does(start, upper, K, B, dt):
    sim = xs.Simulator(limited_pendulum(upper, stiffness=K, damping=B), dt=dt)
    sim.reset([start], [0.0])
    found, true = bounces_of(sim, upper, 5), true_bounces(start, upper, K, B, 5)
    share = 0.04 if K * dt**2 / INERTIA > 50.0 else 0.01  # of what a step does not resolve at all, 0.7 % per bounce
    assert np.array(found) == pytest.approx(np.array(true), rel=share)


def test_by_default_a_limit_is_as_stiff_as_the_joint_is_heavy():
    """At 5 ms, run into at 3 rad/s: it comes back with the speed of the formula."""
    robot = limited_pendulum()
    K = joint_inertias(robot)[0] * 600.0**2
    sim = xs.Simulator(robot, dt=5e-3)
    sim.reset([-0.02], [3.0])
    ((_, speed),) = bounces_of(sim, 0.0, 1)
    at_the_limit = swing(-0.02, 3.0, 0.1, 0.0)[1]
    assert speed == pytest.approx(bounce(INERTIA, K, 3e-3 * K, at_the_limit)[1], rel=0.02)


def test_a_pendulum_comes_to_rest_on_its_limit_and_stays_there():
    robot = limited_pendulum(upper=-0.5, lower=-1.0)
    robot = robot.replace(joint_damping=0.05)
    sim = xs.Simulator(robot, dt=5e-3)
    sim.reset([-0.9], [0.0])
    sim.step(n=2000)
    (limit,) = laws_of(robot).limits
    weight = GRAVITY * LENGTH * np.sin(-sim.q[0])
    assert sim.q[0] == pytest.approx(-0.5 + weight / limit.stiffness, abs=1e-6)
    assert sim.limit_forces[0] == pytest.approx(-weight, rel=1e-6)
    assert sim.info.limits == ("hinge",)
    q = sim.q[0]
    sim.step(n=2000)
    assert sim.q[0] == pytest.approx(q, abs=1e-12)
    assert abs(sim.v[0]) < 1e-12


def test_limit_forces_are_the_law_at_the_state():
    robot = limited_pendulum(stiffness=9e4, damping=60.0)
    sim = xs.Simulator(robot, dt=1e-3)
    sim.reset([-0.1], [3.0])
    (limit,) = laws_of(robot).limits
    pressed = 0
    for _ in range(60):
        sim.step()
        assert sim.limit_forces[0] == pytest.approx(limit.force(sim.q, sim.v), rel=1e-9, abs=1e-9)
        pressed += sim.limit_forces[0] != 0.0
    assert pressed >= 3


@pytest.mark.parametrize("dt", [1e-3, 2e-3, 5e-3, 1e-2, 2e-2])
@pytest.mark.parametrize("seed", range(4))
def test_limits_never_give_energy(seed, dt):
    rng = np.random.default_rng(seed)
    robot = limited_pendulum(0.3, -0.4) if seed % 2 else limited_pendulum(0.3, -0.4, stiffness=9e4, damping=20.0)
    limits = laws_of(robot).limits[0]
    sim = xs.Simulator(robot, dt=dt)
    sim.reset([rng.uniform(-0.3, 0.2)], [rng.uniform(-8.0, 8.0)])

    def energy():
        q, v = sim.q[0], sim.v[0]
        depth = max(0.0, q - 0.3, -0.4 - q)
        return 0.5 * INERTIA * v**2 + GRAVITY * LENGTH * (1.0 - np.cos(q)) + 0.5 * limits.stiffness * depth**2

    start = energy()
    for _ in range(round(3.0 / dt)):
        sim.step()
        assert energy() <= start * (1.0 + 1e-3) + 1e-3 * GRAVITY


def swinging_arm(upper):
    """Two links without weight, a limit of the elbow, some dry friction."""
    model = pin.Model()
    model.name = "arm"
    model.gravity.linear = np.zeros(3)
    tip, inertia = np.array([0.0, 0.0, -0.4]), 1e-3 * np.eye(3)
    shoulder = model.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "shoulder")
    elbow = model.addJoint(shoulder, pin.JointModelRY(), pin.SE3(np.eye(3), tip), "elbow")
    for joint in (shoulder, elbow):
        model.appendBodyToJoint(joint, pin.Inertia(1.0, tip, inertia), pin.SE3.Identity())
    model.lowerPositionLimit, model.upperPositionLimit = np.full(2, -np.inf), np.array([np.inf, upper])
    return xs.load_robot(model, contact_points=[]).replace(joint_friction=0.05)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7])
@pytest.mark.parametrize("dt", [5e-3, 1e-2])
@pytest.mark.parametrize(("upper", "v"), [(1.0, (4.0, 14.0)), (1.0, (8.0, 12.0)), (1.5, (4.0, 14.0))])
def test_an_arm_that_swings_into_a_limit_keeps_what_the_truth_keeps_wherever_in_a_step_that_is(upper, v, dt, share):
    """Centrifugal forces are others before and after: with those of one of them, 5 % of the energy came or went."""
    robot = swinging_arm(upper)
    (limit,) = laws_of(robot).limits

    def energy_at(q, v):
        depth = max(0.0, q[1] - upper)
        return energy(robot, q, v) + 0.5 * limit.stiffness * depth**2

    start = np.array([0.2, upper - share * dt * v[1]]), np.array(v)
    truth = truth_of(robot, h=2e-5)
    truth.reset(*start)
    truth.run(dt)
    sim = xs.Simulator(robot, dt=dt)
    sim.reset(*start)
    sim.step()
    assert sim.info.resolved
    assert sim.info.parts == 1
    assert energy_at(sim.q, sim.v) == pytest.approx(energy_at(truth.q, truth.v), abs=0.008 * energy_at(*start))


# Dry friction


def rubbing_pendulum(friction, **changes):
    return xs.load_robot(pendulum(LENGTH), contact_points=[]).replace(joint_friction=friction, **changes)


def stops(seed):
    """A pendulum whose friction holds it far from the bottom: start, speed, friction."""
    rng = np.random.default_rng(seed)
    start, speed = rng.uniform(0.4, 1.2) * rng.choice([-1.0, 1.0]), rng.uniform(-4.0, 4.0)
    dynamic = rng.uniform(0.8, 2.5)
    static = dynamic * rng.uniform(1.0, 1.6) if seed % 2 else dynamic
    return start, speed, xs.DryFriction(dynamic, static)


@pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2])
@pytest.mark.parametrize("seed", range(8))
def test_dry_friction_stops_a_pendulum_where_the_truth_stops_and_holds_it_for_ever(seed, dt):
    start, speed, friction = stops(seed)
    robot = rubbing_pendulum(friction)
    end = pendulum_at_rest(start, speed, laws_of(robot))
    sim = xs.Simulator(robot, dt=dt)
    sim.reset([start], [speed])
    sim.step(n=round(3.0 / dt))
    way = max(abs(end - start), abs(end))
    assert sim.q[0] == pytest.approx(end, abs=0.01 * way)
    sim.step(n=round(5.0 / dt))
    rest = sim.q[0]
    sim.step(n=10_000)
    assert sim.q[0] == rest
    assert abs(sim.v[0]) <= 1e-14
    assert sim.friction_torques[0] == pytest.approx(GRAVITY * LENGTH * np.sin(rest), rel=1e-9)


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_static_friction_holds_more_than_dynamic(dt):
    """Where it is let go with 1.2 N·m of weight, 1.5 hold it still and 1.0 do not, once it moves.

    What is let go all at once pulls with up to 1 + e⁻² of its weight at springs that are critically damped.
    """
    angle = np.arcsin(1.2 / (GRAVITY * LENGTH))
    robot = rubbing_pendulum(xs.DryFriction(1.0, 1.5, stiffness=5e4))
    sim = xs.Simulator(robot, dt=dt)
    sim.reset([angle], [0.0])
    sim.step(n=round(2.0 / dt))
    assert sim.q[0] == pytest.approx(angle, abs=1e-3)
    sim.reset([angle], [-0.3])
    sim.step(n=round(2.0 / dt))
    assert abs(sim.q[0]) < angle - 0.1


@pytest.mark.parametrize("dt", [2e-3, 1e-2])
@pytest.mark.parametrize("seed", range(3))
def test_dry_friction_on_every_joint_of_an_arm_is_that_of_the_truth(seed, dt):
    rng = np.random.default_rng(seed)
    model = pin.buildSampleModelManipulator()
    model.name = "arm"
    robot = xs.load_robot(model, contact_points=[]).replace(
        joint_friction=0.5, joint_limits=False, effort_limits=False, drives=xs.Drive(25.0, 0.5)
    )
    q, v, target = (rng.uniform(-1.0, 1.0, 6) * scale for scale in (1.0, 2.0, 1.0))
    truth = truth_of(robot, h=5e-5)
    truth.reset(q, v)
    truth.run(0.1, target=target)
    sim = xs.Simulator(robot, dt=dt)
    sim.reset(q, v)
    sim.step(n=round(0.1 / dt), target=target)
    way = np.abs(truth.q - q).max()
    assert sim.q == pytest.approx(truth.q, abs=(0.05 if dt > 5e-3 else 0.01) * way)
    assert np.all(np.abs(sim.friction_torques) <= 0.5 * (1.0 + 1e-9))


@pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2])
def test_dry_friction_never_gives_energy(dt):
    robot = rubbing_pendulum(0.3)
    stiffness = laws_of(robot).friction_stiffness[0]
    sim = xs.Simulator(robot, dt=dt)
    sim.reset([1.2], [3.0])

    def energy():
        return 0.5 * INERTIA * sim.v[0] ** 2 + GRAVITY * LENGTH * (1.0 - np.cos(sim.q[0]))

    highest = energy()
    for _ in range(round(4.0 / dt)):
        sim.step()
        assert energy() <= highest + 0.3**2 / stiffness + 1e-3 * GRAVITY * LENGTH
        highest = min(highest, energy())
