"""The inside of a step."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks, _core
from exposim._checks import Array
from exposim.errors import InvalidArgument

# Of the length of a step, by which times may be outside it.
ROUNDING = 1e-9


class Path:
    """Where a step went: configuration, velocity and forces at any time in it.

    Continuous, but for forces where something lands or slips; it starts and ends at the states before and after the
    step. A copy, which later steps do not change. Call it with a time, or several.

    By :class:`exposim.Expo` the contacts are followed through the step once more, closely, with the same terms; of
    other schemes it has forces and velocities on straight lines, configurations on a cubic.
    """

    def __init__(self, core: _core.Path):
        self._core = core

    @property
    def start(self) -> float:
        """When the step began [s]."""
        return self._core.start

    @property
    def end(self) -> float:
        """When it ended [s]."""
        return self._core.end

    def __call__(self, t: ArrayLike) -> tuple[Array, Array]:
        """Configuration and velocity.

        Args:
            t: When [s]: a number, or (nt,), from :attr:`start` to :attr:`end`.

        Returns:
            q, (nq,) or (nt, nq), and v, (nv,) or (nt, nv).
        """
        at = self._times(t)
        q, v = self._core.states(self._some(at))
        return (q[0], v[0]) if np.ndim(t) == 0 else (q[: len(at)], v[: len(at)])

    def forces(self, times: ArrayLike) -> Array:
        """Of the contacts on the robot in the world [N], (nt, nc, 3); at the end they are ``sim.forces``.

        Where a force jumps, what it jumps to.
        """
        at = self._times(times)
        found = np.asarray(self._core.forces(self._some(at)))
        return found.reshape(len(found), found.shape[1] // 3, 3)[: len(at)]

    def accelerations(self, times: ArrayLike) -> Array:
        """Of all degrees of freedom, with the forces at these times, (nt, nv)."""
        at = self._times(times)
        return np.asarray(self._core.accelerations(self._some(at)))[: len(at)]

    def __repr__(self) -> str:
        return f"Path({self.start:g} to {self.end:g} s)"

    def _some(self, times: Array) -> Array:
        """At least one: of none the core is not asked."""
        return times if len(times) else np.array([self.start])

    def _times(self, given: ArrayLike) -> Array:
        times = np.atleast_1d(_checks.as_array("t", given))
        if times.ndim != 1:
            raise InvalidArgument(f"t has shape {times.shape}; give one time, or several in a row")
        slack = ROUNDING * (self.end - self.start)
        outside = (times < self.start - slack) | (times > self.end + slack) | ~np.isfinite(times)
        if outside.any():
            raise InvalidArgument(
                f"t is {times[outside][0]:g} s; the step is from {self.start:g} to {self.end:g} s, a path is of the "
                f"last one alone"
            )
        return times
