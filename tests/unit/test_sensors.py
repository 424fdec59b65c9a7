"""Sensors: what they measure, when, with which errors, and that they go on as if nothing had been saved."""

import gc
import pickle

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from exposim.sensors import IMU, ContactForce, Encoders, FootContact
from joint_truth import pendulum
from robot_files import known
from systems import GRAVITY, ball, block

NOISY = {"noise": (0.1, 0.01), "walk": (0.3, 0.02), "bias": (0.5, (0.0, 0.1, 0.0))}


def dropped(dt=1e-2, height=0.01, **settings):
    """Solo12 above the ground, on drives that hold it."""
    robot = known("solo12").replace(drives=xs.Drive(kp=20.0, kd=0.3))
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=dt, **settings)
    sim.reset(robot.q0 + height * np.eye(robot.nq)[2])
    return sim


def bouncing(dt, height=0.08):
    """An elastic ball above the ground: it lands every few tenths of a second, for a millisecond or two."""
    sim = xs.Simulator(ball(), xs.HalfSpace(xs.Material(1e6, 0.0, 0.5)), dt=dt)
    sim.reset([0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0])
    return sim


def swinging(length=0.5):
    """A pendulum with a frame where its mass is."""
    model = pendulum(length)
    model.addFrame(pin.Frame("tip", 1, 0, pin.SE3(np.eye(3), np.array([0.0, 0.0, -length])), pin.FrameType.OP_FRAME))
    sim = xs.Simulator(xs.load_robot(model), dt=1e-2)
    sim.reset([1.0])
    return sim


# What an IMU feels.


def test_an_imu_at_rest_feels_gravity_upwards_in_its_own_axes():
    sim = xs.Simulator(block(), xs.HalfSpace(xs.Material(friction=2.0), normal=(np.sin(0.3), 0.0, np.cos(0.3))))
    sim.reset([0.05 * np.sin(0.3), 0.0, 0.05 * np.cos(0.3), 0.0, np.sin(0.15), 0.0, np.cos(0.15)])
    sim.step(n=300)
    reading = sim.read(IMU("box"))
    up = sim.frame_pose("box").rotation.T @ [0.0, 0.0, GRAVITY]
    assert abs(up[0]) > 2.0
    assert_allclose(reading.acceleration, up, atol=1e-4)
    assert_allclose(reading.angular_velocity, 0.0, atol=1e-6)


def test_an_imu_that_falls_feels_nothing_but_how_it_turns():
    sim = xs.Simulator(block())
    sim.reset(pin.neutral(sim.robot.model), [1.0, 2.0, 3.0, 0.0, 0.0, 2.0])
    sim.step(n=3)
    reading = sim.read(IMU("box"))
    assert_allclose(reading.acceleration, 0.0, atol=1e-9)
    assert_allclose(reading.angular_velocity, [0.0, 0.0, 2.0], atol=1e-9)


def test_a_mass_on_a_rod_feels_the_rod_at_any_instant_of_a_step():
    sim = swinging()
    imu = IMU("tip", rate=1000.0)
    sim.read(imu)
    for _ in range(20):
        sim.step()
        sim.read(imu)
        q, v = sim.path(imu.samples.t)
        assert len(q) == 10
        pull = GRAVITY * np.cos(q[:, 0]) + 0.5 * v[:, 0] ** 2
        assert_allclose(imu.samples.acceleration, np.stack([0.0 * pull, 0.0 * pull, pull], axis=1), atol=1e-4)
        assert_allclose(imu.samples.angular_velocity[:, 1], v[:, 0], atol=1e-12)


def test_an_imu_feels_what_the_path_of_its_frame_says():
    sim = dropped()
    imu = IMU("FL_UPPER_LEG", rate=1000.0)
    sim.step(n=6)
    assert sim.active.any()
    sim.read(imu)
    model, path = sim.robot.model, sim.path
    data, frame = model.createData(), sim.robot.model.getFrameId("FL_UPPER_LEG")
    for t, felt in zip(imu.samples.t, imu.samples.acceleration, strict=True):
        (q, v), (dv,) = path(t), path.accelerations([t])
        pin.forwardKinematics(model, data, q, v, dv)
        pin.updateFramePlacements(model, data)
        acceleration = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL).linear
        assert_allclose(felt, acceleration + data.oMf[frame].rotation.T @ [0.0, 0.0, GRAVITY], atol=1e-9)


# When samples are taken.


@pytest.mark.parametrize(
    ("dt", "rate", "counts"),
    [(1e-2, 1000.0, {10}), (3e-3, 1000.0, {3}), (1e-2, 400.0, {4}), (7e-3, 200.0, {1, 2}), (1e-3, 300.0, {0, 1})],
)
def test_samples_are_at_multiples_of_the_period_and_none_is_missed(dt, rate, counts):
    sim = dropped(dt)
    sensor = ContactForce(rate=rate)
    sim.read(sensor)
    times = [sensor.samples.t]
    for _ in range(30):
        sim.step()
        sim.read(sensor)
        times.append(sensor.samples.t)
    assert {len(each) for each in times[1:]} == counts
    assert_allclose(np.concatenate(times), np.arange(np.floor(30 * dt * rate + 1e-6) + 1) / rate, atol=1e-12)


def test_a_force_sensor_of_1_khz_has_the_forces_within_steps_of_10_ms():
    sim = dropped()
    sensor = ContactForce(("FL_FOOT", "HR_*"), rate=1000.0)
    sim.step(n=5)
    reading = sim.read(sensor)
    assert sensor.points == ("FL_FOOT", "HR_FOOT")
    at = [sim.robot.feet.index(name) for name in sensor.points]
    assert_allclose(sensor.samples.force, sim.path.forces(sensor.samples.t)[:, at])
    assert_allclose(reading.force, sim.forces[at])
    assert np.ptp(sensor.samples.force[:, 0, 2]) > 0.1


def test_steps_of_one_call_are_all_seen():
    one, other = dropped(), dropped()
    sensors = [(IMU("base_link", rate=1000.0, **NOISY), FootContact()) for _ in range(2)]
    for each in sensors[0]:
        one.read(each)
    for each in sensors[1]:
        other.read(each)
    one.step(n=8)
    landings = np.zeros(4, dtype=int)
    for _ in range(8):
        other.step()
        landings += other.read(sensors[1][1]).landings
    assert_array_equal(one.read(sensors[0][0]).acceleration, other.read(sensors[1][0]).acceleration)
    assert_array_equal(sensors[0][0].samples.angular_velocity, sensors[1][0].samples.angular_velocity)
    assert_array_equal(one.read(sensors[0][1]).landings, landings)
    assert landings.sum() >= 4


def test_a_point_of_several_surfaces_has_the_sum_of_their_forces():
    plane = xs.Material(1e4, 300.0)
    sim = xs.Simulator(block(), [xs.HalfSpace(plane), xs.HalfSpace(plane, point=(0.0, 0.0, 0.0))])
    sim.reset([0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0])
    sim.step(n=200)
    assert len(sim.forces) == 8
    assert_allclose(sim.read(ContactForce()).force, np.tile([0.0, 0.0, 2.0 * GRAVITY / 4], (4, 1)), atol=1e-6)
    assert sim.read(FootContact()).touching.tolist() == [True] * 4


# Errors.


def test_noise_and_bias_have_the_sizes_that_were_asked_for():
    sim = swinging()
    sensor = IMU("tip", noise=(0.1, (0.02, 0.0, 0.05)), bias=((1.0, 2.0, 3.0), 0.5), rate=1e4)
    exact = IMU("tip", rate=1e4)
    sim.read(sensor), sim.read(exact)
    sim.step(n=40)
    sim.read(sensor), sim.read(exact)
    off = np.hstack(
        [getattr(sensor.samples, name) - getattr(exact.samples, name) for name in ("acceleration", "angular_velocity")]
    )
    assert len(off) == 4000
    assert_allclose(off.mean(axis=0), [1.0, 2.0, 3.0, 0.5, 0.5, 0.5], atol=0.01)
    assert_allclose(off.std(axis=0), [0.1, 0.1, 0.1, 0.02, 0.0, 0.05], rtol=0.05, atol=1e-12)


def test_a_bias_wanders_with_the_root_of_time():
    sim = swinging()
    sensors = [IMU("tip", walk=(2.0, 0.0), seed=seed) for seed in range(60)]
    for each in sensors:
        sim.read(each)
    sim.step(n=25)
    true = sim.read(IMU("tip")).acceleration
    off = [sim.read(each).acceleration - true for each in sensors]
    assert_allclose(np.std(off), 2.0 * np.sqrt(0.25), rtol=0.15)
    assert_array_equal(sim.read(sensors[0]).angular_velocity, sim.read(IMU("tip")).angular_velocity)


def test_what_is_delayed_is_what_was():
    sim = dropped()
    late, prompt = Encoders(delay=0.025, rate=1000.0), Encoders(rate=1000.0)
    first, seen = sim.read(late), {0.0: sim.read(prompt).position}
    for _ in range(8):
        sim.step()
        reading = sim.read(late)
        sim.read(prompt)
        seen |= {round(t, 9): q for t, q in zip(prompt.samples.t, prompt.samples.position, strict=True)}
        if sim.t < 0.025:
            assert_array_equal(reading.position, first.position)
        else:
            assert_allclose(reading.t, sim.t - 0.025, atol=1e-12)
            assert_array_equal(reading.position, seen[round(reading.t, 9)])
            assert len(late.samples.t) in (6, 10)


def test_encoders_count_in_steps_of_their_resolution():
    sim = dropped()
    sim.step(n=10)
    coarse, exact = sim.read(Encoders("*_HFE", resolution=0.01)), sim.read(Encoders("*_HFE"))
    assert_allclose(coarse.position, np.round(exact.position / 0.01) * 0.01)
    assert np.abs(coarse.position - exact.position).max() > 1e-4
    assert_array_equal(coarse.velocity, exact.velocity)
    assert_allclose(exact.position, sim.q[[8, 11, 14, 17]])


def test_a_joint_that_turns_round_and_round_is_an_angle():
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRUBY(), pin.SE3.Identity(), "wheel")
    model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
    sim = xs.Simulator(xs.load_robot(model))
    sim.reset([np.cos(2.5), np.sin(2.5)], [0.3])
    reading = sim.read(Encoders())
    assert_allclose([reading.position[0], reading.velocity[0]], [2.5, 0.3])


# Randomness.


def test_the_same_seed_is_the_same_noise_and_sensors_of_different_frames_share_none():
    def noise(*arguments, **options):
        sensor, sim = IMU(*arguments, noise=(0.1, 0.1), rate=1000.0, **options), dropped()
        sim.step(n=2)
        sim.read(sensor)
        exact = IMU(*arguments, rate=1000.0)
        sim.read(exact)
        return sensor.samples.acceleration - exact.samples.acceleration

    assert_array_equal(noise("base_link"), noise("base_link"))
    for other in (noise("base_link", seed=1), noise("FL_FOOT")):
        assert abs(np.corrcoef(noise("base_link").ravel(), other.ravel())[0, 1]) < 0.5
    fresh = IMU("base_link", noise=(0.1, 0.1), rate=1000.0)
    sim = dropped()
    sim.step(n=2)
    sim.read(fresh)
    again = fresh.fresh()
    sim.read(again)
    assert_array_equal(fresh.samples.acceleration, again.samples.acceleration)


SENSORS = {
    "imu": lambda: IMU("base_link", rate=700.0, delay=0.013, **NOISY),
    "encoders": lambda: Encoders(noise=(1e-3, 0.1), walk=(0.1, 0.0), resolution=1e-4),
    "forces": lambda: ContactForce(rate=1000.0, noise=0.5, delay=0.005),
    "feet": lambda: FootContact(delay=0.012, debounce=0.003),
}


def values(reading):
    return [np.asarray(each) for each in vars(reading).values()]


@pytest.mark.parametrize("kind", SENSORS)
@pytest.mark.parametrize("way", ["state", "pickle"])
def test_what_was_saved_continues_bit_for_bit(kind, way):
    sim, sensor = dropped(), SENSORS[kind]()
    for _ in range(4):
        sim.step()
        last = sim.read(sensor)
    if way == "pickle":
        other, again = pickle.loads(pickle.dumps((sim, sensor)))
    else:
        other, again = sim.copy(), SENSORS[kind]()
        again.state = sensor.state
    for one, two in zip(values(last), values(other.read(again)), strict=True):
        assert_array_equal(one, two)
    for _ in range(6):
        found = []
        for each, of in ((sim, sensor), (other, again)):
            each.step()
            found.append(values(each.read(of)) + values(of.samples))
        for one, two in zip(*found, strict=True):
            assert_array_equal(one, two)


@pytest.mark.parametrize("kind", SENSORS)
def test_reading_twice_gives_the_same_and_a_reset_begins_anew(kind):
    sim, sensor = dropped(), SENSORS[kind]()
    sim.read(sensor)
    sim.step(n=3)
    once, samples = values(sim.read(sensor)), values(sensor.samples)
    for one, two in zip(once + samples, values(sim.read(sensor)) + values(sensor.samples), strict=True):
        assert_array_equal(one, two)
    sim.step(n=5)
    sim.read(sensor)
    sensor.reset()
    sim.reset(sim.robot.q0 + 0.01 * np.eye(19)[2])
    sim.read(sensor)
    sim.step(n=3)
    for one, two in zip(once, values(sim.read(sensor)), strict=True):
        assert_array_equal(one, two)


def test_reading_does_not_change_the_simulation():
    robot = known("solo12").replace(drives=xs.Drive(kp=20.0, kd=0.3, delay=0.012))
    sims = [xs.Simulator(robot, xs.HalfSpace(), dt=5e-3) for _ in range(2)]
    sensors = [make() for make in SENSORS.values()]
    events = [[], []]
    for k in range(12):
        for i, sim in enumerate(sims):
            if i:
                for each in sensors:
                    sim.read(each)
            sim.step(0.1 * np.ones(12), n=1 + k % 3, target=robot.q0[7:] + 0.1 * np.sin(k))
            events[i] += [(each.t, each.contact, each.kind) for each in sim.events]
    for name in ("q", "v", "stretch", "mode"):
        assert_array_equal(*(getattr(sim.state, name) for sim in sims))
    assert events[0] == events[1] != []


def test_samples_of_before_a_jump_are_forgotten():
    sim, sensor = dropped(), ContactForce(rate=1000.0, delay=0.004)
    sim.read(sensor)
    start = sim.state
    sim.step(n=5)
    sim.read(sensor)
    sim.state = start
    assert sim.read(sensor).t == 0.0
    assert sensor.samples.t.size == 0  # on its way
    sim.step()
    sim.read(sensor)
    assert_allclose(sensor.samples.t, np.arange(7) * 1e-3, atol=1e-12)
    other = sim.robot.q0 + 0.3 * np.eye(19)[2]
    sim.reset(other)
    one = sim.read(Encoders())
    sim.reset(sim.robot.q0 * np.where(np.arange(19) > 6, 1.01, 1.0))
    assert not np.array_equal(sim.read(Encoders()).position, one.position)


def test_samples_of_before_a_jump_ahead_are_forgotten_too():
    sim, sensor = dropped(), ContactForce(rate=1000.0)
    sim.read(sensor)
    sim.step()
    sim.state = sim.state.replace(t=1.0)
    sim.step()
    sim.read(sensor)
    assert_allclose(sensor.samples.t, 1.0 + np.arange(1, 11) * 1e-3, atol=1e-9)
    late = Encoders(delay=0.5)
    sim.reset()
    sim.read(late)  # of t = 0, not there yet
    sim.state = sim.state.replace(t=1.0)
    sim.step()
    assert sim.read(late).t == sim.t  # the first that there is


def test_a_sensor_that_nobody_has_any_more_costs_nothing():
    sim = dropped()
    for _ in range(5):
        sim.read(IMU("base_link"))
    gc.collect()
    keep = IMU("base_link")
    sim.read(keep)
    assert len(sim._sensors) == 1
    assert sim.copy()._sensors == []


# Landings.


@pytest.mark.parametrize("dt", [1e-3, 1e-2, 2.5e-2])
@pytest.mark.parametrize("every", [1, 7])
def test_a_switch_neither_misses_nor_doubles_a_landing(dt, every):
    sim, switch = bouncing(dt), FootContact()
    sim.read(switch)
    events, landings, reading = [], 0, None
    for _ in range(round(2.0 / dt) // every):
        for _ in range(every):
            sim.step()
            events += [each for each in sim.events if each.kind == "land"]
        reading = sim.read(switch)
        landings += reading.landings[0]
        assert reading.touching[0] == sim.active[0]
    fall = np.sqrt(2.0 * 0.03 / GRAVITY)
    assert landings == len(events) == pytest.approx((sim.t - fall) / (2.0 * fall) + 1, abs=1.1)
    assert reading.landed_at[0] == events[-1].t


def test_the_first_reading_knows_the_step_before():
    sim = bouncing(1e-2, 0.06)
    sim.step(n=8)
    times = {each.kind: each.t for each in sim.events}
    reading = sim.read(FootContact())
    assert reading.landings[0] == 1
    assert_array_equal([reading.landed_at[0], reading.lifted_at[0]], [times["land"], times["lift"]])


def test_a_foot_that_touches_two_surfaces_has_landed_once():
    grounds = [xs.HalfSpace(xs.Material(1e5, 0.0)), xs.HalfSpace(xs.Material(1e5, 0.0), point=(0.0, 0.0, -1e-4))]
    sim, switch = xs.Simulator(ball(), grounds, dt=1e-2), FootContact()
    sim.reset([0.0, 0.0, 0.06, 0.0, 0.0, 0.0, 1.0])
    sim.read(switch)
    sim.step(n=10)
    reading, times = sim.read(switch), {kind: [e.t for e in sim.events if e.kind == kind] for kind in ("land", "lift")}
    assert len(times["land"]) == len(times["lift"]) == 2
    assert reading.landings[0] == 1
    assert_array_equal([reading.landed_at[0], reading.lifted_at[0]], [times["land"][0], times["lift"][1]])


def test_a_foot_that_chatters_has_landed_once():
    sim, plain, calm = bouncing(1e-3, 0.0501), FootContact(), FootContact(debounce=0.02)
    sim.read(plain), sim.read(calm)
    landings, touching = np.zeros(2, dtype=int), []
    for _ in range(200):
        sim.step()
        landings += [sim.read(plain).landings[0], sim.read(calm).landings[0]]
        touching.append(sim.read(calm).touching[0])
    assert landings[0] > 5  # it bounces every nine milliseconds
    assert landings[1] == 1
    assert touching == sorted(touching)


def test_a_delayed_switch_tells_all_of_it_later():
    sim, prompt, late = bouncing(5e-3), FootContact(), FootContact(delay=0.0125)
    sim.read(prompt), sim.read(late)
    times = []
    for _ in range(200):
        sim.step()
        for switch in (prompt, late):
            reading = sim.read(switch)
            times += [(switch is late, sim.t, reading.landed_at[0])] * reading.landings[0]
    known_at = {at: t for is_late, t, at in times if not is_late}
    later = {at: t for is_late, t, at in times if is_late}
    assert len(later) >= len(known_at) - 1 > 2
    for at, t in later.items():
        assert t - 5e-3 - 1e-9 < at + 0.0125 <= t + 1e-9
        assert t > known_at[at]


# Bad input.


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IMU(""), "name of a frame"),
        (lambda: IMU("base_link", noise=0.1), "give 2: of acceleration"),
        (lambda: IMU("base_link", noise=(-0.1, 0.0)), "at least 0"),
        (lambda: IMU("base_link", bias=(np.nan, 0.0)), "finite"),
        (lambda: IMU("base_link", rate=0.0), "rate"),
        (lambda: IMU("base_link", delay=-1.0), "delay"),
        (lambda: IMU("base_link", seed=-1), "seed"),
        (lambda: IMU("base_link", seed=True), "seed"),
        (lambda: Encoders(resolution=-1.0), "resolution"),
        (lambda: Encoders(joints=[]), "joints"),
        (lambda: FootContact(debounce="short"), "debounce"),
        (lambda: ContactForce(points=3), "points"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_made(make, message):
    with pytest.raises(xs.InvalidArgument, match=message):
        make()


@pytest.mark.parametrize(
    ("sensor", "error", "message"),
    [
        (IMU("bas_link"), xs.UnknownFrame, "did you mean 'base_link'"),
        (IMU("base_link", noise=((0.1, 0.2), 0.0)), xs.InvalidArgument, "2 entries for acceleration"),
        (Encoders("FL_HA"), xs.InvalidArgument, "did you mean 'FL_HAA'"),
        (ContactForce("FL_FOTO"), xs.InvalidArgument, "did you mean 'FL_FOOT'"),
        (FootContact("arm*"), xs.InvalidArgument, "there are FL_FOOT"),
        ("imu", xs.InvalidArgument, "one of exposim.sensors"),
    ],
)
def test_what_is_not_there_is_refused_when_it_is_read(sensor, error, message):
    sim = dropped()
    with pytest.raises(error, match=message):
        sim.read(sensor)
    sim.step()  # nothing is left of it


@pytest.mark.parametrize("t", [1e16, 1.7e308])
def test_a_clock_at_which_samples_cannot_be_told_apart_is_refused(t):
    sim = xs.Simulator(ball(0.1), xs.HalfSpace(), dt=1e-3)
    sim.state = sim.state.replace(t=t)
    sim.step()
    with pytest.raises(xs.InvalidArgument, match="samples at 1000 Hz cannot be told apart"):
        sim.read(IMU("ball", rate=1e3))
    sim.reset()
    sim.step()
    assert sim.read(IMU("ball", rate=1e3)).t == pytest.approx(1e-3)


def test_samples_of_what_was_never_read_are_refused():
    for sensor in (IMU("base_link"), FootContact()):
        with pytest.raises(xs.InvalidArgument, match="read it first"):
            _ = sensor.samples


def test_states_that_are_none_are_refused_and_change_nothing():
    sim, sensor = dropped(), SENSORS["imu"]()
    sim.step()
    sim.read(sensor)
    state, forces = sensor.state, ContactForce()
    sim.read(forces)
    bad = [{}, {**state, "times": np.zeros(99)}, {**state, "random": np.zeros(6)}, {**state, "fresh": np.array(50)}]
    for each in (*bad, forces.state):
        with pytest.raises(xs.StateMismatch):
            sensor.state = each
    for name, array in sensor.state.items():
        assert_array_equal(array, state[name])
