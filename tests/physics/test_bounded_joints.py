"""Joints whose motors, friction and ends meet within a step."""

import numpy as np
import pinocchio as pin
import pytest

import exposim as xs


def slider(lower=-np.inf, upper=np.inf, mass=0.1, **laws):
    """A mass on a rail, without gravity."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "rail")
    model.appendBodyToJoint(joint, pin.Inertia(mass, np.zeros(3), 1e-4 * np.eye(3)), pin.SE3.Identity())
    model.gravity = pin.Motion.Zero()
    model.lowerPositionLimit, model.upperPositionLimit = np.array([lower]), np.array([upper])
    return xs.Robot(model, **laws)


def after(robot, dt, duration, q, v, integrator=None, **step):
    sim = xs.Simulator(robot, [], integrator, dt)
    sim.reset([q], [v])
    sim.step(n=round(duration / dt), **step)
    return sim


@pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2])
@pytest.mark.parametrize("v", [5.0, -5.0, 1.7])
def test_either_end_of_a_short_way_is_met(v, dt):
    robot = slider(0.0, 0.04)
    truth = after(robot, 2e-6, 2e-2, 0.02, v, xs.RungeKutta4())
    sim = after(robot, dt, 2e-2, 0.02, v)
    assert sim.q == pytest.approx(truth.q, abs=3e-4)
    assert sim.v == pytest.approx(truth.v, rel=0.02)


@pytest.mark.parametrize("dt", [1e-3, 2e-3, 5e-3, 1e-2])
def test_a_joint_without_any_way_stays(dt):
    sim = after(slider(0.0, 0.0), dt, 0.5, 0.0, 1.0)
    assert abs(sim.q[0]) < 1e-6
    assert abs(sim.v[0]) < 1e-3


@pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2])
def test_a_drive_that_could_settle_within_a_step_has_no_more_torque_than_it_has(dt):
    robot = slider(mass=1e-4, drives=xs.Drive(100.0, 0.2, effort=1.0, velocity=20.0))
    truth = after(robot, 2e-6, 1e-2, 0.0, 0.0, xs.RungeKutta4(), target=[0.5])
    assert after(robot, dt, 1e-2, 0.0, 0.0, target=[0.5]).q == pytest.approx(truth.q, rel=1e-3)


@pytest.mark.parametrize(
    "name, kp, kd, dt", [("go2", 25.0, 0.5, 1e-2), ("go2", 100.0, 5.0, 5e-3), ("g1", 150.0, 5.0, 2e-3)]
)
def test_friction_motors_at_their_bounds_and_contacts_go_together(name, kp, kd, dt):
    robot = xs.load_robot(name).replace(drives=xs.Drive(kp, kd), joint_friction=0.1)
    effort = np.array([robot.joints[joint].effort for joint in robot.actuated_joints])
    most = 0.0
    for seed in range(3):
        target = robot.q0
        target[7:] += np.random.default_rng(seed).uniform(-1.5, 1.5, len(effort))
        sim = xs.Simulator(robot, xs.HalfSpace(), dt=dt)
        for _ in range(round(0.2 / dt)):
            sim.step(target=target)
            most = max(most, (np.abs(sim.torques) / effort).max())
    assert most < 1.1


def test_torques_can_be_read_where_a_step_diverged():
    robot = xs.load_robot("solo12").replace(effort_limits=False, joint_damping=0.01)
    sim = xs.Simulator(robot, xs.HalfSpace(), on_divergence="stop")
    sim.step(np.full(12, 1e12))
    assert sim.diverged
    assert sim.torques.shape == (12,)


def test_motors_that_can_neither_serve_nor_stay_at_their_bounds_are_not_asked_again_and_again():
    robot = xs.load_robot("go2").replace(armature=0.01, drives=xs.Drive(60.0, 1.2, velocity=np.inf))
    material = xs.Material(stiffness=1e5, damping=300.0, friction=0.8)
    redone = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        sim = xs.Simulator(robot, xs.HalfSpace(material=material), dt=1e-2)
        sim.reset(pin.integrate(robot.model, robot.q0, np.r_[0.0, 0.0, 0.05, np.zeros(15)]))
        for k in range(300):
            if k % 5 == 0:
                target = robot.q0[7:] + rng.uniform(-0.8, 0.8, 12)
            sim.step(target=target)
            redone.append(sim.info.redone)
    assert max(redone) <= 2
    assert redone.count(1) > 10
