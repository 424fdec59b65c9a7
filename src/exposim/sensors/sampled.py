"""Sensors that measure at a rate, with noise, bias and delay."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument, StateMismatch
from exposim.simulation.sensing import SAME_TIME, Reading, Sensor, SensorState, path_of

if TYPE_CHECKING:
    from exposim.simulation.path import Path
    from exposim.simulation.simulator import Simulator

# Of a period, by which an instant of the grid may be beyond the end of a step.
ON_GRID = 1e-6
# From the beginning of the clock on, that can be counted one by one.
MOST_SAMPLES = 2.0**53
# What noise, bias and walk take: a number, or one for each entry; of two quantities, a pair of such.
Levels = ArrayLike | tuple[ArrayLike, ArrayLike]
_WORDS = 6  # of the state of a random generator


@dataclass(frozen=True, eq=False)
class Instants:
    """Where a robot was at some instants of a step, or is now.

    Args:
        t: [s], (n,).
        q: (n, nq).
        v: (n, nv).
        sim: That moved it.
        path: Of the step; ``None``: now.
    """

    t: Array
    q: Array
    v: Array
    sim: Simulator
    path: Path | None

    @classmethod
    def of(cls, sim: Simulator, path: Path | None, times: Array) -> Instants:
        """At times within a path; of none, or only at its end: now."""
        if path is None or (len(times) == 1 and times[0] == path.end):
            return cls(times, sim.q[None], sim.v[None], sim, None)
        return cls(times, *path(times), sim, path)

    @property
    def forces(self) -> Array:
        """Of the contacts on the robot [N], (n, nc, 3)."""
        return self.sim.forces[None] if self.path is None else self.path.forces(self.t)

    @property
    def accelerations(self) -> Array:
        """Of the degrees of freedom, (n, nv)."""
        return self.sim.acceleration[None] if self.path is None else self.path.accelerations(self.t)


class SampledSensor(Sensor[Reading]):
    """Base of sensors that take samples.

    Args:
        rate: Samples in a second [Hz], at multiples of its inverse, within steps too; ``None``: one at the end of every
            step.
        noise: Standard deviation of every sample.
        bias: That is added to all of them.
        walk: How far the bias wanders from there: standard deviation after one second, growing with the root of time.
        delay: A sample is known this long after it was taken [s].
        seed: Of the randomness. Sensors of different things differ with the same one.
        quantities: What is measured, with units, one or two.
        identity: Of what is measured.
    """

    def __init__(
        self,
        rate: float | None,
        noise: Levels,
        bias: Levels,
        walk: Levels,
        delay: float,
        seed: int,
        quantities: tuple[str, ...],
        identity: str,
    ):
        super().__init__(delay)
        self._rate = _checks.optional("rate", rate, "[Hz]", above=0.0)
        if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise InvalidArgument(f"seed is {seed!r}; give a whole number of at least 0")
        self._seed = [int(seed), zlib.crc32(f"{type(self).__name__}: {identity}".encode())]
        self._quantities = quantities
        self._noise = _levels("noise", noise, quantities, least=0.0)
        self._bias = _levels("bias", bias, quantities)
        self._walk = _levels("walk", walk, quantities, least=0.0)
        self._times: Array = np.empty(0)  # of samples that were not in the reading before the last
        self._values: Array = np.empty((0, 0))
        self._last_t = np.nan
        self._forget(entirely=True)

    @property
    def rate(self) -> float | None:
        """Samples in a second [Hz]; ``None``: one at the end of every step."""
        return self._rate

    @property
    def samples(self) -> Reading:
        """Of the last reading: those that arrived since the one before, a row each; of none before the first."""
        if not self._is_bound:
            raise InvalidArgument(f"{type(self).__name__} has no samples yet; read it first (sim.read)")
        return self._reading(self._times[: self._fresh], self._values[: self._fresh])

    # What each kind says of itself.

    @abstractmethod
    def _find(self, sim: Simulator) -> tuple[int, ...]:
        """What it measures, in a simulator; how many entries each quantity has."""

    @abstractmethod
    def _measure(self, at: Instants) -> Array:
        """The truth, (n, entries)."""

    @abstractmethod
    def _reading(self, t: Any, values: Array) -> Reading:
        """Of values of one instant, or of several."""

    def _rounded(self, values: Array) -> Array:
        """What is left of values that were measured."""
        return values

    # Seeing and telling.

    def _bind(self, sim: Simulator) -> None:
        if self._robot is sim.robot:
            return
        sizes = self._find(sim)
        self._levels = tuple(
            _spread(name, level, self._quantities, sizes)
            for name, level in (("noise", self._noise), ("bias", self._bias), ("walk", self._walk))
        )
        if self._values.shape[1:] != (sum(sizes),):
            self._values, self._wandered = np.empty((0, sum(sizes))), np.zeros(sum(sizes))
            self._times, self._fresh = np.empty(0), 0
            self._latest = np.empty(0)
        self._is_bound = True
        self._robot = sim.robot

    def _see(self, sim: Simulator, goes_on: bool) -> None:
        path = None if self._rate is None else path_of(sim)
        times = self._due(sim.t, path, goes_on)
        if not times.size:
            return
        values = self._disturbed(times, self._measure(Instants.of(sim, path, times)))
        self._times = np.concatenate([self._times, times])
        self._values = np.concatenate([self._values, values])

    def _due(self, now: float, path: Path | None, goes_on: bool) -> Array:
        """When samples are taken in a step; the first at once where none would be."""
        found = np.array([now])
        if path is not None and self._rate is not None:
            if not abs(path.end) * self._rate < MOST_SAMPLES:
                raise InvalidArgument(
                    f"{type(self).__name__}: samples at {self._rate:g} Hz cannot be told apart at t = {path.end:g} s; "
                    "start the clock earlier (state.replace(t=0.0))"
                )
            first, last = (int(np.floor(t * self._rate + ON_GRID)) for t in (path.start, path.end))
            grid = np.arange(first + 1, last + 1) / self._rate
            if grid.size or goes_on:
                found = np.clip(grid, path.start, path.end)
        return found

    def _disturbed(self, times: Array, values: Array) -> Array:
        noise, bias, walk = self._levels
        values = values + bias
        if noise.any() or walk.any():
            size = values.shape[1]
            drawn = self._random.standard_normal((len(times), 2 * size))
            before = np.concatenate([[times[0] if np.isnan(self._last_t) else self._last_t], times[:-1]])
            steps = np.sqrt(np.maximum(times - before, 0.0))[:, None] * walk * drawn[:, size:]
            wandered = self._wandered + np.cumsum(steps, axis=0)
            self._wandered = wandered[-1]
            values = values + noise * drawn[:, :size] + wandered
        self._last_t = float(times[-1])
        return self._rounded(values)

    def _tell(self, t: float, is_new: bool) -> Reading:
        if is_new:
            self._times, self._values = self._times[self._fresh :], self._values[self._fresh :]
            self._fresh = int(np.searchsorted(self._times, t - self._delay + SAME_TIME, side="right"))
            if self._fresh:
                self._latest = np.concatenate([self._times[self._fresh - 1, None], self._values[self._fresh - 1]])
        if self._latest.size:
            return self._reading(float(self._latest[0]), self._latest[1:].copy())
        return self._reading(float(self._times[0]), self._values[0].copy())  # on its way: as if it had always been so

    def _forget(self, entirely: bool) -> None:
        if entirely:
            self._random = np.random.default_rng(self._seed)
            self._is_bound, self._robot = False, None
            self._values, self._wandered = np.empty((0, 0)), np.empty(0)
        self._times, self._values, self._fresh = np.empty(0), self._values[:0], 0
        self._latest = np.empty(0)
        self._last_t = np.nan

    # Saving and restoring.

    def _own_state(self) -> SensorState:
        return {
            "random": _packed(self._random),
            "times": self._times.copy(),
            "values": self._values.copy(),
            "fresh": np.array(self._fresh),
            "latest": self._latest.copy(),
            "wandered": self._wandered.copy(),
            "last_t": np.array(self._last_t),
        }

    def _set_own_state(self, state: SensorState) -> None:
        size = state["values"].shape[1]
        good = (
            state["random"].shape == (_WORDS,)
            and size in ((0, self._values.shape[1]) if self._is_bound else (size,))
            and state["times"].shape == state["values"].shape[:1]
            and state["wandered"].shape == (size,)
            and state["latest"].size in (0, 1 + size)
            and 0 <= int(state["fresh"]) <= len(state["times"])
        )
        if not good:
            raise StateMismatch(
                f"state has arrays that do not fit together; give what state of a {type(self).__name__} was before"
            )
        self._random = _unpacked(state["random"])
        self._times, self._values, self._fresh = state["times"], state["values"], int(state["fresh"])
        self._latest, self._wandered, self._last_t = state["latest"], state["wandered"], float(state["last_t"])
        self._robot, self._is_bound = None, size > 0


def _levels(name: str, given: Any, quantities: tuple[str, ...], **bound: float) -> tuple[Array, ...]:
    """Of every quantity a number or one per entry; 0 alone is 0 for all."""
    each: tuple[Any, ...] = (given,)
    if len(quantities) > 1:
        if isinstance(given, (int, float)) and given == 0.0:
            each = (0.0,) * len(quantities)
        else:
            each = tuple(given) if isinstance(given, (tuple, list)) else ()
        if len(each) != len(quantities):
            wanted = f"{len(quantities)}: of {' and '.join(quantities)}, each a number or one per entry"
            raise InvalidArgument(f"{name} is {given!r}; give {wanted}")
    levels = []
    for level, quantity in zip(each, quantities, strict=True):
        array = _checks.as_array(name, level, f"numbers, of {quantity}")
        if array.ndim > 1 or not np.isfinite(array).all() or ("least" in bound and (array < bound["least"]).any()):
            least = f" of at least {bound['least']:g}" if bound else ""
            raise InvalidArgument(f"{name} is {level!r} for {quantity}; give a finite number{least}, or one per entry")
        levels.append(array)
    return tuple(levels)


def _spread(name: str, levels: tuple[Array, ...], quantities: tuple[str, ...], sizes: tuple[int, ...]) -> Array:
    for level, quantity, size in zip(levels, quantities, sizes, strict=True):
        if level.ndim and level.size != size:
            raise InvalidArgument(f"{name} has {level.size} entries for {quantity}; give {size}, or one number")
    return np.concatenate([np.broadcast_to(level, size) for level, size in zip(levels, sizes, strict=True)])


def _packed(random: np.random.Generator) -> Any:
    """The state of a generator: two numbers of 128 bits, in halves, and what is left of the last draw."""
    state: Any = random.bit_generator.state
    inner, half = state["state"], 2**64
    words = [word for key in ("state", "inc") for word in divmod(inner[key], half)]
    return np.array([*words, state["has_uint32"], state["uinteger"]], dtype=np.uint64)


def _unpacked(words: Any) -> np.random.Generator:
    high, low, inc_high, inc_low, has, left = map(int, words)
    random = np.random.default_rng(0)
    random.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": high * 2**64 + low, "inc": inc_high * 2**64 + inc_low},
        "has_uint32": has,
        "uinteger": left,
    }
    return random
