"""What is learned: Go2 stands up to pushes, and Go2 walks; how they are trained and judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import exposim as xs
from exposim.envs.task import OBSERVED

Policy = Callable[[np.ndarray], np.ndarray]  # observations (n, observed) to actions (n, 12)

EPISODE = 300  # periods of 20 ms: 6 s
STRIDE = 0.5  # [s]
CLOCK = -5  # where the sine of the clock is observed
LIFT = np.array([0.0, 0.8, -1.0])  # of the joints of a leg, hip, thigh and calf, where its foot is highest
EPISODES = 64  # of an evaluation
UNSEEN = 1_000_000  # from where the seeds of evaluations count; those of training are smaller


def forwards(rows: xs.envs.Rows) -> np.ndarray:
    """Speed, up to that which is asked for [m/s]."""
    return np.minimum(rows.linear_velocity[:, 0], rows.command[:, 0])


def clock(rows: xs.envs.Rows) -> np.ndarray:
    """Of the gait, sine and cosine, (n, 2)."""
    angle = 2.0 * np.pi * rows.time / STRIDE
    return np.column_stack([np.sin(angle), np.cos(angle)])


def trot(rows: xs.envs.Rows) -> np.ndarray:
    """Share of the feet that touch the ground when they shall, by turns one diagonal pair and the other."""
    first = np.sin(2.0 * np.pi * rows.time / STRIDE) > 0.0
    wanted = np.column_stack([first, ~first, ~first, first])  # front left, front right, rear left, rear right
    return np.mean(rows.touching == wanted, axis=1)


def stepping(observed: np.ndarray) -> np.ndarray:
    """Actions that lift one diagonal pair of feet after the other, by the clock that is observed, (n, 12)."""
    swing = np.maximum(0.0, np.outer(observed[:, CLOCK], [-1.0, 1.0, 1.0, -1.0]))  # (n, legs)
    return np.kron(swing, LIFT).astype(np.float32)


@dataclass(frozen=True)
class Learned:
    """A task for learning.

    Args:
        trained: Forward velocities that are asked for in training, intervals [m/s].
        evaluated: And in evaluations, where training never asks for them.
        options: Of :class:`exposim.envs.VelocityVectorEnv`.
        gait: Actions to which those of the policy are added.
        spread: Logarithm of the standard deviation of actions, at first.
        rate: At which it learns, at first; it falls to a tenth.
        steps: Environment steps of a training.
    """

    trained: tuple[tuple[float, float], ...]
    evaluated: tuple[tuple[float, float], ...]
    options: dict[str, Any]
    steps: int
    spread: float
    rate: float
    gait: Policy | None = None


TASKS = {
    "push": Learned(
        trained=((0.0, 0.0),),
        evaluated=((0.0, 0.0),),
        options=dict(
            reward={
                "alive": 1.0,
                "track_linear": 0.5,
                "tilt": -1.0,
                "rolling": -0.02,
                "torques": -1e-4,
                "action_rate": -0.01,
                "fall": -5.0,
            },
            randomise=xs.envs.Randomise(push=(0.3, 1.0), push_every=(1.5, 2.5), posture=0.05, speed=0.1),
        ),
        steps=300_000,
        spread=-1.0,
        rate=1e-3,
    ),
    "walk": Learned(
        trained=((0.3, 0.5), (0.7, 1.0)),
        evaluated=((0.5, 0.7),),
        options=dict(
            reward={
                "forwards": (5.0, forwards),
                "trot": (1.5, trot),
                "track_linear": 1.5,
                "track_angular": 0.5,
                "alive": 0.5,
                "vertical": -1.0,
                "rolling": -0.03,
                "tilt": -1.0,
                "torques": -1e-4,
                "action_rate": -0.01,
                "fall": -3.0,
            },
            randomise=xs.envs.Randomise(posture=0.05, speed=0.1),
            sensing=None,
            observe=(*OBSERVED, clock, "linear_velocity"),
            action_scale=0.4,
        ),
        steps=600_000,
        spread=-1.6,
        rate=5e-4,
        gait=stepping,
    ),
}


def whole(task: str, policy: Policy) -> Policy:
    """A policy together with the gait of its task."""
    gait = TASKS[task].gait
    return policy if gait is None else lambda observed: policy(observed) + gait(observed)


def make(task: str, count: int, **more: Any) -> xs.envs.RobotVectorEnv:
    """As many robots of a task; they see the velocity of their base too, behind all else."""
    options = {"observe": (*OBSERVED, "linear_velocity"), "max_episode_steps": EPISODE, **TASKS[task].options, **more}
    return xs.envs.VelocityVectorEnv("go2", num_envs=count, **options)


def commands(intervals: tuple[tuple[float, float], ...], seed: int) -> Callable[[int], np.ndarray]:
    """Draws forward velocities [m/s] evenly from intervals; no sideways, no turning: a function of n, (n, 3)."""
    generator = np.random.default_rng(seed)

    def draw(count: int) -> np.ndarray:
        low, high = np.array(intervals)[generator.integers(len(intervals), size=count)].T
        return np.column_stack([generator.uniform(low, high), np.zeros((count, 2))])

    return draw


def nothing(observed: np.ndarray) -> np.ndarray:
    """The policy that holds the standing posture."""
    return np.zeros((len(observed), 12), dtype=np.float32)


def evaluate(task: str, policy: Policy, count: int = EPISODES, **more: Any) -> dict[str, float]:
    """Of one episode for each of `count` robots, with commands and seeds that training does not know.

    Returns: ``return``, mean over the episodes; ``falls``, the share that fell; ``error``, how far the velocity of the
    base over ground is from the command, mean until they end [m/s]; ``speed``, forwards [m/s].
    """
    envs = make(task, count, **more)
    asked = commands(TASKS[task].evaluated, UNSEEN)(count)
    observed, _ = envs.reset(seed=UNSEEN, options={"command": asked})
    going, fell = np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
    returns, error, speed, periods = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count)
    while going.any():
        observed, reward, terminated, truncated, _ = envs.step(policy(observed))
        velocity = observed[:, -3:-1]
        returns += reward * going
        error += np.linalg.norm(velocity - asked[:, :2], axis=1) * going
        speed += velocity[:, 0] * going
        periods += going
        fell |= going & terminated
        going &= ~(terminated | truncated)
    return {
        "return": float(returns.mean()),
        "falls": float(fell.mean()),
        "error": float((error / periods).mean()),
        "speed": float((speed / periods).mean()),
    }
