"""A Go2 that plans by sampling, twenty times a second: it stands up to pushes, and walks to a point.

python examples/sampling_mpc.py walk --live     # or stand; the plan is the orange line
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

import exposim as xs

PERIOD, STEP = 0.05, 5e-3  # from plan to plan, and of the robot that is controlled [s]
PUSHING = 0.1  # how long a push lasts [s]


def go2(mass: float = 1.0) -> xs.Robot:
    """With drives; of all masses and inertias so many times what the files say."""
    robot = xs.load_robot("go2").replace(drives=xs.Drive(kp=60.0, kd=2.0))
    return robot if mass == 1.0 else robot.replace(mass={name: mass * own for name, own in robot.masses.items()})


class Trot:
    """Targets of the drives for (forward, sideways [m/s], turning [rad/s], lift [m], 12 changes of joints [rad]).

    Diagonal legs lift their feet in turn, by `lift`, and reach so far that the body goes at that speed; at a lift of
    zero all feet stay where they are. Joints follow feet to first order, by the Jacobian of each leg at q0.
    """

    size = 16

    def __init__(self, robot: xs.Robot, frequency: float = 3.0):
        model, data = robot.model, robot.model.createData()
        pin.computeJointJacobians(model, data, robot.q0)
        pin.updateFramePlacements(model, data)
        feet = [model.getFrameId(foot) for foot in robot.feet]  # front left, front right, rear left, rear right
        jacobians = [pin.getFrameJacobian(model, data, foot, pin.LOCAL_WORLD_ALIGNED) for foot in feet]
        self._to_joints = np.array([np.linalg.inv(J[:3, 6 + 3 * k : 9 + 3 * k]) for k, J in enumerate(jacobians)])
        x, y, _ = (np.array([data.oMf[foot].translation for foot in feet]) - robot.q0[:3]).T
        self._turning = np.stack([-y, x], axis=1)  # velocity of feet when the body turns at 1 rad/s, (4, 2)
        self._posture, self._frequency = robot.q0[7:], frequency

    def __call__(self, times: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Of times (T,) and values (N, T, 16): (N, T, 12)."""
        phase = (self._frequency * times[:, None] + np.array([0.0, 0.5, 0.5, 0.0])) % 1.0  # (T, 4)
        swings, part = phase < 0.5, (2.0 * phase) % 1.0
        place = np.where(swings, -np.cos(np.pi * part), 1.0 - 2.0 * part)  # from 1 in front to -1 behind
        height = np.where(swings, np.sin(np.pi * part) ** 2, 0.0)
        speed = values[..., None, :2] + values[..., None, 2:3] * self._turning  # (N, T, 4, 2)
        lift = np.clip(values[..., 3:4], 0.0, 0.12)
        steps = np.minimum(1.0, lift / 0.02)[..., None]  # who does not lift does not reach either
        reach = steps * speed * (place / (4.0 * self._frequency))[..., None]
        feet = np.concatenate([reach, (lift * height)[..., None]], axis=3)
        joints = np.einsum("kij,ntkj->ntki", self._to_joints, feet).reshape(*values.shape[:2], 12)
        return self._posture + joints + values[..., 4:]


def upright(q: np.ndarray) -> np.ndarray:
    """Cosine of the tilt of the base."""
    return 1.0 - 2.0 * (q[..., 3] ** 2 + q[..., 4] ** 2)


class GoTo:
    """Cost of being away from a point, of falling, and of effort; all weights are of squares unless said otherwise."""

    def __init__(self, goal: tuple[float, float] = (0.0, 0.0), speed: float = 0.5):
        self.goal, self.speed = np.array(goal), speed

    def __call__(self, tried: xs.mpc.Samples) -> np.ndarray:
        """Of every plan and record, (N, T')."""
        q, v, values = tried.q, tried.v, tried.values
        away = self.goal - q[..., :2]
        distance = np.linalg.norm(away, axis=2, keepdims=True)
        wanted = away * np.minimum(2.0, self.speed / np.maximum(distance, 1e-9))
        x, y, z, w = np.moveaxis(q[..., 3:7], 2, 0)
        ahead = np.stack([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z)], axis=2)  # base axes in the plane
        left = np.stack([2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z)], axis=2)
        velocity = v[..., :1] * ahead + v[..., 1:2] * left
        cost = 4.0 * ((velocity - wanted) ** 2).sum(axis=2) + 3.0 * distance[..., 0]  # the distance itself
        cost += 40.0 * (1.0 - upright(q)) + ahead[..., 1] ** 2 + 100.0 * (q[..., 2] - 0.3) ** 2
        cost += v[..., 2:6] ** 2 @ np.array([0.5, 0.1, 0.1, 0.05])
        cost += values**2 @ np.array([0.1] * 3 + [20.0] + [1.0] * 12)
        cost[:, -1] *= 3.0  # what comes after the horizon depends on its end
        return cost


def planner(cost: GoTo, seed: int = 0, threads: int | None = 2, samples: int = 64) -> xs.mpc.SamplingMPC:
    """64 plans of 0.4 s at steps of 10 ms; standing, and trotting to each side, are always among them."""
    robot = go2()
    proposals = np.zeros((6, Trot.size))
    proposals[1:, 3] = 0.06
    proposals[2:, :2] = [(0.6, 0.0), (-0.6, 0.0), (0.0, 0.6), (0.0, -0.6)]
    return xs.mpc.SamplingMPC(
        # Of first order, as plans need no more: 2.6 times as fast on these motions, and 4 mm apart after 0.4 s.
        xs.Rollout(xs.Simulator(robot, xs.HalfSpace(), xs.Expo(order=1), dt=0.01), threads),
        cost,
        horizon=40,
        samples=samples,
        knots=4,
        noise=[0.4, 0.4, 0.5, 0.02] + [0.05] * 12,
        temperature=0.1,
        elites=12,
        spline="cubic",
        decode=Trot(robot),
        size=Trot.size,
        proposals=proposals,
        seed=seed,
    )


@dataclass
class Run:
    """What happened: after every step time [s] and configuration, and all plans."""

    t: list[float] = field(default_factory=list)
    q: list[np.ndarray] = field(default_factory=list)
    plans: list[xs.mpc.Plan] = field(default_factory=list)

    @property
    def fell(self) -> bool:
        """Whether it was on its side at the end, or its belly on the ground."""
        return bool(upright(self.q[-1]) < 0.7 or self.q[-1][2] < 0.15)


def simulator(friction: float = 1.0, mass: float = 1.0) -> xs.Simulator:
    """The robot that is controlled, which may be another one than the plans are made for."""
    return xs.Simulator(go2(mass), xs.HalfSpace(xs.Material(friction=friction)), dt=STEP)


def run(
    sim: xs.Simulator,
    mpc: xs.mpc.SamplingMPC | None,
    duration: float,
    pushes: Sequence[tuple[float, float, float]] = (),
    late: bool = False,
    live: xs.viewer.Live | None = None,
) -> Run:
    """Controls a robot for a time [s], or until it has fallen.

    Args:
        sim: The robot.
        mpc: Who plans; without, the drives hold the standing posture.
        duration: Of the run [s].
        pushes: When [s], how hard (the change of velocity that it is for the whole mass [m/s]), and whither [rad].
        late: Whether a plan is in force only one period after the state that it is made of, as if it took so long.
        live: Where the robot is watched; plans are drawn into it.
    """
    done, plan, newest = Run(), None, None
    mass = pin.computeTotalMass(sim.robot.model)
    while sim.t < duration - 1e-9 and not (done.q and done.fell):
        if mpc is not None:
            before, newest = newest, mpc.plan(sim.state)
            done.plans.append(newest)
            plan = before if late and before is not None else newest
            if live is not None:
                live.draw("plan", newest.q[:, :3])
        for _ in range(round(PERIOD / STEP)):
            force = np.zeros(6)
            for start, speed, whither in pushes:
                if start - 1e-9 <= sim.t < start + PUSHING - 1e-9:
                    force[:2] += mass * speed / PUSHING * np.array([np.cos(whither), np.sin(whither)])
            sim.step(target=None if plan is None else plan.target(sim.t), wrenches={"base": force})
            done.t.append(sim.t)
            done.q.append(sim.q)
    return done


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", nargs="?", choices=["stand", "walk"], default="stand")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long [s]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--live", action="store_true", help="watch it in the browser")
    given = parser.parse_args()
    sim, mpc = simulator(), planner(GoTo((1.0, 0.0) if given.task == "walk" else (0.0, 0.0)), given.seed)
    pushes = [(0.5, 1.0, 0.0), (1.5, 1.25, np.pi / 2.0), (2.5, 1.5, np.pi)] if given.task == "stand" else []
    live = xs.viewer.Live(sim, open_browser=True) if given.live else None
    done = run(sim, mpc, given.seconds, pushes, live=live)
    x, y, height = sim.q[:3]
    print(f"{'fell' if done.fell else 'stands'} at {x:.2f}, {y:.2f} m, {height:.2f} m high, after {sim.t:.2f} s")
    print(f"{1.0 / np.median([plan.seconds for plan in done.plans]):.1f} plans/s")
    if live is not None:
        live.stop()
