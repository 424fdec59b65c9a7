"""Gymnasium environments: known robots that follow velocities, and one's own tasks; importing this registers them.

``exposim/Solo12-v0``, ``exposim/Go2-v0``, ``exposim/AnymalC-v0`` and ``exposim/G1-v0``, for ``gymnasium.make`` and
``gymnasium.make_vec``.
"""

from __future__ import annotations

from exposim._extras import extras as _extras

with _extras():
    import gymnasium as _gymnasium  # noqa: F401  # first: says which extra is missing

    from exposim.envs.randomise import Randomise, Sensing
    from exposim.envs.registered import VelocityEnv, VelocityVectorEnv
    from exposim.envs.registered import register as _register
    from exposim.envs.rewards import TERMS, Fallen
    from exposim.envs.robot_env import RobotEnv
    from exposim.envs.rows import Rows
    from exposim.envs.task import Task
    from exposim.envs.vector_env import RobotVectorEnv

__all__ = [
    "TERMS",
    "Fallen",
    "Randomise",
    "RobotEnv",
    "RobotVectorEnv",
    "Rows",
    "Sensing",
    "Task",
    "VelocityEnv",
    "VelocityVectorEnv",
]

_register()


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
