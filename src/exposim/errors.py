"""What can go wrong, as types: each message says what, what was got, and what to do."""

from __future__ import annotations

import importlib
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exposim.simulation.state import State


class ExposimError(Exception):
    """Base of all errors of this package."""


class InvalidArgument(ExposimError, ValueError):
    """A value that cannot be used; nothing was changed."""


class UnknownRobot(ExposimError, LookupError):
    """No robot of that name is known."""


class UnknownScenario(ExposimError, LookupError):
    """No scenario of that name is known."""


class UnknownFile(ExposimError, FileNotFoundError):
    """There is no file at that path."""


class UnknownFrame(ExposimError, LookupError):
    """The model has no frame of that name."""


class ModelParseError(ExposimError, ValueError):
    """The file exists but does not describe a robot."""


class UnsupportedModel(ExposimError, ValueError):
    """The model is of a kind that cannot be simulated."""


class UnreadableFile(ExposimError, ValueError):
    """The file exists but is damaged, or is not what it should be."""


class UnwritableFile(ExposimError, OSError):
    """The file cannot be written; what was there before is still there."""


class UntrustedFile(ExposimError, PermissionError):
    """Code that a data file asks for, and that is not run unless the user names it."""


class FolderInUse(ExposimError, BlockingIOError):
    """Another process writes into the folder."""


class StateMismatch(ExposimError, ValueError):
    """The state does not belong to this simulator."""


class Unobservable(ExposimError, ValueError):
    """A parameter that a measured motion does not depend on, or not otherwise than on another one.

    Attributes:
        parameters: Names of those that cannot be seen.
        deviations: By name, what the noise of the sensors makes of an estimate: its standard deviation as a share of
            the value, infinite where the motion does not depend on it at all.
    """

    def __init__(self, message: str, parameters: tuple[str, ...] = (), deviations: Mapping[str, float] | None = None):
        super().__init__(message)
        self.parameters = parameters
        self.deviations = dict(deviations or {})

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.parameters, self.deviations)


class SimulatorBusy(ExposimError, RuntimeError):
    """The simulator is in the middle of a step, and cannot be moved or looked at now."""


class PinocchioMismatch(ExposimError, ImportError):
    """The Pinocchio found at run time is another one than at build time."""


class MissingExtra(ExposimError, ImportError):
    """A package that this part of exposim needs is not installed; the message has the command that does it."""


class ContactWarning(UserWarning):
    """Contacts are simulated otherwise than the model has them."""


class ModelWarning(UserWarning):
    """The model asks for something that is not simulated."""


class SetupWarning(UserWarning):
    """What was given can be simulated, but looks like a mistake: said once for each kind by a simulator."""


class SimulationDiverged(ExposimError, RuntimeError):
    """A step led to a state that is not finite, or absurd.

    Attributes:
        time: End of the step that diverged [s].
        step: Its number since the last reset, from 1.
        joints: Names of the joints whose position or velocity went wrong.
        last_good_state: The state before that step, to which the simulator has returned.
        dump: File of the last steps, if a flight recorder wrote one.
    """

    def __init__(
        self,
        time: float,
        step: int,
        joints: tuple[str, ...],
        last_good_state: State,
        advice: str,
        dump: Path | str | None = None,
    ):
        shown = ", ".join(joints[:4]) + (f" and {len(joints) - 4} more" if len(joints) > 4 else "")
        kept = ""
        if isinstance(dump, Path):
            kept = f"; which contact or joint went first: exposim replay {shlex.quote(str(dump))}"
        elif dump is not None:
            kept = f"; {dump}"
        super().__init__(f"the simulation diverged at t = {time:.6g} s (step {step}), at {shown}; {advice}{kept}")
        self.time = time
        self.step = step
        self.joints = joints
        self.last_good_state = last_good_state
        self.dump = dump if isinstance(dump, Path) else None
        self._rest = advice, dump

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.time, self.step, self.joints, self.last_good_state, *self._rest)


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """`` did you mean 'x'?``, or nothing where no choice is close."""
    by_lower_case = {choice.lower(): choice for choice in choices}
    closest = importlib.import_module("difflib").get_close_matches(word.lower(), by_lower_case, n=1, cutoff=0.5)
    return f"; did you mean {by_lower_case[closest[0]]!r}?" if closest else ""


def reason(error: Exception) -> str:
    """What Pinocchio or Coal says, less where in its source it says it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if any(line.startswith("message:") for line in lines):
        start = next(i for i, line in enumerate(lines) if line.startswith("message:"))
        lines = [lines[start].removeprefix("message:").strip(), *lines[start + 1 :]]
    return next(filter(None, lines), type(error).__name__)
