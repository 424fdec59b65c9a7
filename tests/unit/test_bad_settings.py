"""Bad steps, materials, surfaces, contact points, frames and properties of robots are refused."""

import contextlib
import functools

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

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

# dt and n.

negative = st.floats(max_value=-1e-300) | st.sampled_from([NAN, INF, -INF, -5e-324, -1, -HUGE, HUGE])
NOT_NUMBERS = ["5e-3", "abc", b"1", None, object(), [], [1e-3], (), {}, 1j, np.array([1e-3]), np.zeros(3), RAGGED]
NOT_NUMBERS_BUT_NONE = [value for value in NOT_NUMBERS if value is not None]


@few
@given(dt=not_positive)
def test_a_dt_that_is_not_above_zero_is_refused(dt):
    refused(xs.InvalidArgument, lambda: xs.Simulator(solo12(), dt=dt), "dt is", "finite number of at least 1e-12 [s]")


@pytest.mark.parametrize("dt", NOT_NUMBERS, ids=short)
def test_a_dt_that_is_no_number_is_refused(dt):
    refused(xs.InvalidArgument, lambda: xs.Simulator(solo12(), dt=dt), "dt is", "give a")


def test_the_message_of_a_bad_dt_has_the_value():
    refused(xs.InvalidArgument, lambda: xs.Simulator(solo12(), dt=-0.005), "-0.005")


@pytest.mark.parametrize("n", [0, -1, -(10**9), 1.5, 1.0, False, None, "3", [1], np.ones(1), NAN, INF, 1j], ids=short)
def test_a_number_of_steps_that_is_not_a_whole_number_above_zero_is_refused(n):
    refused_untouched(xs.InvalidArgument, lambda sim: sim.step(n=n), "n is", repr(n), "whole number")


@pytest.mark.parametrize("n", [2**63, 2**200])
def test_a_number_of_steps_beyond_all_reason_is_refused(n):
    refused_untouched(xs.InvalidArgument, lambda sim: sim.step(n=n), "n is", n)


@few
@given(n=st.integers(max_value=0))
def test_no_steps_or_less_are_refused(n):
    refused_untouched(xs.InvalidArgument, lambda sim: sim.step(np.zeros(18), n=n), "n is", n)


def test_a_number_of_steps_may_be_a_numpy_integer():
    sim = on_the_ground()
    t = sim.t
    sim.step(n=np.int64(2))
    assert_allclose(sim.t, t + 2 * sim.dt, rtol=1e-14)


def test_a_bad_n_is_refused_beside_a_bad_tau():
    refused_untouched(xs.InvalidArgument, lambda sim: sim.step("abc", n=-1))


# Materials and surfaces.


@few
@given(value=not_positive)
def test_a_stiffness_that_is_not_above_zero_is_refused(value):
    refused(xs.InvalidArgument, lambda: xs.Material(stiffness=value), "stiffness is", "above 0 [N/m]")


@few
@given(value=not_positive, normal=st.booleans())
def test_half_a_stiffness_that_is_not_above_zero_is_refused(value, normal):
    pair = (value, 1e5) if normal else (1e5, value)
    refused(xs.InvalidArgument, lambda: xs.Material(stiffness=pair), "stiffness is", "above 0 [N/m]")


@few
@given(value=negative)
def test_a_negative_damping_is_refused(value):
    refused(xs.InvalidArgument, lambda: xs.Material(damping=value), "damping is", "at least 0 [N·s/m]")


@few
@given(value=negative, normal=st.booleans())
def test_half_a_negative_damping_is_refused(value, normal):
    pair = (value, 300.0) if normal else (300.0, value)
    refused(xs.InvalidArgument, lambda: xs.Material(damping=pair), "damping is", "at least 0 [N·s/m]")


@few
@given(value=negative)
def test_a_negative_friction_is_refused(value):
    refused(xs.InvalidArgument, lambda: xs.Material(friction=value), "friction is", "at least 0")


@pytest.mark.parametrize("name", ["stiffness", "damping", "friction"])
def test_the_message_of_a_bad_material_has_the_value(name):
    refused(xs.InvalidArgument, lambda: xs.Material(**{name: -2.5}), f"{name} is -2.5")


@pytest.mark.parametrize("name", ["stiffness", "damping", "friction"])
@pytest.mark.parametrize("value", NOT_NUMBERS, ids=short)
def test_a_material_of_what_is_no_number_is_refused(name, value):
    refused(xs.InvalidArgument, lambda: xs.Material(**{name: value}), f"{name} is", "give")


@pytest.mark.parametrize("name", ["stiffness", "damping"])
@pytest.mark.parametrize("value", [(1.0,), (1.0, 2.0, 3.0), np.ones((2, 1)), ((1.0, 2.0), 3.0)], ids=short)
def test_a_pair_of_the_wrong_size_is_refused(name, value):
    refused(xs.InvalidArgument, lambda: xs.Material(**{name: value}), f"{name} is", "(normal, tangential)")


@pytest.mark.parametrize("value", [(1.0, "2.0"), ("1.0", 2.0), (1.0, None), (1.0, 1j)], ids=short)
@pytest.mark.parametrize("name", ["stiffness", "damping"])
def test_a_pair_with_what_is_no_number_is_refused(name, value):
    refused(xs.InvalidArgument, lambda: xs.Material(**{name: value}), f"{name} is", "give")


@pytest.mark.parametrize("as_type", [list, np.array])
def test_changing_the_pair_afterwards_does_not_change_the_material(as_type):
    pair = as_type([1e5, 1e5])
    material = xs.Material(stiffness=pair)
    pair[0] = -1.0
    assert tuple(material.stiffness) == (1e5, 1e5)


@pytest.mark.parametrize("as_type", [list, np.array])
def test_a_material_of_any_pair_is_the_one_of_the_tuple(as_type):
    assert xs.Material(as_type([1e5, 1e4]), as_type([3e2, 2e2])) == xs.Material((1e5, 1e4), (3e2, 2e2))


@pytest.mark.parametrize("as_type", [np.array, np.float32, np.float64, int])
def test_a_number_may_be_of_any_numeric_type(as_type):
    material = xs.Material(stiffness=as_type(1000), damping=as_type(10), friction=as_type(1))
    sim = xs.Simulator(solo12(), xs.HalfSpace(material), dt=as_type(1))
    assert (material, sim.dt) == (xs.Material(1000.0, 10.0, 1.0), 1.0)


def test_a_friction_has_no_second_direction():
    refused(
        xs.InvalidArgument, lambda: xs.Material(friction=(0.5, 0.6)), "friction is (0.5, 0.6)", "number of at least 0"
    )


@pytest.mark.parametrize("normal", [(0, 0, 0), (0.0, -0.0, 0.0), np.zeros(3), [0, 0, 0]], ids=short)
def test_a_zero_normal_is_refused(normal):
    refused(xs.InvalidArgument, lambda: xs.HalfSpace(normal=normal), "normal is", "no direction", "(0, 0, 1)")


@few
@given(
    normal=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3).filter(any),
)
@example(normal=[0.0, 0.0, 5e-324])
@example(normal=[1.7e308, -1.7e308, 1.7e308])
def test_a_normal_of_any_other_length_is_kept_with_length_one(normal):
    kept = np.array(xs.HalfSpace(normal=tuple(normal)).normal)
    assert_allclose(np.linalg.norm(kept), 1.0, rtol=1e-15)
    assert np.all(kept * np.array(normal) >= 0), "it points the other way"


@pytest.mark.parametrize("name", ["normal", "point"])
@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_a_half_space_that_is_not_finite_is_refused(name, bad):
    refused(xs.InvalidArgument, lambda: xs.HalfSpace(**{name: (0, bad, 1)}), f"{name} must be finite", "entry 1", bad)


@pytest.mark.parametrize("name", ["normal", "point"])
@pytest.mark.parametrize(
    "value", [(0, 1), (0, 0, 0, 1), 1.0, None, "abc", "001", (), np.eye(3), RAGGED, (0, 0, 1j)], ids=short
)
def test_a_half_space_of_what_is_no_vector_is_refused(name, value):
    refused(xs.InvalidArgument, lambda: xs.HalfSpace(**{name: value}), name, "give")


@pytest.mark.parametrize("material", [None, 1e5, "rubber", xs.Material], ids=short)
def test_a_half_space_of_no_material_is_refused(material):
    refused(xs.InvalidArgument, lambda: xs.HalfSpace(material), "material is", "give an exposim.Material")


# Contact points.


@pytest.mark.parametrize("frame", [None, "", 5, b"tip", ["tip"]], ids=short)
def test_a_contact_point_without_a_frame_is_refused(frame):
    refused(xs.InvalidArgument, lambda: xs.ContactPoint(frame), "frame is", repr(frame), "give the name of a frame")


@pytest.mark.parametrize("name", ["offset", "anchor"])
@pytest.mark.parametrize("value", [(0, 1), (0, 0, 0, 1), 1.0, "abc", (), (0, NAN, 1), (0, 0, INF), RAGGED], ids=short)
def test_a_contact_point_at_what_is_no_vector_is_refused(name, value):
    refused(xs.InvalidArgument, lambda: xs.ContactPoint("tip", bilateral=True, **{name: value}), name)


@few
@given(value=negative)
def test_a_negative_radius_is_refused(value):
    refused(xs.InvalidArgument, lambda: xs.ContactPoint("tip", radius=value), "radius is", "at least 0 [m]")


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=short)
def test_a_radius_that_is_no_number_is_refused(value):
    refused(xs.InvalidArgument, lambda: xs.ContactPoint("tip", radius=value), "radius is", "number of at least 0 [m]")


@pytest.mark.parametrize("value", [1, 0, None, "yes"], ids=short)
def test_a_bilateral_that_is_neither_true_nor_false_is_refused(value):
    refused(xs.InvalidArgument, lambda: xs.ContactPoint("tip", bilateral=value), "bilateral is", "True or False")


@pytest.mark.parametrize("value", [1e5, "rubber", xs.HalfSpace()], ids=short)
def test_a_contact_point_of_no_material_is_refused(value):
    refused(xs.InvalidArgument, lambda: xs.ContactPoint("tip", material=value), "material is", "exposim.Material")


def test_an_anchor_of_a_unilateral_contact_is_refused():
    refused(xs.InvalidArgument, lambda: xs.ContactPoint("tip", anchor=(0, 0, 0)), "anchor", "bilateral=True")


def test_duplicate_contact_names_are_refused():
    points = [xs.ContactPoint("FL_FOOT"), xs.ContactPoint("FR_FOOT"), xs.ContactPoint("FL_FOOT")]
    refused(
        xs.InvalidArgument, lambda: solo12().replace(contact_points=points), "contact_points", "'FL_FOOT'", "name=..."
    )


def test_duplicate_contact_names_on_different_frames_are_refused():
    points = [xs.ContactPoint("FL_FOOT", name="toe"), xs.ContactPoint("FR_FOOT", name="toe")]
    refused(xs.InvalidArgument, lambda: xs.load_robot("solo12", contact_points=points), "contact_points", "'toe'")


@pytest.mark.parametrize(
    "points", [xs.ContactPoint("FL_FOOT"), 5, "FL_FOOT", ["FL_FOOT"], [None], [["FL_FOOT"]]], ids=short
)
@pytest.mark.parametrize("how", ["load_robot", "replace"])
def test_contact_points_that_are_none_are_refused(how, points):
    def act():
        if how == "replace":
            return solo12().replace(contact_points=points)
        return xs.load_robot("solo12", contact_points=points)

    refused(xs.InvalidArgument, act, "contact_points", "give")


# Frames.


def test_an_unknown_contact_frame_is_told_the_closest():
    points = [xs.ContactPoint("FL_FOOD")]
    refused(xs.UnknownFrame, lambda: solo12().replace(contact_points=points), "'FL_FOOD'", "'solo12'", "mean 'FL_FOOT'")


def test_an_unknown_contact_frame_is_not_called_a_foot_of_the_robot():
    points = [xs.ContactPoint("FL_FOOD")]
    message = refused(xs.UnknownFrame, lambda: solo12().replace(contact_points=points))
    assert message.count("FL_FOOD") == 1, message


def test_a_frame_in_the_wrong_case_is_told_the_right_one():
    refused(xs.UnknownFrame, lambda: xs.load_robot("solo12", contact_points=[xs.ContactPoint("fl_foot")]), "'FL_FOOT'")


def test_an_unknown_wrench_frame_is_told_the_closest():
    refused_untouched(
        xs.UnknownFrame,
        lambda sim: sim.step(wrenches={"base_lnk": np.zeros(6)}),
        "'base_lnk'",
        "'solo12'",
        "did you mean 'base_link'?",
    )


@few
@given(frame=st.text())
@example("")
@example("\0")
@example("'")
def test_any_unknown_wrench_frame_is_refused(frame):
    assume(not solo12().model.existFrame(frame))
    refused_untouched(xs.UnknownFrame, lambda sim: sim.step(wrenches={frame: np.zeros(6)}), "solo12")


@pytest.mark.parametrize("frame", [5, None, ("base_link",), b"base_link", 1.5], ids=short)
def test_a_wrench_frame_that_is_no_name_is_refused(frame):
    refused_untouched(xs.ExposimError, lambda sim: sim.step(wrenches={frame: np.zeros(6)}), repr(frame))


# Replacing.


@pytest.mark.parametrize("name", ["joint_damping", "armature"])
@few
@given(value=negative)
def test_a_negative_joint_property_is_refused(name, value):
    refused(xs.InvalidArgument, lambda: solo12().replace(**{name: value}), f"{name} is", "at least 0")


@pytest.mark.parametrize("name", ["joint_damping", "armature"])
@pytest.mark.parametrize("value", [-1.0, NAN, INF])
def test_a_negative_entry_of_a_joint_property_is_refused(name, value):
    entries = np.zeros(18)
    entries[7] = value
    refused(xs.InvalidArgument, lambda: solo12().replace(**{name: entries}), name, "7", f"{value:g}")


@pytest.mark.parametrize("name", ["joint_damping", "armature"])
@pytest.mark.parametrize("size", [0, 1, 12, 17, 19])
def test_a_joint_property_of_the_wrong_size_is_refused(name, size):
    refused(xs.InvalidArgument, lambda: solo12().replace(**{name: np.zeros(size)}), name, f"{size} entries", "give 18")


@pytest.mark.parametrize("name", ["joint_damping", "armature"])
@pytest.mark.parametrize("value", NOT_NUMBERS_BUT_NONE, ids=short)
def test_a_joint_property_that_is_no_number_is_refused(name, value):
    refused(xs.InvalidArgument, lambda: solo12().replace(**{name: value}), name, "give")


def test_an_unknown_actuated_joint_is_told_the_closest():
    act = functools.partial(solo12().replace, actuated_joints=["FL_HA"])
    refused(xs.InvalidArgument, act, "actuated_joints", "'FL_HA'", "mean 'FL_HAA'")


@pytest.mark.parametrize("value", [5, [5], [None], ["FL_HAA", "FL_HAA"]], ids=short)
def test_bad_actuated_joints_are_refused(value):
    refused(xs.InvalidArgument, lambda: solo12().replace(actuated_joints=value), "actuated_joints")


def test_a_single_actuated_joint_is_refused_whole():
    # Not letter by letter.
    act = functools.partial(solo12().replace, actuated_joints="FL_HAA")
    refused(xs.InvalidArgument, act, "actuated_joints", "'FL_HAA'")


# Simulators.


@pytest.mark.parametrize("integrator", [5, xs.Expo, object(), xs.Pade(3), xs.HalfSpace()], ids=short)
def test_an_integrator_that_is_none_is_refused(integrator):
    act = functools.partial(xs.Simulator, solo12(), integrator=integrator)
    refused(xs.InvalidArgument, act, "integrator is", "exposim.Expo()")


def test_a_step_in_the_place_of_the_integrator_is_told_where_it_belongs():
    act = functools.partial(xs.Simulator, solo12(), xs.HalfSpace(), 5e-3)
    refused(xs.InvalidArgument, act, "integrator is 0.005 (a step is dt=0.005)")


@pytest.mark.parametrize(("name", "near"), [("rk-4", "rk4"), ("implicit", "implicit-euler"), ("Expoo", "expo")])
def test_a_name_that_no_integrator_has_is_refused_with_the_nearest(name, near):
    act = functools.partial(xs.Simulator, solo12(), integrator=name)
    refused(xs.InvalidArgument, act, f"integrator is {name!r}; did you mean {near!r}?", "semi-implicit-euler, rk4")


@pytest.mark.parametrize(
    "ground",
    [5, "floor", xs.HalfSpace, xs.Material(), [xs.HalfSpace(), None], [[xs.HalfSpace()]], [5]],
    ids=short,
)
def test_a_ground_that_is_none_is_refused(ground):
    refused(xs.InvalidArgument, lambda: xs.Simulator(solo12(), ground), "ground is", "exposim.HalfSpace()")


@pytest.mark.parametrize("robot", [None, "solo12", 5, xs.Robot], ids=short)
def test_a_robot_that_is_none_is_refused(robot):
    refused(xs.InvalidArgument, lambda: xs.Simulator(robot), "robot is", "load_robot")


def test_a_model_is_no_robot():
    refused(xs.InvalidArgument, lambda: xs.Simulator(solo12().model), "robot is a Model", "load_robot")


NO_CHOICES = [None, 5, "nothing", "", ["surface"], True, np.zeros(2)]


@pytest.mark.parametrize("value", NO_CHOICES, ids=short)
def test_what_to_do_at_divergence_is_one_of_two(value):
    act = functools.partial(xs.Simulator, solo12(), on_divergence=value)
    refused(xs.InvalidArgument, act, f"on_divergence is {value!r}", "'raise', 'stop'")


@pytest.mark.parametrize(
    ("name", "choices"), [("anchor", "'surface', 'detected'"), ("projection", "'horizontal', 'orthogonal'")]
)
@pytest.mark.parametrize("value", NO_CHOICES, ids=short)
def test_an_option_of_the_paper_s_method_is_told_the_choices(name, choices, value):
    refused(xs.InvalidArgument, lambda: xs.PaperExpo(**{name: value}), f"{name} is {value!r}", choices)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kernel", "expm"),
        ("balance", False),
        ("position_update", "lam_pr"),
        ("anchor", "detected"),
        ("projection", "orthogonal"),
    ],
)
def test_options_of_the_paper_s_method_are_sent_there(name, value):
    for act in (
        functools.partial(xs.Expo, **{name: value}),
        functools.partial(xs.Simulator, solo12(), **{name: value}),
        functools.partial(xs.scenarios.get("drop").run, **{name: value}),
    ):
        refused(xs.InvalidArgument, act, f"{name} is no option of", f"exposim.PaperExpo({name}={value!r})")
    assert getattr(xs.PaperExpo(**{name: value}), name) == value


def test_averaged_transitions_are_the_paper_s_method():
    refused(xs.InvalidArgument, lambda: xs.Expo(transitions="averaged"), "transitions", "exposim.PaperExpo()")


def test_an_option_that_nobody_has_is_no_keyword():
    with pytest.raises(TypeError, match="stiffness"):
        xs.Simulator(solo12(), stiffness=1e5)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, "1", None, [0.1]])
def test_a_micro_tolerance_is_a_number_above_zero(value):
    refused(xs.InvalidArgument, lambda: xs.Expo(micro_tolerance=value), "micro_tolerance is", "above 0", "inf")


@pytest.mark.parametrize("micro_steps", [100_001, 2**31 - 1])
def test_a_step_is_not_divided_into_so_many_that_it_never_ends(micro_steps):
    refused(xs.InvalidArgument, lambda: xs.Expo(micro_steps=micro_steps), "micro_steps", micro_steps, "100000")
    element = xs.kernels.Element()
    resolve = functools.partial(xs.kernels.resolve, np.eye(3), np.zeros(3), [element], 1e-3, micro_steps)
    refused(xs.InvalidArgument, resolve, "micro_steps", micro_steps, "100000")


def test_newton_does_not_go_on_for_ever():
    refused(xs.InvalidArgument, lambda: xs.ImplicitEuler(max_iterations=2**31 - 1), "max_iterations", "10000")


def test_contact_space_is_not_followed_through_a_step_that_vanishes():
    resolve = functools.partial(xs.kernels.resolve, np.eye(3), np.zeros(3), [xs.kernels.Element()], 5e-324)
    refused(xs.InvalidArgument, resolve, "dt", "5e-324", "1e-12")


@pytest.mark.parametrize("names", [np.array(3.0), 3, "elbow", b"elbow", [["elbow"]], [np.zeros(3)]], ids=short)
def test_what_are_no_names_of_joints_is_refused(names):
    refused(xs.InvalidArgument, lambda: solo12().replace(actuated_joints=names), "actuated_joints")


@pytest.mark.parametrize("weight", [1e150, 1e250])
def test_a_task_beyond_what_a_solver_can_do_does_not_hold_up_the_controller(weight):
    robot = solo12()
    control = xs.controllers.InverseDynamics(robot, [xs.controllers.tasks.CentreOfMass([0, 0, 0.2], weight=weight)])
    with contextlib.suppress(xs.InvalidArgument):
        control(0.0, xs.Simulator(robot, xs.HalfSpace()).state)


@pytest.mark.parametrize("name", [3, np.array([]), ["toe"]], ids=short)
def test_a_name_of_a_contact_point_that_is_no_text_is_refused(name):
    refused(xs.InvalidArgument, lambda: xs.ContactPoint("FL_FOOT", name=name), "name is", "give text")


def test_gains_that_are_no_numbers_are_refused():
    refused(xs.InvalidArgument, lambda: xs.controllers.PD(solo12(), RAGGED, 0.1), "kp", "give real numbers")
