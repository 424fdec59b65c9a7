"""The command ``view``: shows a saved motion in the browser."""

from __future__ import annotations

import importlib
import signal
from typing import Annotated, Any

import typer

from exposim.cli.console import say
from exposim.cli.plan import find_trajectory
from exposim.simulation.trajectory import Trajectory


def command(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A folder of results, or a trajectory (.npz).", show_default=False)
    ],
    port: Annotated[int, typer.Option("--port", metavar="N", min=1, max=65535, help="Of the local server.")] = 8080,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            show_default=False,
            help="A name that the page is reached by besides localhost, behind a proxy; as often as needed.",
        ),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
) -> None:
    """Show a saved motion in the browser, until Ctrl-C."""
    trajectory = Trajectory.load(find_trajectory(path))
    viewer: Any = importlib.import_module("exposim.viewer")  # slow to import
    # Also where SIGINT is ignored by inheritance, as in the background of a script.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    allowed = {} if allow_host is None else {"allowed_hosts": allow_host}
    server = viewer.serve(trajectory, port=port, open_browser=not no_browser, **allowed)
    try:
        say(f"{server.url}  (Ctrl-C ends it)")
        server.wait()
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()
