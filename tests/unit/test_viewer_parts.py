"""What the viewers are made of, and what they refuse, without a browser."""

import socket
import subprocess
import sys
import warnings

import coal
import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from exposim.simulation.trajectory import Trajectory
from exposim.viewer import LiveViewer, write_replay
from exposim.viewer.geometry import visual_model
from exposim.viewer.robot_meshes import triangles
from exposim.viewer.scene import Scene, frames, rounded
from exposim.viewer.tiles import placement, tiles
from robot_files import BODY_URDF, pendulum, write
from viewer_scenes import fall_and_slip, slide, table_robot

MESH_URDF = BODY_URDF.replace(
    "</link>", '<visual><geometry><mesh filename="package://brick/hull.stl"/></geometry></visual></link>'
)


@pytest.fixture(scope="module")
def drop():
    return fall_and_slip()


@pytest.fixture
def table(tmp_path):
    return table_robot(tmp_path)


# The replay file.


def test_the_replay_starts_no_server(drop, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a process or a socket")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(socket, "socket", refuse)
    assert write_replay(drop, tmp_path / "new folder" / "drop.html").is_file()


def test_a_replay_without_ground_or_contacts_or_motion_is_written(table, tmp_path):
    assert write_replay(slide(table, None), tmp_path / "a.html").is_file()
    bare = table.replace(contact_points=[])
    assert write_replay(slide(bare, xs.HalfSpace(), duration=1e-3), tmp_path / "b.html", robot=bare).is_file()


def test_a_replay_of_a_diverged_run_says_so(table, tmp_path):
    recorded = slide(table, xs.HalfSpace())
    outcome = recorded.header["outcome"] | {"diverged_at": 0.4}
    diverged = Trajectory(recorded._arrays, recorded.header | {"outcome": outcome})
    page = write_replay(diverged, tmp_path / "diverged.html").read_text(encoding="utf-8")
    assert "<title>slide · table · Expo · dt = 1 ms · diverged at 0.4 s</title>" in page


def test_what_cannot_be_replayed_is_refused(drop, table, tmp_path):
    with pytest.raises(
        xs.InvalidArgument, match=r"robot 'table' has configurations of 7 entries, the trajectory of 19"
    ):
        write_replay(drop, tmp_path / "drop.html", robot=table)
    with pytest.raises(xs.InvalidArgument, match=r"ends in \.html"):
        write_replay(drop, tmp_path / "drop.mp4")


# The live page.


def test_a_busy_port_gives_way_to_the_next_and_is_free_after_the_end(table):
    with LiveViewer(table, port=0) as first:
        port = int(first.url.rsplit(":", 1)[1])
        second = LiveViewer(table, port=port)
        assert port < int(second.url.rsplit(":", 1)[1]) < port + 50
        second.stop()
        second.stop()
        second.wait()  # returns at once
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))


@pytest.mark.parametrize("port", [-1, 65536, "8080", True])
def test_a_port_that_is_none_is_refused(table, port):
    with pytest.raises(xs.InvalidArgument, match=r"port is .*; give a whole number from 0 to 65535"):
        LiveViewer(table, port=port)


def test_a_machine_without_a_free_port_is_told(table, monkeypatch):
    monkeypatch.setattr("exposim.viewer.live.ATTEMPTS", 1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(xs.InvalidArgument, match=f"no port from {port} to {port} is free on 127.0.0.1"):
            LiveViewer(table, port=port)


# What they are made of.


def test_exposim_is_imported_without_the_viewers_and_they_without_a_warning():
    code = "import sys, exposim, exposim.viewer; print({'meshcat', 'viser', 'trimesh'} & set(sys.modules))"
    code += "; exposim.viewer.serve, exposim.viewer.write_replay"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("set()", "")


@pytest.mark.parametrize(
    ("make", "missing"),
    [
        (lambda _: xs.load_robot(pendulum()), "made from a pinocchio.Model, not from a file"),
        (lambda folder: xs.load_robot(write(folder, BODY_URDF)), "robot.urdf has no shapes"),
        (lambda folder: xs.load_robot(write(folder, MESH_URDF)), "hull.stl"),
    ],
)
def test_what_has_no_shapes_is_a_stick_figure(tmp_path, make, missing):
    robot = make(tmp_path)
    with pytest.warns(xs.ModelWarning, match=f"is drawn as a stick figure: .*{missing}"):
        shapes = visual_model(robot)
    assert shapes.ngeoms >= 1
    assert all(isinstance(shape.geometry, (coal.Cylinder, coal.Sphere)) for shape in shapes.geometryObjects)


def test_a_floor_in_an_mjcf_file_is_not_part_of_the_robot(tmp_path):
    file = write(
        tmp_path,
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="ball"><freejoint/>'
        '<geom type="capsule" size="0.1 0.2"/></body></worldbody></mujoco>',
        "ball.xml",
    )
    robot = xs.load_robot(file, contact_points=[xs.ContactPoint("ball")])
    with warnings.catch_warnings():
        warnings.simplefilter("error", xs.ModelWarning)
        shapes = visual_model(robot)
    assert [type(shape.geometry) for shape in shapes.geometryObjects] == [coal.Capsule]


@pytest.mark.parametrize("name", ["talos", "romeo"])
def test_meshes_of_every_format_and_scale_become_triangles(name):
    robot = xs.load_robot(name)
    for shape in visual_model(robot).geometryObjects:
        mesh = triangles(shape, np.array(shape.meshScale))
        if mesh is not None:
            shape.geometry.computeLocalAABB()
            box = shape.geometry.aabb_local
            assert_allclose(mesh.bounds, [box.min_, box.max_], atol=1e-5)


@pytest.mark.parametrize("shape", [coal.Capsule(0.1, 0.4), coal.Cone(0.1, 0.4), coal.Ellipsoid(0.1, 0.2, 0.3)])
def test_shapes_that_viser_lacks_become_triangles(shape):
    mesh = triangles(pin.GeometryObject("it", 0, pin.SE3.Identity(), shape), np.ones(3))
    shape.computeLocalAABB()
    assert_allclose(mesh.bounds, [shape.aabb_local.min_, shape.aabb_local.max_], atol=2e-3)


def test_arrows_are_proportional_to_forces_hidden_without_and_cut_when_huge(table):
    scene = Scene.of(table, None, table.q0)
    force = np.array([[0.0, 0, 2], [0, 0, 4], [0, 0, 2], [0, 0, 1e-9], [0, 0, 1e9]])
    drawn, arrows = scene.arrows(force, np.array([True, True, False, True, True]))
    assert drawn.tolist() == [True, True, False, False, True]
    assert_allclose(arrows[1], 2.0 * arrows[0])
    assert_allclose(arrows[0, 2] * scene.newtons_per_metre, 2.0)
    assert_allclose(arrows[4, 2], 4.0 * scene.size)


def test_the_ground_is_patched_under_the_robot_on_a_grid_with_its_own_point():
    plane = xs.HalfSpace(point=(0.1, 0.0, 1.0), normal=(0.0, 0.0, 1.0))
    assert_allclose(placement(plane, np.array([7.3, -2.1, 5.0]), 0.5).translation, [7.1, -2.0, 1.0])
    vertices, faces = tiles(0.5, shade=0, count=4)
    assert_allclose([vertices.min(axis=0), vertices.max(axis=0)], [[-1, -1, 0], [1, 1, 0]])
    corners = vertices[faces]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    assert_allclose(areas.sum(), 2.0)  # half of the patch


def test_long_motions_have_a_bounded_number_of_images_with_first_and_last():
    for end in (0.0, 0.003, 2.0, 500.0):
        t = np.arange(0.0, end + 5e-4, 1e-3)
        shown = frames(t)
        assert (shown[0], shown[-1]) == (0, len(t) - 1)
        assert len(shown) <= 2001


def test_scales_are_round_numbers():
    assert [rounded(value) for value in (0.18, 3.4, 79.0, 0.0011)] == pytest.approx([0.2, 5.0, 100.0, 0.001])
