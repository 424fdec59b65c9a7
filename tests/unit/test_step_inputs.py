"""What a step takes: torques within limits, targets for drives; what the joints got, and what is refused."""

import functools
import pickle
import warnings

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from bad_input import refused

NAN, INF = np.nan, np.inf
DRIVE = xs.Drive(kp=25.0, kd=0.5)


def arm(*kinds, limits=None, effort=INF, actuated=None, drives=None):
    """Joints in a row, in the air, without gravity."""
    model = pin.Model()
    parent = 0
    for i, kind in enumerate(kinds):
        joint = getattr(pin, f"JointModel{kind}")()
        parent = model.addJoint(parent, joint, pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.3])), f"j{i}")
        model.appendBodyToJoint(parent, pin.Inertia(1.0, np.zeros(3), 0.1 * np.eye(3)), pin.SE3.Identity())
    model.gravity = pin.Motion.Zero()
    model.effortLimit = np.full(model.nv, effort)
    if limits is not None:
        model.lowerPositionLimit, model.upperPositionLimit = (np.full(model.nq, each) for each in limits)
    return xs.Robot(model, actuated_joints=actuated, drives=drives)


@pytest.fixture(scope="module")
def go2():
    return xs.load_robot("go2").replace(drives=DRIVE)


@pytest.fixture
def sim(go2):
    return xs.Simulator(go2, xs.HalfSpace())


def settled(sim, **inputs):
    sim.step(n=1000, **inputs)
    return sim


# Targets.


def test_drives_go_where_they_are_told():
    sim = xs.Simulator(arm("RX", "RX", drives=xs.Drive(20.0, 4.0)))
    assert_allclose(settled(sim, target=[0.3, -0.2]).q, [0.3, -0.2], atol=1e-6)
    assert_allclose(settled(sim).q, [0.0, 0.0], atol=1e-6)  # never the last target


def test_a_target_has_nq_entries_or_one_per_actuated_degree_of_freedom(go2):
    full, short = xs.Simulator(go2, xs.HalfSpace()), xs.Simulator(go2, xs.HalfSpace())
    posture = go2.q0[7:] + 0.1
    base = np.array([9.0, 9.0, 9.0, 0.5, 0.5, 0.5, 0.5])  # which has no drive
    full.step(target=np.concatenate([base, posture]), n=10)
    short.step(target=posture, n=10)
    assert full.state == short.state
    other = xs.Simulator(go2, xs.HalfSpace())
    other.step(n=10)
    assert other.state != full.state


def test_targets_are_taken_in_the_order_of_the_actuated_joints():
    model = arm("RX", "RX", "RX")
    robot = model.replace(actuated_joints=["j2", "j0"], drives=xs.Drive(20.0, 4.0))
    sim = settled(xs.Simulator(robot), target=[0.3, -0.2])
    assert_allclose(sim.q[[2, 0]], [0.3, -0.2], atol=1e-6)


def test_a_target_velocity_is_followed():
    sim = xs.Simulator(arm("RX", drives=xs.Drive(0.0, 4.0)))
    assert_allclose(settled(sim, target_velocity=[0.7]).v, [0.7], atol=1e-6)


def test_a_wheel_takes_an_angle_or_its_cosine_and_sine():
    robot = arm("RUBX", drives=xs.Drive(20.0, 4.0))
    for target in ([0.5], [np.cos(0.5), np.sin(0.5)]):
        assert_allclose(settled(xs.Simulator(robot), target=target).q, [np.cos(0.5), np.sin(0.5)], atol=1e-6)


def test_a_ball_joint_takes_a_quaternion_of_unit_length():
    sim = xs.Simulator(arm("Spherical", drives=xs.Drive(20.0, 4.0)))
    goal = np.array([0.3, 0.1, -0.2, 0.0])
    goal[3] = np.sqrt(1.0 - goal @ goal)
    assert_allclose(settled(sim, target=goal * (1.0 + 1e-5)).q, goal, atol=1e-6)
    refused(xs.InvalidArgument, lambda: sim.step(target=2.0 * goal), "target", "unit length")
    refused(xs.InvalidArgument, lambda: sim.step(target=[0.1, 0.2, 0.3]), "'j0' turns in space", "give 4")


@pytest.mark.parametrize("name", ["target", "target_velocity"])
@pytest.mark.parametrize(
    "value",
    [np.zeros(5), np.zeros((12, 1)), np.full(12, NAN), np.full(12, INF), "far", [[1.0], 2.0], np.zeros(12) + 1j, 3.0],
    ids=lambda value: str(np.shape(value)) if not isinstance(value, (str, list)) else "words",
)
def test_other_targets_are_refused_before_anything_changes(name, value, sim):
    before = sim.state
    refused(xs.InvalidArgument, functools.partial(sim.step, **{name: value}), name)
    assert sim.state == before


@pytest.mark.parametrize("name", ["target", "target_velocity"])
def test_a_robot_without_drives_takes_no_targets(name):
    robot = xs.load_robot("go2")
    sim = xs.Simulator(robot)
    before = sim.state
    call = functools.partial(sim.step, **{name: np.zeros(12)})
    refused(
        xs.InvalidArgument, call, name, "'go2' has no drives", "robot.replace(drives=exposim.Drive(kp=..., kd=...))"
    )
    assert sim.state == before


# Torques.


def test_torques_are_what_the_joints_got():
    robot = arm("RX", "PX", effort=2.0)
    sim = xs.Simulator(robot)
    with pytest.warns(xs.SetupWarning):
        sim.step([5.0, -0.5])
    assert_allclose(sim.torques, [2.0, -0.5])
    assert sim.info.saturated == ("j0",)
    assert sim.info.limits == ()
    free = xs.Simulator(robot.replace(effort_limits=False))
    free.step([5.0, -0.5])
    assert_allclose(free.torques, [5.0, -0.5])
    assert free.info.saturated == ()
    free.reset()
    assert_allclose(free.torques, 0.0)


def test_torques_are_one_per_actuated_degree_of_freedom():
    robot = arm("RX", "RX", "RX").replace(actuated_joints=["j2", "j0"])
    sim = xs.Simulator(robot)
    sim.step([3.0, 1.0])
    assert_allclose(sim.torques, [3.0, 1.0])


def test_torques_of_drives_are_means_over_the_step():
    sim = xs.Simulator(arm("RX", drives=xs.Drive(100.0, 5.0)), dt=5e-3)
    v = sim.v
    sim.step([0.2], target=[0.3])
    # Nothing else acts: momentum is the mean torque times the step.
    assert_allclose(0.1 * (sim.v - v), 5e-3 * sim.torques, rtol=1e-6)


@pytest.mark.parametrize("count", [10, np.int64(10), 10.0])
def test_a_number_of_steps_in_the_place_of_torques_is_told_where_it_belongs(count, sim):
    with pytest.raises(xs.InvalidArgument, match=r"tau is 10, one number for 12 torques; .* for 10 steps n=10"):
        sim.step(count)
    for number in (0, 0.5, -3, np.nan, np.inf):
        with pytest.raises(xs.InvalidArgument, match=r"one number for 12 torques; give all of them$"):
            sim.step(number)
    assert sim.t == 0.0


def test_a_clipped_torque_is_told_once(recwarn):
    robot = xs.load_robot("go2")
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=1e-3)
    tau = np.zeros(12)
    tau[[2, 5]] = 60.0, 50.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for given in (tau, tau.tolist(), np.concatenate([np.zeros(6), tau])):
            sim.step(given)
            assert sim.info.saturated == ("FL_calf_joint", "FR_calf_joint")
    (warning,) = caught
    assert warning.category is xs.SetupWarning
    assert warning.filename == __file__
    assert str(warning.message) == (
        "tau of 'FL_calf_joint' is 60 N·m, its effort limit 45.43 N·m: clipped, as is one more; sim.info.saturated "
        "names those that are, robot.replace(effort_limits=False) lifts the limits"
    )


def test_the_effort_of_a_drive_holds_for_what_is_added_to_it_too():
    sim = xs.Simulator(arm("PX", drives=xs.Drive(10.0, 1.0, effort=3.0)))
    with pytest.warns(xs.SetupWarning, match=r"'j0' is -7 N, the effort of its drive 3 N: clipped; .*effort=\.\.\."):
        sim.step([-7.0])
    assert_allclose(sim.torques, [-3.0])


def test_a_drive_at_its_bound_is_no_mistake():
    sim = xs.Simulator(arm("RX", drives=xs.Drive(1000.0, 10.0, effort=3.0)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step([0.5], target=[1.0])
    assert sim.info.saturated == ("j0",)
    assert_allclose(sim.torques, [3.0])


# Limits and friction.


def test_a_joint_on_its_limit_is_named_with_the_force():
    robot = arm("RX", "RX", limits=(-0.5, 0.5))
    sim = xs.Simulator(robot)
    assert_allclose(sim.limit_forces, 0.0)
    sim.step([2.0, 0.0], n=2000)
    assert sim.info.limits == ("j0",)
    assert_allclose(sim.limit_forces, [-2.0, 0.0], rtol=1e-3, atol=1e-3)
    free = xs.Simulator(robot.replace(joint_limits=False))
    free.step([2.0, 0.0], n=400)
    assert free.q[0] > 1.0
    assert free.info.limits == ()


def test_friction_holds_against_a_torque():
    sim = xs.Simulator(arm("RX").replace(joint_friction=1.0))
    sim.step([0.6], n=400)
    assert_allclose(sim.friction_torques, [-0.6], rtol=1e-6)
    assert sim.state.friction_slips.tolist() == [0]
    sim.step([2.0], n=10)
    assert_allclose(sim.friction_torques, [-1.0], rtol=1e-6)
    assert sim.state.friction_slips.tolist() == [1]


def test_a_pickled_simulator_has_the_same_joints(go2):
    robot = go2.replace(joint_friction=0.1, drives=xs.Drive(25.0, 0.5, delay=0.013))
    sim = xs.Simulator(robot, xs.HalfSpace())
    sim.step(target=go2.q0[7:] + 0.1, n=3)
    twin = pickle.loads(pickle.dumps(sim))
    for each in (sim, twin):
        each.step(n=5)
    assert twin.state == sim.state
