"""Height fields and ready-made ground: what they are, refuse, and survive."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from bad_input import INF, NAN, RAGGED, few, not_positive, refused, short
from exposim.simulation import records

BAD_HEIGHTS = [5.0, [1.0, 2.0], np.zeros((1, 5)), np.zeros((5, 1)), np.zeros((2, 2, 2)), RAGGED, "abc", None]


@pytest.mark.parametrize("value", BAD_HEIGHTS, ids=short)
def test_heights_that_are_no_grid_are_refused(value):
    refused(xs.InvalidArgument, lambda: xs.HeightField(value), "heights")


@pytest.mark.parametrize("value", [NAN, INF])
def test_a_height_that_is_no_number_is_refused_by_its_place(value):
    heights = np.zeros((3, 4))
    heights[1, 2] = value
    refused(xs.InvalidArgument, lambda: xs.HeightField(heights), "heights must be finite; entry 1, 2")


@few
@given(value=not_positive)
def test_a_spacing_that_is_not_above_zero_is_refused(value):
    refused(xs.InvalidArgument, lambda: xs.HeightField(np.zeros((2, 2)), value), "spacing is", "above 0 [m]")


def test_an_origin_that_is_no_place_is_refused():
    refused(xs.InvalidArgument, lambda: xs.HeightField(np.zeros((2, 2)), origin=(0, 0, 0)), "origin has 3 entries")


def test_height_fields_are_values():
    heights = np.arange(6.0).reshape(2, 3)
    one, same = xs.HeightField(heights), xs.HeightField(heights.tolist(), 0.05, (0, 0))
    assert one == same
    assert hash(one) == hash(same)
    assert one != xs.HeightField(heights, 0.06)
    assert one != xs.HeightField(heights + 1.0)
    assert one != xs.HeightField(heights.reshape(3, 2))
    assert one != "HeightField"
    assert "2 x 3 heights from 0 to 5 m" in repr(one)
    with pytest.raises(ValueError, match="read-only"):
        one.heights[0, 0] = 1.0
    heights[0, 0] = 7.0
    assert one == same


GROUND = {
    "height field": xs.HeightField(np.arange(6.0).reshape(2, 3) / 7.0, 0.1, (0.3, -0.2)),
    "stairs": xs.terrain.stairs(heading=0.3, down=True),
    "slopes": xs.terrain.slopes([5.0, 0.0, -20.0], [1.0, 0.5, 2.0]),
    "rough": xs.terrain.rough((2.0, 3.0), 0.04, seed=3),
}


@pytest.mark.parametrize("name", GROUND)
def test_ground_survives_files_and_pickling(name):
    one = GROUND[name]
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (20, 3))
    expected = one.distance(points)
    for again in (records.build(json.loads(json.dumps(records.describe(one)))), pickle.loads(pickle.dumps(one))):
        assert again == one
        assert hash(again) == hash(one)
        assert_array_equal(again.distance(points), expected)


@pytest.mark.parametrize("name", ["height field", "stairs"])
def test_a_run_on_terrain_is_read_again_from_its_file(name, tmp_path):
    scenario = xs.scenarios.get("drop").replace(ground=GROUND[name], duration=0.02)
    trajectory = scenario.run()
    assert xs.Trajectory.load(trajectory.save(tmp_path / "drop.npz")).settings.ground == (GROUND[name],)


def on_ground(surface, x, y=0.0):
    """Height of what one falls on from above."""
    z = 5.0
    for _ in range(200):
        z -= float(surface.distance(np.array([[x, y, z]]))[0])
    return z


def test_stairs_are_as_high_as_their_steps():
    stairs = xs.terrain.stairs(rise=0.1, run=0.3, steps=3, position=(1.0, 0.0, 0.2))
    assert_allclose(on_ground(stairs, 0.5), 0.2, atol=1e-9)
    for k in range(3):
        assert_allclose(on_ground(stairs, 1.15 + 0.3 * k, y=4.0), 0.3 + 0.1 * k, atol=1e-9)
    assert_allclose(on_ground(stairs, 9.0), 0.5, atol=1e-9)


def test_stairs_lead_down_again_after_their_landing():
    stairs = xs.terrain.stairs(rise=0.1, run=0.3, steps=3, down=True, landing=0.8)
    assert_allclose(on_ground(stairs, 0.6 + 0.4), 0.3, atol=1e-9)
    assert_allclose(on_ground(stairs, 0.6 + 0.8 + 0.15), 0.2, atol=1e-9)
    assert_allclose(on_ground(stairs, 0.6 + 0.8 + 0.45), 0.1, atol=1e-9)
    assert_allclose(on_ground(stairs, 3.0), 0.0, atol=1e-9)
    assert xs.terrain.stairs(rise=-0.1, steps=2).corners == ((0.0, 0.0), (0.0, -0.1), (0.3, -0.1), (0.3, -0.2))


def test_stairs_lead_where_they_head():
    stairs = xs.terrain.stairs(rise=0.1, run=0.3, steps=1, heading=np.pi / 2)
    assert_allclose(on_ground(stairs, 5.0, y=0.2), 0.1, atol=1e-9)
    assert_allclose(on_ground(stairs, 5.0, y=-0.2), 0.0, atol=1e-9)


def test_slopes_have_their_angles():
    slopes = xs.terrain.slopes([30.0, 0.0, -30.0], [1.0, 0.5, 1.0])._build()
    for x, angle in ((-1.0, 0), (0.5, 30), (1.25, 0), (2.0, -30), (3.0, 0)):
        tilt = np.radians(angle)
        top = np.interp(x, [0.0, 1.0, 1.5, 2.5], np.array([0.0, 1.0, 1.0, 0.0]) * np.tan(np.pi / 6))
        p = np.array([x, 0.0, top])
        assert_allclose(slopes.normal(p), [-np.sin(tilt), 0.0, np.cos(tilt)], atol=1e-12)
        assert_allclose(slopes.distance(p), 0.0, atol=1e-12)


def test_rough_ground_is_as_rough_as_asked_and_the_same_for_a_seed():
    one = xs.terrain.rough(3.0, 0.05, seed=1, centre=(1.0, 2.0))
    assert one == xs.terrain.rough(3.0, 0.05, seed=1, centre=(1.0, 2.0))
    assert one != xs.terrain.rough(3.0, 0.05, seed=2, centre=(1.0, 2.0))
    heights = np.asarray(one.heights)
    assert_allclose(np.abs(heights).max(), 0.05)
    assert heights.std() > 0.005
    assert heights.shape == (61, 61)
    assert one.origin == (-0.5, 0.5)
    border = np.concatenate([heights[0], heights[-1], heights[:, 0], heights[:, -1]])
    assert not border.any()
    rough = np.abs(np.diff(heights, n=2, axis=0)).max()  # of the shortest waves: a (k h)²
    assert rough < 2.0 * 0.05 * (2 * np.pi * 0.05 / 0.4) ** 2


def test_stepping_stones_are_boxes_side_by_side():
    stones = xs.terrain.stepping_stones(3, rows=2, gap=0.1, size=(0.3, 0.2, 0.1), position=(1.0, 0.0, 0.5))
    assert len(stones) == 6
    assert all(isinstance(stone, xs.Box) for stone in stones)
    assert_allclose(stones[0].position, (1.15, -0.15, 0.45))
    assert_allclose(stones[-1].position, (1.95, 0.15, 0.45))
    uneven = xs.terrain.stepping_stones(20, jitter=0.02, seed=4)
    assert 0.01 < np.ptp([stone.position[2] for stone in uneven]) <= 0.04


BAD_TERRAIN = {
    "rise": lambda: xs.terrain.stairs(rise=0.0),
    "run": lambda: xs.terrain.stairs(run=-0.1),
    "steps": lambda: xs.terrain.stairs(steps=0),
    "rounding": lambda: xs.terrain.stairs(rounding=0.07),
    "down": lambda: xs.terrain.stairs(down="yes"),
    "landing": lambda: xs.terrain.stairs(down=True, landing=0.0),
    "heading": lambda: xs.terrain.stairs(heading=NAN),
    "position": lambda: xs.terrain.stairs(position=(0.0, 0.0)),
    "material": lambda: xs.terrain.stairs(material="rubber"),
    "angles": lambda: xs.terrain.slopes([95.0]),
    "lengths": lambda: xs.terrain.slopes([5.0, 6.0], [1.0]),
    "size": lambda: xs.terrain.rough(0.1, 0.05),
    "amplitude": lambda: xs.terrain.rough(4.0, -0.1),
    "wavelength": lambda: xs.terrain.rough(4.0, 0.1, wavelength=0.01),
    "seed": lambda: xs.terrain.rough(4.0, 0.1, seed=-1),
    "centre": lambda: xs.terrain.rough(4.0, 0.1, centre=(0.0,)),
    "count": lambda: xs.terrain.stepping_stones(0),
    "gap": lambda: xs.terrain.stepping_stones(gap=-0.1),
    "rows": lambda: xs.terrain.stepping_stones(rows=1.5),
    "jitter": lambda: xs.terrain.stepping_stones(jitter=INF),
    "corners": lambda: xs.terrain.Profile([(0.0, 0.0), (-0.1, 0.0)]),
    "turns back": lambda: xs.terrain.Profile([(0.0, 0.0), (0.0, 1.0), (0.0, 0.5)]),
    "corners has shape": lambda: xs.terrain.Profile([0.0, 0.0]),
}


@pytest.mark.parametrize("word", BAD_TERRAIN)
def test_terrain_that_cannot_be_is_refused(word):
    refused(xs.InvalidArgument, BAD_TERRAIN[word], word, "give" if word != "corners" and "turn" not in word else "")
