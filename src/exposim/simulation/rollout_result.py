"""What came of a rollout."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from exposim import _core
from exposim._checks import Array
from exposim.errors import InvalidArgument, did_you_mean
from exposim.simulation.divergence import describe
from exposim.simulation.events import Event, events_of
from exposim.simulation.layout import Layout

if TYPE_CHECKING:
    from exposim.robots.robot import Robot
    from exposim.simulation.integrators import Integrator

DONE, DIVERGED, BAD_INPUT = range(3)

RECORDS = ("q", "v", "t", "states", "forces", "active", "torques", "actions", "events")
_ALWAYS = ("end", "status", "diverged_at")
# In the order of the core.
_BAD = ("", "the state", "taus", "targets", "target_velocities", "a wrench", "the policy's action")


class RolloutResult:
    """Rows of a rollout: N rows, T' records of each. What was not recorded is not there.

    Attributes:
        q: Configurations, (N, T', nq).
        v: Velocities, (N, T', nv).
        t: Times [s], (N, T').
        states: Flat states, (N, T', nx).
        forces: On the robot at every contact, in the world [N], (N, T', nc, 3).
        active: Whether each contact touches, (N, T', nc).
        torques: Of motors along every degree of freedom, on average over the last step before [N·m or N], (N, T', nv).
        actions: Of the policy, (N, T', n).
        end: Flat states at the end, (N, nx); always there, as are the following.
        status: 0: all steps were taken; 1: the row diverged; 2: its state or its input was bad, (N,).
        diverged_at: Number of the step that diverged, from 1; −1: none did, (N,).
    """

    q: Array
    v: Array
    t: Array
    states: Array
    forces: Array
    active: NDArray[np.bool_]
    torques: Array
    actions: Array
    end: Array
    status: NDArray[np.int32]
    diverged_at: NDArray[np.int64]

    def __init__(self, arrays: Mapping[str, NDArray[Any]], about: About, steps: int):
        for name in (*RECORDS, *_ALWAYS):
            if name in arrays:
                setattr(self, name, arrays[name])
        self._arrays = {name: arrays[name] for name in (*RECORDS, *_ALWAYS) if name in arrays}
        self._bad, self._stopped_at = arrays["bad"], arrays["stopped_at"]
        self._about = about
        self._steps = steps
        self._divergences: dict[int, tuple[float, int, Array, Array, Array]] = {}
        self._tables: Sequence[Array] | None = None

    def _complete(
        self, divergences: Iterable[tuple[int, _core.Divergence]], tables: Sequence[Array] | None
    ) -> RolloutResult:
        self._divergences = {row: (each.t, each.step, each.q, each.v, each.start) for row, each in divergences}
        self._tables = tables
        np.copyto(self.diverged_at, np.where(self.status == DIVERGED, self._stopped_at, -1))
        return self

    @property
    def rows(self) -> int:
        """How many."""
        return len(self.status)

    @cached_property
    def events(self) -> list[tuple[Event, ...]]:
        """What happened to contacts and limits of every row, in the order of time."""
        if self._tables is None:
            raise self._not_recorded("events")
        return [events_of(table, self._about.labels, self._about.robot) for table in self._tables]

    def reason(self, row: int) -> str | None:
        """Why a row stopped before its end; ``None`` if it did not."""
        if not -self.rows <= row < self.rows:
            raise InvalidArgument(f"row is {row!r}; there are {self.rows}")
        row %= self.rows
        if self.status[row] == DIVERGED:
            about = self._about
            found = _core.Divergence(*self._divergences[row])
            return str(describe(found, about.robot, about.layout, about.integrator, about.dt))
        if self.status[row] == BAD_INPUT:
            what, step = _BAD[self._bad[row]], self._stopped_at[row]
            if what == _BAD[1]:
                return "the state is not finite, or none of this simulator's; no step was taken"
            return f"{what} for step {step} is not finite; the steps before were taken"
        return None

    def _not_recorded(self, name: str) -> AttributeError:
        if name not in RECORDS:
            return AttributeError(f"a RolloutResult has no {name!r}{did_you_mean(name, RECORDS)}")
        return AttributeError(f"{name} was not recorded; ask for it: record=(..., {name!r})")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise self._not_recorded(name)

    def __repr__(self) -> str:
        diverged, bad = (int(np.count_nonzero(self.status == status)) for status in (DIVERGED, BAD_INPUT))
        recorded = ", ".join(name for name in self._arrays if name not in _ALWAYS) or "nothing"
        troubles = (f", {diverged} diverged" if diverged else "") + (f", {bad} with bad input" if bad else "")
        return f"RolloutResult({self.rows} rows of {self._steps} steps{troubles}; {recorded} recorded)"


class About:
    """What it takes to say what came of rows in words.

    Args:
        robot: Of the rows.
        layout: Of their states.
        integrator: That moved them.
        dt: Its step [s].
        labels: Of the contacts.
    """

    def __init__(self, robot: Robot, layout: Layout, integrator: Integrator, dt: float, labels: tuple[str, ...]):
        self.robot = robot
        self.layout = layout
        self.integrator = integrator
        self.dt = dt
        self.labels = labels


def arrays_for(
    record: Sequence[str], rows: int, records: int, layout: Layout, actions: int, out: Any
) -> dict[str, NDArray[Any]]:
    """New arrays for what is recorded, or those that were given.

    Raises:
        InvalidArgument: If an array that was given cannot be written into.
    """
    shapes: dict[str, tuple[tuple[int, ...], type]] = {
        "q": ((layout.nq,), np.float64),
        "v": ((layout.nv,), np.float64),
        "t": ((), np.float64),
        "states": ((layout.size,), np.float64),
        "forces": ((layout.nc, 3), np.float64),
        "active": ((layout.nc,), np.bool_),
        "torques": ((layout.nv,), np.float64),
        "actions": ((actions,), np.float64),
    }
    wanted = {name: ((rows, records, *shape), kind) for name, (shape, kind) in shapes.items() if name in record}
    wanted["end"] = (rows, layout.size), np.float64
    wanted["status"] = (rows,), np.int32
    wanted["diverged_at"] = (rows,), np.int64
    given = _given(out, wanted)
    for name, array in given.items():
        _refuse_unwritable(name, array, *wanted[name])
    arrays = {name: given[name] if name in given else np.empty(shape, kind) for name, (shape, kind) in wanted.items()}
    arrays["bad"] = np.empty(rows, np.int32)
    arrays["stopped_at"] = np.empty(rows, np.int64)
    return arrays


def _given(out: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    if out is None:
        return {}
    given = out._arrays if isinstance(out, RolloutResult) else out
    if not isinstance(given, Mapping):
        raise InvalidArgument(f"out is a {type(out).__name__}; give an earlier result, or arrays by name")
    for name in given:
        if name not in wanted:
            raise InvalidArgument(f"out has {name!r}, which is not recorded; there are {', '.join(wanted)}")
    return dict(given)


def _refuse_unwritable(name: str, array: Any, shape: tuple[int, ...], kind: type) -> None:
    kind_name = np.dtype(kind).name
    if not isinstance(array, np.ndarray) or array.dtype != kind or array.shape != shape:
        got = f"shape {array.shape} of {array.dtype}" if isinstance(array, np.ndarray) else repr(array)
        raise InvalidArgument(f"out[{name!r}] is {got}; give an array of shape {shape} of {kind_name}")
    if not (array.flags.c_contiguous and array.flags.writeable and array.flags.aligned):
        raise InvalidArgument(f"out[{name!r}] cannot be written into as it is; give a contiguous, writeable array")
