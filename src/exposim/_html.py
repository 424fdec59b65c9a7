"""What notebooks show of objects: small tables, of text that is never taken for HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def table(heading: str, rows: Iterable[Sequence[object]], columns: Sequence[str] = (), note: str = "") -> str:
    """A table under a heading, and a note below it.

    Args:
        heading: Above it, in bold.
        rows: Of cells.
        columns: Their names; without, the first cell of a row is its name.
        note: Below it, in small print.
    """
    head = f"<thead><tr>{_cells(columns, 'th')}</tr></thead>" if columns else ""
    body = "".join(f"<tr>{_cells(row[:1], 'td' if columns else 'th')}{_cells(row[1:])}</tr>" for row in rows)
    below = f"<small>{html.escape(note)}</small>" if note else ""
    return f"<div><b>{html.escape(heading)}</b><table>{head}<tbody>{body}</tbody></table>{below}</div>"


def plain(text: str) -> str:
    """Text as it is printed."""
    return f"<pre>{html.escape(text)}</pre>"


def _cells(row: Sequence[object], kind: str = "td") -> str:
    align = ' style="text-align: left"'
    return "".join(f"<{kind}{align}>{html.escape(str(cell))}</{kind}>" for cell in row)
