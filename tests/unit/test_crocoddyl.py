"""Steps of a simulator in Crocoddyl: states, derivatives by its own differences, its solvers."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # or Crocoddyl waits for threads where others work too

import crocoddyl
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from exposim import mpc
from systems import point_mass

SITUATIONS = ["standing", "flying", "sliding"]


def solo():
    return xs.load_robot("solo12").replace(drives=xs.Drive(kp=5.0, kd=0.2))


def situation(name):
    """A simulator in the middle of something that does not change within the next steps."""
    friction = 0.2 if name == "sliding" else 1.0
    sim = xs.Simulator(solo(), xs.HalfSpace(xs.Material(friction=friction)), dt=4e-3)
    q, v = sim.robot.q0, np.zeros(18)
    q[2] += {"standing": -6e-5, "flying": 0.3, "sliding": -6e-5}[name]
    if name == "flying":
        v[3:] = 0.3
    if name == "sliding":
        v[0] = 0.5
    sim.reset(q, v)
    sim.step(mpc.standing_torques(sim.robot), n=8)
    aside = np.zeros_like(sim.difference(sim.state, sim.state))
    aside[2] = -1e-6  # from where micro-steps become fewer, as it slides more and more evenly
    sim.state = sim.integrate(sim.state, aside)
    assert sim.active.all() == (name != "flying")
    assert sim.slipping.all() == (name == "sliding")
    return sim


def to_and_fro(sim):
    """Terms that leave nothing out."""
    return mpc.Cost(
        mpc.Posture(weight=3.0),
        mpc.Velocity(np.full(18, 0.1), weight=0.2),
        mpc.Control(np.full(12, 0.1), weight=0.1),
        mpc.Place("FL_FOOT", [0.2, 0.1, 0.1], weight=2.0),
    )


def by_differences(model, x, u):
    """The same by Crocoddyl's differences, one-sided: data of calc and calcDiff."""
    model = crocoddyl.ActionModelNumDiff(model, True)
    data = model.createData()
    model.calc(data, x, u)
    model.calcDiff(data, x, u)
    return data


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("control", ["tau", "target"])
@pytest.mark.parametrize("name", SITUATIONS)
def test_derivatives_agree_with_crocoddyl_s_differences(name, control, steps):
    sim = situation(name)
    model = mpc.crocoddyl_model(sim, to_and_fro(sim), control=control, steps=steps)
    data = model.createData()
    x = np.array(sim.state._x)
    u = mpc.standing_torques(sim.robot)
    u = 0.99 * u if control == "tau" else sim.robot.q0[7:] + 0.99 * u / 5.0
    model.calc(data, x, u)
    model.calcDiff(data, x, u)
    truth = by_differences(model, x, u)
    for found, wanted in ((data.Fx, truth.Fx), (data.Fu, truth.Fu), (data.Lx, truth.Lx), (data.Lu, truth.Lu)):
        assert np.abs(wanted).max() > 1e-3
        assert_allclose(found, wanted, atol=2e-4 * np.abs(wanted).max())
    assert data.cost == truth.cost


def test_the_steps_are_those_of_the_simulator():
    sim = situation("standing")
    model = mpc.crocoddyl_model(sim, to_and_fro(sim), steps=3)
    data, tau = model.createData(), mpc.standing_torques(sim.robot)
    before = sim.state
    model.calc(data, before._x, tau)
    model.calcDiff(data, before._x, tau)
    assert sim.state == before
    sim.step(tau, n=3)
    assert_array_equal(data.xnext, sim.state._x)
    model.calc(data, before._x)
    assert_array_equal(data.xnext, before._x)


def test_a_step_depends_on_x_and_u_alone():
    """What contacts are doing is in x, so the same x leads to the same bits, whatever came in between."""
    sim, other = situation("standing"), situation("sliding")
    model = mpc.crocoddyl_model(sim, to_and_fro(sim))
    data, tau = model.createData(), mpc.standing_torques(sim.robot)
    x = np.array(sim.state._x)
    model.calc(data, x, tau)
    first = np.array(data.xnext)
    model.calc(data, other.state._x, tau)
    model.calcDiff(data, other.state._x, tau)
    model.calc(data, x, tau)
    assert_array_equal(data.xnext, first)
    slid = sim.state.replace(mode=other.state.mode)
    assert slid != sim.state
    assert_array_equal(model.state.diff(x, slid._x), 0.0)  # which the tangent space does not see


@pytest.mark.parametrize("name", SITUATIONS)
def test_states_are_a_manifold(name):
    sim = situation(name)
    state = mpc.crocoddyl_state(sim)
    rng, x = np.random.default_rng(0), np.array(sim.state._x)
    dx = np.r_[0.1 * rng.standard_normal(36), np.zeros(12)]
    assert_allclose(state.diff(x, state.integrate(x, dx)), dx, atol=1e-12)
    there = state.integrate(x, dx)
    assert_array_equal(there, sim.integrate(sim.state, dx)._x)
    numerical = crocoddyl.StateNumDiff(state)
    for found, wanted in zip(state.Jdiff(x, there), numerical.Jdiff(x, there), strict=True):
        assert_allclose(found[:36, :36], wanted[:36, :36], atol=1e-6)
    for found, wanted in zip(state.Jintegrate(x, dx), numerical.Jintegrate(x, dx), strict=True):
        assert_allclose(found[:36, :36], wanted[:36, :36], atol=1e-6)
    assert_array_equal(state.diff(state.zero(), state.zero()), 0.0)
    assert np.isfinite(state.diff(state.zero(), state.rand())).all()


def test_matrices_are_carried_as_pinocchio_carries_them():
    sim = situation("flying")
    state, x = mpc.crocoddyl_state(sim), np.array(sim.state._x)
    dx = np.r_[0.3 * np.random.default_rng(0).standard_normal(36), np.zeros(12)]
    own = crocoddyl.StateMultibody(sim.robot.model)
    xs_own = np.r_[sim.q, sim.v]
    for part in (crocoddyl.Jcomponent.first, crocoddyl.Jcomponent.second):
        J = np.random.default_rng(1).standard_normal((48, 5))
        wanted = np.array(J[:36])
        carried = own.JintegrateTransport(xs_own, dx[:36], wanted, part)
        wanted = wanted if carried is None else carried
        assert_allclose(state.JintegrateTransport(x, dx, J, part)[:36], wanted, atol=1e-12)


def hanging(**options):
    """A mass that torques pull along three axes, in the air: a linear system."""
    return xs.Simulator(point_mass(), xs.HalfSpace(point=(0.0, 0.0, -10.0)), dt=0.05, **options)


GOAL = np.array([0.3, -0.2, 0.1])


def to_goal():
    return mpc.Cost(
        mpc.Posture(GOAL, weight=1.0),
        mpc.Velocity(weight=0.1),
        mpc.Control(weight=1e-3),
        mpc.Posture(GOAL, weight=50.0, when="terminal"),
    )


def test_fddp_solves_a_linear_problem_in_one_step_and_as_ilqr_does():
    sim = hanging()
    problem = mpc.crocoddyl_problem(sim, sim.state, 10, to_goal())
    solver = crocoddyl.SolverFDDP(problem)
    assert solver.solve([], [], 3, False)
    assert solver.iter <= 1
    plan = mpc.ILQR(sim, 10, to_goal(), tolerance=1e-9, rest=np.zeros(3)).solve(sim.state)
    assert_allclose(np.array(solver.us), plan.u, rtol=1e-5, atol=1e-5)
    assert_allclose(np.array(solver.xs)[:, 1:4], plan.q, atol=1e-6)
    assert_allclose(solver.cost, plan.cost, rtol=1e-8)


def test_boxfddp_keeps_to_the_bounds():
    sim = hanging()
    most = 21.0
    problem = mpc.crocoddyl_problem(sim, sim.state, 10, to_goal(), bounds=(-most, most))
    solver = crocoddyl.SolverBoxFDDP(problem)
    assert solver.solve([], [], 50, False)
    u = np.array(solver.us)
    assert np.isclose(u.max(), most) and np.abs(u).max() <= most + 1e-9
    plan = mpc.ILQR(sim, 10, to_goal(), tolerance=1e-9, bounds=(-most, most), rest=np.zeros(3)).solve(sim.state)
    assert_allclose(plan.cost, solver.cost, rtol=1e-4)


def test_fddp_closes_gaps_of_a_guess_that_is_no_motion():
    sim = situation("standing")
    cost = mpc.Cost(mpc.Posture(weight=10.0), mpc.Velocity(weight=0.1), mpc.Control(sim.robot.q0[7:], weight=1.0))
    problem = mpc.crocoddyl_problem(sim, sim.state, 5, cost, steps=2, control="target")
    solver = crocoddyl.SolverFDDP(problem)
    lifted = sim.state.replace(q=sim.q + np.r_[0.0, 0.0, 0.01, np.zeros(16)])
    solver.solve([np.array(sim.state._x), *[np.array(lifted._x)] * 5], [sim.robot.q0[7:]] * 5, 20, False)
    assert solver.isFeasible
    x = problem.rollout(list(solver.us))
    assert_allclose(np.array(x), np.array(solver.xs), atol=1e-9)


def test_costs_of_crocoddyl_are_taken_too():
    sim = situation("standing")
    state, tau = mpc.crocoddyl_state(sim), mpc.standing_torques(sim.robot)
    term = mpc.Force(np.full(12, 3.0))
    costs = crocoddyl.CostModelSum(state, 12)
    costs.addCost("force", crocoddyl.CostModelResidual(state, mpc.crocoddyl_residual(state, term)), 0.5)
    costs.addCost(
        "torque", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state, np.zeros(12))), 2.0
    )
    model = mpc.crocoddyl_model(sim, costs, state=state)
    ours = mpc.crocoddyl_model(sim, [mpc.Force(np.full(12, 3.0), weight=0.5), mpc.Control(weight=2.0)])
    datas = [model.createData(), ours.createData()]
    x = np.array(sim.state._x)
    for each, data in zip((model, ours), datas, strict=True):
        each.calc(data, x, tau)
        each.calcDiff(data, x, tau)
    for name in ("cost", "xnext", "Fx", "Fu", "Lx", "Lu", "Lxx", "Luu"):
        found, wanted = (np.asarray(getattr(data, name)) for data in datas)
        assert_allclose(found, wanted, rtol=1e-12, atol=1e-9 * max(1.0, np.abs(wanted).max()))
    assert np.abs(datas[0].Lx).max() > 1.0
    model.calc(datas[0], x)
    model.calcDiff(datas[0], x)


@pytest.mark.filterwarnings("ignore::exposim.ContactWarning")
def test_a_step_that_diverges_costs_more_than_anything():
    sim = xs.Simulator(solo(), xs.HalfSpace(), xs.ExplicitEuler(), dt=0.02)
    sim.reset(v=np.r_[0.0, 0.0, -5.0, np.zeros(15)])
    model = mpc.crocoddyl_model(sim, mpc.Velocity(), steps=20)
    data = model.createData()
    model.calc(data, sim.state._x, np.zeros(12))
    assert np.isinf(data.cost)
    model.calc(data, np.full(model.state.nx, np.nan), np.zeros(12))
    assert np.isinf(data.cost)
    assert np.isnan(model.state.integrate(sim.state._x, np.full(model.state.ndx, np.nan))).all()
    with pytest.raises(xs.SimulationDiverged):
        model.calcDiff(data, sim.state._x, np.zeros(12))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"control": "velocity"}, "control is 'velocity'"),
        ({"steps": 0}, "steps is 0"),
        ({"knot": 3, "horizon": 2}, "knot is 3; give a whole number from 1 to 2"),
        ({"bounds": (1.0, -1.0)}, "the first below the second"),
        ({"bounds": np.ones((2, 3))}, r"\(2, 12\)"),
        ({"costs": 3}, "cost is 3"),
    ],
)
def test_models_that_cannot_be_are_refused(options, said):
    sim = xs.Simulator(solo(), xs.HalfSpace())
    with pytest.raises(xs.InvalidArgument, match=said):
        mpc.crocoddyl_model(sim, **{"costs": mpc.Velocity(), **options})


def test_targets_without_drives_are_refused():
    with pytest.raises(xs.InvalidArgument, match="no drives"):
        mpc.crocoddyl_model(hanging(), mpc.Velocity(), control="target")


def test_costs_and_states_of_others_are_refused():
    sim = xs.Simulator(solo(), xs.HalfSpace())
    with pytest.raises(xs.InvalidArgument, match=r"exposim\.mpc\.crocoddyl_state"):
        mpc.crocoddyl_model(sim, crocoddyl.CostModelSum(crocoddyl.StateVector(3), 12))
    with pytest.raises(xs.InvalidArgument, match=r"give an exposim\.Simulator"):
        mpc.crocoddyl_state(sim.robot)
    with pytest.raises(xs.InvalidArgument, match="start is"):
        mpc.crocoddyl_problem(sim, hanging().state, 3, mpc.Velocity())
