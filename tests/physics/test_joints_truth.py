"""The truth that joints are held to is itself held to formulas, to finer steps, and to a landing without drives."""

import numpy as np
import pinocchio as pin
import pytest

import exposim as xs
from joint_truth import (
    Foot,
    JointLaws,
    Limit,
    Truth,
    bounce,
    driven_joint,
    pendulum,
    pendulum_at_rest,
    pendulum_bounces,
    speed_on_the_torque_speed_line,
    way_to_a_stop,
)

INERTIA = 0.01


def rotor_truth(h=4e-5, limits=(), **laws):
    model = pendulum(inertia=INERTIA, gravity=False)
    own = JointLaws.none(model, pin.neutral(model))
    for name, value in laws.items():
        setattr(own, name, np.array([value], float))
    own.limits = list(limits)
    return Truth(model, own, h=h)


@pytest.mark.parametrize(("kp", "kd"), [(100.0, 5.0), (25.0, 0.5), (3000.0, 10.0), (0.0, 2.0)])
def test_a_driven_joint_moves_as_the_formula_says(kp, kd):
    truth = rotor_truth(kp=kp, kd=kd, damping=0.1)
    truth.reset([0.3], [2.0])
    truth.run(0.02, tau=[0.7])
    assert (truth.q[0], truth.v[0]) == pytest.approx(driven_joint(INERTIA, kp, kd + 0.1, 0.7, 0.3, 2.0, 0.02), rel=1e-6)


def test_a_drive_that_is_far_off_gives_its_effort_and_no_more():
    truth = rotor_truth(kp=1000.0, kd=1.0, effort=2.0)
    truth.run(0.02, target=[1.0])
    assert truth.v[0] == pytest.approx(2.0 * 0.02 / INERTIA)
    assert truth.torque_impulse[0] == pytest.approx(2.0 * 0.02)
    assert truth.work == pytest.approx(0.5 * INERTIA * truth.v[0] ** 2)


def test_a_motor_speeds_up_along_the_torque_speed_line():
    truth = rotor_truth(effort=2.0, velocity=10.0)
    truth.run(0.08, tau=[50.0])
    assert truth.v[0] == pytest.approx(speed_on_the_torque_speed_line(INERTIA, 2.0, 10.0, 0.08), rel=1e-9)


def test_a_motor_brakes_with_all_its_effort_whatever_the_speed():
    truth = rotor_truth(effort=2.0, velocity=10.0)
    truth.reset([0.0], [30.0])
    truth.run(0.05, tau=[-50.0])
    assert truth.v[0] == pytest.approx(30.0 - 2.0 * 0.05 / INERTIA)


def test_a_motor_beyond_its_speed_gives_nothing_forward():
    truth = rotor_truth(effort=2.0, velocity=10.0)
    truth.reset([0.0], [12.0])
    truth.run(0.05, tau=[50.0])
    assert truth.v[0] == 12.0


def test_a_delayed_target_acts_when_it_arrives():
    truth, prompt = rotor_truth(kp=25.0, kd=0.5, delay=7e-3), rotor_truth(kp=25.0, kd=0.5)
    truth.run(0.02, target=[1.0])
    prompt.run(0.013, target=[1.0])
    assert (truth.q[0], truth.v[0]) == pytest.approx((prompt.q[0], prompt.v[0]), rel=1e-9)


def friction_laws(static, dynamic):
    K = static / 1e-3
    return {
        "static": static,
        "dynamic": dynamic,
        "friction_stiffness": K,
        "friction_damping": 2 * np.sqrt(K * INERTIA),
    }


@pytest.mark.slow
@pytest.mark.parametrize(("static", "dynamic"), [(0.2, 0.2), (0.3, 0.2)])
def test_dry_friction_stops_a_joint_where_the_formula_says_and_springs_back_by_its_stretch(static, dynamic):
    truth = rotor_truth(**friction_laws(static, dynamic))
    truth.reset([0.0], [3.0])
    time, way = way_to_a_stop(INERTIA, dynamic, 3.0)
    truth.run(time)
    assert truth.q[0] == pytest.approx(way, rel=1e-4)
    assert abs(truth.v[0]) < 2e-3
    truth.run(0.3)
    assert truth.q[0] == pytest.approx(way - dynamic / static * 1e-3, rel=1e-4)
    assert abs(truth.v[0]) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("load", "moves"), [(0.29, False), (0.31, True)])
def test_dry_friction_holds_up_to_its_static_value(load, moves):
    truth = rotor_truth(**friction_laws(0.3, 0.2))
    for share in np.linspace(0.0, 1.0, 20):
        truth.run(0.01, tau=[share * load])
    truth.run(0.1, tau=[load])
    assert (truth.q[0] > 2e-3) == moves


@pytest.mark.parametrize("damping", [0.0, 1.0, 10.8])
def test_a_joint_bounces_off_a_limit_as_the_formula_says(damping):
    K = INERTIA * 600.0**2
    truth = rotor_truth(h=1e-6, limits=[Limit(0, 0, -np.inf, 0.1, K, damping)])
    truth.reset([0.1], [2.0])
    time, speed = bounce(INERTIA, K, damping, 2.0)
    truth.run(time + 1e-4)
    assert truth.v[0] == pytest.approx(-speed, rel=1e-3)
    if damping == 0.0:
        assert (time, speed) == pytest.approx((np.pi / 600.0, 2.0))


def test_a_pendulum_bounces_when_the_event_driven_solution_says():
    model = pendulum()
    laws = JointLaws.none(model, pin.neutral(model))
    laws.limits = [Limit(0, 0, -np.inf, 0.0, 9e4, 60.0)]
    truth = Truth(model, laws, h=2e-5)
    truth.reset([-0.5], [0.0])
    ((touched, left, speed),) = pendulum_bounces(-0.5, 0.0, 9e4, 60.0, 1)
    pressed = []
    truth.run(left + 1e-5, on_step=lambda it: pressed.append(it.t) if laws.limits[0].force(it.q, it.v) else None)
    assert (pressed[0], pressed[-1]) == pytest.approx((touched, left), abs=4e-5)
    assert truth.v[0] == pytest.approx(-speed, rel=3e-3)
    assert touched == pytest.approx(np.pi / 2 / np.sqrt(9.81 / 0.5) * (1 + 0.5**2 / 16), rel=1e-3)


@pytest.mark.parametrize(("static", "dynamic"), [(1.0, 1.0), (1.5, 1.0)])
def test_a_pendulum_with_friction_stops_where_the_event_driven_solution_says(static, dynamic):
    model = pendulum()
    laws = JointLaws.none(model, pin.neutral(model))
    for name, value in friction_laws(static, dynamic).items():
        setattr(laws, name, np.array([value]))
    laws.friction_damping *= 5.0  # critical: this one has 25 times the inertia
    truth = Truth(model, laws, h=1e-3)
    truth.reset([0.9], [-3.0])
    truth.run(2.5)
    assert abs(truth.v[0]) < 1e-6
    assert truth.q[0] == pytest.approx(pendulum_at_rest(0.9, -3.0, laws), abs=2e-3)


def landing(h, controlled=True):
    robot = xs.load_robot("go2")
    model = robot.model
    laws = JointLaws.none(model, robot.q0)
    laws.damping = np.array(model.damping)
    if controlled:
        laws.kp[6:], laws.kd[6:] = 100.0, 5.0
    feet = []
    for point in robot.contact_points:
        joint, placement = robot.locate(point.frame)
        feet.append(Foot(joint, placement.act(np.array(point.offset)), point.radius))
    truth = Truth(model, laws, feet, h=h)
    q = pin.integrate(model, robot.q0, np.r_[0, 0, 0.002, 0.02, 0.01, np.zeros(13)])
    v = np.r_[0.4, 0.1, -0.8, np.zeros(15)]
    truth.reset(q, v)
    return robot, truth, q, v


@pytest.mark.slow
def test_a_landing_with_drives_no_longer_depends_on_the_step():
    ends = []
    for h in (1e-5, 5e-6):
        _, truth, _, _ = landing(h)
        truth.run(0.01)
        ends.append(np.r_[truth.q, truth.v])
    coarse, fine = ends
    assert (
        np.abs(coarse - fine).max() < 1e-3
    )  # where an impact falls into a step of h: 300 N·s/m · 0.8 m/s · h on a light foot
    assert np.abs(fine[19:]).max() > 1.0


def test_a_landing_without_drives_is_that_of_the_librarys_runge_kutta():
    robot, truth, q, v = landing(5e-6, controlled=False)
    sim = xs.Simulator(robot, xs.HalfSpace(), xs.RungeKutta4(), 5e-6)
    sim.reset(q, v)
    tau = 3.0 * np.sin(np.arange(12))
    sim.step(tau, n=2000)
    truth.run(0.01, tau=np.r_[np.zeros(6), tau])
    assert sim.active.any()
    assert np.abs(truth.v - sim.v).max() < 2e-4 * np.abs(sim.v).max()
    assert np.abs(pin.difference(robot.model, truth.q, sim.q)).max() < 2e-5
