"""The replay file and the live page, looked at in a real browser."""

import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from browser import CHROMIUM, Browser
from exposim.viewer import LiveViewer, serve, write_replay
from exposim.viewer.scene import SLIPPING, STICKING, scene_of
from viewer_scenes import (
    ARROWS,
    DISTANCE,
    count,
    fall_and_slip,
    is_a_picture,
    pixels,
    press,
    settled,
    slide,
    table_robot,
)

in_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium or google-chrome on the path")


@pytest.fixture(scope="module")
def browser():
    with Browser((800, 420)) as opened:
        yield opened


@pytest.fixture(scope="module")
def drop():
    return fall_and_slip()


@pytest.fixture
def table(tmp_path):
    return table_robot(tmp_path)


@pytest.fixture(scope="module")
def replay(browser, drop, tmp_path_factory):
    """The page of the dropped Solo12, opened at its start."""
    path = write_replay(drop, tmp_path_factory.mktemp("replay") / "drop.html")
    with browser.open(path.as_uri() + "#t=0") as page:
        page.wait_for("window.replay?.ready")
        page.path = path
        yield page


# The replay file.


@in_browser
def test_the_replay_needs_no_network_and_logs_no_error(replay):
    replay.next_frame()
    assert replay.errors() == []
    assert replay.requests() == [replay.path.as_uri()]


@in_browser
def test_the_replay_has_every_mesh_once(replay):
    assert replay.path.stat().st_size < 3e6
    assert replay.evaluate("settings.copies.length") == 7  # of 17 meshes, 10 differ


@in_browser
def test_the_replay_shows_the_robot_in_the_air_and_then_on_the_ground(replay):
    lowest = DISTANCE.format(normal=[0, 0, 1], point=[0, 0, 0])
    replay.evaluate("replay.seek(0)")
    assert 0.08 < replay.evaluate(lowest) < 0.12
    replay.evaluate("replay.seek(0.6)")
    assert -0.02 < replay.evaluate(lowest) < 0.0  # the contact points are in the middle of Solo's round feet


@in_browser
def test_the_replay_s_picture_has_robot_ground_and_arrows(replay):
    replay.evaluate("replay.seek(0.6)")
    replay.next_frame()
    landed = pixels(replay)
    assert is_a_picture(landed)
    assert count(landed, "red") > 50
    assert count(landed, "blue") > 50
    replay.evaluate("replay.seek(0)")
    replay.next_frame()
    assert np.mean(np.any(landed != pixels(replay), axis=2)) > 0.05


@in_browser
def test_the_replay_s_arrows_are_the_forces_and_red_while_slipping(replay, drop):
    replay.evaluate("replay.seek(0.05)")
    assert not any(arrow["visible"] for arrow in replay.evaluate(ARROWS))
    replay.evaluate("replay.seek(0.6)")
    arrows = replay.evaluate(ARROWS)
    assert all(arrow["visible"] for arrow in arrows)
    for arrow, force, colour in zip(arrows, drop.force[-1], [SLIPPING] * 2 + [STICKING] * 2, strict=True):
        assert_allclose(arrow["length"], np.linalg.norm(force) / scene_of(drop).newtons_per_metre, rtol=1e-3)
        assert_allclose(arrow["colour"], colour, atol=1e-3)
        assert_allclose(arrow["shaft"], colour, atol=1e-3)


@in_browser
def test_the_replay_s_time_slider_moves_the_robot(replay, drop):
    base = 'replay.viewer.scene_tree.find(["meshcat", "robot", "visuals", "base_link_0"]).object.position.z'
    for t in (0.0, 0.3, 0.6):
        replay.evaluate(
            f"(() => {{ const slider = document.getElementById('time'); slider.value = {t};"
            f"slider.dispatchEvent(new Event('input')); }})()"
        )
        assert_allclose(replay.evaluate(base), drop.q[round(t / 1e-3), 2], atol=1e-3)
        assert f"{t:.3f} / 0.600 s" in replay.evaluate("document.getElementById('clock').textContent")


@in_browser
def test_the_replay_plays_to_its_end_and_again_from_the_start(replay):
    replay.evaluate("replay.seek(0.3); document.getElementById('speed').value = '2'")
    replay.evaluate("document.getElementById('play').click()")
    assert replay.evaluate("replay.playing")
    replay.wait_for("!replay.playing")
    assert replay.evaluate("replay.time === replay.duration")
    replay.evaluate("document.getElementById('speed').value = '0.1'; document.getElementById('play').click()")
    assert replay.evaluate("replay.time") < 0.3
    replay.evaluate("document.getElementById('play').click()")
    assert not replay.evaluate("replay.playing")


@in_browser
def test_the_replay_s_points_flash_when_they_land(replay, drop):
    point = """(() => { const node = replay.viewer.scene_tree.find(["meshcat", "contacts", "0", "point"]).object;
      const ball = replay.viewer.scene_tree.find(["meshcat", "contacts", "0", "point", "<object>"]).object;
      return [node.scale.x, ...ball.material.color.toArray()]; })()"""
    landed = drop.events.select("land")
    t = float(landed.t[landed.index == 0][0])
    for since, left in ((-0.02, 0.0), (0.02, 0.83), (0.2, 0.0)):
        replay.evaluate(f"replay.seek({t + since})")
        scale, red, _, blue = replay.evaluate(point)
        assert_allclose(scale, 1.0 + 2.0 * left, atol=0.15)
        assert (red > 2.0 * blue) == (left > 0.0)


@in_browser
def test_the_replay_says_what_it_shows(replay):
    assert replay.evaluate("document.title") == "drop · solo12 · Expo · dt = 1 ms"
    assert (
        replay.evaluate("document.getElementById('legend').textContent")
        == "force, 10 cm = 5 Nslippinghas just landedtiles of 20 cm"
    )


@in_browser
def test_a_robot_of_primitive_shapes_slides_down_a_slope(browser, table, tmp_path):
    slope = xs.HalfSpace(xs.Material(friction=0.1), point=(0, 0, -0.1), normal=(0.3, 0.0, 1.0))
    path = write_replay(slide(table, slope), tmp_path / "slope.html")
    with browser.open(path.as_uri() + "#t=0.4") as page:
        page.wait_for("window.replay?.ready")
        away = page.evaluate(DISTANCE.format(normal=list(slope.normal), point=list(slope.point)))
        patch = page.evaluate('replay.viewer.scene_tree.find(["meshcat", "ground", "0"]).object.matrix.toArray()')
        assert page.errors() == []
    assert -0.01 < away < 0.001  # the edge of a leg is lower than the contact point in its middle
    assert_allclose(patch[8:11], slope.normal, atol=1e-6)
    assert_allclose(np.dot(slope.normal, np.array(patch[12:15]) - slope.point), 0.0, atol=1e-6)


# The live page.


@in_browser
def test_the_live_page_plays_scrubs_and_colours_the_forces(browser, table):
    ground = xs.HalfSpace(xs.Material(friction=0.1), normal=(0.2, 0.0, 1.0))
    motion = slide(table, ground, height=0.1)
    assert motion.slipping[-1].all() and not motion.active[0].any()
    threads = threading.enumerate()
    with serve(motion, port=0, open_browser=False) as viewer, browser.open(viewer.url) as page:
        viewer.playback.seek(0.0)
        page.wait_for("!!document.querySelector('canvas') && !!document.querySelector('[role=slider]')")
        in_flight = settled(page, lambda shot: is_a_picture(shot) and count(shot, "red") + count(shot, "blue") == 0)
        page.evaluate("document.querySelector('[role=slider]').focus()")
        for kind in ("keyDown", "keyUp"):
            page.call("Input.dispatchKeyEvent", type=kind, key="End", code="End", windowsVirtualKeyCode=35)
        sliding = settled(page, lambda shot: count(shot, "red") > 20)
        assert np.mean(np.any(in_flight != sliding, axis=2)) > 0.02
        press(page, "play")
        wanted = "[...document.querySelectorAll('button')].some((button) => button.textContent === 'pause')"
        page.wait_for(wanted)
        page.wait_for("!" + wanted)  # at the end
        assert page.errors() == []
        assert {url.split("/")[2] for url in page.requests()} == {viewer.url.split("/")[2]}
    for thread in set(threading.enumerate()) - set(threads):
        thread.join(timeout=60.0)
        assert not thread.is_alive(), thread.name


@in_browser
def test_the_live_viewer_shows_states_and_contacts_of_a_simulator(browser, table, drop):
    sim = xs.Simulator(table, xs.HalfSpace(), dt=1e-3)
    with LiveViewer(table, xs.HalfSpace(), port=0) as viewer, browser.open(viewer.url) as page:
        page.wait_for("!!document.querySelector('canvas')")
        sim.step(n=100)
        viewer.show(sim.state, sim.contacts)
        settled(page, lambda shot: count(shot, "blue") > 20)
        viewer.show(sim.q)  # fewer contacts than before
        settled(page, lambda shot: count(shot, "blue") == 0)
        with pytest.raises(xs.InvalidArgument, match="q has 3 entries"):
            viewer.show([0.0, 0.0, 0.0])
        with pytest.raises(xs.InvalidArgument, match="give its own robot"):
            viewer.replay(drop)
        assert page.errors() == []
