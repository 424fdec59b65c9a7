"""Mistakes at reset are told once, with name and number; what is no mistake is not."""

import copy
import pickle
import warnings

import numpy as np
import pinocchio as pin
import pytest

import exposim as xs
from systems import point_mass

ROBOTS = tuple(xs.KNOWN_ROBOTS)
UPSIDE_DOWN = (1.0, 0.0, 0.0, 0.0)  # upright, if w came first


@pytest.fixture(scope="module")
def go2():
    return xs.load_robot("go2")


@pytest.fixture
def sim(go2):
    return xs.Simulator(go2, xs.HalfSpace())


def said(call, *args, **kwargs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*args, **kwargs)
    assert all(warning.category is xs.SetupWarning and warning.filename == __file__ for warning in caught)
    return [str(warning.message) for warning in caught]


def changed(q, where, value):
    q = np.array(q)
    q[where] = value
    return q


def within_limits(robot, rng):
    """A random posture, leaning a little, looking anywhere, on the ground or up to 30 cm above it."""
    model, q = robot.model, robot.q0
    for joint in model.joints[2:]:
        q[joint.idx_q] = rng.uniform(model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q])
    return lifted(robot, turned(turned(q, "x", rng.uniform(-0.3, 0.3)), "z", rng.uniform(-np.pi, np.pi)), rng)


def lifted(robot, q, rng):
    high = xs.Simulator(robot, xs.HalfSpace())
    high.reset(changed(q, 2, 5.0))
    return changed(q, 2, 5.0 - high.positions[:, 2].min() + rng.uniform(-0.005, 0.3))


def turned(q, axis, angle):
    rotation = pin.utils.rotate(axis, angle) @ pin.Quaternion(q[3:7]).matrix()
    return changed(q, slice(3, 7), pin.Quaternion(rotation).coeffs())


def test_degrees_are_told_once(sim, go2):
    q = np.concatenate([go2.q0[:7], np.rad2deg(go2.q0[7:])])
    first, second, other = said(sim.reset, q), said(sim.reset, q), said(xs.Simulator(go2).reset, q)
    assert first[0] == (
        "q[9] puts 'FL_calf_joint' at -82.51 rad, far outside its limits of -2.723 to -0.8378 rad (and 11 more far "
        "outside theirs): angles are in radians, and -82.51 degrees are -1.44 rad"
    )
    assert not [text for text in second if "limits" in text]
    assert len(other) == 1  # of another simulator, without ground


def test_a_joint_far_outside_its_limits_is_told_with_what_they_are(go2):
    text = said(xs.Simulator(go2).reset, changed(go2.q0, 9, 0.0))
    assert text == [
        "q[9] puts 'FL_calf_joint' at 0 rad, far outside its limits of -2.723 to -0.8378 rad: "
        "give it a value between -2.723 and -0.8378"
    ]


def test_a_sliding_joint_is_told_of_in_metres():
    model = pin.Model()
    limits = (np.ones(1), np.ones(1), np.array([0.0]), np.array([0.04]))
    joint = model.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "finger", *limits)
    model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    text = said(xs.Simulator(xs.load_robot(model)).reset, [20.0])
    assert text == [
        "q[0] puts 'finger' at 20 m, far outside its limits of 0 to 0.04 m: give it a value between 0 and 0.04"
    ]


def test_w_first_is_told_once(sim, go2):
    q = changed(go2.q0, slice(3, 7), UPSIDE_DOWN)
    text = said(sim.reset, list(q))
    assert text == [
        "q[3:7] = [1.0, 0.0, 0.0, 0.0] holds 'go2' upside down, 0.334 m above the ground: quaternions are x, y, z, w; "
        "give [0.0, 0.0, 0.0, 1.0] if this one has w first"
    ]
    assert said(sim.reset, q) == []


@pytest.mark.parametrize("yaw", [-0.3, 0.3])
def test_w_first_is_told_of_a_robot_that_has_turned(yaw, sim, go2):
    q = changed(go2.q0, slice(3, 7), (np.cos(yaw / 2), 0.01, -0.01, np.sin(yaw / 2)))
    q[3:7] /= np.linalg.norm(q[3:7])
    assert len(said(sim.reset, q)) == 1


def test_feet_below_the_ground_are_told_once(sim, go2):
    text = said(sim.reset, changed(go2.q0, 2, go2.q0[2] - 0.03))
    assert "_foot' 3 cm below the ground, and 3 more nearly as deep" in text[0]
    assert "it pushes back with 1.2e+04 N, 76 times the weight of 'go2': raise the base, q[2]" in text[0]
    assert len(text) == 1
    assert said(sim.reset, changed(go2.q0, 2, go2.q0[2] - 0.05)) == []


def test_those_who_reset_all_the_time_are_left_alone(sim, go2):
    for _ in range(1000):
        sim.reset(go2.q0)
    assert said(sim.reset, changed(go2.q0, 2, 0.0)) == []


def test_a_starting_configuration_is_looked_at_too(go2):
    robot = go2.replace(q0=changed(go2.q0, slice(3, 7), UPSIDE_DOWN))
    assert len(said(xs.Simulator(robot, xs.HalfSpace()).reset)) == 1


def test_steps_of_seconds_are_told(go2):
    assert said(xs.Simulator, go2, dt=5.0) == [
        "dt is 5 s, in which a robot falls 1.2e+02 m: steps are in seconds, 5 ms is 5e-3"
    ]
    assert said(xs.Simulator, go2, dt=0.1) == []
    assert len(said(xs.Simulator, go2, dt=1e200)) == 1  # whose square is no number


def test_a_copy_does_not_say_again_how_it_was_made(go2):
    with pytest.warns(xs.SetupWarning):
        sim = xs.Simulator(go2, dt=1.0)
    assert said(copy.deepcopy, sim) == said(pickle.loads, pickle.dumps(sim)) == []


@pytest.mark.parametrize("name", ROBOTS)
def test_known_robots_within_their_limits_are_no_mistake(name):
    robot = xs.load_robot(name)
    sim = xs.Simulator(robot, xs.HalfSpace())
    assert said(sim.reset) == said(sim.reset, robot.q0) == []
    rng = np.random.default_rng(20)
    for _ in range(100):
        assert said(sim.reset, within_limits(robot, rng), rng.standard_normal(robot.nv)) == []


@pytest.mark.parametrize("name", ["go2", "solo12", "g1"])
@pytest.mark.parametrize("angle", [np.pi, np.pi / 2, -np.pi / 2])
def test_a_robot_that_lies_is_no_mistake(name, angle):
    robot = xs.load_robot(name)
    sim = xs.Simulator(robot, xs.HalfSpace())
    q = changed(turned(robot.q0, "x", angle), 2, 0.45 * robot.q0[2] if angle == np.pi else robot.q0[2])
    assert said(sim.reset, q) == []


def test_a_restored_state_is_no_reset(sim, go2):
    q = changed(go2.q0, slice(3, 7), UPSIDE_DOWN)
    q[2] = 0.5
    q[9] = 90.0
    assert said(setattr, sim, "state", sim.state.replace(q=q)) == []


def test_deep_in_soft_ground_is_no_mistake():
    mass = point_mass()
    weight = 2.0 * 9.81
    sim = xs.Simulator(mass, xs.HalfSpace(xs.Material(stiffness=weight / 0.05, damping=1.0)))
    assert said(sim.reset, [0.0, 0.0, -0.05]) == []
    assert len(said(sim.reset, [0.0, 0.0, -0.5])) == 1


def test_a_joint_without_limits_is_no_mistake():
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "wheel")
    model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    assert said(xs.Simulator(xs.load_robot(model)).reset, [1e4]) == []
    model.lowerPositionLimit[0] = model.upperPositionLimit[0] = 0.0  # what a file has that states efforts alone
    assert said(xs.Simulator(xs.load_robot(model)).reset, [1e4]) == []


# ----- bodies within each other, and what is told without a reset


def crates(apart, size=0.2, **changes):
    crate = xs.rigid_body("crate", xs.Box(size=(size, size, size)), mass=1.0)
    poses = {name: [x, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0] for name, x in (("a", 0.0), ("b", apart))}
    return xs.combine(a=crate, b=crate, poses=poses).replace(**changes)


@pytest.mark.parametrize("ground", [None, xs.HalfSpace()], ids=["no ground", "ground"])
def test_a_body_deep_in_another_is_told_as_that(ground):
    ball = xs.rigid_body("ball", xs.Sphere(0.05), mass=0.1)
    crate = xs.rigid_body("crate", xs.Box(size=(0.4, 0.4, 0.4)), mass=5.0)
    both = xs.combine(ball=ball, crate=crate, poses={"ball": [0.1, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0]})
    q = both.q0
    q[9] = 0.5  # the crate in the air; the ball within it
    (text,) = said(xs.Simulator(both, ground, collisions="all").reset, q)
    assert text.startswith("q puts 'ball/ball' 15 cm deep into the Box of 'crate/crate'; it pushes back with 7.5e+03 N")
    assert text.endswith("move the base of 'ball', q[0:3] or move the base of 'crate', q[7:10]")


def test_links_of_one_robot_deep_in_each_other_want_another_posture():
    go2 = xs.load_robot("go2", contact_points="auto")
    q = changed(go2.q0, 2, 2.0)
    for name, angle in (("FL_hip_joint", -0.45), ("FR_hip_joint", 0.45)):
        q[go2.model.joints[go2.model.getJointId(name)].idx_q] = angle
    (text,) = said(xs.Simulator(go2, xs.HalfSpace(), collisions="all").reset, q)
    assert "cm deep into the Mesh of 'F" in text
    assert text.endswith("give another q")


def test_bodies_that_touch_are_no_mistake():
    sim = xs.Simulator(crates(0.198), xs.HalfSpace(), collisions="all")
    assert sim.active.any()
    assert said(sim.reset) == []


def test_heights_are_above_the_world_not_in_the_axes_of_a_body():
    """A base upside down is told of by its height above the ground; shapes of bodies are no ground."""
    both = crates(1.0)
    sim = xs.Simulator(both, xs.HalfSpace(), collisions="all")
    (text,) = said(sim.reset, changed(both.q0, slice(3, 7), UPSIDE_DOWN))
    assert "'a' upside down, 0.5 m above the ground" in text


def test_what_looks_like_a_mistake_is_told_at_a_first_step_without_a_reset():
    open_loop = crates(0.25, loops=[xs.Loop("a/crate", "b/crate")])
    sim = xs.Simulator(open_loop)
    (text,) = said(sim.step)
    assert "q puts 'a/crate' 250 mm away from 'b/crate'" in text
    assert said(sim.step) == said(sim.reset) == []
    # Not of a q0 that nobody starts from.
    elsewhere = xs.Simulator(open_loop)
    elsewhere.reset(changed(open_loop.q0, 7, 0.0))
    assert said(elsewhere.step) == []
    told = xs.Simulator(open_loop)
    said(told.reset)
    continued = xs.Simulator(open_loop)
    continued.state = told.state
    assert said(continued.step) == []
    assert said(pickle.loads(pickle.dumps(sim)).step) == []
