"""Scenarios with sensors: controllers that go by readings, what is recorded of them, and resumed runs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from exposim.scenarios import Run, Scenario
from exposim.sensors import IMU, ContactForce, Encoders, FootContact
from robot_files import known

GAINS = 3.0, 0.05


class ByEncoders:
    """Holds a posture by what encoders say."""

    def __init__(self):
        self.seen = []

    def __call__(self, t, state, readings):
        self.seen.append((t, readings["encoders"].t))
        kp, kd = GAINS
        encoders = readings["encoders"]
        return kp * (known("solo12").q0[7:] - encoders.position) - kd * encoders.velocity


def by_state(t, state):
    kp, kd = GAINS
    return kp * (known("solo12").q0[7:] - state.q[7:]) - kd * state.v[6:]


def scenario(**changes):
    settings = {
        "name": "sensed",
        "robot": known("solo12"),
        "make_controller": ByEncoders,
        "control_period": 4e-3,
        "duration": 0.1,
        "dt": 2e-3,
        "sensors": {
            "imu": IMU("base_link", noise=(0.1, 0.01), walk=(0.1, 0.0), rate=1000.0),
            "encoders": Encoders(delay=0.008),
            "feet": FootContact(),
        },
    }
    return Scenario(**{**settings, **changes})


def test_a_controller_that_takes_readings_is_given_them():
    run = Run(scenario())
    for _ in range(6):
        run.advance()
    assert_allclose(run.controller.seen, [(t, max(0.0, t - 0.008)) for t in np.arange(6) * 4e-3], atol=1e-12)
    assert run.readings["imu"].t == pytest.approx(run.t)


def test_exact_readings_are_the_state():
    exact = scenario(sensors={"encoders": Encoders()}).run()
    assert_array_equal(exact.q, scenario(make_controller=lambda: by_state, sensors={}).run().q)


def test_sensors_do_not_change_a_run_in_which_nobody_heeds_them():
    bare = scenario(make_controller=lambda: by_state, sensors={}).run(dt=1e-4)
    sensed = scenario(make_controller=lambda: by_state).run(dt=1e-4)
    assert_array_equal(sensed.q, bare.q)
    assert_array_equal(sensed.force, bare.force)
    assert (bare.readings, bare.memory) == ({}, {})


def test_a_trajectory_has_all_samples_also_in_its_file(tmp_path):
    trajectory = scenario(sensors={"forces": ContactForce(rate=1000.0), **scenario().sensors}).run()
    loaded = xs.Trajectory.load(trajectory.save(tmp_path / "sensed.npz"))
    for each in (trajectory, loaded):
        readings = each.readings
        assert set(readings) == {"forces", "imu", "encoders", "feet"}
        assert_allclose(readings["forces"]["t"], np.arange(101) * 1e-3, atol=1e-12)
        assert_allclose(readings["forces"]["force"][::2], trajectory.force, atol=1e-9)
        assert readings["imu"]["acceleration"].shape == (101, 3)
        assert readings["encoders"]["t"].max() == pytest.approx(0.1 - 0.008)
        assert readings["feet"]["touching"].shape == (26, 4)


def test_every_run_has_the_same_sensors_anew():
    made = scenario()
    one, other = made.run(), made.run()
    assert_array_equal(one.q, other.q)
    assert_array_equal(one.readings["imu"]["acceleration"], other.readings["imu"]["acceleration"])


def test_a_resumed_run_continues_with_the_same_bits(tmp_path):
    whole = scenario().run()
    run = Run(scenario())
    for _ in range(11):
        run.advance()
    saved = xs.Trajectory.load(run.trajectory.save(tmp_path / "part.npz"))
    resumed = Run.resume(saved, scenario())
    while not resumed.done:
        resumed.advance()
    assert_array_equal(resumed.trajectory.q, whole.q)
    for name, arrays in whole.readings.items():
        for what, array in arrays.items():
            assert_array_equal(resumed.trajectory.readings[name][what], array)
    with pytest.raises(xs.StateMismatch, match="without the sensor 'more'"):
        Run.resume(saved, scenario(sensors={"more": Encoders(), **scenario().sensors}))


@pytest.mark.parametrize("sensors", [IMU("base_link"), {"a/b": IMU("base_link")}, {"": FootContact()}, {"imu": "base"}])
def test_what_are_no_sensors_is_refused(sensors):
    with pytest.raises(xs.InvalidArgument, match="names to sensors"):
        scenario(sensors=sensors)


def test_a_sensor_of_what_is_not_there_is_refused_at_once():
    with pytest.raises(xs.UnknownFrame, match="did you mean 'base_link'"):
        Run(scenario(sensors={"imu": IMU("base_lnk")}))
