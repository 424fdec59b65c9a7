"""Shapes are values, refuse what they cannot be, and survive files and other processes."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given

import exposim as xs
from bad_input import INF, NAN, RAGGED, few, not_positive, refused, short
from exposim.simulation import records

SHAPES = {
    "Box": lambda **given: xs.Box(**{"size": (0.4, 0.3, 0.2)} | given),
    "Sphere": lambda **given: xs.Sphere(**{"radius": 0.2} | given),
    "Capsule": lambda **given: xs.Capsule(**{"radius": 0.2, "length": 0.3} | given),
    "Cylinder": lambda **given: xs.Cylinder(**{"radius": 0.2, "length": 0.3} | given),
}
every_shape = pytest.mark.parametrize("name", SHAPES)
turned = pytest.mark.parametrize("name", [name for name in SHAPES if name != "Sphere"])
SOFT = xs.Material(stiffness=(1e4, 2e4), friction=0.3)


@few
@given(value=not_positive)
def test_lengths_that_are_not_above_zero_are_refused(value):
    refused(xs.InvalidArgument, lambda: xs.Box(size=(0.1, value, 0.1)), "size")
    for name in ("Sphere", "Capsule", "Cylinder"):
        refused(xs.InvalidArgument, lambda name=name: SHAPES[name](radius=value), "radius is", "above 0 [m]")
    refused(xs.InvalidArgument, lambda: xs.Cylinder(0.1, value), "length is", "above 0 [m]")


@pytest.mark.parametrize("value", [(1.0, 2.0), 1.0, "abc", None, RAGGED, np.ones((3, 1)), (1.0, NAN, 1.0)], ids=short)
def test_a_size_that_is_not_three_lengths_is_refused(value):
    refused(xs.InvalidArgument, lambda: xs.Box(size=value), "size")


def test_a_capsule_may_have_no_length_but_no_negative_one():
    assert xs.Capsule(0.1, 0).length == 0.0
    refused(xs.InvalidArgument, lambda: xs.Capsule(0.1, -0.1), "length is -0.1", "at least 0 [m]")


@every_shape
@pytest.mark.parametrize("value", [(0.0, 0.0), "abc", None, (0.0, 0.0, INF)], ids=short)
def test_a_position_that_is_none_is_refused(name, value):
    refused(xs.InvalidArgument, lambda: SHAPES[name](position=value), "position")


@turned
@pytest.mark.parametrize("value", [(0, 0, 0, 0), (0, 0, 0, 2), (1, 0, 0), "abc", None, (0, 0, 0, NAN)], ids=short)
def test_a_rotation_that_is_none_is_refused(name, value):
    refused(xs.InvalidArgument, lambda: SHAPES[name](rotation=value), "rotation")


@turned
def test_a_rotation_that_was_rounded_is_put_right(name):
    rotation = SHAPES[name](rotation=(0.7071, 0, 0, 0.7071)).rotation
    assert np.linalg.norm(rotation) == pytest.approx(1.0, abs=1e-15)
    assert SHAPES[name](rotation=rotation).rotation == rotation


@every_shape
@pytest.mark.parametrize("value", [5, "", b"base", ("base",)], ids=short)
def test_a_frame_that_is_no_name_is_refused(name, value):
    refused(xs.InvalidArgument, lambda: SHAPES[name](frame=value), "frame is", "or None: the world")


@every_shape
@pytest.mark.parametrize("value", ["abc", None, 1.0], ids=short)
def test_a_material_that_is_none_is_refused(name, value):
    refused(xs.InvalidArgument, lambda: SHAPES[name](material=value), "material is", "give an exposim.Material")


@pytest.mark.parametrize("name", ["Box", "Cylinder"])
@pytest.mark.parametrize("value", [-0.01, 0.151, NAN, "abc"], ids=short)
def test_a_rounding_that_is_none_is_refused(name, value):
    refused(xs.InvalidArgument, lambda: SHAPES[name](rounding=value), "rounding is", "give")


@every_shape
def test_points_of_another_shape_are_refused(name):
    for points in (np.zeros(3), np.zeros((2, 2)), [[0.0, 0.0, NAN]], "abc"):
        refused(xs.InvalidArgument, lambda p=points: SHAPES[name]().distance(p), "p ")


@every_shape
def test_shapes_are_values(name):
    one, same = SHAPES[name](position=[1, 2, 3], material=SOFT), SHAPES[name](position=(1.0, 2.0, 3.0), material=SOFT)
    assert one == same
    assert hash(one) == hash(same)
    assert one != SHAPES[name](position=(1, 2, 3))
    assert one != SHAPES[name](position=(1, 2, 3), material=SOFT, frame="base")
    assert eval(repr(one), vars(xs)) == one
    with pytest.raises(AttributeError):
        one.position = (0, 0, 0)


@every_shape
def test_shapes_survive_files_and_pickling(name):
    one = SHAPES[name](position=(0.1, 0.2, 0.3), material=SOFT, frame="crate/base")
    assert one.distance(np.zeros((1, 3))).shape == (1,)  # made in the core, which does not go along
    assert records.build(json.loads(json.dumps(records.describe(one)))) == one
    again = pickle.loads(pickle.dumps(one))
    assert again == one
    assert again.distance(np.ones((1, 3))) == one.distance(np.ones((1, 3)))


def test_a_surface_is_part_of_the_world_unless_it_has_a_frame():
    assert xs.Surface.frame is None
    assert xs.HalfSpace().frame is None
    assert xs.Box((1, 1, 1)).frame is None
    assert xs.Box((1, 1, 1), frame="crate/base").frame == "crate/base"


def test_a_run_on_shapes_is_read_again_from_its_file(tmp_path):
    ground = tuple(make(position=(5.0, 0.0, 0.0), material=SOFT) for make in SHAPES.values())
    scenario = xs.scenarios.get("drop").replace(ground=(xs.HalfSpace(), *ground), duration=0.02)
    trajectory = scenario.run()
    assert xs.Trajectory.load(trajectory.save(tmp_path / "drop.npz")).settings.ground == (xs.HalfSpace(), *ground)
