"""An inertial measurement unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.sensors.sampled import Instants, Levels, SampledSensor

if TYPE_CHECKING:
    from exposim.simulation.simulator import Simulator


@dataclass(frozen=True, eq=False)
class ImuReading:
    """What an :class:`IMU` says, in the axes of its frame; of several samples, with a row for each.

    Args:
        t: When it was measured [s].
        acceleration: Proper, of the frame's origin: p̈ − g [m/s²], (3,); at rest 9.81 upwards, in free fall 0.
        angular_velocity: [rad/s], (3,).
    """

    t: float | Array
    acceleration: Array
    angular_velocity: Array


class IMU(SampledSensor[ImuReading]):
    """Accelerometer and gyroscope in a frame of the robot.

    The acceleration is that of the instant, with the forces that act then: exact within a step, impacts included.

    Args:
        frame: Name of a link or another frame, at whose origin and in whose axes it measures.
        noise: Standard deviations of a sample, of acceleration [m/s²] and angular velocity [rad/s]: a pair, each one
            number or three.
        bias: That is added to all samples: a pair likewise.
        walk: How far the bias wanders, as standard deviation after one second, growing with the root of time: a pair
            likewise [m/s²/√s], [rad/s/√s].
        delay: A sample is known this long after it was taken [s].
        rate: Samples in a second [Hz], at multiples of its inverse, within steps too; ``None``: one at the end of every
            step.
        seed: Of the randomness; sensors of different frames differ with the same one.
    """

    def __init__(
        self,
        frame: str,
        *,
        noise: Levels = 0.0,
        bias: Levels = 0.0,
        walk: Levels = 0.0,
        delay: float = 0.0,
        rate: float | None = None,
        seed: int = 0,
    ):
        if not isinstance(frame, str) or not frame:
            raise InvalidArgument(f"frame is {frame!r}; give the name of a frame of the robot")
        quantities = ("acceleration [m/s²]", "angular velocity [rad/s]")
        super().__init__(rate, noise, bias, walk, delay, seed, quantities, frame)
        self._frame = frame

    def __repr__(self) -> str:
        return f"IMU({self._frame!r}, rate={self.rate}, delay={self.delay})"

    def _find(self, sim: Simulator) -> tuple[int, ...]:
        sim.robot.locate(self._frame)
        return 3, 3

    def _measure(self, at: Instants) -> Array:
        frames = at.sim._ask.frames
        return np.array(
            [
                np.concatenate(frames.felt(self._frame, q, v, dv))
                for q, v, dv in zip(at.q, at.v, at.accelerations, strict=True)
            ]
        )

    def _reading(self, t: float | Array, values: Array) -> ImuReading:
        return ImuReading(t, values[..., :3], values[..., 3:])
