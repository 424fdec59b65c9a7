"""How robots that come from no file were made, so that they can be made again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument, did_you_mean

if TYPE_CHECKING:
    from exposim.robots.robot import Robot


@dataclass(frozen=True)
class RigidBody:
    """What :func:`exposim.rigid_body` was given.

    Args:
        name: Of the body.
        shape: Of it.
        mass: [kg].
        inertia: About its centre of mass [kg·m²], three rows of three; ``None``: of the shape, homogeneous.
    """

    name: str
    shape: Surface
    mass: float
    inertia: tuple[tuple[float, ...], ...] | None = None


@dataclass(frozen=True, eq=False)
class Combination:
    """What :func:`exposim.combine` was given.

    Args:
        members: The robots by name.
        poses: Of the bases that are fixed and were moved: x, y, z [m] and quaternion x, y, z, w, by name.
    """

    members: Mapping[str, Robot]
    poses: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


def innermost(robot: Robot) -> dict[str, Robot]:
    """The robots that a combined one is made of in the end, by name; one that is not combined, by its own.

    Where a member is combined itself, those within have names such as ``"pair/a"``.
    """
    found: dict[str, Robot] = {}
    for name, member in robot.members.items():
        if member.members:
            found |= {f"{name}/{each}": of for each, of in innermost(member).items()}
        else:
            found[name] = member
    return found or {robot.name: robot}


@dataclass(frozen=True)
class Part:
    """Where a member of a combined robot is.

    Args:
        q: Its entries of a configuration.
        v: Its entries of a velocity, or of torques of all degrees of freedom.
        tau: Its entries of torques of the actuated degrees of freedom.
    """

    q: slice
    v: slice
    tau: NDArray[np.int_]

    @classmethod
    def of(cls, name: str, members: Mapping[str, Robot], actuated_dofs: NDArray[np.int_], robot_name: str) -> Part:
        """Of a member by name; members come one after the other, in their order."""
        if name not in members:
            near = did_you_mean(str(name), members)
            choices = f"its members are {', '.join(members)}" if members else "it has no members"
            raise InvalidArgument(f"{name!r} is no member of robot {robot_name!r}{near or f'; {choices}'}")
        q = v = 0
        for each, member in members.items():
            if each == name:
                break
            q, v = q + member.nq, v + member.nv
        tau = np.flatnonzero((actuated_dofs >= v) & (actuated_dofs < v + member.nv))
        return cls(slice(q, q + member.nq), slice(v, v + member.nv), tau)
