"""Contact switches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument, StateMismatch
from exposim.sensors.names import Names, checked_names, chosen
from exposim.simulation.events import KINDS
from exposim.simulation.sensing import SAME_TIME, Sensor, SensorState

if TYPE_CHECKING:
    from exposim.simulation.simulator import Simulator

# Of the number of surfaces that a point touches, by the core's numbers of events.
CHANGES = {KINDS.index("land"): 1.0, KINDS.index("lift"): -1.0}


@dataclass(frozen=True, eq=False)
class FootReading:
    """What a :class:`FootContact` says, of every point; as a sample, in one row.

    Args:
        t: Of the reading [s]; what it says is of ``delay`` before.
        touching: Whether it touches anything, (n,).
        landings: How often it has landed since the reading before, (n,).
        landed_at: When it landed last [s], (n,); NaN before it has.
        lifted_at: When it lifted last [s], (n,); NaN before it has.
    """

    t: float | Array
    touching: NDArray[np.bool_]
    landings: NDArray[np.int_]
    landed_at: Array
    lifted_at: Array


class FootContact(Sensor[FootReading]):
    """Switches that see every landing once, however short, and however long the steps: they go by ``sim.events``.

    A point that touches several surfaces lands on the first, and lifts from the last.

    Args:
        points: Names or globs of contact points; ``None``: all.
        debounce: A point that lifts for less than this [s] has not lifted: it does not land again, and touches all the
            time.
        delay: What happens is known this long after [s].
    """

    def __init__(self, points: Names = None, *, debounce: float = 0.0, delay: float = 0.0):
        super().__init__(delay)
        self._wanted = checked_names("points", points)
        self._debounce = _checks.number("debounce", debounce, "[s]", least=0.0)
        self._points: list[str] = []
        self._owner: NDArray[np.int_] = np.empty(0, dtype=int)  # of every contact, the point; −1: none of ours
        self._pending: Array = np.empty((0, 3))  # time, point, 1 for landing or −1
        self._forget(entirely=True)

    @property
    def points(self) -> tuple[str, ...]:
        """Names of the contact points, in the order of the readings; known after the first."""
        return tuple(self._points)

    @property
    def samples(self) -> FootReading:
        """The last reading, as one row."""
        if self._seen is None:
            raise InvalidArgument("FootContact has not been read yet; read it first (sim.read)")
        last = self._tell(float(self._seen[0]), False)
        return FootReading(
            np.array([last.t]),
            last.touching[None],
            last.landings[None],
            last.landed_at[None],
            last.lifted_at[None],
        )

    def __repr__(self) -> str:
        return f"FootContact({self._wanted or 'all'}, debounce={self._debounce}, delay={self.delay})"

    def _bind(self, sim: Simulator) -> None:
        if self._robot is sim.robot:
            return
        self._points = chosen("points", self._wanted, sim.robot.feet, sim.robot.name)
        self._owner = np.array(
            [self._points.index(p.name) if p.name in self._points else -1 for p in sim.contact_points], dtype=int
        )
        self._robot = sim.robot

    def _see(self, sim: Simulator, goes_on: bool) -> None:
        rows = sim._shown_events[:, :3].tolist()
        found = [(t, self._owner[int(index)], CHANGES[int(kind)]) for t, index, kind in rows if kind in CHANGES]
        new = [each for each in found if each[1] >= 0]
        if not goes_on:
            held = np.bincount(self._owner[self._owner >= 0], sim.active[self._owner >= 0], len(self._points))
            self._touches = held.astype(int)
            for _, point, change in new:  # back to where they began
                self._touches[point] -= int(change)
            self._landings = np.zeros(len(self._points), dtype=int)
            self._landed_at, self._lifted_at = (np.full(len(self._points), np.nan) for _ in range(2))
        if new:
            self._pending = np.concatenate([self._pending, np.array(new)])

    def _tell(self, t: float, is_new: bool) -> FootReading:
        known = t - self._delay
        if is_new:
            self._landings[:] = 0
            arrived = int(np.searchsorted(self._pending[:, 0], known + SAME_TIME, side="right"))
            for when, point, change in self._pending[:arrived]:
                self._happens(when, int(point), int(change))
            self._pending = self._pending[arrived:]
        bounces = (self._touches == 0) & (known - self._lifted_at < self._debounce)
        return FootReading(
            t, (self._touches > 0) | bounces, self._landings.copy(), self._landed_at.copy(), self._lifted_at.copy()
        )

    def _happens(self, t: float, point: int, change: int) -> None:
        self._touches[point] += change
        if change < 0 and self._touches[point] == 0:
            self._lifted_at[point] = t
        if change > 0 and self._touches[point] == 1 and not t - self._lifted_at[point] < self._debounce:
            self._landings[point] += 1
            self._landed_at[point] = t

    def _forget(self, entirely: bool) -> None:
        if entirely:
            self._robot = None
        self._pending = np.empty((0, 3))
        self._touches, self._landings = np.empty(0, dtype=int), np.empty(0, dtype=int)
        self._landed_at, self._lifted_at = np.empty(0), np.empty(0)

    def _own_state(self) -> SensorState:
        return {
            "pending": self._pending.copy(),
            "touches": self._touches.copy(),
            "landings": self._landings.copy(),
            "landed_at": self._landed_at.copy(),
            "lifted_at": self._lifted_at.copy(),
        }

    def _set_own_state(self, state: SensorState) -> None:
        sizes = {state[name].size for name in ("touches", "landings", "landed_at", "lifted_at")}
        if len(sizes) > 1 or state["pending"].shape[1:] != (3,):
            raise StateMismatch(
                "state has arrays that do not fit together; give what state of a FootContact was before"
            )
        self._pending, self._touches, self._landings = state["pending"], state["touches"], state["landings"]
        self._landed_at, self._lifted_at = state["landed_at"], state["lifted_at"]
        self._robot = None
