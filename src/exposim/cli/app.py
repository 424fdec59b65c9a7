"""The commands together."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated

import typer

import exposim
from exposim.cli import compare, listing, replay, run, sweep, view
from exposim.cli.console import STATUS_HELP
from exposim.cli.one_line import DEBUG, OneLineGroup
from exposim.errors import InvalidArgument

app = typer.Typer(
    name="exposim",
    cls=OneLineGroup,
    add_completion=False,
    invoke_without_command=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=STATUS_HELP,
)


def _help_of(command: Callable[..., None]) -> str:
    """Its docstring, with paragraphs that fill the terminal rather than the source."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    return "\n\n".join(" ".join(each.split()) for each in paragraphs)


app.command("run", epilog=STATUS_HELP, help=_help_of(run.command))(run.command)
app.command("compare", help=_help_of(compare.command))(compare.command)
app.command("sweep", help=_help_of(sweep.command))(sweep.command)
app.command("list", help=_help_of(listing.command))(listing.command)
app.command("view", help=_help_of(view.command))(view.command)
app.command("replay", epilog=replay.REPLAY_HELP, help=_help_of(replay.command))(replay.command)


@app.command(
    "reproduce",
    hidden=True,
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
def _reproduce() -> None:
    """The paper's experiments, which are not part of the package."""
    raise InvalidArgument(
        "the paper's experiments are beside the package, not in it; in a clone of the repository run: make paper, "
        "or python -m paper --help"
    )


@app.callback()
def _start(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[bool, typer.Option(DEBUG, help="Show the traceback of an error.")] = False,
) -> None:
    """Robots in stiff frictional contact, simulated by exponential integration."""
    if version:
        typer.echo(f"exposim {exposim.__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
