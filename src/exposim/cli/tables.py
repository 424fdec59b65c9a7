"""Summaries as tables."""

from __future__ import annotations

from collections.abc import Mapping

from rich import box
from rich.table import Table
from rich.text import Text

from exposim.analysis.summary import Summary
from exposim.cli.quantities import show_time

NOTHING = "–"


def summary_table(summary: Summary, title: str) -> Table:
    """One row per number."""
    table = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=box.SIMPLE)
    table.add_column(no_wrap=True)
    table.add_column()
    for name, value in summary_rows(summary).items():
        table.add_row(Text(name), value)
    return table


def comparison_table(summaries: Mapping[str, Summary], differences: Mapping[str, Mapping[str, str]]) -> Table:
    """One column per run.

    Args:
        summaries: By label.
        differences: Further rows of each, by label.
    """
    table = Table(header_style="bold", box=box.SIMPLE_HEAD)
    table.add_column("", no_wrap=True)
    columns = {
        label: summary_rows(summary, short=True) | dict(differences[label]) for label, summary in summaries.items()
    }
    for label in columns:
        name, _, step = label.partition(" ")
        table.add_column(f"{name}\n{step}", justify="right", overflow="fold")
    names = dict.fromkeys(name for rows in columns.values() for name in rows)
    for name in names:
        table.add_row(Text(name), *(rows.get(name, NOTHING) for rows in columns.values()))
    return table


def summary_rows(summary: Summary, short: bool = False) -> dict[str, Text | str]:
    """What a table shows of a summary, ready to print; the short form leaves out which contact and when."""
    rows: dict[str, Text | str] = {"stable": _stable(summary, short)}
    if summary.stable and not short:
        rows["task"] = Text("done", "green") if not summary.complaints else Text("; ".join(summary.complaints), "red")
    elif summary.stable:
        rows["task"] = Text("done", "green") if not summary.complaints else Text("failed", "red")
    digits = 3 if short else 4
    rows |= {name: f"{value:.{digits}g}" for name, value in summary.measures.items()}
    for name, value in (("distance", summary.distance), ("height", summary.height)):
        if value is not None and not any(name in measure for measure in summary.measures):
            rows[f"base {name} [m]"] = f"{value:.{digits}g}"
    if summary.peak_force is not None:
        where = "" if short else f" at {summary.peak_force_contact}, {summary.peak_force_at:.3f} s"
        slid = "" if short or not summary.slip else f" at {summary.slip_contact}"
        rows["peak normal force [N]"] = f"{summary.peak_force:.{digits}g}{where}"
        rows["mean total force [N]"] = f"{summary.mean_force:.{digits}g}"
        rows["longest slip [m]"] = f"{summary.slip:.3g}{slid}"
    rows["time per step"] = _time(summary.seconds_per_step)
    rows["controller, per call"] = _time(summary.seconds_per_control)
    rows["real-time factor"] = NOTHING if summary.real_time_factor is None else f"{summary.real_time_factor:.3g}×"
    return rows


def _stable(summary: Summary, short: bool) -> Text:
    if summary.diverged_at is None:
        return Text("yes", "green")
    return Text(f"no, {'' if short else 'diverged at '}{show_time(summary.diverged_at)}", "red")


def _time(seconds: float | None) -> str:
    return NOTHING if seconds is None else f"{1e6 * seconds:.3g} µs"
