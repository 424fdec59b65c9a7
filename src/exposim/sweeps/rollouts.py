"""Rollouts that are shared out among workers, also of other machines: rows in chunks, each a task."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exposim import _checks
from exposim.errors import ExposimError, InvalidArgument, SetupWarning
from exposim.simulation.recorder import settings_of
from exposim.simulation.rollout import Rollout
from exposim.simulation.rollout_result import RECORDS
from exposim.simulation.settings import RunSettings
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import State
from exposim.tasks import Executor, Task

ALWAYS = ("end", "status", "diverged_at")


class Rows:
    """What came of a rollout that was shared out, in the order of its rows.

    Attributes are those of :class:`exposim.RolloutResult` that were recorded, and always ``end``, ``status`` and
    ``diverged_at``.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], reasons: Mapping[int, str]):
        self._arrays = dict(arrays)
        self._reasons = dict(reasons)

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name.startswith("_") or name not in self._arrays:
            raise AttributeError(f"{name} was not recorded; there are {', '.join(self.__dict__.get('_arrays', ()))}")
        return self._arrays[name]

    def reason(self, row: int) -> str | None:
        """Why a row stopped before its end; ``None`` if it did not."""
        return self._reasons.get(row)


def rollout(
    simulator: Simulator,
    states: State | Sequence[State] | ArrayLike,
    executor: Executor,
    *,
    steps: int,
    rows_at_once: int = 256,
    every: int = 1,
    record: Sequence[str] = ("q", "v"),
    **inputs: Any,
) -> Rows:
    """As :class:`exposim.Rollout`, with rows in chunks that an executor performs: the same bits.

    Every worker makes the simulator again from its settings, once, and takes the rows of a chunk in one thread.

    Args:
        simulator: What is simulated; of a robot from a file, a rigid body or such robots combined.
        states: One for each row, or flat ones, (N, nx).
        executor: Such as :class:`exposim.tasks.OnRay`.
        steps: Of every row.
        rows_at_once: Rows of a chunk.
        every: As of :class:`exposim.Rollout`.
        record: Likewise, but for ``"events"``.
        inputs: Likewise: ``taus``, ``targets``, ``target_velocities``, ``wrenches``. Those of shape (N, T, n) or
            (N, 1, n) are divided by rows, others are sent to all.

    Raises:
        InvalidArgument: If the simulator cannot be made again from its settings, or events are to be recorded.
        ExposimError: If a chunk failed; what is wrong with a row is told of that row instead.
    """
    if "events" in record:
        raise InvalidArgument(f"events are not sent from other processes; record some of {', '.join(RECORDS[:-1])}")
    rows_at_once = _checks.count("rows_at_once", rows_at_once)
    described = json.dumps(settings_of(simulator).describe())
    _refuse_unlike(simulator, _simulator(described))
    x = Rollout(simulator, threads=1).pack(states)
    common: dict[str, Any] = {"simulator": described, "steps": steps, "every": every, "record": tuple(record)}
    starts = range(0, len(x), rows_at_once)
    tasks = []
    for start in starts:
        part = slice(start, start + rows_at_once)
        of_rows = {name: _part(value, part, len(x)) for name, value in inputs.items()}
        tasks.append(Task(f"{__name__}:take", {**common, "states": x[part], "inputs": of_rows}))
    found: dict[int, tuple[dict[str, NDArray[Any]], dict[int, str]]] = {}
    for number, outcome in executor.outcomes(tasks):
        if outcome.error is not None:
            raise ExposimError(f"rows from {starts[number]} on: {outcome.error}")
        found[number] = outcome.value
    chunks = [found[number] for number in range(len(tasks))]
    arrays = {name: np.concatenate([chunk[name] for chunk, _ in chunks]) for name in chunks[0][0]}
    reasons = {start + row: why for start, (_, told) in zip(starts, chunks, strict=True) for row, why in told.items()}
    return Rows(arrays, reasons)


def take(
    simulator: str, states: NDArray[Any], inputs: Mapping[str, Any], steps: int, every: int, record: tuple[str, ...]
) -> tuple[dict[str, NDArray[Any]], dict[int, str]]:
    """One chunk: what was recorded, and why rows stopped that did."""
    out = Rollout(_simulator(simulator), threads=1)(states, **inputs, steps=steps, every=every, record=record)
    reasons = {row: why for row in range(len(states)) if (why := out.reason(row)) is not None}
    return {name: getattr(out, name) for name in (*record, *ALWAYS)}, reasons


@lru_cache(maxsize=4)
def _simulator(described: str) -> Simulator:
    """Made again; kept, as the chunks that follow are of the same."""
    settings = RunSettings.build(json.loads(described))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetupWarning)  # it was given when the first one was made
        return Simulator(
            settings.robot.load(),
            settings.ground,
            settings.integrator,
            settings.dt,
            collisions=[(one, other) for one, other in settings.collisions],
            edges=settings.edges,
            slots=settings.slots,
        )


def _refuse_unlike(simulator: Simulator, again: Simulator) -> None:
    here, there = simulator.robot.model, again.robot.model
    alike = all(list(getattr(here, name)) == list(getattr(there, name)) for name in ("inertias", "jointPlacements"))
    if again._layout != simulator._layout or not alike:
        raise InvalidArgument(
            f"robot {simulator.robot.name!r} cannot be made again elsewhere: its model is not that of its file; "
            f"write it into a file and load it from there"
        )


def _part(value: Any, part: slice, rows: int) -> Any:
    """What belongs to some rows of an input; all of it, if it is the same for all rows."""
    if isinstance(value, Mapping):
        return {name: _part(each, part, rows) for name, each in value.items()}
    if value is None:
        return None
    array = np.asarray(value)
    return array[part] if array.ndim == 3 and len(array) == rows and rows > 1 else array
