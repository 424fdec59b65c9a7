"""The paper's four motions: judged by what the robot does, the same motion with every integrator."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from exposim.scenarios.measures import flights, lean, roll_pitch_yaw

SMALL_STEPS = {
    "expo": (xs.Expo(), 5e-4),
    "explicit-euler": (xs.ExplicitEuler(), 1 / 16e3),
    "semi-implicit-euler": (xs.SemiImplicitEuler(), 1 / 16e3),
    "rk4": (xs.RungeKutta4(), 1 / 16e3),
    "implicit-euler": (xs.ImplicitEuler(), 5e-4),
}
PERIODS = {"solo-squat": 0.04, "solo-jump": 0.01, "solo-trot": 0.002, "romeo-walk": 0.04}  # of the paper [s]


def run(name, integrator=None, dt=None, duration=None):
    scenario = xs.scenarios.get(name)
    trajectory = scenario.run(integrator, dt, duration)
    return trajectory, scenario.judge(trajectory)


@pytest.mark.parametrize("name", PERIODS)
def test_the_torque_is_held_as_long_as_in_the_paper_and_expo_takes_steps_as_long(name):
    scenario = xs.scenarios.get(name)
    assert scenario.control_period == PERIODS[name]
    assert scenario.dt == PERIODS[name]
    (ground,) = scenario.ground
    assert ground.material == xs.Material(stiffness=1e5, damping=300.0, friction=1.0)


@pytest.mark.parametrize("integrator", SMALL_STEPS)
def test_the_squat_has_its_amplitude_and_frequency(integrator):
    _, judgement = run("solo-squat", *SMALL_STEPS[integrator])
    assert judgement.complaints == ()
    assert judgement.measures["amplitude [m]"] == pytest.approx(0.03, rel=0.07)
    assert judgement.measures["frequency [Hz]"] == pytest.approx(1.0, abs=0.01)


def test_expo_squats_at_steps_of_40_ms():
    trajectory, judgement = run("solo-squat")
    assert trajectory.settings.dt == 0.04
    assert judgement.measures["amplitude [m]"] == pytest.approx(0.03, rel=0.05)
    assert trajectory.active.all()


@pytest.mark.parametrize("integrator", [*SMALL_STEPS, "expo at 10 ms"])
def test_the_jump_leaves_the_ground_and_lands_upright(integrator):
    trajectory, judgement = run("solo-jump", *SMALL_STEPS.get(integrator, (xs.Expo(), 0.01)))
    assert judgement.complaints == ()
    standing = trajectory.q[0, 2]
    flight = max(flights(trajectory), key=lambda span: span[1] - span[0])
    assert 0.25 < flight[1] - flight[0] < 0.35
    assert 0.10 < trajectory.q[:, 2].max() - standing < 0.2
    in_flight = (trajectory.t > flight[0]) & (trajectory.t < flight[1])
    assert trajectory.position[in_flight, :, 2].min(axis=1).max() > 0.05  # every foot clear of the ground at once
    assert lean(trajectory).max() < 0.1
    assert trajectory.q[-1, 2] == pytest.approx(standing, abs=0.02)
    assert trajectory.active[-1].all()
    assert np.abs(trajectory.v[-1]).max() < 0.05


@pytest.mark.parametrize("integrator", [*SMALL_STEPS, "expo at 2 ms"])
def test_the_trot_goes_forward_level_on_diagonal_pairs(integrator):
    trajectory, judgement = run("solo-trot", *SMALL_STEPS.get(integrator, (xs.Expo(), 0.002)), duration=4.0)
    assert judgement.complaints == ()
    x, y = (trajectory.q[-1] - trajectory.q[0])[:2]
    assert 1.0 < x < 1.3
    assert abs(y) < 0.02
    assert np.abs(roll_pitch_yaw(trajectory)).max() < 0.02
    assert judgement.measures["speed [m/s]"] == pytest.approx(0.3, rel=0.02)
    one_pair = trajectory.active[:, [0, 3]].all(axis=1) & ~trajectory.active[:, [1, 2]].any(axis=1)
    other_pair = trajectory.active[:, [1, 2]].all(axis=1) & ~trajectory.active[:, [0, 3]].any(axis=1)
    assert one_pair.mean() > 0.25
    assert other_pair.mean() > 0.25


def test_the_trot_goes_on_for_as_long_as_one_likes():
    trajectory, judgement = run("solo-trot", duration=30.0)
    assert judgement.complaints == ()
    assert trajectory.q[-1, 0] == pytest.approx(0.3 * 30.0, rel=0.05)


@pytest.mark.parametrize(
    "material", [{"friction": 0.7}, {"stiffness": 3e4, "damping": 160.0}, {"stiffness": 1e6, "damping": 950.0}]
)
def test_the_trot_does_not_depend_on_the_ground(material):
    scenario = xs.scenarios.get("solo-trot").with_material(**material)
    assert scenario.judge(scenario.run(duration=4.0, dt=1e-3)).complaints == ()


@pytest.mark.parametrize("integrator", [*SMALL_STEPS, "expo at 40 ms"])
def test_romeo_takes_two_steps_and_ends_standing_over_its_feet(integrator):
    trajectory, judgement = run("romeo-walk", *SMALL_STEPS.get(integrator, (xs.Expo(), 0.04)))
    assert judgement.complaints == ()
    left, right = trajectory.position[:, :4], trajectory.position[:, 4:]
    for sole in (left, right):
        way = sole[-1] - sole[0]
        assert_allclose(way[:, 0], 0.15, atol=0.01)
        assert sole[:, :, 2].max() > 0.03
    in_the_air = [~trajectory.active[:, part].any(axis=1) for part in (slice(4), slice(4, 8))]
    assert not (in_the_air[0] & in_the_air[1]).any()
    assert [trajectory.t[each].min() for each in in_the_air] == pytest.approx([2.2, 0.8], abs=0.1)
    pelvis, middle = trajectory.q[-1, :2], trajectory.position[-1].mean(axis=0)[:2]
    assert_allclose(pelvis, middle, atol=0.06)
    assert trajectory.active[-1].all()
    assert np.abs(trajectory.v[-1]).max() < 0.05
    assert lean(trajectory).max() < 0.05


@pytest.mark.parametrize(
    ("name", "instant"), [("solo-squat", 3.0), ("solo-jump", 0.4), ("solo-trot", 2.0), ("romeo-walk", 2.6)]
)
def test_all_integrators_agree_on_where_the_base_is(name, instant):
    places = []
    for integrator, dt in SMALL_STEPS.values():
        trajectory, _ = run(name, integrator, dt, duration=instant)
        places.append(trajectory.q[-1, :7])
    assert_allclose(places, np.broadcast_to(places[0], (5, 7)), atol=2e-3)


def test_a_robot_that_falls_is_said_to_have_fallen():
    scenario = xs.scenarios.get("solo-trot")
    limp = scenario.replace(make_controller=lambda: lambda t, state: np.zeros(12), duration=1.5)
    assert scenario.judge(limp.run()).complaints != ()


def test_a_squat_that_is_held_back_is_said_to_be_too_small():
    scenario = xs.scenarios.get("solo-squat")
    weak = scenario.replace(
        make_controller=lambda: xs.controllers.PD(scenario.robot, 20.0, 0.2), control_period=2e-3, dt=2e-3
    )
    assert any("mm instead of" in complaint for complaint in scenario.judge(weak.run()).complaints)
