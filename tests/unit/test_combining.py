"""Several robots in one: the model, names, settings, and that each moves as it does alone."""

import copy
import dataclasses
import json
import pickle

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from bad_input import refused, short
from exposim.simulation.settings import RobotSettings

UPRIGHT = (0.0, 0.0, 0.0, 1.0)
TILT = tuple(pin.Quaternion(pin.exp3(np.array([0.3, -0.5, 0.8]))).coeffs().tolist())
ARM_POSE = (1.0, -2.0, 0.5, *TILT)


def arm():
    """A fixed base with a body of its own, a hinge, a slider, a ball joint and a wheel, each with its numbers."""
    model = pin.Model()
    model.name = "arm"
    model.appendBodyToJoint(0, pin.Inertia.FromBox(4.0, 0.2, 0.2, 0.1), pin.SE3.Identity())
    model.addFrame(pin.Frame("foot", 0, 0, pin.SE3.Random(), pin.FrameType.BODY))
    parent = 0
    kinds = (pin.JointModelRY(), pin.JointModelPX(), pin.JointModelSpherical(), pin.JointModelRUBZ())
    for i, kind in enumerate(kinds):
        place = pin.SE3(pin.exp3(np.array([0.1, 0.2, 0.3]) * i), np.array([0.1, 0.0, 0.2]))
        parent = model.addJoint(parent, kind, place, f"joint_{i}")
        model.addJointFrame(parent)
        model.appendBodyToJoint(
            parent, pin.Inertia(1.0, np.array([0.1, 0.0, 0.05]), 0.02 * np.eye(3)), pin.SE3.Identity()
        )
        body = model.addBodyFrame(f"link_{i}", parent, place, -1)
        model.addFrame(pin.Frame(f"tool_{i}", parent, body, place, pin.FrameType.OP_FRAME))
    nv = model.nv
    model.damping = 0.1 + 0.01 * np.arange(nv)
    model.armature = 0.2 + 0.01 * np.arange(nv)
    model.upperDryFrictionLimit = 0.3 + 0.01 * np.arange(nv)
    model.lowerDryFrictionLimit = -model.upperDryFrictionLimit
    model.upperEffortLimit = 10.0 + np.arange(nv)
    model.lowerEffortLimit = -model.upperEffortLimit
    model.upperVelocityLimit = 20.0 + np.arange(nv)
    model.rotorInertia = 1e-4 * np.arange(nv)
    model.rotorGearRatio = 1.0 + np.arange(nv)
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    lower[:2], upper[:2] = (-2.0, -0.1), (2.0, 0.3)
    model.lowerPositionLimit, model.upperPositionLimit = lower, upper
    q0 = pin.integrate(model, pin.neutral(model), 0.1 * np.arange(1.0, nv + 1.0))
    return xs.Robot(model, [xs.ContactPoint("tool_3", name="tip")], q0=q0)


def crate(**more):
    return xs.rigid_body("crate", xs.Box(size=(0.4, 0.4, 0.4)), mass=5.0, **more)


def a_crowd():
    """Robots with free and fixed bases, one of them twice."""
    members = {"arm": arm(), "go2": xs.load_robot("go2"), "crate": crate(), "twin": xs.load_robot("go2")}
    poses = {"arm": ARM_POSE, "crate": (2.0, 0.0, 0.2, *UPRIGHT), "twin": (0.0, 3.0, 0.5, *TILT)}
    return xs.combine(**members, poses=poses)


def random_state(model, rng):
    v = rng.standard_normal((2, model.nv))
    return pin.integrate(model, pin.neutral(model), v[0]), v[1]


def full(M):
    return np.triu(M) + np.triu(M, 1).T


def test_dynamics_and_frames_are_those_of_the_members():
    both, rng = a_crowd(), np.random.default_rng(0)
    data = both.model.createData()
    for _ in range(5):
        q, v = random_state(both.model, rng)
        M, h = full(pin.crba(both.model, data, q)), pin.nonLinearEffects(both.model, data, q, v)
        pin.framesForwardKinematics(both.model, data, q)
        others = np.ones((both.nv, both.nv), dtype=bool)
        for name, member in both.members.items():
            part, model = both.part(name), member.model
            own, base = (
                model.createData(),
                pin.XYZQUATToSE3(np.array(ARM_POSE)) if name == "arm" else pin.SE3.Identity(),
            )
            others[part.v, part.v] = False
            assert_allclose(M[part.v, part.v], full(pin.crba(model, own, q[part.q])), atol=1e-12)
            turned = model.copy()
            turned.gravity = pin.Motion(base.rotation.T @ model.gravity.linear, np.zeros(3))
            expected = pin.nonLinearEffects(turned, own, q[part.q], v[part.v])
            assert_allclose(h[part.v], expected, atol=1e-12 * np.abs(expected).max())
            pin.framesForwardKinematics(model, own, q[part.q])
            for i, frame in enumerate(model.frames):
                at = both.model.getFrameId(f"{name}/{frame.name}", frame.type)
                assert_allclose(data.oMf[at].homogeneous, (base * own.oMf[i]).homogeneous, atol=1e-12)
        assert (M[others] == 0.0).all()


def test_names_are_those_of_the_members_behind_their_own():
    both = a_crowd()
    assert both.name == "arm+go2+crate+twin"
    names = [f"{name}/{joint}" for name, member in both.members.items() for joint in list(member.model.names)[1:]]
    assert list(both.model.names) == ["universe", *names]
    frames = [f"{name}/{frame.name}" for name, member in both.members.items() for frame in member.model.frames]
    assert [frame.name for frame in both.model.frames] == ["universe", *frames]
    assert both.feet[0] == "arm/tip"
    assert both.contact_points[0].frame == "arm/tool_3"
    assert both.feet[-4:] == ("twin/FL_foot", "twin/FR_foot", "twin/RL_foot", "twin/RR_foot")
    carried = [f"{name}/{shape.frame}" for name, member in both.members.items() for shape in member.shapes]
    assert [shape.frame for shape in both.shapes] == carried
    assert carried.count("crate/crate") == 1
    assert carried.count("go2/base") == carried.count("twin/base") == 1
    assert list(both.members) == ["arm", "go2", "crate", "twin"]
    assert [type(each) for each in both.members.values()] == [xs.Robot] * 4


def test_frames_keep_their_parents_and_kinds():
    both = a_crowd()
    frames = both.model.frames
    for name, member in both.members.items():
        for frame in list(member.model.frames)[1:]:
            moved = frames[both.model.getFrameId(f"{name}/{frame.name}", frame.type)]
            assert frames[moved.parentFrame].name == f"{name}/{member.model.frames[frame.parentFrame].name}"
            assert both.model.names[moved.parentJoint].removeprefix(f"{name}/") == member.model.names[frame.parentJoint]


def test_what_a_model_says_of_its_joints_is_kept():
    both = a_crowd()
    for name, member in both.members.items():
        part = both.part(name)
        for what in (
            "armature",
            "damping",
            "rotorInertia",
            "rotorGearRatio",
            "effortLimit",
            "velocityLimit",
            "friction",
        ):
            assert_array_equal(getattr(both.model, what)[part.v], getattr(member.model, what))
        for what in ("lowerEffortLimit", "lowerVelocityLimit", "lowerDryFrictionLimit", "upperDryFrictionLimit"):
            assert_array_equal(getattr(both.model, what)[part.v], getattr(member.model, what))
        for what in ("lowerPositionLimit", "upperPositionLimit", "positionLimitMargin"):
            assert_array_equal(getattr(both.model, what)[part.q], getattr(member.model, what))
    assert both.model.inertias[0].mass == 4.0
    place = pin.XYZQUATToSE3(np.array(ARM_POSE))
    assert_allclose(both.model.inertias[0].lever, place.translation)


def test_the_laws_of_the_joints_are_those_of_the_members():
    hips = {"*_hip_joint": xs.Drive(kp=80.0, kd=2.0, delay=0.01), "*_calf_joint": xs.Drive(kp=60.0, kd=1.0)}
    one = xs.load_robot("go2").replace(drives=hips, joint_limits=xs.JointLimits(500.0, 1.0), effort_limits=False)
    two = xs.load_robot("solo12").replace(joint_friction=0.02, joint_damping=0.01, armature=0.003, joint_limits=False)
    three = arm().replace(joint_friction=xs.DryFriction(0.1, 0.2, 300.0, 1.0), actuated_joints=["joint_1"])
    both = xs.combine(one=one, two=two, three=three, crate=crate())
    arrays = both._joint_arrays()
    for name, member in both.members.items():
        part, own = both.part(name), member._joint_arrays()
        for field in dataclasses.fields(own):
            value, expected = getattr(arrays, field.name), getattr(own, field.name)
            if field.name == "limits":
                mine = [row for row in value if part.v.start <= row[1] < part.v.stop]
                shifted = [(i - part.q.start, j - part.v.start, *rest) for i, j, *rest in mine]
                assert_allclose(shifted, expected, rtol=1e-12)
            else:
                entries = value[part.q if field.name == "rest" else part.v]
                assert_allclose(entries, expected, rtol=1e-12, err_msg=field.name)
    assert both.drives == {f"one/{joint}": drive for joint, drive in one.drives.items()}
    assert both.joint_limits["one/FL_hip_joint"] == xs.JointLimits(500.0, 1.0)
    assert both.joint_limits["two/FL_HAA"] is False
    assert both.joint_limits["three/joint_0"] == xs.JointLimits()
    assert both.effort_limits["one/FL_hip_joint"] is False
    assert both.effort_limits["two/FL_HAA"] is True
    assert both.actuated_joints[-1] == "three/joint_1"


def test_bodies_without_joints_leave_the_settings_of_joints_as_they_are():
    soft = xs.JointLimits(100.0)
    both = xs.combine(crate=crate(), arm=arm().replace(joint_limits=soft, effort_limits=False))
    assert both.joint_limits == soft
    assert both.effort_limits is False
    assert xs.combine(a=crate(), b=crate()).joint_limits == xs.JointLimits()


def test_free_bases_are_never_driven():
    both = a_crowd()
    assert both.free_bases == ("go2/root_joint", "crate/root_joint", "twin/root_joint")
    assert not {*both.free_bases} & {*both.actuated_joints}
    assert both.actuated_joints == tuple(f"{name}/{j}" for name, m in both.members.items() for j in m.actuated_joints)
    assert xs.Robot(both.model).actuated_joints == both.actuated_joints
    assert not {*both.free_bases} & both.joints.keys()
    act = lambda: both.replace(actuated_joints=["go2/root_joint"])  # noqa: E731
    refused(xs.InvalidArgument, act, "'go2/root_joint'", "free base", "leave it out")
    assert len(both.actuated_dofs) == 24 + arm().nv
    assert not both.has_floating_base
    assert xs.combine(go2=xs.load_robot("go2"), crate=crate()).has_floating_base


def test_a_robot_starts_where_its_pose_says():
    both = a_crowd()
    assert_array_equal(both.q0[both.part("go2").q], xs.load_robot("go2").q0)
    assert_array_equal(both.q0[both.part("arm").q], arm().q0)
    assert_allclose(both.q0[both.part("twin").q][:7], (0.0, 3.0, 0.5, *TILT), atol=1e-15)
    assert_array_equal(both.q0[both.part("twin").q][7:], xs.load_robot("go2").q0[7:])
    assert_array_equal(both.q0[both.part("crate").q], (2.0, 0.0, 0.2, *UPRIGHT))


def test_parts_say_where_members_are():
    both = a_crowd()
    part = both.part("crate")
    assert (part.q, part.v, len(part.tau)) == (slice(27, 34), slice(24, 30), 0)
    assert_array_equal(both.part("twin").tau, np.arange(18, 30))
    dofs = both.actuated_dofs[both.part("twin").tau]
    assert both.part("twin").v.start + 6 == dofs[0]
    some = both.replace(actuated_joints=["twin/FL_calf_joint", "go2/FL_calf_joint", "twin/FL_hip_joint"])
    assert_array_equal(some.part("twin").tau, [0, 2])
    refused(xs.InvalidArgument, lambda: both.part("crete"), "'crete'", "did you mean 'crate'")
    refused(xs.InvalidArgument, lambda: crate().part("crate"), "'crate'", "no members")


def standing(name):
    return xs.load_robot(name).replace(drives=xs.Drive(kp=40.0, kd=1.0))


def thrown_alone(member, pose, v, ground, integrator, dt):
    q = member.q0
    q[:7] = pose
    sim = xs.Simulator(member, ground, integrator, dt)
    sim.reset(q, v)
    sim.step(n=round(0.5 / dt), target=member.q0 if member.drives else None)
    return sim


def furthest_from_alone(members, heights, integrator, dt):
    """Of each robot, how far q is from where it gets alone in half a second: thrown from a height, on its drives."""
    poses = {name: (0.0, float(i), z, *UPRIGHT) for i, (name, z) in enumerate(heights.items())}
    both = xs.combine(**members, poses=poses)
    ground = xs.HalfSpace(material=xs.Material(friction=0.6))
    together = xs.Simulator(both, ground, integrator, dt)
    v, targets, apart = np.zeros(both.nv), both.q0, {}
    for name, member in members.items():
        v[both.part(name).v][:6] = (0.5, 0.0, 0.0, 0.0, 0.0, 1.0)
        targets[both.part(name).q] = member.q0
    together.reset(v=v)
    together.step(n=round(0.5 / dt), target=targets)
    for name, member in members.items():
        part = both.part(name)
        alone = thrown_alone(member, poses[name], v[part.v], ground, integrator, dt)
        apart[name] = np.abs(together.q[part.q] - alone.q).max()
        assert_allclose(together.torques[part.tau], alone.torques, atol=max(1e-7, 1e4 * apart[name]))
    return apart


def test_robots_that_do_not_touch_move_as_they_do_alone():
    """Landing, sliding, standing on drives with dry friction: contacts and laws of joints are everybody's own."""
    go2 = standing("go2").replace(joint_friction=0.1)
    members = {"left": go2, "right": standing("solo12"), "again": go2, "crate": crate()}
    heights = {"left": 0.35, "right": 0.3, "again": 0.45, "crate": 0.25}
    apart = furthest_from_alone(members, heights, xs.RungeKutta4(), 1e-4)
    assert max(apart.values()) < 1e-10


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_robots_that_land_together_move_as_they_do_alone(dt):
    go2 = standing("go2")
    apart = furthest_from_alone({"a": go2, "b": go2}, {"a": 0.35, "b": 0.35}, xs.Expo(), dt)
    assert max(apart.values()) < 1e-10


def test_a_landing_of_another_changes_a_motion_by_no_more_than_its_error():
    """Expo follows all contacts through a step in which some change, and those that do not are then followed too."""
    members, heights = {"a": standing("go2"), "b": standing("solo12")}, {"a": 0.35, "b": 0.3}
    apart = furthest_from_alone(members, heights, xs.Expo(), 1e-3)
    ground = xs.HalfSpace(material=xs.Material(friction=0.6))
    for name, member in members.items():
        v = np.zeros(member.nv)
        v[:6] = (0.5, 0.0, 0.0, 0.0, 0.0, 1.0)
        coarse, fine = (
            thrown_alone(member, (0.0, 0.0, heights[name], *UPRIGHT), v, ground, xs.Expo(), dt).q for dt in (1e-3, 1e-4)
        )
        assert apart[name] < np.abs(coarse - fine).max() < 1e-3


def test_free_bodies_keep_their_state():
    both = xs.combine(a=crate(), b=crate(), poses={"b": (1.0, 0.0, 0.3, *TILT)})
    sim = xs.Simulator(both, xs.HalfSpace(), dt=5e-3)
    sim.step(n=50)
    state = sim.state
    again = xs.State.from_array(state.to_array())
    sim.step(n=50)
    q = sim.q
    sim.state = again
    sim.step(n=50)
    assert_array_equal(sim.q, q)


def test_members_can_be_combined_themselves():
    pair = xs.combine(a=crate(), b=crate(), poses={"b": (1.0, 0.0, 0.2, *UPRIGHT)})
    all_of_them = xs.combine(pair=pair, go2=xs.load_robot("go2"))
    assert all_of_them.free_bases == ("pair/a/root_joint", "pair/b/root_joint", "go2/root_joint")
    assert all_of_them.members["pair"].members.keys() == {"a", "b"}
    frames = [shape.frame for shape in all_of_them.shapes]
    assert frames[:2] == ["pair/a/crate", "pair/b/crate"]
    assert frames[2:] == [f"go2/{shape.frame}" for shape in xs.load_robot("go2").shapes]
    act = lambda: xs.combine(pair=pair, poses={"pair": (0.0, 0.0, 1.0, *UPRIGHT)})  # noqa: E731
    refused(xs.InvalidArgument, act, "'pair'", "several bases")


def test_an_anchor_moves_with_a_fixed_base():
    held = arm().replace(contact_points=[xs.ContactPoint("tool_3", bilateral=True, anchor=(0.1, 0.2, 0.3))])
    both = xs.combine(arm=held, poses={"arm": ARM_POSE})
    expected = pin.XYZQUATToSE3(np.array(ARM_POSE)).act(np.array([0.1, 0.2, 0.3]))
    assert_allclose(both.contact_points[0].anchor, expected)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda robot: pickle.loads(pickle.dumps(robot))])
def test_copies_keep_members_shapes_and_loops(copied):
    both = a_crowd().replace(loops=[xs.Loop("crate/crate", "universe")])
    again = copied(both)
    assert again.shapes == both.shapes
    assert again.loops == both.loops
    assert list(again.members) == list(both.members)
    assert again.members["crate"].shapes == both.members["crate"].shapes
    assert again.part("twin").q == both.part("twin").q
    one, other = xs.Simulator(both), xs.Simulator(again)
    one.step(n=3)
    other.step(n=3)
    assert_array_equal(one.q, other.q)


# Settings.


def saved_and_loaded(robot):
    return RobotSettings.build(json.loads(json.dumps(RobotSettings.of(robot).describe()))).load()


@pytest.mark.parametrize(
    "robot",
    [
        crate(),
        crate(inertia=[0.2, 0.3, 0.25]).replace(name="box", gravity=(0, 0, -1.6)),
        xs.rigid_body("can", xs.Cylinder(0.1, 0.3, (0.1, 0, 0), TILT, material=xs.Material(friction=0.2)), 2.0),
        xs.combine(
            go2=xs.load_robot("go2").replace(joint_limits={"*_hip_joint": False}),
            crate=crate(),
            pair=xs.combine(a=crate(), b=crate(), poses={"b": (1, 1, 1, *TILT)}),
            poses={"crate": (2.0, 0.0, 0.2, *UPRIGHT)},
        ).replace(
            name="all",
            drives={"go2/*_calf_joint": xs.Drive(10.0, 1.0)},
            loops=[
                xs.Loop("go2/base", "crate/crate", 1e4, 10.0, "pose", 100.0, 1.0),
                xs.Loop("pair/a/crate", "universe"),
            ],
        ),
    ],
    ids=lambda robot: robot.name,
)
def test_what_was_saved_is_made_again(robot):
    again = saved_and_loaded(robot)
    assert RobotSettings.of(again) == RobotSettings.of(robot)
    assert again.shapes == robot.shapes
    assert again.loops == robot.loops
    assert list(again.members) == list(robot.members)
    assert again.contact_points == robot.contact_points
    one, other = (xs.Simulator(each, xs.HalfSpace(), dt=5e-3) for each in (robot, again))
    one.step(n=5)
    other.step(n=5)
    assert_array_equal(one.state.to_array(), other.state.to_array())


def test_a_fixed_base_that_was_moved_is_there_again(tmp_path):
    path = tmp_path / "arm.urdf"
    inertial = '<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>'
    path.write_text(
        f'<robot name="arm"><link name="world"/><link name="tip">{inertial}</link><joint name="hinge" type="revolute">'
        f'<parent link="world"/><child link="tip"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" '
        f'velocity="5"/></joint></robot>'
    )
    one = xs.load_robot(path, contact_points=[xs.ContactPoint("tip")], floating_base=False)
    both = xs.combine(one=one, two=one, poses={"two": ARM_POSE})
    again = saved_and_loaded(both)
    assert_array_equal(again.model.jointPlacements[2].homogeneous, both.model.jointPlacements[2].homogeneous)
    assert again.made_of.poses == both.made_of.poses


def test_files_from_before_there_were_members_are_read():
    robot = xs.load_robot("go2")
    described = RobotSettings.of(robot).describe()
    for new in ("shapes", "loops", "body", "member_names", "members", "posed_members", "poses"):
        del described[new]
    assert RobotSettings.build(described) == RobotSettings.of(robot)


def test_settings_with_other_members_than_names_are_refused():
    described = RobotSettings.of(xs.combine(a=crate(), b=crate())).describe()
    for names in (["a"], ["a", "a"], ["a", "b", "c"]):
        refused(
            xs.InvalidArgument,
            lambda names=names: RobotSettings.build(described | {"member_names": names}),
            "2 members",
        )
    refused(xs.InvalidArgument, lambda: RobotSettings.build(described | {"members": [5, 6]}), "RobotSettings")
    refused(xs.InvalidArgument, lambda: RobotSettings.build(described | {"members": 5}), "RobotSettings")
    refused(xs.InvalidArgument, lambda: RobotSettings.build(described | {"loops": ["a"]}), "loops")


def test_settings_within_themselves_for_ever_are_refused():
    plain = RobotSettings.of(crate()).describe()
    nested = plain
    for _ in range(1000):
        nested = plain | {"member_names": ["a"], "members": [nested]}
    refused(xs.InvalidArgument, lambda: RobotSettings.build(nested), "RobotSettings", "more often")


def test_a_run_of_several_robots_is_saved_and_found_again(tmp_path):
    both = xs.combine(go2=standing("go2"), crate=crate(), poses={"crate": (1.0, 0.0, 0.2, *UPRIGHT)})
    scenario = xs.scenarios.Scenario("both", both, None, control_period=5e-3, duration=0.05)
    trajectory = scenario.run()
    trajectory.save(tmp_path / "both.npz")
    loaded = xs.Trajectory.load(tmp_path / "both.npz")
    assert loaded.settings.robot == RobotSettings.of(both)
    again = loaded.settings.robot.load()
    assert RobotSettings.of(again) == RobotSettings.of(both)
    assert "q_crate/root_joint_x" in loaded.to_dataframe().columns
    assert_array_equal(loaded.q, trajectory.q)


# Controllers.


def test_controllers_work_together_as_each_does_alone():
    go2, solo = xs.load_robot("go2"), xs.load_robot("solo12")
    both = xs.combine(solo=solo, crate=crate(), go2=go2, poses={"crate": (5.0, 0.0, 0.2, *UPRIGHT)})
    controllers = {"go2": xs.controllers.PD(go2, 50.0, 1.0), "solo": xs.controllers.PD(solo, 8.0, 0.1)}
    together = xs.controllers.Together(both, **controllers)
    sim = xs.Simulator(both, xs.HalfSpace(), dt=2e-3)
    sim.reset(v=np.random.default_rng(1).standard_normal(both.nv))
    tau = together(0.0, sim.state)
    assert tau.shape == (24,)
    for name, controller in controllers.items():
        part = both.part(name)
        own = xs.State(0.0, sim.q[part.q], sim.v[part.v])
        assert_array_equal(tau[part.tau], controller(0.0, own))
    assert_array_equal(xs.controllers.Together(both)(0.0, sim.state), np.zeros(24))


def test_torques_of_all_degrees_of_freedom_are_taken_where_no_base_is_driven():
    both = xs.combine(arm=arm(), go2=xs.load_robot("go2"))
    state = xs.Simulator(both).state
    given = np.r_[np.zeros(6), np.arange(1.0, 13.0)]
    tau = xs.controllers.Together(both, go2=lambda t, state: given)(0.0, state)
    assert_array_equal(tau[both.part("go2").tau], given[6:])
    driven = xs.controllers.Together(both, go2=lambda t, state: np.ones(18))
    refused(xs.InvalidArgument, lambda: driven(0.0, state), "go2/root_joint", "no motor")
    wrong = xs.controllers.Together(both, go2=lambda t, state: np.ones(5))
    refused(xs.InvalidArgument, lambda: wrong(0.0, state), "'go2'", "5 torques", "12")


class Counter:
    """Remembers how often it was called."""

    def __init__(self):
        self.memory = {"calls": np.zeros(1)}

    def __call__(self, t, state):
        self.memory = {"calls": self.memory["calls"] + 1.0}
        return np.zeros(12)


def test_what_controllers_remember_is_kept_apart():
    go2 = xs.load_robot("go2")
    both = xs.combine(a=go2, b=go2)
    together = xs.controllers.Together(both, a=Counter(), b=lambda t, state: np.zeros(12))
    together(0.0, xs.Simulator(both).state)
    assert together.memory == {"a/calls": np.ones(1)}
    together.memory = {"a/calls": np.full(1, 7.0)}
    assert together.memory == {"a/calls": np.full(1, 7.0)}


@pytest.mark.parametrize(
    ("robot", "controllers", "words"),
    [
        (crate(), {}, ("exposim.combine",)),
        ("go2", {}, ("exposim.combine",)),
        (xs.combine(a=crate()), {"b": print}, ("'b' is no member", "members are a")),
        (xs.combine(a=crate()), {"a": 5}, ("a is 5", "callable")),
    ],
    ids=short,
)
def test_bad_controllers_are_refused(robot, controllers, words):
    refused(xs.InvalidArgument, lambda: xs.controllers.Together(robot, **controllers), *words)


# Limits by joint.


def test_limits_can_differ_by_joint():
    robot = xs.load_robot("go2").replace(joint_limits={"*_calf_joint": False, "FL_calf_joint": xs.JointLimits(5.0)})
    assert robot.joint_limits["FL_hip_joint"] == xs.JointLimits()
    assert robot.joint_limits["FR_calf_joint"] is False
    assert robot.joint_limits["FL_calf_joint"] == xs.JointLimits(5.0)
    assert len(robot._joint_arrays().limits) == 12 - 3
    more = robot.replace(joint_limits={"FR_calf_joint": True})
    assert more.joint_limits["RL_calf_joint"] is False
    assert more.joint_limits["FR_calf_joint"] == xs.JointLimits()
    assert robot.replace(joint_limits={"*": False}).joint_limits is False
    assert robot.replace(joint_limits=True).joint_limits == xs.JointLimits()
    refused(xs.InvalidArgument, lambda: robot.replace(joint_limits={"knee": True}), "joint_limits has 'knee'")
    weak = robot.replace(effort_limits={"*_calf_joint": False})
    assert np.isfinite(weak._joint_arrays().effort[6:]).sum() == 8
    refused(xs.InvalidArgument, lambda: robot.replace(effort_limits={"*": 5}), "effort_limits is 5")


# What is refused.

MOON = {"gravity": (0.0, 0.0, -1.62)}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ("no robots", "go2=robot")),
        ({"a": 5}, ("a is 5", "exposim.Robot")),
        ({"a/b": crate()}, ("'a/b'", "without '/'")),
        ({"": crate()}, ("''",)),
        ({"universe": crate()}, ("'universe'",)),
        ({"a": crate(), "b": crate().replace(**MOON)}, ("'a' has gravity [0.0, 0.0, -9.81]", "'b' [0.0, 0.0, -1.62]")),
        ({"a": crate(), "poses": {"b": (0.0, 0.0, 0.0, *UPRIGHT)}}, ("poses has 'b'", "there are a")),
        ({"crate": crate(), "poses": {"crete": ()}}, ("did you mean 'crate'",)),
        ({"a": crate(), "poses": {"a": (0.0, 0.0, 0.0)}}, ("poses['a'] has 3 entries", "7")),
        ({"a": crate(), "poses": {"a": (0.0, 0.0, np.nan, *UPRIGHT)}}, ("poses['a']", "finite")),
        ({"a": crate(), "poses": {"a": np.zeros(7)}}, ("poses['a']", "quaternion", "unit length")),
        ({"a": crate(), "poses": [1, 2]}, ("poses is [1, 2]", "mapping")),
    ],
    ids=short,
)
def test_what_cannot_be_combined_is_refused(arguments, words):
    refused(xs.InvalidArgument, lambda: xs.combine(**arguments), *words)


def test_quaternions_a_little_off_are_normalised():
    both = xs.combine(a=crate(), arm=arm(), poses={name: (0, 0, 1, 0, 0, 0, 1.0004) for name in ("a", "arm")})
    assert both.q0[6] == 1.0
    assert both.made_of.poses["arm"][6] == 1.0


def test_what_is_said_at_a_reset_names_the_member():
    both = xs.combine(arm=arm(), go2=xs.load_robot("go2"), crate=crate(), poses={"crate": (2.0, 0, 0.2, *UPRIGHT)})
    sim = xs.Simulator(both, xs.HalfSpace(), dt=1e-3)
    base, box = both.part("go2").q, both.part("crate").q
    q = both.q0
    q[base.start + 3 : base.start + 7] = (1.0, 0.0, 0.0, 0.0)
    q[base.start + 2] = 0.6
    with pytest.warns(xs.SetupWarning, match=rf"q\[{base.start + 3}:{base.start + 7}\] .* holds 'go2' upside down"):
        sim.reset(q)
    q = both.q0
    q[box.start + 2] -= 0.1
    with pytest.warns(
        xs.SetupWarning, match=rf"'crate/crate_corner_\d' 10 cm below .*raise the base, q\[{box.start + 2}\]"
    ):
        sim.reset(q)


def test_advice_is_about_joints_and_not_about_free_bases():
    light = xs.rigid_body("pebble", xs.Sphere(0.01), mass=1e-3)
    both = xs.combine(go2=xs.load_robot("go2"), pebble=light)
    assert xs.Simulator(both).advise().joints.lightest.startswith("go2/")
    assert xs.Simulator(xs.combine(a=light, b=light)).advise().joints is None


def test_a_cycle_moves_every_base_on():
    both = xs.combine(arm=arm(), a=crate(), b=crate(), poses={"b": (0.0, 1.0, 0.2, *UPRIGHT)})
    ahead, quarter = both.q0, np.sin(np.pi / 4)
    ahead[both.part("a").q] = (0.5, 0.0, 0.2, *UPRIGHT)
    ahead[both.part("b").q] = (0.0, 1.0, 0.2, 0.0, 0.0, quarter, quarter)  # a quarter turn
    nv, nu = both.nv, len(both.actuated_dofs)
    times = np.array([0.0, 1.0])
    reference = xs.controllers.Reference(
        times, np.array([both.q0, ahead]), np.zeros((2, nv)), np.zeros((1, nu)), np.zeros((1, nu, 2 * nv)), cycle=0
    )
    q = xs.controllers.LinearFeedback(both, reference).at(2.0)[0]
    assert_allclose(q[both.part("a").q][:3], (1.0, 0.0, 0.2), atol=1e-12)
    half_turn = pin.XYZQUATToSE3(q[both.part("b").q])
    assert_allclose(half_turn.rotation, pin.utils.rotate("z", np.pi), atol=1e-12)
    assert_array_equal(q[both.part("arm").q], both.q0[both.part("arm").q])


def test_all_robots_with_joints_are_judged_and_bodies_are_not():
    go2 = standing("go2")
    lying = (0.0, 2.0, 0.5, *pin.Quaternion(pin.utils.rotate("x", 0.9)).coeffs())
    tipping = (0.0, 4.0, 0.5, *pin.Quaternion(pin.utils.rotate("x", 0.7)).coeffs())
    both = xs.combine(crate=crate(), a=go2, b=go2, poses={"b": lying, "crate": tipping})
    scenario = xs.scenarios.Scenario("fall", both, None, control_period=5e-3, duration=0.5)
    judgement = scenario.judge(scenario.run())
    (complaint,) = judgement.complaints
    assert complaint.startswith("b fell over at ")
    assert judgement.measures["greatest lean [rad]"] > 0.6
    only_bodies = xs.scenarios.Scenario("bodies", xs.combine(a=crate()), None, control_period=5e-3, duration=0.05)
    assert only_bodies.judge(only_bodies.run()).measures == {}


# ----- what is said of it


def test_more_degrees_of_freedom_than_can_be_are_refused_with_both_numbers():
    ball = xs.rigid_body("ball", xs.Sphere(0.1), mass=1.0)
    with pytest.raises(xs.UnsupportedModel, match=r"51 robots with 306 .* at most 300, as 50 free bodies have"):
        xs.combine(**{f"ball{i}": ball for i in range(51)})


def test_a_combined_robot_says_how_many_bases_are_free_and_which_loops_it_has():
    ball = xs.rigid_body("ball", xs.Sphere(0.1), mass=1.0)
    pair = xs.combine(a=ball, b=ball).replace(loops=[xs.Loop("a/ball", "b/ball", 1e5)])
    text = str(pair).splitlines()
    assert text[0] == "robot 'a+b' of 2 robots with 2 free bases and 0 actuated joints"
    assert text[-2:] == ["loops", "  a/ball at b/ball: position, 100000 N/m"]
    assert str(ball).startswith("robot 'ball' with a floating base and 0 actuated joints")
