"""A named, complete setting: everything that experiments, the command line and demos start from."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks
from exposim.contact.surfaces import HalfSpace, Surface, altered, surfaces_of
from exposim.errors import InvalidArgument
from exposim.robots.joints import Drive
from exposim.robots.robot import Robot
from exposim.scenarios.measures import Judgement, judge_upright
from exposim.scenarios.progress import shown
from exposim.scenarios.run import PERIOD_TOLERANCE, Run
from exposim.scenarios.sensed import checked_sensors
from exposim.simulation.collisions import Collisions, checked_pairs
from exposim.simulation.integrators import Integrator
from exposim.simulation.sensing import Sensor
from exposim.simulation.settings import Origin
from exposim.simulation.state import State
from exposim.simulation.trajectory import Trajectory


class Controller(Protocol):
    """Torques of the actuated joints from time and state.

    One that remembers something from call to call, beyond what ``state`` holds, has an attribute ``memory``, a mapping
    from names to arrays that can be read and set; a resumed run then continues with the same bits. One with a parameter
    ``readings`` is given those of the scenario's sensors by it: ``controller(t, state, readings={"imu": ...})``.
    """

    def __call__(self, t: float, state: State) -> ArrayLike:
        """Torques to hold over the control period that begins at t [s]."""
        ...


@dataclass(frozen=True, eq=False)
class Scenario:
    """A robot, the ground, a controller, and how long.

    Args:
        name: For messages, tables and folders.
        robot: From :func:`exposim.load_robot`.
        make_controller: Makes a fresh controller for every run; ``None`` for no torques. Where the robot has drives,
            its torques are added to theirs.
        control_period: Torques, targets and wrenches are held this long [s].
        duration: Of the motion [s].
        description: One line.
        ground: One surface, several, or none.
        collisions: Which robots of a combined one may touch each other, as :class:`exposim.Simulator` takes it; kept as
            pairs of names.
        dt: Step that Expo takes by default [s]; the control period unless the motion asks for less. Never more, unless
            nothing is held.
        q0: Configuration to start from, (nq,); by default ``robot.q0``.
        v0: Velocity to start with, (nv,); by default at rest.
        disturbance: External wrenches at a time, as :meth:`exposim.Simulator.step` takes them; held like the torque.
        target: Where the robot's drives shall be at a time, as :meth:`exposim.Simulator.step` takes it; held like the
            torque. ``None``: at ``robot.q0``.
        sensors: By name; every run has its own, as they were made. A controller that has a parameter ``readings`` is
            given their readings by it, a mapping from these names; ``trajectory.readings`` has all samples.
        judge: Measures what the robot did, and says where it failed.
        origin: How to find the scenario again; filled in by :func:`exposim.scenarios.get`.
    """

    name: str
    robot: Robot
    make_controller: Callable[[], Controller] | None
    control_period: float
    duration: float
    description: str = ""
    ground: Surface | tuple[Surface, ...] | None = field(default_factory=HalfSpace)
    collisions: Collisions = None
    dt: float | None = None
    q0: ArrayLike | None = None
    v0: ArrayLike | None = None
    disturbance: Callable[[float], Mapping[str, ArrayLike]] | None = None
    target: Callable[[float], ArrayLike] | None = None
    sensors: Mapping[str, Sensor[Any]] = field(default_factory=dict)
    judge: Callable[[Trajectory], Judgement] = judge_upright
    origin: Origin | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InvalidArgument(f"name is {self.name!r}; give the scenario a name")
        if not isinstance(self.robot, Robot):
            raise InvalidArgument(f"robot is a {type(self.robot).__name__}; give what exposim.load_robot returns")
        if self.make_controller is not None and not callable(self.make_controller):
            raise InvalidArgument("make_controller is not callable; give a function that returns a controller")
        if self.target is not None and not callable(self.target):
            raise InvalidArgument("target is not callable; give a function of time that returns a posture")
        put = object.__setattr__
        put(self, "sensors", checked_sensors(self.sensors))
        put(self, "control_period", _checks.number("control_period", self.control_period, "[s]", above=0.0))
        put(self, "duration", _checks.number("duration", self.duration, "[s]", above=0.0))
        put(self, "ground", surfaces_of(self.ground))
        put(self, "collisions", checked_pairs(self.collisions, self.robot))
        dt = self.control_period if self.dt is None else self.dt
        put(self, "dt", _checks.number("dt", dt, "[s]", above=0.0))
        if self.is_controlled and self.dt > self.control_period * (1.0 + PERIOD_TOLERANCE):  # type: ignore[operator]
            raise InvalidArgument(
                f"dt is {self.dt:g} s, but {self.name!r} holds its inputs for a control period of "
                f"{self.control_period:g} s; give a dt of at most that, or a longer control_period"
            )
        q0, nv = self.robot.q0 if self.q0 is None else self.q0, self.robot.nv
        put(self, "q0", self.robot.check_configuration(q0, "q0"))
        v0 = np.zeros(nv) if self.v0 is None else self.v0
        put(self, "v0", _checks.vector("v0", v0, nv, f"nv of {self.robot.name}"))

    @property
    def is_controlled(self) -> bool:
        """Whether anything is held over control periods: torques, targets or wrenches."""
        return not (self.make_controller is None and self.target is None and self.disturbance is None)

    def replace(self, **changes: Any) -> Scenario:
        """The same with some fields changed."""
        return dataclasses.replace(self, **changes)

    def with_material(self, **properties: Any) -> Scenario:
        """On ground with another ``stiffness`` [N/m], ``damping`` [N·s/m] or ``friction``; the rest stays.

        All surfaces of the ground change. Contact points with a material of their own keep it, and so do the shapes
        that bodies carry: contact between bodies stays as it is (``robot.replace(shapes=...)`` changes that).
        """
        surfaces = surfaces_of(self.ground)
        if not surfaces:
            raise InvalidArgument(f"scenario {self.name!r} has no ground whose material could be changed")
        changed = (
            altered(surface, "material", dataclasses.replace(surface.material, **properties)) for surface in surfaces
        )
        return self.replace(ground=tuple(changed))

    def with_drives(self, drive: Drive) -> Scenario:
        """With a drive on every actuated joint, towards the scenario's targets, or else towards ``robot.q0``.

        Raises:
            InvalidArgument: If the scenario has a controller and states no targets: drives that hold ``robot.q0`` would
                work against its torques.
        """
        if self.make_controller is not None and self.target is None:
            raise InvalidArgument(
                f"scenario {self.name!r} moves {self.robot.name!r} by the torques of its controller, against which "
                f"drives (kp, kd) would hold it at robot.q0; leave them out, or let the scenario state targets "
                f"(Scenario.target)"
            )
        return self.replace(robot=self.robot.replace(drives=drive))

    def target_at(self, t: float) -> ArrayLike | None:
        """Where drives shall be at a time [s], as :meth:`exposim.Simulator.step` takes it."""
        return None if self.target is None else self.target(t)

    def run(
        self,
        integrator: Integrator | str | None = None,
        dt: float | None = None,
        duration: float | None = None,
        *,
        progress: bool | Callable[[Run], object] = False,
        **settings: Any,
    ) -> Trajectory:
        """Simulates all of it and returns what was recorded.

        A run that diverges returns what came before: see ``trajectory.outcome``.

        Args:
            integrator: As in :class:`exposim.scenarios.Run`.
            dt: Likewise [s].
            duration: Likewise [s].
            progress: ``True`` shows a line with time, speed and time left, on the terminal or in a notebook; a function
                is called with the run after every control period.
            settings: Further ones of :class:`exposim.scenarios.Run`: ``record_every``, ``accuracy``,
                ``control_period``.
        """
        run = Run(self, integrator, dt, duration, **settings)
        with shown(progress, run) as show:
            while not run.done:
                run.advance()
                show(run)
        return run.trajectory
