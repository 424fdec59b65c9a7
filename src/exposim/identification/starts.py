"""Where windows begin, from what was measured around their first instants."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.identification.measured import Motion
from exposim.identification.tangents import Tangents
from exposim.identification.windows import Noise, Windows
from exposim.simulation.rollout import Rollout

# A polynomial of this degree through what was measured so long before and after [s].
DEGREE = 3
AROUND = 0.02
# Before a window, from which on it is simulated so that its contacts are pressed and stretched as they would be [s].
RUN_IN = 0.02


def recorded_starts(windows: Windows, pool: Rollout) -> Array:
    """Flat states of the trajectories that the windows are of.

    Raises:
        InvalidArgument: Of motions that have no complete states.
    """
    states = []
    for m, first in zip(windows.motion, windows.first, strict=True):
        recorded = windows.motions[m].recorded
        if recorded is None:
            raise InvalidArgument(
                'states="recorded" is of trajectories that were simulated; of a measured one, whose contacts nobody '
                'knows, give states="estimated"'
            )
        states.append(recorded.state(int(first)))
    return pool.pack(states)


class SmoothedStarts:
    """Flat states near what was measured, with contacts as they are after a short run.

    Args:
        windows: Whose starts they are.
        noise: Of what was measured.
    """

    def __init__(self, windows: Windows, noise: Noise):
        self._windows = windows
        before = [_instants_before(windows.motions[m]) for m in windows.motion]
        self._begins = np.maximum(windows.first - before, 0)
        at = zip(windows.motion, self._begins, strict=True)
        pairs = list(zip(noise.q, noise.v, strict=True))
        alike = [(*pair, np.array([each == pair for each in pairs])) for pair in sorted(set(pairs))]
        found = [_smoothed(windows.motions[m], int(begin), windows.tangents, alike) for m, begin in at]
        self._q, self._v = (np.stack(each) for each in zip(*found, strict=True))

    def in_world(self, pool: Rollout, rows: NDArray[np.int_]) -> tuple[Array, int, float]:
        """Of some windows, in the world of a pool: where motions lead to from a little before, (rows, nx).

        Also how many steps that took, and how long they did [s].
        """
        windows = self._windows
        starts = pool.reset(self._q[rows], self._v[rows])
        steps = np.array([windows.motions[m].steps for m in windows.motion])
        ahead = (windows.first - self._begins) * steps
        seconds = 0.0
        for many in sorted(set(ahead[rows].tolist()) - {0}):
            which = np.flatnonzero(ahead[rows] == many)
            held = [
                (windows.motions[windows.motion[w]], self._begins[w] + np.arange(many) // steps[w]) for w in rows[which]
            ]
            first = windows.motions[0]
            inputs: dict[str, Any] = {
                name: np.stack([motion.inputs[name][at] for motion, at in held]) for name in first.inputs
            }
            wrenches = {
                frame: np.stack([motion.wrenches[frame][at] for motion, at in held]) for frame in first.wrenches
            }
            began = time.perf_counter()
            out = pool(starts[which], **inputs, wrenches=wrenches or None, steps=many, record=())
            seconds += time.perf_counter() - began
            good = out.status == 0
            starts[which[good]] = out.end[good]
        return starts, int(ahead[rows].sum()), seconds


def _instants_before(motion: Motion) -> int:
    return max(1, round(RUN_IN / _interval(motion)))


def _interval(motion: Motion) -> float:
    return float(motion.t[1] - motion.t[0])


def _smoothed(
    motion: Motion, at: int, tangents: Tangents, alike: Sequence[tuple[float, float, NDArray[np.bool_]]]
) -> tuple[Array, Array]:
    """Configuration and velocity at an instant, by a polynomial through those around it.

    Args:
        motion: Measured.
        at: Number of the instant.
        tangents: Of its configurations.
        alike: Standard deviations of positions and velocities, and the degrees of freedom of which they are.
    """
    reach = max(2, round(AROUND / _interval(motion)))
    near = np.arange(max(0, at - reach), min(len(motion.t), at + reach + 1))
    t = motion.t[near] - motion.t[at]
    degree = min(DEGREE, len(near) - 1)
    scale = float(np.abs(t).max())
    powers = np.arange(degree + 1)
    values = (t[:, None] / scale) ** powers
    slopes = powers * (t[:, None] / scale) ** np.maximum(powers - 1, 0) / scale
    away = tangents.difference(motion.q[at], motion.q[near])
    dq, v = np.zeros(away.shape[1]), np.zeros(away.shape[1])
    for sigma_q, sigma_v, dofs in alike:  # one system to all of the same noise
        rows, wanted = [values / sigma_q], [away[:, dofs] / sigma_q]
        if motion.v is not None:
            rows.append(slopes / sigma_v)
            wanted.append(motion.v[near][:, dofs] / sigma_v)
        found = np.linalg.lstsq(np.concatenate(rows), np.concatenate(wanted), rcond=None)[0]
        dq[dofs], v[dofs] = found[0], found[1] / scale
    return tangents.integrate(motion.q[at], dq), v
