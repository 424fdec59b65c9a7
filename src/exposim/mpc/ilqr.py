"""Plans by derivatives of steps: the iterative linear-quadratic regulator."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument, StateMismatch
from exposim.mpc.backward import Descent, descend
from exposim.mpc.bounds import checked_bounds
from exposim.mpc.cost import Cost, Expansion
from exposim.mpc.feedback_plan import FeedbackPlan, Reason
from exposim.mpc.horizon import ControlledBy, Horizon, Motions, Slopes
from exposim.mpc.points import Points
from exposim.mpc.standing import standing_torques
from exposim.mpc.terms import Term
from exposim.simulation.policies import LinearPolicy
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import State

LENGTHS = np.split(0.5 ** np.arange(8), [2])  # of steps, of the full one: those tried at once, and if need be the rest
GOOD, ENOUGH = 0.3, 1e-4  # part of the expected descent, for a long step to be taken, and for the best one
LEAST, MOST, FACTOR = 1e-9, 1e6, 10.0  # of the regularisation, and what it changes by


class _Clock:
    """Seconds that parts of a solution take."""

    def __init__(self) -> None:
        self.derivatives = self.rollouts = self.backward = 0.0

    @contextmanager
    def timing(self, part: str) -> Iterator[None]:
        """Adds what happens within."""
        begin = time.perf_counter()
        yield
        setattr(self, part, getattr(self, part) + time.perf_counter() - begin)


class ILQR:
    r"""Plans by derivatives of the steps that the simulator takes, contacts included: no schedule of them is needed.

    Each iteration expands dynamics and cost around the motion so far (:meth:`exposim.Rollout.linearize`; of costs the
    second derivative is that of Gauss and Newton), goes back through the horizon for changes of controls and feedback,

    .. math:: u \leftarrow u + \alpha k + K (x \ominus x_{\text{ref}}), \qquad u_{\min} \le u \le u_{\max},

    and rolls out several :math:`\alpha` at once, of which the largest is taken that brings a good part of what was
    expected, or else the best.
    So every plan is a motion that the simulator makes, and none is worse than the one before. Where no :math:`\alpha`
    leads down the recursion is regularised more. Steps that are not differentiable have the derivative of one side,
    which is as good as any to try. ::

        mpc = xs.mpc.ILQR(model, 20, [xs.mpc.Posture(weight=10.0), xs.mpc.Control(weight=1e-2)], steps=2)
        while sim.t < 5.0:
            plan = mpc.step(sim.state)
            for _ in range(4):
                sim.step(plan.control(sim.t, sim.state))

    Feedback in motions and plans is of q and v; that of stretches, tenths of millimetres, is left out.

    Args:
        sim: Of the robot, on its ground; its ``dt`` is that of the steps. It stays as it is.
        horizon: Knots, at each of which a control begins.
        cost: :class:`Cost`, or terms. It may change between plans: ``mpc.cost = …``.
        steps: Of the simulator from knot to knot.
        control: Whether controls are ``"tau"``, torques, or ``"target"``, of drives; one per actuated degree of
            freedom.
        bounds: Least and largest controls, (2, nu) or two numbers; by default the joints' efforts if controls are
            torques, else none.
        rest: Controls to begin with, and those behind the end of a plan that is moved on, (nu,); by default torques
            that hold ``robot.q0``, or its angles.
        iterations: At most, of :meth:`solve`.
        tolerance: An iteration that is expected to bring less than this part of the cost is not needed.
        regularisation: To begin with, in units of the mean second derivative by controls.
        threads: As of :class:`exposim.Rollout`.
        exact: As of :meth:`exposim.Simulator.derivatives`.
        method: Likewise.

    Raises:
        InvalidArgument: Naming what does not fit.
    """

    def __init__(
        self,
        sim: Simulator,
        horizon: int,
        cost: Cost | Term | Iterable[Term],
        *,
        steps: int = 1,
        control: ControlledBy = "tau",
        bounds: ArrayLike | None = None,
        rest: ArrayLike | None = None,
        iterations: int = 100,
        tolerance: float = 1e-4,
        regularisation: float = 1e-6,
        threads: int | None = None,
        exact: bool = True,
        method: str = "auto",
    ):
        self._horizon = Horizon(sim, horizon, steps, control, threads=threads, exact=exact, method=method)
        self.cost = cost
        nu = self._horizon.nu
        self._bounds = _efforts(sim, control) if bounds is None else checked_bounds(bounds, nu)
        self._rest = _rest(sim, control) if rest is None else _checks.vector("rest", rest, nu, "nu")
        if self._bounds is not None:
            self._rest = np.clip(self._rest, *self._bounds)
        self.iterations = _checks.count("iterations", iterations)
        self.tolerance = _checks.number("tolerance", tolerance, "", least=0.0)
        self._first_regularisation = _checks.number("regularisation", regularisation, "", least=0.0)
        self.reset()

    @property
    def cost(self) -> Cost:
        """Of motions."""
        return self._cost

    @cost.setter
    def cost(self, cost: Cost | Term | Iterable[Term]) -> None:
        self._cost = Cost.of(cost)

    @property
    def horizon(self) -> int:
        """Knots."""
        return self._horizon.knots

    @property
    def spacing(self) -> float:
        """From knot to knot [s]."""
        return self._horizon.spacing

    @property
    def last(self) -> FeedbackPlan | None:
        """The plan so far."""
        return self._plan

    def reset(self) -> None:
        """Forgets the plan so far."""
        self._plan: FeedbackPlan | None = None
        self._regularisation = self._first_regularisation

    def solve(self, state: State, guess: ArrayLike | FeedbackPlan | None = None) -> FeedbackPlan:
        """A plan from a state on, to convergence.

        Args:
            state: Of a simulator of the same layout; its time is that of the plan's beginning.
            guess: Controls to begin with: (nu,), held; one per knot, (horizon, nu); or a plan, with its feedback. By
                default ``rest``.

        Raises:
            StateMismatch: Of states of another simulator.
            InvalidArgument: Of a guess that does not fit.
        """
        self._regularisation = self._first_regularisation
        return self._iterate(state, guess, self.iterations)

    def step(self, state: State, iterations: int = 1) -> FeedbackPlan:
        """A plan from a state on, from the one so far moved on to its time: for MPC.

        The first one, and the first after :meth:`reset`, is that of :meth:`solve`.

        Args:
            state: As of :meth:`solve`.
            iterations: At most.

        Raises:
            StateMismatch: Of states of another simulator.
            InvalidArgument: Of a state before the plan so far.
        """
        if self._plan is None:
            return self.solve(state)
        if isinstance(state, State) and state.t < self._plan.start - 1e-9:
            raise InvalidArgument(
                f"the state is of t = {state.t:g} s, the plan so far of {self._plan.start:g} s; call reset() before "
                f"going back"
            )
        return self._iterate(state, self._plan, _checks.count("iterations", iterations))

    def __call__(self, t: float, state: State) -> Array:
        """Controls at a time, planned for the state then: as a scenario has its controller, if they are torques."""
        return self.step(state).control(t)

    @property
    def memory(self) -> dict[str, Array]:
        """What the next :meth:`step` depends on beside its state; set, it goes on from there with the same bits."""
        plan = self._plan
        if plan is None:
            return {}
        return {
            "start": np.array(plan.start),
            "u": plan.u,
            "gains": plan.gains,
            "x": plan.x,
            "regularisation": np.array(self._regularisation),
        }

    @memory.setter
    def memory(self, memory: Mapping[str, Array]) -> None:
        if not memory:
            self.reset()
            return
        knots, nu, robot = self.horizon, self._horizon.nu, self._horizon.sim.robot
        shapes = {
            "start": (),
            "u": (knots, nu),
            "gains": (knots, nu, 2 * robot.nv),
            "x": (knots * self._horizon.steps + 1, self._horizon.pool.size),
            "regularisation": (),
        }
        if {name: np.shape(each) for name, each in memory.items()} != shapes:
            raise StateMismatch("memory is not of this horizon and robot; give what memory was before")
        start, u, gains, x, regularisation = (np.array(memory[name], dtype=float) for name in shapes)
        self._regularisation = float(regularisation)
        self._plan = self._planned(float(start), u, gains, x)

    def _iterate(self, state: State, guess: ArrayLike | FeedbackPlan | None, iterations: int) -> FeedbackPlan:
        begin, clock = time.perf_counter(), _Clock()
        if not isinstance(state, State):
            raise InvalidArgument(f"state is a {type(state).__name__}; give an exposim.State, such as sim.state")
        start = self._horizon.pool.pack(state)[0]
        x, u, cost = self._first(start, guess, clock)
        gains = np.zeros((self.horizon, self._horizon.nu, 2 * self._horizon.sim.robot.nv))
        costs, lengths, grazing = [cost], list[float](), 0
        reason: Reason = "iterations" if np.isfinite(cost) else "diverged"
        slopes: Slopes | None = None
        while reason == "iterations" and len(lengths) < iterations:
            if slopes is None:
                with clock.timing("derivatives"):
                    slopes = self._horizon.linearize(x, u)
                grazing = int(slopes.grazing.sum())
                if not slopes.ok:
                    reason = "diverged"
                    break
                running, last = self._expanded(x, u)
            descent = self._descent(slopes, running, last, u, clock)
            if descent is None:
                reason = "no way down"
                break
            gains = descent.K[:, :, : gains.shape[2]]
            if -descent.expected(1.0) <= self.tolerance * abs(cost):
                reason = "no way down" if lengths and not lengths[-1] else "converged"
                break
            found = self._search(start, x, u, cost, descent, clock)
            if found is None:
                lengths.append(0.0)
                costs.append(cost)
                if not self._more_cautious():
                    reason = "no way down"
                continue
            x, u, cost, length = found
            slopes = None
            lengths.append(length)
            costs.append(cost)
            if length == 1.0:
                self._regularisation = max(self._regularisation / FACTOR, LEAST)
            elif length < 0.1:
                self._more_cautious()
        self._plan = self._planned(
            state.t,
            u,
            gains,
            x,
            costs=np.array(costs),
            lengths=np.array(lengths),
            reason=reason,
            regularisation=self._regularisation,
            grazing=grazing,
            seconds=time.perf_counter() - begin,
            derivative_seconds=clock.derivatives,
            rollout_seconds=clock.rollouts,
            backward_seconds=clock.backward,
        )
        return self._plan

    def _planned(self, start: float, u: Array, gains: Array, x: Array, **how: Any) -> FeedbackPlan:
        return FeedbackPlan(
            start, self.spacing, u, gains, x, **how, _robot=self._horizon.sim.robot, _bounds=self._bounds
        )

    def _first(self, start: Array, guess: ArrayLike | FeedbackPlan | None, clock: _Clock) -> tuple[Array, Array, float]:
        """The motion to begin with; of a plan the better one of it and of rest."""
        rest = np.broadcast_to(self._rest, (self.horizon, self._horizon.nu))
        if isinstance(guess, FeedbackPlan):
            u, gains, q, v = self._moved(guess, float(start[0]))
            feedback = self._horizon.feedback(np.stack([gains, np.zeros_like(gains)]), q, v)
            tried = self._roll(start, np.stack([u, rest]), feedback, clock)
        else:
            tried = self._roll(start, self._checked_guess(guess)[None], None, clock)
        costs = self._costs(tried)
        best = int(np.argmin(costs))
        return tried.x[best], tried.u[best], float(costs[best])

    def _moved(self, plan: FeedbackPlan, t: float) -> tuple[Array, Array, Array, Array]:
        """Controls of a plan from a later time on, gains, and q and v that they refer to; behind its end it rests."""
        begins = t + self.spacing * np.arange(self.horizon)
        at = np.floor((begins - plan.start) / plan.spacing + 1e-6).astype(int)
        beyond, at = at >= len(plan.u), np.clip(at, 0, len(plan.u) - 1)
        u, gains = (
            np.where(beyond[:, None], self._rest, plan.u[at]),
            np.where(beyond[:, None, None], 0.0, plan.gains[at]),
        )
        q, v = (np.array(each) for each in zip(*(plan.reference(each) for each in begins), strict=True))
        return u, gains, q, v

    def _checked_guess(self, guess: ArrayLike | None) -> Array:
        shape = (self.horizon, self._horizon.nu)
        if guess is None:
            return np.array(np.broadcast_to(self._rest, shape))
        array = _checks.finite("guess", _checks.as_array("guess", guess))
        if array.shape not in (shape, shape[1:]):
            raise InvalidArgument(f"guess has shape {array.shape}; give {shape[1:]}, {shape} or a plan")
        array = np.array(np.broadcast_to(array, shape))
        return array if self._bounds is None else np.clip(array, *self._bounds)

    def _roll(self, start: Array, u: Array, feedback: LinearPolicy | None, clock: _Clock) -> Motions:
        """Within bounds: rows whose feedback leads beyond them are rolled out again with what they allow."""
        with clock.timing("rollouts"):
            found = self._horizon.roll(start, u, feedback)
        if self._bounds is None or feedback is None:
            return found
        clipped = np.clip(found.u, *self._bounds)
        again = (clipped != found.u).any(axis=(1, 2))
        if again.any():
            with clock.timing("rollouts"):
                redone = self._horizon.roll(start, clipped[again], None)
            for whole, part in ((found.x, redone.x), (found.u, redone.u), (found.ok, redone.ok)):
                whole[again] = part
        return found

    def _costs(self, motions: Motions) -> Array:
        """Of each row, (R,); infinite where it diverges."""
        rows, knots = len(motions.u), self.horizon
        x = motions.x[:, :: self._horizon.steps]
        last = Points(self._horizon.sim, x[:, -1], None, np.full(rows, knots), knots)
        running = Points(
            self._horizon.sim,
            x[:, :-1].reshape(rows * knots, -1),
            motions.u.reshape(rows * knots, -1),
            np.tile(np.arange(knots), rows),
            knots,
        )
        total = self.cost.values(running).reshape(rows, knots).sum(axis=1) + self.cost.values(last)
        return np.where(motions.ok & np.isfinite(total), total, np.inf)

    def _expanded(self, x: Array, u: Array) -> tuple[Expansion, Expansion]:
        knots, states = self.horizon, x[:: self._horizon.steps]
        running = Points(self._horizon.sim, states[:-1], u, np.arange(knots), knots)
        last = Points(self._horizon.sim, states[-1:], None, np.array([knots]), knots)
        return self.cost.expand(running), self.cost.expand(last)

    def _descent(self, slopes: Slopes, running: Expansion, last: Expansion, u: Array, clock: _Clock) -> Descent | None:
        room = None if self._bounds is None else self._bounds - u[:, None, :]
        while True:
            with clock.timing("backward"):
                found = descend(slopes, running, last, room, self._regularisation)
            if found is not None or not self._more_cautious():
                return found

    def _search(
        self, start: Array, x: Array, u: Array, cost: float, descent: Descent, clock: _Clock
    ) -> tuple[Array, Array, float, float] | None:
        """The longest step that keeps its promise, or else the best one, if it is good enough."""
        robot, knots = self._horizon.sim.robot, x[: -1 : self._horizon.steps]
        q, v = knots[:, 1 : 1 + robot.nq], knots[:, 1 + robot.nq : 1 + robot.nq + robot.nv]
        feedback = self._horizon.feedback(descent.K[:, :, : 2 * robot.nv], q, v)
        enough: tuple[Array, Array, float, float] | None = None
        for lengths in LENGTHS:
            motions = self._roll(start, u + lengths[:, None, None] * descent.k, feedback, clock)
            costs = self._costs(motions)
            kept = (costs - cost) / descent.expected(lengths)
            good = bool((kept >= GOOD).any())
            best = int(np.argmax(kept >= GOOD)) if good else int(np.argmin(costs))
            if good or (kept[best] >= ENOUGH and (enough is None or costs[best] < enough[2])):
                enough = motions.x[best], motions.u[best], float(costs[best]), float(lengths[best])
            if good:
                break
        return enough

    def _more_cautious(self) -> bool:
        """Whether the regularisation could be raised."""
        if self._regularisation >= MOST:
            return False
        self._regularisation = max(self._regularisation * FACTOR, LEAST)
        return True


def _efforts(sim: Simulator, control: str) -> Array | None:
    """Of the actuated joints, where all are stated and hold."""
    robot = sim.robot
    effort = np.asarray(robot.model.upperEffortLimit)[robot.actuated_dofs]
    if control != "tau" or not robot.effort_limits or not np.all((effort > 0.0) & np.isfinite(effort)):
        return None
    return np.stack([-effort, effort])


def _rest(sim: Simulator, control: str) -> Array:
    robot = sim.robot
    if control == "tau":
        return standing_torques(robot)
    entries = sim._inputs.target_entries(len(robot.actuated_dofs))
    if entries is None:
        raise InvalidArgument(f"the joints of {robot.name!r} are not all angles or lengths; give rest, or torques")
    return robot.q0[[place for _, place in entries]]
