"""Bodies thrown on the floor or into a corner, and robots that fall limp, do not gain energy."""

import numpy as np
import pinocchio as pin
import pytest

import exposim as xs
from thrown import (
    Throw,
    energies,
    energy_without_friction,
    limp_fall,
    mechanical_energy,
    rise,
    throw,
    true_rise,
    weight,
)

STEPS = [1e-3, 2e-3, 5e-3, 1e-2]


def assert_no_gain(seed, dt, duration=1.5):
    thrown = throw(seed)
    gained = rise(thrown, dt, duration)
    if gained > 0.02:  # only then is the truth worth its time
        assert gained < true_rise(thrown, duration) + 0.02, thrown.name


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("seed", [1, 11, 21, 24, 36, 54, 61, 62, 63, 101, 131, 369])
def test_thin_rods_do_not_gain_energy(seed, dt):
    assert_no_gain(seed, dt, duration=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("seed", [*range(70), *range(100, 170), *range(300, 370)])
def test_thrown_bodies_do_not_gain_energy(seed, dt):
    assert_no_gain(seed, dt)


def assert_limp_fall_gains_nothing(name, seed, armature, dt, duration):
    thrown = limp_fall(name, seed, armature)
    found, sim = energies(thrown, dt, duration, measure=energy_without_friction)
    assert not sim.diverged
    assert found.max() < found[0] + 1e-3 * weight(thrown.robot)


@pytest.mark.parametrize(
    ("name", "seed", "dt"), [("solo12", 0, 1e-2), ("go2", 3, 1e-2), ("romeo", 3, 1e-2), ("g1", 1, 5e-3)]
)
def test_a_robot_that_falls_limp_does_not_gain_energy(name, seed, dt):
    assert_limp_fall_gains_nothing(name, seed, 0.0, dt, duration=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("armature", [0.0, 0.1])
@pytest.mark.parametrize("name", ["solo12", "go2", "anymal_c", "romeo", "g1", "talos"])
def test_robots_that_fall_limp_do_not_gain_energy(name, armature, dt):
    for seed in range(8):
        assert_limp_fall_gains_nothing(name, seed, armature, dt, duration=2.0)


def stick():
    """A light stick with a contact point at either end."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    model.appendBodyToJoint(joint, pin.Inertia.FromBox(0.19, 0.25, 0.01, 0.01), pin.SE3.Identity())
    model.addFrame(pin.Frame("stick", joint, 0, pin.SE3.Identity(), pin.FrameType.BODY))
    return xs.load_robot(
        model, contact_points=[xs.ContactPoint("stick", (x, 0.0, 0.0), f"{x}") for x in (-0.125, 0.125)]
    )


@pytest.mark.parametrize("walls", [0, 3], ids=["slots for all", "free slots"])
@pytest.mark.parametrize("dt", [1e-3, 2e-3])
def test_a_stick_whose_far_end_whips_down_lands_with_it(dt, walls):
    material = xs.Material(1.3e6, 50.0, 0.3)
    ground = [xs.HalfSpace(material)]
    ground += [xs.HalfSpace(material, normal=(1.0, 0.0, 0.0), point=(-5.0 - i, 0.0, 0.0)) for i in range(walls)]
    tilted = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, 0.015, 0.0)).coeffs()
    for height in np.linspace(0.60, 0.66, 60):
        dropped = Throw("stick", stick(), ground, np.r_[0.0, 0.0, height, tilted], np.zeros(6))
        assert rise(dropped, dt, 0.45) < 1e-6, height


def test_a_step_that_missed_a_landing_is_taken_again_and_says_so():
    material = xs.Material(1.3e6, 50.0, 0.3)
    thrown = Throw(
        "stick",
        stick(),
        [xs.HalfSpace(material)],
        np.r_[0.0, 0.0, 0.6, np.sin(0.0075) * np.eye(3)[1], np.cos(0.0075)],
        np.zeros(6),
    )
    again = []
    for max_acceleration in (0.0, 1e5):
        sim = xs.Simulator(thrown.robot, thrown.ground, xs.Expo(max_acceleration=max_acceleration), 2e-3)
        sim.reset(thrown.q)
        redone = 0
        while not sim.active.any():
            sim.step()
            redone += sim.info.redone
        again.append((redone > 0, mechanical_energy(sim)))
    assert [each[0] for each in again] == [True, False]
    assert again[0][1] == pytest.approx(again[1][1], rel=1e-6)
