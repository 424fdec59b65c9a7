"""The laws of joints and contacts at steps of microseconds: the truth that steps with drives are held to.

Plain NumPy and Pinocchio's `aba`, written from the stated laws, never from the C++. Robots with a fixed or floating
base; points and spherical feet on the plane z = 0 by the law of docs/theory.md. The classical Runge–Kutta scheme, in
which memory (stretch of contacts and of dry friction) is integrated along; the law is committed after every step.
Formulas for one joint are at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp
from scipy.linalg import expm

Array = np.ndarray
GRAVITY = 9.81
FASTEST_LIMIT = 600.0  # of a joint on its limit, by default [rad/s]
GIVING_WAY = 0.02  # of a limit that is pressed on with the full effort, by default [rad or m]
LIMIT_RELAXATION = 3e-3  # damping over stiffness of a limit, by default [s]
FRICTION_STRETCH = 1e-3  # of dry friction before it slips, by default [rad or m]


@dataclass(frozen=True)
class Limit:
    """Of a joint with one coordinate: a unilateral spring and damper at either end."""

    in_q: int
    in_v: int
    lower: float
    upper: float
    stiffness: float
    damping: float

    def force(self, q: Array, v: Array) -> float:
        position, velocity = q[self.in_q], v[self.in_v]
        for gap, normal in ((position - self.lower, 1.0), (self.upper - position, -1.0)):
            if gap <= 0.0:
                return normal * max(0.0, -self.stiffness * gap - self.damping * normal * velocity)
        return 0.0


@dataclass
class JointLaws:
    """Of every degree of freedom, (nv,) but for `rest` and `limits`; infinite effort and velocity: no bound."""

    rest: Array  # (nq,): the target where none is given
    kp: Array
    kd: Array
    effort: Array
    velocity: Array
    delay: Array
    damping: Array
    static: Array
    dynamic: Array
    friction_stiffness: Array
    friction_damping: Array
    limits: list[Limit] = field(default_factory=list)

    @classmethod
    def none(cls, model: pin.Model, rest: Array) -> JointLaws:
        zero = [np.zeros(model.nv) for _ in range(8)]
        infinite = [np.full(model.nv, np.inf) for _ in range(2)]
        return cls(rest, zero[0], zero[1], *infinite, zero[2], *zero[3:])

    def motor(self, error: Array, error_rate: Array, v: Array, tau: Array) -> Array:
        def cap(v: Array) -> Array:
            return self.effort * np.clip(1.0 - v / self.velocity, 0.0, 1.0)

        wanted = tau + self.kp * error + self.kd * error_rate
        with np.errstate(invalid="ignore"):
            upper, lower = (np.where(np.isinf(self.effort), np.inf, cap(x)) for x in (v, -v))
        return np.clip(wanted, -lower, upper)

    def friction(self, stretch: Array, v: Array, sticking: Array) -> tuple[Array, Array]:
        """Torque, and whether it sticks."""
        trial = -self.friction_stiffness * stretch - self.friction_damping * v
        sticks = np.abs(trial) <= np.where(sticking, self.static, self.dynamic)
        return np.where(sticks, trial, np.sign(trial) * self.dynamic), sticks


def joint_inertias(robot) -> Array:
    """1/(M⁻¹)_jj at q0: what each joint moves with the others free, (nv,)."""
    M = np.triu(pin.crba(robot.model, robot.model.createData(), robot.q0))
    return 1.0 / np.diag(np.linalg.inv(M + np.triu(M, 1).T))


def laws_of(robot, friction=None) -> JointLaws:
    """From what a robot says of its joints; `friction`: an xs.DryFriction of which stiffness or damping was chosen."""
    model, inertia = robot.model, joint_inertias(robot)
    laws = JointLaws.none(model, robot.q0)
    laws.damping = np.array(model.damping)
    for name, joint in robot.joints.items():
        at = model.joints[model.getJointId(name)]
        dofs = np.arange(at.idx_v, at.idx_v + at.nv)
        drive, own_effort = joint.drive, joint.effort if robot.effort_limits else np.inf
        laws.effort[dofs] = own_effort
        if drive is not None:
            laws.kp[dofs], laws.kd[dofs], laws.delay[dofs] = drive.kp, drive.kd, drive.delay
            laws.effort[dofs] = own_effort if drive.effort is None else drive.effort
            own_velocity = joint.velocity if robot.effort_limits else np.inf
            laws.velocity[dofs] = own_velocity if drive.velocity is None else drive.velocity
        laws.dynamic[dofs], laws.static[dofs] = joint.friction, joint.static_friction
        if robot.joint_limits and at.nq == at.nv == 1 and np.isfinite([joint.lower, joint.upper]).any():
            chosen, own = robot.joint_limits, inertia[at.idx_v]
            effort = joint.effort if np.isfinite(joint.effort) else 0.0
            K = max(own * FASTEST_LIMIT**2, effort / GIVING_WAY) if chosen.stiffness is None else chosen.stiffness
            B = LIMIT_RELAXATION * K if chosen.damping is None else chosen.damping
            laws.limits.append(Limit(at.idx_q, at.idx_v, joint.lower, joint.upper, K, B))
    K = laws.static / FRICTION_STRETCH
    laws.friction_stiffness = (
        K if friction is None or friction.stiffness is None else np.where(K > 0, friction.stiffness, 0)
    )
    B = 2.0 * np.sqrt(laws.friction_stiffness * inertia)
    laws.friction_damping = B if friction is None or friction.damping is None else np.where(K > 0, friction.damping, 0)
    return laws


@dataclass(frozen=True)
class Foot:
    """A point, or the centre of a sphere, fixed to a joint."""

    joint: int
    position: Array
    radius: float


class Truth:
    """One robot on the plane z = 0, or in the air.

    Args:
        model: The robot.
        laws: Of its joints.
        feet: That may touch the ground.
        ground: (stiffness, damping, friction), stiffness and damping the same in all directions.
        h: Step [s].

    `torque_impulse` is ∫τ_motor dt and `work` ∫τ_motor·v dt since the last reset.
    """

    def __init__(self, model: pin.Model, laws: JointLaws, feet=(), ground=(1e5, 300.0, 1.0), h=5e-6):
        self.model, self.laws, self.feet, self.ground, self.h = model, laws, list(feet), ground, h
        self._kinematics, self._dynamics = model.createData(), model.createData()
        self.reset(laws.rest, np.zeros(model.nv))

    def reset(self, q: Array, v: Array) -> None:
        self.t, self.q, self.v = 0.0, np.array(q, float), np.array(v, float)
        self.stretch = np.zeros((len(self.feet), 3))  # of contacts, along the ground
        self.friction_stretch, self.sticking = np.zeros(self.model.nv), np.ones(self.model.nv, bool)
        self.torque_impulse, self.work = np.zeros(self.model.nv), 0.0
        self._given: list[tuple[float, Array, Array]] = []
        self._commit()

    def adopt(self, sim) -> None:
        """Continue from where a simulator with one plane is, at rest in its dry friction."""
        self.reset(sim.q, sim.v)
        self.t = sim.t
        self.stretch = np.array(sim.state.stretch, float).reshape(-1, 3)

    def run(self, duration: float, tau=None, target=None, target_velocity=None, on_step=None) -> None:
        """With a command that is given now and held; nv entries of tau and target_velocity, nq of the target."""
        nv = self.model.nv
        tau = np.zeros(nv) if tau is None else np.asarray(tau, float)
        target = self.laws.rest if target is None else np.asarray(target, float)
        target_velocity = np.zeros(nv) if target_velocity is None else np.asarray(target_velocity, float)
        self._given.append((self.t, target, target_velocity))
        start, steps = self.t, max(1, round(duration / self.h))
        for i in range(steps):
            self._step(duration / steps, tau)
            self.t = start + (i + 1) * duration / steps
            if on_step is not None:
                on_step(self)

    def _in_force(self, t: float) -> list[tuple[Array, Array, Array]]:
        """(degrees of freedom, target, its velocity) by delay."""
        found = []
        for delay in np.unique(self.laws.delay):
            arrived = [(q, v) for stamp, q, v in self._given if stamp <= t - delay]
            q, v = arrived[-1] if arrived else (self.laws.rest, np.zeros(self.model.nv))
            found.append((self.laws.delay == delay, q, v))
        return found

    def _step(self, h: float, tau: Array) -> None:
        q, v, s, r = self.q, self.v, self.stretch, self.friction_stretch
        targets = self._in_force(self.t + h / 2)
        a1, ds1, m1 = self._rates(q, v, s, r, tau, targets)
        v2 = v + h / 2 * a1
        a2, ds2, m2 = self._rates(
            pin.integrate(self.model, q, h / 2 * v), v2, s + h / 2 * ds1, r + h / 2 * v, tau, targets
        )
        v3 = v + h / 2 * a2
        a3, ds3, m3 = self._rates(
            pin.integrate(self.model, q, h / 2 * v2), v3, s + h / 2 * ds2, r + h / 2 * v2, tau, targets
        )
        v4 = v + h * a3
        a4, ds4, m4 = self._rates(pin.integrate(self.model, q, h * v3), v4, s + h * ds3, r + h * v3, tau, targets)
        travel = h / 6 * (v + 2 * v2 + 2 * v3 + v4)
        self.q = pin.integrate(self.model, q, travel)
        self.v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        self.stretch = s + h / 6 * (ds1 + 2 * ds2 + 2 * ds3 + ds4)
        self.friction_stretch = r + travel
        self.torque_impulse += h / 6 * (m1 + 2 * m2 + 2 * m3 + m4)
        self.work += h / 6 * (m1 @ v + 2 * m2 @ v2 + 2 * m3 @ v3 + m4 @ v4)
        self._commit()

    def _rates(self, q, v, stretch, friction_stretch, tau, targets) -> tuple[Array, Array, Array]:
        """Acceleration, rate of the contacts' stretch, motor torques."""
        laws = self.laws
        error, error_rate = np.zeros(self.model.nv), np.zeros(self.model.nv)
        for dofs, target, target_velocity in targets:
            error[dofs] = pin.difference(self.model, q, target)[dofs]
            error_rate[dofs] = (target_velocity - v)[dofs]
        motor = laws.motor(error, error_rate, v, tau)
        total = motor - laws.damping * v + laws.friction(friction_stretch, v, self.sticking)[0]
        for limit in laws.limits:
            total[limit.in_v] += limit.force(q, v)
        rates = np.zeros_like(stretch)
        for i, depth, dp, J, arm in self._touching(q, v):
            force, _ = self._contact_force(depth, dp, stretch[i])
            total += J[:3].T @ force + J[3:].T @ np.cross(arm, force)
            rates[i, :2] = dp[:2]
        return pin.aba(self.model, self._dynamics, q, v, total), rates, motor

    def _touching(self, q: Array, v: Array):
        """Index, gap, velocity of the material that touches, Jacobian of the joint, arm from there to the contact."""
        if not self.feet:
            return
        pin.computeJointJacobians(self.model, self._kinematics, q)
        for i, foot in enumerate(self.feet):
            place = self._kinematics.oMi[foot.joint]
            arm = place.rotation @ foot.position
            gap = place.translation[2] + arm[2] - foot.radius
            if gap > 0.0:
                continue
            arm[2] -= foot.radius
            J = pin.getJointJacobian(self.model, self._kinematics, foot.joint, pin.LOCAL_WORLD_ALIGNED)
            twist = J @ v
            yield i, gap, twist[:3] + np.cross(twist[3:], arm), J, arm

    def _contact_force(self, gap: float, dp: Array, stretch: Array) -> tuple[Array, Array]:
        """Force, and the stretch that the law leaves behind."""
        K, B, mu = self.ground
        force = -K * stretch - B * dp
        force[2] = -K * gap - B * dp[2]
        if force[2] <= 0.0:
            return np.zeros(3), np.zeros(3)
        across = np.hypot(force[0], force[1])
        if across > mu * force[2]:
            force[:2] *= mu * force[2] / across
            stretch = np.array([-force[0] / K, -force[1] / K, 0.0])
        return force, stretch

    def _commit(self) -> None:
        stretch = np.zeros_like(self.stretch)
        for i, gap, dp, _, _ in self._touching(self.q, self.v):
            _, stretch[i] = self._contact_force(gap, dp, self.stretch[i])
        self.stretch = stretch
        laws = self.laws
        torque, self.sticking = laws.friction(self.friction_stretch, self.v, self.sticking)
        slips = ~self.sticking & (laws.friction_stiffness > 0.0)
        self.friction_stretch[slips] = -torque[slips] / laws.friction_stiffness[slips]


def truth_of(robot, h=5e-6, material=None, on_ground=True, friction=None) -> Truth:
    """Of a robot as the library knows it, on flat ground or in the air."""
    feet = []
    for point in robot.contact_points if on_ground else ():
        joint, placement = robot.locate(point.frame)
        feet.append(Foot(joint, placement.act(np.array(point.offset)), point.radius))
    ground = (1e5, 300.0, 1.0) if material is None else (material.stiffness, material.damping, material.friction)
    return Truth(robot.model, laws_of(robot, friction), feet, ground, h)


# One joint


def driven_joint(inertia, kp, kd, force, q, v, t) -> tuple[float, float]:
    """q and v after t of I q̈ = force − kp q − kd q̇: a drive to 0, with damping in kd."""
    A = np.array([[0.0, 1.0, 0.0], [-kp / inertia, -kd / inertia, force / inertia], [0.0, 0.0, 0.0]])
    return tuple(expm(t * A)[:2] @ [q, v, 1.0])


def speed_on_the_torque_speed_line(inertia, effort, velocity, t, v=0.0) -> float:
    """A motor that gives all it has, from speed v ≥ 0: I v̇ = effort (1 − v/velocity)."""
    return velocity + (v - velocity) * np.exp(-effort / (inertia * velocity) * t)


def way_to_a_stop(inertia, torque, v) -> tuple[float, float]:
    """Time and way of a joint that slips against dry friction until it stops."""
    return inertia * v / torque, 0.5 * inertia * v**2 / torque


def bounce(inertia, stiffness, damping, v) -> tuple[float, float]:
    """Time on a limit that is run into at speed v > 0, and speed at which it is left: when it would begin to pull."""
    A = np.array([[0.0, 1.0], [-stiffness / inertia, -damping / inertia]])

    def push(t: float) -> float:
        depth, rate = expm(t * A) @ [0.0, v]
        return stiffness * depth + damping * rate

    # The push is positive until it is not: bracket, then halve.
    period = np.pi / np.sqrt(stiffness / inertia)
    late = next(t for t in np.arange(0.05, 50.0, 0.05) * period if push(t) < 0.0)
    early = 0.0
    for _ in range(60):
        middle = (early + late) / 2
        early, late = (middle, late) if push(middle) > 0.0 else (early, middle)
    return late, float(-(expm(late * A) @ [0.0, v])[1])


def impulse_response(inertia, kp, kd, t) -> float:
    """q after t from 0 at speed 1: the oscillator's G."""
    return driven_joint(inertia, kp, kd, 0.0, 0.0, 1.0, t)[0]


def pendulum_bounces(start, upper, stiffness, damping, count, length=0.5, mass=1.0) -> list[tuple[float, float, float]]:
    """Of a pendulum let go at angle `start` below a limit: (time of touching, of leaving, speed of leaving).

    It leaves where the limit would begin to pull, still beyond it, and touches again when it comes back from inside.
    """
    inertia = mass * length**2
    exactly = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}

    def free(_, x):
        return [x[1], -GRAVITY / length * np.sin(x[0])]

    def pressed(t, x):
        return [x[1], free(t, x)[1] - (stiffness * (x[0] - upper) + damping * x[1]) / inertia]

    def touches(_, x):
        return x[0] - upper

    def would_pull(_, x):
        return stiffness * (x[0] - upper) + damping * x[1]

    touches.direction, touches.terminal = 1.0, True
    would_pull.direction, would_pull.terminal = -1.0, True
    t, x, found = 0.0, np.array([start, 0.0]), []
    for _ in range(count):
        way = solve_ivp(free, (t, t + 60.0), x, events=touches, **exactly)
        touched, x = way.t_events[0][0], way.y_events[0][0]
        way = solve_ivp(pressed, (touched, touched + 60.0), x, events=would_pull, **exactly)
        t, x = way.t_events[0][0], way.y_events[0][0]
        found.append((touched, t, -x[1]))
    return found


def pendulum_at_rest(start, speed, laws: JointLaws, length=0.5, mass=1.0) -> float:
    """Where a pendulum with dry friction stays, let go at an angle with a speed: phases of sticking and of slipping."""
    inertia, weight = mass * length**2, mass * GRAVITY * length
    static, dynamic = laws.static[0], laws.dynamic[0]
    K, B = laws.friction_stiffness[0], laws.friction_damping[0]
    exactly = {"method": "DOP853", "rtol": 1e-10, "atol": 1e-12}

    def sticks(_, x):
        return [x[1], (-weight * np.sin(x[0]) - K * x[2] - B * x[1]) / inertia, x[1]]

    def gives_way(_, x):
        return static - abs(K * x[2] + B * x[1])

    def stops(_, x):
        return x[1]

    gives_way.terminal = stops.terminal = True
    gives_way.direction = -1.0
    x, comes_to_rest = np.array([start, speed, 0.0]), abs(B * speed) <= static
    for _ in range(100):
        if comes_to_rest:
            way = solve_ivp(sticks, (0.0, 3.0), x, events=gives_way, **exactly)
            x = way.y[:, -1]
            if not len(way.t_events[0]):
                return float(x[0])
        torque = -dynamic * np.sign(K * x[2] + B * x[1])

        def slips(_, x, torque=torque):
            return [x[1], (-weight * np.sin(x[0]) + torque) / inertia, 0.0]

        x = solve_ivp(slips, (0.0, 60.0), x, events=stops, **exactly).y[:, -1]
        x[1:], comes_to_rest = (0.0, -torque / K), True
    raise AssertionError("it does not come to rest")


def pendulum(length=0.5, mass=1.0, inertia=None, gravity=True) -> pin.Model:
    """A point mass on a massless rod that hangs from a joint about y at the origin; or a bare rotor of some inertia."""
    model = pin.Model()
    model.name = "pendulum"
    joint = model.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "hinge")
    if inertia is None:
        body = pin.Inertia(mass, np.array([0.0, 0.0, -length]), np.zeros((3, 3)))
    else:
        body = pin.Inertia(mass, np.zeros(3), inertia * np.eye(3))
    model.appendBodyToJoint(joint, body, pin.SE3.Identity())
    model.addFrame(pin.Frame("rod", joint, 0, pin.SE3.Identity(), pin.FrameType.BODY))
    if not gravity:
        model.gravity.linear = np.zeros(3)
    return model
