"""Pictures and films, made without a browser."""

import av
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

import exposim as xs
from exposim.contact.modes import SLIPPING, STICKING
from exposim.simulation.trajectory import Trajectory
from exposim.viewer import Camera, Renderer, render, video
from exposim.viewer.films import _times
from exposim.viewer.flashes import DURATION, Flashes
from exposim.viewer.rays import Part, Solid
from viewer_scenes import count, slide, table_robot

SIZE = (160, 120)  # of the pictures, in pixels
FRONT = Camera((0.0, -2.0, 0.2), (0.0, 0.0, 0.2), 30.0)  # 8.9 mm a pixel at the origin


@pytest.fixture
def table(tmp_path):
    return table_robot(tmp_path)


@pytest.fixture
def motion(table):
    return slide(table, xs.HalfSpace(), duration=0.2)


def wood(picture):
    """Where the table is seen: yellow is nothing else."""
    red, _, blue = np.moveaxis(picture.astype(int), -1, 0)
    return red > 1.5 * blue


def test_a_picture_is_of_the_size_asked_for_and_the_same_again(motion):
    taken = Renderer(motion, *SIZE)
    picture = taken.image(0.1)
    assert picture.shape == (120, 160, 3)
    assert picture.dtype == np.uint8
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100
    taken.image(0.2)
    assert_array_equal(taken.image(0.1), picture)
    assert_array_equal(render(motion, 0.1, *SIZE), picture)


@pytest.mark.parametrize("height", [0.0, 0.1])
def test_a_robot_is_seen_where_it_is(table, height):
    sim = xs.Simulator(table, xs.HalfSpace())
    q = table.q0
    q[:3] = 0.2, 0.0, 0.2 + height
    sim.reset(q)
    rows, columns = np.nonzero(wood(render(sim, None, *SIZE, camera=FRONT, forces=False)))
    pixel = 2.0 * np.tan(np.radians(15.0)) / 120 * 1.85  # at the table's front edge [m]
    assert_allclose(columns.mean() - 79.5, 0.2 / pixel, atol=1.0)
    assert_allclose(59.5 - rows.mean(), height / pixel, atol=2.0)
    assert_allclose(np.ptp(columns) + 1, 0.4 / pixel, atol=1.5)


def test_what_is_in_front_hides_what_is_behind(table):
    wall = xs.Box((2.0, 0.1, 2.0), position=(0.0, -0.5, 0.0))
    q = table.q0
    q[2] = 0.2
    for ground, is_seen in (([xs.HalfSpace()], True), ([xs.HalfSpace(), wall], False)):
        sim = xs.Simulator(table, ground)
        sim.reset(q)
        assert wood(render(sim, None, *SIZE, camera=FRONT)).any() == is_seen


def test_a_robot_casts_a_shadow_on_the_ground(table):
    above = Camera((0.0, 0.0, 3.0), (0.0, 0.0, 0.0), 30.0)
    pictures = []
    for x in (0.0, 50.0):
        sim = xs.Simulator(table, xs.HalfSpace())
        q = table.q0
        q[0], q[2] = x, 0.5
        sim.reset(q)
        pictures.append(render(sim, None, *SIZE, camera=above, forces=False).astype(int))
    dark = ~wood(pictures[0]) & (pictures[0].sum(axis=2) < pictures[1].sum(axis=2) - 60)
    rows, columns = np.nonzero(dark)
    assert len(rows) > 100
    assert columns.mean() < 79.5  # away from the sun


def test_arrows_are_blue_where_contacts_stick_and_red_where_they_slip(table):
    recorded = slide(table, xs.HalfSpace(), height=0.0, duration=0.3)
    for mode, seen, unseen in ((STICKING, "blue", "red"), (SLIPPING, "red", "blue")):
        motion = Trajectory({**recorded._arrays, "mode": np.full_like(recorded.mode, mode)}, recorded.header)
        picture = render(motion, None, 320, 240).astype(int)
        assert count(picture, seen) > 30
        assert count(picture, unseen) == 0
        assert count(render(motion, None, 320, 240, forces=False).astype(int), seen) == 0


def test_looking_at_a_simulator_does_not_change_it(table):
    looked_at, alone = (xs.Simulator(table, xs.HalfSpace()) for _ in range(2))
    taken = Renderer(looked_at, 32, 24)
    for _ in range(20):
        looked_at.step()
        alone.step()
        taken.image()
    assert looked_at.state.to_array().tobytes() == alone.state.to_array().tobytes()


def test_terrain_written_in_python_is_seen_below_a_simulator(table):
    sim = xs.Simulator(table, xs.terrain.stairs())
    picture = render(sim, None, *SIZE)
    assert len(np.unique(picture[-10:].reshape(-1, 3), axis=0)) > 5


def test_contacts_flash_after_they_land_and_no_longer(motion):
    flashes = Flashes(np.array([0.5, 0.6]), np.array([2, 0]), 4)
    assert_array_equal(flashes.at(0.49), 0.0)
    assert_allclose(flashes.at(0.5), [0.0, 0.0, 1.0, 0.0])
    assert_allclose(flashes.at(0.5 + DURATION / 2), [0.0, 0.0, 0.5, 0.0])
    assert_allclose(flashes.at(0.6), [1.0, 0.0, 1.0 - 0.1 / DURATION, 0.0])
    assert_array_equal(flashes.at(0.6 + DURATION), 0.0)


def test_flashes_are_at_the_landings_of_the_motion(motion):
    flashes = Flashes.of(motion)
    landed = motion.events.select("land")
    assert len(landed) >= 4
    assert_array_equal(flashes.t, landed.t)
    assert_array_equal(np.flatnonzero(flashes.at(float(landed.t[0]))), landed.index[landed.t == landed.t[0]])


def test_a_landing_is_seen_as_a_yellow_light(motion):
    t = float(motion.events.select("land").t[0])
    flashing, before = (render(motion, each, 320, 240, camera=FRONT).astype(int) for each in (t + 2e-3, t - 2e-3))
    assert np.sum((flashing - before)[..., 0] - (flashing - before)[..., 2] > 60) > 40


def test_a_loop_of_one_s_own_is_drawn_with_the_robot_that_it_moved(table):
    robot = xs.Robot(table.model, table.contact_points, name="of no file")
    sim = xs.Simulator(robot, xs.HalfSpace())
    recorder = xs.Recorder(sim)
    sim.step(n=3)
    with pytest.warns(xs.ModelWarning, match="stick figure"):
        assert render(recorder.trajectory, None, 16, 12).shape == (12, 16, 3)


def test_rays_meet_the_nearest_triangle_and_turn_its_normal_smoothly():
    square = np.array([(-1.0, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)])
    faces = np.array([(0, 1, 2), (0, 2, 3)])
    sheets = [Part.of(square + np.array([0, 0, z]), faces, (z, 0.0, 0.0)) for z in (0.25, 0.75)]
    hits = Solid(sheets).hits(np.array([0.0, 0.0, 2.0]), np.array([(0, 0, -1), (0, 0, 1)], dtype=np.float32))
    assert_allclose(hits.far, [1.25, np.inf])
    assert_allclose(hits.normal[0], [0, 0, 1])
    assert_allclose(hits.colour[0], [0.75, 0, 0])
    assert not Solid([]).hides(np.zeros((3, 3), dtype=np.float32), np.ones(3, dtype=np.float32)).any()


def test_meshes_of_several_materials_are_drawn_as_they_are_in_their_files():
    robot = xs.load_robot("go2")
    sim = xs.Simulator(robot, xs.HalfSpace())
    parts = [part for shape in Renderer(sim, 8, 8)._shapes for part in shape]
    areas = [
        np.linalg.norm(np.cross(*np.diff(part.vertices[part.faces], axis=1).swapaxes(0, 1)), axis=1).sum() / 2
        for part in parts
    ]
    assert sum(areas) < 2.0  # [m²]: with triangles between wrong corners it is ten times that
    assert len({part.colour for part in parts}) > 3


# Films.


def test_a_film_has_the_length_and_the_pictures_of_the_motion(motion, tmp_path):
    path = video(motion, tmp_path / "new" / "film.mp4", fps=50, width=64, height=48)
    with av.open(path) as film:
        pictures = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
        assert film.streams.video[0].average_rate == 50
    assert len(pictures) == 11
    assert pictures[0].shape == (48, 64, 3)
    first = render(motion, 0.0, 64, 48).astype(int)
    assert np.abs(pictures[0] - first).mean() < 8.0
    assert np.abs(pictures[0] - first).mean() < np.abs(pictures[-1] - first).mean()


def test_slow_motion_has_pictures_of_times_that_are_closer():
    assert_allclose(_times(np.array([1.0, 1.1, 1.2]), 10.0, 0.5), [1.0, 1.05, 1.1, 1.15, 1.2])


def test_a_gif_in_slow_motion_lasts_longer(motion, tmp_path):
    path = video(motion, tmp_path / "film.gif", fps=15, width=40, height=30, speed=0.5)
    with Image.open(path) as film:
        assert film.size == (40, 30)
        lasting = []
        for i in range(film.n_frames):
            film.seek(i)
            lasting.append(film.info["duration"])
    assert sum(lasting) in range(450, 481)  # [ms], 7 pictures


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"path": "film.avi"}, "ends in .mp4 or .gif"),
        ({"path": "film.mp4", "width": 41}, "even numbers"),
        ({"path": "film.gif", "fps": 60}, "50 at most"),
        ({"path": "film.mp4", "fps": 0}, "fps is 0"),
        ({"path": "film.mp4", "speed": float("inf")}, "speed is inf"),
    ],
)
def test_a_film_that_cannot_be_is_refused(motion, tmp_path, options, told):
    with pytest.raises(xs.InvalidArgument, match=told):
        video(motion, tmp_path / options.pop("path"), **options)
    assert list(tmp_path.glob("film*")) == []


def test_a_picture_that_cannot_be_is_refused(motion, table):
    sim = xs.Simulator(table)
    for make, told in (
        (lambda: render(motion, 0.3), "from 0 to 0.2 s"),
        (lambda: render(sim, 0.1), "as it is now"),
        (lambda: render(sim, ground=xs.HalfSpace()), "those of the simulator"),
        (lambda: render(sim, None, 0, 10), "width is 0"),
        (lambda: render(sim, camera=(1, 2, 3)), r"give an exposim.viewer.Camera\(position, target\)"),
        (lambda: Camera((1, 1, 1), (1, 1, 1)), "give two places"),
        (lambda: Camera((1, 1, 1), (0, 0, 0), 180.0), "less than 170"),
    ):
        with pytest.raises(xs.InvalidArgument, match=told):
            make()


def test_a_line_of_one_s_own_is_seen_where_it_is_until_it_is_removed(table):
    taken = Renderer(xs.Simulator(table, xs.HalfSpace()), *SIZE, camera=FRONT)
    before = taken.image()
    taken.draw("plan", [(0.3, 0.0, 0.0), (0.3, 0.0, 0.5)], colour=(1.0, 0.0, 1.0))
    rows, columns = np.nonzero(np.any(taken.image() != before, axis=2))
    assert abs(np.median(columns) - (79.5 + 0.3 / 0.0089)) < 2.0
    assert np.ptp(rows) > 0.4 / 0.0089
    with pytest.raises(xs.InvalidArgument, match="points has shape"):
        taken.draw("plan", [0.0, 1.0, 2.0])
    taken.draw("plan", None)
    assert_array_equal(taken.image(), before)
