"""What a simulator tells of frames, energy and forces, beside an independent computation of each; and copies."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from joint_truth import pendulum
from robot_files import known
from systems import GRAVITY, ball, block, on_slope, slope

FRAMES = ("base_link", "FL_FOOT", "HR_KFE", "universe")
BEAM = xs.Box((0.8, 0.1, 0.06))
PILLARS = [xs.Box((0.1, 0.4, 0.2), (x, 0.0, 0.1)) for x in (-0.2, 0.2)]


def moving(**settings):
    """Solo12 on its way, in contact."""
    sim = xs.Simulator(known("solo12"), xs.HalfSpace(), **settings)
    v = 0.3 * np.random.default_rng(0).normal(size=sim.robot.nv)
    sim.reset(sim.robot.q0, v - 0.3 * np.eye(sim.robot.nv)[2])
    sim.step(n=2)
    assert sim.active.any()
    return sim


def stacked():
    """A crate on a crate, at rest, turned so that edges carry a part of it."""
    boxes = {name: xs.rigid_body(name, xs.Box((0.4, 0.4, 0.4)), m) for name, m in (("lower", 5.0), ("upper", 2.0))}
    turn = [0.0, 0.0, np.sin(np.pi / 8), np.cos(np.pi / 8)]
    both = xs.combine(**boxes, poses={"upper": [0.0, 0.0, 0.6, *turn]})
    sim = xs.Simulator(both, xs.HalfSpace(), collisions="all")
    sim.step(n=400)
    return sim


# Frames.


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_is_where_pinocchio_has_it_and_moves_as_it_says(name):
    sim = moving()
    model, q, v = sim.robot.model, sim.q, sim.v
    data = model.createData()
    pin.forwardKinematics(model, data, q, v)
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    frame = model.getFrameId(name)
    assert_allclose(sim.frame_pose(name).homogeneous, data.oMf[frame].homogeneous, atol=1e-15)
    velocity = pin.getFrameVelocity(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
    assert_allclose(sim.frame_velocity(name), velocity.vector, atol=1e-13)
    J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
    assert_allclose(sim.frame_jacobian(name), J, atol=1e-15)
    assert_allclose(sim.frame_jacobian(name) @ v, sim.frame_velocity(name), atol=1e-13)


def test_a_foot_moves_as_its_contact_point_does():
    sim = moving()
    at = sim.robot.feet.index("FL_FOOT")
    assert_allclose(sim.frame_pose("FL_FOOT").translation, sim.positions[at], atol=1e-14)
    assert_allclose(sim.frame_velocity("FL_FOOT")[:3], sim.velocities[at], atol=1e-13)


def test_answers_are_of_now_and_nobody_elses():
    sim = moving()
    pose, J = sim.frame_pose("FL_FOOT"), sim.frame_jacobian("FL_FOOT")
    before = pose.homogeneous.copy(), J.copy()
    sim.step(n=20)
    assert np.abs(sim.frame_pose("FL_FOOT").homogeneous - before[0]).max() > 1e-4
    assert_array_equal(pose.homogeneous, before[0])
    assert_array_equal(J, before[1])


@pytest.mark.parametrize("ask", ["frame_pose", "frame_velocity", "frame_jacobian", "force_on"])
def test_an_unknown_frame_is_named_with_the_closest_one(ask):
    with pytest.raises(xs.UnknownFrame, match="did you mean 'FL_FOOT'"):
        getattr(moving(), ask)("FL_FOTO")


# Energy.


def test_the_energy_of_a_pendulum_stays_what_it_was():
    sim = xs.Simulator(xs.load_robot(pendulum()), dt=1e-3)
    sim.reset([1.2])
    start = sim.energy
    assert_allclose(start.gravity, -GRAVITY * 0.5 * np.cos(1.2))
    assert (start.kinetic, start.contacts, start.joints) == (0.0, 0.0, 0.0)
    for _ in range(20):
        sim.step(n=50)
        assert_allclose(sim.energy.total, start.total, atol=5e-5)
        assert sim.energy.kinetic > 0.01


def test_the_energy_of_a_ball_that_bounces_without_damping_stays_what_it_was():
    sim = xs.Simulator(ball(), xs.HalfSpace(xs.Material((1e5, 3e4), 0.0, 0.5)), dt=1e-4)
    sim.reset([0.0, 0.0, 0.06, 0.0, 0.0, 0.0, 1.0])
    energies = []
    for _ in range(2000):
        sim.step()
        energies.append(sim.energy)
    assert max(each.contacts for each in energies) > 0.08  # nearly all of the 0.098 J that it falls with
    assert_allclose([each.total for each in energies], GRAVITY * 0.06, rtol=1e-3)


def test_what_friction_takes_is_missed_in_the_energy():
    sim = xs.Simulator(block(), xs.HalfSpace(xs.Material(friction=0.5)))
    sim.reset([0.0, 0.0, 0.05 - 2.0 * GRAVITY / 4e5, 0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    start, way = sim.energy.total, sim.q[0]
    sim.step(n=20)
    assert_allclose(sim.energy.total, start - 0.5 * 2.0 * GRAVITY * (sim.q[0] - way), rtol=0.02)


def test_a_block_that_stands_has_the_energy_of_its_springs():
    sim = xs.Simulator(block(mass=2.0), xs.HalfSpace(xs.Material(1e5, 300.0)))
    sim.reset([0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0])
    sim.step(n=400)
    pressed = 2.0 * GRAVITY / 4e5
    assert_allclose(sim.energy.contacts, 4 * 0.5 * 1e5 * pressed**2, rtol=1e-6)
    assert_allclose(sim.energy.gravity, 2.0 * GRAVITY * (0.05 - pressed), rtol=1e-9)


def test_springs_along_and_across_the_ground_have_their_own_stiffness():
    angle, (Kn, Kt) = 0.3, (1e5, 2e4)
    sim = xs.Simulator(block(), slope(angle, stiffness=(Kn, Kt), damping=300.0))
    sim.reset(on_slope(angle, 0.05))
    sim.step(n=400)
    normal = sim.forces @ slope(angle).normal
    across = np.sum(sim.forces**2, axis=1) - normal**2
    assert_allclose(sim.energy.contacts, np.sum(normal**2 / Kn + across / Kt) / 2.0, rtol=1e-6)
    assert np.sum(across) > 1.0


def test_springs_of_limits_frictions_and_loops_are_counted():
    model = pendulum()
    model.lowerPositionLimit[:], model.upperPositionLimit[:] = -0.5, 0.5
    robot = xs.load_robot(model).replace(joint_limits=xs.JointLimits(stiffness=400.0))
    sim = xs.Simulator(robot)
    sim.reset([0.6])
    assert_allclose(sim.energy.joints, 0.5 * 400.0 * 0.1**2)
    held = xs.Simulator(xs.load_robot(pendulum()).replace(joint_friction=xs.DryFriction(2.0, stiffness=1e3)))
    held.reset([0.2])
    held.step(n=400)
    stretch = GRAVITY * 0.5 * np.sin(held.q[0]) / 1e3
    assert_allclose(held.energy.joints, 0.5 * 1e3 * stretch**2, rtol=1e-6)
    tied = ball().replace(loops=[xs.Loop("ball", "universe", stiffness=2e4, damping=0.0)])
    hanging = xs.Simulator(tied, dt=1e-3)
    hanging.reset(pin.neutral(tied.model))
    hanging.step(n=3)
    assert hanging.energy.joints > 1e-6
    assert_allclose(hanging.energy.joints, 0.5 * 2e4 * np.sum(hanging.q[:3] ** 2))
    assert_allclose(hanging.energy.total, 0.0, atol=1e-9)


# Forces.


def test_the_force_on_a_foot_is_that_of_its_contact_point():
    sim = moving()
    for i, foot in enumerate(sim.robot.feet):
        assert_allclose(sim.force_on(foot), [*sim.forces[i], 0.0, 0.0, 0.0], atol=1e-12)
        # All that is fixed to the same joint is one body.
        shank = foot.replace("FOOT", "LOWER_LEG")
        arm = sim.positions[i] - sim.frame_pose(shank).translation
        assert_allclose(sim.force_on(shank), [*sim.forces[i], *np.cross(arm, sim.forces[i])], atol=1e-12)
    assert_array_equal(sim.force_on("base_link"), np.zeros(6))


def test_crates_on_each_other_push_each_other_alike():
    sim = stacked()
    upper, lower = 2.0 * GRAVITY, 5.0 * GRAVITY
    assert_allclose(sim.force_on("upper/upper"), [0.0, 0.0, upper, 0.0, 0.0, 0.0], atol=1e-3)
    assert_allclose(sim.force_on("lower/lower"), [0.0, 0.0, lower, 0.0, 0.0, 0.0], atol=1e-3)
    assert_allclose(sim.force_between("upper", "lower"), [0.0, 0.0, upper], atol=1e-3)
    assert_array_equal(sim.force_between("lower", "upper"), -sim.force_between("upper", "lower"))
    assert_allclose(sim.force_between("lower/lower", "ground"), [0.0, 0.0, upper + lower], atol=1e-3)
    assert_allclose(sim.force_between(sim.surfaces[0], "lower"), [0.0, 0.0, -upper - lower], atol=1e-3)
    assert_array_equal(sim.force_between("upper", "ground"), np.zeros(3))


def test_a_beam_across_two_pillars_is_pushed_by_their_edges():
    sim = xs.Simulator(xs.rigid_body("beam", BEAM, 1.0), PILLARS)
    sim.reset([0.05, 0.02, 0.23, 0.0, 0.0, 0.0, 1.0])
    sim.step(n=400)
    assert_allclose(sim.force_on("beam"), [0.0, 0.0, GRAVITY, 0.0, 0.0, 0.0], atol=1e-6)
    each = [sim.force_between("beam", pillar)[2] for pillar in PILLARS]
    assert_allclose(each, [GRAVITY * share for share in ((0.2 - 0.05) / 0.4, (0.2 + 0.05) / 0.4)], rtol=0.3)
    assert_allclose(sum(each), GRAVITY, atol=1e-6)


def test_the_world_holds_a_bilateral_point():
    robot = block().replace(contact_points=[xs.ContactPoint("box", bilateral=True)])
    sim = xs.Simulator(robot)
    sim.step(n=400)
    assert_allclose(sim.force_between("block", "ground"), [0.0, 0.0, 2.0 * GRAVITY], atol=1e-6)


def test_two_that_are_one_or_unknown_are_refused():
    sim = stacked()
    with pytest.raises(xs.InvalidArgument, match="a body in common"):
        sim.force_between("upper", "upper/upper")
    with pytest.raises(xs.UnknownFrame, match="did you mean 'lower'"):
        sim.force_between("upper", "lowr")
    with pytest.raises(xs.InvalidArgument, match=r"one of sim\.surfaces"):
        sim.force_between("upper", xs.HalfSpace())


# Copies.


@pytest.mark.parametrize("integrator", [xs.Expo(), xs.RungeKutta4()])
def test_a_copy_continues_bit_for_bit_and_alone(integrator):
    sim = moving(integrator=integrator, dt=2e-4)
    other = sim.copy()
    assert other.state == sim.state
    end = []
    for each in (sim, other):
        each.step(np.full(12, 0.1), n=10)
        end.append(each.state)
    assert end[0] == end[1]
    other.step(n=5)
    assert sim.state == end[0]


def test_a_copy_has_diverged_like_its_original():
    sim = xs.Simulator(known("solo12"), xs.HalfSpace(), xs.ExplicitEuler(), dt=0.02, on_divergence="stop")
    sim.step(n=400)
    assert sim.diverged
    other = sim.copy()
    assert str(other.divergence) == str(sim.divergence)
    other.step()
    assert other.state == sim.state
    other.reset()
    assert sim.diverged and not other.diverged


def test_a_copy_of_one_that_was_not_reset_looks_where_it_starts_as_well():
    buried = known("solo12").q0 - 0.2 * np.eye(19)[2]
    sim = xs.Simulator(known("solo12").replace(q0=buried), xs.HalfSpace())
    other = sim.copy()
    for each in (sim, other):
        with pytest.warns(xs.SetupWarning, match="below"):
            each.step()
