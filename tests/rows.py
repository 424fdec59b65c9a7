"""Simulators that rollouts are tried on, and the loops that they are held against."""

import numpy as np
import pytest

import exposim as xs


def driven(name="solo12", kp=5.0, kd=0.2, delay=0.0, **settings):
    """A robot with drives on hard ground."""
    robot = xs.load_robot(name).replace(drives=xs.Drive(kp=kp, kd=kd, delay=delay))
    return xs.Simulator(robot, settings.pop("ground", xs.HalfSpace()), dt=settings.pop("dt", 5e-3), **settings)


def random_targets(sim, rows, steps, seed=0, size=0.5):
    """Around q0, of the actuated joints, (rows, steps, n)."""
    rng = np.random.default_rng(seed)
    count = len(sim.robot.actuated_dofs)
    return sim.robot.q0[-count:] + size * rng.standard_normal((rows, steps, count))


def thrown_states(sim, rows, seed=0, height=0.05):
    """States of which none is like another, as the simulator has them: flat, (rows, nx)."""
    rng = np.random.default_rng(seed)
    states = []
    for _ in range(rows):
        q, v = sim.robot.q0, rng.standard_normal(sim.robot.nv)
        if sim.robot.has_floating_base:
            q[2] += height * rng.uniform()
        sim.reset(q, 0.5 * v)
        sim.step(n=int(rng.integers(1, 30)))
        states.append(sim.state)
    return states


def looped(sim, state, steps, **inputs):
    """What a loop of steps comes to: after each, state, forces, torques of motors; and all events.

    Args:
        sim: That takes them.
        state: To start from.
        steps: How many.
        **inputs: Of ``sim.step``, one entry to a step each.
    """
    sim.state = state
    states, forces, torques, events = [], [], [], []
    for k in range(steps):
        sim.step(**{name: values[k] for name, values in inputs.items()})
        states.append(sim.state._x)
        forces.append(sim.forces)
        torques.append(sim.torques)
        events += sim.events
    return np.array(states), np.array(forces), np.array(torques), events


def same_events(one, other):
    """Whether two lists of events are the same to the last bit."""
    return len(one) == len(other) and all(
        (a.t, a.contact, a.kind, a.index) == (b.t, b.contact, b.kind, b.index)
        and np.array_equal(a.velocity, b.velocity)
        and np.array_equal(a.force, b.force)
        for a, b in zip(one, other, strict=True)
    )


def refuses(words):
    """Expects one of the package's own errors, whose message has these words."""
    return pytest.raises(xs.ExposimError, match=words)
