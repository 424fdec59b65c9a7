"""Shapes that lie on edges, which their contact points miss."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from bodies import momenta
from systems import GRAVITY

ALONG_X = (0.0, np.sin(np.pi / 4), 0.0, np.cos(np.pi / 4))
ACROSS = (0.0, 0.0, np.sin(np.pi / 4), np.cos(np.pi / 4))
MATERIAL = xs.Material(1e5, 300.0, 0.8)
RODS = {
    "capsule": xs.Capsule(0.03, 0.8, rotation=ALONG_X, material=MATERIAL),
    "box": xs.Box((0.8, 0.1, 0.06), material=MATERIAL),
    "cylinder": xs.Cylinder(0.03, 0.8, rotation=ALONG_X, material=MATERIAL),
}
PILLARS = [xs.Box((0.1, 0.4, 0.2), (x, 0.0, 0.1), material=MATERIAL) for x in (-0.2, 0.2)]
every_step = pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2])


def rod(kind):
    return xs.rigid_body("rod", RODS[kind], 1.0)


@every_step
@pytest.mark.parametrize("kind", RODS)
def test_a_rod_across_two_pillars_is_held_by_their_edges(kind, dt):
    sim = xs.Simulator(rod(kind), PILLARS, dt=dt)
    sim.reset([0.013, 0.02, 0.26, 0.0, 0.0, 0.0, 1.0])
    sim.step(n=round(1.0 / dt))
    before = sim.q
    sim.step(n=round(1.0 / dt))
    assert_allclose(sim.q[2], 0.23, atol=1e-4)
    assert_allclose(sim.q, before, rtol=0.0, atol=1e-9)
    assert_allclose(sim.forces.sum(axis=0), [0.0, 0.0, GRAVITY], atol=1e-7)
    assert all("edge" in point.name for point, active in zip(sim.contact_points, sim.active, strict=True) if active)
    assert {id(surface) for _, surface in sim.pairs if surface is not None} == {id(pillar) for pillar in PILLARS}


def test_without_edges_it_falls_between_its_contact_points():
    sim = xs.Simulator(rod("capsule"), PILLARS, edges=False)
    sim.reset([0.1, 0.02, 0.26, 0.0, 0.0, 0.0, 1.0])
    sim.step(n=100)
    assert sim.q[2] < 0.0


@every_step
def test_a_capsule_laid_across_the_noses_of_stairs_is_held_by_them(dt):
    rise, run, rounding, radius = 0.2, 0.3, 0.01, 0.03
    stairs = xs.terrain.stairs(rise, run, 3, rounding=rounding, material=MATERIAL)
    along = np.array([run, 0.0, rise]) / np.hypot(run, rise)
    out = np.array([-along[2], 0.0, along[0]])
    noses = np.array([rounding, 0.0, rise - rounding]) + np.outer([0.0, 1.0], [run, 0.0, rise])
    centre = noses.mean(axis=0) + (radius + rounding) * out
    turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), along).coeffs()
    capsule = xs.rigid_body("capsule", xs.Capsule(radius, 0.6, material=MATERIAL), 1.0)
    sim = xs.Simulator(capsule, stairs, dt=dt)
    sim.reset([*(centre + 1e-3 * out), *turn])
    sim.step(n=round(1.0 / dt))
    before = sim.q
    sim.step(n=round(0.5 / dt))
    assert_allclose(sim.q[:3], centre, atol=1e-3)
    assert_allclose(sim.q, before, rtol=0.0, atol=1e-8)  # tan 34° is below the friction
    assert_allclose(sim.forces.sum(axis=0), [0.0, 0.0, GRAVITY], atol=1e-6)
    assert sim.active.sum() == 2


def held_rod(kind):
    ends = [xs.ContactPoint("rod", (x, 0.0, 0.0), f"{x}", bilateral=True) for x in (-0.3, 0.3)]
    return rod(kind).replace(contact_points=[*ends, xs.ContactPoint("rod", (0.0, 0.02, 0.0), "side", bilateral=True)])


@every_step
@pytest.mark.parametrize("kind", ["capsule", "box"])
def test_a_rod_laid_across_two_others_is_held_by_them(kind, dt):
    poses = {
        "left": [-0.17, 0.05, 0.0, *ACROSS],
        "right": [0.23, -0.1, 0.0, *ACROSS],
        "upper": [0.0, 0.0, 0.062, 0.0, 0.0, 0.0, 1.0],
    }
    robot = xs.combine(left=held_rod(kind), right=held_rod(kind), upper=rod(kind), poses=poses)
    sim = xs.Simulator(
        robot, xs.HalfSpace(point=(0.0, 0.0, -1.0)), dt=dt, collisions=[("left", "upper"), ("right", "upper")]
    )
    sim.step(n=round(1.0 / dt))
    before = sim.q
    sim.step(n=round(0.5 / dt))
    assert_allclose(sim.q[16], 0.06, atol=3e-4)
    # One that is round rolls along them, slowly: they give way by a milliradian.
    watched = [14, 16] if kind == "capsule" else slice(14, None)
    assert_allclose(sim.q[watched], before[watched], rtol=0.0, atol=1e-6)


def swinging(dt, integrator, steps_before=2000):
    """A capsule that rocks, slides and rolls on one edge, from the same state: where it is 16 ms later."""
    edge = xs.Box((0.2, 1.0, 0.2), (0.0, 0.0, -0.1), rounding=0.01, material=xs.Material(1e5, 300.0, 0.1))
    capsule = xs.rigid_body("capsule", xs.Capsule(0.05, 0.6, rotation=ALONG_X, material=MATERIAL), 1.0)
    start = xs.Simulator(capsule, edge, xs.RungeKutta4(), 1e-5)
    start.reset([0.1, 0.0, 0.0499, 0.0, 0.0, 0.1, 0.995], [0.05, 0.5, 0.0, 1.0, 1.2, 2.0])
    start.step(n=steps_before)
    sim = xs.Simulator(capsule, edge, integrator, dt)
    sim.state = start.state
    assert sim.active.any()
    assert sim._contact_points[int(np.flatnonzero(sim.active)[0])].name.startswith("capsule_on_edge")
    sim.step(n=round(0.016 / dt))
    return sim


def test_a_step_of_what_slides_and_rolls_on_an_edge_is_of_second_order():
    truth = swinging(4e-6, xs.RungeKutta4())
    twice = swinging(8e-6, xs.RungeKutta4())
    errors = [np.abs(swinging(dt, xs.Expo()).v - truth.v).max() for dt in (4e-3, 2e-3, 1e-3)]
    assert np.abs(truth.v - twice.v).max() < 0.01 * errors[-1]
    assert np.log2(errors[0] / errors[2]) / 2 > 1.6
    assert errors[-1] < 2e-5


def test_capsules_that_collide_across_each_other_keep_their_momentum():
    capsule = xs.rigid_body("capsule", RODS["capsule"], 1.0).replace(gravity=(0.0, 0.0, 0.0))
    poses = {"one": [0.05, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], "other": [0.0, 0.07, 0.0601, *ACROSS]}
    sim = xs.Simulator(xs.combine(one=capsule, other=capsule, poses=poses), None, dt=5e-3, collisions="all")
    v = np.zeros(12)
    v[6:] = 0.3, 0.2, -2.0, 0.5, 1.0, -2.0
    sim.reset(None, v)
    before = momenta(sim.robot, sim.q, sim.v)[0]
    sim.step(n=20)
    assert sim.v[2] < -0.2  # pushed
    assert_allclose(momenta(sim.robot, sim.q, sim.v)[0], before, atol=1e-12)


def test_a_state_on_edges_is_restored_bit_by_bit_and_refused_where_it_cannot_be():
    sim = xs.Simulator(rod("box"), PILLARS)
    sim.reset([0.013, 0.02, 0.26, 0.0, 0.0, 0.0, 1.0])
    sim.step(n=60)
    state = sim.state
    assert sim.active.sum() == 8
    sim.step(n=40)
    after = sim.state.to_array()
    sim.state = state
    sim.step(n=40)
    assert_allclose(sim.state.to_array(), after, rtol=0.0, atol=0.0)
    on_edge = int(np.flatnonzero(state.mode)[0])
    for number in (10**9, -2):
        surface = state.surface.copy()
        surface[on_edge] = number
        with pytest.raises(xs.StateMismatch):
            sim.state = state.replace(surface=surface)
