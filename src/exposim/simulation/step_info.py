"""What steps did, for those who look inside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exposim import _core
from exposim._checks import Array
from exposim.robots.robot import Robot
from exposim.simulation.joint_names import names_of


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
        redone: How often a part was taken again: it was too long, missed a landing, or led a motor or dry friction to
            something else than it was taken for.
        turn: Largest angle by which a body turned within a part [rad]; above ``max_turn`` where the most parts were
            not enough.
        saturated: Names of the joints whose motors were asked for more than they can give.
        limits: Names of the joints that were pushed back by their position limits.
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
    saturated: tuple[str, ...]
    limits: tuple[str, ...]

    @classmethod
    def of(cls, core: _core.Simulator, robot: Robot) -> StepInfo:
        """Of a simulator's last step."""
        kernel, newton, transitions, parts = core.kernel_info, core.newton_info, core.transition_info, core.parts_info
        return cls(
            kernel.products,
            kernel.degree,
            kernel.squarings,
            kernel.error_bound,
            core.lam_pr,
            core.lam_pr2,
            newton.iterations,
            newton.converged,
            newton.residual,
            transitions.resolved,
            transitions.micro_steps,
            transitions.events,
            transitions.limited,
            parts.count,
            parts.redone,
            parts.turn,
            names_of(robot, core.saturated),
            names_of(robot, np.flatnonzero(core.mean_limit_forces)),
        )


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

    @classmethod
    def of(cls, core: _core.Simulator) -> Statistics:
        """Of a simulator."""
        found = core.statistics
        mean = found.iterations / max(1, found.steps)
        return cls(
            found.steps,
            mean,
            found.max_iterations,
            found.not_converged,
            found.resolved,
            found.limited,
            found.parts,
            found.overflows,
        )
