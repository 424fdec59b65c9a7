"""Plans by derivatives: the optimum, bounds, what moves on, what goes wrong without a fall."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from exposim import mpc
from exposim.mpc.backward import _least, descend
from exposim.mpc.cost import Expansion
from exposim.mpc.horizon import Horizon, Slopes
from systems import point_mass

GOAL = np.array([0.3, -0.2, 0.1])
KP = 5.0


def hanging(drives=False):
    """A mass that torques, or drives, pull along three axes, in the air: a linear system."""
    robot = point_mass()
    robot = robot.replace(drives=xs.Drive(kp=200.0, kd=40.0)) if drives else robot
    return xs.Simulator(robot, xs.HalfSpace(point=(0.0, 0.0, -10.0)), dt=0.025)


def to_goal():
    return mpc.Cost(
        mpc.Posture(GOAL),
        mpc.Velocity(weight=0.1),
        mpc.Control(weight=1e-3),
        mpc.Posture(GOAL, weight=50.0, when="terminal"),
    )


def pulling(**options):
    return mpc.ILQR(hanging(), 10, to_goal(), **{"steps": 2, "rest": np.zeros(3), "threads": 1, **options})


def optimum(sim, cost, knots, steps):
    """Of the linear system, by least squares on rollouts: controls, (knots, 3)."""
    horizon = Horizon(sim, knots, steps)
    start = sim.state._x

    def residuals(u):
        x = horizon.roll(start, u.reshape(1, knots, 3)).x[0, ::steps]
        q, v = x[:, 1:4], x[:, 4:7]
        away = q - GOAL
        return np.concatenate(
            [away.ravel(), np.sqrt(0.1) * v.ravel(), np.sqrt(1e-3) * u.ravel(), np.sqrt(50.0) * away[-1]]
        )

    rest = residuals(np.zeros(3 * knots))
    effect = np.stack([residuals(unit) - rest for unit in np.eye(3 * knots)], axis=1)
    u, *_ = np.linalg.lstsq(effect, -rest, rcond=None)
    return u.reshape(knots, 3), 0.5 * float(((effect @ u + rest) ** 2).sum())


def test_a_linear_problem_is_solved_by_one_full_step():
    ilqr = pulling(regularisation=0.0)
    plan = ilqr.solve(hanging().state)
    u, cost = optimum(hanging(), to_goal(), 10, 2)
    assert_allclose(plan.u, u, rtol=1e-5, atol=1e-5)
    assert_allclose(plan.cost, cost, rtol=1e-9)
    assert plan.reason == "converged"
    assert_array_equal(plan.lengths, [1.0])


def test_a_plan_is_a_motion_of_the_simulator():
    plan = pulling().solve(hanging().state)
    sim = hanging()
    for k, (q, v) in enumerate(zip(plan.q, plan.v, strict=True)):
        assert_allclose(sim.q, q, atol=1e-12)
        assert_allclose(sim.v, v, atol=1e-12)
        assert_allclose(sim.t, plan.t[k])
        sim.step(plan.control(sim.t, sim.state))


def test_controls_keep_to_their_bounds_and_are_the_best_within_them():
    free = pulling().solve(hanging().state)
    plan = pulling(bounds=(-21.0, 21.0), tolerance=1e-8).solve(hanging().state)
    assert free.u.max() > 22.0
    assert plan.u.max() == 21.0
    # No small change within the bounds leads to less.
    ilqr, rng = pulling(), np.random.default_rng(0)
    tried = np.clip(plan.u + rng.normal(0.0, 1e-2, (50, 10, 3)), -21.0, 21.0)
    motions = ilqr._horizon.roll(hanging().state._x, tried)
    assert ilqr._costs(motions).min() > plan.cost


def test_a_quadratic_programme_with_bounds_is_solved():
    rng = np.random.default_rng(0)
    for _ in range(50):
        root = rng.standard_normal((6, 6))
        H, g = root @ root.T + 0.1 * np.eye(6), 3.0 * rng.standard_normal(6)
        room = np.stack([-rng.random(6), rng.random(6)])
        G = rng.standard_normal((6, 2))
        k, K, free = _least(H, g, G, room)
        slope = H @ k + g
        assert np.all((k >= room[0]) & (k <= room[1]))
        assert_allclose(slope[free], 0.0, atol=1e-8)
        assert np.all(slope[~free & (k == room[0])] > 0.0)
        assert np.all(slope[~free & (k == room[1])] < 0.0)
        assert_allclose((H @ K + G)[free], 0.0, atol=1e-9)
        assert not K[~free].any()
    assert _least(-np.eye(2), np.ones(2), np.ones((2, 1)), None) is None


def test_feedback_of_the_recursion_is_that_of_riccati():
    rng = np.random.default_rng(0)
    A, B = np.eye(4) + 0.1 * rng.standard_normal((4, 4)), rng.standard_normal((4, 2))
    knots, Q, R = 400, np.eye(4), 0.5 * np.eye(2)
    slopes = Slopes(np.tile(A, (knots, 1, 1)), np.tile(B, (knots, 1, 1)), np.zeros(knots, dtype=int), True)
    zeros = np.zeros
    running = Expansion(zeros((knots, 4)), np.tile(Q, (knots, 1, 1)), zeros((knots, 2)), np.tile(R, (knots, 1, 1)))
    last = Expansion(zeros((1, 4)), Q[None], zeros((1, 2)), zeros((1, 2, 2)))
    K = descend(slopes, running, last, None, 0.0).K[0]
    P = Q
    for _ in range(400):
        P = Q + A.T @ P @ A - A.T @ P @ B @ np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    assert_allclose(K, -np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A), atol=1e-10)


@pytest.mark.parametrize("control", ["tau", "target"])
def test_derivatives_from_knot_to_knot_are_those_of_all_steps_between(control):
    sim = xs.Simulator(xs.load_robot("solo12").replace(drives=xs.Drive(kp=KP, kd=0.2)), xs.HalfSpace(), dt=4e-3)
    q = sim.robot.q0
    q[2] -= 6e-5
    sim.reset(q, 1e-3 * np.ones(18))
    rest = mpc.standing_torques(sim.robot)
    rest = rest if control == "tau" else sim.robot.q0[7:] + rest / KP
    sim.step(**{control: rest}, n=4)
    horizon = Horizon(sim, 2, 3, control, threads=1)
    u = np.tile(rest, (2, 1))
    x = horizon.roll(sim.state._x, u[None]).x[0]
    slopes = horizon.linearize(x, u)
    assert slopes.ok
    eps, start = 1e-6, xs.State._of(np.array(x[3]), sim._layout)

    def end(state, control_there):
        return horizon.roll(state._x, np.tile(control_there, (1, 2, 1))).x[0, 3]

    for column in (0, 2, 4, 10, 20, 30, 36, 40):
        dx = np.zeros(48)
        dx[column] = eps
        sides = [sim._world.minus(end(sim.integrate(start, way), u[1]), x[6]) for way in (dx, -dx)]
        assert_allclose(
            slopes.A[1][:, column], (sides[0] - sides[1]) / (2 * eps), atol=2e-4 * np.abs(slopes.A[1]).max()
        )
    for column in (0, 5):
        du = eps * np.eye(12)[column]
        sides = [sim._world.minus(end(start, u[1] + way), x[6]) for way in (du, -du)]
        assert_allclose(
            slopes.B[1][:, column], (sides[0] - sides[1]) / (2 * eps), atol=2e-4 * np.abs(slopes.B[1]).max()
        )


def crouching(**options):
    """A Solo12 that shall lower its base by 3 cm, by drives."""
    sim = xs.Simulator(xs.load_robot("solo12").replace(drives=xs.Drive(kp=KP, kd=0.2)), xs.HalfSpace(), dt=0.02)
    rest = sim.robot.q0[7:] + mpc.standing_torques(sim.robot) / KP
    sim.step(target=rest, n=10)
    low = sim.q
    low[2] -= 0.03
    cost = mpc.Cost(
        mpc.Posture(low, weight=np.r_[np.full(6, 50.0), np.full(12, 0.01)]),
        mpc.Velocity(weight=1e-4),
        mpc.Control(rest, weight=1e-3),
    )
    return sim, mpc.ILQR(sim, 8, cost, control="target", rest=rest, **options), low[2]


def test_each_iteration_leads_to_less_or_nowhere():
    sim, ilqr, low = crouching(iterations=8)
    plan = ilqr.solve(sim.state)
    assert np.all(np.diff(plan.costs) <= 0.0)
    assert plan.costs[-1] < 0.7 * plan.costs[0]
    assert len(plan.costs) == plan.iterations + 1
    assert abs(plan.q[-1, 2] - low) < 5e-3
    assert plan.derivative_seconds + plan.rollout_seconds + plan.backward_seconds < plan.seconds


def test_plans_are_the_same_bits_on_any_number_of_threads():
    plans = []
    for threads in (1, 2):
        sim, ilqr, _ = crouching(iterations=2, threads=threads)
        plans.append(ilqr.solve(sim.state))
    assert_array_equal(plans[0].u, plans[1].u)


def test_a_step_begins_with_the_plan_so_far():
    sim, ilqr, _ = crouching(iterations=6)
    plan = ilqr.step(sim.state)  # the first is a solution
    assert plan.iterations > 1
    sim.step(target=plan.control(sim.t, sim.state))
    later = ilqr.step(sim.state)
    assert later.iterations <= 1
    assert_allclose(later.start, plan.start + 0.02)
    # It began with what was planned, but for the last knot, and did not make it worse.
    begun = ilqr._horizon.roll(sim.state._x, np.vstack([plan.u[1:], ilqr._rest])[None])
    assert_allclose(later.costs[0], ilqr._costs(begun)[0], rtol=1e-6)
    assert later.cost <= later.costs[0]
    ilqr.reset()
    assert ilqr.step(sim.state).iterations > 1


def test_plans_move_on_by_parts_of_knots_too():
    ilqr = pulling()
    plan = ilqr.solve(hanging().state)
    u, *_ = ilqr._moved(plan, plan.start + 0.5 * plan.spacing)
    assert_array_equal(u, np.vstack([plan.u[:9], plan.u[9]]))
    u, *_ = ilqr._moved(plan, plan.start + 3.0 * plan.spacing)
    assert_array_equal(u, np.vstack([plan.u[3:], np.zeros((3, 3))]))


def test_feedback_leads_back_to_the_plan():
    ilqr = pulling()
    plan = ilqr.solve(hanging().state)
    ends = {}
    for fed_back in (True, False):
        sim = hanging()
        sim.reset(np.array([0.05, 0.0, 0.0]))
        for _ in range(20):
            sim.step(plan.control(sim.t, sim.state if fed_back else None))
        ends[fed_back] = np.linalg.norm(sim.q - plan.q[-1])
    assert ends[True] < 0.2 * ends[False]


def test_a_guess_may_be_controls_or_a_plan():
    ilqr = pulling()
    best = ilqr.solve(hanging().state)
    for guess in (best.u, best, best.u[0]):
        plan = pulling().solve(hanging().state, guess)
        assert_allclose(plan.cost, best.cost, rtol=1e-6)
    assert pulling().solve(hanging().state, best).iterations == 0


def test_a_start_that_diverges_is_said_not_raised():
    sim = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace(), xs.ExplicitEuler(), dt=0.02)
    sim.reset(v=np.r_[0.0, 0.0, -5.0, np.zeros(15)])
    plan = mpc.ILQR(sim, 20, mpc.Velocity()).solve(sim.state)
    assert plan.reason == "diverged"
    assert plan.iterations == 0
    assert np.isinf(plan.cost)


def test_steps_that_graze_are_counted_and_no_obstacle():
    """Four feet that leave the ground all at once, from rest."""
    sim = xs.Simulator(xs.load_robot("solo12").replace(drives=xs.Drive(kp=KP, kd=0.2)), xs.HalfSpace(), dt=0.02)
    high = sim.q
    high[2] += 0.05
    cost = mpc.Cost(mpc.Posture(high, weight=100.0), mpc.Control(sim.robot.q0[7:], weight=1e-3))
    plan = mpc.ILQR(sim, 6, cost, control="target", iterations=3).solve(sim.state)
    assert plan.grazing > 0
    assert plan.cost < plan.costs[0]


def test_efforts_of_the_joints_are_the_bounds_of_torques():
    sim = xs.Simulator(xs.load_robot("go2"), xs.HalfSpace(), dt=0.02)
    ilqr = mpc.ILQR(sim, 3, mpc.Velocity())
    assert_array_equal(ilqr._bounds[1], sim.robot.model.upperEffortLimit[6:])
    free = xs.Simulator(sim.robot.replace(effort_limits=False), xs.HalfSpace(), dt=0.02)
    assert mpc.ILQR(free, 3, mpc.Velocity())._bounds is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"steps": 0}, "steps is 0"),
        ({"control": "target"}, "no drives"),
        ({"bounds": (1.0, 0.0)}, "the first below the second"),
        ({"rest": np.zeros(2)}, "rest has 2 entries"),
        ({"iterations": 0}, "iterations is 0"),
        ({"tolerance": -1.0}, "tolerance is -1"),
        ({"regularisation": np.nan}, "regularisation is nan"),
        ({"method": "magic"}, "method is 'magic'"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, said):
    with pytest.raises(xs.InvalidArgument, match=said):
        pulling(**options)


def test_what_is_no_simulator_cost_state_or_guess_is_refused():
    with pytest.raises(xs.InvalidArgument, match=r"give an exposim\.Simulator"):
        mpc.ILQR(xs.Rollout(hanging()), 3, mpc.Velocity())
    with pytest.raises(xs.InvalidArgument, match="horizon is 0"):
        mpc.ILQR(hanging(), 0, mpc.Velocity())
    with pytest.raises(xs.InvalidArgument, match="cost is 3"):
        mpc.ILQR(hanging(), 3, 3)
    ilqr = pulling()
    with pytest.raises(xs.InvalidArgument, match=r"give an exposim\.State"):
        ilqr.solve(np.zeros(3))
    with pytest.raises(xs.StateMismatch):
        ilqr.solve(xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace()).state)
    with pytest.raises(xs.InvalidArgument, match=r"guess has shape \(2,\); give \(3,\), \(10, 3\) or a plan"):
        ilqr.solve(hanging().state, np.zeros(2))
    ilqr.solve(hanging().state.replace(t=1.0))
    with pytest.raises(xs.InvalidArgument, match=r"call reset\(\)"):
        ilqr.step(hanging().state)
