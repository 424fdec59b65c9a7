"""Force sensors at contact points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from exposim._checks import Array
from exposim.sensors.names import Names, checked_names, chosen
from exposim.sensors.sampled import Instants, Levels, SampledSensor

if TYPE_CHECKING:
    from exposim.simulation.simulator import Simulator


@dataclass(frozen=True, eq=False)
class ForceReading:
    """What a :class:`ContactForce` says; of several samples, with a row for each.

    Args:
        t: When it was measured [s].
        force: On every point, in world axes [N], (n, 3).
    """

    t: float | Array
    force: Array


class ContactForce(SampledSensor[ForceReading]):
    """Forces on contact points, whatever they touch, at any rate: 1 kHz from steps of 10 ms.

    Args:
        points: Names or globs of contact points; ``None``: all.
        rate: Samples in a second [Hz], at multiples of its inverse, within steps too; ``None``: one at the end of every
            step.
        noise: Standard deviation of a sample [N]: one number, or one for each point and axis, x, y, z of the first
            point first.
        bias: That is added to all samples [N], likewise.
        walk: How far the bias wanders, as standard deviation after one second, growing with the root of time [N/√s],
            likewise.
        delay: A sample is known this long after it was taken [s].
        seed: Of the randomness; sensors of different points differ with the same one.
    """

    def __init__(
        self,
        points: Names = None,
        rate: float | None = None,
        *,
        noise: Levels = 0.0,
        bias: Levels = 0.0,
        walk: Levels = 0.0,
        delay: float = 0.0,
        seed: int = 0,
    ):
        self._wanted = checked_names("points", points)
        super().__init__(rate, noise, bias, walk, delay, seed, ("force [N]",), repr(self._wanted))
        self._points: list[str] = []

    @property
    def points(self) -> tuple[str, ...]:
        """Names of the contact points, in the order of the readings; known after the first."""
        return tuple(self._points)

    def __repr__(self) -> str:
        return f"ContactForce({self._wanted or 'all'}, rate={self.rate}, delay={self.delay})"

    def _find(self, sim: Simulator) -> tuple[int, ...]:
        self._points = chosen("points", self._wanted, sim.robot.feet, sim.robot.name)
        names = np.array([point.name for point in sim.contact_points])
        self._sums = np.array([names == point for point in self._points], dtype=float)  # over the slots of each
        return (3 * len(self._points),)

    def _measure(self, at: Instants) -> Array:
        forces: Array = np.einsum("pc,tck->tpk", self._sums, at.forces)
        return forces.reshape(len(at.t), -1)

    def _reading(self, t: float | Array, values: Array) -> ForceReading:
        return ForceReading(t, values.reshape(*values.shape[:-1], values.shape[-1] // 3, 3))
