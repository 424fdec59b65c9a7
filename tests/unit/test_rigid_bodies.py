"""Bodies without joints: inertia, contact points, shape."""

import json
import pickle
from itertools import product

import numpy as np
import pinocchio as pin
import pytest
import trimesh
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
import mesh_shapes
from bad_input import refused, short
from exposim.robots.shape_points import placement_of, points_of
from exposim.simulation.settings import RobotSettings

TILT = tuple(pin.Quaternion(pin.exp3(np.array([0.3, -0.5, 0.8]))).coeffs())
PLACE = (0.1, -0.2, 0.3)
SHAPES = [
    xs.Box((0.2, 0.3, 0.5), PLACE, TILT),
    xs.Sphere(0.2, PLACE),
    xs.Capsule(0.1, 0.4, PLACE, TILT),
    xs.Cylinder(0.1, 0.4, PLACE, TILT),
]
every_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)


def is_inside(shape, p):
    """Whether points in the shape's own axes are in it, (n, 3) to (n,)."""
    if isinstance(shape, xs.Box):
        return (np.abs(p) <= np.array(shape.size) / 2).all(axis=1)
    if isinstance(shape, xs.Sphere):
        return np.linalg.norm(p, axis=1) <= shape.radius
    if isinstance(shape, xs.Cylinder):
        return (np.hypot(p[:, 0], p[:, 1]) <= shape.radius) & (np.abs(p[:, 2]) <= shape.length / 2)
    beyond = np.maximum(np.abs(p[:, 2]) - shape.length / 2, 0.0)
    return np.linalg.norm(np.c_[p[:, :2], beyond], axis=1) <= shape.radius


def around(shape):
    """Edges of a box that has the shape in it."""
    if isinstance(shape, xs.Box):
        return np.array(shape.size)
    d = 2.0 * shape.radius
    height = {xs.Sphere: d, xs.Cylinder: getattr(shape, "length", 0.0), xs.Capsule: getattr(shape, "length", 0.0) + d}
    return np.array([d, d, height[type(shape)]])


def sum_of_grains(shape, mass):
    """The inertia of a body in its axes, added up from a fine grid of points in it."""
    axis = (np.arange(100) + 0.5) / 100 - 0.5
    grid = around(shape) * np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    grains = grid[is_inside(shape, grid)] @ placement_of(shape).rotation.T + np.array(shape.position)
    centre = grains.mean(axis=0)
    r = grains - centre
    inertia = mass * (np.mean(np.sum(r**2, axis=1)) * np.eye(3) - r.T @ r / len(r))
    return centre, inertia


@every_shape
def test_the_inertia_is_that_of_a_homogeneous_body(shape):
    body = xs.rigid_body("body", shape, mass=3.0)
    found = body.model.inertias[1]
    centre, inertia = sum_of_grains(shape, 3.0)
    assert found.mass == 3.0
    assert_allclose(found.lever, centre, atol=1e-12)
    assert_allclose(found.inertia, inertia, atol=2e-3 * np.abs(inertia).max())


def test_the_inertia_of_a_capsule_is_that_of_a_ball_if_it_is_short_and_of_a_rod_if_it_is_thin():
    short_one = xs.rigid_body("ball", xs.Capsule(0.3, 1e-12), 2.0).model.inertias[1].inertia
    assert_allclose(short_one, 0.4 * 2.0 * 0.09 * np.eye(3), atol=1e-9)
    thin = xs.rigid_body("rod", xs.Capsule(1e-4, 3.0), 2.0).model.inertias[1].inertia
    assert_allclose(np.diag(thin), [1.5, 1.5, 0.0], rtol=1e-3, atol=1e-6)


def test_an_inertia_of_one_s_own_is_taken_as_it_is():
    own = np.array([[0.3, 0.02, 0.0], [0.02, 0.2, 0.01], [0.0, 0.01, 0.25]])
    body = xs.rigid_body("body", SHAPES[0], 3.0, inertia=own)
    assert_allclose(body.model.inertias[1].inertia, own, atol=1e-15)
    assert_allclose(body.model.inertias[1].lever, PLACE)
    diagonal = xs.rigid_body("body", SHAPES[0], 3.0, inertia=[0.3, 0.2, 0.25])
    assert_allclose(diagonal.model.inertias[1].inertia, np.diag([0.3, 0.2, 0.25]))


def test_it_is_a_robot_with_a_free_base_and_nothing_to_drive():
    crate = xs.rigid_body("crate", xs.Box(size=(0.4, 0.4, 0.4)), mass=5.0)
    assert (crate.name, crate.nq, crate.nv) == ("crate", 7, 6)
    assert crate.actuated_joints == ()
    assert crate.free_bases == ("root_joint",)
    assert crate.has_floating_base
    assert crate.joints == {}
    assert crate.locate("crate")[0] == 1
    assert crate.members == {}
    assert [shape.frame for shape in crate.shapes] == ["crate"]
    assert_allclose(crate.q0, [0, 0, 0.2, 0, 0, 0, 1])


def ends_of(shape, points):
    """Centres of contact points in the axes of the shape."""
    place = placement_of(shape)
    return np.array([place.actInv(np.array(point.offset)) for point in points])


def test_boxes_have_their_rounded_corners_for_points():
    box = xs.Box((0.2, 0.3, 0.5), PLACE, TILT, rounding=0.01)
    points = points_of(box, "link", "box")
    assert [point.name for point in points] == [f"box_corner_{i}" for i in range(8)]
    assert {(point.frame, point.radius) for point in points} == {("link", 0.01)}
    corners = ends_of(box, points)
    assert_allclose(np.abs(corners), np.tile([0.09, 0.14, 0.24], (8, 1)))
    assert len({tuple(np.sign(corner)) for corner in corners}) == 8
    assert (corners[:4, 2] < 0.0).all()


def test_spheres_have_one_point_and_capsules_their_ends():
    (ball,) = points_of(xs.Sphere(0.2, PLACE), "link", "ball")
    assert (ball.name, ball.radius, ball.offset) == ("ball", 0.2, PLACE)
    long_one = xs.Capsule(0.1, 0.41, PLACE, TILT)
    points = points_of(long_one, "link", "limb")
    assert [point.name for point in points] == ["limb_end_0", "limb_end_1", "limb_middle"]
    assert {point.radius for point in points} == {0.1}
    assert_allclose(ends_of(long_one, points)[:, 2], [-0.205, 0.205, 0.0], atol=1e-15)
    assert len(points_of(xs.Capsule(0.1, 0.39), "link", "limb")) == 2


def test_cylinders_have_eight_points_on_each_rim():
    can = xs.Cylinder(0.1, 0.4, PLACE, TILT, rounding=0.01)
    points = points_of(can, "link", "can")
    assert [point.name for point in points] == [f"can_rim_{i}" for i in range(16)]
    ends = ends_of(can, points)
    assert_allclose(np.hypot(ends[:, 0], ends[:, 1]), 0.09)
    assert_allclose(ends[:, 2], np.repeat([-0.19, 0.19], 8))
    assert_allclose(ends[0, :2], [0.09, 0.0], atol=1e-15)
    assert {point.radius for point in points} == {0.01}


@pytest.mark.parametrize("hull", [False, True])
def test_a_mesh_of_a_box_is_the_box(hull, tmp_path):
    away = np.array([0.3, 0.1, -0.2])  # of the box from the origin of the file
    path = mesh_shapes.write_obj(tmp_path / "box.obj", mesh_shapes.block((0.2, 0.3, 0.5)) + away)
    place = placement_of(xs.Box((1, 1, 1), PLACE, TILT))
    mesh, box = xs.Mesh(path, 1.0, PLACE, TILT, hull=hull), xs.Box((0.2, 0.3, 0.5), place.act(away), TILT)
    body, expected = xs.rigid_body("it", mesh, 3.0), xs.rigid_body("it", box, 3.0)
    assert_allclose(body.model.inertias[1].lever, expected.model.inertias[1].lever, atol=1e-7)
    assert_allclose(body.model.inertias[1].inertia, expected.model.inertias[1].inertia, rtol=1e-6, atol=1e-8)
    assert [point.name for point in body.contact_points] == [f"it_corner_{i}" for i in range(8)]
    sharp = [place.act(away + np.array(corner) * [0.1, 0.15, 0.25]) for corner in product((-1, 1), repeat=3)]
    for corner in sharp:
        assert min(np.linalg.norm(np.array(point.offset) - corner) for point in body.contact_points) < 1e-6
    own = xs.rigid_body("it", mesh, 3.0, inertia=[0.3, 0.2, 0.25]).model.inertias[1]
    assert_allclose(own.lever, expected.model.inertias[1].lever, atol=1e-7)
    assert_allclose(own.inertia, np.diag([0.3, 0.2, 0.25]))


def test_the_inertia_of_a_mesh_leaves_out_what_is_hollow(tmp_path):
    aside = np.array([0.05, 0.0, 0.0])
    inner, outer = mesh_shapes.block((0.2, 0.2, 0.2)) + aside, mesh_shapes.block((0.4, 0.4, 0.4))
    path = mesh_shapes.write_obj(tmp_path / "hollow.obj", np.concatenate([outer, inner[:, ::-1]]))
    found = xs.rigid_body("it", xs.Mesh(path), 7.0).model.inertias[1]
    full = pin.Inertia(8.0, np.zeros(3), np.eye(3) * 8.0 * 0.4**2 / 6.0)
    hole = pin.Inertia(1.0, aside, np.eye(3) * 0.2**2 / 6.0)
    assert_allclose(found.lever, -aside / 7.0, atol=1e-7)
    assert_allclose(found.matrix(), full.matrix() - hole.matrix(), atol=1e-6)


@pytest.mark.parametrize("sections", [5, 64, 720])
def test_a_mesh_has_few_points_and_stands_on_them(sections, tmp_path):
    path = tmp_path / "can.stl"
    trimesh.creation.cylinder(0.1, 0.3, sections=sections).export(path)
    body = xs.rigid_body("can", xs.Mesh(path, hull=True), 2.0)
    assert 6 <= len(body.contact_points) <= 16
    sim = xs.Simulator(body, xs.HalfSpace(), dt=5e-3)
    sim.step(n=200)
    assert_allclose(sim.q, [0, 0, 0.15, 0, 0, 0, 1], atol=1e-3)
    assert np.abs(sim.v).max() < 1e-9


def test_a_body_of_a_mesh_can_be_saved(tmp_path):
    path = mesh_shapes.write_stl(tmp_path / "box.stl", mesh_shapes.block((0.2, 0.3, 0.5)))
    body = xs.rigid_body("it", xs.Mesh(path, (1.0, -1.0, 1.0), hull=True), 3.0)
    again = RobotSettings.build(json.loads(json.dumps(RobotSettings.of(body).describe()))).load()
    assert again.shapes == body.shapes
    assert again.contact_points == body.contact_points
    assert_array_equal(again.model.inertias[1].inertia, body.model.inertias[1].inertia)
    path.unlink()
    refused(xs.UnknownFile, lambda: RobotSettings.of(body).load(), "box.stl")


def test_points_of_what_is_no_shape_are_refused():
    refused(xs.InvalidArgument, lambda: points_of(xs.HalfSpace(), "link", "a"), "HalfSpace", "contact_points")


@pytest.mark.parametrize(
    ("shape", "rounding"),
    [
        (xs.Box((1.0, 1.0, 1.0)), 0.005),
        (xs.Box((0.2, 0.02, 0.2)), 0.001),
        (xs.Cylinder(0.01, 0.2), 0.001),
        (xs.Cylinder(0.2, 0.04), 0.002),
        (xs.Box((1.0, 1.0, 1.0), rounding=0.1), 0.1),
    ],
    ids=short,
)
def test_sharp_edges_are_rounded_a_little(shape, rounding):
    body = xs.rigid_body("body", shape, 1.0)
    assert body.shapes[0].rounding == pytest.approx(rounding)
    assert {point.radius for point in body.contact_points} == {body.shapes[0].rounding}


@every_shape
def test_every_body_comes_to_rest_where_it_is_put(shape):
    sizes = {name: getattr(shape, name) for name in ("size", "radius", "length") if hasattr(shape, name)}
    body = xs.rigid_body("body", type(shape)(**sizes), 2.0)
    sim = xs.Simulator(body, xs.HalfSpace(), dt=5e-3)
    sim.step(n=200)
    assert sim.forces[:, 2].sum() == pytest.approx(2.0 * 9.81, rel=1e-6)
    assert np.abs(sim.v).max() < 1e-9
    assert_allclose(sim.q[:2], 0.0, atol=1e-9)


def test_the_material_is_that_of_its_points():
    ice = xs.Material(friction=0.01)
    crate = xs.rigid_body("crate", xs.Box((0.4, 0.4, 0.4)), 5.0, material=ice)
    assert {point.material for point in crate.contact_points} == {ice}
    assert crate.shapes[0].material == xs.Material()
    plain = xs.rigid_body("crate", xs.Box((0.4, 0.4, 0.4), material=ice), 5.0)
    assert {point.material for point in plain.contact_points} == {None}
    assert plain.shapes[0].material == ice


def test_contact_points_of_one_s_own_are_taken():
    point = xs.ContactPoint("crate", (0.0, 0.0, -0.2), "below")
    crate = xs.rigid_body("crate", xs.Box((0.4, 0.4, 0.4)), 5.0, contact_points=[point])
    assert crate.contact_points == (point,)
    assert xs.rigid_body("crate", xs.Box((0.4, 0.4, 0.4)), 5.0, contact_points=[]).contact_points == ()


BOX = xs.Box((0.4, 0.4, 0.4))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": ""}, ("name is ''",)),
        ({"name": 5}, ("name is 5",)),
        ({"name": "universe"}, ("name is 'universe'",)),
        ({"shape": "box"}, ("shape is 'box'", "exposim.Box")),
        ({"shape": xs.Box((0.4, 0.4, 0.4), frame="trunk")}, ("'trunk'", "leave it out")),
        ({"shape": xs.HalfSpace()}, ("HalfSpace", "another shape")),
        ({"mass": 0.0}, ("mass is 0.0", "[kg]")),
        ({"mass": np.nan}, ("mass is nan",)),
        ({"inertia": [1.0, 2.0]}, ("inertia", "(3, 3)")),
        ({"inertia": [1.0, 1.0, 3.0]}, ("inertia is", "sum of the others")),
        ({"inertia": -np.eye(3)}, ("inertia is", "positive")),
        ({"inertia": np.eye(3) + np.eye(3, k=1) * 0.1}, ("inertia is", "symmetric")),
        ({"contact_points": [xs.ContactPoint("crat")]}, ("'crat'", "did you mean 'crate'")),
        ({"contact_points": [], "material": xs.Material()}, ("material",)),
        ({"material": "ice"}, ("material is 'ice'",)),
    ],
    ids=short,
)
def test_bad_bodies_are_refused(arguments, words):
    given = {"name": "crate", "shape": BOX, "mass": 5.0} | arguments
    error = xs.UnknownFrame if "did you mean" in words[-1] else xs.InvalidArgument
    refused(error, lambda: xs.rigid_body(given.pop("name"), given.pop("shape"), given.pop("mass"), **given), *words)


def test_a_shape_needs_a_frame_of_its_robot():
    robot = xs.load_robot("go2")
    refused(xs.InvalidArgument, lambda: robot.replace(shapes=[BOX]), "shapes has Box", "frame")
    refused(xs.InvalidArgument, lambda: robot.replace(shapes=BOX), "shapes is", "frame")
    act = lambda: robot.replace(shapes=[xs.Sphere(0.1, frame="bose")])  # noqa: E731
    refused(xs.UnknownFrame, act, "'bose'", "did you mean 'base'")
    carried = robot.replace(shapes=[xs.Sphere(0.1, frame="base")])
    assert carried.shapes == (xs.Sphere(0.1, frame="base"),)
    assert carried.replace(name="other").shapes == carried.shapes
    assert carried.replace(shapes=[]).shapes == ()


class Egg(xs.Surface):
    """A shape of one's own."""

    def distance(self, p):
        return np.linalg.norm(p, axis=1) - 0.1

    def normal(self, p):
        return p / np.linalg.norm(p, axis=1, keepdims=True)


def test_a_shape_of_one_s_own_needs_inertia_and_points():
    refused(xs.InvalidArgument, lambda: xs.rigid_body("egg", Egg(), 0.1), "Egg", "inertia=")
    point = xs.ContactPoint("egg", radius=0.1)
    own = Egg()
    egg = xs.rigid_body("egg", own, 0.1, inertia=[1e-3, 1e-3, 1e-3], contact_points=[point])
    assert (egg.shapes[0].frame, own.frame) == ("egg", None)
    assert xs.combine(a=egg).shapes[0].frame == "a/egg"


def test_a_copy_has_the_shape():
    crate = xs.rigid_body("crate", BOX, 5.0)
    again = pickle.loads(pickle.dumps(crate))
    assert again.shapes == crate.shapes
    assert again.made_of == crate.made_of
    assert_array_equal(again.q0, crate.q0)
