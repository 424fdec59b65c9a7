"""What a rule finds in tables, and how error curves are compared at equal time."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array

if TYPE_CHECKING:
    import pandas as pd

# Of the paper's claims, and of bars of our own.
Outcome = Literal["confirmed", "exceeded", "not confirmed", "met", "not met", "not measured", "not judged"]
Tables = Mapping[str, "pd.DataFrame"]

POINTS = 65  # at which two curves are compared: finer than the steps, which are a factor of two apart


class NotMeasured(Exception):
    """A rule lacks rows; its text says which."""


@dataclass(frozen=True)
class Finding:
    """Of a rule.

    Args:
        outcome: How the claim fares.
        measured: The numbers that say so.
        details: Further numbers.
    """

    outcome: Outcome
    measured: str
    details: str = ""

    @classmethod
    def confirmed_if(cls, held: bool, measured: str, details: str = "") -> Finding:
        """Confirmed, or not."""
        return cls("confirmed" if held else "not confirmed", measured, details)

    @classmethod
    def met_if(cls, held: bool, measured: str, details: str = "") -> Finding:
        """Met, or not."""
        return cls("met" if held else "not met", measured, details)


@dataclass(frozen=True)
class Comparison:
    """Of one error curve with another at equal time.

    Args:
        share: Of the common range of real-time factors, on a logarithmic scale, where the first error is the lower.
        ratio: Median over that range of the second error divided by the first.
        not_lower: Real-time factors between which the first error is not the lower, if anywhere.
    """

    share: float
    ratio: float
    not_lower: tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Curve:
    """Error against real-time factor, by rising factor; infinite where the simulation diverges."""

    factor: Array
    error: Array

    @classmethod
    def of(cls, rows: pd.DataFrame) -> Curve:
        """Of one variant in one scenario against one truth.

        A larger step that takes longer, as of implicit Euler when it does not converge, is nobody's choice.
        """
        rows = rows[np.isfinite(rows["real-time factor"])].sort_values("dt")
        factor = rows["real-time factor"].to_numpy(float)
        chosen = factor > np.concatenate([[0.0], np.maximum.accumulate(factor)[:-1]])
        return cls(factor[chosen], rows["mean"].to_numpy(float)[chosen])

    def at(self, factor: Array) -> Array:
        """Interpolated between logarithms; infinite next to a point that diverges."""
        finite = np.isfinite(self.error)
        x, y = np.log(self.factor), np.log(np.where(finite, np.maximum(self.error, 1e-300), 1.0))
        at = np.log(factor)
        lost = np.interp(at, x, (~finite).astype(float)) > 0.0
        found: Array = np.where(lost, np.inf, np.exp(np.interp(at, x, y)))
        return found


def compare(one: Curve, other: Curve) -> Comparison:
    """One curve with another over their common range of real-time factors.

    Without a common range, the faster one is lower if it is already so at its slowest.
    """
    low, high = max(one.factor[0], other.factor[0]), min(one.factor[-1], other.factor[-1])
    if low > high:
        first, second = (one.error[0], other.error[-1]) if one.factor[0] == low else (one.error[-1], other.error[0])
        lower = bool(first < second)
        return Comparison(float(lower), quotient(second, first), None if lower else (float(high), float(low)))
    at = np.geomspace(low, high, POINTS)
    here, there = one.at(at), other.at(at)
    lower_here = here < there
    worse = at[~lower_here]
    ratios = [quotient(b, a) for a, b in zip(here, there, strict=True)]
    return Comparison(
        float(lower_here.mean()), float(np.median(ratios)), (float(worse[0]), float(worse[-1])) if len(worse) else None
    )


def rows_of(tables: Tables, name: str, **columns: Any) -> pd.DataFrame:
    """Rows of a table with these values.

    Raises:
        NotMeasured: If there are none.
    """
    table = tables.get(name)
    if table is None or table.empty:
        raise NotMeasured(f"there is no table {name}")
    for column, value in columns.items():
        table = table[table[column] == value]
        if table.empty:
            raise NotMeasured(f"table {name} has no rows with {column} {value}")
    return table


def growth_per_doubling(rows: pd.DataFrame) -> Array:
    """Factor by which the error grows from each step to the next, per doubling of the step; infinite where lost."""
    rows = rows.sort_values("dt")
    error, dt = rows["mean"].to_numpy(float), rows["dt"].to_numpy(float)
    pairs = [
        quotient(after, before) ** (1.0 / np.log2(dt[i + 1] / dt[i]))
        for i, (before, after) in enumerate(itertools.pairwise(error))
    ]
    return np.array(pairs)


def spread(values: NDArray[Any]) -> float:
    """Largest divided by smallest; infinite if one is lost."""
    return float(values.max() / values.min()) if np.isfinite(values).all() and values.min() > 0.0 else np.inf


def quotient(a: float, b: float) -> float:
    """a/b, of which either may be infinite."""
    if np.isinf(b):
        return 1.0 if np.isinf(a) else 0.0
    return float(a / b) if b > 0.0 else np.inf


def factor(value: float) -> str:
    """A ratio for people: ``3.2×``."""
    return "∞×" if np.isinf(value) else f"{value:.2g}×" if value < 99.5 else f"{value:.0f}×"
