"""What tools/fuzz.py throws at the package, by kind: each case is made of a random generator and an empty folder."""

from __future__ import annotations

import copy
import functools
import io
import json
import pickle
import re
import tempfile
import zipfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import example_robot_data
import numpy as np
import pinocchio as pin

import exposim as xs
from exposim.simulation.state import STATE_FIELDS

Rng = np.random.Generator


def generator(kind: int, seed: int) -> Rng:
    """From which a case is made."""
    return np.random.default_rng([kind, seed])


EXAMPLES = Path(__file__).parents[1] / "examples"


class Raises:
    """Fails whenever it is to be converted."""

    def __float__(self) -> float:
        """No number."""
        raise ValueError("no number")

    def __array__(self, *_: Any, **__: Any) -> Any:
        """No array."""
        raise TypeError("no array")

    def __index__(self) -> int:
        """No whole number."""
        raise OverflowError("no whole number")

    def __len__(self) -> int:
        """No sequence."""
        raise ValueError("no length")


NUMBERS = (0, -0.0, 1, -1, 0.5, 1e-3, 1e3, np.nan, np.inf, -np.inf, 5e-324, 1e-308, 1.7e308, -1.7e308, 1e-12, 1e150)
ODD = (
    *NUMBERS, 2**31 - 1, 2**31, -(2**31), 2**63, 2**64, 10**400, True, False, None, "", "1", "nan", b"1", "\0", 1j, (),
    [], {}, set(), [[]], [[1.0], [2.0, 3.0]], range(3), object(), Raises(), [Raises()], Fraction(1, 3),
    Fraction(10**400), Decimal("sNaN"), Decimal(1), np.float16(1), np.float32(np.inf), np.longdouble(1), np.int8(3),
    np.bool_(True),
    np.array(3.0), np.array([]), np.array([[1.0]]), np.array("x"), np.array(None), np.datetime64("2020-01-01"),
    np.ma.masked, np.zeros((0, 3)), np.zeros((3, 3)), Exception, print, xs.Material, iter([1.0]), slice(3), ...,
)  # fmt: skip


def one_of(rng: Rng, choices: Any) -> Any:
    """Any of them."""
    return choices[rng.integers(len(choices))]


def wild(rng: Rng, shape: Any = ()) -> Any:
    """Numbers of any size."""
    exponents = rng.uniform(*one_of(rng, ((-3, 3), (-12, 12), (-320, 308.2), (100, 308.2))), shape)
    return rng.choice([-1.0, 1.0], shape) * 10.0**exponents


def number(rng: Rng, good: Any) -> Any:
    """A good one, one of any size, or what is none."""
    way = rng.integers(12)
    if way < 6:
        return good
    if way < 10:
        return abs(float(wild(rng)))
    return float(wild(rng)) if way == 10 else one_of(rng, ODD)


def array(rng: Rng, good: Any) -> Any:
    """A good one, or something like it, or nothing like it."""
    good = np.array(good, dtype=float)
    way = rng.integers(4) if rng.random() < 0.4 else rng.integers(4, 14)
    if way < 4:
        return good
    if way == 4:
        return good + wild(rng, good.shape)
    if way == 5:
        return wild(rng, good.shape)
    if way == 6 and good.size:
        good.flat[rng.integers(good.size)] = one_of(rng, NUMBERS)
        return good
    if way == 7:
        return np.resize(good, rng.integers(0, 5, rng.integers(0, 4)))
    if way == 8:
        return good.astype(one_of(rng, ("f2", "f4", "i8", "u1", "c16", "O", "U", "S", "?", "M8[s]", ">f8")))
    if way == 9:
        return good.tolist()
    if way == 10:
        return np.asfortranarray(np.stack([good, good], axis=-1))[..., 0]
    if way == 11:
        listed = good.tolist()
        if isinstance(listed, list) and listed:
            listed[rng.integers(len(listed))] = one_of(rng, ODD)
        return listed
    if way == 12:
        return good[..., :-1] if good.ndim else good
    return one_of(rng, ODD)


def some(rng: Rng, **makers: Any) -> dict[str, Any]:
    """Some of the options, made by these."""
    return {name: make() for name, make in makers.items() if rng.random() < 0.25}


# Settings.


def material(rng: Rng) -> xs.Material:
    """Of any numbers."""
    pair = rng.random() < 0.2
    return xs.Material(
        **some(
            rng,
            stiffness=lambda: (number(rng, 1e5), number(rng, 1e5)) if pair else number(rng, 1e5),
            damping=lambda: (number(rng, 1e2), number(rng, 1e2)) if pair else number(rng, 1e2),
            friction=lambda: number(rng, 0.7),
        )
    )


def ground(rng: Rng) -> Any:
    """Any, with surfaces of any number."""
    makers = (
        lambda: None,
        xs.HalfSpace,
        lambda: xs.HalfSpace(material(rng)),
        lambda: xs.HalfSpace(point=array(rng, [0, 0, 0]), normal=array(rng, [0, 0, 1])),
        lambda: [xs.HalfSpace(), xs.HalfSpace(material(rng), (0, 0, 0), wild(rng, 3))],
        lambda: [xs.HalfSpace(normal=wild(rng, 3)) for _ in range(rng.integers(6))],
        lambda: one_of(rng, ODD),
    )
    return one_of(rng, makers)()


def integrator(rng: Rng) -> xs.Integrator:
    """Any scheme, with any options."""
    kernel = one_of(rng, ("auto", "auto", "modal", "expm", xs.Pade(1), xs.Pade(7), one_of(rng, ODD)))
    count = one_of(rng, (1, 2, 20, 100, 1000, one_of(rng, ODD)))
    makers = (
        lambda: xs.Expo(
            **some(
                rng,
                order=lambda: one_of(rng, (1, 2, one_of(rng, ODD))),
                tolerance=lambda: number(rng, 1e-8),
                micro_steps=lambda: count,
                max_acceleration=lambda: number(rng, 1500.0),
            )
        ),
        lambda: xs.PaperExpo(
            **some(
                rng,
                kernel=lambda: kernel,
                tolerance=lambda: number(rng, 1e-8),
                balance=lambda: one_of(rng, (True, False, one_of(rng, ODD))),
                position_update=lambda: one_of(rng, ("lam_pr", "lam_pr2", one_of(rng, ODD))),
                anchor=lambda: one_of(rng, ("surface", "detected", one_of(rng, ODD))),
                projection=lambda: one_of(rng, ("horizontal", "orthogonal", one_of(rng, ODD))),
            )
        ),
        lambda: xs.ImplicitEuler(**some(rng, tolerance=lambda: number(rng, 1e-8), max_iterations=lambda: count)),
        xs.ExplicitEuler,
        xs.SemiImplicitEuler,
        xs.RungeKutta4,
    )
    return one_of(rng, makers)()


@functools.cache
def known(name: str) -> xs.Robot:
    """Loaded once."""
    return xs.load_robot(name)


def contact_point(rng: Rng, robot: xs.Robot) -> xs.ContactPoint:
    """Anywhere on it."""
    frame = one_of(rng, [*(frame.name for frame in robot.model.frames), one_of(rng, ODD)])
    return xs.ContactPoint(
        frame,
        **some(
            rng,
            offset=lambda: array(rng, [0, 0, 0.1]),
            name=lambda: one_of(rng, ("p", one_of(rng, ODD))),
            radius=lambda: number(rng, 0.02),
            bilateral=lambda: one_of(rng, (True, False, one_of(rng, ODD))),
            material=lambda: material(rng),
            anchor=lambda: one_of(rng, (None, array(rng, [0, 0, 0]))),
        ),
    )


def drive(rng: Rng) -> xs.Drive:
    """Of any gains."""
    return xs.Drive(
        number(rng, 50.0),
        number(rng, 1.0),
        **some(
            rng,
            effort=lambda: number(rng, 20.0),
            velocity=lambda: number(rng, 30.0),
            delay=lambda: number(rng, 0.01),
        ),
    )


def joint_friction(rng: Rng) -> Any:
    """A number, or all that there is to say."""
    if rng.random() < 0.3:
        return number(rng, 0.1)
    return xs.DryFriction(
        number(rng, 0.1),
        **some(
            rng,
            static=lambda: number(rng, 0.2),
            stiffness=lambda: number(rng, 100.0),
            damping=lambda: number(rng, 0.1),
        ),
    )


def joints(rng: Rng, robot: xs.Robot) -> dict[str, Any]:
    """What replace() takes of joints."""
    name = one_of(rng, (*robot.joints, "*", one_of(rng, ("nothing*", 3, None))))
    return some(
        rng,
        drives=lambda: one_of(rng, (drive(rng), {name: drive(rng)}, {name: None}, one_of(rng, ODD))),
        joint_friction=lambda: one_of(rng, (joint_friction(rng), {name: joint_friction(rng)}, one_of(rng, ODD))),
        joint_limits=lambda: one_of(
            rng,
            (
                False,
                xs.JointLimits(**some(rng, stiffness=lambda: number(rng, 1e3), damping=lambda: number(rng, 3.0))),
                one_of(rng, ODD),
            ),
        ),
        effort_limits=lambda: one_of(rng, (True, False, one_of(rng, ODD))),
    )


def robot_of(rng: Rng) -> xs.Robot:
    """A known one, or what can be made of it."""
    robot = known(one_of(rng, ("solo12", "solo12", "go2", "romeo")))
    if rng.random() < 0.5:
        return robot
    return robot.replace(
        **some(
            rng,
            joint_damping=lambda: one_of(rng, (number(rng, 0.1), array(rng, np.full(robot.nv, 0.1)))),
            armature=lambda: one_of(rng, (number(rng, 0.1), array(rng, np.full(robot.nv, 0.1)))),
            gravity=lambda: array(rng, [0, 0, -9.81]),
            contact_points=lambda: [contact_point(rng, robot) for _ in range(rng.integers(5))],
            q0=lambda: array(rng, robot.q0),
            actuated_joints=lambda: one_of(rng, (robot.actuated_joints[:3], one_of(rng, ODD))),
        ),
        **joints(rng, robot),
    )


def simulator(rng: Rng, robot: xs.Robot) -> xs.Simulator:
    """Of anything."""
    return xs.Simulator(
        robot,
        ground(rng),
        integrator(rng),
        **some(
            rng,
            dt=lambda: number(rng, 10.0 ** rng.uniform(-6, -1)),
            slots=lambda: one_of(rng, (1, 2, 7, one_of(rng, ODD))),
            on_divergence=lambda: one_of(rng, ("raise", "stop", one_of(rng, ODD))),
            profile=lambda: one_of(rng, (True, one_of(rng, ODD))),
        ),
    )


def kernels(rng: Rng) -> None:
    """Integrals, and contacts followed through a step."""
    n = int(rng.integers(1, 4))
    symmetric = rng.normal(size=(3 * n, 3 * n))
    symmetric = symmetric @ symmetric.T
    kernel = one_of(rng, ("auto", "modal", "expm", xs.Pade(2), one_of(rng, ODD)))
    dt, way = number(rng, 1e-2), rng.integers(3)
    if way == 0:
        A, b, x0 = rng.normal(size=(n, n)), rng.normal(size=n), rng.normal(size=n)
        xs.kernels.integrals(array(rng, A), array(rng, b), array(rng, x0), dt, one_of(rng, ("expm", kernel)))
    elif way == 1:
        stiffness, damping = array(rng, np.full(3 * n, 1e5)), array(rng, np.full(3 * n, 1e2))
        free, x0 = array(rng, np.ones(3 * n)), array(rng, np.full(6 * n, 1e-3))
        xs.kernels.contact_integrals(array(rng, symmetric), stiffness, damping, free, x0, dt, kernel)
    else:
        elements = [
            xs.kernels.Element(
                material(rng),
                **some(
                    rng,
                    gap=lambda: number(rng, -1e-3),
                    velocity=lambda: array(rng, [1, 0, -1]),
                    mode=lambda: one_of(rng, ("open", "sticking", "slipping", "idle", "bilateral", one_of(rng, ODD))),
                    stretch=lambda: array(rng, [1e-3, 0, 0]),
                    gap0=lambda: number(rng, 0.0),
                ),
            )
            for _ in range(n)
        ]
        steps = one_of(rng, (1, 20, one_of(rng, ODD)))
        xs.kernels.resolve(array(rng, symmetric), array(rng, np.ones(3 * n)), elements, dt, steps)


def controllers(rng: Rng) -> None:
    """A torque, of any gains."""
    robot = known("solo12")
    state = xs.Simulator(robot, xs.HalfSpace()).state
    if rng.random() < 0.5:
        control = xs.controllers.PD(
            robot, array(rng, 5.0), array(rng, 0.1), **some(rng, q_ref=lambda: array(rng, robot.q0))
        )
    else:
        control = xs.controllers.InverseDynamics(
            robot,
            [xs.controllers.tasks.CentreOfMass(array(rng, [0, 0, 0.2]), **some(rng, weight=lambda: number(rng, 1.0)))],
            **some(
                rng,
                friction=lambda: number(rng, 0.6),
                torque_limits=lambda: array(rng, np.full(12, 3.0)),
                normal_force=lambda: one_of(rng, ((1.0, 100.0), one_of(rng, ODD))),
            ),
        )
    control(number(rng, 0.0), state)


def settings(rng: Rng, _: Path) -> None:
    """Values into everything that takes some, and a few steps."""
    way = rng.integers(4)
    if way == 0:
        kernels(rng)
    elif way == 1:
        controllers(rng)
    else:
        sim = simulator(rng, robot_of(rng))
        sim.step(n=3)
        look_at(sim)


# States.


def look_at(sim: xs.Simulator) -> None:
    """At all that it shows."""
    for name in dir(sim):
        if not name.startswith("_") and name != "path":  # which there is only after a step
            getattr(sim, name)
    repr(sim), repr(sim.state), repr(sim.info), str(sim.profile)
    str(sim.advise())
    copy.deepcopy(sim).step()


BAD_TIMES = (0.0, -1.0, np.nan, np.inf, "now", None, [0.01])
PACES = ("smallest", "largest", "first_step", "control_period")


def steps(rng: Rng) -> Any:
    """As many as can be taken, or none."""
    n = one_of(rng, ODD)
    too_many = isinstance(n, (int, np.integer)) and n > 100
    return int(rng.integers(1, 30)) if too_many or rng.random() < 0.7 else n


def act(rng: Rng, sim: xs.Simulator) -> None:
    """Something done to a simulator."""
    robot, state = sim.robot, sim.state
    frame = one_of(rng, ("base_link", one_of(rng, robot.feet) if robot.feet else "", one_of(rng, ("nowhere", 3, None))))
    wrenches = one_of(rng, (None, None, {frame: array(rng, np.ones(6))}, one_of(rng, ODD)))
    tau = one_of(rng, (None, array(rng, np.ones(robot.nv)), array(rng, np.ones(len(robot.actuated_dofs)))))
    way = rng.integers(13)
    if way < 3:
        targets = some(
            rng,
            target=lambda: array(rng, one_of(rng, (robot.q0, np.zeros(len(robot.actuated_dofs))))),
            target_velocity=lambda: array(rng, np.zeros(one_of(rng, (robot.nv, len(robot.actuated_dofs))))),
        )
        sim.step(tau, steps(rng), wrenches=wrenches, **targets)
    elif way == 3:
        sim.reset(one_of(rng, (None, array(rng, robot.q0))), one_of(rng, (None, array(rng, np.zeros(robot.nv)))))
    elif way == 4:
        sim.state = xs.State.from_array(array(rng, state.to_array()))
    elif way == 5:
        name = one_of(rng, (*STATE_FIELDS, one_of(rng, ODD)))
        sim.state = state.replace(**{str(name): array(rng, getattr(state, str(name), 0.0))})
    elif way == 6:
        moved = sim.integrate(state, array(rng, 1e-3 * np.ones(2 * robot.nv + 3 * len(sim.contacts))))
        sim.difference(state, moved)
        sim.state = moved
    elif way == 7:
        sim.predict_forces(array(rng, [0.0, 1e-3]), tau, wrenches=wrenches)
    elif way == 8:
        duration, step = (lambda: one_of(rng, (1e-3, 0.02, 0.03, one_of(rng, BAD_TIMES)))), (1e-4, 1e-3, 0.05)
        some_steps = some(rng, **{name: lambda: one_of(rng, (*step, one_of(rng, BAD_TIMES))) for name in PACES})
        sim.advance(duration(), tau, number(rng, 1e-3), wrenches=wrenches, **some_steps)
    elif way == 9:
        sim.step(n=2)
        path = sim.path
        times = array(rng, np.linspace(path.start, path.end, 5))
        path(times), path.forces(times), path.accelerations(times)
    elif way == 10:
        changes = {"friction": 0.3, "stiffness": 1e5, "damping": 300.0, "gravity": np.array([0.0, 0.0, -3.0])}
        sim.set(**some(rng, **{name: lambda good=good: array(rng, good) for name, good in changes.items()}))
    elif way == 11:
        sim.read(one_of(rng, (xs.sensors.IMU("base_link", rate=1e3), xs.sensors.FootContact(), one_of(rng, ODD))))
    else:
        sim.state = one_of(rng, (pickle.loads(pickle.dumps(sim)).state, one_of(rng, ODD)))


def states(rng: Rng, _: Path) -> None:
    """States, torques and wrenches, one after another, into one simulator."""
    surfaces = [
        xs.HalfSpace(),
        xs.HalfSpace(xs.Material(10.0 ** rng.uniform(3, 9), 10.0 ** rng.uniform(0, 4)), (0, 0, 0), (0, 0.3, 1)),
    ]
    scheme = one_of(
        rng, (xs.Expo(), xs.Expo(order=1), xs.PaperExpo(), xs.ImplicitEuler(), xs.RungeKutta4(), xs.ExplicitEuler())
    )
    dt, stop = 10.0 ** rng.uniform(-6, -1), one_of(rng, ("raise", "stop"))
    robot = known(one_of(rng, ("solo12", "go2", "romeo")))
    if rng.random() < 0.5:
        robot = robot.replace(drives=xs.Drive(100.0, 5.0, delay=one_of(rng, (0.0, 0.01))), joint_friction=0.1)
    sim = xs.Simulator(robot, surfaces[: rng.integers(3)], scheme, dt, on_divergence=stop)
    for _ in range(6):
        try:
            act(rng, sim)
        except xs.ExposimError:
            sim.step() if not sim.diverged else sim.reset()
    look_at(sim)


# Models.

INERTIAL = """<inertial><origin xyz="0 0 0.1" rpy="0 0.1 0"/><mass value="1"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>"""
URDF = f"""<robot name="arm"><link name="base">{INERTIAL}</link><link name="upper">{INERTIAL}</link>
  <link name="lower">{INERTIAL}</link><link name="tip"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-9" upper="9" effort="10" velocity="10"/><dynamics damping="0.1" friction="0"/></joint>
  <joint name="elbow" type="continuous"><origin xyz="0 0 -0.3"/><parent link="upper"/><child link="lower"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="grip" type="fixed"><origin xyz="0 0 -0.3"/><parent link="lower"/><child link="tip"/></joint></robot>"""
MJCF = """<mujoco model="hopper"><compiler angle="radian"/><default><joint damping="0.1"/></default><worldbody>
  <geom type="plane" size="1 1 1"/><body name="trunk" pos="0 0 1"><freejoint/>
  <inertial pos="0 0 0" mass="2" diaginertia="0.1 0.1 0.1"/><geom type="box" size="0.1 0.1 0.1"/>
  <body name="leg" pos="0 0 -0.2" quat="1 0 0 0"><joint name="knee" type="hinge" axis="0 1 0" armature="0.1"/>
  <inertial pos="0 0 -0.1" mass="1" diaginertia="0.1 0.1 0.1"/><site name="toe" pos="0 0 -0.3"/></body></body>
  </worldbody><keyframe><key name="home" qpos="0 0 0.5 0.6 0 0.8 0 0.3"/></keyframe></mujoco>"""


@functools.cache
def described() -> dict[str, str]:
    """Texts of models, small and real, with their suffixes."""
    real = Path(example_robot_data.__file__).parents[4] / "share" / "example-robot-data" / "robots"
    found = sorted(path for path in real.rglob("*.urdf") if path.stat().st_size < 60_000)
    texts = {URDF: ".urdf", MJCF: ".xml"}
    return texts | {path.read_text(encoding="utf-8", errors="replace"): ".urdf" for path in found[::6]}


WORDS = (
    "nan", "inf", "-1", "0", "1e400", "1e-320", "1e308", "", "x", "0 0 0", "0 0 0 0", "floating", "planar", "prismatic",
    "ball", "slide", "free", "base", "trunk", "world", "universe", "\u00e9", "&amp;", "../..", "package://x", "fixed",
)  # fmt: skip


def mutated(rng: Rng, text: str) -> str:
    """A text with a few things wrong in it."""
    for _ in range(rng.integers(1, 3)):
        way, quoted = rng.integers(10), list(re.finditer(r'"([^"]*)"', text))
        elements = list(re.finditer(r"<[^<>]*>", text))
        at = int(rng.integers(len(text))) if text else 0
        if way < 6 and quoted:
            place, words = one_of(rng, quoted), one_of(rng, (WORDS, [str(wild(rng))], [one_of(rng, quoted)[1]]))
            text = text[: place.start(1)] + one_of(rng, words) + text[place.end(1) :]
        elif way == 6 and elements:
            place = one_of(rng, elements)
            text = text[: place.start()] + text[place.end() :]
        elif way == 7 and elements:
            place, other = one_of(rng, elements), one_of(rng, elements)
            text = text[: place.start()] + other[0] + text[place.start() :]
        elif way == 8:
            end = at + int(rng.integers(1, 400))
            text = text[:at] + text[end:] if rng.random() < 0.5 else text[:end] + text[at:]
        else:
            text = text[:at] + one_of(rng, ("<", ">", '"', "\0", "&", "\ufeff", "<!--", "9" * 400)) + text[at:]
    return text


def models(rng: Rng, folder: Path) -> None:
    """Files of robots with something wrong in them, loaded and dropped."""
    text = one_of(rng, list(described()))
    path = folder / f"robot{described()[text]}"
    path.write_text(mutated(rng, text), encoding="utf-8", errors="surrogatepass")
    robot = xs.load_robot(path, **some(rng, floating_base=lambda: one_of(rng, (True, False, None))))
    if robot.nv > 200:
        return
    frames = [frame.name for frame in robot.model.frames if frame.type == pin.FrameType.BODY]
    if frames:
        points = [xs.ContactPoint(frame, name=f"{frame}{i}") for i, frame in enumerate(frames[:4])]
        robot = robot.replace(contact_points=points)
    sim = xs.Simulator(robot, xs.HalfSpace(), integrator(rng), 10.0 ** rng.uniform(-5, -1.5))
    sim.step(n=5)
    look_at(sim)


# Files.


@functools.cache
def good_files() -> dict[str, bytes]:
    """A recorded motion, a reference to follow and a scenario, by name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trajectory.npz"
        xs.scenarios.get("drop").run(duration=0.02).save(path)
        trajectory = path.read_bytes()
    references = Path(xs.scenarios.__file__).parent / "references"
    reference = min(references.glob("*.npz"), key=lambda path: path.stat().st_size)
    scenario = (EXAMPLES / "drop.py").read_bytes()
    return {"trajectory.npz": trajectory, "reference.npz": reference.read_bytes(), "drop.py": scenario}


def damaged_bytes(rng: Rng, data: bytes) -> bytes:
    """Bytes changed, left out or repeated."""
    raw = bytearray(data)
    for _ in range(rng.integers(1, 6)):
        at = int(rng.integers(max(1, len(raw))))
        end = at + int(rng.integers(1, 200))
        way = rng.integers(4)
        if way == 0 and at < len(raw):
            raw[at] = int(rng.integers(256))
        elif way == 1:
            del raw[at:end]
        elif way == 2:
            raw[at:at] = raw[at:end]
        else:
            raw[at:end] = rng.integers(0, 256, end - at, dtype=np.uint8).tobytes()
    return bytes(raw)


def damaged_value(rng: Rng, value: Any) -> Any:
    """A part of a header, with something else somewhere in it."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = one_of(rng, sorted(value))
        if rng.random() < 0.1:
            return {name: each for name, each in value.items() if name != key}
        return value | {key: damaged_value(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.integers(len(value))
        return [*value[:at], damaged_value(rng, value[at]), *value[at + 1 :]]
    return one_of(rng, (None, 0, -1, 1e308, "x", "", [], {}, True, [1, 2], {"a": 1}, 2**70, "\0", float("nan")))


def damaged_archive(rng: Rng, data: bytes) -> bytes:
    """An npz with one of its arrays, or its header, changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = one_of(rng, sorted(members))
    stored = np.load(io.BytesIO(members[name]), allow_pickle=False)
    way = rng.integers(4)
    if way == 0:
        del members[name]
    elif way == 1:
        members[name] = damaged_bytes(rng, members[name])
    else:
        if stored.dtype.kind in "US" and stored.ndim == 0:
            try:
                changed = np.array(json.dumps(damaged_value(rng, json.loads(str(stored)))))
            except ValueError:
                changed = np.array(one_of(rng, ("", "{", "[]", "x")))
        else:
            changed = one_of(rng, (np.atleast_1d(stored)[:0], stored[None], stored.T, np.array(wild(rng, 3))))
        buffer = io.BytesIO()
        np.save(buffer, changed, allow_pickle=changed.dtype.hasobject)
        members[name] = buffer.getvalue()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for each, content in members.items():
            archive.writestr(each, content)
    return buffer.getvalue()


def files(rng: Rng, folder: Path) -> None:
    """Files of motions, references and scenarios that are damaged, read whole."""
    name = one_of(rng, sorted(good_files()))
    path = folder / name
    data = good_files()[name]
    if name == "drop.py":
        path.write_text(mutated_scenario(rng, data.decode()), encoding="utf-8", errors="surrogatepass")
        xs.scenarios.get(path).run(duration=0.01)
        return
    path.write_bytes(damaged_bytes(rng, data) if rng.random() < 0.5 else damaged_archive(rng, data))
    if name == "reference.npz":
        xs.controllers.Reference.load(path)
        return
    trajectory = xs.Trajectory.load(path)
    for each in ("settings", "outcome", "columns", "contacts", "active", "slipping", "contact_names"):
        getattr(trajectory, each)
    repr(trajectory), len(trajectory), trajectory.t, trajectory.q, trajectory.v
    trajectory.state()
    trajectory.save(folder / "again.npz")


def mutated_scenario(rng: Rng, text: str) -> str:
    """Other numbers, words left out: what it does stays harmless."""
    numbers = list(re.finditer(r"\d+(\.\d*)?(e-?\d+)?", text))
    for _ in range(rng.integers(1, 3)):
        place = one_of(rng, numbers)
        if place.end() > len(text):
            continue
        word = one_of(rng, ("-1", "0", "1e308", "float('nan')", "'x'", "None", "", "(", "\n", "\0", "[]", "1e-300"))
        text = text[: place.start()] + word + text[place.end() :]
    return text


CASES = {"models": models, "files": files, "states": states, "settings": settings}
