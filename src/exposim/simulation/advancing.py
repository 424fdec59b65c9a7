"""Steps that are chosen by their error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from numpy.typing import ArrayLike

from exposim import _checks, _core
from exposim.errors import InvalidArgument
from exposim.simulation.integrators import Expo
from exposim.simulation.observing import Observed

if TYPE_CHECKING:
    from exposim.simulation.inputs import Inputs
    from exposim.simulation.integrators import Integrator
    from exposim.simulation.reset_checks import ResetChecks
    from exposim.simulation.state import State

Controller = Callable[[float, "State"], ArrayLike]

SMALLEST = 1e-5  # steps [s], which are taken whatever their error
LARGEST = 0.05  # [s] where the input is held for longer
MOST_STEPS = 2**31 - 1
# Kinds of arguments that two calls can have in common.
_PLAIN = (float, bool, type(None))


class Advanced(NamedTuple):
    """Of steps that were chosen by their error."""

    steps: int
    """How many were taken."""
    rejected: int
    """How many more were tried, and left no trace."""
    smallest: float
    """Of those taken [s]."""
    largest: float
    """Of those taken [s]."""
    error: float
    """Sum of their estimated errors [m, rad, m/s, rad/s]."""
    next_step: float
    """How long one more might be [s]."""


class Pace:
    """How steps are chosen, and where they must end.

    Attributes:
        duration: Of the whole [s].
        control_period: That steps end at [s].
        accuracy: Of a step [m, rad, m/s, rad/s].
        smallest: Step [s].
        largest: Step [s].
        choice: As the core takes it.
    """

    __slots__ = ("accuracy", "choice", "control_period", "duration", "largest", "smallest")

    def __init__(self, duration: float, control_period: float, accuracy: float, smallest: float, largest: float):
        self.duration = duration
        self.control_period = control_period
        self.accuracy = accuracy
        self.smallest = smallest
        self.largest = largest
        self.choice = _core.StepChoice(accuracy, smallest, largest)

    @classmethod
    def checked(
        cls,
        integrator: Integrator,
        duration: Any,
        controlled: bool,
        control_period: Any,
        dt: float,
        accuracy: Any,
        smallest: Any,
        largest: Any,
    ) -> Pace:
        """With what was left open filled in.

        Raises:
            InvalidArgument: If the scheme knows nothing of its errors, or the numbers make no sense.
        """
        if not isinstance(integrator, Expo) or integrator.order != 2:
            raise InvalidArgument(
                f"steps are chosen by the error that Expo() estimates; {integrator!r} has no such estimate: give "
                f"Simulator(integrator=exposim.Expo()), or take steps of dt by sim.step"
            )
        duration = _checks.number("duration", duration, "[s]", least=_core.MIN_STEP)
        accuracy = _checks.number("accuracy", accuracy, "[m, rad, m/s, rad/s]", above=0.0)
        if controlled:
            period = dt if control_period is None else control_period
            period = _checks.number("control_period", period, "[s]", least=_core.MIN_STEP)
        elif control_period is None:
            period = duration
        else:
            raise InvalidArgument("control_period is of a controller; give a function as tau, or no control_period")
        fitting = min(period, duration, LARGEST)
        largest = fitting if largest is None else _checks.number("largest", largest, "[s]", least=_core.MIN_STEP)
        smallest = min(SMALLEST, largest) if smallest is None else smallest
        smallest = _checks.number("smallest", smallest, "[s]", least=_core.MIN_STEP)
        if smallest > largest:
            raise InvalidArgument(f"smallest is {smallest:g} s, above largest, {largest:g} s; give a smaller one")
        return cls(duration, period, accuracy, smallest, largest)

    def ends(self, start: float) -> list[float]:
        """When control periods end, from a start on [s]; the last is shorter where they do not fit."""
        if self.control_period >= self.duration:
            return [start + self.duration]
        count = self.duration / self.control_period
        count = round(count) if abs(count - round(count)) < 1e-9 * count else int(count) + 1
        return [*(start + k * self.control_period for k in range(1, count)), start + self.duration]


def none_yet(first: float) -> Advanced:
    """Before a first step."""
    return Advanced(0, 0, 0.0, 0.0, 0.0, first)


def added(total: Advanced, found: _core.Advanced, next_step: float) -> Advanced:
    """With what the core took."""
    smallest = (
        min(total.smallest, found.smallest) if total.steps and found.steps else max(total.smallest, found.smallest)
    )
    return Advanced(
        total.steps + found.steps,
        total.rejected + found.rejected,
        smallest,
        max(total.largest, found.largest),
        total.error + found.error,
        next_step,
    )


class Advancing(Observed):
    """The part of a simulator that goes on in steps of its own choice."""

    _dt: float
    _integrator: Integrator
    _inputs: Inputs
    _on_divergence: Literal["raise", "stop"]
    _reset_checks: ResetChecks
    _is_unseen: bool
    _pace: Pace | None
    _paced: Any  # what the pace was asked for with

    if TYPE_CHECKING:

        def _report(self, outcome: int | _core.Divergence, tau: Any) -> None: ...

    def advance(
        self,
        duration: float,
        tau: ArrayLike | Controller | None = None,
        accuracy: float = 1e-3,
        *,
        control_period: float | None = None,
        target: ArrayLike | None = None,
        target_velocity: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
        smallest: float | None = None,
        largest: float | None = None,
        first_step: float | None = None,
        on_step: Callable[[Any], object] | None = None,
    ) -> Advanced:
        """Goes on for a time, in steps that are as long as their error lets them be.

        The error of a step is estimated from what it computes anyway: how far the terms of the dynamics change within
        it, how far contacts and robot disagree at its end, and how exactly contacts were followed through events. It is
        that of the entry which is off most: metres, radians, metres and radians per second. A step whose estimate is
        above the accuracy is taken again, shorter, and leaves no trace. Steps end at control times and at the end
        exactly. What comes of it depends on the state and the arguments alone.

        Args:
            duration: [s]
            tau: Joint torques, held, as in :meth:`step`; or a controller, ``tau(t, state)``, that is asked for them in
                every control period.
            accuracy: Largest estimated error of a step [m, rad, m/s, rad/s].
            control_period: Time for which a controller's torques are held [s]; by default ``dt``. Without a controller
                none: the input is held for the whole duration.
            target: Of the drives, as in :meth:`step`.
            target_velocity: Likewise.
            wrenches: External forces and torques, as in :meth:`step`.
            smallest: Step [s], which is taken whatever its error; by default 10 µs.
            largest: Step [s]; by default the control period, or 50 ms if the input is held for longer.
            first_step: That is tried [s], for example ``info.next_step`` of the call before; by default the largest.
            on_step: Called with the simulator after every step. As a controller, it may look at it, but not move or
                change it.

        Returns:
            How many steps there were, and how long.

        Raises:
            InvalidArgument: Of an integrator other than ``Expo`` of order 2, which knows nothing of its error; if a
                controller or ``on_step`` moved or changed the simulator.
            SimulationDiverged: If the smallest step diverges; as of :meth:`step`.
        """
        sim: Any = self
        controller = tau if callable(tau) else None
        asked = duration, controller is not None, control_period, self._dt, accuracy, smallest, largest
        plain = all(type(each) in _PLAIN for each in asked)
        known = self._pace if plain and asked == self._paced else None
        pace = known or Pace.checked(self._integrator, *asked)
        self._paced, self._pace = asked if plain else None, pace
        if on_step is not None and not callable(on_step):
            raise InvalidArgument(f"on_step is {on_step!r}; give a function of the simulator")
        first = pace.largest if first_step is None else _checks.number("first_step", first_step, "[s]", above=0.0)
        forces = () if wrenches is None else self._inputs.wrenches(wrenches)
        goal = None if target is None else self._inputs.target(target)
        goal_velocity = None if target_velocity is None else self._inputs.target_velocity(target_velocity)
        if self._is_unseen:
            self._is_unseen = False
            self._reset_checks.look(self._core.q, self._core, stacklevel=2)
        core, total = self._core, none_yet(first)
        core.forget_events()
        for until in pace.ends(core.t):
            torques: Any = tau
            if controller:
                t = core.t
                torques = controller(t, sim.state)
                self._refuse_moved(core, t, "controller")
            while core.t < until and not self._has_stopped:
                most = 1 if on_step or self._observers or self._sensors else MOST_STEPS
                told = core.event_count if self._observers or self._sensors else 0
                try:
                    outcome, next_step, found = self._advance_and_keep(
                        (torques, until, pace.choice, total.next_step, most, forces, goal, goal_velocity),
                        pace,
                        wrenches,
                    )
                    if outcome == -1:  # no array of floats, or no good one: say so, or make it one
                        torques = self._inputs.tau(torques)
                        continue
                    total = added(total, found, next_step)
                    if self._sensors:
                        self._show(told)
                    t = core.t
                    if self._observers:
                        self._tell(found.largest, torques, goal, goal_velocity, wrenches, told)
                        self._refuse_moved(core, t, "callback of an event")
                except BaseException:  # what a signal's handler raises, after a step of which the size is not known
                    if self._observers and core.statistics.steps > self._told:
                        self._tell_of_restart()
                    raise
                if outcome:
                    self._report(outcome, torques)
                if on_step and found.steps:
                    on_step(sim)
                    self._refuse_moved(core, t, "on_step")
        return total

    def _advance_and_keep(self, given: tuple[Any, ...], pace: Pace, wrenches: Mapping[str, ArrayLike] | None) -> Any:
        """As the core does it; with a flight recorder no more steps at once than it keeps."""
        sim, flight, core = cast("Any", self), self._flight, self._core
        if flight is None:
            return core.advance(*given)
        torques, until, choice, first, most, forces, goal, goal_velocity = given
        flight.keep(core, torques, goal, goal_velocity, wrenches, (until, first, pace))
        done = core.advance(torques, until, choice, first, min(most, flight.steps), forces, goal, goal_velocity)
        flight.look_at(sim, done[0])
        return done

    def _refuse_moved(self, core: _core.Simulator, t: float, by: str) -> None:
        """Whoever is called within :meth:`advance` may look, but not step, reset or change the simulator."""
        if self._core is not core or core.t != t:
            raise InvalidArgument(
                f"the {by} of sim.advance moved or changed the simulator, which is on its way; do it between calls"
            )

    @property
    def _has_stopped(self) -> bool:
        return self._on_divergence == "stop" and self._core.divergence is not None
