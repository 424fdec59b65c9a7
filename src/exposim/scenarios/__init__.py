"""Scenarios: a robot, the ground, a controller and a duration, by name or from a file of one's own."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

from exposim.errors import InvalidArgument, UnknownScenario, did_you_mean
from exposim.scenarios.files import ScenarioFile
from exposim.scenarios.measures import Judgement, judge_upright
from exposim.scenarios.run import Run
from exposim.scenarios.scenario import Controller, Scenario
from exposim.simulation.settings import Origin
from exposim.simulation.trajectory import Trajectory

__all__ = [
    "SCENARIOS",
    "Controller",
    "Judgement",
    "Run",
    "Scenario",
    "describe",
    "get",
    "judge_upright",
    "of",
    "options_of",
]

# Name of each, and the module whose function `scenario` makes it.
SCENARIOS: dict[str, str] = {
    "solo-squat": "exposim.scenarios.solo_squat",
    "solo-jump": "exposim.scenarios.solo_jump",
    "solo-trot": "exposim.scenarios.solo_trot",
    "romeo-walk": "exposim.scenarios.romeo_walk",
    "drop": "exposim.scenarios.drop",
    "rough-drop": "exposim.scenarios.rough_drop",
    "stack": "exposim.scenarios.stack",
    "push-crate": "exposim.scenarios.push_crate",
    "two-robots": "exposim.scenarios.two_robots",
    "go2-stairs": "exposim.scenarios.go2_stairs",
    "go2-mpc": "exposim.scenarios.go2_mpc",
}


def get(scenario: str | PathLike[str], **options: Any) -> Scenario:
    """A scenario by its name, or from a Python file that has a function ``scenario`` returning one.

    Args:
        scenario: A name such as ``"solo-trot"``, or the path of a ``.py`` file, which is run.
        options: Arguments of the function that makes it, numbers and texts; ``drop`` for example takes ``robot``.
    """
    return _make(scenario, ScenarioFile.read(str(scenario)) if _is_file(scenario) else None, options)


def of(
    trajectory: Trajectory, file: str | PathLike[str] | None = None, options: Mapping[str, Any] | None = None
) -> Scenario:
    """The scenario that made a trajectory, to run it again or resume it; see also ``trajectory.settings``.

    A Python file that a saved trajectory names is run only if it is what it was, by its checksum, and is in the
    trajectory's folder or in the working directory (or below).

    Args:
        trajectory: That was made.
        file: The Python file that makes the scenario, wherever it is and whatever is in it now.
        options: Of the scenario, where they shall differ; it then starts as the scenario says, not as it did.

    Raises:
        UntrustedFile: If the trajectory names a file that has changed or is elsewhere; nothing of it has been run.
    """
    settings = trajectory.settings
    origin = settings.scenario.origin
    if settings.scenario.is_loop:
        raise InvalidArgument(
            f"the trajectory of {settings.scenario.name!r} was recorded from a loop, not made by a scenario that could "
            f"be run again; run the loop, or continue from trajectory.state()"
        )
    if origin is None:
        raise InvalidArgument(
            f"scenario {settings.scenario.name!r} was made in Python, not found by its name or in a file; "
            f"give the scenario itself"
        )
    made = _make(origin.address, _file_of(trajectory, origin, file), {**origin.options, **(options or {})})
    if options:  # perhaps another robot: it does not start from the saved posture
        return made.replace(ground=settings.ground, duration=settings.duration)
    drives = dict(zip(settings.robot.driven_joints, settings.robot.drives, strict=True))
    return made.replace(
        robot=made.robot if drives == made.robot.drives else made.robot.replace(drives=drives),
        ground=settings.ground,
        collisions=settings.collisions,
        q0=settings.q0,
        v0=settings.v0,
        duration=settings.duration,
    )


def describe(scenario: str | PathLike[str]) -> str:
    """One line about a scenario, without making it."""
    module = ScenarioFile.read(str(scenario)).run() if _is_file(scenario) else _known(str(scenario))
    return (module.__doc__ or "").strip().partition("\n")[0]


def options_of(scenario: str | PathLike[str]) -> tuple[str, ...] | None:
    """Names of the options that :func:`get` takes for a scenario; ``None`` where it takes any."""
    file = ScenarioFile.read(str(scenario)) if _is_file(scenario) else None
    known = _options(_maker_of(_known(str(scenario)) if file is None else file.run(), scenario))
    return None if _takes_any(known) else tuple(known)


def _is_file(scenario: str | PathLike[str]) -> bool:
    return str(scenario).endswith(".py")


def _file_of(trajectory: Trajectory, origin: Origin, named: str | PathLike[str] | None) -> ScenarioFile | None:
    """The Python file to run, if the trajectory was made by one."""
    if origin.file is None:
        if named is not None:
            raise InvalidArgument(f"file is {str(named)!r}, but the run is of {origin.name}; leave it out")
        return None
    if named is not None:
        return ScenarioFile.read(str(named))
    folders = None if trajectory.file is None else (trajectory.file.parent, Path())
    return ScenarioFile.of(origin, folders)


def _make(scenario: str | PathLike[str], file: ScenarioFile | None, options: Mapping[str, Any]) -> Scenario:
    make = _maker_of(_known(str(scenario)) if file is None else file.run(), scenario)
    known = _options(make)
    if not _takes_any(known) and (unknown := [option for option in options if option not in known]):
        has = f"its options are {', '.join(known)}" if known else "it has none"
        near = did_you_mean(unknown[0], known)
        raise InvalidArgument(f"scenario {str(scenario)!r} has no option {unknown[0]!r}{near or '; ' + has}")
    needed = [name for name, option in known.items() if option.default is option.empty and name not in options]
    if needed and known[needed[0]].kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL):
        raise InvalidArgument(
            f"scenario {str(scenario)!r} needs the option {needed[0]!r}; give it a value, or a default"
        )
    made = make(**options)
    if not isinstance(made, Scenario):
        raise InvalidArgument(f"{scenario}: scenario() returned a {type(made).__name__}; return an exposim Scenario")
    origin = Origin(
        name=str(scenario) if file is None else made.name,
        file=None if file is None else str(file.path),
        sha256=None if file is None else file.sha256,
        options=dict(options),
    )
    return made.replace(origin=origin)


def _options(make: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(make).parameters


def _takes_any(options: Mapping[str, inspect.Parameter]) -> bool:
    return any(option.kind is inspect.Parameter.VAR_KEYWORD for option in options.values())


def _known(name: str) -> ModuleType:
    """The module of one of exposim's own scenarios; never a file."""
    if name not in SCENARIOS:
        near = did_you_mean(name, SCENARIOS)
        raise UnknownScenario(
            f"scenario {name!r} is not known{near or '.'} Known ones: {', '.join(SCENARIOS)}; "
            f"your own is the path of a .py file with a function scenario()"
        )
    return importlib.import_module(SCENARIOS[name])


def _maker_of(module: ModuleType, scenario: str | PathLike[str]) -> Callable[..., Any]:
    make: Callable[..., Any] | None = getattr(module, "scenario", None)
    if make is None or not callable(make):
        raise InvalidArgument(f"{scenario} has no function scenario(); write one that returns an exposim Scenario")
    return make
