"""Loops as values: what they take, what is refused, and what is said of those that are open."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import exposim as xs
from bad_input import refused, short
from linkages import four_bar

ENDS = ("coupler_end", "rocker_end")


def linkage(**loop):
    return four_bar().robot(**loop)


def test_a_robot_has_the_loops_it_is_given():
    robot = linkage()
    assert robot.loops == (xs.Loop(*ENDS),)
    assert robot.replace(name="other").loops == robot.loops
    assert robot.replace(loops=[]).loops == ()
    stiffer = xs.Loop(*ENDS, stiffness=1e7, damping=10.0)
    assert robot.replace(loops=[stiffer]).loops == (stiffer,)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda robot: pickle.loads(pickle.dumps(robot))])
def test_copies_have_them_too(copied):
    robot = copied(linkage(stiffness=1e5))
    assert robot.loops == (xs.Loop(*ENDS, stiffness=1e5),)
    one, other = xs.Simulator(robot), xs.Simulator(linkage(stiffness=1e5))
    one.step(n=10)
    other.step(n=10)
    assert_array_equal(one.q, other.q)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"frame_a": ""}, ("frame_a", "name of a frame")),
        ({"frame_b": None}, ("frame_b", "None")),
        ({"stiffness": 0.0}, ("stiffness", "above 0", "[N/m]")),
        ({"stiffness": np.inf}, ("stiffness", "inf", "finite")),
        ({"stiffness": None}, ("stiffness", "None")),
        ({"damping": -1.0}, ("damping", "-1.0", "[N·s/m]")),
        ({"axes": "rotation"}, ("axes", "'rotation'", "'position', 'pose'")),
        ({"angular_stiffness": 1.0}, ("angular_stiffness", "axes='pose'")),
        ({"angular_damping": 1.0}, ("angular_damping", "axes='pose'")),
        ({"axes": "pose", "angular_stiffness": 0.0}, ("angular_stiffness", "[N·m/rad]")),
        ({"axes": "pose", "angular_damping": np.nan}, ("angular_damping", "nan")),
    ],
    ids=short,
)
def test_bad_loops_are_refused(fields, words):
    refused(xs.InvalidArgument, lambda: xs.Loop(**{"frame_a": "a", "frame_b": "b"} | fields), *words)


def test_loops_between_frames_that_are_not_there_are_refused():
    robot = linkage()
    act = lambda: robot.replace(loops=[xs.Loop("coupler_end", "rocker_ent")])  # noqa: E731
    refused(xs.UnknownFrame, act, "'rocker_ent'", "did you mean 'rocker_end'")


def test_loops_within_one_body_are_refused():
    robot = xs.load_robot("go2")
    same = [("base", "base"), ("base", "root_joint"), ("universe", "universe")]
    for ends in same:
        act = lambda ends=ends: robot.replace(loops=[xs.Loop(*ends)])  # noqa: E731
        refused(xs.InvalidArgument, act, *map(repr, ends), "same body")


@pytest.mark.parametrize("loops", [5, "loop", xs.Loop(*ENDS), [("coupler_end", "rocker_end")]], ids=short)
def test_what_are_no_loops_is_refused(loops):
    refused(xs.InvalidArgument, lambda: linkage().replace(loops=loops), "loops", "exposim.Loop")


def warning_of(act):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return [str(each.message) for each in caught if each.category is xs.SetupWarning]


def test_a_loop_that_is_open_at_the_start_is_told_of_once():
    robot = linkage()
    sim = xs.Simulator(robot)
    assert warning_of(sim.reset) == []
    opened = robot.q0 + np.array([0.1, 0.0, 0.0])
    (told,) = warning_of(lambda: sim.reset(opened))
    for word in ("'coupler_end'", "'rocker_end'", " mm away", " N", "closes the loops"):
        assert word in told
    assert warning_of(lambda: sim.reset(opened)) == []


def test_a_weld_that_is_turned_at_the_start_is_told_of():
    box = xs.rigid_body("box", xs.Box(size=(0.2, 0.1, 0.1)), mass=1.0)
    poses = {"a": [0, 0, 1, 0, 0, 0, 1], "b": [0, 0, 1, 0, 0, np.sin(0.1), np.cos(0.1)]}
    held = xs.combine(a=box, b=box, poses=poses).replace(loops=[xs.Loop("a/box", "b/box", axes="pose")])
    (told,) = warning_of(xs.Simulator(held).reset)
    assert "0.2 rad away" in told
    tied = held.replace(loops=[xs.Loop("a/box", "b/box")])
    assert warning_of(xs.Simulator(tied).reset) == []


def test_states_and_contacts_are_those_of_the_robot_without_loops():
    with_loop, without = xs.Simulator(linkage()), xs.Simulator(linkage().replace(loops=[]))
    assert with_loop.state.layout == without.state.layout
    assert len(with_loop.contacts) == 0
    with_loop.step(n=20)
    state = with_loop.state
    with_loop.step(n=20)
    q = with_loop.q
    with_loop.state = state
    with_loop.step(n=20)
    assert_array_equal(with_loop.q, q)


def test_loops_of_members_stay_theirs():
    robot = linkage(stiffness=1e5)
    both = xs.combine(one=robot, two=robot, poses={"two": [0.0, 1.0, 0.0, 0, 0, 0, 1]})
    assert both.loops == tuple(xs.Loop(f"{m}/coupler_end", f"{m}/rocker_end", stiffness=1e5) for m in ("one", "two"))
    alone, together = xs.Simulator(robot), xs.Simulator(both)
    alone.step(n=100)
    together.step(n=100)
    for name in ("one", "two"):
        np.testing.assert_allclose(together.q[both.part(name).q], alone.q, atol=1e-10)
