"""Feedback within a rollout is what NumPy makes of it in a loop of steps."""

import itertools

import numpy as np
import pinocchio as pin
import pytest

import exposim as xs
from rows import driven, refuses, thrown_states

ACTIVATIONS = {
    "elu": lambda x: np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0))),
    "relu": lambda x: np.maximum(x, 0.0),
    "tanh": np.tanh,
}
ALL_SEEN = (
    "gravity",
    "linear_velocity",
    "angular_velocity",
    "joint_positions",
    "joint_velocities",
    "last_action",
    "command",
)


def tangent(sim, state, q, v):
    """x ⊖ reference."""
    return np.concatenate((pin.difference(sim.robot.model, q, state.q), state.v - v))


def observed(sim, state, action, command, names=ALL_SEEN):
    """As an MLP sees a state, by Pinocchio's own quaternions."""
    turn = pin.Quaternion(*state.q[[6, 3, 4, 5]]).matrix()
    parts = {
        "gravity": turn.T @ [0.0, 0.0, -1.0],
        "linear_velocity": state.v[:3],
        "angular_velocity": state.v[3:6],
        "joint_positions": (state.q - sim.robot.q0)[7:],
        "joint_velocities": state.v[6:],
        "last_action": action,
        "command": command,
    }
    return np.concatenate([parts[name] for name in names])


def layers(sizes, seed=0):
    rng = np.random.default_rng(seed)
    weights = [rng.standard_normal((b, a)) / np.sqrt(a) for a, b in itertools.pairwise(sizes)]
    return weights, [0.1 * rng.standard_normal(b) for b in sizes[1:]]


@pytest.mark.parametrize("output", ["taus", "targets"])
def test_linear_feedback_is_that_of_numpy(output):
    sim = driven("solo12")
    states = thrown_states(sim, 3)
    nv, rng = sim.robot.nv, np.random.default_rng(0)
    gain = 0.02 * rng.standard_normal((3, 5, 12, 2 * nv))
    v = 0.1 * rng.standard_normal((5, nv))
    feedforward = rng.standard_normal((3, 5, 12))
    policy = xs.LinearPolicy(gain, sim.robot.q0, v, output=output)
    out = xs.Rollout(sim, threads=2)(
        states, policy=policy, steps=5, record=("states", "actions"), **{output: feedforward}
    )
    for i, state in enumerate(states):
        sim.state = state
        for k in range(5):
            action = gain[i, k] @ tangent(sim, sim.state, sim.robot.q0, v[k])
            np.testing.assert_allclose(out.actions[i, k], action, rtol=0.0, atol=1e-12 if k == 0 else 1e-8)
            sim.step(**{output[:-1]: feedforward[i, k] + action})
            np.testing.assert_allclose(out.states[i, k], sim.state._x, rtol=0.0, atol=1e-7)


def test_a_gain_of_which_every_entry_is_exact_gives_the_same_bits_as_a_loop():
    sim = driven("solo12")
    states = thrown_states(sim, 2)
    gain = np.zeros((18, 2 * sim.robot.nv))
    gain[6:, -12:] = -0.25 * np.eye(12)  # a damper, one product to a joint
    policy = xs.LinearPolicy(gain, sim.robot.q0)
    out = xs.Rollout(sim)(states, policy=policy, steps=20, record=("states",))
    for i, state in enumerate(states):
        sim.state = state
        for k in range(20):
            sim.step(np.concatenate((np.zeros(6), -0.25 * sim.v[6:])))
            assert np.array_equal(out.states[i, k], sim.state._x)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("hold", [1, 4])
def test_a_network_is_that_of_numpy(activation, hold):
    sim = driven("solo12")
    states = thrown_states(sim, 3)
    commands = np.random.default_rng(2).standard_normal((3, 2))
    weights, biases = layers((9 + 24 + 12 + 2, 16, 8, 12))
    scale, offset = np.linspace(0.1, 0.3, 12), 0.05
    policy = xs.MLP(weights, biases, observation=ALL_SEEN, activation=activation, scale=scale, offset=offset, hold=hold)
    out = xs.Rollout(sim, threads=2)(states, policy=policy, commands=commands, steps=8, record=("states", "actions"))
    for i, state in enumerate(states):
        sim.state = state
        action = np.zeros(12)
        for k in range(8):
            if k % hold == 0:
                x = observed(sim, sim.state, action, commands[i])
                for W, b in zip(weights[:-1], biases[:-1], strict=True):
                    x = ACTIVATIONS[activation](W @ x + b)
                action = weights[-1] @ x + biases[-1]
            np.testing.assert_allclose(out.actions[i, k], action, rtol=0.0, atol=1e-12 if k == 0 else 1e-7)
            sim.step(target=sim.robot.q0[7:] + (offset + scale * action))
            np.testing.assert_allclose(out.states[i, k], sim.state._x, rtol=0.0, atol=1e-6)


def test_a_network_of_which_every_product_is_exact_gives_the_same_bits_as_a_loop():
    sim = driven("solo12")
    states = thrown_states(sim, 2)
    policy = xs.MLP(
        [np.eye(12), -0.5 * np.eye(12)],
        [np.zeros(12), np.zeros(12)],
        observation=("joint_velocities",),
        activation="relu",
        output="taus",
    )
    out = xs.Rollout(sim)(states, policy=policy, steps=20, record=("states",))
    for i, state in enumerate(states):
        sim.state = state
        for k in range(20):
            sim.step(-0.5 * np.maximum(sim.v[6:], 0.0))
            assert np.array_equal(out.states[i, k], sim.state._x)


@pytest.mark.parametrize("name", ALL_SEEN)
def test_every_observation_reaches_the_network(name):
    sim = driven("solo12")
    (state,) = thrown_states(sim, 1)
    size = {"command": 2}.get(name, 3 if ALL_SEEN.index(name) < 3 else 12)
    weights, biases = [np.eye(12, size)], [np.arange(12.0)]
    policy = xs.MLP(weights, biases, observation=(name,), scale=1e-3)
    commands = (0.25, -0.5)
    given = {"commands": commands} if name == "command" else {}
    out = xs.Rollout(sim)(state, policy=policy, steps=2, record=("actions",), **given)
    seen = observed(sim, state, np.zeros(12), commands, (name,))
    np.testing.assert_allclose(out.actions[0, 0], weights[0] @ seen + biases[0], rtol=0.0, atol=1e-12)
    if name == "last_action":
        np.testing.assert_allclose(out.actions[0, 1], 2.0 * biases[0], rtol=0.0, atol=1e-12)


def test_policies_are_threads_apart():
    sim = driven("solo12")
    states = thrown_states(sim, 12)
    weights, biases = layers((12 + 12, 32, 12))
    policy = xs.MLP(weights, biases, observation=("joint_positions", "last_action"), scale=0.3, hold=2)
    ends = [xs.Rollout(sim, threads=threads)(states, policy=policy, steps=10).end for threads in (1, 2, 5)]
    assert np.array_equal(ends[0], ends[1]) and np.array_equal(ends[0], ends[2])
    shuffled = np.random.default_rng(0).permutation(12)
    again = xs.Rollout(sim, threads=3)([states[i] for i in shuffled], policy=policy, steps=10).end
    assert np.array_equal(again, ends[0][shuffled])


def test_an_action_that_is_not_finite_marks_its_row():
    sim = driven("solo12")
    states = thrown_states(sim, 2)
    policy = xs.LinearPolicy(np.full((12, 36), 1e308), sim.robot.q0)
    pool = xs.Rollout(sim)
    out = pool([states[0], pool.states(pool.reset())[0]], policy=policy, steps=3)
    assert out.status.tolist() == [2, 2]
    assert "the policy's action for step 2" in out.reason(0)
    assert "the policy's action for step 3" in out.reason(1)  # at first it is at the reference


def test_policies_that_do_not_fit_are_refused():
    sim = driven("solo12")
    pool = xs.Rollout(sim)
    x, q0 = pool.reset(), sim.robot.q0
    square = [np.eye(12)], [np.zeros(12)]
    for policy, words in (
        (xs.LinearPolicy(np.zeros((12, 12)), q0), "2 nv"),
        (xs.LinearPolicy(np.zeros((5, 36)), q0), "5 entries"),
        (xs.LinearPolicy(np.zeros((12, 36)), q0[:5]), "nq"),
        (xs.LinearPolicy(np.zeros((4, 12, 36)), q0), "steps"),
        (xs.LinearPolicy(np.zeros((18, 36)), q0, output="targets"), "12"),
        (xs.MLP([np.eye(3)], [np.zeros(3)], observation=("gravity",)), "3 outputs"),
        (xs.MLP(*square, observation=("gravity",)), "12 inputs"),
        (xs.MLP(*square, observation=("command",)), "commands"),
        (len, "LinearPolicy"),
    ):
        with refuses(words):
            pool(x, policy=policy, steps=3)
    with refuses("no policy"):
        pool(x, commands=(1.0, 2.0), steps=3)
    with refuses("policy"):
        pool(x, steps=3, record=("actions",))
    with refuses("observation"):
        xs.MLP(*square, observation=("joint_position",))
    with refuses("activation"):
        xs.MLP(*square, observation=("command",), activation="gelu")
    with refuses("weights"):
        xs.MLP([np.eye(3), np.eye(4)], [np.zeros(3), np.zeros(4)], observation=("gravity",))
    with refuses("finite"):
        xs.MLP([np.eye(3) * np.nan], [np.zeros(3)], observation=("gravity",))
    undriven = xs.Rollout(xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace()))
    with refuses("drives"):
        undriven(x, policy=xs.MLP(*square, observation=("joint_velocities",)), steps=3)
