"""Predictive sampling and MPPI: plans are drawn around the last one and rolled out; the best or their mean is taken."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.mpc.plan import Plan, Samples
from exposim.mpc.splines import SPLINES, weights
from exposim.simulation.rollout import Rollout
from exposim.simulation.state import State


class SamplingMPC:
    r"""Makes plans by trying them: targets of drives over a horizon, as curves through a few knots.

    From the plan so far, moved on to the time of the state, ``samples`` plans are made: itself, its neighbours (normal
    noise on its knots), and ``proposals``. All are rolled out at once, and

    .. math:: \theta \leftarrow \sum_i w_i \theta_i, \qquad
              w_i \propto \exp\left(-\frac{c_i - c_{\min}}{\text{temperature} \cdot (c_{1/2} - c_{\min})}\right)

    over the ``elites`` of least cost, with :math:`c_{1/2}` the median cost: MPPI, whatever unit the cost has. With
    ``temperature=0`` the best one is taken (predictive sampling), which is never worse than the plan so far. Rows that
    diverge have infinite cost; where all do, the plan stays as it was. ::

        mpc = xs.mpc.SamplingMPC(xs.Rollout(model), cost, horizon=40, samples=64)
        while sim.t < 5.0:
            plan = mpc.plan(sim.state)
            for _ in range(10):
                sim.step(target=plan.target(sim.t))

    Args:
        pool: Of a simulator with drives, whose step is that of the plans.
        cost: A function of :class:`Samples` that returns a number for each row, (N,), or for each row and record,
            (N, T'), which are then summed. It may change between plans: ``mpc.cost = …``.
        horizon: Length of the plans, in steps of the pool.
        samples: N, plans tried at once.
        knots: Of a curve, equally far apart, the last at the end of the horizon.
        noise: Standard deviation, one number or n of them, in the unit of what is planned.
        temperature: How soft the choice is, see above; zero or more.
        elites: How many rows take part in the mean at most; by default all.
        spline: ``"linear"``, ``"cubic"`` (through the knots, smoothly) or ``"hold"``.
        decode: What makes targets of curves: a function of times [s], (T,), and values, (N, T, n), that returns
            (N, T, one per actuated degree of freedom). By default values are added to the posture ``robot.q0``.
        size: n, of what is planned at a time; by default, and without ``decode`` always, one per actuated degree of
            freedom.
        start: The first plan, and what the first knots of a plan after ``reset`` are, (n,); by default zeros.
        proposals: Values, (m, n), that are tried in every plan, held over all its horizon.
        iterations: Rounds of trying per plan.
        every: Steps from record to record, of which ``horizon`` is a multiple.
        record: What costs need; ``q`` and ``v`` always are.
        seed: Of the noise. The same seed and states give the same plans, bit for bit, on any number of threads.

    Raises:
        InvalidArgument: Naming what does not fit.
    """

    def __init__(
        self,
        pool: Rollout,
        cost: Callable[[Samples], ArrayLike],
        *,
        horizon: int = 40,
        samples: int = 64,
        knots: int = 5,
        noise: ArrayLike = 0.1,
        temperature: float = 0.1,
        elites: int | None = None,
        spline: str = "linear",
        decode: Callable[[Array, Array], ArrayLike] | None = None,
        size: int | None = None,
        start: ArrayLike | None = None,
        proposals: ArrayLike | None = None,
        iterations: int = 1,
        every: int = 4,
        record: tuple[str, ...] = ("q", "v"),
        seed: int = 0,
    ):
        self.pool = _checked_pool(pool)
        if not callable(cost):
            raise InvalidArgument(f"cost is {cost!r}; give a function of exposim.mpc.Samples")
        self.cost = cost
        self.horizon = _checks.count("horizon", horizon)
        self.samples = _checks.count("samples", samples)
        self.iterations = _checks.count("iterations", iterations)
        self._every = _checks.count("every", every)
        if self.horizon % self._every:
            raise InvalidArgument(f"every is {every}, of which a horizon of {horizon} steps is no multiple")
        self._record = tuple(dict.fromkeys(("q", "v", *_checks.several("record", record, "a list of names"))))
        self._spline = _checks.choice("spline", spline, SPLINES)
        self._knots = _checks.count("knots", knots)
        if self._knots < 2:
            raise InvalidArgument("knots is 1; give 2 or more, the first at the beginning and the last at the end")
        self.temperature = _checks.number("temperature", temperature, "", least=0.0)
        self.elites = self.samples if elites is None else _checks.count("elites", elites, self.samples)
        self._posture = _posture(pool)
        self._actuated = len(self._posture)
        if decode is not None and not callable(decode):
            raise InvalidArgument(f"decode is {decode!r}; give a function of times and values")
        if decode is None and size is not None:
            raise InvalidArgument(f"size is {size!r}, but without decode what is planned are the drives' targets")
        self._given_decode = decode
        self.size = self._actuated if size is None else _checks.count("size", size)
        self.noise = _noise(noise, self.size)
        self._start = np.zeros(self.size) if start is None else _checks.vector("start", start, self.size, "n")
        self._proposals = _proposals(proposals, self.size, self.samples)
        self._seed = _checked_seed(seed)
        dt = self.pool.dt
        self.spacing = self.horizon * dt / (self._knots - 1)
        # A step's target is that of its beginning, a record is of its end.
        self._times: Array = np.asarray(dt * np.arange(self.horizon), dtype=np.float64)
        self._records = slice(self._every - 1, None, self._every)
        self._curve = weights(self._times, self.spacing, self._knots, self._spline)
        self.reset()

    def reset(self) -> None:
        """Forgets the plan so far, and begins the noise anew."""
        self._rng = np.random.default_rng(self._seed)
        self._mean = np.tile(self._start, (self._knots, 1))
        self._since: float | None = None

    def plan(self, state: State) -> Plan:
        """What to do from a state on.

        Args:
            state: Of a simulator of the layout of the pool's; its time is that of the plan's beginning.

        Raises:
            StateMismatch: Of states of another simulator.
            InvalidArgument: If what ``cost`` or ``decode`` returns has another shape.
        """
        begin = time.perf_counter()
        if not isinstance(state, State):
            raise InvalidArgument(f"state is a {type(state).__name__}; give an exposim.State, such as sim.state")
        mean = self._moved_to(state.t)
        in_rollouts, tried = 0.0, None
        for _ in range(self.iterations):
            tried, seconds = self._try(state, self._neighbours(mean))
            in_rollouts += seconds
            costs = self._costs(tried)
            mean = self._better(mean, tried.knots, costs)
        assert tried is not None  # there is an iteration at least
        best = int(np.argmin(costs))
        self._mean, self._since = mean, state.t
        return Plan(
            start=state.t,
            spacing=self.spacing,
            knots=mean.copy(),
            spline=self._spline,
            costs=costs,
            t=tried.t,
            q=tried.q[best],
            v=tried.v[best],
            seconds=time.perf_counter() - begin,
            rollout_seconds=in_rollouts,
            _decode=self._decode,
        )

    def _moved_to(self, t: float) -> Array:
        """The plan so far with its knots at later places of its curve; what is behind its end is as at the end."""
        if self._since is None or t == self._since:
            return self._mean
        if t < self._since:
            raise InvalidArgument(
                f"the state is of t = {t:g} s, the plan so far of {self._since:g} s; call reset() before going back"
            )
        at = t - self._since + self.spacing * np.arange(self._knots)
        return np.asarray(weights(at, self.spacing, self._knots, self._spline) @ self._mean)

    def _neighbours(self, mean: Array) -> Array:
        noise = self.noise * self._rng.standard_normal((self.samples, self._knots, self.size))
        plans = mean + noise
        plans[0] = mean
        plans[1 : 1 + len(self._proposals)] = self._proposals[:, None]
        return plans

    def _try(self, state: State, knots: Array) -> tuple[Samples, float]:
        values = self._curve @ knots  # (N, T, n)
        targets = self._decode(state.t + self._times, values)
        begin = time.perf_counter()
        out = self.pool(state, targets=targets, steps=self.horizon, every=self._every, record=self._record)
        seconds = time.perf_counter() - begin
        ends = state.t + self._times[self._records] + self.pool.dt
        return Samples(ends, knots, values[:, self._records], targets[:, self._records], out), seconds

    def _decode(self, times: Array, values: Array) -> Array:
        if self._given_decode is None:
            return np.asarray(self._posture + values)
        targets = _checks.as_array("what decode returns", self._given_decode(times, values))
        wanted = (*values.shape[:2], self._actuated)
        if targets.shape != wanted:
            raise InvalidArgument(f"decode returns an array of shape {targets.shape}; it has to be {wanted}")
        return targets

    def _costs(self, tried: Samples) -> Array:
        costs = _checks.as_array("what cost returns", self.cost(tried))
        if costs.shape == (self.samples, len(tried.t)):
            costs = costs.sum(axis=1)
        if costs.shape != (self.samples,):
            raise InvalidArgument(
                f"cost returns an array of shape {costs.shape}; it has to be {(self.samples,)}, or "
                f"{(self.samples, len(tried.t))} with a column per record"
            )
        return np.where((tried.motions.status == 0) & np.isfinite(costs), costs, np.inf)

    def _better(self, mean: Array, knots: Array, costs: Array) -> Array:
        order = np.argsort(costs, kind="stable")[: self.elites]
        order = order[np.isfinite(costs[order])]
        if not len(order):
            return mean
        above = costs[order] - costs[order[0]]
        scale = self.temperature * float(np.median(costs[np.isfinite(costs)]) - costs[order[0]])
        if scale <= 0.0:  # the best one alone, or all are as good
            return np.asarray(knots[order[0]])
        weight = np.exp(-above / scale)
        return np.asarray(np.tensordot(weight / weight.sum(), knots[order], axes=1))


def _checked_pool(pool: Any) -> Rollout:
    if not isinstance(pool, Rollout):
        raise InvalidArgument(f"pool is a {type(pool).__name__}; give an exposim.Rollout of the simulator to plan with")
    return pool


def _checked_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InvalidArgument(f"seed is {seed!r}; give a whole number of zero or more")
    return int(seed)


def _posture(pool: Rollout) -> Array:
    """What the drives hold without a plan, one per actuated degree of freedom."""
    robot, inputs = pool._robot, pool._inputs
    inputs.refuse_without_drives("pool")
    entries = inputs.target_entries(len(robot.actuated_dofs))
    if entries is None:
        raise InvalidArgument(f"the joints of {robot.name!r} are not all angles or lengths, of which plans are made")
    return robot.q0[[place for _, place in entries]]


def _noise(noise: ArrayLike, size: int) -> Array:
    array = _checks.finite("noise", _checks.as_array("noise", noise))
    if array.shape not in ((), (size,)) or np.any(array < 0.0):
        raise InvalidArgument(f"noise is {noise!r}; give a number of zero or more, or {size} of them")
    return np.broadcast_to(array, (size,))


def _proposals(proposals: ArrayLike | None, size: int, samples: int) -> Array:
    if proposals is None:
        return np.zeros((0, size))
    array = _checks.finite("proposals", _checks.as_array("proposals", proposals))
    if array.ndim != 2 or array.shape[1] != size:
        raise InvalidArgument(f"proposals has shape {array.shape}; give (m, {size}): each is held over the horizon")
    if len(array) >= samples:
        raise InvalidArgument(f"proposals are {len(array)}, of {samples} samples; the plan so far needs one too")
    return array
