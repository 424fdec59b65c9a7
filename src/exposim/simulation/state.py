"""The complete state of a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exposim import _checks
from exposim._checks import Array
from exposim.contact.modes import MODES, OPEN, without_hold
from exposim.errors import InvalidArgument
from exposim.simulation.layout import Layout

# What a state is made of, declared once: what the last axes of each field count, and its kind of number. Contacts have
# nc, degrees of freedom with dry friction nf, targets that may be on their way to motors nh.
STATE_FIELDS: dict[str, tuple[tuple[str | int, ...], str]] = {
    "t": ((), "f"),
    "q": (("nq",), "f"),
    "v": (("nv",), "f"),
    "surface": (("nc",), "i"),
    "mode": (("nc",), "i"),
    "phi0": (("nc",), "f"),
    "stretch": (("nc", 3), "f"),
    "friction_stretch": (("nf",), "f"),
    "friction_slips": (("nf",), "i"),
    "commands": ((), "i"),
    "command_t": (("nh",), "f"),
    "command_target": (("nh", "nq"), "f"),
    "command_velocity": (("nh", "nv"), "f"),
}


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
        friction_stretch: Per degree of freedom with dry friction, of the spring that holds it [rad or m], (nf,).
        friction_slips: Per degree of freedom with dry friction, 1 if it slips, 0 if it sticks, (nf,).
        commands: How many targets are on their way to drives with a delay.
        command_t: When each of them was given [s], (nh,), one after the other; 0 behind the last.
        command_target: What it was, (nh, nq).
        command_velocity: And its velocity, (nh, nv).
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
        friction_stretch: ArrayLike = (),
        friction_slips: ArrayLike = (),
        commands: int = 0,
        command_t: ArrayLike = (),
        command_target: ArrayLike = (),
        command_velocity: ArrayLike = (),
    ):
        modes = _whole("state.mode", mode)
        q, v = _checks.vector("state.q", q), _checks.vector("state.v", v)
        stretches, times = (
            _checks.vector("state.friction_stretch", friction_stretch),
            _checks.vector("state.command_t", command_t),
        )
        layout = Layout(q.size, v.size, modes.size, stretches.size, times.size)
        x = np.empty(layout.size)
        x[0] = _checks.number("state.t", t, "[s]")
        x[1 : 1 + layout.nq] = q
        x[1 + layout.nq : 1 + layout.nq + layout.nv] = v
        memory = layout.memory(x)
        memory[:, 0] = _whole("state.surface", surface, layout.nc)
        memory[:, 1] = modes
        memory[:, 2] = _checks.vector("state.phi0", phi0, layout.nc, "one per contact")
        if layout.nc:
            memory[:, 3:] = _checks.matrix("state.stretch", stretch, layout.nc, 3)
        if np.any((modes < 0) | (modes >= len(MODES))):
            raise InvalidArgument(f"state.mode is {mode!r}; give 0 to {len(MODES) - 1}: {', '.join(MODES)}")
        grips = layout.grips(x)
        grips[:, 0] = stretches
        grips[:, 1] = _zeros_and_ones("state.friction_slips", friction_slips, layout.nf)
        layout.command_count(x)[:] = _number_of_commands(commands, times)
        if layout.nh:
            kept = layout.commands(x)
            kept[:, 0] = times
            kept[:, 1 : 1 + layout.nq] = _checks.matrix("state.command_target", command_target, layout.nh, layout.nq)
            kept[:, 1 + layout.nq :] = _checks.matrix("state.command_velocity", command_velocity, layout.nh, layout.nv)
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
        """One flat array: t, q, v, of every contact surface, mode, phi0, stretch; last nq and nv.

        Of a robot with dry friction or delays, before nq and nv: of every dry friction stretch and whether it slips;
        how many targets are on their way, and of each that may be its time, target and velocity; and after them how
        many frictions, how many targets, and −1.
        """
        layout = self.layout
        return np.append(self._x, layout.end) if layout.nf or layout.nh else self._x.copy()

    @classmethod
    def from_array(cls, array: ArrayLike) -> State:
        """What :meth:`to_array` gave.

        Raises:
            InvalidArgument: If the array is not of that form.
        """
        x = _checks.as_array("array", array)
        if not np.isfinite(x).all():
            _checks.finite("array", x)  # says where
        layout = Layout.said_by(x)
        if layout is None:
            raise InvalidArgument(
                f"array has shape {x.shape} and is no state; give what State.to_array returned, one state at a time"
            )
        x = x[: layout.size].copy()
        whole = layout.memory(x)[:, :2]
        if np.any(whole != np.round(whole)) or np.any(np.abs(whole) > np.iinfo(np.int32).max):
            raise InvalidArgument(
                "array has surfaces and modes that are no whole numbers; give what State.to_array returned"
            )
        if layout.nc and (whole[:, 1].min() < 0 or whole[:, 1].max() >= len(MODES)):
            raise InvalidArgument(f"array has modes {whole[:, 1]}; give 0 to {len(MODES) - 1}: {', '.join(MODES)}")
        _zeros_and_ones("array, where frictions slip,", layout.grips(x)[:, 1], layout.nf)
        for count in layout.command_count(x):
            _number_of_commands(count, layout.commands(x)[:, 0])
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
        return self.layout.memory(self._x)[:, 0].astype(int)

    @property
    def mode(self) -> NDArray[np.int_]:
        """Per contact, an index of ``MODES``, (nc,)."""
        return self.layout.memory(self._x)[:, 1].astype(int)

    @property
    def phi0(self) -> Array:
        """Per contact, the gap at which the normal spring is at rest [m], (nc,)."""
        return self.layout.memory(self._x)[:, 2]

    @property
    def stretch(self) -> Array:
        """Per contact, from the anchor to the point [m], (nc, 3)."""
        return self.layout.memory(self._x)[:, 3:]

    @property
    def active(self) -> NDArray[np.bool_]:
        """Per contact, whether it touches, (nc,)."""
        return np.asarray(self.layout.memory(self._x)[:, 1] != OPEN)

    @property
    def slipping(self) -> NDArray[np.bool_]:
        """Per contact, whether it slips, or has no force to hold it, (nc,)."""
        return without_hold(self.layout.memory(self._x)[:, 1])

    @property
    def friction_stretch(self) -> Array:
        """Per degree of freedom with dry friction, of the spring that holds it [rad or m], (nf,)."""
        return self.layout.grips(self._x)[:, 0]

    @property
    def friction_slips(self) -> NDArray[np.int_]:
        """Per degree of freedom with dry friction, 1 if it slips, 0 if it sticks, (nf,)."""
        return self.layout.grips(self._x)[:, 1].astype(int)

    @property
    def commands(self) -> int:
        """How many targets are on their way to drives with a delay."""
        return int(self.layout.command_count(self._x)[0]) if self.layout.nh else 0

    @property
    def command_t(self) -> Array:
        """When each target on its way was given [s], (nh,); 0 behind the last."""
        return self.layout.commands(self._x)[:, 0]

    @property
    def command_target(self) -> Array:
        """What it was, (nh, nq)."""
        return self.layout.commands(self._x)[:, 1 : 1 + self.layout.nq]

    @property
    def command_velocity(self) -> Array:
        """And its velocity, (nh, nv)."""
        return self.layout.commands(self._x)[:, 1 + self.layout.nq :]

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
        slips = f", {self.friction_slips.sum()} of {self.layout.nf} joints with friction slip" if self.layout.nf else ""
        return f"State(t={self.t:g} s, nq={self.layout.nq}, nv={self.layout.nv}, contacts: {modes or 'none'}{slips})"


def unpacked(x: Array, layout: Layout) -> dict[str, NDArray[Any]]:
    """The fields of flat states that are the rows of x, by name, with a row for each."""
    end_of_q = 1 + layout.nq
    memory, grips, commands = layout.memory(x), layout.grips(x), layout.commands(x)
    return {
        "t": x[:, 0],
        "q": x[:, 1:end_of_q],
        "v": x[:, end_of_q : end_of_q + layout.nv],
        "surface": memory[:, :, 0].astype(int),
        "mode": memory[:, :, 1].astype(int),
        "phi0": memory[:, :, 2],
        "stretch": memory[:, :, 3:],
        "friction_stretch": grips[:, :, 0],
        "friction_slips": grips[:, :, 1].astype(int),
        "commands": layout.command_count(x).sum(axis=1).astype(int),
        "command_t": commands[:, :, 0],
        "command_target": commands[:, :, 1:end_of_q],
        "command_velocity": commands[:, :, end_of_q:],
    }


def _zeros_and_ones(name: str, value: ArrayLike, size: int) -> Array:
    array = _checks.vector(name, value, size, "one per degree of freedom with dry friction")
    if not np.isin(array, (0.0, 1.0)).all():
        raise InvalidArgument(f"{name} is {value!r}; give 1 for what slips, 0 for what sticks")
    return array


def _number_of_commands(value: Any, times: Array) -> int:
    """How many of the times count, which follow one another."""
    number = _checks.number("state.commands", value, "")
    if number != round(number) or not 0 <= number <= times.size:
        raise InvalidArgument(f"state.commands is {value!r}; give a whole number from 0 to {times.size}")
    count = int(number)
    if np.any(np.diff(times[:count]) <= 0.0):
        raise InvalidArgument(f"state.command_t is {times[:count]}; give times that follow one another")
    return count


def _whole(name: str, value: ArrayLike, size: int | None = None) -> NDArray[np.int_]:
    array = _checks.vector(name, value, size, "one whole number per contact")
    if np.any(array != np.round(array)) or np.any(np.abs(array) > np.iinfo(np.int32).max):
        raise InvalidArgument(f"{name} is {value!r}; give whole numbers, one per contact")
    return array.astype(int)
