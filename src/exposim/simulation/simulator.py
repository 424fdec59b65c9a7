"""A robot among surfaces, moved by an integrator."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exposim import _checks, _core
from exposim._checks import Array
from exposim.contact.contacts import Contact
from exposim.contact.modes import MODES
from exposim.contact.surfaces import Surface, surfaces_of
from exposim.errors import ContactWarning, InvalidArgument, SimulationDiverged, StateMismatch
from exposim.kernels import _contact_kernel
from exposim.robots.robot import ContactPoint, Robot
from exposim.simulation.advice import Advice, advise
from exposim.simulation.integrators import Expo, Integrator, LeavesToPaperExpo, PaperExpo
from exposim.simulation.profile import Profile
from exposim.simulation.state import Layout, State
from exposim.simulation.step_info import Statistics, StepInfo
from exposim.simulation.world import build_world, refuse_modal_for_other_materials, slots_for

# Velocities beyond this [rad/s, m/s] count as divergence.
MAX_VELOCITY: float = _core.MAX_VELOCITY
# Steps below this [s] vanish beside the time, and in the divisions of a step.
MIN_STEP: float = _core.MIN_STEP
# Steps that one call can be asked for: what the core counts with.
MOST_STEPS = 2**63 - 1


class Simulator(LeavesToPaperExpo):
    """Simulates a robot in contact.

    Args:
        robot: From :func:`exposim.load_robot`.
        ground: One surface, several, or none.
        integrator: The scheme.
        dt: Time step [s], at least 1e-12.
        slots: Contacts that a point can have at once, and remembers. By default one for each surface up to three, and
            two if there are more. A point that touches more surfaces than that is reported.
        profile: Measure where the time goes, for :attr:`profile`.
        on_divergence: ``"raise"`` :class:`exposim.SimulationDiverged`, or ``"stop"``: stay at the last good state
            and set :attr:`diverged`; further steps then do nothing until a reset.

    Safe to share between threads; steps run without the interpreter lock. A forked child has a copy of its own, unless
    another thread was in the middle of a step when it was forked: that copy raises :class:`exposim.SimulatorBusy`.
    """

    def __init__(
        self,
        robot: Robot,
        ground: Surface | Iterable[Surface] | None = None,
        integrator: Integrator | None = None,
        dt: float = 5e-3,
        *,
        slots: int | None = None,
        on_divergence: Literal["raise", "stop"] = "raise",
        profile: bool = False,
    ):
        integrator = Expo() if integrator is None else integrator
        if not isinstance(robot, Robot):
            raise InvalidArgument(f"robot is a {type(robot).__name__}; give what exposim.load_robot returns")
        if not isinstance(integrator, Integrator):
            raise InvalidArgument(f"integrator is {integrator!r}; give an integrator, for example exposim.Expo()")
        self._robot = robot
        self._surfaces = surfaces_of(ground)
        self._integrator = integrator
        self._dt = _checks.number("dt", dt, "[s]", least=MIN_STEP)
        self._on_divergence = _checks.choice("on_divergence", on_divergence, ("raise", "stop"))
        self._slots = slots_for(self._surfaces) if slots is None else _checks.count("slots", slots)
        refuse_modal_for_other_materials(integrator, robot.contact_points, self._surfaces)
        scheme = integrator._build()
        self._world = build_world(robot, self._surfaces, scheme, self._slots)
        self._core = _core.Simulator(self._world, scheme, self._dt, self._on_divergence == "stop")
        self._contact_points = tuple(robot.contact_points[point] for point, _ in self._world.contacts)
        self._layout = Layout(robot.nq, robot.nv, len(self._contact_points))
        self._at_rest = np.zeros(robot.nv)
        self._warned_of_overflow = False
        self._profile = _checks.flag("profile", profile)
        self._core.enable_profiler(self._profile)
        self.reset()

    # Moving.

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Starts anew at t = 0, without contact history.

        Args:
            q: Configuration, (nq,); by default ``robot.q0``.
            v: Velocity, (nv,); by default at rest.
        """
        q = self._robot._q0 if q is None else q
        v = self._at_rest if v is None else v
        if not self._core.reset(q, v):  # no good ones: say so, or make them so; checked here only, for speed
            nv = self._robot.nv
            self._core.reset(
                self._robot.check_configuration(q), _checks.vector("v", v, nv, f"nv of {self._robot.name}")
            )

    def step(
        self,
        tau: ArrayLike | None = None,
        n: int = 1,
        *,
        wrenches: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        """Takes n steps of dt with the input held.

        Signal handlers run in between, at least every few hundredths of a second: what they raise comes through after a
        whole number of steps, and no more are taken.

        Args:
            tau: Joint torques [N·m or N]: nv entries, or one per actuated degree of freedom; by default zero.
            n: How many steps.
            wrenches: External forces and torques, [N] and [N·m], by frame name: six numbers in world axes, acting
                at the frame.

        Raises:
            SimulatorBusy: If called by a surface that a step has called.
            SimulationDiverged: If a step leads to a state that is not finite, or to velocities beyond 1e5; the
                simulator is then at the last good state.
        """
        forces = () if wrenches is None else self._wrenches(wrenches)
        outcome = self._core.step(tau, n, forces)
        if outcome == -1:  # no array of floats, or no good one: say so, or make it one; checked here only, for speed
            checked = None if tau is None else self._check_tau(tau)
            outcome = self._core.step(checked, _checks.count("n", n, MOST_STEPS), forces)
        if outcome:
            self._report(outcome)

    def _report(self, outcome: int | _core.Divergence) -> None:
        if self._core.statistics.overflows and not self._warned_of_overflow:
            self._warned_of_overflow = True
            warnings.warn(
                f"a contact point touches more than {self._slots} surfaces at once; it remembers the deepest "
                f"(sim.statistics.overflows counts the others): give Simulator(slots={self._slots + 1}) or more",
                ContactWarning,
                stacklevel=3,
            )
        if isinstance(outcome, _core.Divergence) and self._on_divergence == "raise":
            raise self._describe(outcome)

    # Looking.

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self._robot

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        """What it may touch."""
        return self._surfaces

    @property
    def pairs(self) -> tuple[tuple[ContactPoint, Surface | None], ...]:
        """Contact point and surface of every contact, in the order of :attr:`contacts`; no surface: free, or bound."""
        touched = (None if k < 0 else self._surfaces[k] for k in self._core.touched)
        return tuple(zip(self._contact_points, touched, strict=True))

    @property
    def contact_points(self) -> tuple[ContactPoint, ...]:
        """The contact point of every contact, in the order of :attr:`contacts`."""
        return self._contact_points

    @property
    def belongs_to(self) -> tuple[int | None, ...]:
        """Which surface each contact belongs to for good; ``None`` of a bilateral one, or where surfaces change."""
        return tuple(None if surface < 0 else surface for _, surface in self._world.contacts)

    @property
    def integrator(self) -> Integrator:
        """The scheme."""
        return self._integrator

    @property
    def dt(self) -> float:
        """Time step [s]."""
        return self._dt

    @property
    def t(self) -> float:
        """Time [s]."""
        return self._core.t

    @property
    def q(self) -> Array:
        """Configuration, (nq,); a copy."""
        return self._core.q

    @property
    def v(self) -> Array:
        """Velocity, (nv,); a copy."""
        return self._core.v

    @property
    def positions(self) -> Array:
        """Of the contact points in the world [m], one row per contact, (nc, 3)."""
        return self._core.positions

    @property
    def velocities(self) -> Array:
        """Of the bodies at the contact points [m/s], (nc, 3)."""
        return self._core.velocities

    @property
    def normals(self) -> Array:
        """Of the surfaces at the contact points, (nc, 3); z where a contact has none."""
        return self._core.normals

    @property
    def forces(self) -> Array:
        """Contact forces on the robot in the world [N], (nc, 3)."""
        return self._core.forces

    @property
    def active(self) -> NDArray[np.bool_]:
        """Whether each contact touches, (nc,)."""
        return self._core.active

    @property
    def slipping(self) -> NDArray[np.bool_]:
        """Whether each contact slips, or has no force to hold it, (nc,)."""
        return self._core.slipping

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """All contacts that a point can have, active or not: one per slot.

        With no more surfaces than slots there is one for each contact point and surface; otherwise a slot has a surface
        only while it is touched. Arrays of all of them: :attr:`forces`, :attr:`positions`, :attr:`active` and so on.
        """
        core = self._core
        return tuple(
            Contact(point.name, None if surface < 0 else self._surfaces[surface], bool(active), bool(slipping), *arrays)
            for point, surface, active, slipping, *arrays in zip(
                self._contact_points,
                core.touched,
                core.active,
                core.slipping,
                core.positions,
                core.velocities,
                core.anchors,
                core.forces,
                strict=True,
            )
        )

    @property
    def info(self) -> StepInfo:
        """What the last step did; zeros after a reset."""
        core, kernel, newton = self._core, self._core.kernel_info, self._core.newton_info
        transitions, parts = core.transition_info, core.parts_info
        return StepInfo(
            kernel.products,
            kernel.degree,
            kernel.squarings,
            kernel.error_bound,
            core.lam_pr,
            core.lam_pr2,
            newton.iterations,
            newton.converged,
            newton.residual,
            transitions.resolved,
            transitions.micro_steps,
            transitions.events,
            transitions.limited,
            parts.count,
            parts.redone,
            parts.turn,
        )

    @property
    def statistics(self) -> Statistics:
        """Of the steps since the last reset."""
        found = self._core.statistics
        mean = found.iterations / max(1, found.steps)
        return Statistics(
            found.steps,
            mean,
            found.max_iterations,
            found.not_converged,
            found.resolved,
            found.limited,
            found.parts,
            found.overflows,
        )

    @property
    def profile(self) -> Profile:
        """Where the time of the steps since the last reset went; print it. Empty unless made with ``profile=True``."""
        return Profile.of(self._core.profile)

    def advise(self) -> Advice:
        """How stiff the present contacts are, and which steps and kernel they ask for; print it."""
        core = self._core
        expo = self._integrator if isinstance(self._integrator, (Expo, PaperExpo)) else Expo()
        info = core.try_kernel(_contact_kernel("auto", True, expo.tolerance)) if core.active.any() else None
        return advise(np.asarray(core.contact_matrix()), self._dt, info)

    def predict_forces(
        self, times: ArrayLike, tau: ArrayLike | None = None, *, wrenches: Mapping[str, ArrayLike] | None = None
    ) -> Array:
        r"""Contact forces that the frozen linear contact dynamics foresee: :math:`\lambda(t)` of ``eq:contact_forces``.

        What Expo assumes during a step, over any horizon: the terms of the dynamics stay as they are now, active
        contacts stay active and stick, the forces are not projected on the friction cone.

        Args:
            times: From now on [s], not negative, (nt,).
            tau: Joint torques, as in :meth:`step`; by default zero.
            wrenches: External forces and torques, as in :meth:`step`.

        Returns:
            Forces on the robot in the world frame [N], (nt, nc, 3); zero for inactive contacts.
        """
        at = _checks.vector("times", times)
        for i, time in enumerate(at):
            _checks.number(f"times[{i}]", time, "[s]", least=0.0)
        forces = [] if wrenches is None else self._wrenches(wrenches)
        lam = self._core.predict_forces(at, None if tau is None else self._check_tau(tau), forces)
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
            self._refuse_state(state)

    def integrate(self, state: State, dx: ArrayLike) -> State:
        """A state moved by a displacement: dq in the tangent space at q, dv, and three per contact that stretch it.

        What contacts are doing stays as it is, mode and ``phi0``; one that is open has no stretch to change, and one
        with a surface is stretched in its tangent plane only.
        """
        self._refuse_layout(state)
        size = self._world.tangent_size
        displacement = _checks.vector("dx", dx, size, "2 nv, and three per contact")
        moved = self._core.plus(state._x, displacement)
        if moved is None:
            if self._world.minus(state._x, state._x) is None:
                self._refuse_state(state)
            raise InvalidArgument(
                f"dx leads to no state; it has entries up to {np.abs(displacement).max():g}: give smaller"
            )
        return State._of(moved, self._layout)

    def difference(self, start: State, end: State) -> Array:
        """The displacement from one state to another, as :meth:`integrate` takes it, (2 nv + 3 nc,).

        It says nothing of what contacts are doing: only between states of the same modes is it all of the difference.
        """
        self._refuse_layout(start)
        self._refuse_layout(end)
        dx = self._world.minus(end._x, start._x)
        if dx is None:
            self._refuse_state(start if self._world.minus(start._x, start._x) is None else end)
        return dx

    def __reduce__(self) -> tuple[Any, ...]:
        settings = (
            self._robot,
            self._surfaces,
            self._integrator,
            self._dt,
            self._slots,
            self._on_divergence,
            self._profile,
        )
        found = self._core.divergence
        divergence = None if found is None else (found.t, found.step, found.q, found.v, found.start)
        return _restore, (*settings, self.state, divergence)

    def __repr__(self) -> str:
        return f"Simulator({self._robot.name!r}, {self._integrator!r}, dt={self._dt:g} s, t={self.t:g} s)"

    # Details.

    def _check_tau(self, tau: ArrayLike) -> Array:
        nv, actuated = self._robot.nv, len(self._robot.actuated_dofs)
        array = _checks.vector("tau", tau)
        if array.size not in (nv, actuated):
            raise InvalidArgument(
                f"tau has {array.size} entries; give {nv} (one per degree of freedom) "
                f"or {actuated} (one per actuated degree of freedom)"
            )
        return array

    def _wrenches(self, wrenches: Mapping[str, ArrayLike]) -> list[_core.ExternalWrench]:
        if not isinstance(wrenches, Mapping):
            raise InvalidArgument(f"wrenches is {wrenches!r}; give a mapping from frame names to six numbers each")
        result = []
        for frame, wrench in wrenches.items():
            joint, placement = self._robot.locate(frame)
            w = _checks.vector(f"wrenches[{frame!r}]", wrench, 6, "force, then torque, in world axes")
            result.append(_core.ExternalWrench(joint, placement.translation, w[:3], w[3:]))
        return result

    def _refuse_layout(self, state: State) -> None:
        if not isinstance(state, State):
            raise InvalidArgument(
                f"state is a {type(state).__name__}; give what sim.state returned, or State.from_array(array)"
            )
        if state.layout != self._layout:
            given, own = state.layout, self._layout
            raise StateMismatch(
                f"state has nq, nv = {(given.nq, given.nv)} and {given.nc} contacts; this simulator of "
                f"{self._robot.name!r} has {(own.nq, own.nv)} and {own.nc}; restore it in a simulator of the same "
                f"robot and ground"
            )

    def _refuse_state(self, state: State) -> NoReturn:
        """Says what is wrong with a state that the core does not take."""
        self._refuse_layout(state)
        _checks.vector("state", state._x)
        self._robot.check_configuration(state.q, "state.q", normalise=False)
        raise StateMismatch(
            f"state has contacts with surfaces {state.surface.tolist()} in modes {[MODES[m] for m in state.mode]} and "
            f"stretches {state.stretch.tolist()}, which this simulator's cannot have (stretches are tangential); "
            f"restore it in a simulator of the same robot and ground"
        )

    def _describe(self, found: _core.Divergence) -> SimulationDiverged:
        bad_q = ~np.isfinite(found.q)
        bad_v = ~(np.abs(found.v) < MAX_VELOCITY)  # also true for NaN
        joints = self._robot.joints_of(bad_q, bad_v)
        advice = (
            "take a smaller dt; if a light joint went first, lower its gains or joint damping, which are integrated "
            "explicitly, or give it armature (robot.replace)"
        )
        if not isinstance(self._integrator, (Expo, PaperExpo)):
            advice = f"{type(self._integrator).__name__} needs a smaller dt than {self._dt:g} s here, or take Expo()"
        return SimulationDiverged(found.t, found.step, joints, State._of(found.start, self._layout), advice)


def _restore(
    robot: Robot,
    surfaces: tuple[Surface, ...],
    integrator: Integrator,
    dt: float,
    slots: int,
    on_divergence: Any,
    profile: bool,
    state: State,
    divergence: tuple[float, int, Array, Array, Array] | None,
) -> Simulator:
    simulator = Simulator(
        robot,
        surfaces,
        integrator,
        dt,
        slots=slots,
        on_divergence=on_divergence,
        profile=profile,
    )
    simulator.state = state
    if divergence is not None:
        simulator._core.set_divergence(_core.Divergence(*divergence))
    return simulator
