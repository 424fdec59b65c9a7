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
    "v inf": ({"v": np.full(18, INF)}, "state.v"),
    "v long": ({"v": np.zeros(19)}, "state"),
    "v none": ({"v": None}, "state"),
    "v complex": ({"v": np.zeros(18) + 1j}, "state.v"),
    "active short": ({"active": np.ones(3, bool)}, "state"),
    "active column": ({"active": np.ones((4, 1), bool)}, "state"),
    "active text": ({"active": "yes!"}, "state"),
    "active none": ({"active": None}, "state"),
    "active nan": ({"active": np.full(4, NAN)}, "state"),
    "slipping ragged": ({"slipping": [[1], [0, 1], 0, 1]}, "state"),
    "slipping long": ({"slipping": np.ones(5, bool)}, "state"),
    "p0 nan": ({"p0": np.full((4, 3), NAN)}, "state.p0"),
    "p0 two columns": ({"p0": np.zeros((4, 2))}, "state.p0"),
    "p0 flat": ({"p0": np.zeros(12)}, "state"),
    "p0 none": ({"p0": None}, "state"),
    "dp0 inf": ({"dp0": np.full((4, 3), INF)}, "state.dp0"),
    "dp0 transposed": ({"dp0": np.zeros((3, 4))}, "state"),
    "dp0 text": ({"dp0": [["a", "b", "c"]] * 4}, "state.dp0"),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_a_tampered_state_is_refused(how):
    changes, word = TAMPERED[how]
    state = dataclasses.replace(on_the_ground().state, **changes)
    refused_untouched(xs.ExposimError, put(state), word)


def test_a_tampered_state_of_the_wrong_size_is_a_mismatch():
    state = dataclasses.replace(on_the_ground().state, v=np.zeros(5))
    refused_untouched(xs.StateMismatch, put(state), "(19, 5)", "(19, 18)")


def test_the_arrays_of_a_state_are_no_views_of_the_simulator():
    sim, twin = on_the_ground(), on_the_ground()
    state = sim.state
    for array in (state.q, state.v, state.active, state.slipping, state.p0, state.dp0):
        array[:] = 0
    assert sim.state == twin.state


def test_a_state_that_was_tampered_with_does_not_change_the_simulator_it_was_put_in():
    sim, twin = on_the_ground(), on_the_ground()
    state = sim.state
    sim.state = state
    state.q[:] = 0
    assert sim.state == twin.state


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
    sim = xs.Simulator(solo12(), xs.HalfSpace(), on_divergence="stop")
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
