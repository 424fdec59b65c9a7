"""A piece of an experiment: a function of plain arguments whose result is kept."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from exposim.errors import ExposimError
from paper.digest import digest

Rows = list[dict[str, Any]]
FILE = "file"  # of a row: the name of a file that the cell left in the folder, without which it is not done


class CellFailed(ExposimError):
    """A cell raised an error; the message names the cell."""


@dataclass(frozen=True)
class Cell:
    """One piece of an experiment: a function of plain arguments that returns rows of a table.

    Args:
        function: ``"module:name"``. It takes the arguments, and ``folder``, where cells may leave files for others.
        arguments: Plain data.
        alone: Measures time, so nothing else may run beside it.
        cost: Roughly how long it takes [s], for the estimate of what is left.
    """

    function: str
    arguments: dict[str, Any] = field(default_factory=dict)
    alone: bool = False
    cost: float = 1.0

    @property
    def key(self) -> str:
        """Of its result: another one as soon as the arguments or something that the function uses change."""
        text = json.dumps([self.function, self.arguments, digest(self.function.partition(":")[0])], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def name(self) -> str:
        """For people."""
        words = [
            f"{value:.6g}" if isinstance(value, float) else str(value)
            for value in self.arguments.values()
            # Keys of other cells say nothing to people.
            if isinstance(value, (str, float)) and not re.fullmatch(r"[0-9a-f]{16}", str(value))
        ]
        return " ".join([self.function.rpartition(":")[2].replace("_", " "), *words])

    def compute(self, folder: Path) -> Rows:
        """Calls the function."""
        module, _, name = self.function.partition(":")
        rows: Rows = getattr(importlib.import_module(module), name)(folder=folder, **self.arguments)
        return rows
