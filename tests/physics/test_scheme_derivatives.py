"""Derivatives of steps of schemes other than Expo, held to finite differences of the steps themselves."""

import numpy as np
import pytest

import exposim as xs
from differences import Around

GROUND = xs.HalfSpace(material=xs.Material(stiffness=2e4, damping=60.0, friction=0.6))
SCHEMES = {
    "explicit Euler": (xs.ExplicitEuler(), 2e-4),
    "semi-implicit Euler": (xs.SemiImplicitEuler(), 2e-4),
    "RK4": (xs.RungeKutta4(), 5e-4),
    # Differences see what Newton's method leaves undone.
    "implicit Euler": (xs.ImplicitEuler(tolerance=1e-10), 4e-3),
    "PaperExpo": (xs.PaperExpo(), 4e-3),
}
GAINS = {"solo12": (3.0, 0.035), "anymal_c": (150.0, 5.0), "romeo": (100.0, 2.0)}
schemes = pytest.mark.parametrize(("scheme", "dt"), SCHEMES.values(), ids=SCHEMES)


def motion(sim, rng, kick=0.3, **given):
    """(state, torques) of steps as it falls onto its feet, slides and lands."""
    robot = sim.robot
    q, v = robot.q0.copy(), rng.normal(0.0, kick, robot.nv)
    q[2] += 0.002
    sim.reset(q, v)
    for _ in range(round(0.15 / sim.dt)):
        state, tau = sim.state, rng.normal(0.0, 0.3, len(robot.actuated_dofs))
        sim.step(tau, **given)
        yield state, tau


def some(sim, steps, count, rng):
    """Some of these, of those that start with contacts and for which Newton's method, if there is one, converges."""
    found = [each for each in steps if each[0].active.any() and sim.info.converged]
    return [found[i] for i in rng.choice(len(found), count, replace=False)]


def errors(sim, state, tau, parameters=(), wrenches=None, **given):
    """Of all derivatives of a step, relative to the largest of their column."""
    if wrenches:
        given = given | {"wrenches": wrenches}
    d = sim.linearize(state, tau, parameters=parameters, **given)
    assert d.method == "analytic"
    around = Around(sim, state, tau, **given)
    return d, around.errors(d) + around.parameter_errors(d) + around.wrench_errors(d)


@schemes
@pytest.mark.parametrize("drives", [False, True], ids=["torques", "drives"])
@pytest.mark.parametrize("name", ["solo12", "anymal_c"])
def test_a_scheme_has_the_derivatives_of_its_formulas(name, drives, scheme, dt):
    rng = np.random.default_rng(71)
    robot = xs.load_robot(name)
    if drives:
        robot = robot.replace(drives=xs.Drive(*GAINS[name]))
    sim = xs.Simulator(robot, GROUND, scheme, dt=dt)
    seen, off = set(), []
    for state, tau in some(sim, motion(sim, rng), 5, rng):
        links = rng.choice(list(robot.masses), 3, replace=False)
        parameters = ["stiffness", "damping", "friction", f"mass:{links[0]}", f"mass:{links[1]}"]
        d, each = errors(sim, state, tau, parameters, {links[2]: rng.normal(0.0, 5.0, 6)})
        seen |= set(d.state.mode)
        off.append(np.quantile(each, 0.9))
    assert seen & {2, 3}  # some stick or slip
    assert np.median(off) < 1e-6
    assert max(off) < 1e-5


@schemes
def test_a_ball_that_rolls_and_slips_has_derivatives_too(scheme, dt):
    sim = xs.Simulator(xs.rigid_body("ball", xs.Sphere(radius=0.1), 1.0), GROUND, scheme, dt=dt)
    seen = set()
    for seed in range(12):
        rng = np.random.default_rng(seed)
        q, v = sim.robot.q0.copy(), rng.normal(0.0, 1.0, 6)
        q[2] = 0.1 - 1e-3 * rng.random()
        v[2] *= 0.1
        v[3:] *= 10.0
        if seed % 2:
            v[:2] = v[4] * 0.1, -v[3] * 0.1  # it rolls
        sim.reset(q, v)
        sim.step()
        state = sim.state
        d, each = errors(sim, state, np.zeros(0), ["stiffness", "friction", "mass:ball"])
        seen |= {(int(state.mode[0]), int(d.state.mode[0]))}
        assert np.quantile(each, 0.8) < 1e-7  # what rolls hardly feels parameters: there rounding decides
    assert {(2, 2), (3, 3)} <= seen


@schemes
def test_soles_of_four_points_have_derivatives_too(scheme, dt):
    rng = np.random.default_rng(72)
    sim = xs.Simulator(xs.load_robot("romeo").replace(drives=xs.Drive(*GAINS["romeo"])), GROUND, scheme, dt=dt / 4.0)
    for state, tau in some(sim, motion(sim, rng, kick=0.05), 2, rng):
        _, each = errors(sim, state, tau, ["mass:body"])
        assert np.quantile(each, 0.75) < 3e-6  # at such steps torques move feet by what rounding does


@schemes
def test_limits_of_joints_and_of_motors_are_in_the_derivatives(scheme, dt):
    robot = xs.load_robot("anymal_c").replace(drives=xs.Drive(kp=80.0, kd=2.0), joint_damping=0.1)
    robot = robot.replace(joint_limits=xs.JointLimits(stiffness=1e4, damping=30.0))
    sim = xs.Simulator(robot, GROUND, scheme, dt=dt)
    upper = robot._model.upperPositionLimit
    at_limit = at_bound = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        q, v, tau = robot.q0.copy(), rng.normal(0.0, 0.3, robot.nv), np.zeros(12)
        q[2] += 0.5
        stops = rng.choice(np.flatnonzero(upper[7:] < 10.0))
        q[7 + stops] = upper[7 + stops] + 0.05
        v[6 + stops] = 1.0
        tau[(stops + 1) % 12] = 300.0
        target = robot.q0[7:] + rng.normal(0.0, 0.1, 12)
        sim.reset(q, v)
        state = sim.state
        sim.step(tau, target=target)
        at_limit += len(sim.info.limits) > 0
        at_bound += len(sim.info.saturated) > 0
        _, each = errors(sim, state, tau, target=target)
        assert np.quantile(each, 0.9) < 3e-6
    assert at_limit
    assert at_bound


@schemes
def test_points_that_are_bound_have_derivatives_too(scheme, dt):
    rng = np.random.default_rng(74)
    robot = xs.load_robot("solo12")
    held = {"bilateral": True, "material": GROUND.material}
    feet = [xs.ContactPoint(p.frame, p.offset, **(held if k < 2 else {})) for k, p in enumerate(robot.contact_points)]
    sim = xs.Simulator(robot.replace(contact_points=feet), GROUND, scheme, dt=dt)
    for state, tau in some(sim, motion(sim, rng), 3, rng):
        _, each = errors(sim, state, tau, ["mass:base_link"])
        assert np.quantile(each, 0.9) < 3e-6


@pytest.mark.parametrize("position_update", ["lam_pr", "lam_pr2"])
@pytest.mark.parametrize("projection", ["horizontal", "orthogonal"])
@pytest.mark.parametrize("anchor", ["surface", "detected"])
def test_choices_of_the_paper_have_their_derivatives(anchor, projection, position_update):
    rng = np.random.default_rng(75)
    scheme = xs.PaperExpo(kernel="expm", anchor=anchor, projection=projection, position_update=position_update)
    sim = xs.Simulator(xs.load_robot("solo12"), GROUND, scheme, dt=3e-3)
    for state, tau in some(sim, motion(sim, rng), 4, rng):
        _, each = errors(sim, state, tau, ["stiffness", "damping", "friction"])
        assert np.quantile(each, 0.9) < 3e-6


def test_damping_need_not_be_proportional_to_stiffness():
    rng = np.random.default_rng(71)
    uneven = xs.HalfSpace(material=xs.Material(stiffness=(2e4, 1e4), damping=(60.0, 60.0), friction=0.6))
    sim = xs.Simulator(xs.load_robot("solo12"), uneven, xs.PaperExpo(), dt=3e-3)
    for state, tau in some(sim, motion(sim, rng), 3, rng):
        _, each = errors(sim, state, tau, ["stiffness", "damping", "friction", "mass:base_link"])
        assert np.quantile(each, 0.9) < 1e-5  # the tolerance of the averages


def test_what_formulas_do_not_know_goes_by_differences():
    cases = [
        (GROUND, xs.PaperExpo(kernel=xs.Pade(3))),
        (GROUND, xs.ImplicitEuler(tolerance=1e-15, max_iterations=1)),
        (xs.terrain.rough(4.0, 0.02, seed=1), xs.RungeKutta4()),
    ]
    for ground, scheme in cases:
        sim = xs.Simulator(xs.load_robot("solo12"), ground, scheme, dt=1e-3)
        rng = np.random.default_rng(76)
        state, tau = next(each for each in motion(sim, rng) if each[0].active.any())
        assert sim.linearize(state, tau).method == "differences"


@schemes
def test_a_robot_that_is_put_onto_its_feet_is_told_to_graze(scheme, dt):
    sim = xs.Simulator(xs.rigid_body("ball", xs.Sphere(radius=0.1), 1.0), GROUND, scheme, dt=dt)
    q = sim.robot.q0.copy()
    q[2] = 0.1
    sim.reset(q)
    assert "touch" in {each.kind for each in sim.linearize(sim.state).grazing}
