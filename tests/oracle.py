"""The default step, read from docs/theory.md: terms at the middle, contacts that change followed in contact space.

Plain NumPy, SciPy and Pinocchio's Python, never from the C++. Clarity before speed. Vectors in world axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.linalg import block_diag, expm

from contact_space import BILATERAL, IDLE, OPEN, SLIPPING, STICKING, Element, Resolved, resolve
from look_ahead import look_ahead
from reference import Array, Contact, ReferenceSimulator, Wrench, integrate_linear_system

MICRO_STEPS, MICRO_TOLERANCE = 2, 0.01  # at least so many; error of the mean acceleration that each may make [m/s²]
SHARE_OF_FREEZING = 0.6  # beside it, of the change of p̈̄; at most so much of the angle of a step, and of its square:
SHARE_OF_TURN, SHARE_OF_SQUARE = 6.0, 280.0
FAR_MIDDLE = 8e-3  # from where M, J and Υ were taken [rad, m]
UNFORESEEN = 25.0  # difference of the mean velocities, times the fastest turning: beyond, it is followed again [rad/s²]
SLOW_TURN, REPETITIONS = 0.05, 2  # beyond so many radians a step, velocity-dependent terms are those of the mean
SAME_MEAN = 1e-3  # of the largest velocity: the mean has been found
LARGEST_ACCELERATION = 1500.0  # of an open contact that could land [m/s²]
DISAGREEMENTS = 1e-3, 3e-2  # of robot and contact space, as forces, that are let be; of the largest average
DISAGREEMENT_TIME = 0.06  # the square of a step over this, between these two [s]
AGREEMENTS = 3  # at most
LARGE_DISAGREEMENT = 0.1  # after which they are looked at again


class Drives(NamedTuple):
    """What springs and dampers along the degrees of freedom do to a step, (nv,) each."""

    X: Array  # added to M
    Theta: Array  # lead of the springs' force
    at_start: Array  # Δq = at_start v + at_end v⁺
    at_end: Array


class FreeBody(NamedTuple):
    """A body that flies freely in the world, by its place in q and v and its centre of mass if it carries nothing."""

    in_q: int
    in_v: int
    lever: Array  # zero if it carries something

    @property
    def position(self) -> slice:
        return slice(self.in_q, self.in_q + 3)

    @property
    def angular(self) -> slice:
        return slice(self.in_v + 3, self.in_v + 6)

    def R(self, q: Array) -> Array:
        return pin.Quaternion(q[self.in_q + 3 : self.in_q + 7]).matrix()

    def of_centre(self, v: Array) -> Array:
        """Of velocities, those of the centre in the body's axes."""
        return v[self.in_v : self.in_v + 3] + np.cross(v[self.angular], self.lever)

    def set_centre(self, v: Array, velocity: Array) -> None:
        v[self.in_v : self.in_v + 3] = velocity - np.cross(v[self.angular], self.lever)


def fitted(M: Array, K: Array, D: Array, h: float, loaded: Array) -> Drives:
    """Of springs K and dampers D; `loaded` are the degrees of freedom that move what touches, or may."""
    X, lacking = np.zeros(len(M)), np.zeros(len(M))
    Theta, at_start, at_end = (np.full(len(M), h / 2) for _ in range(3))
    slow = np.all(h * D + h**2 * K <= 0.25 * np.diag(M))
    for i, inertia in enumerate(np.diag(M) if slow else 1.0 / np.diag(np.linalg.inv(M))):
        k, d = K[i] / inertia, D[i] / inertia
        if max(k, d) == 0.0:
            continue
        X[i], Theta[i] = h * D[i] + h**2 * K[i], 1.5 * h
        # G, G', G1 of y'' + d y' + k y = 0 from y = 0, y' = 1.
        G, dG, G1 = expm(h * np.array([[0, 1, 0], [-k, -d, 0], [1, 0, 0]]))[:, 1]
        swing = k - d**2 / 4
        if swing * h**2 >= np.pi**2 or G <= 0.0:
            continue
        lead, inertia_fit = G1 / G, inertia * (h / G - 1)
        share = 1.0 if swing <= 0.0 and not loaded[i] else np.clip(2.5 - inertia_fit / X[i], 0.0, 1.0)
        X[i] += share * (inertia_fit - X[i])
        Theta[i] += share * (lead - Theta[i])
        lacks = 1.0 - h * (1.0 + dG) / (2.0 * G)
        if not loaded[i]:
            start = G - dG * lead
            at_start[i] += share * (start - h / 2)
            at_end[i] += share * (lead - h / 2)
            lacks = 1.0 - h / G + h * d / 2 + h * k * (3 * lead - start) / 4
        lacking[i] = share * max(0.0, lacks)
    all_lacking = lacking.sum() * (4.0 if slow else 1.0)
    if all_lacking > 1.0:
        kept = np.where(lacking > 0.0, 1.0 / all_lacking, 1.0)
        X = kept * X + (1.0 - kept) * (h / 2 * D + h**2 / 4 * K)
        Theta, at_start, at_end = (kept * x + (1.0 - kept) * h / 2 for x in (Theta, at_start, at_end))
    return Drives(X, Theta, at_start, at_end)


class Terms(NamedTuple):
    """Of the dynamics at one (q, v)."""

    q: Array
    v: Array
    dv_bar: Array  # M⁻¹u, (nv,)
    MinvJt: Array  # M⁻¹Jᵀ, (nv, 3 nc)
    Upsilon: Array  # (3 nc, 3 nc)
    ddp_bar: Array  # (3 nc,)
    drives: Drives


class OracleSimulator(ReferenceSimulator):
    """Expo() and Expo(order=1): robots on half-spaces and bilateral points.

    Of the last step: `followed` is what contacts did; `hesitated` says that an end of slipping was looked for over and
    over, so that rounding decides; `borderline` that robot and contact space disagreed by about what is let be, or that
    some other threshold was met to rounding.
    """

    def __init__(self, *args, order: int = 2, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.order = order
        self.kp = self.kd = np.zeros(self.model.nv)
        self.target: Array | None = None

    def step(self, tau: Array, wrenches: Sequence[Wrench] = ()) -> None:
        """Advance by dt; contacts are always followed, and the closed form is taken where that finds no change."""
        tau, dt = np.asarray(tau, float), self.dt
        self.hesitated = self.borderline = False
        take = partial(self._terms, tau=tau, wrenches=wrenches)
        if self.order == 1:
            terms = take(self.q, self.v)
            followed, keeps = self._follow(terms), True
        else:
            terms, followed, keeps = self._follow_as_foreseen(take)
        self.followed = followed
        self.lam_pr, self.lam_pr2 = followed.lam_bar, followed.lam_bar2
        if not followed.changed:
            self.lam_pr, self.lam_pr2 = self._closed_form(terms)
            if self.order == 2 and self._turn_rate(self.q, self.v) * dt > SLOW_TURN:
                terms = self._at_the_mean(take, terms, keeps)
        q_next, v_next = self._moved(terms, self.lam_pr, self.lam_pr2)
        p_start, dp_start = self.p.copy(), self.dp.copy()
        self.q, self.v = q_next, v_next
        self.t += dt
        self._update_kinematics()
        least, most = DISAGREEMENTS
        for let_be in [np.clip((dt / DISAGREEMENT_TIME) ** 2, least, most), *[most] * (AGREEMENTS - 1)]:
            if not self._agree(terms, p_start, dp_start, followed, let_be):
                break
        if followed.changed:
            self._carry_over(p_start, followed)
        self._commit_law()

    def _follow_as_foreseen(self, take: Callable[..., Terms]) -> tuple[Terms, Resolved, bool]:
        """With the mean velocity of the way that the look ahead leads; and again if it led elsewhere."""
        ahead = take(pin.integrate(self.model, self.q, self.dt / 2 * self.v), self.v)
        lam, keeps = self._look_ahead(ahead)
        foreseen, middle = self._way(ahead, lam), self.dt / 2 * self.v
        if not keeps and self._beyond(np.abs(foreseen / 2 - middle).max(), FAR_MIDDLE):
            middle = foreseen / 2
        terms = take(pin.integrate(self.model, self.q, middle), foreseen / self.dt)
        frozen = self._largest_change(ahead, terms)
        followed = self._follow(terms, frozen)
        if followed.changed:
            way = self._way(terms, followed.lam_bar2)
            rate = max(self._turn_rate(self.q, self.v), self._turn_rate(terms.q, terms.v))
            if self._beyond(np.abs(way - foreseen).max() / self.dt * rate, UNFORESEEN):
                if self._beyond(np.abs(way / 2 - middle).max(), FAR_MIDDLE):
                    middle = way / 2
                before, terms = terms, take(pin.integrate(self.model, self.q, middle), way / self.dt)
                followed = self._follow(terms, max(frozen, self._largest_change(before, terms)))
        return terms, followed, keeps

    def _at_the_mean(self, take: Callable[..., Terms], terms: Terms, keeps: bool) -> Terms:
        """h and J̇v at the mean of the velocities at both ends, and the forces with them."""
        for _ in range(REPETITIONS):
            mean = (self.v + self._moved(terms, self.lam_pr, self.lam_pr2)[1]) / 2
            found = not self._beyond(np.abs(mean - terms.v).max(), SAME_MEAN * np.abs(self.v).max())
            if found and self.active.any():
                break
            before, terms = terms, take(terms.q, mean)
            if keeps:
                change = self._response(terms, terms.ddp_bar - before.ddp_bar)
                self.lam_pr, self.lam_pr2 = self.lam_pr + change, self.lam_pr2 + change
            else:
                self.lam_pr, self.lam_pr2 = self._closed_form(terms)
        return terms

    def _beyond(self, value: float, threshold: float) -> bool:
        self.borderline = self.borderline or bool(abs(value - threshold) < 1e-6 * threshold)
        return bool(value > threshold)

    def adopt(self, sim) -> None:
        """Continue from the state of a simulator of the same robot and ground."""
        self.t, self.q, self.v = sim.t, sim.q, sim.v
        self.active, self.slipping = (
            np.array([getattr(c, x) for c in sim.contacts], bool) for x in ("active", "slipping")
        )
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
        self.rotations = [self._rotation(c) for c in self.contacts]

    @property
    def modes(self) -> list[str]:
        modes = []
        for contact, active, slipping, force in zip(self.contacts, self.active, self.slipping, self.force, strict=True):
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

    def _near(self) -> tuple[list[int], Array, list[Element]]:
        """Indices, rows and elements of the contacts that are closed or could close within the step."""
        elements = self._elements()
        near = [i for i, e in enumerate(elements) if e.mode != OPEN or self._could_land(e)]
        return near, (3 * np.array(near, int)[:, None] + np.arange(3)).ravel(), [elements[i] for i in near]

    def _look_ahead(self, terms: Terms) -> tuple[Array, bool]:
        near, rows, elements = self._near()
        lam = np.zeros_like(self.p)
        lam[near], keeps = look_ahead(terms.Upsilon[np.ix_(rows, rows)], terms.ddp_bar[rows], elements, self.dt)
        return lam, keeps

    def _largest_change(self, before: Terms, after: Terms) -> float:
        """Of the free acceleration of a contact."""
        near, _, _ = self._near()
        return np.linalg.norm((after.ddp_bar - before.ddp_bar).reshape(-1, 3)[near], axis=1).max(initial=0.0)

    def _follow(self, terms: Terms, frozen: float = 0.0) -> Resolved:
        """Of the contacts that are closed or could close within the step; the others stay as they are."""
        near, rows, elements = self._near()
        angle = self.dt * self._turn_rate(self.q, self.v)
        share = min(SHARE_OF_FREEZING, SHARE_OF_TURN * angle + SHARE_OF_SQUARE * angle**2)
        found = resolve(
            terms.Upsilon[np.ix_(rows, rows)],
            terms.ddp_bar[rows],
            elements,
            self.dt,
            MICRO_STEPS,
            (MICRO_TOLERANCE + share * frozen) * self.dt,
        )
        modes = self.modes
        for i, mode in zip(near, found.modes, strict=True):
            modes[i] = mode
        for name in ("lam_bar", "lam_bar2", "displacement", "velocity", "stretch"):
            full = np.zeros_like(self.p)
            full[near] = getattr(found, name)
            setattr(found, name, full)
        # An end of slipping that is looked for, or an anchor that gives way, over and over: rounding grows with each.
        repeats = sum(event.before == event.after for event in found.events)
        self.hesitated = self.hesitated or repeats > 3
        found.events = [event._replace(element=near[event.element]) for event in found.events]
        found.modes = modes
        return found

    def _loaded(self) -> Array:
        loaded = np.zeros(self.model.nv, bool)
        for contact, element in zip(self.contacts, self._elements(), strict=True):
            if element.mode != OPEN or self._could_land(element):
                for joint in self.model.supports[contact.point.joint]:
                    loaded[self.model.idx_vs[joint] : self.model.idx_vs[joint] + self.model.nvs[joint]] = joint > 0
        return loaded

    def _could_land(self, e: Element) -> bool:
        return e.gap + self.dt * (e.normal @ e.velocity) - 0.5 * LARGEST_ACCELERATION * self.dt**2 <= 0.0

    def _terms(self, q: Array, v: Array, tau: Array, wrenches: Sequence[Wrench]) -> Terms:
        here = self.q, self.v
        self.q, self.v = q, v
        M, dv_bar = self._free_dynamics(tau, wrenches)
        places = [(c.point.joint, self._contact_point(c)) for c in self.contacts]
        J = np.vstack([np.zeros((0, self.model.nv)), *(self._point_jacobian(*place)[:3] for place in places)])
        dJv = np.concatenate([np.zeros(0), *(self._contact_dJv(c) for c in self.contacts)])
        self.q, self.v = here
        self._update_kinematics()
        drives = fitted(M, self.kp, self.kd + self.model.damping, self.dt, self._loaded())
        u = M @ dv_bar + self.model.damping * v  # without what is taken into the inertia
        u -= (self.kd + self.model.damping) * self.v + self.kp * drives.Theta * self.v
        if self.target is not None:
            u += self.kp * pin.difference(self.model, self.q, self.target)
        M = M + np.diag(drives.X)
        dv_bar, MinvJt = np.linalg.solve(M, u), np.linalg.solve(M, J.T)
        return Terms(q, v, dv_bar, MinvJt, J @ MinvJt, J @ dv_bar + dJv, drives)

    def _way(self, terms: Terms, lam_bar2: Array) -> Array:
        dv2 = terms.dv_bar + terms.MinvJt @ lam_bar2.ravel()
        dq = self.dt * self.v + self.dt**2 / 2 * dv2
        free = ~self._loaded() & (terms.drives.X > 0.0)
        _, _, at_start, at_end = terms.drives
        dq[free] = (at_start * self.v + at_end * (self.v + self.dt * dv2))[free]
        return dq

    def _moved(self, terms: Terms, lam_bar: Array, lam_bar2: Array) -> tuple[Array, Array]:
        dt = self.dt
        dv, dv2 = (terms.dv_bar + terms.MinvJt @ lam.ravel() for lam in (lam_bar, lam_bar2))
        q, v = pin.integrate(self.model, self.q, self._way(terms, lam_bar2)), self.v + dt * dv
        for body in self._free_bodies():
            coriolis = np.cross(terms.v[body.angular], body.of_centre(terms.v))
            dc = body.R(self.q) @ body.of_centre(self.v)
            ddc, ddc2 = (body.R(terms.q) @ (body.of_centre(x) + coriolis) for x in (dv, dv2))
            centre = self.q[body.position] + body.R(self.q) @ body.lever
            q[body.position] = centre + dt * dc + dt**2 / 2 * ddc2 - body.R(q) @ body.lever
            body.set_centre(v, body.R(q).T @ (dc + dt * ddc))
        return q, v

    def _free_bodies(self) -> Iterator[FreeBody]:
        for joint in self.model.joints[1:]:
            if joint.shortname() == "JointModelFreeFlyer" and self.model.parents[joint.id] == 0:
                alone = len(self.model.children[joint.id]) == 0
                lever = self.model.inertias[joint.id].lever if alone else np.zeros(3)
                yield FreeBody(joint.idx_q, joint.idx_v, lever)

    def _agree(self, terms: Terms, p_start: Array, dp_start: Array, followed: Resolved, let_be: float) -> bool:
        """Move the robot so that contacts that hold are where contact space has them; slipping ones along n only.

        Whether that is worth looking at again.
        """
        dt, forces = self.dt, (self.lam_pr, self.lam_pr2)
        ddp, ddp2 = ((terms.ddp_bar + terms.Upsilon @ lam.ravel()).reshape(-1, 3) for lam in forces)
        p = np.array([self._contact_point(c) for c in self.contacts]).reshape(-1, 3)
        J = [self._point_jacobian(c.point.joint, x)[:3] for c, x in zip(self.contacts, p, strict=True)]
        way, dp = dt * dp_start + dt**2 / 2 * ddp2, dp_start + dt * ddp
        if followed.changed:
            way, dp = followed.displacement, followed.velocity
        delta_p = way - (p - p_start) - np.array([self._rolled(i) for i in range(len(p))]).reshape(-1, 3)
        delta_dp = dp - np.array([Ji @ self.v for Ji in J]).reshape(-1, 3)

        rows, Q, as_forces = [], [], []
        for i, (contact, mode) in enumerate(zip(self.contacts, followed.modes, strict=True)):
            if mode in (OPEN, IDLE):  # only if it is deeper in the ground than contact space has it
                gap, aimed_at = (contact.surface.distance(x) for x in (p[i], p_start[i] + way[i]))
                if gap >= min(aimed_at, 0.0):
                    continue
                delta_dp[i] = 0.0
            own = np.zeros((3, delta_p.size))
            own[:, 3 * i : 3 * i + 3] = np.eye(3)
            held = own if mode in (STICKING, BILATERAL) else contact.normal[None] @ own
            (K, _), (B, _) = contact.material.stiffness, contact.material.damping
            Upsilon = np.trace(own @ terms.Upsilon @ own.T) / 3.0
            lost_p, lost_dp = (np.linalg.norm(held @ x.ravel()) for x in (delta_p, delta_dp))
            as_forces.append(K * lost_p + (B + min(K * dt, np.sqrt(K / Upsilon))) * lost_dp)
            rows.append(held)
            Q.append(held @ (own.T @ (dt**2 * contact.K + dt * contact.B) @ own) @ held.T)
        largest = max((np.linalg.norm(lam) for lam in self.lam_pr), default=0.0)
        read = max(as_forces, default=0.0)
        disagreement = read / largest if largest > 0.0 else (np.inf if read > 0.0 else 0.0)
        self.borderline |= any(0.8 < disagreement / x < 1.25 for x in (let_be, LARGE_DISAGREEMENT))
        if disagreement <= let_be or not rows:
            return False
        S = np.vstack(rows)
        matrix = np.linalg.inv(block_diag(*Q)) + S @ terms.Upsilon @ S.T
        delta_q, delta_v = (terms.MinvJt @ S.T @ np.linalg.solve(matrix, S @ x.ravel()) for x in (delta_p, delta_dp))
        for body in self._free_bodies():  # as the world sees it
            turn = body.R(self.q).T @ body.R(terms.q)
            for delta in (delta_q, delta_v):
                centre = turn @ body.of_centre(delta)
                delta[body.angular] = turn @ delta[body.angular]
                body.set_centre(delta, centre)
        before, self.q, self.v = self.q, pin.integrate(self.model, self.q, delta_q), self.v + delta_v
        for body in self._free_bodies():
            body.set_centre(self.v, body.R(self.q).T @ body.R(before) @ body.of_centre(self.v))
        self._update_kinematics()
        return disagreement > LARGE_DISAGREEMENT

    def _turn_rate(self, q: Array, v: Array) -> float:
        data = self.model.createData()
        pin.forwardKinematics(self.model, data, q, v)
        return max(np.linalg.norm(velocity.angular) for velocity in data.v)

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

    def _response(self, terms: Terms, ddp_bar: Array) -> Array:
        """Of the average forces to a change of p̈̄, (nc, 3), if all active contacts hold."""
        lam = np.zeros_like(self.p)
        if self.active.any():
            rows, Upsilon, _, K, B, _, _ = self._linear_contacts(terms)
            Q = self.dt / 2 * (B + self.dt / 2 * K)
            lam.reshape(-1)[rows] = -Q @ np.linalg.solve(np.eye(len(Q)) + Upsilon @ Q, ddp_bar[rows])
        return lam

    def _carry_over(self, p_start: Array, followed: Resolved) -> None:
        """Anchors at the end of a followed step: of what sticks where it was set, yet to roll; else with the point."""
        for i, (contact, mode) in enumerate(zip(self.contacts, followed.modes, strict=True)):
            if contact.surface is None:
                continue
            was_sticking = self.active[i] and not self.slipping[i]
            stays = mode == STICKING and was_sticking and not any(event.element == i for event in followed.events)
            self.active[i] = mode != OPEN
            if mode == OPEN or stays:
                continue
            if mode == STICKING:
                p = p_start[i] + followed.displacement[i]
            else:
                p, self.rotations[i] = self._contact_point(contact), self._rotation(contact)
            p0 = p - followed.stretch[i]
            self.p0[i] = p0 - contact.surface.distance(p0) * contact.normal
