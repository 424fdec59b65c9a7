"""Where the time of a step goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exposim import _html

STAGES = ("contacts", "dynamics terms", "kernel", "integration")


@dataclass(frozen=True)
class StageProfile:
    """One part of the steps.

    Args:
        count: How often it was done.
        mean: Time each [s].
        share: Of the time of all parts, 0 to 1.
    """

    count: int
    mean: float
    share: float


class Profile(dict[str, StageProfile]):
    """The parts of the steps by name: contacts, dynamics terms, kernel, integration. Prints as a table.

    *contacts*: kinematics of the contact points and the contact law. *dynamics terms*: mass matrix, bias, contact
    Jacobians and the linear contact dynamics, or the forward dynamics of other integrators and its derivatives.
    *kernel*: the integrals of the exponential, or Newton's linear systems. *integration*: the new state.
    """

    @classmethod
    def of(cls, entries: Sequence[tuple[int, float]]) -> Profile:
        """From counts and total times [s] in the order of STAGES."""
        total = sum(seconds for _, seconds in entries)
        return cls(
            {
                stage: StageProfile(count, seconds / count, seconds / total)
                for stage, (count, seconds) in zip(STAGES, entries, strict=True)
                if count > 0
            }
        )

    def _repr_html_(self) -> str:
        return _html.plain(str(self))

    def __str__(self) -> str:
        if not self:
            return "nothing measured: make the simulator with profile=True and take steps"
        rows = [f"{'stage':16}{'count':>10}{'mean [µs]':>12}{'share':>9}"]
        rows += [f"{name:16}{p.count:10d}{1e6 * p.mean:12.2f}{p.share:9.1%}" for name, p in self.items()]
        return "\n".join(rows)
