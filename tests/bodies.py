"""Bodies that touch each other: random pairs that collide, stacks, and carriers that move as they are told."""

import dataclasses
from itertools import product

import numpy as np
import pinocchio as pin

import exposim as xs
from thrown import random_direction

SHAPES = {
    "box": lambda rng: xs.Box(tuple(rng.uniform(0.1, 0.4, 3))),
    "sphere": lambda rng: xs.Sphere(rng.uniform(0.08, 0.2)),
    "capsule": lambda rng: xs.Capsule(rng.uniform(0.05, 0.1), rng.uniform(0.1, 0.3)),
    "cylinder": lambda rng: xs.Cylinder(rng.uniform(0.05, 0.15), rng.uniform(0.1, 0.3)),
}
WEIGHTLESS = (0.0, 0.0, 0.0)
HEAVY = 1e6  # [kg, kg·m²], which contacts hardly move


def colliding(one, other, seed, spin=3.0, **material):
    """Two free bodies without gravity on their way to each other: the robot, q and v."""
    rng = np.random.default_rng(seed)
    of = xs.Material(**{"damping": 100.0, "friction": 0.5, **material})
    bodies = [
        xs.rigid_body(kind, dataclasses.replace(SHAPES[kind](rng), material=of), rng.uniform(1.0, 5.0))
        for kind in (one, other)
    ]
    robot = xs.combine(one=bodies[0], other=bodies[1]).replace(gravity=WEIGHTLESS)
    way = random_direction(rng)
    turns = [random_turn(rng), random_turn(rng)]
    velocities = [way * rng.uniform(1.0, 3.0) + 0.2 * rng.standard_normal(3), 0.3 * rng.standard_normal(3)]
    q, v = [], []
    for turn, dc, c in zip(turns, velocities, (np.zeros(3), 0.8 * way), strict=True):
        q += [*c, *turn.coeffs()]
        v += [*(turn.matrix().T @ dc), *(spin * rng.standard_normal(3))]
    return robot, np.array(q), np.array(v)


def random_turn(rng):
    return pin.Quaternion(pin.exp3(rng.uniform(0.0, np.pi) * random_direction(rng)))


def momenta(robot, q, v):
    """Linear [N·s], and angular about the common centre of mass [N·m·s]."""
    data = robot.model.createData()
    h = pin.computeCentroidalMomentum(robot.model, data, q, v)
    return h.linear.copy(), h.angular.copy()


def velocity(sim, member):
    """Of the origin of a free member, world axes [m/s]."""
    part = sim.robot.part(member)
    return pin.Quaternion(sim.q[part.q][3:7]).matrix() @ sim.v[part.v][:3]


def box_with_edges(size, mass, material):
    """A free box with contact points at its corners and in the middle of its edges."""
    rounding = min(5e-3, 0.05 * min(size))
    places = [p for p in product((-1.0, 0.0, 1.0), repeat=3) if p.count(0.0) <= 1]
    half = np.array(size) / 2.0 - rounding
    points = [xs.ContactPoint("box", tuple(half * p), f"{i}", rounding) for i, p in enumerate(places)]
    return xs.rigid_body("box", xs.Box(size, material=material, rounding=rounding), mass, contact_points=points)


def stack_of(boxes, sizes, offsets, yaws, gap=1e-3):
    """Boxes one above the other, a little apart, below first."""
    poses, z = {}, 0.0
    for i, (size, offset, yaw) in enumerate(zip(sizes, offsets, yaws, strict=True)):
        poses[f"box{i}"] = [*offset, z + gap + size[2] / 2, 0.0, 0.0, np.sin(yaw / 2), np.cos(yaw / 2)]
        z += size[2] + gap
    return xs.combine(**{f"box{i}": box for i, box in enumerate(boxes)}, poses=poses)


def carrier(joint, shape, inertia=HEAVY):
    """A body on one joint that nothing but a torque of its own size moves, and that carries a shape."""
    model = pin.Model()
    index = model.addJoint(0, joint, pin.SE3.Identity(), "joint")
    model.appendBodyToJoint(index, pin.Inertia(inertia, np.zeros(3), inertia * np.eye(3)), pin.SE3.Identity())
    model.addFrame(pin.Frame("carrier", index, 0, pin.SE3.Identity(), pin.FrameType.BODY))
    return xs.load_robot(model, contact_points=[]).replace(shapes=[dataclasses.replace(shape, frame="carrier")])
