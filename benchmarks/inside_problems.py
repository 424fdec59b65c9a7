"""The motions of benchmarks/inside.py: states that control periods begin with, and the torques held from there."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

import exposim as xs
from workload_scenes import DAMPING, RESTLESS, STIFFNESS, Ours

FRICTION = 0.8  # of the ground of random targets
RECORDING_STEP = 1e-3  # of motions without a scenario [s]
EPISODE = 2.0  # [s]
PERIOD = 1e-2  # of what has no control [s]


class Start(NamedTuple):
    """Of a window: a state, and what is held."""

    state: xs.State
    tau: np.ndarray | None


@dataclasses.dataclass(frozen=True)
class Problem:
    """A robot in motion.

    Args:
        name: For tables.
        robot: That moves.
        ground: It moves on.
        period: Of control [s].
        starts: Of control periods, in the order of time.
        before: The periods before these, where there is one.
    """

    name: str
    robot: xs.Robot
    ground: xs.Surface | tuple[xs.Surface, ...] | None
    period: float
    starts: tuple[Start, ...]
    before: tuple[Start | None, ...] = ()

    def simulator(self, integrator: xs.Integrator, dt: float) -> xs.Simulator:
        """That begins wherever it is told to."""
        return xs.Simulator(self.robot, self.ground, integrator, dt, on_divergence="stop")

    def some(self, count: int, seed: int) -> Problem:
        """With one period, drawn at random, of each of so many equal stretches of the motion."""
        count = min(count, len(self.starts))
        edges = np.linspace(0, len(self.starts), count + 1).astype(int)
        chosen = np.random.default_rng(seed).integers(edges[:-1], edges[1:])
        before = tuple(self.starts[i - 1] if i > 0 else None for i in chosen)
        return dataclasses.replace(self, starts=tuple(self.starts[i] for i in chosen), before=before)

    def first(self, seconds: float) -> Problem:
        """Its beginning alone."""
        return dataclasses.replace(self, starts=self.starts[: round(seconds / self.period)])


def scenario(name: str, _seed: int = 0) -> Problem:
    """Under control, as it runs by default."""
    made = xs.scenarios.get(name)
    return Problem(name, made.robot, made.ground, made.control_period, tuple(_periods(xs.scenarios.Run(made))))


def _periods(run: xs.scenarios.Run) -> Iterator[Start]:
    while not run.done:
        state = run.sim.state
        yield Start(state, run.torques(state))
        run.advance()


def random_targets(_name: str, seed: int) -> Problem:
    """The workload of benchmarks/workload.py with go2: feet that land, slip and lift, torques of PD held for 10 ms."""
    scene = RESTLESS["go2"]
    material = xs.Material(STIFFNESS, DAMPING, FRICTION)
    ours = Ours(scene.robot, xs.Expo(), RECORDING_STEP, material)
    periods = round(EPISODE / scene.period)
    saved, _ = scene.restless(ours, round(scene.period / RECORDING_STEP), 2 * periods, seed)
    starts = tuple(Start(state, tau) for state, tau, _ in saved)
    return Problem("go2 random targets", scene.robot, xs.HalfSpace(material), scene.period, starts)


def drop(_name: str, seed: int) -> Problem:
    """Solo12 falls from 20 cm and collapses: no torques."""
    robot = xs.load_robot("solo12")
    q = robot.q0
    q[2] += 0.2
    v = 0.2 * np.random.default_rng(seed).standard_normal(robot.nv)
    return _left_alone("drop", robot, xs.HalfSpace(), q, v, 0.5)


def box(_name: str, seed: int) -> Problem:
    """A box that is thrown, tumbles and comes to rest."""
    body = xs.rigid_body("box", xs.Box((0.3, 0.2, 0.1)), 1.0)
    q = [0.0, 0.0, 0.4, 0.3, 0.2, 0.1, np.sqrt(1.0 - 0.14)]
    v = np.array([1.0, 0.5, 0.0, 3.0, 4.0, 5.0]) + 0.5 * np.random.default_rng(seed).standard_normal(6)
    return _left_alone("box tumbling", body, xs.HalfSpace(xs.Material(STIFFNESS, DAMPING, 0.5)), q, v, 0.75)


def _left_alone(name, robot, ground, q, v, seconds) -> Problem:
    sim = xs.Simulator(robot, ground, dt=RECORDING_STEP)
    sim.reset(q, v)
    starts = []
    for _ in range(round(seconds / PERIOD)):
        starts.append(Start(sim.state, None))
        sim.step(n=round(PERIOD / RECORDING_STEP))
    return Problem(name, robot, ground, PERIOD, tuple(starts))


PROBLEMS: dict[str, Callable[[str, int], Problem]] = {
    **dict.fromkeys(("solo-jump", "solo-trot", "solo-squat", "romeo-walk"), scenario),
    "drop": drop,
    "go2 random targets": random_targets,
    "box tumbling": box,
}


def problem(name: str, seed: int) -> Problem:
    """By its name, one of PROBLEMS."""
    return PROBLEMS[name](name, seed)
