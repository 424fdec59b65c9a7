"""All combinations of the values of a few settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any

from exposim import _checks, scenarios
from exposim.errors import ExposimError, InvalidArgument, UnknownScenario, did_you_mean
from exposim.sweeps.cell import Cell
from exposim.sweeps.settings import ACCURACY, checked, shown

MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class Grid:
    """Cells of a sweep; the last axis varies fastest.

    Args:
        scenario: Its name, or the whole path of its Python file.
        axes: Values by the name of the setting, plain data.
        settings: That all cells share, plain data.
    """

    scenario: str
    axes: Mapping[str, tuple[Any, ...]]
    settings: Mapping[str, Any]

    @classmethod
    def of(
        cls, scenario: str | PathLike[str], axes: Mapping[str, Iterable[Any]], settings: Mapping[str, Any] | None = None
    ) -> Grid:
        """A grid of what people write: SI units, integrators themselves or their names.

        Raises:
            InvalidArgument: If a setting is not known, or a value cannot be one; nothing has been run.
        """
        name = _named(scenario)
        if not isinstance(axes, Mapping) or not axes:
            raise InvalidArgument(
                f"axes is {axes!r}; give values by the name of a setting: {{'stiffness': [1e4, 1e5]}}"
            )
        shared = checked(name, settings or {})
        plain: dict[str, tuple[Any, ...]] = {}
        for axis, values in axes.items():
            several = _checks.several(str(axis), values, "a list of values")
            each = [checked(name, {axis: value}) for value in several]
            if not each:
                raise InvalidArgument(f"{axis} has no values; give at least one")
            (canonical,) = each[0]
            plain[canonical] = _distinct(canonical, [one[canonical] for one in each])
            if canonical in shared:
                raise InvalidArgument(f"{axis} is an axis of the grid, and is also given for all cells; leave out one")
        if ACCURACY in plain.keys() | shared.keys() and "dt" in plain.keys() | shared.keys():
            raise InvalidArgument("accuracy chooses the steps; leave out dt, or it")
        grid = cls(name, plain, shared)
        if len(grid) > MOST_CELLS:
            raise InvalidArgument(f"the grid has {len(grid)} cells; give one of at most {MOST_CELLS}")
        return grid

    def __len__(self) -> int:
        size = 1
        for values in self.axes.values():
            size *= len(values)
        return size

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each axis has."""
        return tuple(len(values) for values in self.axes.values())

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All of them."""
        return tuple(
            Cell(self.scenario, {**self.settings, **dict(zip(self.axes, values, strict=True))})
            for values in product(*self.axes.values())
        )

    def check(self) -> None:
        """Sets up runs, without running them, until every value has been part of one.

        A combination that cannot be set up is left to be told of when it is computed.

        Raises:
            InvalidArgument: If no cell with some value can be.
        """
        good: set[tuple[str, int]] = set()
        for axis, values in self.axes.items():
            for number in range(len(values)):
                if (axis, number) not in good:
                    good |= self._first_with(axis, number)

    def _first_with(self, axis: str, number: int) -> set[tuple[str, int]]:
        """Numbers of the values of the first cell with that value which can be set up."""
        refused: Exception | None = None
        ranges = [[number] if name == axis else range(len(values)) for name, values in self.axes.items()]
        for numbers in product(*ranges):
            place = list(zip(self.axes, numbers, strict=True))
            cell = Cell(self.scenario, {**self.settings, **{name: self.axes[name][i] for name, i in place}})
            try:
                cell.start()
            except Exception as error:  # also of a user's own file
                refused = refused or error
            else:
                return set(place)
        value = shown(axis, self.axes[axis][number])
        kind = "" if isinstance(refused, ExposimError) else f"{type(refused).__name__}: "
        raise InvalidArgument(f"{axis} = {value} cannot be run: {kind}{refused}") from refused


def _named(scenario: str | PathLike[str]) -> str:
    name = str(scenario)
    if name.endswith(".py"):
        return str(Path(name).resolve())
    if name not in scenarios.SCENARIOS:
        near = did_you_mean(name, scenarios.SCENARIOS)
        raise UnknownScenario(
            f"scenario {name!r} is not known{near or ';'} give one of {', '.join(scenarios.SCENARIOS)}, or your own "
            f".py file; saved results are swept by the scenario that made them"
        )
    return name


def _distinct(axis: str, values: list[Any]) -> tuple[Any, ...]:
    for number, value in enumerate(values):
        if value in values[:number]:
            raise InvalidArgument(f"{axis} has {shown(axis, value)} twice; give each value once")
    return tuple(values)
