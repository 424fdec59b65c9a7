"""No gain and no step makes a robot with drives unstable: the spectral radius of a step, linearised about equilibrium.

Central differences of the step itself. In the air, without gravity, the base can be anywhere and momentum is kept:
twelve eigenvalues are 1 in Jordan blocks, which rounding would spread by its root. They are split off exactly: the base
is moved with the joints so that momentum is zero, and only the joints are read.
"""

import numpy as np
import pinocchio as pin
import pytest

import exposim as xs
from joint_gains import SETTINGS

STEPS = (1e-3, 2e-3, 5e-3, 1e-2, 2e-2)
DIFFERENCE = 1e-5  # rad and rad/s: rounding and the cubic term are both some 1e-10
LINEAR = {name: setting for name, setting in SETTINGS.items() if setting.gains}


def configurations(robot, count=3):
    """The posture of rest and others within the limits."""
    rng = np.random.default_rng(11)
    model = robot.model
    found = [robot.q0]
    lower, upper = (np.clip(x, -2.0, 2.0) for x in (model.lowerPositionLimit[7:], model.upperPositionLimit[7:]))
    for _ in range(count - 1):
        q = robot.q0
        q[7:] = rng.uniform(lower, upper)
        found.append(q)
    return found


def linear_map_in_the_air(robot, q, dt, eps=DIFFERENCE):
    """Of the joints' (q, v) about rest at a target, with zero momentum, (2 nj, 2 nj)."""
    model = robot.model
    nv, nj = model.nv, model.nv - 6
    M = np.triu(pin.crba(model, model.createData(), q))
    M = M + np.triu(M, 1).T
    with_base = np.vstack([-np.linalg.solve(M[:6, :6], M[:6, 6:]), np.eye(nj)])  # velocities without momentum
    sim = xs.Simulator(robot, dt=dt)
    columns = []
    for i in range(2 * nj):
        ends = []
        for sign in (eps, -eps):
            dq, v = np.zeros(nv), np.zeros(nv)
            if i < nj:
                dq[6 + i] = sign
            else:
                v = sign * with_base[:, i - nj]
            sim.reset(pin.integrate(model, q, dq), v)
            sim.step(target=q)
            ends.append(np.r_[pin.difference(model, q, sim.q)[6:], sim.v[6:]])
        columns.append((ends[0] - ends[1]) / (2 * eps))
    return np.array(columns).T


def spectral_radius(A):
    return np.abs(np.linalg.eigvals(A)).max()


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("name", LINEAR)
def test_in_the_air_no_gain_makes_a_robot_unstable(name, dt):
    robot = LINEAR[name].make(linear=True).replace(gravity=(0.0, 0.0, 0.0))
    for q in configurations(robot):
        assert spectral_radius(linear_map_in_the_air(robot, q, dt)) <= 1.0 + 1e-9


def test_the_differences_resolve_the_bar():
    """The radius moves by less than 1e-9 with the size of the differences, also where it is close to one."""
    robot = SETTINGS["g1 Isaac Lab"].make(linear=True).replace(gravity=(0.0, 0.0, 0.0))
    radii = [spectral_radius(linear_map_in_the_air(robot, robot.q0, 1e-2, eps)) for eps in (5e-6, 1e-5, 2e-5)]
    assert np.ptp(radii) < 1e-9


@pytest.mark.parametrize("gain", [1e-3, 1.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("ratio", [0.0, 1e-3, 0.1, 10.0])
def test_one_joint_is_stable_at_gains_of_any_size(gain, ratio):
    """kd = ratio · kp, or kd alone."""
    kp, kd = (gain, ratio * gain) if ratio < 10.0 else (0.0, gain)
    robot = SETTINGS["go2 100/5"].make(linear=True).replace(gravity=(0.0, 0.0, 0.0), drives=xs.Drive(kp, kd))
    for dt in (1e-3, 2e-2):
        radius = spectral_radius(linear_map_in_the_air(robot, robot.q0, dt))
        # Where nothing damps, eigenvalues are on the circle, and without kp in Jordan blocks at 1 (free joints).
        assert radius <= 1.0 + (1e-9 if kp * kd > 0.0 else 1e-6)


def random_gains(rng, joints):
    """One pair for all joints, or each its own: from slack to far beyond what any motor has."""
    size = () if rng.random() < 0.5 else (len(joints),)
    kp = np.broadcast_to(10.0 ** rng.uniform(-1.0, 6.0, size), len(joints))
    kd = kp * np.broadcast_to(10.0 ** rng.uniform(-5.0, 0.0, size), len(joints))
    return {name: xs.Drive(*gains) for name, gains in zip(joints, zip(kp, kd, strict=True), strict=True)}


@pytest.mark.parametrize(("name", "count"), [("go2", 60), ("solo12", 60), ("g1", 15)])
def test_in_the_air_no_random_gains_make_a_robot_unstable(name, count):
    """Also where a joint swings through several periods in a step, and its neighbours do not."""
    rng = np.random.default_rng(5)
    robot = xs.load_robot(name).replace(
        gravity=(0.0, 0.0, 0.0), effort_limits=False, joint_limits=False, joint_friction=0.0
    )
    unstable = []
    for _ in range(count):
        driven = robot.replace(drives=random_gains(rng, list(robot.joints)))
        dt = 10.0 ** rng.uniform(-3.0, -1.5)
        q = configurations(driven, 2)[rng.integers(2)]
        radius = spectral_radius(linear_map_in_the_air(driven, q, dt))
        if radius > 1.0 + 1e-8:
            unstable.append((dt, radius, {n: (j.drive.kp, j.drive.kd) for n, j in driven.joints.items()}))
    assert not unstable


STANDING = {  # those of them that do stand without bounds, and come to rest
    name: SETTINGS[name] for name in ("go2 35/0.5", "go2 100/5", "anymal_c 400/1", "anymal_c 300/20", "solo12 8/0.1")
}


def settle(robot, dt, duration=12.0):
    """Standing at rest, every contact sticking; Newton's iteration would also do, time does it without derivatives."""
    damped = robot.replace(drives=xs.Drive(1000.0, 100.0))
    sim = xs.Simulator(damped, xs.HalfSpace(), dt=5e-3)
    sim.step(n=200)
    state = sim.state
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=dt)
    sim.reset(state.q, np.zeros(robot.model.nv))
    sim.step(n=round(duration / dt))
    return sim


def linear_map_standing(sim, eps=1e-6):
    """Of (q, v) with the anchors of all contacts held, about a state in which nothing moves, (2 nv, 2 nv)."""
    robot, state = sim.robot, sim.state
    model, nv = robot.model, robot.model.nv
    data = model.createData()
    pin.computeJointJacobians(model, data, state.q)
    contacts = []
    for point in robot.contact_points:
        joint, placement = robot.locate(point.frame)
        arm = data.oMi[joint].rotation @ placement.act(np.array(point.offset)) - [0.0, 0.0, point.radius]
        J = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)
        J = J[:3] - pin.skew(arm) @ J[3:]
        J[2] = 0.0
        contacts.append(J)
    columns = []
    for i in range(2 * nv):
        ends = []
        for sign in (eps, -eps):
            d = np.zeros(2 * nv)
            d[i] = sign
            stretch = np.asarray(state.stretch) + np.array([J @ d[:nv] for J in contacts])
            q = pin.integrate(model, state.q, d[:nv])
            sim.state = state.replace(q=q, v=state.v + d[nv:], stretch=stretch)
            sim.step()
            assert not sim.slipping.any()
            assert sim.active.all()
            ends.append(np.r_[pin.difference(model, state.q, sim.q), sim.v])
        columns.append((ends[0] - ends[1]) / (2 * eps))
    sim.state = state
    return np.array(columns).T


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("name", STANDING)
def test_standing_no_gain_makes_a_robot_unstable(name, dt):
    robot = STANDING[name].make(linear=True)
    sim = settle(robot, dt)
    assert np.abs(sim.v).max() < 5e-3
    assert sim.q[2] > 0.1
    assert sim.active.all()
    assert spectral_radius(linear_map_standing(sim)) <= 1.0 + 1e-9
