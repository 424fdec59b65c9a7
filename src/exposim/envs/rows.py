"""What is known of every row at the end of a period: the one argument of rewards, terminations and observations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array

Flags = NDArray[np.bool_]


@dataclass
class Rows:
    """The rows now, one after the other in every array; computed when it is asked for. Not to be changed.

    Args:
        q: Configurations, (n, nq).
        v: Velocities, (n, nv).
        command: What each shall do, (n, k).
        action: What the policy said last, (n, na), from −1 to 1.
        last_action: And before that, (n, na).
        torques: Of the motors, mean over each step of the period [N·m], (n, steps, na).
        touching: Whether each foot touches something, (n, feet).
        landed: Whether it does for the first time since the period before, (n, feet).
        air_time: For how long each foot has not touched anything, of one that landed until then [s], (n, feet).
        time: Since the beginning of the episode [s], (n,).
        terminated: Whether the episode ends here, (n,); for rewards only.
        standing: Standing posture of the actuated joints [rad], (na,).
        standing_height: Of the base above the ground [m].
        joints: Index in v of each actuated joint, (na,).
        ground: Heights of the ground [m] below points, (n, 3) to (n,).
        period: Of the policy [s].
    """

    q: Array
    v: Array
    command: Array
    action: Array
    last_action: Array
    torques: Array
    touching: Flags
    landed: Flags
    air_time: Array
    time: Array
    terminated: Flags
    standing: Array
    standing_height: float
    joints: NDArray[np.int_] | slice
    ground: Callable[[Array], Array]
    period: float

    @cached_property
    def gravity(self) -> Array:
        """Its direction in the axes of the base, (n, 3): (0, 0, −1) where that is level."""
        x, y, z, w = self.q[:, 3:7].T
        down = np.empty((len(self.q), 3))
        down[:, 0] = 2.0 * (w * y - x * z)
        down[:, 1] = -2.0 * (w * x + y * z)
        down[:, 2] = 2.0 * (x * x + y * y) - 1.0
        return down

    @property
    def linear_velocity(self) -> Array:
        """Of the base in its own axes [m/s], (n, 3)."""
        return self.v[:, :3]

    @property
    def angular_velocity(self) -> Array:
        """Of the base in its own axes [rad/s], (n, 3)."""
        return self.v[:, 3:6]

    @cached_property
    def positions(self) -> Array:
        """Of the actuated joints, from their standing posture [rad], (n, na)."""
        return np.asarray(self.q[:, 1:][:, self.joints] - self.standing)

    @cached_property
    def velocities(self) -> Array:
        """Of the actuated joints [rad/s], (n, na)."""
        return self.v[:, self.joints]

    @cached_property
    def height(self) -> Array:
        """Of the base above the ground below it [m], (n,)."""
        return np.asarray(self.q[:, 2] - self.ground(self.q[:, :3]))

    @cached_property
    def tilt(self) -> Array:
        """Of the base from level [rad], (n,)."""
        return np.arccos(np.clip(-self.gravity[:, 2], -1.0, 1.0))
