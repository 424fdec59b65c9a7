"""Numbers with units, as people type them: ``2ms``, ``1/8 ms``, ``100kN/m``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction

from exposim.errors import InvalidArgument, did_you_mean


@dataclass(frozen=True)
class Dimension:
    """A kind of quantity.

    Args:
        name: With its article, for messages.
        examples: Two, for messages.
        units: Size of each in SI units.
    """

    name: str
    examples: str
    units: dict[str, Fraction] = field(default_factory=dict)


TIME = Dimension(
    "a time",
    "2ms or 0.5s",
    {
        "s": Fraction(1),
        "ms": Fraction(1, 10**3),
        "us": Fraction(1, 10**6),
        "µs": Fraction(1, 10**6),
        "ns": Fraction(1, 10**9),
        "min": Fraction(60),
        "h": Fraction(3600),
    },
)
LENGTH = Dimension(
    "a length",
    "10cm or 0.1m",
    {"m": Fraction(1), "cm": Fraction(1, 100), "mm": Fraction(1, 1000), "km": Fraction(1000)},
)
STIFFNESS = Dimension(
    "a stiffness",
    "1e5 or 100kN/m",
    {
        "N/m": Fraction(1),
        "kN/m": Fraction(10**3),
        "MN/m": Fraction(10**6),
        "N/cm": Fraction(100),
        "N/mm": Fraction(1000),
    },
)
DAMPING = Dimension(
    "a damping",
    "300 or 0.3kNs/m",
    {"Ns/m": Fraction(1), "kNs/m": Fraction(10**3), "Ns/mm": Fraction(1000), "kg/s": Fraction(1)},
)
NUMBER = Dimension("a number", "1 or 0.8")
ACCURACY = Dimension("a number", "1e-3 or 1e-4")

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?"
_QUANTITY = re.compile(rf"\s*(?P<number>{_NUMBER})(?:\s*/\s*(?P<divisor>{_NUMBER}))?\s*(?P<unit>[^\d\s].*?)?\s*")


def parse_step(text: str, name: str = "dt") -> float:
    """A time step [s], or another short time; from 1 on it must have a unit: who types 5 does not mean seconds."""
    step = parse(name, text, TIME, above=0.0)
    if step >= 1.0 and _QUANTITY.fullmatch(text)["unit"] is None:  # type: ignore[index]  # it has been read
        bare = text.strip()
        raise InvalidArgument(f"{name} is {text!r}, which has no unit; give one, such as {bare}ms or {bare}s")
    return step


def parse(
    name: str, text: str, dimension: Dimension, *, above: float | None = None, least: float | None = None
) -> float:
    """A quantity in SI units; a number without a unit is in SI units already.

    Args:
        name: Of the option, for messages.
        text: What was typed, such as ``"1/8 ms"``.
        dimension: What kind it must be of.
        above: It must be greater than this.
        least: It must not be less than this.

    Raises:
        InvalidArgument: If it is of another kind, no number at all, or out of range.
    """
    wanted = f"give {dimension.name} such as {dimension.examples}"
    found = _QUANTITY.fullmatch(text)
    if found is None:
        raise InvalidArgument(f"{name} is {text!r}; {wanted}")
    unit = _normalised(found["unit"] or "")
    if unit and unit not in dimension.units:
        near = did_you_mean(unit, dimension.units)
        raise InvalidArgument(f"{name} is {text!r}{near or ';'} {wanted}")
    try:
        exact = Fraction(found["number"]) / Fraction(found["divisor"] or 1) * dimension.units.get(unit, Fraction(1))
        value = float(exact)  # rounded once, so that 0.1ms is the number 1e-4
    except (ZeroDivisionError, OverflowError):
        raise InvalidArgument(f"{name} is {text!r}; {wanted}") from None
    if above is not None and not value > above:
        raise InvalidArgument(f"{name} is {text!r}; give {dimension.name} above {above:g} such as {dimension.examples}")
    if least is not None and not value >= least:
        raise InvalidArgument(
            f"{name} is {text!r}; give {dimension.name} of at least {least:g} such as {dimension.examples}"
        )
    return value


def parse_pair(
    name: str, text: str, dimension: Dimension, *, above: float | None = None, least: float | None = None
) -> float | tuple[float, float]:
    """One quantity, or two with a comma between: along the normal, and along the surface."""
    values = [parse(name, each, dimension, above=above, least=least) for each in text.split(",")]
    if len(values) > 2:
        raise InvalidArgument(f"{name} is {text!r}; give one value, or two: normal,tangential")
    return values[0] if len(values) == 1 else (values[0], values[1])


def parse_option(text: str) -> float | int | str | bool:
    """The value of a scenario's option: a number if it looks like one, with or without a unit; else the text."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    for dimension in (NUMBER, TIME, LENGTH, STIFFNESS, DAMPING):
        try:
            return parse("value", text, dimension)
        except InvalidArgument:
            continue
    return text


def _normalised(unit: str) -> str:
    """One spelling for the micro sign and the Greek letter, and for N·s, N*s and N s."""
    return re.sub(r"[·*⋅\s]", "", unit.replace("μ", "µ"))
