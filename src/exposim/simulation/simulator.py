"""A robot among surfaces, moved by an integrator."""

from __future__ import annotations

import copy
import importlib
import warnings
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks, _core
from exposim._checks import Array
from exposim.contact.edges import edges_of
from exposim.contact.surfaces import Surface, surfaces_of
from exposim.errors import ContactWarning, InvalidArgument, SetupWarning, SimulationDiverged
from exposim.kernels import _contact_kernel
from exposim.robots.robot import ContactPoint, Robot
from exposim.simulation.advancing import Advancing
from exposim.simulation.advice import Advice, advise
from exposim.simulation.answers import Answers
from exposim.simulation.clipping import Clipping
from exposim.simulation.collisions import (
    Collisions,
    carried_ground,
    carried_surfaces,
    checked_pairs,
    on_edges_of_each_other,
)
from exposim.simulation.divergence import describe
from exposim.simulation.events import Event, contact_labels, events_of
from exposim.simulation.inputs import Inputs
from exposim.simulation.integrators import Expo, Integrator, LeavesToPaperExpo, PaperExpo, as_integrator
from exposim.simulation.joint_advice import advise_joints
from exposim.simulation.layout import Layout
from exposim.simulation.linearizing import Linearizing
from exposim.simulation.mismatch import refuse_layout, refuse_state
from exposim.simulation.path import Path
from exposim.simulation.readings import Readings
from exposim.simulation.reset_checks import ResetChecks, look_at_step
from exposim.simulation.self_collision import without_overlaps
from exposim.simulation.state import State
from exposim.simulation.world import build_world, refuse_modal_for_other_materials, slots_for

if TYPE_CHECKING:
    from exposim.simulation.changing import PerPoint

# Steps below this [s] vanish beside the time, and in the divisions of a step.
MIN_STEP: float = _core.MIN_STEP
# Steps that one call can be asked for: what the core counts with.
MOST_STEPS = 2**63 - 1
# Contacts of one point at once, all of them part of every state.
MOST_SLOTS = 1000


class Simulator(Answers, Advancing, Linearizing, Readings, LeavesToPaperExpo):
    """Simulates a robot in contact.

    Every contact point in a surface is a contact of its own: of two bodies, points of either in the shapes of the
    other, which add up (a box on an equal box has eight). A contact is made of the point's own material if it has one;
    otherwise, with the ground, of the surface's; otherwise, between two bodies, of both shapes' in series: springs and
    dampers one behind the other, and the smaller friction. ``print(sim)`` says what may touch what, and what is missed.

    Args:
        robot: From :func:`exposim.load_robot`.
        ground: One surface, several, or none. One that names a ``frame`` is carried by that link, and touched by all
            contact points but those of the same link and of its neighbours.
        collisions: Which robots of a combined one may touch each other: pairs of their names; points of either against
            the shapes of the other. A name paired with itself: the links of that robot, except for those that a joint
            joins, and for points that are within a shape at ``robot.q0``, which ``print(sim)`` tells of. ``"all"``:
            every robot with every other, and no robot with itself, unless there is only one. A member that is combined
            itself stands for all robots within, whose names are such as ``"pair/a"``. ``None``: nothing but the ground
            is touched.
        edges: Whether shapes of the robot may lie on edges (of boxes, cylinders, stairs; of the ground and of other
            robots) that contact points miss. By default shapes that were given as surfaces may, as those of rigid
            bodies are, and those of robots in ``collisions``; ``True``: all.
        integrator: The scheme, or its name, such as ``"rk4"``; by default ``Expo()``.
        dt: Time step [s], at least 1e-12.
        slots: Contacts that a point can have at once, and remembers. By default one for each surface up to three, and
            two if there are more; at most 1000. A point that touches more surfaces than that is reported.
        profile: Measure where the time goes, for :attr:`profile`.
        on_divergence: ``"raise"`` :class:`exposim.SimulationDiverged`, or ``"stop"``: stay at the last good state
            and set :attr:`diverged`; further steps then do nothing until a reset.

    Safe to share between threads; steps run without the interpreter lock. A forked child has a copy of its own, unless
    another thread was in the middle of a step when it was forked: that copy raises :class:`exposim.SimulatorBusy`.

    Warns:
        SetupWarning: Of a step of more than 0.1 s.
    """

    def __init__(
        self,
        robot: Robot,
        ground: Surface | Iterable[Surface] | None = None,
        integrator: Integrator | str | None = None,
        dt: float = 5e-3,
        *,
        collisions: Collisions = None,
        edges: bool | None = None,
        slots: int | None = None,
        on_divergence: Literal["raise", "stop"] = "raise",
        profile: bool = False,
    ):
        self._make(robot, ground, integrator, dt, collisions, edges, slots, on_divergence, profile)
        look_at_step(self._dt, stacklevel=2)
        self._is_unseen = True  # where it starts, if nobody resets it

    def _make(
        self,
        robot: Robot,
        ground: Surface | Iterable[Surface] | None,
        integrator: Integrator | str | None,
        dt: float,
        collisions: Collisions,
        edges: bool | None,
        slots: int | None,
        on_divergence: Literal["raise", "stop"],
        profile: bool,
    ) -> None:
        if not isinstance(robot, Robot):
            raise InvalidArgument(f"robot is a {type(robot).__name__}; give what exposim.load_robot returns")
        integrator = as_integrator(integrator)
        self._robot = robot
        self._ground = surfaces_of(ground)
        self._collisions = checked_pairs(collisions, robot)
        self._edges = None if edges is None else _checks.flag("edges", edges)
        self._standing = world = tuple(surface for surface in self._ground if surface.frame is None)
        has_edges = any(edges_of(surface) for surface in world)
        shapes = carried_surfaces(robot, self._collisions, self._edges, has_edges)
        shapes, self._overlaps = without_overlaps(robot, shapes)
        self._carried_ground = carried_ground(robot, self._ground)
        on_edges = () if self._edges is False else self._collisions
        self._carried = on_edges_of_each_other(robot, self._carried_ground, shapes, on_edges)
        self._surfaces = world + tuple(each.shape for each in self._carried)
        self._integrator = integrator
        self._dt = _checks.number("dt", dt, "[s]", least=MIN_STEP)
        self._on_divergence = _checks.choice("on_divergence", on_divergence, ("raise", "stop"))
        touchable = len(world) + sum(any(each.materials) for each in self._carried)
        self._slots = slots_for(touchable) if slots is None else _checks.count("slots", slots, MOST_SLOTS)
        refuse_modal_for_other_materials(integrator, robot.contact_points, self._surfaces)
        scheme = integrator._build()
        self._world = build_world(robot, world, self._carried, scheme, self._slots, self._dt)
        self._core = _core.Simulator(self._world, scheme, self._dt, self._on_divergence == "stop")
        self._contact_points = tuple(
            self._lying(k, i) if point is None else robot.contact_points[point]
            for i, (point, k) in enumerate(self._world.contacts)
        )
        nv, contacts = robot.nv, len(self._contact_points)
        self._at_rest = np.zeros(nv)
        self._core.reset(robot._q0, self._at_rest)
        dry = self._world.tangent_size - 2 * nv - 3 * contacts
        self._layout = Layout.of(robot.nq, nv, contacts, dry, self._core.state.size)
        self._laws = robot._joint_arrays()
        self._inputs = Inputs(robot, self._laws.rest)
        self._clipping = Clipping(robot, self._laws.effort)
        self._watches_clipping = self._clipping.can_happen
        self._warned_of_overflow = False
        self._profile = _checks.flag("profile", profile)
        self._core.enable_profiler(self._profile)
        self._reset_checks = ResetChecks(robot, self._surfaces, self._carried, self._contact_points)
        self._is_unseen = False
        self._observers = ()
        self._flight = None
        self._told = 0
        self._queries = None
        self._parameters = None
        self._sensors = []
        self._paced = self._pace = None
        self._first_event = 0

    def _lying(self, surface: int, contact: int) -> ContactPoint:
        """What stands for a shape that lies on an edge."""
        frame = str(self._surfaces[surface].frame)
        return ContactPoint(frame, name=f"{frame}_on_edge_{contact}")

    # Moving.

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Starts anew at t = 0, without contact history.

        Args:
            q: Configuration, (nq,); by default ``robot.q0``.
            v: Velocity, (nv,); by default at rest.

        Warns:
            SetupWarning: Once of each, in the first thousand resets, and of ``robot.q0`` at a first step without one:
                of joints far outside their limits, a base upside down whose quaternion would be upright with w first,
                contact points centimetres below the ground or deep in a body, and loops that are open.
        """
        q = self._robot._q0 if q is None else q
        v = self._at_rest if v is None else v
        if not self._core.reset(q, v):  # no good ones: say so, or make them so; checked here only, for speed
            nv = self._robot.nv
            q, v = self._robot.check_configuration(q), _checks.vector("v", v, nv, f"nv of {self._robot.name}")
            self._core.reset(q, v)
        self._is_unseen = False
        if self._observers or self._flight is not None:
            self._tell_of_restart()
        if self._reset_checks.looks > 0:
            self._reset_checks.look(q, self._core, stacklevel=2)

    def step(
        self,
        tau: ArrayLike | None = None,
        n: int = 1,
        *,
        target: ArrayLike | None = None,
        target_velocity: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        """Takes n steps of dt with the input held.

        Signal handlers run in between, at least every few hundredths of a second: what they raise comes through after a
        whole number of steps, and no more are taken.

        Args:
            tau: Joint torques [N·m or N]: nv entries, or one per actuated degree of freedom; by default zero. Of a
                joint with a drive, what is added to what the drive does. Beyond a motor's effort limit it is clipped:
                see ``info.saturated``.
            n: How many steps.
            target: Where the drives shall be: nq entries, or one per actuated degree of freedom; by default
                ``robot.q0``, whatever was given before. Entries of what has no drive are ignored.
            target_velocity: How fast they shall be: nv entries, or one per actuated degree of freedom; by default at
                rest.
            wrenches: External forces and torques, [N] and [N·m], by frame name: six numbers in world axes, acting
                at the frame.

        Raises:
            SimulatorBusy: If called by a surface that a step has called.
            SimulationDiverged: If a step leads to a state that is not finite, or to velocities beyond 1e5; the
                simulator is then at the last good state. It names the file of a flight recorder, if there is one.

        Warns:
            SetupWarning: Once, of a torque that is clipped; at a first step without a reset, as of :meth:`reset`.
        """
        if self._is_unseen:
            self._is_unseen = False
            self._reset_checks.look(self._core.q, self._core, stacklevel=2)
        forces = () if wrenches is None else self._inputs.wrenches(wrenches)
        is_watched = self._observers or self._sensors or self._flight is not None
        if target_velocity is not None or is_watched or (target is not None and not self._inputs.passes_on(target)):
            target, target_velocity = self._inputs.target(target), self._inputs.target_velocity(target_velocity)
        take: Any = self._core.step if not self._sensors else self._step_and_show
        if self._flight is not None:
            self._flight.wrenches = wrenches
            take = self._step_and_keep
        try:
            outcome = take(tau, n, forces, target, target_velocity)
            if outcome == -1:  # no array of floats, or no good one: say so, or make it one; only here, for speed
                tau, target = None if tau is None else self._inputs.tau(tau), self._inputs.target(target)
                outcome = take(tau, _checks.count("n", n, MOST_STEPS), forces, target, target_velocity)
            if outcome:
                self._report(outcome, tau)
        finally:
            if self._observers:
                self._tell(self._dt, tau, target, target_velocity, wrenches)

    def _report(self, outcome: int | _core.Divergence, tau: ArrayLike | None) -> None:
        if isinstance(outcome, _core.Divergence):
            self._report_overflows()
            if self._on_divergence == "raise":
                raise self._describe(outcome)
            return
        watches = self._watches_clipping and tau is not None
        if outcome & _core.SATURATED and watches and (message := self._clipping.message(np.asarray(tau))):
            self._watches_clipping = False
            warnings.warn(message, SetupWarning, stacklevel=3)
        if outcome & _core.OVERFLOW:
            self._report_overflows()

    def _report_overflows(self) -> None:
        if self._core.statistics.overflows and not self._warned_of_overflow:
            self._warned_of_overflow = True
            warnings.warn(
                f"a contact point touches more than {self._slots} surfaces at once; it remembers the deepest "
                f"(sim.statistics.overflows counts the others): give Simulator(slots={self._slots + 1}) or more",
                ContactWarning,
                stacklevel=4,
            )

    def set(
        self,
        *,
        friction: float | Mapping[str, float] | None = None,
        stiffness: PerPoint | None = None,
        damping: PerPoint | None = None,
        gravity: ArrayLike | None = None,
        mass: Mapping[str, float] | None = None,
    ) -> None:
        """Changes robot and ground under way; state and time go on, all is changed or nothing.

        :attr:`robot` and :attr:`surfaces` are then the changed ones. Contacts keep their anchors: one that less
        friction cannot hold any more slips from now on, its spring as long as the new cone allows. With another
        stiffness or damping forces jump, as what is stretched stays so. What depends on inertia by default, as the
        stiffness of limits does, follows the new masses. Statistics, events and path begin anew, as where a state is
        set. It takes about as long as to make a simulator, and of gravity or masses to make a robot before.

        Args:
            friction: Of all contacts with the ground, not negative; or by names or globs of contact points, which then
                have a material of their own, whatever they touch.
            stiffness: Likewise [N/m], above zero: one number, or (normal, tangential).
            damping: Likewise [N·s/m], not negative.
            gravity: Acceleration [m/s²], x, y, z in the world.
            mass: Of bodies by names or globs of their links [kg], as of :meth:`exposim.Robot.replace`: of a link with
                all that is fixed to it; the inertia is scaled alike.

        Raises:
            InvalidArgument: If nothing is given, or a value cannot be; nothing is changed.
            UnknownFrame: If the robot has no such link.
        """
        changes = {
            "friction": friction,
            "stiffness": stiffness,
            "damping": damping,
            "gravity": gravity,
            "mass": mass,
        }
        changing: Any = importlib.import_module("exposim.simulation.changing")  # for those who change something
        robot, ground = changing.changed(self._robot, self._ground, changes)
        _, (_, _, *settings) = self.__reduce__()
        other = _restore(robot, ground, *settings)
        core, contacts = other._core, other._world.contacts
        divergence = core.divergence
        core.set_state(changing.within_cones(core, self._layout, contacts, other._ask.materials(core)))
        if divergence is not None:
            core.set_divergence(divergence)
        other._reset_checks.go_on_from(self._reset_checks)
        other._is_unseen = self._is_unseen
        other._sensors = self._sensors
        other._observers = self._observers
        other._flight = self._flight
        other._warned_of_overflow = self._warned_of_overflow
        other._watches_clipping &= self._watches_clipping
        vars(self).update(vars(other))
        vars(self).pop("_labels", None)
        self._tell_of_restart()

    # Looking.

    @property
    def events(self) -> tuple[Event, ...]:
        """What happened to contacts and limits in the last call that took steps, in the order of time."""
        return events_of(self._core.events_from(0), self._labels, self._robot)

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        """Of the contacts, by which events tell them apart."""
        return contact_labels([point.name for point in self._contact_points], self.belongs_to)

    @property
    def path(self) -> Path:
        """The inside of the last step: ``sim.path(t)``, ``sim.path.forces(times)``. Made when it is asked for.

        Raises:
            InvalidArgument: If no step was taken since the last reset or restored state, or the last one diverged.
        """
        found = self._core.path()
        if found is None:
            raise InvalidArgument("there is no path before a step: take one, sim.step(), and look at it then")
        return Path(found)

    def advise(self) -> Advice:
        """How stiff the present contacts and the joints are, and which steps and kernel they ask for; print it."""
        core = self._core
        expo = self._integrator if isinstance(self._integrator, (Expo, PaperExpo)) else Expo()
        A = np.asarray(core.contact_matrix())
        info = core.try_kernel(_contact_kernel("auto", True, expo.tolerance)) if A.size else None
        joints = advise_joints(self._robot, core.q, self._laws, self._integrator, self._dt)
        return advise(A, int(np.count_nonzero(core.active)), self._dt, info, joints)

    def predict_forces(
        self, times: ArrayLike, tau: ArrayLike | None = None, *, wrenches: Mapping[str, ArrayLike] | None = None
    ) -> Array:
        r"""Contact forces that the frozen linear contact dynamics foresee: :math:`\lambda(t)` of ``eq:contact_forces``.

        What Expo assumes during a step, over any horizon: the terms of the dynamics stay as they are now, active
        contacts stay active and stick, the forces are not projected on the friction cone.

        Args:
            times: From now on [s], not negative, (nt,).
            tau: Joint torques, as in :meth:`step`; by default zero. Drives are told nothing else.
            wrenches: External forces and torques, as in :meth:`step`.

        Returns:
            Forces on the robot in the world frame [N], (nt, nc, 3); zero for inactive contacts.
        """
        at = _checks.vector("times", times)
        for i, time in enumerate(at):
            _checks.number(f"times[{i}]", time, "[s]", least=0.0)
        forces = [] if wrenches is None else self._inputs.wrenches(wrenches)
        lam = self._core.predict_forces(at, None if tau is None else self._inputs.tau(tau), forces)
        return np.asarray(lam).reshape(len(at), self._layout.nc, 3)

    @property
    def diverged(self) -> bool:
        """Whether a step has diverged since the last reset or restored state."""
        return self._core.divergence is not None

    @property
    def divergence(self) -> SimulationDiverged | None:
        """How it diverged, if it did."""
        found = self._core.divergence
        return None if found is None else self._describe(found)

    # Saving and restoring.

    @property
    def state(self) -> State:
        """The complete state; setting it continues from there, bit for bit."""
        return State._of(self._core.state, self._layout)

    @state.setter
    def state(self, state: State) -> None:
        if not (isinstance(state, State) and state.layout == self._layout and self._core.set_state(state._x)):
            refuse_state(state, self._layout, self._robot)
        self._is_unseen = False
        if self._observers or self._flight is not None:
            self._tell_of_restart()

    def copy(self) -> Simulator:
        """Another simulator in the same state, which continues bit for bit, whatever becomes of this one.

        It has the same divergence, if there is one; what the last steps did (info, statistics, events) is not copied.
        """
        other: Simulator = Simulator.__new__(Simulator)
        vars(other).update(vars(self))
        other._core = _core.Simulator(self._world, self._integrator._build(), self._dt, self._on_divergence == "stop")
        other._core.enable_profiler(self._profile)
        other._core.set_state(self._core.state)
        other._core.loose = self._core.loose
        found = self._core.divergence
        if found is not None:
            other._core.set_divergence(found)
        other._reset_checks = copy.copy(self._reset_checks)
        other._sensors = []
        other._observers = ()
        other._flight = None
        return other

    def integrate(self, state: State, dx: ArrayLike) -> State:
        """A state moved by a displacement: dq in the tangent space at q, dv, and what stretches.

        That is three per contact, and one per degree of freedom with dry friction.
        What contacts are doing stays as it is, mode and ``phi0``; one that is open has no stretch to change, and one
        with a surface is stretched in its tangent plane only.
        """
        refuse_layout(state, self._layout, self._robot)
        size = self._world.tangent_size
        displacement = _checks.vector("dx", dx, size, "2 nv, three per contact, one per dry friction")
        moved = self._core.plus(state._x, displacement)
        if moved is None:
            if self._world.minus(state._x, state._x) is None:
                refuse_state(state, self._layout, self._robot)
            raise InvalidArgument(
                f"dx leads to no state; it has entries up to {np.abs(displacement).max():g}: give smaller"
            )
        return State._of(moved, self._layout)

    def difference(self, start: State, end: State) -> Array:
        """The displacement from one state to another, as :meth:`integrate` takes it, (2 nv + 3 nc + nf,).

        It says nothing of what contacts are doing: only between states of the same modes is it all of the difference.
        """
        refuse_layout(start, self._layout, self._robot)
        refuse_layout(end, self._layout, self._robot)
        dx = self._world.minus(end._x, start._x)
        if dx is None:
            refuse_state(start if self._world.minus(start._x, start._x) is None else end, self._layout, self._robot)
        return dx

    def __reduce__(self) -> tuple[Any, ...]:
        settings = (
            self._robot,
            self._ground,
            self._integrator,
            self._dt,
            self._collisions or None,
            self._edges,
            self._slots,
            self._on_divergence,
            self._profile,
        )
        found = self._core.divergence
        divergence = None if found is None else (found.t, found.step, found.q, found.v, found.start)
        return _restore, (*settings, self.state, divergence, self._core.loose)

    def __repr__(self) -> str:
        return f"Simulator({self._robot.name!r}, {self._integrator!r}, dt={self._dt:g} s, t={self.t:g} s)"

    def __str__(self) -> str:
        describing: Any = importlib.import_module("exposim.simulation.describing")  # only those who print need it
        return str(describing.describe(self))

    def _describe(self, found: _core.Divergence) -> SimulationDiverged:
        dump = None if self._flight is None else self._flight.dump
        return describe(found, self._robot, self._layout, self._integrator, self._dt, dump)


def _restore(
    robot: Robot,
    ground: tuple[Surface, ...],
    integrator: Integrator,
    dt: float,
    collisions: Collisions,
    edges: bool | None,
    slots: int,
    on_divergence: Any,
    profile: bool,
    state: State,
    divergence: tuple[float, int, Array, Array, Array] | None,
    loose: list[bool],
) -> Simulator:
    simulator: Simulator = Simulator.__new__(Simulator)
    # What it warns of has been said.
    simulator._make(robot, ground, integrator, dt, collisions, edges, slots, on_divergence, profile)
    simulator.state = state
    simulator._core.loose = loose
    if divergence is not None:
        simulator._core.set_divergence(_core.Divergence(*divergence))
    return simulator
