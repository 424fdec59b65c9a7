"""A task: a robot, where it is, what it is told, what it sees, what it gets, and when it is over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exposim import _checks
from exposim._checks import Array
from exposim.contact.surfaces import HalfSpace, Surface, surfaces_of
from exposim.envs.ground import heights_of
from exposim.envs.points import Points
from exposim.envs.randomise import Randomise, Range, Sensing, checked_range
from exposim.envs.rewards import Fallen, Reward, Term, checked_reward
from exposim.envs.rows import Flags, Rows
from exposim.errors import InvalidArgument, did_you_mean
from exposim.robots.joints import Drive
from exposim.robots.robot import Robot
from exposim.simulation.simulator import Simulator

# What can be observed by name, and by how much it is multiplied so that it is about one.
PARTS: dict[str, float] = {
    "gravity": 1.0,
    "linear_velocity": 1.0,
    "angular_velocity": 0.25,
    "command": 1.0,
    "positions": 1.0,
    "velocities": 0.05,
    "action": 1.0,
    "height": 1.0,
}
OBSERVED = ("gravity", "angular_velocity", "command", "positions", "velocities", "action")
VELOCITIES: tuple[Range, ...] = ((-1.0, 1.0), (-0.5, 0.5), (-1.0, 1.0))
# Drives that find out which torques the standing robot needs are so much stiffer.
STIFFER = 20.0


@dataclass(frozen=True, eq=False)
class Task:
    """All there is to an environment but how many there are of it. Functions are of :class:`Rows`, all of them at once.

    Args:
        robot: With a floating base, and drives with ``kp`` on all actuated joints.
        ground: One surface, several, or none.
        command: Bounds of every number that is drawn for an episode: by default velocity along x, along y [m/s] and
            turning rate [rad/s], in the axes of the base.
        idle: Share of the episodes in which all of the command is zero.
        reward: Weights of terms by their names, which are per second; of one's own pairs of weight and function; or one
            function.
        terminate: Function that tells which rows have failed.
        observe: Names of what is observed, one after the other; of one's own, functions of an array (n, k).
        randomise: What differs from episode to episode; ``None``: nothing.
        sensing: Noise and delay; ``None``: none.
        action_scale: By how much an action of one moves the targets of the drives [rad], for all joints or for each.
        dt: Step of the simulation [s].
        steps: Of the simulation in a period of the policy.
        starts: Half the width of the square in which episodes begin [m].
        headings: Whether they begin in any direction; otherwise in that of ``robot.q0``.
    """

    robot: Robot
    ground: Surface | Iterable[Surface] | None = None
    command: Sequence[Range] = VELOCITIES
    idle: float = 0.0
    reward: Reward = field(default_factory=lambda: {"alive": 1.0})
    terminate: Callable[[Rows], Flags] = field(default_factory=Fallen)
    observe: Sequence[str | Callable[[Rows], Array]] = OBSERVED
    randomise: Randomise = field(default_factory=Randomise)
    sensing: Sensing = field(default_factory=Sensing)
    action_scale: float | Sequence[float] = 0.25
    dt: float = 5e-3
    steps: int = 4
    starts: float = 0.0
    headings: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.robot, Robot):
            raise InvalidArgument(f"robot is a {type(self.robot).__name__}; give what exposim.load_robot returns")
        _refuse_robot(self.robot)
        na = len(self.robot.actuated_joints)
        scale = np.broadcast_to(self.action_scale, na) if np.ndim(self.action_scale) == 0 else self.action_scale
        checked: dict[str, Any] = {
            "ground": surfaces_of(self.ground),
            "command": tuple(checked_range(f"command[{i}]", each, "") for i, each in enumerate(self.command)),
            "idle": _share("idle", self.idle),
            "reward": checked_reward(self.reward),
            "observe": tuple(_checked_part(each) for each in self.observe),
            "randomise": _one_of("randomise", self.randomise, Randomise),
            "sensing": _one_of("sensing", self.sensing, Sensing),
            "action_scale": _checks.vector("action_scale", scale, na, "one per actuated joint, in radians"),
            "dt": _checks.number("dt", self.dt, "[s]", above=0.0),
            "steps": _checks.count("steps", self.steps, 1000),
            "starts": _checks.number("starts", self.starts, "[m]", least=0.0),
            "headings": _checks.flag("headings", self.headings),
        }
        if not checked["observe"]:
            raise InvalidArgument("observe is empty; give names of what is observed, or functions of Rows")
        if not callable(self.terminate):
            raise InvalidArgument(f"terminate is {self.terminate!r}; give a function of Rows, such as Fallen()")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    # What follows from it.

    @property
    def period(self) -> float:
        """Of the policy [s]."""
        return self.dt * self.steps

    @property
    def terms(self) -> Mapping[str, tuple[float, Term]]:
        """Of the reward: weight and function."""
        return self.reward  # type: ignore[return-value]  # since it was checked

    @cached_property
    def simulator(self) -> Simulator:
        """Of which every row is one, at its start."""
        return Simulator(self.robot, self.ground, dt=self.dt)

    @cached_property
    def below(self) -> Callable[[Array], Array]:
        """Heights of the ground [m] below points, (n, 3) to (n,)."""
        return heights_of(surfaces_of(self.ground))

    @cached_property
    def joints(self) -> NDArray[np.int_] | slice:
        """Index in v of every actuated joint; a slice where they follow one another, which is quicker."""
        dofs = self.robot.actuated_dofs
        first, end = int(dofs[0]), int(dofs[-1]) + 1
        return slice(first, end) if np.array_equal(dofs, np.arange(first, end)) else dofs

    @cached_property
    def standing(self) -> Array:
        """Posture of the actuated joints around which targets are given [rad], (na,)."""
        return self.robot.q0[1:][self.joints]

    @cached_property
    def points(self) -> Points:
        """Where the contact points are in a configuration."""
        return Points(self.robot)

    @cached_property
    def standing_height(self) -> float:
        """Of the base above the lowest contact point of ``robot.q0`` [m]."""
        q0 = self.robot.q0
        return float(q0[2] - self.points.bottoms(q0)[:, 2].min())

    @cached_property
    def base(self) -> str:
        """Name of the link that moves freely."""
        links = self.robot.masses
        return next(name for name in links if self.robot.locate(name)[0] == 1)

    @cached_property
    def held(self) -> Array:
        """Targets of the drives with which the robot stands in its posture, (na,): gravity is made up for."""
        drives = {
            name: Drive(STIFFER * drive.kp, drive.kp, effort=np.inf, velocity=np.inf)
            for name, drive in self.robot.drives.items()
        }
        floor = HalfSpace(point=(0.0, 0.0, float(self.robot.q0[2]) - self.standing_height))
        sim = Simulator(self.robot.replace(drives=drives), floor, dt=5e-3)
        sim.step(n=400)
        sagged = self.standing - sim.q[1:][self.joints]
        return np.asarray(self.standing + STIFFER * sagged) if np.abs(sagged).max() < 0.1 else self.standing

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # what follows is made again


def _refuse_robot(robot: Robot) -> None:
    if not robot.has_floating_base or robot.nq != robot.nv + 1:
        raise InvalidArgument(
            f"robot {robot.name!r} has {'other joints' if robot.has_floating_base else 'a fixed base'}; "
            "give one with a floating base and joints of one angle or length"
        )
    drives = robot.drives
    without = [name for name in robot.actuated_joints if name not in drives or drives[name].kp == 0.0]
    if without or not drives:
        raise InvalidArgument(
            f"robot {robot.name!r} has no drive with kp at {', '.join(without[:3]) or 'any joint'}; "
            "give robot.replace(drives=exposim.Drive(kp, kd))"
        )
    if not robot.contact_points:
        raise InvalidArgument(f"robot {robot.name!r} has no contact points; give some: load_robot(…, contact_points=…)")


def _checked_part(part: Any) -> str | Callable[[Rows], Array]:
    if callable(part):
        return part  # type: ignore[no-any-return]
    if not isinstance(part, str) or part not in PARTS:
        near = did_you_mean(part, PARTS) if isinstance(part, str) else ""
        raise InvalidArgument(f"observe has {part!r};{near} give functions of Rows, or some of {', '.join(PARTS)}")
    return part


def _share(name: str, value: Any) -> float:
    share = _checks.number(name, value, "", least=0.0)
    if share > 1.0:
        raise InvalidArgument(f"{name} is {value!r}; give a share from 0 to 1")
    return share


def _one_of(name: str, value: Any, kind: type) -> Any:
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise InvalidArgument(f"{name} is {value!r}; give an exposim.envs.{kind.__name__}, or None")
    return value
