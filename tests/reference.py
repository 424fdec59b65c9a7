"""The contact model and the Expo step, read from the text: an oracle for the C++ core.

Plain NumPy, SciPy and Pinocchio's Python, written from sections 3 and 4 of the design and from the paper (equations
cited by label), never from the C++. Clarity before speed. All vectors and matrices of contacts are in world axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pinocchio as pin
from scipy.linalg import block_diag, expm, matrix_balance

Array = np.ndarray
Wrench = tuple[int, Array, Array]  # joint, position in the joint frame (3,), (force, torque) in world axes (6,)


@dataclass(frozen=True)
class Material:
    """Pairs are (normal, tangential)."""

    stiffness: tuple[float, float]  # [N/m]
    damping: tuple[float, float]  # [N·s/m]
    friction: float


@dataclass(frozen=True)
class HalfSpace:
    """The solid below the plane through `point` with unit `normal`."""

    point: Array  # (3,)
    normal: Array  # (3,)
    material: Material

    def distance(self, x: Array) -> float:
        return float(self.normal @ (x - self.point))


@dataclass(frozen=True)
class Point:
    """A point, or the centre of a sphere, fixed to a joint; with a `bilateral` material it is tied to the world."""

    joint: int
    position: Array  # (3,), in the joint frame
    radius: float = 0.0  # [m], unused when bilateral: there is no surface to look towards
    bilateral: Material | None = None
    anchor: Array | None = None  # (3,), world; bilateral only, default: where the point is at reset


@dataclass(frozen=True)
class Contact:
    """One (point, surface) pair; a bilateral point has no surface."""

    point: Point
    surface: HalfSpace | None

    @property
    def material(self) -> Material:
        return self.surface.material if self.surface else self.point.bilateral

    @property
    def normal(self) -> Array:
        return np.asarray(self.surface.normal, float) if self.surface else np.array([0.0, 0.0, 1.0])

    @property
    def K(self) -> Array:  # (3, 3), world axes
        return along_and_across(self.normal, *self.material.stiffness)

    @property
    def B(self) -> Array:  # (3, 3), world axes
        return along_and_across(self.normal, *self.material.damping)


class LawResult(NamedTuple):
    """The contact force and what is committed with it."""

    active: bool
    slipping: bool
    p0: Array  # (3,)
    dp0: Array  # (3,)
    force: Array  # (3,)


def along_and_across(n: Array, along: float, across: float) -> Array:
    return across * np.eye(3) + (along - across) * np.outer(n, n)


def project_to_cone(lam: Array, n: Array, mu: float, projection: str) -> Array:
    """proj_{K_mu}(lam): "horizontal" keeps the normal component, "orthogonal" is the nearest point of the cone."""
    lam_n = lam @ n
    lam_t = lam - lam_n * n
    norm_t = np.linalg.norm(lam_t)
    if lam_n >= 0 and norm_t <= mu * lam_n:
        return lam
    if projection == "orthogonal":
        lam_n = (lam_n + mu * norm_t) / (1 + mu**2)  # <= 0 in the polar cone, whose nearest point is the apex
    if lam_n <= 0:
        return np.zeros(3)
    return lam_n * n + mu * lam_n * lam_t / norm_t


def contact_law(
    contact: Contact,
    p: Array,
    dp: Array,
    p0: Array | None,
    anchor: str = "surface",
    projection: str = "horizontal",
) -> LawResult:
    """Section 3, rules 1 to 6, for one contact; p0 is the committed anchor, None if the contact was open."""
    K, B, n, zero = contact.K, contact.B, contact.normal, np.zeros(3)

    if contact.surface is None:  # rule 6, bilateral
        return LawResult(True, False, p0, zero, K @ (p0 - p) - B @ dp)

    phi = contact.surface.distance(p)  # of a sphere: phi(c) − r, since p = c − r n
    if phi > 0:  # rule 6
        return LawResult(False, False, zero, zero, zero)
    if p0 is None:  # rule 1
        p0 = p - phi * n if anchor == "surface" else p

    f = K @ (p0 - p) - B @ dp  # rule 2
    f_n = f @ n
    f_t = f - f_n * n
    mu = contact.material.friction
    tangential = np.eye(3) - np.outer(n, n)

    if f_n <= 0:  # rule 3
        return LawResult(True, True, p0 + tangential @ (p - p0), tangential @ dp, zero)
    if np.linalg.norm(f_t) > mu * f_n:  # rule 4
        f = project_to_cone(f, n, mu, projection)
        k_t = contact.material.stiffness[1]
        return LawResult(True, True, p0 + tangential @ (p + f / k_t - p0), tangential @ dp, f)
    return LawResult(True, False, p0, zero, f)  # rule 5


def integrate_linear_system(A: Array, b: Array, x0: Array, dt: float) -> tuple[Array, Array]:
    """eq:x_int_computation: x_int and x_int2 of dx = A x + b from one exponential, balanced against overscaling."""
    n = A.shape[0]
    A_bar = np.zeros((n + 3, n + 3))
    A_bar[:n, :n] = A
    A_bar[:n, n] = b
    A_bar[:n, n + 1] = x0
    A_bar[n, n + 1] = A_bar[n + 1, n + 2] = 1.0
    balanced, (scale, _) = matrix_balance(dt * A_bar, permute=False, separate=True)
    exponential = scale[:, None] * expm(balanced) / scale
    return exponential[:n, n + 1], exponential[:n, n + 2]


class ReferenceSimulator:
    """Contacts are ordered by point, then by surface; a bilateral point is one contact and sees no surface.

    `t, q, v, active, slipping, p0, dp0` are the state; `p, dp, force` are what the law saw and answered at it.
    `lam_pr, lam_pr2` are the projected averages of the last Expo step. Rows of an open contact are zero, but for p, dp.
    """

    def __init__(
        self,
        model: pin.Model,
        points: Sequence[Point],
        surfaces: Sequence[HalfSpace],
        dt: float,
        integrator: Literal["expo", "explicit_euler", "semi_implicit_euler", "runge_kutta4"] = "expo",
        anchor: Literal["surface", "detected"] = "surface",
        projection: Literal["horizontal", "orthogonal"] = "horizontal",
        position_update: Literal["lam_pr2", "lam_pr"] = "lam_pr2",
    ) -> None:
        for value, valid in (
            (integrator, ("expo", "explicit_euler", "semi_implicit_euler", "runge_kutta4")),
            (anchor, ("surface", "detected")),
            (projection, ("horizontal", "orthogonal")),
            (position_update, ("lam_pr2", "lam_pr")),
        ):
            if value not in valid:
                raise ValueError(f"got {value!r}, valid are {valid}")
        self.model, self.data = model, model.createData()
        self.dt, self.integrator, self.anchor = dt, integrator, anchor
        self.projection, self.position_update = projection, position_update
        self.contacts = [Contact(x, s) for x in points for s in ([None] if x.bilateral else surfaces)]

    def reset(self, q: Array, v: Array, p0: Mapping[int, Array] | None = None) -> None:
        """Start at (q, v), every contact new but those given a previous anchor (p0: contact index -> (3,), world)."""
        nc = len(self.contacts)
        self.t, self.q, self.v = 0.0, np.array(q, float), np.array(v, float)
        self.active, self.slipping = np.zeros(nc, bool), np.zeros(nc, bool)
        self.p0, self.dp0, self.p, self.dp, self.force = (np.zeros((nc, 3)) for _ in range(5))
        self.lam_pr, self.lam_pr2 = np.zeros((nc, 3)), np.zeros((nc, 3))

        anchors = {i: c.point.anchor for i, c in enumerate(self.contacts) if c.surface is None}
        self._update_kinematics()
        self.rotations = [self._rotation(c) for c in self.contacts]  # where the anchors are known
        for i, x in anchors.items():
            anchors[i] = self._contact_point(self.contacts[i]) if x is None else x
        for i, x in {**anchors, **(p0 or {})}.items():
            self.active[i], self.p0[i] = True, x
        self._commit_law()

    def step(self, tau: Array, wrenches: Sequence[Wrench] = ()) -> None:
        """Advance by dt under joint efforts tau (nv,) and external wrenches, both held over the step."""
        if self.integrator == "runge_kutta4":
            return self._step_runge_kutta4(np.asarray(tau, float), wrenches)
        dt, v = self.dt, self.v
        M, dv_bar = self._free_dynamics(np.asarray(tau, float), wrenches)
        J = [self._point_jacobian(c.point.joint, x)[:3] for c, x in zip(self.contacts, self.p, strict=True)]
        J = np.vstack([np.zeros((0, self.model.nv)), *J])  # (3 nc, nv)

        def dv(lam: Array) -> Array:  # eq:robot_dyn; open contacts have lam = 0
            return dv_bar + np.linalg.solve(M, J.T @ lam.ravel())

        if self.integrator == "expo":
            self.lam_pr, self.lam_pr2 = self._average_forces(M, dv_bar, J)
            v_next = v + dt * dv(self.lam_pr)
            dv_position = dv(self.lam_pr2 if self.position_update == "lam_pr2" else self.lam_pr)
            delta_q = dt * v + dt**2 / 2 * dv_position  # eq:state_int_friction2, or eq:state_int_friction
        else:
            v_next = v + dt * dv(self.force)
            explicit = self.integrator == "explicit_euler"
            delta_q = dt * v + dt**2 / 2 * dv(self.force) if explicit else dt * v_next

        self.q, self.v, self.t = pin.integrate(self.model, self.q, delta_q), v_next, self.t + dt
        self._update_kinematics()
        self._commit_law()

    def acceleration_within_step(self, q: Array, v: Array, tau: Array, wrenches: Sequence[Wrench] = ()) -> Array:
        """dv at another (q, v), by the law as it follows from the present contacts; nothing is committed."""
        here = self.q, self.v
        self._update_kinematics()
        self.rotations = [self._rotation(c) for c in self.contacts]
        self.q, self.v = q, v
        self._update_kinematics()
        force_in_joint_space = np.zeros(self.model.nv)
        for i, contact in enumerate(self.contacts):
            p = self._contact_point(contact)
            J = self._point_jacobian(contact.point.joint, p)[:3]
            p0 = self._rolled_anchor(i) if self.active[i] else None
            force = contact_law(contact, p, J @ v, p0, "surface", self.projection).force
            force_in_joint_space += J.T @ force
        M, dv_bar = self._free_dynamics(np.asarray(tau, float), wrenches)
        self.q, self.v = here
        self._update_kinematics()
        return dv_bar + np.linalg.solve(M, force_in_joint_space)

    def _step_runge_kutta4(self, tau: Array, wrenches: Sequence[Wrench]) -> None:
        """CF4 of Celledoni, Marthinsen and Owren (2003): the classical scheme with compositions of integrate."""
        h, q, v = self.dt, self.q, self.v

        def move(q: Array, delta: Array) -> Array:
            return pin.integrate(self.model, q, h * delta)

        def stage(q: Array, v: Array) -> Array:
            return self.acceleration_within_step(q, v, tau, wrenches)

        M, dv_bar = self._free_dynamics(tau, wrenches)
        J = [self._point_jacobian(c.point.joint, x)[:3] for c, x in zip(self.contacts, self.p, strict=True)]
        a1 = dv_bar + np.linalg.solve(M, np.sum([Ji.T @ f for Ji, f in zip(J, self.force, strict=True)], axis=0))
        q2, v2 = move(q, v / 2), v + h / 2 * a1
        a2 = stage(q2, v2)
        q3, v3 = move(q, v2 / 2), v + h / 2 * a2
        a3 = stage(q3, v3)
        q4, v4 = move(q2, v3 - v / 2), v + h * a3
        a4 = stage(q4, v4)

        q = move(q, (3 * v + 2 * v2 + 2 * v3 - v4) / 12)
        self.q = move(q, (-v + 2 * v2 + 2 * v3 + 3 * v4) / 12)
        self.v, self.t = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4), self.t + h
        self._update_kinematics()
        self._commit_law()

    def _average_forces(self, M: Array, dv_bar: Array, J: Array) -> tuple[Array, Array]:
        """lam_pr and lam_pr2, (nc, 3): eq:contact_dyn integrated over the step, averaged and projected."""
        lam_pr, lam_pr2 = np.zeros_like(self.p), np.zeros_like(self.p)
        closed = np.flatnonzero(self.active)
        if closed.size == 0:
            return lam_pr, lam_pr2

        dt, n = self.dt, 3 * closed.size
        contacts = [self.contacts[i] for i in closed]
        J = J.reshape(-1, 3, self.model.nv)[closed].reshape(n, -1)
        dJv = np.concatenate([self._contact_dJv(c) for c in contacts])
        K, B = block_diag(*(c.K for c in contacts)), block_diag(*(c.B for c in contacts))

        Upsilon = J @ np.linalg.solve(M, J.T)
        ddp_bar = J @ dv_bar + dJv
        A = np.block([[np.zeros((n, n)), np.eye(n)], [-Upsilon @ K, -Upsilon @ B]])
        b = np.concatenate([np.zeros(n), ddp_bar])
        x0 = np.concatenate([(self.p - self.p0)[closed].ravel(), (self.dp - self.dp0)[closed].ravel()])
        D = np.hstack([-K, -B])  # eq:contact_forces

        x_int, x_int2 = integrate_linear_system(A, b, x0, dt)
        lam_bar = (D @ x_int / dt).reshape(-1, 3)
        lam_bar2 = (2 * D @ x_int2 / dt**2).reshape(-1, 3)
        for i, contact, lam, lam2 in zip(closed, contacts, lam_bar, lam_bar2, strict=True):
            lam_pr[i], lam_pr2[i] = self._project(contact, lam), self._project(contact, lam2)
        return lam_pr, lam_pr2

    def _project(self, contact: Contact, lam: Array) -> Array:
        if contact.surface is None:
            return lam
        return project_to_cone(lam, contact.normal, contact.material.friction, self.projection)

    def _commit_law(self) -> None:
        """Apply the law at the current kinematics. Not idempotent when slipping: once per state."""
        for i, contact in enumerate(self.contacts):
            p = self._contact_point(contact)
            dp = self._point_jacobian(contact.point.joint, p)[:3] @ self.v
            p0 = self._rolled_anchor(i) if self.active[i] else None
            law = contact_law(contact, p, dp, p0, self.anchor, self.projection)
            self.p[i], self.dp[i], self.rotations[i] = p, dp, self._rotation(contact)
            self.active[i], self.slipping[i], self.p0[i], self.dp0[i], self.force[i] = law

    def _free_dynamics(self, tau: Array, wrenches: Sequence[Wrench]) -> tuple[Array, Array]:
        """M (nv, nv) and dv_bar (nv,), the acceleration without contact forces."""
        M = np.triu(pin.crba(self.model, self.data, self.q))  # only this triangle is filled for certain
        M = M + np.triu(M, 1).T
        h = pin.nonLinearEffects(self.model, self.data, self.q, self.v).copy()
        self._update_kinematics()  # the two above share its buffers
        u = tau - self.model.damping * self.v - h
        for joint, position, w in wrenches:
            u = u + self._point_jacobian(joint, self.data.oMi[joint].act(np.asarray(position, float))).T @ w
        return M, np.linalg.solve(M, u)

    def _update_kinematics(self) -> None:
        pin.computeJointJacobians(self.model, self.data, self.q)
        # With zero joint accelerations, the acceleration of a point is its dJ v.
        pin.forwardKinematics(self.model, self.data, self.q, self.v, np.zeros(self.model.nv))

    def _contact_point(self, contact: Contact) -> Array:
        """p (3,), world: the point, or the lowest point of the sphere towards the surface."""
        return self._centre(contact) + self._arm(contact)

    def _centre(self, contact: Contact) -> Array:
        return self.data.oMi[contact.point.joint].act(np.asarray(contact.point.position, float))

    def _arm(self, contact: Contact) -> Array:
        return np.zeros(3) if contact.surface is None else -contact.point.radius * contact.normal

    def _rotation(self, contact: Contact) -> Array:
        return self.data.oMi[contact.point.joint].rotation.copy()

    def _rolled(self, i: int) -> Array:
        """θ × arm: how far the material of a sphere has gone past the ground by turning by θ."""
        theta = pin.log3(self._rotation(self.contacts[i]) @ self.rotations[i].T)
        return np.cross(theta, self._arm(self.contacts[i]))

    def _rolled_anchor(self, i: int) -> Array:
        """p0 at the present kinematics: a sphere that has turned has taken it along."""
        return self.p0[i] - self._rolled(i)

    def _point_jacobian(self, joint: int, x: Array) -> Array:
        """(6, nv), linear then angular, world axes: of the material point of the body now at x (world)."""
        J = pin.getJointJacobian(self.model, self.data, joint, pin.LOCAL_WORLD_ALIGNED).copy()
        J[:3] -= pin.skew(x - self.data.oMi[joint].translation) @ J[3:]
        return J

    def _contact_dJv(self, contact: Contact) -> Array:
        """(3,): rate, at zero joint accelerations, of the centre's velocity + omega × arm with the arm held."""
        joint = contact.point.joint
        r = self._centre(contact) - self.data.oMi[joint].translation
        omega = pin.getVelocity(self.model, self.data, joint, pin.LOCAL_WORLD_ALIGNED).angular
        a = pin.getClassicalAcceleration(self.model, self.data, joint, pin.LOCAL_WORLD_ALIGNED)
        centre = a.linear + np.cross(a.angular, r) + np.cross(omega, np.cross(omega, r))
        return centre + np.cross(a.angular, self._arm(contact))
