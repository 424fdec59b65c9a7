"""Events as a table: looked through, filtered, shown."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from exposim import _checks
from exposim._checks import Array
from exposim._extras import load
from exposim.errors import InvalidArgument, did_you_mean
from exposim.simulation.events import KINDS, Event, EventKind

if TYPE_CHECKING:
    import pandas as pd

OF_JOINTS: tuple[EventKind, ...] = ("limit", "release")
MOST_ROWS = 60  # that are shown; the first and the last of more


@dataclass(frozen=True)
class Names:
    """What events can be of.

    Args:
        contacts: Labels of the contacts.
        points: Names of their points, of which several may be the same.
        joints: Of all degrees of freedom.
    """

    contacts: tuple[str, ...]
    points: tuple[str, ...]
    joints: tuple[str, ...]

    @property
    def all(self) -> frozenset[str]:
        """That can be asked for."""
        return frozenset((*self.contacts, *self.points, *self.joints))

    def of(self, kind: str, index: int) -> set[str]:
        """What one event can be called by."""
        return {self.joints[index]} if kind in OF_JOINTS else {self.contacts[index], self.points[index]}


class Events:
    """What happened, in the order of time: ``trajectory.events``.

    Attributes:
        t: When [s], (n,).
        kind: What, (n,): ``"land"``, ``"lift"``, ``"slip"``, ``"stick"``, ``"limit"`` or ``"release"``.
        contact: Label of the contact, (n,): the name of its point, with the number of the surface or of a slot where it
            has several; of limits the joint's name.
        index: Which contact, in the order of the trajectory's, (n,); of limits which degree of freedom, in v.
        velocity: Of the point past the surface, just before [m/s], (n, 3); of a joint its rate, in the first entry.
        force: On the robot, just after [N], (n, 3); of a joint the torque, in the first entry.
    """

    t: Array
    index: NDArray[np.int_]
    velocity: Array
    force: Array

    def __init__(
        self,
        names: Names,
        t: Array,
        kind: NDArray[np.int_],
        index: NDArray[np.int_],
        velocity: Array,
        force: Array,
    ):
        self.t, self.index, self.velocity, self.force = t, index, velocity, force
        self._kind = kind
        self._names = names

    @property
    def kind(self) -> NDArray[np.str_]:
        """What happened, (n,)."""
        return np.array(KINDS)[self._kind]

    @property
    def contact(self) -> NDArray[np.str_]:
        """Labels of the contacts, or names of the joints, (n,)."""
        return np.array([self._label(i) for i in range(len(self))], dtype=str)

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind, of those that there are."""
        found = np.bincount(self._kind, minlength=len(KINDS))
        return {kind: int(n) for kind, n in zip(KINDS, found, strict=True) if n}

    def select(self, kind: str | Iterable[str] | None = None, contact: str | Iterable[str] | None = None) -> Events:
        """Those of some kinds and of some contacts.

        Args:
            kind: One or several; by default all.
            contact: Label of a contact, name of its point, or name of a joint; one or several; by default all.

        Raises:
            InvalidArgument: If there is no such kind or contact, whether something happened there or not.
        """
        chosen = np.ones(len(self), dtype=bool)
        if kind is not None:
            wanted = [_checks.choice("kind", each, KINDS) for each in _one_or_several("kind", kind)]
            chosen &= np.isin(self._kind, [KINDS.index(each) for each in wanted])
        if contact is not None:
            asked = set(_one_or_several("contact", contact))
            if unknown := asked - self._names.all:
                near = did_you_mean(str(min(unknown)), self._names.all)
                listed = f"; its contacts are {', '.join(self._names.contacts) or 'none'}"
                raise InvalidArgument(f"contact is {min(unknown)!r}, of which the trajectory has none{near or listed}")
            chosen &= [bool(asked & self._names.of(kind, i)) for kind, i in zip(self.kind, self.index, strict=True)]
        return self._of(chosen)

    @overload
    def __getitem__(self, i: int) -> Event: ...
    @overload
    def __getitem__(self, i: slice) -> Events: ...
    def __getitem__(self, i: int | slice) -> Event | Events:
        if isinstance(i, slice):
            return self._of(i)
        at = range(len(self))[i]
        kind = KINDS[self._kind[at]]
        return Event(float(self.t[at]), self._label(at), kind, self.velocity[at], self.force[at], int(self.index[at]))

    def __len__(self) -> int:
        return len(self.t)

    def __iter__(self) -> Iterator[Event]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        told = ", ".join(f"{n} {kind}" for kind, n in self.counts.items())
        return f"Events({told or 'none'})"

    def __str__(self) -> str:
        rows = [
            f"{t:12.6f}  {kind:8}{contact:24}{speed:12.3g}{force:12.3g}"
            for t, kind, contact, speed, force in self._rows()
        ]
        heads = f"{'t [s]':>12}  {'kind':8}{'contact':24}{'speed before':>12}{'force after':>12}"
        return "\n".join([heads, *_some(rows, "{:>12} more")])

    def _repr_html_(self) -> str:
        """A table, of which the middle is left out if it is long."""
        heads = ("t [s]", "kind", "contact", "speed before [m/s, rad/s]", "force after [N, N·m]")
        rows = [
            f"<td>{t:.6f}</td><td>{kind}</td><td>{html.escape(contact)}</td><td>{speed:.3g}</td><td>{force:.3g}</td>"
            for t, kind, contact, speed, force in self._rows()
        ]
        body = "".join(f"<tr>{row}</tr>" for row in _some(rows, "<td>… {} more</td>"))
        head = "".join(f"<th>{each}</th>" for each in heads)
        return f"<p>{html.escape(repr(self))}</p><table><tr>{head}</tr>{body}</table>"

    def to_dataframe(self) -> pd.DataFrame:
        """One row per event; ``v*`` and ``f*`` are velocity and force, of joints in ``vx`` and ``fx``."""
        pd = load("pandas")
        columns: dict[str, Any] = {"t": self.t, "contact": self.contact, "kind": self.kind, "index": self.index}
        for prefix, array in (("v", self.velocity), ("f", self.force)):
            columns |= {prefix + axis: array[:, k] for k, axis in enumerate("xyz")}
        return pd.DataFrame(columns)

    def _rows(self) -> list[tuple[float, str, str, float, float]]:
        """Time, kind, contact, speed, force, for the eye."""
        speed, force = (np.linalg.norm(array, axis=1) for array in (self.velocity, self.force))
        return list(zip(self.t.tolist(), self.kind, self.contact, speed.tolist(), force.tolist(), strict=True))

    def _label(self, i: int) -> str:
        names = self._names.joints if KINDS[self._kind[i]] in OF_JOINTS else self._names.contacts
        return str(names[self.index[i]])

    def _of(self, chosen: Any) -> Events:
        arrays = (each[chosen] for each in (self.t, self._kind, self.index, self.velocity, self.force))
        return Events(self._names, *arrays)


def event_arrays(events: Sequence[Event]) -> dict[str, NDArray[Any]]:
    """As a file holds them."""
    return {
        "event_t": np.array([each.t for each in events], dtype=float),
        "event_kind": np.array([KINDS.index(each.kind) for each in events], dtype=int),
        "event_index": np.array([each.index for each in events], dtype=int),
        "event_velocity": np.array([each.velocity for each in events], dtype=float).reshape(-1, 3),
        "event_force": np.array([each.force for each in events], dtype=float).reshape(-1, 3),
    }


def _one_or_several(name: str, value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, str) else _checks.several(name, value, "a name, or several")


def _some(rows: list[str], more: str) -> list[str]:
    """The first and the last of many rows, and how many more there are."""
    if len(rows) <= MOST_ROWS:
        return rows
    half = MOST_ROWS // 2
    return [*rows[:half], more.format(len(rows) - 2 * half), *rows[-half:]]
