"""Terms of a cost: residuals, their derivatives, at which knots they count."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from exposim import mpc
from exposim.mpc.points import Points

STEP = 1e-7


@pytest.fixture(scope="module")
def sim():
    """A Solo12 that stands on all feet, and is about to move."""
    sim = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace(), dt=5e-3)
    q = sim.robot.q0
    q[2] -= 6e-5
    sim.reset(q, 1e-3 * np.random.default_rng(0).standard_normal(sim.robot.nv))
    sim.step(mpc.standing_torques(sim.robot), n=6)
    assert sim.active.all()
    return sim


def points(sim, rows=3, horizon=4):
    rng = np.random.default_rng(1)
    states = [sim.state]
    for _ in range(rows - 1):
        states.append(sim.integrate(sim.state, np.r_[1e-6 * rng.standard_normal(36), np.zeros(12)]))
    x = np.array([state._x for state in states])
    return Points(sim.copy(), x, rng.standard_normal((rows, 12)), np.arange(rows), horizon)


def turned(robot):
    q = robot.q0
    q[3:7] = np.array([0.1, -0.2, 0.3, 0.9]) / np.linalg.norm([0.1, -0.2, 0.3, 0.9])
    return q


TERMS = {
    "posture": lambda sim: mpc.Posture(turned(sim.robot)),
    "velocity": lambda sim: mpc.Velocity(np.full(18, 0.3)),
    "control": lambda sim: mpc.Control(np.full(12, 0.3)),
    "place": lambda sim: mpc.Place("FL_FOOT", [0.1, 0.2, 0.3]),
    "place of the base": lambda sim: mpc.Place("base_link", [0.1, 0.2, 0.3]),
    "force": lambda sim: mpc.Force(),
}


def moved(at, row, column, step, controls):
    x, u = at.x.copy(), at.u.copy()
    if controls:
        u[row, column] += step
    else:
        dx = np.zeros(at.sim._world.tangent_size)
        dx[column] = step
        x[row] = at.sim.integrate(at.states()[row], dx)._x
    return Points(at.sim, x, u, at.knot, at.horizon)


@pytest.mark.parametrize("name", TERMS)
def test_jacobians_are_those_of_the_residuals(sim, name):
    term, at = TERMS[name](sim), points(sim)
    R = term.jacobian(at)
    assert R.shape[:2] == (3, term.size(sim))
    width = 12 if term.of_controls else sim._world.tangent_size
    full = np.zeros((*R.shape[:2], width))
    full[:, :, : R.shape[2]] = R
    for row in range(3):
        for column in range(width):
            ends = [term.residual(moved(at, row, column, sign * STEP, term.of_controls))[row] for sign in (1.0, -1.0)]
            slope = (ends[0] - ends[1]) / (2.0 * STEP)
            assert_allclose(full[row, :, column], slope, atol=2e-5 * max(1.0, np.abs(slope).max()))


def test_forces_are_those_of_the_simulator(sim):
    at = points(sim)
    assert_array_equal(mpc.Force().residual(at)[0], sim.forces.ravel())
    assert mpc.Force().residual(at)[0, 2] > 1.0
    assert_allclose(mpc.Force(np.ones(12)).residual(at), mpc.Force().residual(at) - 1.0)


@pytest.mark.parametrize("name", ["posture", "velocity", "control", "place", "force"])
def test_costs_are_half_of_the_weighted_squares_and_expand_by_gauss_and_newton(sim, name):
    term, at = TERMS[name](sim), points(sim)
    term._weight = np.linspace(1.0, 2.0, term.size(sim))
    r, R = term.residual(at), term.jacobian(at)
    cost = mpc.Cost(term)
    assert_allclose(cost.values(at), 0.5 * (term._weight * r**2).sum(axis=1))
    found = cost.expand(at)
    first, second = (found.u, found.uu) if term.of_controls else (found.x, found.xx)
    n = R.shape[2]
    assert_allclose(first[:, :n], np.einsum("kmi,m,km->ki", R, term._weight, r), rtol=1e-12, atol=1e-9)
    assert_allclose(second[:, :n, :n], np.einsum("kmi,m,kmj->kij", R, term._weight, R), rtol=1e-12, atol=1e-6)
    assert not first[:, n:].any()
    other = found.x if term.of_controls else found.u
    assert not other.any()


@pytest.mark.parametrize("when", ["always", lambda t: 1.0 + t], ids=["always", "more and more"])
def test_a_cost_of_one_knot_is_that_of_all(sim, when):
    terms = [
        mpc.Posture(turned(sim.robot), np.linspace(1.0, 2.0, 18), when),
        mpc.Velocity(lambda t: np.full(18, t), 0.2, when),
        mpc.Control(np.full(12, 0.3), 3.0, when),
    ]
    at = points(sim)
    at.x[:, 0] = [0.0, 1.0, 2.0]
    alone, found = mpc.Cost(*terms).at_knot(1, 4), mpc.Cost(*terms).expand(at)
    for row in range(3):  # what it keeps of the first must not hold for the others where it does not
        one = Points(at.sim, at.x[row : row + 1], at.u[row : row + 1], np.array([1]), 4)
        again = alone.expand(one)
        assert_allclose(alone.values(one), mpc.Cost(*terms).values(at)[row])
        for name in ("x", "xx", "u", "uu"):
            assert_allclose(getattr(again, name)[0], getattr(found, name)[row], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("when", "counts"),
    [
        ("always", [1, 1, 1, 1, 1]),
        ("running", [1, 1, 1, 1, 0]),
        ("terminal", [0, 0, 0, 0, 1]),
        ([0, 2], [1, 0, 1, 0, 0]),
        ([-1, 1], [0, 1, 0, 0, 1]),
        (lambda t: 3.0 if t > 0.02 else 0.0, [3, 3, 3, 3, 3]),
        (lambda t: 3.0 if t > 9.0 else 0.0, [0, 0, 0, 0, 0]),
    ],
)
def test_terms_count_at_the_knots_that_they_name(sim, when, counts):
    at = points(sim, rows=5)
    found = mpc.Cost(mpc.Velocity(np.ones(18), when=when)).values(at)
    assert_allclose(found, np.array(counts) * mpc.Cost(mpc.Velocity(np.ones(18))).values(at))


def test_references_may_be_one_per_knot_or_a_function_of_time(sim):
    at = points(sim, rows=5)
    each = np.arange(5.0)[:, None] * np.ones(18)
    assert_allclose(mpc.Velocity(each).residual(at), at.v - each)
    assert_allclose(mpc.Velocity(lambda t: np.full(18, t)).residual(at), at.v - at.t[:, None])


def test_without_controls_there_is_no_cost_of_them(sim):
    at = points(sim)
    last = Points(at.sim, at.x, None, at.knot, at.horizon)
    assert_array_equal(mpc.Cost(mpc.Control()).values(last), 0.0)
    assert not mpc.Cost(mpc.Control()).expand(last).uu.any()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: mpc.Posture(weight=-1.0), "weight is -1"),
        (lambda: mpc.Velocity(weight=np.ones((2, 2))), "weight is"),
        (lambda: mpc.Velocity(when="ever"), "when is 'ever'; give one of 'always', 'running', 'terminal'"),
        (lambda: mpc.Velocity(when=[0.5]), "when has 0.5; give whole numbers"),
        (lambda: mpc.Velocity(when=3), "when is 3"),
        (lambda: mpc.Velocity(np.ones((2, 2, 2))), r"v has shape \(2, 2, 2\)"),
        (lambda: mpc.Cost(3), "a term of the cost is 3"),
    ],
)
def test_terms_that_cannot_be_are_refused(make, said):
    with pytest.raises(xs.InvalidArgument, match=said):
        make()


@pytest.mark.parametrize(
    ("term", "said"),
    [
        (mpc.Velocity(weight=np.ones(3)), "weight of Velocity has 3 entries; give 1 or 18"),
        (mpc.Velocity(np.ones(3)), r"v has shape \(3,\); give \(18,\)"),
        (mpc.Velocity(np.ones((2, 18))), "up to knot 4"),
        (mpc.Velocity(lambda t: np.ones(3)), "v has 3 entries"),
        (mpc.Place("FL_TOE", [0.0, 0.0, 0.0]), "frame 'FL_TOE' is not in robot"),
    ],
)
def test_terms_of_another_robot_or_horizon_are_refused(sim, term, said):
    with pytest.raises(xs.ExposimError, match=said):
        mpc.Cost(term).values(points(sim, rows=5))


def test_standing_torques_hold_a_robot():
    robot = xs.load_robot("go2")
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=5e-3)
    for tau, moves in ((mpc.standing_torques(robot), False), (np.zeros(12), True)):
        sim.reset()
        sim.step(tau, n=10)
        assert (np.abs(sim.v).max() > 0.1) == moves
    held = mpc.standing_torques(robot, robot.q0)
    assert_array_equal(held, mpc.standing_torques(robot))
