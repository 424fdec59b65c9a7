"""Sensors of joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from exposim import _checks
from exposim._checks import Array
from exposim.sensors.names import Names, checked_names, chosen
from exposim.sensors.sampled import Instants, Levels, SampledSensor

if TYPE_CHECKING:
    from exposim.simulation.simulator import Simulator


@dataclass(frozen=True, eq=False)
class EncoderReading:
    """What :class:`Encoders` say, of every joint; of several samples, with a row for each.

    Args:
        t: When it was measured [s].
        position: [rad or m], (n,).
        velocity: [rad/s or m/s], (n,).
    """

    t: float | Array
    position: Array
    velocity: Array


class Encoders(SampledSensor[EncoderReading]):
    """Position and velocity of joints.

    The velocity is that of the instant, with noise of its own; what an encoder alone would tell of it is in the
    differences of positions.

    Args:
        joints: Names or globs of joints that are one angle or one length; ``None``: all such that are actuated.
        noise: Standard deviations of a sample, of position [rad or m] and velocity [rad/s or m/s]: a pair, each one
            number or one per joint.
        bias: That is added to all samples: a pair likewise.
        walk: How far the bias wanders, as standard deviation after one second, growing with the root of time: a pair
            likewise.
        delay: A sample is known this long after it was taken [s].
        rate: Samples in a second [Hz], at multiples of its inverse, within steps too; ``None``: one at the end of every
            step.
        resolution: Positions are the closest multiples of it [rad or m]; 0: as they are.
        seed: Of the randomness; sensors of different joints differ with the same one.
    """

    def __init__(
        self,
        joints: Names = None,
        *,
        noise: Levels = 0.0,
        bias: Levels = 0.0,
        walk: Levels = 0.0,
        delay: float = 0.0,
        rate: float | None = None,
        resolution: float = 0.0,
        seed: int = 0,
    ):
        self._wanted = checked_names("joints", joints)
        quantities = ("position [rad or m]", "velocity [rad/s or m/s]")
        super().__init__(rate, noise, bias, walk, delay, seed, quantities, repr(self._wanted))
        self._resolution = _checks.number("resolution", resolution, "[rad or m]", least=0.0)
        self._joints: list[str] = []

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints, in the order of the readings; known after the first."""
        return tuple(self._joints)

    def __repr__(self) -> str:
        return f"Encoders({self._wanted or 'all'}, rate={self.rate}, delay={self.delay})"

    def _find(self, sim: Simulator) -> tuple[int, ...]:
        robot = sim.robot
        model = robot.model
        single = {
            name: model.joints[model.getJointId(name)]
            for name in robot.joints
            if model.nvs[model.getJointId(name)] == 1
        }
        names = [name for name in robot.actuated_joints if name in single] if self._wanted is None else list(single)
        self._joints = chosen("joints", self._wanted, names, robot.name)
        found = [single[name] for name in self._joints]
        self._in_q = np.array([joint.idx_q for joint in found])
        self._in_v = np.array([joint.idx_v for joint in found])
        self._circles = np.flatnonzero([joint.nq == 2 for joint in found])  # cosine and sine of an angle
        return len(found), len(found)

    def _measure(self, at: Instants) -> Array:
        position = at.q[:, self._in_q]
        for k in self._circles:
            cosine, sine = at.q[:, self._in_q[k]], at.q[:, self._in_q[k] + 1]
            position[:, k] = np.arctan2(sine, cosine)
        return np.concatenate([position, at.v[:, self._in_v]], axis=1)

    def _rounded(self, values: Array) -> Array:
        if self._resolution > 0.0:
            half = values.shape[1] // 2
            values[:, :half] = np.round(values[:, :half] / self._resolution) * self._resolution
        return values

    def _reading(self, t: float | Array, values: Array) -> EncoderReading:
        half = values.shape[-1] // 2
        return EncoderReading(t, values[..., :half], values[..., half:])
