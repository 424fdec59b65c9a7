"""A simulator that is shown while a loop steps it."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from exposim.simulation.events import Event
from exposim.simulation.observing import Taken
from exposim.viewer import Live
from viewer_scenes import table_robot


@pytest.fixture
def table(tmp_path):
    return table_robot(tmp_path)


def dropped(robot):
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=5e-3)
    q = robot.q0
    q[2] += 0.05
    sim.reset(q)
    return sim


def drawn(live, monkeypatch):
    """What is drawn from now on."""
    seen = []
    monkeypatch.setattr(live._page, "draw", lambda *instant: seen.append(instant))
    return seen


def test_a_simulation_that_is_shown_is_the_same_bit_for_bit(table):
    shown, alone = dropped(table), dropped(table)
    with Live(shown, port=0):
        for _ in range(100):
            shown.step()
            alone.step()
    assert shown.state.to_array().tobytes() == alone.state.to_array().tobytes()
    assert pickle.loads(pickle.dumps(shown)).t == shown.t


def test_every_step_reset_and_state_is_looked_at_and_the_last_is_drawn(table, monkeypatch):
    sim = dropped(table)
    with Live(sim, port=0) as live:
        seen = drawn(live, monkeypatch)
        for _ in range(50):
            sim.step()
            assert_allclose(live._latest[0], sim.q)
        state = sim.state
        sim.reset()
        assert_allclose(live._latest[0], table.q0)
        sim.state = state
        assert_allclose(live._latest[0], state.q)
    assert seen
    assert_allclose(seen[-1][0], state.q)
    before = len(seen)
    sim.step()
    assert len(seen) == before
    live.stop()


def test_the_page_follows_the_robot(table):
    sim = dropped(table)
    q = table.q0
    q[:2] = 3.0, -1.0
    sim.reset(q)
    with Live(sim, port=0) as live:
        for _ in range(60):
            live.show()
        assert_allclose(live._page._world.position[:2], [-3.0, 1.0], atol=1e-2)
        live._page._follow.value = False
        live.show()
        assert_allclose(live._page._world.position, 0.0)


def test_it_is_shown_at_once_when_asked_for(table, monkeypatch):
    sim = dropped(table)
    with Live(sim, port=0) as live:
        seen = drawn(live, monkeypatch)
        live.show()
        assert_allclose(seen[0][0], sim.q)


def test_contacts_that_land_flash(table):
    sim = dropped(table)
    with Live(sim, port=0) as live:
        landed = Event(sim.t, "leg", "land", np.zeros(3), np.zeros(3), 2)
        slid = Event(sim.t, "leg", "slip", np.zeros(3), np.zeros(3), 1)
        live.stepped(sim, Taken(1, sim.dt, None, None, None, None, (landed, slid), None))
        assert_allclose(live._latest[-1], [0, 0, 1, 0])
        sim.reset()
        assert_allclose(live._latest[-1], 0.0)


def test_real_time_waits_for_the_clock_and_neither_after_a_reset_nor_after_a_pause(table, monkeypatch):
    sim, clock, slept = dropped(table), [100.0], []

    def sleep(seconds):
        slept.append(seconds)
        clock[0] += seconds

    with Live(sim, port=0, real_time=True) as live:
        monkeypatch.setattr("exposim.viewer.watching.time.perf_counter", lambda: clock[0])
        monkeypatch.setattr("exposim.viewer.watching.time.sleep", sleep)
        sim.reset()
        sim.step(n=20)
        assert_allclose(slept, [0.1])
        clock[0] += 0.003  # of computing
        sim.step()
        assert_allclose(slept[1:], [0.002], atol=1e-9)
        sim.reset()
        sim.step()
        assert_allclose(slept[2:], [0.005], atol=1e-9)
        clock[0] += 10.0
        for _ in range(2):
            sim.step()
        assert_allclose(slept[3:], [0.005], atol=1e-9)  # not in a hurry to catch up
        assert live._start > 100.0
    monkeypatch.undo()


def test_a_notebook_shows_the_page(table):
    with Live(dropped(table), port=0) as live:
        assert f'<iframe src="{live.url}"' in live._repr_html_()


def test_what_is_no_simulator_is_refused(table):
    with pytest.raises(xs.InvalidArgument, match=r"sim is a Robot; give an exposim\.Simulator"):
        Live(table)


def test_lines_of_one_s_own_are_drawn_replaced_and_removed(table):
    with Live(dropped(table), port=0) as live:
        live.draw("plan", [(0, 0, 0), (1, 0, 0), (1, 1, 0)])
        live.draw("goal", [(0, 0, 0), (0, 0, 1)], colour=(0, 1, 0))
        lines = live._page._lines
        assert_allclose(lines["plan"].points, [[(0, 0, 0), (1, 0, 0)], [(1, 0, 0), (1, 1, 0)]])
        live.draw("plan", [(0, 0, 1), (1, 0, 1)])
        assert_allclose(lines["plan"].points, [[(0, 0, 1), (1, 0, 1)]])
        live.draw("plan", None)
        live.draw("plan", None)
        assert set(lines) == {"goal"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("plan", [(0, 0, 0)]), r"shape \(1, 3\); give \(n, 3\) with two or more"),
        (("plan", [(0, 0), (1, 1)]), r"shape \(2, 2\)"),
        (("plan", [(0, 0, 0), (0, 0, np.nan)]), "finite; entry 1, 2"),
        (("", [(0, 0, 0), (1, 0, 0)]), "name is ''"),
        (("../robot", [(0, 0, 0), (1, 0, 0)]), "letters"),
        (("plan", [(0, 0, 0), (1, 0, 0)], (255, 0, 0)), "from 0 to 1"),
    ],
)
def test_lines_that_are_none_are_refused(table, arguments, said):
    with Live(dropped(table), port=0) as live:
        with pytest.raises(xs.InvalidArgument, match=said):
            live.draw(*arguments)
        assert not live._page._lines
