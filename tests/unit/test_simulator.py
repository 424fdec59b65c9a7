"""The simulator as its users see it: arrays, contacts, information, divergence."""

import pickle
import signal
import threading
import warnings

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from systems import block, point_mass


@pytest.fixture
def solo():
    return xs.load_robot("solo12")


@pytest.fixture
def sim(solo):
    return xs.Simulator(solo, xs.HalfSpace(), xs.Expo(), dt=5e-3)


def test_a_new_simulator_is_at_rest_at_q0(sim, solo):
    assert sim.t == 0.0
    assert np.array_equal(sim.q, solo.q0)
    assert np.array_equal(sim.v, np.zeros(18))
    assert sim.robot is solo


def test_arrays_are_copies(sim):
    before = sim.state
    of_contacts = (sim.positions, sim.velocities, sim.forces, sim.contacts[0].force, sim.contacts[0].anchor)
    for array in (sim.q, sim.v, *of_contacts, sim.state.to_array(), sim.info.lam_pr, sim.robot.q0):
        np.add(array, 1.0, out=array)
    for flags in (sim.active, sim.slipping):
        np.logical_not(flags, out=flags)
    assert sim.state == before
    q = sim.q
    sim.step()
    assert np.array_equal(q, before.q)


def test_arrays_of_contacts_are_what_the_contacts_say(sim):
    sim.step(n=5)
    for array, name in (
        (sim.positions, "position"),
        (sim.velocities, "velocity"),
        (sim.forces, "force"),
        (sim.active, "active"),
        (sim.slipping, "slipping"),
    ):
        assert np.array_equal(array, [getattr(contact, name) for contact in sim.contacts]), name
    assert np.array_equal(sim.active, sim.state.active)
    assert np.array_equal(sim.slipping, sim.state.slipping)
    assert [point.name for point, _ in sim.pairs] == [contact.name for contact in sim.contacts]
    assert [surface for _, surface in sim.pairs] == [contact.surface for contact in sim.contacts]


def test_a_point_that_touches_more_surfaces_than_it_has_slots_is_reported_once():
    walls = [xs.HalfSpace(normal=normal) for normal in ((0, 0, 1), (1, 0, 1), (0, 1, 1))]
    sim = xs.Simulator(point_mass(), walls, dt=1e-4, slots=2)
    sim.reset([0.0, 0.0, -1e-3])
    assert sim.statistics.overflows == 1  # there already
    with pytest.warns(xs.ContactWarning, match=r"more than 2 surfaces at once.*Simulator\(slots=3\)"):
        sim.step()
    assert sim.statistics.overflows == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step()
        assert sim.statistics.overflows == 3
        enough = xs.Simulator(sim.robot, walls, dt=1e-4)
        enough.reset([0.0, 0.0, -1e-3])
        enough.step(n=2)
    assert enough.statistics.overflows == 0
    assert enough.active.all()


def test_what_was_given_is_not_kept(sim):
    q, v = sim.robot.q0, np.zeros(18)
    sim.reset(q, v)
    before = sim.state
    q += 1.0
    v += 1.0
    assert sim.state == before


def test_time_counts_steps(sim):
    sim.step(n=3)
    sim.step()
    assert_allclose(sim.t, 4 * 5e-3)
    sim.step(n=396)
    assert sim.t == 2.0  # not a rounding error more: `while sim.t < 2.0` takes 400 steps


def test_contacts_tell_where_and_how_the_feet_stand(sim, solo):
    for _ in range(300):
        sim.step(xs.controllers.PD(solo, 8.0, 0.1)(sim.t, sim.state))
    data = solo.model.createData()
    pin.forwardKinematics(solo.model, data, sim.q, sim.v)
    pin.updateFramePlacements(solo.model, data)
    for contact, name in zip(sim.contacts, solo.feet, strict=True):
        frame = solo.model.getFrameId(name)
        assert contact.name == name
        assert contact.surface is sim.surfaces[0]
        assert contact.active
        assert not contact.slipping
        assert_allclose(contact.position, data.oMf[frame].translation, atol=1e-14)
        velocity = pin.getFrameVelocity(solo.model, data, frame, pin.LOCAL_WORLD_ALIGNED).linear
        assert_allclose(contact.velocity, velocity, atol=1e-14)
        assert_allclose(contact.anchor[2], 0.0, atol=1e-15)
        expected = 1e5 * (contact.anchor - contact.position) - 300.0 * contact.velocity
        assert_allclose(contact.force, expected, atol=1e-9)
    weight = 9.81 * sum(inertia.mass for inertia in solo.model.inertias)
    assert_allclose(sum(c.force[2] for c in sim.contacts), weight, rtol=1e-2)


def test_an_open_contact_has_no_force_and_no_anchor(sim):
    q = sim.robot.q0
    q[2] += 1.0
    sim.reset(q)
    for contact in sim.contacts:
        assert not contact.active
        assert not contact.slipping
        assert np.isnan(contact.anchor).all()
        assert np.array_equal(contact.force, np.zeros(3))


def test_a_contact_point_of_its_own_material_overrides_the_surface():
    ground = xs.HalfSpace(xs.Material(1e5, 300.0))
    for material, stiffness in ((None, 1e5), (xs.Material(2e4, 0.0), 2e4)):
        sim = xs.Simulator(point_mass(material=material), ground)
        sim.reset([0.0, 0.0, -1e-3])
        assert_allclose(sim.contacts[0].force, [0.0, 0.0, 1e-3 * stiffness])


def test_stiffness_and_damping_may_differ_along_the_normal_and_across():
    material = xs.Material(stiffness=(1e4, 2e3), damping=(50.0, 7.0), friction=100.0)
    sim = xs.Simulator(point_mass(), xs.HalfSpace(material, normal=(3.0, 0.0, 4.0)))
    n, t = np.array([0.6, 0.0, 0.8]), np.array([0.8, 0.0, -0.6])
    sim.reset(-1e-3 * n, 0.1 * t - 0.02 * n)
    assert_allclose(sim.contacts[0].force, (1e4 * 1e-3 + 50.0 * 0.02) * n - 7.0 * 0.1 * t, rtol=1e-12)


def test_a_spherical_foot_touches_with_its_lowest_point():
    sim = xs.Simulator(point_mass(radius=0.1), xs.HalfSpace(normal=(0.6, 0.0, 0.8)))
    n = np.array([0.6, 0.0, 0.8])
    sim.reset(0.0995 * n)
    (contact,) = sim.contacts
    assert contact.active
    assert_allclose(contact.position, -5e-4 * n, atol=1e-15)
    assert_allclose(contact.force, 1e5 * 5e-4 * n, rtol=1e-9)
    sim.reset(0.1001 * n)
    assert not sim.contacts[0].active


def test_the_information_tells_what_the_kernel_did(solo):
    products = {1: 0, 2: 1, 3: 2, 5: 3, 7: 4}
    for degree, count in products.items():
        sim = xs.Simulator(solo, xs.HalfSpace(), xs.PaperExpo(kernel=xs.Pade(degree)), 1e-3)
        assert sim.info.products == sim.info.degree == 0
        sim.step()
        assert (sim.info.products, sim.info.degree, sim.info.squarings) == (count, degree, 0)
    sim = xs.Simulator(solo, xs.HalfSpace(), xs.PaperExpo(kernel="expm"), 1e-2)
    sim.step()
    balanced = sim.info
    sim = xs.Simulator(solo, xs.HalfSpace(), xs.PaperExpo(kernel="expm", balance=False), 1e-2)
    sim.step()
    assert balanced.products == 6 + max(0, balanced.squarings - 1)
    assert sim.info.squarings > balanced.squarings


def test_without_contact_nothing_is_spent_on_the_exponential(sim):
    sim.step()
    q = sim.robot.q0
    q[2] += 1.0
    sim.reset(q)
    sim.step()
    assert sim.info.products == 0
    assert not sim.info.lam_pr.any()


@pytest.mark.parametrize("order", [1, 2])
def test_the_average_forces_explain_the_change_of_momentum(order):
    sim = xs.Simulator(block(mass=2.0), xs.HalfSpace(xs.Material(friction=0.2)), xs.Expo(order=order), dt=5e-3)
    sim.reset([0, 0, 0.0499, 0, 0, 0, 1], [0.5, 0.1, -0.1, 0, 0, 0])
    sim.step()
    impulse = sim.dt * (sim.info.lam_pr.sum(axis=0) + np.array([0, 0, -2.0 * 9.81]))
    R = pin.Quaternion(sim.q[3:]).matrix()  # v is in the body's axes
    assert_allclose(2.0 * (R @ sim.v[:3] - [0.5, 0.1, -0.1]), impulse, atol=1e-9)


def test_kernels_of_high_degree_move_the_robot_like_the_exponential(solo):
    states = []
    for kernel in ("expm", xs.Pade(7)):
        sim = xs.Simulator(solo, xs.HalfSpace(), xs.PaperExpo(kernel=kernel), 5e-4)
        sim.reset(solo.q0, np.full(18, 0.05))
        sim.step(n=100)
        states.append(sim.v)
    assert_allclose(*states, atol=1e-7)


# Divergence.


@pytest.fixture
def exploding(solo):
    def make(on_divergence):
        sim = xs.Simulator(solo, xs.HalfSpace(), xs.ExplicitEuler(), 5e-3, on_divergence=on_divergence)
        q = solo.q0
        q[2] += 0.02
        sim.reset(q)
        return sim

    return make


def test_divergence_is_raised_with_all_that_is_known_of_it(exploding, solo):
    sim = exploding("raise")
    with pytest.raises(xs.SimulationDiverged, match=r"diverged at t = .* \(step .*smaller dt than 0\.005 s") as caught:
        sim.step(n=1000)
    error = caught.value
    assert 0.0 < error.time < 1.0
    assert error.step == round(error.time / sim.dt)
    assert set(error.joints) <= set(solo.model.names)
    assert error.joints
    assert error.last_good_state == sim.state
    assert_allclose(sim.t, error.time - sim.dt)
    assert np.isfinite(sim.q).all()
    assert np.abs(sim.v).max() < 1e5
    assert sim.diverged
    assert [np.isfinite(c.force).all() for c in sim.contacts] == [True] * 4


def test_the_last_good_state_is_the_one_a_run_of_fewer_steps_reaches(exploding):
    sim, twin = exploding("raise"), exploding("raise")
    with pytest.raises(xs.SimulationDiverged) as caught:
        sim.step(n=1000)
    twin.step(n=caught.value.step - 1)
    assert twin.state == sim.state
    assert [c.force.tolist() for c in twin.contacts] == [c.force.tolist() for c in sim.contacts]


def test_divergence_survives_a_process_boundary(exploding):
    with pytest.raises(xs.SimulationDiverged) as caught:
        exploding("raise").step(n=1000)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)
    assert copy.last_good_state == caught.value.last_good_state


def test_divergence_may_stop_the_simulator_instead(exploding):
    sim = exploding("stop")
    assert not sim.diverged
    sim.step(n=1000)
    assert sim.diverged
    stopped = sim.state
    sim.step(n=10)
    assert sim.state == stopped
    assert sim.divergence.last_good_state == stopped
    sim.reset()
    assert not sim.diverged
    sim.step()
    assert sim.t > 0.0


def test_absurd_torques_diverge_in_every_integrator(solo):
    solo = solo.replace(effort_limits=False)
    for integrator in (xs.Expo(), xs.ExplicitEuler(), xs.SemiImplicitEuler()):
        sim = xs.Simulator(solo.replace(effort_limits=False), xs.HalfSpace(), integrator)
        before = sim.state
        with pytest.raises(xs.SimulationDiverged, match="FL_HAA"):
            sim.step(np.r_[1e12, np.zeros(11)])
        assert sim.state == before


def test_a_long_run_can_be_interrupted():
    sim = xs.Simulator(point_mass(), xs.HalfSpace(), xs.ExplicitEuler(), dt=1e-9)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where started in the background
    timer = threading.Timer(0.2, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    steps = 20_000_000  # about ten seconds
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            sim.step(n=steps)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert 0 < sim.statistics.steps < steps


# Other.


def test_a_simulator_tells_what_it_is(sim):
    assert repr(sim) == (
        "Simulator('solo12', Expo(order=2, tolerance=1e-08, micro_steps=2, micro_tolerance=0.01, "
        "max_acceleration=1500.0, max_turn=0.3), "
        "dt=0.005 s, t=0 s)"
    )


def test_no_ground_means_no_contacts(solo):
    sim = xs.Simulator(solo)
    assert sim.contacts == ()
    sim.step()
    assert_allclose(sim.v[2], -9.81 * 5e-3, rtol=1e-9)


def test_integrators_surfaces_and_materials_are_values():
    assert xs.PaperExpo() == xs.PaperExpo(kernel="auto")
    assert xs.PaperExpo(kernel=xs.Pade(3)) != xs.PaperExpo()
    assert hash(xs.HalfSpace(normal=(0, 0, 2))) == hash(xs.HalfSpace())
    with pytest.raises(AttributeError):
        xs.Material().stiffness = 3.0


def test_the_posture_controller_pulls_towards_its_reference(solo):
    controller = xs.controllers.PD(solo, kp=2.0, kd=0.5)
    sim = xs.Simulator(solo)
    q, v = solo.q0, np.zeros(18)
    q[7] += 0.1
    v[6] = 0.2
    sim.reset(q, v)
    expected = np.zeros(12)
    expected[0] = -2.0 * 0.1 - 0.5 * 0.2
    assert_allclose(controller(0.0, sim.state), expected, atol=1e-12)
