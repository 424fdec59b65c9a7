r"""A step as a function of flat states, with its Jacobians: what libraries for automatic differentiation ask for.

Derivatives of steps are in the tangent space of states. Flat states have more numbers: quaternions have four for three
directions, and which surface a contact touches and what it does there are no real numbers. So the step is taken for a
function of all of them that

* normalizes quaternions before anything else, and so does not change with their length;
* puts stretches into the tangent plane of their surface;
* is constant in whole numbers (surface, mode, sizes), in ``phi0`` and in targets that are on their way.

Its Jacobian is :math:`E(x^+)\, \partial\xi^+/\partial\xi\; P(x)`, with :math:`E` from displacements to flat states and
:math:`P` back. It is what finite differences of that function give, quaternions included.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.errors import InvalidArgument, SimulationDiverged, UnsupportedModel
from exposim.simulation.layout import Layout
from exposim.simulation.rollout import Rollout
from exposim.simulation.simulator import Simulator

QUATERNIONS = ("JointModelFreeFlyer", "JointModelSpherical")
CIRCLES = ("JointModelRUBX", "JointModelRUBY", "JointModelRUBZ", "JointModelRevoluteUnboundedUnaligned")

ROUNDING = 1e-12  # of the length of a quaternion


class Charts:
    """From flat states to displacements and back.

    Args:
        simulator: Whose states they are.

    Raises:
        UnsupportedModel: Of joints whose configurations are none of those known here.
    """

    def __init__(self, simulator: Simulator):
        self._layout: Layout = simulator._layout
        self._model = simulator.robot._model
        self._ndx = simulator._world.tangent_size
        self._joints = [(joint.shortname(), joint.idx_q, joint.idx_v) for joint in self._model.joints[1:]]
        for joint, name in zip(self._model.joints[1:], list(self._model.names)[1:], strict=True):
            kind = joint.shortname()
            if joint.nq != joint.nv and kind not in (*QUATERNIONS, *CIRCLES):
                raise UnsupportedModel(
                    f"joint {name!r} is a {kind}, whose configurations have no flat derivatives here; there are those "
                    f"of joints with one number to a degree of freedom, quaternions and circles"
                )

    def normalized(self, x: Array) -> Array:
        """With quaternions of length one; those that are keep their bits."""
        x = np.array(x)
        part = slice(1, 1 + self._layout.nq)
        for row in np.flatnonzero(np.abs(self.lengths(x) - 1.0).max(axis=1) > ROUNDING):
            x[row, part] = pin.normalize(self._model, x[row, part])
        return x

    def out_of(self, x: Array) -> Array:
        """E: how flat states change with displacements, (N, nx, ndx)."""
        found = np.zeros((len(x), x.shape[1], self._ndx))
        for kind, q, v in self._joints:
            at = x[:, 1 + q :]
            rows = found[:, 1 + q :, v:]
            if kind == "JointModelFreeFlyer":
                rows[:, :3, :3] = _rotation(at[:, 3:7])
                rows[:, 3:7, 3:6] = _turning(at[:, 3:7])
            elif kind == "JointModelSpherical":
                rows[:, :4, :3] = _turning(at[:, :4])
            elif kind in CIRCLES:
                rows[:, 0, 0], rows[:, 1, 0] = -at[:, 1], at[:, 0]
        flat, tangent = self._plain
        found[:, flat, tangent] = 1.0
        return found

    def into(self, x: Array) -> Array:
        """P: displacements of changes of flat states, (N, ndx, nx)."""
        found: Array = self.out_of(x).transpose(0, 2, 1).copy()
        for kind, q, v in self._joints:
            if kind in QUATERNIONS:  # of which a displacement is twice the imaginary part
                first, turn = (1 + q + 3, v + 3) if kind == "JointModelFreeFlyer" else (1 + q, v)
                found[:, turn : turn + 3, first : first + 4] *= 4.0
        return found

    @cached_property
    def _plain(self) -> tuple[list[int], list[int]]:
        """Numbers that change as their displacement does: of flat states, of displacements."""
        layout = self._layout
        flat: list[int] = []
        tangent: list[int] = []
        for joint in self._model.joints[1:]:
            if joint.nq == joint.nv:
                flat += range(1 + joint.idx_q, 1 + joint.idx_q + joint.nq)
                tangent += range(joint.idx_v, joint.idx_v + joint.nv)
        nv, index = layout.nv, np.arange(float(layout.size))
        flat += range(1 + layout.nq, 1 + layout.nq + nv)
        flat += layout.memory(index)[:, 3:].ravel().astype(int).tolist()
        flat += layout.grips(index)[:, 0].astype(int).tolist()
        tangent += range(nv, 2 * nv + 3 * layout.nc + layout.nf)
        return flat, tangent

    def lengths(self, x: Array) -> Array:
        """By which quaternions are divided when they are normalized; else one, (N, nx)."""
        found = np.ones_like(x)
        for kind, q, _ in self._joints:
            if kind in (*QUATERNIONS, *CIRCLES):
                first, size = (4 + q, 4) if kind == "JointModelFreeFlyer" else (1 + q, 4 if kind in QUATERNIONS else 2)
                found[:, first : first + size] = np.linalg.norm(x[:, first : first + size], axis=1, keepdims=True)
        return found


class DifferentiableStep:
    """Steps of many flat states, and their Jacobians.

    Args:
        simulator: That takes them; its state is of no effect.
        threads: As of :class:`exposim.Rollout`.
    """

    def __init__(self, simulator: Simulator, threads: int | None = None):
        self.pool = Rollout(simulator, threads)
        self.world = simulator._world
        self.nx = simulator._layout.size
        self.nu = len(simulator.robot.actuated_dofs)
        self.functions: dict[tuple[str, ...], Any] = {}  # of libraries that make their own of it
        self._simulator = simulator.copy()
        self._charts = Charts(simulator)

    def take(self, x: Array, **inputs: Array | None) -> Array:
        """Where steps lead to, (N, nx).

        Args:
            x: (N, nx).
            inputs: ``taus`` and ``targets``, (N, nu).

        Raises:
            InvalidArgument: Of a row that is no state.
            SimulationDiverged: Of one that diverges.
        """
        given: dict[str, Any] = {name: each[:, None] for name, each in inputs.items() if each is not None}
        states = self._charts.normalized(x)
        out = self.pool(states, **given, steps=1, record=())
        if out.status.any():
            states = self._within(x)
            out = self.pool(states, **given, steps=1, record=())
        if not out.status.any():
            return out.end
        row = int(np.flatnonzero(out.status)[0])
        if out.status[row] == 1:
            raise SimulationDiverged(
                float(x[row, 0]) + self.pool.dt,
                1,
                (),
                self.pool.states(states[row])[0],
                f"row {row} of {len(x)}: {out.reason(row)}",
            )
        raise InvalidArgument(f"row {row} of {len(x)} cannot be stepped: {out.reason(row)}")

    def jacobians(self, x: Array, **inputs: Array | None) -> tuple[Array, Array, Array]:
        """Of where steps lead to by x, by torques and by targets: (N, nx, nx), (N, nx, nu), (N, nx, nu)."""
        given: dict[str, Any] = {name: each for name, each in inputs.items() if each is not None}
        states = self._within(x)
        rows = self.pool.linearize(states, **given)
        E, P = self._charts.out_of(rows.next), self._charts.into(states)
        by_x = E @ rows.x @ P
        by_x[:, 0, 0] = 1.0  # time goes on
        return by_x / self._charts.lengths(x)[:, None, :], E @ rows.tau, E @ rows.target

    def _within(self, x: Array) -> Array:
        """States that flat ones mean: quaternions of length one, stretches in tangent planes."""
        states = self._charts.normalized(x)
        layout, nv = self._simulator._layout, self._simulator._layout.nv
        stretches = layout.memory(states)[:, :, 3:].copy()
        layout.memory(states)[:, :, 3:] = 0.0
        dx = np.zeros(self._simulator._world.tangent_size)
        for row, stretch in zip(states, stretches, strict=True):
            dx[2 * nv : 2 * nv + 3 * layout.nc] = stretch.ravel()
            moved = self._simulator._core.plus(row, dx)
            if moved is not None:
                layout.memory(row)[:, 3:] = layout.memory(moved)[:, 3:]
        return states


_KNOWN: WeakKeyDictionary[Simulator, DifferentiableStep] = WeakKeyDictionary()


def differentiable(simulator: Simulator) -> DifferentiableStep:
    """The step of a simulator, kept for as long as that is what it was."""
    if not isinstance(simulator, Simulator):
        raise InvalidArgument(f"sim is a {type(simulator).__name__}; give an exposim.Simulator")
    known = _KNOWN.get(simulator)
    if known is None or known.world is not simulator._world:
        known = _KNOWN[simulator] = DifferentiableStep(simulator)
    return known


def _rotation(quaternion: Array) -> Array:
    """Matrices of quaternions (x, y, z, w), (N, 3, 3)."""
    x, y, z, w = quaternion.T
    return np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], axis=1),
            np.stack([2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)], axis=1),
            np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], axis=1),
        ],
        axis=1,
    )


def _turning(quaternion: Array) -> Array:
    """How quaternions (x, y, z, w) change with turns in the body's axes, (N, 4, 3)."""
    x, y, z, w = quaternion.T
    rows = [(w, -z, y), (z, w, -x), (-y, x, w), (-x, -y, -z)]
    return np.asarray(0.5 * np.stack([np.stack(row, axis=1) for row in rows], axis=1))
