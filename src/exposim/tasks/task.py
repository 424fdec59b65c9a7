"""A piece of work that can be done anywhere, and what came of it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from traceback import format_exception
from typing import Any


@dataclass(frozen=True)
class Task:
    """A function of plain arguments, found by its name wherever it is performed.

    Args:
        function: ``"module:name"``.
        arguments: By name; plain data and arrays.
        cost: Roughly how long it takes [s], or in any other unit: the longest begin first.
    """

    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    cost: float = 1.0


@dataclass(frozen=True)
class Outcome:
    """What came of a task.

    Args:
        value: That its function returned.
        error: What it raised instead, with the type: ``"ArithmeticError: no 0.5 today"``.
        traceback: Where that was, as Python prints it.
        is_lost: Whether nothing came of it at all, since every worker that had it died; ``error`` says so.
    """

    value: Any = None
    error: str | None = None
    traceback: str = ""
    is_lost: bool = False

    @classmethod
    def of(cls, error: Exception) -> Outcome:
        """Of a task that raised an error."""
        return cls(error=f"{type(error).__name__}: {error}", traceback="".join(format_exception(error)))


def perform(function: str, arguments: Mapping[str, Any]) -> Outcome:
    """Calls a function by its name; what it raises is told, not raised."""
    module, _, name = function.partition(":")
    try:
        return Outcome(getattr(importlib.import_module(module), name)(**arguments))
    except Exception as error:  # whatever a task does, the others go on
        return Outcome.of(error)
