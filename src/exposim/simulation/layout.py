"""Where everything is in the flat array of a state."""

from __future__ import annotations

from dataclasses import dataclass

from exposim._checks import Array

_MEMORY_SIZE = 6  # numbers of a contact: surface, mode, phi0, and three of the stretch
_GRIP_SIZE = 2  # numbers of a dry friction: stretch, and whether it slips
# Ends an array whose sizes are more than nq and nv, of which none is negative.
_SIZES_BEFORE = -1.0


@dataclass(frozen=True)
class Layout:
    """Sizes of a state.

    Args:
        nq: Of q.
        nv: Of v.
        nc: Contacts.
        nf: Degrees of freedom with dry friction.
        nh: Targets that may be on their way to drives with a delay.
    """

    nq: int
    nv: int
    nc: int
    nf: int = 0
    nh: int = 0

    @property
    def size(self) -> int:
        """Of the flat array that the core has: t, q, v, of contacts, frictions and targets, nq and nv."""
        return self._commands + (self._command_size * self.nh + 1 if self.nh else 0) + 2

    @classmethod
    def of(cls, nq: int, nv: int, nc: int, nf: int, size: int) -> Layout:
        """Of a flat array of that size."""
        rest = size - cls(nq, nv, nc, nf).size
        return cls(nq, nv, nc, nf, (rest - 1) // (1 + nq + nv) if rest else 0)

    @classmethod
    def said_by(cls, x: Array) -> Layout | None:
        """What an array says of itself; none if that cannot be."""
        if x.ndim != 1 or x.size < 4:
            return None
        nf = nh = 0
        if x[-1] == _SIZES_BEFORE:
            x, (nf, nh) = x[:-3], _sizes(x[-3:-1], x.size)
            if x.size < 4 or nf + nh <= 0:
                return None
        nq, nv = _sizes(x[-2:], x.size)
        if min(nq, nv, nf, nh) < 0:
            return None
        nc, rest = divmod(x.size - cls(nq, nv, 0, nf, nh).size, _MEMORY_SIZE)
        return None if nc < 0 or rest else cls(nq, nv, nc, nf, nh)

    @property
    def end(self) -> tuple[float, float, float]:
        """Of an array that tells more of its sizes than nq and nv."""
        return self.nf, self.nh, _SIZES_BEFORE

    @property
    def _grips(self) -> int:
        """Where they begin."""
        return 1 + self.nq + self.nv + _MEMORY_SIZE * self.nc

    @property
    def _commands(self) -> int:
        return self._grips + _GRIP_SIZE * self.nf

    @property
    def _command_size(self) -> int:
        return 1 + self.nq + self.nv

    # Views of a flat array, or of many, one in each row, (..., size).

    def memory(self, x: Array) -> Array:
        """Of the contacts, (..., nc, 6)."""
        return x[..., 1 + self.nq + self.nv : self._grips].reshape(*x.shape[:-1], self.nc, _MEMORY_SIZE)

    def grips(self, x: Array) -> Array:
        """Of the dry frictions, (..., nf, 2)."""
        return x[..., self._grips : self._commands].reshape(*x.shape[:-1], self.nf, _GRIP_SIZE)

    def command_count(self, x: Array) -> Array:
        """How many targets are on their way, (..., 1), or (..., 0) where none can be."""
        return x[..., self._commands : self._commands + min(1, self.nh)]

    def commands(self, x: Array) -> Array:
        """Time, target and its velocity, (..., nh, 1 + nq + nv); zeros behind those that are on their way."""
        return x[..., self._commands + min(1, self.nh) : -2].reshape(*x.shape[:-1], self.nh, self._command_size)


def _sizes(numbers: Array, most: int) -> tuple[int, int]:
    """Whole numbers; −1 for what is none."""
    first, second = (int(each) if 0 <= each < most and each == round(each) else -1 for each in numbers)
    return first, second
