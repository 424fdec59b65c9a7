"""Surfaces of the ground that name a frame are carried by that link."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import exposim as xs

G = 9.81
SOFT = xs.Material(2e4, 200.0, 0.5)
SHELF = xs.Box(size=(0.4, 0.4, 0.2), position=(0.0, 0.0, 0.3), material=SOFT, frame="crate/crate")


class Plate(xs.Surface):
    """All that is below a height in the axes of a frame."""

    material = SOFT

    def __init__(self, height, frame):
        self.height, self.frame = height, frame

    def distance(self, p):
        return p[:, 2] - self.height

    def normal(self, p):
        return np.tile([0.0, 0.0, 1.0], (len(p), 1))


def ball_above_a_crate(**changes):
    crate = xs.rigid_body("crate", xs.Box(size=(0.4, 0.4, 0.4)), mass=5.0)
    ball = xs.rigid_body("ball", xs.Sphere(0.05), mass=0.5)
    poses = {"crate": [0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0], "ball": [0.0, 0.0, 0.7, 0.0, 0.0, 0.0, 1.0]}
    return xs.combine(crate=crate, ball=ball, poses=poses, **changes)


@pytest.mark.parametrize("surface", [SHELF, Plate(0.4, "crate/crate")], ids=["box", "python"])
def test_a_ball_lies_on_what_the_crate_carries(surface):
    sim = xs.Simulator(ball_above_a_crate(), [surface, xs.HalfSpace()], dt=5e-3)
    sim.step(n=600)
    crate, ball = sim.q[2], sim.q[9]
    assert_allclose(ball - crate, 0.4 + 0.05 - 0.5 * G / 2e4, atol=1e-7)
    assert_allclose(crate, 0.2 - 5.5 * G / 4 / 1e5, atol=1e-7)  # the ground holds both


def test_it_goes_where_its_link_goes():
    sim = xs.Simulator(ball_above_a_crate().replace(gravity=(0.0, 0.0, 0.0)), SHELF, dt=5e-3)
    v = np.zeros(12)
    v[2] = 1.0  # of the crate, up
    sim.reset(v=v)
    assert not sim.active.any()
    sim.step(n=100)
    assert sim.v[8] > 0.5  # of the ball


def test_points_of_its_own_link_and_of_links_beside_it_do_not_touch_it():
    solo = xs.load_robot("solo12")
    around = xs.Sphere(5.0, frame="FL_UPPER_LEG")
    sim = xs.Simulator(solo, around)
    touching = {contact.name for contact in sim.contacts if contact.active}
    assert touching == {"FR_FOOT", "HL_FOOT", "HR_FOOT"}


def test_a_point_with_a_material_of_its_own_keeps_it():
    ball = xs.rigid_body("ball", xs.Sphere(0.05), mass=0.5, material=xs.Material(1e3, 30.0))
    crate = xs.rigid_body("crate", xs.Box(size=(0.4, 0.4, 0.4)), mass=5.0)
    both = xs.combine(crate=crate, ball=ball, poses={"ball": [0.0, 0.0, 0.7, 0.0, 0.0, 0.0, 1.0]})
    sim = xs.Simulator(both, [xs.HalfSpace(), SHELF], dt=5e-3)
    sim.step(n=600)
    assert_allclose(sim.q[9] - sim.q[2], 0.45 - 0.5 * G / 1e3, atol=1e-6)


def test_surfaces_of_the_world_come_first_then_what_is_carried_then_shapes():
    floor, stone = xs.HalfSpace(), xs.Sphere(0.1, position=(3.0, 0.0, 0.0))
    sim = xs.Simulator(ball_above_a_crate(), [SHELF, floor, stone], collisions=[("crate", "ball")])
    assert sim.surfaces[:3] == (floor, stone, SHELF)
    assert [surface.frame for surface in sim.surfaces[3:]] == ["crate/crate", "ball/ball"]
    again = pickle.loads(pickle.dumps(sim))
    assert again.surfaces == sim.surfaces


def test_a_frame_that_is_fixed_to_the_world_carries_for_all():
    ball = xs.rigid_body("ball", xs.Sphere(0.05), mass=0.5)
    sim = xs.Simulator(ball, xs.Box(size=(1.0, 1.0, 0.2), material=SOFT, frame="universe"), dt=5e-3)
    q = sim.q
    q[2] = 0.2
    sim.reset(q)
    sim.step(n=400)
    assert_allclose(sim.q[2], 0.15 - 0.5 * G / 2e4, atol=1e-7)


@pytest.mark.parametrize(
    "surface", [xs.Sphere(0.1, frame="crate/lid"), Plate(0.0, "crate/lid")], ids=["core", "python"]
)
def test_an_unknown_frame_is_refused(surface):
    with pytest.raises(xs.UnknownFrame, match="'crate/lid' is not in robot 'crate\\+ball'"):
        xs.Simulator(ball_above_a_crate(), surface)


def test_a_frame_that_is_no_name_is_refused():
    with pytest.raises(xs.InvalidArgument, match="frame of Plate is 3; give the name of a frame"):
        xs.Simulator(ball_above_a_crate(), Plate(0.0, 3))


def test_what_is_not_of_numbers_is_refused_by_name():
    for value in (["a"], "0.1", [None], [1j]):
        plate = Plate(0.0, None)
        plate.distance = lambda p, value=value: value * len(p)
        with pytest.raises(xs.InvalidArgument, match=r"Plate.distance returned .* give \(2,\) finite numbers"):
            xs.Simulator(ball_above_a_crate(), plate)


@pytest.mark.parametrize("frame", [None, "crate/crate"])
def test_a_material_that_is_a_class_is_refused(frame):
    plate = Plate(0.0, frame)
    plate.material = xs.Material
    with pytest.raises(xs.InvalidArgument, match=r"material of Plate is <class .* for example exposim.Material\(\)"):
        xs.Simulator(ball_above_a_crate(), plate)
