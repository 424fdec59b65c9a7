"""Many robots at once as one of Gymnasium's vector environments, simulated by a pool of threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from exposim import _checks
from exposim.contact.surfaces import Surface
from exposim.envs.batch import Batch, Outcome
from exposim.envs.draws import Floats, Index
from exposim.envs.rendering import Pictures
from exposim.envs.robot_env import OfRows, commands_of, limit_of, spaces_of
from exposim.envs.rows import Flags
from exposim.envs.task import Task
from exposim.errors import InvalidArgument
from exposim.robots.robot import Robot

Floats64 = NDArray[np.float64]


class RobotVectorEnv(OfRows, VectorEnv[Floats, Floats, NDArray[Any]]):
    """Many of :class:`exposim.envs.RobotEnv`: row i is what that is with the seed of row i, bit for bit.

    Args:
        robot: With a floating base, and drives on all actuated joints.
        ground: One surface, several, or none.
        num_envs: How many.
        autoreset_mode: When rows begin anew after their end: ``NEXT_STEP``, in place of the next step; ``SAME_STEP``,
            at once, with ``info["final_obs"]`` and ``info["final_info"]``; ``DISABLED``, by
            ``reset(options={"reset_mask": mask})``. Gymnasium's constant or its name.
        max_episode_steps: After which an episode is truncated; ``None``: never.
        render_mode: ``"rgb_array"`` or ``None``.
        width: Of pictures [pixels].
        height: Of pictures [pixels].
        threads: That simulate; by default as many as there are cores.
        task: As of :class:`exposim.envs.RobotEnv`.

    A row whose simulation diverges terminates like one that falls: ``info["diverged"]`` marks it, :attr:`diverged`
    counts it, ``info["divergence"]`` says why, and the others go on.
    """

    def __init__(
        self,
        robot: Robot,
        ground: Surface | list[Surface] | tuple[Surface, ...] | None = None,
        *,
        num_envs: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = 1000,
        render_mode: str | None = None,
        width: int = 480,
        height: int = 360,
        threads: int | None = None,
        **task: Any,
    ):
        self.num_envs = _checks.count("num_envs", num_envs)
        self._mode = _mode(autoreset_mode)
        limit = limit_of(max_episode_steps)
        self.render_mode = None if render_mode is None else _checks.choice("render_mode", render_mode, ("rgb_array",))
        self._batch = Batch(Task(robot, ground, **task), self.num_envs, limit, threads)
        self._pictures = Pictures(self._batch.task, width, height)
        self.metadata = {
            "autoreset_mode": self._mode,
            "render_modes": ["rgb_array"],
            "render_fps": round(1.0 / self._batch.task.period),
        }
        self.single_observation_space, self.single_action_space = spaces_of(self._batch)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._over: Flags = np.zeros(self.num_envs, dtype=bool)
        self._has_begun = self._is_seeded = False
        self._observed: Floats

    @property
    def generators(self) -> tuple[np.random.Generator, ...]:
        """Of the rows, from which all of their randomness comes."""
        return self._batch.generators

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begins new episodes.

        Args:
            seed: Of the rows: a list, or one number from which they count up.
            options: ``"reset_mask"``: which rows begin anew, (num_envs,) of bool, by default all; the others go on.
                ``"command"``: for all rows, or one for each, instead of drawing them.
        """
        command = commands_of(options, self.num_envs, len(self.task.command))
        rows = self._masked((options or {}).get("reset_mask"))
        seeds = self._seeds(seed)
        for row in rows:
            if seeds[row] is not None or not self._is_seeded:
                self._batch.seed(int(row), seeding.np_random(seeds[row])[0])
        self._is_seeded = True
        self._batch.restart(rows, None if command is None else command[rows])
        self._over[rows] = False
        seen = self._batch.observe(rows)
        self._observed = seen if len(rows) == self.num_envs else _with(self._observed, rows, seen)
        self._has_begun = True
        return self._observed.copy(), {}

    def step(self, actions: Floats) -> tuple[Floats, Floats64, Flags, Flags, dict[str, Any]]:
        """A period of the policy for every row, (num_envs, na)."""
        if not self._has_begun:
            raise InvalidArgument("there are no episodes yet: call reset() first")
        over = self._over
        if self._mode is AutoresetMode.DISABLED and over.any():
            shown = ", ".join(map(str, np.flatnonzero(over)[:5]))
            raise InvalidArgument(f'rows {shown} have ended; call reset(options={{"reset_mask": mask}}) for them first')
        resting = over if self._mode is AutoresetMode.NEXT_STEP else None
        outcome = self._batch.advance(actions, resting)
        self._over = outcome.terminated | outcome.truncated
        told = self._told(outcome, np.ones(self.num_envs, dtype=bool) if resting is None else ~resting)
        if self._mode is AutoresetMode.SAME_STEP and self._over.any():
            told = self._begin_anew(told)
        else:
            self._observed = self._batch.observe()
        return self._observed.copy(), outcome.reward, outcome.terminated, outcome.truncated, told

    def _begin_anew(self, told: dict[str, Any]) -> dict[str, Any]:
        """What ended, in the same step; what was told is told as its end."""
        rows, ended = np.flatnonzero(self._over), self._over.copy()
        final = np.full(self.num_envs, None, dtype=object)
        for row, seen in zip(rows, self._batch.observe(rows), strict=True):
            final[row] = seen
        self._batch.restart(rows)
        self._over = np.zeros(self.num_envs, dtype=bool)
        self._observed = self._batch.observe()
        return {
            **_only(told, ~ended),
            "final_obs": final,
            "_final_obs": ended.copy(),
            "final_info": _only(told, ended),
            "_final_info": ended,
        }

    def _told(self, outcome: Outcome, live: Flags) -> dict[str, Any]:
        """By name, and by ``_name`` of which rows."""
        terms: dict[str, Any] = {}
        for name, term in outcome.terms.items():
            terms[name], terms[f"_{name}"] = term, live.copy()
        told = {"rewards": terms, "_rewards": live.copy(), "diverged": outcome.diverged, "_diverged": live}
        if outcome.reasons:
            reasons = np.full(self.num_envs, None, dtype=object)
            for row, reason in outcome.reasons.items():
                reasons[row] = reason
            told["divergence"], told["_divergence"] = reasons, outcome.diverged.copy()
        return told

    def render(self) -> tuple[Any, ...] | None:
        """A picture of every row, each (height, width, 3) of uint8."""
        if self.render_mode is None:
            return None
        return tuple(self._pictures.image(x) for x in self._batch.x)

    def close_extras(self, **kwargs: Any) -> None:
        """Nothing is left open."""
        self._pictures.close()

    def _masked(self, mask: Any) -> Index:
        """Rows that begin anew."""
        if mask is None:
            return np.arange(self.num_envs)
        if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.shape != (self.num_envs,) or not mask.any():
            raise InvalidArgument(f"reset_mask is {mask!r}; give ({self.num_envs},) of bool, at least one of them true")
        if not self._has_begun and not mask.all():
            raise InvalidArgument("reset_mask leaves rows out that have not begun; call reset() without it first")
        return np.flatnonzero(mask)

    def _seeds(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool):
            if seed < 0:
                raise InvalidArgument(f"seed is {seed}; give a whole number from 0 on")
            return [int(seed) + row for row in range(self.num_envs)]
        seeds = _checks.several("seed", seed, "a whole number, or one for every row")
        if len(seeds) != self.num_envs:
            raise InvalidArgument(f"seed has {len(seeds)} entries; give one for each of {self.num_envs} rows")
        for row, each in enumerate(seeds):
            if each is not None and (isinstance(each, bool) or not isinstance(each, (int, np.integer)) or each < 0):
                raise InvalidArgument(f"seed[{row}] is {each!r}; give a whole number from 0 on, or None")
        return [None if each is None else int(each) for each in seeds]


def _mode(mode: Any) -> AutoresetMode:
    if isinstance(mode, AutoresetMode):
        return mode
    known = {each.name: each for each in AutoresetMode} | {each.value: each for each in AutoresetMode}
    return known[_checks.choice("autoreset_mode", mode, tuple(known))]


def _with(observed: Floats, rows: Index, seen: Floats) -> Floats:
    changed: Floats = observed.copy()
    changed[rows] = seen
    return changed


def _only(told: dict[str, Any], rows: Flags) -> dict[str, Any]:
    """What is told, with the marks of these rows alone."""
    return {
        name: _only(value, rows) if isinstance(value, dict) else value & rows if name.startswith("_") else value
        for name, value in told.items()
    }
