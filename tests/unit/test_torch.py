"""Steps for PyTorch are steps of the simulator, and their gradients those that differences give."""

import numpy as np
import pytest

import exposim as xs
from gradients import real_numbers, sliding, standing

torch = pytest.importorskip("torch")


def tensor(array, grad=False):
    return torch.tensor(np.asarray(array), dtype=torch.float64, requires_grad=grad)


@pytest.mark.parametrize("state", [sliding, standing])
def test_gradients_are_those_of_differences(state):
    sim, x = state()
    assert sim.active.all()
    assert (sim.slipping == (state is sliding)).all()
    places, drives = real_numbers(sim), state is standing
    base, commands = tensor(x), sim.robot.q0[7:] + 0.001

    def step(numbers, tau, target):
        return xs.torch.step(sim, base.index_put((torch.as_tensor(places),), numbers), tau, target)

    inputs = tensor(x[places], True), tensor(0.01 * np.ones(12), True), tensor(commands, True) if drives else None
    assert torch.autograd.gradcheck(step, inputs, eps=1e-7, atol=1e-5, rtol=1e-4, nondet_tol=0.0)


def test_a_chain_of_steps_is_that_of_the_simulator_to_the_last_bit_and_its_gradient_that_of_differences():
    sim, x = sliding()
    rng = np.random.default_rng(1)
    taus = 0.3 * rng.normal(size=(8, 12))

    def height(first):
        state = tensor(x)
        for k in range(8):
            state = xs.torch.step(sim, state, first if k == 0 else tensor(taus[k]))
        return state

    first = tensor(taus[0], True)
    end = height(first)
    sim.state = xs.State.from_array(x)
    for tau in taus:
        sim.step(tau)
    assert np.array_equal(end.detach().numpy(), sim.state.to_array())
    end[3].backward()
    by = 1e-6
    for i in (1, 5):
        more, less = (height(tensor(taus[0] + sign * by * np.eye(12)[i]))[3].item() for sign in (1, -1))
        assert first.grad[i].item() == pytest.approx((more - less) / (2 * by), rel=1e-3, abs=1e-9)


def test_batches_are_their_rows():
    sim, x = sliding()
    batch = tensor(np.stack([x, x]).reshape(2, 1, -1), True)
    taus = tensor(np.random.default_rng(2).normal(size=(3, 12)))
    out = xs.torch.step(sim, batch, taus)
    assert out.shape == (2, 3, len(x))
    assert torch.equal(out[1, 2], xs.torch.step(sim, tensor(x), taus[2]))
    out[:, :, 1].sum().backward()
    assert batch.grad.shape == (2, 1, len(x))
    assert torch.allclose(batch.grad[0], batch.grad[1])


def test_a_quaternion_of_another_length_is_the_same_step():
    sim, x = sliding()
    longer = x.copy()
    longer[4:8] *= 1.3
    a, b = (xs.torch.step(sim, tensor(each)) for each in (x, longer))
    assert torch.allclose(a, b, atol=1e-12)


def test_a_simulator_that_was_changed_steps_as_it_is_now():
    sim, x = sliding()
    before = xs.torch.step(sim, tensor(x))
    sim.set(mass={"base_link": 3.0})
    assert not torch.allclose(before, xs.torch.step(sim, tensor(x)))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros(3), r"x has shape \(3,\); give \(\.\.\., 64\)"),
        (np.zeros(64, dtype=np.float32), "x is a torch.float32; give a torch tensor of float64"),
    ],
)
def test_other_shapes_and_precisions_are_refused(x, message):
    sim, _ = sliding()
    with pytest.raises(xs.InvalidArgument, match=message):
        xs.torch.step(sim, torch.from_numpy(x))


def test_what_is_no_state_is_refused():
    sim, x = sliding()
    with pytest.raises(xs.InvalidArgument, match="row 1 of 2 cannot be stepped"):
        xs.torch.step(sim, tensor(np.stack([x, np.full_like(x, np.nan)])))
