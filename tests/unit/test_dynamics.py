"""Our dynamics, Pinocchio's from Python and Crocoddyl's are the same: a wrong library beside us would show here."""

import crocoddyl
import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from systems import BARE

ROBOTS = ["solo12", "go2", "romeo", "talos"]


def random_motion(robot, rng):
    q = pin.integrate(robot.model, robot.q0, 0.3 * rng.standard_normal(robot.model.nv))
    return q, rng.standard_normal(robot.model.nv), rng.standard_normal(robot.model.nv - 6)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("integrator", [xs.PaperExpo(), xs.ExplicitEuler()], ids=["by Cholesky", "by ABA"])
def test_free_accelerations_agree_with_pinocchio_and_crocoddyl(name, integrator):
    robot = xs.load_robot(name).replace(joint_damping=0.0, **BARE)
    dt = 1e-3
    sim = xs.Simulator(robot, integrator=integrator, dt=dt)
    state = crocoddyl.StateMultibody(robot.model)
    action = crocoddyl.DifferentialActionModelFreeFwdDynamics(
        state, crocoddyl.ActuationModelFloatingBase(state), crocoddyl.CostModelSum(state, robot.model.nv - 6)
    )
    rng = np.random.default_rng(11)
    for _ in range(10):
        q, v, tau = random_motion(robot, rng)
        sim.reset(q, v)
        sim.step(tau)
        ours = (sim.v - v) / dt
        data = action.createData()
        action.calc(data, np.concatenate([q, v]), tau)
        pinocchio = pin.aba(robot.model, robot.model.createData(), q, v, np.r_[np.zeros(6), tau])
        scale = np.abs(pinocchio).max()
        assert_allclose(ours, pinocchio, atol=1e-9 * scale)
        assert_allclose(data.xout, pinocchio, atol=1e-9 * scale)


@pytest.mark.parametrize("angle", [0.0, 1e-8, 1e-3, 0.3, 0.4999, 0.5001, 2.0, 3.5, 6.0])
def test_displacements_of_configurations_are_those_of_pinocchio(angle):
    rng = np.random.default_rng(12)
    rolling = pin.Model()
    wheel = rolling.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    wheel = rolling.addJoint(wheel, pin.JointModelRUBY(), pin.SE3.Random(), "wheel")
    rolling.addJoint(wheel, pin.JointModelPZ(), pin.SE3.Random(), "slide")
    for i in range(1, rolling.njoints):
        rolling.appendBodyToJoint(i, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
    for robot in (xs.load_robot("solo12"), xs.load_robot(rolling, contact_points=())):
        sim = xs.Simulator(robot)
        for _ in range(5):
            q = pin.integrate(robot.model, robot.q0, rng.standard_normal(robot.nv))
            sim.reset(q)
            dq = rng.standard_normal(robot.nv)
            dq[3:6] *= angle / np.linalg.norm(dq[3:6])
            moved = sim.integrate(sim.state, np.r_[dq, np.zeros(len(sim.difference(sim.state, sim.state)) - robot.nv)])
            assert_allclose(
                moved.q, pin.integrate(robot.model, sim.q, dq), rtol=0.0, atol=5e-15 * (1.0 + np.abs(q).max())
            )


def test_very_stiff_bilateral_contacts_hold_the_feet_as_crocoddyl_s_rigid_ones_do():
    """The limit K → ∞ of ours is the constrained dynamics of Crocoddyl's contact model."""
    robot = xs.load_robot("solo12")
    model = robot.model
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFloatingBase(state)
    contacts = crocoddyl.ContactModelMultiple(state, actuation.nu)
    for name in robot.feet:
        contact = crocoddyl.ContactModel3D(
            state, model.getFrameId(name), np.zeros(3), pin.LOCAL_WORLD_ALIGNED, actuation.nu, np.zeros(2)
        )
        contacts.addContact(name, contact)
    action = crocoddyl.DifferentialActionModelContactFwdDynamics(
        state, actuation, contacts, crocoddyl.CostModelSum(state, actuation.nu), 0.0, True
    )
    tau = np.linspace(-0.3, 0.3, 12)
    data = action.createData()
    action.calc(data, np.concatenate([robot.q0, np.zeros(18)]), tau)

    points = [xs.ContactPoint(name, bilateral=True, material=xs.Material(1e9, 1e6)) for name in robot.feet]
    sim = xs.Simulator(robot.replace(contact_points=points), dt=1e-4)
    sim.step(tau)
    assert_allclose(sim.v / sim.dt, data.xout, atol=0.03 * np.abs(data.xout).max())
