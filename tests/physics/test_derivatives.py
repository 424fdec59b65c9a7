"""Derivatives of steps, held to finite differences of the steps themselves, and to formulas."""

import numpy as np
import pytest

import exposim as xs
from differences import Around

GAINS = {"solo12": (3.0, 0.035), "go2": (60.0, 1.2), "romeo": (100.0, 2.0)}
GROUND = xs.HalfSpace(material=xs.Material(stiffness=1e5, damping=300.0, friction=0.8))
PARAMETERS = ("stiffness", "damping", "friction")


def motion(
    name, dt, seed, drives=False, ground=GROUND, integrator=None, duration=0.6, reach=0.2, gains=None, limited=False
):
    """(simulator, state, what the step from there is given), along a motion to random targets."""
    kp, kd = gains or GAINS[name]
    robot = xs.load_robot(name)
    if not limited:
        robot = robot.replace(effort_limits=False)
    if drives:
        robot = robot.replace(drives=xs.Drive(kp=kp, kd=kd))
    sim = xs.Simulator(robot, ground, integrator, dt=dt)
    rng = np.random.default_rng(seed)
    joints = len(robot.actuated_dofs)
    rest = robot.q0[-joints:]
    target = rest
    for k in range(round(duration / dt)):
        if k % round(0.1 / dt) == 0:
            target = rest + rng.uniform(-reach, reach, joints)
        tau = np.zeros(joints) if drives else kp * (target - sim.q[-joints:]) - kd * sim.v[-joints:]
        given = {"target": target} if drives else {}
        state = sim.state
        sim.step(tau, **given)
        yield sim, state, tau, given


def some(steps, count, seed, wanted):
    """Some of the steps of a motion, of those that are wanted."""
    rng = np.random.default_rng(seed)
    found = []
    for sim, state, tau, given in steps:
        if wanted(sim) and rng.random() < 0.25:
            found.append((sim, state, tau, given))
            if len(found) == count:
                return found
    return found


@pytest.mark.parametrize("drives", [False, True], ids=["torques", "drives"])
@pytest.mark.parametrize(("name", "dt"), [("solo12", 2e-3), ("solo12", 1e-2), ("go2", 5e-3)])
def test_the_closed_form_has_the_derivatives_of_its_formulas(name, dt, drives):
    steps = some(motion(name, dt, seed=41, drives=drives, reach=0.05), 4, 1, lambda sim: not sim.info.resolved)
    assert len(steps) >= 2
    for sim, state, tau, given in steps:
        d = sim.linearize(state, tau, **given)
        assert d.method == "analytic"
        assert not d.grazing
        assert max(Around(sim, state, tau, **given).errors(d)) < 1e-6


def test_stretches_of_contacts_on_a_slope_count_in_all_directions():
    tilt = 0.2  # [rad], about y
    ground = xs.HalfSpace(material=GROUND.material, normal=(np.sin(tilt), 0.0, np.cos(tilt)))
    robot = xs.load_robot("solo12")
    sim = xs.Simulator(robot, ground, dt=2e-3)
    q, height = robot.q0, robot.q0[2]
    q[:3] = height * np.sin(tilt), 0.0, height * np.cos(tilt)
    q[3:7] = 0.0, np.sin(tilt / 2.0), 0.0, np.cos(tilt / 2.0)
    sim.reset(q)
    for _ in range(100):
        tau = 8.0 * (robot.q0[7:] - sim.q[7:]) - 0.1 * sim.v[6:]
        state = sim.state
        sim.step(tau)
    assert state.active.all()
    assert not sim.info.resolved
    d = sim.linearize(state, tau)
    assert d.method == "analytic"
    stretches = d.x[:, 2 * robot.nv :]
    assert np.abs(stretches[:, 2::3]).max() > 1e-3  # upwards, which is not along the normal
    assert max(Around(sim, state, tau).errors(d)) < 1e-6


@pytest.mark.parametrize("drives", [False, True], ids=["torques", "drives"])
@pytest.mark.parametrize(("name", "dt"), [("solo12", 2e-3), ("solo12", 5e-3), ("go2", 5e-3)])
def test_steps_in_which_contacts_change_have_the_derivatives_of_what_was_done(name, dt, drives):
    steps = some(motion(name, dt, seed=42, drives=drives), 8, 2, lambda sim: sim.info.resolved)
    assert len(steps) >= 5
    good = []
    for sim, state, tau, given in steps:
        d = sim.linearize(state, tau, **given)
        assert d.method == "analytic"
        if not d.grazing:
            good.append(max(Around(sim, state, tau, **given).errors(d)) < 1e-5)
    assert np.mean(good) >= 0.85  # one of eight may bend within rounding


def test_drives_of_light_joints_are_followed_in_the_derivative_too():
    """Romeo's wrists, which are stiff for a step that long."""
    steps = some(motion("romeo", 1e-2, 1, drives=True, limited=True), 6, 1, lambda sim: sim.info.resolved)
    good = []
    for sim, state, tau, given in steps:
        d = sim.linearize(state, tau, **given)
        if not d.grazing:
            good.append(max(Around(sim, state, tau, **given).errors(d)) < 1e-5)
    assert len(good) >= 4
    assert np.mean(good) >= 0.7


def test_soles_of_four_points_have_derivatives_too():
    seen = 0
    for sim, state, tau, given in some(motion("romeo", 5e-3, seed=4, drives=True), 4, 3, lambda sim: sim.active.any()):
        d = sim.linearize(state, tau, **given)
        assert d.method == "analytic"
        if not d.grazing:
            seen += 1
            assert max(Around(sim, state, tau, **given).errors(d)) < 1e-5
    assert seen >= 2


@pytest.mark.parametrize("order", [1, 2])
def test_both_orders_are_differentiated(order):
    for sim, state, tau, _ in some(motion("solo12", 5e-3, 5, integrator=xs.Expo(order=order)), 3, 4, lambda _: True):
        d = sim.linearize(state, tau)
        assert d.method == "analytic"
        assert np.median(Around(sim, state, tau).errors(d)) < 1e-6


def test_a_step_in_parts_has_the_derivatives_of_all_its_parts():
    robot = xs.load_robot("solo12")
    sim = xs.Simulator(robot, GROUND, dt=0.02)
    v = np.zeros(robot.nv)
    v[3:6] = 12.0, -9.0, 4.0
    q = robot.q0.copy()
    q[2] += 1.0
    sim.reset(q, v)
    state, tau = sim.state, np.full(12, 0.1)
    sim.step(tau)
    assert sim.info.parts > 1
    d = sim.derivatives()
    assert d.method == "analytic"
    assert max(Around(sim, state, tau).errors(d)) < 1e-6


def test_a_foot_that_comes_too_deep_is_corrected_in_the_derivative_too():
    # With the terms of the start it lands at the very end of a long step, and nothing touched before.
    robot = xs.load_robot("go2").replace(drives=xs.Drive(kp=30.0, kd=2.0))
    sim = xs.Simulator(robot, GROUND, xs.Expo(order=1), dt=0.02)
    seen = 0
    for height in np.linspace(0.02, 0.30, 15):
        q = robot.q0.copy()
        q[2] += height
        v = np.zeros(robot.nv)
        v[3:6] = 3.0, -2.0, 1.0
        sim.reset(q, v)
        for _ in range(12):
            state = sim.state
            sim.step()
            d = sim.derivatives()
            assert d.method == "analytic"
            if d.grazing or not sim.active.any() or state.active.any():
                continue
            seen += 1
            assert np.median(Around(sim, state, np.zeros(12)).errors(d)) < 1e-5
    assert seen >= 3


@pytest.mark.parametrize("method", ["auto", "differences"])
def test_a_torque_that_is_just_what_its_motor_has_is_differentiated_to_the_side_of_less(method):
    robot = xs.load_robot("go2")
    sim = xs.Simulator(robot, GROUND, dt=5e-3)
    effort = robot.model.upperEffortLimit[6:]
    tau = np.zeros(12)
    inside = sim.linearize(sim.state, tau, method=method)
    assert "effort" not in {each.kind for each in inside.grazing}
    tau[4] = effort[4]
    d = sim.linearize(sim.state, tau, method=method)
    assert "effort" in {each.kind for each in d.grazing}
    tau[4] = 0.999 * effort[4]
    less = sim.linearize(sim.state, tau, method=method)
    np.testing.assert_allclose(d.tau[:, 4], less.tau[:, 4], rtol=1e-2, atol=1e-2 * np.abs(less.tau).max())
    tau[4] = 1.001 * effort[4]
    assert not sim.linearize(sim.state, tau, method=method).tau[:, 4].any()


def test_dry_friction_that_sticks_is_damped_as_masses_ask_for():
    robot = xs.load_robot("solo12").replace(joint_friction=0.05)
    sim = xs.Simulator(robot, GROUND, dt=1e-3)
    sim.step(np.zeros(12), n=3)
    mass = ["mass:FL_UPPER_LEG"]
    d = sim.linearize(sim.state, np.zeros(12), parameters=mass)
    differences = sim.linearize(sim.state, np.zeros(12), parameters=mass, method="differences")
    np.testing.assert_allclose(d.parameters, differences.parameters, atol=1e-6 * np.abs(differences.parameters).max())
    assert sim.linearize(sim.state, np.zeros(12)).method == "analytic"


def test_materials_are_differentiated_by():
    for sim, state, tau, _ in some(motion("solo12", 5e-3, seed=6), 6, 5, lambda _: True):
        d = sim.linearize(state, tau, parameters=PARAMETERS)
        by_differences = sim.linearize(state, tau, parameters=PARAMETERS, method="differences")
        assert d.names == PARAMETERS
        assert (d.method, by_differences.method) == ("analytic", "differences")
        if d.grazing or by_differences.grazing:
            continue
        scale = np.abs(by_differences.parameters).max(axis=0)
        # Differences of a relative 1e-6 have six digits left.
        assert np.all(np.abs(d.parameters - by_differences.parameters).max(axis=0) <= 2e-3 * scale + 1e-9)


@pytest.mark.parametrize("drives", [False, True], ids=["torques", "drives"])
@pytest.mark.parametrize(("name", "order"), [("solo12", 1), ("solo12", 2), ("go2", 2)])
def test_masses_are_differentiated_by(name, order, drives):
    steps = some(motion(name, 5e-3, seed=61, drives=drives, integrator=xs.Expo(order=order)), 4, 7, lambda _: True)
    rng = np.random.default_rng(62)
    for sim, state, tau, given in steps:
        links = rng.choice(list(sim.robot.masses), 3, replace=False)
        d = sim.linearize(state, tau, parameters=[f"mass:{link}" for link in links], **given)
        assert d.method == "analytic"
        assert np.abs(d.parameters).max(axis=0).all()
        if not d.grazing:
            assert np.median(Around(sim, state, tau, **given).parameter_errors(d)) < 3e-6


@pytest.mark.parametrize("integrator", [xs.Expo(), xs.PaperExpo(), xs.RungeKutta4()], ids=["expo", "paper", "rk4"])
def test_limits_are_as_stiff_as_masses_make_them(integrator):
    robot = xs.load_robot("go2")
    sim = xs.Simulator(robot, GROUND, integrator, dt=1e-3 if isinstance(integrator, xs.RungeKutta4) else 5e-3)
    q = robot.q0.copy()
    q[2] += 1.0
    q[[9, 12]] = robot.model.upperPositionLimit[[9, 12]] + 1e-3
    sim.reset(q, np.r_[0.3, -0.2, 0.1, 0.5, 0.4, -0.3, np.full(12, 0.2)])
    d = sim.linearize(sim.state, np.zeros(12), parameters=["mass:base", "mass:FL_calf", "mass:FR_thigh"])
    assert d.method == "analytic"
    assert max(Around(sim, sim.state, np.zeros(12)).parameter_errors(d)) < 1e-6


@pytest.mark.parametrize("name", ["solo12", "go2"])
def test_targets_of_drives_are_differentiated_by(name):
    for sim, state, tau, given in some(motion(name, 5e-3, seed=65, drives=True), 6, 9, lambda _: True):
        d = sim.linearize(state, tau, **given)
        if not d.grazing:
            assert max(Around(sim, state, tau, **given).target_errors(d)) < 1e-6


@pytest.mark.parametrize("drives", [False, True], ids=["torques", "drives"])
@pytest.mark.parametrize("name", ["solo12", "go2"])
def test_wrenches_are_differentiated_by(name, drives):
    rng = np.random.default_rng(63)
    for sim, state, tau, given in some(motion(name, 5e-3, seed=64, drives=drives), 4, 8, lambda _: True):
        frames = rng.choice(list(sim.robot.masses), 2, replace=False)
        wrenches = {frame: rng.normal(0.0, 5.0, 6) for frame in frames}
        d = sim.linearize(state, tau, wrenches=wrenches, **given)
        assert d.method == "analytic"
        assert set(d.wrenches) == set(frames)
        if not d.grazing:
            assert np.quantile(Around(sim, state, tau, wrenches=wrenches, **given).wrench_errors(d), 0.9) < 3e-6


def test_parts_add_up_the_effects_of_masses_and_wrenches():
    robot = xs.load_robot("solo12")
    sim = xs.Simulator(robot, GROUND, dt=0.02)
    q, v = robot.q0.copy(), np.zeros(robot.nv)
    q[2] += 1.0
    v[3:6] = -14.0, 11.0, 5.0
    sim.reset(q, v)
    state, tau, wrenches = sim.state, np.full(12, 0.1), {"FL_FOOT": [1.0, 2.0, -1.0, 0.1, 0.0, -0.1]}
    sim.step(tau, wrenches=wrenches)
    assert sim.info.parts > 1
    d = sim.derivatives(parameters=["mass:base_link", "mass:HR_UPPER_LEG"])
    around = Around(sim, state, tau, wrenches=wrenches)
    assert max(around.parameter_errors(d) + around.wrench_errors(d)) < 3e-6


@pytest.mark.parametrize("followed", [False, True], ids=["closed form", "followed"])
def test_the_cheaper_form_is_close(followed):
    steps = motion("solo12", 5e-3, 7, reach=0.2 if followed else 0.05)
    off = []
    for sim, state, tau, _ in some(steps, 5, 6, lambda s: s.info.resolved == followed):
        exact, mean = sim.linearize(state, tau), sim.linearize(state, tau, exact=False)
        off.append(np.abs(exact.x - mean.x).max() / np.abs(exact.x).max())
    assert 0.0 < max(off) < 5e-3


def test_the_cheaper_form_is_close_where_averages_are_repeated_too():
    steps = motion("romeo", 5e-3, 0, limited=True)  # its arms turn fast
    off = []
    for sim, state, tau, _ in some(steps, 6, 6, lambda s: not s.info.resolved):
        exact, mean = sim.linearize(state, tau), sim.linearize(state, tau, exact=False)
        off.append(np.abs(exact.x - mean.x).max() / np.abs(exact.x).max())
    assert off
    assert max(off) < 3e-4


def ball(dt):
    body = xs.rigid_body("ball", xs.Sphere(radius=0.05), 0.5)
    return xs.Simulator(body, xs.HalfSpace(material=xs.Material(stiffness=1e5, damping=20.0, friction=0.5)), dt=dt)


def bounce(sim, height, duration):
    """Height after a bounce, and its derivative by the height at the start."""
    q = sim.robot.q0.copy()
    q[2] = height
    sim.reset(q)
    dx = np.zeros(sim.difference(sim.state, sim.state).size)
    dx[2] = 1.0
    while sim.t < duration - 1e-9:
        sim.step()
        dx = sim.derivatives().x @ dx
    return sim.q[2], dx[2]


def test_the_height_of_a_bounce_has_a_derivative_that_is_right_and_continuous():
    sim = ball(5e-3)
    heights = np.linspace(0.30, 0.32, 9)
    found = np.array([bounce(sim, height, 0.4) for height in heights])
    step = 1e-6
    for height, (_, slope) in zip(heights, found, strict=True):
        expected = (bounce(sim, height + step, 0.4)[0] - bounce(sim, height - step, 0.4)[0]) / (2.0 * step)
        assert slope == pytest.approx(expected, rel=1e-3, abs=1e-3)
    fine = ball(5e-4)  # where landings fall within a step matters less and less
    slopes = np.array([bounce(fine, height, 0.4)[1] for height in heights])
    assert np.abs(np.diff(slopes)).max() < 0.05 * np.abs(slopes).max()


class Slope(xs.Surface):
    """A plane, of somebody's own."""

    material = GROUND.material

    def distance(self, p):
        return p[:, 2]

    def normal(self, p):
        return np.tile([0.0, 0.0, 1.0], (len(p), 1))


def test_surfaces_of_others_are_differentiated_by_differences():
    sim = xs.Simulator(xs.load_robot("solo12"), Slope(), dt=1e-3)
    d = sim.linearize(sim.state, np.full(12, 0.05))
    assert d.method == "differences"
    assert np.isfinite(d.x).all()


def test_masses_and_wrenches_are_felt_on_curved_ground_too():
    hill = xs.Sphere(
        radius=2.0, position=(0.0, 0.0, -2.0), material=xs.Material(stiffness=1e5, damping=300.0, friction=0.8)
    )
    robot = xs.load_robot("solo12").replace(drives=xs.Drive(3.0, 0.05))
    sim = xs.Simulator(robot, hill, dt=5e-3)
    rng = np.random.default_rng(66)
    for _ in range(12):
        sim.step()
    wrenches = {"FL_UPPER_LEG": rng.normal(0.0, 2.0, 6)}
    state = sim.state
    assert state.active.any()
    d = sim.linearize(state, np.zeros(12), wrenches=wrenches, parameters=["mass:base_link", "mass:FL_LOWER_LEG"])
    assert d.method == "analytic"
    around = Around(sim, state, np.zeros(12), wrenches=wrenches)
    assert np.median(around.parameter_errors(d) + around.wrench_errors(d)) < 1e-5


@pytest.mark.parametrize(("beyond", "reaches"), [(-0.5, False), (0.3, True)])
def test_a_drive_and_the_limit_of_its_joint_add_up(beyond, reaches):
    robot = xs.load_robot("go2").replace(drives=xs.Drive(kp=60.0, kd=2.0), effort_limits=False)
    sim = xs.Simulator(robot, GROUND, dt=2e-2)
    knee = robot.model.joints[robot.model.getJointId("FL_calf_joint")]
    limit = robot.model.upperPositionLimit[knee.idx_q]
    q, v, target = robot.q0, np.zeros(robot.nv), robot.q0
    q[2] += 1.0
    q[knee.idx_q], target[knee.idx_q] = limit - 0.12, limit + beyond
    v[knee.idx_v] = 8.0
    sim.reset(q, v)
    d = sim.linearize(sim.state, target=target)
    assert d.method == "analytic"
    assert ("limit" in {each.kind for each in d.events}) == reaches
    assert max(Around(sim, sim.state, np.zeros(12), target=target).errors(d)) < 1e-5
