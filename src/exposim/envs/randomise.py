"""What differs from row to row and from episode to episode, and what sensors make of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from exposim import _checks
from exposim.errors import InvalidArgument

Range = tuple[float, float]


def checked_range(name: str, value: Any, unit: str, *, above: float | None = None, least: float | None = None) -> Range:
    """Two finite numbers, the second not below the first, within a bound of the first."""
    low, high = _checks.vector(name, value, 2, f"the least and the greatest {unit}".rstrip())
    low = _checks.number(f"{name}[0]", float(low), unit, above=above, least=least)
    if high < low:
        raise InvalidArgument(f"{name} is {value!r}; give the least first, then the greatest {unit}".rstrip())
    return low, float(high)


@dataclass(frozen=True)
class Randomise:
    """What is drawn anew for every episode, each uniformly between two bounds; ``None``: as it is.

    Args:
        friction: Of all contacts with the ground, not negative.
        mass: Of the base, in parts of its own, above zero; the inertia goes along.
        stiffness: Of all contacts with the ground [N/m], above zero.
        push: Speed that a push would give to the robot if it flew [m/s], not negative: a horizontal force at the base
            in a direction drawn anew, for ``push_time``.
        push_every: From the beginning of one push to that of the next, and from that of the episode to the first [s].
        push_time: How long a push lasts [s], rounded to whole periods of the policy.
        posture: By how much the joints begin beside their standing posture at most, either way [rad].
        speed: By how much the base begins moving at most, either way along and about every axis [m/s and rad/s].
    """

    friction: Range | None = None
    mass: Range | None = None
    stiffness: Range | None = None
    push: Range | None = None
    push_every: Range = (4.0, 8.0)
    push_time: float = 0.1
    posture: float = 0.0
    speed: float = 0.0

    def __post_init__(self) -> None:
        bounds: dict[str, tuple[str, dict[str, float]]] = {
            "friction": ("", {"least": 0.0}),
            "mass": ("", {"above": 0.0}),
            "stiffness": ("[N/m]", {"above": 0.0}),
            "push": ("[m/s]", {"least": 0.0}),
            "push_every": ("[s]", {"above": 0.0}),
        }
        for name, (unit, bound) in bounds.items():
            if (value := getattr(self, name)) is not None or name == "push_every":
                object.__setattr__(self, name, checked_range(name, value, unit, **bound))
        object.__setattr__(self, "push_time", _checks.number("push_time", self.push_time, "[s]", above=0.0))
        object.__setattr__(self, "posture", _checks.number("posture", self.posture, "[rad]", least=0.0))
        object.__setattr__(self, "speed", _checks.number("speed", self.speed, "[m/s]", least=0.0))
        if self.push is not None and self.push_every[0] < self.push_time:
            raise InvalidArgument(
                f"push_every begins at {self.push_every[0]:g} s, less than the {self.push_time:g} s that a push lasts; "
                "give more"
            )

    @property
    def worlds(self) -> bool:
        """Whether rows have worlds of their own."""
        return not (self.friction is None and self.mass is None and self.stiffness is None)


@dataclass(frozen=True)
class Sensing:
    """How what is observed differs from what is: standard deviations of noise, and how old it is.

    Args:
        gravity: Of each part of the direction of gravity.
        linear_velocity: Of the base [m/s].
        angular_velocity: Of the base [rad/s].
        positions: Of the joints [rad].
        velocities: Of the joints [rad/s].
        delay: How long ago positions and velocities were what is observed, drawn for every episode [s], rounded to
            whole steps of the simulation. Commands and actions are known at once.
    """

    gravity: float = 0.0
    linear_velocity: float = 0.0
    angular_velocity: float = 0.0
    positions: float = 0.0
    velocities: float = 0.0
    delay: Range = (0.0, 0.0)

    def __post_init__(self) -> None:
        for each in fields(self):
            if each.name != "delay":
                value = _checks.number(each.name, getattr(self, each.name), "", least=0.0)
                object.__setattr__(self, each.name, value)
        object.__setattr__(self, "delay", checked_range("delay", self.delay, "[s]", least=0.0))
