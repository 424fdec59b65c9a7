"""Bodies that fly freely and turn: their centre of mass does not know that they turn."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from systems import GRAVITY

OMEGA = np.array([0.6, 0.64, 0.48])


def plank(off_centre=(0.0, 0.0, 0.0), placement=None):
    """A body whose centre of mass is `off_centre` from the origin of its free joint."""
    model = pin.Model()
    model.name = "plank"
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), placement or pin.SE3.Identity(), "root_joint")
    model.appendBodyToJoint(joint, pin.Inertia.FromBox(1.0, 0.1, 0.2, 0.3), pin.SE3(np.eye(3), np.array(off_centre)))
    model.addFrame(pin.Frame("plank", joint, 0, pin.SE3.Identity(), pin.FrameType.BODY))
    return xs.load_robot(model, contact_points=[xs.ContactPoint("plank")])


def centre_of_mass(sim):
    """Position and velocity."""
    data = sim.robot.model.createData()
    return pin.centerOfMass(sim.robot.model, data, sim.q, sim.v).copy(), data.vcom[0].copy()


def flown(robot, dt, turning, seconds=1.0, order=2):
    """How far position and velocity of the centre of mass are from a parabola."""
    sim = xs.Simulator(robot, None, xs.Expo(order=order), dt)
    sim.reset([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [1.0, -0.5, 2.0, *(turning * OMEGA)])
    p, dp = centre_of_mass(sim)
    sim.step(n=round(seconds / dt))
    gravity = np.array([0.0, 0.0, -GRAVITY])
    p_end, dp_end = centre_of_mass(sim)
    return p_end - (p + seconds * dp + 0.5 * seconds**2 * gravity), dp_end - (dp + seconds * gravity)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2])
@pytest.mark.parametrize("turning", [0.0, 10.0, 40.0])
def test_a_body_that_turns_flies_along_a_parabola(turning, dt, order):
    aside = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.5, 1.0), np.array([0.1, 0.2, 0.3]))
    for robot in (plank(), plank(placement=aside), plank((0.05, 0.02, 0.1)), plank((0.05, 0.02, 0.1), aside)):
        p_off, dp_off = flown(robot, dt, turning, order=order)
        assert_allclose(p_off, 0.0, atol=1e-9)
        assert_allclose(dp_off, 0.0, atol=1e-9)


def test_the_paper_s_scheme_keeps_to_its_equation():
    sim = xs.Simulator(plank(), None, xs.PaperExpo(), 5e-3)
    sim.reset([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, *(10.0 * OMEGA)])
    q, v = sim.q, sim.v
    sim.step()
    data = sim.robot.model.createData()
    dv = pin.aba(sim.robot.model, data, q, v, np.zeros(6))
    assert_allclose(sim.v, v + 5e-3 * dv, atol=1e-12)
    assert_allclose(sim.q, pin.integrate(sim.robot.model, q, 5e-3 * v + 0.5 * 5e-3**2 * dv), atol=1e-12)
