"""Events of trajectories: collected, saved, filtered, shown; files from before they were recorded."""

import functools
import json
import re

import numpy as np
import pytest
from test_trajectory import assert_same

import exposim as xs
from exposim.scenarios import Run, Scenario
from exposim.simulation.file_format import ARRAYS, EVENT_ARRAYS

NEW_ARRAYS = ("velocity", "target", "target_velocity", "wrench", "steps", "step_size")


@functools.cache
def dropped():
    return xs.scenarios.get("drop").with_material(friction=0.3).run(duration=0.6, dt=5e-3)


def as_tuples(events):
    return [(e.t, e.contact, e.kind, e.index, *e.velocity, *e.force) for e in events]


@pytest.fixture
def old(tmp_path):
    """A file of the format before this one."""
    made = dropped()
    header = json.loads(json.dumps(made.header)) | {"format_version": 3, "exposim": "0.0.9"}
    for name in ("accuracy", "edges", "slots"):
        del header["settings"][name]
    del header["columns"]["wrench"], header["outcome"]["unrecorded"], header["settings"]["scenario"]["is_loop"]
    arrays = {name: getattr(made, name) for name in ARRAYS if name not in NEW_ARRAYS}
    np.savez_compressed(tmp_path / "old.npz", header=np.array(json.dumps(header)), **arrays)
    return tmp_path / "old.npz"


def test_a_run_has_the_events_of_its_steps():
    scenario = xs.scenarios.get("drop").with_material(friction=0.3)
    sim = xs.Simulator(scenario.robot, scenario.ground, dt=5e-3)
    sim.reset(scenario.q0)
    events = []
    for _ in range(120):
        sim.step()
        events += sim.events
    assert as_tuples(dropped().events) == as_tuples(events)
    assert set(dropped().events.counts) == {"land", "lift", "slip", "stick"}


def test_recorded_seldom_it_has_them_all():
    scenario = xs.scenarios.get("drop").replace(control_period=0.02)
    often, seldom = (scenario.run(duration=0.6, dt=5e-3, record_every=n) for n in (1, 4))
    assert len(seldom) == 31
    assert as_tuples(seldom.events) == as_tuples(often.events)


def test_a_resumed_run_has_those_from_before():
    scenario = xs.scenarios.get("drop")
    whole, half = (scenario.run(duration=duration, dt=5e-3) for duration in (0.6, 0.3))
    resumed = Run.resume(half, scenario, duration=0.6)
    while not resumed.done:
        resumed.advance()
    assert 0 < len(half.events) < len(whole.events)
    assert as_tuples(resumed.trajectory.events) == as_tuples(whole.events)


def test_a_resumed_run_may_be_pushed_where_it_was_not_before():
    def disturbance(t):
        return {"base_link": (5.0, 0.0, 0.0, 0.0, 0.0, 0.0)} if t > 0.03 else {}

    scenario = xs.scenarios.get("drop", height=0.01).replace(disturbance=disturbance)
    whole, half = (scenario.run(duration=duration) for duration in (0.06, 0.03))
    resumed = Run.resume(half, scenario, duration=0.06)
    while not resumed.done:
        resumed.advance()
    assert half.wrench.shape[1] == 0
    assert_same(resumed.trajectory, whole)


def test_a_file_keeps_every_event(tmp_path):
    loaded = xs.Trajectory.load(dropped().save(tmp_path / "drop.npz"))
    assert as_tuples(loaded.events) == as_tuples(dropped().events)


def test_it_is_filtered_by_kind_and_contact():
    events = dropped().events
    landings = events.select(kind="land")
    assert set(landings.kind) == {"land"} and len(landings) == events.counts["land"]
    front = events.select(kind=("land", "lift"), contact=("FL_FOOT", "FR_FOOT"))
    assert set(front.contact) == {"FL_FOOT", "FR_FOOT"} and set(front.kind) == {"land", "lift"}
    assert len(events.select()) == len(events)
    assert as_tuples(events[2:5]) == as_tuples(events)[2:5]
    assert events[-1].t == events.t[-1]
    with pytest.raises(IndexError):
        _ = events[len(events)]


def test_the_name_of_a_point_stands_for_all_of_its_contacts():
    wall = xs.HalfSpace(point=(5.0, 0.0, 0.0), normal=(-1.0, 0.0, 0.0))
    trajectory = xs.scenarios.get("drop").replace(ground=(xs.HalfSpace(), wall)).run(duration=0.2, dt=5e-3)
    landed = trajectory.events.select(kind="land", contact="FL_FOOT")
    assert landed.contact.tolist() == ["FL_FOOT@0"]
    assert len(trajectory.events.select(contact="FL_FOOT@1")) == 0


def test_what_there_is_not_cannot_be_asked_for():
    events = dropped().events
    with pytest.raises(xs.InvalidArgument, match="kind is 'jump'; give one of 'land'"):
        events.select(kind="jump")
    with pytest.raises(xs.InvalidArgument, match="did you mean 'FL_FOOT'"):
        events.select(contact="FL_FOO")
    with pytest.raises(xs.InvalidArgument, match="contact is 3; give"):
        events.select(contact=3)


def test_joints_at_their_limits_have_their_names():
    robot = xs.load_robot("solo12").replace(joint_limits=True)
    scenario = Scenario("push", robot, lambda: lambda t, state: np.eye(12)[2] * 3.0, 0.005, 2.0, ground=None)
    events = scenario.run().events
    assert {"limit"} <= set(events.kind)
    assert "FL_KFE" in events.contact
    assert set(events.select(contact="FL_KFE").index) == {8}


def test_it_is_shown_as_text_page_and_table():
    events = dropped().events
    assert repr(events) == "Events(" + ", ".join(f"{n} {kind}" for kind, n in events.counts.items()) + ")"
    assert len(str(events).splitlines()) == min(len(events), 61) + 1
    page = events._repr_html_()
    assert page.count("<tr>") == min(len(events), 61) + 1
    frame = events.to_dataframe()
    assert list(frame.columns) == ["t", "contact", "kind", "index", "vx", "vy", "vz", "fx", "fy", "fz"]
    assert np.array_equal(frame["fz"], events.force[:, 2])


def test_a_page_of_a_trajectory_is_small_and_has_no_scripts():
    trajectory = dropped()
    header = json.loads(json.dumps(trajectory.header))
    header["settings"]["robot"]["name"] = "<script>alert(1)</script>"
    page = xs.Trajectory(trajectory._arrays, header)._repr_html_()
    assert "<script" not in page and "&lt;script&gt;" in page
    assert len(page) < 20_000
    assert f"{trajectory.events.counts['land']} land" in page and "finished" in page
    assert page.count("<polyline") == 2 and "nan" not in page
    long = xs.scenarios.get("drop").run(duration=1.0)._repr_html_()
    assert len(long) < 20_000


@pytest.mark.parametrize("what", [dict(robot="solo12"), dict(robot="romeo")])
def test_pages_are_made_of_short_motions_too(what):
    run = Run(xs.scenarios.get("drop", **what))
    assert "<svg" not in run.trajectory._repr_html_()
    run.advance()
    assert "<svg" in run.trajectory._repr_html_()


def test_forces_are_drawn_with_marks_and_without_too_many():
    plots = pytest.importorskip("exposim.plots")
    figure = plots.forces(dropped())
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend[-4:] == ["lands", "lifts", "slips", "sticks"]
    landings = dropped().events.select(kind="land", contact="FL_FOOT").t
    (marks,) = [line for line in figure.axes[0].lines if line.get_marker() == "v"]
    assert np.array_equal(marks.get_xdata(), landings)
    many = {name: np.repeat(dropped()._arrays[name], 30, axis=0) for name in EVENT_ARRAYS}
    crowded = plots.forces(xs.Trajectory({**dropped()._arrays, **many}, dropped().header))
    assert "lands" in [text.get_text() for text in crowded.legends[0].get_texts()]
    assert "slips" not in [text.get_text() for text in crowded.legends[0].get_texts()]


# ----- files


def test_files_from_before_are_read_without_what_they_do_not_have(old, tmp_path):
    plots = pytest.importorskip("exposim.plots")
    loaded = xs.Trajectory.load(old)
    assert np.array_equal(loaded.force, dropped().force)
    assert loaded.state(5) == dropped().state(5)
    assert not loaded.has_events
    for look in (lambda: loaded.events, lambda: loaded.velocity, lambda: loaded.forces_at([0.1])):
        with pytest.raises(xs.InvalidArgument, match=r"exposim 0\.0\.9, which wrote it, did not record them; run it"):
            look()
    assert "not recorded" in loaded._repr_html_()
    assert "FL_FOOT_fz" in loaded.to_dataframe() and "FL_FOOT_vz" not in loaded.to_dataframe()
    plots.save(plots.forces(loaded), tmp_path / "forces.png")
    again = xs.Trajectory.load(loaded.save(tmp_path / "again.npz"))
    assert not again.has_events and np.array_equal(again.q, loaded.q)


def test_a_run_from_before_is_run_again_but_not_resumed(old):
    loaded = xs.Trajectory.load(old)
    scenario = xs.scenarios.of(loaded)
    with pytest.raises(xs.InvalidArgument, match="did not record them; run it again"):
        Run.resume(loaded, scenario, duration=1.0)
    again = Run.again(loaded, scenario)
    while not again.done:
        again.advance()
    assert_same(again.trajectory, dropped())


@pytest.mark.parametrize("name", EVENT_ARRAYS)
def test_events_that_do_not_fit_together_are_refused(name, tmp_path):
    arrays = dict(dropped()._arrays)
    with pytest.raises(xs.UnreadableFile, match=name):
        xs.Trajectory(
            {**arrays, name: arrays[name][:-1] if name != "event_t" else arrays[name][:, None]}, dropped().header
        )
    del arrays[name]
    with pytest.raises(xs.UnreadableFile, match=f"it has no {name}"):
        xs.Trajectory(arrays, dropped().header)


@pytest.mark.parametrize(
    ("name", "value"),
    [("event_kind", 6), ("event_kind", -1), ("event_index", 4), ("event_t", np.nan), ("event_t", 9.0)],
)
def test_events_that_cannot_be_are_refused(name, value, tmp_path):
    array = np.array(dropped()._arrays[name])
    array[3] = value
    forged = xs.Trajectory({**dropped()._arrays, name: array}, dropped().header)
    file = forged.save(tmp_path / "forged.npz")
    with pytest.raises(xs.UnreadableFile, match=re.escape(f"{file} is damaged: its events")):
        _ = xs.Trajectory.load(file).events


@pytest.mark.parametrize("period", [0.0, -1.0, "x", True])
def test_a_period_that_is_none_is_refused(period):
    with pytest.raises(xs.UnreadableFile, match="no period"):
        xs.Trajectory(dropped()._arrays, dropped().header | {"resampled": period})
