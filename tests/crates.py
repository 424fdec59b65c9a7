"""A crate on the ground, as sensors see it."""

import numpy as np
import pinocchio as pin

import exposim as xs

HALF = np.array([0.1, 0.08, 0.04])  # [m]
SIGMA_Q, SIGMA_V = 1e-3, 1e-2
DT = 2e-3


def crate(mass=1.0):
    corners = [(x, y, -1.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    points = [xs.ContactPoint("crate", tuple(HALF * corner), f"corner {i}") for i, corner in enumerate(corners)]
    return xs.rigid_body("crate", xs.Box(tuple(2.0 * HALF)), mass, contact_points=points)


def on_ground(stiffness=2e4, damping=60.0, friction=0.4, dt=DT):
    return xs.Simulator(crate(), xs.HalfSpace(material=xs.Material(stiffness, damping, friction)), dt=dt)


def noisy(robot, q, v, seed):
    """Positions and velocities as sensors give them."""
    rng = np.random.default_rng(seed)
    moved = [pin.integrate(robot.model, each, rng.normal(0.0, SIGMA_Q, robot.nv)) for each in q]
    return np.stack(moved), v + rng.normal(0.0, SIGMA_V, v.shape)


def measured(sim, q, v, steps, seed, every=1, wrench=None):
    """A motion from there, as it was measured."""
    sim.reset(q, v)
    states = [sim.state]
    wrenches = None if wrench is None else {"crate": wrench}
    for _ in range(steps):
        sim.step(wrenches=wrenches, n=every)
        states.append(sim.state)
    seen = noisy(sim.robot, np.stack([each.q for each in states]), np.stack([each.v for each in states]), seed)
    held = {} if wrench is None else {"crate": np.tile(wrench, (steps + 1, 1))}
    return xs.Measured(every * sim.dt * np.arange(steps + 1), *seen, wrenches=held)


def thrown():
    """Where it lands on a corner, tumbles and slides."""
    q = crate().q0
    q[2] += 0.1
    q[3:7] = np.array([0.1, 0.05, 0.0, 1.0]) / np.linalg.norm([0.1, 0.05, 0.0, 1.0])
    return q, np.array([1.0, 0.3, 0.0, 0.5, 0.5, 2.0])
