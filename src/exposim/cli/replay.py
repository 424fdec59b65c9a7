"""The command ``replay``: takes the last steps before a divergence again, and says who went first."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from exposim._writing import make_parents
from exposim.analysis.first_to_go import FirstToGo, Gone, first_to_go
from exposim.cli.console import Status, complain, out, say
from exposim.cli.schemes import label
from exposim.errors import InvalidArgument
from exposim.simulation.flight_dump import FlightDump
from exposim.simulation.flight_replay import Flight

REPLAY_HELP = "Exit status: 0 the steps lead to the same bits; 1 they lead elsewhere; 2 bad usage or values."
MOST_ROWS = 8


def command(
    path: Annotated[
        Path, typer.Argument(metavar="DUMP", help="A file of a flight recorder (.npz).", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FOLDER", help="For the plot. Default: beside the file.", show_default=False),
    ] = None,
) -> None:
    """Take the last steps before a divergence again; say which contact or joint went first, with a plot.

    Files are written by xs.FlightRecorder(sim, FOLDER), or exposim run --flight-recorder FOLDER.
    """
    if path.is_dir():
        raise InvalidArgument(
            f"{path} is a folder; give one of the files in it: exposim replay {path}/diverged-001.npz"
        )
    dump = FlightDump.load(path)
    flight = dump.replay()
    found = first_to_go(flight)
    robot, scheme = dump.settings.robot.name, label(dump.settings.integrator, dump.settings.dt)
    say(f"{robot}, {scheme}, {len(flight)} steps to {flight.diverged_at:g} s")
    if flight.mismatch is None:
        say(f"taken again: the same bits at all {flight.states} states that were kept, and the same divergence")
    out().print(_table(flight, found))
    say(_verdict(flight, found), "bold")
    for line in found.advice:
        say(f"→ {line}")
    plots: Any = importlib.import_module("exposim.plots")  # slow to import
    target = (path.parent if output is None else output) / f"{path.stem}.png"
    make_parents(target)
    plots.save(plots.flight(flight, found), target)
    say(f"{'plot':11}{target}")
    if flight.mismatch is not None:
        complain(
            f"taken again, the steps lead elsewhere: {flight.mismatch}; the file is damaged, or the robot, the ground, "
            f"the version of exposim or the machine is another one: what is said above may be of another motion"
        )
        raise typer.Exit(Status.DIVERGED)


def _verdict(flight: Flight, found: FirstToGo) -> str:
    at = ", ".join(flight.joints[:4]) + (" and others" if len(flight.joints) > 4 else "")
    if found.first is None:
        return f"it went within a step, at {at}; nothing had put energy in before"
    if found.is_sudden:
        return f"it went within a step, at {at}; {found.first} had put in most energy before"
    first = found.gone[0]
    before = _before(flight, first)
    beginning = ", or before: keep more steps" if first.step == 0 else ""
    return f"{first.source} went first, at {first.t:.6g} s, {before} steps before the divergence{beginning}"


def _before(flight: Flight, gone: Gone) -> int:
    """Steps before the one that diverged."""
    return len(flight) - gone.step


def _table(flight: Flight, found: FirstToGo) -> Table:
    title = (
        "Who put in more energy than anything usually does, for good" if not found.is_sudden else "Who put energy in"
    )
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, header_style="bold")
    for name in ("", "steps before", "at [s]", "energy since [J]"):
        table.add_column(Text(name), justify="right" if name else "left", no_wrap=True)
    for each in found.gone[:MOST_ROWS]:
        table.add_row(Text(str(each.source)), f"{_before(flight, each)}", f"{each.t:.6g}", f"{each.energy:.3g}")
    if len(found.gone) > MOST_ROWS:
        table.add_row(Text(f"and {len(found.gone) - MOST_ROWS} more"))
    return table
