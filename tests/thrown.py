"""Bodies thrown on the floor or into a corner, robots that fall limp, and the energy of what they do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

import exposim as xs
from systems import GRAVITY, energy, spring_energy

SHAPES = {  # half lengths of the smallest and the largest [m]
    "box": ((0.03, 0.03, 0.03), (0.2, 0.2, 0.2)),
    "rod": ((0.1, 0.003, 0.003), (0.4, 0.01, 0.01)),
    "domino": ((0.01, 0.03, 0.06), (0.03, 0.08, 0.15)),
    "plate": ((0.08, 0.06, 0.003), (0.3, 0.2, 0.01)),
}


class Throw(NamedTuple):
    """A body, where it is thrown from, and against what."""

    name: str
    robot: xs.Robot
    ground: list[xs.HalfSpace]
    q: np.ndarray
    v: np.ndarray


def free_body(mass, half):
    """A free box with a contact point at each of its corners."""
    model = pin.Model()
    model.name = "thrown body"
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    model.appendBodyToJoint(joint, pin.Inertia.FromBox(mass, *(2.0 * np.array(half))), pin.SE3.Identity())
    model.addFrame(pin.Frame("body", joint, 0, pin.SE3.Identity(), pin.FrameType.BODY))
    signs = np.stack(np.meshgrid(*3 * [[-1.0, 1.0]]), axis=-1).reshape(-1, 3)
    points = [xs.ContactPoint("body", tuple(sign * half), f"corner {i}") for i, sign in enumerate(signs)]
    return xs.load_robot(model, contact_points=points)


def throw(seed):
    """A random body of 0.1 to 20 kg on its way to a floor, or to a corner of a floor and two walls."""
    rng = np.random.default_rng(seed)
    shape = str(rng.choice(list(SHAPES)))
    half = rng.uniform(*SHAPES[shape])
    mass = 10.0 ** rng.uniform(-1.0, np.log10(20.0))
    stiffness = 10.0 ** rng.uniform(4.0, 7.0)
    damping = 2.0 * 10.0 ** rng.uniform(-2.0, 0.0) * np.sqrt(stiffness * mass)
    material = xs.Material(stiffness, damping, rng.uniform(0.0, 1.0))
    size = np.linalg.norm(half)
    ground, position = [xs.HalfSpace(material)], np.array([0.0, 0.0, size + rng.uniform(0.05, 0.8)])
    if corner := rng.random() < 0.4:
        ground += [xs.HalfSpace(material, normal=(1.0, 0.0, 0.2)), xs.HalfSpace(material, normal=(0.0, 1.0, 0.0))]
        position[:2] = size + rng.uniform(0.1, 0.4, size=2)
    velocity = rng.uniform(-2.0, 2.0, size=3)
    if corner:
        velocity[:2] = -np.abs(velocity[:2])
    spin = 10.0 ** rng.uniform(-0.5, 1.3) * random_direction(rng)
    quaternion = pin.Quaternion(*(x := rng.normal(size=4)) / np.linalg.norm(x))
    v = np.r_[quaternion.matrix().T @ velocity, spin]
    name = f"{shape} {'corner' if corner else 'floor'} {mass:.2g} kg K={stiffness:.1e}"
    return Throw(name, free_body(mass, half), ground, np.r_[position, quaternion.coeffs()], v)


def random_direction(rng):
    axis = rng.normal(size=3)
    return axis / np.linalg.norm(axis)


def limp_fall(name, seed, armature=0.0):
    """A known robot without joint damping, turned and thrown at random, its lowest point above the floor."""
    rng = np.random.default_rng(seed)
    robot = xs.load_robot(name).replace(armature=armature, joint_damping=0.0)
    turn = pin.exp3(rng.uniform(0.0, 0.6) * random_direction(rng))
    q = robot.q0
    q[3:7] = pin.Quaternion(turn @ pin.Quaternion(*q[[6, 3, 4, 5]]).matrix()).coeffs()
    q = pin.integrate(robot.model, q, np.r_[np.zeros(6), rng.uniform(-0.2, 0.2, size=robot.nv - 6)])
    q[2] += 0.3 - lowest_point(robot, q)
    v = np.r_[rng.uniform(-1.0, 1.0, size=6), rng.uniform(-1.0, 1.0, size=robot.nv - 6)]
    return Throw(name, robot, [xs.HalfSpace()], q, v)


def lowest_point(robot, q):
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    heights = []
    for point in robot.contact_points:
        joint, placement = robot.locate(point.frame)
        heights.append(data.oMi[joint].act(placement.act(np.array(point.offset)))[2] - point.radius)
    return min(heights)


def weight(robot):
    return GRAVITY * pin.computeTotalMass(robot.model)


def mechanical_energy(sim):
    """Kinetic, gravitational and of the contact springs [J]."""
    return energy(sim.robot, sim.q, sim.v) + spring_energy(sim)


def energy_without_friction(sim):
    """Kinetic, gravitational and of normal springs [J].

    When slipping starts, the friction law moves the damper's force into the spring: energy that a limp foot, light and
    fast, has not brought along (a third of m g·1 m on Solo12, by RK4 at 4 µs).
    """
    along = np.sum(sim.normals * np.nan_to_num([c.position - c.anchor for c in sim.contacts]), axis=1)
    stiffness = np.array([c.surface.material.stiffness for c in sim.contacts])
    return energy(sim.robot, sim.q, sim.v) + 0.5 * np.sum(stiffness * along**2)


def energies(thrown, dt, duration, integrator=None, every=None, measure=mechanical_energy):
    """At the start and after every so many seconds; infinite from where it diverged."""
    sim = xs.Simulator(thrown.robot, thrown.ground, integrator, dt, on_divergence="stop")
    sim.reset(thrown.q, thrown.v)
    each = 1 if every is None else round(every / dt)
    found = [measure(sim)]
    for _ in range(round(duration / (each * dt))):
        sim.step(n=each)
        found.append(np.inf if sim.diverged else measure(sim))
        if sim.diverged:
            break
    return np.array(found), sim


def rise(thrown, dt, duration, integrator=None, every=None):
    """Largest energy above that of the start, relative to it."""
    found, _ = energies(thrown, dt, duration, integrator, every)
    return (found.max() - found[0]) / found[0]


def true_rise(thrown, duration, dt=2e-6):
    """Of the same law by Runge-Kutta, looked at often enough to see an impact."""
    return rise(thrown, dt, duration, xs.RungeKutta4(), every=20e-6)
