"""Crocoddyl's solvers on steps of a simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim._extras import extras
from exposim.errors import InvalidArgument
from exposim.mpc.bounds import checked_bounds
from exposim.mpc.horizon import ControlledBy, Horizon
from exposim.mpc.terms import Term
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import State

if TYPE_CHECKING:
    from exposim.mpc.crocoddyl_models import StateManifold, StepModel, TermResidual


def crocoddyl_state(sim: Simulator) -> StateManifold:
    """States of a simulator, as a ``crocoddyl.StateAbstract``.

    x is flat, as ``state.to_array()`` has it of a robot without dry friction and delays, with all that the next step
    depends on; dx is (dq, dv, stretches), as of :meth:`exposim.Simulator.difference`.

    Args:
        sim: Whose states.
    """
    return _models().StateManifold(_checked(sim))  # type: ignore[no-any-return]


def crocoddyl_residual(state: StateManifold, term: Term, knot: int = 0) -> TermResidual:
    """The residual of a term as a ``crocoddyl.ResidualModelAbstract``, for costs of Crocoddyl.

    Args:
        state: From :func:`crocoddyl_state`.
        term: Such as :class:`Force`; activation and weight are Crocoddyl's, so its own do not count.
        knot: At which references are taken that differ from knot to knot.
    """
    return _models().TermResidual(state, term, len(state._sim.robot.actuated_dofs), knot)  # type: ignore[no-any-return]


def crocoddyl_model(
    sim: Simulator,
    costs: Any,
    *,
    knot: int = 0,
    horizon: int = 1,
    steps: int = 1,
    control: ControlledBy = "tau",
    bounds: ArrayLike | None = None,
    state: StateManifold | None = None,
    exact: bool = True,
    method: str = "auto",
) -> StepModel:
    """A step, or several with the same control, as a ``crocoddyl.ActionModelAbstract``; of x alone a terminal one.

    It is the step of the simulator itself, so contacts need no schedule. Where a step diverges its cost is infinite,
    which makes a solver shorten its own.

    Args:
        sim: Of the robot, on its ground; its ``dt`` is that of the steps. It stays as it is.
        costs: :class:`Cost`, terms, or a ``crocoddyl.CostModelSum`` over ``state``.
        knot: Which one of the horizon it is, where costs differ from knot to knot; the last has number ``horizon``.
        horizon: How many knots have a control.
        steps: Of the simulator, in which the control is held.
        control: Whether controls are ``"tau"``, torques, or ``"target"``, of drives.
        bounds: Least and largest controls, (2, nu) or two numbers, for solvers that heed them.
        state: That several models share; by default one of its own.
        exact: As of :meth:`exposim.Simulator.derivatives`.
        method: Likewise.

    Raises:
        MissingExtra: Without Crocoddyl.
        InvalidArgument: Naming what does not fit.
    """
    knots = _horizon(sim, horizon, steps, control, exact, method)
    state = crocoddyl_state(sim) if state is None else state
    return _model(state, knots, costs, knot, checked_bounds(bounds, knots.nu))


def crocoddyl_problem(
    sim: Simulator,
    start: State,
    horizon: int,
    costs: Any,
    *,
    steps: int = 1,
    control: ControlledBy = "tau",
    bounds: ArrayLike | None = None,
    exact: bool = True,
    method: str = "auto",
) -> Any:
    """A ``crocoddyl.ShootingProblem`` of models that share a state, one for each knot and the terminal one.

    Args:
        sim: As of :func:`crocoddyl_model`.
        start: Where it begins.
        horizon: How many knots have a control.
        costs: :class:`Cost` or terms.
        steps: As of :func:`crocoddyl_model`.
        control: Likewise.
        bounds: Likewise.
        exact: Likewise.
        method: Likewise.
    """
    knots = _horizon(sim, horizon, steps, control, exact, method)
    if not (isinstance(start, State) and start.layout == sim._layout):
        raise InvalidArgument(f"start is {start!r}; give a state of the simulator, such as sim.state")
    state, limits = crocoddyl_state(sim), checked_bounds(bounds, knots.nu)
    models = [_model(state, knots, costs, k, limits) for k in range(knots.knots + 1)]
    with extras():
        import crocoddyl  # noqa: PLC0415
    return crocoddyl.ShootingProblem(np.array(start._x), models[:-1], models[-1])


def _horizon(sim: Any, horizon: int, steps: int, control: ControlledBy, exact: bool, method: str) -> Horizon:
    return Horizon(_checked(sim), horizon, steps, control, threads=1, exact=exact, method=method)


def _model(state: StateManifold, knots: Horizon, costs: Any, knot: int, bounds: Array | None) -> StepModel:
    models = _models()
    if knot != 0:
        _checks.count("knot", knot, knots.knots)
    return models.StepModel(state, knots, models.checked_costs(costs, state), knot, bounds)  # type: ignore[no-any-return]


def _checked(sim: Any) -> Simulator:
    if not isinstance(sim, Simulator):
        raise InvalidArgument(f"sim is a {type(sim).__name__}; give an exposim.Simulator")
    return sim


def _models() -> Any:
    with extras():
        from exposim.mpc import crocoddyl_models  # noqa: PLC0415
    return crocoddyl_models
