r"""A walking pattern: footsteps, the centre of mass of a linear inverted pendulum, swinging feet.

The pendulum's centre of mass :math:`c` at constant height :math:`h` and the centre of pressure :math:`z` under the feet
belong together by :math:`z = c - (h/g)\,\ddot c`. Of all motions with piecewise constant jerk, the pattern is the one
whose centre of pressure stays nearest to the middle of the feet that stand, with little jerk, and which ends at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.controllers.tasks import Point, Pose

Side = Literal["left", "right"]
GRAVITY = 9.81


@dataclass(frozen=True)
class Step:
    """One foot swings to a new place while the other one stands.

    Args:
        side: Which foot swings.
        forward: How far [m].
        start: When it lifts off [s].
        end: When it lands [s].
    """

    side: Side
    forward: float
    start: float
    end: float


class WalkingPattern:
    """Where feet and centre of mass should be at every time.

    Args:
        feet: Placements of both feet at the start.
        centre_of_mass: At the start [m], (3,).
        steps: In their order, not overlapping, with time between them to shift the weight.
        duration: At the end of which the robot stands still, between its feet [s].
        middle: From a foot's origin to where it likes to be pressed on, forwards [m].
        clearance: How high feet swing [m].
        interval: In which jerk is constant [s].
    """

    def __init__(
        self,
        feet: dict[Side, pin.SE3],
        centre_of_mass: Array,
        steps: Sequence[Step],
        duration: float,
        middle: float = 0.02,
        clearance: float = 0.05,
        interval: float = 0.02,
    ):
        self.steps = tuple(steps)
        self._feet, self._clearance = feet, clearance
        self._start = np.array(centre_of_mass)
        self._middle = np.array([middle, 0.0, 0.0])
        count = round(duration / interval)
        pressure = np.array([self.pressure(interval * k) for k in range(1, count + 1)])
        self._pendulum = Pendulum(self._start, pressure, interval)

    def standing(self, t: float) -> tuple[Side, ...]:
        """Feet on the ground."""
        swinging = [step.side for step in self.steps if step.start <= t < step.end]
        return tuple(side for side in self._feet if side not in swinging)

    def foot(self, side: Side, t: float, ahead: float = 0.0) -> Pose:
        """Where a foot should be; the acceleration is that of a time `ahead` [s]."""
        travelled = rate = height = climb = forwards = upwards = 0.0
        for step in self.steps:
            if step.side != side or t < step.start:
                continue
            swing = step.end - step.start
            s = (t - step.start) / swing
            travelled += step.forward * smooth(s)[0]
            if s < 1.0:
                rate = step.forward * smooth(s)[1] / swing
                height, climb = (self._clearance * each / swing**k for k, each in enumerate(bump(s)[:2]))
                later = min(1.0, s + ahead / swing)
                forwards = step.forward * smooth(later)[2] / swing**2
                upwards = self._clearance * bump(later)[2] / swing**2
        start = self._feet[side]
        placement = pin.SE3(start.rotation, start.translation + np.array([travelled, 0.0, height]))
        return Pose(placement, [rate, 0.0, climb, 0.0, 0.0, 0.0], [forwards, 0.0, upwards, 0.0, 0.0, 0.0])

    def centre_of_mass(self, t: float, ahead: float = 0.0) -> Point:
        """Where it should be; the acceleration is that of a time `ahead` [s]."""
        position, velocity, _ = self._pendulum.at(t)
        return Point(position, velocity, self._pendulum.at(t + ahead)[2])

    def pressure(self, t: float) -> Array:
        """Where the centre of pressure should be [m]: moves from foot to foot while both stand, (3,)."""
        places = [(0.0, self._start)]
        for step in self.steps:
            stance: Side = "left" if step.side == "right" else "right"
            place = self.foot(stance, step.start).placement.translation + self._middle
            places += [(step.start, place), (step.end, place)]
        end = self.steps[-1].end + 0.6
        both = [self.foot(side, end).placement.translation + self._middle for side in self._feet]
        places.append((end, np.mean(both, axis=0)))
        times = [time for time, _ in places]
        return np.array([np.interp(t, times, [place[axis] for _, place in places]) for axis in range(3)])


class Pendulum:
    """The centre of mass whose centre of pressure follows a wanted one, at rest at the start and at the end.

    Args:
        start: Centre of mass at the start [m], its height above the feet that of all times, (3,).
        pressure: Wanted centre of pressure at the end of each interval [m], (n, 3).
        interval: In which jerk is constant [s].
    """

    def __init__(self, start: Array, pressure: Array, interval: float):
        self._interval = interval
        self._motion = np.stack(_pendulum(start, pressure, interval), axis=1)  # p, v, a, jerk, (n, 4, 3)

    def at(self, t: float) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration, at the height of the start."""
        k = min(int(t / self._interval), len(self._motion) - 1)
        s = min(t, self._interval * len(self._motion)) - self._interval * k
        powers = np.array([[1.0, s, s * s / 2, s**3 / 6], [0.0, 1.0, s, s * s / 2], [0.0, 0.0, 1.0, s]])
        position, velocity, acceleration = powers @ self._motion[k]
        return position, velocity, acceleration


def _pendulum(start: Array, pressure: Array, interval: float) -> tuple[Array, Array, Array, Array]:
    """Position, velocity, acceleration and jerk at the beginning of each interval, (n, 3) each; heights constant.

    A linear least-squares problem: the centre of pressure is linear in the jerks.
    """
    n, h = len(pressure), interval
    since = np.arange(1, n + 1)[:, None] - np.arange(n)[None, :]  # intervals from each jerk's beginning to each time
    passed = np.tril(np.ones((n, n)), 0) * (since > 0)
    to_acceleration = h * passed
    to_velocity = h**2 * (since - 0.5) * passed
    to_position = h**3 * (since**2 / 2 - since / 2 + 1 / 6) * passed
    to_pressure = to_position - start[2] / GRAVITY * to_acceleration
    at_rest = 10.0 * np.vstack([to_velocity[-1], to_acceleration[-1]])
    little_jerk = 1e-3 * np.sqrt(h) * np.eye(n)
    A = np.vstack([to_pressure, at_rest, little_jerk])
    wanted = np.vstack([pressure - start, np.zeros((2 + n, 3))])
    jerk = np.linalg.lstsq(A, wanted, rcond=None)[0]
    jerk[:, 2] = 0.0
    first = np.zeros((1, 3))
    position, velocity, acceleration = (
        np.vstack([first, (matrix @ jerk)[:-1]]) for matrix in (to_position, to_velocity, to_acceleration)
    )
    return position + start, velocity, acceleration, jerk


def smooth(s: float) -> tuple[float, float, float]:
    """From 0 to 1 with its derivatives, at rest at both ends."""
    if s >= 1.0:
        return 1.0, 0.0, 0.0
    return s**3 * (10 - 15 * s + 6 * s**2), 30 * (s * (1 - s)) ** 2, 60 * s * (1 - s) * (1 - 2 * s)


def bump(s: float) -> tuple[float, float, float]:
    """From 0 to 1 and back with its derivatives, at rest at both ends: 64 (s (1 − s))³."""
    u, du = s * (1 - s), 1 - 2 * s
    return 64 * u**3, 192 * u**2 * du, 64 * (6 * u * du**2 - 6 * u**2)
