"""Derivatives of steps where normals turn, of bodies on bodies, and of joints that rub, held to differences."""

import numpy as np
import pinocchio as pin
import pytest

import exposim as xs
from bodies import carrier
from differences import Around

MATERIAL = xs.Material(stiffness=1e5, damping=300.0, friction=0.8)
GROUNDS = {
    "stairs": lambda: xs.terrain.stairs(0.12, 0.3, 4, position=(-0.6, 0.0, -0.24), rounding=0.01, material=MATERIAL),
    "sharp stairs": lambda: xs.terrain.stairs(0.12, 0.3, 4, position=(-0.6, 0.0, -0.24), material=MATERIAL),
    "height field": lambda: xs.terrain.rough(4.0, 0.05, spacing=0.1, seed=1, material=MATERIAL),
    "many boxes": lambda: (
        xs.HalfSpace(material=MATERIAL),
        *(
            xs.Box(
                (0.1, 0.1, 0.04 + 0.01 * i), (0.12 * i - 0.3, 0.13 * j - 0.2, 0.0), rounding=0.005, material=MATERIAL
            )
            for i in range(6)
            for j in range(4)
        ),
    ),
}


def thrown(robot, ground, dt, seed, integrator=None):
    """Dropped from somewhat above the ground, turned and moving at random."""
    sim = xs.Simulator(robot, ground, integrator, dt=dt)
    rng = np.random.default_rng(seed)
    joints = robot.nv - 6
    q = robot.q0.copy()
    q[2] += 0.2
    by = np.r_[np.zeros(3), rng.uniform(-0.5, 0.5, 3), rng.uniform(-0.2, 0.2, joints)]
    sim.reset(pin.integrate(robot.model, q, by), np.r_[rng.uniform(-1.0, 1.0, 6), rng.uniform(-0.5, 0.5, joints)])
    return sim


def in_contact(sim, count, every, duration):
    """(state, whether contacts change in the step) of some steps in which something touches."""
    for k in range(round(duration / sim.dt)):
        state = sim.state
        sim.step()
        if k % every == 0 and (state.active.any() or sim.active.any()):
            yield state, sim.info.resolved
            count -= 1
            if count == 0:
                return


def errors(sim, state, **options):
    """Of all columns, and whether the step is differentiable there."""
    tau = np.zeros(len(sim.robot.actuated_dofs))
    d = sim.linearize(state, tau, **options)
    assert d.method == "analytic"
    return np.array(Around(sim, state, tau).errors(d)), not d.grazing


def assert_right(sim, states, calm=1e-6, changing=1e-5, share=0.75):
    """Nearly all of them: where a contact creeps, steps may bend within rounding."""
    good, seen = [], 0
    for state, resolved in states:
        off, smooth = errors(sim, state)
        seen += 1
        if resolved and smooth:
            good.append(off.max() < changing)
        elif smooth:
            assert off.max() < calm
    assert seen >= 4
    assert not good or np.mean(good) >= share


@pytest.mark.parametrize(
    ("name", "dt", "ground"),
    [
        ("solo12", 2e-3, "stairs"),
        ("solo12", 2e-3, "height field"),
        ("solo12", 2e-3, "many boxes"),
        ("go2", 5e-3, "stairs"),
        ("go2", 5e-3, "sharp stairs"),
    ],
)
def test_falls_on_terrain_have_the_derivatives_of_what_was_done(name, dt, ground):
    sim = thrown(xs.load_robot(name), GROUNDS[ground](), dt, seed=3)
    assert_right(sim, in_contact(sim, 4, 17, 1.0))


def on_a_sphere(order, radius, dt=2e-3, material=MATERIAL):
    points = [xs.ContactPoint("ball", (0.0, 0.0, 0.0), "middle")] if radius == 0.0 else None
    body = xs.rigid_body("ball", xs.Sphere(radius or 0.05), 0.5, **({"contact_points": points} if points else {}))
    ground = xs.Sphere(0.3, (0.0, 0.0, -0.3), material=material)
    sim = xs.Simulator(body, ground, xs.Expo(order=order), dt, collisions=None)
    q = body.q0.copy()
    q[:3] = 0.01, 0.02, radius + 0.01
    sim.reset(q, [0.5, -0.3, -0.5, 2.0, 1.0, 3.0])
    return sim


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("radius", [0.0, 0.05], ids=["point", "ball"])
def test_what_rolls_and_slides_on_a_sphere_feels_its_normal_turn(radius, order):
    sim = on_a_sphere(order, radius)
    seen = {True: [], False: []}
    for state, resolved in in_contact(sim, 20, 1, 0.2):
        off, smooth = errors(sim, state)
        if smooth:
            seen[resolved].append((np.median(off), off.max()))
    calm, changing = (np.array(seen[which]) for which in (False, True))
    assert min(len(calm), len(changing)) >= 2
    assert calm.max() < 1e-6
    assert changing[:, 0].max() < 1e-6
    assert np.mean(changing[:, 1] < 1e-5) >= 0.9


def test_materials_of_curved_ground_are_differentiated_by():
    names = ("stiffness", "damping", "friction")
    sim = on_a_sphere(2, 0.05, material=xs.Material(stiffness=1e5, damping=300.0, friction=0.1))
    seen = 0
    for state, _ in in_contact(sim, 8, 2, 0.2):
        d, found = (sim.linearize(state, parameters=names, method=by) for by in ("auto", "differences"))
        assert d.method == "analytic"
        if d.grazing or found.grazing:
            continue
        seen += 1
        scale = np.abs(found.parameters).max(axis=0)
        assert np.all(np.abs(d.parameters - found.parameters).max(axis=0) <= 1e-4 * scale + 1e-9)
    assert seen >= 3


@pytest.mark.parametrize("joint", [pin.JointModelPX(), pin.JointModelRY()], ids=["slides", "tilts"])
def test_a_robot_on_a_plate_that_moves_has_derivatives(joint):
    board = xs.Box((3.0, 3.0, 0.2), (0.0, 0.0, -0.1), material=MATERIAL)
    robot = xs.combine(plate=carrier(joint, board, inertia=20.0), solo=xs.load_robot("solo12"))
    sim = xs.Simulator(robot, None, dt=2e-3, collisions="all")
    q = robot.q0.copy()
    q[3] += 0.02
    sim.reset(q, np.r_[0.7, np.random.default_rng(3).uniform(-0.5, 0.5, robot.nv - 1)])
    assert_right(sim, in_contact(sim, 5, 13, 0.4))


def test_two_balls_that_meet_and_fall_have_derivatives():
    one, other = (
        xs.rigid_body(name, xs.Sphere(r, material=MATERIAL), m) for name, r, m in (("a", 0.1, 3), ("b", 0.08, 1))
    )
    robot = xs.combine(a=one, b=other)
    sim = xs.Simulator(robot, xs.HalfSpace(material=MATERIAL), dt=2e-3, collisions="all")
    q = robot.q0.copy()
    q[:3], q[7:10] = (0.0, 0.0, 0.1), (0.02, 0.01, 0.3)
    sim.reset(q, [0.0, 0.0, 0.0, 0.0, 1.0, 0.5, 0.3, 0.1, -0.5, 0.5, 0.3, 0.2])
    assert_right(sim, in_contact(sim, 16, 3, 0.2))


def test_two_boxes_that_meet_have_derivatives_but_where_an_edge_slides():
    one, other = (xs.rigid_body(name, xs.Box(size, material=MATERIAL), mass) for name, size, mass in (
        ("a", (0.3, 0.3, 0.1), 3.0), ("b", (0.2, 0.2, 0.2), 1.0)
    ))  # fmt: skip
    robot = xs.combine(a=one, b=other)
    sim = xs.Simulator(robot, xs.HalfSpace(material=MATERIAL), dt=2e-3, collisions="all")
    q = robot.q0.copy()
    q[:3], q[7:10] = (0.0, 0.0, 0.055), (0.02, 0.01, 0.25)
    q[10:14] = np.array([0.1, 0.05, 0.1, 1.0]) / np.linalg.norm([0.1, 0.05, 0.1, 1.0])
    sim.reset(q, [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.3, 0.1, -0.5, 0.5, 0.3, 0.2])
    by_formulas = 0
    for state, _ in in_contact(sim, 25, 2, 0.3):
        d = sim.linearize(state)
        if d.method == "differences" or d.grazing:
            continue
        by_formulas += 1
        assert np.median(Around(sim, state, np.zeros(0)).errors(d)) < 1e-6
    assert by_formulas >= 5


def test_a_body_whose_centre_of_mass_is_elsewhere_has_derivatives():
    model = pin.Model()
    model.name = "lopsided"
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    centre = pin.SE3(np.eye(3), np.array([0.05, -0.03, 0.04]))
    model.appendBodyToJoint(joint, pin.Inertia.FromBox(1.0, 0.2, 0.3, 0.1), centre)
    model.addFrame(pin.Frame("body", joint, pin.SE3.Identity(), pin.FrameType.BODY))
    corners = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.15, 0.15) for z in (-0.05, 0.05)]
    points = [xs.ContactPoint("body", at, f"corner {i}") for i, at in enumerate(corners)]
    sim = xs.Simulator(xs.Robot(model, contact_points=points), xs.HalfSpace(material=MATERIAL), dt=2e-3)
    q = np.array([0.0, 0.0, 0.1, 0.1, 0.05, 0.02, 1.0])
    q[3:] /= np.linalg.norm(q[3:])
    sim.reset(q, [0.5, 0.3, -0.4, 2.0, 1.0, 3.0])
    assert_right(sim, in_contact(sim, 16, 4, 0.4))


@pytest.mark.parametrize("drives", [False, True], ids=["torques", "drives"])
def test_joints_that_rub_have_derivatives_but_where_they_come_to_rest(drives):
    robot = xs.load_robot("solo12").replace(joint_friction=xs.DryFriction(0.1, 0.15))
    if drives:
        robot = robot.replace(drives=xs.Drive(kp=3.0, kd=0.035))
    sim = thrown(robot, xs.HalfSpace(material=MATERIAL), 2e-3, seed=1)
    tau, good = np.zeros(12), []
    for state, _ in in_contact(sim, 14, 7, 1.0):
        d = sim.linearize(state, tau)
        if d.method == "analytic" and not d.grazing:
            good.append(max(Around(sim, state, tau).errors(d)) < 1e-5)
    assert len(good) >= 7
    assert np.mean(good) >= 0.8


def test_damping_that_is_no_multiple_of_stiffness_has_derivatives_in_the_closed_form():
    uneven = xs.Material(stiffness=(1e5, 5e4), damping=(300.0, 80.0), friction=0.8)
    robot = xs.load_robot("solo12").replace(drives=xs.Drive(kp=3.0, kd=0.035))
    sim = xs.Simulator(robot, xs.HalfSpace(material=uneven), dt=5e-3)
    tau, calm = np.full(12, 0.02), 0
    for k in range(60):
        state = sim.state
        sim.step(tau)
        if k % 8 or sim.info.resolved:
            continue
        calm += 1
        d = sim.linearize(state, tau, parameters=["stiffness", "damping"])
        found = sim.linearize(state, tau, parameters=["stiffness", "damping"], method="differences")
        assert d.method == "analytic"
        assert max(Around(sim, state, tau).errors(d)) < 1e-6
        scale = np.abs(found.parameters).max(axis=0)
        assert np.all(np.abs(d.parameters - found.parameters).max(axis=0) <= 2e-3 * scale + 1e-9)
    assert calm >= 3
