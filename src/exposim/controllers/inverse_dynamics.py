"""Task-space inverse dynamics: a quadratic program over accelerations and contact forces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim._extras import load
from exposim.controllers.tasks import Equations, FrameMotion, Task, add_frame, frame_motion
from exposim.errors import InvalidArgument, did_you_mean
from exposim.robots.robot import ContactPoint, Robot
from exposim.simulation.state import State

# Of the solver: on accelerations [m/s²], forces [N] and torques [N·m].
TOLERANCE = 1e-5
# Outer and inner ones of the solver: dozens will do, unless numbers are beyond what it can solve at all.
MOST_ITERATIONS = (200, 100)
# What the solver takes for unbounded.
INFINITY = 1e20


class Foot(NamedTuple):
    """A contact point as the controller sees it."""

    joint: int
    frame: int  # at the point, or the centre of its sphere
    arm: Array | None  # from the centre to the lowest point of a sphere, as a matrix [m]

    @classmethod
    def of(cls, point: ContactPoint, robot: Robot, model: pin.Model) -> Foot:
        """Adds the point's frame to the model."""
        joint, placement = robot.locate(point.frame)
        frame = add_frame(model, joint, placement * pin.SE3(np.eye(3), np.array(point.offset)))
        return cls(joint, frame, pin.skew(np.array([0.0, 0.0, -point.radius])) if point.radius else None)

    def motion(self, model: pin.Model, data: pin.Data) -> FrameMotion:
        """Of the point that touches; a sphere is taken as not rolling away from it."""
        J, velocity, drift = frame_motion(model, data, self.frame)
        if self.arm is not None:
            for motion in (J, velocity, drift):
                motion[:3] -= self.arm @ motion[3:]
        return FrameMotion(J, velocity, drift)


class Cones(NamedTuple):
    """lower ≤ rows @ (a, f) ≤ upper."""

    rows: Array
    lower: Array
    upper: Array


class InverseDynamics:
    r"""Torques with which a robot in contact fulfils tasks as well as it can.

    At every call, over joint accelerations :math:`a` and contact forces :math:`f`:

    .. math::
        \min_{a, f} \quad & \sum_i w_i \|J_i a + \dot J_i v - a_i\|^2 + w_f \|f\|^2 \\
        \text{s.t.} \quad & M_u a + h_u = J_{c,u}^T f           && \text{joints without motor} \\
                          & J_c a + \dot J_c v = -k_c J_c v     && \text{feet stay where they are} \\
                          & \tau = M_a a + h_a - J_{c,a}^T f    && |\tau| \le \tau_{max} \\
                          & |f_t| \le \frac{\mu}{\sqrt 2} f_n   && f_{min} \le f_n \le f_{max}

    The ground is taken as rigid and horizontal, the friction cone as the pyramid inside it.

    Args:
        robot: Whose actuated joints are driven.
        tasks: See :mod:`exposim.controllers.tasks`.
        contacts: Names of the contact points that are on the ground, or a function of time that gives them; by
            default all that the robot has.
        friction: :math:`\mu` that the forces may count on; less than the ground's leaves a margin.
        normal_force: Least and greatest :math:`f_n` of every point [N].
        torque_limits: :math:`\tau_{max}` [N·m or N], one number or one per actuated degree of freedom; by default the
            model's effort limits.
        force_weight: :math:`w_f`; chooses among forces that do the same.
        contact_damping: :math:`k_c` [1/s], stops feet that move.
    """

    def __init__(
        self,
        robot: Robot,
        tasks: Iterable[Task],
        *,
        contacts: Sequence[str] | Callable[[float], Sequence[str]] | None = None,
        friction: float = 0.7,
        normal_force: tuple[float, float] = (0.0, np.inf),
        torque_limits: ArrayLike | None = None,
        force_weight: float = 1e-5,
        contact_damping: float = 10.0,
    ):
        load("proxsuite")  # rather than at the first call
        if not isinstance(robot, Robot):
            raise InvalidArgument(f"robot is {robot!r}; give what exposim.load_robot returns")
        self.tasks = tuple(tasks) if isinstance(tasks, Iterable) else ()
        if not self.tasks or not all(isinstance(task, Task) for task in self.tasks):
            raise InvalidArgument(
                f"tasks is {tasks!r}; give a list of tasks, for example [CentreOfMass(...), Posture()]"
            )
        self._robot, self._model = robot, robot.model.copy()
        self._bound = [(task.weight, task.bind(robot, self._model)) for task in self.tasks]
        self._feet = {point.name: Foot.of(point, robot, self._model) for point in robot.contact_points}
        self._data = self._model.createData()
        self._contacts = (
            contacts if callable(contacts) else self._constant(robot.feet if contacts is None else contacts)
        )
        self._friction = _checks.number("friction", friction, "", above=0.0)
        self._normal_force = _normal_force(normal_force)
        self._torque_limits = self._limits(torque_limits)
        self._force_weight = _checks.number("force_weight", force_weight, "", above=0.0)
        self._contact_damping = _checks.number("contact_damping", contact_damping, "[1/s]", least=0.0)
        self._actuated = robot.actuated_dofs
        self._unactuated = np.setdiff1d(np.arange(robot.nv), self._actuated)
        self._memory: dict[str, Array] = {}
        self.failures = 0  # calls in which the solver did not reach its tolerance; its best answer was taken
        self.iterations = 0  # of the solver in the last call
        self.accelerations = np.zeros(robot.nv)  # that the last call planned, (nv,)
        self.forces = np.zeros((0, 3))  # that the last call planned for the points on the ground [N], (k, 3)
        self._cones = cache(self._make_cones)

    @property
    def memory(self) -> Mapping[str, Array]:
        """The last solution, from which the next one starts."""
        return self._memory

    @memory.setter
    def memory(self, memory: Mapping[str, Array]) -> None:
        solution = {name: _checks.vector(f"memory[{name!r}]", value) for name, value in memory.items()}
        if solution and solution.keys() != set("xyz"):
            raise InvalidArgument(f"memory has {', '.join(map(repr, solution))}; give what another one remembered")
        self._memory = solution

    def __call__(self, t: float, state: State) -> Array:
        """Torques, one per actuated degree of freedom."""
        nv = self._robot.nv
        M, h = self._terms(state)
        H, g = self._costs(t, state)
        feet = [self._foot(name) for name in self._contacts(t)]
        J_feet, stay = self._contact_equations(feet)

        n, u, a = nv + len(J_feet), self._unactuated, self._actuated
        cost = self._force_weight * np.eye(n)
        cost[:nv, :nv] = H
        # Rows of M a + h − Jᵀ f: zero without a motor, the torque with one.
        effort = np.hstack([M, -J_feet.T])
        A = np.vstack([effort[u], np.hstack([stay.J, np.zeros((len(stay.J), n - nv))])])
        b = np.concatenate([-h[u], stay.a])
        cones = self._cones(len(feet))
        C = np.vstack([effort[a], cones.rows])
        lower = np.concatenate([-self._torque_limits - h[a], cones.lower])
        upper = np.concatenate([self._torque_limits - h[a], cones.upper])
        x = self._solve(cost, np.concatenate([g, np.zeros(n - nv)]), A, b, C, lower, upper)
        self.accelerations, self.forces = x[:nv], x[nv:].reshape(-1, 3)
        tau: Array = effort[a] @ x + h[a]
        return np.clip(tau, -self._torque_limits, self._torque_limits)

    def _terms(self, state: State) -> tuple[Array, Array]:
        """Mass matrix and bias; leaves in data the kinematics with zero joint accelerations."""
        model, data, zero = self._model, self._data, np.zeros(self._robot.nv)
        pin.computeAllTerms(model, data, state.q, state.v)
        M = np.triu(data.M) + np.triu(data.M, 1).T
        h = data.nle + model.damping * state.v
        pin.forwardKinematics(model, data, state.q, state.v, zero)
        pin.centerOfMass(model, data, state.q, state.v, zero)
        return M, h

    def _costs(self, t: float, state: State) -> tuple[Array, Array]:
        H = 1e-8 * np.eye(self._robot.nv)  # accelerations that no task asks for
        g = np.zeros(self._robot.nv)
        for weight, equations in self._bound:
            J, a = equations(t, state, self._data)
            weighted = weight * J.T
            H += weighted @ J
            g -= weighted @ a
        return H, g

    def _contact_equations(self, feet: Sequence[Foot]) -> tuple[Array, Equations]:
        """Jacobian of the points, (3 k, nv), and the equations that keep them where they are.

        Three points or more of a body hold all of it: its six equations say so without repeating themselves.
        """
        bodies: dict[int, list[FrameMotion]] = {}
        motions = [foot.motion(self._model, self._data) for foot in feet]
        for foot, motion in zip(feet, motions, strict=True):
            bodies.setdefault(foot.joint, []).append(motion)
        held = [(motion, 6) for points in bodies.values() if len(points) > 2 for motion in points[:1]]
        held += [(motion, 3) for points in bodies.values() if len(points) <= 2 for motion in points]
        none = np.zeros((0, self._robot.nv))
        J = np.vstack([none, *(motion.J[:rows] for motion, rows in held)])
        a = [-motion.drift[:rows] - self._contact_damping * motion.velocity[:rows] for motion, rows in held]
        return np.vstack([none, *(motion.J[:3] for motion in motions)]), Equations(J, np.concatenate([none[:, 0], *a]))

    def _make_cones(self, feet: int) -> Cones:
        """Per point two rows per tangential axis, |f_t| ≤ μ f_n, and one for the normal force itself."""
        mu = self._friction / np.sqrt(2.0)
        pyramid = np.array([[1.0, 0.0, -mu], [-1.0, 0.0, -mu], [0.0, 1.0, -mu], [0.0, -1.0, -mu], [0.0, 0.0, 1.0]])
        least, greatest = self._normal_force
        rows = np.hstack([np.zeros((5 * feet, self._robot.nv)), np.kron(np.eye(feet), pyramid)])
        lower, upper = [-INFINITY] * 4 + [least], [0.0] * 4 + [min(greatest, INFINITY)]
        return Cones(rows, np.tile(lower, feet), np.tile(upper, feet))

    def _solve(self, H: Array, g: Array, A: Array, b: Array, C: Array, lower: Array, upper: Array) -> Array:
        """The solution, found from the last one where the problem has the same size."""
        proxqp = load("proxsuite").proxqp
        qp = proxqp.dense.QP(len(g), len(b), len(lower))
        qp.settings.eps_abs = TOLERANCE
        qp.settings.max_iter, qp.settings.max_iter_in = MOST_ITERATIONS
        qp.settings.initial_guess = proxqp.InitialGuess.WARM_START
        qp.init(H, g, A, b, C, lower, upper)
        last = self._memory
        if last and [len(last[key]) for key in "xyz"] == [len(g), len(b), len(lower)]:
            qp.solve(last["x"], last["y"], last["z"])
        else:
            qp.solve()
        self.iterations = int(qp.results.info.iter)
        self.failures += qp.results.info.status != proxqp.QPSolverOutput.PROXQP_SOLVED
        self._memory = {key: np.array(getattr(qp.results, key)) for key in "xyz"}
        if not np.isfinite(qp.results.x).all():
            raise InvalidArgument("the tasks or the state are not finite; the solver found no accelerations")
        return self._memory["x"]

    def _foot(self, name: str) -> Foot:
        if name not in self._feet:
            near = did_you_mean(str(name), self._feet)
            raise InvalidArgument(
                f"contacts has {name!r}, which is no contact point of {self._robot.name!r}"
                f"{near or '; it has ' + (', '.join(self._feet) or 'none')}"
            )
        return self._feet[name]

    def _constant(self, names: Sequence[str]) -> Callable[[float], Sequence[str]]:
        if isinstance(names, str) or not isinstance(names, Sequence):
            raise InvalidArgument(f"contacts is {names!r}; give names of contact points, or a function of time")
        for name in names:
            self._foot(name)
        return lambda t: names

    def _limits(self, given: ArrayLike | None) -> Array:
        count = len(self._robot.actuated_dofs)
        if given is None:
            limits = np.array(self._model.upperEffortLimit[self._robot.actuated_dofs])
            return np.where((limits > 0.0) & (limits < INFINITY), limits, INFINITY)
        if _checks.as_array("torque_limits", given).ndim == 0:
            return np.full(count, _checks.number("torque_limits", given, "[N·m or N]", above=0.0))
        limits = _checks.vector("torque_limits", given, count, "one per actuated degree of freedom, or one number")
        for i, limit in enumerate(limits):
            _checks.number(f"torque_limits[{i}]", limit, "[N·m or N]", above=0.0)
        return limits


def _normal_force(bounds: tuple[float, float]) -> tuple[float, float]:
    try:
        least, greatest = map(float, bounds)
    except (TypeError, ValueError):
        least = greatest = np.nan
    if not 0.0 <= least <= greatest:
        raise InvalidArgument(f"normal_force is {bounds!r}; give the least and the greatest force of a point [N]")
    return least, greatest
