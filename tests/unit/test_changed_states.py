"""States that were changed by hand, or came through an array: contacts follow."""

import numpy as np
import pytest

import exposim as xs


@pytest.mark.parametrize("integrator", [xs.Expo(), xs.PaperExpo(), xs.ExplicitEuler()], ids=repr)
@pytest.mark.parametrize("lifted", [1e-3, 0.1, 1.0])
def test_a_state_that_is_lifted_off_the_ground_holds_on_to_nothing(integrator, lifted):
    robot = xs.load_robot("solo12")
    sim = xs.Simulator(robot, xs.HalfSpace(), integrator, 1e-4)
    sim.step(n=3)
    assert sim.active.all()
    saved = sim.state
    q = saved.q.copy()
    q[2] += lifted
    sim.state = saved.replace(q=q)
    assert not sim.active.any()
    sim.step()
    moved = sim.q, sim.v
    sim.reset(q, saved.v)
    sim.step()
    np.testing.assert_allclose(moved[0], sim.q, atol=1e-14)
    np.testing.assert_allclose(moved[1], sim.v, atol=1e-12)


def test_a_state_that_is_lowered_into_the_ground_touches_it():
    robot = xs.load_robot("solo12")
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=1e-3)
    q = robot.q0
    q[2] += 0.1
    sim.reset(q)
    sim.state = sim.state.replace(q=np.r_[q[:2], q[2] - 0.101, q[3:]])
    assert sim.active.all()
    assert np.all(sim.forces[:, 2] > 50.0)


def test_an_array_is_a_state_again_without_being_taken_apart():
    sim = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace())
    packed = sim.state.to_array()
    for wrong in (
        packed[None],
        packed[:-1],
        np.r_[packed[:-2], 5.0, 5.0],
        np.full_like(packed, np.nan),
        packed.tolist()[3:],
    ):
        with pytest.raises(xs.InvalidArgument, match="array"):
            xs.State.from_array(wrong)
    restored = xs.State.from_array(packed)
    packed[1] = 7.0  # the state has an array of its own
    assert restored == sim.state
