"""What a file of a trajectory says beside its arrays, declared once."""

from __future__ import annotations

from dataclasses import dataclass

from exposim.simulation.records import Record


@dataclass(frozen=True)
class Outcome(Record):
    """How a run ended.

    Args:
        finished: Whether all of the planned time was simulated.
        steps: That were taken.
        diverged_at: When it diverged [s], if it did.
        divergence: How, with advice.
    """

    finished: bool
    steps: int
    diverged_at: float | None
    divergence: str | None


@dataclass(frozen=True)
class Columns(Record):
    """Names of the entries of q, v and tau, and of the degrees of freedom with dry friction."""

    q: tuple[str, ...]
    v: tuple[str, ...]
    tau: tuple[str, ...]
    friction: tuple[str, ...]


@dataclass(frozen=True)
class ContactColumn(Record):
    """One contact of the arrays.

    Args:
        name: Of the contact point.
        frame: That it is fixed to.
        surface: Number of the surface it may touch; ``None`` for a bilateral one, or a slot of changing surfaces.
        friction: Coefficient, where there is one.
    """

    name: str
    frame: str
    surface: int | None
    friction: float | None
