"""Contact points from the collision geometry: what each shape gives, what is thinned, and what is told of it."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from bad_input import refused
from exposim.contact import mesh_hulls
from exposim.robots.contact_points import ContactPoint
from exposim.simulation.settings import RobotSettings
from mesh_files import ball, cube, write_stl
from robot_files import ARM_URDF, BODY_URDF, KNOWN, heights, known, note, pendulum, warnings_of, write

COLLISION = '<collision><origin xyz="{xyz}" rpy="{rpy}"/><geometry>{geometry}</geometry></collision>'


def collision(geometry, xyz="0 0 0", rpy="0 0 0"):
    return COLLISION.format(geometry=geometry, xyz=xyz, rpy=rpy)


def brick(folder, *collisions, points="auto", **options):
    """A free body with these shapes."""
    path = write(folder, BODY_URDF.replace("</link>", "".join(collisions) + "</link>"))
    return xs.load_robot(path, contact_points=points, **options)


def mesh_of(folder, triangles, name="it.stl", scale="1 1 1"):
    write_stl(folder / name, triangles)
    return f'<mesh filename="package://{folder.name}/{name}" scale="{scale}"/>'


def offsets(robot):
    return np.array([point.offset for point in robot.contact_points])


def same_points(a, b):
    """Whatever their order."""
    key = np.lexsort(np.round(a, 6).T), np.lexsort(np.round(b, 6).T)
    assert_allclose(np.asarray(a)[key[0]], np.asarray(b)[key[1]], atol=1e-9)


SIGNS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


# What each shape gives.


def test_a_sphere_is_one_point_with_its_radius(tmp_path):
    (point,) = brick(tmp_path, collision('<sphere radius="0.03"/>', "0.1 0.2 0.3")).contact_points
    assert_allclose(point.offset, [0.1, 0.2, 0.3])
    assert (point.radius, point.frame, point.name) == (0.03, "brick", "brick_0")


def test_a_box_gives_its_corners_where_it_is(tmp_path):
    robot = brick(tmp_path, collision('<box size="0.2 0.4 0.6"/>', "0 0 1", "0 0 1.5707963267948966"))
    same_points(offsets(robot), SIGNS * [0.2, 0.1, 0.3] + [0, 0, 1])


def test_a_cylinder_gives_points_on_its_rims(tmp_path):
    p = offsets(brick(tmp_path, collision('<cylinder radius="0.1" length="0.3"/>')))
    assert 6 <= len(p) <= 8
    assert_allclose(np.hypot(p[:, 0], p[:, 1]), 0.1, atol=1e-9)
    assert_allclose(np.abs(p[:, 2]), 0.15, atol=1e-9)


def test_a_cylinder_that_is_to_be_checked_as_a_capsule_is_one(tmp_path):
    text = collision('<cylinder radius="0.02" length="0.1"/>').replace("<collision>", '<collision name="rod">')
    robot = brick(tmp_path, text, '<collision_checking><capsule name="rod"/></collision_checking>')
    same_points(offsets(robot), [[0, 0, -0.05], [0, 0, 0.05]])
    assert {point.radius for point in robot.contact_points} == {0.02}


def test_a_mesh_gives_the_corners_of_its_hull(tmp_path):
    robot = brick(tmp_path, collision(mesh_of(tmp_path, cube(0.1)), "0 0 0.5"))
    same_points(offsets(robot), 0.1 * SIGNS + [0, 0, 0.5])


def test_a_mesh_is_scaled_and_mirrored(tmp_path):
    wedge = cube(0.1)
    wedge[..., 0] += 0.1  # from 0 to 0.2 along x
    robot = brick(tmp_path, collision(mesh_of(tmp_path, wedge, scale="-1 2 1")))
    same_points(offsets(robot), SIGNS * [0.1, 0.2, 0.1] - [0.1, 0, 0])


def test_a_mesh_as_round_as_a_ball_is_one_point_with_its_radius(tmp_path):
    (point,) = brick(tmp_path, collision(mesh_of(tmp_path, ball(0.03)), "0 0 0.1")).contact_points
    assert_allclose(point.offset, [0, 0, 0.1], atol=1e-4)
    assert_allclose(point.radius, 0.03, rtol=0.01)


def test_points_are_in_the_frame_of_their_link_even_if_it_is_fixed_to_another(tmp_path):
    shape = collision('<sphere radius="0.02"/>')
    text = ARM_URDF.replace('<link name="wrist"/>', f'<link name="wrist">{shape}</link>')
    robot = xs.load_robot(write(tmp_path, text), contact_points="auto")
    (point,) = robot.contact_points
    assert (point.frame, point.name) == ("wrist", "wrist_0")
    assert_allclose(point.offset, 0.0, atol=1e-15)


# What is merged, hidden or thinned.


def test_points_within_another_shape_of_the_body_are_dropped(tmp_path):
    big, small = collision('<box size="1 1 1"/>'), collision('<sphere radius="0.05"/>')
    robot = brick(tmp_path, big, small, points=xs.AutoPoints(per_link=20))  # room for what fills gaps
    same_points(offsets(robot), 0.5 * SIGNS)


def test_what_stands_out_of_another_shape_is_kept(tmp_path):
    big, small = collision('<box size="1 1 1"/>'), collision('<sphere radius="0.05"/>', "0 0 0.5")
    robot = brick(tmp_path, big, small, points=xs.AutoPoints(per_link=20))
    assert [point.offset for point in robot.contact_points if point.radius] == [(0.0, 0.0, 0.5)]


def test_shapes_that_share_a_corner_share_the_point(tmp_path):
    box = '<box size="0.1 0.2 0.2"/>'
    robot = brick(tmp_path, collision(box, "-0.05 0 0"), collision(box, "0.05 0 0"), points=xs.AutoPoints(per_link=50))
    assert len(robot.contact_points) <= 12
    p = offsets(robot)
    assert np.min(np.linalg.norm(p[:, None] - p[None], axis=2) + np.eye(len(p))) > 0.01


def test_no_more_points_than_asked_for_on_a_link(tmp_path):
    robot = brick(tmp_path, collision(mesh_of(tmp_path, ball(0.3) * [1, 2, 3])), points=xs.AutoPoints(per_link=5))
    assert len(robot.contact_points) == 5


def test_the_lowest_points_are_kept_when_there_may_be_few(tmp_path):
    robot = brick(tmp_path, collision('<box size="0.2 0.4 0.6"/>'), points=xs.AutoPoints(total=4))
    same_points(offsets(robot), SIGNS[SIGNS[:, 2] < 0] * [0.1, 0.2, 0.3])


@pytest.mark.parametrize("total", [1, 3, 10, 40])
def test_no_more_points_than_asked_for_in_all(total):
    robot = xs.load_robot("go2", contact_points=xs.AutoPoints(total=total))
    assert 0 < len(robot.contact_points) <= total


def test_fewer_points_miss_more():
    missed = [
        max(each.missed for each in xs.load_robot("go2", contact_points=auto).file_shapes.found if each.link == "base")
        for auto in (xs.AutoPoints("base", 4), xs.AutoPoints("base", 8), xs.AutoPoints("base", 40))
    ]
    assert missed[0] > missed[1] > missed[2]


def test_what_a_mesh_reaches_beyond_its_points_is_what_is_told(tmp_path):
    robot = brick(tmp_path, collision(mesh_of(tmp_path, ball(0.3) * [1, 2, 3])))
    (found,) = robot.file_shapes.found
    p, vertices = offsets(robot), ball(0.3).reshape(-1, 3) * [1, 2, 3]
    d = np.random.default_rng(0).normal(size=(2000, 3))
    d /= np.linalg.norm(d, axis=1)[:, None]
    missed = ((d @ vertices.T).max(axis=1) - (d @ p.T).max(axis=1)).max()
    assert_allclose(found.missed, missed, rtol=0.1)


# Which links.


def test_only_the_links_that_are_named_get_points():
    robot = xs.load_robot("go2", contact_points=xs.AutoPoints(links=("*_foot", "base"), per_link=6))
    assert {point.frame for point in robot.contact_points} == {"base", "FL_foot", "FR_foot", "RL_foot", "RR_foot"}


def test_a_link_that_is_not_there_is_told_the_closest():
    refused(
        xs.UnknownFrame, lambda: xs.load_robot("go2", contact_points=xs.AutoPoints("FL_fot")), "FL_fot", "'FL_foot'"
    )


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"links": 3}, "links"),
        ({"links": ()}, "links"),
        ({"links": ("a", 2)}, "links"),
        ({"per_link": 0}, "per_link"),
        ({"per_link": 2.5}, "per_link"),
        ({"total": -1}, "total"),
        ({"total": True}, "total"),
    ],
)
def test_bad_bounds_are_refused(arguments, word):
    refused(xs.InvalidArgument, lambda: xs.AutoPoints(**arguments), word, "give")


def test_other_words_than_auto_are_refused():
    refused(xs.InvalidArgument, lambda: xs.load_robot("go2", contact_points="feet"), "contact_points", "'auto'")


# Files.


def test_a_file_with_shapes_gets_their_points_by_default(tmp_path):
    load = lambda: brick(tmp_path, collision('<sphere radius="0.03"/>'), points=None, floating_base=True)  # noqa: E731
    assert load().feet == ("brick_0",)
    assert "contact points of its collision geometry (brick_0)" in note(load)


def test_a_file_with_shapes_has_no_points_if_none_are_wanted(tmp_path):
    assert brick(tmp_path, collision('<sphere radius="0.03"/>'), points=()).contact_points == ()


def test_a_floating_robot_starts_with_its_lowest_point_on_the_ground(tmp_path):
    robot = brick(tmp_path, collision('<box size="0.2 0.4 0.6"/>'))
    assert_allclose(heights(robot, robot.q0).min(), 0.0, atol=1e-9)


def test_a_file_without_shapes_is_told_so(tmp_path):
    refused(xs.InvalidArgument, lambda: brick(tmp_path), "contact_points is 'auto'", "no collision geometry", "give")


def test_a_model_is_told_that_it_has_no_shapes():
    load = lambda: xs.load_robot(pendulum(), contact_points="auto")  # noqa: E731
    refused(xs.InvalidArgument, load, "a pinocchio.Model has no collision geometry")


def test_what_is_fixed_to_the_world_gets_no_points(tmp_path):
    head, base, rest = ARM_URDF.split("</link>", 2)
    shape = collision('<sphere radius="0.03"/>')
    path = write(tmp_path, "</link>".join([head + shape, base + shape, rest]))
    robot = xs.load_robot(path, floating_base=False, contact_points="auto")
    assert {point.frame for point in robot.contact_points} == {"upper"}
    assert "sphere of base: it is fixed to the world" in str(robot)


MISSING = collision('<mesh filename="package://nowhere/a.stl"/>')


def test_a_missing_mesh_is_told_of_and_the_others_are_taken(tmp_path):
    load = lambda: brick(tmp_path, MISSING, collision('<sphere radius="0.03"/>'), floating_base=True)  # noqa: E731
    assert "contact of mesh of brick: there is no file package://nowhere/a.stl" in note(load)
    assert load().feet == ("brick_0",)
    assert "mesh of brick: there is no file package://nowhere/a.stl" in str(load())


def test_missing_meshes_alone_give_no_points(tmp_path):
    refused(xs.InvalidArgument, lambda: brick(tmp_path, MISSING), "no collision geometry")
    assert brick(tmp_path, MISSING, points=None).contact_points == ()


@pytest.mark.parametrize("content", [b"", b"solid it\nfacet", b"\x00" * 100, b"v 1 2\nf 1 2 3"])
def test_a_damaged_mesh_is_told_of(content, tmp_path):
    (tmp_path / "it.stl").write_bytes(content)
    mesh = f'<mesh filename="package://{tmp_path.name}/it.stl"/>'
    load = lambda: brick(tmp_path, collision(mesh), collision('<sphere radius="0.03"/>'))  # noqa: E731
    assert "contact of mesh of brick" in note(load)
    assert load().feet == ("brick_0",)


def test_a_mesh_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(mesh_hulls, "LARGEST_MESH", 100)
    load = lambda: brick(tmp_path, collision(mesh_of(tmp_path, cube(0.1))), collision('<sphere radius="1"/>'))  # noqa: E731
    assert "larger than" in note(load)


def test_a_mesh_that_has_changed_is_read_again(tmp_path):
    shape = collision(mesh_of(tmp_path, cube(0.1)))
    assert_allclose(np.abs(offsets(brick(tmp_path, shape))), 0.1)
    write_stl(tmp_path / "it.stl", cube(0.123))
    assert_allclose(np.abs(offsets(brick(tmp_path, shape))), 0.123)


# Robots with such points.


def test_the_same_file_gives_the_same_points():
    assert xs.load_robot("go2", contact_points="auto").contact_points == auto("go2").contact_points


def test_a_robot_with_such_points_can_be_pickled_and_saved():
    robot = auto("go2")
    again = pickle.loads(pickle.dumps(robot))
    assert again.contact_points == robot.contact_points
    assert str(again) == str(robot)
    loaded = RobotSettings.of(robot).load()
    assert loaded.contact_points == robot.contact_points
    assert_allclose(loaded.q0, robot.q0)


def test_print_says_what_was_found_on_every_link(tmp_path):
    shapes = [collision('<box size="0.2 0.4 0.6"/>'), collision('<sphere radius="0.03"/>', "0 0 -0.35")]
    text = str(brick(tmp_path, *shapes, points=xs.AutoPoints(total=5)))
    assert "5 contact points, chosen from the collision geometry" in text
    assert "  brick  box, sphere  5 of 8 points, radius 0 and 30 mm  body reaches up to" in text
    assert "3 points: no more than 5 in all, and those add least" in text


def test_print_says_where_a_robot_with_named_points_touches():
    text = str(known("go2"))
    assert text.startswith("robot 'go2' with a floating base and 12 actuated joints")
    assert "4 contact points\n" in text
    assert "FL_foot   mesh      1 point, radius 22 mm" in text
    assert "FL_calf   2 meshes  no points" in text
    assert "left out" not in text
    assert repr(known("go2")) == "Robot('go2', nq=19, nv=18, 12 actuated joints, 4 contact points)"


def test_print_forgets_the_points_that_were_replaced():
    text = str(auto("go2").replace(contact_points=[ContactPoint("base")]))
    assert "1 contact point\n" in text
    assert "left out" not in text


def test_print_works_for_a_model():
    assert (
        str(xs.load_robot(pendulum())) == "robot 'pendulum' with a fixed base and 1 actuated joints\n0 contact points"
    )


# The known robots.

_LOADED = {}


def auto(name):
    if name not in _LOADED:
        _LOADED[name] = xs.load_robot(name, contact_points="auto")
    return _LOADED[name]


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_robot_has_them_without_a_warning(name):
    assert warnings_of(lambda: xs.load_robot(name, contact_points="auto")) == []


@pytest.mark.parametrize("name", KNOWN)
def test_names_are_unique_and_say_the_link(name):
    robot = auto(name)
    assert len(set(robot.feet)) == len(robot.feet) <= 64
    for point in robot.contact_points:
        assert point.name.rpartition("_")[0] == point.frame


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_robot_stands_as_high_as_on_its_named_points(name):
    robot, named = auto(name), known(name)
    foot = 0.016 if name == "solo12" else 0.0  # whose named points are the centres of its feet
    assert_allclose(heights(robot, named.q0).min() + foot, 0.0, atol=4.5e-3)
    assert_allclose(heights(robot, robot.q0).min(), 0.0, atol=1e-9)


@pytest.mark.parametrize("name", KNOWN)
def test_what_a_known_robot_stands_on_is_where_its_named_points_are(name):
    robot, named = auto(name), known(name)
    sim, other = xs.Simulator(robot), xs.Simulator(named.replace(q0=robot.q0))
    feet, here = other.positions, sim.positions
    for p in feet:
        near = np.linalg.norm(here[:, :2] - p[:2], axis=1) < 0.06
        assert heights(robot, robot.q0)[near].min() < 0.011


@pytest.mark.parametrize("name", ["go2", "anymal_c", "talos", "g1"])
def test_legs_have_mirrored_points(name):
    counts = {"left": 0, "right": 0}
    for point in auto(name).contact_points:
        side = point.frame.lower()
        if "left" in side or side[:2] in ("fl", "rl", "lf", "lh"):
            counts["left"] += "leg" in side or "left" not in side or "hip" in side or "knee" in side
        elif "right" in side or side[:2] in ("fr", "rr", "rf", "rh"):
            counts["right"] += "leg" in side or "right" not in side or "hip" in side or "knee" in side
    assert counts["left"] == counts["right"] > 0


def deepest(robot, ground, dt):
    """While it falls limp from 5 cm [m]."""
    sim = xs.Simulator(robot, ground, integrator=xs.Expo(), dt=dt)
    q = robot.q0
    q[2] += 0.05
    sim.reset(q)
    lowest = 0.0
    for _ in range(round(0.5 / dt)):
        sim.step()
        lowest = min(lowest, heights(robot, sim.q).min())
    assert np.isfinite(sim.q).all()
    return -lowest


@pytest.mark.parametrize("name", KNOWN)
def test_a_limp_robot_falls_no_deeper_into_stiff_ground_than_a_centimetre(name):
    assert deepest(auto(name), xs.HalfSpace(xs.Material(2e6, 1300.0)), 5e-3) < 0.01


@pytest.mark.parametrize("name", KNOWN)
def test_a_limp_robot_falls_as_deep_as_with_small_steps(name):
    depth, fine = (deepest(auto(name), xs.HalfSpace(), dt) for dt in (5e-3, 1e-3))
    assert depth < 1.2 * fine + 5e-4
