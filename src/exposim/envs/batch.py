"""Rows of a task, moved together: all there is to an environment but Gymnasium's ways of asking for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from exposim import _checks
from exposim._checks import Array
from exposim.contact.modes import OPEN
from exposim.envs.draws import Draws, Floats, Index
from exposim.envs.observing import Observing
from exposim.envs.pushes import Pushes
from exposim.envs.rows import Flags, Rows
from exposim.envs.starts import Starts
from exposim.envs.task import Task
from exposim.errors import InvalidArgument
from exposim.simulation.rollout import Rollout


@dataclass
class Outcome:
    """Of a period: reward, its terms by name, and what ended, a number for each row."""

    reward: Array
    terms: dict[str, Array]
    terminated: Flags
    truncated: Flags
    diverged: Flags
    reasons: dict[int, str]  # why, of rows that diverged


class Batch:
    """Rows of a task. None depends on another, or on how many there are.

    Args:
        task: What each is about.
        count: How many.
        limit: Periods after which an episode is truncated; ``None``: never.
        threads: That simulate; by default as many as there are cores.
    """

    def __init__(self, task: Task, count: int, limit: int | None, threads: int | None = None):
        self.task = task
        self.count = count
        self.limit = limit
        self.threads = threads
        self.diverged = 0
        """Rows that diverged so far."""
        na, k = len(task.standing), len(task.command)
        self._size = na
        self._every = np.arange(count)
        self.command = np.zeros((count, k))
        self._action, self._before = np.zeros((count, na)), np.zeros((count, na))
        self._torques = np.zeros((count, task.steps, na))
        self._elapsed = np.zeros(count, dtype=int)
        self._pushes = Pushes(task, count)
        self._starts = Starts(task)
        self._worlds: dict[str, Any] = {}  # of all rows, as the pool was told last
        self._make_pool()
        feet = len(task.points.frames)
        self._touching = np.ones((count, feet), dtype=bool)
        self._landed = np.zeros((count, feet), dtype=bool)
        self._air = np.zeros((count, feet))
        q0 = np.repeat(task.robot.q0[None], count, axis=0)
        self.x: Array = np.array(self._starter.reset(q0, np.zeros((count, task.robot.nv))))
        """Flat states of the rows, (count, nx)."""
        self._observing = Observing(task, self._rows(self._every))
        self._observing.begin(self._every, *self._parts(self.x), np.zeros(count))
        self._draws = Draws([np.random.default_rng(0)] * count, self._observing.noisy)
        self.observed = self._observing.size
        """Numbers of an observation."""

    def _make_pool(self) -> None:
        sim = self.task.simulator
        self._pool = Rollout(sim, self.threads)
        self._starter = Rollout(sim, threads=1)  # rows begin in the world as it is, whichever they are
        layout, contacts = sim._layout, sim._world.contacts
        foot_of = self.task.points.foot_of
        self._layout = layout
        # Contacts of a foot's points, with whatever they touch.
        self._of_foot = np.array([[point is not None and foot_of[point] == foot for point, _ in contacts]
                                  for foot in range(len(self.task.points.frames))], dtype=float).T  # fmt: skip

    # Randomness.

    def seed(self, row: int, generator: np.random.Generator) -> None:
        """Gives a row a generator of its own, from which all of its randomness comes."""
        self._draws.begin(row, generator)

    @property
    def generators(self) -> tuple[np.random.Generator, ...]:
        """Of the rows."""
        return tuple(self._draws.generators)

    # Moving.

    def restart(self, rows: Index, command: Array | None = None) -> None:
        """Begins new episodes of these rows; their commands are drawn, if they are not given, (len(rows), k)."""
        start = self._starts.draw(self._draws.uniform(rows, self._starts.numbers))
        if start.worlds:
            self._keep(rows, start.worlds)
            self._pool.vary(slice(self.count) if len(rows) == self.count else rows, **start.worlds)
        self.command[rows] = start.command if command is None else command
        x = self._starter.reset(start.q, start.v)
        self.x[rows] = x
        self._action[rows] = self._before[rows] = 0.0
        self._torques[rows] = 0.0
        self._elapsed[rows] = 0
        self._touching[rows], self._landed[rows], self._air[rows] = True, False, 0.0
        self._pushes.begin(rows, start.first_push)
        self._observing.begin(rows, *self._parts(x), start.delay)

    def advance(self, actions: Any, resting: Flags | None = None) -> Outcome:
        """A period with an action for every row, (count, na); those that rest are restarted in its place."""
        action = self._checked(actions)
        task, live = self.task, None if resting is None or not resting.any() else ~resting
        wrenches = self._pushes.wrenches(self._elapsed, live, self._draws)
        targets = task.held + task.action_scale * action
        out = self._pool(
            self.x, targets=targets[:, None], wrenches=wrenches, steps=task.steps, record=self._observing.records
        )
        self.x = out.end
        self._before, self._action = self._action, action
        self._torques = out.torques[:, :, task.joints]
        self._elapsed += 1
        self._observing.see(out)
        self._feel()
        diverged = np.asarray(out.status != 0)
        if resting is not None and live is not None:
            self.restart(np.flatnonzero(resting))
            diverged &= live
        return self._judged(diverged, live, out)

    def _feel(self) -> None:
        """What feet touch, and for how long they do not."""
        modes = self._layout.memory(self.x)[:, :, 1]
        touching = (modes != OPEN).astype(float) @ self._of_foot > 0.0
        before = np.where(self._touching, 0.0, self._air)
        self._air = np.where(self._touching & touching, 0.0, before + self.task.period)
        self._landed, self._touching = touching & ~self._touching, touching

    def _judged(self, diverged: Flags, live: Flags | None, out: Any) -> Outcome:
        task, rows = self.task, self._rows(self._every)
        failed = np.asarray(task.terminate(rows))
        if failed.shape != (self.count,) or failed.dtype != bool:
            raise InvalidArgument(f"terminate gave {failed.dtype} of shape {failed.shape}; give bool, ({self.count},)")
        terminated = failed | diverged
        if live is not None:
            terminated &= live
        rows.terminated = terminated
        terms = self._rewards(rows)
        if live is not None:
            terms *= live
        truncated = np.zeros(self.count, dtype=bool) if self.limit is None else self._elapsed >= self.limit
        reasons: dict[int, str] = {}
        if diverged.any():
            reasons = {int(row): str(out.reason(int(row))) for row in np.flatnonzero(diverged)}
            self.diverged += len(reasons)
        by_name = dict(zip(task.terms, terms, strict=True))
        total = sum(terms, np.zeros(self.count))  # one after the other: a sum of NumPy goes by the number of rows
        return Outcome(total, by_name, terminated, truncated, diverged, reasons)

    def _rewards(self, rows: Rows) -> Array:
        """The terms, weighted, (terms, count)."""
        found = np.empty((len(self.task.terms), self.count))
        for row, (name, (weight, term)) in zip(found, self.task.terms.items(), strict=True):
            value = term(rows)
            if np.shape(value) != (self.count,):
                raise InvalidArgument(f"reward {name!r} gave shape {np.shape(value)}; give ({self.count},)")
            np.multiply(value, weight * self.task.period, out=row)
        if not np.isfinite(found).all():
            name = next(name for name, row in zip(self.task.terms, found, strict=True) if not np.isfinite(row).all())
            raise InvalidArgument(f"reward {name!r} gave numbers that are not finite; give a finite one for each row")
        return found

    def observe(self, rows: Index | None = None) -> Floats:
        """What policies see of these rows, by default all, (len(rows), observed)."""
        which = self._every if rows is None else rows
        noise = self._draws.normal(which) if self._observing.noisy else None
        return self._observing.observation(which, self._rows(which), noise)

    def _rows(self, rows: Index) -> Rows:
        task, every = self.task, rows is self._every
        pick: Any = slice(None) if every else rows
        q, v = self._parts(self.x[pick])
        return Rows(
            q,
            v,
            self.command[pick],
            self._action[pick],
            self._before[pick],
            self._torques[pick],
            self._touching[pick],
            self._landed[pick],
            self._air[pick],
            self._elapsed[pick] * task.period,
            np.zeros(len(q), dtype=bool),
            task.standing,
            task.standing_height,
            task.joints,
            task.below,
            task.period,
        )

    def _parts(self, x: Array) -> tuple[Array, Array]:
        """Configurations and velocities of flat states."""
        end = 1 + self._layout.nq
        return x[:, 1:end], x[:, end : end + self._layout.nv]

    def _checked(self, actions: Any) -> Array:
        array = _checks.as_array("action", actions)
        if array.shape != (self.count, self._size):
            raise InvalidArgument(
                f"actions have shape {array.shape}; give ({self.count}, {self._size}): one for each actuated joint"
            )
        return np.clip(_checks.finite("action", array), -1.0, 1.0)

    # Copies.

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in vars(self).items()
            if name not in ("_pool", "_starter", "_layout", "_of_foot")
        }

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept)
        self._make_pool()
        if self._worlds:
            self._pool.vary(slice(self.count), **self._worlds)

    def _keep(self, rows: Index, worlds: dict[str, Any]) -> None:
        """For copies."""
        for name, values in worlds.items():
            if isinstance(values, dict):
                kept = self._worlds.setdefault(name, {link: np.empty(self.count) for link in values})
                for link, value in values.items():
                    kept[link][rows] = value
            else:
                self._worlds.setdefault(name, np.empty(self.count))[rows] = values
