"""What cannot be meant when a world is made is refused, with what, how much and what to do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import exposim as xs
import mesh_shapes
from bad_input import refused


@pytest.fixture
def ball():
    return xs.rigid_body("ball", xs.Sphere(0.05), mass=1.0)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def plate(folder, thickness, size=1.0):
    return mesh_shapes.write_obj(folder / "plate.obj", mesh_shapes.block((size, size, thickness)))


REFUSED = {
    "too many heights": (
        lambda: xs.terrain.rough(1e6, 0.1),
        "size is 1000000.0",
        "4e+14 heights",
        "1e+07 are possible",
    ),
    "far too many heights": (lambda: xs.terrain.rough(1e300, 0.1), "size is 1e+300", "larger spacing"),
    "absurd heights": (lambda: xs.HeightField(np.full((3, 3), 1e300)), "heights go to 1e+300 m", "at most 1e+06"),
    "absurd hollows": (lambda: xs.HeightField(np.full((3, 3), -2e6)), "heights go to 2e+06 m"),
    "jitter": (lambda: xs.terrain.stepping_stones(jitter=0.11, gap=0.1), "jitter is 0.11 m", "at most 0.1"),
    "a loop of one frame": (lambda: xs.Loop("a", "a"), "frame_a and frame_b are both 'a'"),
    "a slash": (lambda: xs.rigid_body("a/b", xs.Sphere(0.1), mass=1.0), "name is 'a/b'", "without '/'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused(case):
    act, *words = REFUSED[case]
    refused(xs.InvalidArgument, act, *words)


def test_more_slots_than_can_be_are_refused(ball):
    refused(xs.InvalidArgument, lambda: xs.Simulator(ball, slots=10**9), "slots is 1000000000", "from 1 to 1000")


def test_a_robot_is_no_ground():
    refused(xs.UnsupportedModel, lambda: xs.load_ground("go2"), "'go2' is a robot", ".xml", "exposim.HalfSpace()")
    refused(xs.UnsupportedModel, lambda: xs.load_ground("stairs"), "'stairs' is no file", ".xml")


def test_a_plate_is_felt_however_thin(tmp_path, ball):
    mesh = xs.Mesh(plate(tmp_path, 2e-3, 0.3))
    point = np.array([[0.03, 0.02, 0.0], [0.03, 0.02, 1e-3], [0.03, 0.02, 6e-3]])
    assert_allclose(mesh.distance(point), [-1e-3, 0.0, 5e-3], atol=3e-4)
    foot = ball.replace(contact_points=[xs.ContactPoint("ball")])
    sim = xs.Simulator(foot, mesh, dt=1e-3)
    sim.reset([0.03, 0.02, 1.2e-3, 0.0, 0.0, 0.0, 1.0])
    sim.step(n=1000)
    assert_allclose(sim.q[2], 1e-3 - 9.81 / 1e5, atol=1e-4)


def test_a_plate_too_thin_for_any_grid_is_refused(tmp_path):
    refused(xs.InvalidArgument, lambda: xs.Mesh(plate(tmp_path, 2e-4)), "0.0002 m thin", "cells", "resolution=0.0002")


def test_cells_larger_than_the_mesh_are_refused(tmp_path):
    for resolution in (10.0, 6e-3):
        act = lambda resolution=resolution: xs.Mesh(plate(tmp_path, 5e-3), resolution=resolution)  # noqa: E731
        refused(xs.InvalidArgument, act, f"resolution is {resolution:g} m", "0.005 m thin", "at most 0.0025")


def test_the_unit_of_a_scale_is_said(tmp_path):
    refused(
        xs.InvalidArgument, lambda: xs.Mesh(plate(tmp_path, 0.1), scale=0.0), "scale is 0.0", "per unit of the file"
    )


def test_a_binary_file_with_a_wrong_count_says_both_lengths(tmp_path):
    path = mesh_shapes.write_stl(tmp_path / "block.stl", mesh_shapes.block((0.1, 0.1, 0.1)))
    data = path.read_bytes()
    path.write_bytes(data[:80] + (40).to_bytes(4, "little") + data[84:])
    words = ("its header says 40 triangles, which take 2084 bytes, and it has 684", "no text either")
    refused(xs.UnreadableFile, lambda: xs.Mesh(path), *words)
    path.write_bytes(data[:30])
    refused(xs.UnreadableFile, lambda: xs.Mesh(path), "shorter than a header")


def test_helpers_of_the_package_are_not_among_its_names():
    names = [name for name in dir(xs) if not name.startswith("__")]
    parts = {"analysis", "envs", "identification", "jax", "mpc", "plots", "sweeps", "tasks", "torch", "viewer"}
    on_use = {"Identified", "Measured", "RolloutResult", "Unobservable", "identify", "sweep"}
    assert set(names) == {*xs.__all__, *parts, *on_use}
