"""What can be simulated but looks like a mistake: said once for each kind by a simulator, with name and number."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exposim import _core
from exposim._checks import Array
from exposim.contact.surfaces import Surface
from exposim.errors import SetupWarning
from exposim.robots.joint_laws import position_limits
from exposim.robots.models import joint_names
from exposim.robots.robot import ContactPoint, Robot
from exposim.simulation.joint_names import slides

LONGEST_STEP = 0.1  # [s]
# Outside its limits by more than this a joint is where nobody puts it on purpose.
FAR_BEYOND = {"rad": 0.5, "m": 0.1}
DEEP = 0.01  # [m]
# Times the weight: on soft ground a robot stands deep, and lands deeper.
STRONG = 3.0
# Cosine of the tilt up to which a base counts as upright, or as upside down.
UPRIGHT = 0.94
# Of the height of the base at robot.q0: lower, a robot that is upside down lies on its back.
LYING = 0.6
# Resets that are looked at: mistakes are in all of them, and programs that reset more often want speed.
LOOKS = 1000


@dataclass(frozen=True)
class _Limits:
    """Of angles and lengths; infinite for what has none."""

    lower: Array  # (nq,)
    upper: Array
    slack: Array  # how far outside is far
    names: dict[int, str]  # by index in q
    units: dict[int, str]

    @classmethod
    def of(cls, robot: Robot) -> _Limits:
        model = robot.model
        limits = cls(np.full(robot.nq, -np.inf), np.full(robot.nq, np.inf), np.zeros(robot.nq), {}, {})
        for name in joint_names(model):
            unit = "m" if slides(robot, name) else "rad"
            for at, _, lower, upper in position_limits(model, name):
                if lower < upper:  # a file that states none has 0 for both
                    limits.lower[at], limits.upper[at], limits.slack[at] = lower, upper, FAR_BEYOND[unit]
                    limits.names[at], limits.units[at] = name, unit
        return limits


class ResetChecks:
    """Looks at what a simulator is reset to. Cheap, and not for ever: learners reset all the time.

    Attributes:
        looks: How many resets it still looks at.

    Args:
        robot: That is reset.
        surfaces: That it may touch.
        points: The contact point of every contact of the simulator.
    """

    def __init__(self, robot: Robot, surfaces: tuple[Surface, ...], points: tuple[ContactPoint, ...]):
        self._robot = robot
        self._surfaces = surfaces
        self._points = points
        self._limits = _Limits.of(robot)
        self._far_below = self._limits.lower - self._limits.slack
        self._far_above = self._limits.upper + self._limits.slack
        self._turns = robot.has_floating_base and bool(surfaces) and float(robot.model.gravity.linear[2]) < 0.0
        self._weight = float(np.linalg.norm(robot.model.gravity.linear)) * sum(i.mass for i in robot.model.inertias)
        # Forces that push with STRONG weights in all have squares of this sum at least.
        push = STRONG * self._weight
        self._strong = push * push / max(1, len(points))  # infinite where a power would raise an error
        self._touches = bool(surfaces) and any(not point.bilateral for point in points)
        self._told_of_limits = not self._limits.names
        self.looks = LOOKS

    def look(self, q: ArrayLike, core: _core.Simulator, stacklevel: int) -> None:
        """Warns of what looks like a mistake in q, to which the simulator has been reset."""
        self.looks -= 1
        if not self._told_of_limits and (
            np.count_nonzero(np.less(q, self._far_below)) or np.count_nonzero(np.greater(q, self._far_above))
        ):
            self._told_of_limits = True
            _warn(self._about_limits(core.q), stacklevel)
        if self._turns and _is_upside_down(q) and (message := self._about_base(core.q)):  # type: ignore[arg-type]
            self._turns = False
            _warn(message, stacklevel)
        if self._touches:
            forces = core.forces
            if np.vdot(forces, forces) > self._strong and (message := self._about_feet(forces, core)):
                self._touches = False
                _warn(message, stacklevel)

    def _about_limits(self, q: Array) -> str:
        limits = self._limits
        beyond = np.maximum(self._far_below - q, q - self._far_above)
        worst, outside = int(np.argmax(beyond)), np.flatnonzero(beyond > 0.0)
        lower, upper, unit = limits.lower[worst], limits.upper[worst], limits.units[worst]
        others = f" (and {len(outside) - 1} more far outside theirs)" if len(outside) > 1 else ""
        angles = np.deg2rad(q[outside])
        fit = ((limits.lower[outside] <= angles) & (angles <= limits.upper[outside])).all()
        if unit == "rad" and abs(q[worst]) > np.pi and fit:
            remedy = f"angles are in radians, and {q[worst]:.4g} degrees are {np.deg2rad(q[worst]):.4g} rad"
        else:
            remedy = f"give it a value between {lower:.4g} and {upper:.4g}"
        return (
            f"q[{worst}] puts {limits.names[worst]!r} at {q[worst]:.4g} {unit}, far outside its limits of "
            f"{lower:.4g} to {upper:.4g} {unit}{others}: {remedy}"
        )

    def _about_base(self, q: Array) -> str | None:
        height, standing = (self._height(each[:3]) for each in (q, self._robot.q0))
        if height < LYING * standing:
            return None
        return (
            f"q[3:7] = {np.round(q[3:7], 4).tolist()} holds {self._robot.name!r} upside down, {height:.3g} m above the "
            f"ground: quaternions are x, y, z, w; give {np.round(q[[4, 5, 6, 3]], 4).tolist()} if this one has w first"
        )

    def _height(self, p: Array) -> float:
        return min(float(np.asarray(surface.distance(p[None]))[0]) for surface in self._surfaces)

    def _about_feet(self, forces: Array, core: _core.Simulator) -> str | None:
        touched, normals, positions = core.touched, core.normals, core.positions
        down = np.flatnonzero((touched >= 0) & core.active)
        depths = np.array([-float(self._surfaces[touched[i]].distance(positions[i : i + 1])[0]) for i in down])
        push = float(np.einsum("ij,ij->", forces[down], normals[down]))
        if not depths.size or depths.max() <= DEEP or push <= STRONG * self._weight:
            return None
        deepest, count = int(np.argmax(depths)), np.count_nonzero(depths > DEEP)
        others = f", and {count - 1} more nearly as deep" if count > 1 else ""
        weights = f", {push / self._weight:.0f} times the weight of {self._robot.name!r}" if self._weight else ""
        remedy = "raise the base, q[2]" if self._robot.has_floating_base else "give another q"
        return (
            f"q puts {self._points[down[deepest]].name!r} {100.0 * depths[deepest]:.3g} cm below the ground{others}; "
            f"it pushes back with {push:.3g} N{weights}: {remedy}"
        )


def look_at_step(dt: float, stacklevel: int) -> None:
    """Warns of a step that is too long to be meant."""
    if dt > LONGEST_STEP:
        _warn(
            f"dt is {dt:g} s, in which a robot falls {4.905 * dt * dt:.2g} m: steps are in seconds, 5 ms is 5e-3",
            stacklevel,
        )


def _is_upside_down(q: NDArray[np.float64]) -> bool:
    """Of the base, while the same numbers with w first are upright; of a free-flyer, the first joint."""
    x = q[3]
    if x * x < UPRIGHT**2:
        return False
    y2, z2 = q[4] ** 2, q[5] ** 2
    return bool(1.0 - 2.0 * (x * x + y2) < -UPRIGHT and 1.0 - 2.0 * (y2 + z2) > UPRIGHT)


def _warn(message: str, stacklevel: int) -> None:
    warnings.warn(message, SetupWarning, stacklevel=stacklevel + 2)
