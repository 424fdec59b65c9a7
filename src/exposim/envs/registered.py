"""The environments with names: known robots that follow velocities, on flat or rough ground."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium

from exposim import _checks
from exposim.envs.ground import make_ground
from exposim.envs.randomise import Randomise, Sensing
from exposim.envs.robot_env import RobotEnv
from exposim.envs.vector_env import RobotVectorEnv
from exposim.robots.joints import Drive
from exposim.robots.loading import load_robot
from exposim.robots.robot import Robot

STEPS = 1000  # of an episode: 20 s

SENSING = Sensing(gravity=0.02, angular_velocity=0.1, positions=0.01, velocities=0.5, delay=(0.0, 0.01))
REWARD = {
    "track_linear": 1.5,
    "track_angular": 0.75,
    "alive": 0.5,
    "vertical": -2.0,
    "rolling": -0.05,
    "tilt": -2.5,
    "action_rate": -0.01,
    "air_time": 0.25,
    "fall": -1.0,
}


@dataclass(frozen=True)
class Settings:
    """Of a known robot: gains and limits that people use, see docs/envs.md, and how torques weigh."""

    drives: Drive | Mapping[str, Drive]
    torques: float  # weight of their squares
    armature: float | None = None


ROBOTS: dict[str, Settings] = {
    "solo12": Settings(Drive(3.0, 0.2, effort=3.0), torques=-0.02),
    "go2": Settings(Drive(25.0, 0.5), torques=-2e-4),
    "anymal_c": Settings(Drive(80.0, 2.0), torques=-2e-5),
    "g1": Settings(
        {
            "*_hip_yaw_joint": Drive(150.0, 5.0),
            "*_hip_roll_joint": Drive(150.0, 5.0),
            "*_hip_pitch_joint": Drive(200.0, 5.0),
            "*_knee_joint": Drive(200.0, 5.0),
            "*_ankle_*_joint": Drive(40.0, 2.0),
            "waist_*_joint": Drive(200.0, 5.0),
            "*_shoulder_*_joint": Drive(40.0, 10.0),
            "*_elbow_joint": Drive(40.0, 10.0),
            "*_wrist_*_joint": Drive(40.0, 10.0),
        },
        torques=-2e-6,
        armature=0.01,
    ),
}
IDS = {"solo12": "Solo12", "go2": "Go2", "anymal_c": "AnymalC", "g1": "G1"}


def _robot(name: str) -> Robot:
    settings = ROBOTS[_checks.choice("robot", name, tuple(ROBOTS))]
    return load_robot(name).replace(drives=settings.drives, armature=settings.armature)


def _options(name: str, robot: Robot, terrain: str, given: dict[str, Any]) -> dict[str, Any]:
    """All that a task is made of, of which what is given goes first."""
    ground, starts = make_ground(terrain, float(robot.q0[2]))
    return {
        "robot": robot,
        "ground": ground,
        "reward": {**REWARD, "torques": ROBOTS[name].torques},
        "idle": 0.1,
        "sensing": SENSING,
        "randomise": Randomise(
            friction=(0.4, 1.2), mass=(0.8, 1.2), stiffness=(5e4, 2e5), push=(0.2, 0.8), posture=0.1, speed=0.2
        ),
        "action_scale": 0.5,
        "starts": starts,
        "headings": True,
        **given,
    }


class VelocityEnv(RobotEnv):
    """A known robot that is told how fast to walk and turn.

    Args:
        robot: ``"solo12"``, ``"go2"``, ``"anymal_c"`` or ``"g1"``.
        terrain: ``"flat"`` or ``"rough"``.
        max_episode_steps: By default none, as ``gymnasium.make`` puts a limit of 1000 around it.
        options: Of :class:`exposim.envs.RobotEnv`, instead of those that are usual here.
    """

    def __init__(self, robot: str, terrain: str = "flat", max_episode_steps: int | None = None, **options: Any):
        options = _options(robot, _robot(robot), terrain, options)
        super().__init__(max_episode_steps=max_episode_steps, **options)


class VelocityVectorEnv(RobotVectorEnv):
    """Many of :class:`VelocityEnv`.

    Args:
        robot: ``"solo12"``, ``"go2"``, ``"anymal_c"`` or ``"g1"``.
        terrain: ``"flat"`` or ``"rough"``.
        options: Of :class:`exposim.envs.RobotVectorEnv`, instead of those that are usual here.
    """

    def __init__(self, robot: str, terrain: str = "flat", **options: Any):
        super().__init__(**_options(robot, _robot(robot), terrain, options))


def register() -> None:
    """Makes Gymnasium know them."""
    for robot, name in IDS.items():
        if (id := f"exposim/{name}-v0") not in gymnasium.registry:
            gymnasium.register(
                id,
                entry_point=f"{__name__}:VelocityEnv",
                vector_entry_point=f"{__name__}:VelocityVectorEnv",
                max_episode_steps=STEPS,
                kwargs={"robot": robot},
            )
