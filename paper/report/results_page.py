"""Results in short, as a page of the documentation with small pictures."""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from paper.claims.verdicts import Verdict
from paper.report.captions import FIGURES, TABLES
from paper.report.report import PAPER, TITLES, Report, picture
from paper.report.tables import Cells, tables_to_show

PAGE = "results.md"
PICTURES = Path("images") / "results"
MOST_PICTURES = 14
LARGEST_PICTURE = 100_000  # bytes
RESOLUTIONS = (150, 120, 90, 60)  # [dpi] until it is small enough
NOT_OURS = "## Inside the step"  # to the end of the page: made by benchmarks/inside.py, and kept
KEY_TABLES = ("errors", "stability", "timing", "transitions", "stiffness_times")


def write_page(report: Report, docs: Path) -> Path:
    """Writes results.md, but for the section of benchmarks/inside.py, and its pictures; returns the page's path.

    Args:
        report: What is told.
        docs: Folder of the documentation.
    """
    folder = docs / PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    weighty = [name for name in FIGURES if any(name in result.figures for result in report.results.values())]
    kept = set(weighty[:MOST_PICTURES])
    for _, name, _, figure in report.figures():
        if name in kept:
            sizes = (_few_colours(picture(figure, "png", dpi=dpi)) for dpi in RESOLUTIONS)
            small = next((each for each in sizes if len(each) < LARGEST_PICTURE), None)
            if small is None:
                kept.discard(name)
            else:
                (folder / f"{name}.png").write_bytes(small)
    page = docs / PAGE
    before = page.read_text(encoding="utf-8") if page.is_file() else ""
    _, heading, section = before.partition(NOT_OURS)
    page.write_text(_page(report, kept) + (f"\n{heading}{section}" if heading else ""), encoding="utf-8")
    return page


def _few_colours(png: bytes) -> bytes:
    """The same picture in 64 colours, which is a third of its size and looks the same."""
    image: Any = importlib.import_module("PIL.Image")  # a part of what Matplotlib needs
    stream = io.BytesIO()
    image.open(io.BytesIO(png)).convert("RGB").quantize(64).save(stream, "png", optimize=True)
    return stream.getvalue()


def _page(report: Report, kept: set[str]) -> str:
    lines = [
        "# Results",
        "",
        f"What the paper claims (*{PAPER}*),",
        "and what is measured here. Made by `python -m paper --docs docs`, which also makes a page with all figures,",
        "tables and explanations. What is compared is said in [theory](theory.md). *Expo* is the default: contacts are",
        "followed through their changes within a step, and terms are those in the middle of it (second order); *Expo,",
        "order 1* has terms at its start. *Expo, averaged (paper)* is the paper's method, with its kernels and",
        "variants.",
        "",
        *(f"* {name}: {value}" for name, value in report.settings.items()),
        "",
        "## What the paper claims",
        "",
        *_rows(["", "the paper says", "measured here", "verdict"], map(_verdict, report.verdicts)),
        "",
        *_reasons(report.verdicts),
        "## Bars of our own",
        "",
        "What is changed in the paper's method should bring this.",
        "",
        *_rows(["", "bar", "measured here", "verdict"], map(_verdict, report.bars)),
        "",
        *_reasons(report.bars),
    ]
    for experiment, result in report.results.items():
        lines += [f"## {TITLES.get(experiment, experiment)}", ""]
        for owner, name, caption, _ in report.figures():
            if owner == experiment and name in kept:
                lines += [f"![{caption.title}]({PICTURES.as_posix()}/{name}.png)", ""]
                lines += [f"*{caption.title}.* {caption.text}".rstrip(), ""]
        for name, cells in tables_to_show(result.tables).items():
            if name in KEY_TABLES:
                lines += [f"{TABLES[name]}:", "", *_table(cells), ""]
    if report.disturbed:
        lines += ["† The machine was busy with something else while this was timed.", ""]
    return "\n".join(lines).rstrip() + "\n"


def _verdict(verdict: Verdict) -> list[str]:
    return [verdict.letter, f"{verdict.claim}{_about(verdict)}", verdict.measured, f"**{verdict.verdict}**"]


def _about(verdict: Verdict) -> str:
    return f" ({verdict.method})" if verdict.method else ""


def _reasons(verdicts: Sequence[Verdict]) -> list[str]:
    told = [each for each in verdicts if each.explanation and each.verdict in ("not confirmed", "exceeded", "not met")]
    if not told:
        return []
    entries = dict.fromkeys(f"* ({each.letter}){_about(each)} {each.verdict}: {each.explanation}" for each in told)
    return ["Why, as far as it is known:", "", *entries, ""]


def _table(cells: Cells) -> list[str]:
    return _rows(cells.columns, cells.rows)


def _rows(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table in Markdown."""
    return [
        f"| {' | '.join(map(_cell, columns))} |",
        f"|{'---|' * len(columns)}",
        *(f"| {' | '.join(map(_cell, row))} |" for row in rows),
    ]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
