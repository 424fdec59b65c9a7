"""What a file of a trajectory says beside its arrays, declared once."""

from __future__ import annotations

from dataclasses import dataclass

from exposim.robots.robot import Robot
from exposim.simulation.records import Record


@dataclass(frozen=True)
class Outcome(Record):
    """How a run ended.

    Args:
        finished: Whether all of the planned time was simulated.
        steps: That were taken.
        diverged_at: When it diverged [s], if it did.
        divergence: How, with advice.
        next_step: That would be tried [s], where steps are chosen by accuracy.
        unrecorded: What moved the robot and is not among the arrays, so that it cannot be moved in the same way again.
    """

    finished: bool
    steps: int
    diverged_at: float | None
    divergence: str | None
    next_step: float | None = None
    unrecorded: str | None = None


@dataclass(frozen=True)
class Columns(Record):
    """Names of the entries of q, v and tau, of what has dry friction, and of the frames that wrenches acted at."""

    q: tuple[str, ...]
    v: tuple[str, ...]
    tau: tuple[str, ...]
    friction: tuple[str, ...]
    wrench: tuple[str, ...] = ()

    @classmethod
    def of(cls, robot: Robot, wrench: tuple[str, ...] = ()) -> Columns:
        """Of a robot, on which wrenches act at some frames."""
        model = robot.model
        q: list[str] = []
        v: list[str] = []
        for i in range(1, model.njoints):
            joint, name = model.joints[i], model.names[i]
            if joint.shortname() == "JointModelFreeFlyer":
                q += [f"{name}_{axis}" for axis in ("x", "y", "z", "qx", "qy", "qz", "qw")]
                v += [f"{name}_{axis}" for axis in ("vx", "vy", "vz", "wx", "wy", "wz")]
                continue
            q += [name] if joint.nq == 1 else [f"{name}_{k}" for k in range(joint.nq)]
            v += [name] if joint.nv == 1 else [f"{name}_{k}" for k in range(joint.nv)]
        rough = [v[i] for i, friction in enumerate(robot.dry_friction) if friction.static]
        return cls(tuple(q), tuple(v), tuple(v[i] for i in robot.actuated_dofs), tuple(rough), wrench)


@dataclass(frozen=True)
class ContactColumn(Record):
    """One contact of the arrays.

    Args:
        name: Of the contact point.
        frame: That it is fixed to.
        surface: Number of the surface it may touch; ``None`` for a bilateral one, or a slot of changing surfaces.
        friction: Coefficient, where there is one.
    """

    name: str
    frame: str
    surface: int | None
    friction: float | None
