"""What a motion should be like: residuals, of which a cost is the weighted squares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.mpc.points import Points
from exposim.simulation.simulator import Simulator

# One for all knots, one per knot, or a function of time [s].
Reference = ArrayLike | Callable[[float], ArrayLike]
When = Literal["always", "running", "terminal"] | Sequence[int] | Callable[[float], float]
WHEN = ("always", "running", "terminal")
DIFFERENCE = 1e-7  # by which states are moved where a derivative is taken by differences


class Term:
    r"""Half of the weighted squares of a residual, :math:`\tfrac12 \sum_i w_i\, r_i(x, u)^2`, at some knots.

    Its second derivative is that of Gauss and Newton, :math:`R^\top W R`. A term of one's own has ``size``,
    ``residual`` and ``jacobian``, and says ``of_controls = True`` if it is one of u rather than of x. If its jacobian
    is the same everywhere it may say so, ``linear = True``: that is then computed once.

    Args:
        weight: One number of zero or more, or one per entry of the residual.
        when: At which knots: ``"always"``; ``"running"``, all but the last; ``"terminal"``, the last; numbers of knots,
            negative ones from the end; or a function of time [s] that says how much the weight counts.
    """

    of_controls = False
    linear = False

    def __init__(self, weight: ArrayLike = 1.0, when: When = "always"):
        self._weight = _checks.finite("weight", _checks.as_array("weight", weight))
        if self._weight.ndim > 1 or np.any(self._weight < 0.0):
            raise InvalidArgument(f"weight is {weight!r}; give a number of zero or more, or one per entry")
        self._when = _checked_when(when)

    def size(self, sim: Simulator) -> int:
        """Of the residual."""
        raise NotImplementedError

    def residual(self, at: Points) -> Array:
        """r, (N, size)."""
        raise NotImplementedError

    def jacobian(self, at: Points) -> Array:
        """Of the residual by the first coordinates of dx, or by u, (N, size, n); by the others it is zero."""
        raise NotImplementedError

    def weights(self, at: Points) -> Array:
        """Of the residual at each of the points, (N, size)."""
        size = self.size(at.sim)
        if self._weight.ndim and self._weight.size != size:
            raise InvalidArgument(f"weight of {type(self).__name__} has {self._weight.size} entries; give 1 or {size}")
        return np.asarray(self._share(at)[:, None] * np.broadcast_to(self._weight, (size,)))

    @property
    def varies_in_time(self) -> bool:
        """Whether weights are a function of time."""
        return callable(self._when)

    def counts_at(self, knot: int, horizon: int) -> bool:
        """Whether it may count at a knot; of a function of time, always."""
        if callable(self._when):
            return True
        if isinstance(self._when, str):
            return self._when == "always" or (self._when == "terminal") == (knot == horizon)
        return knot in self._when or knot - horizon - 1 in self._when

    def _share(self, at: Points) -> Array:
        """How much the weight counts, (N,)."""
        if callable(self._when):
            return np.array([float(self._when(float(t))) for t in at.t])
        if self._when == "always":
            return np.ones(len(at.knot))
        return np.array([float(self.counts_at(knot, at.horizon)) for knot in at.knot.tolist()])


class Posture(Term):
    """Distance of q to a configuration, in the tangent space: ``q ⊖ q_ref``, (nv,).

    Args:
        q: Reference: (nq,), one per knot, (horizon + 1, nq), or a function of time; by default ``robot.q0``.
        weight: As of :class:`Term`.
        when: Likewise.
    """

    def __init__(self, q: Reference | None = None, weight: ArrayLike = 1.0, when: When = "always"):
        super().__init__(weight, when)
        self._q = q if q is None or callable(q) else _series("q", q)

    def size(self, sim: Simulator) -> int:
        """Nv."""
        return sim.robot.nv

    def residual(self, at: Points) -> Array:
        """(N, nv)."""
        model, q = at.robot.model, self._reference(at)
        return np.array([pin.difference(model, *each) for each in zip(q, at.q, strict=True)])

    def jacobian(self, at: Points) -> Array:
        """(N, nv, nv)."""
        model, q = at.robot.model, self._reference(at)
        return np.array([pin.dDifference(model, *each, pin.ARG1) for each in zip(q, at.q, strict=True)])

    def _reference(self, at: Points) -> Array:
        return _rows("q", at.robot.q0 if self._q is None else self._q, at, at.robot.nq)


class Velocity(Term):
    """Distance of v to a reference, (nv,).

    Args:
        v: Reference: (nv,), one per knot, (horizon + 1, nv), or a function of time; by default at rest.
        weight: As of :class:`Term`.
        when: Likewise.
    """

    linear = True

    def __init__(self, v: Reference | None = None, weight: ArrayLike = 1.0, when: When = "always"):
        super().__init__(weight, when)
        self._v = v if v is None or callable(v) else _series("v", v)

    def size(self, sim: Simulator) -> int:
        """Nv."""
        return sim.robot.nv

    def residual(self, at: Points) -> Array:
        """(N, nv)."""
        return at.v if self._v is None else at.v - _rows("v", self._v, at, at.robot.nv)

    def jacobian(self, at: Points) -> Array:
        """(N, nv, 2 nv)."""
        nv = at.robot.nv
        return np.broadcast_to(np.hstack([np.zeros((nv, nv)), np.eye(nv)]), (len(at.x), nv, 2 * nv))


class Control(Term):
    """Distance of the controls, torques or targets, to a reference, (nu,).

    Args:
        u: Reference: (nu,), one per knot, (horizon, nu), or a function of time; by default zero.
        weight: As of :class:`Term`.
        when: Likewise; there is none at the last knot.
    """

    of_controls = True
    linear = True

    def __init__(self, u: Reference | None = None, weight: ArrayLike = 1.0, when: When = "always"):
        super().__init__(weight, when)
        self._u = u if u is None or callable(u) else _series("u", u)

    def size(self, sim: Simulator) -> int:
        """Nu."""
        return len(sim.robot.actuated_dofs)

    def residual(self, at: Points) -> Array:
        """(N, nu)."""
        assert at.u is not None  # who asks leaves out terms of controls where there are none
        return at.u if self._u is None else at.u - _rows("u", self._u, at, self.size(at.sim))

    def jacobian(self, at: Points) -> Array:
        """(N, nu, nu)."""
        nu = self.size(at.sim)
        return np.broadcast_to(np.eye(nu), (len(at.x), nu, nu))


class Place(Term):
    """Distance of a frame's origin to a place in the world [m], (3,).

    Args:
        frame: Name.
        position: (3,), one per knot, (horizon + 1, 3), or a function of time.
        weight: As of :class:`Term`; ``(0, 0, w)`` for the height alone.
        when: Likewise.
    """

    def __init__(self, frame: str, position: Reference, weight: ArrayLike = 1.0, when: When = "always"):
        super().__init__(weight, when)
        self._frame = frame
        self._position = position if callable(position) else _series("position", position)

    def size(self, sim: Simulator) -> int:
        """Three."""
        return 3

    def residual(self, at: Points) -> Array:
        """(N, 3)."""
        joint, placement = at.robot.locate(self._frame)
        model, data = at.robot.model, at.robot.model.createData()
        found = np.empty((len(at.x), 3))
        for row, q in enumerate(at.q):
            pin.forwardKinematics(model, data, q)
            found[row] = data.oMi[joint].act(placement.translation)
        return np.asarray(found - _rows("position", self._position, at, 3))

    def jacobian(self, at: Points) -> Array:
        """(N, 3, nv)."""
        joint, placement = at.robot.locate(self._frame)
        model, data = at.robot.model, at.robot.model.createData()
        found = np.empty((len(at.x), 3, model.nv))
        for row, q in enumerate(at.q):
            pin.computeJointJacobians(model, data, q)
            J = pin.getJointJacobian(model, data, joint, pin.LOCAL)
            found[row] = data.oMi[joint].rotation @ (J[:3] - pin.skew(placement.translation) @ J[3:])
        return found


class Force(Term):
    """Distance of the contact forces of a state, as ``sim.forces`` has them, to a reference [N], (3 nc,).

    Its derivative is taken by differences of the contact law, without a step, with what each contact does held.

    Args:
        forces: Reference: (3 nc,), one per knot, (horizon + 1, 3 nc), or a function of time; by default zero.
        weight: As of :class:`Term`.
        when: Likewise.
    """

    def __init__(self, forces: Reference | None = None, weight: ArrayLike = 1.0, when: When = "always"):
        super().__init__(weight, when)
        self._forces = forces if forces is None or callable(forces) else _series("forces", forces)

    def size(self, sim: Simulator) -> int:
        """Three per contact."""
        return 3 * sim._layout.nc

    def residual(self, at: Points) -> Array:
        """(N, 3 nc)."""
        found = np.empty((len(at.x), self.size(at.sim)))
        for row, state in enumerate(at.states()):
            at.sim.state = state
            found[row] = at.sim.forces.ravel()
        return found if self._forces is None else np.asarray(found - _rows("forces", self._forces, at, found.shape[1]))

    def jacobian(self, at: Points) -> Array:
        """(N, 3 nc, ndx)."""
        sim, steps = at.sim, DIFFERENCE * np.eye(at.sim._world.tangent_size)
        found = np.empty((len(at.x), self.size(sim), len(steps)))
        for row, state in enumerate(at.states()):
            for column, step in enumerate(steps):
                sides = []
                for way in (step, -step):
                    sim.state = sim.integrate(state, way)
                    sides.append(sim.forces.ravel())
                found[row, :, column] = (sides[0] - sides[1]) / (2.0 * DIFFERENCE)
        return found


def _series(name: str, value: Any) -> Array:
    array = _checks.finite(name, _checks.as_array(name, value))
    if array.ndim not in (1, 2):
        raise InvalidArgument(f"{name} has shape {array.shape}; give one reference, or one per knot in rows")
    return array


def _rows(name: str, reference: Any, at: Points, size: int) -> Array:
    """The reference of each of the points, (N, size)."""
    if callable(reference):
        rows = np.array([_checks.vector(name, reference(float(t)), size, "the reference's size") for t in at.t])
        return rows.reshape(-1, size)
    if reference.shape[-1] != size or (reference.ndim == 2 and len(reference) <= at.knot.max(initial=0)):
        raise InvalidArgument(
            f"{name} has shape {reference.shape}; give ({size},), or a row for each knot, up to knot {at.horizon}"
        )
    return np.broadcast_to(reference, (len(at.x), size)) if reference.ndim == 1 else np.asarray(reference[at.knot])


def _checked_when(when: Any) -> Any:
    if callable(when):
        return when
    if isinstance(when, str):
        return _checks.choice("when", when, WHEN)
    knots = _checks.several("when", when, f"one of {', '.join(map(repr, WHEN))}, numbers of knots, or a function of t")
    for knot in knots:
        if isinstance(knot, (bool, np.bool_)) or not isinstance(knot, (int, np.integer)):
            raise InvalidArgument(f"when has {knot!r}; give whole numbers, of knots")
    return tuple(int(knot) for knot in knots)
