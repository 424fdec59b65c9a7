"""A robot jumps, steps onto a box and recovers from a push: planned by derivatives of steps, no contact schedule.

python examples/mpc.py jump --robot go2 --solver fddp     # or box, push
python examples/mpc.py stand --live                       # go2-mpc in the browser; its plan is the orange line
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import exposim as xs
from exposim import mpc
from exposim.scenarios import Run

KNOT = 0.02  # from control to control [s]
GAINS = {"solo12": xs.Drive(kp=5.0, kd=0.2), "go2": xs.Drive(kp=60.0, kd=2.0)}
BASE = {"solo12": "base_link", "go2": "base"}


@dataclass
class Task:
    """What to plan: from where, with which controls to begin with, for how many knots, at which cost."""

    sim: xs.Simulator
    start: xs.State
    rest: np.ndarray
    horizon: int
    cost: mpc.Cost
    done: Callable[[np.ndarray], str]  # says of the planned configurations how it went


def standing(name: str, ground: Any = None, steps: int = 1) -> tuple[xs.Simulator, np.ndarray]:
    """A robot with drives that stands still, and the targets that hold it."""
    robot = xs.load_robot(name).replace(drives=GAINS[name])
    sim = xs.Simulator(robot, xs.HalfSpace() if ground is None else ground, dt=KNOT / steps)
    rest = robot.q0[7:] + mpc.standing_torques(robot) / GAINS[name].kp
    sim.step(target=rest, n=25 * steps)
    sim.state = sim.state.replace(t=0.0, v=np.zeros(robot.nv))
    return sim, rest


def weights(base: float, turn: float, joints: float) -> np.ndarray:
    """Of a posture: where the base is, how it is turned, and joints."""
    return np.r_[np.full(3, base), np.full(3, turn), np.full(12, joints)]


def effort(name: str, rest: np.ndarray, weight: float = 1.0) -> mpc.Term:
    """Targets away from those that hold the robot; about the torque, in units of what a leg bears."""
    return mpc.Control(rest, weight * {"solo12": 0.1, "go2": 0.5}[name])


def jump(name: str, steps: int = 1, height: float = 0.2) -> Task:
    """By so much [m] in the 0.1 s around the middle of 0.8 s, and stand at the end."""
    sim, rest = standing(name, steps=steps)
    stand, horizon = sim.q, round(0.8 / KNOT)
    top, flight = stand[:3] + np.array([0.0, 0.0, height]), range(horizon // 2 - 2, horizon // 2 + 3)
    cost = mpc.Cost(
        mpc.Posture(stand, weights(0.0, 1.0, 0.1), "running"),
        mpc.Velocity(weight=1e-3),
        effort(name, rest),
        mpc.Place(BASE[name], top, (10.0, 10.0, 200.0), when=flight),
        mpc.Posture(stand, weights(100.0, 100.0, 10.0), "terminal"),
        mpc.Velocity(weight=1.0, when="terminal"),
    )

    def done(q: np.ndarray) -> str:
        return (
            f"rose by {100.0 * (q[:, 2].max() - stand[2]):.1f} cm, ended {100.0 * (q[-1, 2] - stand[2]):.1f} cm higher"
        )

    return Task(sim, sim.state, rest, horizon, cost, done)


def box(name: str, steps: int = 1) -> Task:
    """The left front foot on a box ahead, the others where they are."""
    height = {"solo12": 0.04, "go2": 0.08}[name]
    foot = xs.load_robot(name).feet[0]
    place = {"solo12": np.array([0.26, 0.15, 0.0]), "go2": np.array([0.28, 0.14, 0.0])}[name]
    size = 0.2
    ground = [
        xs.HalfSpace(),
        xs.Box((size, size, 2 * height), (place[0] + 0.4 * size, place[1] + 0.2 * size, 0.0), rounding=0.01),
    ]
    sim, rest = standing(name, ground, steps)
    radius = sim.robot.contact_points[0].radius
    stand, horizon = sim.q, round(0.8 / KNOT)
    on_top = place + np.array([0.0, 0.0, height + radius])
    start = sim.frame_pose(foot).translation
    over = 0.5 * (start + on_top)
    over[2] = on_top[2] + 0.04
    cost = mpc.Cost(
        mpc.Posture(stand, weights(1.0, 10.0, 0.1), "running"),
        mpc.Velocity(weight=1e-3),
        # Little: where legs are stiff a foot that sticks hardly feels what would lift it, until it does.
        effort(name, rest, 0.1),
        mpc.Place(foot, over, 500.0, when=[horizon // 2]),
        mpc.Place(foot, on_top, 500.0, when=range(3 * horizon // 4, horizon + 1)),
        mpc.Velocity(weight=0.1, when="terminal"),
    )

    def done(q: np.ndarray) -> str:
        sim.reset(q[-1])
        return (
            f"foot {100.0 * np.linalg.norm(sim.frame_pose(foot).translation - on_top):.1f} cm from its place on the box"
        )

    return Task(sim, sim.state, rest, horizon, cost, done)


def push(name: str, steps: int = 1) -> Task:
    """Pushed to a side at up to 0.8 m/s, it shall come to rest, upright."""
    sim, rest = standing(name, steps=steps)
    stand, horizon = sim.q, round(0.6 / KNOT)
    v = np.zeros(sim.robot.nv)
    v[1] = {"solo12": 0.5, "go2": 0.8}[name]
    start = sim.state.replace(v=v)
    cost = mpc.Cost(
        mpc.Posture(stand, weights(1.0, 10.0, 0.1), "running"),
        mpc.Velocity(weight=np.r_[np.full(6, 0.1), np.full(12, 1e-3)]),
        effort(name, rest),
        mpc.Posture(stand, weights(10.0, 100.0, 1.0), "terminal"),
        mpc.Velocity(weight=1.0, when="terminal"),
    )

    def done(q: np.ndarray) -> str:
        tilt = np.degrees(np.arccos(1.0 - 2.0 * (q[:, 3] ** 2 + q[:, 4] ** 2)))
        return (
            f"tilted by {tilt.max():.1f}°, at the end {tilt[-1]:.1f}°, {100.0 * abs(q[-1, 1] - stand[1]):.1f} cm aside"
        )

    return Task(sim, start, rest, horizon, cost, done)


TASKS = {"jump": jump, "box": box, "push": push}


def by_ilqr(task: Task, steps: int = 1, iterations: int = 100, **options: Any) -> tuple[np.ndarray, str]:
    """Configurations of the plan, and how it was found."""
    ilqr = mpc.ILQR(
        task.sim,
        task.horizon,
        task.cost,
        steps=steps,
        control="target",
        rest=task.rest,
        iterations=iterations,
        **options,
    )
    plan = ilqr.solve(task.start)
    return plan.q, f"{plan.reason} after {plan.iterations} iterations, cost {plan.costs[0]:.4g} → {plan.cost:.4g}"


def by_fddp(task: Task, steps: int = 1, iterations: int = 100, **options: Any) -> tuple[np.ndarray, str]:
    """The same by Crocoddyl."""
    import crocoddyl  # noqa: PLC0415

    problem = mpc.crocoddyl_problem(
        task.sim, task.start, task.horizon, task.cost, steps=steps, control="target", **options
    )
    solver = crocoddyl.SolverFDDP(problem)
    guess = [task.rest] * task.horizon
    motion = problem.rollout(guess)
    before = problem.calc(motion, guess)
    solver.th_stop = 1e-4
    found = solver.solve(motion, guess, iterations, True)
    nq = task.sim.robot.nq
    how = "converged" if found else "stopped"
    return np.array(solver.xs)[
        :, 1 : 1 + nq
    ], f"{how} after {solver.iter} iterations, cost {before:.4g} → {solver.cost:.4g}"


def stand(seconds: float, watch: bool) -> str:
    """A Go2 in closed loop that plans fifty times a second and is pushed, as ``exposim run go2-mpc`` has it."""
    run = Run(xs.scenarios.get("go2-mpc"), duration=seconds)
    live = xs.viewer.Live(run.sim, open_browser=True) if watch else None
    while not run.done:
        run.advance()
        if live is not None:
            live.draw("plan", run.controller.last.q[:, :3])
    if live is not None:
        live.stop()
    took = np.median(run.seconds_per_control)
    return f"{run.scenario.judge(run.trajectory)}\n{1.0 / took:.0f} plans/s"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", nargs="?", choices=[*TASKS, "stand"], default="jump")
    parser.add_argument("--robot", choices=GAINS, default="solo12")
    parser.add_argument("--solver", choices=["ilqr", "fddp"], default="ilqr")
    parser.add_argument("--steps", type=int, default=1, help="of the simulator between knots of 20 ms")
    parser.add_argument("--iterations", type=int, default=40, help="at most")
    parser.add_argument("--seconds", type=float, default=2.5, help="of standing")
    parser.add_argument("--live", action="store_true", help="watch it stand in the browser")
    given = parser.parse_args()
    if given.task == "stand":
        print(stand(given.seconds, given.live))
        raise SystemExit
    task = TASKS[given.task](given.robot, given.steps)
    begin = time.perf_counter()
    q, how = (by_ilqr if given.solver == "ilqr" else by_fddp)(task, given.steps, given.iterations)
    print(f"{given.robot}, {given.task}: {how}, {time.perf_counter() - begin:.2f} s")
    print(task.done(q))
