"""Contacts that change within a step: landings, lift-offs, slips and sticks, at steps of many milliseconds."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from exposim.analysis.local_error import distance, ground_truth, local_errors
from systems import GRAVITY, PAPER, block, downhill, energy, on_slope, point_mass, slope, spring_energy

ORDERS = pytest.mark.parametrize("integrator", [xs.Expo(order=1), xs.Expo()], ids=["order 1", "order 2"])
STEEP, FLAT = 0.6, 0.3


# Sliding and sticking.


@ORDERS
@pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2, 2e-2])
@pytest.mark.parametrize("friction", [0.0, 0.2, 0.4, 0.6])
def test_a_block_slides_down_a_slope_as_coulomb_says(integrator, dt, friction):
    sim = xs.Simulator(block(), slope(STEEP, friction=friction), integrator, dt)
    sim.reset(on_slope(STEEP, 0.05 - 1e-5))
    speeds = []
    for _ in range(2):
        sim.step(n=round(0.5 / dt))
        speeds.append(np.mean([contact.velocity @ downhill(STEEP) for contact in sim.contacts]))
    acceleration = (speeds[1] - speeds[0]) / 0.5  # once it has settled
    assert acceleration == pytest.approx(GRAVITY * (np.sin(STEEP) - friction * np.cos(STEEP)), rel=1e-3)


@ORDERS
@pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2, 2e-2])
def test_a_block_that_sticks_does_not_creep(integrator, dt):
    sim = xs.Simulator(block(), slope(FLAT, friction=0.5), integrator, dt)
    sim.reset(on_slope(FLAT, 0.05 - 1e-5))
    sim.step(n=round(1.0 / dt))
    before = np.array([contact.position for contact in sim.contacts])
    sim.step(n=round(5.0 / dt))
    assert_allclose([contact.position for contact in sim.contacts], before, atol=1e-15)


@ORDERS
@pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2])
def test_a_sliding_block_comes_to_rest_where_friction_stops_it(integrator, dt):
    friction, speed = 0.4, 0.7
    sim = xs.Simulator(block(half=(0.1, 0.1, 0.02)), xs.HalfSpace(xs.Material(friction=friction)), integrator, dt)
    sim.reset([0, 0, 0.02 - 1e-5, 0, 0, 0, 1], [speed, 0, 0, 0, 0, 0])
    sim.step(n=round(0.5 / dt))
    assert sim.q[0] == pytest.approx(speed**2 / (2 * friction * GRAVITY), rel=0.01)
    assert np.abs(sim.v).max() < 1e-3
    assert not any(contact.slipping for contact in sim.contacts)


@pytest.mark.parametrize("dt", [1e-3, 4e-3, 1e-2])
def test_a_puck_that_spins_and_slides_turns_its_friction_with_its_velocity(dt):
    """Four points sliding in directions of their own, against explicit Euler at 1 µs."""
    robot = block(half=(0.1, 0.1, 0.02))
    start = [0, 0, 0.02 - 5e-5, 0, 0, 0, 1], [0.6, 0.2, 0, 0, 0, 8.0]
    ground = xs.HalfSpace(xs.Material(friction=0.3))
    ends = []
    for integrator, step in ((xs.ExplicitEuler(), 1e-6), (xs.Expo(), dt)):
        sim = xs.Simulator(robot, ground, integrator, step)
        sim.reset(*start)
        sim.step(n=round(0.04 / step))
        ends.append(sim.state)
    assert distance(robot, *ends) < 0.02


# Landings.


def bounce(dt, height, integrator=None, damping=100.0):
    """Height to which a mass of 2 kg rises after its first bounce [m]."""
    robot = point_mass(2.0)
    sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(1e5, damping, 0.5)), integrator or xs.Expo(), dt)
    sim.reset([0.0, 0.0, height])
    while sim.v[2] <= 0.0 or sim.q[2] <= 0.0:
        sim.step()
    return sim.q[2] + sim.v[2] ** 2 / (2 * GRAVITY)


def test_the_bounce_height_is_a_continuous_function_of_the_initial_height():
    heights = np.linspace(0.1, 0.12, 201)
    bounces = np.array([bounce(1e-2, height) for height in heights])
    slope_of_all = (bounces[-1] - bounces[0]) / (heights[-1] - heights[0])
    expected = slope_of_all * (heights[1] - heights[0])
    jumps = np.abs(np.diff(bounces) - expected)
    assert jumps.max() < 8e-4 * bounces.mean()  # the averaged method: 6 %


@pytest.mark.parametrize("dt", [2e-3, 5e-3, 1e-2, 2e-2])
@pytest.mark.parametrize("height", [0.02, 0.1, 0.5])
def test_the_bounce_height_is_right_whatever_the_step(dt, height):
    exact = bounce(1e-5, height, xs.RungeKutta4())
    assert bounce(dt, height) == pytest.approx(exact, rel=0.02)


@ORDERS
@pytest.mark.parametrize("dt", [1e-3, 2e-3, 5e-3, 1e-2, 2e-2])
@pytest.mark.parametrize("friction", [0.0, 0.7])
def test_energy_never_grows_in_a_drop(integrator, dt, friction):
    """A block that lands on a corner, tumbles and settles."""
    robot = block()
    sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(friction=friction)), integrator, dt)
    q = [0.0, 0.0, 0.15, *pin.Quaternion(pin.rpy.rpyToMatrix(0.2, 0.1, 0.0)).coeffs()]
    sim.reset(q)
    energies = []
    for _ in range(round(0.8 / dt)):
        energies.append(energy(robot, sim.q, sim.v) + spring_energy(sim))
        sim.step()
    fallen = energies[0] - energies[-1]
    assert fallen > 1.5  # it has come to rest
    assert max(energies) <= energies[0] + 1e-9
    allowed = 5e-3 if integrator.order == 1 else 2e-4  # of terms frozen over the step
    assert np.diff(energies).max() < allowed * fallen


def test_a_touchdown_takes_effect_when_it_happens_not_at_the_end_of_the_step():
    sim = xs.Simulator(point_mass(2.0), xs.HalfSpace(), xs.Expo(), 1e-2)
    sim.reset([0.0, 0.0, 0.004], [0.0, 0.0, -1.0])
    sim.step()
    assert sim.info.resolved
    assert sim.info.events == 1
    exact = xs.Simulator(point_mass(2.0), xs.HalfSpace(), xs.ExplicitEuler(), 1e-7)
    exact.reset([0.0, 0.0, 0.004], [0.0, 0.0, -1.0])
    exact.step(n=100_000)
    assert_allclose(sim.q, exact.q, atol=2e-6)
    assert_allclose(sim.v, exact.v, atol=2e-3)
    assert_allclose(sim.contacts[0].anchor, [0.0, 0.0, 0.0], atol=1e-12)


# The table of figures that resolving was proposed with: state error after 20 ms against explicit Euler at 1 µs. Feet
# 1 to 2 mm above the ground and 0.3 to 0.5 m/s downwards where the motion begins with a landing.
TABLE = {  # friction, height of the feet, velocity forward and down, step; order 1, order 2
    "sliding, 10 ms": ((0.3, -6e-5, 1.0, 0.0, 1e-2), 1.3e-2, 8.7e-4),
    "sliding, 2.5 ms": ((0.3, -6e-5, 1.0, 0.0, 2.5e-3), 1.3e-3, 5.5e-5),
    "landing and sliding, 5 ms": ((0.3, 2e-3, 1.0, -0.5, 5e-3), 4.5e-2, 7.0e-3),
    "fast landing, 5 ms": ((1.0, 1e-3, 2.0, -0.3, 5e-3), 0.12, 1.1e-2),
    "touchdown in the middle of the step, 5 ms": ((1.0, 1.25e-3, 0.0, -0.5, 5e-3), 2.4e-2, 7.5e-3),
}


@pytest.mark.parametrize("motion", TABLE)
def test_errors_are_those_that_resolving_promised(motion):
    (friction, height, forward, down, dt), *promised = TABLE[motion]
    robot = xs.load_robot("solo12")
    q, v = robot.q0, np.zeros(robot.nv)
    q[2] += height
    v[[0, 2]] = forward, down

    def end(integrator, step):
        sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(friction=friction)), integrator, step)
        sim.reset(q, v)
        sim.step(n=round(0.02 / step))
        return sim.state

    exact = end(xs.ExplicitEuler(), 1e-6)
    errors = [distance(robot, exact, end(integrator, dt)) for integrator in (xs.Expo(order=1), xs.Expo(order=2))]
    assert errors[0] < 2.0 * promised[0]
    assert errors[1] < 2.0 * promised[1]
    assert distance(robot, exact, end(PAPER, dt)) > 5.0 * errors[1]


@pytest.mark.parametrize("friction", [1.0, 0.4])
def test_the_trot_s_local_error_is_far_below_that_of_averaged_transitions(friction):
    scenario = xs.scenarios.get("solo-trot").with_material(friction=friction)
    truth = ground_truth(scenario, xs.ExplicitEuler(), 1e-3 / 512, 0.6)
    paper, first, second = (
        local_errors(scenario, integrator, 2e-3, truth).mean() for integrator in (PAPER, xs.Expo(order=1), xs.Expo())
    )
    assert first < 2 * 2.8e-3  # the table's figures for stepping in place
    assert second < 2 * 1.3e-3
    assert paper > 10.0 * second


# Convergence.


def errors_of(integrator, steps, start, robot, ground, duration):
    def end(scheme, step):
        sim = xs.Simulator(robot, ground, scheme, step)
        sim.reset(*start)
        sim.step(n=round(duration / step))
        return sim.state

    exact = end(xs.ExplicitEuler(), 2e-7)
    return [distance(robot, exact, end(integrator, step)) for step in steps]


def test_it_converges_through_transitions_and_order_two_has_a_far_smaller_constant():
    """A block lands on a corner and slides on: first order at least."""
    robot, ground = block(), xs.HalfSpace(xs.Material(friction=0.4))
    start = (
        [0.0, 0.0, 0.075, *pin.Quaternion(pin.rpy.rpyToMatrix(0.15, 0.1, 0.0)).coeffs()],
        [1.0, 0, -0.5, 0, 0, 2.0],
    )
    steps = [8e-3, 4e-3, 2e-3, 1e-3, 5e-4]
    first, second = (errors_of(xs.Expo(order=order), steps, start, robot, ground, 0.04) for order in (1, 2))
    assert np.polyfit(np.log2(steps), np.log2(first), 1)[0] > 0.8
    assert np.polyfit(np.log2(steps), np.log2(second), 1)[0] > 0.8
    assert np.median(np.array(first) / second) > 5.0


# Whatever the material.


@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e7, 1e8])
@pytest.mark.parametrize("ratio", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("dt", [2e-3, 1e-2])
def test_a_block_lands_and_settles_however_stiff_and_damped_the_ground(stiffness, ratio, dt):
    damping = 2.0 * ratio * np.sqrt(stiffness * 0.5)
    robot, material = block(), xs.Material(stiffness, damping, 0.5)
    sim = xs.Simulator(robot, xs.HalfSpace(material), xs.Expo(), dt)
    sim.reset([0.0, 0.0, 0.07, *pin.Quaternion(pin.rpy.rpyToMatrix(0.1, 0.05, 0.0)).coeffs()], [0.3, 0, 0, 0, 0, 0])
    start = energy(robot, sim.q, sim.v)
    for _ in range(round(0.5 / dt)):
        sim.step()
        # Without that of the springs: slipping stretches the tangential ones to what friction holds, damping included.
        assert energy(robot, sim.q, sim.v) < start + 1e-3


@pytest.mark.parametrize(
    "material", [xs.Material((1e5, 3e4), (300.0, 300.0), 0.4), xs.Material(1e5, (300.0, 50.0), 0.4)]
)
def test_materials_whose_damping_is_not_proportional_are_resolved_too(material):
    robot = block()
    start = [0.0, 0.0, 0.06, 0, 0, 0, 1], [0.8, 0.3, -0.4, 0, 0, 1.0]
    ground = xs.HalfSpace(material)
    errors = errors_of(xs.Expo(), [4e-3], start, robot, ground, 0.04)
    paper = errors_of(PAPER, [4e-3], start, robot, ground, 0.04)
    assert errors[0] < 0.02
    assert errors[0] < 0.1 * paper[0]


# Rigour, and bounded work.


def test_what_is_ruled_out_does_not_happen():
    """Where a step was taken in closed form at once, no force leaves its cone within it, however finely one looks."""
    scenario = xs.scenarios.get("solo-squat")
    robot, controller = scenario.robot, scenario.make_controller()
    rng = np.random.default_rng(3)
    ruled_out = happened = 0
    for _ in range(600):
        dt, friction = rng.choice([1e-3, 4e-3, 2e-2]), rng.uniform(0.3, 1.0)
        sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(friction=friction)), xs.Expo(order=1), dt)
        q = scenario.q0.copy()
        q[2] -= 10.0 ** rng.uniform(-7, -4)
        sim.reset(q, 10.0 ** rng.uniform(-5, -1) * rng.standard_normal(robot.nv))
        if any(contact.slipping or not contact.active for contact in sim.contacts):
            continue
        tau = controller(0.0, sim.state) + 10.0 ** rng.uniform(-3, 0) * rng.standard_normal(12)
        lam = sim.predict_forces(np.linspace(0.0, dt, 400), tau)
        stays = np.all(np.linalg.norm(lam[..., :2], axis=2) <= friction * lam[..., 2])
        sim.step(tau)
        happened += not stays
        if sim.info.micro_steps == 0:
            ruled_out += 1
            assert stays
    assert ruled_out > 20
    assert happened > 20


def test_a_standing_robot_is_not_resolved():
    robot = xs.load_robot("solo12")
    scenario = xs.scenarios.get("solo-squat")
    sim = xs.Simulator(robot, scenario.ground, xs.Expo(), 5e-3)
    sim.reset(scenario.q0)
    controller = scenario.make_controller()
    for _ in range(100):
        sim.step(controller(sim.t, sim.state))
        assert sim.info.micro_steps == 0
    assert sim.statistics.resolved == 0


def test_work_is_bounded_and_the_bound_is_reported():
    """Sixty-four points of a plate rattling on hard ground with hardly any damping."""
    model = block().model
    corners = [
        xs.ContactPoint("box", (x, y, -0.05), f"{x}{y}")
        for x in np.linspace(-0.1, 0.1, 8)
        for y in np.linspace(-0.1, 0.1, 8)
    ]
    robot = xs.load_robot(model, contact_points=corners)
    sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(1e7, 1.0, 0.3)), xs.Expo(), 1e-2, on_divergence="stop")
    sim.reset([0, 0, 0.06, *pin.Quaternion(pin.rpy.rpyToMatrix(0.01, 0.02, 0)).coeffs()], [1, 0, 0, 3, 2, 0])
    most = 0
    for _ in range(50):
        sim.step()
        most = max(most, sim.info.micro_steps)
    assert 20 < most < 2 * (2 * (16 + 4 * 64) + 40)
    assert sim.statistics.resolved > 0


@pytest.mark.parametrize("value", [0, 3, 1.5, "2", True])
def test_unknown_orders_are_refused(value):
    with pytest.raises(xs.InvalidArgument, match="order is"):
        xs.Expo(order=value)


def test_a_contact_that_begins_to_push_again_is_one_event():
    sim = xs.Simulator(point_mass(), xs.HalfSpace(xs.Material(1e5, 300.0, 0.0)), xs.Expo(), 1e-3)
    sim.reset([0.0, 0.0, -2.5374463918157231e-05], [-0.66, -0.12, 0.00894363897045267])
    sim.step()
    assert sim.info.events == 1
    assert not sim.info.limited


@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 0, 1), (1, 1, 1)])
def test_the_bound_on_forces_holds_on_slopes_of_anisotropic_material(normal):
    """Released from twice its static depth, the mass would be pulled back by a spring that cannot pull."""
    n = np.array(normal) / np.linalg.norm(normal)
    robot = point_mass(2.0).replace(gravity=-GRAVITY * n)
    material = xs.Material((1e5, 1e3), (0.1, 1e-3), 20.0)
    dt = np.pi / np.sqrt(1e5 / 2.0)
    sim = xs.Simulator(robot, xs.HalfSpace(material, normal=normal), xs.Expo(order=1), dt)
    sim.reset(-2.3 * 2.0 * GRAVITY / 1e5 * n)
    assert (sim.predict_forces(np.linspace(0.0, dt, 100)) @ n).min() < 0.0
    sim.step()
    assert sim.info.micro_steps > 0


@pytest.mark.parametrize("friction", [3.0, 10.0, 30.0])
def test_large_friction_does_not_make_a_tumbling_block_explode(friction):
    robot = block()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(friction=friction)), xs.Expo(), 1e-2)
        attitude = pin.Quaternion(pin.rpy.rpyToMatrix(*rng.uniform(-1, 1, 3))).coeffs()
        sim.reset([0.0, 0.0, 0.22, *attitude], rng.normal(size=6) * [0.5, 0.5, 0.5, 3, 3, 3])
        most = energy(robot, sim.q, sim.v)
        for _ in range(50):
            sim.step()
            assert energy(robot, sim.q, sim.v) < 1.2 * most + 0.2


def test_the_end_of_a_slip_is_not_looked_for_again_and_again():
    """Go2, sent here and there: of all times at which a step is cut, nearly every one is that of an event."""
    robot = xs.load_robot("go2").replace(armature=0.01)
    ground = xs.HalfSpace(material=xs.Material(stiffness=1e5, damping=300.0, friction=0.8))
    sim = xs.Simulator(robot, ground, dt=1e-2)
    cuts = events = 0
    for seed in range(15):
        rng = np.random.default_rng([19, seed])
        q = robot.q0
        q[2] += 0.03
        sim.reset(q, 0.1 * rng.standard_normal(robot.nv))
        for _ in range(20):
            target = robot.q0[7:] + np.resize([0.35, 0.2, 0.2], 12) * rng.uniform(-1.0, 1.0, 12)
            for _ in range(10):
                sim.step(60.0 * (target - sim.q[7:]) - 1.2 * sim.v[6:])
                cuts += sim.info.events
                events += len(sim.events)
    assert events > 1500
    assert cuts < 1.1 * events  # 1.2 times as many where what speed is left turns round
