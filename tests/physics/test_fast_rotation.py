"""What turns far within a step: energy and momentum, and the parts into which the step is divided."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from systems import GRAVITY, block, energy, point_mass
from thrown import free_body, throw

ROD = (0.1, 0.003, 0.003)  # half lengths [m]
AXIS = np.array([0.6, 0.64, 0.48]) / np.linalg.norm([0.6, 0.64, 0.48])
IN_FLIGHT = np.r_[0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 1.0]


def flying(robot, spin, dt, integrator=None, velocity=(3.0, 0.0, 2.0)):
    sim = xs.Simulator(robot, None, integrator, dt)
    sim.reset(IN_FLIGHT, np.r_[velocity, spin])
    return sim


def spin_energy(sim):
    return 0.5 * sim.v[3:] @ sim.robot.model.inertias[1].inertia @ sim.v[3:]


def world_velocity(sim):
    return pin.Quaternion(sim.q[3:7]).matrix() @ sim.v[:3]


@pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2])
@pytest.mark.parametrize("speed", [20.0, 50.0, 100.0, 200.0, 1000.0])
def test_a_thin_rod_that_spins_in_flight_keeps_its_energy(speed, dt):
    sim = flying(free_body(1.0, np.array(ROD)), speed * AXIS, dt)
    before = spin_energy(sim)
    sim.step(n=round(1.0 / dt))
    assert 0.99 * before < spin_energy(sim) < 1.0001 * before


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_what_spins_flies_along_its_parabola_all_the_same(dt, order):
    sim = flying(free_body(1.0, np.array([0.1, 0.05, 0.02])), 30.0 * AXIS, dt, xs.Expo(order=order))
    sim.step(n=round(0.5 / dt))
    assert_allclose(world_velocity(sim), [3.0, 0.0, 2.0 - 0.5 * GRAVITY], atol=1e-10)
    assert_allclose(sim.q[:3], [1.5, 0.0, 5.0 + 1.0 - 0.125 * GRAVITY], atol=1e-10)


def test_a_step_is_divided_so_that_no_body_turns_by_more_than_it_may():
    robot = block()
    for speed, parts in ((10.0, 1), (50.0, 2), (100.0, 4), (290.0, 10)):
        sim = flying(robot, [0.0, 0.0, speed], 1e-2)  # about a principal axis: it stays as fast
        sim.step()
        assert sim.info.parts == parts
        assert sim.info.turn == pytest.approx(speed * 1e-2 / parts)
        assert sim.info.redone == 0
        assert sim.t == 1e-2


def test_the_limit_is_an_option():
    robot, spin = block(), [0.0, 0.0, 100.0]
    for max_turn, parts in ((0.1, 10), (0.5, 2), (None, 1)):
        sim = flying(robot, spin, 1e-2, xs.Expo(max_turn=max_turn))
        sim.step(n=3)
        assert sim.info.parts == parts
        assert sim.statistics.parts == 3 * parts


@pytest.mark.parametrize("value", [0.0, -0.1, np.nan, "0.3"])
def test_limits_that_are_none_are_refused(value):
    with pytest.raises(xs.InvalidArgument, match="max_turn"):
        xs.Expo(max_turn=value)


def test_parts_are_bounded_and_what_is_beyond_is_told():
    sim = flying(block(), [0.0, 0.0, 9000.0], 1e-2)
    sim.step()
    assert sim.info.parts == 64
    assert sim.info.turn == pytest.approx(90.0 / 64)


def test_other_schemes_take_whole_steps():
    sim = flying(block(), [0.0, 0.0, 100.0], 1e-2, xs.PaperExpo())
    sim.step()
    assert sim.info.parts == 1


def test_an_impact_that_spins_a_body_up_divides_the_step_in_which_it_happens():
    sim = xs.Simulator(free_body(0.2, np.array(ROD)), xs.HalfSpace(xs.Material(1e6, 50.0, 0.3)), dt=1e-2)
    tilted = pin.Quaternion(pin.rpy.rpyToMatrix(0.1, 0.1, 0.0)).coeffs()
    sim.reset(np.r_[0.0, 0.0, 0.05, tilted], np.r_[0.0, 0.0, -4.0, np.zeros(3)])
    while not sim.info.resolved:
        slow = np.linalg.norm(sim.v[3:]) * sim.dt < 0.1
        sim.step()
    assert slow
    assert sim.info.redone > 0
    assert sim.info.parts > 1
    assert sim.info.turn <= 1.25 * 0.3


@pytest.mark.parametrize("seed", [1, 21, 36, 54])
def test_the_averages_of_a_divided_step_are_the_impulse_and_the_way_it_leads_to(seed):
    thrown, dt = throw(seed), 1e-2
    mass, gravity = thrown.robot.model.inertias[1].mass, np.array([0.0, 0.0, -GRAVITY])
    sim = xs.Simulator(thrown.robot, thrown.ground, dt=dt)
    sim.reset(thrown.q, thrown.v)
    divided_in_contact = 0
    for _ in range(100):
        x, velocity = sim.q[:3], world_velocity(sim)
        sim.step()
        lam, lam2 = sim.info.lam_pr.sum(axis=0), sim.info.lam_pr2.sum(axis=0)
        divided_in_contact += sim.info.parts > 1 and bool(lam.any())
        scale = (
            1.0 + dt * np.linalg.norm(lam) / mass if lam.any() else 1e-8
        )  # agreement with contact space moves it too
        assert_allclose(world_velocity(sim), velocity + dt * (lam / mass + gravity), atol=0.1 * scale)
        assert_allclose(sim.q[:3], x + dt * velocity + dt**2 / 2 * (lam2 / mass + gravity), atol=0.1 * dt * scale)
    assert divided_in_contact


def wheel(inertia, **contact_points):
    """A block with a wheel on its side."""
    model = pin.Model()
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    model.appendBodyToJoint(base, pin.Inertia.FromBox(5.0, 0.3, 0.2, 0.1), pin.SE3.Identity())
    joint = model.addJoint(base, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.0, 0.12, 0.0])), "axle")
    model.appendBodyToJoint(joint, pin.Inertia(0.2, np.zeros(3), np.diag(inertia)), pin.SE3.Identity())
    model.addFrame(pin.Frame("wheel", joint, 0, pin.SE3.Identity(), pin.FrameType.BODY))
    return xs.load_robot(model, **contact_points)


def parts_of(robot, v, q=None):
    sim = xs.Simulator(robot, None, dt=1e-2)
    sim.reset(robot.q0 if q is None else q, v)
    sim.step()
    return sim.info.parts


def test_a_rotor_or_a_ball_may_turn_as_fast_as_it_likes():
    v = np.r_[np.zeros(6), 200.0]
    round_, flat, rim = (1e-4, 2e-4, 1e-4), (1e-4, 2e-4, 1.5e-4), xs.ContactPoint("wheel", (0.05, 0.0, 0.0))
    assert parts_of(wheel(round_, contact_points=[]), v) == 1
    assert parts_of(wheel(flat, contact_points=[]), v) > 5
    assert parts_of(wheel(round_, contact_points=[rim]), v) > 5


def test_a_rotor_s_energy_is_kept_without_parts():
    robot = wheel((1e-4, 2e-4, 1e-4), contact_points=[])
    sim = xs.Simulator(robot, None, dt=1e-2)
    sim.reset(v=np.r_[np.zeros(3), 1.0, 0.5, 2.0, 500.0])
    before = energy(robot, sim.q, sim.v)
    sim.step(n=100)
    assert sim.statistics.parts == 100
    assert energy(robot, sim.q, sim.v) == pytest.approx(before, abs=1e-3)


def test_a_point_mass_never_turns():
    sim = xs.Simulator(point_mass(), dt=1e-2)
    sim.step()
    assert (sim.info.parts, sim.info.turn) == (1, 0.0)
