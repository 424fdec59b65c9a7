"""What every integrator simulates alike: rest, bounces, energy, joints of every type; and what it refuses."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from robot_files import JOINTS, chain_with
from systems import EXPONENTIAL, GRAVITY, INTEGRATORS, block, energy, integrator_id, point_mass, spring_energy

MASS, K, B = 2.0, 1e5, 300.0


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=integrator_id)
@pytest.mark.parametrize("robot_name", ["solo12", "romeo"])
def test_a_robot_at_rest_in_equilibrium_stays_there(integrator, robot_name):
    robot = xs.load_robot(robot_name)
    dt = 5e-3 if isinstance(integrator, EXPONENTIAL) else 5e-5
    anchored = [
        xs.ContactPoint(p.frame, p.offset, p.name, bilateral=True) for p in robot.contact_points
    ]  # springs at rest at q0, so that gravity compensated at every joint is an equilibrium
    sim = xs.Simulator(robot.replace(contact_points=anchored), integrator=integrator, dt=dt)
    tau = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), robot.q0)
    sim.step(tau, n=200)
    assert_allclose(pin.difference(robot.model, robot.q0, sim.q), 0.0, atol=1e-9)
    assert_allclose(sim.v, 0.0, atol=1e-8)


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=integrator_id)
def test_a_drop_bounces_as_the_damped_oscillator_says_for_small_steps(integrator):
    height = 0.02
    sim = xs.Simulator(point_mass(MASS), xs.HalfSpace(xs.Material(K, B, 0.5)), integrator, 2e-6)
    sim.reset([0.0, 0.0, height])
    sim.step(n=round(1.02 * np.sqrt(2 * height / GRAVITY) / sim.dt))
    assert sim.contacts[0].active
    while sim.contacts[0].active:
        sim.step(n=10)
    # Contact ends where the spring has no length; the damper pulls no more once the force is zero.
    t = np.linspace(0.0, 0.05, 200_001)
    impact = -np.sqrt(2 * GRAVITY * height)
    z, dz, h = 0.0, impact, t[1]
    for _ in t:  # semi-implicit, fine enough for the tolerance
        force = max(0.0, -K * z - B * dz)
        dz += h * (force / MASS - GRAVITY)
        z += h * dz
        if z > 0.0:
            break
    assert_allclose(sim.v[2], dz, rtol=2e-3)


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=integrator_id)
def test_without_friction_energy_never_grows_for_small_steps(integrator):
    """With friction it may: an anchor that slips takes over force that the damper carried (docs/theory)."""
    sim = xs.Simulator(block(), xs.HalfSpace(xs.Material(2e4, 40.0, 0.0)), integrator, 1e-5)
    q = np.array([0.0, 0.0, 0.1, 0.1, 0.05, 0.0, 1.0])
    q[3:] /= np.linalg.norm(q[3:])
    sim.reset(q, [0.3, 0.1, 0.0, 0.5, 1.0, 0.3])
    energies = [energy(sim.robot, sim.q, sim.v) + spring_energy(sim)]
    for _ in range(600):
        sim.step(n=50)
        energies.append(energy(sim.robot, sim.q, sim.v) + spring_energy(sim))
    # A first-order scheme gains O(dt) while it flies and spins; the touchdown noticed late adds ½Kδ².
    assert np.diff(energies).max() < 2e-5 * energies[0]
    assert energies[-1] < 0.8 * energies[0]


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=integrator_id)
@pytest.mark.parametrize("kind", JOINTS)
def test_a_joint_of_every_type_moves_as_pinocchio_says(kind, integrator):
    """In free space, for a step so short that the schemes agree."""
    robot = xs.load_robot(chain_with(JOINTS[kind]()), contact_points=[xs.ContactPoint("tip")])
    dt = 1e-6
    sim = xs.Simulator(robot, xs.HalfSpace(point=(0, 0, -10)), integrator, dt)
    rng = np.random.default_rng(2)
    q = pin.integrate(robot.model, pin.neutral(robot.model), 0.3 * rng.standard_normal(robot.nv))
    v, tau = rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)
    sim.reset(q, v)
    sim.step(tau)
    expected = pin.aba(robot.model, robot.model.createData(), q, v, tau)
    assert_allclose((sim.v - v) / dt, expected, atol=2e-4 * np.abs(expected).max())
    moved = pin.difference(robot.model, q, sim.q) / dt
    assert_allclose(moved, v, atol=1e-3 * np.abs(v).max())


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=integrator_id)
@pytest.mark.parametrize("kind", JOINTS)
def test_a_joint_of_every_type_can_touch_the_ground(kind, integrator):
    robot = xs.load_robot(chain_with(JOINTS[kind]()), contact_points=[xs.ContactPoint("tip")])
    sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(1e4, 100.0)), integrator, 2e-4)
    tip = sim.contacts[0].position[2]
    ground = xs.HalfSpace(xs.Material(1e4, 100.0), point=(0, 0, tip + 1e-4))
    sim = xs.Simulator(robot, ground, integrator, 2e-4)
    assert sim.contacts[0].active
    sim.step(n=20)
    assert np.isfinite(sim.v).all()
    assert sim.info.lam_pr.shape == (1, 3)


REFUSED = {
    "tau of a wrong size": lambda sim: sim.step(np.zeros(5)),
    "tau with NaN": lambda sim: sim.step(np.full(12, np.nan)),
    "a wrench at no frame": lambda sim: sim.step(wrenches={"nose": np.zeros(6)}),
    "no steps": lambda sim: sim.step(n=0),
    "q of a wrong size": lambda sim: sim.reset(np.zeros(3)),
    "v with infinity": lambda sim: sim.reset(None, np.full(18, np.inf)),
    "a state of nothing": lambda sim: setattr(sim, "state", None),
    "times in the past": lambda sim: sim.predict_forces([-1.0]),
}


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=integrator_id)
@pytest.mark.parametrize("what", REFUSED)
def test_refused_input_leaves_no_trace(what, integrator):
    robot = xs.load_robot("solo12")
    sim, twin = (xs.Simulator(robot, xs.HalfSpace(xs.Material(friction=0.3)), integrator, 1e-4) for _ in range(2))
    for each in (sim, twin):
        each.reset(robot.q0, np.r_[0.3, 0.1, -0.1, np.zeros(15)])
        each.step(np.full(12, 0.1), n=5)
    with pytest.raises(xs.ExposimError):
        REFUSED[what](sim)
    assert sim.state == twin.state
    assert sim.statistics == twin.statistics
    for each in (sim, twin):
        each.step(np.full(12, 0.1), n=5)
    assert sim.state == twin.state
    assert np.array_equal(sim.info.lam_pr, twin.info.lam_pr)
