"""A horizon differentiated by parameters is every step of it differentiated by itself."""

import numpy as np
import pytest

import exposim as xs
from rows import driven, random_targets

NAMES = ["stiffness", "friction", "mass:base_link"]
STEPS = 12


def landing():
    sim = driven("solo12")
    pool = xs.Rollout(sim, threads=2)
    targets = random_targets(sim, 1, STEPS)[0]
    x = pool.reset()
    states = np.concatenate([x, pool(x, targets=targets, steps=STEPS, record=("states",)).states[0, :-1]])
    return sim, pool, states, targets


def test_rows_by_parameters_are_those_of_the_simulator():
    sim, pool, states, targets = landing()
    rows = pool.linearize(states, targets=targets, parameters=NAMES)
    assert rows.names == tuple(NAMES)
    assert rows.parameters.shape == (STEPS, rows.x.shape[1], len(NAMES))
    assert np.abs(rows.parameters).max(axis=(0, 1)).all()  # some step depends on each
    for k, state in enumerate(pool.states(states)):
        one = sim.linearize(state, target=targets[k], parameters=NAMES)
        assert np.array_equal(rows.parameters[k], one.parameters), k
        assert np.array_equal(rows.x[k], one.x), k


def test_without_parameters_there_are_no_columns():
    _, pool, states, targets = landing()
    assert pool.linearize(states, targets=targets).parameters.shape[2] == 0


@pytest.mark.parametrize("method", ["auto", "differences"])
def test_without_torques_all_else_is_the_same(method):
    _, pool, states, targets = landing()
    rows, fewer = (
        pool.linearize(states, targets=targets, parameters=NAMES, by=by, method=method) for by in (None, "nothing")
    )
    A, B = fewer
    assert B.shape == (STEPS, len(A[0]), 0)
    assert np.allclose(A, rows.x, rtol=0.0, atol=1e-12 * np.abs(rows.x).max())
    assert np.allclose(fewer.parameters, rows.parameters, rtol=1e-12, atol=1e-12)


def test_a_row_that_cannot_be_has_no_derivatives_by_parameters():
    _, pool, states, targets = landing()
    states[1] = np.nan
    rows = pool.linearize(states, targets=targets, parameters=NAMES)
    assert np.isnan(rows.parameters[1]).all()
    assert np.isfinite(rows.parameters[[0, 2]]).all()


def test_rows_of_worlds_of_their_own_are_refused():
    _, pool, states, targets = landing()
    pool.vary(slice(STEPS), friction=0.3)
    with pytest.raises(xs.InvalidArgument, match="rows differ in them; ask one of one simulator"):
        pool.linearize(states, targets=targets, parameters=NAMES)
