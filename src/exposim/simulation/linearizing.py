"""Derivatives of steps, as a simulator gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks, _core
from exposim._checks import Array
from exposim.errors import InvalidArgument, SimulationDiverged
from exposim.simulation.derivatives import Derivatives, by_drive, grazing_of
from exposim.simulation.events import events_of
from exposim.simulation.mismatch import refuse_state
from exposim.simulation.parameters import Parameter, Parameters
from exposim.simulation.state import State

if TYPE_CHECKING:
    from exposim.robots.joint_laws import JointArrays
    from exposim.robots.robot import Robot
    from exposim.simulation.inputs import Inputs
    from exposim.simulation.layout import Layout

HowTo = Literal["auto", "differences"]
Found = _core.StepDerivatives


class Linearizing:
    """The part of a simulator that differentiates steps."""

    _robot: Robot
    _laws: JointArrays
    _core: _core.Simulator
    _layout: Layout
    _inputs: Inputs
    _dt: float
    _parameters: Parameters | None  # made at the first question
    _labels: Any
    state: Any

    def derivatives(self, parameters: Iterable[str] = (), *, exact: bool = True, method: HowTo = "auto") -> Derivatives:
        """Of the last step, by where it started and what it was given; the simulator stays where it is.

        Args:
            parameters: Names: ``"stiffness"``, ``"damping"``, ``"friction"`` of all contacts with the ground,
                ``"friction:FL_foot"`` of contact points by name or glob, ``"mass:base_link"`` of bodies.
            exact: If not, cheaper: Υ changes against the mean force of the step alone. A few parts in a thousand off
                where forces change much within a step.
            method: ``"auto"``: by derivatives of the formulas, where they are known, else by differences.
                ``"differences"``: by central differences in any case.

        Raises:
            InvalidArgument: If no step was taken since the last reset or restored state, or the last one diverged; of a
                parameter that is none.
        """
        asked = self._asked(parameters)
        found = _core.differentiate(self._core, self._pairs(asked), True, *_how(exact, method))
        if found is None:
            raise InvalidArgument("there is nothing to differentiate before a step: take one, sim.step(), then ask")
        return self._derivatives(found, asked, self._inputs.frames, self.state)

    def linearize(
        self,
        state: State,
        tau: ArrayLike | None = None,
        *,
        dt: float | None = None,
        target: ArrayLike | None = None,
        target_velocity: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
        parameters: Iterable[str] = (),
        exact: bool = True,
        method: HowTo = "auto",
    ) -> Derivatives:
        """Derivatives of the step from a state, which is not taken: the simulator stays where it is.

        Args:
            state: Of this simulator.
            tau: As of :meth:`exposim.Simulator.step`.
            dt: How long the step is [s]; by default the simulator's.
            target: As of :meth:`exposim.Simulator.step`.
            target_velocity: Likewise.
            wrenches: Likewise.
            parameters: As of :meth:`derivatives`.
            exact: Likewise.
            method: Likewise.

        Raises:
            InvalidArgument: Of a value that cannot be, or a parameter that is none.
            StateMismatch: Of a state of another simulator.
            SimulationDiverged: If the step diverges.
        """
        asked = self._asked(parameters)
        h = self._dt if dt is None else _checks.number("dt", dt, "[s]", least=_core.MIN_STEP)
        forces = [] if wrenches is None else self._inputs.wrenches(wrenches)
        x, found = self._found(state, tau, h, target, target_velocity, forces, asked, exact, method)
        return self._derivatives(found, asked, tuple(wrenches or ()), State._of(x, self._layout))

    def _slopes(
        self,
        state: State,
        *,
        tau: ArrayLike | None = None,
        target: ArrayLike | None = None,
        exact: bool = True,
        method: HowTo = "auto",
    ) -> tuple[Array, Array, Array]:
        """Where a step leads to, flat, A, and B by what is given: no more of :meth:`linearize` than solvers need."""
        x, found = self._found(state, tau, self._dt, target, None, [], (), exact, method)
        dofs, force = self._robot.actuated_dofs, np.asarray(found.force)
        return x, np.asarray(found.x), force[:, dofs] if target is None else by_drive(force, self._laws.kp, dofs)

    def _found(
        self,
        state: State,
        tau: ArrayLike | None,
        h: float,
        target: ArrayLike | None,
        target_velocity: ArrayLike | None,
        forces: list[Any],
        asked: tuple[Parameter, ...],
        exact: bool,
        method: HowTo,
    ) -> tuple[Array, Found]:
        if not (isinstance(state, State) and state.layout == self._layout):
            refuse_state(state, self._layout, self._robot)
        outcome, x, found = _core.linearize(
            self._core,
            state._x,
            None if tau is None else self._inputs.tau(tau),
            h,
            forces,
            self._inputs.target(target),
            self._inputs.target_velocity(target_velocity),
            self._pairs(asked),
            True,
            *_how(exact, method),
        )
        if outcome == 1:
            refuse_state(state, self._layout, self._robot)
        if outcome == 2:
            raise SimulationDiverged(
                state.t + h, 1, (), state, "the step that was to be differentiated diverges: give a smaller dt"
            )
        return x, found

    def _asked(self, names: Iterable[str]) -> tuple[Parameter, ...]:
        if isinstance(names, tuple) and not names:
            return ()
        if self._parameters is None:
            self._parameters = Parameters(self)  # type: ignore[arg-type]
        return self._parameters.named(names)

    def _pairs(self, asked: tuple[Parameter, ...]) -> list[Any]:
        return self._parameters.pairs(asked) if asked and self._parameters is not None else []

    def _derivatives(
        self,
        found: Found,
        asked: tuple[Parameter, ...],
        frames: tuple[str, ...],
        state: State,
    ) -> Derivatives:
        dofs, force = self._robot.actuated_dofs, np.asarray(found.force)
        wrench = np.asarray(found.wrench)
        frames = frames if wrench.size else ()
        return Derivatives(
            np.asarray(found.x),
            force[:, dofs],
            by_drive(force, self._laws.kp, dofs),
            by_drive(force, self._laws.kd, dofs),
            {frame: wrench[:, 6 * k : 6 * k + 6] for k, frame in enumerate(frames)},
            np.asarray(found.parameters),
            tuple(each.name for each in asked),
            events_of(_core.events_of(self._core, found), self._labels, self._robot),
            grazing_of(found.grazing, self._layout.nc),
            state,
            "differences" if found.differences else "analytic",
        )


def _how(exact: bool, method: str) -> tuple[bool, bool]:
    differences = _checks.choice("method", method, ("auto", "differences")) == "differences"
    return _checks.flag("exact", exact), differences
