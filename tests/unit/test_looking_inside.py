"""Predicted forces and profiles."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from reference import integrate_linear_system
from systems import EXPONENTIAL, INTEGRATORS, block, integrator_id, point_mass


def test_predicted_forces_of_a_point_mass_are_exact():
    m, K, B, z0, dz0 = 2.0, 1e5, 300.0, -3e-4, -0.02
    sim = xs.Simulator(point_mass(m), xs.HalfSpace(xs.Material(K, B)), xs.Expo(), 1e-3)
    sim.reset([0.0, 0.0, z0], [0.0, 0.0, dz0])
    times = np.array([0.0, 1e-6, 1e-3, 5e-3, 2e-2])
    found = sim.predict_forces(times)
    assert found.shape == (5, 1, 3)
    A, b, x0 = np.array([[0.0, 1.0], [-K / m, -B / m]]), np.array([0.0, -9.81]), np.array([z0, dz0])
    for t, lam in zip(times, found, strict=True):
        x = x0 if t == 0.0 else x0 + A @ integrate_linear_system(A, b, x0, t)[0] + b * t
        assert_allclose(lam[0], [0.0, 0.0, -K * x[0] - B * x[1]], rtol=1e-9)


def test_predicted_forces_start_at_the_present_ones_and_average_to_those_of_a_step():
    robot = xs.load_robot("solo12")
    feet = [xs.ContactPoint(foot, bilateral=True) for foot in robot.feet]  # so that nothing is projected
    sim = xs.Simulator(robot.replace(contact_points=feet), None, xs.Expo(), 4e-3)
    sim.reset(robot.q0, 0.02 * np.random.default_rng(1).standard_normal(18))
    tau = np.linspace(-0.2, 0.2, 12)
    times = np.linspace(0.0, sim.dt, 2001)
    predicted = sim.predict_forces(times, tau)
    assert_allclose(predicted[0], [c.force for c in sim.contacts], rtol=1e-9, atol=1e-9)
    sim.step(tau)
    average = np.trapezoid(predicted, times, axis=0) / sim.dt
    assert_allclose(average, sim.info.lam_pr, rtol=1e-4, atol=1e-3)


def test_predicted_forces_are_close_to_the_true_ones_over_twenty_milliseconds():
    """The paper's figure, for a squat's start: all feet down, nearly at rest."""
    robot = xs.load_robot("solo12")
    controller = xs.controllers.PD(robot, 8.0, 0.1)
    sim = xs.Simulator(robot, xs.HalfSpace(), xs.RungeKutta4(), 1e-5)
    q = robot.q0
    q[2] -= 6e-5
    sim.reset(q)
    tau = controller(0.0, sim.state)
    predicted = sim.predict_forces([5e-3, 1e-2, 2e-2], tau)
    true = []
    for steps in (500, 500, 1000):
        sim.step(tau, n=steps)
        true.append([c.force for c in sim.contacts])
    assert_allclose(predicted[:, :, 2], np.array(true)[:, :, 2], atol=0.05 * 9.81 * 2.5 / 4)


def test_inactive_contacts_are_predicted_to_stay_without_force():
    sim = xs.Simulator(block(), [xs.HalfSpace(), xs.HalfSpace(point=(0, 0, -5))], xs.Expo(), 1e-3)
    sim.reset([0, 0, 0.0499, 0, 0, 0, 1.0])
    found = sim.predict_forces([0.0, 1e-3])
    assert found.shape == (2, 8, 3)
    assert np.array_equal(found[:, 1::2], np.zeros((2, 4, 3)))
    assert (found[:, ::2, 2] > 0).all()
    sim.reset([0, 0, 1.0, 0, 0, 0, 1.0])
    assert not sim.predict_forces([1e-3]).any()


def test_predicting_changes_nothing():
    sim, twin = (xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace(), xs.Expo(), 5e-3) for _ in range(2))
    sim.predict_forces(np.linspace(0, 1, 5), np.full(12, 0.1))
    assert sim.state == twin.state
    sim.step()
    twin.step()
    assert sim.state == twin.state


def test_by_default_no_torques_are_predicted_with_whatever_the_last_step_had():
    sim = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace(), xs.Expo(), 1e-4)
    tau = np.linspace(-0.5, 0.5, 12)
    sim.step(tau, wrenches={"base_link": [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]})
    assert np.array_equal(sim.predict_forces([1e-2]), sim.predict_forces([1e-2], np.zeros(12)))
    assert not np.allclose(sim.predict_forces([1e-2]), sim.predict_forces([1e-2], tau))
    twin = xs.Simulator(sim.robot, sim.surfaces, xs.Expo(), 1e-4)
    twin.state = sim.state
    assert np.array_equal(sim.predict_forces([1e-2], tau), twin.predict_forces([1e-2], tau))


def test_a_wrench_is_predicted_with_like_the_torques_that_stand_for_it():
    sim = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace(), xs.Expo(), 1e-4)
    wrench = np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])
    R = pin.Quaternion(sim.q[3:7]).matrix()  # the base's torques are in its own frame
    tau = np.concatenate([R.T @ wrench[:3], R.T @ wrench[3:], np.zeros(12)])
    by_wrench = sim.predict_forces([1e-3, 1e-2], wrenches={"base_link": wrench})
    assert_allclose(by_wrench, sim.predict_forces([1e-3, 1e-2], tau), rtol=1e-9, atol=1e-9)
    assert not np.allclose(by_wrench, sim.predict_forces([1e-3, 1e-2]))


@pytest.mark.parametrize("times", [[-1e-3], [np.nan], "soon", [[1.0]]])
def test_bad_times_are_refused(times):
    sim = xs.Simulator(block(), xs.HalfSpace())
    with pytest.raises(xs.InvalidArgument, match="times"):
        sim.predict_forces(times)


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=integrator_id)
def test_a_profile_tells_count_mean_and_share_of_every_stage(integrator):
    sim = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace(), integrator, 1e-5, profile=True)
    sim.step(n=50)
    profile = sim.profile
    assert {"contacts", "dynamics terms", "integration"} <= set(profile)
    assert ("kernel" in profile) == isinstance(integrator, (*EXPONENTIAL, xs.ImplicitEuler))
    assert_allclose(sum(stage.share for stage in profile.values()), 1.0)
    for stage in profile.values():
        assert stage.count >= 50
        assert 0.0 < stage.mean < 1.0
    assert "share" in str(profile)
    sim.reset()
    assert sim.profile == {}


def test_without_profiling_nothing_is_measured_and_the_bits_are_the_same():
    robot = xs.load_robot("solo12")
    with_profile, without = (xs.Simulator(robot, xs.HalfSpace(), dt=5e-3, profile=p) for p in (True, False))
    with_profile.step(n=20)
    without.step(n=20)
    assert without.profile == {}
    assert "profile=True" in str(without.profile)
    assert with_profile.state == without.state


def test_advice_is_not_misled_by_motions_that_no_spring_feels():
    """Eight coplanar points on two soles: explicit Euler walks Romeo at 1.25 ms, and not at 2.5 ms."""
    robot = xs.load_robot("romeo")
    assert 1.0e-3 < xs.Simulator(robot, xs.HalfSpace()).advise().explicit_euler_dt < 2.0e-3
