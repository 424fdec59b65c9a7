"""Tracking of a reference motion by time-varying linear feedback, and the file format of such references."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from exposim import _checks
from exposim._checks import Array
from exposim._npz import Archive
from exposim._writing import writing
from exposim.errors import InvalidArgument, UnknownFile, UnreadableFile
from exposim.robots.models import free_bases
from exposim.robots.robot import Robot
from exposim.simulation.state import State

# Says what a file is, so that another archive of arrays is not taken for a reference.
_FORMAT = "exposim reference 1"

# A time this far before a knot, as a share of the interval, counts as at the knot: k·dt is rarely exact.
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Reference:
    """A motion, the torques that make it, and the gains that keep a robot on it; its arrays are read-only.

    Args:
        t: Times of the knots [s], strictly increasing, (N+1,).
        q: Configurations at the knots, (N+1, nq).
        v: Velocities at the knots, (N+1, nv).
        u: Torques from each knot to the next [N·m or N], (N, nu).
        gains: Feedback gains from each knot to the next, on the position error, then on the velocity error,
            (N, nu, 2 nv).
        cycle: For a periodic motion, the knot from which on it repeats for ever: knot N is knot ``cycle`` again,
            one period later and, with a floating base, moved on along the ground. None for a motion that ends.
    """

    t: Array
    q: Array
    v: Array
    u: Array
    gains: Array
    cycle: int | None = None

    def __post_init__(self) -> None:
        for name, dimensions in _DIMENSIONS.items():
            array = _array(name, getattr(self, name), dimensions)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        N, nv, nu = len(self.t) - 1, self.v.shape[1], self.u.shape[1]
        if N < 1:
            raise InvalidArgument(f"t has {len(self.t)} entries; give at least two knots")
        for name, shape, meaning in (
            ("q", (N + 1, self.q.shape[1]), "(N+1, nq)"),
            ("v", (N + 1, nv), "(N+1, nv)"),
            ("u", (N, nu), "(N, nu)"),
            ("gains", (N, nu, 2 * nv), "(N, nu, 2 nv)"),
        ):
            found = getattr(self, name).shape
            if found != shape:
                raise InvalidArgument(f"{name} has shape {found}; with {N + 1} times in t, give {shape}, {meaning}")
        late = np.flatnonzero(np.diff(self.t) <= 0.0)
        if late.size:
            i = int(late[0])
            raise InvalidArgument(f"t must increase; t[{i}] = {self.t[i]:g} s, t[{i + 1}] = {self.t[i + 1]:g} s")
        self._check_cycle(N)

    def _check_cycle(self, N: int) -> None:
        if self.cycle is None:
            return
        whole = isinstance(self.cycle, (int, np.integer)) and not isinstance(self.cycle, (bool, np.bool_))
        if not whole or not 0 <= self.cycle < N:
            raise InvalidArgument(f"cycle is {self.cycle!r}; give the index of a knot from 0 to {N - 1}, or None")
        object.__setattr__(self, "cycle", int(self.cycle))

    @property
    def duration(self) -> float:
        """From the first knot to the last [s]."""
        return float(self.t[-1] - self.t[0])

    @property
    def period(self) -> float | None:
        """Of the repetition [s]; None for a motion that ends."""
        return None if self.cycle is None else float(self.t[-1] - self.t[self.cycle])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reference):
            return NotImplemented
        return all(np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]  # arrays inside

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a compressed NumPy archive; loading it gives the same numbers, bit for bit.

        Arrays that single precision holds exactly take half the space.
        """
        contents: dict[str, Any] = {name: _smallest(getattr(self, name)) for name in _DIMENSIONS}
        contents["format"] = np.array(_FORMAT)
        contents["cycle"] = np.array(-1 if self.cycle is None else self.cycle)
        with writing(Path(path)) as file:
            np.savez_compressed(file, **contents)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Reference:
        """Reads what :meth:`save` wrote.

        Raises:
            UnknownFile: If there is no such file.
            UnreadableFile: If it is damaged, or not a reference.
        """
        path = Path(path)
        if not path.is_file():
            raise UnknownFile(f"there is no file {path}; give what Reference.save wrote")
        content = _read(path)
        marker = content.get("format")
        if marker is None or marker.shape != () or str(marker) != _FORMAT:
            raise UnreadableFile(f"{path} is not a reference motion; give what Reference.save wrote")
        if missing := [name for name in (*_DIMENSIONS, "cycle") if name not in content]:
            raise UnreadableFile(f"{path} lacks {', '.join(missing)}; save the reference anew")
        cycle = content["cycle"]
        if cycle.shape != () or cycle.dtype.kind != "i":
            raise UnreadableFile(f"{path} has a damaged cycle, {cycle!r}; save the reference anew")
        try:
            return cls(cycle=None if cycle == -1 else int(cycle), **{name: content[name] for name in _DIMENSIONS})
        except InvalidArgument as error:
            raise UnreadableFile(f"{path} holds no good reference: {error}") from error


_DIMENSIONS = {"t": 1, "q": 2, "v": 2, "u": 2, "gains": 3}


class LinearFeedback:
    r"""Keeps a robot on a reference motion: :math:`u = u_{ref}(t) + G(t)\,(x_{ref}(t) \ominus x)`.

    The difference of states is taken on the manifold: :math:`x_{ref} \ominus x = (q_{ref} \ominus q,\; v_{ref} - v)`,
    the first as by ``pinocchio.difference(model, q, q_ref)``: for a floating base, in its own axes, so that the gains
    hold wherever it is and wherever it faces.

    Between knots, :math:`q_{ref}` follows the geodesic and :math:`v_{ref}` is linear; :math:`u_{ref}` and :math:`G`
    stay as they are from one knot to the next: they jump where a foot lands or lifts off, and a mean of the two sides
    would push on a foot that is not there yet. Before the first knot, the reference is at the first knot; after the
    last knot it stays at the last, or, if it is periodic, goes on with knot ``cycle``. Each repetition is then moved on
    by what a floating base has covered in one period, along x and y and in yaw about the vertical; height and tilt
    repeat.

    It has no memory: the torque depends on t and the state alone.

    Args:
        robot: Whose actuated degrees of freedom are driven.
        reference: Of that robot.
    """

    def __init__(self, robot: Robot, reference: Reference):
        if not isinstance(robot, Robot):
            raise InvalidArgument(f"robot is {robot!r}; give what exposim.load_robot returns")
        if not isinstance(reference, Reference):
            raise InvalidArgument(f"reference is a {type(reference).__name__}; give an exposim Reference")
        for name, found, wanted, meaning in (
            ("q", reference.q.shape[1], robot.nq, "nq"),
            ("v", reference.v.shape[1], robot.nv, "nv"),
            ("u", reference.u.shape[1], len(robot.actuated_dofs), "one per actuated degree of freedom"),
        ):
            if found != wanted:
                raise InvalidArgument(
                    f"reference.{name} has {found} columns; robot {robot.name!r} wants {wanted} ({meaning})"
                )
        self._robot = robot
        self._reference = reference
        self._q = np.array([robot.check_configuration(q, f"reference.q[{i}]") for i, q in enumerate(reference.q)])
        self._times: list[float] = reference.t.tolist()  # a list is searched faster than an array
        self._last_interval = self._times[-1] - self._times[-2]
        self._period = reference.period
        # Of every free base, where its pose begins in q, and how it moves on.
        self._advances = {} if reference.cycle is None else self._advances_per_period(reference.cycle)
        self._moved: tuple[int, dict[int, pin.SE3]] = (0, {})  # for how many repetitions, and by what

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self._robot

    @property
    def reference(self) -> Reference:
        """The reference."""
        return self._reference

    def __call__(self, t: float, state: State) -> Array:
        """Torques, one per actuated degree of freedom."""
        q_ref, v_ref, u_ref, G = self.at(t)
        error = np.concatenate([pin.difference(self._robot.model, state.q, q_ref), v_ref - state.v])
        tau: Array = u_ref + G @ error
        return tau

    def at(self, t: float) -> tuple[Array, Array, Array, Array]:
        """The reference at time t [s]: q (nq,), v (nv,), u (nu,) and gains (nu, 2 nv)."""
        ref, times = self._reference, self._times
        repetitions, t = self._fold(float(t))
        last = len(times) - 2  # interval
        i = min(max(bisect_right(times, t) - 1, 0), last)
        if i < last and times[i + 1] - t < _ROUNDING * (times[i + 1] - times[i]):
            i += 1
        s = min(max((t - times[i]) / (times[i + 1] - times[i]), 0.0), 1.0)
        q: Array = pin.interpolate(self._robot.model, self._q[i], self._q[i + 1], s)
        if repetitions:
            q = self._move_on(q, repetitions)
        v: Array = (1.0 - s) * ref.v[i] + s * ref.v[i + 1]
        return q, v, ref.u[i], ref.gains[i]

    # Details.

    def _fold(self, t: float) -> tuple[int, float]:
        """How often the cycle has been repeated at time t, and the time of the first run of the same phase."""
        cycle, period, rounding = self._reference.cycle, self._period, _ROUNDING * self._last_interval
        if cycle is None or period is None or t < self._times[-1] - rounding:
            return 0, t
        repetitions = int((t - self._times[cycle] + rounding) // period)
        return repetitions, t - repetitions * period

    def _advances_per_period(self, cycle: int) -> dict[int, pin.SE3]:
        model = self._robot.model
        starts = [int(model.idx_qs[base]) for base in free_bases(model)]
        return {at: self._advance(self._q[cycle][at : at + 7], self._q[-1][at : at + 7]) for at in starts}

    @staticmethod
    def _advance(at_start: Array, at_end: Array) -> pin.SE3:
        """Motion along the ground, in the world, that takes a base from the start of a cycle to its end."""
        start, end = pin.XYZQUATToSE3(at_start), pin.XYZQUATToSE3(at_end)
        turn = pin.Quaternion(end.rotation @ start.rotation.T)
        yaw = 2.0 * np.arctan2(turn.z, turn.w)  # the rest of the turn is tilt, which does not add up
        rotation = pin.utils.rotate("z", yaw)
        translation = end.translation - rotation @ start.translation
        translation[2] = 0.0
        return pin.SE3(rotation, translation)

    def _move_on(self, q: Array, repetitions: int) -> Array:
        if self._moved[0] != repetitions:
            self._moved = repetitions, {at: _power(motion, repetitions) for at, motion in self._advances.items()}
        for at, motion in self._moved[1].items():
            q[at : at + 7] = pin.SE3ToXYZQUAT(motion * pin.XYZQUATToSE3(q[at : at + 7]))
        return q


def _power(motion: pin.SE3, n: int) -> pin.SE3:
    """The motion n times over, by squaring: exact for a long walk too, where exp(n log) loses the turns."""
    result = pin.SE3.Identity()
    while n:
        if n & 1:
            result = motion * result
        motion, n = motion * motion, n >> 1
    return result


def _array(name: str, value: ArrayLike, dimensions: int) -> Array:
    array = _checks.as_array(name, value)
    if array.ndim != dimensions:
        raise InvalidArgument(f"{name} has shape {array.shape}; give an array of {dimensions} dimensions")
    return _checks.finite(name, array)


def _smallest(array: Array) -> NDArray[Any]:
    single = array.astype(np.float32)
    return single if np.array_equal(single, array) else array


def _read(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a reference that a file has."""
    try:
        archive = Archive(path, "a reference motion")
        return {name: archive[name] for name in ("format", *_DIMENSIONS, "cycle") if name in archive}
    except UnreadableFile as error:
        raise UnreadableFile(f"{path} cannot be read: {error}; give what Reference.save wrote") from None
