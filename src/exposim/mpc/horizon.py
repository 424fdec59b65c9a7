"""Steps of a simulator between knots, at each of which a control begins that is held until the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.simulation.policies import LinearPolicy
from exposim.simulation.rollout import Rollout
from exposim.simulation.simulator import Simulator

ControlledBy = Literal["tau", "target"]


@dataclass(frozen=True, eq=False)
class Motions:
    """What came of controls, in R rows.

    Args:
        x: Flat states at the beginning and after each step, (R, steps + 1, nx).
        u: Controls at the knots, with their feedback, (R, knots, nu).
        ok: Whether the row came to its end, (R,).
    """

    x: Array
    u: Array
    ok: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivatives from knot to knot.

    Args:
        A: By states, (knots, ndx, ndx).
        B: By controls, (knots, ndx, nu).
        grazing: How often steps of the knot are not differentiable, (knots,).
        ok: Whether all are there.
    """

    A: Array
    B: Array
    grazing: NDArray[np.int_]
    ok: bool


class Horizon:
    """Knots at equal distances in time, each of some steps of a simulator.

    Args:
        sim: Of the robot, on its ground; it stays as it is.
        knots: How many controls there are.
        steps: Of the simulator from knot to knot.
        control: Whether controls are ``"tau"``, torques, or ``"target"``, of drives; one per actuated degree of
            freedom.
        threads: As of :class:`exposim.Rollout`.
        exact: As of :meth:`exposim.Simulator.derivatives`.
        method: Likewise.
    """

    def __init__(
        self,
        sim: Simulator,
        knots: int,
        steps: int = 1,
        control: ControlledBy = "tau",
        *,
        threads: int | None = None,
        exact: bool = True,
        method: str = "auto",
    ):
        if not isinstance(sim, Simulator):
            raise InvalidArgument(f"sim is a {type(sim).__name__}; give an exposim.Simulator to plan with")
        self.knots = _checks.count("horizon", knots)
        self.steps = _checks.count("steps", steps)
        self.control = _checks.choice("control", control, get_args(ControlledBy))
        if self.control == "target":
            sim._inputs.refuse_without_drives("control='target'")
        self.pool = Rollout(sim, threads)
        self.sim = sim.copy()
        # How steps are differentiated, as Rollout.linearize takes it.
        self.how: dict[str, Any] = {
            "exact": _checks.flag("exact", exact),
            "method": _checks.choice("method", method, ("auto", "differences")),
        }

    @property
    def spacing(self) -> float:
        """From knot to knot [s]."""
        return self.steps * self.pool.dt

    @property
    def nu(self) -> int:
        """Controls at a knot."""
        return len(self.sim.robot.actuated_dofs)

    def roll(self, x: ArrayLike, u: Array, feedback: LinearPolicy | None = None) -> Motions:
        """Follows controls of R rows, (R, knots, nu), from a flat state."""
        steps = self.steps * self.knots
        held = np.repeat(u, self.steps, axis=1)
        given: dict[str, Any] = {"taus": held} if self.control == "tau" else {"targets": held}
        record = ("states",) if feedback is None else ("states", "actions")
        start = np.broadcast_to(np.asarray(x), (len(u), self.pool.size))
        out = self.pool(start, **given, steps=steps, policy=feedback, record=record)
        if feedback is not None:
            u = u + out.actions[:, :: self.steps]
        return Motions(np.concatenate([start[:, None], out.states], axis=1), u, out.status == 0)

    def feedback(self, gains: Array, q: Array, v: Array) -> LinearPolicy:
        """Towards q and v of the knots, (knots, nq) and (knots, nv), by gains (knots, nu, 2 nv), or (R, …) of rows."""
        gains = np.repeat(gains, self.steps, axis=-3)
        q, v = (np.repeat(each, self.steps, axis=0) for each in (q, v))
        output: Literal["taus", "targets"] = "taus" if self.control == "tau" else "targets"
        return LinearPolicy(gains, q, v, output=output, hold=self.steps)

    def linearize(self, x: Array, u: Array) -> Slopes:
        """Along one motion: states at the beginning and after each step, (steps + 1, nx), and controls at the knots."""
        held = np.repeat(u, self.steps, axis=0)
        given: dict[str, Any] = {"taus": held} if self.control == "tau" else {"targets": held}
        found = self.pool.linearize(x[:-1], **given, **self.how)
        A, B = (each.reshape(self.knots, self.steps, *each.shape[1:]) for each in found)
        whole, by_control = A[:, 0], B[:, 0]
        for k in range(1, self.steps):
            whole, by_control = A[:, k] @ whole, A[:, k] @ by_control + B[:, k]
        return Slopes(
            whole, by_control, found.grazing.reshape(self.knots, self.steps).sum(axis=1), bool(found.ok.all())
        )
