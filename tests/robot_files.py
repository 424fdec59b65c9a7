"""Small robots as files and models, and what tests of loading share."""

import functools
import warnings

import numpy as np
import pinocchio as pin

import exposim as xs

KNOWN = {  # nq, nv, number of contact points
    "solo12": (19, 18, 4),
    "go2": (19, 18, 4),
    "anymal_c": (19, 18, 4),
    "romeo": (38, 37, 8),
    "talos": (39, 38, 8),
    "g1": (36, 35, 8),
}

INERTIAL = """<inertial><origin xyz="0 0 {z}"/><mass value="{mass}"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>"""
BALL = '<collision><origin xyz="0 0 -0.3"/><geometry><sphere radius="0.02"/></geometry></collision>'

# Shoulder turns about y, elbow about y without end, a wrist frame 0.3 m further down.
ARM_URDF = f"""<robot name="arm">
  <link name="base">{INERTIAL.format(z=0, mass=3)}</link>
  <link name="upper">{INERTIAL.format(z=-0.15, mass=1)}</link>
  <link name="lower">{INERTIAL.format(z=-0.15, mass=0.5)}</link>
  <link name="wrist"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-9" upper="9" effort="10" velocity="10"/></joint>
  <joint name="elbow" type="continuous"><origin xyz="0 0 -0.3"/><parent link="upper"/><child link="lower"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="grip" type="fixed"><origin xyz="0 0 -0.3"/><parent link="lower"/><child link="wrist"/></joint>
</robot>"""

BODY_URDF = f"""<robot name="brick"><link name="brick">{INERTIAL.format(z=0, mass=2)}</link></robot>"""

# A trunk 1 m above the ground with one leg.
HOPPER_MJCF = """<mujoco model="hopper"><worldbody>
  <body name="trunk" pos="0 0 1">{free}
    <inertial pos="0 0 0" mass="2" diaginertia="0.1 0.1 0.1"/>
    <body name="leg" pos="0 0 -0.2">
      <joint name="knee" type="hinge" axis="0 1 0" damping="0.5" armature="0.1"/>
      <inertial pos="0 0 -0.1" mass="1" diaginertia="0.1 0.1 0.1"/>
      <site name="toe" pos="0 0 -0.3"/>
    </body>
  </body></worldbody>{keyframe}</mujoco>"""
KEYFRAME = '<keyframe><key name="{name}" qpos="0 0 0.5 0.6 0 0.8 0 0.3"/></keyframe>'  # quaternion w, x, y, z


@functools.cache
def known(name):
    return xs.load_robot(name)


def write(folder, text, name="robot.urdf"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def hopper(folder, free="<freejoint/>", keyframe="", **options):
    path = write(folder, HOPPER_MJCF.format(free=free, keyframe=keyframe), "hopper.xml")
    return xs.load_robot(path, **options)


def pendulum(joint=None):
    """A model made by hand: one joint, a 2 kg body, a tip 0.5 m along x."""
    model = pin.Model()
    model.name = "pendulum"
    it = model.addJoint(0, joint or pin.JointModelRY(), pin.SE3.Identity(), "pivot")
    model.appendBodyToJoint(it, pin.Inertia.FromBox(2.0, 0.1, 0.2, 0.3), pin.SE3(np.eye(3), np.array([0.3, 0, 0])))
    tip = pin.SE3(np.eye(3), np.array([0.5, 0, 0]))
    model.addFrame(pin.Frame("tip", it, 0, tip, pin.FrameType.OP_FRAME))
    return model


def heights(robot, q):
    """Of the lowest point of every contact point above z = 0, from Pinocchio alone."""
    model, data = robot.model, robot.model.createData()
    pin.framesForwardKinematics(model, data, q)
    ids = [next(i for i, f in enumerate(model.frames) if f.name == p.frame) for p in robot.contact_points]
    return np.array(
        [data.oMf[i].act(np.array(p.offset))[2] - p.radius for i, p in zip(ids, robot.contact_points, strict=True)]
    )


def warnings_of(load):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load()
    return [str(w.message) for w in caught if issubclass(w.category, xs.ModelWarning)]


def note(load):
    """The one warning that loading a file gives."""
    (message,) = warnings_of(load)
    return message


def trajectory(robot, ground=None, steps=100):
    sim = xs.Simulator(robot, xs.HalfSpace() if ground is None else ground, dt=1e-3)
    q = []
    for _ in range(steps):
        sim.step()
        q.append(sim.q)
    return np.array(q)


AXIS = np.array([1.0, 2.0, 2.0]) / 3.0


def composite(*joints):
    result = pin.JointModelComposite()
    for i, joint in enumerate(joints):
        place = pin.SE3(pin.exp3(np.array([0.3, -0.2, 0.5]) * i), np.array([0.1, 0.2, -0.1]) * i)
        result.addJoint(joint, place)
    return result


JOINTS = {
    **{
        kind: functools.partial(getattr(pin, f"JointModel{kind}"))
        for kind in [
            "RX",
            "RY",
            "RZ",
            "PX",
            "PY",
            "PZ",
            "RUBX",
            "RUBY",
            "RUBZ",
            "Spherical",
            "SphericalZYX",
            "Planar",
            "Translation",
            "FreeFlyer",
            "RevoluteUnboundedUnaligned",
        ]
    },
    "RevoluteUnaligned": lambda: pin.JointModelRevoluteUnaligned(AXIS),
    "PrismaticUnaligned": lambda: pin.JointModelPrismaticUnaligned(AXIS),
    "HX": lambda: pin.JointModelHX(0.1),
    "HY": lambda: pin.JointModelHY(0.1),
    "HZ": lambda: pin.JointModelHZ(0.1),
    "HelicalUnaligned": lambda: pin.JointModelHelicalUnaligned(AXIS, 0.1),
    "Universal": lambda: pin.JointModelUniversal(np.array([1.0, 0, 0]), np.array([0, 1.0, 0])),
    "Ellipsoid": lambda: pin.JointModelEllipsoid(0.3, 0.2, 0.1),
    "Composite": lambda: composite(pin.JointModelRX(), pin.JointModelPZ()),
    "Composite with a sphere": lambda: composite(pin.JointModelPX(), pin.JointModelSpherical()),
    "Composite with an endless joint": lambda: composite(pin.JointModelRUBX(), pin.JointModelRY()),
    "Composite in a composite": lambda: composite(
        pin.JointModelPY(), composite(pin.JointModelRX(), pin.JointModelSpherical())
    ),
}


def chain_with(joint):
    """The joint between two hinges, with a body each and a tip."""
    model = pin.Model()
    parent = 0
    for i, (name, each) in enumerate([("first", pin.JointModelRY()), ("it", joint), ("last", pin.JointModelRZ())]):
        place = pin.SE3(pin.exp3(np.array([0.1, 0.4, -0.3]) * (i + 1)), np.array([0.2, 0.1, -0.3]))
        parent = model.addJoint(parent, each, place, name)
        model.appendBodyToJoint(
            parent,
            pin.Inertia.FromBox(1.0 + i, 0.2, 0.3, 0.4),
            pin.SE3(np.eye(3), np.array([0.1, -0.2, 0.15])),
        )
    model.addFrame(pin.Frame("tip", parent, 0, pin.SE3(np.eye(3), np.array([0, 0, -0.2])), pin.FrameType.OP_FRAME))
    return model
