"""PPO of stable-baselines3 teaches Go2 to stand up to pushes or to walk: examples/training/train.py --task walk.

Policies and their learning curves are kept in a folder; figure.py draws them.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from adapter import Stepper
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecMonitor
from tasks import TASKS, Policy, commands, evaluate, make, nothing, whole

ROBOTS = 128
PERIODS = 24  # of each robot between two updates
SETTINGS: dict[str, Any] = dict(
    n_steps=PERIODS,
    batch_size=768,
    n_epochs=5,
    gamma=0.99,
    gae_lambda=0.95,
    clip_range=0.2,
    target_kl=0.02,
    ent_coef=0.0,
    max_grad_norm=1.0,
)


class Curve(BaseCallback):
    """Evaluates the policy every so many steps, and tells.

    Args:
        task: By name.
        every: Steps from one evaluation to the next.
        path: Where the policy is kept, each time.
        points: Of the curve so far, in training that is taken up again.
    """

    def __init__(self, task: str, every: int, path: Path, points: list[dict[str, float]]):
        super().__init__()
        self.points = points
        self._task, self._every, self._path = task, every, path
        self._begun = time.perf_counter() - (points[-1]["seconds"] if points else 0.0)

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        if not self.points or self.num_timesteps >= self.points[-1]["steps"] + self._every:
            self.note()

    def note(self) -> None:
        """Evaluates; the time that takes is not counted as training."""
        before = time.perf_counter()
        point = {"steps": self.num_timesteps, "seconds": before - self._begun}
        point |= evaluate(self._task, whole(self._task, acting(self.model)))
        ended = self.model.ep_info_buffer or ()
        lasting = np.mean([each["l"] for each in ended]) if ended else 0.0
        self.points.append(point)
        save(self.model, self._path, self.points)
        print(
            f"{point['steps']:9,} steps {point['seconds']:5.0f} s  {told(point)}  in training {lasting:.0f} periods",
            flush=True,
        )
        self._begun += time.perf_counter() - before


def acting(model: PPO) -> Policy:
    """What a model does without chance."""
    return lambda observed: model.predict(observed, deterministic=True)[0]


def told(found: dict[str, float]) -> str:
    """An evaluation in a line."""
    return (
        f"return {found['return']:6.2f}  falls {100 * found['falls']:3.0f} %  "
        f"speed {found['speed']:5.2f} m/s  error {found['error']:.2f} m/s"
    )


def save(model: PPO, path: Path, points: list[dict[str, float]]) -> None:
    """The model, and its curve beside it."""
    model.save(path.with_suffix(".zip"))
    path.with_suffix(".json").write_text(json.dumps(points), encoding="utf-8")


def train(
    task: str, seed: int, steps: int, path: Path, *, resume: bool = False, robots: int = ROBOTS,
    threads: int | None = None, evaluations: int = 12, **settings: Any,
) -> tuple[PPO, list[dict[str, float]]]:  # fmt: skip
    """Trains until there were so many steps; the model and its learning curve."""
    torch.set_num_threads(1)  # networks are small: two wait for each other, on a busy machine for ever
    envs = make(task, robots, autoreset_mode="DISABLED", threads=threads)
    stepper = VecMonitor(Stepper(envs, commands(TASKS[task].trained, seed), 1000 * seed, TASKS[task].gait))
    points: list[dict[str, float]] = []
    if resume:
        model = PPO.load(path.with_suffix(".zip"), stepper, device="cpu", **settings)
        points = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    else:
        net = dict(net_arch=[128, 128], activation_fn=torch.nn.ELU, log_std_init=TASKS[task].spread)
        rate = TASKS[task].rate
        given = {"learning_rate": lambda left: rate * max(left, 0.1), **SETTINGS, **settings}
        model = PPO("MlpPolicy", stepper, policy_kwargs=net, seed=seed, device="cpu", **given)
    curve = Curve(task, max(1, steps // evaluations), path, points)
    more = steps - model.num_timesteps
    if more > 0:
        model.learn(more, callback=curve, reset_num_timesteps=not resume)
        curve.note()
    return model, points


def main() -> None:
    """From the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=tuple(TASKS), default="push")
    parser.add_argument("--seed", type=int, default=0, help="of the training, from 0 to 999")
    parser.add_argument("--steps", type=int, help="of all robots together; by default as many as the task needs")
    parser.add_argument("--output", type=Path, default=Path("results/training"), help="folder of policies and curves")
    parser.add_argument("--threads", type=int, help="that simulate; by default as many as there are cores")
    parser.add_argument("--resume", action="store_true", help="go on from the policy in the folder")
    given = parser.parse_args()
    path = given.output / f"{given.task}-{given.seed}"
    before = evaluate(given.task, nothing)
    given.output.mkdir(parents=True, exist_ok=True)
    (given.output / f"{given.task}-nothing.json").write_text(json.dumps(before), encoding="utf-8")
    print(f"{'does nothing':23}  {told(before)}")
    train(given.task, given.seed, given.steps or TASKS[given.task].steps, path,
          resume=given.resume, threads=given.threads)  # fmt: skip
    print(f"kept as {path}.zip")


if __name__ == "__main__":
    main()
