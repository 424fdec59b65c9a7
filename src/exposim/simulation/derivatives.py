"""Derivatives of a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from exposim import _core
from exposim._checks import Array

if TYPE_CHECKING:
    from exposim.simulation.events import Event
    from exposim.simulation.state import State

GrazingKind = Literal["touch", "tangential", "simultaneous", "at once", "no direction", "held back", "choice", "effort"]
GRAZING: tuple[GrazingKind, ...] = get_args(GrazingKind)  # in the order of the core
Method = Literal["analytic", "differences"]


@dataclass(frozen=True)
class Grazing:
    """Where a step is not differentiable, or nearly so; its derivatives are then those to one side.

    Args:
        kind: ``"touch"``: a contact closes with hardly any velocity; beside this, it does not. ``"tangential"``: what a
            mode ends by hardly passes zero. ``"simultaneous"``: several contacts change at once, in the order that the
            step found. ``"at once"``: an event at the very start, the time of which is held. ``"no direction"``: one
            slips at rest; its direction is held. ``"held back"``: friction that has no solution. ``"choice"``: the
            scheme is about to choose otherwise, as for the number of micro-steps; the derivative is that of the side
            on which it does not. ``"effort"``: a torque is just what its motor has, as where a controller clips it; the
            derivative is that of less.
        t: Since the start of the step [s].
        contact: Of ``sim.contacts``; −1 where it is none's.
    """

    kind: GrazingKind
    t: float
    contact: int


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Of where a step leads to, by where it starts and what it is given.

    Rows are coordinates of the tangent space of states, as :meth:`exposim.Simulator.difference` gives it: q (nv, as in
    Pinocchio), v (nv), three per contact for its stretch, one per dry friction; ndx in all. The discrete choices of the
    step, which contact does what in which order, are held; the times at which they change are not.

    Args:
        x: By displacements of the state, as :meth:`exposim.Simulator.integrate` takes them, (ndx, ndx).
        tau: By torques of the actuated degrees of freedom, (ndx, nu).
        target: By targets of drives that are in force, of the actuated degrees of freedom, (ndx, nu).
        target_velocity: By their velocities, (ndx, nu).
        wrenches: By force and torque at every frame that a wrench was given for, (ndx, 6).
        parameters: By these, one column each, (ndx, np).
        names: Of the parameters.
        events: Of the step, in the order of time.
        grazing: Where the step is not differentiable; empty: nowhere.
        state: Where the step leads to.
        method: ``"analytic"``: by derivatives of the formulas; ``"differences"``: by central differences, where those
            are not known.
    """

    x: Array
    tau: Array
    target: Array
    target_velocity: Array
    wrenches: dict[str, Array]
    parameters: Array
    names: tuple[str, ...]
    events: tuple[Event, ...]
    grazing: tuple[Grazing, ...]
    state: State
    method: Method

    @property
    def ndx(self) -> int:
        """Size of the tangent space of states."""
        return len(self.x)


def grazing_of(found: list[_core.Grazing], contacts: int) -> tuple[Grazing, ...]:
    """As users know it, each kind once for a contact and time."""
    seen = {Grazing(GRAZING[each.kind], each.t, each.strand if each.strand < contacts else -1): None for each in found}
    return tuple(seen)


def by_drive(force: Array, gains: Array, dofs: NDArray[np.int_]) -> Array:
    """By what drives of these gains are told, from derivatives by forces along all degrees of freedom."""
    return np.asarray(force[..., dofs] * gains[dofs])
