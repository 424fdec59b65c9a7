"""Loops closed by springs, against the same mechanisms with loops that are closed for good."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from linkages import five_bar, four_bar

every_step = pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2])
LINKAGES = {"four-bar": (four_bar, 1.0), "five-bar": (five_bar, 0.5)}
every_linkage = pytest.mark.parametrize("name", LINKAGES)


@pytest.fixture(scope="module")
def truths():
    """Positions and velocities of the constrained linkages, converged to 1e-7."""
    return {name: make().constrained(duration, 1000) for name, (make, duration) in LINKAGES.items()}


@every_linkage
def test_the_constrained_solution_is_converged_and_stays_closed(name, truths):
    make, duration = LINKAGES[name]
    q, v = truths[name]
    linkage = make()
    assert_allclose(linkage.constrained(duration, 500)[1], v, atol=1e-6)
    assert np.abs(linkage.gap(q)).max() < 1e-8
    assert linkage.energy(q, v) == pytest.approx(linkage.energy(linkage.q0, np.zeros(len(v))), abs=1e-8)


# Largest differences of joint angles [rad]: of the springs, in proportion to 1/K, and of the step, to dt².
GIVE = {"four-bar": 150.0, "five-bar": 40.0}  # [rad·N/m]
STEP = {"four-bar": 6.0, "five-bar": 45.0}  # [rad/s²]


@every_step
@every_linkage
@pytest.mark.parametrize("stiffness", [1e5, 1e6, 1e7])
def test_linkages_move_as_the_constrained_ones_within_their_stiffness(name, dt, stiffness, truths):
    make, duration = LINKAGES[name]
    sim = xs.Simulator(make().robot(stiffness=stiffness), dt=dt)
    sim.step(n=round(duration / dt))
    q, v = truths[name]
    bound = GIVE[name] / stiffness + STEP[name] * dt**2
    assert np.abs(sim.q - q).max() < bound
    assert np.abs(sim.v - v).max() < 1500.0 / stiffness + 200.0 * dt**2


@every_step
@every_linkage
def test_loops_stay_closed_and_give_no_energy(name, dt):
    """Over ten seconds: the damper takes a little, and a step's error is 0.3 % of what falls, whatever its sign."""
    linkage = LINKAGES[name][0]()
    sim = xs.Simulator(linkage.robot(stiffness=1e6), dt=dt)
    start = linkage.energy(linkage.q0, np.zeros(sim.robot.nv))
    energies, gaps = [], []
    for _ in range(round(10.0 / dt)):
        sim.step()
        energies.append(linkage.energy(sim.q, sim.v) - start)
        gaps.append(np.linalg.norm(linkage.gap(sim.q)))
    assert max(gaps) < 1e-4
    assert max(energies) < 1e-5 + 130.0 * dt**2
    assert -0.03 < energies[-1] < 0.0


PIVOT, ARM = 1.0, 0.22  # [m]: its height, and the way from it to the centre of mass


def hanging_rod(stiffness, angle):
    """A free rod whose upper end is tied to a place in the world."""
    model = xs.rigid_body("rod", xs.Capsule(0.02, 0.4), mass=1.0).model.copy()
    for name, joint, height in (("top", 1, ARM), ("pivot", 0, PIVOT)):
        place = pin.SE3(np.eye(3), np.array([0.0, 0.0, height]))
        model.addFrame(pin.Frame(name, joint, 0, place, pin.FrameType.OP_FRAME))
    turn = pin.Quaternion(pin.utils.rotate("y", angle))
    q0 = np.r_[-ARM * np.sin(angle), 0.0, PIVOT - ARM * np.cos(angle), turn.coeffs()]
    return xs.Robot(model, q0=q0, loops=[xs.Loop("top", "pivot", stiffness=stiffness)])


def pendulum_angle(robot, angle, duration, steps=4000):
    """Of a pendulum about the pivot."""
    inertia = robot.model.inertias[1].inertia[1, 1] + ARM**2
    y, h = np.array([angle, 0.0]), duration / steps

    def rate(y):
        return np.array([y[1], -9.81 * ARM * np.sin(y[0]) / inertia])

    for _ in range(steps):
        k1 = rate(y)
        k2 = rate(y + h / 2 * k1)
        k3 = rate(y + h / 2 * k2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3))
    return y[0]


@every_step
@pytest.mark.parametrize("stiffness", [1e4, 1e6])
def test_a_body_tied_to_the_world_is_a_pendulum(stiffness, dt):
    robot = hanging_rod(stiffness, -1.0)
    sim = xs.Simulator(robot, dt=dt)
    sim.step(n=round(1.0 / dt))
    angle = 2.0 * np.arctan2(sim.q[4], sim.q[6])
    assert angle == pytest.approx(pendulum_angle(robot, -1.0, 1.0), abs=160.0 / stiffness + 6.0 * dt**2)


def test_the_world_can_be_named_first_or_last():
    model = xs.rigid_body("ball", xs.Sphere(0.1), mass=2.0).replace(q0=[0, 0, 0, 0, 0, 0, 1]).model
    for ends in (("ball", "universe"), ("universe", "ball")):
        sim = xs.Simulator(xs.Robot(model, loops=[xs.Loop(*ends, stiffness=1e5)]), dt=5e-3)
        sim.step(n=400)
        assert sim.q[2] == pytest.approx(-2.0 * 9.81 / 1e5, rel=1e-6)


def welded(stiffness, **loop):
    """Two boxes end to end, with frames where they meet."""
    box = xs.rigid_body("box", xs.Box(size=(0.2, 0.1, 0.1)), mass=1.0)
    both = xs.combine(a=box, b=box, poses={"a": [0, 0, 0, 0, 0, 0, 1], "b": [0.2, 0, 0, 0, 0, 0, 1]})
    model = both.model.copy()
    for joint, (name, x) in enumerate((("a_end", 0.1), ("b_end", -0.1)), start=1):
        place = pin.SE3(np.eye(3), np.array([x, 0.0, 0.0]))
        model.addFrame(pin.Frame(name, joint, 0, place, pin.FrameType.OP_FRAME))
    return xs.Robot(model, q0=both.q0, loops=[xs.Loop("a_end", "b_end", stiffness, axes="pose", **loop)])


@every_step
@pytest.mark.parametrize("stiffness", [1e5, 1e6])
def test_two_welded_boxes_fly_as_one(stiffness, dt):
    sim = xs.Simulator(welded(stiffness), dt=dt)
    w, v = np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 3.0])
    sim.reset(v=np.r_[v, w, v + np.cross(w, [0.2, 0.0, 0.0]), w])
    one = xs.rigid_body("long", xs.Box(size=(0.4, 0.1, 0.1), position=(0.1, 0.0, 0.0)), mass=2.0)
    truth = xs.Simulator(one, dt=1e-4)
    truth.reset([0, 0, 0, 0, 0, 0, 1], np.r_[v, w])
    sim.step(n=round(0.5 / dt))
    truth.step(n=5000)
    apart = pin.difference(one.model, sim.q[:7], truth.q)
    assert np.abs(apart).max() < 20.0 / stiffness + 2.0 * dt**2
    held = pin.XYZQUATToSE3(sim.q[:7]).inverse() * pin.XYZQUATToSE3(sim.q[7:])
    assert_allclose(held.translation, [0.2, 0.0, 0.0], atol=2.0 / stiffness)
    assert np.linalg.norm(pin.log3(held.rotation)) < 2.0 / stiffness


def test_a_weld_bends_as_its_angular_stiffness_says():
    """A beam that sticks out of the world sinks at its root, and turns there by its weight's moment."""
    model = xs.rigid_body("beam", xs.Box(size=(0.4, 0.1, 0.1), position=(0.2, 0.0, 0.0)), mass=2.0).model
    loop = xs.Loop("beam", "universe", stiffness=1e6, axes="pose", angular_stiffness=1e4)
    sim = xs.Simulator(xs.Robot(model, loops=[loop]), dt=5e-3)
    sim.step(n=400)
    assert sim.q[2] == pytest.approx(-2.0 * 9.81 / 1e6, rel=1e-3)
    assert 2.0 * sim.q[4] == pytest.approx(2.0 * 9.81 * 0.2 / 1e4, rel=1e-3)


@pytest.mark.parametrize("stiffness", [1e4, 1e6, 1e8])
def test_the_damping_that_is_not_given_is_critical(stiffness):
    """A body pulled away from its place comes back without swinging through, as (1 + ωt) exp(−ωt)."""
    mass, away = 2.0, 1e-4
    model = xs.rigid_body("ball", xs.Sphere(0.1), mass).replace(gravity=(0, 0, 0)).model
    robot = xs.Robot(model, loops=[xs.Loop("ball", "universe", stiffness=stiffness)])
    omega = np.sqrt(stiffness / mass)
    sim = xs.Simulator(robot, dt=0.5 / omega)
    sim.reset([away, 0, 0, 0, 0, 0, 1])
    sim.step(n=4)
    assert sim.q[0] == pytest.approx(away * 3.0 * np.exp(-2.0), rel=1e-6)


def test_a_linkage_whose_loop_is_cut_is_another_one():
    """That the loop is what makes the tests above pass."""
    linkage = four_bar()
    cut = xs.Simulator(linkage.robot().replace(loops=[]), dt=1e-3)
    cut.step(n=100)
    assert np.linalg.norm(linkage.gap(cut.q)) > 0.01
