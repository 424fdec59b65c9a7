"""What URDF and SRDF files say of joints is what is simulated; what is not, is told of."""

from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from bad_input import refused, short
from exposim.robots.loading import robot_data_folder
from exposim.simulation.settings import RobotSettings
from robot_files import ARM_URDF, KNOWN, heights, known, note, write

INF = np.inf
WRIST = [xs.ContactPoint("wrist")]
LIMIT = '<limit lower="-9" upper="9" effort="10" velocity="10"/>'


def arm(folder, limit=LIMIT, extra="", **options):
    text = ARM_URDF.replace(LIMIT, limit).replace("</robot>", f"{extra}</robot>")
    return xs.load_robot(write(folder, text), **{"floating_base": False, "contact_points": WRIST} | options)


# URDF.


@pytest.mark.parametrize("name", KNOWN)
def test_joints_are_as_their_urdf_file_states_them(name):
    robot = known(name)
    stated = {joint.get("name"): joint for joint in ElementTree.parse(robot.source).getroot().iterfind("joint")}
    for joint in robot.joints.values():
        limit, dynamics = stated[joint.name].find("limit"), stated[joint.name].find("dynamics")
        for what, where in (
            *((what, limit) for what in ("lower", "upper", "effort", "velocity")),
            *((what, dynamics) for what in ("damping", "friction")),
        ):
            value = float(where.get(what, 0.0)) if where is not None else 0.0
            assert getattr(joint, what) == value, f"{what} of {joint.name}"


@pytest.mark.parametrize(
    "limit",
    [
        '<limit lower="-9" upper="9" effort="0" velocity="0"/>',
        '<limit lower="-9" upper="9" effort="0" velocity="0.0"/>',
    ],
)
def test_an_effort_or_velocity_of_zero_is_no_limit(limit, tmp_path):
    joint = arm(tmp_path, limit).joints["shoulder"]
    assert (joint.effort, joint.velocity) == (INF, INF)


def test_a_joint_without_limits_in_its_file_has_none(tmp_path):
    joint = arm(tmp_path).joints["elbow"]
    assert (joint.lower, joint.upper, joint.effort, joint.velocity) == (-INF, INF, INF, INF)


def test_a_joint_that_is_limited_to_one_place_is_told_of(tmp_path):
    load = lambda: arm(tmp_path, '<limit effort="1" velocity="1"/>', floating_base="auto")  # noqa: E731
    assert "position limits (shoulder); no way to move between them (shoulder)" in note(load)
    assert load()._joint_arrays().limits[0][2:4] == (0.0, 0.0)


def test_dynamics_of_a_urdf_file_are_simulated(tmp_path):
    robot = arm(tmp_path, LIMIT + '<dynamics damping="0.25" friction="0.4"/>')
    assert_array_equal(robot.joint_damping, [0.25, 0.0])
    assert_array_equal(robot.joint_friction, [0.4, 0.0])
    assert_array_equal(robot._joint_arrays().dynamic_friction, [0.4, 0.0])


def test_the_note_says_what_was_read(tmp_path):
    text = note(lambda: arm(tmp_path, LIMIT + '<dynamics damping="0.2" friction="0.4"/>', floating_base="auto"))
    for what in ("position limits (shoulder)", "effort limits (shoulder)", "velocity limits, as torque-speed lines"):
        assert what in text
    assert "damping (shoulder)" in text
    assert "dry friction (shoulder)" in text
    assert "not simulated" not in text


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ('<transmission name="t1"><type>x</type></transmission>', "<transmission> (t1)"),
        ('<gazebo reference="upper"/>', "<gazebo> (upper)"),
        ("<gazebo><plugin name='p1'/></gazebo>", "<gazebo> (p1)"),
        ('<ros2_control name="c"/>', "<ros2_control> (c)"),
        ('<sensor name="s1"/>', "<sensor> (s1)"),
    ],
)
def test_what_stands_in_a_urdf_file_and_is_not_read_is_told_of(extra, told, tmp_path):
    assert told in note(lambda: arm(tmp_path, extra=extra))


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        (LIMIT + '<safety_controller k_velocity="1"/>', "<safety_controller> (shoulder)"),
        (LIMIT + '<calibration rising="0"/>', "<calibration> (shoulder)"),
        (LIMIT + '<mimic joint="elbow"/>', "mimic joints, which move freely (shoulder)"),
        (LIMIT.replace("/>", ' acceleration="3"/>'), "acceleration of <limit> (shoulder)"),
        (LIMIT.replace('upper="9"', 'upper="-10"'), "the lower is above the upper (shoulder)"),
    ],
)
def test_what_a_joint_says_and_is_not_read_is_told_of(limit, told, tmp_path):
    assert told in note(lambda: arm(tmp_path, limit))


# The base.

WORLD_URDF = ARM_URDF.replace("</robot>", "").replace(
    '<link name="base">', '<link name="world"/><link name="base">'
) + ('<joint name="foot" type="fixed"><parent link="world"/><child link="base"/></joint></robot>')


def test_a_base_on_a_link_named_world_is_fixed(tmp_path):
    path = write(tmp_path, WORLD_URDF)
    text = note(lambda: xs.load_robot(path))
    assert "a fixed base (its root link is 'world'; floating_base=True frees it)" in text
    assert not xs.load_robot(path).has_floating_base
    assert xs.load_robot(path, floating_base=True).has_floating_base


def test_any_other_base_floats(tmp_path):
    path = write(tmp_path, ARM_URDF)
    text = note(lambda: xs.load_robot(path))
    assert "a floating base (its root link is 'base', not 'world'; floating_base=False fixes it)" in text
    assert xs.load_robot(path).has_floating_base
    assert xs.load_robot(path, floating_base="auto").has_floating_base
    assert not xs.load_robot(path, floating_base=False).has_floating_base


@pytest.mark.parametrize("value", [None, "free", 1, "AUTO"], ids=short)
def test_a_base_that_is_neither_free_nor_fixed_is_refused(value, tmp_path):
    path = write(tmp_path, ARM_URDF)
    refused(xs.InvalidArgument, lambda: xs.load_robot(path, floating_base=value), "floating_base", "True or False")


@pytest.mark.parametrize("base", ["auto", True, False])
@pytest.mark.parametrize("text", [ARM_URDF, WORLD_URDF], ids=["base", "world"])
def test_a_saved_robot_has_the_base_it_had(text, base, tmp_path):
    robot = xs.load_robot(write(tmp_path, text), floating_base=base, contact_points=WRIST)
    again = RobotSettings.build(RobotSettings.of(robot).describe()).load()
    assert again.has_floating_base == robot.has_floating_base
    assert_array_equal(again.q0, robot.q0)


# Poses of SRDF.

POSE = '<group_state name="{name}" group="all"><joint name="shoulder" value="{angle}"/></group_state>'


def srdf(*poses, extra=""):
    return f'<robot name="arm">{"".join(POSE.format(name=name, angle=angle) for name, angle in poses)}{extra}</robot>'


@pytest.mark.parametrize("place", ["beside", "in a folder", "given"])
def test_a_pose_of_an_srdf_file_is_where_a_robot_starts(place, tmp_path):
    (tmp_path / "urdf").mkdir()
    (tmp_path / "srdf").mkdir()
    path = write(tmp_path / "urdf", ARM_URDF)
    where = {"beside": "urdf/robot.srdf", "in a folder": "srdf/robot.srdf", "given": "other.srdf"}[place]
    poses = write(tmp_path, srdf(("half_sitting", 0.1), ("standing", 0.7), ("reference", 0.2)), where)
    options = {"srdf": poses} if place == "given" else {}
    load = lambda **more: xs.load_robot(path, floating_base=False, **options, **more)  # noqa: E731
    assert_allclose(load().q0, [0.7, 1.0, 0.0])
    text = note(load)
    assert f"poses of {poses.name} (half_sitting, standing, reference)" in text
    assert "q0 from its pose 'standing'" in text
    assert_allclose(load(q0=[0.3, 1.0, 0.0]).q0, [0.3, 1.0, 0.0])


@pytest.mark.parametrize(
    ("poses", "angle"),
    [
        ([("reference", 0.2), ("half_sitting", 0.1)], 0.1),
        ([("reference", 0.2), ("apex", 0.3)], 0.2),
        ([("apex", 0.3), ("tuck", 0.4)], 0.0),
    ],
    ids=short,
)
def test_only_poses_for_standing_are_taken_the_best_first(poses, angle, tmp_path):
    write(tmp_path, srdf(*poses), "robot.srdf")
    assert_allclose(arm(tmp_path).q0, [angle, 1.0, 0.0])


def test_a_pose_of_an_srdf_file_stands_on_the_ground(tmp_path):
    write(tmp_path, srdf(("standing", 0.7)), "robot.srdf")
    robot = arm(tmp_path, floating_base=True)
    assert_allclose(heights(robot, robot.q0), 0.0, atol=1e-9)
    assert_allclose(robot.q0[7], 0.7)


def test_rotor_inertias_of_an_srdf_file_are_armature(tmp_path):
    rotors = '<rotor_params><joint name="shoulder" mass="1e-3" gear_ratio="10"/></rotor_params>'
    write(tmp_path, srdf(("standing", 0.7), extra=rotors), "robot.srdf")
    assert_allclose(arm(tmp_path).armature, [0.1, 0.0])


def test_what_an_srdf_file_says_of_passive_joints_is_told_of(tmp_path):
    write(tmp_path, srdf(extra='<passive_joint name="elbow"/>'), "robot.srdf")
    assert "<passive_joint> of robot.srdf (elbow)" in note(lambda: arm(tmp_path))


def test_a_file_without_poses_starts_within_its_limits(tmp_path):
    robot = arm(tmp_path, LIMIT.replace('lower="-9"', 'lower="0.5"'))
    assert_array_equal(robot.q0, [0.5, 1.0, 0.0])
    model = robot.model
    model.lowerPositionLimit[0], model.upperPositionLimit[0] = -3.0, -2.0
    assert_array_equal(xs.load_robot(model).q0, [-2.0, 1.0, 0.0])


@pytest.mark.parametrize(
    "text", ["<robot", "<mujoco/>", "<robot>" + "<a>" * 5000 + "</a>" * 5000 + "</robot>"], ids=short
)
def test_a_bad_srdf_file_is_refused(text, tmp_path):
    write(tmp_path, text, "robot.srdf")
    refused(xs.ExposimError, lambda: arm(tmp_path), "robot.srdf")


@pytest.mark.parametrize("value", ["nowhere.srdf", "robot.urdf", 5, "a\0.srdf"], ids=short)
def test_an_srdf_file_that_is_none_is_refused(value, tmp_path):
    refused(xs.ExposimError, lambda: arm(tmp_path, srdf=value), "srdf")


@pytest.mark.parametrize("source", ["solo12", "model", "mjcf"])
def test_an_srdf_file_is_for_urdf_files_only(source, tmp_path):
    source = {"model": pin.buildSampleModelManipulator(), "mjcf": write(tmp_path, "<mujoco/>", "robot.xml")}.get(
        source, source
    )
    refused(xs.InvalidArgument, lambda: xs.load_robot(source, srdf="a.srdf"), "srdf is for model files", "leave it out")


def test_the_files_of_known_robots_start_where_these_stand():
    path = robot_data_folder() / "go2_description/urdf/go2.urdf"
    robot = xs.load_robot(path, contact_points=known("go2").contact_points)
    assert_allclose(robot.q0[7:], known("go2").q0[7:], atol=1e-6)
    assert_allclose(heights(robot, robot.q0).min(), 0.0, atol=1e-9)
