"""What every surface promises: a distance of slope one, its gradient, its curvature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import exposim as xs


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


SURFACES = {
    "half-space": xs.HalfSpace(point=(0.1, 0.2, 0.3), normal=(0.1, -0.2, 1.0)),
    "ball": Ball(0.7, (0.1, 0.0, -0.7)),
    "bowl": Bowl(2.0, (0.0, 0.1, 2.0)),
}
every_surface = pytest.mark.parametrize("surface", SURFACES.values(), ids=SURFACES)


def near(count=20):
    return 0.1 * np.random.default_rng(5).standard_normal((count, 3))


@every_surface
def test_the_normal_is_the_gradient_of_the_distance(surface):
    core = surface._build()
    h = 1e-6
    for p in near():
        gradient = [(core.distance(p + h * e) - core.distance(p - h * e)) / (2 * h) for e in np.eye(3)]
        assert_allclose(core.normal(p), gradient, atol=1e-8)
        assert_allclose(np.linalg.norm(core.normal(p)), 1.0, atol=1e-12)


@every_surface
def test_the_curvature_is_the_gradient_of_the_normal(surface):
    core = surface._build()
    h = 1e-5
    for p in near():
        gradient = np.array([(core.normal(p + h * e) - core.normal(p - h * e)) / (2 * h) for e in np.eye(3)])
        assert_allclose(core.curvature(p), gradient, atol=1e-6)
        assert_allclose(core.curvature(p) @ core.normal(p), 0.0, atol=1e-6)  # the distance grows evenly


@every_surface
def test_a_point_put_in_by_a_depth_is_pushed_out_along_the_normal(surface):
    model_point = np.array([0.01, 0.02, 0.03])
    core = surface._build()
    p = model_point - (core.distance(model_point) + 1e-4) * core.normal(model_point)
    assert_allclose(core.distance(p), -1e-4, atol=1e-12)
