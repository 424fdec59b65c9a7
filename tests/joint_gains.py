"""Robots with the gains that people give them: where from, and as robots of the library."""

from __future__ import annotations

from dataclasses import dataclass, field

import exposim as xs

Gains = tuple[float, float] | tuple[float, float, float | None, float | None]  # kp, kd, effort, velocity


@dataclass(frozen=True)
class Setting:
    """A robot, the gains of its joints by glob, and its rotors' inertia where it is not the model's."""

    robot: str
    gains: dict[str, Gains] = field(default_factory=dict)
    armature: float | None = None

    def make(self, linear: bool = False) -> xs.Robot:
        """The robot; `linear`: without bounds of torque, limits of position and dry friction."""
        robot = xs.load_robot(self.robot)
        if self.armature is not None:
            robot = robot.replace(armature=self.armature)
        if linear:
            robot = robot.replace(effort_limits=False, joint_limits=False, joint_friction=0.0)
        drives = {glob: xs.Drive(*(gains[:2] if linear else gains)) for glob, gains in self.gains.items()}
        return robot.replace(drives=drives) if drives else robot


SETTINGS = {
    "go2 25/0.5": Setting("go2", {"*": (25.0, 0.5, 23.5, 30.0)}),  # Isaac Lab
    "go2 35/0.5": Setting("go2", {"*": (35.0, 0.5)}),  # Playground's Go1
    "go2 100/5": Setting("go2", {"*": (100.0, 5.0)}),
    "anymal_c 40/5": Setting("anymal_c", {"*": (40.0, 5.0, 80.0, None)}),  # Isaac Lab
    "anymal_c 400/1": Setting("anymal_c", {"*": (400.0, 1.0)}),  # Playground's Spot, either end
    "anymal_c 300/20": Setting("anymal_c", {"*": (300.0, 20.0)}),
    "g1 Isaac Lab": Setting(
        "g1",
        {
            "*_hip_*": (100.0, 2.5),
            "*_knee_*": (200.0, 5.0),
            "*_ankle_*": (100.0, 2.5),
            "waist_*": (5000.0, 5.0),
            "*_shoulder_*": (3000.0, 10.0),
            "*_elbow_*": (3000.0, 10.0),
            "*_wrist_*": (3000.0, 10.0),
        },
        armature=0.001,
    ),
    "g1 100/5": Setting("g1", {"*": (100.0, 5.0)}, armature=0.0),
    "talos as given": Setting("talos"),
    "talos 1000/20": Setting("talos", {"*": (1000.0, 20.0)}),
    "solo12 8/0.1": Setting("solo12", {"*": (8.0, 0.1)}),
    "romeo 300/5": Setting("romeo", {"*": (300.0, 5.0)}),
}
