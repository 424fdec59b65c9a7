"""Energy that everything which acts on a robot puts in, step by step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.simulation.energy import in_contacts, in_limits
from exposim.simulation.flight_dump import Call
from exposim.simulation.integrators import Expo, ImplicitEuler, PaperExpo
from exposim.simulation.simulator import Simulator

TOO_MUCH = 1e200  # [J], what stands for energies that no float holds


class Source(NamedTuple):
    """What can put energy into a robot.

    Args:
        kind: ``"joint"``, ``"contact"`` or ``"wrench"``.
        name: Of the joint, the contact or the frame.
        by: What of it: of a joint ``"motor"``, ``"damper"``, ``"dry friction"``, ``"limit"`` or ``"given torque"``.
    """

    kind: str
    name: str
    by: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" + (f" (its {self.by})" if self.by else "")


class Instant(NamedTuple):
    """What is read at the end of a step.

    Args:
        t: [s]
        q: (nq,)
        v: (nv,)
        forces: Of the contacts now, (nc, 3).
        mean_forces: In the step that led here, (nc, 3).
        positions: Of the contact points, (nc, 3).
        touched: Numbers of the surfaces that they touch, (nc,); negative: none.
        motors: Mean torques of the step that led here, (nv,).
        limits: Likewise.
        friction: Dry, now, (nv,).
        in_contacts: Energy of each now [J], (nc,).
        in_limits: Likewise, (nv,).
        energy: Its four parts [J].
    """

    t: float
    q: Array
    v: Array
    forces: Array
    mean_forces: Array
    positions: Array
    touched: NDArray[np.int32]
    motors: Array
    limits: Array
    friction: Array
    in_contacts: Array
    in_limits: Array
    energy: tuple[float, float, float, float]

    @classmethod
    def of(cls, sim: Simulator) -> Instant:
        """Of a simulator, now."""
        core, energy = sim._core, sim.energy
        motors = np.zeros(sim.robot.nv)
        motors[sim.robot.actuated_dofs] = core.torques
        return cls(
            core.t,
            core.q,
            core.v,
            core.forces,
            core.lam_pr,
            core.positions,
            core.touched,
            motors,
            core.mean_limit_forces,
            core.friction_torques,
            in_contacts(core, sim._ask.materials(core)),
            in_limits(sim._laws, core.q),
            (energy.kinetic, energy.gravity, energy.contacts, energy.joints),
        )


class Sources:
    """Energy that everything which acts on a robot puts in, step by step: its work, and what its springs store.

    Of a spring that is integrated well that is nothing, and of a damper less. Work is mean force times way. Of a scheme
    that follows forces through the step it is the way that was gone, which is exact of what is held. Of the others it
    is the mean velocity where the step began, times the step: that is the energy which such a force adds, also where it
    is so large that the way has nothing to do with it.
    """

    def __init__(self, sim: Simulator):
        self._sim = sim
        robot = sim.robot
        model = robot.model
        self._joints = {
            str(model.names[i]): slice(model.joints[i].idx_v, model.joints[i].idx_v + model.joints[i].nv)
            for i in range(1, model.njoints)
        }
        self._free = np.setdiff1d(np.arange(robot.nv), robot.actuated_dofs)
        self._damping = robot.joint_damping
        self._labels = sim._labels
        self._frames = [point.frame for point in sim.contact_points]
        self._ask = sim._ask.frames
        self._follows = isinstance(sim.integrator, (Expo, PaperExpo))

    def work(self, before: Instant, now: Instant, call: Call) -> dict[Source, float]:
        """Of each source in a step [J]."""
        dt, v = now.t - before.t, 0.5 * (before.v + now.v)
        way = np.asarray(pin.difference(self._sim.robot.model, before.q, now.q)) if self._follows else dt * v
        given = np.zeros(len(way))
        given[self._free] = call.tau[self._free]
        parts = {
            "motor": now.motors * way,
            "given torque": given * way,
            "limit": now.limits * way + now.in_limits - before.in_limits,
            "dry friction": before.friction * way,
            "damper": -self._damping * self._braked(before.v, now.v) * way,
        }
        found = {
            Source("joint", name, by): float(values[dofs].sum())
            for by, values in parts.items()
            if values.any()
            for name, dofs in self._joints.items()
        }
        stored = now.in_contacts - before.in_contacts
        for i in np.flatnonzero(now.mean_forces.any(axis=1) | (stored != 0.0)):
            surface = max(before.touched[i], now.touched[i])
            carrier = None if surface < 0 else self._sim.surfaces[surface].frame
            at = before.positions[i]
            moved = now.positions[i] - at if self._follows else dt * self._velocity(self._frames[i], before.q, v, at)
            if carrier is not None:
                moved = moved - dt * self._velocity(carrier, before.q, v, at)
            found[Source("contact", self._labels[i])] = float(now.mean_forces[i] @ moved + stored[i])
        for frame, wrench in call.wrenches.items():
            found[Source("wrench", frame)] = dt * float(wrench @ self._ask.velocity(frame, before.q, v))
        return found

    def _velocity(self, frame: str, q: Array, v: Array, at: Array) -> Array:
        """Of a body at a place in the world [m/s], (3,)."""
        twist = self._ask.velocity(frame, q, v)
        return np.asarray(twist[:3] + np.cross(twist[3:], at - self._ask.pose(frame, q).translation))

    def _braked(self, before: Array, now: Array) -> Array:
        """The velocity that dampers of joints act against, which explicit schemes take from the start of a step."""
        scheme = self._sim.integrator
        return (
            0.5 * (before + now) if isinstance(scheme, Expo) else now if isinstance(scheme, ImplicitEuler) else before
        )


def by_source(rows: list[dict[Source, float]]) -> dict[Source, Array]:
    """By source; without those that never did anything."""
    sources = dict.fromkeys(source for row in rows for source in row)
    made = {source: np.nan_to_num([row.get(source, 0.0) for row in rows], posinf=TOO_MUCH) for source in sources}
    return {source: values for source, values in made.items() if values.any()}
