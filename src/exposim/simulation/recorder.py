"""Any loop of one's own as a trajectory."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np

from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument, SimulationDiverged
from exposim.robots.robot import Robot
from exposim.simulation.header import Outcome
from exposim.simulation.observing import Taken
from exposim.simulation.recording import Given, Recording
from exposim.simulation.settings import RobotSettings, RunSettings, ScenarioSettings
from exposim.simulation.simulator import Simulator
from exposim.simulation.trajectory import Trajectory


class Recorder:
    """Records a simulator: the present instant, then that after every call of ``step``, and every step of ``advance``.

    ::

        recorder = xs.Recorder(sim)
        for _ in range(200):
            sim.step(controller(sim.t, sim.state))
        recorder.trajectory.save("loop.npz")

    A call of ``step`` with n steps is one instant, with all events in between; ``trajectory.resample`` and
    ``forces_at`` look within. Time only goes forward in a trajectory: a reset, a state that is set and properties that
    are changed begin a new one, and :attr:`trajectories` has them all. Usable in ``with``, at the end of which it
    stops. One thread at a time may step a simulator that is recorded; copies of it are not.

    Args:
        sim: That is recorded.
    """

    def __init__(self, sim: Simulator):
        if not isinstance(sim, Simulator):
            raise InvalidArgument(f"sim is a {type(sim).__name__}; give an exposim.Simulator")
        self._sim = sim
        self._parts: list[_Part] = []
        self._described: tuple[Robot, tuple[Surface, ...], dict[str, Any]] | None = None
        self._begin()
        sim._observe(self)

    @property
    def trajectory(self) -> Trajectory:
        """What has been recorded up to now; since the last reset, if there was one."""
        return self._parts[-1].trajectory()

    @property
    def trajectories(self) -> tuple[Trajectory, ...]:
        """All, one for each reset and each state that was set; without those in which nothing was done."""
        return tuple(part.trajectory() for part in self._parts)

    @property
    def is_recording(self) -> bool:
        """Whether it has not been stopped."""
        return self in self._sim._observers

    def stop(self) -> None:
        """Records no more; what was recorded stays."""
        self._sim._observe_no_more(self)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = "recording" if self.is_recording else "stopped"
        return f"Recorder({self._sim.robot.name!r}, {state}, {len(self._parts[-1].recording)} instants)"

    # What the simulator tells.

    def stepped(self, sim: Simulator, taken: Taken) -> None:
        """Keeps the instant; begins anew if one before it is missing, as an interruption may leave it."""
        if not self._parts[-1].add(taken):
            self._begin()

    def restarted(self, sim: Simulator) -> None:
        """Begins anew."""
        self._begin()

    def _begin(self) -> None:
        if self._parts and self._parts[-1].is_empty:
            self._parts.pop()
        sim = self._sim
        robot, ground, _ = self._described or (None, None, None)
        if self._described is None or robot is not sim.robot or ground is not sim._ground:
            self._described = sim.robot, sim._ground, settings_of(sim).describe()  # files are read for it
        self._parts.append(_Part(sim, self._described[2]))


class _Part:
    """From one reset to the next."""

    def __init__(self, sim: Simulator, settings: dict[str, Any]):
        self._sim = sim
        self.recording = Recording(sim)
        self._unrecorded: str | None = None
        self._divergence: SimulationDiverged | None = None
        self._settings = settings | {"q0": sim.q.tolist(), "v0": sim.v.tolist()}
        self._start = sim.t
        self._steps = sim._core.statistics.steps  # of the simulator, up to the last instant

    @property
    def is_empty(self) -> bool:
        return len(self.recording) == 1 and self._divergence is None

    def add(self, taken: Taken) -> bool:
        """Whether it follows on what there is."""
        if taken.steps:
            if self._steps + taken.steps != self._sim._core.statistics.steps:
                return False
            self.recording.give(self._given(taken))
            self.recording.add(taken.steps, taken.size, taken.events)
            self._steps += taken.steps
        if taken.divergence is not None:
            self._divergence = taken.divergence
        return True

    def trajectory(self) -> Trajectory:
        settings = self._settings | {"duration": self.recording.time() - self._start}
        divergence = self._divergence
        outcome = Outcome(
            finished=divergence is None,
            steps=self.recording.steps(),
            diverged_at=None if divergence is None else divergence.time,
            divergence=None if divergence is None else str(divergence),
            unrecorded=self._unrecorded,
        )
        return self.recording.trajectory(settings, outcome)

    def _given(self, taken: Taken) -> Given:
        dofs, nv = self._sim.robot.actuated_dofs, self._sim.robot.nv
        tau = np.zeros(len(dofs)) if taken.tau is None else np.array(taken.tau, dtype=float)
        if tau.size == nv and len(dofs) != nv:
            if self._unrecorded is None and np.delete(tau, dofs).any():
                self._unrecorded = f"torques of degrees of freedom without motors, from {self.recording.time():g} s on"
            tau = tau[dofs]
        wrenches = {frame: np.array(each, dtype=float) for frame, each in (taken.wrenches or {}).items()}
        return Given(tau, taken.target, taken.target_velocity, wrenches)


def settings_of(sim: Simulator) -> RunSettings:
    """Of a simulator: all that it takes to make it again; describing them refuses what no file can hold."""
    return RunSettings(
        scenario=ScenarioSettings(sim.robot.name, "recorded from a loop", None, is_loop=True),
        robot=RobotSettings.of(sim.robot),
        ground=sim._ground,
        integrator=sim.integrator,
        dt=sim.dt,
        control_period=sim.dt,
        duration=0.0,
        record_every=1,
        q0=(),
        v0=(),
        collisions=sim.collisions,
        edges=sim._edges,
        slots=sim._slots,
    )
