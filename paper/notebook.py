"""Results of cells: computed in parallel, saved when done, never computed twice."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path

from exposim.errors import ModelWarning
from paper.cell import FILE, Cell, Rows

# Worker processes are as many as there is room for: libraries in them shall not start threads as well.
SINGLE_THREADED = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Notebook:
    """Results of cells in a folder, one file each.

    Args:
        folder: Made if it is not there.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def read(self, cell: Cell) -> Rows | None:
        """The cell's rows, if it has been computed with the present simulator and its files are there."""
        try:
            rows: Rows = json.loads(self._file(cell).read_text(encoding="utf-8"))["rows"]
            if not all((self.folder / row[FILE]).is_file() for row in rows if FILE in row):
                return None
        except (OSError, ValueError, LookupError, TypeError):  # a damaged file is computed again
            return None
        return rows

    def write(self, cell: Cell, rows: Rows) -> None:
        """Keeps them, all or nothing."""
        target = self._file(cell)
        unfinished = target.with_suffix(f".{os.getpid()}.part")
        unfinished.write_text(
            json.dumps({"function": cell.function, "arguments": cell.arguments, "rows": rows}), encoding="utf-8"
        )
        unfinished.replace(target)

    def rows(self, cells: Iterable[Cell]) -> Rows:
        """Of all cells that are done."""
        return [row for cell in cells for row in self.read(cell) or []]

    def _file(self, cell: Cell) -> Path:
        return self.folder / f"{cell.key}.json"


class Progress:
    """Told what happens; the command line draws a bar from it."""

    def begin(self, cells: Sequence[Cell], jobs: int) -> None:
        """These are to be computed."""

    def done(self, cell: Cell) -> None:
        """One is finished."""


def compute(
    phases: Sequence[Sequence[Cell]], notebook: Notebook, jobs: int = 1, progress: Progress | None = None
) -> None:
    """Computes what is not yet in the notebook, phase after phase; cells of a phase may use files of earlier ones.

    Cells that measure time run after the others of their phase, one by one.
    """
    progress = progress or Progress()
    waiting = [[cell for cell in phase if notebook.read(cell) is None] for phase in phases]
    progress.begin([cell for phase in waiting for cell in phase], jobs)
    for phase in waiting:
        together = [cell for cell in phase if not cell.alone]
        _in_parallel(together, notebook, min(jobs, len(together)), progress.done)
        for cell in phase:
            if cell.alone:
                notebook.write(cell, cell.compute(notebook.folder))
                progress.done(cell)


def _in_parallel(cells: Sequence[Cell], notebook: Notebook, jobs: int, done: Callable[[Cell], None]) -> None:
    if jobs <= 1:
        for cell in cells:
            notebook.write(cell, cell.compute(notebook.folder))
            done(cell)
        return
    context = multiprocessing.get_context("spawn")
    with (
        _environment(SINGLE_THREADED),  # that of the workers, which start when there is work
        ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin_worker) as pool,
    ):
        # The longest first, so that none is left running alone at the end.
        by_cost = sorted(cells, key=lambda cell: -cell.cost)
        running: dict[Future[Rows], Cell] = {pool.submit(cell.compute, notebook.folder): cell for cell in by_cost}
        try:
            while running:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    cell = running.pop(future)
                    notebook.write(cell, future.result())
                    done(cell)
        except BaseException:
            for process in (pool._processes or {}).values():  # what they are at would take minutes
                process.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _begin_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    warnings.simplefilter("ignore", ModelWarning)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that is killed cannot end its workers, which would wait for it for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
