"""A robot among surfaces, moved by an integrator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks, _core
from exposim._checks import Array
from exposim.contact.contacts import Contact
from exposim.contact.surfaces import Surface, surfaces_of
from exposim.errors import InvalidArgument, SimulationDiverged, StateMismatch
from exposim.kernels import _contact_kernel
from exposim.robots.robot import Robot
from exposim.simulation.advice import Advice, advise
from exposim.simulation.integrators import Expo, Integrator, LeavesToPaperExpo, PaperExpo
from exposim.simulation.pairs import Pair, pair_up, refuse_modal_for_other_materials, specs_of
from exposim.simulation.profile import Profile
from exposim.simulation.state import State
from exposim.simulation.step_info import Statistics, StepInfo

# Velocities beyond this [rad/s, m/s] count as divergence.
MAX_VELOCITY: float = _core.MAX_VELOCITY

_ANCHOR_RULES = {"surface": _core.AnchorRule.SURFACE, "detected": _core.AnchorRule.DETECTED}
_PROJECTIONS = {"horizontal": _core.Projection.HORIZONTAL, "orthogonal": _core.Projection.ORTHOGONAL}


class Simulator(LeavesToPaperExpo):
    """Simulates a robot in contact.

    Args:
        robot: From :func:`exposim.load_robot`.
        ground: One surface, several, or none.
        integrator: The scheme.
        dt: Time step [s].
        profile: Measure where the time goes, for :attr:`profile`.
        on_divergence: ``"raise"`` :class:`exposim.SimulationDiverged`, or ``"stop"``: stay at the last good state
            and set :attr:`diverged`; further steps then do nothing until a reset.

    Safe to share between threads; steps run without the interpreter lock.
    """

    def __init__(
        self,
        robot: Robot,
        ground: Surface | Iterable[Surface] | None = None,
        integrator: Integrator | None = None,
        dt: float = 5e-3,
        *,
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
        self._dt = _checks.number("dt", dt, "[s]", above=0.0)
        self._on_divergence = _checks.choice("on_divergence", on_divergence, ("raise", "stop"))
        self._pairs = pair_up(robot.contact_points, self._surfaces)
        refuse_modal_for_other_materials(integrator, self._pairs)
        self._core = _core.Simulator(
            robot._core,
            specs_of(robot.contact_points, self._pairs),
            _ANCHOR_RULES[getattr(integrator, "anchor", "surface")],
            _PROJECTIONS[getattr(integrator, "projection", "horizontal")],
            integrator._build(),
            self._dt,
        )
        self._profile = _checks.flag("profile", profile)
        self._core.enable_profiler(self._profile)
        self._divergence: SimulationDiverged | None = None
        self.reset()

    # Moving.

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Starts anew at t = 0, without contact history.

        Args:
            q: Configuration, (nq,); by default ``robot.q0``.
            v: Velocity, (nv,); by default at rest.
        """
        q = self._robot.q0 if q is None else self._robot.check_configuration(q)
        nv = self._robot.nv
        v = np.zeros(nv) if v is None else _checks.vector("v", v, nv, f"nv of {self._robot.name}")
        self._core.reset(q, v)
        self._divergence = None

    def step(
        self,
        tau: ArrayLike | None = None,
        n: int = 1,
        *,
        wrenches: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        """Takes n steps of dt with the input held.

        Args:
            tau: Joint torques [N·m or N]: nv entries, or one per actuated degree of freedom; by default zero.
            n: How many steps.
            wrenches: External forces and torques, [N] and [N·m], by frame name: six numbers in world axes, acting
                at the frame.

        Raises:
            SimulationDiverged: If a step leads to a state that is not finite, or to velocities beyond 1e5; the
                simulator is then at the last good state.
        """
        if self._divergence is not None and self._on_divergence == "stop":
            return
        forces = () if wrenches is None else self._wrenches(wrenches)
        try:
            good = self._core.step(tau, n, forces)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            good = None  # not an array of floats, or not a good one
        if good is None:  # say so, or make it one; checked here only, for speed
            good = self._core.step(None if tau is None else self._check_tau(tau), _checks.count("n", n), forces)
        if not good:
            self._divergence = self._describe_divergence()
            if self._on_divergence == "raise":
                raise self._divergence

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
    def pairs(self) -> tuple[Pair, ...]:
        """Contact point and surface of every contact, in the order of :attr:`contacts`."""
        return self._pairs

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
    def contacts(self) -> tuple[Contact, ...]:
        """All contacts that may come about, active or not: one per pair of contact point and surface."""
        core, state = self._core, self._core.state
        anchors = np.where(state.active[:, None], state.p0, np.nan)
        return tuple(
            Contact(point.name, surface, bool(active), bool(slipping), *arrays)
            for (point, surface), active, slipping, *arrays in zip(
                self._pairs,
                state.active,
                state.slipping,
                core.positions,
                core.velocities,
                anchors,
                core.forces,
                strict=True,
            )
        )

    @property
    def info(self) -> StepInfo:
        """What the last step did; zeros after a reset."""
        core, kernel, newton = self._core, self._core.kernel_info, self._core.newton_info
        transitions = core.transition_info
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
        )

    @property
    def statistics(self) -> Statistics:
        """Of the steps since the last reset."""
        found = self._core.statistics
        mean = found.iterations / max(1, found.steps)
        return Statistics(found.steps, mean, found.max_iterations, found.not_converged, found.resolved, found.limited)

    @property
    def profile(self) -> Profile:
        """Where the time of the steps since the last reset went; print it. Empty unless made with ``profile=True``."""
        return Profile.of(self._core.profile)

    def advise(self) -> Advice:
        """How stiff the present contacts are, and which steps and kernel they ask for; print it."""
        core = self._core
        expo = self._integrator if isinstance(self._integrator, (Expo, PaperExpo)) else Expo()
        info = core.try_kernel(_contact_kernel("auto", True, expo.tolerance)) if core.state.active.any() else None
        return advise(np.asarray(core.contact_matrix()), self._dt, info)

    def predict_forces(self, times: ArrayLike, tau: ArrayLike | None = None) -> Array:
        r"""Contact forces that the frozen linear contact dynamics foresee: :math:`\lambda(t)` of ``eq:contact_forces``.

        What Expo assumes during a step, over any horizon: the terms of the dynamics stay as they are now, active
        contacts stay active and stick, the forces are not projected on the friction cone.

        Args:
            times: From now on [s], not negative, (nt,).
            tau: Joint torques, as in :meth:`step`; by default those of the last step.

        Returns:
            Forces on the robot in the world frame [N], (nt, nc, 3); zero for inactive contacts.
        """
        at = _checks.vector("times", times)
        for i, time in enumerate(at):
            _checks.number(f"times[{i}]", time, "[s]", least=0.0)
        lam = self._core.predict_forces(at, None if tau is None else self._check_tau(tau))
        return np.asarray(lam).reshape(len(at), len(self._pairs), 3)

    @property
    def diverged(self) -> bool:
        """Whether a step has diverged since the last reset or restored state."""
        return self._divergence is not None

    @property
    def divergence(self) -> SimulationDiverged | None:
        """How it diverged, if it did."""
        return self._divergence

    # Saving and restoring.

    @property
    def state(self) -> State:
        """The complete state; setting it continues from there, bit for bit."""
        s = self._core.state
        return State(s.t, s.q, s.v, s.active, s.slipping, s.p0, s.dp0)

    @state.setter
    def state(self, state: State) -> None:
        self._core.state = self._check_state(state)
        self._divergence = None

    def __reduce__(self) -> tuple[Any, ...]:
        settings = (
            self._robot,
            self._surfaces,
            self._integrator,
            self._dt,
            self._on_divergence,
            self._profile,
        )
        return _restore, (*settings, self.state, self._divergence)

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

    def _check_state(self, state: State) -> _core.State:
        if not isinstance(state, State):
            raise InvalidArgument(f"state is a {type(state).__name__}; give what sim.state returned")
        nq, nv, count = self._robot.nq, self._robot.nv, len(self._pairs)
        sizes = tuple(map(np.size, (state.q, state.v, state.active)))
        if sizes != (nq, nv, count):
            raise StateMismatch(
                f"state has nq, nv = {sizes[:2]} and {sizes[2]} contacts; this simulator of {self._robot.name!r} has "
                f"{(nq, nv)} and {count}; restore it in a simulator of the same robot and ground"
            )
        return _core.State(
            _checks.number("state.t", state.t, "[s]"),
            self._robot.check_configuration(state.q, "state.q", normalise=False),
            _checks.vector("state.v", state.v, nv, "nv"),
            _checks.flags("state.active", state.active, count),
            _checks.flags("state.slipping", state.slipping, count),
            _checks.matrix("state.p0", state.p0, count, 3),
            _checks.matrix("state.dp0", state.dp0, count, 3),
        )

    def _describe_divergence(self) -> SimulationDiverged:
        found = self._core.divergence
        assert found is not None
        bad_q = ~np.isfinite(found.q)
        bad_v = ~(np.abs(found.v) < MAX_VELOCITY)  # also true for NaN
        joints = self._robot.joints_of(bad_q, bad_v)
        advice = (
            "take a smaller dt; if a light joint went first, lower its gains or joint damping, which are integrated "
            "explicitly, or give it armature (robot.replace)"
        )
        if not isinstance(self._integrator, (Expo, PaperExpo)):
            advice = f"{type(self._integrator).__name__} needs a smaller dt than {self._dt:g} s here, or take Expo()"
        return SimulationDiverged(found.t, found.step, joints, self.state, advice)


def _restore(
    robot: Robot,
    surfaces: tuple[Surface, ...],
    integrator: Integrator,
    dt: float,
    on_divergence: Any,
    profile: bool,
    state: State,
    divergence: SimulationDiverged | None,
) -> Simulator:
    simulator = Simulator(
        robot,
        surfaces,
        integrator,
        dt,
        on_divergence=on_divergence,
        profile=profile,
    )
    simulator.state = state
    simulator._divergence = divergence
    return simulator
