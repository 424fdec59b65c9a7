"""What came of tasks, kept in a folder: written once, read as often as needed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exposim._writing import make_parents, writing


class Kept:
    """Records in a folder, one JSON file for each, written whole or not at all.

    Several processes, also of several machines that share the folder, may write at once.

    Args:
        folder: Made when something is written.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    def read(self, key: str) -> dict[str, Any] | None:
        """What is kept under a key; nothing where there is nothing, or where the file is damaged."""
        try:
            record = json.loads(self.file(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) else None

    def write(self, key: str, record: Mapping[str, Any]) -> None:
        """Keeps a record, instead of what was there.

        Raises:
            UnwritableFile: If the system refuses; what was there before is then still there.
        """
        make_parents(self.file(key))
        with writing(self.file(key)) as stream:
            stream.write((json.dumps(record, ensure_ascii=False) + "\n").encode())

    def file(self, key: str) -> Path:
        """Where it is kept."""
        return self.folder / f"{key}.json"
