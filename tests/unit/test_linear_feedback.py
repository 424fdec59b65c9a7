"""Tracking of a reference: interpolation, the feedback law, repetition, files."""

import functools
import pickle
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import solve_discrete_are

import exposim as xs
from bad_input import few, refused
from exposim.controllers import PD, LinearFeedback, Reference
from exposim.errors import UnreadableFile

SHIPPED = Path(xs.__file__).parent / "scenarios" / "references"
seeds = st.integers(0, 2**32 - 1)
shares = st.floats(0.0, 1.0)


@functools.cache
def robot_of(name):
    if name == "arm":
        return xs.load_robot(pin.buildSampleModelManipulator())
    return xs.load_robot(name)


def random_state(robot, rng, t=0.0):
    q = pin.integrate(robot.model, robot.q0, rng.normal(size=robot.nv))
    none = np.zeros(0)
    return xs.State(t, q, rng.normal(size=robot.nv), none, none, none, none)


def random_reference(robot, seed=0, N=5, cycle=None, dt=0.01):
    rng = np.random.default_rng(seed)
    states = [random_state(robot, rng) for _ in range(N + 1)]
    nu = len(robot.actuated_dofs)
    return Reference(
        dt * np.arange(N + 1),
        [state.q for state in states],
        [state.v for state in states],
        rng.normal(size=(N, nu)),
        rng.normal(size=(N, nu, 2 * robot.nv)),
        cycle,
    )


def walking_reference(robot, way=(0.1, 0.02), yaw=0.3, N=5, cycle=2, seed=0):
    """Random, but with an end that is the start of the cycle again, moved on along the ground."""
    ref = random_reference(robot, seed, N, cycle)
    q, v = ref.q.copy(), ref.v.copy()
    q[-1], v[-1] = moved(q[cycle], planar(way, yaw)), v[cycle]
    return Reference(ref.t, q, v, ref.u, ref.gains, cycle)


def planar(way, yaw):
    return pin.SE3(pin.utils.rotate("z", yaw), np.array([*way, 0.0]))


def moved(q, motion):
    return np.concatenate([pin.SE3ToXYZQUAT(motion * pin.XYZQUATToSE3(q[:7])), q[7:]])


def same_configuration(robot, q, other, atol=1e-9):
    assert_allclose(pin.difference(robot.model, q, other), 0.0, atol=atol)


# Between knots.


@few
@given(seed=seeds, s=shares)
def test_between_knots_the_base_turns_about_one_axis_at_a_steady_rate(seed, s):
    robot = robot_of("solo12")
    ref = random_reference(robot, seed)
    q = LinearFeedback(robot, ref).at(ref.t[2] + s * 0.01)[0]
    start, end, between = (pin.XYZQUATToSE3(each[:7]) for each in (ref.q[2], ref.q[3], q))
    assert_allclose(between.homogeneous, (start * pin.exp6(s * pin.log6(start.inverse() * end))).homogeneous, atol=1e-9)
    assert_allclose(q[7:], (1 - s) * ref.q[2, 7:] + s * ref.q[3, 7:], atol=1e-9)


@few
@given(seed=seeds, s=shares)
def test_between_knots_velocities_are_linear_and_torques_and_gains_constant(seed, s):
    robot = robot_of("solo12")
    ref = random_reference(robot, seed)
    _, v, u, G = LinearFeedback(robot, ref).at(ref.t[3] + 0.999 * s * 0.01)
    assert_allclose(v, ref.v[3] + 0.999 * s * (ref.v[4] - ref.v[3]), atol=1e-12)
    assert_array_equal(u, ref.u[3])
    assert_array_equal(G, ref.gains[3])


@pytest.mark.parametrize("dt", [0.002, 0.01, 1 / 3, 0.1])
def test_a_time_that_is_a_knot_but_for_rounding_gets_the_torque_of_that_knot(dt):
    robot = robot_of("arm")
    ref = random_reference(robot, N=400, dt=dt, cycle=100)
    controller = LinearFeedback(robot, ref)
    summed = 0.0
    for k in range(1000):
        knot = k if k < 400 else 100 + (k - 100) % 300
        for t in (k * dt, summed, k / (1 / dt)):
            assert_array_equal(controller.at(t)[2], ref.u[knot])
        summed += dt


# The law.


@few
@given(seed=seeds, t=st.floats(0.0, 0.05))
def test_the_torque_is_that_of_the_reference_plus_gains_times_the_difference_of_states(seed, t):
    robot = robot_of("solo12")
    ref = random_reference(robot, seed)
    controller = LinearFeedback(robot, ref)
    state = random_state(robot, np.random.default_rng(seed + 1))
    q_ref, v_ref, u_ref, G = controller.at(t)
    base, base_ref = pin.XYZQUATToSE3(state.q[:7]), pin.XYZQUATToSE3(q_ref[:7])
    error = [*pin.log6(base.inverse() * base_ref).vector, *(q_ref - state.q)[7:], *(v_ref - state.v)]
    assert_allclose(controller(t, state), u_ref + G @ np.array(error), atol=1e-9)


def test_on_the_reference_the_torque_is_that_of_the_reference():
    robot = robot_of("solo12")
    ref = random_reference(robot)
    controller = LinearFeedback(robot, ref)
    for k in range(5):
        none = np.zeros(0)
        assert_allclose(controller(ref.t[k], xs.State(0.0, ref.q[k], ref.v[k], none, none, none, none)), ref.u[k])


def test_it_remembers_nothing():
    robot, rng = robot_of("solo12"), np.random.default_rng(0)
    controller = LinearFeedback(robot, walking_reference(robot))
    calls = [(t, random_state(robot, rng)) for t in (0.031, 0.5, 0.0, 0.02, 7.0)]
    first = [controller(*call) for call in calls]
    assert_array_equal(first[::-1], [controller(*call) for call in calls[::-1]])


@pytest.mark.parametrize("name", ["solo12", "go2", "arm", "romeo"])
def test_with_gains_on_the_own_joint_only_it_is_pd_control(name):
    robot = robot_of(name)
    nu, nv, dofs = len(robot.actuated_dofs), robot.nv, robot.actuated_dofs
    G = np.zeros((1, nu, 2 * nv))
    G[0, range(nu), dofs], G[0, range(nu), nv + dofs] = 8.0, 0.1
    standing = Reference([0.0, 1.0], [robot.q0] * 2, np.zeros((2, nv)), np.zeros((1, nu)), G)
    state = random_state(robot, np.random.default_rng(1))
    expected = PD(robot, kp=8.0, kd=0.1)(0.3, state)
    assert_allclose(LinearFeedback(robot, standing)(0.3, state), expected, atol=1e-12)


def test_an_arm_that_would_fall_is_balanced_by_riccati_gains():
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "hinge")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.array([0.0, 0.0, 0.5]), 0.1 * np.eye(3)), pin.SE3.Identity())
    robot, dt = xs.load_robot(model), 0.01  # upright at q = 0
    inertia, mgl = 0.1 + 0.25, 9.81 * 0.5
    A, B = np.array([[1.0, dt], [mgl / inertia * dt, 1.0]]), np.array([[0.0], [dt / inertia]])
    P = solve_discrete_are(A, B, np.eye(2), np.eye(1))
    G = np.linalg.solve(1.0 + B.T @ P @ B, B.T @ P @ A)
    controller = LinearFeedback(robot, Reference([0.0, dt], np.zeros((2, 1)), np.zeros((2, 1)), [[0.0]], [G]))
    sim = xs.Simulator(robot, dt=1e-3)
    sim.reset([0.2])
    for _ in range(500):
        sim.step(controller(sim.t, sim.state), n=10)
    assert abs(sim.q[0]) < 1e-3
    sim.reset([0.2])
    sim.step(n=5000)
    assert np.abs(sim.q[0]) > 1.0  # without the feedback


# Beyond the ends.


@pytest.mark.parametrize("t", [0.05, 0.051, 3.0, 1e6])
def test_after_the_end_the_last_point_is_held(t):
    robot = robot_of("solo12")
    ref = random_reference(robot)
    q, v, u, G = LinearFeedback(robot, ref).at(t)
    same_configuration(robot, q, ref.q[-1])
    for found, expected in ((v, ref.v[-1]), (u, ref.u[-1]), (G, ref.gains[-1])):
        assert_array_equal(found, expected)


def test_before_the_start_the_first_point_is_held():
    robot = robot_of("solo12")
    for ref in (random_reference(robot), walking_reference(robot)):
        q, v, u, _ = LinearFeedback(robot, ref).at(-1.0)
        same_configuration(robot, q, ref.q[0])
        assert_array_equal(v, ref.v[0])
        assert_array_equal(u, ref.u[0])


@few
@given(seed=seeds, t=st.floats(0.02, 0.0499), k=st.integers(1, 1000), yaw=st.floats(-3.0, 3.0))
def test_a_motion_moved_on_by_k_periods_gets_the_same_torques_k_periods_later(seed, t, k, yaw):
    robot, way = robot_of("solo12"), (0.1, -0.03)
    ref = walking_reference(robot, way, yaw, seed=seed)
    controller = LinearFeedback(robot, ref)
    onward = pin.SE3.Identity()
    for _ in range(k):
        onward = planar(way, yaw) * onward
    state = random_state(robot, np.random.default_rng(seed + 1))
    later = state.replace(t=0.0, q=moved(state.q, onward))
    assert_allclose(controller(t + k * ref.period, later), controller(t, state), rtol=1e-6, atol=1e-6)


def test_six_turns_of_sixty_degrees_lead_back_to_the_start():
    robot = robot_of("solo12")
    ref = walking_reference(robot, way=(0.4, 0.1), yaw=np.pi / 3)
    controller = LinearFeedback(robot, ref)
    for t in (0.02, 0.037):
        start = controller.at(t)[0]
        same_configuration(robot, controller.at(t + 6 * ref.period)[0], start)
        assert np.linalg.norm(controller.at(t + 3 * ref.period)[0][:2] - start[:2]) > 0.1


def test_straight_on_a_hundred_periods_are_a_hundred_times_the_way():
    robot = robot_of("solo12")
    ref = walking_reference(robot, way=(0.12, 0.0), yaw=0.0)
    q, start = LinearFeedback(robot, ref).at(0.02 + 100 * ref.period)[0], ref.q[2].copy()
    start[0] += 12.0
    same_configuration(robot, q, start)


def test_height_and_tilt_do_not_add_up():
    robot = robot_of("solo12")
    ref = walking_reference(robot)
    q = ref.q.copy()
    tilt = pin.SE3(pin.utils.rotate("x", 0.01), np.array([0.0, 0.0, 0.005]))
    q[-1] = moved(q[-1], tilt)  # a seam that is not perfect
    sloppy = Reference(ref.t, q, ref.v, ref.u, ref.gains, ref.cycle)
    after = LinearFeedback(robot, sloppy).at(0.02 + 1000 * ref.period)[0]
    assert_allclose(after[2], ref.q[2, 2], atol=1e-9)
    up = [pin.XYZQUATToSE3(each[:7]).rotation[2] for each in (after, ref.q[2])]
    assert_allclose(up[0], up[1], atol=1e-9)


def test_an_arm_repeats_its_cycle_on_the_spot():
    robot = robot_of("arm")
    ref = random_reference(robot, cycle=1)
    controller = LinearFeedback(robot, ref)
    for one, other in zip(controller.at(0.023), controller.at(0.023 + 7 * ref.period), strict=True):
        assert_allclose(one, other, atol=1e-9)


# Refusals.


def changed(**changes):
    ref = random_reference(robot_of("solo12"))
    return Reference(**({name: getattr(ref, name) for name in ("t", "q", "v", "u", "gains", "cycle")} | changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"t": [0.0]}, ["t has 1 entries", "two knots"]),
        ({"t": np.arange(5.0)}, ["q has shape (6, 19)", "(5, 19)"]),
        ({"t": [0, 1, 2, 2, 3, 4]}, ["t must increase", "t[2] = 2 s"]),
        ({"t": [0, 1, 2, np.nan, 3, 4]}, ["t must be finite", "entry 3"]),
        ({"q": np.zeros(6)}, ["q has shape (6,)", "2 dimensions"]),
        ({"q": "abc"}, ["q is 'abc'", "real numbers"]),
        ({"v": np.zeros((5, 18))}, ["v has shape (5, 18)", "(6, 18)"]),
        ({"u": np.zeros((6, 12))}, ["u has shape (6, 12)", "(5, 12)"]),
        ({"gains": np.zeros((5, 12, 18))}, ["gains has shape (5, 12, 18)", "(5, 12, 36)", "2 nv"]),
        ({"gains": np.full((5, 12, 36), np.inf)}, ["gains must be finite"]),
        ({"cycle": 5}, ["cycle is 5", "from 0 to 4"]),
        ({"cycle": -1}, ["cycle is -1"]),
        ({"cycle": True}, ["cycle is True"]),
        ({"cycle": 1.0}, ["cycle is 1.0"]),
    ],
)
def test_a_reference_with_arrays_that_do_not_fit_is_refused(changes, words):
    refused(xs.InvalidArgument, lambda: changed(**changes), *words)


def test_a_reference_of_another_robot_is_refused():
    solo, arm = robot_of("solo12"), robot_of("arm")
    ref = random_reference(solo)
    refused(xs.InvalidArgument, lambda: LinearFeedback(arm, ref), "reference.q has 19 columns", arm.name, arm.nq)
    half = solo.replace(actuated_joints=solo.actuated_joints[:6])
    refused(xs.InvalidArgument, lambda: LinearFeedback(half, ref), "reference.u has 12 columns", "wants 6", "actuated")


def test_a_reference_with_a_quaternion_that_is_none_is_refused():
    ref = changed(q=np.full((6, 19), 0.1))
    refused(xs.InvalidArgument, lambda: LinearFeedback(robot_of("solo12"), ref), "reference.q[0]", "quaternion")


def test_what_is_not_a_robot_or_not_a_reference_is_refused():
    refused(xs.InvalidArgument, lambda: LinearFeedback("solo12", changed()), "robot is 'solo12'", "load_robot")
    refused(xs.InvalidArgument, lambda: LinearFeedback(robot_of("solo12"), {}), "reference is a dict")


def test_a_reference_cannot_be_changed_and_keeps_nothing_that_was_given():
    q = np.tile(robot_of("solo12").q0, (6, 1))
    ref = changed(q=q)
    before = ref.q.copy()
    q += 1.0
    assert_array_equal(ref.q, before)
    with pytest.raises(ValueError, match="read-only"):
        ref.gains[0] = 0.0


# Files.


@few
@given(seed=seeds, cycle=st.none() | st.integers(0, 4), single=st.booleans())
def test_a_saved_reference_is_loaded_bit_for_bit(tmp_path_factory, seed, cycle, single):
    ref = random_reference(robot_of("solo12"), seed, cycle=cycle)
    if single:
        ref = Reference(ref.t, ref.q, ref.v, ref.u, ref.gains.astype(np.float32), cycle)
    path = tmp_path_factory.mktemp("references") / "any name"
    ref.save(path)
    loaded = Reference.load(path)
    assert loaded == ref
    assert loaded.gains.dtype == np.float64
    assert pickle.loads(pickle.dumps(ref)) == ref


def test_gains_of_single_precision_take_half_the_space(tmp_path):
    ref = random_reference(robot_of("solo12"), N=50)
    single = Reference(ref.t, ref.q, ref.v, ref.u, ref.gains.astype(np.float32))
    sizes = []
    for each in (ref, single):
        each.save(tmp_path / "reference.npz")
        sizes.append((tmp_path / "reference.npz").stat().st_size)
    assert sizes[1] < 0.6 * sizes[0]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "reference.npz"
    random_reference(robot_of("arm"), N=2).save(path)
    return path.read_bytes()


@few
@given(data=st.data())
def test_a_truncated_file_is_refused(tmp_path_factory, saved, data):
    path = tmp_path_factory.mktemp("damaged") / "reference.npz"
    path.write_bytes(saved[: data.draw(st.integers(0, len(saved) - 1))])
    refused(UnreadableFile, lambda: Reference.load(path), path, "Reference.save")


@few
@given(data=st.data())
def test_a_file_with_a_flipped_bit_is_refused_or_does_no_harm(tmp_path_factory, saved, data):
    path = tmp_path_factory.mktemp("damaged") / "reference.npz"
    damaged = bytearray(saved)
    damaged[data.draw(st.integers(0, len(saved) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(damaged)
    try:
        loaded = Reference.load(path)
    except UnreadableFile:
        return
    assert loaded == random_reference(robot_of("arm"), N=2)  # a date in the archive, for example


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "other.npz"
    ref = changed()
    arrays = {name: getattr(ref, name) for name in ("t", "q", "v", "u", "gains")}
    marked = {"format": np.array("exposim reference 1"), "cycle": np.array(-1)}
    for contents, words in (
        ({"a": np.zeros(3)}, ["is not a reference"]),
        (arrays, ["is not a reference"]),
        ({**marked, **arrays, "format": np.array("exposim reference 9")}, ["is not a reference"]),
        ({**marked, "t": ref.t, "q": ref.q}, ["lacks v, u, gains"]),
        ({**marked, **arrays, "cycle": np.array(0.5)}, ["cycle"]),
        ({**marked, **arrays, "u": ref.u[1:]}, ["u has shape (4, 12)"]),
        ({**marked, **arrays, "t": np.array([{}] * 6)}, ["cannot be read", "pickle"]),  # objects would run code
    ):
        np.savez(path, **contents)
        refused(UnreadableFile, lambda: Reference.load(path), path, *words)
    for text in (b"", b"not an archive", b"\x93NUMPY"):
        path.write_bytes(text)
        refused(UnreadableFile, lambda: Reference.load(path), path)
    refused(xs.UnknownFile, lambda: Reference.load(tmp_path / "none.npz"), "there is no file", "none.npz")
    refused(xs.UnknownFile, lambda: Reference.load(tmp_path), "there is no file")


# Those that come with the package.


@pytest.mark.parametrize("name", ["solo_jump", "solo_trot"])
def test_the_shipped_reference_is_small_and_starts_at_rest_standing(name):
    robot, path = robot_of("solo12"), SHIPPED / f"{name}.npz"
    ref = Reference.load(path)
    LinearFeedback(robot, ref)
    same_configuration(robot, ref.q[0], robot.q0)
    assert_array_equal(ref.v[0], np.zeros(robot.nv))
    assert path.stat().st_size < 500e3


def test_the_shipped_jump_ends_at_rest_standing():
    robot, ref = robot_of("solo12"), Reference.load(SHIPPED / "solo_jump.npz")
    same_configuration(robot, ref.q[-1], robot.q0, atol=5e-3)
    assert_allclose(ref.v[-1], 0.0, atol=2e-2)


def test_the_shipped_trot_goes_on_seamlessly_for_ever():
    robot, ref = robot_of("solo12"), Reference.load(SHIPPED / "solo_trot.npz")
    controller = LinearFeedback(robot, ref)
    for seam in (ref.t[-1], ref.t[-1] + 1000 * ref.period):
        before, after = controller.at(seam - 1e-6), controller.at(seam + 1e-6)
        same_configuration(robot, before[0], after[0], atol=5e-4)
        assert_allclose(before[1], after[1], atol=5e-3)
