"""How heavy bodies are. A body is a link with all that is fixed to it: the model knows no smaller part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import pinocchio as pin

from exposim import _checks
from exposim.errors import InvalidArgument, UnknownFrame, did_you_mean


def masses_of(model: pin.Model) -> dict[str, float]:
    """By the names of links that move [kg]; links of one body have the same."""
    return {
        frame.name: float(model.inertias[frame.parentJoint].mass)
        for frame in model.frames
        if frame.type == pin.FrameType.BODY and frame.parentJoint
    }


def checked_masses(
    given: Any, model: pin.Model, robot_name: str, name: str = "mass", unit: str = "[kg]"
) -> dict[int, float]:
    """By joint [kg], from names or globs of links, of which later ones go before; or of factors of masses."""
    if not isinstance(given, Mapping) or not given:
        what = f"masses {unit}" if unit else "factors"
        raise InvalidArgument(f"{name} is {given!r}; give a mapping from names or globs of links to {what}")
    links = {frame.name: int(frame.parentJoint) for frame in model.frames if frame.type == pin.FrameType.BODY}
    masses = {}
    for pattern, value in given.items():
        kilograms = _checks.number(f"{name}[{pattern!r}]", value, unit, above=0.0)
        found = [link for link in links if isinstance(pattern, str) and (link == pattern or fnmatchcase(link, pattern))]
        if not found:
            near = did_you_mean(str(pattern), links) or f"; its links are {', '.join(links)}"
            raise UnknownFrame(f"{name} has {pattern!r}, which is no link of {robot_name!r}{near}")
        for link in found:
            if not (links[link] and model.inertias[links[link]].mass > 0.0):
                why = "has no mass that could be changed" if links[link] else "is fixed to the world"
                raise InvalidArgument(f"{name} has {pattern!r}, but {link!r} {why}; leave it out")
            masses[links[link]] = kilograms
    return masses


def set_masses(model: pin.Model, masses: Mapping[int, float]) -> None:
    """Of the bodies of these joints [kg]; their inertia grows alike, their centres of mass stay."""
    for joint, kilograms in masses.items():
        own = model.inertias[joint]
        if kilograms != own.mass:
            model.inertias[joint] = pin.Inertia(kilograms, own.lever, own.inertia * (kilograms / own.mass))


def differing_masses(model: pin.Model, masses: Sequence[float]) -> dict[str, float] | None:
    """Of bodies in the order of the joints, those that are others than the model's, by the names of links [kg]."""
    if len(masses) != model.njoints - 1:
        raise InvalidArgument(f"settings have {len(masses)} masses for {model.njoints - 1} joints")
    differ = {
        frame.name: masses[frame.parentJoint - 1]
        for frame in model.frames
        if frame.type == pin.FrameType.BODY
        and frame.parentJoint
        and masses[frame.parentJoint - 1] != model.inertias[frame.parentJoint].mass
    }
    return differ or None
