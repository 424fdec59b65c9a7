"""The default step, read from docs/theory.md: contacts followed through a step in contact space, terms at the middle.

Plain NumPy, SciPy and Pinocchio's Python, never from the C++. Clarity before speed. Vectors in world axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp
from scipy.linalg import block_diag

from reference import (
    Array,
    Contact,
    Material,
    ReferenceSimulator,
    Wrench,
    along_and_across,
    integrate_linear_system,
    project_to_cone,
)

GAMMA = 1.0 - np.sqrt(0.5)  # Alexander's SDIRK method of two stages: second order, L-stable, stiffly accurate
HALF_STEP_MICRO_STEPS = 5
SLOWEST_SLIDING = 1e-6  # [m/s]
SAME_TIME = 1e-6  # of a micro-step
LARGEST_PRESSING = 0.95  # of what friction may take from the normal acceleration that the normal force gives
LARGEST_ACCELERATION = 1500.0  # of an open contact that could land [m/s²]
OPEN, STICKING, SLIPPING, IDLE, BILATERAL = "open", "sticking", "slipping", "idle", "bilateral"


@dataclass(frozen=True)
class Element:
    """A contact at the start of a step; the normal spring acts on gap − gap0, the tangential one on the stretch."""

    material: Material
    normal: Array  # (3,), unit
    gap: float  # φ [m]
    velocity: Array  # ṗ [m/s], (3,)
    mode: str = OPEN
    stretch: Array = field(default_factory=lambda: np.zeros(3))  # (p − p0)ᵗ [m], (3,)
    gap0: float = 0.0  # φ0 [m]

    @property
    def K(self) -> Array:
        return along_and_across(self.normal, *self.material.stiffness)

    @property
    def B(self) -> Array:
        return along_and_across(self.normal, *self.material.damping)

    def tangential(self, x: Array) -> Array:
        return x - (self.normal @ x) * self.normal


class Event(NamedTuple):
    t: float
    element: int
    before: str
    after: str


@dataclass
class Resolved:
    """What a followed step found: averages of λ over the step, and the elements at its end."""

    lam_bar: Array  # (1/dt) ∫λ [N], (n, 3)
    lam_bar2: Array  # (2/dt²) ∫∫λ [N], (n, 3)
    displacement: Array  # (n, 3)
    velocity: Array  # (n, 3)
    modes: list[str]
    stretch: Array  # (n, 3)
    events: list[Event]
    micro_steps: int
    changed: bool  # False if every contact stayed open, sticking or bilateral


@dataclass
class Motion:
    """Of all elements at one instant of the step."""

    displacement: Array  # since the start of the step, (n, 3)
    velocity: Array  # (n, 3)
    stretch: Array  # (n, 3); of slipping elements that which holds their friction


class ContactSpace:
    """p̈ = Υ λ(p, ṗ) + p̈̄ with the full law; `modes` and `directions` say which branch of it each element follows."""

    def __init__(self, Upsilon: Array, ddp_bar: Array, elements: Sequence[Element]) -> None:
        self.Upsilon, self.ddp_bar = np.asarray(Upsilon, float), np.asarray(ddp_bar, float).ravel()
        self.elements = list(elements)
        self.modes = [e.mode for e in elements]

    def start(self) -> Motion:
        velocity = np.array([e.velocity for e in self.elements], float).reshape(-1, 3)
        stretch = np.array([e.tangential(np.asarray(e.stretch, float)) for e in self.elements]).reshape(-1, 3)
        return Motion(np.zeros_like(velocity), velocity, stretch)

    def gap(self, i: int, motion: Motion) -> float:
        return self.elements[i].gap + self.elements[i].normal @ motion.displacement[i]

    def trial(self, i: int, motion: Motion) -> Array:
        """−K(p − p0) − Bṗ: the force if the element stuck with its present stretch."""
        e = self.elements[i]
        return -e.K @ ((self.gap(i, motion) - e.gap0) * e.normal + motion.stretch[i]) - e.B @ motion.velocity[i]

    def push(self, i: int, motion: Motion) -> float:
        return self.elements[i].normal @ self.trial(i, motion)

    def cone_margin(self, i: int, motion: Motion) -> float:
        e, f = self.elements[i], self.trial(i, motion)
        return e.material.friction * (e.normal @ f) - np.linalg.norm(e.tangential(f))

    def direction(self, i: int, motion: Motion) -> Array:
        """Of sliding; of an element that does not move yet, that in which it is about to, against the trial force."""
        e = self.elements[i]
        dp_t = e.tangential(motion.velocity[i])
        if not dp_t.any():
            dp_t = -e.tangential(self.trial(i, motion))
        return dp_t / max(np.linalg.norm(dp_t), np.finfo(float).tiny)

    def sliding_friction(self, i: int, t_hat: Array) -> float:
        """μ, held back where friction would press the point into the ground nearly as hard as the ground pushes back."""
        n, block = self.elements[i].normal, self.Upsilon[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]
        mu, pressing, lifting = self.elements[i].material.friction, n @ block @ t_hat, n @ block @ n
        return min(mu, LARGEST_PRESSING * lifting / pressing) if pressing > 0.0 else mu

    def friction_stretch(self, i: int, motion: Motion, t_hat: Array) -> Array:
        """−λᵗ/Kᵗ: the stretch that holds the friction of sliding along t_hat."""
        friction = self.sliding_friction(i, t_hat) * max(0.0, self.push(i, motion))
        return friction / self.elements[i].material.stiffness[1] * t_hat

    def linearise(self, i: int, motion: Motion) -> tuple[Array, Array, Array]:
        """λ (3,) and the stiffness −∂λ/∂p and damping −∂λ/∂ṗ, (3, 3), in the element's mode."""
        e, mode = self.elements[i], self.modes[i]
        if mode in (STICKING, BILATERAL):
            return self.trial(i, motion), e.K, e.B
        if mode in (OPEN, IDLE):
            return np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
        n, t_hat = e.normal, self.direction(i, motion)
        mu = self.sliding_friction(i, t_hat)
        lam_n = self.push(i, motion)
        speed = np.linalg.norm(e.tangential(motion.velocity[i]))
        ray = n - mu * t_hat
        turning = np.eye(3) - np.outer(n, n) - np.outer(t_hat, t_hat)
        B = e.material.damping[0] * np.outer(ray, n)
        B = B + e.material.friction * max(0.0, lam_n) / max(speed, SLOWEST_SLIDING) * turning
        return lam_n * ray, e.material.stiffness[0] * np.outer(ray, n), B

    def moved(self, motion: Motion, displacement: Array, velocity: Array) -> Motion:
        """Sticking stretches grow with the point, those of idle and open elements vanish."""
        after = Motion(motion.displacement + displacement, velocity, np.zeros_like(velocity))
        for i, (e, mode) in enumerate(zip(self.elements, self.modes, strict=True)):
            if mode in (STICKING, BILATERAL):
                after.stretch[i] = motion.stretch[i] + e.tangential(displacement[i])
            elif mode == SLIPPING:
                after.stretch[i] = self.friction_stretch(i, after, self.direction(i, after))
        return after

    def micro_step(self, motion: Motion, h: float) -> tuple[Motion, Array, Array]:
        """SDIRK of length h, every contact linear in its mode: the end, ∫λ and ∫∫λ, (n, 3)."""
        if h <= 0.0 or not self.elements:
            return motion, np.zeros_like(motion.velocity), np.zeros_like(motion.velocity)
        parts = [self.linearise(i, motion) for i in range(len(self.elements))]
        lam0 = np.concatenate([part[0] for part in parts])
        K, B = block_diag(*(part[1] for part in parts)), block_diag(*(part[2] for part in parts))
        v0 = motion.velocity.ravel()
        matrix = np.eye(len(v0)) + self.Upsilon @ (h**2 * GAMMA**2 * K + h * GAMMA * B)

        def stage(delta_p: Array, delta_v: Array) -> tuple[Array, Array]:
            """λ and a of a stage; what is given are its increments but for its own hγ a."""
            delta_p = delta_p + h * GAMMA * (v0 + delta_v)
            a = np.linalg.solve(matrix, self.Upsilon @ (lam0 - K @ delta_p - B @ delta_v) + self.ddp_bar)
            return lam0 - K @ (delta_p + h**2 * GAMMA**2 * a) - B @ (delta_v + h * GAMMA * a), a

        zero = np.zeros_like(v0)
        lam1, a1 = stage(zero, zero)
        lam2, a2 = stage(h * (1 - GAMMA) * (v0 + h * GAMMA * a1), h * (1 - GAMMA) * a1)

        def once(x1: Array, x2: Array) -> Array:
            return (h * ((1 - GAMMA) * x1 + GAMMA * x2)).reshape(-1, 3)

        def twice(x1: Array, x2: Array) -> Array:
            return (h**2 * (2 * GAMMA * (1 - GAMMA) * x1 + GAMMA**2 * x2)).reshape(-1, 3)

        end = self.moved(motion, h * motion.velocity + twice(a1, a2), motion.velocity + once(a1, a2))
        return end, once(lam1, lam2), twice(lam1, lam2)

    def changes_within(self, start: Motion, end: Motion, h: float) -> dict[int, tuple[float, str]]:
        """When and to which mode elements change in a micro-step, by element."""
        found = {i: self.change_within(i, start, end, h) for i in range(len(self.elements))}
        return {i: change for i, change in found.items() if change is not None}

    def change_within(self, i: int, start: Motion, end: Motion, h: float) -> tuple[float, str] | None:
        """When and to which mode element i changes in a micro-step, if it does."""
        e, mode = self.elements[i], self.modes[i]

        def line(at_start: float, at_end: float) -> float:
            return h * at_start / (at_start - at_end) if at_start > 0.0 > at_end else h

        def parabola() -> float:
            """Where φ passes zero downwards."""
            phi, dphi = self.gap(i, start), e.normal @ start.velocity[i]
            ddphi = e.normal @ (end.velocity[i] - start.velocity[i]) / h
            speed = np.sqrt(max(0.0, dphi**2 - 2.0 * ddphi * phi))  # −φ̇ there
            t = 2.0 * phi / (speed - dphi) if dphi < 0.0 else (speed + dphi) / -ddphi
            return float(np.clip(t, 0.0, h))

        found: list[tuple[float, str]] = []
        if mode == OPEN:
            if self.gap(i, end) <= 0.0 and e.normal @ end.velocity[i] < 0.0:
                found.append((parabola(), STICKING))
        elif mode == STICKING:
            if self.cone_margin(i, end) < 0.0:
                found.append((line(self.cone_margin(i, start), self.cone_margin(i, end)), SLIPPING))
        elif mode == SLIPPING:
            if self.push(i, end) <= 0.0:
                found.append((line(self.push(i, start), self.push(i, end)), IDLE))
            t_hat = self.direction(i, start)
            if t_hat @ end.velocity[i] <= 0.0 and e.material.friction > 0.0:
                found.append((line(t_hat @ start.velocity[i], t_hat @ end.velocity[i]), STICKING))
        elif mode == IDLE:
            if self.push(i, end) > 0.0:
                found.append((line(-self.push(i, start), -self.push(i, end)), SLIPPING))
            elif self.gap(i, end) > 0.0:
                found.append((h, OPEN))
        return min(found) if found else None

    def enter(self, i: int, mode: str, motion: Motion, t_hat: Array) -> None:
        """Element i, which slid along t_hat until now, is about to change to `mode`: the law at this instant decides."""
        e, before, f = self.elements[i], self.modes[i], self.trial(i, motion)
        f_n, f_t = e.normal @ f, e.tangential(f)
        K_t, mu = e.material.stiffness[1], e.material.friction
        if before in (OPEN, IDLE) and mode != OPEN:  # anchored here: damping alone acts across
            mode = STICKING if np.linalg.norm(f_t) <= mu * f_n else SLIPPING
        elif before == STICKING:
            if f_n <= 0.0:
                mode = IDLE
            elif f_t @ motion.velocity[i] > 0.0:  # springing back: the anchor gives way, the contact does not slide
                mode = STICKING
                motion.stretch[i] = -mu * f_n / K_t * f_t / np.linalg.norm(f_t)
        elif mode == IDLE and f_n > 0.0:  # a cut falls short of the instant; it is then looked for again
            mode = SLIPPING
        elif mode == STICKING:
            if t_hat @ motion.velocity[i] > SLOWEST_SLIDING:
                mode = SLIPPING
            else:
                motion.stretch[i] = self.friction_stretch(i, motion, t_hat)
        if mode in (OPEN, IDLE):
            motion.stretch[i] = 0.0
        elif mode == SLIPPING:
            motion.stretch[i] = self.friction_stretch(i, motion, self.direction(i, motion))
        self.modes[i] = mode


def resolve(
    Upsilon: Array, ddp_bar: Array, elements: Sequence[Element], dt: float, micro_steps: int = 20
) -> Resolved:
    """Follow the elements through dt by micro-steps, each cut where the first of them changes."""
    space = ContactSpace(Upsilon, ddp_bar, elements)
    motion = space.start()
    lam_int, lam_int2 = np.zeros_like(motion.velocity), np.zeros_like(motion.velocity)
    events: list[Event] = []
    changed = any(mode in (SLIPPING, IDLE) for mode in space.modes)
    longest, left, parts, taken = dt / micro_steps, dt, micro_steps, 0
    most_events = min(16 + 4 * len(space.elements), 80)
    while parts > 0:
        h = left / parts
        end, once, twice = space.micro_step(motion, h)
        changes = space.changes_within(motion, end, h)
        taken, parts = taken + 1, parts - 1
        first = min(changes, key=lambda i: changes[i][0], default=None)
        located = first is not None and changes[first][0] < h and len(events) < most_events
        if located:
            together = changes[first][0] + SAME_TIME * h
            h = changes[first][0]
            end, once, twice = space.micro_step(motion, h)
            cut_here = {i: change for i, change in changes.items() if change[0] <= together}
            changes = space.changes_within(motion, end, h) | cut_here
            taken, parts = taken + 1, ceil((left - h) / longest - 1e-9)
        for i, (_, mode) in changes.items():
            before = space.modes[i]
            space.enter(i, mode, end, space.direction(i, motion))
            if located and i == first:
                events.append(Event(dt - left + h, i, before, space.modes[i]))
        changed = changed or bool(changes)
        lam_int2 += h * lam_int + twice
        lam_int += once
        motion, left = end, left - h
    averages = lam_int / dt, 2 * lam_int2 / dt**2
    return Resolved(
        *averages, motion.displacement, motion.velocity, space.modes, motion.stretch, events, taken, changed
    )


def follow_exactly(
    Upsilon: Array, ddp_bar: Array, elements: Sequence[Element], dt: float, tolerance: float = 1e-10
) -> Resolved:
    """The same law between events located by a general solver: what `resolve` tends to, without micro-steps.

    Anchors that give way as soon as a contact has stopped do so without end; then there is no answer.
    """
    space = ContactSpace(Upsilon, ddp_bar, elements)
    n = len(space.elements)
    anchored = space.start()  # where the stretches were last set
    x, t = np.concatenate([np.zeros(3 * n), anchored.velocity.ravel(), np.zeros(6 * n)]), 0.0
    events: list[Event] = []
    changed = any(mode in (SLIPPING, IDLE) for mode in space.modes)

    def motion_at(x: Array) -> Motion:
        displacement, velocity = x[: 6 * n].reshape(2, n, 3)
        grown = [e.tangential(x) for e, x in zip(space.elements, displacement - anchored.displacement, strict=True)]
        holds = np.array([mode in (STICKING, BILATERAL) for mode in space.modes])[:, None]
        return Motion(displacement.copy(), velocity.copy(), np.where(holds, anchored.stretch + grown, 0.0))

    def rate(_: float, x: Array) -> Array:  # of p, ṗ, ∫λ and ∫∫λ
        motion = motion_at(x)
        lam = np.concatenate([space.linearise(i, motion)[0] for i in range(n)])
        return np.concatenate([x[3 * n : 6 * n], space.Upsilon @ lam + space.ddp_bar, lam, x[6 * n : 9 * n]])

    def ends() -> list[tuple[int, str, object]]:
        """Element, next mode and the function that falls through zero there."""

        def sliding(i: int, motion: Motion) -> float:
            return float(np.linalg.norm(space.elements[i].tangential(motion.velocity[i]))) - SLOWEST_SLIDING

        by_mode = {
            OPEN: [(STICKING, space.gap)],
            STICKING: [(SLIPPING, lambda i, m: space.cone_margin(i, m) + 1e-8)],  # begins on the cone's surface
            SLIPPING: [(IDLE, space.push), (STICKING, sliding)],
            IDLE: [(SLIPPING, lambda i, m: -space.push(i, m)), (OPEN, lambda i, m: -space.gap(i, m))],
            BILATERAL: [],
        }
        return [(i, after, function) for i in range(n) for after, function in by_mode[space.modes[i]]]

    while t < dt:
        if len(events) > 40:
            raise RuntimeError(f"more than 40 events until {t:g} s")
        found = ends()
        functions = [lambda _, x, i=i, f=f: f(i, motion_at(x)) for i, _, f in found]
        for function in functions:
            function.terminal, function.direction = True, -1.0
        path = solve_ivp(
            rate, (t, dt), x, "Radau", events=functions, rtol=tolerance, atol=1e-3 * tolerance, max_step=dt / 50
        )
        if not path.success:
            raise RuntimeError(f"at {path.t[-1]:g} s: {path.message}")
        t, x = float(path.t[-1]), path.y[:, -1]
        motion = motion_at(x)
        for (i, mode, _), times in zip(found, path.t_events, strict=True):
            if len(times):
                before, changed = space.modes[i], True
                space.enter(i, mode, motion, space.direction(i, motion))
                events.append(Event(t, i, before, space.modes[i]))
        anchored = motion
    motion = space.moved(anchored, np.zeros((n, 3)), anchored.velocity)  # with the stretches of what slips
    averages = x[6 * n : 9 * n].reshape(n, 3) / dt, 2 * x[9 * n :].reshape(n, 3) / dt**2
    return Resolved(*averages, motion.displacement, motion.velocity, space.modes, motion.stretch, events, 0, changed)


class Terms(NamedTuple):
    """Of the dynamics at one (q, v)."""

    dv_bar: Array  # M⁻¹u, (nv,)
    MinvJt: Array  # M⁻¹Jᵀ, (nv, 3 nc)
    Upsilon: Array  # (3 nc, 3 nc)
    ddp_bar: Array  # (3 nc,)


class OracleSimulator(ReferenceSimulator):
    """Expo() and Expo(order=1): robots on half-spaces and bilateral points.

    Of the last step: `followed` is what contacts did; `hesitated` says that an end of slipping was looked for over and
    over, so that rounding decides.
    """

    def __init__(self, *args, order: int = 2, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.order = order

    def step(self, tau: Array, wrenches: Sequence[Wrench] = (), follow: bool = False) -> None:
        """Advance by dt; `follow`: as if a bound had not ruled out changes, which moves the middle to a resolved one."""
        tau, dt, q, v = np.asarray(tau, float), self.dt, self.q, self.v
        self.hesitated = False
        if self.order == 1:
            terms = self._terms(q, v, tau, wrenches)
            followed = self._follow(terms, dt, 20)
        else:
            q_mid = pin.integrate(self.model, q, dt / 2 * v)
            terms = self._terms(q_mid, v, tau, wrenches)
            v_mid = self._predict_middle(terms)
            terms = self._terms(q_mid, v_mid, tau, wrenches)
            followed = self._follow(terms, dt, 20)
            if follow or followed.changed:
                half = self._follow(terms, dt / 2, HALF_STEP_MICRO_STEPS)
                q_mid, v_mid = self._moved(terms, half.lam_bar, half.lam_bar2, dt / 2)
                terms = self._terms(q_mid, v_mid, tau, wrenches)
                followed = self._follow(terms, dt, 20)
        self.followed = followed
        self.lam_pr, self.lam_pr2 = followed.lam_bar, followed.lam_bar2
        if not followed.changed:
            self.lam_pr, self.lam_pr2 = self._closed_form(terms)
        p_start = self.p.copy()
        self.q, self.v = self._moved(terms, self.lam_pr, self.lam_pr2, dt)
        self.t += dt
        self._update_kinematics()
        if followed.changed:
            self._carry_over(p_start, followed)
        self._commit_law()

    def adopt(self, sim) -> None:
        """Continue from the state of a simulator of the same robot and ground."""
        self.t, self.q, self.v = sim.t, sim.q, sim.v
        self.active, self.slipping = (np.array([getattr(c, x) for c in sim.contacts], bool) for x in ("active", "slipping"))
        self.p, self.dp, self.p0, self.force = (
            np.array([getattr(c, x) for c in sim.contacts]).reshape(-1, 3)
            for x in ("position", "velocity", "anchor", "force")
        )
        self.p0[~self.active] = 0.0
        self.dp0 = np.zeros_like(self.dp)
        for i in np.flatnonzero(self.slipping):  # the anchor of a slipping contact goes with the point
            n = self.contacts[i].normal
            self.dp0[i] = self.dp[i] - (n @ self.dp[i]) * n
        self._update_kinematics()

    @property
    def modes(self) -> list[str]:
        modes = []
        for contact, active, slipping, force in zip(
            self.contacts, self.active, self.slipping, self.force, strict=True
        ):
            if contact.surface is None:
                modes.append(BILATERAL)
            elif not active:
                modes.append(OPEN)
            elif not slipping:
                modes.append(STICKING)
            else:
                modes.append(SLIPPING if contact.normal @ force > 0.0 else IDLE)
        return modes

    def _elements(self) -> list[Element]:
        elements = []
        for i, (contact, mode) in enumerate(zip(self.contacts, self.modes, strict=True)):
            n = contact.normal
            delta_p = self.p[i] - self.p0[i] if self.active[i] else np.zeros(3)
            gap = n @ delta_p if contact.surface is None else contact.surface.distance(self.p[i])
            stretch = delta_p - (n @ delta_p) * n
            elements.append(Element(contact.material, n, gap, self.dp[i], mode, stretch))
        return elements

    def _follow(self, terms: Terms, dt: float, micro_steps: int) -> Resolved:
        """Of the contacts that are closed or could close within the step; the others stay as they are."""
        elements = self._elements()
        near = [i for i, e in enumerate(elements) if e.mode != OPEN or self._could_land(e)]
        rows = (3 * np.array(near, int)[:, None] + np.arange(3)).ravel()
        found = resolve(terms.Upsilon[np.ix_(rows, rows)], terms.ddp_bar[rows], [elements[i] for i in near], dt, micro_steps)
        modes = [e.mode for e in elements]
        for i, mode in zip(near, found.modes, strict=True):
            modes[i] = mode
        for name in ("lam_bar", "lam_bar2", "displacement", "velocity", "stretch"):
            full = np.zeros_like(self.p)
            full[near] = getattr(found, name)
            setattr(found, name, full)
        repeats = sum(event.before == event.after == SLIPPING for event in found.events)
        self.hesitated = self.hesitated or repeats > 3
        found.events = [event._replace(element=near[event.element]) for event in found.events]
        found.modes = modes
        return found

    def _could_land(self, e: Element) -> bool:
        return e.gap + self.dt * (e.normal @ e.velocity) - 0.5 * LARGEST_ACCELERATION * self.dt**2 <= 0.0

    def _terms(self, q: Array, v: Array, tau: Array, wrenches: Sequence[Wrench]) -> Terms:
        here = self.q, self.v
        self.q, self.v = q, v
        M, dv_bar = self._free_dynamics(tau, wrenches)
        places = [(c.point.joint, self._contact_point(c)) for c in self.contacts]
        J = np.vstack([np.zeros((0, self.model.nv)), *(self._point_jacobian(*place)[:3] for place in places)])
        dJv = np.concatenate([np.zeros(0), *(self._point_dJv(*place) for place in places)])
        self.q, self.v = here
        self._update_kinematics()
        MinvJt = np.linalg.solve(M, J.T)
        return Terms(dv_bar, MinvJt, J @ MinvJt, J @ dv_bar + dJv)

    def _moved(self, terms: Terms, lam_bar: Array, lam_bar2: Array, dt: float) -> tuple[Array, Array]:
        dv, dv2 = (terms.dv_bar + terms.MinvJt @ lam.ravel() for lam in (lam_bar, lam_bar2))
        return pin.integrate(self.model, self.q, dt * self.v + dt**2 / 2 * dv2), self.v + dt * dv

    def _linear_contacts(self, terms: Terms) -> tuple[Array, Array, Array, Array, Array, Array, list[Contact]]:
        """Indices, Υ, p̈̄, K, B, (Δp, Δṗ) and contacts of those that are active, as if all stuck."""
        closed = np.flatnonzero(self.active)
        contacts = [self.contacts[i] for i in closed]
        rows = (3 * closed[:, None] + np.arange(3)).ravel()
        K, B = block_diag(*(c.K for c in contacts)), block_diag(*(c.B for c in contacts))
        x0 = np.concatenate([(self.p - self.p0)[closed].ravel(), (self.dp - self.dp0)[closed].ravel()])
        return rows, terms.Upsilon[np.ix_(rows, rows)], terms.ddp_bar[rows], K, B, x0, contacts

    def _closed_form(self, terms: Terms) -> tuple[Array, Array]:
        """λ̄ and λ̄̄ of eq:contact_dyn, (nc, 3)."""
        lam_bar, lam_bar2 = np.zeros_like(self.p), np.zeros_like(self.p)
        if not self.active.any():
            return lam_bar, lam_bar2
        rows, Upsilon, ddp_bar, K, B, x0, _ = self._linear_contacts(terms)
        zero = np.zeros_like(K)
        A = np.block([[zero, np.eye(len(K))], [-Upsilon @ K, -Upsilon @ B]])
        b = np.concatenate([np.zeros(len(K)), ddp_bar])
        x_int, x_int2 = integrate_linear_system(A, b, x0, self.dt)
        D = np.hstack([-K, -B])
        lam_bar.reshape(-1)[rows] = D @ x_int / self.dt
        lam_bar2.reshape(-1)[rows] = 2 * D @ x_int2 / self.dt**2
        return lam_bar, lam_bar2

    def _predict_middle(self, terms: Terms) -> Array:
        """v after an implicit Euler half step of the active contacts, their forces projected on the cone."""
        h = self.dt / 2
        lam = np.zeros_like(self.p)
        if self.active.any():
            rows, Upsilon, ddp_bar, K, B, x0, contacts = self._linear_contacts(terms)
            delta_p, delta_dp = np.split(x0, 2)
            matrix = np.eye(len(K)) + Upsilon @ (h * B + h**2 * K)
            a = np.linalg.solve(matrix, ddp_bar - Upsilon @ (K @ (delta_p + h * delta_dp) + B @ delta_dp))
            lam_end = -K @ (delta_p + h * delta_dp + h**2 * a) - B @ (delta_dp + h * a)
            lam_end = [
                f if c.surface is None else project_to_cone(f, c.normal, c.material.friction, "horizontal")
                for f, c in zip(lam_end.reshape(-1, 3), contacts, strict=True)
            ]
            lam.reshape(-1)[rows] = np.concatenate(lam_end)
        return self.v + h * (terms.dv_bar + terms.MinvJt @ lam.ravel())

    def _carry_over(self, p_start: Array, followed: Resolved) -> None:
        """Modes and anchors at the end of a followed step: those that stick stay in the world, others go with the point."""
        for i, (contact, mode) in enumerate(zip(self.contacts, followed.modes, strict=True)):
            if contact.surface is None:
                continue
            was_sticking = self.active[i] and not self.slipping[i]
            stays = mode == STICKING and was_sticking and not any(event.element == i for event in followed.events)
            self.active[i] = mode != OPEN
            if mode == OPEN or stays:
                continue
            p = p_start[i] + followed.displacement[i] if mode == STICKING else self._contact_point(contact)
            p0 = p - followed.stretch[i]
            self.p0[i] = p0 - contact.surface.distance(p0) * contact.normal
