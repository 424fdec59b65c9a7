"""Robots, grounds and integrators as plain data that JSON can hold, and back."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from exposim.contact.materials import Material
from exposim.contact.surfaces import HalfSpace, Surface
from exposim.errors import InvalidArgument, ModelWarning, UnknownFile
from exposim.kernels import Pade
from exposim.robots.loading import load_robot, robot_data_folder
from exposim.robots.robot import ContactPoint, Robot
from exposim.simulation.integrators import SCHEMES, Integrator

Settings = dict[str, Any]

# Stands for the folder of example-robot-data, which is elsewhere on every machine.
ROBOT_DATA = "example-robot-data:"

_TYPES: dict[str, type] = {kind.__name__: kind for kind in (HalfSpace, Material, ContactPoint, Pade, *SCHEMES.values())}


def describe(value: Any) -> Any:
    """A value object of this package as its type's name and its fields; lists and plain values as they are."""
    if is_dataclass(value) and type(value).__name__ in _TYPES:
        return {"type": type(value).__name__} | {f.name: describe(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, (list, tuple)):
        return [describe(each) for each in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise InvalidArgument(f"{value!r} cannot be written into a file; it holds only exposim's own surfaces and schemes")


def build(described: Any) -> Any:
    """What :func:`describe` described."""
    if isinstance(described, dict):
        kind = _TYPES.get(described.get("type", ""))
        if kind is None:
            raise InvalidArgument(f"settings have a {described.get('type')!r}, which this version does not know")
        try:
            return kind(**{key: build(each) for key, each in described.items() if key != "type"})
        except TypeError:
            raise InvalidArgument(
                f"settings have a {kind.__name__} with other fields than this version knows"
            ) from None
    return tuple(map(build, described)) if isinstance(described, list) else described


def describe_ground(surfaces: tuple[Surface, ...]) -> list[Settings]:
    """The surfaces, one entry each."""
    return [describe(surface) for surface in surfaces]


def build_ground(described: list[Settings]) -> tuple[Surface, ...]:
    """What :func:`describe_ground` described."""
    return tuple(build(surface) for surface in described)


def build_integrator(described: Settings) -> Integrator:
    """The scheme with its options."""
    integrator = build(described)
    if not isinstance(integrator, Integrator):
        raise InvalidArgument(f"settings have {described!r} for an integrator; give for example Expo")
    return integrator


def describe_robot(robot: Robot) -> Settings:
    """What it takes to load the same robot again; ``source`` is null for a model that came from no file."""
    return {
        "name": robot.name,
        "source": None if robot.source is None else _portable(robot.source),
        "sha256": None if robot.source is None else _digest(robot.source),
        "floating_base": robot.has_floating_base,
        "package_dirs": [_portable(folder) for folder in robot.package_dirs],
        "contact_points": describe(robot.contact_points),
        "actuated_joints": list(robot.actuated_joints),
        "joint_damping": robot.joint_damping.tolist(),
        "armature": robot.armature.tolist(),
        "gravity": robot.model.gravity.linear.tolist(),
        "q0": robot.q0.tolist(),
    }


def build_robot(described: Settings) -> Robot:
    """Loads the robot that :func:`describe_robot` described, from the file it was loaded from."""
    name, source = described["name"], described["source"]
    if source is None:
        raise UnknownFile(
            f"robot {name!r} was made from a pinocchio.Model, not from a file; give the robot itself (robot=...)"
        )
    path = _local(source)
    if not path.is_file():
        raise UnknownFile(f"robot {name!r} was loaded from {path}, which is not there any more; give robot=...")
    if _digest(path) != described["sha256"]:
        warnings.warn(f"robot {name!r}: {path} has changed since this was written", ModelWarning, stacklevel=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # it was given when the robot was first loaded
        is_urdf = path.suffix.lower() == ".urdf"
        loaded = load_robot(
            path,
            floating_base=described["floating_base"] if is_urdf else None,
            package_dirs=[folder for folder in map(_local, described["package_dirs"]) if folder.is_dir()],
            contact_points=build(described["contact_points"]),
            name=name,
        )
    wanted = ("actuated_joints", "joint_damping", "armature", "gravity", "q0")
    return loaded.replace(**{key: described[key] for key in wanted})


def _portable(path: Path) -> str:
    folder = robot_data_folder().parents[1]
    return ROBOT_DATA + path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _local(text: str) -> Path:
    if text.startswith(ROBOT_DATA):
        return robot_data_folder().parents[1] / text.removeprefix(ROBOT_DATA)
    return Path(text)


def _digest(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
