"""Plans by derivatives: FDDP beside finite differences, motions of examples/mpc.py, and go2-mpc in closed loop.

python benchmarks/mpc.py --tasks fddp motions time pushes knots --save now.json

Times are of the processor, all threads together, unless they say clock: they mind other work less.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # or products of small matrices in Crocoddyl wait for threads

import crocoddyl
import numpy as np

import exposim as xs
from exposim.mpc.crocoddyl_models import StepModel
from exposim.scenarios import go2_mpc

EXAMPLE = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "mpc.py"))
STEP = 1e-5  # of finite differences
ITERATIONS = 100
HEIGHTS = [round(0.01 * cm, 2) for cm in range(10, 25)]  # of jumps [m]: where one search ends depends on last digits


def by_differences(model: StepModel, batches: bool) -> Any:
    """The same with one-sided differences: of Crocoddyl, step by step; or in batches of ours."""
    if batches:
        return _ByBatches(model.state, model._horizon, model.costs, model._knot)
    found = crocoddyl.ActionModelNumDiff(model, True)
    found.disturbance = STEP
    return found


class _ByBatches(StepModel):
    def _slopes(self, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ndx, nu, horizon = self.state.ndx, self.nu, self._horizon
        states = [x, *(self.state.integrate(x, each) for each in STEP * np.eye(ndx)), *[x] * nu]
        controls = np.tile(u, (1 + ndx + nu, 1))
        controls[1 + ndx :] += STEP * np.eye(nu)
        given = {"taus" if horizon.control == "tau" else "targets": controls[:, None]}
        out = horizon.pool(np.array(states), **given, steps=horizon.steps, record=())
        ends = np.array([self.state.diff(out.end[0], end) for end in out.end[1:]]) / STEP
        return ends[:ndx].T, ends[ndx:].T


class Watched(crocoddyl.CallbackAbstract):
    """Cost, length of the step and processor time of every iteration."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[tuple[float, float, float]] = []

    def __call__(self, solver: Any) -> None:
        """After an iteration."""
        self.rows.append((float(solver.cost), float(solver.stepLength), time.process_time()))


def by_fddp(task: Any, differences: str | None) -> tuple[dict[str, Any], np.ndarray]:
    """How a search went, and the costs that its iterations came to."""
    problem = xs.mpc.crocoddyl_problem(task.sim, task.start, task.horizon, task.cost, control="target")
    models = [*problem.runningModels, problem.terminalModel]
    if differences:
        made = [by_differences(each, differences == "batches") for each in models]
        problem = crocoddyl.ShootingProblem(problem.x0, made[:-1], made[-1])
    solver, watched = crocoddyl.SolverFDDP(problem), Watched()
    solver.th_stop = 1e-4
    solver.setCallbacks([watched])
    guess = [task.rest] * task.horizon
    begin = time.process_time()
    found = solver.solve(problem.rollout(guess), guess, ITERATIONS, True)
    costs, lengths, ends = map(np.array, zip(*watched.rows, strict=True))
    row = {
        "converged": bool(found),
        "iterations": len(costs),
        "full steps": int(np.sum(lengths == 1.0)),
        "cost": float(costs.min()),
        "ms per iteration": 1e3 * (ends[-1] - begin) / len(costs),
    }
    return row, costs


def fddp(_: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Jumps from a cold start: by derivatives, and by differences; by those of Crocoddyl, which take minutes, one."""
    for robot in ("solo12", "go2"):
        for height in HEIGHTS:
            found = []
            for differences in (None, "batches", *(("Crocoddyl",) if height == 0.2 else ())):
                how = f"differences of {STEP:g}, {differences}" if differences else "derivatives"
                row, costs = by_fddp(EXAMPLE["jump"](robot, height=height), differences)
                found.append(({"task": "jump", "robot": robot, "height": height, "by": how} | row, costs))
            worse = 1.01 * max(costs.min() for _, costs in found[:2])
            for row, costs in found:
                within = costs <= worse
                reached = {"iterations to the worse end": int(np.argmax(within)) + 1} if within.any() else {}
                yield row | reached


def motions(_: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """All motions of the example, by iLQR and FDDP."""
    for robot in ("solo12", "go2"):
        for name in EXAMPLE["TASKS"]:
            for solver in ("ilqr", "fddp"):
                task = EXAMPLE["TASKS"][name](robot)
                begin = time.process_time()
                q, how = EXAMPLE[f"by_{solver}"](task)
                seconds = time.process_time() - begin
                yield {
                    "task": name,
                    "robot": robot,
                    "solver": solver,
                    "how": how,
                    "s": seconds,
                    "came to": task.done(q),
                }


def closed_loop(force: float, steps: int, seconds: float, hold: bool = False) -> tuple[dict[str, Any], list[Any]]:
    scenario = xs.scenarios.get("go2-mpc", force=force)
    plans: list[Any] = []

    def controller() -> Any:
        if hold:
            return lambda t, state: xs.mpc.standing_torques(scenario.robot)
        planner = go2_mpc.planner(scenario.robot, xs.Material(), steps)

        def plan(t: float, state: xs.State) -> np.ndarray:
            plans.append(planner.step(state))
            return plans[-1].control(t)

        return plan

    judgement = scenario.judge(scenario.replace(make_controller=controller).run(duration=seconds))
    return dict(judgement.measures) | {"upright": not any("fell" in each for each in judgement.complaints)}, plans


def timing(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Of a plan of go2-mpc while it is pushed, and where it goes."""
    begin, clock = time.process_time(), time.perf_counter()
    _, plans = closed_loop(60.0, go2_mpc.STEPS, given.seconds)
    cpu, clock = time.process_time() - begin, time.perf_counter() - clock
    row: dict[str, Any] = {
        "task": "time",
        "plans": len(plans),
        "CPU per plan, with 20 ms of robot [ms]": 1e3 * cpu / len(plans),
    }
    for name in ("seconds", "derivative_seconds", "rollout_seconds", "backward_seconds"):
        row[f"{name}, clock, median [ms]"] = 1e3 * float(np.median([getattr(plan, name) for plan in plans[1:]]))
    row["plans per second, clock, median"] = 1e3 / row["seconds, clock, median [ms]"]
    row["grazing steps per plan"] = float(np.mean([plan.grazing for plan in plans[1:]]))
    row["full steps"] = float(np.mean([plan.lengths[:1].sum() == 1.0 for plan in plans[1:]]))
    yield row


def pushes(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Harder and harder, beside drives that hold the posture."""
    for force in (60.0, 120.0, 180.0, 240.0):
        for hold in (True, False):
            done, _ = closed_loop(force, go2_mpc.STEPS, given.seconds, hold)
            yield {"task": f"pushes of {force:g} N", "who": "hold" if hold else "plan"} | done


def knots(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Of 20 ms in one step of the model, or more."""
    for steps in (1, 2, 4):
        for force in (60.0, 180.0):
            begin = time.process_time()
            done, plans = closed_loop(force, steps, given.seconds)
            cpu = 1e3 * (time.process_time() - begin) / len(plans)
            yield {"task": "knots of 20 ms", "steps": steps, "force": force, "CPU per plan [ms]": cpu} | done


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    tasks = {"fddp": fddp, "motions": motions, "time": timing, "pushes": pushes, "knots": knots}
    parser.add_argument("--tasks", nargs="+", choices=tasks, default=[*tasks])
    parser.add_argument("--seconds", type=float, default=2.5, help="of the robot, in closed loop")
    parser.add_argument("--save", type=Path)
    given = parser.parse_args()
    rows = []
    for task in given.tasks:
        for row in tasks[task](given):
            rows.append(row)
            print(
                ", ".join(
                    f"{key}: {f'{value:.4g}' if isinstance(value, float) else value}" for key, value in row.items()
                ),
                flush=True,
            )
    if given.save:
        given.save.write_text(json.dumps(rows, indent=1))
