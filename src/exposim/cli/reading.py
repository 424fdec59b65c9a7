"""Settings of a run from what was typed, each read in one way wherever it stands."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from exposim.cli.quantities import (
    ACCURACY,
    DAMPING,
    NUMBER,
    STIFFNESS,
    TIME,
    Dimension,
    parse,
    parse_option,
    parse_pair,
    parse_step,
)
from exposim.cli.schemes import parse_scheme
from exposim.errors import InvalidArgument
from exposim.simulation.integrators import Integrator


def _quantity(name: str, dimension: Dimension, **bound: float) -> Callable[[str], Any]:
    return lambda text: parse(name, text, dimension, **bound)


READERS: dict[str, Callable[[str], Any]] = {
    "stiffness": lambda text: parse_pair("stiffness", text, STIFFNESS, above=0.0),
    "damping": lambda text: parse_pair("damping", text, DAMPING, least=0.0),
    "friction": _quantity("friction", NUMBER, least=0.0),
    "kp": _quantity("kp", NUMBER, least=0.0),
    "kd": _quantity("kd", NUMBER, least=0.0),
    "dt": parse_step,
    "control_period": partial(parse_step, name="control_period"),
    "duration": _quantity("duration", TIME, above=0.0),
    "accuracy": _quantity("accuracy", ACCURACY, above=0.0),
}


def read(name: str, text: str | None) -> Any:
    """The value of a setting in SI units; ``None`` for what was not typed."""
    return None if text is None else READERS[name](text)


def read_axis(text: str) -> tuple[str, list[Any]]:
    """An axis of a grid: ``stiffness=1e4,1e5:1e4`` (normal:tangential), ``dt=1ms,5ms``, ``seed=0,1,2``."""
    typed, found, values = text.partition("=")
    name = typed.strip().replace("-", "_")
    if not found or not name or not values.strip():
        raise InvalidArgument(f"grid is {text!r}; give name=value,value,... such as stiffness=1e4,1e5")
    return name, [_value(name, each.strip()) for each in values.split(",")]


def _value(name: str, text: str) -> Any:
    if not text:
        raise InvalidArgument(f"{name} has an empty value; give values with commas between")
    if name == "integrator":
        return _integrator(text)
    if name in READERS:
        return READERS[name](text.replace(":", ",") if name in ("stiffness", "damping") else text)
    return text if name == "robot" else parse_option(text)


def _integrator(text: str) -> Integrator:
    scheme = parse_scheme(text)
    if scheme.dt is not None:
        raise InvalidArgument(f"integrator is {text!r}; in a sweep, steps are an axis of their own: dt=1ms,5ms")
    return scheme.integrator
