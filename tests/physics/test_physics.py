"""What the contact model promises: exactness, penetration, friction, energy."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from systems import (
    GRAVITY,
    block,
    downhill,
    on_slope,
    oscillator,
    point_mass,
    slope,
)

MASS, K, B = 2.0, 1e5, 300.0


@pytest.mark.parametrize("dt", [1e-6, 1e-4, 1e-3, 1e-2, 4e-2, 1e-1])
def test_expo_is_exact_for_a_point_mass_in_sustained_contact(dt):
    sim = xs.Simulator(point_mass(MASS), xs.HalfSpace(xs.Material(K, B, 0.5)), xs.Expo(), dt)
    z0, dz0 = -MASS * GRAVITY / K * 1.4, 1e-3  # pressed in: stays in contact
    sim.reset([0.0, 0.0, z0], [0.0, 0.0, dz0])
    for step in range(1, 4):
        sim.step()
        z, dz = oscillator(MASS, K, B, z0, dz0, step * dt)
        assert_allclose(sim.q[2], z, rtol=1e-9)
        assert_allclose(sim.v[2], dz, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("dt", [1e-6, 1e-4, 1e-3, 1e-2, 1e-1])
def test_expo_is_exact_for_bilateral_contacts_with_constant_terms(dt):
    """Two masses on prismatic joints, tied to the world: Upsilon and b do not change, so neither does the answer."""
    model = pin.Model()
    parent = 0
    for name, mass in (("a", 1.5), ("b", 0.7)):
        parent = model.addJoint(parent, pin.JointModelPZ(), pin.SE3.Identity(), name)
        model.appendBodyToJoint(parent, pin.Inertia(mass, np.zeros(3), np.eye(3)), pin.SE3.Identity())
        model.addFrame(pin.Frame(name + "_frame", parent, 0, pin.SE3.Identity(), pin.FrameType.BODY))
    stiffness, damping = {"a": 4e4, "b": 1e5}, {"a": 50.0, "b": 200.0}  # not proportional
    points = [
        xs.ContactPoint(name + "_frame", bilateral=True, material=xs.Material(stiffness[name], damping[name]))
        for name in "ab"
    ]
    robot = xs.load_robot(model, contact_points=points)

    def simulate(dt, steps):
        sim = xs.Simulator(robot, integrator=xs.Expo(), dt=dt)
        sim.reset([0.01, 0.0], [0.2, -0.1])
        sim.step(n=steps)
        return np.concatenate([sim.q, sim.v])

    assert_allclose(simulate(dt, 8), simulate(8 * dt, 1), rtol=1e-9, atol=1e-11)

    # And right: M ẍ + Jᵀ(B ẋ + K (x − x(0))) = −M g with coordinates z_a, z_b.
    M = np.diag([1.5, 0.7])
    J = np.array([[1.0, 0.0], [1.0, 1.0]])  # heights of the two points
    M_joint = J.T @ M @ J
    K_joint = J.T @ np.diag([4e4, 1e5]) @ J
    B_joint = J.T @ np.diag([50.0, 200.0]) @ J
    x0, dx0 = np.array([0.01, 0.0]), np.array([0.2, -0.1])
    A = np.block(
        [
            [np.zeros((2, 2)), np.eye(2)],
            [-np.linalg.solve(M_joint, K_joint), -np.linalg.solve(M_joint, B_joint)],
        ]
    )
    b = np.concatenate([np.zeros(2), -np.linalg.solve(M_joint, J.T @ M @ np.full(2, GRAVITY))])
    # x(t) − x(0) from its own derivative: A x_int + b t.
    x_int, _ = xs.kernels.integrals(A, b, np.concatenate([np.zeros(2), dx0]), 8 * dt)
    exact = np.concatenate([x0, dx0]) + A @ x_int + b * 8 * dt
    assert_allclose(simulate(dt, 8), exact, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("stiffness", [1e4, 1e5, 1e7])
@pytest.mark.parametrize("dt", [1e-4, 1e-3, 5e-3, 2e-2])
def test_static_penetration_is_weight_over_stiffness_at_every_step(dt, stiffness):
    material = xs.Material(stiffness, 2 * 0.5 * np.sqrt(stiffness))
    sim = xs.Simulator(block(MASS), xs.HalfSpace(material), xs.Expo(), dt)
    sim.reset([0, 0, 0.05, 0, 0, 0, 1])
    sim.step(n=round(2.0 / dt))
    depth = [-c.position[2] for c in sim.contacts]
    assert_allclose(depth, MASS * GRAVITY / (4 * stiffness), rtol=1e-6)
    assert_allclose(sum(c.force for c in sim.contacts), [0, 0, MASS * GRAVITY], atol=1e-5)


@pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2])
@pytest.mark.parametrize("angle", [0.1, 0.3])
def test_a_block_on_a_slope_below_the_friction_angle_does_not_creep(dt, angle):
    sim = xs.Simulator(block(), slope(angle, friction=0.5), xs.Expo(), dt)
    # Pressed in by its weight: from a drop, touchdowns noticed up to 10 ms late would keep it bouncing.
    sim.reset(on_slope(angle, height=0.05 - MASS * GRAVITY * np.cos(angle) / (4 * K)))
    sim.step(n=round(1.0 / dt))
    settled = sim.q[:3]
    anchors = [c.anchor for c in sim.contacts]
    for _ in range(10):  # 40 s
        sim.step(n=round(4.0 / dt))
        assert_allclose(sim.q[:3], settled, atol=1e-15)
        # Read as p − Δp: an anchor is known to a few last digits of its coordinates of 0.1 m, 1.4e-17 each.
        assert_allclose([c.anchor for c in sim.contacts], anchors, rtol=0.0, atol=5e-17)
        assert not any(c.slipping for c in sim.contacts)


@pytest.mark.parametrize(("friction", "angle"), [(0.3, 0.5), (0.5, 0.6), (0.0, 0.2)])
def test_a_block_on_a_steep_slope_slides_with_coulomb_friction(friction, angle):
    sim = xs.Simulator(block(), slope(angle, friction=friction), xs.Expo(), 1e-3)
    sim.reset(on_slope(angle, height=0.05 - 5e-5))
    sim.step(n=100)  # to settle
    before, duration = sim.v, 0.3
    sim.step(n=round(duration / sim.dt))
    R = pin.Quaternion(sim.q[3:]).matrix()
    R_before = pin.Quaternion(on_slope(angle, 0.0)[3:]).matrix()
    acceleration = downhill(angle) @ (R @ sim.v[:3] - R_before @ before[:3]) / duration
    expected = GRAVITY * (np.sin(angle) - friction * np.cos(angle))
    assert_allclose(acceleration, expected, rtol=0.05)


def test_a_contact_noticed_late_rests_at_the_depth_that_its_anchor_rule_says():
    """ "surface" rests at m g / K whatever the step; "detected", the paper's choice, depends on it."""
    depths = {}
    for anchor in ("surface", "detected"):
        sim = xs.Simulator(point_mass(MASS), xs.HalfSpace(xs.Material(K, 2000.0)), xs.PaperExpo(anchor=anchor), 1e-2)
        sim.reset([0.0, 0.0, 1e-3])
        sim.step(n=300)
        depths[anchor] = -sim.contacts[0].position[2]
    assert_allclose(depths["surface"], MASS * GRAVITY / K, rtol=1e-8)
    assert depths["detected"] > 1.5 * depths["surface"]


def test_an_orthogonal_projection_gives_more_normal_force_to_a_slipping_contact():
    forces = {}
    for projection in ("horizontal", "orthogonal"):
        ground = xs.HalfSpace(xs.Material(K, B, 0.5))
        sim = xs.Simulator(point_mass(MASS), ground, xs.PaperExpo(projection=projection), 5e-3)
        sim.reset([0.0, 0.0, -2e-4], [0.5, 0.0, 0.0])
        (contact,) = sim.contacts
        assert contact.slipping
        assert_allclose(np.linalg.norm(contact.force[:2]), 0.5 * contact.force[2], rtol=1e-12)
        forces[projection] = contact.force[2]
    assert_allclose(forces["horizontal"], K * 2e-4)
    # trial (−150, 0, 20): nearest point of the cone has normal part (20 + 0.5·150)/(1 + 0.25)
    assert_allclose(forces["orthogonal"], 76.0)
