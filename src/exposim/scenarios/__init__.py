"""Scenarios: a robot, the ground, a controller and a duration, by name or from a file of one's own."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

from exposim.errors import InvalidArgument, UnknownFile, UnknownScenario, did_you_mean
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
]

# Name of each, and the module whose function `scenario` makes it.
SCENARIOS: dict[str, str] = {
    "solo-squat": "exposim.scenarios.solo_squat",
    "solo-jump": "exposim.scenarios.solo_jump",
    "solo-trot": "exposim.scenarios.solo_trot",
    "romeo-walk": "exposim.scenarios.romeo_walk",
    "drop": "exposim.scenarios.drop",
}


def get(scenario: str | PathLike[str], **options: Any) -> Scenario:
    """A scenario by its name, or from a Python file that has a function ``scenario`` returning one.

    Args:
        scenario: A name such as ``"solo-trot"``, or the path of a ``.py`` file.
        options: Arguments of the function that makes it, numbers and texts; ``drop`` for example takes ``robot``.
    """
    module, file = _module_of(scenario)
    make = _maker_of(module, scenario)
    known = inspect.signature(make).parameters
    takes_any = any(option.kind is inspect.Parameter.VAR_KEYWORD for option in known.values())
    if not takes_any and (unknown := [option for option in options if option not in known]):
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
        file=None if file is None else str(file),
        sha256=None if file is None else hashlib.sha256(file.read_bytes()).hexdigest(),
        options=options,
    )
    return made.replace(origin=origin)


def of(trajectory: Trajectory) -> Scenario:
    """The scenario that made a trajectory, to run it again or resume it; see also ``trajectory.settings``."""
    settings = trajectory.settings
    origin = settings.scenario.origin
    if origin is None:
        raise InvalidArgument(
            f"scenario {settings.scenario.name!r} was made in Python, not found by its name or in a file; "
            f"give the scenario itself"
        )
    made = get(origin.address, **origin.options)
    return made.replace(
        ground=settings.ground,
        q0=settings.q0,
        v0=settings.v0,
        duration=settings.duration,
    )


def describe(scenario: str | PathLike[str]) -> str:
    """One line about a scenario, without making it."""
    return (_module_of(scenario)[0].__doc__ or "").strip().partition("\n")[0]


def _module_of(scenario: str | PathLike[str]) -> tuple[ModuleType, Path | None]:
    name = str(scenario)
    if not name.endswith(".py"):
        if name not in SCENARIOS:
            near = did_you_mean(name, SCENARIOS)
            raise UnknownScenario(
                f"scenario {name!r} is not known{near or '.'} Known ones: {', '.join(SCENARIOS)}; "
                f"your own is the path of a .py file with a function scenario()"
            )
        return importlib.import_module(SCENARIOS[name]), None
    file = Path(name).resolve()
    if not file.is_file():
        raise UnknownFile(f"there is no file {name}")
    spec = importlib.util.spec_from_file_location(f"exposim_scenario_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look themselves up there
    sys.path.insert(0, str(file.parent))  # for modules beside it, as `python file.py` has it
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise InvalidArgument(f"{name} cannot be run: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(file.parent))
    return module, file


def _maker_of(module: ModuleType, scenario: str | PathLike[str]) -> Callable[..., Any]:
    make: Callable[..., Any] | None = getattr(module, "scenario", None)
    if make is None or not callable(make):
        raise InvalidArgument(f"{scenario} has no function scenario(); write one that returns an exposim Scenario")
    return make
