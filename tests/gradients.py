"""Steps whose gradients are checked: of a robot with a quaternion, and feet that stick or slip."""

import numpy as np

import exposim as xs


def sliding(name="solo12"):
    """A simulator, and a flat state in which all feet press and slip."""
    return _after(xs.load_robot(name), 0.5, 105, 0.1)


def standing(name="solo12"):
    """On drives, with feet that stick and are stretched."""
    return _after(xs.load_robot(name).replace(drives=xs.Drive(kp=20.0, kd=0.5)), 0.9, 300, 0.0)


def _after(robot, friction, steps, torque):
    sim = xs.Simulator(robot, xs.HalfSpace(material=xs.Material(1e5, 300.0, friction)), dt=2e-3)
    rng = np.random.default_rng(0)
    q = robot.q0
    q[3:7] = [0.002, -0.003, 0.1, 1.0]
    q[3:7] /= np.linalg.norm(q[3:7])
    sim.reset(q, 0.1 * rng.normal(size=robot.nv))
    sim.step(torque * rng.normal(size=12), n=10)
    sim.step(n=steps - 10)
    return sim, sim.state.to_array()


def real_numbers(sim):
    """Places of a flat state that are real numbers: q, v, stretches."""
    layout = sim.state.layout
    stretch = layout.memory(np.arange(layout.size))[:, 3:][sim.state.active]
    return np.concatenate([np.arange(1, 1 + layout.nq + layout.nv), stretch.ravel()])
