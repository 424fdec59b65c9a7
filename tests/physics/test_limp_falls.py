"""Robots that fall limp, with contact points from their geometry, on a plane, on stairs and on rough ground."""

from functools import cache
from typing import NamedTuple

import numpy as np
import pinocchio as pin
import pytest

import exposim as xs
from thrown import random_direction, weight

STEPS = [1e-3, 5e-3, 1e-2]
DURATION = 1.2  # [s]
OFTEN = 1e-4  # [s], between looks at the truth, which is taken with steps of a fifth of that
GROUNDS = {
    "plane": xs.HalfSpace,
    "stairs": lambda: xs.terrain.stairs(rise=0.12, run=0.3, steps=4, position=(-0.6, 0.0, -0.24)),
    "rough": lambda: xs.terrain.rough(6.0, 0.08, spacing=0.1),
}


class Fall(NamedTuple):
    """What came of a fall: the deepest point [m], and the most energy gained, relative to what it fell from."""

    depth: float
    gain: float
    diverged: bool


@cache
def robot_of(name):
    return xs.load_robot(name, contact_points="auto")


def start_of(name, ground, seed):
    """Turned and moving at random, its lowest point 5 cm above the ground."""
    rng, robot = np.random.default_rng(seed), robot_of(name)
    q = robot.q0
    q[3:7] = pin.Quaternion(
        pin.exp3(rng.uniform(0.0, 1.0) * random_direction(rng)) @ pin.Quaternion(q[3:7]).matrix()
    ).coeffs()
    q = pin.integrate(robot.model, q, np.r_[np.zeros(6), rng.uniform(-0.1, 0.1, size=robot.nv - 6)])
    q[2] += 2.0
    sim = xs.Simulator(robot, ground)
    sim.reset(q)
    for _ in range(300):  # the gap is at most what is vertical
        q[2] -= gaps(sim, ground).min() - 0.05
        sim.reset(q)
    assert abs(gaps(sim, ground).min() - 0.05) < 1e-3
    return q, np.r_[rng.uniform(-0.5, 0.5, size=6), rng.uniform(-0.5, 0.5, size=robot.nv - 6)]


def gaps(sim, ground):
    return ground._build().distances(sim.positions)


def fall(name, ground, seed, dt, integrator=None, every=1):
    q, v = start_of(name, ground, seed)
    robot = robot_of(name)
    sim = xs.Simulator(robot, ground, integrator, dt, on_divergence="stop")
    sim.reset(q, v)
    data = robot.model.createData()

    def energy():
        return pin.computeKineticEnergy(robot.model, data, sim.q, sim.v) + pin.computePotentialEnergy(
            robot.model, data, sim.q
        )

    start, most, depth = energy(), -np.inf, 0.0
    for _ in range(round(DURATION / (every * dt))):
        sim.step(n=every)
        if sim.diverged:
            return Fall(np.inf, np.inf, True)
        below = np.maximum(-gaps(sim, ground)[sim.active], 0.0)
        depth = max(depth, below.max(initial=0.0))
        most = max(most, energy() + 0.5 * ground.material.stiffness * np.sum(below**2) - start)
    return Fall(depth, most / (weight(robot) * q[2]), False)


@cache
def truth(name, where, seed):
    return fall(name, GROUNDS[where](), seed, OFTEN / 5, xs.ExplicitEuler(), every=5)


def assert_falls_well(name, where, seed, dt):
    found, true = fall(name, GROUNDS[where](), seed, dt), truth(name, where, seed)
    assert not found.diverged
    assert found.gain < 0.01
    assert found.depth < 3.0 * true.depth


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize(
    "name, where, seed",
    [
        *(("solo12", "plane", 0), ("go2", "plane", 1), ("romeo", "plane", 1), ("g1", "plane", 0)),
        *(("solo12", "stairs", 1), ("go2", "stairs", 1), ("anymal_c", "stairs", 0), ("talos", "stairs", 1)),
        ("solo12", "rough", 0),
    ],
)
def test_a_robot_that_falls_limp_sinks_as_deep_as_it_should_and_gains_nothing(name, where, seed, dt):
    assert_falls_well(name, where, seed, dt)


# In which a foot is flung from a riser onto the tread below it: (robot, seed, dt).
FLUNG = {
    *(("solo12", 15, 1e-2), ("solo12", 23, 5e-3), ("solo12", 23, 1e-2), ("go2", 0, 1e-2), ("go2", 15, 5e-3)),
    *(("go2", 15, 1e-2), ("go2", 16, 1e-2), ("anymal_c", 17, 1e-2), ("anymal_c", 18, 5e-3), ("anymal_c", 18, 1e-2)),
    ("romeo", 12, 1e-2),
}


@pytest.mark.slow
@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("where", GROUNDS)
@pytest.mark.parametrize("name", xs.KNOWN_ROBOTS)
def test_robots_that_fall_limp_sink_as_deep_as_they_should_and_gain_nothing(name, where, dt):
    for seed in range(2 if where == "rough" else 8):
        assert_falls_well(name, where, seed, dt)


@pytest.mark.slow
@pytest.mark.parametrize("name, seed, dt", sorted(FLUNG))
def test_a_foot_flung_from_a_riser_lands_on_the_tread_below(name, seed, dt):
    assert_falls_well(name, "stairs", seed, dt)
