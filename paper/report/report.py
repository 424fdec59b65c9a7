"""Results as one page that needs nothing else, beside its figures and data as files."""

from __future__ import annotations

import base64
import html
import importlib
import io
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import exposim
from paper.claims.verdicts import Verdict
from paper.experiments import Result
from paper.measure.variants import AVERAGED, OURS
from paper.report import machine
from paper.report.captions import FIGURES, TABLES, Caption
from paper.report.tables import Cells, tables_to_show

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "index.html"
PAPER = "Exponential Integration for Efficient and Accurate Multi-Body Simulation with Stiff Viscoelastic Contacts"
PIXELS = 115  # per inch of a figure, at the most
TITLES = {
    "accuracy": "Accuracy and speed",
    "stiffness": "Stiffness and damping",
    "stability": "Stability",
    "forces": "Contact forces",
    "timing": "Computation times",
}


@dataclass(frozen=True)
class Report:
    """What is reported.

    Args:
        results: By experiment.
        verdicts: On all claims.
        bars: Verdicts on bars of our own.
        scenarios: That were looked at.
        quick: Whether at reduced resolution, by which nothing is judged: all verdicts are then left open.
    """

    results: Mapping[str, Result]
    verdicts: Sequence[Verdict]
    scenarios: Sequence[str]
    quick: bool = False
    bars: Sequence[Verdict] = ()

    def __post_init__(self) -> None:
        if self.quick:
            for name in ("verdicts", "bars"):
                object.__setattr__(self, name, [each.left_open() for each in getattr(self, name)])

    @property
    def settings(self) -> dict[str, str]:
        """On what and how it was measured."""
        resolution = "reduced (--quick): nothing is judged by it" if self.quick else "full"
        return {
            "version": f"exposim {exposim.__version__}",
            "machine": machine.describe(),
            "experiments": ", ".join(self.results),
            "scenarios": ", ".join(self.scenarios),
            "resolution": resolution,
            "contacts": "K = 1e5 N/m, B = 300 N·s/m, μ = 1, unless said otherwise",
        }

    @property
    def disturbed(self) -> bool:
        """Whether the machine was busy with something else during a timing."""
        tables = [table for result in self.results.values() for table in result.tables.values()]
        return any(bool((table["disturbed"] == True).any()) for table in tables if "disturbed" in table)  # noqa: E712

    def figures(self) -> Iterator[tuple[str, str, Caption, Figure]]:
        """Experiment, name, caption and figure, by weight within each experiment."""
        order = {name: i for i, name in enumerate(FIGURES)}
        for experiment, result in self.results.items():
            for name in sorted(result.figures, key=lambda name: order.get(name, len(order))):
                caption = FIGURES.get(name, Caption(name.replace("_", " ")))
                yield experiment, name, caption, result.figures[name]


def write(report: Report, folder: Path) -> Path:
    """Writes tables as CSV, figures as SVG and PNG, and the page; returns the page's path."""
    data, pictures = folder / "data", folder / "figures"
    for made in (data, pictures):
        made.mkdir(parents=True, exist_ok=True)
    for result in report.results.values():
        for name, table in result.tables.items():
            table.to_csv(data / f"{name}.csv", index=False)
    drawn = {}
    for _, name, _, figure in report.figures():
        figure.draw_without_rendering()  # lays it out, which takes longer than all the rest
        figure.set_layout_engine("none")
        drawn[name] = picture(figure, "svg")
        (pictures / f"{name}.svg").write_bytes(drawn[name])
        (pictures / f"{name}.png").write_bytes(picture(figure, "png", dpi=200))
    page = folder / PAGE
    page.write_text(_page(report, drawn), encoding="utf-8")
    return page


def picture(figure: Figure, kind: str, **options: Any) -> bytes:
    """A figure as the bytes of a file, the same for the same figure."""
    matplotlib = importlib.import_module("matplotlib")  # slow to import
    stream = io.BytesIO()
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    with matplotlib.rc_context({"svg.hashsalt": "exposim"}):
        figure.savefig(stream, format=kind, metadata=metadata, **options)
    return stream.getvalue()


def _page(report: Report, drawn: Mapping[str, bytes]) -> str:
    here = Path(__file__).parent
    sections = [_section(report, experiment, drawn) for experiment in report.results]
    notes = ["<p>† The machine was busy with something else while this was timed.</p>"] if report.disturbed else []
    parts = {
        "style": (here / "report.css").read_text(encoding="utf-8"),
        "paper": _text(PAPER),
        "settings": "".join(f"<dt>{_text(k)}</dt><dd>{_text(v)}</dd>" for k, v in report.settings.items()),
        "warning": '<p class="warning">Made with --quick: a look, not a measurement.</p>' if report.quick else "",
        "verdicts": _rows(report.verdicts),
        "bars": _rows(report.bars),
        "sections": "\n".join(sections + notes),
    }
    return string.Template((here / "report.html").read_text(encoding="utf-8")).substitute(parts)


def _rows(verdicts: Sequence[Verdict]) -> str:
    """A claim that is asked of several versions of the method is said once."""
    rows, said = [], ""
    for verdict in verdicts:
        about = f'<div class="method">{_text(verdict.method)}</div>' if verdict.method else ""
        again, said = verdict.letter == said, verdict.letter
        letter = "" if again else f'<a href="#{verdict.experiment}">{verdict.letter}</a>'
        rows.append(
            f"<tr><td>{letter}</td><td>{'' if again else _text(verdict.claim)}{about}</td>"
            f"<td>{_text(verdict.measured)}</td><td>{_badge(verdict)}</td></tr>"
        )
    return "\n".join(rows)


def _section(report: Report, experiment: str, drawn: Mapping[str, bytes]) -> str:
    claims = [_claim(verdict, "Paper") for verdict in report.verdicts if verdict.experiment == experiment]
    claims += [_claim(verdict, "Bar") for verdict in report.bars if verdict.experiment == experiment]
    verdicts = [*report.verdicts, *report.bars]
    figures = [
        _figure(name, caption, drawn[name], round(PIXELS * figure.get_figwidth()), verdicts)
        for owner, name, caption, figure in report.figures()
        if owner == experiment
    ]
    result = report.results[experiment]
    tables = [_table(name, cells) for name, cells in tables_to_show(result.tables).items()]
    files = ", ".join(f'<a href="data/{name}.csv">{name}.csv</a>' for name in result.tables)
    return (
        f'<section id="{experiment}"><h2>{_text(TITLES.get(experiment, experiment))}</h2>'
        f'<div class="beside"><div class="figures">{"".join(figures)}</div>'
        f'<div class="claims">{"".join(claims)}</div></div>'
        f"{''.join(tables)}<p>Data: {files}</p></section>"
    )


def _claim(verdict: Verdict, source: str) -> str:
    about = f' <span class="method">{_text(verdict.method)}</span>' if verdict.method else ""
    details = f"<p>{_text(verdict.details)}</p>" if verdict.details else ""
    explanation = f'<p class="explanation">{_text(verdict.explanation)}</p>' if verdict.explanation else ""
    return (
        f'<article class="claim {_kind(verdict)}"><h3>({verdict.letter}){about} {_badge(verdict)}</h3>'
        f"<p><b>{source}:</b> {_text(verdict.claim)}</p><p><b>Here:</b> {_text(verdict.measured)}</p>"
        f"{details}{explanation}</article>"
    )


def _figure(name: str, caption: Caption, svg: bytes, width: int, verdicts: Sequence[Verdict]) -> str:
    chips = "".join(
        f'<span class="chip {_kind(verdict)}">({verdict.letter}{_version(verdict)}) {verdict.verdict}</span>'
        for verdict in verdicts
        if verdict.letter in caption.letters
    )
    source = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    return (
        f'<figure id="{name}"><img src="{source}" style="max-width: {width}px" alt="{_text(caption.title)}">'
        f"<figcaption><b>{_text(caption.title)}.</b> {_text(caption.text)} {chips}</figcaption></figure>"
    )


def _table(name: str, cells: Cells) -> str:
    head = "".join(f"<th>{_text(column)}</th>" for column in cells.columns)
    body = "".join(f"<tr>{''.join(f'<td>{_text(value)}</td>' for value in row)}</tr>" for row in cells.rows)
    return (
        f"<details><summary>{_text(TABLES.get(name, name.replace('_', ' ')))}</summary>"
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></details>'
    )


def _badge(verdict: Verdict) -> str:
    return f'<span class="badge {_kind(verdict)}">{verdict.verdict}</span>'


def _version(verdict: Verdict) -> str:
    return {OURS: ", ours", AVERAGED: ", paper's"}.get(verdict.method, "")


def _kind(verdict: Verdict) -> str:
    return verdict.verdict.replace(" ", "-")


def _text(value: str) -> str:
    return html.escape(value)
