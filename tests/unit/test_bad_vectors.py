"""Bad q, v, torques and wrenches, unit vectors in q among them, are refused and change nothing."""

import functools

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from bad_input import HUGE, INF, NAN, RAGGED, few, on_the_ground, refused, refused_untouched, short, solo12

# Vectors: q, v, tau, wrenches. Each with its size and a good value.

NQ, NV = 19, 18
VECTORS = {
    "q": (NQ, lambda sim, x: sim.reset(x)),
    "v": (NV, lambda sim, x: sim.reset(None, x)),
    "tau": (NV, lambda sim, x: sim.step(x)),
    "wrenches['base_link']": (6, lambda sim, x: sim.step(wrenches={"base_link": x})),
}
every_vector = pytest.mark.parametrize("name", VECTORS)


def good(name):
    return solo12().q0 if name == "q" else np.full(VECTORS[name][0], 0.1)


def with_entry(name, i, value):
    entries = good(name).tolist()
    entries[i] = value
    return entries


def give(name, value):
    return lambda sim: VECTORS[name][1](sim, value)


@every_vector
def test_the_good_vectors_of_these_tests_are_good(name):
    give(name, good(name))(on_the_ground())


@every_vector
@few
@given(size=st.integers(0, 40))
def test_a_vector_of_the_wrong_size_is_refused(name, size):
    right = VECTORS[name][0]
    assume(size != right and not (name == "tau" and size == 12))
    refused_untouched(xs.InvalidArgument, give(name, np.zeros(size)), name, f"{size} entries", f"give {right}")


def test_a_tau_of_the_wrong_size_is_told_both_good_sizes():
    refused_untouched(xs.InvalidArgument, lambda sim: sim.step(np.zeros(7)), "tau", "7", "18", "12")


@every_vector
@few
@given(data=st.data(), bad=st.sampled_from([NAN, INF, -INF]))
def test_a_vector_that_is_not_finite_is_refused(name, data, bad):
    i = data.draw(st.integers(0, VECTORS[name][0] - 1))
    value = np.array(with_entry(name, i, bad))
    refused_untouched(xs.InvalidArgument, give(name, value), name, "finite", f"entry {i}", str(bad))


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_a_tau_per_actuated_joint_that_is_not_finite_is_refused(bad):
    tau = np.zeros(12)
    tau[7] = bad
    refused_untouched(xs.InvalidArgument, lambda sim: sim.step(tau, n=10), "tau", "finite", "entry 7", str(bad))


@every_vector
@pytest.mark.parametrize("as_type", [np.float32, np.float16, list])
def test_a_vector_that_is_not_finite_is_refused_in_any_type(name, as_type):
    value = with_entry(name, 2, NAN) if as_type is list else np.array(with_entry(name, 2, NAN), as_type)
    refused_untouched(xs.InvalidArgument, give(name, value), name, "finite", "entry 2", "nan")


@every_vector
@pytest.mark.parametrize("shape", [(1, -1), (-1, 1), (-1, 1, 1)])
def test_a_vector_of_more_dimensions_is_refused(name, shape):
    value = good(name).reshape(shape)
    refused_untouched(xs.InvalidArgument, give(name, value), name, str(value.shape), VECTORS[name][0])


@every_vector
@pytest.mark.parametrize(
    "value",
    ["abc", "1.0", b"abc", object(), {}, {"a": 1}, {1.0, 2.0}, 1.0, [], [[]], RAGGED, 1j, np.float64, HUGE],
    ids=short,
)
def test_what_is_no_vector_is_refused(name, value):
    refused_untouched(xs.InvalidArgument, give(name, value), name)


@pytest.mark.parametrize("bad", [None, "x", object(), [1.0], [1.0, 2.0], {}, 1j, HUGE], ids=short)
@every_vector
def test_a_vector_with_an_entry_that_is_no_number_is_refused(name, bad):
    refused_untouched(xs.InvalidArgument, give(name, with_entry(name, 1, bad)), name)


@every_vector
def test_a_vector_of_numbers_as_text_is_refused(name):
    value = [str(x) for x in good(name)]
    refused_untouched(xs.InvalidArgument, give(name, value), name, "give real numbers")


@every_vector
def test_an_array_of_numbers_as_text_is_refused(name):
    value = np.array([str(x) for x in good(name)])
    refused_untouched(xs.InvalidArgument, give(name, value), name, "give real numbers")


@every_vector
def test_a_complex_array_is_refused(name):
    refused_untouched(xs.InvalidArgument, give(name, good(name) + 1j), name, "give real numbers")


@pytest.mark.parametrize("value", [None, "abcdef"])
def test_a_wrench_that_is_nothing_is_refused(value):
    refused_untouched(xs.InvalidArgument, give("wrenches['base_link']", value), "wrenches['base_link']", "give")


junk = st.recursive(
    st.text(max_size=5)
    | st.binary(max_size=5)
    | st.complex_numbers()
    | st.floats()
    | st.integers()
    | st.booleans()
    | st.datetimes()
    | st.decimals()
    | st.fractions(),
    lambda inner: st.lists(inner | st.none(), max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize("name", ["q", "v", "tau"])  # sizes that no junk has by chance
@settings(few, max_examples=60)
@given(value=junk)
@example(RAGGED)
@example([HUGE] * 3)
def test_junk_is_refused(name, value):
    sim = on_the_ground()
    before = sim.state
    refused(xs.InvalidArgument, lambda: give(name, value)(sim), name)
    assert sim.state == before


@settings(few, max_examples=60)
@given(value=junk)
def test_junk_for_wrenches_is_refused(value):
    assume(value != {})
    sim = on_the_ground()
    before = sim.state
    refused(xs.ExposimError, lambda: sim.step(wrenches=value))
    assert sim.state == before


@pytest.mark.parametrize("value", [0, 5, False, "", "base_link", (), [], [np.zeros(6)], np.zeros(6)], ids=short)
def test_wrenches_that_are_no_mapping_are_refused(value):
    refused_untouched(xs.InvalidArgument, lambda sim: sim.step(wrenches=value), "wrenches", "mapping")


def test_one_bad_wrench_among_good_ones_leaves_the_simulator_untouched():
    wrenches = {"base_link": np.ones(6), "FL_FOOT": np.full(6, NAN)}
    refused_untouched(xs.InvalidArgument, lambda sim: sim.step(wrenches=wrenches), "wrenches['FL_FOOT']", "nan")


def test_a_bad_v_leaves_the_simulator_untouched_though_q_is_good():
    refused_untouched(xs.InvalidArgument, lambda sim: sim.reset(solo12().q0, np.zeros(3)), "v", "3 entries", "18")


def test_a_bad_tau_with_good_wrenches_leaves_no_wrench_behind():
    wrenches = {"base_link": np.full(6, 50.0)}
    bad = np.full(18, NAN)
    refused_untouched(xs.InvalidArgument, lambda sim: sim.step(bad, wrenches=wrenches), "tau", "nan")


def test_integers_and_narrow_floats_are_taken_as_they_are():
    sims = [on_the_ground() for _ in range(4)]
    tau = np.arange(18)
    for sim, given_tau in zip(sims, [tau, tau.tolist(), tau.astype(np.float32), np.repeat(tau, 2)[::2]], strict=True):
        sim.step(given_tau)
    assert all(sim.state == sims[0].state for sim in sims)


# Unit vectors inside q.


def chain(*joints):
    """A bilateral contact at the tip keeps the law at work."""
    model, parent = pin.Model(), 0
    for i, joint in enumerate(joints):
        place = pin.SE3(pin.exp3(np.array([0.1, 0.4, -0.3]) * (i + 1)), np.array([0.2, 0.1, -0.3]))
        parent = model.addJoint(parent, joint, place, f"joint {i}")
        model.appendBodyToJoint(parent, pin.Inertia.FromBox(1.0, 0.2, 0.3, 0.4), place)
    model.addFrame(pin.Frame("tip", parent, 0, place, pin.FrameType.OP_FRAME))
    return xs.load_robot(model, contact_points=[xs.ContactPoint("tip", bilateral=True)])


def composite(*joints):
    result = pin.JointModelComposite()
    for joint in joints:
        result.addJoint(joint, pin.SE3(pin.exp3(np.array([0.3, -0.2, 0.5])), np.array([0.1, 0.2, -0.1])))
    return result


HINGE = pin.JointModelRY
UNIT_VECTORS = {  # a robot, its joint, and where its q has a unit vector
    "free flyer": (lambda: chain(HINGE(), pin.JointModelFreeFlyer()), "joint 1", slice(4, 8)),
    "spherical": (lambda: chain(HINGE(), pin.JointModelSpherical(), HINGE()), "joint 1", slice(1, 5)),
    "planar": (lambda: chain(HINGE(), pin.JointModelPlanar(), HINGE()), "joint 1", slice(3, 5)),
    "continuous": (lambda: chain(HINGE(), pin.JointModelRUBX()), "joint 1", slice(1, 3)),
    "continuous, oblique": (
        lambda: chain(HINGE(), pin.JointModelRevoluteUnboundedUnaligned()),
        "joint 1",
        slice(1, 3),
    ),
    "spherical in a composite": (
        lambda: chain(HINGE(), composite(pin.JointModelPX(), pin.JointModelSpherical()), HINGE()),
        "joint 1",
        slice(2, 6),
    ),
    "continuous in a composite": (
        lambda: chain(HINGE(), composite(pin.JointModelPX(), pin.JointModelRUBZ(), pin.JointModelPY())),
        "joint 1",
        slice(2, 4),
    ),
    "free flyer in a composite": (
        lambda: chain(composite(pin.JointModelFreeFlyer())),
        "joint 0",
        slice(3, 7),
    ),
    "spherical in a composite in a composite": (
        lambda: chain(HINGE(), composite(pin.JointModelPX(), composite(pin.JointModelRX(), pin.JointModelSpherical()))),
        "joint 1",
        slice(3, 7),
    ),
    "second of two spherical joints": (
        lambda: chain(pin.JointModelSpherical(), pin.JointModelSpherical()),
        "joint 1",
        slice(4, 8),
    ),
}
every_unit_vector = pytest.mark.parametrize("kind", UNIT_VECTORS)


@functools.cache
def robot_with(kind):
    return UNIT_VECTORS[kind][0]()


def configuration(kind, seed, length):
    """A random configuration with the unit vector stretched to that length."""
    model = robot_with(kind).model
    q = pin.integrate(model, pin.neutral(model), np.random.default_rng(seed).normal(size=model.nv))
    stretched = q.copy()
    stretched[UNIT_VECTORS[kind][2]] *= length
    return q, stretched


off_a_little = st.floats(1 - 0.999e-3, 1 + 0.999e-3)
off_by_far = st.floats(-3.0, 1 - 1.001e-3).filter(lambda x: abs(abs(x) - 1) > 1.001e-3) | st.floats(1 + 1.001e-3, 1e3)
seeds = st.integers(0, 1000)


@every_unit_vector
@few
@given(length=off_a_little, seed=seeds)
def test_a_unit_vector_a_little_off_is_normalised(kind, length, seed):
    q, stretched = configuration(kind, seed, length)
    sim = xs.Simulator(robot_with(kind))
    sim.reset(stretched)
    assert_allclose(sim.q, q, rtol=0, atol=1e-14)
    assert_allclose(np.linalg.norm(sim.q[UNIT_VECTORS[kind][2]]), 1.0, rtol=0, atol=1e-15)


@every_unit_vector
@few
@given(length=off_by_far, seed=seeds)
@example(length=0.0, seed=0)
@example(length=1 + 1.001e-3, seed=0)
@example(length=1 - 1.001e-3, seed=0)
def test_a_unit_vector_far_off_is_refused(kind, length, seed):
    _, stretched = configuration(kind, seed, length)
    joint = UNIT_VECTORS[kind][1]
    robot = robot_with(kind)
    sim = xs.Simulator(robot)
    before = sim.state
    refused(xs.InvalidArgument, lambda: sim.reset(stretched), "q has", f"{joint!r}", "give it unit length")
    assert sim.state == before


@every_unit_vector
def test_a_q0_with_a_unit_vector_far_off_is_refused(kind):
    _, stretched = configuration(kind, 1, 1.1)
    refused(xs.InvalidArgument, lambda: robot_with(kind).replace(q0=stretched), "q0", "give it unit length")


def test_a_quaternion_far_off_leaves_the_simulator_untouched():
    q = solo12().q0
    q[3:7] *= 1.01
    refused_untouched(xs.InvalidArgument, lambda sim: sim.reset(q), "q", "0.01", "'root_joint'", "unit length")


def test_a_zero_quaternion_leaves_the_simulator_untouched():
    q = solo12().q0
    q[3:7] = 0
    refused_untouched(xs.InvalidArgument, lambda sim: sim.reset(q), "q", "'root_joint'", "unit length")


def test_a_quaternion_whose_square_overflows_is_refused():
    q = solo12().q0
    q[3:7] = 1e200
    refused_untouched(xs.InvalidArgument, lambda sim: sim.reset(q), "q", "'root_joint'", "unit length")


def test_the_q_given_is_not_normalised_in_place():
    q = solo12().q0
    q[3:7] *= 1.0005
    given_q = q.copy()
    on_the_ground().reset(q)
    assert_array_equal(q, given_q)


@pytest.mark.parametrize("act", ["step", "reset"])
@pytest.mark.parametrize(
    "value",
    [np.datetime64("2020-01-01"), np.timedelta64(1), memoryview(b"abc"), np.void(b"abc"), np.float16(1)],
    ids=short,
)
def test_memory_that_holds_no_vector_of_floats_is_refused(value, act):
    refused_untouched(xs.InvalidArgument, lambda sim: getattr(sim, act)(value), "give")
