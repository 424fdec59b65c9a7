"""The last steps before a divergence are written down, and lead to the same bits again."""

import dataclasses
import json
import pickle
import signal

import numpy as np
import pytest

import exposim as xs
from bad_input import refused
from exposim.simulation.flight_recorder import STRIDE
from flights import DT, changed, flown, held_pd, until_it_diverges


@pytest.mark.parametrize("value", [np.nan, np.inf, "much"])
def test_torques_that_are_no_numbers_are_refused_before_anything_is_recorded(value, tmp_path):
    sim, step = held_pd()
    recorder = xs.FlightRecorder(sim, tmp_path)
    step()
    before = sim.state
    refused(xs.InvalidArgument, lambda: sim.step([value] * 12), "tau")
    assert sim.state == before and not recorder.dumps
    until_it_diverges(step)
    assert xs.FlightDump.load(recorder.dumps[0]).replay().mismatch is None  # the refused call is not among the others


@pytest.mark.parametrize("n", [1, 7, 450])
@pytest.mark.parametrize("kept", [1, 25, 200])
def test_at_least_the_steps_that_were_asked_for_are_kept_and_at_most_twice_as_many(n, kept, tmp_path):
    sim, step = held_pd(calm=300, planted=3.0)
    recorder = xs.FlightRecorder(sim, tmp_path, kept)
    for _ in range(300):
        step()
    rows = 3e5 * np.random.default_rng(0).standard_normal((300, 12))
    with pytest.raises(xs.SimulationDiverged) as caught:
        for row in rows:
            sim.step(row, n)
    dump = xs.FlightDump.load(recorder.dumps[0])
    assert min(kept, caught.value.step - 1) <= dump.steps <= 2 * kept + STRIDE
    flight = dump.replay()
    assert flight.mismatch is None and len(flight) == dump.steps
    assert flight.states >= 2 + dump.steps // (max(n, STRIDE) + STRIDE)
    assert flight.sim.state == caught.value.last_good_state


def test_memory_is_bounded_by_the_steps_that_are_kept(tmp_path):
    sim, step = held_pd(planted=1.0)
    recorder = xs.FlightRecorder(sim, tmp_path, 30)
    for _ in range(200):
        step()
    assert len(recorder._calls) == 30 + STRIDE
    assert sum(call[1] is not None for call in recorder._calls) <= 30 // STRIDE + 2


def test_the_error_names_the_file_and_is_pickled_with_it(tmp_path):
    sim, step = held_pd()
    recorder = xs.FlightRecorder(sim, tmp_path / "new" / "dumps")
    error = until_it_diverges(step)
    (dump,) = recorder.dumps
    assert dump == tmp_path / "new" / "dumps" / "diverged-001.npz" and dump.is_file()
    assert f"exposim replay {dump}" in str(error) and error.dump == dump
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.dump == dump
    assert str(xs.FlightDump.load(dump).diverged.message) in str(error)


def test_a_simulator_that_stops_tells_of_the_file_and_writes_it_once(tmp_path):
    sim, step = held_pd(on_divergence="stop")
    recorder = xs.FlightRecorder(sim, tmp_path)
    for _ in range(100):
        step()
    assert sim.diverged and len(recorder.dumps) == 1
    assert sim.divergence.dump == recorder.dumps[0]
    sim.reset()
    assert sim.divergence is None
    step()
    assert recorder.dump is None


def test_every_divergence_has_its_file_until_the_folder_is_full(tmp_path):
    sim, step = held_pd()
    recorder = xs.FlightRecorder(sim, tmp_path, files=3)
    for number in range(1, 6):
        sim.reset()
        error = until_it_diverges(step)
        if number <= 3:
            assert error.dump == tmp_path / f"diverged-{number:03d}.npz"
        else:
            assert error.dump is None and "has 3 files" in str(error)
    assert len(recorder.dumps) == 3 == len(list(tmp_path.iterdir()))


def test_the_same_step_tried_again_is_found_in_the_next_file_with_all_that_came_before(tmp_path):
    sim, step = held_pd()
    recorder = xs.FlightRecorder(sim, tmp_path)
    first, second = until_it_diverges(step), until_it_diverges(step, most=1)
    one, two = (xs.FlightDump.load(each.dump) for each in (first, second))
    assert one.steps == two.steps > 0
    assert two.replay().mismatch is None and len(recorder.dumps) == 2


@pytest.mark.parametrize("restart", ["reset", "state", "set"])
def test_a_restart_begins_anew(restart, tmp_path):
    sim, step = held_pd()
    recorder = xs.FlightRecorder(sim, tmp_path)
    step()
    kept = sim.state
    step()
    if restart == "reset":
        sim.reset()
    elif restart == "state":
        sim.state = kept
    else:
        sim.set(friction=0.3, mass={"base": 1.1})
    start = sim.state
    until_it_diverges(step)
    dump = xs.FlightDump.load(recorder.dumps[0])
    assert np.array_equal(next(dump.calls).state, start.to_array()[: next(dump.calls).state.size])
    assert dump.replay().mismatch is None  # also with the properties that were changed


def test_a_folder_that_cannot_be_written_does_not_hide_the_divergence(tmp_path):
    sim, step = held_pd()
    folder = tmp_path / "dumps"
    xs.FlightRecorder(sim, folder)
    folder.write_text("in the way")
    error = until_it_diverges(step)
    assert error.dump is None and "wrote nothing" in str(error) and str(folder) in str(error)


def test_steps_by_accuracy_lead_to_the_same_bits_with_delays_sensors_and_wrenches(tmp_path):
    robot = xs.load_robot("solo12").replace(drives=xs.Drive(kp=8.0, kd=0.2, delay=0.012), effort_limits=False)
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=DT)
    imu = xs.sensors.IMU("base_link")
    for watched in (False, True):
        recorder = xs.FlightRecorder(sim, tmp_path, 60)
        sim.reset()
        if watched:
            sim.read(imu)
        rng = np.random.default_rng(1)
        with pytest.raises(xs.SimulationDiverged):
            for k in range(400):
                target = robot.q0
                target[7:] += 0.2 * rng.standard_normal(12)
                wrench = {"base_link": (0.0, 1e-2 * 4.0**k, 0.0, 0.0, 0.0, 0.0)} if k > 20 else None
                if k % 3 == 0:
                    sim.step(n=3, target=target, wrenches=wrench)
                else:
                    sim.advance(0.01, target=target, target_velocity=0.1 * rng.standard_normal(12), wrenches=wrench)
        flight = xs.FlightDump.load(recorder.dumps[0]).replay()
        assert flight.mismatch is None and flight.states >= 3
        assert np.ptp(np.diff(flight.t)) > 1e-4  # steps of several sizes
        recorder.stop()


def test_arrays_that_are_used_again_for_the_next_call_are_kept_as_they_were(tmp_path):
    robot = xs.load_robot("solo12").replace(drives=xs.Drive(kp=8.0, kd=0.2), effort_limits=False)
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=DT)
    recorder = xs.FlightRecorder(sim, tmp_path)
    tau, target, velocity, wrench = np.zeros(12), robot.q0, np.zeros(robot.nv), {"base_link": np.zeros(6)}

    def step():
        tau[:] = 1.0 - 2.5 * tau
        target[7:] += 0.01
        velocity[6:] -= 0.02
        wrench["base_link"][2] += 1.0
        sim.step(tau, target=target, target_velocity=velocity, wrenches=wrench)

    until_it_diverges(step)
    assert xs.FlightDump.load(recorder.dumps[0]).replay().mismatch is None


def test_steps_with_a_recorder_are_those_without(tmp_path):
    sim, step = held_pd(planted=1.0)
    other, step_other = held_pd(planted=1.0)
    with xs.FlightRecorder(sim, tmp_path, 3):
        for n in (1, 5, 30):
            step(n=n)
            step_other(n=n)
            assert sim.state == other.state and sim.statistics == other.statistics
            assert [dataclasses.astuple(each)[:3] for each in sim.events] == [
                dataclasses.astuple(each)[:3] for each in other.events
            ]
    assert sim._flight is None and not list(tmp_path.iterdir())


def test_an_interrupted_call_is_kept_with_the_steps_that_it_took(tmp_path):
    sim, _ = held_pd(planted=1.0)
    recorder = xs.FlightRecorder(sim, tmp_path, 10**5)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            sim.step(n=10**6)
    finally:
        signal.signal(signal.SIGALRM, before)
    taken = sim.statistics.steps
    with pytest.raises(xs.SimulationDiverged):
        sim.step(np.full(12, 1e9), 100)
    dump = xs.FlightDump.load(recorder.dumps[0])
    assert next(call.steps for call in dump.calls) == taken < 10**5
    assert dump.replay().mismatch is None


def test_a_changed_bit_is_noticed(tmp_path):
    dump, _ = flown(tmp_path, calm=30)
    good = xs.FlightDump.load(dump).replay()

    def next_float(row, column):
        def change(array):
            array[row, column] = np.nextafter(array[row, column], np.inf)
            return array

        return change

    assert good.mismatch is None
    for name, change in (
        ("tau", next_float(25, 8)),
        ("state", next_float(1, 3)),
        ("state", next_float(0, 10)),
        ("diverged_v", lambda v: np.nextafter(v, np.inf)),
        ("steps", lambda steps: np.append(steps[:-1], steps[-1] + 1)),
    ):
        flight = xs.FlightDump.load(changed(dump, **{name: change})).replay()
        assert flight.mismatch is not None, name


def test_pieces_of_a_rollout_make_the_same_file(tmp_path):
    sim, _ = held_pd()
    start, rng = sim.state, np.random.default_rng(5)
    taus = 1e4 * 3.0 ** np.arange(40)[:, None] * rng.standard_normal((40, 12))
    recorder = xs.FlightRecorder(sim, tmp_path / "one")
    with pytest.raises(xs.SimulationDiverged) as caught:
        for tau in taus:
            sim.step(tau, wrenches={"base": (1.0, 0, 0, 0, 0, 0)})
    made = xs.FlightRecorder.dump_of(
        sim, start, tmp_path / "two", len(taus), taus=taus, wrenches={"base": (1.0, 0, 0, 0, 0, 0)}
    )
    one, two = (xs.FlightDump.load(each) for each in (recorder.dumps[0], made))
    for a, b in zip(one.calls, two.calls, strict=True):
        assert np.array_equal(a.tau, b.tau) and a.steps == b.steps
    assert two.diverged.step == caught.value.step and two.replay().mismatch is None
    refused(
        xs.InvalidArgument,
        lambda: xs.FlightRecorder.dump_of(sim, start, tmp_path, 3),
        "do not diverge",
    )
    refused(
        xs.InvalidArgument,
        lambda: xs.FlightRecorder.dump_of(sim, start, tmp_path, 50, taus=taus),
        "50 steps",
        "(40, 12)",
    )


def test_bad_settings_of_a_recorder_are_refused(tmp_path):
    sim, _ = held_pd()
    (tmp_path / "file").write_text("")
    for arguments, words in (
        ((sim.robot, tmp_path), ["Robot"]),
        ((sim, 3), ["folder", "3"]),
        ((sim, tmp_path / "file"), ["file"]),
        ((sim, tmp_path, 0), ["steps", "0"]),
        ((sim, tmp_path, 10**9), ["steps"]),
        ((sim, tmp_path, 2.5), ["steps", "2.5"]),
    ):
        refused(xs.InvalidArgument, lambda given=arguments: xs.FlightRecorder(*given), *words)
    recorder = xs.FlightRecorder(sim, tmp_path)
    refused(xs.InvalidArgument, lambda: xs.FlightRecorder(sim, tmp_path), "already")
    assert sim.copy()._flight is None and pickle.loads(pickle.dumps(sim))._flight is None
    recorder.stop()
    xs.FlightRecorder(sim, tmp_path)


def test_files_that_are_no_dumps_are_refused(tmp_path):
    dump, _ = flown(tmp_path, calm=30)
    sim, step = held_pd(planted=1.0)
    recorder = xs.Recorder(sim)
    step()
    trajectory = recorder.trajectory.save(tmp_path / "trajectory.npz")
    refused(xs.UnreadableFile, lambda: xs.FlightDump.load(trajectory), "exposim view")
    refused(xs.UnreadableFile, lambda: xs.Trajectory.load(dump), "exposim replay")
    refused(xs.UnknownFile, lambda: xs.FlightDump.load(tmp_path / "none.npz"))
    (tmp_path / "text.npz").write_text("no archive")
    refused(xs.UnreadableFile, lambda: xs.FlightDump.load(tmp_path / "text.npz"))

    def header(**entries):
        return lambda text: np.array(json.dumps(json.loads(str(text)) | entries))

    for changes in (
        {"tau": lambda tau: tau[:, :-1]},
        {"tau": lambda tau: tau.astype(complex)},
        {"steps": lambda steps: steps + 10**6},
        {"steps": lambda steps: -steps},
        {"steps": lambda steps: np.full_like(steps, 2**62)},
        {"state_before": lambda before: before + 1},
        {"state_before": lambda before: before[::-1]},
        {"state": lambda state: state[:, :-1]},
        {"end": lambda end: end[None]},
        {"header": header(format_version=2)},
        {"header": header(frames=None)},
        {"header": header(frames=["base"])},
        {"header": header(diverged={"t": "late"})},
        {"header": header(diverged=None)},
    ):
        made = changed(dump, **changes)
        refused(xs.UnreadableFile, lambda made=made: xs.FlightDump.load(made))
    for changes in (
        {"tau": lambda tau: np.full_like(tau, np.nan)},
        {"state": lambda state: np.full_like(state, np.nan)},
        {"state": lambda state: 0.0 * state},
        {"header": header(settings={})},
    ):
        made = changed(dump, **changes)
        refused(xs.UnreadableFile, lambda made=made: xs.FlightDump.load(made).replay())
