"""The command ``python -m paper``: the paper's experiments, its claims, and what comes out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from exposim.cli.console import Status, complain, out, say
from exposim.cli.folders import RESULTS, make_folder
from exposim.cli.interrupting import Interrupted, interruptible
from exposim.cli.one_line import OneLineCommand
from exposim.errors import InvalidArgument, ModelWarning, did_you_mean
from exposim.tasks.processes import cores
from paper.cell import Cell, CellFailed
from paper.claims.bars import evaluate_bars
from paper.claims.claims import evaluate
from paper.claims.verdicts import Verdict
from paper.experiments import EXPERIMENTS, Result
from paper.measure.variants import SCENARIOS
from paper.notebook import Notebook, compute
from paper.progress import CellProgress
from paper.report import report, results_page

ALL = "all"
CELLS = "cells"
DEFAULT_FOLDER = RESULTS / "paper"
COLOURS = {
    "confirmed": "green",
    "exceeded": "blue",
    "not confirmed": "red",
    "met": "green",
    "not met": "red",
    "not judged": "dim",
}


app = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)


@app.command(cls=OneLineCommand, context_settings={"help_option_names": ["-h", "--help"]})
def command(
    experiment: Annotated[
        str, typer.Argument(metavar="[EXPERIMENT]", help=f"{', '.join(EXPERIMENTS)}, or {ALL}.")
    ] = ALL,
    scenario: Annotated[
        list[str] | None,
        typer.Option("--scenario", metavar="NAME", show_default=False, help="As often as needed (default: all four)."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="At reduced resolution, in minutes.")] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", show_default=False, help="Processes at once (default: one per core)."),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            show_default=False,
            help="On Ray instead: auto for one on this machine, or a cluster that sees the folder of results.",
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", metavar="FOLDER", help="Of results.")] = DEFAULT_FOLDER,
    docs: Annotated[
        Path | None,
        typer.Option(
            "--docs", metavar="FOLDER", show_default=False, help="Also write results.md and its pictures here."
        ),
    ] = None,
) -> None:
    """Do the paper's experiments and hold its claims against them.

    Finished pieces are kept: after an interruption the same command goes on. What measures time runs alone.
    """
    names, jobs = _experiments(experiment), _jobs(jobs, ray)
    chosen = _scenarios(scenario or [])
    for folder in (output, docs):
        if folder is not None:
            make_folder(folder)
    notebook = Notebook(output / CELLS)
    _compute(_merged([EXPERIMENTS[name].phases(chosen, quick) for name in names]), notebook, jobs, ray)
    results = {}
    for name, module in EXPERIMENTS.items():
        # What was done here before is told again.
        if name in names or _is_done(module.phases(chosen, quick), notebook):
            tables = module.tables(notebook, chosen, quick)
            if any(len(table) for table in tables.values()):
                results[name] = Result(tables, module.figures(tables))
    _report(results, chosen, quick, output, docs)


def _compute(phases: Sequence[Sequence[Cell]], notebook: Notebook, jobs: int | None, ray: str | None = None) -> None:
    every = [cell for phase in phases for cell in phase]
    there = sum(notebook.read(cell) is not None for cell in every)
    if there:
        say(f"{there} of {len(every)} cells were there already")
    try:
        with warnings.catch_warnings(), interruptible(), CellProgress(len(every)) as progress:
            warnings.simplefilter("ignore", ModelWarning)
            compute(phases, notebook, jobs, progress, ray)
    except Interrupted as interrupted:
        done = sum(notebook.read(cell) is not None for cell in every)
        kept = f"{done} of {len(every)} cells are done and kept in {notebook.folder}"
        complain(f"interrupted; {kept}; the same command goes on")
        raise typer.Exit(interrupted.status) from None
    except CellFailed as error:
        complain(f"{error}; finished cells are kept in {notebook.folder}, the same command goes on")
        raise typer.Exit(Status.BUG) from error


def _report(results: dict[str, Result], chosen: tuple[str, ...], quick: bool, output: Path, docs: Path | None) -> None:
    tables = {name: table for each in results.values() for name, table in each.tables.items()}
    verdicts, bars = evaluate(tables), evaluate_bars(tables)
    whole = report.Report(results, verdicts, chosen, quick, bars)
    page = report.write(whole, output)
    out().print(_table("the paper says", whole.verdicts))
    out().print(_table("bar of our own", whole.bars))
    if missing := sorted({verdict.letter for verdict in (*verdicts, *bars) if verdict.verdict == "not measured"}):
        say(f"not measured: {', '.join(missing)}", "dim")
    if quick:
        say("made with --quick: a look, not a measurement, and nothing is judged by it", "yellow")
    if whole.disturbed:
        say("some times were disturbed by something else on this machine; they are marked", "yellow")
    say(f"{'page':11}{page}")
    if docs is not None:
        say(f"{'docs':11}{results_page.write_page(whole, docs)}")


def _table(asked: str, verdicts: Sequence[Verdict]) -> Table:
    """Of what was measured."""
    table = Table(header_style="bold", box=box.SIMPLE_HEAD)
    table.add_column("")
    table.add_column(asked, ratio=2)
    table.add_column("measured here", ratio=3)
    table.add_column("verdict", no_wrap=True)
    for each in verdicts:
        if each.verdict == "not measured":
            continue
        claim = f"{each.claim} ({each.method})" if each.method else each.claim
        table.add_row(each.letter, Text(claim), Text(each.measured), Text(each.verdict, COLOURS[each.verdict]))
    return table


def _merged(phases: Sequence[Sequence[Sequence[Cell]]]) -> list[list[Cell]]:
    """The first phases of all experiments together, then the second, and so on."""
    return [[cell for phase in step for cell in phase] for step in zip_longest(*phases, fillvalue=())]


def _is_done(phases: Sequence[Sequence[Cell]], notebook: Notebook) -> bool:
    return all(notebook.read(cell) is not None for phase in phases for cell in phase)


def _experiments(name: str) -> tuple[str, ...]:
    known = (*EXPERIMENTS, ALL)
    if name not in known:
        near = did_you_mean(name, known)
        raise InvalidArgument(f"experiment is {name!r}{near or ';'} give one of {', '.join(known)}")
    return tuple(EXPERIMENTS) if name == ALL else (name,)


def _scenarios(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name not in SCENARIOS:
            near = did_you_mean(name, SCENARIOS)
            raise InvalidArgument(f"scenario is {name!r}{near or ';'} give one of {', '.join(SCENARIOS)}")
    return tuple(name for name in SCENARIOS if name in names) or SCENARIOS


def _jobs(jobs: int | None, ray: str | None) -> int | None:
    """``None`` for all that a cluster has."""
    if jobs is None:
        return None if ray is not None else cores()
    if jobs < 1:
        raise InvalidArgument(f"jobs is {jobs}; give a whole number of at least 1")
    return jobs
