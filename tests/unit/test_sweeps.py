"""The core's own sweeps over the tree find what Pinocchio finds."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from exposim import _bench
from robot_files import ARM_URDF, JOINTS, KNOWN, chain_with, known, write

FAR = np.array([1000.0, -1000.0, 500.0])  # [m]


def robot_called(name):
    return known(name) if name in KNOWN else xs.load_robot(chain_with(JOINTS[name]()))


def core_of(robot):
    return xs.Simulator(robot)._core


def random_motion(model, seed=3):
    rng = np.random.default_rng(seed)
    q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    return q, 3.0 * rng.normal(size=model.nv)


def terms_of_pinocchio(model, q, v):
    """Of all bodies with the world: placements, velocities, Jacobians and drifts of the origins of their frames."""
    data, drifting = model.createData(), model.createData()
    M = pin.crba(model, data, q, pin.Convention.LOCAL)
    M = np.triu(M) + np.triu(M, 1).T
    h = pin.nonLinearEffects(model, data, q, v).copy()
    pin.computeJointJacobians(model, data, q)
    pin.forwardKinematics(model, drifting, q, v, np.zeros(model.nv))
    axes = pin.LOCAL_WORLD_ALIGNED
    bodies = range(model.njoints)
    return {
        "M": M,
        "h": h.reshape(-1, 1),
        "placements": [np.r_[drifting.oMi[i].rotation.ravel(), drifting.oMi[i].translation] for i in bodies],
        "velocities": [pin.getVelocity(model, drifting, i, axes).vector for i in bodies],
        "drifts": [pin.getClassicalAcceleration(model, drifting, i, axes).vector for i in bodies],
        "J": np.vstack([np.zeros((6, model.nv))] + [pin.getJointJacobian(model, data, i, axes) for i in bodies[1:]]),
    }


def assert_same(found, expected, tolerance=1e-12):
    assert found.keys() <= expected.keys()
    for what, array in found.items():
        scale = np.abs(expected[what]).max()
        assert_allclose(array, expected[what], rtol=0, atol=tolerance * scale, err_msg=what)


@pytest.mark.parametrize("name", [*KNOWN, *JOINTS])
def test_the_terms_are_those_of_pinocchio(name):
    robot = robot_called(name)
    core = core_of(robot)
    for seed in range(3):
        q, v = random_motion(robot.model, seed)
        assert_same(_bench.rigid_body_terms(core, q, v), terms_of_pinocchio(robot.model, q, v))


@pytest.mark.parametrize("name", [*KNOWN, *JOINTS])
def test_placements_and_velocities_alone_are_the_same(name):
    robot = robot_called(name)
    q, v = random_motion(robot.model)
    assert_same(_bench.kinematics(core_of(robot), q, v), terms_of_pinocchio(robot.model, q, v))


@pytest.mark.parametrize("name", [*KNOWN, *JOINTS])
def test_the_terms_at_another_velocity_are_those_taken_there(name):
    robot = robot_called(name)
    core = core_of(robot)
    (q, v), (_, v_before) = random_motion(robot.model), random_motion(robot.model, seed=4)
    at_once, after = _bench.rigid_body_terms(core, q, v), _bench.rigid_body_terms(core, q, v, v_before)
    for what in at_once:
        assert_array_equal(after[what], at_once[what], err_msg=what)


@pytest.mark.parametrize("name", KNOWN)
def test_a_second_call_gives_the_same_bits(name):
    core = core_of(known(name))
    q, v = random_motion(known(name).model)
    first, second = (_bench.rigid_body_terms(core, q, v) for _ in range(2))
    for what in first:
        assert_array_equal(second[what], first[what], err_msg=what)


@pytest.mark.parametrize("name", KNOWN)
def test_a_kilometre_away_no_digit_of_the_dynamics_is_lost(name):
    core = core_of(known(name))
    q, v = random_motion(known(name).model)
    far = q.copy()
    far[:3] += FAR
    here, there = _bench.rigid_body_terms(core, q, v), _bench.rigid_body_terms(core, far, v)
    for what in ("M", "h", "velocities", "drifts"):
        assert_array_equal(there[what], here[what], err_msg=what)
    assert_allclose(there["J"], here["J"], rtol=0, atol=1e-11)  # of points that are known to 1e-13 m


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, -1, 0), (0, 0, -1), (0.6, 0.0, 0.8), (0.48, -0.6, 0.64)])
@pytest.mark.parametrize("joint", ["Revolute", "Prismatic"])
def test_an_axis_may_point_anywhere(joint, axis):
    model = chain_with(getattr(pin, f"JointModel{joint}Unaligned")(np.array(axis, float)))
    q, v = random_motion(model)
    assert_same(_bench.rigid_body_terms(core_of(xs.load_robot(model)), q, v), terms_of_pinocchio(model, q, v))


@pytest.mark.parametrize("axis", ["0 1 0", "0 -1 0", "0.6 0 0.8"])
def test_an_endless_joint_may_turn_about_any_axis(tmp_path, axis):
    text = ARM_URDF.replace('type="revolute"', 'type="continuous"').replace('"0 1 0"', f'"{axis}"')
    robot = xs.load_robot(write(tmp_path, text))
    q, v = random_motion(robot.model)
    assert_same(_bench.rigid_body_terms(core_of(robot), q, v), terms_of_pinocchio(robot.model, q, v))


@pytest.mark.parametrize("angle", [0.0, -0.0, 0.7853981633974483, 1.5707963267948966, -3.0, 40.0, 1e4, -99999.0, 1e7])
def test_an_angle_of_any_size_is_that_of_the_library(angle):
    model = pin.Model()
    model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hinge")
    model.armature = np.ones(1)
    R = _bench.kinematics(core_of(xs.load_robot(model)), np.array([angle]), np.zeros(1))["placements"][1, :9].reshape(
        3, 3
    )
    assert_allclose(R[:2, 0], [np.cos(angle), np.sin(angle)], rtol=1e-15, atol=1e-17)


def test_armature_and_gravity_are_the_model_s():
    model = chain_with(pin.JointModelSpherical())
    model.armature = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    model.gravity.linear = np.array([1.0, -2.0, 3.0])
    q, v = random_motion(model)
    assert_same(_bench.rigid_body_terms(core_of(xs.load_robot(model)), q, v), terms_of_pinocchio(model, q, v))
