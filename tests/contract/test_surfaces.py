"""What every surface promises: a distance to the closest point, of slope one, its gradient, its curvature."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import exposim as xs
import known_surfaces


class Ball(xs.Surface):
    def __init__(self, radius, centre):
        self.radius, self.centre = radius, np.array(centre)

    def distance(self, p):
        return np.linalg.norm(p - self.centre, axis=1) - self.radius

    def normal(self, p):
        outwards = p - self.centre
        return outwards / np.linalg.norm(outwards, axis=1, keepdims=True)


class Bowl(Ball):
    """The inside of a ball."""

    def distance(self, p):
        return -super().distance(p)

    def normal(self, p):
        return -super().normal(p)


@functools.cache
def known():
    plane = xs.HalfSpace(point=(0.1, 0.2, 0.3), normal=(0.1, -0.2, 1.0))
    u = known_surfaces.directions(4000)
    along = np.linalg.svd(np.array([plane.normal]))[2][1:]
    return {
        "half-space": known_surfaces.Known(plane, plane.distance, u[:, :2] @ along + np.array(plane.point)),
        "ball": known_surfaces.Known(
            Ball(0.7, (0.1, 0.0, -0.7)), Ball(0.7, (0.1, 0.0, -0.7)).distance, 0.7 * u + np.array([0.1, 0.0, -0.7])
        ),
        "bowl": known_surfaces.Known(
            Bowl(2.0, (0.0, 0.1, 2.0)), Bowl(2.0, (0.0, 0.1, 2.0)).distance, 2.0 * u + np.array([0.0, 0.1, 2.0])
        ),
    } | known_surfaces.known_surfaces()


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


every_surface = pytest.mark.parametrize("name", list(known()))


def assert_is_the_closest_point(one, points):
    """A point of the boundary is as far away as the distance says, along the normal, and none is closer."""
    core = one.core
    phi = np.array([core.gap(p) for p in points])
    n = np.array([core.normal(p) for p in points])
    alone = np.array([core.distance(p) for p in points])
    far = phi > one.bounded
    assert_allclose(alone[~far], phi[~far], rtol=0.0, atol=one.exact)
    assert (alone[far] <= phi[far]).all()
    assert (alone[far] >= 0.5 * one.bounded).all()
    assert_allclose(np.linalg.norm(n, axis=1), 1.0, rtol=0.0, atol=1e-12)
    assert_allclose(one.level(points - phi[:, None] * n), 0.0, rtol=0.0, atol=one.exact)
    assert (np.sign(phi) == np.sign(one.level(points)))[np.abs(phi) > one.exact].all()
    for p, away in zip(points, np.abs(phi), strict=True):
        assert away <= np.linalg.norm(one.boundary - p, axis=1).min() + one.exact


@every_surface
def test_the_distance_is_that_of_the_closest_point_on_both_sides(name):
    assert_is_the_closest_point(known()[name], known()[name].points(300))


def smooth_points(one, count, h):
    """Those around which the normal turns slowly: not at edges, nor where two points are as close."""
    core = one.core
    points = one.points(count)[:count]

    def turn(p):
        around = [core.normal(p + s * 2 * h * e) for e in np.eye(3) for s in (-1, 1)]
        return max(np.linalg.norm(n - core.normal(p)) for n in around)

    kept = [p for p in points if turn(p) < 2e3 * h]
    assert len(kept) > 0.6 * count
    return kept


@every_surface
def test_the_normal_is_the_gradient_of_the_distance(name):
    one, h = known()[name], 1e-6
    core = one.core
    for p in smooth_points(one, 60, h):
        gradient = [(core.distance(p + h * e) - core.distance(p - h * e)) / (2 * h) for e in np.eye(3)]
        assert_allclose(core.normal(p), gradient, atol=1e-7 + one.rough)


@every_surface
def test_the_curvature_is_the_gradient_of_the_normal(name):
    one, h = known()[name], 1e-6
    core = one.core
    compared = 0
    for p in smooth_points(one, 60, h):
        curvature = core.curvature(p)
        sides = [[(core.normal(p + s * h * e) - core.normal(p)) / (s * h) for e in np.eye(3)] for s in (-1.0, 1.0)]
        if np.abs(np.subtract(*sides)).max() > 1e-2 * (1.0 + np.abs(curvature).max()):
            continue  # a flat part ends here, and a round one begins
        compared += 1
        assert_allclose(
            curvature, np.mean(sides, axis=0), atol=1e-4 * (1.0 + np.abs(curvature).max() ** 2) + 20.0 * one.rough
        )
        assert_allclose(curvature @ core.normal(p), 0.0, atol=1e-6 * (1.0 + np.abs(curvature).max()))
        assert_allclose(curvature, curvature.T, rtol=0.0, atol=1e-9 * (1.0 + np.abs(curvature).max()))
    assert compared > 30


@every_surface
def test_a_point_moved_along_the_normal_comes_as_close_as_that(name):
    one = known()[name]
    core = one.core
    for p in one.points(40)[:40]:
        left = np.copysign(1e-6, core.distance(p))
        moved = p - (core.distance(p) - left) * core.normal(p)
        assert_allclose(core.distance(moved), left, rtol=0.0, atol=max(1e-12, one.exact))


@every_surface
def test_all_of_the_inside_is_within_the_bounds(name):
    one = known()[name]
    centre, radius = one.core.bounds
    farthest = np.linalg.norm(one.boundary - centre, axis=1).max()
    assert farthest <= radius + 1e-12
    assert radius <= 1.1 * farthest or radius == np.inf


@every_surface
def test_many_points_at_once_are_as_each_alone(name):
    one = known()[name]
    if isinstance(one.surface, xs.HalfSpace):
        return
    points = one.points(30)
    assert_allclose(one.surface.distance(points), [one.core.distance(p) for p in points], rtol=0.0, atol=1e-15)
    assert_allclose(one.surface.normal(points), [one.core.normal(p) for p in points], rtol=0.0, atol=1e-15)


lengths = st.floats(0.01, 3.0)
shares = st.sampled_from([0.0, 1.0]) | st.floats(0.0, 1.0)
quaternions = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1)
poses = st.fixed_dictionaries(
    {
        "position": st.tuples(*[st.floats(-5.0, 5.0)] * 3),
        "rotation": quaternions.map(lambda q: tuple(np.array(q) / np.linalg.norm(q))),
    }
)
boxes = st.builds(
    lambda size, share, pose: known_surfaces.box(size, 0.5 * share * min(size), **pose),
    st.tuples(lengths, lengths, lengths),
    shares,
    poses,
)
spheres = st.builds(lambda radius, pose: known_surfaces.sphere(radius, position=pose["position"]), lengths, poses)
capsules = st.builds(
    lambda radius, length, pose: known_surfaces.capsule(radius, length, **pose), lengths, lengths, poses
)
cylinders = st.builds(
    lambda radius, length, share, pose: known_surfaces.cylinder(
        radius, length, share * min(radius, 0.5 * length), **pose
    ),
    lengths,
    lengths,
    shares,
    poses,
)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(one=boxes | spheres | capsules | cylinders, seed=st.integers(0, 1000))
def test_shapes_of_all_sizes_and_poses_know_their_closest_point(one, seed):
    assert_is_the_closest_point(one, one.points(30, seed))


PLANE = xs.HalfSpace()._build()
FLAT = {
    "box": xs.Box((100.0, 100.0, 10.0), position=(0.0, 0.0, -5.0)),
    "cylinder": xs.Cylinder(50.0, 10.0, position=(0.0, 0.0, -5.0)),
    "height field": xs.HeightField(np.zeros((5, 7)), 0.1, (-0.2, -0.3)),
    "slope of none": xs.terrain.slopes([0.0, 0.0]),
}


@pytest.mark.parametrize("name", FLAT)
def test_what_is_large_and_flat_is_a_plane(name):
    core = FLAT[name]._build()
    for p in np.random.default_rng(3).uniform(-1.0, 1.0, (200, 3)):
        assert_allclose(core.distance(p), PLANE.distance(p), rtol=0.0, atol=1e-12)
        assert_allclose(core.normal(p), PLANE.normal(p), rtol=0.0, atol=1e-12)
        assert not core.curvature(p).any()


@pytest.mark.parametrize("name", list(known()))
def test_nothing_is_ever_not_a_number(name):
    one = known()[name]
    points = np.vstack([one.special, one.surface.position if hasattr(one.surface, "position") else np.zeros(3)])
    for p in np.vstack([points, points + 1e-13, points - 1e-10, points + 1e-300]):
        n = one.core.normal(p)
        assert np.isfinite(one.core.distance(p))
        assert_allclose(np.linalg.norm(n), 1.0, rtol=0.0, atol=1e-12)
        assert np.isfinite(one.core.curvature(p)).all()


@pytest.mark.parametrize("tilt", [0.0, 0.3, 2.0])
def test_an_inclined_height_field_is_the_plane_also_beyond_its_border(tilt):
    x, y = np.arange(5)[:, None] * 0.1, np.arange(7)[None, :] * 0.1
    field = xs.HeightField(0.3 + tilt * x - 0.1 * y, 0.1, (1.0, 2.0))._build()
    plane = xs.HalfSpace(point=(1.0, 2.0, 0.3), normal=(-tilt, 0.1, 1.0))._build()
    for p in np.array([1.2, 2.3, 0.3]) + np.random.default_rng(3).uniform(-1.0, 1.0, (200, 3)):
        assert_allclose(field.distance(p), plane.distance(p), rtol=0.0, atol=1e-12)
        assert_allclose(field.normal(p), plane.normal(p), rtol=0.0, atol=1e-12)
        assert_allclose(field.curvature(p), 0.0, atol=1e-9)


def test_a_height_field_goes_through_its_heights_and_on_level():
    heights = np.random.default_rng(4).uniform(-0.1, 0.1, (6, 5))
    field = xs.HeightField(heights, 0.1, (1.0, 2.0))
    x, y = 1.0 + 0.1 * np.arange(6), 2.0 + 0.1 * np.arange(5)
    nodes = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
    assert_allclose(field.height(nodes.reshape(-1, 2)), heights.reshape(-1), rtol=0.0, atol=1e-15)
    far = np.stack([np.full(5, 50.0), y], axis=1)
    assert_allclose(field.height(far), heights[-1], rtol=0.0, atol=1e-15)
    p = np.array([50.0, 2.2, heights[-1, 2] + 1e-3])
    assert_allclose(field._build().normal(p)[0], 0.0, atol=1e-15)


def test_nothing_is_felt_along_a_tread():
    stairs = xs.terrain.stairs(rise=0.12, run=0.3, steps=8)._build()
    for k in range(8):
        for x in np.linspace(0.3 * k + 0.0101, 0.3 * (k + 1) - 0.0101, 50):
            p = np.array([x, 0.3, 0.12 * (k + 1) - 1e-4])
            assert_allclose(stairs.distance(p), -1e-4, rtol=0.0, atol=1e-12)
            assert_allclose(stairs.normal(p), [0.0, 0.0, 1.0], rtol=0.0, atol=1e-12)


@settings(deadline=None, max_examples=30, derandomize=True)
@given(
    rise=st.floats(0.02, 0.3),
    run=st.floats(0.05, 0.5),
    steps=st.integers(1, 12),
    share=shares,
    seed=st.integers(0, 1000),
)
def test_stairs_of_all_sizes_know_their_closest_point(rise, run, steps, share, seed):
    one = known_surfaces.stairs(rise, run, steps, 0.5 * share * min(rise, run))
    assert_is_the_closest_point(one, one.points(30, seed))


@settings(deadline=None, max_examples=30, derandomize=True)
@given(
    shape=st.tuples(st.integers(2, 12), st.integers(2, 12)),
    spacing=st.floats(0.01, 1.0),
    roughness=st.floats(0.0, 1.0),
    seed=st.integers(0, 1000),
)
def test_height_fields_of_all_sizes_know_their_closest_point(shape, spacing, roughness, seed):
    heights = roughness * spacing * np.random.default_rng(seed).uniform(-1.0, 1.0, shape)
    one = known_surfaces.height_field(heights, spacing, (0.3, -0.2))
    assert_is_the_closest_point(one, one.points(30, seed))
