"""What was simulated and how: the settings of a run, declared once for runs, files and the command line."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument, ModelWarning, UnknownFile
from exposim.robots.combining import combine
from exposim.robots.joints import Drive, DryFriction, JointLimits
from exposim.robots.loading import load_robot, robot_data_folder
from exposim.robots.loops import Loop
from exposim.robots.made_of import Combination, RigidBody
from exposim.robots.masses import differing_masses
from exposim.robots.rigid_bodies import rigid_body
from exposim.robots.robot import ContactPoint, Robot
from exposim.simulation.integrators import Integrator
from exposim.simulation.records import Record

# Stands for the folder of example-robot-data, which is elsewhere on every machine.
ROBOT_DATA = "example-robot-data:"

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Origin(Record):
    """How to find a scenario again.

    Args:
        name: Of the scenario.
        file: That makes it; ``None`` for one of exposim's own.
        sha256: Of that file.
        options: That it was made with.
    """

    name: str
    file: str | None
    sha256: str | None
    options: dict[str, Any]

    @property
    def address(self) -> str:
        """What :func:`exposim.scenarios.get` takes."""
        return self.name if self.file is None else self.file


@dataclass(frozen=True)
class ScenarioSettings(Record):
    """Which scenario; ``origin`` is null for one that was made in Python.

    Of a loop of one's own that was recorded, ``is_loop``, the name is the robot's.
    """

    name: str
    description: str
    origin: Origin | None
    is_loop: bool = False


@dataclass(frozen=True)
class RobotSettings(Record):
    """What it takes to make a robot again: from a file, ``source``, as a rigid ``body``, or by combining ``members``.

    All three are null or empty for a model that came from elsewhere. Where limits differ by joint, there is one entry
    for each, in the order of ``robot.joints``. ``shapes`` is null where they are those of the file. ``masses`` are
    those of all bodies in the order of the model's joints; older files have none.
    """

    name: str
    source: str | None
    sha256: str | None
    floating_base: bool
    package_dirs: tuple[str, ...]
    contact_points: tuple[ContactPoint, ...]
    actuated_joints: tuple[str, ...]
    driven_joints: tuple[str, ...]
    drives: tuple[Drive, ...]
    joint_limits: JointLimits | bool | tuple[JointLimits | bool, ...]
    effort_limits: bool | tuple[bool, ...]
    joint_friction: tuple[DryFriction, ...]
    joint_damping: Numbers
    armature: Numbers
    gravity: Numbers
    q0: Numbers
    shapes: tuple[Surface, ...] | None = None
    loops: tuple[Loop, ...] = ()
    body: RigidBody | None = None
    member_names: tuple[str, ...] = ()
    members: tuple[RobotSettings, ...] = ()
    posed_members: tuple[str, ...] = ()
    poses: tuple[Numbers, ...] = ()
    masses: Numbers = ()

    @classmethod
    def of(cls, robot: Robot) -> RobotSettings:
        """Of a robot."""
        made_of = robot.made_of
        poses = made_of.poses if isinstance(made_of, Combination) else {}
        return cls(
            name=robot.name,
            source=None if robot.source is None else _portable(robot.source),
            sha256=None if robot.source is None else _digest(robot.source),
            floating_base=robot.has_floating_base,
            package_dirs=tuple(_portable(folder) for folder in robot.package_dirs),
            contact_points=robot.contact_points,
            actuated_joints=robot.actuated_joints,
            driven_joints=tuple(robot.drives),
            drives=tuple(robot.drives.values()),
            joint_limits=_in_order(robot.joint_limits),
            effort_limits=_in_order(robot.effort_limits),
            joint_friction=robot.dry_friction,
            joint_damping=tuple(robot.joint_damping.tolist()),
            armature=tuple(robot.armature.tolist()),
            gravity=tuple(robot.model.gravity.linear.tolist()),
            q0=tuple(robot.q0.tolist()),
            shapes=None if robot.has_shapes_of_file else robot.shapes,
            loops=robot.loops,
            body=made_of if isinstance(made_of, RigidBody) else None,
            member_names=tuple(robot.members),
            members=tuple(map(cls.of, robot.members.values())),
            posed_members=tuple(poses),
            poses=tuple(poses.values()),
            masses=tuple(float(inertia.mass) for inertia in list(robot.model.inertias)[1:]),
        )

    def __post_init__(self) -> None:
        if len(self.driven_joints) != len(self.drives):
            raise InvalidArgument(f"settings have {len(self.drives)} drives for {len(self.driven_joints)} joints")
        for names, values in ((self.member_names, self.members), (self.posed_members, self.poses)):
            if len(set(names)) != len(values):
                raise InvalidArgument(f"settings have {len(values)} members or poses for the names {names}")

    def load(self) -> Robot:
        """The robot, made as it was made."""
        loaded = self._made_again()
        joints = list(loaded.joints)
        return loaded.replace(
            name=self.name,
            contact_points=self.contact_points,
            actuated_joints=self.actuated_joints,
            drives=dict.fromkeys(loaded.drives) | dict(zip(self.driven_joints, self.drives, strict=True)),
            joint_limits=_by_joint("joint_limits", self.joint_limits, joints),
            effort_limits=_by_joint("effort_limits", self.effort_limits, joints),
            joint_friction=self.joint_friction,
            joint_damping=self.joint_damping,
            armature=self.armature,
            gravity=self.gravity,
            mass=differing_masses(loaded._model, self.masses) if self.masses else None,
            q0=self.q0,
            shapes=self.shapes,
            loops=self.loops,
        )

    def _made_again(self) -> Robot:
        """As it was before its owner changed it."""
        if self.members:
            members = dict(zip(self.member_names, (each.load() for each in self.members), strict=True))
            return combine(poses=dict(zip(self.posed_members, self.poses, strict=True)), **members)
        if self.body is not None:
            body = self.body
            return rigid_body(
                body.name, body.shape, body.mass, inertia=body.inertia, contact_points=self.contact_points
            )
        if self.source is None:
            raise UnknownFile(
                f"robot {self.name!r} was made from a pinocchio.Model, not from a file; "
                f"give the robot itself (robot=...)"
            )
        path = _local(self.source)
        if path.suffix.lower() not in (".urdf", ".xml"):  # before it is read: it may be any file
            raise UnknownFile(f"robot {self.name!r} was loaded from {path}, which is no model file; give robot=...")
        if not path.is_file():
            raise UnknownFile(
                f"robot {self.name!r} was loaded from {path}, which is not there any more; give robot=..."
            )
        if _digest(path) != self.sha256:
            warnings.warn(f"robot {self.name!r}: {path} has changed since this was written", ModelWarning, stacklevel=2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # it was given when the robot was first loaded
            return load_robot(
                path,
                floating_base=self.floating_base if path.suffix.lower() == ".urdf" else "auto",
                package_dirs=[folder for folder in map(_local, self.package_dirs) if folder.is_dir()],
                contact_points=self.contact_points,
                name=self.name,
            )


@dataclass(frozen=True)
class RunSettings(Record):
    """All that a run was made with.

    Args:
        scenario: Which.
        robot: How to load it again.
        ground: The surfaces.
        integrator: The scheme with its options.
        dt: Time step [s].
        control_period: The torque is held this long [s].
        duration: That was planned [s].
        record_every: One of so many steps is recorded.
        q0: Configuration at the start, (nq,).
        v0: Velocity at the start, (nv,).
        collisions: Names of the robots of a combined one that may touch each other, as pairs.
        accuracy: By which steps were chosen; null where they were of ``dt``.
        edges: As the simulator was given them.
        slots: Likewise.
    """

    scenario: ScenarioSettings
    robot: RobotSettings
    ground: tuple[Surface, ...]
    integrator: Integrator
    dt: float
    control_period: float
    duration: float
    record_every: int
    q0: Numbers
    v0: Numbers
    collisions: tuple[tuple[str, ...], ...] = ()
    accuracy: float | None = None
    edges: bool | None = None
    slots: int | None = None

    @property
    def step(self) -> float:
        """Of the simulator [s]: of ``dt``, a whole number makes a control period exactly."""
        return self.control_period / max(1, round(self.control_period / self.dt))

    def __post_init__(self) -> None:
        if not isinstance(self.integrator, Integrator):
            raise InvalidArgument(f"settings have {self.integrator!r} for an integrator; give for example Expo")


def _in_order(setting: Any) -> Any:
    """One for all joints, or one for each."""
    return tuple(setting.values()) if isinstance(setting, dict) else setting


def _by_joint(name: str, setting: Any, joints: list[str]) -> Any:
    if not isinstance(setting, tuple):
        return setting
    if len(setting) != len(joints):
        raise InvalidArgument(f"settings have {len(setting)} {name} for {len(joints)} joints")
    return dict(zip(joints, setting, strict=True))


def _portable(path: Path) -> str:
    folder = robot_data_folder().parents[1]
    return ROBOT_DATA + path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _local(text: str) -> Path:
    if text.startswith(ROBOT_DATA):
        return robot_data_folder().parents[1] / text.removeprefix(ROBOT_DATA)
    return Path(text)


def _digest(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
