"""Many simulations at once: rows of steps, shared out among threads."""

from __future__ import annotations

import copy
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks, _core
from exposim._checks import Array
from exposim._progress import Line, clock
from exposim.errors import ContactWarning, InvalidArgument, did_you_mean
from exposim.simulation.linearized_rows import LinearizedRows
from exposim.simulation.parameters import Parameter, Parameters
from exposim.simulation.policies import Policy
from exposim.simulation.rollout_inputs import (
    Channel,
    RowInputs,
    flat_states,
    numbers,
    of_dofs,
    of_targets,
    of_wrenches,
    spread,
)
from exposim.simulation.rollout_result import RECORDS, About, RolloutResult, arrays_for
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import State
from exposim.simulation.variations import Variations, checked_rows, joined, per_row

MOST_THREADS = 1024


class Rollout:
    """Takes steps from many states at once, in threads, without the interpreter lock.

    What comes of a row is what a loop of :meth:`exposim.Simulator.step` from its state comes to, bit for bit, whatever
    the number of threads and the order of rows. Threads live as long as a call. The pool keeps what the simulator is
    made of, not its state; what becomes of the simulator later is of no effect.

    With a surface written in Python rows are taken one after the other, as only one thread can ask it at a time.

    Args:
        simulator: What is simulated; or a list, one to a row, of the same layout, step and scheme: other masses,
            materials, terrains.
        threads: How many, the calling one among them; by default as many as there are processors for this process.

    Safe to share between threads, of which one at a time has its turn; as of a simulator, in a forked child too.
    """

    def __init__(self, simulator: Simulator | Sequence[Simulator], threads: int | None = None):
        simulators = _simulators_of(simulator)
        first = simulators[0]
        self._threads = _processors() if threads is None else _checks.count("threads", threads, MOST_THREADS)
        self._robot = first.robot
        self._layout = first._layout
        self._inputs = first._inputs
        self._slots = first._slots
        self._at_rest = np.zeros(self._robot.nv)
        self._tangent_size = first._world.tangent_size
        self._gains = first._laws.kp
        self._about = About(self._robot, self._layout, first.integrator, first.dt, first._labels)
        self._simulators = tuple(each.copy() for each in simulators)
        self._variations: Variations | None = None
        self._parameters: Parameters | None = None  # made at the first question
        self._changes: list[dict[str, Any]] = []
        self._worlds = [each._world for each in simulators] if len(simulators) > 1 else []
        self._waits = any(each._world.makes_wait for each in simulators)
        self._core = _core.Rollout(first._world, first.integrator._build(), first.dt)
        self._warned_of_overflow = False

    @property
    def threads(self) -> int:
        """How many take rows."""
        return 1 if self._waits else self._threads

    @property
    def rows(self) -> int | None:
        """How many rows a call has, where each has a world of its own; ``None``: as many as it is given."""
        return len(self._worlds) or None

    @property
    def dt(self) -> float:
        """Time step [s]."""
        return self._about.dt

    @property
    def size(self) -> int:
        """Of a flat state, nx."""
        return self._layout.size

    def pack(self, states: State | Sequence[State] | ArrayLike) -> Array:
        """Flat states, (N, nx), of one state or several."""
        return np.array(flat_states(states, self._layout, self._robot))

    def states(self, x: ArrayLike) -> list[State]:
        """States of flat ones, (N, nx), such as ``out.end``."""
        return [State._of(np.array(row), self._layout) for row in flat_states(x, self._layout, self._robot)]

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None, rows: int | None = None) -> Array:
        """Flat states at t = 0 without contact history, as of :meth:`exposim.Simulator.reset`.

        Args:
            q: Configurations, (nq,) or (N, nq); by default ``robot.q0``.
            v: Velocities, (nv,) or (N, nv); by default at rest.
            rows: How many, if q and v do not say.

        Returns:
            (N, nx).
        """
        given = RowInputs(1)
        if rows is not None:
            given.count("rows", _checks.count("rows", rows))
        if self.rows is not None:
            given.count("the pool", self.rows)
        sizes = {"q": self._robot.nq, "v": self._robot.nv}
        starts = []
        for name, value, default in (("q", q, self._robot._q0), ("v", v, self._at_rest)):
            array = numbers(name, default if value is None else value)
            array = array[None] if array.ndim == 1 else array
            if array.ndim != 2 or array.shape[1] != sizes[name]:
                raise InvalidArgument(f"{name} has shape {array.shape}; give ({sizes[name]},) or (rows, {sizes[name]})")
            given.count(name, len(array))
            starts.append(array)
        count = given.number_of_rows()
        configurations, velocities = (np.broadcast_to(each, (count, each.shape[1])) for each in starts)
        end = np.empty((count, self.size))
        bad = self._core.reset(configurations, velocities, self._worlds, {"end": end})
        if bad >= 0:
            self._robot.check_configuration(configurations[bad], f"q[{bad}]")
            _checks.vector(f"v[{bad}]", velocities[bad])
        return end

    def vary(
        self,
        rows: Any,
        *,
        friction: Any = None,
        stiffness: Any = None,
        damping: Any = None,
        mass: Mapping[str, Any] | None = None,
        mass_factor: Mapping[str, Any] | None = None,
    ) -> None:
        """Gives rows materials and masses of their own, from now on, beside those they were given before.

        Of what is given by names, other names stay as they were; one value for all takes the place of all, and the
        other way round.

        A row is then what a simulator of a robot and a ground with these values comes to. Every value is one for all
        these rows, or an array of one to a row. Of a world without surfaces on bodies a row costs some tens of
        microseconds, with masses some hundreds, as what depends on inertia by default, such as the stiffness of joint
        limits, follows them; where bodies carry surfaces, as long as :meth:`exposim.Simulator.set`.

        Args:
            rows: Indices, a mask or a slice. The first call says how many rows there are: ``slice(64)``.
            friction: Of all contacts with the ground, or by names or globs of contact points, as of
                :meth:`exposim.Simulator.set`.
            stiffness: Likewise [N/m]; a tuple of two is (normal, tangential).
            damping: Likewise [N·s/m].
            mass: By names or globs of links [kg], as of :meth:`exposim.Robot.replace`.
            mass_factor: Likewise, as factors of the robot's own; ``mass`` goes before it.

        Raises:
            InvalidArgument: If nothing is given, or a value cannot be; nothing is changed.
        """
        if self._worlds and not self._changes:
            raise InvalidArgument(
                "the pool was made of a list of simulators, each of which says what its row is made of"
            )
        given = {
            name: value
            for name, value in (
                ("friction", friction),
                ("stiffness", stiffness),
                ("damping", damping),
                ("mass", mass),
                ("mass_factor", mass_factor),
            )
            if value is not None
        }
        if not given:
            raise InvalidArgument("vary was given nothing to change; give friction, stiffness, damping or masses")
        indices, count = checked_rows(rows, self.rows)
        columns = {name: per_row(name, value, len(indices)) for name, value in given.items()}
        before = self._changes or [{}] * count
        self._take(
            [
                (row, joined(before[row], {name: column[i] for name, column in columns.items()}))
                for i, row in enumerate(indices)
            ],
            count,
        )

    def _take(self, changes: list[tuple[int, dict[str, Any]]], count: int) -> None:
        """Changes of rows, of so many, in the place of those that they had: all or none."""
        variations = self._variations or Variations(self._simulators[0])
        found: list[tuple[int, dict[str, Any], _core.World]] = []
        for row, new in changes:
            same = found and found[-1][1] == new
            found.append((row, new, found[-1][2] if same else variations.world(new)))
        self._variations = variations
        self._changes = self._changes or [{} for _ in range(count)]
        self._worlds = self._worlds or [self._simulators[0]._world] * count
        for row, new, world in found:
            self._changes[row], self._worlds[row] = new, world

    def __call__(
        self,
        states: State | Sequence[State] | ArrayLike,
        taus: ArrayLike | None = None,
        targets: ArrayLike | None = None,
        target_velocities: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
        *,
        steps: int,
        every: int = 1,
        policy: Policy | None = None,
        commands: ArrayLike | None = None,
        record: Sequence[str] = ("q", "v"),
        out: RolloutResult | Mapping[str, Any] | None = None,
        progress: bool | Callable[[float], object] = False,
    ) -> RolloutResult:
        """Takes steps of dt from every state.

        Inputs have the shape (N, T, n): N rows, T steps. What is the same for all has 1 there, or leaves it out: (n,)
        is held, (T, n) is the same for all rows, (N, 1, n) is held by each. Nothing is copied out for that. While the
        call lasts, nobody may write to them.

        A row that diverges stays at its last good state, which its records repeat from there on; one whose input is not
        finite, likewise, from that step on; of a state that is none, the records are NaN. The others go on.

        Args:
            states: One for all rows, one to a row, or flat ones, (N, nx).
            taus: Joint torques [N·m or N], as of :meth:`exposim.Simulator.step`: n is nv, or one per actuated degree of
                freedom.
            targets: Of drives: n is nq, or one per actuated degree of freedom; by default ``robot.q0``.
            target_velocities: Likewise, n is nv, or one per actuated degree of freedom; by default at rest.
            wrenches: External forces and torques [N, N·m], six numbers in world axes by frame name.
            steps: T, of every row.
            every: Steps from record to record, of which T is a multiple: T' = T / every, record k is after step
                (k + 1) every.
            policy: Feedback that is added to what is given: an :class:`exposim.LinearPolicy` or :class:`exposim.MLP`.
            commands: That an MLP sees, held by each row, (n,) or (N, n).
            record: What is recorded: ``q``, ``v``, ``t``, ``states``, ``forces``, ``active``, ``torques``,
                ``actions`` (of the policy), ``events``. Without any, what a call needs does not grow with T.
            out: An earlier result of the same shape, or arrays by name, that are written into.
            progress: Whether to show how far it is; or a function of the share that is done, from 0 to 1.

        Raises:
            InvalidArgument: Of shapes that do not fit, before anything runs.
            StateMismatch: Of states of another simulator.
            KeyboardInterrupt: As soon as Ctrl-C is pressed; what was being written is then half written.

        Warns:
            ContactWarning: Once, of points that touch more surfaces than they have slots.
        """
        steps, every = _checks.count("steps", steps), _checks.count("every", every)
        if steps % every:
            raise InvalidArgument(
                f"every is {every}, of which {steps} steps are no multiple; give one that divides them"
            )
        names = _checked_record(record)
        given = RowInputs(steps)
        if self.rows is not None:
            given.count("the pool", self.rows)
        x = flat_states(states, self._layout, self._robot)
        given.count("states", len(x))
        if target_velocities is not None:
            self._inputs.refuse_without_drives("target_velocities")
        channels = (
            of_dofs("taus", taus, self._inputs, given),
            of_targets(targets, self._robot, self._inputs, given),
            of_dofs("target_velocities", target_velocities, self._inputs, given),
        )
        forces = of_wrenches(wrenches, self._robot, given)
        orders = _checked_commands(commands, policy, given)
        core_policy, actions = None, 0
        if policy is not None:
            core_policy, actions = policy._build(
                self._robot, self._inputs, given, 0 if orders is None else orders.shape[1]
            )
        elif "actions" in names:
            raise InvalidArgument("record has 'actions', but there is no policy whose they could be; leave it out")
        rows = given.number_of_rows()
        arrays = arrays_for(names, rows, steps // every, self._layout, actions, out)
        written = list(arrays.values()) if out is not None else []
        tau, target, velocity = (_channel(each, rows, steps, written) for each in channels)
        if x is not arrays["end"]:  # each row reads its own before it writes
            x = _apart(x, written)
        result = RolloutResult(arrays, self._about, steps)
        with _Shown(progress, rows * steps, self._about) as show:
            divergences, tables, overflows = self._core.run(
                np.broadcast_to(x, (rows, self.size)),
                steps,
                every,
                tau,
                target,
                velocity,
                [(joint, place, spread(_apart(each, written), rows, steps)) for joint, place, each in forces],
                core_policy,
                None if orders is None else np.broadcast_to(_apart(orders, written), (rows, orders.shape[1])),
                self._worlds,
                self.threads,
                arrays,
                "events" in names,
                show,
            )
        if overflows and not self._warned_of_overflow:
            self._warned_of_overflow = True
            warnings.warn(
                f"in some row a contact point touches more than {self._slots} surfaces at once; it remembers the "
                f"deepest: give Simulator(slots={self._slots + 1}) or more",
                ContactWarning,
                stacklevel=2,
            )
        return result._complete(divergences, tables if "events" in names else None)

    def linearize(
        self,
        states: State | Sequence[State] | ArrayLike,
        taus: ArrayLike | None = None,
        targets: ArrayLike | None = None,
        target_velocities: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
        *,
        dt: float | None = None,
        by: Literal["tau", "target", "nothing"] | None = None,
        parameters: Iterable[str] = (),
        exact: bool = True,
        method: Literal["auto", "differences"] = "auto",
    ) -> LinearizedRows:
        """Derivatives of one step from every state, each what :meth:`exposim.Simulator.linearize` gives: a horizon.

        ``A, B = pool.linearize(states, taus)``: (N, ndx, ndx) and (N, ndx, nu). Where a row's state or input cannot be,
        or its step diverges, both are NaN there.

        Args:
            states: As of a call: one for all, one to a row, or flat ones, (N, nx).
            taus: Joint torques, (n,) or (N, n): n is nv, or one per actuated degree of freedom.
            targets: Of drives, likewise.
            target_velocities: Likewise.
            wrenches: External forces and torques by frame name, (6,) or (N, 6).
            dt: Of the steps [s]; by default the pool's.
            by: What B is by: ``"tau"``, or ``"target"`` of drives; by default targets where they are given and torques
                are not. ``"nothing"``: neither, which takes less time; B has no columns.
            parameters: As of :meth:`exposim.Simulator.derivatives`: ``.parameters`` is (N, ndx, np). Of a pool whose
                rows are of one world.
            exact: As of :meth:`exposim.Simulator.derivatives`.
            method: Likewise.

        Raises:
            InvalidArgument: Of shapes that do not fit.
            StateMismatch: Of states of another simulator.
        """
        h = self.dt if dt is None else _checks.number("dt", dt, "[s]", least=_core.MIN_STEP)
        if by is None:
            by = "target" if targets is not None and taus is None else "tau"
        _checks.choice("by", by, ("tau", "target", "nothing"))
        differences = _checks.choice("method", method, ("auto", "differences")) == "differences"
        if by == "target":
            self._inputs.refuse_without_drives("by='target'")
        asked = self._asked(parameters)
        given = RowInputs(1)
        if self.rows is not None:
            given.count("the pool", self.rows)
        x = flat_states(states, self._layout, self._robot)
        given.count("states", len(x))
        channels = (
            of_dofs("taus", _one_step(taus), self._inputs, given),
            of_targets(_one_step(targets), self._robot, self._inputs, given),
            of_dofs("target_velocities", _one_step(target_velocities), self._inputs, given),
        )
        forces = of_wrenches(
            {name: _one_step(each) for name, each in wrenches.items()} if isinstance(wrenches, Mapping) else wrenches,
            self._robot,
            given,
        )
        rows = given.number_of_rows()
        names = tuple(each.name for each in asked)
        found = LinearizedRows.empty(rows, self._layout, self._tangent_size, self._robot, self._gains, by, names)
        tau, target, velocity = (_channel(each, rows, 1, []) for each in channels)
        self._core.linearize(
            np.broadcast_to(x, (rows, self.size)),
            tau,
            target,
            velocity,
            [(joint, place, spread(each, rows, 1)) for joint, place, each in forces],
            self._worlds,
            self.threads,
            h,
            self._parameters.pairs(asked) if self._parameters is not None else [],
            _checks.flag("exact", exact),
            differences,
            found.arrays,
        )
        return found

    def _asked(self, names: Iterable[str]) -> tuple[Parameter, ...]:
        if isinstance(names, tuple) and not names:
            return ()
        if self._worlds:
            raise InvalidArgument("parameters are asked of a pool whose rows differ in them; ask one of one simulator")
        if self._parameters is None:
            self._parameters = Parameters(self._simulators[0])
        return self._parameters.named(names)

    def _at(self, parameters: Parameters) -> Rollout:
        """The same in the world of these parameters."""
        other = copy.copy(self)
        other._parameters = parameters
        other._core = _core.Rollout(parameters.world((), ()), self._simulators[0].integrator._build(), self.dt)
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._simulators, self._threads, self._changes)

    def __repr__(self) -> str:
        rows = "" if self.rows is None else f", {self.rows} rows"
        return f"Rollout({self._robot.name!r}, dt={self.dt:g} s, {self.threads} threads{rows})"


def _restore(simulators: tuple[Simulator, ...], threads: int, changes: list[dict[str, Any]]) -> Rollout:
    pool = Rollout(simulators, threads)
    if changes:
        pool._take(list(enumerate(changes)), len(changes))
    return pool


def _one_step(value: Any) -> Any:
    """(n,) or (rows, n) as (rows, 1, n); what is neither is left for the checks to judge."""
    if value is None:
        return None
    array = numbers("input", value)
    return array[:, None] if array.ndim == 2 else array


def _processors() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


class _Shown:
    """What the core calls now and then, with the number of steps taken."""

    def __init__(self, progress: Any, steps: int, about: About):
        if not (isinstance(progress, bool) or callable(progress)):
            raise InvalidArgument(f"progress is {progress!r}; give True, False or a function of the share that is done")
        self._progress = progress
        self._steps = steps
        self._line = Line(f"rollout of {about.robot.name}", sys.stderr) if progress is True else None

    def __enter__(self) -> Callable[[int], object] | None:
        if self._line is not None:
            return self._show
        return (lambda done: self._progress(done / self._steps)) if self._progress is not False else None

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.clear()

    def _show(self, done: int) -> None:
        if self._line is not None and self._line.is_due:
            speed = done / self._line.seconds
            left = f" · {clock((self._steps - done) / speed)} left" if speed else ""
            self._line.show(f"{done} / {self._steps} steps · {speed:.3g} steps/s{left}", done / self._steps)


def _simulators_of(given: Any) -> tuple[Simulator, ...]:
    """One, or several that can be rows of one rollout."""
    if isinstance(given, Simulator):
        return (given,)
    simulators = _checks.several("simulator", given, "an exposim.Simulator, or a list of them")
    if not simulators or not all(isinstance(each, Simulator) for each in simulators):
        raise InvalidArgument(f"simulator is {given!r}; give an exposim.Simulator, or a list of them")
    first = simulators[0]
    for i, each in enumerate(simulators):
        for what, own, other in (
            ("states of the layout", first._layout, each._layout),
            ("dt", first.dt, each.dt),
            ("integrator", repr(first.integrator), repr(each.integrator)),
            ("contacts", first._labels, each._labels),
            ("actuated joints", first.robot.actuated_joints, each.robot.actuated_joints),
        ):
            if own != other:
                raise InvalidArgument(
                    f"simulator[{i}] has {what} {other}, the first one {own}; give simulators that differ in masses, "
                    f"materials or terrains alone"
                )
    return simulators


def _checked_record(record: Any) -> tuple[str, ...]:
    names = _checks.several("record", record, f"a list of {', '.join(RECORDS)}")
    for name in names:
        if name == "sensors":
            raise InvalidArgument(
                "record has 'sensors', which rollouts do not read; record 'states' and set a simulator with sensors "
                "to them, or take what you need of q, v, forces and torques"
            )
        if name not in RECORDS:
            near = did_you_mean(str(name), RECORDS)
            raise InvalidArgument(f"record has {name!r}{near}; there are {', '.join(RECORDS)}")
    return names


def _checked_commands(commands: Any, policy: Policy | None, given: RowInputs) -> Array | None:
    if policy is not None and not isinstance(policy, Policy):
        raise InvalidArgument(f"policy is {policy!r}; give an exposim.LinearPolicy or an exposim.MLP")
    sees = policy is not None and policy.takes_commands
    if commands is None:
        if sees:
            raise InvalidArgument("the policy sees a command, but there is none; give commands=, (n,) or (rows, n)")
        return None
    if not sees:
        raise InvalidArgument("commands is given, but no policy that sees them; leave it out")
    array = numbers("commands", commands)
    array = array[None] if array.ndim == 1 else array
    if array.ndim != 2:
        raise InvalidArgument(f"commands has shape {array.shape}; give (n,) or (rows, n)")
    given.count("commands", len(array))
    return _checks.finite("commands", array)


def _channel(channel: Channel | None, rows: int, steps: int, written: list[Any]) -> Channel | None:
    return None if channel is None else (spread(_apart(channel[0], written), rows, steps), channel[1])


def _apart(array: Array, written: list[Any]) -> Array:
    """The array, or a copy of one that is about to be written over."""
    return array.copy() if any(np.may_share_memory(array, each) for each in written) else array
