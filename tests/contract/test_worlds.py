"""Terrain and bodies that touch each other, with every integrator: same bits, whole states, any number of surfaces."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from systems import EXPONENTIAL, INTEGRATORS, integrator_id

every_integrator = pytest.mark.parametrize("integrator", INTEGRATORS, ids=integrator_id)
GROUND = [
    xs.terrain.rough(4.0, 0.05, spacing=0.1, material=xs.Material(friction=0.5)),
    xs.terrain.stairs(position=(0.6, 0.0, 0.0)),
    xs.Box((0.3, 0.3, 0.1), (-0.4, 0.2, 50), rounding=0.01),
    *(xs.Sphere(0.2, (4.0 + i, 0.0, 0.0)) for i in range(5)),
]


def solo_among_boxes(integrator=None, ground=GROUND, edges=None):
    """In the air, beside a crate and a ball that are in its way."""
    crate = xs.rigid_body("crate", xs.Box((0.2, 0.2, 0.2)), 2.0)
    ball = xs.rigid_body("ball", xs.Sphere(0.08), 1.0)
    robot = xs.combine(
        solo=xs.load_robot("solo12", contact_points="auto"),
        crate=crate,
        ball=ball,
        poses={"crate": [0.05, 0.02, 0.406, 0.0, 0.0, 0.0, 1.0], "ball": [-0.05, -0.1, 0.582, 0.0, 0.0, 0.0, 1.0]},
    )
    dt = 2e-3 if integrator is None or isinstance(integrator, EXPONENTIAL) else 1e-4
    sim = xs.Simulator(robot, ground, integrator, dt, collisions="all", slots=3, edges=edges)
    q, v = robot.q0, np.zeros(robot.nv)
    q[2] += 0.05
    v[:3] = 0.3, 0.2, 0.5
    sim.reset(q, v)
    return sim


def run(sim, steps):
    sim.step(n=steps)
    return sim.state


@every_integrator
def test_a_world_gives_the_same_bits_twice_and_in_threads(integrator):
    expected = run(solo_among_boxes(integrator), 40)
    assert run(solo_among_boxes(integrator), 40) == expected
    with ThreadPoolExecutor(3) as pool:
        assert all(state == expected for state in pool.map(lambda _: run(solo_among_boxes(integrator), 40), range(3)))


@every_integrator
def test_a_state_of_a_world_continues_with_the_same_bits(integrator):
    sim = solo_among_boxes(integrator)
    while not (touches_a_body(sim) and sim.slipping[sim.active].any()):
        sim.step()
    saved = xs.State.from_array(pickle.loads(pickle.dumps(sim.state)).to_array())
    assert saved == sim.state
    forces, copy = sim.forces, pickle.loads(pickle.dumps(sim))
    through = run(sim, 25)
    other = solo_among_boxes(integrator)
    other.state = saved
    assert other.state == saved
    assert np.array_equal(other.forces, forces)
    assert run(other, 25) == through
    assert run(copy, 25) == through


def touches_a_body(sim):
    return any(contact.active and contact.surface.frame is not None for contact in sim.contacts)


def test_a_world_is_left_as_it_was_by_what_is_far_away():
    far = [xs.Box((0.5, 0.5, 0.5), (10.0 + i % 30, i // 30, 0.0)) for i in range(1000)]
    # With edges they are found in another order, and where rounding decides on a micro-step, so does that.
    few, many = solo_among_boxes(edges=False), solo_among_boxes(ground=GROUND + far, edges=False)
    assert many.state.to_array().size == few.state.to_array().size
    run(few, 150)
    run(many, 150)
    assert few.statistics.resolved > 20
    assert_allclose(many.q, few.q, rtol=0.0, atol=1e-12)


def test_a_thousand_surfaces_leave_the_size_of_a_state_as_it_is():
    robot = xs.load_robot("solo12")
    sizes = set()
    for count in (3, 30, 1000):
        boxes = [xs.Box((0.5, 0.5, 0.5), (10.0 + i, 0.0, 0.0)) for i in range(count)]
        sim = xs.Simulator(robot, [xs.HalfSpace(), *boxes])
        state = sim.state
        sizes.add((state.to_array().size, len(pickle.dumps(state)), len(sim.contacts)))
        sim.state = state
        assert sim.state == state
    assert len(sizes) == 1
