"""What steps did, for those who look inside."""

from __future__ import annotations

from dataclasses import dataclass

from exposim._checks import Array


@dataclass(frozen=True, eq=False)
class StepInfo:
    """What the last step did.

    Args:
        products: Products of two full matrices spent on the exponential.
        degree: Of the Padé approximant taken; 0 where none was.
        squarings: The matrix was divided by ``2**squarings`` and the result squared as often.
        error_bound: Of the average forces, relative to the largest, where ``"auto"`` chose an approximation by it.
        lam_pr: Per contact, the average force that moved v, after projection [N], (nc, 3); without the small impulse by
            which ``Expo`` makes robot and contacts agree on hard ground.
        lam_pr2: Per contact, the double average that moved q, after projection [N], (nc, 3).
        iterations: Newton steps of an implicit integrator.
        converged: Whether they reached the tolerance.
        residual: Norm of what is left of the implicit equation [m/s, rad/s].
        resolved: Whether contacts changed or slipped, and were followed through the step.
        micro_steps: That this took.
        events: Landings, lift-offs, slips and sticks that were located within the step.
        limited: More of them happened than are located in one step; the rest took effect up to a micro-step late.
        parts: In which the step was taken, so that no body turns by more than ``max_turn`` in one of them.
        redone: Parts that turned out to be too long, or to have missed a landing, and were taken again.
        turn: Largest angle by which a body turned within a part [rad]; above ``max_turn`` where the most parts were
            not enough.
    """

    products: int
    degree: int
    squarings: int
    error_bound: float
    lam_pr: Array
    lam_pr2: Array
    iterations: int
    converged: bool
    residual: float
    resolved: bool
    micro_steps: int
    events: int
    limited: bool
    parts: int
    redone: int
    turn: float


@dataclass(frozen=True)
class Statistics:
    """The steps since the last reset or restored state.

    Args:
        steps: How many.
        mean_iterations: Newton steps of an implicit integrator per step.
        max_iterations: Newton steps in the worst step.
        not_converged: Steps in which Newton's method did not reach the tolerance.
        resolved: Steps in which contacts were followed through changes.
        limited: Steps with more changes than are located in one.
        parts: In which they were taken.
        overflows: Touches that were left out because all slots of their point were taken.
    """

    steps: int
    mean_iterations: float
    max_iterations: int
    not_converged: int
    resolved: int
    limited: int
    parts: int
    overflows: int
