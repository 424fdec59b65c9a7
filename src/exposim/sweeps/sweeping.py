"""Computing what is missing of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from exposim.errors import InvalidArgument
from exposim.sweeps.cell import Cell
from exposim.sweeps.grid import Grid
from exposim.sweeps.results import CELLS, FINISHED, LOST, TABLE, Results, read
from exposim.tasks import Executor, Kept, Outcome, executor_for

Each = TypeVar("Each")
# Told of a cell that is finished, and how many are, of how many.
Progress = Callable[[Cell, int, int], object]


def sweep(
    scenario: str | PathLike[str],
    axes: Mapping[str, Iterable[Any]],
    folder: str | PathLike[str],
    *,
    workers: int | None = None,
    ray: str | None = None,
    retry: bool = False,
    progress: Progress | None = None,
    **settings: Any,
) -> Results:
    """Runs a scenario under all combinations of settings, and keeps what comes of each.

    What is in the folder already is not computed again; an interruption loses only the cells that are being computed.
    A cell that diverges or raises an error is recorded with its reason, and the others go on.

    Args:
        scenario: A name such as ``"solo-trot"``, or the path of a ``.py`` file, as in :func:`exposim.scenarios.get`.
        axes: Values by the name of the setting, in SI units: ``{"stiffness": [1e4, 1e5], "dt": [1e-3, 5e-3]}``. Names
            are ``stiffness``, ``damping`` (one value, or two: normal, tangential), ``friction``, ``kp``, ``kd``,
            ``dt``, ``accuracy``, ``control_period``, ``duration``, ``integrator`` (itself, or its name), and the
            options of the scenario, such as ``seed`` or ``robot``.
        folder: Made if it is not there: ``cells/`` has a file for each cell, ``sweep.csv`` a row.
        workers: How many cells at once; by default one for every core, each in a process of its own.
        ray: ``"auto"`` for a Ray on this machine, or the address of a cluster; see :class:`exposim.tasks.OnRay`.
        retry: Whether cells that failed are computed again.
        progress: Called with a cell that is finished, the number of those that are, and of all.
        settings: That all cells share, by the same names.

    Raises:
        InvalidArgument: If a setting is not known or a value cannot be run; then nothing has been.
    """
    grid = Grid.of(scenario, axes, settings)
    grid.check()
    waiting = unfinished(grid.cells, folder, retry)
    if waiting:
        with executor_for(workers, ray, most=len(waiting)) as executor:
            compute_all(waiting, folder, executor, progress, len(grid))
    results = Results.load(grid, folder)
    results.to_csv(Path(folder) / TABLE)
    return results


def unfinished(cells: Sequence[Cell], folder: str | PathLike[str], retry: bool = False) -> list[Cell]:
    """Those of which a folder has no record, or one of a worker's death; with `retry` also those that failed."""
    kept = Kept(Path(folder) / CELLS)
    done = [status for status in FINISHED if not (retry and status == "failed")]
    return [cell for cell in cells if (record := read(kept, cell)) is None or record["status"] not in done]


def compute_all(
    cells: Sequence[Cell],
    folder: str | PathLike[str],
    executor: Executor,
    progress: Progress | None = None,
    of: int | None = None,
) -> None:
    """Computes cells and writes a record of each as soon as it has ended.

    Args:
        cells: All that are to be computed.
        folder: Of the sweep.
        executor: Where.
        progress: As in :func:`sweep`.
        of: How many cells there are in all, finished ones included.
    """
    kept = Kept(Path(folder) / CELLS)
    total = len(cells) if of is None else of
    finished = total - len(cells)
    for number, outcome in executor.outcomes([cell.task() for cell in cells]):
        kept.write(cells[number].key, _record(cells[number], outcome))
        finished += 1
        if progress is not None:
            progress(cells[number], finished, total)


def part_of(cells: Sequence[Each], chunk: int, chunks: int) -> list[Each]:
    """One of so many chunks of about the same size, counted from 0: every so many-th cell, since neighbours cost alike.

    Raises:
        InvalidArgument: If there is no such chunk.
    """
    if not 0 <= chunk < chunks:
        raise InvalidArgument(f"chunk is {chunk}/{chunks}; give one from 0/{chunks} to {chunks - 1}/{chunks}")
    return list(cells[chunk::chunks])


def _record(cell: Cell, outcome: Outcome) -> dict[str, Any]:
    if outcome.error is None:
        return {**cell.describe(), **outcome.value}
    status = LOST if outcome.is_lost else "failed"
    return cell.describe() | {"status": status, "reason": outcome.error, "traceback": outcome.traceback}
