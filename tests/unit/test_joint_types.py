"""Every joint type moves as Pinocchio says, with damping and armature."""

import pickle

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from robot_files import ARM_URDF, JOINTS, chain_with, known, write

# Every joint type.


def random_motion(model):
    rng = np.random.default_rng(5)
    q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    return q, rng.normal(size=model.nv), rng.normal(size=model.nv)


def test_every_joint_type_of_pinocchio_is_tried():
    tried = {chain_with(make()).joints[2].shortname() for make in JOINTS.values()}
    offered = {name for name in dir(pin) if name.startswith("JointModel")}
    assert offered - tried == {"JointModel", "JointModelMimic"}  # the base class, and what is refused


@pytest.mark.parametrize("kind", JOINTS)
def test_a_step_in_free_space_is_what_pinocchio_says(kind):
    model, dt = chain_with(JOINTS[kind]()), 1e-3
    q, v, tau = random_motion(model)
    sim = xs.Simulator(xs.load_robot(model), integrator=xs.ExplicitEuler(), dt=dt)
    sim.reset(q, v)
    sim.step(tau)
    dv = pin.aba(model, model.createData(), q, v, tau)
    assert_allclose(sim.v, v + dt * dv, rtol=0, atol=1e-13)
    assert_allclose(sim.q, pin.integrate(model, q, dt * v + dt**2 / 2 * dv), rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", JOINTS)
def test_every_joint_type_carries_a_contact(kind):
    # A soft bilateral contact makes Expo agree with explicit Euler to first order in a tiny step.
    model, dt = chain_with(JOINTS[kind]()), 1e-6
    q, v, tau = random_motion(model)
    point = xs.ContactPoint("tip", bilateral=True, material=xs.Material(1e3, 10.0), anchor=(0.0, 0.0, 0.0))
    robot = xs.load_robot(model, contact_points=[point])
    after = []
    for integrator in (xs.Expo(), xs.ExplicitEuler()):
        sim = xs.Simulator(robot, integrator=integrator, dt=dt)
        sim.reset(q, v)
        sim.step(tau)
        after.append(sim.v - v)
    assert_allclose(after[0], after[1], rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("kind", JOINTS)
def test_a_robot_with_any_joint_type_is_picklable(kind):
    model = chain_with(JOINTS[kind]())
    q, v, _ = random_motion(model)
    robot = xs.load_robot(model, q0=q)
    after = []
    for each in (robot, pickle.loads(pickle.dumps(robot))):
        sim = xs.Simulator(each)
        sim.reset(None, v)
        sim.step(n=10)
        after.append(sim.state)
    assert after[0] == after[1]


def test_an_oblique_endless_joint_of_a_urdf_file_is_what_pinocchio_says(tmp_path):
    text = ARM_URDF.replace('type="revolute"', 'type="continuous"').replace('"0 1 0"', '"0.6 0 0.8"')
    robot = xs.load_robot(write(tmp_path, text), floating_base=False)
    model, dt = robot.model, 1e-3
    assert model.joints[1].shortname() == "JointModelRevoluteUnboundedUnaligned"
    q, v, tau = random_motion(model)
    sim = xs.Simulator(robot, integrator=xs.ExplicitEuler(), dt=dt)
    sim.reset(q, v)
    sim.step(tau)
    assert_allclose(sim.v, v + dt * pin.aba(model, model.createData(), q, v, tau), rtol=0, atol=1e-13)


# What is in the dynamics.


def acceleration(robot, q, v, tau):
    dt = 1e-3
    sim = xs.Simulator(robot, integrator=xs.ExplicitEuler(), dt=dt)
    sim.reset(q, v)
    sim.step(tau)
    return (sim.v - v) / dt


def test_joint_damping_is_in_the_dynamics():
    model = chain_with(pin.JointModelSpherical())
    q, v, tau = random_motion(model)
    d = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    expected = pin.aba(model, model.createData(), q, v, tau - d * v)
    robot = xs.load_robot(model).replace(joint_damping=d)
    assert_allclose(acceleration(robot, q, v, tau), expected, rtol=0, atol=1e-10)


def test_damping_of_the_model_is_in_the_dynamics():
    model = chain_with(pin.JointModelRX())
    q, v, tau = random_motion(model)
    expected = pin.aba(model, model.createData(), q, v, tau - 0.3 * v)
    model.damping = np.full(3, 0.3)
    assert_allclose(acceleration(xs.load_robot(model), q, v, tau), expected, rtol=0, atol=1e-10)


def test_armature_is_in_the_dynamics():
    model = chain_with(pin.JointModelSpherical())
    q, v, tau = random_motion(model)
    rotors = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    data = model.createData()
    M = np.triu(pin.crba(model, data, q))
    M = M + np.triu(M, 1).T + np.diag(rotors)
    expected = np.linalg.solve(M, tau - pin.nonLinearEffects(model, data, q, v))
    robot = xs.load_robot(model).replace(armature=rotors)
    assert_allclose(acceleration(robot, q, v, tau), expected, rtol=0, atol=1e-10)


def test_an_armature_makes_up_for_a_missing_mass():
    model = pin.Model()
    model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "hinge")
    model.armature = np.array([0.5])
    assert_allclose(acceleration(xs.load_robot(model), [0.0], [0.0], [2.0]), [4.0], rtol=1e-12)


def test_rotor_inertia_of_a_known_robot_is_as_pinocchio_has_it():
    # Solo12's SRDF gives rotors and gears; Pinocchio's dynamics look at the armature alone.
    robot = known("solo12")
    q, v, tau = robot.q0, np.zeros(18), np.arange(18) / 10
    expected = pin.aba(robot.model, robot.model.createData(), q, v, tau)
    assert_allclose(acceleration(robot, q, v, tau), expected, rtol=0, atol=1e-9)
