"""A simulator's step as Crocoddyl's solvers take it; imported where Crocoddyl is asked for, as it is an extra."""

from __future__ import annotations

from typing import Any

import crocoddyl
import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.errors import InvalidArgument, SimulationDiverged
from exposim.mpc.cost import Cost
from exposim.mpc.horizon import Horizon
from exposim.mpc.points import Points
from exposim.mpc.terms import Term
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import State


class StateManifold(crocoddyl.StateAbstract):  # type: ignore[misc]
    """States of a simulator: x is flat, dx what :meth:`exposim.Simulator.difference` gives.

    So x holds all that the next step depends on, time and what contacts are doing too, and a step is a function of x
    and u alone. dx moves q, v and stretches, and leaves the rest as it is at the state that is moved.

    Args:
        sim: Whose states.
    """

    def __init__(self, sim: Simulator):
        self._sim = sim.copy()
        self._layout = sim._layout
        super().__init__(self._layout.size, sim._world.tangent_size)

    def zero(self) -> Array:
        """``robot.q0`` at rest, without contact history."""
        self._sim.reset()
        return np.array(self._sim.state._x)

    def rand(self) -> Array:
        """Somewhere near :meth:`zero`, with velocities of up to 1 rad/s or m/s."""
        self._sim.reset()
        nv, state = self._sim.robot.nv, self._sim.state
        dx = np.zeros(self.ndx)
        dx[: 2 * nv] = np.random.uniform(-1.0, 1.0, 2 * nv)  # noqa: NPY002  # that others seed, as all of Crocoddyl's
        dx[:nv] *= 0.1
        self._sim.state = self._sim.integrate(state, dx)
        return np.array(self._sim.state._x)

    def diff(self, x0: Array, x1: Array) -> Array:
        """``x1 ⊖ x0``; not a number where one of them is no state."""
        dx = self._sim._world.minus(np.array(x1), np.array(x0))
        return np.full(self.ndx, np.nan) if dx is None else dx

    def integrate(self, x: Array, dx: Array) -> Array:
        """``x ⊕ dx``; not a number where that is no state, which makes a solver shorten its step."""
        moved = self._sim._core.plus(np.array(x), np.array(dx)) if np.isfinite(dx).all() else None
        return np.full(self.nx, np.nan) if moved is None else moved

    def Jdiff(self, x0: Array, x1: Array, firstsecond: Any = crocoddyl.Jcomponent.both) -> list[Array]:
        """Of ``x1 ⊖ x0`` by x0 and x1."""
        model, q0, q1 = self._sim.robot.model, self._q(x0), self._q(x1)
        return self._chosen(
            firstsecond,
            lambda: self._around(pin.dDifference(model, q0, q1, pin.ARG0), -1.0),
            lambda: self._around(pin.dDifference(model, q0, q1, pin.ARG1), 1.0),
        )

    def Jintegrate(self, x: Array, dx: Array, firstsecond: Any = crocoddyl.Jcomponent.both) -> list[Array]:
        """Of ``x ⊕ dx`` by x and dx."""
        model, q, dq = self._sim.robot.model, self._q(x), np.array(dx[: self._sim.robot.nv])
        return self._chosen(
            firstsecond,
            lambda: self._around(pin.dIntegrate(model, q, dq, pin.ARG0), 1.0),
            lambda: self._around(pin.dIntegrate(model, q, dq, pin.ARG1), 1.0),
        )

    def JintegrateTransport(self, x: Array, dx: Array, J: Array, firstsecond: Any) -> Array:
        """A matrix carried from ``x ⊕ dx`` to x."""
        model, q, dq = self._sim.robot.model, self._q(x), np.array(dx[: self._sim.robot.nv])
        argument = pin.ARG0 if firstsecond == crocoddyl.Jcomponent.first else pin.ARG1
        carried = np.array(J)
        carried[: model.nv] = pin.dIntegrateTransport(model, q, dq, carried[: model.nv], argument)
        return carried

    def _q(self, x: Array) -> Array:
        return np.array(x[1 : 1 + self._layout.nq])

    def _around(self, block: Array, rest: float) -> Array:
        J = rest * np.eye(self.ndx)
        J[: len(block), : len(block)] = block
        return J

    @staticmethod
    def _chosen(which: Any, first: Any, second: Any) -> list[Array]:
        parts = crocoddyl.Jcomponent
        return [each() for name, each in ((parts.first, first), (parts.second, second)) if which in (name, parts.both)]


class TermResidual(crocoddyl.ResidualModelAbstract):  # type: ignore[misc]
    """The residual of a term, for ``crocoddyl.CostModelResidual``; activations and weights are Crocoddyl's.

    Args:
        state: Of the simulator.
        term: Whose weight and knots do not count here.
        nu: Controls.
        knot: At which references are taken that differ from knot to knot.
    """

    def __init__(self, state: StateManifold, term: Term, nu: int, knot: int = 0):
        self._term, self._knot = term, knot
        self._evaluated = state._sim.copy()
        controls = term.of_controls
        super().__init__(state, term.size(self._evaluated), nu, not controls, not controls, controls)

    def calc(self, data: Any, x: Array, u: Array | None = None) -> None:
        """The residual."""
        if not (self._term.of_controls and u is None):
            data.r[:] = self._term.residual(self._at(x, u))[0]

    def calcDiff(self, data: Any, x: Array, u: Array | None = None) -> None:
        """Its derivative by x or by u."""
        if not (self._term.of_controls and u is None):
            R = self._term.jacobian(self._at(x, u))[0]
            (data.Ru if self._term.of_controls else data.Rx)[:, : R.shape[1]] = R

    def _at(self, x: Array, u: Array | None) -> Points:
        controls = None if u is None else np.array(u)[None]
        return Points(self._evaluated, np.array(x)[None], controls, np.array([self._knot]), self._knot)


class StepModel(crocoddyl.ActionModelAbstract):  # type: ignore[misc]
    """One knot of a horizon: some steps of a simulator in which a control is held, and what that costs.

    Args:
        state: Of the simulator.
        horizon: Knots that it is one of.
        costs: Of exposim, or a ``crocoddyl.CostModelSum`` over ``state``.
        knot: Which one, where costs differ from knot to knot; ``horizon.knots`` is the last.
        bounds: Of the controls, (2, nu), if there are any.
    """

    def __init__(self, state: StateManifold, horizon: Horizon, costs: Any, knot: int = 0, bounds: Array | None = None):
        self._own = None
        if not isinstance(costs, crocoddyl.CostModelSum):
            self._own = Cost.of(costs).at_knot(knot, horizon.knots)
        self.costs: Any = costs if self._own is None else self._own
        self._horizon, self._knot = horizon, knot
        self._sim, self._layout = horizon.sim, horizon.sim._layout
        super().__init__(state, horizon.nu, 1 if self._own is not None else max(1, costs.nr))
        if bounds is not None:
            self.u_lb, self.u_ub = bounds

    def createData(self) -> StepData:
        """With what its costs need."""
        return StepData(self)

    def calc(self, data: Any, x: Array, u: Array | None = None) -> None:
        """Where the steps lead to, and the cost at x; infinite where they diverge."""
        x, u = np.array(x), None if u is None else np.array(u)
        if not np.isfinite(x).all():
            data.cost = np.inf
            return
        if u is None:
            data.xnext[:] = x
        else:
            self._sim.state = State._of(x, self._layout)
            try:
                self._sim.step(n=self._horizon.steps, **self._given(u))
                data.xnext[:] = self._sim.state._x
            except SimulationDiverged:
                data.xnext[:] = np.nan
                data.cost = np.inf
                return
        if self._own is not None:
            data.cost = float(self._own.values(self._at(x, u))[0])
        else:
            self.costs.calc(data.costs, *((x,) if u is None else (x, u)))
            data.cost = data.costs.cost

    def calcDiff(self, data: Any, x: Array, u: Array | None = None) -> None:
        """Derivatives of both.

        Raises:
            SimulationDiverged: If the steps diverge: of a first guess that does, as no solver goes to where they do.
        """
        x, u = np.array(x), None if u is None else np.array(u)
        if u is not None:
            data.Fx[:, :], data.Fu[:, :] = self._slopes(x, u)
        if self._own is not None:
            found = self._own.expand(self._at(x, u))
            data.Lx[:], data.Lxx[:, :] = found.x[0], found.xx[0]
            if u is not None:
                data.Lu[:], data.Luu[:, :] = found.u[0], found.uu[0]
        else:
            self.costs.calcDiff(data.costs, *((x,) if u is None else (x, u)))
            data.Lx[:], data.Lxx[:, :] = data.costs.Lx, data.costs.Lxx
            if u is not None:
                data.Lu[:], data.Luu[:, :], data.Lxu[:, :] = data.costs.Lu, data.costs.Luu, data.costs.Lxu

    def _slopes(self, x: Array, u: Array) -> tuple[Array, Array]:
        x, Fx, Fu = self._sim._slopes(State._of(x, self._layout), **self._given(u), **self._horizon.how)
        for _ in range(1, self._horizon.steps):
            x, A, B = self._sim._slopes(State._of(x, self._layout), **self._given(u), **self._horizon.how)
            Fx, Fu = A @ Fx, A @ Fu + B
        return Fx, Fu

    def _given(self, u: Array) -> dict[str, Any]:
        return {self._horizon.control: u}

    def _at(self, x: Array, u: Array | None) -> Points:
        return Points(self._sim, x[None], None if u is None else u[None], np.array([self._knot]), self._horizon.knots)


class StepData(crocoddyl.ActionDataAbstract):  # type: ignore[misc]
    """Of a :class:`StepModel`."""

    def __init__(self, model: StepModel):
        super().__init__(model)
        self.costs = None
        if isinstance(model.costs, crocoddyl.CostModelSum):
            self.costs = model.costs.createData(crocoddyl.DataCollectorAbstract())


def checked_costs(costs: Any, state: StateManifold) -> Any:
    """Ours, or Crocoddyl's over the same state."""
    if isinstance(costs, crocoddyl.CostModelSum):
        if costs.state.nx != state.nx or costs.state.ndx != state.ndx:
            raise InvalidArgument(
                f"costs are over states of {costs.state.nx} numbers, the simulator's have {state.nx}; make them over "
                f"the state of a model: exposim.mpc.crocoddyl_state(sim)"
            )
        return costs
    return Cost.of(costs)
