"""Implicit Euler: its Jacobian, its statistics, its stability."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from exposim import _bench, _core
from systems import block, point_mass

STICKING, SLIPPING, LEAVING, LANDING, OPEN = "sticking", "slipping", "leaving", "landing", "open"


def solo_in(situation, **options):
    """Solo12 with all feet in one situation, and a v⁺ near which they stay in it."""
    robot = xs.load_robot("solo12").replace(joint_damping=0.02)
    feet = [xs.ContactPoint(p.frame, p.offset, p.name, **options) for p in robot.contact_points]
    robot = robot.replace(contact_points=feet)
    friction = {STICKING: 1e3, SLIPPING: 0.3}.get(situation, 0.5)
    sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(friction=friction)), xs.ImplicitEuler(), 2e-3)
    rng = np.random.default_rng(5)
    q = pin.integrate(robot.model, robot.q0, np.r_[np.zeros(3), 0.002 * rng.standard_normal(15)])
    sim.reset(q)
    lowest = max(c.position[2] for c in sim.contacts)
    q[2] -= lowest + {OPEN: -0.1, LANDING: -1e-3}.get(situation, 2e-3)
    v = 0.05 * rng.standard_normal(18)
    v[:3] += {SLIPPING: [2.5, 1.0, -0.1], LANDING: [0.02, 0, -2.0]}.get(situation, [0, 0, 0])
    sim.reset(q, v)
    v_next = v + 0.01 * rng.standard_normal(18)
    if situation == LEAVING:  # still in the ground, but so fast that the damper would pull
        v_next[2] += 0.9
    return sim, v_next


def linearise(sim, v_next, wrenches=()):
    return _bench.linearise(sim._core, np.linspace(-0.5, 0.5, 18), list(wrenches), v_next)


def finite_differences(sim, v_next, wrenches=()):
    columns = []
    for i in range(18):
        step = np.zeros(18)
        step[i] = 1e-6
        forward, backward = (linearise(sim, v_next + s * step, wrenches)[0] for s in (1.0, -1.0))
        columns.append((forward - backward) / 2e-6)
    return np.array(columns).T


@pytest.mark.parametrize("options", [{}, {"radius": 0.02}, {"bilateral": True}], ids=["points", "spheres", "bilateral"])
@pytest.mark.parametrize("situation", [STICKING, SLIPPING, LEAVING, LANDING, OPEN])
def test_the_jacobian_agrees_with_finite_differences(situation, options):
    sim, v_next = solo_in(situation, **options)
    _, dg = linearise(sim, v_next)
    expected = finite_differences(sim, v_next)
    assert_allclose(dg, expected, atol=1e-6 * np.abs(expected).max())


def test_the_situations_are_what_they_say():
    """Forces at v⁺ as the law gives them there, so that the test above tests what it says."""
    for situation, expected in ((STICKING, "cone"), (SLIPPING, "edge"), (LEAVING, "none"), (OPEN, "none")):
        sim, v_next = solo_in(situation)
        at_v_next = xs.Simulator(sim.robot, sim.surfaces, xs.ExplicitEuler(), sim.dt)
        at_v_next.reset(pin.integrate(sim.robot.model, sim.q, sim.dt * v_next), v_next)
        for contact in at_v_next.contacts:
            normal, tangential = contact.force[2], np.linalg.norm(contact.force[:2])
            mu = contact.surface.material.friction
            found = "none" if normal == 0 else "edge" if np.isclose(tangential, mu * normal) else "cone"
            assert found == expected, situation


def test_the_jacobian_includes_external_wrenches():
    sim, v_next = solo_in(STICKING)
    force, torque = np.array([30.0, -20.0, 50.0]), np.array([3.0, 2.0, -1.0])
    wrenches = [_core.ExternalWrench(3, np.array([0.1, 0.0, -0.2]), force, torque)]
    _, dg = linearise(sim, v_next, wrenches)
    expected = finite_differences(sim, v_next, wrenches)
    assert_allclose(dg, expected, atol=1e-6 * np.abs(expected).max())
    assert np.abs(dg - linearise(sim, v_next)[1]).max() > 1e-5


def test_linearising_leaves_the_simulator_as_it_was():
    sim, v_next = solo_in(STICKING)
    twin, _ = solo_in(STICKING)
    linearise(sim, v_next)
    sim.step()
    twin.step()
    assert sim.state == twin.state


def test_one_newton_step_solves_a_linear_problem():
    """A point mass pressed into the ground: g is affine in v⁺."""
    sim = xs.Simulator(point_mass(2.0), xs.HalfSpace(), xs.ImplicitEuler(tolerance=1e-10), 1e-3)
    sim.reset([0.0, 0.0, -3e-4])
    sim.step()
    assert (sim.info.iterations, sim.info.converged) == (1, True)
    m, K, B, dt = 2.0, 1e5, 300.0, 1e-3
    expected = (dt / m * (K * 3e-4 - m * 9.81)) / (1 + dt / m * (B + K * dt))
    assert_allclose(sim.v[2], expected, rtol=1e-9)
    assert_allclose(sim.q[2], -3e-4 + dt * expected, rtol=1e-9)


def test_it_is_stable_at_steps_where_the_explicit_schemes_are_not():
    heights = {}
    for integrator in (xs.ImplicitEuler(), xs.ExplicitEuler(), xs.RungeKutta4()):
        sim = xs.Simulator(block(), xs.HalfSpace(), integrator, 1e-2, on_divergence="stop")
        sim.reset([0, 0, 0.0499, 0, 0, 0, 1.0])
        sim.step(n=50)
        heights[type(integrator)] = sim.q[2]
    rest = 0.05 - 2.0 * 9.81 / 4e5
    assert_allclose(heights.pop(xs.ImplicitEuler), rest, atol=1e-9)
    assert all(abs(height - rest) > 1e-3 for height in heights.values()), heights


def test_the_statistics_of_a_run_are_those_of_its_steps():
    robot = xs.load_robot("solo12")
    sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(friction=0.3)), xs.ImplicitEuler(max_iterations=4), 5e-3)
    q = robot.q0
    q[2] += 0.05
    sim.reset(q, np.r_[0.5, 0.3, np.zeros(16)])
    iterations, failed = [], 0
    for _ in range(60):
        sim.step()
        iterations.append(sim.info.iterations)
        failed += not sim.info.converged
        assert sim.info.converged == (sim.info.residual <= 1e-6)
        assert sim.info.iterations <= 4
    found = sim.statistics
    assert (found.steps, found.max_iterations, found.not_converged) == (60, max(iterations), failed)
    assert_allclose(found.mean_iterations, np.mean(iterations))
    assert failed > 0  # four iterations are not enough where contacts change
    sim.reset()
    assert sim.statistics.steps == 0


@pytest.mark.parametrize(
    "bad", [{"tolerance": 0.0}, {"tolerance": np.nan}, {"max_iterations": 0}, {"max_iterations": 1.5}]
)
def test_bad_options_are_refused(bad):
    with pytest.raises(xs.InvalidArgument, match=next(iter(bad))):
        xs.ImplicitEuler(**bad)
