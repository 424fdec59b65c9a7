"""How episodes begin: all that is drawn for them, from numbers between 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from exposim._checks import Array
from exposim.envs.pushes import between
from exposim.envs.task import Task


@dataclass
class Start:
    """Of some rows: q, v, command (n, ...); delay and time of the first push [s], (n,); their own worlds."""

    q: Array
    v: Array
    command: Array
    delay: Array
    first_push: Array
    worlds: dict[str, Any]


class Starts:
    """Draws starts of a task.

    Args:
        task: That says within which bounds.
    """

    def __init__(self, task: Task):
        self._task = task
        sizes = {
            "command": len(task.command),
            "idle": 1,
            "friction": 1,
            "mass": 1,
            "stiffness": 1,
            "delay": 1,
            "push": 1,
            "heading": 1,
            "place": 2,
            "posture": len(task.standing),
            "speed": 6,
        }
        ends = np.cumsum(list(sizes.values()))
        self._slices = {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}
        self.numbers = int(ends[-1])
        """That a start is made of, whatever of it is used: so that one more setting changes no other."""
        self._bounds = np.array(task.command).reshape(-1, 2)

    def draw(self, shares: Array) -> Start:
        """From numbers between 0 and 1, (n, numbers)."""
        task = self._task
        drawn, sensing = task.randomise, task.sensing
        part = {name: shares[:, where] for name, where in self._slices.items()}
        low, high = self._bounds.T
        command = (low + (high - low) * part["command"]) * (part["idle"] >= task.idle)
        worlds: dict[str, Any] = {
            name: between(bounds, part[name][:, 0])
            for name, bounds in {"friction": drawn.friction, "stiffness": drawn.stiffness}.items()
            if bounds is not None
        }
        if drawn.mass is not None:
            worlds["mass"] = {task.base: task.robot.masses[task.base] * between(drawn.mass, part["mass"][:, 0])}
        return Start(
            self._configurations(part),
            self._velocities(part["speed"]),
            command,
            between(sensing.delay, part["delay"][:, 0]),
            between(drawn.push_every, part["push"][:, 0]),
            worlds,
        )

    def _configurations(self, part: dict[str, Array]) -> Array:
        task = self._task
        q = np.repeat(task.robot.q0[None], len(part["place"]), axis=0)
        q[:, :2] += task.starts * (2.0 * part["place"] - 1.0)
        if task.headings:
            half = np.pi * part["heading"][:, 0]
            cos, sin = np.cos(half), np.sin(half)
            x, y, z, w = q[:, 3:7].T.copy()
            q[:, 3:7] = np.column_stack([cos * x - sin * y, cos * y + sin * x, cos * z + sin * w, cos * w - sin * z])
        q[:, 1:][:, task.joints] += task.randomise.posture * (2.0 * part["posture"] - 1.0)
        above = np.array([0.0, 0.0, task.standing_height])
        for each in q:
            bottoms = task.points.bottoms(each)
            gap = float((bottoms[:, 2] - task.below(bottoms + above)).min())
            each[2] -= gap if np.isfinite(gap) else 0.0
        return q

    def _velocities(self, shares: Array) -> Array:
        v = np.zeros((len(shares), self._task.robot.nv))
        v[:, :6] = self._task.randomise.speed * (2.0 * shares - 1.0)
        return v
