"""Flights that end in a divergence, and their files."""

import dataclasses

import numpy as np
import pytest

import exposim as xs

DT = 5e-3


def held_pd(robot="anymal_c", joint="LH_KFE", *, kp=80.0, kd=1.0, planted=100.0, seed=0, calm=0, **settings):
    """A simulator and what steps it, by a PD controller with one gain that is too large after some calm steps."""
    robot = xs.load_robot(robot).replace(effort_limits=False)
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=DT, **settings)
    noise, count = np.random.default_rng(seed), len(robot.actuated_dofs)
    gains = np.full(count, kd)
    unstable = np.where(np.array(robot.actuated_joints) == joint, planted, gains)

    def step(**more):
        tau = kp * (robot.q0[7:] - sim.q[7:]) - (gains if sim.statistics.steps < calm else unstable) * sim.v[6:]
        sim.step(tau + 0.01 * noise.standard_normal(count), **more)

    return sim, step


def until_it_diverges(step, most=2000, **more):
    with pytest.raises(xs.SimulationDiverged) as caught:
        for _ in range(most):
            step(**more)
    return caught.value


def flown(folder, **settings):
    """The file of a flight that diverges, and its recorder."""
    sim, step = held_pd(**settings)
    recorder = xs.FlightRecorder(sim, folder)
    until_it_diverges(step)
    return recorder.dumps[0], recorder


def hung(scheme, stiff):
    """A box on four springs, of which one is too stiff for the scheme."""
    box = xs.rigid_body("box", xs.Box(size=(0.2, 0.2, 0.1)), mass=2.0)
    soft, hard = xs.Material(1e4, 10.0), xs.Material(1e7, 10.0)
    points = [
        dataclasses.replace(point, bilateral=True, material=hard if i == stiff else soft)
        for i, point in enumerate(box.contact_points[:4])
    ]
    sim = xs.Simulator(box.replace(contact_points=points), None, scheme, 1e-3)
    sim.reset([0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0])
    return sim, points[stiff].name


def changed(path, **changes):
    """A file with some arrays changed in place, and the header if it is given."""
    with np.load(path) as archive:
        arrays = {name: archive[name].copy() for name in archive.files}
    for name, change in changes.items():
        arrays[name] = change(arrays[name])
    target = path.with_name("changed.npz")
    np.savez(target, **arrays)
    return target
