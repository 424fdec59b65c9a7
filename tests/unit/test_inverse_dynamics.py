"""Inverse dynamics: its equations, its limits, other robots than those of the scenarios."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from exposim.controllers import InverseDynamics
from exposim.controllers.tasks import CentreOfMass, FramePose, Point, Pose, Posture, add_frame

QUADRUPEDS = ("solo12", "go2", "anymal_c")
HUMANOIDS = ("romeo", "talos", "g1")


def random_state(robot, seed=0, speed=0.5):
    rng = np.random.default_rng(seed)
    q = pin.integrate(robot.model, robot.q0, 0.1 * rng.standard_normal(robot.nv))
    sim = xs.Simulator(robot)
    sim.reset(q, speed * rng.standard_normal(robot.nv))
    return sim.state


def standing_controller(robot, **settings):
    data = robot.model.createData()
    com = np.array(pin.centerOfMass(robot.model, data, robot.q0))
    base = robot.model.frames[2].name
    tasks = [
        CentreOfMass(com, weight=1.0, kp=30.0),
        FramePose(base, pin.XYZQUATToSE3(robot.q0[:7]), "orientation", weight=0.3, kp=30.0),
        Posture(weight=1e-3, kp=20.0),
    ]
    return InverseDynamics(robot, tasks, **settings)


def bound(task, robot, state):
    """The task's equations at a state, and the model they were made for."""
    model = robot.model.copy()
    equations = task.bind(robot, model)
    data = model.createData()
    zero = np.zeros(model.nv)
    pin.computeAllTerms(model, data, state.q, state.v)
    pin.forwardKinematics(model, data, state.q, state.v, zero)
    pin.centerOfMass(model, data, state.q, state.v, zero)
    return equations(0.0, state, data)


def moved(robot, state, a, h):
    """Where the robot is after a short time with constant joint accelerations."""
    return pin.integrate(robot.model, state.q, h * state.v + 0.5 * h**2 * a)


@pytest.mark.parametrize("name", ["solo12", "romeo"])
def test_the_centre_of_mass_accelerates_as_its_equations_say(name):
    robot = xs.load_robot(name)
    state = random_state(robot)
    a = np.random.default_rng(1).standard_normal(robot.nv)
    J, right = bound(CentreOfMass(np.zeros(3), kp=0.0, kd=0.0), robot, state)  # wanted: zero acceleration
    data = robot.model.createData()
    h = 1e-4
    before, now, after = (
        np.array(pin.centerOfMass(robot.model, data, moved(robot, state, a, s))) for s in (-h, 0.0, h)
    )
    assert_allclose(J @ a - right, (after - 2 * now + before) / h**2, atol=1e-5)


@pytest.mark.parametrize(("name", "frame"), [("solo12", "FL_FOOT"), ("romeo", "l_wrist"), ("go2", "RR_foot")])
def test_a_frame_accelerates_as_its_equations_say(name, frame):
    robot = xs.load_robot(name)
    state = random_state(robot)
    a = np.random.default_rng(2).standard_normal(robot.nv)
    J, right = bound(FramePose(frame, pin.SE3.Identity(), kp=0.0, kd=0.0), robot, state)
    data, number, h = robot.model.createData(), robot.model.getFrameId(frame), 1e-4
    places = []
    for s in (-h, 0.0, h):
        pin.framesForwardKinematics(robot.model, data, moved(robot, state, a, s))
        places.append(data.oMf[number].copy())
    before, now, after = places
    linear = (after.translation - 2 * now.translation + before.translation) / h**2
    angular = (pin.log3(after.rotation @ now.rotation.T) - pin.log3(now.rotation @ before.rotation.T)) / h**2
    assert_allclose(J @ a - right, np.concatenate([linear, angular]), atol=2e-4)


def test_a_frame_is_drawn_back_to_its_pose_in_every_direction():
    """The wanted acceleration reduces the error, for position and orientation alike."""
    robot = xs.load_robot("solo12")
    state = random_state(robot, speed=0.0)
    model, data = robot.model, robot.model.createData()
    pin.framesForwardKinematics(model, data, state.q)
    now = data.oMf[model.getFrameId("FL_FOOT")].copy()
    off = np.array([0.01, -0.02, 0.03, 0.1, -0.2, 0.15])
    wanted = pin.SE3(pin.exp3(off[3:]) @ now.rotation, now.translation + off[:3])
    _, right = bound(FramePose("FL_FOOT", wanted, kp=7.0), robot, state)
    assert_allclose(right, 7.0 * off, atol=1e-12)


@pytest.mark.parametrize("name", QUADRUPEDS + HUMANOIDS)
def test_the_torques_belong_to_the_planned_motion_and_forces(name):
    robot = xs.load_robot(name)
    controller = standing_controller(robot)
    state = random_state(robot, speed=0.1)
    tau = controller(0.0, state)
    assert controller.failures == 0
    model, data = robot.model, robot.model.createData()
    needed = pin.rnea(model, data, state.q, state.v, controller.accelerations) + model.damping * state.v
    pin.computeJointJacobians(model, data, state.q)
    for point, force in zip(robot.contact_points, controller.forces, strict=True):
        frame_model = model.copy()
        joint, placement = robot.locate(point.frame)
        frame = add_frame(frame_model, joint, placement * pin.SE3(np.eye(3), np.array(point.offset)))
        frame_data = frame_model.createData()
        J = pin.computeFrameJacobian(frame_model, frame_data, state.q, frame, pin.LOCAL_WORLD_ALIGNED)
        needed -= J.T @ np.concatenate([force, np.cross([0.0, 0.0, -point.radius], force)])
    assert_allclose(tau, needed[robot.actuated_dofs], atol=1e-3)
    if robot.has_floating_base:
        assert_allclose(needed[:6], 0.0, atol=1e-2)  # nothing pushes the base but the ground


def test_forces_stay_in_the_friction_cone_and_torques_in_their_limits():
    robot = xs.load_robot("solo12")
    target = np.array([0.4, 0.0, 0.5])  # far ahead: asks for far more than friction allows
    tasks = [CentreOfMass(target, kp=100.0), Posture()]
    controller = InverseDynamics(robot, tasks, friction=0.4, normal_force=(1.0, 20.0), torque_limits=1.2)
    tau = controller(0.0, xs.Simulator(robot).state)
    tangential = np.linalg.norm(controller.forces[:, :2], axis=1)
    normal = controller.forces[:, 2]
    assert np.all(tangential <= 0.4 * normal + 1e-3)
    assert np.all((normal >= 1.0 - 1e-3) & (normal <= 20.0 + 1e-3))
    assert np.abs(tau).max() <= 1.2
    active = np.isclose(tangential.max(), 0.4 / np.sqrt(2) * normal[tangential.argmax()], rtol=0.5) or np.isclose(
        np.abs(tau).max(), 1.2, atol=1e-3
    )
    assert active, "the wish was not far enough to meet a limit"


@pytest.mark.parametrize("name", QUADRUPEDS + HUMANOIDS)
def test_every_known_robot_stands(name):
    robot = xs.load_robot(name)
    controller = standing_controller(robot)
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=2e-3)
    for _ in range(250):
        sim.step(controller(sim.t, sim.state), n=2)
    data = robot.model.createData()
    com = pin.centerOfMass(robot.model, data, robot.q0).copy()
    assert_allclose(pin.centerOfMass(robot.model, data, sim.q), com, atol=5e-3)
    assert np.abs(sim.v).max() < 0.1


def test_a_hand_of_a_fixed_arm_follows_a_line():
    robot = xs.load_robot(pin.buildSampleModelManipulator())
    model, data = robot.model, robot.model.createData()
    q = np.full(robot.nq, 0.4)
    pin.framesForwardKinematics(model, data, q)
    tip = model.frames[model.nframes - 1].name
    start = data.oMf[model.nframes - 1].translation.copy()

    def path(t):
        s = np.array([0.0, 0.03 * (np.cos(3 * t) - 1), 0.0])
        return Pose(pin.SE3(np.eye(3), start + s), [0.0, -0.09 * np.sin(3 * t), 0, 0, 0, 0])

    tasks = [FramePose(tip, path, "position", kp=400.0), Posture(q, weight=1e-4)]
    controller = InverseDynamics(robot, tasks, torque_limits=100.0)  # its own do not carry it
    sim = xs.Simulator(robot.replace(effort_limits=False), dt=1e-3)
    sim.reset(q)
    worst = 0.0
    for _ in range(1000):
        sim.step(controller(sim.t, sim.state))
        pin.framesForwardKinematics(model, data, sim.q)
        reached = data.oMf[model.nframes - 1].translation
        worst = max(worst, np.abs((reached - path(sim.t).placement.translation)[1]))
    assert worst < 5e-3


@pytest.mark.parametrize("name", ["solo12", "romeo"])
def test_a_resumed_controller_gives_the_same_bits(name):
    robot = xs.load_robot(name)
    one, other = standing_controller(robot), standing_controller(robot)
    states = [random_state(robot, seed) for seed in range(6)]
    for state in states[:3]:
        one(0.0, state)
    other.memory = dict(one.memory)
    for state in states[3:]:
        assert np.array_equal(one(0.0, state), other(0.0, state))


def test_a_state_that_is_not_finite_leaves_no_trace_but_in_the_memory():
    robot = xs.load_robot("solo12")
    one, other = standing_controller(robot), standing_controller(robot)
    state = random_state(robot)
    astray = SimpleNamespace(t=0.0, q=state.q, v=np.full(robot.nv, np.nan))  # a State would refuse it
    with pytest.raises(xs.InvalidArgument, match="not finite"):
        one(0.0, astray)
    one.memory = {}
    assert np.array_equal(one(0.0, state), other(0.0, state))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"contacts": ["FL_FOOTT"]}, "did you mean 'FL_FOOT'"),
        ({"contacts": "FL_FOOT"}, "give names of contact points"),
        ({"friction": 0.0}, "friction is 0.0"),
        ({"normal_force": (5.0, 1.0)}, "normal_force is"),
        ({"normal_force": 3.0}, "normal_force is"),
        ({"torque_limits": [1.0, 2.0]}, "torque_limits has 2 entries"),
        ({"torque_limits": -1.0}, "torque_limits is -1.0"),
        ({"force_weight": 0.0}, "force_weight is 0.0"),
        ({"contact_damping": np.nan}, "contact_damping is nan"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(xs.InvalidArgument, match=message):
        InverseDynamics(xs.load_robot("solo12"), [Posture()], **settings)


@pytest.mark.parametrize("tasks", [[], None, ["posture"], 3])
def test_tasks_must_be_tasks(tasks):
    with pytest.raises(xs.InvalidArgument, match="tasks is"):
        InverseDynamics(xs.load_robot("solo12"), tasks)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CentreOfMass([0.0, 1.0]), "reference has 2 entries"),
        (lambda: CentreOfMass(lambda t: Point(np.zeros(3)), weight=-1.0), "weight is -1.0"),
        (lambda: FramePose("base_link", np.eye(4)), "reference is"),
        (lambda: FramePose("base_link", pin.SE3.Identity(), axes="both"), "axes is 'both'"),
        (lambda: Posture(kp=-1.0), "kp is -1.0"),
    ],
)
def test_bad_tasks_are_refused(make, message):
    with pytest.raises(xs.InvalidArgument, match=message):
        make()


def test_a_frame_that_is_not_there_is_refused_with_the_nearest():
    with pytest.raises(xs.UnknownFrame, match="did you mean 'base_link'"):
        InverseDynamics(xs.load_robot("solo12"), [FramePose("base_lnk", pin.SE3.Identity())])


@pytest.mark.parametrize("of_a_frame", [False, True])
def test_references_that_give_something_else_are_refused(of_a_frame):
    robot = xs.load_robot("solo12")
    foot = robot.contact_points[0].frame
    task = FramePose(foot, lambda t: Point(np.zeros(3))) if of_a_frame else CentreOfMass(lambda t: np.zeros(3))
    state = xs.Simulator(robot, xs.HalfSpace(), dt=1e-3).state
    with pytest.raises(xs.InvalidArgument, match=r"a reference gave \w+ at t = .* s; give a Po"):
        bound(task, robot, state)
