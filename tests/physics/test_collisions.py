"""Bodies that touch each other: what is kept when they collide, stacks at rest, friction and materials in between."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from bodies import HEAVY, box_with_edges, carrier, colliding, momenta, stack_of, velocity
from systems import GRAVITY, energy

STEPS = (1e-3, 5e-3, 1e-2)
PAIRS = [
    *(("box", "box"), ("sphere", "box"), ("capsule", "cylinder"), ("cylinder", "box"), ("sphere", "sphere")),
    *(("capsule", "capsule"), ("cylinder", "sphere")),
]

# Collisions.


def collide(one, other, seed, dt, integrator=None, duration=0.6, **material):
    """The simulator at the end, whether anything touched, and the momenta at the start."""
    robot, q, v = colliding(one, other, seed, **material)
    sim = xs.Simulator(robot, None, integrator, dt, collisions="all")
    sim.reset(q, v)
    before = velocity(sim, "one")
    sim.step(n=round(duration / dt))
    touched = np.abs(velocity(sim, "one") - before).max() > 1e-3
    return sim, touched, momenta(robot, q, v), energy(robot, q, v)


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("one, other", PAIRS)
def test_bodies_that_collide_keep_their_momentum_and_gain_no_energy(one, other, dt):
    hits = 0
    for seed in range(6):
        sim, touched, (linear, _), start = collide(one, other, seed, dt)
        hits += touched
        assert_allclose(momenta(sim.robot, sim.q, sim.v)[0], linear, atol=1e-12 * np.linalg.norm(linear))
        assert energy(sim.robot, sim.q, sim.v) < (1.0 + 1e-5) * start  # free flight at 10 ms has as much
    assert hits >= 3


def test_angular_momentum_is_kept_to_second_order():
    steps, lost = (1e-2, 5e-3, 2.5e-3, 1.25e-3), []
    for one, other in PAIRS:
        for seed in range(4):
            runs = [collide(one, other, seed, dt) for dt in steps]
            if not all(touched for _, touched, *_ in runs):
                continue
            lost.append(
                [
                    np.linalg.norm(momenta(sim.robot, sim.q, sim.v)[1] - angular) / np.linalg.norm(angular)
                    for sim, _, (_, angular), _ in runs
                ]
            )
    medians = np.median(lost, axis=0)
    assert len(lost) > 15
    assert np.polyfit(np.log(steps), np.log(medians), 1)[0] > 1.7
    assert medians[0] < 1e-2
    assert np.max(lost, axis=0)[-1] < 1e-2


@pytest.mark.parametrize("one, other", PAIRS)
def test_forces_between_bodies_act_on_both(one, other):
    seed = next(seed for seed in range(6) if collide(one, other, seed, 2e-3)[1])
    robot, q, v = colliding(one, other, seed)
    sim = xs.Simulator(robot, None, dt=2e-3, collisions="all")
    sim.reset(q, v)
    mine = np.array([point.frame.startswith("one/") for point in sim.contact_points])
    masses = {name: pin.computeTotalMass(robot.model) for name, robot in sim.robot.members.items()}
    touched = 0
    for _ in range(300):
        before = {name: velocity(sim, name) for name in masses}
        sim.step()
        lam = sim.info.lam_pr
        touched += lam.any()
        on_one = lam[mine].sum(axis=0) - lam[~mine].sum(axis=0)
        for name, force in (("one", on_one), ("other", -on_one)):
            gained = masses[name] * (velocity(sim, name) - before[name])
            # Steps that change contacts end with a correction beyond the mean force: docs/theory.md.
            assert_allclose(gained, sim.dt * force, atol=1e-12 + 1e-2 * sim.dt * np.abs(force).max())
    assert touched


@pytest.mark.parametrize(
    "one, other, friction",
    [
        *((*pair, 0.0) for pair in PAIRS),
        ("sphere", "box", 0.5),
    ],
)
def test_a_collision_ends_as_runge_kutta_says(one, other, friction):
    steps, apart = (5e-3, 1e-3), []
    for seed in (0, 1, 2, 3):
        truth, touched, *_ = collide(one, other, seed, 2e-5, xs.RungeKutta4(), 0.5, friction=friction)
        if touched:
            sims = [collide(one, other, seed, dt, None, 0.5, friction=friction)[0] for dt in steps]
            apart.append([np.abs(sim.v - truth.v).max() / np.abs(truth.v).max() for sim in sims])
    medians = np.median(apart, axis=0)
    assert medians[0] < 0.1
    assert medians[1] < 1e-2


@pytest.mark.xfail(strict=True, reason="two balls touch twice, by the point of either: twice the stiffness")
def test_a_ball_is_held_by_another_with_their_springs_in_series():
    """One above the other, the lower one held."""
    ball = xs.rigid_body("ball", xs.Sphere(0.1), 1.0)
    held = [*ball.contact_points, xs.ContactPoint("ball", name="held", bilateral=True, material=xs.Material(1e7, 1e4))]
    robot = xs.combine(
        low=ball.replace(contact_points=held), top=ball, poses={"top": [0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0]}
    )
    sim = xs.Simulator(robot, None, dt=2e-3, collisions="all")
    settle(sim, 2.0)
    assert 0.2 - (sim.q[9] - sim.q[2]) == pytest.approx(GRAVITY / 5e4, rel=1e-3)


# Stacks.


def at_rest(robot, ground, dt, settle):
    sim = xs.Simulator(robot, ground, dt=dt, collisions="all")
    sim.reset(robot.q0)
    sim.step(n=round(settle / dt))
    return sim


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("stiffness", [1e4, 1e5, 1e6])
def test_five_boxes_on_each_other_come_to_rest_and_do_not_creep(stiffness, dt):
    material = xs.Material(stiffness, 6e-3 * stiffness, 0.6)
    box, size = xs.rigid_body("box", xs.Box((0.2, 0.2, 0.2), material=material), 1.0), (0.2, 0.2, 0.2)
    robot = stack_of(5 * [box], 5 * [size], np.zeros((5, 2)), np.zeros(5))
    sim = at_rest(robot, xs.HalfSpace(material), dt, 3.5)
    before = sim.q
    sim.step(n=round(5.0 / dt))
    assert_allclose(sim.q, before, rtol=0.0, atol=1e-15)
    assert np.abs(sim.v).max() < 1e-12
    assert_allclose(sim.q.reshape(5, 7)[:, :2], 0.0, atol=1e-15)


def uneven():
    sizes = [(0.4, 0.3, 0.2), (0.2, 0.35, 0.1), (0.3, 0.2, 0.15), (0.15, 0.15, 0.2), (0.1, 0.12, 0.05)]
    return sizes, [5.0, 2.0, 3.0, 1.0, 0.3]


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("kind", ["equal", "uneven"])
def test_boxes_set_down_askew_come_to_rest_where_they_were_put(kind, dt):
    """With points on their edges: corners alone miss each other where boxes are turned or stand aside."""
    rng = np.random.default_rng(3)
    material = xs.Material(1e6, 2e4, 0.6)
    sizes, masses = uneven() if kind == "uneven" else (5 * [(0.2, 0.2, 0.2)], 5 * [1.0])
    boxes = [box_with_edges(size, mass, material) for size, mass in zip(sizes, masses, strict=True)]
    robot = stack_of(boxes, sizes, rng.uniform(-0.01, 0.01, (5, 2)), rng.uniform(-0.5, 0.5, 5))
    sim = at_rest(robot, xs.HalfSpace(material), dt, 3.0)
    before = sim.q
    sim.step(n=round(2.0 / dt))
    assert np.abs(sim.q - before).max() < 1e-6  # they sway, and less and less
    assert np.abs((sim.q - robot.q0).reshape(5, 7)[:, :2]).max() < 1e-3


def test_a_box_is_held_by_another_on_which_it_stands_turned():
    box = xs.rigid_body("box", xs.Box((0.2, 0.2, 0.2)), 1.0)
    sizes = 2 * [(0.2, 0.2, 0.2)]
    robot = stack_of(2 * [box], sizes, np.zeros((2, 2)), [0.0, 0.3])
    sim = at_rest(robot, xs.HalfSpace(), 5e-3, 1.0)
    assert sim.q[9] - sim.q[2] == pytest.approx(0.2, abs=1e-3)


# Friction.


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("push", [8.0, 30.0])
def test_a_crate_that_is_pushed_moves_as_its_friction_says(push, dt):
    mass, mu = 5.0, 0.3
    crate = xs.rigid_body("crate", xs.Box((0.4, 0.4, 0.4)), mass)
    sim = xs.Simulator(crate, xs.HalfSpace(xs.Material(friction=mu)), dt=dt)
    settle(sim)
    pushed = {"crate": [push, 0.0, 0.0, 0.0, 0.0, 0.0]}
    start = sim.q[0]
    sim.step(n=round(0.2 / dt), wrenches=pushed)  # until its springs have stretched
    before = in_x(sim)
    sim.step(n=round(0.5 / dt), wrenches=pushed)
    expected = max(0.0, push / mass - mu * GRAVITY)
    assert in_x(sim) - before == pytest.approx(0.5 * expected, abs=1e-4)
    if expected == 0.0:
        assert sim.q[0] - start < 1e-4


def settle(sim, seconds=1.0):
    sim.step(n=round(seconds / sim.dt))


def in_x(sim, member=None):
    if member is not None:
        return velocity(sim, member)[0]
    return (pin.Quaternion(sim.q[3:7]).matrix() @ sim.v[:3])[0]


def pusher(mass):
    """Slides along x, with a ball for a finger, 5 cm above the ground."""
    model = pin.Model()
    index = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "slide")
    model.appendBodyToJoint(index, pin.Inertia(mass, np.zeros(3), 0.1 * np.eye(3)), pin.SE3.Identity())
    at = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.05]))
    model.addFrame(pin.Frame("finger", index, 0, at, pin.FrameType.BODY))
    return xs.load_robot(model, contact_points=[xs.ContactPoint("finger", radius=0.02)])


@pytest.mark.parametrize("dt", STEPS)
def test_a_crate_pushed_by_a_robot_moves_as_its_friction_says(dt):
    mass, mu, push = 5.0, 0.3, 40.0
    crate = xs.rigid_body("crate", xs.Box((0.4, 0.4, 0.4), material=xs.Material(friction=0.0)), mass)
    robot = xs.combine(robot=pusher(2.0), crate=crate, poses={"crate": [0.221, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0]})
    sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(friction=mu)), dt=dt, collisions=[("robot", "crate")])
    tau = np.zeros(robot.nv)
    tau[0] = push
    sim.step(tau, n=round(0.3 / dt))  # until it has bumped into the crate and stays there
    before = in_x(sim, "crate")
    sim.step(tau, n=round(0.4 / dt))
    expected = (push - mu * mass * GRAVITY) / (mass + 2.0)
    assert (in_x(sim, "crate") - before) / 0.4 == pytest.approx(expected, rel=1e-2)
    assert sim.v[0] == pytest.approx(in_x(sim, "crate"), abs=1e-3)


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("push", [30.0, 60.0])
def test_a_crate_on_a_crate_goes_along_until_friction_between_them_is_used_up(push, dt):
    low, top, mu, between = 4.0, 2.0, 0.2, 0.35
    crates = [
        xs.rigid_body("crate", xs.Box(size, material=xs.Material(friction=each)), mass)
        for size, mass, each in (((0.8, 0.4, 0.2), low, between), ((0.2, 0.2, 0.2), top, 0.9))
    ]
    robot = stack_of(crates, [(0.8, 0.4, 0.2), (0.2, 0.2, 0.2)], np.zeros((2, 2)), np.zeros(2))
    sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(friction=mu)), dt=dt, collisions="all")
    settle(sim)
    pushed = {"box0/crate": [push, 0.0, 0.0, 0.0, 0.0, 0.0]}
    sim.step(n=round(0.1 / dt), wrenches=pushed)
    before = np.array([in_x(sim, name) for name in ("box0", "box1")])
    sim.step(n=round(0.15 / dt), wrenches=pushed)
    together = push / (low + top) - mu * GRAVITY
    if together < between * GRAVITY:
        expected = (together, together)
    else:
        expected = ((push - (mu * (low + top) + between * top) * GRAVITY) / low, between * GRAVITY)
    gained = np.array([in_x(sim, name) for name in ("box0", "box1")]) - before
    assert_allclose(gained / 0.15, expected, rtol=1e-2)


def ramp(angle, mu):
    """A board on a joint, tilted by its angle."""
    board = carrier(pin.JointModelRY(), xs.Box((4.0, 2.0, 0.2), (0.0, 0.0, -0.1), material=xs.Material(friction=mu)))
    crate = xs.rigid_body("crate", xs.Box((0.2, 0.2, 0.1)), 2.0)
    up = np.array([np.sin(angle), 0.0, np.cos(angle)])
    robot = xs.combine(board=board, crate=crate)
    q = np.r_[angle, 0.05 * up, 0.0, np.sin(angle / 2), 0.0, np.cos(angle / 2)]
    return robot, q


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("over", [0.98, 1.02])
def test_a_box_slides_on_an_inclined_body_where_its_friction_is_below_the_slope(over, dt):
    angle = 0.3
    mu = np.tan(angle) / over
    robot, q = ramp(angle, mu)
    sim = xs.Simulator(robot, None, dt=dt, collisions="all")
    sim.reset(q)
    settle(sim, 2.0)
    start, before = along_the_board(sim)
    settle(sim)
    end, after = along_the_board(sim)
    if over < 1.0:
        assert abs(end - start) < 1e-9  # the board gives way by as much
    else:
        assert after - before == pytest.approx(GRAVITY * (np.sin(angle) - mu * np.cos(angle)), rel=1e-2)


def along_the_board(sim):
    """How far down the crate is [m], and how fast it slides [m/s]."""
    down = np.array([np.cos(sim.q[0]), 0.0, -np.sin(sim.q[0])])
    return down @ sim.q[1:4], down @ velocity(sim, "crate")


@pytest.mark.parametrize("dt", STEPS)
def test_a_ball_on_a_plate_that_speeds_up_gets_two_sevenths_of_it(dt):
    plate = carrier(pin.JointModelPX(), xs.Box((6.0, 2.0, 0.2), (0.0, 0.0, -0.1)))
    robot = xs.combine(plate=plate, ball=xs.rigid_body("ball", xs.Sphere(0.1), 1.0))
    sim = xs.Simulator(robot, None, dt=dt, collisions="all")
    sim.reset(np.r_[0.0, 0.0, 0.0, 0.1 - GRAVITY / 5e4, 0.0, 0.0, 0.0, 1.0], np.zeros(7))
    tau = np.zeros(7)
    tau[0] = 2.0 * HEAVY
    sim.step(tau, n=round(0.5 / dt))
    assert sim.v[0] == pytest.approx(1.0, rel=1e-6)
    assert in_x(sim, "ball") == pytest.approx(2.0 / 7.0, rel=5e-3)
    kept = in_x(sim, "ball")
    sim.step(n=round(0.5 / dt))  # the plate goes on as it is, and so does what rolls on it
    assert in_x(sim, "ball") == pytest.approx(kept, abs=2e-3)


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("part", [0.9, 1.1])
def test_a_body_stays_on_a_turntable_while_friction_holds_it(part, dt):
    mu, radius = 0.5, 0.6
    omega = np.sqrt(part * mu * GRAVITY / radius)
    table = carrier(pin.JointModelRZ(), xs.Cylinder(2.0, 0.2, (0.0, 0.0, -0.1), material=xs.Material(friction=mu)))
    robot = xs.combine(table=table, crate=xs.rigid_body("crate", xs.Box((0.1, 0.1, 0.04)), 1.0))
    sim = xs.Simulator(robot, None, dt=dt, collisions="all")
    sim.reset(
        np.r_[0.0, radius, 0.0, 0.02 - GRAVITY / 2e5, 0.0, 0.0, 0.0, 1.0],
        np.r_[omega, 0.0, omega * radius, 0.0, 0.0, 0.0, omega],
    )
    sim.step(n=round(2.0 / dt))
    away = np.hypot(*sim.q[1:3]) - radius
    if part < 1.0:
        assert abs(away) < 2e-3
    else:
        assert away > 0.05


# Materials.


@pytest.mark.parametrize("dt", STEPS)
def test_springs_of_two_bodies_are_in_series_and_a_points_own_goes_before(dt):
    mass, low, top, own = 2.0, 4e4, 1e5, 2e4
    size = (0.2, 0.2, 0.2)
    boxes = [
        xs.rigid_body("box", xs.Box((0.4, 0.4, 0.2), material=xs.Material(low, 300.0)), 1.0, contact_points=[]),
        xs.rigid_body("box", xs.Box(size, material=xs.Material(top, 300.0)), mass),
    ]
    boxes.append(boxes[1].replace(contact_points=with_own(boxes[1], xs.Material(own, 300.0))))
    held = xs.ContactPoint("box", bilateral=True, material=xs.Material(1e6, 1e3))
    corners = [dataclasses.replace(held, offset=(x, y, 0.0), name=f"{x}{y}") for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    for box, K in ((boxes[1], low * top / (low + top)), (boxes[2], own)):
        lower = boxes[0].replace(contact_points=corners)
        robot = xs.combine(low=lower, top=box, poses={"top": [0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0]})
        sim = xs.Simulator(robot, None, dt=dt, collisions="all")
        settle(sim, 2.0)
        depth = 0.2 - (sim.q[9] - sim.q[2])
        assert depth == pytest.approx(mass * GRAVITY / (4.0 * K), rel=1e-6)


def with_own(robot, material):
    return [dataclasses.replace(point, material=material) for point in robot.contact_points]
