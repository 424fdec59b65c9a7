"""The section of docs/results.md that benchmarks/inside.py makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inside_accuracy import COLD, WARM
from inside_plot import draw
from inside_tables import (
    AT,
    Cells,
    accuracy_cells,
    bars_of,
    cheaper_in,
    cost_cells,
    counts_by_seed,
    event_cells,
    force_cells,
)

PAGE, PICTURE = "results.md", Path("images") / "work_precision.png"
SECTION = "## Inside the step"  # to the end of the page; `python -m paper --docs` keeps it
ABOUT = """\
Forces, events and errors within steps, held against the truth: from recorded states, with the same torques held.
Made by `python benchmarks/inside.py --docs docs`, whose beginning says how all of it is measured."""
ACCURACY = """\
`sim.advance(…, accuracy=…)` chooses steps by their estimated error. Mean error after a control period, over those in
which the truth (RK4 at 2.5 and at 5 µs) is known to a tenth of the accuracy; in brackets how many of {periods},
of {seeds} seeds."""
COST = """\
What it costs: *alone*, a control period that knows nothing of the one before and tries the whole of itself as its first
step; *going on*, as in `exposim run --accuracy` and in calls of `sim.advance` over many periods, with the step that the
period before proposes. Beside each the cheapest of the fixed steps that divide the period and err no more in the mean,
which one has to find first. Such steps are discrete: where steps by accuracy err by a little less than the whole period
does, they are held against half of it. A period in one step costs some microseconds more than `sim.step` takes: the
call itself and the estimate."""

CAPTION = """\
*Work and precision.* Mean over the periods in which the truth is known to 1e-4, the same for all points. Dotted: the
mean difference of the two truths, where it is not far below. Fixed steps are shown down to where they first err by
less than a third of the least error by accuracy."""

MISSES = """\
Means hide single periods in which the estimate is far too small. Known: a box that slides to rest (seed 1, 0.59 s)
ends 7e-5 to 9e-4 off and a foot of the drop between slipping and sticking (seed 2, 0.46 s) 1e-2, at any small step,
while explicit Euler and RK4 agree with each other; of romeo-walk in double support a period in two steps errs by more
than in one (0.04 s from 3.72 s: 2e-3 where 8e-5 is estimated)."""


def write_page(now: dict[str, Any], docs: Path) -> Path:
    """Writes the section anew, and the plot; returns the page's path.

    Args:
        now: Settings and results of all parts.
        docs: Folder of the documentation.
    """
    page = docs / PAGE
    others = page.read_text(encoding="utf-8").partition(SECTION)[0] if page.is_file() else "# Results"
    (docs / PICTURE).parent.mkdir(parents=True, exist_ok=True)
    draw(now["results"]["accuracy"], docs / PICTURE)
    page.write_text("\n".join([others.rstrip(), "", *_section(now), ""]), encoding="utf-8")
    return page


def _section(now: dict[str, Any]) -> list[str]:
    results, settings = now["results"], now["settings"]
    bars = [
        [each.where, each.what, each.found, each.bar, "met" if each.met else "**missed**"] for each in bars_of(results)
    ]
    found = results["accuracy"]
    return [
        f"{SECTION}\n\n{ABOUT}\n",
        *_table(force_cells(results["forces"])),
        *_table(event_cells(results["events"])),
        f"{ACCURACY.format(periods=settings['periods'] * len(settings['seed']), seeds=len(settings['seed']))}\n",
        *_table(accuracy_cells(found)),
        f"{COST}\n",
        *_table(cost_cells(found)),
        f"{_cheaper(found)}\n",
        f"![Errors of control periods against their costs]({PICTURE.as_posix()})\n",
        f"{CAPTION}\n",
        f"{MISSES}\n",
        *_table(Cells("Bars", ("where", "what", "found", "bar", ""), bars))[:-1],
    ]


def _cheaper(found: dict[str, Any]) -> str:
    """In words, and where it is not."""
    lines = []
    for how in (WARM, COLD):
        cheaper = cheaper_in(found, how)
        others = [name for name in found if name not in cheaper]
        but = f"; **fixed steps are cheaper on {', '.join(others)}**" if others else ""
        by_seed = ", ".join(map(str, counts_by_seed(found, how).values()))
        lines.append(f"At accuracy {AT:g}, {how}, it is cheaper in {len(cheaper)} of {len(found)}{but}.")
        lines.append(f"Of every seed alone: in {by_seed} of {len(found)}.")
    return "\n".join(lines)


def _table(cells: Cells) -> list[str]:
    return [
        f"{cells.title}:\n",
        f"| {' | '.join(cells.columns)} |",
        f"|{'---|' * len(cells.columns)}",
        *(f"| {' | '.join(row)} |" for row in cells.rows),
        "",
    ]
