"""Rollouts whose rows are shared out among workers: the same bits."""

import numpy as np
import pinocchio as pin
import pytest

import exposim as xs
from exposim.sweeps.rollouts import _refuse_unlike, rollout
from exposim.tasks import InThisProcess, Processes


@pytest.fixture(scope="module")
def sim():
    robot = xs.load_robot("solo12").replace(drives=xs.Drive(kp=20.0, kd=0.5))
    return xs.Simulator(robot, [xs.HalfSpace(), xs.Box(size=(0.2, 0.2, 0.04), position=(0.2, 0.15, 0.0))], dt=5e-3)


@pytest.fixture(scope="module")
def given(sim):
    random = np.random.default_rng(3)
    q = np.tile(sim.robot.q0, (7, 1))
    q[:, 7:] += 0.2 * random.standard_normal((7, 12))
    states = xs.Rollout(sim).reset(q)
    return states, {"targets": q[:, None, 7:], "taus": 0.1 * random.standard_normal((20, 12))}


@pytest.mark.parametrize("make", [InThisProcess, lambda: Processes(2)])
@pytest.mark.parametrize("rows_at_once", [1, 3, 100])
def test_rows_have_the_same_bits_in_any_chunks(make, rows_at_once, sim, given):
    states, inputs = given
    whole = xs.Rollout(sim)(states, **inputs, steps=20, every=5, record=("q", "v", "forces"))
    with make() as executor:
        shared = rollout(
            sim, states, executor, **inputs, steps=20, every=5, record=("q", "v", "forces"), rows_at_once=rows_at_once
        )
    for name in ("q", "v", "forces", "end", "status", "diverged_at"):
        assert np.array_equal(getattr(shared, name), getattr(whole, name)), name
    assert len(np.unique(whole.q[:, -1, 9])) == 7


def test_a_bad_row_is_told_of_that_row_alone(sim, given):
    states, inputs = given
    taus = np.zeros((7, 20, 12))
    taus[5, 3] = np.nan
    shared = rollout(sim, states, InThisProcess(), targets=inputs["targets"], taus=taus, steps=20, rows_at_once=2)
    assert shared.status.tolist() == [0, 0, 0, 0, 0, 2, 0]
    assert "taus for step 4 is not finite" in shared.reason(5)
    assert shared.reason(4) is None
    with pytest.raises(AttributeError, match="forces was not recorded"):
        _ = shared.forces


def test_what_cannot_be_shared_out_is_refused(sim, given):
    states, _ = given
    with pytest.raises(xs.InvalidArgument, match="events are not sent"):
        rollout(sim, states, InThisProcess(), steps=5, record=("events",))
    model = pin.Model(sim.robot.model)
    alone = xs.Simulator(xs.load_robot(model), xs.HalfSpace())
    with pytest.raises(xs.ExposimError, match="was made from a pinocchio"):
        rollout(alone, alone.state, InThisProcess(), steps=5)


def test_a_simulator_is_made_again_with_its_masses_or_refused(sim):
    heavier = xs.Simulator(sim.robot.replace(mass={"base_link": 3.0}), sim._ground, dt=5e-3)
    with pytest.raises(xs.InvalidArgument, match="its model is not that of its file"):
        _refuse_unlike(sim, heavier)
    states = xs.Rollout(heavier).reset(rows=2)
    shared = rollout(heavier, states, InThisProcess(), steps=20)
    assert np.array_equal(shared.end, xs.Rollout(heavier)(states, steps=20).end)
    assert not np.array_equal(shared.end, xs.Rollout(sim)(states, steps=20).end)
