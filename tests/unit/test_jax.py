"""Steps for JAX are steps of the simulator, and their derivatives those that differences give."""

import numpy as np
import pytest

import exposim as xs
from gradients import real_numbers, sliding, standing

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
test_util = pytest.importorskip("jax.test_util")


@pytest.fixture(autouse=True)
def _double_precision():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def test_derivatives_are_those_of_differences_forwards_and_backwards():
    sim, x = sliding()
    places = real_numbers(sim)

    def step(numbers, tau):
        return xs.jax.step(sim, jnp.asarray(x).at[places].set(numbers), tau)

    tau = 0.1 * jnp.ones(12)
    test_util.check_grads(step, (jnp.asarray(x[places]), tau), order=1, eps=1e-7, atol=1e-4, rtol=1e-4)


def test_a_scan_of_steps_is_that_of_the_simulator_to_the_last_bit():
    sim, x = sliding()
    taus = 0.3 * np.random.default_rng(1).normal(size=(8, 12))

    @jax.jit
    def last(start, inputs):
        return jax.lax.scan(lambda state, tau: (xs.jax.step(sim, state, tau), None), start, inputs)[0]

    end = last(jnp.asarray(x), jnp.asarray(taus))
    sim.state = xs.State.from_array(x)
    for tau in taus:
        sim.step(tau)
    assert np.array_equal(end, sim.state.to_array())
    gradient = jax.grad(lambda inputs: last(jnp.asarray(x), inputs)[3])(jnp.asarray(taus))
    assert gradient.shape == taus.shape
    assert np.abs(gradient).max() > 0.0


def test_rows_of_vmap_are_steps():
    sim, x = sliding()
    taus = jnp.asarray(np.random.default_rng(2).normal(size=(3, 12)))
    rows = jax.vmap(lambda tau: xs.jax.step(sim, jnp.asarray(x), tau))(taus)
    assert rows.shape == (3, len(x))
    assert np.array_equal(rows[1], xs.jax.step(sim, x, taus[1]))
    assert np.array_equal(rows, xs.jax.step(sim, x, taus))


def test_targets_of_drives():
    sim, x = standing()
    target = jnp.asarray(sim.robot.q0[7:])
    test_util.check_grads(
        lambda each: xs.jax.step(sim, x, target=each), (target,), order=1, eps=1e-6, atol=1e-5, rtol=1e-4
    )


def test_single_precision_is_refused():
    sim, x = sliding()
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(xs.InvalidArgument, match="jax_enable_x64"):
        xs.jax.step(sim, x)


def test_other_shapes_are_refused():
    sim, _ = sliding()
    with pytest.raises(xs.InvalidArgument, match=r"x has shape \(3,\); give \(\.\.\., 64\)"):
        xs.jax.step(sim, np.zeros(3))
