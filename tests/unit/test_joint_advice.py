"""What a simulator says of gains and joints is what happens: stable below the step it names, unstable above."""

import numpy as np
import pinocchio as pin
import pytest

import exposim as xs
from systems import block

INERTIA = 0.02
SCHEMES = {
    "ExplicitEuler": xs.ExplicitEuler(),
    "SemiImplicitEuler": xs.SemiImplicitEuler(),
    "RungeKutta4": xs.RungeKutta4(),
    "PaperExpo": xs.PaperExpo(),
}


def hinge(inertia=INERTIA, damping=0.0, drive=None):
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "hinge")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), inertia * np.eye(3)), pin.SE3.Identity())
    model.gravity = pin.Motion.Zero()
    robot = xs.Robot(model, drives=drive)
    return robot.replace(joint_damping=damping) if damping else robot


def grows(robot, scheme, dt):
    """Whether a little motion becomes a large one."""
    sim = xs.Simulator(robot, integrator=scheme, dt=dt, on_divergence="stop")
    sim.reset(v=np.full(robot.nv, 1e-6))
    sim.step(n=10_000)
    return bool(sim.diverged or np.abs(sim.v).max() > 1e-3)


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize(("kp", "kd"), [(100.0, 5.0), (100.0, 0.5), (0.0, 5.0)])
def test_the_largest_step_is_the_largest(name, kp, kd):
    robot = hinge(drive=xs.Drive(kp, kd))
    advice = xs.Simulator(robot, integrator=SCHEMES[name], dt=1e-3).advise().joints
    assert advice.joint == "hinge"
    assert advice.inertia == pytest.approx(INERTIA)
    assert (advice.stiffness, advice.damping) == (kp, kd)
    assert not grows(robot, SCHEMES[name], 0.98 * advice.largest_dt)
    assert grows(robot, SCHEMES[name], 1.02 * advice.largest_dt)


@pytest.mark.parametrize("scheme", [xs.Expo(), xs.ImplicitEuler()])
def test_some_schemes_are_stable_at_any_step(scheme):
    robot = hinge(drive=xs.Drive(1e4, 100.0))
    sim = xs.Simulator(robot, integrator=scheme, dt=0.05)
    advice = sim.advise()
    assert advice.joints.stable
    assert np.isinf(advice.joints.largest_dt)
    assert not grows(robot, scheme, 0.05)
    assert "stable at 50 ms, and at any other" in str(advice)


def test_an_unstable_drive_is_told_with_the_remedy():
    sim = xs.Simulator(hinge(drive=xs.Drive(100.0, 5.0)), integrator=xs.ExplicitEuler(), dt=0.02)
    advice = sim.advise()
    assert not advice.joints.stable
    assert "unstable at 20 ms: take at most" in str(advice)
    assert "or Expo()" in str(advice)


def test_damping_alone_bounds_an_explicit_step():
    advice = xs.Simulator(hinge(damping=4.0)).advise().joints
    assert advice.explicit_euler_dt == pytest.approx(2.0 * INERTIA / 4.0, rel=1e-4)


def test_the_time_for_which_a_controller_may_hold_its_torque_is_the_longest():
    drive = xs.Drive(100.0, 5.0)
    longest = xs.Simulator(hinge(damping=0.5, drive=drive)).advise().joints.longest_hold
    robot = hinge()
    for period, is_stable in ((0.97 * longest, True), (1.03 * longest, False)):
        sim = xs.Simulator(robot, dt=period / 4, on_divergence="stop")
        control = xs.controllers.PD(robot, drive.kp, drive.kd)
        sim.reset([1e-3])
        for _ in range(2000):
            sim.step(control(sim.t, sim.state), n=4)
        assert bool(np.abs(sim.q).max() < 1.0) is is_stable


def test_the_stiffest_joint_of_a_robot_is_named():
    robot = xs.load_robot("go2").replace(drives={"*": xs.Drive(20.0, 0.1), "FR_calf_joint": xs.Drive(100.0, 5.0)})
    robot = robot.replace(joint_limits=False, effort_limits=False, gravity=np.zeros(3))
    sim = xs.Simulator(robot, xs.HalfSpace(), integrator=xs.ExplicitEuler(), dt=5e-3)
    advice = sim.advise()
    assert advice.joints.joint == "FR_calf_joint"
    assert not advice.joints.stable
    assert "FR_calf_joint: stiffness 100, damping 5, inertia" in str(advice)
    # All joints together, in the air.
    air = robot.replace(contact_points=[])
    assert not grows(air, xs.ExplicitEuler(), 0.95 * advice.joints.explicit_euler_dt)
    assert grows(air, xs.ExplicitEuler(), 1.05 * advice.joints.explicit_euler_dt)


def test_a_robot_without_gains_is_told_what_a_held_torque_allows():
    advice = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace(), dt=5e-3).advise()
    assert np.isinf(advice.joints.explicit_euler_dt)
    assert "lightest joint" in str(advice)
    assert f"kd below {2.0 * advice.joints.least_inertia / 5e-3:.2g}" in str(advice)


def test_friction_that_sticks_counts():
    robot = hinge().replace(joint_friction=xs.DryFriction(1.0, stiffness=1e4, damping=3.0))
    advice = xs.Simulator(robot).advise().joints
    assert (advice.stiffness, advice.damping) == (1e4, 3.0)
    assert np.isinf(advice.longest_hold)  # friction is not what a controller holds


def test_a_body_without_joints_has_no_such_advice():
    assert xs.Simulator(block(), xs.HalfSpace()).advise().joints is None
