"""Task-space inverse dynamics: a quadratic program over accelerations and contact forces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim._extras import load
from exposim.controllers.stance import INFINITY, Foot, Program, Stance
from exposim.controllers.tasks import Task
from exposim.errors import InvalidArgument, did_you_mean
from exposim.robots.robot import Robot
from exposim.simulation.state import State


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
        self._bound = [task.bind(robot, self._model) for task in self.tasks]
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
        self._below_diagonal = np.tri(robot.nv, k=-1, dtype=bool)
        self._at_rest = np.zeros(robot.nv)
        self._weights = np.array([task.weight for task in self.tasks])
        self._little_cost = 1e-8 * np.eye(robot.nv)  # of accelerations that no task asks for
        self._damping = np.array(self._model.damping)
        self._memory: dict[str, Array] = {}
        self.failures = 0  # calls in which the solver did not reach its tolerance; its best answer was taken
        self.iterations = 0  # of the solver in the last call
        self.accelerations = np.zeros(robot.nv)  # that the last call planned, (nv,)
        self.forces = np.zeros((0, 3))  # that the last call planned for the points on the ground [N], (k, 3)
        self._programs: dict[tuple[str, ...], Program] = {}

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
        nv, motors, no_motors = len(self._at_rest), len(self._actuated), len(self._unactuated)
        program = self._program(tuple(self._contacts(t)))
        M, h = self._terms(state)
        program.H[:nv, :nv], program.g[:nv] = self._costs(t, state)
        J_feet, held = program.stance.look(self._model, self._data)

        effort = program.effort
        effort[:, :nv] = M
        np.copyto(effort[:, :nv], M.T, where=self._below_diagonal)  # the half that Pinocchio leaves out
        np.negative(J_feet.T, out=effort[:, nv:])
        program.A[:no_motors], program.b[:no_motors] = effort[self._unactuated], -h[self._unactuated]
        program.A[no_motors:, :nv] = held[:, :nv]
        program.b[no_motors:] = -held[:, nv + 1] - self._contact_damping * held[:, nv]
        drive, h_drive, limits = effort[self._actuated], h[self._actuated], self._torque_limits
        program.C[:motors] = drive
        program.lower[:motors], program.upper[:motors] = -limits - h_drive, limits - h_drive

        self._memory, self.iterations, solved = program.solve(self._memory)
        self.failures += not solved
        x = self._memory["x"]
        if not np.isfinite(x).all():
            raise InvalidArgument("the tasks or the state are not finite; the solver found no accelerations")
        self.accelerations, self.forces = x[:nv], x[nv:].reshape(-1, 3)
        tau: Array = drive @ x + h_drive
        return np.minimum(np.maximum(tau, -limits), limits)

    def _terms(self, state: State) -> tuple[Array, Array]:
        """Mass matrix, of which the upper half counts, and bias.

        Leaves in data Jacobians, and the kinematics with zero joint accelerations.
        """
        model, data, q, v = self._model, self._data, state.q, state.v
        M = pin.crba(model, data, q)
        h = pin.nonLinearEffects(model, data, q, v) + self._damping * v
        pin.centerOfMass(model, data, q, v, self._at_rest)
        pin.jacobianCenterOfMass(model, data, False)
        pin.computeJointJacobians(model, data)
        return M, h

    def _costs(self, t: float, state: State) -> tuple[Array, Array]:
        """Hessian and gradient of all tasks, as one stack of weighted equations."""
        equations = [task(t, state, self._data) for task in self._bound]
        J = np.concatenate([each.J for each in equations])
        a = np.concatenate([each.a for each in equations])
        weighted = J.T * np.repeat(self._weights, [len(each.a) for each in equations])
        return weighted @ J + self._little_cost, -(weighted @ a)

    def _program(self, contacts: tuple[str, ...]) -> Program:
        if contacts not in self._programs:
            stance = Stance([self._foot(name) for name in contacts], self._robot.nv)
            settings = (self._friction, self._normal_force, self._force_weight)
            self._programs[contacts] = Program(stance, len(self._actuated), *settings)
        return self._programs[contacts]

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
