"""Small mechanical systems whose motion is known, and the bridge to the reference simulator."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

import contact_space
import exposim as xs
import oracle
import reference
from exposim.simulation.integrators import SCHEMES

# Of a robot without stops, torque limits and dry friction: the bare mechanism.
BARE = {"joint_limits": False, "effort_limits": False, "joint_friction": 0.0}

GRAVITY = 9.81
PAPER = xs.PaperExpo()
# Every registered scheme with its defaults, and the other version of Expo.
INTEGRATORS = [*(each() for each in SCHEMES.values()), xs.Expo(order=1)]
EXPONENTIAL = (xs.Expo, xs.PaperExpo)  # which take large steps on stiff ground
REFERENCED = {  # those that the reference simulator knows
    xs.PaperExpo: "expo",
    xs.ExplicitEuler: "explicit_euler",
    xs.SemiImplicitEuler: "semi_implicit_euler",
    xs.RungeKutta4: "runge_kutta4",
}


def integrator_id(integrator):
    return f"{type(integrator).__name__}-{integrator.order}"


def point_mass(mass=2.0, **contact_point):
    """Three translations and one contact point."""
    model = pin.Model()
    model.name = "point mass"
    joint = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "translation")
    model.appendBodyToJoint(joint, pin.Inertia(mass, np.zeros(3), 1e-3 * np.eye(3)), pin.SE3.Identity())
    model.addFrame(pin.Frame("tip", joint, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    return xs.load_robot(model, contact_points=[xs.ContactPoint("tip", **contact_point)])


def block(mass=2.0, half=(0.1, 0.1, 0.05), radius=0.0, **contact_point):
    """A free box with a contact point at each corner of its bottom."""
    model = pin.Model()
    model.name = "block"
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    model.appendBodyToJoint(joint, pin.Inertia.FromBox(mass, *(2.0 * np.array(half))), pin.SE3.Identity())
    model.addFrame(pin.Frame("box", joint, 0, pin.SE3.Identity(), pin.FrameType.BODY))
    corners = {"fl": (1, 1), "fr": (1, -1), "bl": (-1, 1), "br": (-1, -1)}
    points = [
        xs.ContactPoint("box", (x * half[0], y * half[1], -half[2] + radius), name, radius, **contact_point)
        for name, (x, y) in corners.items()
    ]
    return xs.load_robot(model, contact_points=points)


def ball(radius=0.05, mass=1.0, on_translations=False):
    """A solid ball, free; or turning in a spherical joint that moves on translations."""
    model = pin.Model()
    model.name = "ball"
    if on_translations:
        carrier = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "translation")
        joint = model.addJoint(carrier, pin.JointModelSpherical(), pin.SE3.Identity(), "rotation")
    else:
        joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    model.appendBodyToJoint(joint, pin.Inertia.FromSphere(mass, radius), pin.SE3.Identity())
    model.addFrame(pin.Frame("ball", joint, 0, pin.SE3.Identity(), pin.FrameType.BODY))
    return xs.load_robot(model, contact_points=[xs.ContactPoint("ball", radius=radius)])


def slope(angle, **material):
    """A plane that descends along x."""
    return xs.HalfSpace(xs.Material(**material), normal=(np.sin(angle), 0.0, np.cos(angle)))


def on_slope(angle, height):
    """Configuration of a block that stands on a slope, its centre `height` above it."""
    q = np.zeros(7)
    q[:3] = height * np.array([np.sin(angle), 0.0, np.cos(angle)])
    q[4], q[6] = np.sin(angle / 2), np.cos(angle / 2)
    return q


def downhill(angle):
    return np.array([np.cos(angle), 0.0, -np.sin(angle)])


def oscillator(mass, K, B, z0, dz0, t, gravity=GRAVITY):
    """Height and its velocity of a mass on a spring-damper to z = 0, by an accurate general solver."""
    solution = solve_ivp(
        lambda _, x: [x[1], -(K * x[0] + B * x[1]) / mass - gravity],
        (0.0, t),
        [z0, dz0],
        method="DOP853",
        rtol=1e-13,
        atol=1e-15,
    )
    return solution.y[:, -1]


def energy(robot, q, v):
    """Kinetic and gravitational [J]."""
    data = robot.model.createData()
    return pin.computeKineticEnergy(robot.model, data, q, v) + pin.computePotentialEnergy(robot.model, data, q)


def spring_energy(sim):
    """Stored in the contact springs [J], for materials with one stiffness."""
    return sum(
        0.5 * c.surface.material.stiffness * np.sum((c.position - c.anchor) ** 2) for c in sim.contacts if c.active
    )


def reference_of(sim):
    """The reference simulator of the same robot, ground, scheme and step."""
    options = {}
    if isinstance(sim.integrator, xs.PaperExpo):
        options = {name: getattr(sim.integrator, name) for name in ("position_update", "anchor", "projection")}
    return reference.ReferenceSimulator(
        sim.robot.model, *reference_contacts(sim), sim.dt, REFERENCED[type(sim.integrator)], **options
    )


def oracle_of(sim):
    """The reading of the default step, for the same robot, ground and step."""
    found = oracle.OracleSimulator(sim.robot.model, *reference_contacts(sim), sim.dt, order=sim.integrator.order)
    arrays = sim.robot._joint_arrays()
    found.kp, found.kd, found.target = arrays.kp, arrays.kd, sim.robot.q0
    return found


def reference_contacts(sim):
    """Points and surfaces as the reference simulator takes them."""

    def pair(value):
        return (value, value) if np.ndim(value) == 0 else tuple(value)

    def material(m):
        return reference.Material(pair(m.stiffness), pair(m.damping), m.friction)

    points = []
    for point in sim.robot.contact_points:
        joint, placement = sim.robot.locate(point.frame)
        bilateral = material(point.material or xs.Material()) if point.bilateral else None
        anchor = None if point.anchor is None else np.array(point.anchor)
        position = placement.act(np.array(point.offset))
        points.append(reference.Point(joint, position, point.radius, bilateral, anchor))
    surfaces = [reference.HalfSpace(np.array(s.point), np.array(s.normal), material(s.material)) for s in sim.surfaces]
    return points, surfaces


def chain(links=3, length=0.3, **contact_point):
    """Links in a plane, the first one free, with a bilateral point at the root and one near the tip."""
    model = pin.Model()
    model.name = "chain"
    joint, placement = 0, pin.SE3.Identity()
    for i in range(links):
        kind = pin.JointModelRY() if i else pin.JointModelFreeFlyer()
        joint = model.addJoint(joint, kind, placement, f"joint {i}")
        inertia = pin.Inertia.FromBox(1.0, length, 0.05, 0.05)
        model.appendBodyToJoint(joint, inertia, pin.SE3(np.eye(3), np.array([length / 2, 0.0, 0.0])))
        model.addFrame(pin.Frame(f"link {i}", joint, 0, pin.SE3.Identity(), pin.FrameType.BODY))
        placement = pin.SE3(np.eye(3), np.array([length, 0.0, 0.0]))
    ends = [("link 0", (0.0, 0.0, 0.0), "root"), (f"link {links - 1}", (0.8 * length, 0.0, 0.0), "tip")]
    return xs.load_robot(model, contact_points=[xs.ContactPoint(*end, bilateral=True, **contact_point) for end in ends])


def random_contact_space(seed, count=2, stiffness=(1e5, 1e5), damping=(300.0, 300.0)):
    """Υ, p̈̄ and elements that land, slip, stick and lift within some milliseconds."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(3 * count, 3 * count + 2))
    Upsilon = 0.3 * np.eye(3 * count) + factor @ factor.T / (6 * count)
    elements = []
    for _ in range(count):
        normal = np.array([0.0, 0.0, 1.0]) + 0.2 * rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        gap = rng.choice([1.0, -1.0]) * 10.0 ** rng.uniform(-5.0, -3.5)
        velocity = rng.normal(size=3) * [0.15, 0.15, 0.0] - 0.2 * abs(rng.normal()) * normal
        material = reference.Material(stiffness, damping, rng.uniform(0.2, 0.8))
        element = contact_space.Element(material, normal, gap, velocity)
        if gap <= 0.0:
            alone = contact_space.ContactSpace(np.eye(3), np.zeros(3), [element])
            pushes, sticks = alone.push(0, alone.start()) > 0.0, alone.cone_margin(0, alone.start()) >= 0.0
            mode = "sticking" if sticks else "slipping" if pushes else "idle"
            element = contact_space.Element(material, normal, gap, velocity, mode)
        elements.append(element)
    return Upsilon, np.tile([0.0, 0.0, -GRAVITY], count) + 5.0 * rng.normal(size=3 * count), elements
