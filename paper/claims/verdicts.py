"""A claim, the rule that decides on it, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from paper.claims.findings import Finding, NotMeasured, Outcome, Tables
from paper.measure.variants import OURS

Rule = Callable[[Tables, str], Finding]


@dataclass(frozen=True)
class Verdict:
    """How a claim fares.

    Args:
        letter: Of the claim.
        claim: What the paper says, or what a bar of our own asks.
        measured: The numbers that decide, in words.
        verdict: ``"confirmed"``, ``"exceeded"``, ``"not confirmed"`` or ``"not measured"``; of a bar ``"met"`` or
            ``"not met"``; of either ``"not judged"`` where it was measured too coarsely.
        explanation: Why, where that is known.
        experiment: That the claim is about.
        method: Label of the variant under test; empty where the claim is not about one, or there is only one.
        details: Further numbers.
    """

    letter: str
    claim: str
    measured: str
    verdict: Outcome
    explanation: str
    experiment: str
    method: str = ""
    details: str = ""

    def left_open(self) -> Verdict:
        """The same numbers, from which nothing is concluded."""
        return self if self.verdict == "not measured" else replace(self, verdict="not judged", explanation="")


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, or a bar of our own.

    Args:
        letter: By which it is named.
        text: What it says.
        experiment: Whose tables decide.
        rule: Decides.
        explanations: By outcome.
        ours: The same of our version of the method, where they differ.
        about_method: Whether it is about Expo, and so may be asked of every version of it.
    """

    letter: str
    text: str
    experiment: str
    rule: Rule
    explanations: Mapping[Outcome, str] = field(default_factory=dict)
    ours: Mapping[Outcome, str] = field(default_factory=dict)
    about_method: bool = False

    def judge(self, tables: Tables, method: str, name_it: bool = True) -> Verdict:
        """Asks the rule; what cannot be asked was not measured."""
        try:
            found = self.rule(tables, method)
        except NotMeasured as missing:
            found = Finding("not measured", str(missing))
        explanations = {**self.explanations, **(self.ours if method == OURS else {})}
        return Verdict(
            self.letter,
            self.text,
            found.measured,
            found.outcome,
            explanations.get(found.outcome, ""),
            self.experiment,
            method if self.about_method and name_it else "",
            found.details,
        )
