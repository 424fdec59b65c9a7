"""Plans by sampling: what is best, what is drawn, what is refused."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from exposim.mpc.splines import weights
from systems import point_mass

GOAL = np.array([0.3, -0.2, 0.1])


def hanging():
    """A mass that drives pull along three axes, in the air."""
    robot = point_mass().replace(drives=xs.Drive(kp=200.0, kd=40.0))
    return xs.Simulator(robot, xs.HalfSpace(point=(0.0, 0.0, -10.0)), dt=0.01)


def pool(threads=1):
    return xs.Rollout(hanging(), threads=threads)


def to_goal(tried):
    return ((tried.q - GOAL) ** 2).sum(axis=(1, 2)) + 0.01 * (tried.knots**2).sum(axis=(1, 2))


def solver(cost=to_goal, threads=1, **options):
    return xs.mpc.SamplingMPC(
        pool(threads), cost, **{"horizon": 20, "samples": 32, "knots": 3, "noise": 0.1, **options}
    )


def begin(t=0.0):
    return hanging().state.replace(t=t)


def optimum(mpc):
    """Of `to_goal`: motions of a linear robot are affine in the knots, so it is a problem of least squares."""

    def motion(knots):
        curves = weights(0.01 * np.arange(20), mpc.spacing, 3, "linear") @ knots.reshape(3, 3)
        return mpc.pool(begin(), targets=curves[None], steps=20, every=4).q.ravel()

    rest = motion(np.zeros(9))
    effect = np.stack([motion(unit) - rest for unit in np.eye(9)], axis=1)
    wanted = np.tile(GOAL, 5) - rest
    matrix, right = np.vstack([effect, 0.1 * np.eye(9)]), np.concatenate([wanted, np.zeros(9)])
    knots, *_ = np.linalg.lstsq(matrix, right, rcond=None)
    return knots.reshape(3, 3), float(((matrix @ knots - right) ** 2).sum())


@pytest.mark.parametrize(("temperature", "elites"), [(0.0, None), (0.1, None), (0.5, 16)])
def test_plans_come_to_the_known_optimum(temperature, elites):
    mpc = solver(temperature=temperature, elites=elites, samples=64)
    best, least = optimum(mpc)
    first = mpc.plan(begin())
    for scale in 0.3 * 0.94 ** np.arange(80):
        mpc.noise = np.full(3, scale)
        last = mpc.plan(begin())
    assert least <= last.cost < least + 1e-3 * (first.cost - least)
    assert_allclose(last.knots, best, atol=0.02)


def test_predictive_sampling_is_never_worse_than_the_plan_so_far():
    mpc = solver(temperature=0.0)
    costs = [mpc.plan(begin()).cost for _ in range(20)]
    assert np.all(np.diff(costs) <= 0.0)
    assert costs[-1] < 0.5 * costs[0]


def test_the_plan_so_far_and_the_proposals_are_among_the_samples():
    seen = []

    def cost(tried):
        seen.append(tried.knots.copy())
        return to_goal(tried)

    mpc = solver(cost, proposals=[GOAL, -GOAL])
    plan = mpc.plan(begin())
    mpc.plan(begin())
    assert_array_equal(seen[0][0], 0.0)
    assert_array_equal(seen[1][0], plan.knots)
    assert_array_equal(seen[1][1:3], np.stack([np.tile(GOAL, (3, 1)), np.tile(-GOAL, (3, 1))]))
    assert_allclose(np.std(seen[1][3:] - plan.knots), 0.1, rtol=0.2)


def test_the_same_seed_gives_the_same_plans_on_any_number_of_threads():
    plans = [[mpc.plan(begin(t)) for t in (0.0, 0.05)] for mpc in (solver(), solver(threads=2), solver(seed=1))]
    for one, two, other in zip(*plans, strict=True):
        assert_array_equal(one.knots, two.knots)
        assert_array_equal(one.costs, two.costs)
        assert not np.allclose(one.knots, other.knots)


def test_reset_begins_anew():
    mpc = solver()
    first = mpc.plan(begin())
    mpc.plan(begin(0.05))
    mpc.reset()
    assert_array_equal(mpc.plan(begin()).knots, first.knots)


@pytest.mark.parametrize("spline", ["hold", "linear", "cubic"])
def test_a_plan_moved_on_by_a_knot_is_the_same_curve_and_holds_its_end(spline):
    mpc = solver(spline=spline, noise=0.0, knots=5)
    mpc._mean = np.random.default_rng(0).standard_normal((5, 3))
    before = mpc.plan(begin())
    after = mpc.plan(begin(mpc.spacing))
    assert_allclose(after.knots[:-1], before.knots[1:], atol=1e-12)
    assert_allclose(after.knots[-1], before.knots[-1], atol=1e-12)
    if spline != "cubic":  # whose slope at the ends is one-sided
        for t in mpc.spacing + np.linspace(0.0, 2.99 * mpc.spacing, 17):
            assert_allclose(after.target(t), before.target(t), atol=1e-12)


def test_a_plan_moved_on_between_knots_has_its_knots_on_the_curve():
    mpc = solver(noise=0.0, knots=5)
    mpc._mean = np.random.default_rng(0).standard_normal((5, 3))
    before, after = mpc.plan(begin()), mpc.plan(begin(0.03))
    for k in range(5):
        t = 0.03 + k * mpc.spacing
        assert_allclose(after.target(t), before.target(min(t, 0.2)), atol=1e-12)


def test_targets_of_a_plan_are_those_that_were_rolled_out():
    mpc = solver(temperature=0.0)
    plan = mpc.plan(begin())
    sim = hanging()
    for t, q in zip(plan.t, plan.q, strict=True):
        for _ in range(4):
            sim.step(target=plan.target(sim.t))
        assert_allclose(sim.t, t)
        assert_allclose(sim.q, q, atol=1e-12)


def test_what_is_planned_may_be_less_than_the_targets():
    def along(times, values):
        return values * GOAL + 0.0 * times[:, None]

    mpc = solver(lambda tried: ((tried.q - GOAL) ** 2).sum(axis=2), decode=along, size=1, samples=64)
    for _ in range(20):
        plan = mpc.plan(begin())
    assert plan.knots.shape == (3, 1)
    assert_allclose(plan.target(0.1), plan.values(0.1) * GOAL)
    assert plan.values(0.1)[0] > 0.5


def test_rows_of_infinite_cost_are_left_out_and_without_any_other_the_plan_stays():
    def only_upwards(tried):
        return np.where(tried.knots[:, 0, 0] > 0.0, to_goal(tried), np.nan)

    assert solver(only_upwards).plan(begin()).knots[0, 0] > 0.0
    mpc = solver(lambda tried: np.full(32, np.nan), start=GOAL)
    plan = mpc.plan(begin())
    assert_array_equal(plan.knots, np.tile(GOAL, (3, 1)))
    assert np.all(np.isinf(plan.costs))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"samples": 0}, "samples is 0"),
        ({"horizon": 21}, "every is 4, of which a horizon of 21 steps"),
        ({"knots": 1}, "knots is 1; give 2"),
        ({"noise": -0.1}, "noise is -0.1"),
        ({"noise": [0.1, 0.2]}, "3 of them"),
        ({"temperature": -1.0}, "temperature is -1"),
        ({"elites": 33}, "elites is 33"),
        ({"spline": "cube"}, "'cubic'"),
        ({"size": 2}, "without decode"),
        ({"decode": 3}, "decode is 3"),
        ({"start": [0.0]}, "start has 1 entries"),
        ({"proposals": [0.0, 0.0, 0.0]}, r"give \(m, 3\)"),
        ({"proposals": np.zeros((32, 3))}, "32, of 32 samples"),
        ({"cost": 3}, "cost is 3"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, said):
    with pytest.raises(xs.InvalidArgument, match=said):
        solver(**options)


def test_what_is_not_a_pool_of_a_robot_with_drives_is_refused():
    sim = xs.Simulator(point_mass(), xs.HalfSpace())
    with pytest.raises(xs.InvalidArgument, match=r"give an exposim\.Rollout"):
        xs.mpc.SamplingMPC(sim, to_goal)
    with pytest.raises(xs.InvalidArgument, match="no drives"):
        xs.mpc.SamplingMPC(xs.Rollout(sim), to_goal)


def test_costs_and_targets_of_another_shape_are_refused_and_the_plan_stays():
    with pytest.raises(xs.InvalidArgument, match=r"cost returns an array of shape \(3,\); it has to be \(32,\)"):
        solver(lambda tried: np.zeros(3)).plan(begin())
    mpc = solver(decode=lambda times, values: values[..., :2])
    with pytest.raises(xs.InvalidArgument, match=r"decode returns .*\(32, 20, 3\)"):
        mpc.plan(begin())
    mpc = solver()
    mpc.plan(begin(1.0))
    with pytest.raises(xs.InvalidArgument, match=r"call reset\(\)"):
        mpc.plan(begin(0.5))
    with pytest.raises(xs.InvalidArgument, match=r"give an exposim\.State"):
        mpc.plan(np.zeros(3))


def test_a_go2_that_plans_stands_up_to_a_push_that_topples_one_that_holds_its_posture():
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "sampling_mpc.py"))
    push = [(0.1, 1.25, np.pi / 2.0)]
    held = example["run"](example["simulator"](), None, 1.0, push)
    planned = example["run"](example["simulator"](), example["planner"](example["GoTo"]()), 1.0, push)
    assert held.fell
    assert not planned.fell
    assert example["upright"](planned.q[-1]) > 0.95
    assert len(planned.plans) == 20


def test_a_go2_that_plans_sets_out_for_its_goal():
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "sampling_mpc.py"))
    sim = example["simulator"]()
    done = example["run"](sim, example["planner"](example["GoTo"]((1.0, 0.0))), 1.0, late=True)
    assert not done.fell
    assert sim.q[0] > 0.1
