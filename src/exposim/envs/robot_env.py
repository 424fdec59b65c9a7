"""One robot as a Gymnasium environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from exposim import _checks
from exposim.contact.surfaces import Surface
from exposim.envs.batch import Batch, Outcome
from exposim.envs.draws import Floats
from exposim.envs.observing import LIMIT
from exposim.envs.rendering import MODES, Pictures
from exposim.envs.task import Task
from exposim.errors import InvalidArgument
from exposim.robots.robot import Robot

ROW = np.array([0])


def spaces_of(batch: Batch) -> tuple[Any, Any]:
    """What a row observes, and what it does."""
    return (
        Box(-LIMIT, LIMIT, (batch.observed,), np.float32),
        Box(-1.0, 1.0, (len(batch.task.standing),), np.float32),
    )


def limit_of(steps: int | None) -> int | None:
    """Periods of an episode."""
    return None if steps is None else _checks.count("max_episode_steps", steps)


def commands_of(options: dict[str, Any] | None, count: int, size: int) -> NDArray[np.float64] | None:
    """What ``options`` say that rows shall do, (count, size); refused are options that nobody knows."""
    known = {"command", "reset_mask"}
    if unknown := sorted(set(options or ()) - known):
        raise InvalidArgument(f"options has {unknown[0]!r}; give {' or '.join(sorted(known))}")
    given = (options or {}).get("command")
    if given is None:
        return None
    array = _checks.finite("command", _checks.as_array("command", given))
    if array.shape not in ((size,), (count, size)):
        raise InvalidArgument(f"command has shape {array.shape}; give ({size},), or ({count}, {size}) for every row")
    return np.broadcast_to(array, (count, size))


class OfRows:
    """What environments tell of their rows, however many."""

    _batch: Batch

    @property
    def task(self) -> Task:
        """What it is about."""
        return self._batch.task

    @property
    def diverged(self) -> int:
        """Episodes that ended because the simulation diverged."""
        return self._batch.diverged


class RobotEnv(OfRows, gymnasium.Env[Floats, Floats]):
    """A robot on drives, told where its joints shall be: one's own task in a few lines.

    An action, from −1 to 1 for each actuated joint, moves the targets of the drives by ``action_scale`` around those
    with which the robot stands. Actions beyond are cut off, those of another shape or not finite refused. Observations
    are float32. ``info["rewards"]`` has the terms that add up to the reward; ``info["diverged"]`` tells whether the
    simulation did, which terminates the episode and is counted in :attr:`diverged`.

    Args:
        robot: With a floating base, and drives on all actuated joints.
        ground: One surface, several, or none.
        render_mode: ``"rgb_array"``, ``"human"`` (a page in the browser), or ``None``.
        max_episode_steps: After which an episode is truncated; ``None``: never, or by a wrapper.
        width: Of pictures [pixels].
        height: Of pictures [pixels].
        task: ``command``, ``reward``, ``terminate``, ``observe``, ``randomise``, ``sensing``, ``action_scale``, ``dt``,
            ``steps``, ``idle``, ``starts``, ``headings``: see :class:`exposim.envs.Task`.

    ``reset(options={"command": (0.5, 0, 0)})`` gives a command instead of drawing one.
    """

    metadata: dict[str, Any] = {"render_modes": list(MODES), "render_fps": 50}  # noqa: RUF012  # as Gymnasium has it

    def __init__(
        self,
        robot: Robot,
        ground: Surface | list[Surface] | tuple[Surface, ...] | None = None,
        *,
        render_mode: str | None = None,
        max_episode_steps: int | None = 1000,
        width: int = 480,
        height: int = 360,
        **task: Any,
    ):
        limit = limit_of(max_episode_steps)
        self._batch = Batch(Task(robot, ground, **task), 1, limit, threads=1)
        self.render_mode = None if render_mode is None else _checks.choice("render_mode", render_mode, MODES)
        self._pictures = Pictures(self._batch.task, width, height)
        self.metadata = {**self.metadata, "render_fps": round(1.0 / self._batch.task.period)}
        self.observation_space, self.action_space = spaces_of(self._batch)
        self._is_over = True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begins an episode."""
        command = commands_of(options, 1, len(self.task.command))
        super().reset(seed=seed)
        if self._batch.generators[0] is not self.np_random:
            self._batch.seed(0, self.np_random)
        self._batch.restart(ROW, command)
        self._is_over = False
        if self.render_mode == "human":
            self.render()
        return self._batch.observe()[0], {}

    def step(self, action: Floats) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """A period of the policy."""
        if self._is_over:
            raise InvalidArgument("there is no episode, or it has ended: call reset() first")
        given = np.asarray(action)
        if given.shape != self.action_space.shape:
            raise InvalidArgument(f"action has shape {given.shape}; give {self.action_space.shape}")
        outcome = self._batch.advance(given[None])
        self._is_over = bool(outcome.terminated[0])
        if self.render_mode == "human":
            self.render()
        return (
            self._batch.observe()[0],
            float(outcome.reward[0]),
            bool(outcome.terminated[0]),
            bool(outcome.truncated[0]),
            _told(outcome),
        )

    def render(self) -> Any:
        """A picture, (height, width, 3) of uint8; or, for ``"human"``, the page shows the robot as it is."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode shows nothing; give one to gymnasium.make")
            return None
        x = self._batch.x[0]
        return self._pictures.show(x) if self.render_mode == "human" else self._pictures.image(x)

    def close(self) -> None:
        """Ends the page, if there is one; nothing happens the second time."""
        self._pictures.close()


def _told(outcome: Outcome) -> dict[str, Any]:
    told: dict[str, Any] = {
        "rewards": {name: float(term[0]) for name, term in outcome.terms.items()},
        "diverged": bool(outcome.diverged[0]),
    }
    if outcome.reasons:
        told["divergence"] = outcome.reasons[0]
    return told
