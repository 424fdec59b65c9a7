"""Tables as files of comma-separated values."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from exposim._writing import writing


def write_table(rows: Sequence[Mapping[str, Any]], target: Path) -> None:
    """Rows with a column for every name that any of them has, written whole or not at all."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(dict.fromkeys(key for row in rows for key in row)))
    writer.writeheader()
    writer.writerows(rows)
    with writing(target) as stream:
        stream.write(text.getvalue().encode())
