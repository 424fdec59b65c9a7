"""Bad kernels and states are refused, and the simulator goes on after any mistake."""

import dataclasses
import functools
import pickle

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

import exposim as xs
from bad_input import (
    HUGE,
    INF,
    NAN,
    RAGGED,
    few,
    not_positive,
    on_the_ground,
    refused,
    refused_untouched,
    short,
    solo12,
)
from exposim.contact.modes import BILATERAL, IDLE, MODES, OPEN, SLIPPING, STICKING

# Kernels.


@pytest.mark.parametrize("kernel", ["exp", "pade", "EXPM", None, 5, xs.Pade, ["expm"], np.zeros(2)], ids=short)
def test_a_kernel_that_does_not_exist_is_refused(kernel):
    refused(xs.InvalidArgument, lambda: xs.PaperExpo(kernel=kernel), "kernel is", "'expm' or Pade(degree)")


@pytest.mark.parametrize("degree", [4, 0, -1, 6, 8, 13, 1.0, 3.5, True, "3", None, [3], NAN], ids=short)
def test_a_degree_that_does_not_exist_is_told_the_choices(degree):
    refused(xs.InvalidArgument, lambda: xs.Pade(degree), f"degree is {degree!r}", "1, 2, 3, 5, 7")


@pytest.mark.parametrize("balance", [1, 0, None, "yes"], ids=short)
def test_a_balance_that_is_neither_true_nor_false_is_refused(balance):
    refused(xs.InvalidArgument, lambda: xs.PaperExpo(balance=balance), f"balance is {balance!r}", "True or False")


@pytest.mark.parametrize("value", ["lam", None, 5], ids=short)
def test_a_position_update_that_does_not_exist_is_told_the_choices(value):
    act = functools.partial(xs.PaperExpo, position_update=value)
    refused(xs.InvalidArgument, act, f"position_update is {value!r}", "'lam_pr2', 'lam_pr'")


def integrals(**changes):
    arguments = {"A": -np.eye(2), "b": np.ones(2), "x0": np.ones(2), "dt": 0.1, "kernel": "expm", **changes}
    return xs.kernels.integrals(**arguments)


@pytest.mark.parametrize("A", [np.ones((2, 3)), np.ones((3, 2)), np.ones((3, 3)), np.ones(4), np.ones((2, 2, 2))])
def test_an_A_of_the_wrong_shape_is_refused(A):
    refused(xs.InvalidArgument, lambda: integrals(A=A), "A has shape", str(A.shape), "(2, 2)")


@pytest.mark.parametrize("b", [np.ones(1), np.ones(3), [], np.ones((2, 1))])
def test_a_b_of_the_wrong_size_is_refused(b):
    refused(xs.InvalidArgument, lambda: integrals(b=b), "b has", "give 2")


@pytest.mark.parametrize("x0", [[], 1.0, np.ones((2, 1))])
def test_an_x0_that_is_no_vector_is_refused(x0):
    refused(xs.InvalidArgument, lambda: integrals(x0=x0), "x0 has", "give")


@pytest.mark.parametrize("name", ["A", "b", "x0"])
@pytest.mark.parametrize("value", [None, "ab", ["a", "b"], RAGGED, [1j, 1j], object(), {}, [HUGE, HUGE]], ids=short)
def test_a_linear_system_of_what_is_no_number_is_refused(name, value):
    refused(xs.InvalidArgument, lambda: integrals(**{name: value}), name, "give")


@pytest.mark.parametrize("name", ["A", "b", "x0"])
@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_a_linear_system_that_is_not_finite_is_refused(name, bad):
    value = -np.eye(2) if name == "A" else np.ones(2)
    value[-1] = bad
    refused(xs.InvalidArgument, lambda: integrals(**{name: value}), f"{name} must be finite", bad)


@few
@given(dt=not_positive)
def test_integrals_over_no_time_are_refused(dt):
    refused(xs.InvalidArgument, lambda: integrals(dt=dt), "dt is", "above 0")


@pytest.mark.parametrize("kernel", ["exp", None, xs.Pade, 3, np.zeros(2)], ids=short)
def test_integrals_by_no_kernel_are_refused(kernel):
    refused(xs.InvalidArgument, lambda: integrals(kernel=kernel), "kernel is", "'expm' or Pade(degree)")


def test_the_arguments_of_integrals_are_left_alone():
    A, b, x0 = -np.eye(2) * 1e5, np.ones(2), np.ones(2)
    integrals(A=A, b=b, x0=x0)
    assert_array_equal(A, -np.eye(2) * 1e5)
    assert_array_equal([b, x0], np.ones((2, 2)))


# States.


@functools.cache
def anymal_on_two_planes():
    return xs.Simulator(xs.load_robot("anymal_c"), [xs.HalfSpace(), xs.HalfSpace(normal=(0, 1, 1))])


def put(state):
    return lambda sim: setattr(sim, "state", state)


@pytest.mark.parametrize("name", ["romeo", "talos", "g1"])
def test_a_state_of_another_robot_is_refused(name):
    state = xs.Simulator(xs.load_robot(name), xs.HalfSpace()).state
    words = ("solo12", f"({state.q.size}, {state.v.size})", "(19, 18)", "same robot and ground")
    refused_untouched(xs.StateMismatch, put(state), *words)


def test_a_state_of_another_ground_is_refused():
    state = xs.Simulator(solo12(), [xs.HalfSpace(), xs.HalfSpace(normal=(0, 1, 0))]).state
    refused_untouched(xs.StateMismatch, put(state), "8 contacts", "4", "same robot and ground")


def test_a_state_without_ground_is_refused():
    refused_untouched(xs.StateMismatch, put(xs.Simulator(solo12()).state), "0 contacts", "same robot and ground")


@pytest.mark.parametrize("state", [None, 5, "state", {}, (), object()], ids=short)
def test_a_state_that_is_none_is_refused(state):
    refused_untouched(xs.InvalidArgument, put(state), "state is a", "sim.state")


TAMPERED = {  # new values of the fields, and what the message says
    "t nan": ({"t": NAN}, "state.t"),
    "t inf": ({"t": INF}, "state.t"),
    "t text": ({"t": "now"}, "state.t"),
    "t none": ({"t": None}, "state.t"),
    "q nan": ({"q": np.full(19, NAN)}, "state.q"),
    "q not unit": ({"q": np.ones(19)}, "state.q"),
    "q text": ({"q": ["a"] * 19}, "state.q"),
    "q column": ({"q": np.ones((19, 1))}, "state"),
    "q short": ({"q": np.ones(18)}, "state"),
    "q none": ({"q": None}, "state"),
    "q scalar": ({"q": 1.0}, "state"),
    "v nan": ({"v": np.full(18, NAN)}, "state.v"),
    "v inf": ({"v": np.full(18, INF)}, "state.v"),
    "v long": ({"v": np.zeros(19)}, "state"),
    "v none": ({"v": None}, "state"),
    "v complex": ({"v": np.zeros(18) + 1j}, "state.v"),
    "surface nan": ({"surface": np.full(4, NAN)}, "state.surface"),
    "surface short": ({"surface": np.zeros(3)}, "state.surface"),
    "surface column": ({"surface": np.zeros((4, 1))}, "state.surface"),
    "surface none": ({"surface": None}, "state.surface"),
    "surface text": ({"surface": "here"}, "state.surface"),
    "surface half": ({"surface": np.full(4, 0.5)}, "state.surface"),
    "surface of none": ({"surface": np.full(4, -1)}, "surfaces [-1, -1, -1, -1]"),
    "surface too high": ({"surface": [0, 0, 0, 1]}, "surfaces [0, 0, 0, 1]"),
    "mode nan": ({"mode": np.full(4, NAN)}, "state.mode"),
    "mode short": ({"mode": np.zeros(3)}, "state"),
    "mode column": ({"mode": np.zeros((4, 1))}, "state.mode"),
    "mode none": ({"mode": None}, "state.mode"),
    "mode text": ({"mode": ["sticking"] * 4}, "state.mode"),
    "mode ragged": ({"mode": [[1], [0, 1], 0, 1]}, "state.mode"),
    "mode half": ({"mode": np.full(4, 1.5)}, "state.mode"),
    "mode negative": ({"mode": [0, 0, 0, -1]}, "give 0 to 4: open, idle, sticking, slipping, bilateral"),
    "mode too high": ({"mode": [0, 0, 0, 5]}, "give 0 to 4: open, idle, sticking, slipping, bilateral"),
    "mode bilateral": ({"mode": [BILATERAL] * 4}, "'bilateral'"),
    "mode bilateral once": ({"mode": [STICKING, STICKING, STICKING, BILATERAL]}, "'bilateral'"),
    "phi0 nan": ({"phi0": np.full(4, NAN)}, "state.phi0"),
    "phi0 inf": ({"phi0": [0, 0, 0, INF]}, "state.phi0"),
    "phi0 long": ({"phi0": np.zeros(5)}, "state.phi0"),
    "phi0 column": ({"phi0": np.zeros((4, 1))}, "state.phi0"),
    "phi0 none": ({"phi0": None}, "state.phi0"),
    "phi0 text": ({"phi0": "zero"}, "state.phi0"),
    "stretch nan": ({"stretch": np.full((4, 3), NAN)}, "state.stretch"),
    "stretch inf": ({"stretch": np.full((4, 3), INF)}, "state.stretch"),
    "stretch two columns": ({"stretch": np.zeros((4, 2))}, "state.stretch"),
    "stretch transposed": ({"stretch": np.zeros((3, 4))}, "state.stretch"),
    "stretch flat": ({"stretch": np.zeros(12)}, "state.stretch"),
    "stretch none": ({"stretch": None}, "state.stretch"),
    "stretch text": ({"stretch": [["a", "b", "c"]] * 4}, "state.stretch"),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_a_tampered_state_is_refused(how):
    changes, word = TAMPERED[how]
    refused_untouched(xs.ExposimError, lambda sim: setattr(sim, "state", sim.state.replace(**changes)), word)


def test_a_tampered_state_of_the_wrong_size_is_a_mismatch():
    state = on_the_ground().state.replace(v=np.zeros(5))
    refused_untouched(xs.StateMismatch, put(state), "(19, 5)", "(19, 18)")


def test_a_bilateral_contact_is_bilateral_in_every_state():
    robot = solo12().replace(contact_points=[xs.ContactPoint(foot, bilateral=True) for foot in solo12().feet])
    sim = xs.Simulator(robot, xs.HalfSpace())
    before = sim.state
    assert before.mode.tolist() == [BILATERAL] * 4
    for mode in (OPEN, IDLE, STICKING, SLIPPING):
        refused(xs.StateMismatch, lambda: put(before.replace(mode=[BILATERAL] * 3 + [mode]))(sim), MODES[mode])  # noqa: B023
    refused(xs.StateMismatch, lambda: put(before.replace(surface=[-1, -1, -1, 0]))(sim), "surfaces [-1, -1, -1, 0]")
    assert sim.state == before


@functools.cache
def among_many_planes():
    """More planes than slots; each foot touches one of them."""
    planes = [xs.HalfSpace(point=(0, 0, -z)) for z in (0.0, 5.0, 6.0, 7.0)]
    return xs.Simulator(solo12(), planes, slots=2)


@pytest.mark.parametrize(
    "changes",
    [
        {"surface": [4, -1] * 4},
        {"surface": [-2, -1] * 4},
        {"surface": [-1, -1] * 4},
        {"surface": [0, 0] * 4},
        {"mode": [OPEN, OPEN] * 4},
        {"mode": [STICKING, STICKING] * 4},
    ],
    ids=str,
)
def test_a_slot_has_a_surface_just_while_it_touches_it(changes):
    sim = among_many_planes()
    before = sim.state
    assert before.surface.tolist() == [0, -1] * 4
    refused(xs.StateMismatch, lambda: put(before.replace(**changes))(sim), "same robot and ground")
    assert sim.state == before


def test_the_arrays_of_a_state_are_no_views_of_the_simulator():
    sim, twin = on_the_ground(), on_the_ground()
    state = sim.state
    for array in (state.q, state.v, state.phi0, state.stretch):
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    for array in (state.surface, state.mode, state.active, state.slipping, state.to_array()):  # copies
        array[:] = 0
    assert sim.state == state == twin.state
    sim.step()
    assert state == twin.state


def test_the_array_that_a_state_was_made_of_is_not_kept():
    sim, twin = on_the_ground(), on_the_ground()
    x = sim.state.to_array()
    state = xs.State.from_array(x)
    sim.state = state
    x[:] = 0
    assert sim.state == state == twin.state


@pytest.mark.parametrize("name", ["t", "q", "mode", "layout", "active", "colour"])
def test_a_state_does_not_change(name):
    state, before = on_the_ground().state, on_the_ground().state
    with pytest.raises(AttributeError, match=rf"state\.replace\({name}=\.\.\.\) gives a new one"):
        setattr(state, name, 0)
    assert state == before


def test_a_field_that_a_state_has_not_is_told_the_choices():
    state = on_the_ground().state
    for name in ("p0", "active", "slipping", "Q"):
        refused(xs.InvalidArgument, functools.partial(state.replace, **{name: 0}), repr(name), "'stretch'")


# States as flat arrays.


def test_a_state_survives_an_array_bit_for_bit():
    sim, twin = on_the_ground(), on_the_ground()
    state = sim.state
    x = state.to_array()
    again = xs.State.from_array(x)
    assert again == state
    assert x.tobytes() == again.to_array().tobytes()
    for name in ("t", "q", "v", "surface", "mode", "phi0", "stretch", "active", "slipping"):
        one, other = np.asarray(getattr(again, name)), np.asarray(getattr(state, name))
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes()), name
    sim.reset()
    sim.state = again
    for each in (sim, twin):
        each.step(n=20)
    assert sim.state.to_array().tobytes() == twin.state.to_array().tobytes()


def test_a_state_survives_a_pickle_bit_for_bit():
    state = on_the_ground().state
    again = pickle.loads(pickle.dumps(state))
    assert again == state
    assert again.to_array().tobytes() == state.to_array().tobytes()
    assert not again.q.flags.writeable


def test_a_state_without_contacts_survives_an_array():
    state = xs.Simulator(solo12()).state
    assert xs.State.from_array(state.to_array()) == state
    assert state.stretch.shape == (0, 3)


def with_number(k, value):
    """A good array with one bad number."""
    x = on_the_ground().state.to_array()
    x[k] = value
    return x


def test_an_array_holds_what_it_says_where_it_says():
    state = on_the_ground().state
    x = state.to_array()
    assert x[0] == state.t
    assert_array_equal(x[1:20], state.q)
    assert_array_equal(x[20:38], state.v)
    memory = x[38:-2].reshape(4, 6)
    for name, columns in (("surface", 0), ("mode", 1), ("phi0", 2), ("stretch", slice(3, 6))):
        assert_array_equal(memory[:, columns], getattr(state, name), err_msg=name)
    assert_array_equal(x[-2:], [19, 18])


NONSENSE = {
    "none": lambda: None,
    "text": lambda: "state",
    "empty": lambda: [],
    "a number": lambda: 1.0,
    "three numbers": lambda: np.zeros(3),
    "zeros": lambda: np.zeros(64),
    "ones": lambda: np.ones(64),
    "ragged": lambda: RAGGED,
    "huge": lambda: [HUGE] * 64,
    "complex": lambda: with_number(0, 0.0) + 1j,
    "a matrix": lambda: with_number(0, 0.0)[None],
    "one short": lambda: with_number(0, 0.0)[1:],
    "one long": lambda: np.append(with_number(0, 0.0), 18.0),
    "a contact short": lambda: np.delete(with_number(0, 0.0), range(38, 43)),
    "nan in t": lambda: with_number(0, NAN),
    "inf in q": lambda: with_number(3, INF),
    "nan in v": lambda: with_number(25, NAN),
    "nan in surface": lambda: with_number(38, NAN),
    "half a surface": lambda: with_number(38, 0.5),
    "nan in mode": lambda: with_number(39, NAN),
    "half a mode": lambda: with_number(39, 1.5),
    "a mode too high": lambda: with_number(39, 5.0),
    "a negative mode": lambda: with_number(39, -1.0),
    "inf in phi0": lambda: with_number(40, INF),
    "nan in stretch": lambda: with_number(43, NAN),
    "nq nan": lambda: with_number(-2, NAN),
    "nq inf": lambda: with_number(-2, INF),
    "nq half": lambda: with_number(-2, 19.5),
    "nq negative": lambda: with_number(-2, -1.0),
    "nq too high": lambda: with_number(-2, 1000.0),
    "nv half": lambda: with_number(-1, 18.5),
    "nv negative": lambda: with_number(-1, -5.0),
    "nv off by one": lambda: with_number(-1, 17.0),
}


@pytest.mark.parametrize("what", NONSENSE)
def test_an_array_that_is_no_state_is_refused(what):
    not_finite = any(word in what.split() for word in ("nan", "inf"))
    words = ("array must be finite; entry",) if not_finite else ("give",)
    refused(xs.InvalidArgument, lambda: xs.State.from_array(NONSENSE[what]()), *words)


def test_an_array_of_a_state_that_no_robot_has_is_a_mismatch():
    nothing = xs.State.from_array(np.zeros(63))  # no q, no v, ten open contacts
    refused_untouched(xs.StateMismatch, put(nothing), "(0, 0)", "10 contacts", "same robot and ground")


# Displacements between states.


def test_a_difference_leads_from_one_state_to_the_other():
    sim = on_the_ground()
    start = sim.state
    sim.step(n=3)
    end = sim.state
    dx = sim.difference(start, end)
    assert dx.shape == (2 * 18 + 3 * 4,)
    assert dx.any()
    moved = sim.integrate(start, dx)
    np.testing.assert_allclose(moved.q, end.q, atol=1e-14)
    np.testing.assert_allclose(moved.v, end.v, atol=1e-14)
    both = start.active & end.active
    np.testing.assert_allclose(moved.stretch[both], end.stretch[both], atol=1e-18)
    assert_array_equal(sim.difference(end, end), np.zeros(48))
    assert_array_equal(sim.integrate(end, np.zeros(48)).to_array(), end.to_array())
    assert sim.state == end


@pytest.mark.parametrize("dx", [np.zeros(47), np.zeros((48, 1)), np.full(48, NAN), None, "far"], ids=short)
def test_a_displacement_that_is_none_is_refused(dx):
    refused_untouched(xs.InvalidArgument, lambda sim: sim.integrate(sim.state, dx), "dx")


def test_displacements_of_another_robot_s_states_are_refused():
    other = anymal_on_two_planes().state
    for act in (
        lambda sim: sim.integrate(other, np.zeros(48)),
        lambda sim: sim.difference(other, sim.state),
        lambda sim: sim.difference(sim.state, other),
    ):
        refused_untouched(xs.StateMismatch, act, "same robot and ground")


# Afterwards.

MISTAKES = {
    "q": lambda sim: sim.reset(np.full(19, NAN)),
    "v": lambda sim: sim.reset(None, np.zeros(2)),
    "tau": lambda sim: sim.step(np.full(18, INF)),
    "wrenches": lambda sim: sim.step(wrenches={"nowhere": np.zeros(6)}),
    "n": lambda sim: sim.step(n=1.5),
    "state": lambda sim: setattr(sim, "state", None),
    "state of another robot": lambda sim: setattr(sim, "state", anymal_on_two_planes().state),
}
every_mistake = pytest.mark.parametrize("mistake", MISTAKES)


@every_mistake
def test_contacts_are_still_readable_after_a_mistake(mistake):
    sim, twin = on_the_ground(), on_the_ground()
    with pytest.raises(xs.ExposimError):
        MISTAKES[mistake](sim)
    for contact, other in zip(sim.contacts, twin.contacts, strict=True):
        for field in dataclasses.fields(contact):
            assert_array_equal(getattr(contact, field.name), getattr(other, field.name), err_msg=field.name)


@every_mistake
def test_info_is_still_readable_after_a_mistake(mistake):
    sim, twin = on_the_ground(), on_the_ground()
    with pytest.raises(xs.ExposimError):
        MISTAKES[mistake](sim)
    for field in dataclasses.fields(sim.info):
        assert_array_equal(getattr(sim.info, field.name), getattr(twin.info, field.name), err_msg=field.name)


@every_mistake
def test_time_goes_on_after_a_mistake(mistake):
    sim, twin = on_the_ground(), on_the_ground()
    for _ in range(5):
        with pytest.raises(xs.ExposimError):
            MISTAKES[mistake](sim)
        sim.step()
        twin.step()
    assert (sim.t, sim.diverged) == (twin.t, False)
    assert sim.state == twin.state


@every_mistake
def test_a_mistake_is_no_divergence(mistake):
    sim = on_the_ground()
    with pytest.raises(xs.ExposimError):
        MISTAKES[mistake](sim)
    assert not sim.diverged
    assert sim.divergence is None


@every_mistake
def test_a_mistake_leaves_a_divergence_as_it_was(mistake):
    sim = xs.Simulator(solo12().replace(effort_limits=False), xs.HalfSpace(), on_divergence="stop")
    sim.step(np.full(12, 1e12))
    assert sim.diverged
    if mistake not in ("tau", "wrenches", "n"):  # steps do nothing any more
        with pytest.raises(xs.ExposimError):
            MISTAKES[mistake](sim)
    assert sim.diverged


@every_mistake
def test_an_error_is_picklable(mistake):
    with pytest.raises(xs.ExposimError) as caught:
        MISTAKES[mistake](on_the_ground())
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is type(caught.value)
    assert str(copy) == str(caught.value)


def test_an_error_can_be_caught_as_the_builtin_it_is():
    with pytest.raises(ValueError, match="tau"):
        on_the_ground().step(np.zeros(3))
    with pytest.raises(LookupError, match="wombat"):
        xs.load_robot("wombat")
    with pytest.raises(LookupError, match="nowhere"):
        on_the_ground().step(wrenches={"nowhere": np.zeros(6)})


def test_a_displacement_that_leads_to_no_state_is_refused():
    def act(sim):
        sim.integrate(sim.state, np.full(2 * sim.robot.nv + 3 * len(sim.contacts), 1e300))

    refused_untouched(xs.InvalidArgument, act, "dx", "no state", "1e+300")


@pytest.mark.parametrize("swapped", [False, True])
def test_no_displacement_leads_to_a_state_that_cannot_be(swapped):
    sim = on_the_ground()
    bad = sim.state.replace(surface=np.full(len(sim.contacts), 7))
    states = (bad, sim.state) if swapped else (sim.state, bad)
    refused(xs.StateMismatch, lambda: sim.difference(*states), "surfaces")
    refused(
        xs.StateMismatch, lambda: sim.integrate(bad, np.zeros(2 * sim.robot.nv + 3 * len(sim.contacts))), "surfaces"
    )
