"""A step of MuJoCo on the same robot from the same states, for benchmarks/step.py; needs `pip install mujoco`.

The URDF is stripped of its shapes, gets a free base, small spheres as contact points and a plane. Contacts take the
direct form of stiffness and damping, which is per unit of inertia: that of the robot along the normal of a contact when
it stands. Elliptic cone, Newton's solver, all else as by default. MuJoCo's time depends on how many iterations its
solver takes, so it is timed in a motion of its own: standing on joint springs, with a small squat.
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


def mujoco_spec(robot: xs.Robot, integrator: int, dt: float) -> mujoco.MjSpec:
    """The robot for MuJoCo, yet to be compiled."""
    root = ElementTree.parse(robot.source).getroot()
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

    spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding="unicode"))
    spec.option.timestep = dt
    spec.option.integrator = integrator
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    standing = xs.Simulator(robot, xs.HalfSpace(xs.Material(1.0, 0.0)))
    A = standing._core.contact_matrix()  # −Υ in its lower left
    mass = 1.0 / np.mean(-np.diag(A[len(A) // 2 :, : len(A) // 2])[2::3])
    contact = {"solref": [-1e5 / mass, -300.0 / mass], "solimp": [0.95, 0.99, 0.001, 0.5, 2.0], "friction": [1, 0, 0]}
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1], condim=3, **contact)
    links = {joint.get("name"): joint.find("child").get("link") for joint in root.findall("joint")}
    radius = 1e-3
    for point in robot.contact_points:
        joint, placement = robot.locate(point.frame)
        body = spec.body(links[robot.model.names[joint]])
        position = placement.act(np.array(point.offset)) + np.array([0.0, 0.0, radius - point.radius])
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0, 0], pos=position, mass=0.0, condim=3, **contact
        )
    for body in spec.bodies:  # contact with the plane only
        for geom in body.geoms:
            is_plane = geom.type == mujoco.mjtGeom.mjGEOM_PLANE
            geom.contype, geom.conaffinity = (1, 0) if is_plane else (0, 1)
    return spec


class MujocoSteps:
    """Times the steps of a robot that squats a little, after it has settled."""

    def __init__(self, robot: xs.Robot, integrator: int, dt: float, settling: int = 500):
        self._model = mujoco_spec(robot, integrator, dt).compile()
        self._data = mujoco.MjData(self._model)
        assert (self._model.nq, self._model.nv) == (robot.nq, robot.nv)
        self._posture = np.zeros(robot.nq)
        x, y, z, w = robot.q0[3:7]
        self._posture[:3], self._posture[3:7] = robot.q0[:3], (w, x, y, z)
        for name in list(robot.model.names)[2:]:
            theirs = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_JOINT, name)
            ours = robot.model.joints[robot.model.getJointId(name)].idx_q
            self._posture[self._model.jnt_qposadr[theirs]] = robot.q0[ours]
        self._data.qpos[:] = self._posture
        M = pin.crba(robot.model, robot.model.createData(), robot.q0)
        inertia = 1.0 / np.diag(np.linalg.inv(np.triu(M) + np.triu(M, 1).T))  # of each joint with the others free
        self._inertia = np.zeros(robot.nv)
        for name in list(robot.model.names)[2:]:
            theirs = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_JOINT, name)
            ours = robot.model.joints[robot.model.getJointId(name)].idx_v
            self._inertia[self._model.jnt_dofadr[theirs]] = inertia[ours]
        self._steps = 0
        for _ in range(settling):
            self._step()

    def time(self, count: int = 60) -> tuple[float, float]:
        """Mean seconds of a step, and the mean number of contacts."""
        seconds = [self._step() for _ in range(count)]
        return float(np.mean(seconds)), float(self._data.ncon)

    def _step(self) -> float:
        data, frequency = self._data, 90.0  # of the joint springs [rad/s]
        self._steps += 1
        squat = 0.01 * np.sin(0.01 * self._steps)
        error = self._posture[7:] * (1.0 + squat) - data.qpos[7:]
        data.qfrc_applied[6:] = self._inertia[6:] * (frequency**2 * error - 1.4 * frequency * data.qvel[6:])
        start = perf_counter()
        mujoco.mj_step(self._model, data)
        return perf_counter() - start
