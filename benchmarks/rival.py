"""A step of MuJoCo on the same robot from the same states, for benchmarks/step.py; needs `pip install mujoco`.

The URDF is stripped of its shapes, gets a free base, small spheres as contact points and a plane. Contacts take the
direct form of stiffness and damping, which is per unit of inertia: here with an equal share of the robot's mass per
point. That is good for timing, not for comparing motions. Elliptic cone, Newton's solver, all else as by default.
"""

from __future__ import annotations

from time import perf_counter
from xml.etree import ElementTree

import mujoco
import numpy as np

import exposim as xs

# Steps before the one that is timed: its solver then starts from a solution nearby, as in the middle of a run.
SETTLING = 3

INTEGRATORS = {
    "MuJoCo, Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "MuJoCo, discrete": mujoco.mjtIntegrator.mjINT_DISCRETE,
}


def mujoco_model(robot: xs.Robot, integrator: int, dt: float) -> mujoco.MjModel:
    """The robot as a MuJoCo model."""
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
    mass = sum(inertia.mass for inertia in robot.model.inertias) / len(robot.contact_points)
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
    return spec.compile()


class MujocoSteps:
    """Times single steps from given states."""

    def __init__(self, robot: xs.Robot, integrator: int, dt: float):
        self._robot = robot
        self._model = mujoco_model(robot, integrator, dt)
        self._data = mujoco.MjData(self._model)
        assert (self._model.nq, self._model.nv) == (robot.nq, robot.nv)

    def time(self, states: list[xs.State]) -> tuple[list[float], float]:
        """Seconds of a step shortly after each state, and the mean number of contacts."""
        seconds, contacts = [], []
        for state in states:
            self._set(state)
            for _ in range(SETTLING):
                mujoco.mj_step(self._model, self._data)
            start = perf_counter()
            mujoco.mj_step(self._model, self._data)
            seconds.append(perf_counter() - start)
            contacts.append(self._data.ncon)
        return seconds, float(np.mean(contacts))

    def _set(self, state: xs.State) -> None:
        model, data = self._robot.model, self._data
        mujoco.mj_resetData(self._model, data)
        x, y, z, w = state.q[3:7]
        data.qpos[:3], data.qpos[3:7] = state.q[:3], (w, x, y, z)
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, data.qpos[3:7])
        data.qvel[:3], data.qvel[3:6] = rotation.reshape(3, 3) @ state.v[:3], state.v[3:6]
        for name in list(model.names)[2:]:
            joint = model.joints[model.getJointId(name)]
            theirs = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_JOINT, name)
            data.qpos[self._model.jnt_qposadr[theirs]] = state.q[joint.idx_q]
            data.qvel[self._model.jnt_dofadr[theirs]] = state.v[joint.idx_v]
