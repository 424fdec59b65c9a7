"""Meshes are read from files, checked, made smooth once and kept."""

import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
import mesh_shapes
from bad_input import NAN, refused, short
from exposim import _core
from exposim.contact import meshes
from exposim.simulation import records

COARSE = 0.05  # [m]
BALL, BLOCK = mesh_shapes.ball(0.5, 4), mesh_shapes.block((0.4, 0.6, 0.3))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "exposim" / "meshes"


@pytest.fixture
def ball(tmp_path):
    return mesh_shapes.write_stl(tmp_path / "ball.stl", BALL)


def triangles_of(corners):
    vertices, index = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    return _core.Triangles(vertices, index.reshape(-1, 3).astype(np.int32))


def test_the_distance_of_triangles_is_that_of_the_box_they_are():
    exact, box = triangles_of(BLOCK), xs.Box((0.4, 0.6, 0.3))._build()
    special = [0.5 * np.array([0.4, 0.6, 0.3]) * [i, j, k] for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)]
    for p in [*np.random.default_rng(1).uniform(-0.6, 0.6, (500, 3)), *special]:
        assert_allclose(exact.distance(p), box.distance(p), rtol=0.0, atol=1e-12)
        away = abs(box.distance(p))
        if box.distance(p) > 1e-6:
            assert_allclose(exact.normal(p), box.normal(p), rtol=0.0, atol=1e-9)
            assert_allclose(exact.curvature(p), box.curvature(p), rtol=0.0, atol=1e-9 / away)


def test_the_boxes_around_triangles_lead_to_the_closest_one():
    exact = triangles_of(BALL)
    one_by_one = [triangles_of(each[None]) for each in BALL]
    for p in np.random.default_rng(2).uniform(-1.0, 1.0, (20, 3)):
        assert_allclose(abs(exact.distance(p)), min(abs(each.distance(p)) for each in one_by_one), rtol=1e-12)


@pytest.mark.parametrize("kind", ["write_stl", "write_ascii_stl", "write_obj"])
def test_all_files_of_a_ball_are_the_ball(kind, tmp_path):
    path = getattr(mesh_shapes, kind)(tmp_path / ("ball.obj" if "obj" in kind else "ball.STL"), BALL)
    mesh = xs.Mesh(path, resolution=COARSE)
    u = np.random.default_rng(3).standard_normal((200, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    for off in (-0.1, -0.01, 0.0, 0.01, 0.1):
        assert_allclose(mesh.distance((0.5 + off) * u), off, rtol=0.0, atol=0.05 * COARSE)
        assert_allclose(mesh.normal((0.5 + off) * u), u, rtol=0.0, atol=0.03)


def test_a_fine_ball_is_right_to_a_hundredth_of_a_cell_and_as_curved_as_it_is(tmp_path):
    path = mesh_shapes.write_stl(tmp_path / "ball.stl", mesh_shapes.ball(0.5, 6))
    mesh = xs.Mesh(path, resolution=1.0 / 32.0)
    u = np.random.default_rng(4).standard_normal((200, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    for off in (-0.02, 0.0, 0.02):
        assert_allclose(mesh.distance((0.5 + off) * u), off, rtol=0.0, atol=0.01 / 32.0)
        curvatures = [np.linalg.eigvalsh(mesh._build().curvature(p))[1:] for p in (0.5 + off) * u]
        assert_allclose(curvatures, 1.0 / (0.5 + off), rtol=0.1)


def test_scale_position_and_rotation_are_of_effect(ball):
    mesh = xs.Mesh(ball, 0.1, (1.0, 2.0, 3.0), (0.0, 0.0, 1.0, 0.0))
    assert_allclose(mesh.distance(np.array([[1.0, 2.0, 3.1], [1.0, 2.0, 5.0]])), [0.05, 1.95], atol=1e-3)
    centre, radius = mesh._build().bounds
    assert_allclose(centre, (1.0, 2.0, 3.0), atol=1e-9)
    assert 0.05 <= radius < 0.055


def test_a_mesh_that_is_inside_out_is_turned_around(tmp_path):
    path = mesh_shapes.write_stl(tmp_path / "out.stl", BLOCK[:, ::-1])
    assert xs.Mesh(path, resolution=COARSE).distance(np.zeros((1, 3)))[0] < 0.0


WRONG = {
    "3 open, with one triangle": BLOCK[1:],
    "3 between triangles that face opposite ways": np.concatenate([BLOCK[:1, ::-1], BLOCK[1:]]),
    "shared by more than two": np.concatenate([BLOCK, BLOCK[:1]]),
    "no triangles": BLOCK[:0],
    "no volume": np.concatenate([BLOCK[:1], BLOCK[:1, ::-1]]),
    "not finite": np.where(BLOCK.max() == BLOCK, np.inf, BLOCK),
}


@pytest.mark.parametrize("words", WRONG)
def test_a_mesh_that_encloses_nothing_is_refused_with_what_is_wrong(words, tmp_path):
    path = mesh_shapes.write_stl(tmp_path / "wrong.stl", WRONG[words])
    refused(xs.UnreadableFile, lambda: xs.Mesh(path), words, "wrong.stl")


@pytest.mark.parametrize("content", [b"", b"solid", b"solid x\nvertex 1 2", b"\xff" * 200, b"f 1 2 3", b"v a b c"])
@pytest.mark.parametrize("suffix", [".stl", ".obj"])
def test_a_file_that_is_no_mesh_is_refused(content, suffix, tmp_path):
    path = tmp_path / f"nothing{suffix}"
    path.write_bytes(content)
    refused(xs.UnreadableFile, lambda: xs.Mesh(path), "nothing")


def test_a_file_that_is_not_there_is_unknown(tmp_path):
    refused(xs.UnknownFile, lambda: xs.Mesh(tmp_path / "none.stl"), "none.stl")
    refused(xs.InvalidArgument, lambda: xs.Mesh(tmp_path / "robot.urdf"), ".stl or .obj")


@pytest.mark.parametrize("name", ["scale", "resolution"])
@pytest.mark.parametrize("value", [0.0, -1.0, NAN, "abc"], ids=short)
def test_a_scale_or_resolution_that_is_none_is_refused(name, value, ball):
    refused(xs.InvalidArgument, lambda: xs.Mesh(ball, **{name: value}), f"{name} is", "above 0")


def test_a_resolution_that_no_memory_holds_is_refused_at_once(ball):
    refused(xs.InvalidArgument, lambda: xs.Mesh(ball, resolution=1e-4), "resolution is 0.0001 m", "or more")
    refused(xs.InvalidArgument, lambda: xs.Mesh(5), "path is 5")


def test_a_grid_is_made_once(ball, cache, monkeypatch):
    one = xs.Mesh(ball, resolution=COARSE)
    points = np.random.default_rng(5).uniform(-1.0, 1.0, (50, 3))
    expected = one.distance(points)
    assert len(list(cache.iterdir())) == 1
    monkeypatch.setattr(meshes._Grid, "fill", lambda *_: pytest.fail("made again"))
    assert_array_equal(xs.Mesh(ball, resolution=COARSE).distance(points), expected)


@pytest.mark.parametrize("damage", [lambda data: data[:100], lambda data: b"", lambda data: data[:-400] + bytes(400)])
def test_a_grid_that_is_damaged_is_made_again(damage, ball, cache):
    points = np.random.default_rng(5).uniform(-1.0, 1.0, (50, 3))
    expected = xs.Mesh(ball, resolution=COARSE).distance(points)
    (kept,) = cache.iterdir()
    kept.write_bytes(damage(kept.read_bytes()))
    assert_array_equal(xs.Mesh(ball, resolution=COARSE).distance(points), expected)
    assert np.load(kept)["values"].size > 1000


def test_a_grid_that_cannot_be_kept_is_made_all_the_same(ball, cache):
    cache.parent.parent.mkdir()
    cache.parent.write_text("a file where a folder should be")
    assert xs.Mesh(ball, resolution=COARSE).distance(np.zeros((1, 3)))[0] < -0.4


class Bar:
    done, stopped = 0, False

    def update(self, task, completed):
        self.done = completed

    def stop(self):
        self.stopped = True


def test_one_is_told_how_far_a_long_one_has_come(ball, monkeypatch):
    bar, made = Bar(), []
    monkeypatch.setattr(meshes, "_bar", lambda what, total: made.append((what, total)) or bar)
    xs.Mesh(ball, resolution=COARSE)._build()
    assert made == []  # it was not long
    monkeypatch.setattr(meshes, "_PATIENCE", 0.0)
    xs.Mesh(ball, resolution=1.1 * COARSE)._build()
    ((what, total),) = made
    assert what == "distances of ball.stl"
    assert bar.done == total
    assert bar.stopped


def test_a_bar_is_drawn_where_somebody_looks_and_nowhere_else(capsys):
    bar = meshes._bar("distances of ball.stl", 10)
    bar.update(0, completed=5)
    bar.stop()
    assert capsys.readouterr() == ("", "")


def test_meshes_are_values_and_survive_files_without_being_there(ball):
    one = xs.Mesh(ball, resolution=COARSE, frame="rock")
    assert one == xs.Mesh(str(ball), resolution=COARSE, frame="rock")
    assert hash(one) == hash(xs.Mesh(ball, resolution=COARSE, frame="rock"))
    expected = one.distance(np.ones((1, 3)))
    described = json.dumps(records.describe(one))
    assert records.build(json.loads(described)) == one
    assert_array_equal(pickle.loads(pickle.dumps(one)).distance(np.ones((1, 3))), expected)
    mesh_shapes.write_stl(ball, BLOCK)
    again = records.build(json.loads(described))
    assert again == one
    assert again != xs.Mesh(ball, resolution=COARSE, frame="rock")
    refused(xs.UnreadableFile, lambda: again.distance(np.ones((1, 3))), "has changed")
    ball.unlink()
    refused(xs.UnknownFile, lambda: records.build(json.loads(described)).distance(np.ones((1, 3))), "ball.stl")
