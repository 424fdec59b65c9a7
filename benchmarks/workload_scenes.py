"""The motions of benchmarks/workload.py: robots, gains, commands, and what is simulated from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

import exposim as xs

STIFFNESS, DAMPING = 1e5, 300.0  # of the ground [N/m, N·s/m]
EPISODE = 2.0  # [s]
CHANGE = 10  # control periods between two targets


class Contestant(Protocol):
    """What is timed: `Ours`, or `Mujoco` of benchmarks/rival.py."""

    @property
    def joints(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities of the joints."""

    @property
    def base(self) -> tuple[float, float]:
        """Height of the base [m], and how upright it is: the cosine of its tilt."""

    def reset(self, q: np.ndarray, v: np.ndarray) -> None:
        """To the start of an episode."""

    def command(self, tau: np.ndarray | None = None, target: np.ndarray | None = None) -> None:
        """What is held: torques of the joints, targets of the drives."""

    def run(self, n: int) -> None:
        """Take steps."""

    def save(self) -> Any:
        """All of the future, and what is held."""

    def restore(self, saved: Any) -> None:
        """What was saved."""

    def distance(self, one: Any, other: Any) -> float:
        """Largest entry of the difference of two states [m, rad, m/s, rad/s]."""


class Ours:
    """The simulator with what it is told to do."""

    def __init__(self, robot: xs.Robot, integrator: xs.Integrator, dt: float, material: xs.Material):
        self.sim = xs.Simulator(robot, xs.HalfSpace(material), integrator, dt)
        self._tau: np.ndarray | None = None
        self._target: np.ndarray | None = None
        self.steps = self.resolved = 0

    def reset(self, q: np.ndarray, v: np.ndarray) -> None:
        """To the start of an episode."""
        self._count()
        self.sim.reset(q, v)

    def _count(self) -> None:
        statistics = self.sim.statistics
        self.steps += statistics.steps
        self.resolved += statistics.resolved

    @property
    def share_resolved(self) -> float:
        """Of all steps since the beginning."""
        self._count()
        return self.resolved / max(1, self.steps)

    @property
    def joints(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities of the joints."""
        return self.sim.q[7:], self.sim.v[6:]

    @property
    def base(self) -> tuple[float, float]:
        """Height of the base [m], and how upright it is: the cosine of its tilt."""
        _, _, z, x, y, _, _ = self.sim.q[:7]
        return float(z), float(1.0 - 2.0 * (x * x + y * y))

    def command(self, tau: np.ndarray | None = None, target: np.ndarray | None = None) -> None:
        """What is held: torques of the joints, targets of the drives."""
        self._tau = None if tau is None else np.r_[np.zeros(6), tau]
        self._target = target

    def run(self, n: int) -> None:
        """Take steps."""
        self.sim.step(self._tau, n, target=self._target)

    def save(self) -> Any:
        """State and command."""
        return self.sim.state, self._tau, self._target

    def restore(self, saved: Any) -> None:
        """What was saved."""
        self.sim.state, self._tau, self._target = saved

    def distance(self, one: Any, other: Any) -> float:
        """Largest entry of the difference of two states [m, rad, m/s, rad/s]."""
        return xs.analysis.distance(self.sim.robot, one[0], other[0])


@dataclass(frozen=True)
class Scene:
    """A robot whose joints are sent here and there: gains [N·m/rad, N·m·s/rad], rotors [kg·m²], targets ± [rad]."""

    name: str
    kp: float
    kd: float
    spread: tuple[float, ...] = (0.2,)  # of the joints, again and again
    armature: float | None = None
    feeds_forward: bool = False  # the torques of standing
    drives: bool = False  # gains act inside the step, not by torques that are held
    period: float = 1e-2  # of control [s]

    @cached_property
    def robot(self) -> xs.Robot:
        """As both simulate it."""
        robot = xs.load_robot(self.name)
        if self.armature is not None:
            robot = robot.replace(armature=self.armature)
        # A torque-speed line is none of MuJoCo's laws.
        return robot.replace(drives=xs.Drive(self.kp, self.kd, velocity=np.inf)) if self.drives else robot

    @cached_property
    def feed_forward(self) -> np.ndarray:
        """Torques of the joints in which it stands still [N·m]."""
        stiffness = 20.0 * self.kp
        stiff = self.robot.replace(drives=xs.Drive(stiffness, stiffness / 20.0, effort=np.inf, velocity=np.inf))
        sim = xs.Simulator(stiff, xs.HalfSpace(), dt=5e-3)
        sim.step(n=400)
        return stiffness * (stiff.q0 - sim.q)[7:] if self.feeds_forward else np.zeros(self.robot.nv - 6)

    @cached_property
    def _effort(self) -> np.ndarray:
        return np.array([joint.effort for joint in self.robot.joints.values()])

    def command(self, contestant: Contestant, target: np.ndarray) -> None:
        """Let the joints go to a target, for one control period."""
        if self.drives:
            contestant.command(target=target + self.feed_forward / self.kp)
            return
        q, v = contestant.joints
        tau = self.kp * (target - q) - self.kd * v + self.feed_forward
        contestant.command(np.clip(tau, -self._effort, self._effort))

    def has_fallen(self, contestant: Contestant) -> bool:
        """The base is too low, or tilted by more than a radian."""
        height, upright = contestant.base
        return not (height > 0.3 * self.robot.q0[2] and upright > np.cos(1.0))

    def restless(self, contestant: Contestant, n: int, periods: int, seed: int) -> tuple[list[Any], int]:
        """Episodes with random targets from n steps per control period: states that these begin with, and falls."""
        posture = self.robot.q0[7:]
        spread = np.resize(self.spread, len(posture))
        starts: list[Any] = []
        episode = falls = 0
        while len(starts) < periods:
            rng = np.random.default_rng([seed, episode])
            q, episode = self.robot.q0, episode + 1
            q[2] += rng.uniform(0.02, 0.05)
            contestant.reset(q, 0.1 * rng.standard_normal(self.robot.nv))
            for i in range(min(round(EPISODE / self.period), periods - len(starts))):
                if i % CHANGE == 0:
                    target = posture + spread * rng.uniform(-1.0, 1.0, len(posture))
                self.command(contestant, target)
                starts.append(contestant.save())
                contestant.run(n)
                if self.has_fallen(contestant):
                    falls += 1
                    break
        return starts, falls

    def calm(self, contestant: Contestant, n: int, periods: int, _seed: int) -> tuple[list[Any], int]:
        """Standing with a small squat, after it has settled for a second."""
        q0, settling = self.robot.q0, round(1.0 / self.period)
        contestant.reset(q0, np.zeros(self.robot.nv))
        starts = []
        for i in range(settling + periods):
            self.command(contestant, q0[7:] * (1.0 + 0.01 * np.sin(2.0 * np.pi * i * self.period)))
            if i >= settling:
                starts.append(contestant.save())
            contestant.run(n)
        if self.has_fallen(contestant):
            raise SystemExit(f"{self.name} does not stand with kp {self.kp:g}, kd {self.kd:g}")
        return starts, 0


RESTLESS = {
    "solo12": Scene("solo12", 3.0, 0.035, spread=(0.35, 0.2, 0.2)),
    "go2": Scene("go2", 60.0, 1.2, spread=(0.35, 0.2, 0.2), armature=0.01, feeds_forward=True),
    "g1": Scene("g1", 100.0, 2.5, armature=0.05),
}
CALM = {
    "solo12": Scene("solo12", 8.0, 0.1, feeds_forward=True, period=1e-3),
    "go2": Scene("go2", 100.0, 2.0, armature=0.01, feeds_forward=True, period=1e-3),
    "romeo": Scene("romeo", 1000.0, 20.0, armature=0.1, feeds_forward=True, period=1e-3),
}
