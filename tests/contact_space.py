"""Contacts followed through a step in contact space, read from docs/theory.md: by micro-steps, and exactly.

Plain NumPy and SciPy, never from the C++. Clarity before speed. Vectors in world axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import block_diag

from reference import Array, Material, along_and_across, project_to_cone

GAMMA = 1.0 - np.sqrt(0.5)  # Alexander's SDIRK method of two stages: second order, L-stable, stiffly accurate
SLOWEST_SLIDING = 1e-6  # [m/s]
SAME_TIME = 1e-6  # of a micro-step
NO_PUSH, NO_SLIDING = 1e-3, 1e-3  # near enough to the end of a slip, of the largest λ_n and ‖ṗᵗ‖ since it began
MOST_OF_DETERMINANT = 0.5  # of the equation of the longest stage, that friction of all contacts may take
OVERSHOOT, CUTS_AGAIN = 0.3, 6  # of a margin's largest size; how often a cut is cut again for more
RUNGS_TO_JAM, MOST_RUNGS = 5, 8  # by which micro-steps are halved: until friction leaves that, until they are accurate
ERROR_OF_BEND = 0.138
LONGER = 0.125  # of its tolerance, below which a micro-step is followed by one twice as long
TIMES_TO_GIVE_WAY = 4  # in a step, springing back; from then on the saw is followed at its mean
OPEN, STICKING, SLIPPING, IDLE, BILATERAL = "open", "sticking", "slipping", "idle", "bilateral"
YIELDING = "yielding"  # a way of slipping, and so called outside


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
    stretch: Array  # (n, 3); of slipping and yielding elements that which holds their friction


class MicroStep(NamedTuple):
    h: float
    start: Motion
    first_stage: Motion  # at γh
    end: Motion
    once: Array  # ∫λ, (n, 3)
    twice: Array  # ∫∫λ, (n, 3)
    error: float  # of the velocities at its end [m/s]


class ContactSpace:
    """p̈ = Υ λ(p, ṗ) + p̈̄ with the full law, of which each element follows the branch of its mode.

    Friction leaves stages of micro-steps up to `longest` their determinant; with zero it is that of the law.
    """

    def __init__(self, Upsilon: Array, ddp_bar: Array, elements: Sequence[Element], longest: float = 0.0) -> None:
        self.Upsilon, self.ddp_bar = np.asarray(Upsilon, float), np.asarray(ddp_bar, float).ravel()
        self.elements, self.longest = list(elements), longest
        self.modes = [e.mode for e in elements]
        self.times_given_way = [0] * len(self.elements)
        self.largest = np.zeros((len(self.elements), 2))  # λ_n and ‖ṗᵗ‖ since it began to slip
        self.sizes = np.zeros((len(self.elements), 2))  # of its margins since its mode began
        for i, mode in enumerate(self.modes):
            if elements[i].material.damping == (0.0, 0.0) and mode in (SLIPPING, STICKING) and self.on_cone(i):
                yields = self.yielding_on(i, self.start(), self.stretched(i, self.start())) > 0.0
                self.modes[i] = YIELDING if yields else STICKING
            elif mode == SLIPPING and elements[i].material.damping[1] == 0.0:
                self.modes[i] = YIELDING
            elif mode == SLIPPING and self.cone_margin(i, self.start()) > 0.0:  # it springs back
                self.modes[i] = STICKING
        self.note_largest(self.start())

    @property
    def outward_modes(self) -> list[str]:
        return [SLIPPING if mode == YIELDING else mode for mode in self.modes]

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

    def on_cone(self, i: int) -> bool:
        push = self.push(i, self.start())
        return push > 0.0 and self.cone_margin(i, self.start()) <= 1e-9 * self.elements[i].material.friction * push

    def margins(self, i: int, start: Motion, motion: Motion) -> Array:
        """What the mode of element i ends by, if it becomes negative in a micro-step from `start`, (2,)."""
        e, mode, first, second = self.elements[i], self.modes[i], np.inf, np.inf
        if mode == STICKING:
            first = self.cone_margin(i, motion)
        elif mode == IDLE:
            first = -self.push(i, motion)
        elif mode in (SLIPPING, YIELDING):
            first, heading = self.push(i, motion), self.heading(i, start)
            if mode == SLIPPING and e.material.friction > 0.0:
                second = heading @ motion.velocity[i]
            elif mode == YIELDING and e.material.damping[1] > 0.0:
                second = -heading @ motion.velocity[i]
            elif mode == YIELDING and e.material.damping == (0.0, 0.0):
                second = self.yielding_on(i, motion, heading)
        return np.array([first, second])

    def overshoots(self, step: MicroStep) -> bool:
        """Whether the mode of some element has ended well before the end of a micro-step."""
        both = [[self.margins(i, step.start, m) for m in (step.start, step.end)] for i in range(len(self.elements))]
        return any(((a > 0.0) & (b < -OVERSHOOT * size)).any() for (a, b), size in zip(both, self.sizes, strict=True))

    def direction(self, i: int, motion: Motion) -> Array:
        """Of sliding; of an element that does not move yet, that in which it is about to, against the trial force."""
        e = self.elements[i]
        dp_t = e.tangential(motion.velocity[i])
        if not dp_t.any():
            dp_t = -e.tangential(self.trial(i, motion))
        return dp_t / max(np.linalg.norm(dp_t), np.finfo(float).tiny)

    def on_the_cones(self, lam: Array) -> Array:
        on_cones = lam.copy()
        for i, e in enumerate(self.elements):
            if self.modes[i] != BILATERAL:
                on_cones[i] = project_to_cone(lam[i], e.normal, e.material.friction, "horizontal")
        return on_cones

    def stretched(self, i: int, motion: Motion) -> Array:
        """ŝ; of an element that holds no force yet, where it moves to."""
        s = motion.stretch[i]
        return s / np.linalg.norm(s) if s.any() else self.direction(i, motion)

    def heading(self, i: int, motion: Motion) -> Array:
        """Against which friction acts."""
        return self.stretched(i, motion) if self.modes[i] == YIELDING else self.direction(i, motion)

    def sliding_friction(self, i: int, t_hat: Array) -> float:
        """μ, held back where friction presses the point down so hard that a stage would lose its determinant."""
        e, block = self.elements[i], self.Upsilon[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]
        mu, pressing, lifting = e.material.friction, e.normal @ block @ t_hat, e.normal @ block @ e.normal
        g = GAMMA * self.longest
        b = g * (e.material.damping[0] + g * e.material.stiffness[0])
        return (
            min(mu, (lifting + MOST_OF_DETERMINANT / len(self.elements) / b) / pressing)
            if pressing > 0.0 and b > 0.0
            else mu
        )

    def friction_stretch(self, i: int, motion: Motion, t_hat: Array) -> Array:
        """−λᵗ/Kᵗ: the stretch that holds the friction of sliding along t_hat."""
        friction = self.sliding_friction(i, t_hat) * max(0.0, self.push(i, motion))
        return friction / self.elements[i].material.stiffness[1] * t_hat

    def grown(self, i: int, start: Motion, displacement: Array) -> Array:
        """The stretch as it is if the anchor holds."""
        return start.stretch[i] + self.elements[i].tangential(displacement[i])

    def yielding_on(self, i: int, motion: Motion, s_hat: Array) -> float:
        """Rate, of an element without any damping, by which its stretch outgrows that which holds its friction."""
        e = self.elements[i]
        K_n, K_t = e.material.stiffness
        return (s_hat + self.sliding_friction(i, s_hat) * K_n / K_t * e.normal) @ motion.velocity[i]

    def push_and_speed(self, i: int, motion: Motion) -> tuple[float, float]:
        return self.push(i, motion), float(np.linalg.norm(self.elements[i].tangential(motion.velocity[i])))

    def note_largest(self, motion: Motion) -> None:
        for i in range(len(self.elements)):
            self.largest[i] = np.maximum(self.largest[i], np.abs(self.push_and_speed(i, motion)))

    def note_tried(self, step: MicroStep) -> None:
        self.note_largest(step.end)
        for i in range(len(self.elements)):
            for motion in (step.start, step.end):
                self.sizes[i] = np.maximum(self.sizes[i], np.abs(self.margins(i, step.start, motion)))

    def linearise(self, i: int, motion: Motion) -> tuple[Array, Array, Array]:
        """λ (3,) and the stiffness −∂λ/∂p and damping −∂λ/∂ṗ, (3, 3), in the element's mode."""
        e, mode = self.elements[i], self.modes[i]
        if mode in (STICKING, BILATERAL):
            return self.trial(i, motion), e.K, e.B
        if mode in (OPEN, IDLE):
            return np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
        n, t_hat = e.normal, self.heading(i, motion)
        mu = self.sliding_friction(i, t_hat)
        lam_n = self.push(i, motion)
        ray = n - mu * t_hat
        K, B = e.material.stiffness[0] * np.outer(ray, n), e.material.damping[0] * np.outer(ray, n)
        across = np.eye(3) - np.outer(n, n)
        turning = across - np.outer(t_hat, t_hat)
        if mode == YIELDING:
            mean = 0.5 * e.material.damping[1] * across  # of the saw
            return lam_n * ray - mean @ motion.velocity[i], K + e.material.stiffness[1] * turning, B + mean
        speed = np.linalg.norm(e.tangential(motion.velocity[i]))
        return lam_n * ray, K, B + mu * max(0.0, lam_n) / max(speed, SLOWEST_SLIDING) * turning

    def moved(self, motion: Motion, displacement: Array, velocity: Array) -> Motion:
        """Sticking stretches grow with the point, yielding ones turn, those of idle and open elements vanish."""
        after = Motion(motion.displacement + displacement, velocity, np.zeros_like(velocity))
        for i, mode in enumerate(self.modes):
            if mode in (STICKING, BILATERAL):
                after.stretch[i] = self.grown(i, motion, displacement)
            elif mode == SLIPPING:
                after.stretch[i] = self.friction_stretch(i, after, self.direction(i, after))
            elif mode == YIELDING:
                after.stretch[i] = self.grown(i, motion, displacement)
                held = self.friction_stretch(i, after, self.stretched(i, after))
                after.stretch[i] = min(after.stretch[i], held, key=np.linalg.norm)
        return after

    def stage_matrix(self, motion: Motion, h: float) -> Array:
        if not self.elements:
            return np.eye(0)
        parts = [self.linearise(i, motion) for i in range(len(self.elements))]
        K, B = block_diag(*(part[1] for part in parts)), block_diag(*(part[2] for part in parts))
        return np.eye(len(K)) + self.Upsilon @ (h**2 * GAMMA**2 * K + h * GAMMA * B)

    def micro_step(self, motion: Motion, h: float) -> MicroStep:
        """SDIRK of length h, every contact linear in its mode."""
        if h <= 0.0 or not self.elements:
            nothing = np.zeros_like(motion.velocity)
            return MicroStep(h, motion, motion, motion, nothing, nothing, 0.0)
        parts = [self.linearise(i, motion) for i in range(len(self.elements))]
        lam0 = np.concatenate([part[0] for part in parts])
        K, B = block_diag(*(part[1] for part in parts)), block_diag(*(part[2] for part in parts))
        v0 = motion.velocity.ravel()
        matrix = self.stage_matrix(motion, h)

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

        v1 = (v0 + h * GAMMA * a1).reshape(-1, 3)
        first_stage = self.moved(motion, h * GAMMA * v1, v1)
        end = self.moved(motion, h * motion.velocity + twice(a1, a2), motion.velocity + once(a1, a2))
        error = self.error(motion, end, (lam0, lam1, lam2), matrix, h)
        return MicroStep(h, motion, first_stage, end, once(lam1, lam2), twice(lam1, lam2), error)

    def error(self, motion: Motion, end: Motion, forces: tuple[Array, Array, Array], matrix: Array, h: float) -> float:
        """Of the velocities at the end of a micro-step [m/s], by its forces at the start and at the two stages."""
        lam0, lam1, lam2 = forces
        bend = (lam2 - lam1) / (1 - GAMMA) - (lam1 - lam0) / GAMMA
        beyond = np.concatenate([self.beyond_linear(i, motion, end) for i in range(len(self.elements))])
        off = np.linalg.solve(matrix, self.Upsilon @ (ERROR_OF_BEND * bend + beyond / 3)).reshape(-1, 3)
        return float(h * np.linalg.norm(off, axis=1).max())

    def beyond_linear(self, i: int, motion: Motion, end: Motion) -> Array:
        """Friction turns with the velocity: by how much that differs, at the end, from its linear turn."""
        e = self.elements[i]
        velocity = e.tangential(end.velocity[i])
        speed = np.linalg.norm(velocity)
        if self.modes[i] != SLIPPING or self.push(i, end) <= 0.0 or speed <= SLOWEST_SLIDING:
            return np.zeros(3)
        t_hat = self.heading(i, motion)
        before = max(np.linalg.norm(e.tangential(motion.velocity[i])), SLOWEST_SLIDING)
        across = velocity - (t_hat @ velocity) * t_hat
        turned = self.push(i, end) * (velocity / speed - t_hat)
        return -self.sliding_friction(i, t_hat) * (turned - max(0.0, self.push(i, motion)) / before * across)

    def changes_within(self, step: MicroStep) -> dict[int, tuple[float, str]]:
        """When and to which mode elements change in a micro-step, by element."""
        found = {i: self.change_within(i, step) for i in range(len(self.elements))}
        return {i: change for i, change in found.items() if change is not None}

    def change_within(self, i: int, step: MicroStep) -> tuple[float, str] | None:
        """When and to which mode element i changes in a micro-step, if it does."""
        e, mode = self.elements[i], self.modes[i]
        h, start, _, end = step[:4]

        def crossing(margin: Callable[[Motion], float]) -> float:
            return h * falls_through_zero(*(margin(motion) for motion in step[1:4]))

        found: list[tuple[float, str]] = []
        if mode == OPEN:
            phi, dphi = self.gap(i, start), e.normal @ start.velocity[i]
            t = landing(phi, dphi, e.normal @ (end.velocity[i] - start.velocity[i]) / h, h)
            if t is not None or (self.gap(i, end) <= 0.0 and e.normal @ end.velocity[i] < 0.0):
                found.append((h if t is None else t, STICKING))
        elif mode == STICKING:
            if self.cone_margin(i, end) < 0.0:
                found.append((crossing(lambda m: self.cone_margin(i, m)), SLIPPING))
        elif mode in (SLIPPING, YIELDING) and self.push(i, end) <= 0.0:
            found.append((crossing(lambda m: self.push(i, m)), IDLE))
        if mode == SLIPPING:
            t_hat = self.heading(i, start)
            if t_hat @ end.velocity[i] <= 0.0 and e.material.friction > 0.0:
                found.append((crossing(lambda m: t_hat @ m.velocity[i]), STICKING))
        elif mode == YIELDING:
            s_hat = self.heading(i, start)
            grown = self.grown(i, start, end.displacement - start.displacement)
            held = self.friction_stretch(i, end, grown / np.linalg.norm(grown))
            if e.material.damping == (0.0, 0.0) and self.yielding_on(i, end, s_hat) < 0.0:
                found.append((crossing(lambda m: self.yielding_on(i, m, s_hat)), STICKING))
            elif np.linalg.norm(grown) < np.linalg.norm(held):
                found.append((h, STICKING))
            if e.material.damping[1] > 0.0 and s_hat @ end.velocity[i] > 0.0:
                found.append((crossing(lambda m: -s_hat @ m.velocity[i]), SLIPPING))
        elif mode == IDLE:
            if self.push(i, end) > 0.0:
                found.append((crossing(lambda m: -self.push(i, m)), SLIPPING))
            elif self.gap(i, end) > 0.0:
                found.append((h, OPEN))
        return min(found) if found else None

    def enter(self, i: int, mode: str, motion: Motion, t_hat: Array) -> None:
        """Element i, its friction against t_hat until now, is to change to `mode`: the law at this instant decides."""
        e, before = self.elements[i], self.modes[i]
        most_push, most_speed = self.largest[i]
        slow = NO_SLIDING * most_speed
        if before == IDLE and self.gap(i, motion) > 0.0:
            mode = OPEN
        elif before in (OPEN, IDLE) and mode != OPEN:
            mode = self.anchored(i, motion)
        elif before == STICKING:
            mode = self.given_way(i, motion)
        elif before in (SLIPPING, YIELDING) and self.push(i, motion) <= 0.0:
            mode = IDLE
        elif mode == IDLE and self.push(i, motion) > NO_PUSH * most_push:
            mode = before  # a cut falls short of the instant; it is then looked for again
        elif before == SLIPPING and mode == STICKING:
            if t_hat @ motion.velocity[i] > max(slow, SLOWEST_SLIDING):
                mode = SLIPPING
            else:
                motion.stretch[i] = self.friction_stretch(i, motion, t_hat)
        elif before == YIELDING and mode == SLIPPING:
            mode = SLIPPING if -t_hat @ motion.velocity[i] <= slow else YIELDING
        elif before == YIELDING and mode == STICKING and e.material.damping == (0.0, 0.0):
            shorter = self.cone_margin(i, motion) > 1e-9 * self.push(i, motion)
            mode = STICKING if shorter or self.yielding_on(i, motion, t_hat) <= slow else YIELDING
        if mode in (OPEN, IDLE):
            motion.stretch[i] = 0.0
        elif mode == SLIPPING:
            motion.stretch[i] = self.friction_stretch(i, motion, self.direction(i, motion))
        if mode in (SLIPPING, YIELDING) and before not in (SLIPPING, YIELDING):
            self.largest[i] = self.push_and_speed(i, motion)
        if mode != before:
            self.sizes[i] = 0.0
        self.modes[i] = mode

    def slip(self, i: int) -> str:
        return SLIPPING if self.elements[i].material.damping[1] > 0.0 else YIELDING

    def anchored(self, i: int, motion: Motion) -> str:
        """The mode of an element that begins to push, without stretch; where no force is there yet, rates decide."""
        e = self.elements[i]
        (K_n, K_t), (B_n, B_t), mu = e.material.stiffness, e.material.damping, e.material.friction
        speed = np.linalg.norm(e.tangential(motion.velocity[i]))
        if B_n > 0.0:
            sticks = B_t * speed <= mu * self.push(i, motion)
        elif B_t > 0.0:
            sticks = speed == 0.0
        else:
            sticks = K_t * speed <= -mu * K_n * (e.normal @ motion.velocity[i])
        return STICKING if sticks else self.slip(i)

    def given_way(self, i: int, motion: Motion) -> str:
        """The mode of an element that stuck until it left the cone; its stretch is then on it."""
        e, f = self.elements[i], self.trial(i, motion)
        f_n, f_t = e.normal @ f, e.tangential(f)
        if f_n <= 0.0:
            return IDLE
        motion.stretch[i] = -e.material.friction * f_n / e.material.stiffness[1] * f_t / np.linalg.norm(f_t)
        if e.material.damping[1] == 0.0 or f_t @ motion.velocity[i] <= 0.0:
            return self.slip(i)
        if self.cone_margin(i, motion) < 0.0:  # on the other side
            return SLIPPING
        self.times_given_way[i] += 1
        return STICKING if self.times_given_way[i] <= TIMES_TO_GIVE_WAY else YIELDING


def falls_through_zero(at_start: float, at_stage: float, at_end: float) -> float:
    """Where, of a micro-step, a parabola through the values at 0, γ and 1 does so; at its end if not within it."""
    if not at_start > 0.0 > at_end:
        return 1.0
    bend = ((at_end - at_start) - (at_stage - at_start) / GAMMA) / (1.0 - GAMMA)
    slope = at_end - at_start - bend
    return 2.0 * at_start / (np.sqrt(slope**2 - 4.0 * bend * at_start) - slope)


def landing(phi: float, dphi: float, ddphi: float, within: float) -> float | None:
    """When a parabola passes zero downwards, if it does."""
    square = dphi**2 - 2.0 * ddphi * phi  # of φ̇ there
    if square < 0.0 or (dphi >= 0.0 and ddphi >= 0.0):
        return None
    t = 2.0 * phi / (np.sqrt(square) - dphi) if dphi < 0.0 else (np.sqrt(square) + dphi) / -ddphi
    return float(max(t, 0.0)) if t <= within else None


def resolve(
    Upsilon: Array,
    ddp_bar: Array,
    elements: Sequence[Element],
    dt: float,
    micro_steps: int = 20,
    tolerance: float = np.inf,
) -> Resolved:
    """Follow the elements through dt by micro-steps, short enough for a tolerance [m/s], cut where one changes."""
    longest = dt / micro_steps
    space = ContactSpace(Upsilon, ddp_bar, elements, longest / 2**RUNGS_TO_JAM)
    motion = space.start()
    lam_int, lam_int2 = np.zeros_like(motion.velocity), np.zeros_like(motion.velocity)
    events: list[Event] = []
    changed = any(e.mode in (SLIPPING, IDLE) for e in elements)
    left, rung, taken = dt, int(tolerance < np.inf and SLIPPING in space.outward_modes), 0
    most_events = min(16 + 4 * len(space.elements), 80)
    while left > 1e-12 * dt:
        h = left / max(1, ceil(left / (longest / 2**rung) - 1e-6))
        if rung < RUNGS_TO_JAM and np.linalg.det(space.stage_matrix(motion, h)) < 1.0 - MOST_OF_DETERMINANT:
            rung += 1
            continue
        step = space.micro_step(motion, h)
        taken, off = taken + 1, step.error / tolerance
        if off > 1.0 and rung < MOST_RUNGS:
            rung = min(MOST_RUNGS, rung + (1 if off < 2.0 else 2 if off < 16.0 else 3))
            continue
        space.note_tried(step)
        changes = space.changes_within(step)
        first = min(changes, key=lambda i: changes[i][0], default=None)
        located = first is not None and changes[first][0] < h and len(events) < most_events
        for again in range(1 + CUTS_AGAIN if located else 0):
            if again > 0:
                first = min(changes, key=lambda i: changes[i][0])
            together = changes[first][0] + SAME_TIME * step.h
            step = space.micro_step(motion, changes[first][0])
            space.note_tried(step)
            cut_here = {i: change for i, change in changes.items() if change[0] <= together}
            changes = space.changes_within(step)
            taken += 1
            if again == CUTS_AGAIN or not space.overshoots(step):
                changes = changes | cut_here
                break
        if not located and off < LONGER and rung > 0:
            rung -= 1
        for i, (_, mode) in changes.items():
            before = space.outward_modes[i]
            space.enter(i, mode, step.end, space.heading(i, motion))
            if located and i == first:
                events.append(Event(dt - left + step.h, i, before, space.outward_modes[i]))
        changed = changed or bool(changes)
        lam_int2 += step.h * lam_int + step.twice
        lam_int += step.once
        motion, left = step.end, left - step.h
    averages = (space.on_the_cones(lam) for lam in (lam_int / dt, 2 * lam_int2 / dt**2))
    return Resolved(
        *averages, motion.displacement, motion.velocity, space.outward_modes, motion.stretch, events, taken, changed
    )


def follow_exactly(
    Upsilon: Array, ddp_bar: Array, elements: Sequence[Element], dt: float, tolerance: float = 1e-10
) -> Resolved:
    """The same law between events located by a general solver: what `resolve` tends to, without micro-steps.

    Anchors that give way as soon as a contact has stopped do so without end; then there is no answer. Nor is there one
    for elements that yield, whose force no function of p and ṗ gives.
    """
    space = ContactSpace(Upsilon, ddp_bar, elements)
    n = len(space.elements)
    anchored = space.start()  # where the stretches were last set
    x, t = np.concatenate([np.zeros(3 * n), anchored.velocity.ravel(), np.zeros(6 * n)]), 0.0
    events: list[Event] = []
    changed = any(e.mode in (SLIPPING, IDLE) for e in elements)

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
        if len(events) > 40 or YIELDING in space.modes:
            raise RuntimeError(f"a contact yields, or more than 40 events, until {t:g} s")
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
                space.enter(i, mode, motion, space.heading(i, motion))
                events.append(Event(t, i, before, space.modes[i]))
        anchored = motion
    motion = space.moved(anchored, np.zeros((n, 3)), anchored.velocity)  # with the stretches of what slips
    averages = x[6 * n : 9 * n].reshape(n, 3) / dt, 2 * x[9 * n :].reshape(n, 3) / dt**2
    return Resolved(
        *averages, motion.displacement, motion.velocity, space.outward_modes, motion.stretch, events, 0, changed
    )
