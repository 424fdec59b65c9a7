"""The command ``sweep``: a scenario under all combinations of settings."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any

import typer

from exposim._progress import QUIET, clock
from exposim.cli import options
from exposim.cli.console import Status, complain, out, say
from exposim.cli.folders import default_folder, make_folder, occupied
from exposim.cli.interrupting import Interrupted, interruptible
from exposim.cli.plan import read_options
from exposim.cli.reading import READERS, read, read_axis
from exposim.cli.schemes import integrator_of
from exposim.cli.simulate import REFRESH, progress_bar
from exposim.cli.sweep_table import sweep_table
from exposim.cli.tables import natural_width
from exposim.errors import InvalidArgument
from exposim.simulation.integrators import Expo
from exposim.sweeps import SETTINGS, Cell, Grid, Results, array_script, part_of
from exposim.sweeps.results import LOST, TABLE
from exposim.sweeps.settings import OPTION, shown
from exposim.sweeps.slurm import default_chunks
from exposim.sweeps.sweeping import compute_all, unfinished
from exposim.tasks import executor_for

PLOT = "sweep.png"
MOST_REASONS = 5


def command(
    context: typer.Context,
    scenario: options.SweptScenario,
    grid: options.GridAxes = None,
    integrator: options.IntegratorName = None,
    kernel: options.KernelName = None,
    dt: options.Dt = None,
    accuracy: options.Accuracy = None,
    control_period: options.ControlPeriod = None,
    duration: options.Duration = None,
    stiffness: options.Stiffness = None,
    damping: options.Damping = None,
    friction: options.Friction = None,
    kp: options.Kp = None,
    kd: options.Kd = None,
    robot: options.RobotName = None,
    contacts: options.Contacts = None,
    option: options.ScenarioOption = None,
    workers: options.Workers = None,
    ray: options.Ray = None,
    slurm: options.Slurm = False,
    chunks: options.Chunks = None,
    chunk: options.Chunk = None,
    measure: options.Measure = None,
    retry: options.Retry = False,
    output: options.SweepOutput = None,
) -> None:
    """Simulate a scenario under all combinations of settings.

    What is finished is kept, one file for each cell, and is never computed again: after an interruption the same
    command goes on. A cell that diverges or fails is recorded with its reason. The table is printed and in sweep.csv,
    the plot in sweep.png. Exit status 3 if cells failed.
    """
    typed = {name: value for name, value in context.params.items() if name in READERS}
    shared = {name: value for name, text in typed.items() if (value := read(name, text)) is not None}
    if integrator is not None or kernel is not None:
        shared["integrator"] = integrator_of(integrator, kernel, Expo())
    for name, value in read_options(robot, contacts, option or []).items():
        shared[OPTION + name if name in SETTINGS else name] = value
    cells = Grid.of(scenario, _axes(grid or []), shared)
    folder = output or default_folder(f"{Path(scenario).stem}-sweep")
    if slurm:
        if ray is not None or chunk is not None:
            raise InvalidArgument(f"--slurm prints a script; leave out {'--ray' if ray is not None else '--chunk'}")
        cells.check()
        words = [*_words(context.params, ("slurm", "chunks", "output", "workers")), "--output", str(folder)]
        several = default_chunks(len(cells)) if chunks is None else chunks
        typer.echo(array_script(folder.name, words, len(cells), several, workers or 1), nl=False)
        return
    if chunks is not None:
        raise InvalidArgument("--chunks is for the script that --slurm prints; --chunk i/N computes one of them")
    cells.check()
    if chunk is not None:
        part = part_of(cells.cells, *_chunk(chunk))
        make_folder(folder)  # others write there too: it is not locked
        _compute(part, folder, workers, ray, retry)
        say(f"chunk {chunk}: {len(part)} cells are in {folder}")
        return
    with occupied(folder, (TABLE, PLOT)):
        _compute(cells.cells, folder, workers, ray, retry)
        raise typer.Exit(_report(Results.load(cells, folder), folder, measure))


def _axes(texts: list[str]) -> dict[str, list[Any]]:
    axes: dict[str, list[Any]] = {}
    for text in texts:
        name, values = read_axis(text)
        if name in axes:
            raise InvalidArgument(f"grid has {name} twice; give all of its values with commas between")
        axes[name] = values
    if not axes:
        raise InvalidArgument("there is no --grid; give at least one, such as --grid stiffness=1e4,1e5")
    return axes


def _chunk(text: str) -> tuple[int, int]:
    number, _, of = text.partition("/")
    if not number.strip().isdecimal() or not of.strip().isdecimal() or int(of) < 1:
        raise InvalidArgument(f"chunk is {text!r}; give i/N, such as 0/8 to 7/8")
    return int(number), int(of)


def _words(given: Mapping[str, Any], but: tuple[str, ...]) -> list[str]:
    """The command that was typed, less some options."""
    words = ["exposim", "sweep", str(given["scenario"])]
    for name, value in given.items():
        if name in ("scenario", *but) or value is None or value is False:
            continue
        flag = f"--{name.replace('_', '-')}"
        for each in value if isinstance(value, (list, tuple)) else (value,):
            words += [flag] if each is True else [flag, str(each)]
    return words


def _compute(
    cells: list[Cell] | tuple[Cell, ...], folder: Path, workers: int | None, ray: str | None, retry: bool
) -> None:
    waiting = unfinished(cells, folder, retry)
    if there := len(cells) - len(waiting):
        say(f"{there} of {len(cells)} cells were there already")
    if not waiting:
        return
    try:
        with interruptible(), executor_for(workers, ray, most=len(waiting)) as executor, _Progress() as progress:
            say(f"{len(waiting)} cells, {executor.workers} at once → {folder}")
            compute_all(waiting, folder, executor, progress.show, len(cells))
    except Interrupted as interrupted:
        done = len(cells) - len(unfinished(cells, folder))
        complain(f"interrupted; {done} of {len(cells)} cells are done and kept in {folder}; the same command goes on")
        raise typer.Exit(interrupted.status) from None


class _Progress:
    """A bar; where there is no terminal, a line now and then."""

    def __init__(self) -> None:
        self._bar = progress_bar()
        self._task = self._bar.add_task("", total=None, shown="")
        self._start = self._said = monotonic()
        self._here = 0

    def __enter__(self) -> _Progress:
        self._bar.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.__exit__(kind, error, at)

    def show(self, cell: Cell, finished: int, total: int) -> None:
        """One more is finished."""
        self._here += 1
        now = monotonic()
        if now - self._said < (QUIET if self._bar.disable else REFRESH) and finished < total:
            return
        self._said = now
        left = (now - self._start) * (total - finished) / self._here
        text = f"{finished} of {total} cells · {clock(left)} left"
        if not self._bar.disable:
            self._bar.update(self._task, completed=finished, total=total, shown=text, refresh=True)
        elif finished < total:
            say(text)


def _report(results: Results, folder: Path, measures: list[str] | None) -> Status:
    """Prints the table; writes it and the plot."""
    for measure in measures or []:
        results.values(measure)  # refused before anything is written
    results.to_csv(folder / TABLE)
    table = sweep_table(results, measures)
    out(least=natural_width(table)).print(table)
    written = {"table": TABLE}
    if results.measures:
        plots: Any = importlib.import_module("exposim.plots")  # slow to import
        plots.save(plots.sweep(results, measures or None), folder / PLOT)
        written["plot"] = PLOT
    for what, file in written.items():
        say(f"{what:11}{folder / file}")
    bad = [i for i, status in enumerate(results.statuses) if status in ("failed", LOST)]
    for i in bad[:MOST_REASONS]:
        cell, record = results.grid.cells[i], results.records[i]
        where = ", ".join(f"{name} {shown(name, cell.settings[name])}" for name in results.grid.axes)
        complain(f"{where}: {(record or {}).get('reason', '')}")
    if bad:
        complain(f"{len(bad)} of {len(results.records)} cells failed; --retry computes them again")
        return Status.FAILED
    return Status.WELL
