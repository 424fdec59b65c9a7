"""A scenario on its way: advanced period by period, recorded, saved, resumed."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from exposim import _checks
from exposim._checks import Array
from exposim.contact.surfaces import surfaces_of
from exposim.errors import InvalidArgument, SimulationDiverged, StateMismatch
from exposim.robots.robot import Robot
from exposim.simulation.collisions import checked_pairs
from exposim.simulation.header import Columns, ContactColumn, Outcome
from exposim.simulation.integrators import Expo, Integrator, LeavesToPaperExpo
from exposim.simulation.settings import RobotSettings, RunSettings, ScenarioSettings
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import State, unpacked
from exposim.simulation.trajectory import ARRAYS, FORMAT, FORMAT_VERSION, Trajectory

if TYPE_CHECKING:
    from exposim.scenarios.scenario import Scenario

# Where the step is smaller, instants are recorded about this far apart [s].
RECORDING_INTERVAL = 1e-3
# Of a run: a year at steps of a microsecond has less.
MOST_STEPS = 10**14


class Run(LeavesToPaperExpo):
    """A scenario on its way, one control period at a time.

    Args:
        scenario: What is simulated.
        integrator: The scheme; by default ``Expo()``.
        dt: Time step [s]; by default the scenario's. A whole number of steps makes a control period; if it is larger
            than the scenario's control period, the torque is held over every step.
        duration: [s] By default the scenario's.
        record_every: Record every so many steps, which must divide those of a control period; by default every one,
            or about one in a millisecond where steps are smaller.
    """

    def __init__(
        self,
        scenario: Scenario,
        integrator: Integrator | None = None,
        dt: float | None = None,
        duration: float | None = None,
        *,
        record_every: int | None = None,
    ):
        integrator = Expo() if integrator is None else integrator
        dt = _checks.number("dt", scenario.dt if dt is None else dt, "[s]", above=0.0)
        duration = _checks.number("duration", scenario.duration if duration is None else duration, "[s]", above=0.0)
        self.scenario = scenario
        self.control_period = max(scenario.control_period, dt)
        self.steps_per_period = _steps_per_period(self.control_period, dt)
        self.record_every = _recording(record_every, self.steps_per_period, dt)
        self.steps = _steps(duration, dt)  # of the whole run
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
        )
        self._described = self.settings.describe()  # refuses at once what no file can hold
        self.seconds_per_step: list[float] = []  # measured, one entry per recorded interval
        self.seconds_per_control: list[float] = []  # measured, one entry per control period
        self._resumed: dict[str, NDArray[Any]] | None = None  # what was recorded before the rows
        self._rows: list[tuple[Array, Array]] = [self._row(np.zeros(len(scenario.robot.actuated_dofs)))]
        # Replaced as one at the end of every control period, so that an interruption anywhere leaves a whole number.
        self._kept: tuple[int, int, dict[str, Array]] = (0, 1, self._memory())  # steps, rows, memory

    @classmethod
    def again(cls, trajectory: Trajectory, scenario: Scenario, duration: float | None = None) -> Run:
        """From the start, with the settings that made a trajectory; see :func:`exposim.scenarios.of`."""
        settings = trajectory.settings
        return cls(
            scenario,
            settings.integrator,
            settings.dt,
            settings.duration if duration is None else duration,
            record_every=settings.record_every,
        )

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
        if steps > run.steps:
            raise InvalidArgument(f"duration is {duration}, but {trajectory.t[-1]:g} s have been simulated already")
        if steps % run.steps_per_period and steps < run.steps:
            raise InvalidArgument(
                f"the run ended at {trajectory.t[-1]:g} s, within a control period of {run.control_period:g} s, "
                f"and cannot be made longer"
            )
        run.sim.state = last = trajectory.state(-1)
        if trajectory.memory:
            run._remember(trajectory.memory)
        recorded = {name: getattr(trajectory, name) for name in ARRAYS}
        run._resumed = {name: array[:-1] for name, array in recorded.items()}
        record = np.concatenate([last._x, *(recorded[name][-1].ravel() for name in _BESIDE)])
        run._rows = [(record, recorded["tau"][-1])]
        run._kept = (steps, 1, run._memory())
        return run

    @property
    def steps_done(self) -> int:
        """Steps taken, counted at the end of every control period."""
        return self._kept[0]

    @property
    def t(self) -> float:
        """Time reached [s]."""
        return float(self._rows[self._kept[1] - 1][0][0])

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
        steps, rows, _ = self._kept
        del self._rows[rows:]  # of a period that was interrupted
        start = perf_counter()
        state = self.sim.state
        tau = self.torques(state)
        target = self.scenario.target_at(state.t)
        wrenches = None if self.scenario.disturbance is None else self.scenario.disturbance(state.t)
        self.seconds_per_control.append(perf_counter() - start)
        self._rows[-1] = (self._rows[-1][0], tau)
        end = min(steps + self.steps_per_period, self.steps)
        while steps < end:
            n = min(self.record_every, end - steps)
            start = perf_counter()
            self.sim.step(tau, n, target=target, wrenches=wrenches)
            self.seconds_per_step.append((perf_counter() - start) / n)
            if self.sim.diverged:
                break
            steps += n
            self._rows.append(self._row(tau))
        self._kept = (steps, len(self._rows), self._memory())

    @property
    def trajectory(self) -> Trajectory:
        """What has been recorded up to now."""
        steps, count, memory = self._kept
        records, tau = (np.array(column) for column in zip(*self._rows[:count], strict=True))
        arrays = self._take_apart(records) | {"tau": tau}
        if self._resumed is not None:
            arrays = {name: np.concatenate([self._resumed[name], array]) for name, array in arrays.items()}
        robot, divergence = self.scenario.robot, self.divergence
        metadata: Any = importlib.import_module("importlib.metadata")  # slow to import
        header = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "exposim": metadata.version("exposim"),
            "pinocchio": metadata.version("pin"),
            "settings": self._described,
            "columns": _columns(robot).describe(),
            "contacts": [contact.describe() for contact in self._contacts()],
            "outcome": Outcome(
                finished=steps >= self.steps,
                steps=steps,
                diverged_at=None if divergence is None else divergence.time,
                divergence=None if divergence is None else str(divergence),
            ).describe(),
        }
        return Trajectory(arrays, header, memory)

    def torques(self, state: State) -> Array:
        """The controller's torques, one per actuated degree of freedom."""
        robot = self.scenario.robot
        dofs = robot.actuated_dofs
        if self.controller is None:
            return np.zeros(len(dofs))
        tau = _checks.vector("the controller's torque", self.controller(state.t, state))
        if tau.size == len(dofs):
            return tau
        if tau.size == robot.nv and not np.delete(tau, dofs).any():
            return tau[dofs]
        raise InvalidArgument(
            f"the controller of {self.scenario.name!r} returned {tau.size} torques at t = {state.t:g} s; "
            f"give {len(dofs)}, one per actuated degree of freedom of {robot.name!r}"
        )

    def _row(self, tau: Array) -> tuple[Array, Array]:
        """The flat state with what is read beside it, and the torque asked for."""
        return self.sim._core.recorded, tau

    def _take_apart(self, records: Array) -> dict[str, NDArray[Any]]:
        """What records hold, by name."""
        layout, nu = self.sim.state.layout, len(self.scenario.robot.actuated_dofs)
        ends = np.cumsum([layout.size, nu, 3 * layout.nc, 3 * layout.nc])
        x, torque, *of_contacts = np.split(records, ends, axis=1)
        beside = [torque, *(each.reshape(len(x), layout.nc, 3) for each in of_contacts)]
        return unpacked(x, layout) | dict(zip(_BESIDE, beside, strict=True))

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
        return {name: np.array(value) for name, value in remembered.items()}

    def _contacts(self) -> list[ContactColumn]:
        sim = self.sim
        return [
            ContactColumn(point.name, point.frame, k, friction)
            for point, k, friction in zip(sim.contact_points, sim.belongs_to, sim.frictions, strict=True)
        ]


_BESIDE = ("torque", "position", "normal", "force")  # read beside the state, in this order


def _comparable(settings: RunSettings) -> dict[str, Any]:
    """Plain data of what must not differ: of one's own surfaces their names, of a Python file what is in it."""
    described = settings.describe()
    if origin := described["scenario"]["origin"]:
        origin["file"] = None
    return described


def _steps(duration: float, dt: float) -> int:
    if duration / dt > MOST_STEPS:
        raise InvalidArgument(
            f"dt is {dt:g} s, of which {duration:g} s have more than {MOST_STEPS:.0e}; give a larger one"
        )
    return max(1, round(duration / dt))


def _steps_per_period(period: float, dt: float) -> int:
    steps = _steps(period, dt)
    if abs(steps * dt - period) > 1e-5 * period:  # the step is then made to fit exactly
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


def _columns(robot: Robot) -> Columns:
    """What the entries of q, v and tau are called, and what has dry friction."""
    model = robot.model
    q: list[str] = []
    v: list[str] = []
    for i in range(1, model.njoints):
        joint, name = model.joints[i], model.names[i]
        if joint.shortname() == "JointModelFreeFlyer":
            q += [f"{name}_{axis}" for axis in ("x", "y", "z", "qx", "qy", "qz", "qw")]
            v += [f"{name}_{axis}" for axis in ("vx", "vy", "vz", "wx", "wy", "wz")]
            continue
        q += [name] if joint.nq == 1 else [f"{name}_{k}" for k in range(joint.nq)]
        v += [name] if joint.nv == 1 else [f"{name}_{k}" for k in range(joint.nv)]
    rough = [i for i, friction in enumerate(robot.dry_friction) if friction.static]
    return Columns(tuple(q), tuple(v), tuple(v[i] for i in robot.actuated_dofs), tuple(v[i] for i in rough))
