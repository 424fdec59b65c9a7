"""The command ``list``: what there is, with one line each."""

from __future__ import annotations

import inspect
import json
from typing import Annotated

import typer
from rich.table import Table

from exposim import scenarios, terrain
from exposim.cli.console import out
from exposim.cli.schemes import KERNELS
from exposim.contact.height_fields import HeightField
from exposim.contact.meshes import Mesh
from exposim.contact.shapes import Box, Capsule, Cylinder, Sphere
from exposim.contact.surfaces import HalfSpace
from exposim.robots.known import KNOWN_ROBOTS, KnownRobot
from exposim.simulation.integrators import SCHEMES

SURFACES = (HalfSpace, Box, Sphere, Capsule, Cylinder, HeightField, Mesh)
TERRAIN = (terrain.stairs, terrain.slopes, terrain.rough, terrain.stepping_stones)


def command(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """List scenarios, robots, integrators, kernels and surfaces."""
    content = listing()
    if as_json:
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
        return
    for title, entries in content.items():
        table = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=None)
        table.add_column(no_wrap=True, style="cyan", min_width=20)
        table.add_column()
        for name, line in entries.items():
            table.add_row(name, line)
        out().print(table)
        out().print()


def listing() -> dict[str, dict[str, str]]:
    """Name and one line of everything that can be named, by kind."""
    return {
        "scenarios": {name: scenarios.describe(name) for name in scenarios.SCENARIOS},
        "robots": {name: _robot(known) for name, known in KNOWN_ROBOTS.items()},
        "integrators": {name: _first_line(kind) for name, kind in SCHEMES.items()},
        "kernels": dict(KERNELS),
        "surfaces": {kind.__name__: _first_line(kind) for kind in SURFACES}
        | {f"terrain.{make.__name__}": _first_line(make) for make in TERRAIN},
    }


def _first_line(kind: object) -> str:
    line = (inspect.getdoc(kind) or "").partition("\n")[0]
    return line.partition(":")[0].rstrip(".") if ":math:" in line else line.rstrip(".")


def _robot(known: KnownRobot) -> str:
    points = known.contact_points
    frames = list(dict.fromkeys(point.frame for point in points))
    each = "" if len(frames) == len(points) else f" ({len(points) // len(frames)} each)"
    return f"{len(points)} contact points: {', '.join(frames)}{each}"
