"""Summaries as tables."""

from __future__ import annotations

from collections.abc import Mapping

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from exposim._durations import show_time
from exposim.analysis.summary import Summary

NOTHING = "–"
Rows = dict[str, Text | str]  # what a table shows, by the name of the row


def summary_table(summary: Summary, title: str) -> Table:
    """One row per number."""
    table = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=box.SIMPLE)
    table.add_column(no_wrap=True)
    table.add_column()
    for name, value in summary_rows(summary).items():
        table.add_row(Text(name), value)
    return table


def comparison_tables(
    summaries: Mapping[str, Summary], differences: Mapping[str, Mapping[str, str]], width: int
) -> list[Table]:
    """One column per run, in as many tables as it takes for none to be wider than that.

    Args:
        summaries: By label.
        differences: Further rows of each, by label.
        width: Of the terminal, in characters.
    """
    columns = {
        label: summary_rows(summary, short=True) | dict(differences[label]) for label, summary in summaries.items()
    }
    names = list(dict.fromkeys(name for rows in columns.values() for name in rows))
    tables: list[Table] = []
    together: dict[str, Rows] = {}
    for label, rows in columns.items():
        wider = _side_by_side(together | {label: rows}, names)
        if together and natural_width(wider) > width:
            together, wider = {}, _side_by_side({label: rows}, names)
        tables[len(tables) - bool(together) :] = [wider]
        together[label] = rows
    return tables


def natural_width(table: Table) -> int:
    """In which nothing of a table is broken, in characters."""
    return Console(width=10_000).measure(table).maximum


def _side_by_side(columns: Mapping[str, Rows], names: list[str]) -> Table:
    table = Table(header_style="bold", box=box.SIMPLE_HEAD)
    table.add_column("", no_wrap=True)
    for label in columns:
        name, _, step = label.partition(" ")
        table.add_column(f"{name}\n{step}", justify="right", no_wrap=True)
    for name in names:
        table.add_row(Text(name), *(rows.get(name, NOTHING) for rows in columns.values()))
    return table


def summary_rows(summary: Summary, short: bool = False) -> Rows:
    """What a table shows of a summary, ready to print; the short form leaves out which contact and when."""
    rows: Rows = {"stable": _stable(summary, short)}
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
    rows["control period"] = "none" if summary.control_period is None else show_time(summary.control_period)
    if summary.accuracy is not None:
        rows["steps"] = f"{summary.steps}"
        rows["rejected"] = NOTHING if summary.rejected is None else f"{summary.rejected}"
        rows["smallest step"], rows["largest step"] = _time(summary.smallest), _time(summary.largest)
    rows["time per step"] = _time(summary.seconds_per_step)
    rows["controller, per call"] = _time(None if summary.control_period is None else summary.seconds_per_control)
    rows["real-time factor"] = NOTHING if summary.real_time_factor is None else f"{summary.real_time_factor:.3g}×"
    return rows


def _stable(summary: Summary, short: bool) -> Text:
    if summary.diverged_at is None:
        return Text("yes", "green")
    return Text(f"no, {'' if short else 'diverged at '}{show_time(summary.diverged_at)}", "red")


def _time(seconds: float | None) -> str:
    return NOTHING if seconds is None else show_time(seconds, 3)
