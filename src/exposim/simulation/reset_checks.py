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
from exposim.robots.loops import gaps
from exposim.robots.models import free_bases, is_free_base, joint_names, root_of
from exposim.robots.robot import ContactPoint, Robot
from exposim.simulation.collisions import CarriedSurface
from exposim.simulation.joint_names import slides
from exposim.simulation.places import Places

LONGEST_STEP = 0.1  # [s]
# Outside its limits by more than this a joint is where nobody puts it on purpose.
FAR_BEYOND = {"rad": 0.5, "m": 0.1}
DEEP = 0.01  # [m]
# Apart by more than this the frames of a loop are not where it holds them.
OPEN_BY = {"rad": 0.01, "m": 1e-3}
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
        model = robot._model
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
        surfaces: That it may touch, those that bodies carry last.
        carried: These.
        points: The contact point of every contact of the simulator.
    """

    def __init__(
        self,
        robot: Robot,
        surfaces: tuple[Surface, ...],
        carried: tuple[CarriedSurface, ...],
        points: tuple[ContactPoint, ...],
    ):
        self._robot = robot
        self._surfaces = surfaces
        self._world = surfaces[: len(surfaces) - len(carried)]
        self._points = points
        # Not what stands for a shape on an edge.
        self._is_point = np.isin([point.name for point in points], robot.feet)
        self._limits = _Limits.of(robot)
        self._far_below = self._limits.lower - self._limits.slack
        self._far_above = self._limits.upper + self._limits.slack
        # Where the poses of bases begin in q.
        self._bases = [int(robot.model.idx_qs[base]) for base in free_bases(robot.model)]
        self._turns = bool(self._bases and self._world) and float(robot.model.gravity.linear[2]) < 0.0
        self._weights = _weights(robot)
        # Forces that push with STRONG weights in all have squares of this sum at least.
        push = STRONG * (min(self._weights.values()) if carried else sum(self._weights.values()))
        self._strong = push * push / max(1, len(points))  # infinite where a power would raise an error
        self._sinks = bool(self._world) and any(not point.bilateral for point in points)
        self._meets = any(any(each.materials) for each in carried)
        self._told_of_limits = not self._limits.names
        self._closes = bool(robot.loops)
        self.looks = LOOKS

    def go_on_from(self, before: ResetChecks) -> None:
        """Does not say again what others have said of the same simulator."""
        self.looks = before.looks
        self._told_of_limits |= before._told_of_limits
        self._turns &= before._turns
        self._closes &= before._closes
        self._sinks &= before._sinks
        self._meets &= before._meets

    def look(self, q: ArrayLike, core: _core.Simulator, stacklevel: int) -> None:
        """Warns of what looks like a mistake in q, to which the simulator has been reset."""
        self.looks -= 1
        if not self._told_of_limits and (
            np.count_nonzero(np.less(q, self._far_below)) or np.count_nonzero(np.greater(q, self._far_above))
        ):
            self._told_of_limits = True
            _warn(self._about_limits(core.q), stacklevel)
        if self._turns and (message := self._about_bases(q, core)):  # type: ignore[arg-type]
            self._turns = False
            _warn(message, stacklevel)
        if self._closes and (message := self._about_loops(core.q)):
            self._closes = False
            _warn(message, stacklevel)
        if self._sinks or self._meets:
            forces = core.forces
            if np.vdot(forces, forces) > self._strong:
                self._look_at_depths(forces, core, stacklevel)

    def _look_at_depths(self, forces: Array, core: _core.Simulator, stacklevel: int) -> None:
        touched = core.touched
        down = core.active & (touched >= 0) & self._is_point
        of_world = touched < len(self._world)
        if self._sinks and (message := self._about_feet(np.flatnonzero(down & of_world), forces, core)):
            self._sinks = False
            _warn(message, stacklevel + 1)
        if self._meets and (message := self._about_bodies(np.flatnonzero(down & ~of_world), forces, core)):
            self._meets = False
            _warn(message, stacklevel + 1)

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

    def _about_bases(self, q: Array, core: _core.Simulator) -> str | None:
        found = (self._about_base(at, core.q) for at in self._bases if _is_upside_down(q, at))
        return next((message for message in found if message), None)

    def _about_base(self, at: int, q: Array) -> str | None:
        height, standing = (self._height(each[at : at + 3]) for each in (q, self._robot.q0))
        if height < LYING * standing:
            return None
        turn = slice(at + 3, at + 7)
        return (
            f"q[{turn.start}:{turn.stop}] = {np.round(q[turn], 4).tolist()} holds {self._name_of_base(at)!r} upside "
            f"down, {height:.3g} m above the ground: quaternions are x, y, z, w; give "
            f"{np.round(np.roll(q[turn], -1), 4).tolist()} if this one has w first"
        )

    def _name_of_base(self, at: int) -> str:
        """Of the robot, or of the member whose base it is."""
        return next((name for name in self._robot.members if self._robot.part(name).q.start == at), self._robot.name)

    def _about_loops(self, q: Array) -> str | None:
        """Of the one that is furthest from closed, if it is."""
        robot = self._robot
        found = gaps(robot.loops, robot.model, q, robot.locate)
        ratios = [max(gap.distance / OPEN_BY["m"], gap.angle / OPEN_BY["rad"]) for gap in found]
        worst = int(np.argmax(ratios))
        if ratios[worst] <= 1.0:
            return None
        loop, gap = robot.loops[worst], found[worst]
        count = sum(ratio > 1.0 for ratio in ratios)
        others = f" (and {count - 1} more are open)" if count > 1 else ""
        turned = f" and {gap.angle:.3g} rad" if loop.axes == "pose" else ""
        return (
            f"q puts {loop.frame_a!r} {1e3 * gap.distance:.3g} mm{turned} away from {loop.frame_b!r}, where a loop "
            f"holds it{others}; it pulls with {loop.stiffness * gap.distance:.3g} N: give a q that closes the loops"
        )

    def _height(self, p: Array) -> float:
        return min(float(np.asarray(surface.distance(p[None]))[0]) for surface in self._world)

    def _about_feet(self, down: NDArray[np.int_], forces: Array, core: _core.Simulator) -> str | None:
        """Of contacts with the world."""
        depths = self._depths(down, core)
        push, weight = _push(down, forces, core), sum(self._weights.values())
        if not depths.size or depths.max() <= DEEP or push <= STRONG * weight:
            return None
        deepest, count = int(np.argmax(depths)), np.count_nonzero(depths > DEEP)
        others = f", and {count - 1} more nearly as deep" if count > 1 else ""
        weights = f", {push / weight:.0f} times the weight of {self._robot.name!r}" if weight else ""
        base = self._base_of(self._points[down[deepest]].frame)
        remedy = "give another q" if base is None else f"raise the base, q[{base + 2}]"
        return (
            f"q puts {self._points[down[deepest]].name!r} {100.0 * depths[deepest]:.3g} cm below the ground{others}; "
            f"it pushes back with {push:.3g} N{weights}: {remedy}"
        )

    def _about_bodies(self, down: NDArray[np.int_], forces: Array, core: _core.Simulator) -> str | None:
        """Of contacts with what bodies carry."""
        if not down.size:
            return None
        depths = self._depths(down, core)
        deepest, count = int(np.argmax(depths)), np.count_nonzero(depths > DEEP)
        point, shape = self._points[down[deepest]], self._surfaces[core.touched[down[deepest]]]
        push = _push(down[deepest : deepest + 1], forces, core)
        frames = (point.frame, str(shape.frame))
        roots = [root_of(self._robot._model, self._robot.locate(frame)[0]) for frame in frames]
        if depths[deepest] <= DEEP or push <= STRONG * min(self._weights[root] for root in roots if root):
            return None
        others = f", and {count - 1} more nearly as deep" if count > 1 else ""
        bases = [] if roots[0] == roots[1] else filter(None, map(self._remedy, frames))
        remedy = " or ".join(bases) or "give another q"
        return (
            f"q puts {point.name!r} {100.0 * depths[deepest]:.3g} cm deep into the {type(shape).__name__} of "
            f"{shape.frame!r}{others}; it pushes back with {push:.3g} N: {remedy}"
        )

    def _depths(self, contacts: NDArray[np.int_], core: _core.Simulator) -> Array:
        """How far the balls of contact points are in what they touch [m]."""
        places, touched = Places(self._robot, core.q), core.touched
        return np.array([-places.gap(self._points[i], self._surfaces[touched[i]]) for i in contacts])

    def _base_of(self, frame: str) -> int | None:
        """Where in q the pose of the free base begins that carries a frame."""
        model = self._robot._model
        base = root_of(model, self._robot.locate(frame)[0])
        return int(model.idx_qs[base]) if base > 0 and is_free_base(model, base) else None

    def _remedy(self, frame: str) -> str | None:
        at = self._base_of(frame)
        return None if at is None else f"move the base of {self._name_of_base(at)!r}, q[{at}:{at + 3}]"


def _weights(robot: Robot) -> dict[int, float]:
    """Of what hangs on each joint in the world [N]."""
    model = robot._model
    gravity = float(np.linalg.norm(model.gravity.linear))
    weights: dict[int, float] = {}
    for joint in range(1, model.njoints):
        root = root_of(model, joint)
        weights[root] = weights.get(root, 0.0) + gravity * float(model.inertias[joint].mass)
    return weights


def _push(down: NDArray[np.int_], forces: Array, core: _core.Simulator) -> float:
    """Along the normals, of some contacts together [N]."""
    return float(np.einsum("ij,ij->", forces[down], core.normals[down]))


def look_at_step(dt: float, stacklevel: int) -> None:
    """Warns of a step that is too long to be meant."""
    if dt > LONGEST_STEP:
        _warn(
            f"dt is {dt:g} s, in which a robot falls {4.905 * dt * dt:.2g} m: steps are in seconds, 5 ms is 5e-3",
            stacklevel,
        )


def _is_upside_down(q: NDArray[np.float64], at: int) -> bool:
    """Of the free base whose pose begins there, while the same numbers with w first are upright."""
    x = q[at + 3]
    if x * x < UPRIGHT**2:
        return False
    y2, z2 = q[at + 4] ** 2, q[at + 5] ** 2
    return bool(1.0 - 2.0 * (x * x + y2) < -UPRIGHT and 1.0 - 2.0 * (y2 + z2) > UPRIGHT)


def _warn(message: str, stacklevel: int) -> None:
    warnings.warn(message, SetupWarning, stacklevel=stacklevel + 2)
