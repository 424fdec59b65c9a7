"""What can be set in a cell, by the names that ``exposim run`` has for them, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exposim import _checks, scenarios
from exposim._durations import show_time
from exposim.errors import InvalidArgument, did_you_mean
from exposim.robots.joints import Drive
from exposim.scenarios import Run
from exposim.simulation.integrators import as_integrator, short_name
from exposim.simulation.records import build, describe

# Before the name of a scenario's option that has the name of one of the settings: ``option.friction``.
OPTION = "option."


@dataclass(frozen=True)
class Setting:
    """One that every scenario has.

    Args:
        unit: Of its values; empty for what is no quantity.
        checked: A value as plain data.
    """

    unit: str
    checked: Callable[[str, Any], Any]


def _number(unit: str, **bound: float) -> Setting:
    return Setting(unit, lambda name, value: _checks.number(name, value, f"[{unit}]", **bound))


def _pair(unit: str, **bound: float) -> Setting:
    """One value, or two: along the normal and along the surface."""

    def checked(name: str, value: Any) -> float | list[float]:
        if not isinstance(value, (tuple, list)):
            return _checks.number(name, value, f"[{unit}]", **bound)
        if len(value) != 2:
            raise InvalidArgument(f"{name} is {value!r}; give one value, or two: normal and tangential")
        return [_checks.number(name, each, f"[{unit}]", **bound) for each in value]

    return Setting(unit, checked)


MATERIAL = {
    "stiffness": _pair("N/m", above=0.0),
    "damping": _pair("N·s/m", least=0.0),
    "friction": _number("-", least=0.0),
}
DRIVE = {"kp": _number("N·m/rad", least=0.0), "kd": _number("N·m·s/rad", least=0.0)}
TIMES = {name: _number("s", above=0.0) for name in ("dt", "control_period", "duration")}
INTEGRATOR = "integrator"
ACCURACY = "accuracy"
SETTINGS: dict[str, Setting] = {
    **MATERIAL,
    **DRIVE,
    **TIMES,
    ACCURACY: _number("-", above=0.0),
    INTEGRATOR: Setting("", lambda name, value: describe(as_integrator(value))),
}


def checked(scenario: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a scenario as plain data; what was not given is not in it.

    Raises:
        InvalidArgument: If one is not known, with the nearest, or has a value that no scenario could have.
    """
    options = scenarios.options_of(scenario)
    plain: dict[str, Any] = {}
    for given, value in settings.items():
        name = given.removeprefix(OPTION)
        if name == given and name in SETTINGS:
            plain[name] = SETTINGS[name].checked(name, value)
            continue
        if options is not None and name not in options:
            raise InvalidArgument(_unknown(given, scenario, options))
        plain[OPTION + name if name in SETTINGS else name] = _plain(name, value)
    return plain


def start(scenario: str, settings: Mapping[str, Any]) -> Run:
    """A run at its beginning."""
    options = {name.removeprefix(OPTION): value for name, value in settings.items() if name not in SETTINGS}
    material = {name: _tuple(settings[name]) for name in MATERIAL if name in settings}
    made = scenarios.get(scenario, **options)
    if material:
        made = made.with_material(**material)
    if given := [name for name in DRIVE if name in settings]:
        if len(given) == 1:
            raise InvalidArgument(f"{given[0]} is given alone; drives have both, kp and kd")
        made = made.with_drives(Drive(**{name: settings[name] for name in DRIVE}))
    integrator = build(settings[INTEGRATOR]) if INTEGRATOR in settings else None
    how = {name: settings[name] for name in (*TIMES, ACCURACY) if name in settings}
    return Run(made, integrator, **how)


def shown(name: str, value: Any) -> str:
    """A value for tables and legends: ``5 ms``, ``1e+05``, ``paper-expo:pade3``."""
    if name == INTEGRATOR:
        return short_name(build(value))
    if name in TIMES:
        return show_time(value, 6)
    if isinstance(value, list):
        return ":".join(shown(name, each) for each in value)
    if isinstance(value, float):
        return short_number(value)
    return Path(value).name if isinstance(value, str) and Path(value).is_absolute() else str(value)


def short_number(value: float) -> str:
    """As people type it: ``0.8``, ``300``, ``1e5``."""
    text = f"{value:.6g}" if 1e-3 <= abs(value) < 1e4 or value == 0.0 else f"{value:.5e}"
    mantissa, found, exponent = text.partition("e")
    if not found:
        return text
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"


def titled(name: str) -> str:
    """A setting's name with its unit, for tables and figures."""
    unit = SETTINGS[name].unit if name in SETTINGS else ""
    return f"{name.removeprefix(OPTION)} [{unit}]".replace("_", " ") if unit else name.replace("_", " ")


def _unknown(given: str, scenario: str, options: tuple[str, ...]) -> str:
    known = [*SETTINGS, *(option for option in options if option not in SETTINGS)]
    near = did_you_mean(given, known)
    return f"{given!r} cannot be set in {scenario}{near or ';'} it has {', '.join(known)}"


def _plain(name: str, value: Any) -> Any:
    """An option of a scenario; a file by its whole path, so that it is found from anywhere."""
    if isinstance(value, str):
        return str(Path(value).resolve()) if name == "robot" and Path(value).is_file() else value
    if hasattr(value, "tolist"):  # of NumPy
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(name, each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(name, each) for key, each in value.items()}
    raise InvalidArgument(f"{name} is {value!r}, which no file can hold; give numbers and texts")


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
