"""A scenario on its way: advanced period by period, recorded, saved, resumed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim._durations import show_time
from exposim.contact.surfaces import surfaces_of
from exposim.errors import InvalidArgument, SimulationDiverged, StateMismatch
from exposim.scenarios.sensed import SensorsOfRun, remembered_by_controller, takes_readings
from exposim.simulation.advancing import Pace
from exposim.simulation.collisions import checked_pairs
from exposim.simulation.header import Outcome
from exposim.simulation.integrators import Integrator, LeavesToPaperExpo, as_integrator
from exposim.simulation.recording import Given, Recording
from exposim.simulation.settings import RobotSettings, RunSettings, ScenarioSettings
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import State
from exposim.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from exposim.scenarios.scenario import Scenario

# Where the step is smaller, instants are recorded about this far apart [s].
RECORDING_INTERVAL = 1e-3
# Of a run: a year at steps of a microsecond has less.
MOST_STEPS = 10**14
# By so much of a control period the steps within may miss it; they are then made to fit exactly.
PERIOD_TOLERANCE = 1e-5


class _Kept(NamedTuple):
    """What a run has done, replaced as one at the end of every control period.

    So an interruption anywhere leaves a whole number of them.

    Args:
        steps: Taken; by accuracy, control periods.
        instants: That are recorded.
        memory: Of the controller.
        next_step: That is tried first [s], by accuracy.
    """

    steps: int
    instants: int
    memory: dict[str, Array]
    next_step: float | None


class Run(LeavesToPaperExpo):
    """A scenario on its way, one control period at a time.

    Args:
        scenario: What is simulated.
        integrator: The scheme, or its name, such as ``"rk4"``; by default ``Expo()``.
        dt: Time step [s]; by default the scenario's, or a control period that is given and shorter. A whole number of
            steps makes a control period; a step that is longer is refused, unless the scenario holds nothing over its
            control periods.
        duration: [s] By default the scenario's.
        record_every: Record every so many steps, which must divide those of a control period; by default every one,
            or about one in a millisecond where steps are smaller.
        accuracy: Chooses the steps within control periods instead, as :meth:`exposim.Simulator.advance` does, each of
            which is recorded; then there is no ``dt`` and no ``record_every`` to give.
        control_period: Torques, targets and wrenches are held this long [s]; by default as long as the scenario says.
    """

    def __init__(
        self,
        scenario: Scenario,
        integrator: Integrator | str | None = None,
        dt: float | None = None,
        duration: float | None = None,
        *,
        record_every: int | None = None,
        accuracy: float | None = None,
        control_period: float | None = None,
    ):
        integrator = as_integrator(integrator)
        self.accuracy = _checks.optional("accuracy", accuracy, "", above=0.0)
        if self.accuracy is not None and (dt is not None or record_every is not None):
            given = "dt" if dt is not None else "record_every"
            raise InvalidArgument(f"accuracy chooses the steps, and all are recorded; leave out {given}, or accuracy")
        dt, self.control_period = _step_and_period(scenario, dt, control_period)
        if self.accuracy is not None:
            dt = self.control_period  # what a step can be at most
            Pace.checked(integrator, dt, False, None, dt, self.accuracy, None, None)  # refuses other schemes at once
        duration = _checks.number("duration", scenario.duration if duration is None else duration, "[s]", above=0.0)
        self.scenario = scenario
        self.steps_per_period = _steps_per_period(self.control_period, dt)
        self.record_every = _recording(record_every, self.steps_per_period, dt)
        self.steps = _steps(duration, dt)  # of the whole run; by accuracy, control periods
        self.sim = Simulator(
            scenario.robot,
            scenario.ground,
            integrator,
            self.control_period / self.steps_per_period,
            collisions=scenario.collisions,
            on_divergence="stop",
        )
        if scenario.target is not None and not scenario.robot.drives:
            raise InvalidArgument(
                f"scenario {scenario.name!r} states targets, but {scenario.robot.name!r} has no drives that could "
                f"follow them; give it some (scenario.with_drives, --kp and --kd)"
            )
        self.sim.reset(scenario.q0, scenario.v0)
        self.controller = None if scenario.make_controller is None else scenario.make_controller()
        self._takes_readings = takes_readings(self.controller)
        self._sensed = SensorsOfRun(scenario.sensors)
        self._sensed.read(self.sim)
        self.settings = RunSettings(
            scenario=ScenarioSettings(scenario.name, scenario.description, scenario.origin),
            robot=RobotSettings.of(scenario.robot),
            ground=surfaces_of(scenario.ground),
            integrator=integrator,
            dt=dt,
            control_period=self.control_period,
            duration=duration,
            record_every=self.record_every,
            q0=tuple(np.asarray(scenario.q0).tolist()),
            v0=tuple(np.asarray(scenario.v0).tolist()),
            collisions=checked_pairs(scenario.collisions, scenario.robot),
            accuracy=self.accuracy,
        )
        self._described = self.settings.describe()  # refuses at once what no file can hold
        self.rejected = 0  # steps, where they are chosen by their error
        self.seconds_per_step: list[float] = []  # measured, one entry per recorded interval
        self.seconds_per_control: list[float] = []  # measured, one entry per control period
        self._recording = Recording(self.sim)
        if self.accuracy is not None:
            self.sim._observe(self._recording)
        self._kept = _Kept(0, len(self._recording), self._memory(), None)

    @classmethod
    def again(cls, trajectory: Trajectory, scenario: Scenario, duration: float | None = None) -> Run:
        """From the start, with the settings that made a trajectory; see :func:`exposim.scenarios.of`."""
        settings = trajectory.settings
        duration = settings.duration if duration is None else duration
        period = settings.control_period
        if settings.accuracy is not None:
            return cls(scenario, settings.integrator, None, duration, accuracy=settings.accuracy, control_period=period)
        every = settings.record_every
        return cls(scenario, settings.integrator, settings.dt, duration, record_every=every, control_period=period)

    @classmethod
    def resume(cls, trajectory: Trajectory, scenario: Scenario, duration: float | None = None) -> Run:
        """Continues where a saved run stopped, with the same bits as if it had not.

        Args:
            trajectory: What was saved.
            scenario: The one that made it; see :func:`exposim.scenarios.of`.
            duration: Of the whole motion [s], if it shall last longer than was planned.
        """
        run = cls.again(trajectory, scenario, duration)
        saved, now = (_comparable(each) for each in (trajectory.settings, run.settings))
        differing = [name for name in now if now[name] != saved[name] and name != "duration"]
        if differing:
            raise StateMismatch(
                f"{', '.join(differing)} of scenario {scenario.name!r} is not as it was when the run was saved; "
                f"resume with what made it, or start anew"
            )
        steps = trajectory.outcome.steps
        if run.accuracy is not None:
            steps = round(float(trajectory.t[-1]) / run.control_period)
        if steps > run.steps:
            raise InvalidArgument(f"duration is {duration}, but {trajectory.t[-1]:g} s have been simulated already")
        if steps % run.steps_per_period and steps < run.steps:
            raise InvalidArgument(
                f"the run ended at {trajectory.t[-1]:g} s, within a control period of {run.control_period:g} s, "
                f"and cannot be made longer"
            )
        run.sim._observe_no_more(run._recording)
        run._recording = Recording.after(trajectory, run.sim)
        run.sim._core.loose = _last_told(trajectory, run.sim)
        if run.accuracy is not None:
            run.sim._observe(run._recording)
        run._sensed.resume(trajectory.memory, run.sim)
        if remembered := remembered_by_controller(trajectory.memory):
            run._remember(remembered)
        run._kept = _Kept(steps, len(run._recording), run._memory(), trajectory.outcome.next_step)
        return run

    @property
    def steps_done(self) -> int:
        """Steps taken, or by accuracy control periods, counted at the end of each."""
        return self._kept.steps

    @property
    def t(self) -> float:
        """Time reached [s]."""
        return self._recording.time(self._kept.instants)

    @property
    def divergence(self) -> SimulationDiverged | None:
        """How it diverged, if it did."""
        return self.sim.divergence

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do."""
        return self.steps_done >= self.steps or self.sim.diverged

    def advance(self) -> None:
        """One control period, or what is left of the last."""
        if self.done:
            return
        steps, next_step = self._kept.steps, self._kept.next_step
        self._recording.cut(self._kept.instants)  # of a period that was interrupted
        start = perf_counter()
        state = self.sim.state
        tau = self.torques(state)
        target = self.scenario.target_at(state.t)
        wrenches = None if self.scenario.disturbance is None else self.scenario.disturbance(state.t)
        self.seconds_per_control.append(perf_counter() - start)
        self._recording.give(self._held(tau, target, wrenches))
        if self.accuracy is None:
            steps = self._advance_by_steps(steps, tau, target, wrenches)
        else:
            next_step = self._advance_by_accuracy(self.accuracy, next_step, tau, target, wrenches)
            steps += 0 if self.sim.diverged else 1
        self._sensed.read(self.sim)
        self._kept = _Kept(steps, len(self._recording), self._memory(), next_step)

    def _advance_by_steps(
        self, steps: int, tau: Array, target: ArrayLike | None, wrenches: Mapping[str, ArrayLike] | None
    ) -> int:
        end = min(steps + self.steps_per_period, self.steps)
        while steps < end:
            n = min(self.record_every, end - steps)
            start = perf_counter()
            self.sim.step(tau, n, target=target, wrenches=wrenches)
            self.seconds_per_step.append((perf_counter() - start) / n)
            if self.sim.diverged:
                break
            steps += n
            self._recording.add(n, self.sim.dt, self.sim.events)
        return steps

    def _advance_by_accuracy(
        self,
        accuracy: float,
        next_step: float | None,
        tau: Array,
        target: ArrayLike | None,
        wrenches: Mapping[str, ArrayLike] | None,
    ) -> float:
        start = perf_counter()
        info = self.sim.advance(
            self.control_period, tau, accuracy, target=target, wrenches=wrenches, first_step=next_step
        )
        self.seconds_per_step += [(perf_counter() - start) / max(1, info.steps)] * info.steps
        self.rejected += info.rejected
        return info.next_step

    def _held(self, tau: Array, target: ArrayLike | None, wrenches: Mapping[str, ArrayLike] | None) -> Given:
        """As it is recorded."""
        if wrenches:
            wrenches = {frame: np.array(each, dtype=float) for frame, each in wrenches.items()}
        return Given(tau, self.sim._inputs.target(target), None, wrenches)

    @property
    def readings(self) -> dict[str, Any]:
        """What the scenario's sensors say at the end of the last control period, by name; a copy."""
        return dict(self._sensed.readings)

    @property
    def trajectory(self) -> Trajectory:
        """What has been recorded up to now."""
        steps, instants, memory, next_step = self._kept
        divergence = self.divergence
        outcome = Outcome(
            finished=steps >= self.steps,
            steps=self._recording.steps(instants),
            next_step=next_step,
            diverged_at=None if divergence is None else divergence.time,
            divergence=None if divergence is None else str(divergence),
        )
        return self._recording.trajectory(self._described, outcome, memory | self._sensed.samples(self.t), instants)

    def torques(self, state: State) -> Array:
        """The controller's torques, one per actuated degree of freedom."""
        robot = self.scenario.robot
        dofs = robot.actuated_dofs
        if self.controller is None:
            return np.zeros(len(dofs))
        more: dict[str, Any] = {"readings": self.readings} if self._takes_readings else {}
        tau = _checks.vector("the controller's torque", self.controller(state.t, state, **more))
        if tau.size == len(dofs):
            return tau
        if tau.size == robot.nv and not np.delete(tau, dofs).any():
            return tau[dofs]
        raise InvalidArgument(
            f"the controller of {self.scenario.name!r} returned {tau.size} torques at t = {state.t:g} s; "
            f"give {len(dofs)}, one per actuated degree of freedom of {robot.name!r}"
        )

    def _remember(self, memory: Mapping[str, Array]) -> None:
        try:
            _ = self.controller.memory  # type: ignore[union-attr]  # that it has one
            self.controller.memory = dict(memory)  # type: ignore[union-attr]
        except Exception as error:  # it may be anybody's
            raise StateMismatch(
                f"the controller of {self.scenario.name!r} does not take what was remembered in the file: {error}"
            ) from error

    def _memory(self) -> dict[str, Array]:
        remembered = getattr(self.controller, "memory", {})
        return {name: np.array(value) for name, value in remembered.items()} | self._sensed.memory


def _last_told(trajectory: Trajectory, sim: Simulator) -> list[bool]:
    """Which contacts slip by the last of their events, so that what follows these goes with them."""
    loose = [False] * len(sim.contact_points)
    for event in trajectory.events:
        if event.is_contact:
            loose[event.index] = event.kind == "slip"
    return loose


def _comparable(settings: RunSettings) -> dict[str, Any]:
    """Plain data of what must not differ: of one's own surfaces their names, of a Python file what is in it."""
    described = settings.describe()
    if origin := described["scenario"]["origin"]:
        origin["file"] = None
    return described


def _step_and_period(scenario: Scenario, dt: float | None, period: float | None) -> tuple[float, float]:
    """Time step and control period of a run [s]; what a controller sees is never changed without being asked."""
    held = scenario.control_period if period is None else _checks.number("control_period", period, "[s]", above=0.0)
    if dt is None:
        dt = scenario.dt if period is None else min(held, scenario.dt or held)
    dt = _checks.number("dt", dt, "[s]", above=0.0)
    if dt <= held * (1.0 + PERIOD_TOLERANCE):
        return dt, held
    if period is None and not scenario.is_controlled:
        return dt, dt
    raise InvalidArgument(
        f"dt is {dt:g} s, but {scenario.name!r} holds its inputs for a control period of {held:g} s; give a dt of at "
        f"most that, or ask for longer periods: control_period={dt:g} (--control-period {_typed(dt)})"
    )


def _typed(seconds: float) -> str:
    """A time as one types it on the command line: ``5ms``."""
    return show_time(seconds, 6).replace(" ", "")


def _steps(duration: float, dt: float) -> int:
    if duration / dt > MOST_STEPS:
        raise InvalidArgument(
            f"dt is {dt:g} s, of which {duration:g} s have more than {MOST_STEPS:.0e}; give a larger one"
        )
    return max(1, round(duration / dt))


def _steps_per_period(period: float, dt: float) -> int:
    steps = _steps(period, dt)
    if abs(steps * dt - period) > PERIOD_TOLERANCE * period:  # the step is then made to fit exactly
        near = sorted({period / max(1, int(period / dt)), period / (int(period / dt) + 1)})
        raise InvalidArgument(
            f"dt is {dt:g} s, of which no whole number makes the control period of {period:g} s; "
            f"give for example {' or '.join(f'{each:.6g}' for each in near)}"
        )
    return steps


def _recording(every: int | None, steps_per_period: int, dt: float) -> int:
    if every is None:
        most = max(1, int(RECORDING_INTERVAL / dt * (1.0 + 1e-9)))
        small = [n for n in range(1, math.isqrt(steps_per_period) + 1) if steps_per_period % n == 0]
        return max(n for each in small for n in (each, steps_per_period // each) if n <= most)
    if steps_per_period % _checks.count("record_every", every):
        raise InvalidArgument(
            f"record_every is {every}, which does not divide the {steps_per_period} steps of a period"
        )
    return every
