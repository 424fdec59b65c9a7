r"""A crawl over uneven ground: footholds, one foot at a time, the centre of mass over the three that stand.

Feet step in turn, each onto a foothold that keeps away from edges. The centre of mass is that of a linear inverted
pendulum (see :mod:`exposim.scenarios.walking`) whose centre of pressure is within the triangle of the feet that stand;
height and pitch of the body follow the footholds under it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.controllers import InverseDynamics
from exposim.controllers.tasks import CentreOfMass, FramePose, Point, Pose, Posture
from exposim.robots.robot import Robot
from exposim.scenarios.walking import Pendulum, smooth

# From between all feet towards between the three that stand, where the robot is to be pressed up during a swing.
INWARDS = 0.7


@dataclass(frozen=True)
class Swing:
    """One foot goes from a foothold to the next.

    Args:
        foot: Which.
        start: When it lifts off [s].
        end: When it lands [s].
        before: Footholds of all feet until then [m], (3,) each.
        after: And from then on.
    """

    foot: str
    start: float
    end: float
    before: Mapping[str, Array]
    after: Mapping[str, Array]


class Crawl:
    """Where feet, centre of mass and trunk should be at every time.

    Args:
        feet: Centres of the feet at the start [m], (3,) each, front left, front right, rear left, rear right.
        centre_of_mass: At the start [m], (3,).
        foothold: Where a foot is to step that would like to step to x, y [m]: the centre of the foot, (3,).
        stride: Of every foot [m].
        rounds: How often every foot steps.
        swing: Time in the air [s].
        shift: Time on four feet in between [s].
        clearance: How high a foot swings above the higher of two footholds [m].
        crouch: How much lower the body is while it walks [m].
        interval: In which the jerk of the centre of mass is constant [s].
    """

    def __init__(
        self,
        feet: Mapping[str, Array],
        centre_of_mass: Array,
        foothold: Callable[[float, float], Array],
        *,
        stride: float,
        rounds: int,
        swing: float = 0.3,
        shift: float = 0.1,
        clearance: float = 0.05,
        crouch: float = 0.0,
        interval: float = 0.1,
    ):
        self._clearance, self._crouch = clearance, crouch
        self._start = np.array(centre_of_mass)
        front_left, front_right, rear_left, rear_right = self.feet = tuple(feet)
        self._front, self._rear = (front_left, front_right), (rear_left, rear_right)
        self.swings = _plan(
            feet, (rear_left, front_left, rear_right, front_right), foothold, stride, rounds, swing, shift
        )
        self.end = self.swings[-1].end + 1.0  # when it stands still [s]
        self._starts = np.array([each.start for each in self.swings])
        self._standing = [tuple(foot for foot in feet if foot != each.foot) for each in self.swings]
        times = np.arange(1, round(self.end / interval) + 1, dtype=float)
        pressure = self._pressure(interval * times)
        self._pendulum = Pendulum(self._start, pressure, interval)

    def standing(self, t: float) -> tuple[str, ...]:
        """Feet on the ground."""
        k = self._last_swing(t)
        return self._standing[k] if k >= 0 and t < self.swings[k].end else self.feet

    def foot(self, foot: str, t: float) -> Pose:
        """Where a foot should be: first up, then forward, then down."""
        k = self._last_swing(t)
        swing = self.swings[max(k, 0)]
        if k < 0:
            return _still(swing.before[foot])
        if swing.foot != foot or t >= swing.end:
            return _still(swing.after[foot])
        a, b = swing.before[foot], swing.after[foot]
        lasts = swing.end - swing.start
        s = (t - swing.start) / lasts
        apex = max(a[2], b[2]) + self._clearance
        along = _between(s, 0.2, 0.8)
        rise, fall = _between(s, 0.0, 0.45), _between(s, 0.55, 1.0)
        motion = []
        for order in range(3):
            p = along[order] * (b - a)
            p[2] = rise[order] * (apex - a[2]) + fall[order] * (b[2] - apex)
            motion.append(p / lasts**order)
        still = np.zeros(3)
        velocity, acceleration = (np.concatenate([each, still]) for each in motion[1:])
        return Pose(pin.SE3(np.eye(3), a + motion[0]), velocity, acceleration)

    def centre_of_mass(self, t: float) -> Point:
        """Over the feet that stand, as high above the footholds as at the start."""
        position, velocity, acceleration = (np.array(each) for each in self._pendulum.at(t))
        (position[2], velocity[2], acceleration[2]), _ = self._body(t)
        return Point(position, velocity, acceleration)

    def trunk(self, t: float) -> Pose:
        """Pitched as the ground under it."""
        _, (angle, rate, acceleration) = self._body(t)
        turn = pin.SE3(pin.rpy.rpyToMatrix(0.0, angle, 0.0), np.zeros(3))
        return Pose(turn, np.array([0, 0, 0, 0, rate, 0.0]), np.array([0, 0, 0, 0, acceleration, 0.0]))

    def _last_swing(self, t: float) -> int:
        """That has begun, −1: none."""
        return int(np.searchsorted(self._starts, t, side="right")) - 1

    def _body(self, t: float) -> tuple[Array, Array]:
        """Height and pitch with two derivatives each, (3,): changed while a foot swings."""
        k = self._last_swing(t)
        swing = self.swings[max(k, 0)]
        lasts = swing.end - swing.start
        s = smooth(min(1.0, max(0.0, (t - swing.start) / lasts)))
        progress = np.array([s[0], s[1] / lasts, s[2] / lasts**2])
        (low, flat), (high, steep) = self._stance(swing.before), self._stance(swing.after)
        height, pitch = (high - low) * progress, (steep - flat) * progress
        height[0] += low
        pitch[0] += flat
        if k <= 0:  # crouches in the first
            height -= self._crouch * progress
        else:
            height[0] -= self._crouch
        return height, pitch

    def _stance(self, footholds: Mapping[str, Array]) -> tuple[float, float]:
        """Height of the centre of mass and pitch over footholds."""
        front, rear = (np.mean([footholds[foot] for foot in pair], axis=0) for pair in (self._front, self._rear))
        first = np.mean([foot[2] for foot in self.swings[0].before.values()])
        height = self._start[2] + 0.5 * (front[2] + rear[2]) - first
        return float(height), float(-np.arctan2(front[2] - rear[2], front[0] - rear[0]))

    def _pressure(self, times: Array) -> Array:
        """Where the centre of pressure should be [m], (n, 3)."""
        places = [(0.0, self._start)]
        for swing, standing in zip(self.swings, self._standing, strict=True):
            among = {foot: swing.before[foot] for foot in standing}
            middle = 0.5 * (_middle(swing.before) + _middle(swing.after))
            place = middle + INWARDS * (_middle(among) - middle)
            places += [(swing.start, place), (swing.end, place)]
        places.append((self.swings[-1].end + 0.4, _middle(self.swings[-1].after)))
        at, where = np.array([time for time, _ in places]), np.array([place for _, place in places])
        return np.column_stack([np.interp(times, at, where[:, axis]) for axis in range(3)])


def stance(robot: Robot, feet: Sequence[str]) -> tuple[dict[str, Array], Array]:
    """Where frames of feet and the centre of mass are as the robot stands at ``robot.q0`` [m], (3,) each."""
    model = robot.model
    data = model.createData()
    com = np.array(pin.centerOfMass(model, data, robot.q0))
    pin.framesForwardKinematics(model, data, robot.q0)
    return {foot: np.array(data.oMf[model.getFrameId(foot)].translation) for foot in feet}, com


def follow(robot: Robot, walk: Crawl, trunk: str) -> InverseDynamics:
    """A controller: centre of mass, feet and trunk first, and the posture for what is left."""
    return InverseDynamics(
        robot,
        [
            CentreOfMass(walk.centre_of_mass, weight=1.0, kp=60.0),
            FramePose(trunk, walk.trunk, "orientation", weight=0.3, kp=60.0),
            *(FramePose(foot, partial(walk.foot, foot), "position", weight=1.0, kp=400.0) for foot in walk.feet),
            Posture(weight=1e-4, kp=20.0),
        ],
        contacts=walk.standing,
    )


def _plan(
    feet: Mapping[str, Array],
    order: Sequence[str],
    foothold: Callable[[float, float], Array],
    stride: float,
    rounds: int,
    swing: float,
    shift: float,
) -> list[Swing]:
    start = {foot: np.array(place) for foot, place in feet.items()}
    now, t, swings = dict(start), 0.5, []
    for k in range(1, rounds + 1):
        for foot in order:
            x, y, _ = start[foot]
            after = {**now, foot: foothold(x + k * stride, y)}
            swings.append(Swing(foot, t, t + swing, now, after))
            now, t = after, t + swing + shift
    return swings


def _middle(footholds: Mapping[str, Array]) -> Array:
    middle: Array = np.mean(list(footholds.values()), axis=0)
    return middle


def _still(place: Array) -> Pose:
    return Pose(pin.SE3(np.eye(3), place))


def _between(s: float, first: float, last: float) -> tuple[float, float, float]:
    """From 0 at first to 1 at last, with its derivatives by s."""
    width = last - first
    value, rate, acceleration = smooth(min(1.0, max(0.0, (s - first) / width)))
    return value, rate / width, acceleration / width**2
