"""Terms of rewards by name, and what ends an episode: functions of :class:`Rows`, a number for each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from exposim import _checks
from exposim._checks import Array
from exposim.envs.rows import Flags, Rows
from exposim.errors import InvalidArgument, did_you_mean

Term = Callable[[Rows], Array]
Reward = Term | Mapping[str, float | tuple[float, Term]]

WIDTH = 0.25  # of the bell in which tracking counts, squared [m²/s² or rad²/s²]
STRIDE = 0.3  # that a foot shall be in the air at least [s]
MOVING = 0.1  # commands below this are to stand still [m/s]


def track_linear(rows: Rows) -> Array:
    """One where the base moves along as the first two commands say [m/s], falling off as a bell."""
    return np.exp(-_squares(rows.linear_velocity[:, :2] - rows.command[:, :2]) / WIDTH)


def track_angular(rows: Rows) -> Array:
    """One where the base turns about its upright axis as the third command says [rad/s], falling off as a bell."""
    return np.asarray(np.exp(-((rows.angular_velocity[:, 2] - rows.command[:, 2]) ** 2) / WIDTH))


def vertical(rows: Rows) -> Array:
    """Square of the base's velocity up or down [m²/s²]."""
    return np.asarray(rows.linear_velocity[:, 2] ** 2)


def rolling(rows: Rows) -> Array:
    """Square of its rates of roll and pitch [rad²/s²]."""
    return _squares(rows.angular_velocity[:, :2])


def tilt(rows: Rows) -> Array:
    """Square of the sine of its tilt."""
    return _squares(rows.gravity[:, :2])


def height(rows: Rows) -> Array:
    """Square of how far it is above or below the standing height [m²]."""
    return np.asarray((rows.height - rows.standing_height) ** 2)


def posture(rows: Rows) -> Array:
    """Squares of the joints' ways from the standing posture, summed [rad²]."""
    return _squares(rows.positions)


def joint_velocities(rows: Rows) -> Array:
    """Their squares, summed [rad²/s²]."""
    return _squares(rows.velocities)


def torques(rows: Rows) -> Array:
    """Squares of the motors' torques, summed, mean over the period [N²·m²]."""
    squares = np.add.reduce(rows.torques * rows.torques, axis=(1, 2))
    return np.asarray(squares / rows.torques.shape[1])


def action_rate(rows: Rows) -> Array:
    """Squares of the changes of the action, summed."""
    return _squares(rows.action - rows.last_action)


def air_time(rows: Rows) -> Array:
    """Of feet that land, the time in the air beyond 0.3 s, by the period; while it is told to move."""
    beyond = np.add.reduce((rows.air_time - STRIDE) * rows.landed, axis=1)
    return np.asarray(beyond / rows.period * (_squares(rows.command[:, :2]) > MOVING**2))


def alive(rows: Rows) -> Array:
    """One."""
    return np.ones(len(rows.q))


def fall(rows: Rows) -> Array:
    """One by the period where the episode terminates: its weight counts once."""
    return np.asarray(rows.terminated / rows.period)


TERMS: dict[str, Term] = {
    each.__name__: each
    for each in (
        track_linear,
        track_angular,
        vertical,
        rolling,
        tilt,
        height,
        posture,
        joint_velocities,
        torques,
        action_rate,
        air_time,
        alive,
        fall,
    )
}


@dataclass(frozen=True)
class Fallen:
    """Whether a robot has fallen, of every row.

    Args:
        tilt: Of the base from level [rad], above which it has.
        height: Of the base above the ground, in parts of that in which it stands, below which it has.
    """

    tilt: float = 1.0
    height: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "tilt", _checks.number("tilt", self.tilt, "[rad]", above=0.0))
        object.__setattr__(self, "height", _checks.number("height", self.height, "", least=0.0))

    def __call__(self, rows: Rows) -> Flags:
        """Of rows, (n,)."""
        low = rows.height < self.height * rows.standing_height
        return np.asarray((rows.gravity[:, 2] > -np.cos(self.tilt)) | low)


def checked_reward(reward: Any) -> dict[str, tuple[float, Term]]:
    """Weights and functions of the terms by name."""
    if callable(reward):
        return {"reward": (1.0, reward)}
    if not isinstance(reward, Mapping) or not reward:
        raise InvalidArgument(
            f"reward is {reward!r}; give a function of Rows, or weights by name: "
            'reward={"alive": 1.0, "mine": (0.5, lambda rows: …)}'
        )
    return {str(name): _checked_term(str(name), value) for name, value in reward.items()}


def _checked_term(name: str, value: Any) -> tuple[float, Term]:
    if isinstance(value, tuple) and len(value) == 2 and callable(value[1]):
        return _checks.number(f"reward[{name!r}][0]", value[0], ""), value[1]
    if name not in TERMS:
        raise InvalidArgument(
            f"reward has {name!r}, which is no known term;{did_you_mean(name, TERMS)} Known: {', '.join(TERMS)}; "
            f"of one's own give (weight, function)"
        )
    return _checks.number(f"reward[{name!r}]", value, ""), TERMS[name]


def _squares(array: Array) -> Array:
    return np.asarray(np.add.reduce(array * array, axis=1))
