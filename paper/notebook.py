"""Results of cells: computed in parallel, saved when done, never computed twice."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

from exposim.errors import ModelWarning
from exposim.tasks import Executor, InThisProcess, Kept, Task, executor_for
from paper.cell import FILE, Cell, CellFailed, Rows


class Notebook:
    """Results of cells in a folder, one file each.

    Args:
        folder: Made if it is not there.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._kept = Kept(folder)
        folder.mkdir(parents=True, exist_ok=True)

    def read(self, cell: Cell) -> Rows | None:
        """The cell's rows, if it has been computed with the present simulator and its files are there."""
        try:
            rows: Rows = (self._kept.read(cell.key) or {})["rows"]
            if not all((self.folder / row[FILE]).is_file() for row in rows if FILE in row):
                return None
        except (OSError, LookupError, TypeError):  # a damaged file is computed again
            return None
        return rows

    def write(self, cell: Cell, rows: Rows) -> None:
        """Keeps them, all or nothing."""
        self._kept.write(cell.key, {"function": cell.function, "arguments": cell.arguments, "rows": rows})

    def rows(self, cells: Iterable[Cell]) -> Rows:
        """Of all cells that are done."""
        return [row for cell in cells for row in self.read(cell) or []]


class Progress:
    """Told what happens; the command line draws a bar from it."""

    def begin(self, cells: Sequence[Cell], jobs: int) -> None:
        """These are to be computed."""

    def done(self, cell: Cell) -> None:
        """One is finished."""


def compute(
    phases: Sequence[Sequence[Cell]],
    notebook: Notebook,
    jobs: int | None = 1,
    progress: Progress | None = None,
    ray: str | None = None,
) -> None:
    """Computes what is not yet in the notebook, phase after phase; cells of a phase may use files of earlier ones.

    Cells that measure time run after the others of their phase, one by one and in this process.

    Args:
        phases: Of cells.
        notebook: Where results are kept; all machines of a cluster see its folder under the same path.
        jobs: How many at once, as :func:`exposim.tasks.executor_for` takes it.
        progress: Told what happens.
        ray: Likewise.

    Raises:
        CellFailed: The first that fails; those that are finished are kept.
    """
    progress = progress or Progress()
    waiting = [[cell for cell in phase if notebook.read(cell) is None] for phase in phases]
    progress.begin([cell for phase in waiting for cell in phase], jobs or 1)
    for phase in waiting:
        together = [cell for cell in phase if not cell.alone]
        if together:
            with executor_for(jobs, ray, most=len(together)) as executor:
                _compute(together, notebook, executor, progress)
        _compute([cell for cell in phase if cell.alone], notebook, InThisProcess(), progress)


def _compute(cells: Sequence[Cell], notebook: Notebook, executor: Executor, progress: Progress) -> None:
    folder = str(notebook.folder.resolve())
    tasks = [Task(f"{__name__}:rows_of", {"cell": cell, "folder": folder}, cell.cost) for cell in cells]
    for number, outcome in executor.outcomes(tasks):
        cell = cells[number]
        if outcome.error is not None:
            raise CellFailed(f"{cell.name}: {outcome.error}") from RuntimeError(outcome.traceback)
        notebook.write(cell, outcome.value)
        progress.done(cell)


def rows_of(cell: Cell, folder: str) -> Rows:
    """What a cell's function returns, wherever this is performed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return cell.compute(Path(folder))
