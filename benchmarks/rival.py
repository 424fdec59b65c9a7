"""A robot in MuJoCo as it is in exposim, to compare with; needs `pip install mujoco`.

The URDF is stripped of its shapes and gets a free base, spheres as contact points and a plane. Armature, damping, dry
friction, limits and drives are the robot's. Elliptic cone, Newton's solver, all else as by default.

Stiffness K and damping B of a contact become MuJoCo's `solref` and `solimp`. Its constraint forces f obey
(1 − d)/d Â f = a_ref − a, with a_ref = −B̃/d v − K̃/d r (r: distance, a: acceleration along the normal), where Â is what
it takes for the inverse of the mass, `body_invweight0` of the foot's body. With K̃ = K Â (1 − d), B̃ = B Â (1 − d) and
a small constant d this is f = −K r − B v, but for a d / ((1 − d) Â). Rows of friction have the damping and no spring.
"""

from __future__ import annotations

from time import perf_counter
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin

import exposim as xs

INTEGRATORS = {
    "MuJoCo, Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "MuJoCo, discrete": mujoco.mjtIntegrator.mjINT_DISCRETE,
}
IMPEDANCE = 1e-3  # d
POINT = 1e-6  # radius of a sphere that stands for a point [m]


def mujoco_model(
    robot: xs.Robot, integrator: int, dt: float, material: xs.Material | None = None, mapped: bool = True
) -> mujoco.MjModel:
    """The robot on a plane; `mapped`: with stiffness and damping of the material, not MuJoCo's default contacts."""
    if robot.source is None or robot.source.suffix != ".urdf":
        raise xs.InvalidArgument(f"robot {robot.name!r} is from {robot.source}; give one that is read from a URDF")
    material = material or xs.HalfSpace().material
    root = ElementTree.parse(robot.source).getroot()
    spec = mujoco.MjSpec.from_string(_urdf_for_mujoco(root))
    spec.option.timestep = dt
    spec.option.integrator = integrator
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1], contype=1, conaffinity=0)
    links = {joint.get("name"): joint.find("child").get("link") for joint in root.findall("joint")}
    for point in robot.contact_points:
        joint, placement = robot.locate(point.frame)
        spec.body(links[robot.model.names[joint]]).add_geom(
            name=point.name,
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[max(point.radius, POINT), 0, 0],
            pos=placement.act(np.array(point.offset)),
            mass=0.0,
            condim=3,
            friction=[material.friction, 0, 0],
            priority=1,  # its parameters are those of the contact
            contype=0,
            conaffinity=1,
        )
    for name, drive in robot.drives.items():
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_position(kp=drive.kp, kv=drive.kd)
    model = spec.compile()
    if (model.nq, model.nv) != (robot.nq, robot.nv):
        raise xs.InvalidArgument(
            f"robot {robot.name!r} has nq, nv = {robot.nq}, {robot.nv}, but {model.nq}, {model.nv} in MuJoCo; "
            "give one with a free base and joints of one angle or length"
        )
    for name in list(robot.model.names)[2:]:
        ours, theirs = robot.model.joints[robot.model.getJointId(name)].idx_v, model.joint(name).dofadr
        model.dof_armature[theirs] = robot.armature[ours]
        model.dof_damping[theirs] = robot.joint_damping[ours]
        model.dof_frictionloss[theirs] = robot.joint_friction[ours]
    if not robot.joint_limits:
        model.jnt_limited[:] = False
    if not robot.effort_limits:
        model.jnt_actfrclimited[:] = False
    mujoco.mj_setConst(model, mujoco.MjData(model))  # inverse weights with the armature
    if mapped:
        for point in robot.contact_points:
            _map_contact(model, model.geom(point.name).id, material)
    return model


def _urdf_for_mujoco(root: ElementTree.Element) -> str:
    for link in root.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    children = {joint.find("child").get("link") for joint in root.iter("joint") if joint.find("child") is not None}
    base = next(link.get("name") for link in root.findall("link") if link.get("name") not in children)
    ElementTree.SubElement(root, "link", name="ground")
    free = ElementTree.SubElement(root, "joint", name="free", type="floating")
    ElementTree.SubElement(free, "parent", link="ground")
    ElementTree.SubElement(free, "child", link=base)
    settings = ElementTree.SubElement(root, "mujoco")
    ElementTree.SubElement(settings, "compiler", fusestatic="true", balanceinertia="true", inertiagrouprange="0 0")
    return ElementTree.tostring(root, encoding="unicode")


def _map_contact(model: mujoco.MjModel, geom: int, material: xs.Material) -> None:
    scale = model.body_invweight0[model.geom_bodyid[geom], 0] * (1.0 - IMPEDANCE)  # Â (1 − d)
    model.geom_solref[geom] = [-material.stiffness * scale, -material.damping * scale]
    model.geom_solimp[geom] = [IMPEDANCE, IMPEDANCE, 0.001, 0.5, 2.0]


class Mujoco:
    """A robot in MuJoCo, seen in the coordinates and in the order of joints of ours."""

    def __init__(
        self,
        robot: xs.Robot,
        integrator: int,
        dt: float,
        material: xs.Material | None = None,
        mapped: bool = True,
    ):
        self.model = mujoco_model(robot, integrator, dt, material, mapped)
        self.data = mujoco.MjData(self.model)
        names = list(robot.model.names)[2:]
        self._in_q = np.array([self.model.joint(name).qposadr[0] for name in names])
        self._in_v = np.array([self.model.joint(name).dofadr[0] for name in names])
        driven = [name for name in names if name in robot.drives]
        self._driven = np.array([names.index(name) for name in driven], dtype=int)
        self._in_ctrl = np.array([self.model.actuator(name).id for name in driven], dtype=int)
        self._all = mujoco.mjtState.mjSTATE_INTEGRATION
        self._size = mujoco.mj_stateSize(self.model, self._all)

    def reset(self, q: np.ndarray, v: np.ndarray) -> None:
        """To a state of ours."""
        mujoco.mj_resetData(self.model, self.data)
        data = self.data
        data.qpos[:3], data.qpos[3:7], data.qpos[self._in_q] = q[:3], q[[6, 3, 4, 5]], q[7:]
        rotation = pin.Quaternion(q[3:7]).matrix()
        data.qvel[:3], data.qvel[3:6], data.qvel[self._in_v] = rotation @ v[:3], v[3:6], v[6:]

    @property
    def joints(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities of the joints."""
        return self.data.qpos[self._in_q], self.data.qvel[self._in_v]

    @property
    def base(self) -> tuple[float, float]:
        """Height of the base [m], and how upright it is: the cosine of its tilt."""
        _, _, z, _, x, y, _ = self.data.qpos[:7]
        return float(z), float(1.0 - 2.0 * (x * x + y * y))

    def command(self, tau: np.ndarray | None = None, target: np.ndarray | None = None) -> None:
        """What is held: torques of the joints, targets of the drives."""
        if tau is not None:
            self.data.qfrc_applied[self._in_v] = tau
        if target is not None:
            self.data.ctrl[self._in_ctrl] = target[self._driven]

    def run(self, n: int) -> None:
        """Take steps."""
        mujoco.mj_step(self.model, self.data, n)

    def save(self) -> np.ndarray:
        """All of the future: positions, velocities, the solver's start, what is held."""
        state = np.empty(self._size)
        mujoco.mj_getState(self.model, self.data, state, self._all)
        return state

    def restore(self, saved: np.ndarray) -> None:
        """What was saved."""
        mujoco.mj_setState(self.model, self.data, saved, self._all)

    def distance(self, one: np.ndarray, other: np.ndarray) -> float:
        """Largest entry of the difference of two states, infinite where it is absurd [m, rad, m/s, rad/s]."""
        (q, v), (q_other, v_other) = self._positions_and_velocities(one), self._positions_and_velocities(other)
        off = np.zeros(self.model.nv)
        mujoco.mj_differentiatePos(self.model, off, 1.0, q, q_other)
        worst = max(np.abs(off).max(), np.abs(v_other - v).max())
        return float(worst) if worst < 1e5 else np.inf

    def _positions_and_velocities(self, saved: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.restore(saved)
        return np.array(self.data.qpos), np.array(self.data.qvel)


class MujocoSteps:
    """Times the steps of a robot that squats a little on joint springs, after it has settled."""

    def __init__(self, robot: xs.Robot, integrator: int, dt: float, settling: int = 500):
        self._rival = Mujoco(robot, integrator, dt)
        self._posture = robot.q0[7:]
        self._rival.reset(robot.q0, np.zeros(robot.nv))
        M = pin.crba(robot.model, robot.model.createData(), robot.q0)
        self._inertia = 1.0 / np.diag(np.linalg.inv(np.triu(M) + np.triu(M, 1).T))[6:]  # with the other joints free
        self._steps = 0
        for _ in range(settling):
            self._step()

    def time(self, count: int = 60) -> tuple[float, float]:
        """Mean seconds of a step, and the mean number of contacts."""
        seconds = [self._step() for _ in range(count)]
        return float(np.mean(seconds)), float(self._rival.data.ncon)

    def _step(self) -> float:
        frequency = 90.0  # of the joint springs [rad/s]
        self._steps += 1
        squat = 0.01 * np.sin(0.01 * self._steps)
        q, v = self._rival.joints
        error = self._posture * (1.0 + squat) - q
        self._rival.command(self._inertia * (frequency**2 * error - 1.4 * frequency * v))
        start = perf_counter()
        self._rival.run(1)
        return perf_counter() - start
