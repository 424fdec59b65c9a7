"""What a robot did, measured on a trajectory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.robots.robot import Robot
from exposim.simulation.settings import RobotSettings
from exposim.simulation.trajectory import Trajectory

# A base that leans further than this [rad] has fallen.
UPRIGHT = 0.6


@dataclass(frozen=True)
class Judgement:
    """What a robot did, and where it failed.

    Args:
        measures: Numbers by name, the unit in brackets: ``{"distance [m]": 1.21}``.
        complaints: What went wrong, each a short sentence; empty where the robot did what it should.
    """

    measures: Mapping[str, float] = field(default_factory=dict)
    complaints: tuple[str, ...] = ()

    def __add__(self, other: Judgement) -> Judgement:
        return Judgement({**self.measures, **other.measures}, self.complaints + other.complaints)


def has_floating_base(trajectory: Trajectory) -> bool:
    """Whether the robot's base is free; of several robots, the first one's."""
    return trajectory.settings.robot.floating_base


def roll_pitch_yaw(trajectory: Trajectory) -> Array:
    """Attitude of the base at each instant [rad], (n, 3)."""
    return np.array([pin.rpy.matrixToRpy(pin.Quaternion(each).toRotationMatrix()) for each in trajectory.q[:, 3:7]])


def lean(trajectory: Trajectory, base: int = 0) -> Array:
    """Angle between a base's vertical axis now and at the start [rad], (n,); its pose begins there in q."""
    up = np.array([pin.Quaternion(each).toRotationMatrix()[2] for each in trajectory.q[:, base + 3 : base + 7]])
    angle: Array = np.arccos(np.clip(up @ up[0], -1.0, 1.0))
    return angle


def centre_of_mass(robot: Robot, trajectory: Trajectory) -> Array:
    """At each instant [m], (n, 3)."""
    data = robot.model.createData()
    return np.array([pin.centerOfMass(robot.model, data, q) for q in trajectory.q])


def forces_by_direction(trajectory: Trajectory) -> tuple[Array, Array]:
    """Normal force and size of the tangential force of every contact [N], (n, nc) each."""
    normal = np.einsum("nci,nci->nc", trajectory.force, trajectory.normal)
    tangential = np.linalg.norm(trajectory.force - normal[..., None] * trajectory.normal, axis=2)
    return normal, tangential


def slip(trajectory: Trajectory) -> Array:
    """Way that every contact point slid over its surface [m], (nc,)."""
    moved, normals = np.diff(trajectory.position, axis=0), trajectory.normal[1:]
    along = moved - np.einsum("nci,nci->nc", moved, normals)[..., None] * normals
    pressing = forces_by_direction(trajectory)[0] > 0.0
    slid = trajectory.slipping & trajectory.active & pressing
    way: Array = np.sum(np.linalg.norm(along, axis=2) * (slid[1:] & slid[:-1]), axis=0)
    return way


def flights(trajectory: Trajectory) -> list[tuple[float, float]]:
    """First and last instant [s] of each stretch without any contact."""
    return spans(trajectory.t, np.asarray(~trajectory.active.any(axis=1)))


def spans(t: Array, holds: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """First and last instant of each stretch in which a condition holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]]).astype(int)))
    return [(float(t[first]), float(t[last - 1])) for first, last in edges.reshape(-1, 2)]


def bases(robot: RobotSettings) -> dict[str, int]:
    """Where the poses of floating bases begin in q, by the names of the robots in a combined one that have joints."""
    if not robot.members:
        return {"": 0} if robot.floating_base else {}
    found: dict[str, int] = {}
    start = 0
    for name, member in zip(robot.member_names, robot.members, strict=True):
        if member.actuated_joints:
            found |= {f"{name}/{inner}".rstrip("/"): start + at for inner, at in bases(member).items()}
        start += len(member.q0)
    return found


def judge_upright(trajectory: Trajectory) -> Judgement:
    """Whether it ran to its end, and whether a floating base stayed upright, or those of all robots with joints."""
    complaints = []
    if (diverged_at := trajectory.outcome.diverged_at) is not None:
        complaints.append(f"diverged at {diverged_at:.4g} s")
    greatest = []
    for name, base in bases(trajectory.settings.robot).items():
        leaning = lean(trajectory, base)
        greatest.append(float(leaning.max()))
        if leaning.max() > UPRIGHT:
            first = trajectory.t[np.argmax(leaning > UPRIGHT)]
            complaints.append(f"{name} fell over at {first:.3g} s".lstrip())
    return Judgement({"greatest lean [rad]": max(greatest)} if greatest else {}, tuple(complaints))
