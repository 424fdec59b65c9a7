"""The local error measures what it says, on motions whose answer is known."""

import functools

import numpy as np
import pytest

import exposim as xs
from exposim import scenarios
from exposim.analysis import GroundTruth, distance, ground_truth, local_errors


@functools.cache
def squat_truth():
    return ground_truth(scenarios.get("solo-squat"), xs.RungeKutta4(), 0.04 / 4096, 0.24)


def test_distance_is_symmetric_and_zero_only_for_the_same_state():
    robot = xs.load_robot("solo12")
    rng = np.random.default_rng(1)
    sim = xs.Simulator(robot, xs.HalfSpace())

    def state():
        q = robot.q0
        q[:3] += rng.standard_normal(3)
        q[3:7] = rng.standard_normal(4)
        q[3:7] /= np.linalg.norm(q[3:7])
        q[7:] += rng.standard_normal(12)
        sim.reset(q, rng.standard_normal(18))
        return sim.state

    for _ in range(20):
        one, other = state(), state()
        assert distance(robot, one, other) == pytest.approx(distance(robot, other, one), rel=1e-9)
        assert distance(robot, one, other) > 0.1
        assert distance(robot, one, one) == pytest.approx(0.0, abs=1e-12)


def test_a_truth_has_no_error_at_its_own_step():
    setting = scenarios.get("solo-trot")
    for integrator in (xs.ExplicitEuler(), xs.Expo()):
        truth = ground_truth(setting, integrator, 1e-3 / 16, 0.2)
        assert len(truth) == 100
        assert local_errors(setting, integrator, 1e-3 / 16, truth).max() < 1e-12


def test_a_truth_survives_a_file_bit_for_bit(tmp_path):
    truth = squat_truth()
    truth.save(tmp_path / "truth.npz")
    loaded = GroundTruth.load(tmp_path / "truth.npz")
    for name in ("states", "tau", "changes", "t"):
        assert np.array_equal(getattr(loaded, name), getattr(truth, name)), name
    assert truth.t == pytest.approx(0.04 * np.arange(7))
    assert [loaded.state(i) == truth.state(i) for i in range(7)] == [True] * 7
    assert [truth.state(i).t for i in range(7)] == truth.t.tolist()


@pytest.mark.parametrize(
    "integrator",
    [xs.ExplicitEuler(), xs.SemiImplicitEuler(), xs.RungeKutta4()],
    ids=lambda value: type(value).__name__,
)
def test_on_smooth_motion_the_local_error_shrinks_at_the_order_of_the_scheme(integrator):
    setting = scenarios.get("solo-squat")
    coarse, fine = (
        local_errors(setting, integrator, setting.control_period / n, squat_truth())[1:].mean() for n in (1024, 2048)
    )
    assert np.log2(coarse / fine) == pytest.approx(integrator.order, abs=0.3)


def test_kernels_of_expo_make_the_same_local_errors():
    setting = scenarios.get("solo-squat")
    modal, dense = (
        local_errors(setting, xs.PaperExpo(kernel=kernel), 5e-3, squat_truth()) for kernel in ("modal", "expm")
    )
    assert modal == pytest.approx(dense, rel=1e-6)
    assert modal.min() > 0.0
