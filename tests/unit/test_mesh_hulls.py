"""Convex hulls of meshes: of files of all kinds, closed or not, mirrored or not."""

import json
import pickle

import numpy as np
import pinocchio as pin
import pytest
import trimesh
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
import mesh_shapes
from bad_input import NAN, refused, short
from exposim.contact import mesh_hulls, meshes
from exposim.contact.mesh_hulls import convex_hull, vertices
from exposim.robots.collision_shapes import shapes_of
from exposim.simulation import records
from robot_files import KNOWN, known

SIZE = (0.4, 0.6, 0.3)
OPEN = mesh_shapes.block(SIZE)[2:]  # a face of the box is missing
TILT = tuple(pin.Quaternion(pin.exp3(np.array([0.3, -0.5, 0.8]))).coeffs())
SLIGHT = pin.exp3(np.array([0.3, -0.5, 0.8]))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "exposim" / "meshes"


@pytest.fixture
def open_box(tmp_path):
    return mesh_shapes.write_stl(tmp_path / "open.stl", OPEN)


def write_points(path, p):
    """An OBJ file with these corners, and a triangle for each three of them in a row."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(p, dtype=float).tolist()]
    path.write_text("\n".join([*lines, *(f"f {i} {i + 1} {i + 2}" for i in range(1, len(p) - 1))]) + "\n")
    return path


def beyond(p, corners, faces):
    """How far points are outside of the planes of triangles, at most, as a part of the size."""
    a, b, c = (corners[faces[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    off = [(part @ n.T - np.einsum("ij,ij->i", a, n)).max() for part in np.array_split(p, 1 + len(p) // 500)]
    return max(off) / np.ptp(corners, axis=0).max()


# Which shape it is.


def test_the_hull_of_a_box_with_a_hole_is_the_box(open_box):
    refused(xs.UnreadableFile, lambda: xs.Mesh(open_box), "open, with one triangle")
    place = {"position": (1.0, 2.0, 3.0), "rotation": TILT}
    mesh, box = xs.Mesh(open_box, hull=True, **place), xs.Box(SIZE, **place)
    cell = SIZE[1] / 24
    p = np.random.default_rng(1).uniform(-0.5, 0.5, (2000, 3)) + np.array([1.0, 2.0, 3.0])
    exact = box.distance(p)
    deep = exact < -2.0 * cell  # where one side of the box is as close as another, both have an edge within
    assert_allclose(mesh.distance(p)[~deep], exact[~deep], rtol=0.0, atol=0.4 * cell)
    faces = [np.eye(3)[i] * side for i in range(3) for side in (-1, 1)]
    at = np.array([SLIGHT @ (0.5 * np.array(SIZE) * face) + [1.0, 2.0, 3.0] for face in faces])
    assert_allclose(mesh.distance(at), 0.0, atol=0.02 * cell)
    assert_allclose(mesh.normal(at), [SLIGHT @ face for face in faces], atol=0.02)


def test_a_finer_grid_is_closer_to_the_box(open_box):
    mesh, box = xs.Mesh(open_box, resolution=0.01, hull=True), xs.Box(SIZE)
    p = np.random.default_rng(1).uniform(-0.4, 0.4, (2000, 3))
    p = p[box.distance(p) > -0.02]
    assert_allclose(mesh.distance(p), box.distance(p), rtol=0.0, atol=4e-3)


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "off"])
def test_files_of_many_kinds_have_hulls(suffix, tmp_path):
    path = tmp_path / f"box.{suffix}"
    trimesh.creation.box(SIZE).export(path)
    corners, faces = xs.Mesh(path, 2.0, hull=True).triangles()
    assert (corners.shape, faces.shape) == ((8, 3), (12, 3))
    assert_allclose(np.abs(corners), np.tile(SIZE, (8, 1)), rtol=1e-6)


@pytest.mark.parametrize("scale", [(1.0, -2.0, 0.5), (-1.0, -1.0, -1.0), (-1.0, -2.0, 3.0), (1.0, 2.0, 3.0)])
def test_a_hull_can_be_stretched_and_mirrored(scale, tmp_path):
    p = np.random.default_rng(2).standard_normal((100, 3)) + np.array([3.0, 0.0, 0.0])
    mesh = xs.Mesh(write_points(tmp_path / "it.obj", p), scale, hull=True, resolution=0.5)
    corners, faces = mesh.triangles()
    assert beyond(scale * p, corners, faces) < 1e-5
    assert mesh.distance([scale * p.mean(axis=0)])[0] < -0.2


def test_three_equal_scales_are_one(open_box):
    mesh = xs.Mesh(open_box, [2, 2, 2], hull=True)
    assert mesh.scale == 2.0
    assert mesh == xs.Mesh(open_box, 2.0, hull=True)
    assert xs.Mesh(open_box, np.array([2.0, -2.0, 2.0]), hull=True).scale == (2.0, -2.0, 2.0)


# The hull itself.


def round_plate(count, tilt):
    """Two circles, one above the other."""
    angle = 2.0 * np.pi * np.arange(count) / count
    p = [(np.cos(a), np.sin(a), z) for a in angle for z in (-1.0, 1.0)]
    return np.array(p) @ (SLIGHT.T if tilt else np.eye(3))


def clouds():
    rng = np.random.default_rng(3)
    axis = np.linspace(-1.0, 1.0, 11)
    grid = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    return {
        "points all over a box": grid,
        "the same, and tilted": grid @ SLIGHT.T,
        "as a file of single precision has it": (0.123 * grid @ SLIGHT.T).astype(np.float32).astype(float),
        "a thousand corners around a face": round_plate(1000, False),
        "the same cylinder, tilted": round_plate(1000, True),
        "a plate": rng.uniform(-1, 1, (200, 3)) * [1.0, 1.0, 1e-6],
        "a thin plate that is tilted": rng.uniform(-1, 1, (200, 3)) * [1.0, 1.0, 1e-3] @ SLIGHT.T,
        "a cloud": rng.standard_normal((2000, 3)),
        "far away": rng.standard_normal((2000, 3)) + 1e6,
        "small": 1e-9 * rng.standard_normal((200, 3)),
        "a tetrahedron": np.concatenate([np.eye(3), np.zeros((1, 3))]),
        "corners that are almost the same": np.repeat(rng.standard_normal((50, 3)), 4, axis=0)
        + 1e-13 * rng.standard_normal((200, 3)),
    }


@pytest.mark.parametrize("name", clouds())
def test_a_hull_has_all_corners_within_it_and_is_closed(name, monkeypatch, tmp_path):
    p = clouds()[name]
    monkeypatch.setattr(mesh_hulls, "vertices", lambda path: p)
    corners, faces = convex_hull(tmp_path / "it.obj", "none")  # which refuses what is not closed
    assert beyond(p, corners, faces) < 2e-6
    a, b, c = (corners[faces[:, k]] - corners.mean(axis=0) for k in range(3))
    assert (np.einsum("ij,ij->i", a, np.cross(b, c)) > 0.0).all()  # every triangle faces outwards


FLAT = {
    "in a plane": np.random.default_rng(4).uniform(-1, 1, (100, 3)) * [1, 1, 0],
    "in a tilted plane": np.random.default_rng(4).uniform(-1, 1, (100, 3)) * [1, 1, 0] @ SLIGHT.T,
    "thinner than can be told": np.random.default_rng(4).uniform(-1, 1, (100, 3)) * [1, 1, 1e-9] @ SLIGHT.T,
    "thin along an axis": np.random.default_rng(4).uniform(-1, 1, (100, 3)) * [1, 1, 1e-12],
    "on a line": np.random.default_rng(4).uniform(-1, 1, (100, 1)) * [1, 2, 3],
    "one triangle": np.eye(3),
    "one place": np.ones((5, 3)),
}


@pytest.mark.parametrize("name", FLAT)
def test_what_is_flat_is_refused(name, tmp_path):
    path = write_points(tmp_path / "flat.obj", FLAT[name])
    refused(xs.UnreadableFile, lambda: xs.Mesh(path, hull=True), "flat.obj")


# Bad input.


@pytest.mark.parametrize("content", [b"", b"solid", b"solid x\nvertex 1 2", b"\xff" * 200, b"f 1 2 3", b"v a b c"])
@pytest.mark.parametrize("suffix", [".stl", ".obj", ".dae", ".urdf", ""])
def test_a_file_that_is_no_mesh_has_no_hull(content, suffix, tmp_path):
    path = tmp_path / f"nothing{suffix}"
    path.write_bytes(content)
    refused(xs.UnreadableFile, lambda: xs.Mesh(path, hull=True), "nothing")


def test_a_hull_needs_a_file(tmp_path):
    refused(xs.UnknownFile, lambda: xs.Mesh(tmp_path / "none.dae", hull=True), "none.dae")
    refused(xs.UnreadableFile, lambda: xs.Mesh(tmp_path, hull=True), "cannot be read")
    refused(xs.InvalidArgument, lambda: xs.Mesh("a\0b.stl", hull=True), "path is")


def test_a_file_that_is_too_large_is_not_read(open_box, monkeypatch):
    monkeypatch.setattr(mesh_hulls, "LARGEST_MESH", 100)
    refused(xs.UnreadableFile, lambda: xs.Mesh(open_box, hull=True), "larger than")


@pytest.mark.parametrize("scale", [0.0, -1.0, (1.0, 0.0, 1.0), (1.0, 2.0), (1.0, NAN, 1.0), "abc", None], ids=short)
def test_a_scale_that_is_none_is_refused(scale, open_box):
    refused(xs.InvalidArgument, lambda: xs.Mesh(open_box, scale, hull=True), "scale")


def test_only_hulls_can_be_stretched(tmp_path):
    path = mesh_shapes.write_stl(tmp_path / "box.stl", mesh_shapes.block(SIZE))
    refused(xs.InvalidArgument, lambda: xs.Mesh(path, (1.0, 2.0, 1.0)), "scale is")
    refused(xs.InvalidArgument, lambda: xs.Mesh(path, hull="yes"), "hull is 'yes'")


# Values, files, the cache.


def test_hulls_are_values_and_survive_files_without_being_there(open_box):
    make = lambda: xs.Mesh(open_box, (1.0, -1.0, 2.0), hull=True, frame="rock")  # noqa: E731
    one = make()
    assert one == make()
    assert hash(one) == hash(make())
    expected = one.distance(np.ones((1, 3)))
    described = json.dumps(records.describe(one))
    assert records.build(json.loads(described)) == one
    assert_array_equal(pickle.loads(pickle.dumps(one)).distance(np.ones((1, 3))), expected)
    mesh_shapes.write_stl(open_box, mesh_shapes.block((0.5, 0.5, 0.5)))
    again = records.build(json.loads(described))
    assert again == one
    assert again != make()
    refused(xs.UnreadableFile, lambda: again.distance(np.ones((1, 3))), "has changed")
    assert_allclose(np.abs(make().triangles()[0]), np.tile([0.25, 0.25, 0.5], (8, 1)))
    open_box.unlink()
    refused(xs.UnknownFile, lambda: records.build(json.loads(described)).distance(np.ones((1, 3))), "open.stl")


def test_a_mesh_and_its_hull_are_kept_apart(tmp_path, cache):
    post = mesh_shapes.block((0.1, 0.1, 0.4))
    both = np.concatenate([post, post + np.array([0.3, 0.0, 0.0])])
    path = mesh_shapes.write_stl(tmp_path / "two.stl", both)
    between = np.array([[0.15, 0.0, 0.0]])
    assert xs.Mesh(path, resolution=0.02).distance(between)[0] > 0.09
    assert xs.Mesh(path, resolution=0.02, hull=True).distance(between)[0] < -0.04
    assert xs.Mesh(path, resolution=0.02) != xs.Mesh(path, resolution=0.02, hull=True)
    xs.Mesh(path, (1.0, -1.0, 1.0), resolution=0.02, hull=True)._build()
    assert len(list(cache.iterdir())) == 3


def test_the_hull_of_a_file_is_found_once(open_box, monkeypatch):
    xs.Mesh(open_box, hull=True)
    monkeypatch.setattr(mesh_hulls, "_hull_of", lambda *_: pytest.fail("found again"))
    xs.Mesh(open_box, 2.0, hull=True)._build()


# The links of robots.


@pytest.mark.parametrize("name", KNOWN)
def test_the_links_of_a_known_robot_have_the_hulls_of_their_meshes(name):
    robot = known(name)
    solids = robot.file_shapes.solids
    assert robot.file_shapes.left_out == shapes_of(solids)[1] == ()
    assert len(robot.shapes) == len(solids)
    for solid, shape in zip(solids, robot.shapes, strict=True):
        assert isinstance(shape, xs.Mesh) == (solid.kind == "mesh")
        if solid.kind == "mesh":
            corners, faces = shape.triangles()
            assert beyond(vertices(solid.path, solid.size), corners, faces[::4]) < 2e-6
            grid = meshes._Grid.around(corners, shape._spacing(corners))
            assert np.prod(grid.size) < 100_000  # some 0.3 s at the most, and less than a megabyte


def test_mirrored_links_are_mirrored():
    robot = known("talos")
    one, other = (next(s for s in robot.shapes if s.frame == f"leg_{side}_4_link") for side in ("left", "right"))
    assert isinstance(one.scale, float)
    assert other.scale == (1.0, -1.0, 1.0)
    p = np.random.default_rng(5).uniform(-0.5, 0.5, (100, 3))
    assert_allclose(other.distance(p), one.distance(p * [1.0, -1.0, 1.0]), atol=2e-4)  # their grids differ


def test_all_links_of_a_robot_can_be_touched():
    robot = known("go2")
    for solid, shape in zip(robot.file_shapes.solids, robot.shapes, strict=True):
        corners = vertices(solid.path, solid.size)
        p = corners @ solid.placement.rotation.T + solid.placement.translation
        assert np.abs(shape.distance(p)).max() < 0.4 * shape._spacing(corners)
        assert shape.distance([p.mean(axis=0)])[0] < 0.0
