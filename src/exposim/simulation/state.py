"""The complete state of a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exposim import _checks
from exposim._checks import Array
from exposim.contact.modes import MODES, OPEN, without_hold
from exposim.errors import InvalidArgument

# What a state is made of, declared once: what the last axes of each field count, and its kind of number.
STATE_FIELDS: dict[str, tuple[tuple[str | int, ...], str]] = {
    "t": ((), "f"),
    "q": (("nq",), "f"),
    "v": (("nv",), "f"),
    "surface": (("nc",), "i"),
    "mode": (("nc",), "i"),
    "phi0": (("nc",), "f"),
    "stretch": (("nc", 3), "f"),
}
_MEMORY_SIZE = 6  # numbers of a contact: surface, mode, phi0, and three of the stretch


@dataclass(frozen=True)
class Layout:
    """Sizes of a state: of q and v, and the number of contacts."""

    nq: int
    nv: int
    nc: int

    @property
    def size(self) -> int:
        """Of the flat array: t, q, v, six numbers per contact, nq and nv."""
        return 1 + self.nq + self.nv + _MEMORY_SIZE * self.nc + 2


class State:
    """All that the future of a simulation depends on, nothing else; immutable, picklable.

    Held in one flat array, which :meth:`to_array` gives and :meth:`from_array` takes; what follows are views of it.

    Args:
        t: Time [s].
        q: Configuration, (nq,).
        v: Velocity, (nv,).
        surface: Per contact, which of the simulator's surfaces it touches or belongs to, (nc,); −1: none.
        mode: Per contact, what it is doing, (nc,): an index of ``MODES``, open, idle, sticking, slipping, bilateral.
        phi0: Per contact, the gap at which the normal spring is at rest [m], (nc,).
        stretch: Per contact, from the anchor to the point: tangential, or of a bilateral contact whole [m], (nc, 3).
    """

    __slots__ = ("_x", "layout")

    _x: Array
    layout: Layout

    def __init__(
        self,
        t: float,
        q: ArrayLike,
        v: ArrayLike,
        surface: ArrayLike = (),
        mode: ArrayLike = (),
        phi0: ArrayLike = (),
        stretch: ArrayLike = (),
    ):
        modes = _whole("state.mode", mode)
        q, v = _checks.vector("state.q", q), _checks.vector("state.v", v)
        layout = Layout(q.size, v.size, modes.size)
        x = np.empty(layout.size)
        x[0] = _checks.number("state.t", t, "[s]")
        x[1 : 1 + layout.nq] = q
        x[1 + layout.nq : 1 + layout.nq + layout.nv] = v
        memory = _memory_of(x, layout)
        memory[:, 0] = _whole("state.surface", surface, layout.nc)
        memory[:, 1] = modes
        memory[:, 2] = _checks.vector("state.phi0", phi0, layout.nc, "one per contact")
        if layout.nc:
            memory[:, 3:] = _checks.matrix("state.stretch", stretch, layout.nc, 3)
        if np.any((modes < 0) | (modes >= len(MODES))):
            raise InvalidArgument(f"state.mode is {mode!r}; give 0 to {len(MODES) - 1}: {', '.join(MODES)}")
        x[-2:] = layout.nq, layout.nv
        self._set(x, layout)

    @classmethod
    def _of(cls, x: Array, layout: Layout) -> State:
        """Of an array that is nobody else's."""
        state = cls.__new__(cls)
        state._set(x, layout)
        return state

    def _set(self, x: Array, layout: Layout) -> None:
        x.flags.writeable = False
        object.__setattr__(self, "_x", x)
        object.__setattr__(self, "layout", layout)

    def to_array(self) -> Array:
        """One flat array: t, q, v, of every contact surface, mode, phi0, stretch; last nq and nv."""
        return np.array(self._x)

    @classmethod
    def from_array(cls, array: ArrayLike) -> State:
        """What :meth:`to_array` gave.

        Raises:
            InvalidArgument: If the array is not of that form.
        """
        x = _checks.as_array("array", array)
        if not np.isfinite(x).all():
            _checks.finite("array", x)  # says where
        nq, nv = (
            (int(each) if 0 <= each < x.size else -1 for each in x[-2:]) if x.ndim == 1 and x.size > 3 else (-1, -1)
        )
        contacts, rest = divmod(x.size - 3 - nq - nv, _MEMORY_SIZE)
        if nq < 0 or nv < 0 or contacts < 0 or rest or (nq, nv) != tuple(x[-2:]):
            raise InvalidArgument(
                f"array has shape {x.shape} and is no state; give what State.to_array returned, one state at a time"
            )
        layout = Layout(nq, nv, contacts)
        whole = _memory_of(x, layout)[:, :2]
        if np.any(whole != np.round(whole)) or np.any(np.abs(whole) > np.iinfo(np.int32).max):
            raise InvalidArgument(
                "array has surfaces and modes that are no whole numbers; give what State.to_array returned"
            )
        if contacts and (whole[:, 1].min() < 0 or whole[:, 1].max() >= len(MODES)):
            raise InvalidArgument(f"array has modes {whole[:, 1]}; give 0 to {len(MODES) - 1}: {', '.join(MODES)}")
        return cls._of(x, layout)

    def replace(self, **fields: Any) -> State:
        """A new state with some fields changed.

        With another q contacts keep their stretch: their anchors move along with the points. Those that it takes off
        their surfaces, or into them, are opened or closed when a simulator is set to the state.
        """
        for name in fields:
            _checks.choice("field", name, tuple(STATE_FIELDS))
        return State(**{name: fields.get(name, getattr(self, name)) for name in STATE_FIELDS})

    @property
    def t(self) -> float:
        """Time [s]."""
        return float(self._x[0])

    @property
    def q(self) -> Array:
        """Configuration, (nq,)."""
        return self._x[1 : 1 + self.layout.nq]

    @property
    def v(self) -> Array:
        """Velocity, (nv,)."""
        first = 1 + self.layout.nq
        return self._x[first : first + self.layout.nv]

    @property
    def surface(self) -> NDArray[np.int_]:
        """Per contact, which surface, (nc,); −1: none."""
        return _memory_of(self._x, self.layout)[:, 0].astype(int)

    @property
    def mode(self) -> NDArray[np.int_]:
        """Per contact, an index of ``MODES``, (nc,)."""
        return _memory_of(self._x, self.layout)[:, 1].astype(int)

    @property
    def phi0(self) -> Array:
        """Per contact, the gap at which the normal spring is at rest [m], (nc,)."""
        return _memory_of(self._x, self.layout)[:, 2]

    @property
    def stretch(self) -> Array:
        """Per contact, from the anchor to the point [m], (nc, 3)."""
        return _memory_of(self._x, self.layout)[:, 3:]

    @property
    def active(self) -> NDArray[np.bool_]:
        """Per contact, whether it touches, (nc,)."""
        return np.asarray(_memory_of(self._x, self.layout)[:, 1] != OPEN)

    @property
    def slipping(self) -> NDArray[np.bool_]:
        """Per contact, whether it slips, or has no force to hold it, (nc,)."""
        return without_hold(_memory_of(self._x, self.layout)[:, 1])

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a state does not change; state.replace({name}=...) gives a new one")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return self.layout == other.layout and np.array_equal(self._x, other._x)

    __hash__ = None  # type: ignore[assignment]  # an array inside

    def __reduce__(self) -> tuple[Any, ...]:
        return State.from_array, (self.to_array(),)

    def __repr__(self) -> str:
        modes = ", ".join(MODES[each] for each in self.mode)
        return f"State(t={self.t:g} s, nq={self.layout.nq}, nv={self.layout.nv}, contacts: {modes or 'none'})"


def _memory_of(x: Array, layout: Layout) -> Array:
    first = 1 + layout.nq + layout.nv
    return x[first : first + _MEMORY_SIZE * layout.nc].reshape(layout.nc, _MEMORY_SIZE)


def _whole(name: str, value: ArrayLike, size: int | None = None) -> NDArray[np.int_]:
    array = _checks.vector(name, value, size, "one whole number per contact")
    if np.any(array != np.round(array)) or np.any(np.abs(array) > np.iinfo(np.int32).max):
        raise InvalidArgument(f"{name} is {value!r}; give whole numbers, one per contact")
    return array.astype(int)
