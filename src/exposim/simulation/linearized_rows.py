"""Derivatives of steps of many rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.robots.robot import Robot
from exposim.simulation.derivatives import by_drive
from exposim.simulation.layout import Layout


@dataclass(frozen=True, eq=False)
class LinearizedRows:
    """Derivatives of a step from every row: ``A, B = rows``.

    Args:
        arrays: As the core writes them.
        by: What B is by: ``"tau"``, ``"target"`` or ``"nothing"``.
        names: Of the parameters.
        dofs: The actuated degrees of freedom.
        gains: Of drives, (nv,).
    """

    arrays: dict[str, NDArray[Any]]
    by: str
    names: tuple[str, ...]
    dofs: NDArray[np.int_]
    gains: Array

    @classmethod
    def empty(
        cls, rows: int, layout: Layout, ndx: int, robot: Robot, gains: Array, by: str, names: tuple[str, ...]
    ) -> LinearizedRows:
        """For so many rows, to be written into."""
        arrays: dict[str, NDArray[Any]] = {
            "next": np.empty((rows, layout.size)),
            "x": np.empty((rows, ndx, ndx)),
            "parameters": np.empty((rows, ndx, len(names))),
            "bad": np.zeros(rows, dtype=np.int32),
            "grazing": np.zeros(rows, dtype=np.int32),
            "diverged": np.zeros(rows, dtype=bool),
            "differences": np.zeros(rows, dtype=bool),
        }
        if by != "nothing":
            arrays["force"] = np.empty((rows, ndx, robot.nv))
        return cls(arrays, by, names, robot.actuated_dofs, gains)

    @property
    def x(self) -> Array:
        """A: by displacements of the state, (N, ndx, ndx)."""
        return self.arrays["x"]

    @property
    def tau(self) -> Array:
        """By torques of the actuated degrees of freedom, (N, ndx, nu)."""
        return np.asarray(self.arrays["force"][:, :, self.dofs])

    @property
    def target(self) -> Array:
        """By targets of drives, of the actuated degrees of freedom, (N, ndx, nu)."""
        return by_drive(self.arrays["force"], self.gains, self.dofs)

    @property
    def parameters(self) -> Array:
        """By parameters, a column each in the order of ``names``, (N, ndx, np)."""
        return self.arrays["parameters"]

    @property
    def next(self) -> Array:
        """Flat states that the steps lead to, (N, nx)."""
        return self.arrays["next"]

    @property
    def grazing(self) -> NDArray[np.int32]:
        """How often the step of a row is not differentiable, (N,)."""
        return self.arrays["grazing"]

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Whether a row has derivatives: its state and input can be, and its step did not diverge, (N,)."""
        return np.asarray(~self.arrays["diverged"] & (self.arrays["bad"] == 0))

    @property
    def differences(self) -> NDArray[np.bool_]:
        """Whether they were taken by finite differences, (N,)."""
        return self.arrays["differences"]

    def __iter__(self) -> Iterator[Array]:
        """A and B."""
        yield self.x
        if self.by == "nothing":
            yield self.x[:, :, :0]
        else:
            yield self.target if self.by == "target" else self.tau
