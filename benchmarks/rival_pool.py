"""`mujoco.rollout` in the place of our pool, for benchmarks/envs.py: the task of an environment, simulated by MuJoCo.

A flat state is one of ours, of which q and v count, with MuJoCo's own behind it.
"""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

import exposim as xs
from exposim.contact.modes import MODES
from rival import Mujoco

CONTROL = mujoco.mjtState.mjSTATE_CTRL | mujoco.mjtState.mjSTATE_QFRC_APPLIED
PHYSICS = mujoco.mjtState.mjSTATE_FULLPHYSICS


class MujocoPool:
    """What `exposim.envs` asks of a pool, of rows with models of their own.

    Args:
        envs: A vector environment of ours.
    """

    def __init__(self, envs: xs.envs.RobotVectorEnv):
        task = envs.task
        material = task.ground[0].material
        self._task, self._nx = task, envs._batch._layout.size
        self._rival = Mujoco(task.robot, mujoco.mjtIntegrator.mjINT_DISCRETE, task.dt, material)
        self._models = [copy.copy(self._rival.model) for _ in range(envs.num_envs)]
        self._stiffness = material.stiffness
        self._pool = rollout.Rollout(nthread=1)
        self._layout = envs._batch._layout
        drives = list(task.robot.drives.values())
        self._kp, self._kd = np.array([each.kp for each in drives]), np.array([each.kd for each in drives])

    @classmethod
    def put_into(cls, envs: Any) -> None:
        """Let an environment be simulated by MuJoCo."""
        batch = envs._batch
        batch._pool = batch._starter = pool = cls(envs)
        batch.x = pool.reset(*batch._parts(batch.x))

    def vary(self, rows: np.ndarray, friction: Any = None, stiffness: Any = None, mass: Any = None) -> None:
        """Masses, friction and stiffness of rows."""
        nominal = self._rival.model
        for i, row in enumerate(np.arange(len(self._models))[rows]):
            model = self._models[row]
            if friction is not None:
                model.geom_friction[:, 0] = friction[i]
            if stiffness is not None:
                model.geom_solref[:, 0] = nominal.geom_solref[:, 0] * stiffness[i] / np.max(self._stiffness)
            for base, values in (mass or {}).items():
                factor = values[i] / self._task.robot.masses[base]
                model.body_mass[1] = nominal.body_mass[1] * factor
                model.body_inertia[1] = nominal.body_inertia[1] * factor

    def reset(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Flat states at q and v."""
        made = []
        for one, velocity in zip(q, v, strict=True):
            self._rival.reset(one, velocity)
            state = np.empty(mujoco.mj_stateSize(self._rival.model, PHYSICS))
            mujoco.mj_getState(self._rival.model, self._rival.data, state, PHYSICS)
            made.append(state)
        return self._flat(q, v, np.array(made))

    def __call__(
        self, x: np.ndarray, *, targets: np.ndarray, wrenches: Any, steps: int, record: tuple[str, ...]
    ) -> SimpleNamespace:
        """Steps with held targets."""
        model, n = self._rival.model, len(x)
        control = np.zeros((n, steps, model.nu + model.nv))
        control[:, :, self._rival._in_ctrl] = targets[:, :, self._rival._driven]
        for wrench in (wrenches or {}).values():
            control[:, :, model.nu : model.nu + 3] = wrench[:, :, :3]
        states, _ = self._pool.rollout(
            self._models, [self._rival.data], x[:, self._nx :], control, control_spec=int(CONTROL), nstep=steps
        )
        q, v = self._ours(states)
        torques = np.zeros_like(v)
        torques[:, :, 6:] = self._kp * (targets - q[:, :, 7:]) - self._kd * v[:, :, 6:]
        status = np.zeros(n, dtype=int)
        end = self._flat(q[:, -1], v[:, -1], states[:, -1])
        return SimpleNamespace(end=end, status=status, q=q, v=v, torques=torques, reason=lambda row: "")

    def _ours(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Our q and v of MuJoCo's states, (n, steps, size): time, then positions, then velocities."""
        nq, nv = self._rival.model.nq, self._rival.model.nv
        theirs, velocities = states[..., 1 : 1 + nq], states[..., 1 + nq : 1 + nq + nv]
        q = np.concatenate(
            [theirs[..., :3], theirs[..., 4:7], theirs[..., 3:4], theirs[..., self._rival._in_q]], axis=-1
        )
        w, r = theirs[..., 3:4], -theirs[..., 4:7]  # turned back into the axes of the base
        u = velocities[..., :3]
        linear = u + 2.0 * np.cross(r, np.cross(r, u) + w * u)
        v = np.concatenate([linear, velocities[..., 3:6], velocities[..., self._rival._in_v]], axis=-1)
        return q, v

    def _flat(self, q: np.ndarray, v: np.ndarray, theirs: np.ndarray) -> np.ndarray:
        x = np.zeros((len(q), self._nx + theirs.shape[1]))
        nq = q.shape[1]
        x[:, 1 : 1 + nq], x[:, 1 + nq : 1 + nq + v.shape[1]], x[:, self._nx :] = q, v, theirs
        self._layout.memory(x)[:, :, 1] = MODES.index("sticking")  # MuJoCo's states do not say
        return x
