"""Elements of one, three and six rows: joint coordinates, points and poses of two bodies held together by springs."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from exposim import _core
from systems import oscillator

SCHEMES = [xs.Expo(), xs.Expo(order=1), xs.PaperExpo(), xs.PaperExpo(kernel="expm"), xs.ImplicitEuler()]
every_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=repr)


def spring(stiffness, damping):
    return _core.Bilateral(xs.Material(stiffness, damping)._build())


def simulator(robot, bonds, scheme, dt):
    built = scheme._build()
    return _core.Simulator(_core.World(robot._core, [], [], bonds, 1), built, dt)


def hinge(inertia=0.02):
    """One joint that turns about z, without gravity."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hinge")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), inertia * np.eye(3)), pin.SE3.Identity())
    return xs.load_robot(model)


def two_boxes():
    """Free, without gravity."""
    model = pin.Model()
    model.gravity = pin.Motion.Zero()
    for name, mass in (("a", 1.0), ("b", 2.0)):
        joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), name)
        model.appendBodyToJoint(joint, pin.Inertia.FromBox(mass, 0.2, 0.1, 0.05), pin.SE3.Identity())
    return xs.load_robot(model)


def momentum(robot, q, v):
    data = robot.model.createData()
    return pin.computeCentroidalMomentum(robot.model, data, q, v).vector


@every_scheme
@pytest.mark.parametrize("dt", [1e-4, 5e-3])
def test_a_joint_coordinate_swings_as_the_oscillator_says(scheme, dt):
    K, B, inertia = 200.0, 0.3, 0.02
    sim = simulator(hinge(inertia), [_core.Bond.coordinate(1, 0, 0, 0.1, spring(K, B))], scheme, dt)
    sim.reset(np.array([0.15]), np.array([1.0]))
    sim.step(None, round(0.05 / dt), ())
    angle, speed = oscillator(inertia, K, B, 0.05, 1.0, 0.05, gravity=0.0)
    tolerance = 1e-9 if not isinstance(scheme, xs.ImplicitEuler) else 3e-3 * dt / 1e-4
    assert_allclose(sim.q - 0.1, angle, atol=tolerance)
    assert_allclose(sim.v, speed, atol=100 * tolerance)


def bonds_of(rows):
    inverse = pin.SE3(pin.utils.rotate("z", 0.0), np.array([-0.1, 0.0, 0.0])).homogeneous
    ahead = pin.SE3(pin.utils.rotate("z", 0.0), np.array([0.1, 0.0, 0.0])).homogeneous
    if rows == 3:
        return [_core.Bond.position(1, np.array([0.1, 0.0, 0.0]), 2, np.array([-0.1, 0.0, 0.0]), spring(1e4, 20.0))]
    return [_core.Bond.pose(1, ahead, 2, inverse, spring(1e4, 20.0), spring(50.0, 0.1))]


START = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.201, 0.0, 0.001, 0.0, 0.0, 0.02, np.sqrt(1 - 0.02**2)])
SPEED = np.array([0.1, 0.3, 0.0, 0.5, 0.2, 1.0, 0.0, -0.2, 0.1, -0.3, 0.4, -1.0])


def moved(robot, rows, scheme, dt, duration=0.1):
    sim = simulator(robot, bonds_of(rows), scheme, dt)
    sim.reset(START, SPEED)
    sim.step(None, round(duration / dt), ())
    return sim.q, sim.v


@every_scheme
@pytest.mark.parametrize("rows", [3, 6])
def test_two_bodies_held_together_move_as_they_do_at_small_steps(rows, scheme):
    robot = two_boxes()
    q_true, v_true = moved(robot, rows, xs.RungeKutta4(), 1e-5)
    _, v_half = moved(robot, rows, xs.RungeKutta4(), 2e-5)
    assert np.abs(v_half - v_true).max() < 1e-7  # the truth is converged
    errors = []
    for dt in (2e-4, 1e-4) if isinstance(scheme, xs.ImplicitEuler) else (2e-3, 1e-3):
        q, v = moved(robot, rows, scheme, dt)
        errors.append(max(np.abs(pin.difference(robot.model, q, q_true)).max(), np.abs(v - v_true).max()))
    second_order = getattr(scheme, "order", 1) == 2
    assert errors[1] < (4e-3 if second_order else 0.4)
    assert errors[1] < errors[0] / (2.2 if second_order else 1.4)


@pytest.mark.parametrize("rows", [3, 6])
@pytest.mark.parametrize("scheme", [xs.Expo(), xs.PaperExpo()], ids=repr)
def test_forces_on_two_bodies_are_opposite(rows, scheme):
    """What one gets the other loses: linear momentum stays, but for the turning of axes within a step."""
    robot = two_boxes()
    before = momentum(robot, START, SPEED)[:3]
    after = momentum(robot, *moved(robot, rows, scheme, 2e-4, 0.02))[:3]
    apart = moved(robot, rows, scheme, 2e-4, 0.02)[1][:3] - SPEED[:3]
    assert np.abs(apart).max() > 0.05  # something happened
    assert_allclose(after, before, atol=1e-5 if scheme.order == 2 else 2e-4)


def test_a_pose_is_held_in_all_six_directions():
    robot = two_boxes()
    q, _ = moved(robot, 6, xs.Expo(), 2e-3, 2.0)
    placements = [pin.XYZQUATToSE3(q[:7]), pin.XYZQUATToSE3(q[7:])]
    relative = placements[0].inverse() * placements[1]
    assert_allclose(relative.translation, [0.2, 0.0, 0.0], atol=5e-3)
    assert np.linalg.norm(pin.log3(relative.rotation)) < 0.05
