"""Our vector environments as those of stable-baselines3."""

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv

import exposim as xs

Array = np.ndarray


class Stepper(VecEnv):
    """Many robots for stable-baselines3, which begin anew in the step in which they end.

    What they end with is in ``infos[row]["terminal_observation"]``; ``infos[row]["TimeLimit.truncated"]`` is true where
    they ended for want of time alone, so that learners go on valuing what would have come.

    Args:
        envs: With ``autoreset_mode="DISABLED"``: rows that end are begun anew here, with commands of one's own.
        commands: Gives as many commands as it is asked for, (n, k); ``None``: as the environments draw them.
        seed: Of the rows.
        gait: Gives actions for observations, (n, observed) to (n, na), to which those of the learner are added.
    """

    def __init__(
        self,
        envs: xs.envs.RobotVectorEnv,
        commands: Callable[[int], Array] | None = None,
        seed: int | None = None,
        gait: Callable[[Array], Array] | None = None,
    ):
        if envs.metadata["autoreset_mode"] is not AutoresetMode.DISABLED:
            raise xs.InvalidArgument(f"envs have {envs.metadata['autoreset_mode']}; make them with DISABLED")
        self._envs, self._commands, self._gait = envs, commands, gait
        self._actions = self._observed = np.empty(0)
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)
        self._seeds = [None] * self.num_envs if seed is None else [seed + row for row in range(self.num_envs)]

    def reset(self) -> Array:
        """Begins all anew; (num_envs, observed)."""
        self._observed, _ = self._envs.reset(
            seed=self._seeds, options=self._options_for(np.ones(self.num_envs, dtype=bool))
        )
        self._reset_seeds()
        return self._observed

    def step_async(self, actions: Array) -> None:
        """Remembers the actions, (num_envs, na)."""
        self._actions = actions if self._gait is None else actions + self._gait(self._observed)

    def step_wait(self) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        """Takes them: observations, rewards, whether rows ended, and what there is to say of each."""
        observed, rewards, terminated, truncated, _ = self._envs.step(self._actions)
        done = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(done):
            only_time = bool(truncated[row] and not terminated[row])
            infos[row] = {"terminal_observation": observed[row].copy(), "TimeLimit.truncated": only_time}
        if done.any():
            observed, _ = self._envs.reset(options=self._options_for(done))
        self._observed = observed
        return observed, rewards.astype(np.float32), done, infos

    def _options_for(self, rows: Array) -> dict[str, Any]:
        asked = {} if self._commands is None else {"command": self._commands(self.num_envs)}
        return {"reset_mask": rows, **asked}

    def close(self) -> None:
        """Closes the environments."""
        self._envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """What the environments have by this name, for each of some rows."""
        return [getattr(self._envs, attr_name)] * len(list(self._get_indices(indices)))

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Never."""
        return [False] * len(list(self._get_indices(indices)))

    def set_attr(self, *_: Any, **__: Any) -> None:
        """Refused: rows are not environments of their own."""
        raise NotImplementedError("rows are not environments of their own: make them anew with other settings")

    env_method = set_attr
