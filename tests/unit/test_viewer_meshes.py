"""Surfaces as triangles: closed, outside out, and where the surface is."""

import numpy as np
import pytest
import trimesh
from numpy.testing import assert_allclose

import exposim as xs
from exposim.viewer.drape import MOST_LINES, Cloth, Region
from exposim.viewer.ground import MOST_TRIANGLES, Ground
from exposim.viewer.terrain_meshes import creased, joined, mesh_of, normals, sharp_edges, used
from viewer_worlds import Bumps, Pit, Stairs

TURN = (0.1, 0.2, 0.3, np.sqrt(1.0 - 0.14))
SHAPES = {
    "box": (xs.Box((0.4, 0.3, 0.2), (1.0, 2.0, 0.5), TURN), 0.4 * 0.3 * 0.2),
    "sphere": (xs.Sphere(0.3, (1.0, 2.0, 0.5)), 4 / 3 * np.pi * 0.3**3),
    "capsule": (xs.Capsule(0.1, 0.5, (1.0, 2.0, 0.5), TURN), np.pi * 0.1**2 * (0.5 + 4 / 3 * 0.1)),
    "cylinder": (xs.Cylinder(0.1, 0.5, (1.0, 2.0, 0.5), TURN), np.pi * 0.1**2 * 0.5),
}
NEAR = np.array([0.0, 0.0, 0.4])


def region(margin=2.4, tolerance=1e-3):
    """Half a metre to every side of a place, and what is around it."""
    reach = np.array([0.5, 0.5, 0.0])
    return Region(NEAR - reach, NEAR + reach, margin, margin / 24, tolerance)


def off(surface, vertices, faces):
    """How far the middles of the triangles are from the surface [m]."""
    return np.abs(surface.distance(vertices[faces].mean(axis=1)))


# Shapes with an end.


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_closed_where_it_should_be_and_of_its_volume(name):
    shape, volume = SHAPES[name]
    vertices, faces = mesh_of(shape, np.zeros(3), 1.0)
    mesh = trimesh.Trimesh(vertices, faces)
    assert mesh.is_watertight and mesh.is_winding_consistent
    assert_allclose(mesh.volume, volume, rtol=0.03)  # negative with the inside out
    assert_allclose(shape.distance(vertices), 0.0, atol=1e-9)
    assert off(shape, vertices, faces).max() < 4e-3


@pytest.mark.parametrize("name", SHAPES)
def test_normals_point_out_of_a_shape(name):
    shape, _ = SHAPES[name]
    vertices, faces = mesh_of(shape, np.zeros(3), 1.0)
    outward = normals(vertices, faces)
    outward /= np.linalg.norm(outward, axis=1)[:, None]
    middle = vertices[faces].mean(axis=1)
    assert (shape.distance(middle + 1e-3 * outward) > shape.distance(middle - 1e-3 * outward)).all()


def test_a_mesh_from_a_file_is_scaled_and_placed(tmp_path):
    file = tmp_path / "cube.stl"
    trimesh.creation.box((1.0, 1.0, 1.0)).export(file)
    vertices, faces = mesh_of(xs.Mesh(str(file), 0.2, position=(1.0, 0.0, 0.0)), np.zeros(3), 1.0)
    assert_allclose([vertices.min(axis=0), vertices.max(axis=0)], [[0.9, -0.1, -0.1], [1.1, 0.1, 0.1]], atol=1e-7)
    assert_allclose(trimesh.Trimesh(vertices, faces).volume, 0.008, rtol=1e-6)


def test_of_a_hull_its_own_triangles_are_drawn(tmp_path):
    file = tmp_path / "open.stl"
    box = trimesh.creation.box((1.0, 1.0, 1.0))
    trimesh.Trimesh(box.vertices, box.faces[2:]).export(file)
    hull = xs.Mesh(file, (0.2, -0.4, 0.2), position=(1.0, 0.0, 0.0), hull=True)
    vertices, faces = mesh_of(hull, np.zeros(3), 1.0)
    assert_allclose([vertices.min(axis=0), vertices.max(axis=0)], [[0.9, -0.2, -0.1], [1.1, 0.2, 0.1]], atol=1e-7)
    assert_allclose(trimesh.Trimesh(vertices, faces).volume, 0.016, rtol=1e-6)


def test_sharp_edges_part_what_smooth_shading_would_blur():
    box, ball = mesh_of(SHAPES["box"][0], NEAR, 1.0), mesh_of(SHAPES["sphere"][0], NEAR, 1.0)
    vertices, faces = creased(*box)
    assert (len(vertices), len(faces)) == (24, 12)  # four for each face
    sides = normals(vertices, faces)
    for vertex in range(24):
        around = sides[(faces == vertex).any(axis=1)]
        assert_allclose(np.abs(np.cross(around, around[0])), 0.0, atol=1e-12)
    assert_allclose(vertices[faces], box[0][box[1]])
    lengths = np.linalg.norm(np.diff(sharp_edges(*box), axis=1)[:, 0], axis=1)
    assert_allclose(np.sort(lengths), [0.2] * 4 + [0.3] * 4 + [0.4] * 4)
    assert len(creased(*ball)[0]) == len(ball[0])
    assert len(sharp_edges(*ball)) == 0


# Ground without an end, as a cloth over it.


@pytest.mark.parametrize(
    "surface",
    [
        Stairs(),
        Stairs(yaw=0.4),
        Bumps(waves=15.0),
        xs.HeightField(np.zeros((20, 20)), 0.05, origin=(-0.5, -0.5)),
        xs.Box((50.0, 50.0, 1.0), (0.0, 0.0, -0.4)),
        xs.Sphere(1000.0, (0.0, 0.0, -1000.0)),
    ],
    ids=lambda surface: type(surface).__name__,
)
def test_ground_is_drawn_to_a_millimetre_with_its_normal_up(surface):
    vertices, faces, _ = Cloth.over(surface.distance, region()).triangles()
    vertices, faces = used(vertices, faces)
    close = np.abs(vertices[faces].mean(axis=1)[:, :2]).max(axis=1) < 0.5
    assert close.sum() > 20
    assert_allclose(surface.distance(vertices), 0.0, atol=1e-6)
    missed = off(surface, vertices, faces[close])
    assert np.quantile(missed, 0.99) < 1e-3 and missed.max() < 2e-3  # saddles between lines are not looked for
    assert (normals(vertices, faces)[:, 2] > 0.0).all()
    assert len(vertices) <= MOST_LINES**2


@pytest.mark.parametrize("yaw", [0.0, 0.4, -1.1])
def test_the_nose_of_a_stair_is_sharp_whatever_its_direction(yaw):
    stairs = Stairs(yaw=yaw)
    vertices, faces, _ = Cloth.over(stairs.distance, region()).triangles()
    along = vertices @ [np.cos(yaw), np.sin(yaw), 0.0]
    corners, z = along[faces], vertices[faces][..., 2]
    risers = np.ptp(z, axis=1) > 0.5 * stairs.rise
    assert risers.sum() > 50
    assert np.ptp(corners[risers], axis=1).max() < 1e-3
    assert not (~risers & (np.ptp(z, axis=1) > 1e-6)).any()  # nothing in between


def test_a_cloth_takes_lines_where_ground_bends_and_few_elsewhere():
    flat, stairs = (Cloth.over(s.distance, region()) for s in (xs.HalfSpace(), Stairs()))
    assert flat.z.shape == (117, 117)
    assert stairs.z.shape[1] == 117 < stairs.z.shape[0]
    wild = Cloth.over(Bumps(waves=40.0).distance, region(tolerance=1e-6))
    assert max(wild.z.shape) <= MOST_LINES


def test_a_hole_without_a_bottom_stays_open():
    vertices, faces, _ = Cloth.over(Pit().distance, region()).triangles()
    middle = vertices[faces].mean(axis=1)
    assert np.hypot(middle[:, 0], middle[:, 1]).min() > 0.45  # its radius is half a metre
    assert_allclose(vertices[np.unique(faces)][:, 2], 0.0, atol=1e-6)


def test_tiles_of_terrain_are_as_large_as_those_of_planes():
    vertices, faces, dark = Cloth.over(Stairs().distance, region()).triangles()
    x, y = np.floor(vertices[faces].mean(axis=1)[:, :2] / 0.1).astype(int).T
    assert_allclose(dark, (x + y) % 2 == 1)


def test_mesh_of_ground_without_an_end_is_a_square_around_a_place():
    for surface in (Stairs(), xs.HalfSpace()):
        vertices, _ = mesh_of(surface, np.array([3.0, -1.0, 0.5]), 2.0)
        assert_allclose(vertices.min(axis=0)[:2], [2.0, -2.0], atol=0.05)
        assert_allclose(vertices.max(axis=0)[:2], [4.0, 0.0], atol=0.05)


# What is drawn in which way.


def test_the_world_is_sorted_by_size_and_by_who_carries_it():
    small, large = xs.Box((0.2, 0.2, 0.2)), xs.Box((90.0, 90.0, 0.2))
    carried = xs.Sphere(0.1, frame="base")
    plane, stairs = xs.HalfSpace(), Stairs()
    ground = Ground.of([small, plane, stairs, large, carried], tile=0.2, size=0.5)
    sorts = (ground.planes, ground.terrain, ground.solids, ground.carried)
    assert sorts == ((plane,), (stairs, large), (small,), (carried,))
    assert ground.has_tiles and not Ground.of(small, 0.2, 0.5).has_tiles


def test_a_thousand_boxes_are_one_mesh_and_many_balls_are_coarse_ones():
    places = np.random.default_rng(0).uniform(-50, 50, (1000, 3))
    boxes = Ground.of([xs.Box((0.2, 0.2, 0.2), tuple(p)) for p in places], 0.2, 0.5).solid_look()
    assert (len(boxes.mesh[0]), len(boxes.mesh[1]), len(boxes.edges)) == (24_000, 12_000, 12_000)
    balls = Ground.of([xs.Sphere(0.1, tuple(p)) for p in places], 0.2, 0.5).solid_look()
    assert len(balls.mesh[1]) < MOST_TRIANGLES


def test_terrain_at_the_height_of_a_plane_is_left_out():
    ground = Ground.of([xs.HalfSpace(), Stairs()], tile=0.1, size=0.5)
    vertices, faces = joined(look.mesh for look in ground.terrain_looks(NEAR, NEAR)[0])
    assert vertices[faces][..., 2].max(axis=1).min() > 0.05  # the foot of the stairs is the plane's


def test_what_cannot_be_drawn_is_said_and_the_rest_is_drawn(tmp_path):
    class Broken(xs.Surface):
        def distance(self, p):
            raise RuntimeError("out of order")

    ground = Ground.of([Broken(), Stairs()], 0.2, 0.5)
    with pytest.warns(xs.ModelWarning, match="surface Broken is not drawn: out of order"):
        nothing, stairs = ground.terrain_looks(NEAR, NEAR)
    assert len(nothing[0].mesh[1]) == 0 < len(stairs[0].mesh[1])
