"""What can be changed of a simulation under way: the robot and the ground with other materials, gravity or masses."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from exposim import _core
from exposim._checks import Array
from exposim.contact.materials import Material, Scalar
from exposim.contact.modes import SLIPPING, STICKING
from exposim.contact.surfaces import Surface, altered
from exposim.errors import InvalidArgument, did_you_mean
from exposim.robots.robot import ContactPoint, Robot
from exposim.simulation.layout import Layout

# Relative, by which a force may be beyond its cone for it to count as within.
ROUNDING = 1e-9

# What stiffness= and damping= take: of all contacts with the ground, or by contact point.
PerPoint = Scalar | Mapping[str, Scalar]

OF_MATERIAL = ("friction", "stiffness", "damping")


def changed(robot: Robot, ground: tuple[Surface, ...], changes: Mapping[str, Any]) -> tuple[Robot, tuple[Surface, ...]]:
    """Robot and ground after changes, of which some are ``None``."""
    given = {name: value for name, value in changes.items() if value is not None}
    if not given:
        raise InvalidArgument(f"set was given nothing to change; give one of {', '.join(changes)}")
    points, ground = with_materials(robot, ground, given)
    to_replace: dict[str, Any] = {name: given[name] for name in ("gravity", "mass") if name in given}
    if points != robot.contact_points:
        to_replace["contact_points"] = points
    return (robot.replace(**to_replace) if to_replace else robot), ground


def with_materials(
    robot: Robot, ground: tuple[Surface, ...], given: Mapping[str, Any]
) -> tuple[tuple[ContactPoint, ...], tuple[Surface, ...]]:
    """Contact points and ground after changes of friction, stiffness and damping."""
    points = robot.contact_points
    of_all = {name: given[name] for name in OF_MATERIAL if name in given and not isinstance(given[name], Mapping)}
    if of_all:
        points, ground = _of_all(points, ground, of_all)
    for name in OF_MATERIAL:
        if name in given and name not in of_all:
            points = _of_points(points, ground, robot, name, given[name])
    return points, ground


def _of_all(
    points: tuple[ContactPoint, ...], ground: tuple[Surface, ...], values: Mapping[str, Any]
) -> tuple[tuple[ContactPoint, ...], tuple[Surface, ...]]:
    """With properties of all contacts with the ground changed."""
    if not ground and not any(_has_own(point) for point in points):
        name, value = next(iter(values.items()))
        raise InvalidArgument(f"{name} is {value!r}, but there is no ground whose {name} it could be; leave it out")
    surfaces = tuple(altered(each, "material", _with(each.material, values)) for each in ground)
    return tuple(_made_of(point, values) if _has_own(point) else point for point in points), surfaces


def _of_points(
    points: tuple[ContactPoint, ...], ground: tuple[Surface, ...], robot: Robot, name: str, values: Mapping[Any, Any]
) -> tuple[ContactPoint, ...]:
    by_name = {point.name: point for point in points}
    if not values:
        raise InvalidArgument(f"{name} is {values!r}; give values by names or globs of contact points, or one for all")
    for pattern, value in values.items():
        for found in _matching(name, pattern, list(by_name), robot.name):
            by_name[found] = _made_of(by_name[found], {name: value}, ground)
    return tuple(by_name.values())


def _matching(name: str, pattern: Any, names: list[str], robot_name: str) -> list[str]:
    found = [each for each in names if isinstance(pattern, str) and (each == pattern or fnmatchcase(each, pattern))]
    if not found:
        near = did_you_mean(str(pattern), names) or f"; there are {', '.join(names) or 'none'}"
        raise InvalidArgument(f"{name} has {pattern!r}, which is no contact point of {robot_name!r}{near}")
    return found


def _has_own(point: ContactPoint) -> bool:
    return point.material is not None and not point.bilateral


def _made_of(point: ContactPoint, values: Mapping[str, Any], ground: Iterable[Surface] = ()) -> ContactPoint:
    """A point of a material of its own: the one that it has, or the ground's, with some properties changed."""
    if point.bilateral and "friction" in values:
        raise InvalidArgument(f"friction is given for {point.name!r}, which is bilateral and has none; leave it out")
    own = Material() if point.bilateral and point.material is None else point.material
    if own is None:
        materials = {surface.material for surface in ground}
        if len(materials) != 1:
            raise InvalidArgument(
                f"{next(iter(values))} is given for {point.name!r}, which has no material of its own, and the ground "
                f"has {'several' if materials else 'none'}; give the point one (exposim.ContactPoint(material=...))"
            )
        (own,) = materials
    return dataclasses.replace(point, material=_with(own, values))


def _with(material: Material, values: Mapping[str, Any]) -> Material:
    return dataclasses.replace(material, **values)


def within_cones(
    core: _core.Simulator, layout: Layout, contacts: list[tuple[int | None, int]], materials: list[Material | None]
) -> Array:
    """The flat state of a simulator in which contacts that their materials cannot hold slip, on their cones.

    As the law has it: s = −μ λ_n t̂ / K_t, with t̂ the direction of the tangential force that would have held it.
    """
    x = core.state
    memory = layout.memory(x)
    forces, normals = core.forces, core.normals
    for i, material in enumerate(materials):
        if material is None or memory[i, 1] not in (STICKING, SLIPPING):
            continue
        lam_n = forces[i] @ normals[i]
        lam_t = forces[i] - lam_n * normals[i]
        held, most = float(np.linalg.norm(lam_t)), material.friction * float(lam_n)
        if held <= (1.0 + ROUNDING) * most:
            continue
        K_t = np.broadcast_to(material.stiffness, 2)[1]
        # Of a shape on an edge the core remembers how the edge is stretched, which is the other way round.
        sign = 1.0 if contacts[i][0] is None else -1.0
        memory[i, 1] = SLIPPING
        memory[i, 3:] = sign * most / held / K_t * lam_t
    return x
