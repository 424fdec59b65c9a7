"""The last steps before a divergence, written down when it happens."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks, _core
from exposim._checks import Array
from exposim._writing import make_parents
from exposim.errors import ExposimError, InvalidArgument, UnwritableFile
from exposim.simulation.advancing import Pace
from exposim.simulation.flight_dump import MOST_KEPT, Call, FlightDump
from exposim.simulation.recorder import settings_of
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import State

if TYPE_CHECKING:
    from exposim.robots.robot import Robot

# Once in so many steps the state is kept; what is between follows from it and from the inputs, bit for bit.
STRIDE = 10
_NAME, _NAMES = "diverged-{:03d}.npz", "diverged-*.npz"

_Wrenches = Mapping[str, ArrayLike] | None


class FlightRecorder:
    """Keeps the last steps of a simulator in memory, and writes them into a file when it diverges.

    ::

        xs.FlightRecorder(sim, "dumps")
        ...  # SimulationDiverged: ...; which contact or joint went first: exposim replay dumps/diverged-001.npz

    What is kept is what every call was given, and every tenth state: steps give the same bits again from there
    (:class:`exposim.FlightDump`). A reset, a state that is set and properties that are changed begin anew. With
    ``on_divergence="stop"``, ``sim.divergence.dump`` is the file. Usable in ``with``, at the end of which it stops. One
    thread at a time may step a simulator that is recorded; copies of it are not.

    Args:
        sim: That is recorded; it has one flight recorder at most.
        folder: For the files ``diverged-001.npz`` and so on; made at the first.
        steps: That are kept, at least; up to twice as many where calls of ``step`` take many, at most 100,000.
        files: In the folder, at most: of further divergences nothing is written.

    Attributes:
        steps: As given.
        dumps: Files that were written, in the order of time.
    """

    def __init__(self, sim: Simulator, folder: str | PathLike[str], steps: int = 200, *, files: int = 20):
        if not isinstance(sim, Simulator):
            raise InvalidArgument(f"sim is a {type(sim).__name__}; give an exposim.Simulator")
        if not isinstance(folder, (str, PathLike)):
            raise InvalidArgument(f"folder is {folder!r}; give the path of a folder")
        self._folder = Path(folder)
        if self._folder.exists() and not self._folder.is_dir():
            raise InvalidArgument(f"folder is {folder}, which is a file; give the path of a folder")
        self.steps = _checks.count("steps", steps, MOST_KEPT)
        self._files = _checks.count("files", files)
        if sim._flight is not None:
            raise InvalidArgument("sim has a flight recorder already; stop that one before, or take it")
        settings_of(sim).describe()  # refuses at once what no file can hold
        self._sim = sim
        self._calls: deque[tuple[Any, ...]] = deque(maxlen=self.steps + STRIDE)
        self.dumps: list[Path] = []
        self.wrenches: _Wrenches = None  # of the call of step that is on its way
        self.begin()
        sim._flight = self

    @property
    def dump(self) -> Path | str | None:
        """The file of the present divergence, or why there is none; ``None`` without a divergence."""
        return self._dump

    @property
    def is_recording(self) -> bool:
        """Whether it has not been stopped."""
        return self._sim._flight is self

    def stop(self) -> None:
        """Keeps no more, and forgets what it has; files stay."""
        if self.is_recording:
            self._sim._flight = None
        self._calls.clear()

    def __enter__(self) -> FlightRecorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = "recording" if self.is_recording else "stopped"
        return f"FlightRecorder({self._sim.robot.name!r}, {str(self._folder)!r}, {state}, {len(self.dumps)} dumps)"

    @classmethod
    def dump_of(
        cls,
        sim: Simulator,
        state: State,
        folder: str | PathLike[str],
        n: int,
        *,
        taus: ArrayLike | None = None,
        targets: ArrayLike | None = None,
        target_velocities: ArrayLike | None = None,
        wrenches: _Wrenches = None,
        steps: int = 200,
    ) -> Path:
        """The file of steps that diverged elsewhere, of which start and inputs are known; they are taken again.

        Args:
            sim: As the one that diverged; a copy of it is moved.
            state: That they began at.
            folder: As above.
            n: How many steps there were to be.
            taus: Of each, (n, nu) or (n, nv), or held in all, (nu,) or (nv,).
            targets: Likewise, of the drives.
            target_velocities: Likewise.
            wrenches: By frame name, (n, 6) or (6,).
            steps: As above.

        Raises:
            InvalidArgument: If they do not diverge.
        """
        count = _checks.count("n", n)
        named = {"tau": ("taus", taus), "target": ("targets", targets)}
        named["target_velocity"] = ("target_velocities", target_velocities)
        rows = {to: _rows(name, each, count) for to, (name, each) in named.items() if each is not None}
        acting = {frame: _rows(f"wrenches[{frame!r}]", each, count) for frame, each in (wrenches or {}).items()}
        again = sim.copy()
        again._on_divergence = "stop"  # whatever the core does, nothing is raised
        again.state = state
        with cls(again, folder, steps) as recorder:
            for i in range(count):
                given: dict[str, Any] = {name: each[i] for name, each in rows.items()}
                again.step(**given, wrenches={frame: each[i] for frame, each in acting.items()} or None)
                if again.diverged:
                    break
            if recorder.dumps:
                return recorder.dumps[0]
            if isinstance(recorder.dump, str):
                raise UnwritableFile(recorder.dump)
        raise InvalidArgument(f"the {count} steps from that state do not diverge; give those that did")

    # What the simulator tells.

    def begin(self) -> None:
        """Anew, from the next call on."""
        self._calls.clear()
        self._due = 0  # steps of the simulator from which on a state is kept
        self._dump: Path | str | None = None

    def keep(
        self,
        core: _core.Simulator,
        tau: Any,
        target: Array | None,
        target_velocity: Array | None,
        wrenches: _Wrenches,
        advancing: tuple[float, float, Pace] | None = None,
    ) -> None:
        """A call that is about to be made; one that was made before and took no step is forgotten.

        Targets are the simulator's own by now, and nobody else changes them.
        """
        steps, calls = core.statistics.steps, self._calls
        if calls and calls[-1][0] == steps and calls.pop()[1] is not None:
            self._due = steps
        state = None
        if steps >= self._due:
            state = core.state
            self._due = steps + STRIDE
        if wrenches is not None:
            wrenches = {frame: np.array(each, dtype=float) for frame, each in wrenches.items()}
        if type(tau) is np.ndarray:
            tau = tau.copy()
        calls.append((steps, state, tau, target, target_velocity, wrenches, advancing))

    def look_at(self, sim: Simulator, outcome: int | _core.Divergence) -> None:
        """What came of the call: a file, if it diverged."""
        if isinstance(outcome, int):
            return
        try:
            self._dump = self._write(sim, outcome)
        except (ExposimError, OSError) as error:  # which must not hide the divergence
            self._dump = f"the flight recorder wrote nothing: {error}"

    def _write(self, sim: Simulator, found: _core.Divergence) -> Path | str:
        if len(list(self._folder.glob(_NAMES))) >= self._files:
            return f"the flight recorder wrote nothing: {self._folder} has {self._files} files already; remove some"
        dump = FlightDump.of(sim, self._last(sim.robot, found), found, sim._describe(found))
        target = self._reserve()
        try:
            dump.save(target)
        except BaseException:
            target.unlink(missing_ok=True)
            raise
        self.dumps.append(target)
        return target

    def _last(self, robot: Robot, found: _core.Divergence) -> list[Call]:
        """The calls from the latest state on behind which there are enough steps, or from the first."""
        kept = list(self._calls)
        while kept and kept[0][1] is None:  # whose state has been pushed out
            kept.pop(0)
        end = found.step - 1  # steps before the one that diverged
        enough = [i for i, call in enumerate(kept) if call[1] is not None and end - call[0] >= self.steps]
        kept = kept[enough[-1] if enough else 0 :]
        counts = [*(call[0] for call in kept[1:]), end]
        return [_call(robot, call, count - call[0]) for call, count in zip(kept, counts, strict=True)]

    def _reserve(self) -> Path:
        """A new file that no other process takes."""
        make_parents(self._folder / "any")
        number = 0
        while True:
            number += 1
            target = self._folder / _NAME.format(number)
            try:
                target.open("xb").close()
            except FileExistsError:
                continue
            except OSError as error:
                raise UnwritableFile(f"cannot write {target}: {error.strerror or error}") from None
            return target


def _call(robot: Robot, kept: tuple[Any, ...], steps: int) -> Call:
    _, state, tau, target, target_velocity, wrenches, advancing = kept
    torques = np.zeros(robot.nv)
    if tau is not None:
        given = np.asarray(tau, dtype=float)
        torques[slice(None) if given.size == robot.nv else robot.actuated_dofs] = given
    choice = None
    if advancing is not None:
        until, first, pace = advancing
        choice = (until, first, pace.accuracy, pace.smallest, pace.largest)
    return Call(steps, state, torques, target, target_velocity, wrenches or {}, choice)


def _rows(name: str, value: ArrayLike, count: int) -> Array:
    """One for each step."""
    array = _checks.as_array(name, value)
    if array.ndim == 1:
        return np.broadcast_to(array, (count, array.size))
    if array.ndim != 2 or len(array) < count:
        raise InvalidArgument(f"{name} has shape {array.shape}; give one row for each of the {count} steps, or one row")
    return array
