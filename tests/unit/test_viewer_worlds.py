"""Both viewers show all of a world: terrain, shapes, objects, several robots."""

import warnings

import numpy as np
import pinocchio as pin
import pytest
import trimesh
from numpy.testing import assert_allclose

import exposim as xs
from browser import CHROMIUM, Browser
from exposim.scenarios import Scenario
from exposim.simulation.trajectory import Trajectory
from exposim.viewer import serve, write_replay
from exposim.viewer.geometry import visual_model
from exposim.viewer.scene import Scene, centres_of_mass
from robot_files import write
from viewer_scenes import INERTIAL, is_a_picture, pixels, settled, slide, table_robot
from viewer_worlds import Bumps, Stairs

in_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium or google-chrome on the path")

ARM_URDF = f"""<robot name="arm">
  <link name="foot"><visual><origin xyz="0 0 0.1"/><geometry><box size="0.2 0.2 0.2"/></geometry></visual></link>
  <link name="beam">{INERTIAL}<visual><geometry><box size="0.6 0.1 0.1"/></geometry></visual></link>
  <joint name="turn" type="revolute"><parent link="foot"/><child link="beam"/><origin xyz="0 0 0.3"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
TREE = 'replay.viewer.scene_tree.find(["meshcat", {path}]).object'
# Corners of all triangles below a node, in the axes of the world, as one list of numbers.
VERTICES = """(() => {{
  const node = replay.viewer.scene_tree.find(["meshcat", {path}]).object, found = [];
  const v = new MeshCat.THREE.Vector3();
  replay.viewer.scene.updateMatrixWorld();
  node.traverse((mesh) => {{
    if (!mesh.isMesh) return;
    const at = mesh.geometry.attributes.position;
    for (let i = 0; i < at.count; i++) {{
      v.fromBufferAttribute(at, i).applyMatrix4(mesh.matrixWorld);
      found.push(v.x, -v.z, v.y);
    }}
  }});
  return found;
}})()"""


@pytest.fixture(scope="module")
def browser():
    with Browser((800, 420)) as opened:
        yield opened


@pytest.fixture
def table(tmp_path):
    return table_robot(tmp_path)


def crate(edge=0.3, mass=2.0):
    return xs.rigid_body("crate", xs.Box((edge, edge, edge)), mass=mass)


def pose(x=0.0, y=0.0, z=0.0):
    return [x, y, z, 0.0, 0.0, 0.0, 1.0]


def table_and_crate(table, **poses):
    return xs.combine(table=table, crate=crate(), poses={"table": pose(z=0.21), "crate": pose(0.6, z=0.4)} | poses)


def placed(robot, q):
    """Where everything that is drawn of a robot is."""
    shapes = visual_model(robot)
    data, geometry = robot.model.createData(), shapes.createData()
    pin.updateGeometryPlacements(robot.model, data, shapes, geometry, q)
    return {shape.name: place for shape, place in zip(shapes.geometryObjects, geometry.oMg, strict=True)}


def vertices(page, *path):
    found = page.evaluate(VERTICES.format(path=", ".join(map(repr, path))))
    return np.array(found).reshape(-1, 3)


def opened(browser, path, t):
    page = browser.open(path.as_uri() + f"#t={t}")
    page.wait_for("window.replay?.ready")
    return page


# Several robots in one, and what links carry.


def test_members_are_drawn_as_they_are_by_themselves(table):
    both = xs.combine(one=table, other=table, poses={"other": pose(2.0, 0.5, 1.0)})
    together = placed(both, both.q0)
    for name, joints in (("one", slice(0, 7)), ("other", slice(7, 14))):
        alone = placed(table, both.q0[joints])
        for shape, place in alone.items():
            assert together[f"{name}/{shape}"].isApprox(place)
    assert len(together) == 2 * len(alone)


def test_the_fixed_base_of_a_member_stands_where_it_was_put(tmp_path):
    arm = xs.load_robot(write(tmp_path, ARM_URDF), floating_base=False)
    both = xs.combine(arm=arm, crate=crate(), poses={"arm": pose(1.0, 2.0, 0.5), "crate": pose(z=1.0)})
    together, alone = placed(both, both.q0), placed(arm, arm.q0)
    away = pin.SE3(np.eye(3), np.array([1.0, 2.0, 0.5]))
    assert len(alone) == 2
    for shape, place in alone.items():
        assert together[f"arm/{shape}"].isApprox(away * place)


def test_a_body_without_a_file_is_its_shapes():
    balls = [xs.Sphere(0.1, (0.0, 0.0, z), frame="crate") for z in (-0.2, 0.2)]
    body = xs.Robot(crate().model, shapes=balls)
    with warnings.catch_warnings():
        warnings.simplefilter("error", xs.ModelWarning)
        places = placed(body, np.array(pose(1.0)))
    assert_allclose([place.translation for place in places.values()], [[1.0, 0.0, -0.2], [1.0, 0.0, 0.2]])


def test_what_a_link_carries_is_drawn_with_it_unless_its_file_shows_it(table, tmp_path):
    rock = tmp_path / "rock.stl"
    trimesh.creation.icosphere(radius=0.1).export(rock)
    inside, tray = xs.Box((0.3, 0.2, 0.05), frame="top"), xs.Box((0.8, 0.8, 0.01), (0.0, 0.0, 0.1), frame="top")
    carrying = xs.Robot(
        table.model,
        table.contact_points,
        source=table.source,
        shapes=[inside, tray, xs.Mesh(str(rock), position=(0.0, 0.0, 0.4), frame="top")],
    )
    before, after = placed(table, table.q0), placed(carrying, np.array(pose(1.0)))
    assert set(after) - set(before) == {"shape_1", "shape_2"}
    assert_allclose(after["shape_1"].translation, [1.0, 0.0, 0.1])
    scene = Scene.of(table, [xs.Sphere(0.2, (0.0, 0.0, 0.5), frame="top"), xs.HalfSpace()], table.q0)
    assert "carried_0" in {shape.name for shape in scene.shapes.geometryObjects}


def test_a_carried_mesh_that_is_gone_is_said(table, tmp_path):
    file = tmp_path / "gone.stl"
    trimesh.creation.box((0.1, 0.1, 0.1)).export(file)
    gone = xs.Mesh(file, frame="top")
    file.unlink()
    with pytest.warns(xs.ModelWarning, match=r"surface Mesh is not drawn: .*gone\.stl"):
        Scene.of(table, gone, table.q0)


# What the camera sees.


def test_several_bodies_are_seen_together_at_the_scale_of_the_largest(table):
    alone = Scene.of(table, None, table.q0)
    both = table_and_crate(table, crate=pose(3.0, z=0.4))
    scene = Scene.of(both, None, both.q0)
    assert_allclose([scene.size, scene.tile], [alone.size, alone.tile])
    assert 1.5 < scene.radius < 2.0
    assert_allclose(scene.centre[0], 1.5, atol=0.1)
    assert_allclose(scene.focus(both.q0[None])[0], [1.5, 0.0, 0.305], atol=1e-6)


def test_members_of_members_are_measured_each_by_itself(table):
    both = table_and_crate(table, crate=pose(3.0, z=0.4))
    nested = xs.combine(both=both, other=crate())
    scene, places = Scene.of(nested, None, nested.q0), centres_of_mass(nested, nested.q0[None])[0]
    assert_allclose(scene.size, Scene.of(table, None, table.q0).size)
    assert_allclose(places, [both.q0[:3], both.q0[7:10], nested.q0[14:17]], atol=1e-9)


def test_the_camera_stays_back_from_bodies_that_part_but_not_forever(table):
    both = table_and_crate(table)
    scene = Scene.of(both, None, both.q0)
    apart = np.tile(both.q0, (3, 1))
    apart[:, 7] = [0.6, 1.0, 1.6]
    assert_allclose(scene.following(apart).radius, scene.radius + 0.5, atol=0.01)
    apart[2, 7] = 1e6
    assert_allclose(scene.following(apart).radius, 3.0 * scene.radius)
    alone = Scene.of(table, None, table.q0)
    assert alone.following(np.tile(table.q0, (3, 1))).radius == alone.radius


def test_stairs_are_looked_at_from_below(table):
    for yaw in np.radians([45.0, 135.0, 225.0, 315.0]):
        scene = Scene.of(table, Stairs(yaw=yaw), table.q0)
        view = scene.view(scene.ground.terrain_looks(scene.centre, scene.centre))
        assert view[:2] @ [np.cos(yaw), np.sin(yaw)] < -0.5
    flat = Scene.of(table, xs.HalfSpace(), table.q0)
    assert_allclose(flat.view([])[:2] / flat.view([])[0], [1.0, -1.15])


# The replay file.


def test_a_file_has_the_names_of_surfaces_in_python_and_they_can_be_given(table, tmp_path):
    file = slide(table, Stairs()).save(tmp_path / "slide.npz")
    with pytest.warns(xs.ModelWarning, match=r"surface Stairs is not drawn: .* \(ground=\.\.\.\)"):
        bare = write_replay(file, tmp_path / "bare.html")
    full = write_replay(file, tmp_path / "full.html", ground=Stairs())
    assert full.stat().st_size > bare.stat().st_size + 50_000


def test_a_field_of_200_by_200_and_a_thousand_boxes_fit_into_a_page(table, tmp_path):
    random = np.random.default_rng(0)
    field = xs.HeightField(0.05 * random.random((200, 200)), 0.05, origin=(-5.0, -5.0))
    boxes = [xs.Box((0.2, 0.2, 0.2), tuple(place)) for place in random.uniform(-20, 20, (1000, 3))]
    page = write_replay(slide(table, None), tmp_path / "world.html", ground=[field, *boxes])
    assert page.stat().st_size < 5e6


@in_browser
def test_the_replay_has_the_world_where_it_is(browser, table, tmp_path):
    stairs, box = Stairs(), xs.Box((0.2, 0.4, 0.3), (0.0, 0.8, 0.15), (0.0, 0.0, 0.6, 0.8))
    ball = xs.Sphere(0.15, (0.2, -0.6, 0.15))
    motion = slide(table, xs.HalfSpace())
    path = write_replay(motion, tmp_path / "world.html", ground=[stairs, box, ball])
    with opened(browser, path, 0.4) as page:
        page.next_frame()
        assert page.errors() == []
        assert is_a_picture(pixels(page))
        ground, solids = vertices(page, "ground", "terrain"), vertices(page, "ground", "solids")
        legend = page.evaluate("document.getElementById('legend').textContent")
    assert_allclose(stairs.distance(ground), 0.0, atol=1e-5)
    assert_allclose([ground[:, 2].min(), ground[:, 2].max()], [0.0, 0.96], atol=1e-5)
    assert len(solids) > 24 + 500
    off = np.minimum(np.abs(box.distance(solids)), np.abs(ball.distance(solids)))
    assert_allclose(off, 0.0, atol=1e-5)
    assert "tiles of 20 cm" in legend


@in_browser
def test_the_replay_of_a_saved_motion_shows_all_robots_moving(browser, table, tmp_path):
    both = table_and_crate(table)
    motion = Scenario("two", both, None, 1e-3, 0.4, ground=xs.HalfSpace()).run()
    path = write_replay(motion.save(tmp_path / "two.npz"), tmp_path / "two.html", robot=both)
    for t in (0.0, 0.2):
        with opened(browser, path, t) as page:
            assert page.errors() == []
            drawn = vertices(page, "robot")
        crates = drawn[drawn[:, 0] > 0.4]
        x, y, z = motion.q[round(t / 1e-3), 7:10]
        assert_allclose(crates.min(axis=0), [x - 0.15, y - 0.15, z - 0.15], atol=2e-3)
        assert_allclose(crates.max(axis=0), [x + 0.15, y + 0.15, z + 0.15], atol=2e-3)
        assert (drawn[:, 0] < 0.25).any()


@in_browser
def test_every_contact_that_touches_has_one_arrow_and_every_point_one_ball(browser, table, tmp_path):
    both = table_and_crate(table)
    surfaces = [xs.HalfSpace(), xs.Box((2.0, 2.0, 0.2), (9.0, 0.0, 0.0))]  # the second is never touched
    motion = Scenario("two", both, None, 1e-3, 0.4, ground=surfaces).run()
    assert motion.force.shape[1] > len(both.contact_points)
    path = write_replay(motion, tmp_path / "two.html", robot=both)
    with opened(browser, path, 0.4) as page:
        drawn = page.evaluate(TREE.format(path="'contacts'") + ".children.length")
    assert drawn == len(both.contact_points)


# The live page.


@in_browser
def test_the_live_page_shows_terrain_that_follows_the_robot(browser, table):
    motion = slide(table, xs.HalfSpace())
    arrays = {name: np.array(motion._arrays[name]) for name in ("q", "position")}
    arrays["q"][200:, 0] += 40.0
    arrays["position"][200:, :, 0] += 40.0
    far = Trajectory({**motion._arrays, **arrays}, motion.header)
    box = xs.Box((0.2, 0.2, 0.2), (0.0, 0.7, 0.1))
    with (
        serve(far, ground=[Bumps(), box], port=0, open_browser=False) as viewer,
        browser.open(viewer.url) as page,
    ):
        for t in (0.0, 0.4):
            viewer.playback.seek(t)
            page.wait_for("!!document.querySelector('canvas')")
            settled(page, lambda shot: is_a_picture(shot) and _is_on_tiles(shot))
        assert page.errors() == []


def _is_on_tiles(shot):
    """Whether the lower part of the picture is ground in two shades, and not the white of the sky."""
    low = shot[-60:]
    return np.mean(np.all(low > 250, axis=2)) < 0.01 and np.std(low) > 3.0
