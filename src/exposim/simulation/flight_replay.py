"""A flight recorder's steps, taken again: whether they lead to the same bits, and who put energy in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exposim import _core
from exposim._checks import Array
from exposim.contact.surfaces import NamedSurface, Surface
from exposim.errors import ExposimError, InvalidArgument, UnreadableFile
from exposim.robots.robot import Robot
from exposim.simulation.flight_dump import Call, FlightDump
from exposim.simulation.flight_energy import Instant, Source, Sources, by_source
from exposim.simulation.replaying import COMPARED, simulator_of
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import State


@dataclass(frozen=True, eq=False)
class Flight:
    """The last steps before a divergence, n of them, and the one that diverged.

    Args:
        sim: That took them again; at the last good state.
        t: Before each step, and after the last [s], (n + 1,).
        v: Velocities at these times, (n + 1, nv).
        forces: Of the contacts, on the robot in the world [N], (n + 1, nc, 3).
        energy: Kinetic, of gravity, of contacts and of joints [J], (n + 1, 4).
        work: Energy that each source put in, in each step [J], (n,): its work on the robot, and what its springs store.
        diverged_at: End of the step that diverged [s].
        led_to: Velocities that it led to, (nv,); some may be no numbers.
        joints: Names of the joints that were wrong then.
        states: How many were compared.
        mismatch: Where the steps did not lead to the same bits, if they did not.
    """

    sim: Simulator
    t: Array
    v: Array
    forces: Array
    energy: Array
    work: Mapping[Source, Array]
    diverged_at: float
    led_to: Array
    joints: tuple[str, ...]
    states: int
    mismatch: str | None

    def __len__(self) -> int:
        """Steps before the one that diverged."""
        return len(self.t) - 1

    @property
    def contact_labels(self) -> tuple[str, ...]:
        """Names of the contacts, in the order of ``forces``."""
        return self.sim._labels


def replay(dump: FlightDump, robot: Robot | None, ground: Surface | Iterable[Surface] | None) -> Flight:
    """The flight of a dump.

    Raises:
        InvalidArgument: If the ground is not in the file.
        UnreadableFile: If what is in the file cannot be simulated.
    """
    settings = dump.settings
    named = [each.name for each in settings.ground if isinstance(each, NamedSurface)]
    if named and ground is None:
        raise InvalidArgument(
            f"the surface {named[0]!r} was written in Python, and a file has its name alone; give the ground: "
            f"exposim.FlightDump.load(path).replay(ground=...)"
        )
    robot = settings.robot.load() if robot is None else robot
    sim = simulator_of(settings, robot, settings.ground if ground is None else ground)
    with np.errstate(all="ignore"):  # what is about to diverge may have any energy
        return _Replay(dump, sim).flight()


class _Replay:
    """Takes the steps one by one."""

    def __init__(self, dump: FlightDump, sim: Simulator):
        self._dump = dump
        self._sim = sim
        self._instants: list[Instant] = []
        self._work: list[dict[Source, float]] = []
        self._states = 0
        self._mismatch: str | None = None
        self._sources = Sources(sim)

    def flight(self) -> Flight:
        dump, sim = self._dump, self._sim
        calls = list(dump.calls)
        for i, call in enumerate(calls):
            if call.state is not None:
                self._meet(call.state)
            if i == 0:
                self._instants.append(Instant.of(sim))
            if not self._take(call, is_last=i == len(calls) - 1):
                break
        return Flight(
            sim,
            np.array([each.t for each in self._instants]),
            np.array([each.v for each in self._instants]),
            np.array([each.forces for each in self._instants]).reshape(len(self._instants), -1, 3),
            np.array([each.energy for each in self._instants]),
            by_source(self._work),
            dump.diverged.t,
            dump.led_to[1],
            dump.diverged.joints,
            self._states,
            self._mismatch,
        )

    def _take(self, call: Call, is_last: bool) -> bool:
        """The steps of a call, and the one that diverged if it is the last; whether they could be taken."""
        core, given = self._sim._core, self._given(call)
        first = None if call.choice is None else call.choice[1]
        for number in range(call.steps + is_last):
            before = self._instants[-1]
            outcome, first = _step(core, given, call.choice, first, continues=number > 0)
            if outcome == -1:
                self._refuse("its inputs are none that a step takes")
            diverges = not isinstance(outcome, int)
            if diverges or number == call.steps:
                if diverges and number == call.steps and is_last:
                    self._meet_divergence(core.divergence)
                else:
                    self._note(f"a step from t = {before.t:g} s " + ("diverges" if diverges else "does not diverge"))
                return False
            now = Instant.of(self._sim)
            self._work.append(self._sources.work(before, now, call))
            self._instants.append(now)
        return True

    def _given(self, call: Call) -> tuple[Any, ...]:
        try:
            forces = self._sim._inputs.wrenches(call.wrenches) if call.wrenches else ()
        except ExposimError as error:
            self._refuse(str(error))
        return call.tau, forces, call.target, call.target_velocity

    def _meet(self, x: Array) -> None:
        """A state that was kept: the one to begin with, or where the steps should have led."""
        sim = self._sim
        reached = sim.state if self._states else None
        if x.size != sim._layout.size:
            self._refuse(f"its states have {x.size} numbers, those of this robot and ground {sim._layout.size}")
        kept = State._of(np.array(x), sim._layout)
        if reached is not None:
            differing = [name for name in COMPARED if not _same(getattr(reached, name), getattr(kept, name))]
            if reached.t != kept.t:
                differing.insert(0, "t")
            if differing:
                self._note(f"at t = {kept.t:g} s {', '.join(differing)} differ")
        if reached is None or self._mismatch is not None:  # go on where it was
            try:
                sim.state = kept
            except ExposimError as error:
                self._refuse(str(error))
        self._states += 1

    def _meet_divergence(self, found: _core.Divergence | None) -> None:
        assert found is not None
        dump = self._dump
        differing = [
            name
            for name, reached, kept in (
                ("q", found.q, dump.led_to[0]),
                ("v", found.v, dump.led_to[1]),
                ("the last good state", found.start, dump.end),
            )
            if not _same(reached, kept)
        ]
        if differing or found.t != dump.diverged.t:
            self._note(f"the step that diverges leads elsewhere ({', '.join(differing) or 't'} differ)")
        self._states += 1

    def _note(self, what: str) -> None:
        self._mismatch = self._mismatch or what

    def _refuse(self, what: str) -> Any:
        raise UnreadableFile(f"{self._dump.file or 'the dump'} is damaged, or of another robot or ground: {what}")


def _step(
    core: _core.Simulator,
    given: tuple[Any, ...],
    choice: tuple[float, ...] | None,
    first: float | None,
    continues: bool,
) -> tuple[Any, float | None]:
    tau, forces, target, target_velocity = given
    if choice is None or first is None:
        return core.step(tau, 1, forces, target, target_velocity, continues=continues), None
    until, _, *numbers = choice
    pace = _core.StepChoice(*numbers)
    outcome, first, _ = core.advance(tau, until, pace, first, 1, forces, target, target_velocity)
    return outcome, first


def _same(reached: NDArray[Any], kept: NDArray[Any]) -> bool:
    return np.array_equal(reached, kept, equal_nan=reached.dtype.kind == "f")
