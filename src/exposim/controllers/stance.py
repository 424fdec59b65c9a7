"""Points on the ground as inverse dynamics sees them: how they move, and the quadratic program they make."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim._extras import load
from exposim.controllers.tasks import add_frame
from exposim.robots.robot import ContactPoint, Robot

# Of the solver: on accelerations [m/s²], forces [N] and torques [N·m].
TOLERANCE = 1e-5
# Outer and inner ones of the solver: dozens will do, unless numbers are beyond what it can solve at all.
MOST_ITERATIONS = (200, 100)
# Of its scaling: more make it neither more accurate nor faster, and cost more than the solution.
SCALING_ITERATIONS = 3
# What the solver takes for unbounded.
INFINITY = 1e20


class Foot(NamedTuple):
    """A contact point as the controller sees it."""

    joint: int
    frame: int  # at the point, or the centre of its sphere
    arm: Array  # from the centre to the lowest point of a sphere, as a matrix [m], (3, 3)

    @classmethod
    def of(cls, point: ContactPoint, robot: Robot, model: pin.Model) -> Foot:
        """Adds the point's frame to the model."""
        joint, placement = robot.locate(point.frame)
        frame = add_frame(model, joint, placement * pin.SE3(np.eye(3), np.array(point.offset)))
        return cls(joint, frame, pin.skew(np.array([0.0, 0.0, -point.radius])))


class Stance:
    """The points that are on the ground together.

    Three points or more of a body hold all of it: its six equations say so without repeating themselves.
    """

    def __init__(self, feet: Sequence[Foot], nv: int):
        bodies: dict[int, list[int]] = {}
        for i, foot in enumerate(feet):
            bodies.setdefault(foot.joint, []).append(i)
        held = [(points[0], 6) for points in bodies.values() if len(points) > 2]
        held += [(i, 3) for points in bodies.values() if len(points) <= 2 for i in points]
        self.nv, self.feet = nv, len(feet)
        self._frames = [foot.frame for foot in feet]
        self._held = [i for i, _ in held]
        self._held_rows = np.array([6 * i + row for i, rows in held for row in range(rows)], dtype=int)
        arms = np.array([foot.arm for foot in feet]).reshape(-1, 3, 3)
        self._arms = arms if arms.any() else None
        # Per point, linear part first: Jacobian, velocity, and acceleration with zero joint accelerations.
        self._motions = np.zeros((len(feet), 6, nv + 2))
        self.equations = len(self._held_rows)  # that keep the points where they are

    def look(self, model: pin.Model, data: pin.Data) -> tuple[Array, Array]:
        """Jacobian of the points that touch, (3 k, nv), and J, velocity and drift of what is held, (m, nv + 2).

        A sphere is taken as not rolling away from the point that touches.
        """
        nv, motions, axes = self.nv, self._motions, pin.LOCAL_WORLD_ALIGNED
        for i, frame in enumerate(self._frames):
            motions[i, :, :nv] = pin.getFrameJacobian(model, data, frame, axes)
        for i in self._held:
            frame = self._frames[i]
            motions[i, :, nv] = pin.getFrameVelocity(model, data, frame, axes).vector
            motions[i, :, nv + 1] = pin.getFrameClassicalAcceleration(model, data, frame, axes).vector
        if self._arms is not None:
            motions[:, :3] -= self._arms @ motions[:, 3:]
        return motions[:, :3, :nv].reshape(-1, nv), motions.reshape(-1, nv + 2)[self._held_rows]


class Program:
    """Least ½ xᵀ H x + gᵀ x over x = (a, f), with A x = b and lower ≤ C x ≤ upper.

    What never changes is written once; each call fills in the rest. Without a motor, rows of the effort M a + h − Jᵀ f
    are zero, the first of A; with one they are the torque, the first of C, before the friction pyramids.
    """

    def __init__(
        self,
        stance: Stance,
        motors: int,
        friction: float,
        normal_force: tuple[float, float],
        force_weight: float,
    ):
        nv, feet = stance.nv, stance.feet
        self.stance, n = stance, nv + 3 * feet
        sizes = (n, nv - motors + stance.equations, motors + 5 * feet)
        self.effort = np.zeros((nv, n))
        self.H, self.g = force_weight * np.eye(n), np.zeros(n)
        self.A, self.b = np.zeros((sizes[1], n)), np.zeros(sizes[1])
        self.C, self.lower, self.upper = np.zeros((sizes[2], n)), np.zeros(sizes[2]), np.zeros(sizes[2])
        # Per point two rows per tangential axis, |f_t| ≤ μ f_n, and one for the normal force itself.
        mu = friction / np.sqrt(2.0)
        pyramid = np.array([[1.0, 0.0, -mu], [-1.0, 0.0, -mu], [0.0, 1.0, -mu], [0.0, -1.0, -mu], [0.0, 0.0, 1.0]])
        least, greatest = normal_force
        self.C[motors:, nv:] = np.kron(np.eye(feet), pyramid)
        self.lower[motors:] = np.tile([-INFINITY] * 4 + [least], feet)
        self.upper[motors:] = np.tile([0.0] * 4 + [min(greatest, INFINITY)], feet)
        self._sizes = sizes

    def solve(self, last: Mapping[str, Array]) -> tuple[dict[str, Array], int, bool]:
        """Solution, iterations and whether it is good; found from the last one where that has the same size.

        The solver is set up anew, in the memory it has: nothing but `last` makes a difference.
        """
        solvers = _solvers()
        qp = solvers.of_size(self._sizes)
        qp.init(self.H, self.g, self.A, self.b, self.C, self.lower, self.upper)
        if last and tuple(len(last[key]) for key in "xyz") == self._sizes:
            qp.solve(last["x"], last["y"], last["z"])
        else:
            qp.solve()
        results = qp.results
        solution = {"x": np.array(results.x), "y": np.array(results.y), "z": np.array(results.z)}
        return solution, int(results.info.iter), results.info.status == solvers.good


class _Solvers(threading.local):
    """One per size and thread: the last bits of a solution depend on where in memory the solver works."""

    def __init__(self) -> None:
        self._proxqp = load("proxsuite").proxqp
        self._of_size: dict[tuple[int, int, int], Any] = {}
        self.good = self._proxqp.QPSolverOutput.PROXQP_SOLVED

    def of_size(self, sizes: tuple[int, int, int]) -> Any:
        """Sizes are the numbers of variables, equalities and inequalities."""
        if sizes not in self._of_size:
            qp = self._proxqp.dense.QP(*sizes)
            qp.settings.eps_abs = TOLERANCE
            qp.settings.max_iter, qp.settings.max_iter_in = MOST_ITERATIONS
            qp.settings.preconditioner_max_iter = SCALING_ITERATIONS
            qp.settings.initial_guess = self._proxqp.InitialGuess.WARM_START
            self._of_size[sizes] = qp
        return self._of_size[sizes]


@cache
def _solvers() -> _Solvers:
    return _Solvers()  # made on use: proxsuite is an extra
