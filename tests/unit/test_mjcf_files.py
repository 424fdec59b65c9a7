"""What MJCF files say of joints and actuators is what is simulated; what is not, is told of.

All numbers here were compared with what MuJoCo makes of the same text.
"""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from bad_input import refused
from exposim.contact.shapes import Box, Capsule, Cylinder, Sphere
from exposim.simulation.settings import RobotSettings
from mesh_files import cube, write_stl
from robot_files import note, warnings_of, write

INF = np.inf
BODY = '<body name="b{i}" pos="0 0 0.2"{more}><inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.1"/>{joint}'


def mjcf(*joints, actuators="", default="", compiler='angle="radian"', extra="", body=""):
    """A chain of bodies, each with the joints given for it."""
    joints = joints or ('<joint name="j" axis="0 1 0"/>',)
    bodies = "".join(BODY.format(i=i, joint=joint, more=body if i == 0 else "") for i, joint in enumerate(joints))
    return (
        f"<mujoco><compiler {compiler}/>{default}<worldbody>{bodies}{'</body>' * len(joints)}</worldbody>"
        f"<actuator>{actuators}</actuator>{extra}</mujoco>"
    )


def load_mjcf(folder, *joints, **parts):
    return xs.load_robot(write(folder, mjcf(*joints, **parts), "robot.xml"), contact_points=[xs.ContactPoint("b0")])


def joint_of(folder, attributes, **parts):
    return load_mjcf(folder, f'<joint name="j" axis="0 1 0" {attributes}/>', **parts).joints["j"]


@pytest.mark.parametrize(
    ("attributes", "compiler", "ends"),
    [
        ('range="-1 2"', 'angle="radian"', (-1.0, 2.0)),
        ('range="-90 45"', "", (-np.pi / 2, np.pi / 4)),
        ('range="-90 45"', 'angle="degree"', (-np.pi / 2, np.pi / 4)),
        ('type="slide" range="-0.1 0.2"', 'angle="degree"', (-0.1, 0.2)),
        ('range="-1 2" limited="false"', 'angle="radian"', (-INF, INF)),
        ('range="-1 2" limited="auto"', 'angle="radian"', (-1.0, 2.0)),
        ('range="-1 2"', 'angle="radian" autolimits="false"', (-INF, INF)),
        ('range="-1 2" limited="true"', 'angle="radian" autolimits="false"', (-1.0, 2.0)),
        ('range="0 0"', 'angle="radian"', (-INF, INF)),
        ("", 'angle="radian"', (-INF, INF)),
        ('range="-1 2" ref="0.5"', 'angle="radian"', (-1.0, 2.0)),
        ('range="-90 45" ref="30"', 'angle="degree"', (-np.pi / 2, np.pi / 4)),
    ],
)
def test_the_range_of_a_joint_is_as_mujoco_has_it(attributes, compiler, ends, tmp_path):
    joint = joint_of(tmp_path, attributes, compiler=compiler)
    assert_allclose((joint.lower, joint.upper), ends)


@pytest.mark.parametrize(("ref", "kind", "start"), [("30", "hinge", np.pi / 6), ("0.3", "slide", 0.3)])
def test_a_joint_with_a_reference_starts_there_as_the_file_draws_it(ref, kind, start, tmp_path):
    robot = load_mjcf(tmp_path, f'<joint name="j" type="{kind}" axis="0 1 0" ref="{ref}"/>', compiler="")
    assert_allclose(robot.q0, [start])
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q0)
    assert_allclose(
        data.oMf[robot.model.getFrameId("b0")].homogeneous, pin.SE3(np.eye(3), np.array([0, 0, 0.2])).homogeneous
    )


def test_damping_friction_and_armature_of_a_joint(tmp_path):
    joint = joint_of(tmp_path, 'damping="0.2" frictionloss="0.3" armature="0.4"')
    assert (joint.damping, joint.friction, joint.armature) == (0.2, 0.3, 0.4)


def test_a_ball_joint_has_them_in_all_directions(tmp_path):
    joint = joint_of(tmp_path, 'type="ball" damping="0.2" frictionloss="0.3" armature="0.4" range="0 1"')
    assert_array_equal([joint.damping, joint.friction, joint.armature], np.outer([0.2, 0.3, 0.4], np.ones(3)))
    assert_array_equal(joint.lower, [-INF] * 3)


CLASSES = """<default><joint damping="0.1" armature="0.01"/><default class="leg"><joint range="-1 2" damping="0.2"/>
  <default class="knee"><joint range="0 1" frictionloss="0.3"/></default></default></default>"""


@pytest.mark.parametrize(
    ("attributes", "body", "expected"),
    [
        ("", "", (-INF, 0.1, 0.0, 0.01)),
        ('class="leg"', "", (-1.0, 0.2, 0.0, 0.01)),
        ('class="knee"', "", (0.0, 0.2, 0.3, 0.01)),
        ("", ' childclass="knee"', (0.0, 0.2, 0.3, 0.01)),
        ('class="leg"', ' childclass="knee"', (-1.0, 0.2, 0.0, 0.01)),
        ('class="knee" damping="0.7" range="-3 3"', "", (-3.0, 0.7, 0.3, 0.01)),
    ],
)
def test_joints_have_the_defaults_of_their_class(attributes, body, expected, tmp_path):
    joint = joint_of(tmp_path, attributes, default=CLASSES, body=body)
    assert (joint.lower, joint.damping, joint.friction, joint.armature) == expected


def test_bodies_inherit_the_class_of_their_parents(tmp_path):
    joints = ['<joint name="a" axis="0 1 0"/>', '<joint name="b" axis="1 0 0"/>']
    robot = load_mjcf(tmp_path, *joints, default=CLASSES, body=' childclass="leg"')
    assert [joint.lower for joint in robot.joints.values()] == [-1.0, -1.0]


def test_joints_of_one_body_have_each_their_own(tmp_path):
    joints = '<joint name="x" type="slide" range="-1 2" damping="3"/><joint name="y" axis="0 1 0" range="-4 5"/>'
    robot = load_mjcf(tmp_path, joints, actuators='<motor joint="y" ctrlrange="-7 7"/>')
    (joint,) = robot.joints.values()
    assert_array_equal([joint.lower, joint.upper], [[-1.0, -4.0], [2.0, 5.0]])
    assert_array_equal(joint.damping, [3.0, 0.0])
    assert_array_equal(joint.effort, [INF, 7.0])
    assert [limit[:4] for limit in robot._joint_arrays().limits] == [(0, 0, -1.0, 2.0), (1, 1, -4.0, 5.0)]


def test_joints_and_bodies_need_no_names(tmp_path):
    text = """<mujoco><worldbody><body name="trunk"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <body pos="0 0 1"><joint axis="0 1 0" range="-90 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <body pos="0 0 1"><joint axis="0 1 0" range="-45 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      </body></body></body></worldbody></mujoco>"""
    robot = xs.load_robot(write(tmp_path, text, "robot.xml"))
    assert_allclose([joint.lower for joint in robot.joints.values()], [-np.pi / 2, -np.pi / 4])


def test_joints_are_found_behind_a_base_that_was_asked_for(tmp_path):
    path = write(tmp_path, mjcf("", '<joint name="j" type="slide" range="-1 1"/>', compiler=""), "robot.xml")
    assert xs.load_robot(path, floating_base=True).joints["j"].lower == -1.0


@pytest.mark.parametrize("names", ["", 'name="trunk"'])
def test_bodies_that_pinocchio_would_lose_or_mix_up_are_refused(names, tmp_path):
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    legs = "".join(f'<body pos="{i} 0 1"><joint name="j{i}"/>{inertial}</body>' for i in range(2 if names else 1))
    text = f"<mujoco><worldbody><body {names}><freejoint/>{inertial}{legs}</body></worldbody></mujoco>"
    path = write(tmp_path, text, "robot.xml")
    refused(xs.ModelParseError, lambda: xs.load_robot(path), "robot.xml", "without a name", "give them names")


def test_gravity_of_an_mjcf_file_is_taken(tmp_path):
    robot = load_mjcf(tmp_path, extra='<option gravity="0 1 -2"/>')
    assert_array_equal(robot.model.gravity.linear, [0.0, 1.0, -2.0])


INERTIA = 0.1 + 1.0 * 0.1**2  # of the one body about its hinge


@pytest.mark.parametrize(
    ("actuator", "effort", "gains"),
    [
        ('<motor joint="j"/>', INF, None),
        ('<motor joint="j" ctrlrange="-5 5"/>', 5.0, None),
        ('<motor joint="j" ctrlrange="-5 5" ctrllimited="false"/>', INF, None),
        ('<motor joint="j" ctrlrange="-5 5" gear="3"/>', 15.0, None),
        ('<motor joint="j" ctrlrange="-5 5" gear="-3 0 0 0 0 0"/>', 15.0, None),
        ('<motor joint="j" ctrlrange="-5 5" forcerange="-2 2" gear="3"/>', 6.0, None),
        ('<motor joint="j" ctrlrange="-1 1" forcerange="-2 2" gear="3"/>', 3.0, None),
        ('<general joint="j" gainprm="4" ctrlrange="-1 1" gear="3"/>', 12.0, None),
        ('<motor joint="j" ctrlrange="-5 5"/><motor joint="j" ctrlrange="-2 2"/>', 7.0, None),
        ('<position joint="j"/>', INF, (1.0, 0.0)),
        ('<position joint="j" kp="50" kv="2" forcerange="-20 20"/>', 20.0, (50.0, 2.0)),
        ('<position joint="j" kp="50" kv="2" ctrlrange="-1 1"/>', INF, (50.0, 2.0)),
        ('<position joint="j" kp="50" kv="2" gear="3" forcerange="-20 20"/>', 60.0, (450.0, 18.0)),
        ('<position joint="j" kp="50" dampratio="0.5"/>', INF, (50.0, np.sqrt(50.0 * INERTIA))),
        ('<position joint="j" kp="50" dampratio="0.5" gear="2"/>', INF, (200.0, np.sqrt(200.0 * INERTIA))),
        ('<velocity joint="j" kv="3" gear="2"/>', INF, (0.0, 12.0)),
        ('<position joint="j" kp="50"/><velocity joint="j" kv="3"/>', INF, (50.0, 3.0)),
        ('<general joint="j" gainprm="50" biastype="affine" biasprm="0 -50 -2" forcerange="-9 9"/>', 9.0, (50.0, 2.0)),
        ('<general joint="j" gainprm="2" biastype="affine" biasprm="0 0 -2"/>', INF, (0.0, 2.0)),
    ],
)
def test_actuators_become_efforts_and_drives(actuator, effort, gains, tmp_path):
    robot = load_mjcf(tmp_path, actuators=actuator)
    assert robot.joints["j"].effort == effort
    drive = robot.joints["j"].drive
    assert drive is None if gains is None else (drive.effort, drive.velocity, drive.delay) == (None, None, 0.0)
    assert drive is None or np.allclose((drive.kp, drive.kd), gains, rtol=1e-12)


def test_a_delay_of_an_actuator_is_the_delay_of_its_drive(tmp_path):
    robot = load_mjcf(tmp_path, actuators='<position joint="j" kp="5" delay="0.01" nsample="9"/>')
    assert robot.drives["j"].delay == 0.01


@pytest.mark.parametrize(
    ("defaults", "actuator", "expected"),
    [
        ('<position kp="7" kv="0.3"/>', '<position joint="j"/>', (7.0, 0.3)),
        ('<position kp="7" kv="0.3"/>', '<position joint="j" kp="9"/>', (9.0, 0.3)),
        ('<position kp="7" kv="0.3"/>', '<general joint="j"/>', (7.0, 0.3)),
        ('<position kp="7" kv="0.3"/>', '<motor joint="j"/>', None),
        ('<position kp="7" kv="0.3"/>', '<velocity joint="j" kv="2"/>', (0.0, 2.0)),
        ('<velocity kv="3"/>', '<position joint="j" kp="9"/>', (9.0, 0.0)),
        ('<default class="a"><position kp="8"/></default>', '<position class="a" joint="j"/>', (8.0, 0.0)),
        (
            '<position kv="2"/><default class="a"><position kp="8"/></default>',
            '<position class="a" joint="j"/>',
            (8.0, 2.0),
        ),
    ],
)
def test_actuators_have_the_defaults_of_their_class(defaults, actuator, expected, tmp_path):
    drive = load_mjcf(tmp_path, actuators=actuator, default=f"<default>{defaults}</default>").joints["j"].drive
    assert drive == (None if expected is None else xs.Drive(*expected))


def test_kinds_of_actuators_share_their_other_defaults(tmp_path):
    default = '<default><motor ctrlrange="-5 5"/><general forcerange="-4 4"/></default>'
    robot = load_mjcf(tmp_path, actuators='<position joint="j"/>', default=default)
    assert robot.joints["j"].effort == 4.0


def test_the_force_range_of_a_joint_holds_too(tmp_path):
    assert joint_of(tmp_path, 'actuatorfrcrange="-3 3"', actuators='<motor joint="j" ctrlrange="-5 5"/>').effort == 3.0
    assert joint_of(tmp_path, 'actuatorfrcrange="-3 3"').effort == 3.0
    assert joint_of(tmp_path, 'actuatorfrcrange="-3 3" actuatorfrclimited="false"').effort == INF


TWO = ('<joint name="a" axis="0 1 0"/>', '<joint name="b" axis="1 0 0"/>')


def test_joints_without_an_actuator_are_not_actuated_if_any_has_one(tmp_path):
    assert load_mjcf(tmp_path, *TWO, actuators='<motor joint="b"/>').actuated_joints == ("b",)
    assert load_mjcf(tmp_path, *TWO).actuated_joints == ("a", "b")
    assert load_mjcf(tmp_path, *TWO, actuators='<motor joint="b"/><motor joint="a"/>').actuated_joints == ("a", "b")


def test_a_drive_of_a_file_is_simulated_in_numbers(tmp_path):
    arrays = load_mjcf(
        tmp_path, *TWO, actuators='<position joint="b" kp="50" kv="2" forcerange="-9 9"/>'
    )._joint_arrays()
    assert_array_equal([arrays.kp, arrays.kd, arrays.effort], [[0, 50], [0, 2], [INF, 9]])


def test_a_saved_robot_of_an_mjcf_file_has_the_joints_it_had(tmp_path):
    servos = '<position joint="b" kp="50" kv="2" forcerange="-9 9"/><velocity joint="a" kv="3"/>'
    robot = load_mjcf(tmp_path, *TWO, actuators=servos)
    for changed in (
        robot,
        robot.replace(drives=False),
        robot.replace(drives={"b": None}),
        robot.replace(actuated_joints=["a"], drives={"b": None}),
    ):
        again = RobotSettings.build(RobotSettings.of(changed).describe()).load()
        assert (again.drives, again.actuated_joints) == (changed.drives, changed.actuated_joints)
        for name, value in vars(changed._joint_arrays()).items():
            assert_array_equal(getattr(again._joint_arrays(), name), value)


@pytest.mark.parametrize(
    "actuator",
    [
        '<muscle name="m" joint="j"/>',
        '<general name="m" joint="j" dyntype="integrator"/>',
        '<general name="m" joint="j" gaintype="affine" gainprm="1 1 1"/>',
        '<general name="m" joint="j" biastype="affine" biasprm="3 0 0"/>',
        '<general name="m" joint="j" gainprm="5" biastype="affine" biasprm="0 -4 0"/>',
        '<position name="m" tendon="t"/>',
        '<motor name="m" site="s"/>',
        '<motor name="m" joint="j" gear="0"/>',
        '<damper name="m" joint="j" ctrlrange="0 1"/>',
        '<intvelocity name="m" joint="j" kp="3" actrange="-1 1"/>',
        '<adhesion name="m" body="b0"/>',
    ],
)
def test_other_actuators_are_told_of_and_not_taken_for_drives(actuator, tmp_path):
    path = write(tmp_path, mjcf(actuators=actuator), "robot.xml")
    assert "actuators of other kinds than motors and servos of single joints (m)" in note(lambda: xs.load_robot(path))
    assert xs.load_robot(path).drives == {}


@pytest.mark.parametrize(
    ("actuator", "told"),
    [
        ('<position name="m" joint="j" timeconst="0.1"/>', "filters of actuators (m)"),
        ('<motor name="m" joint="j" ctrlrange="-1 2"/>', "differ by direction, of which the greater holds (m)"),
        ('<position name="m" joint="j" ctrlrange="-1 1"/>', "bounds of the targets of servos (m)"),
    ],
)
def test_what_is_not_taken_of_an_actuator_is_told_of(actuator, told, tmp_path):
    assert told in note(lambda: load_mjcf(tmp_path, actuators=actuator))


def test_different_servos_of_one_body_are_told_of(tmp_path):
    joints = '<joint name="x" type="slide" axis="1 0 0"/><joint name="y" axis="0 1 0"/>'
    load = lambda kp: load_mjcf(  # noqa: E731
        tmp_path, joints, actuators=f'<position joint="x" kp="5"/><position joint="y" kp="{kp}"/>'
    )
    assert list(load(5).drives.values()) == [xs.Drive(5.0, 0.0)]
    assert load(6).drives == {}
    assert "actuators of other kinds than motors and servos of single joints (x, y)" in note(lambda: load(6))


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        ('<sensor><gyro name="g" site="s"/></sensor>', "<sensor> (g)"),
        ('<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>', "<tendon> (t)"),
        ('<equality><weld name="w" body1="b0"/></equality>', "<equality> (w)"),
        ('<contact><exclude body1="b0" body2="b0"/></contact>', "<contact> (exclude)"),
        ('<deformable><skin name="k"/></deformable>', "<deformable> (k)"),
        ('<option density="1.2"/>', "options (density)"),
        ('<option><flag contact="disable"/></option>', "options (contact of <flag>)"),
        ('<compiler settotalmass="3"/>', "settings of the compiler (settotalmass)"),
    ],
)
def test_what_stands_in_an_mjcf_file_and_is_not_read_is_told_of(extra, told, tmp_path):
    assert told in note(lambda: load_mjcf(tmp_path, extra=extra))


@pytest.mark.parametrize(
    ("joint", "body", "told"),
    [
        ('<joint name="j" stiffness="3"/>', "", "stiffness of joints (j)"),
        ('<joint name="j" type="ball" range="0 1"/>', "", "limits of ball joints (j)"),
        ('<joint name="j" actuatorfrcrange="-1 2"/>', "", "differ by direction, of which the greater holds (j)"),
        ('<joint name="j"/>', ' gravcomp="1"', "gravcomp of bodies (b0)"),
        ('<joint name="j"/><frame><geom size="1"/></frame>', "", "<frame> (b0)"),
        ('<joint name="j"/><geom size="0.1" friction="0.5"/>', "", "what geoms say of contact"),
    ],
)
def test_what_a_body_says_and_is_not_read_is_told_of(joint, body, told, tmp_path):
    assert told in note(lambda: load_mjcf(tmp_path, joint, body=body))


def test_an_mjcf_file_of_which_all_is_simulated_is_not_warned_of(tmp_path):
    load = lambda: load_mjcf(  # noqa: E731
        tmp_path,
        '<joint name="j" range="-1 1" damping="1" frictionloss="0.1" armature="0.1"/>',
        actuators='<position joint="j" kp="50" kv="2" forcerange="-9 9"/>',
    )
    assert warnings_of(load) == []


def test_the_note_of_an_mjcf_file_says_what_was_read(tmp_path):
    text = note(lambda: load_mjcf(tmp_path, *TWO, actuators='<position joint="b"/>', extra="<sensor/>"))
    assert "read: actuators (b), while other joints have none; drives (b). not simulated: <sensor> (unnamed)" in text


@pytest.mark.parametrize(
    ("joint", "actuator"),
    [
        ('<joint name="j" damping="much"/>', ""),
        ('<joint name="j" range="1"/>', ""),
        ('<joint name="j" armature="nan"/>', ""),
        ('<joint name="j"/>', '<position joint="j" kp="stiff"/>'),
        ('<joint name="j"/>', '<motor joint="j" ctrlrange="5"/>'),
        ('<joint name="j"/>', '<motor joint="j" gear=""/>'),
    ],
)
def test_numbers_of_an_mjcf_file_that_are_none_are_refused(joint, actuator, tmp_path):
    refused(xs.ExposimError, lambda: load_mjcf(tmp_path, joint, actuators=actuator), "robot.xml")


# Geoms and sites. All placements are those that MuJoCo computes.

GEOMS = """<mujoco><compiler {compiler}/><default><geom friction="0.7 0.1 0.1"/><default class="a">
    <geom type="capsule" size="0.05 0.2"/><site pos="0.1 0.2 0.3"/>
    <default class="b"><geom friction="0.3" quat="0.5 0.5 0.5 0.5"/></default></default></default>
  <worldbody>{world}
  <body name="trunk" pos="0 0 1"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{geoms}
    <body name="leg" childclass="b" pos="0 0 -0.3"><joint name="k" axis="0 1 0" pos="0 0 0.1"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{leg}
      <body name="foot" pos="0 0 -0.2"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{foot}</body></body>
  </body>{others}</worldbody>{extra}</mujoco>"""


def geoms(folder, *, points="auto", **parts):
    names = ("compiler", "world", "geoms", "leg", "foot", "others", "extra")
    text = GEOMS.format(**{name: parts.get(name, "") for name in names})
    return xs.load_robot(write(folder, text, "robot.xml"), contact_points=points)


@pytest.mark.parametrize(
    ("geom", "compiler", "z_axis"),
    [
        ('axisangle="1 2 3 40"', "", [0.39371776, -0.07152555, 0.91644444]),
        ('axisangle="1 2 3 0.7"', 'angle="radian"', [0.3947398, -0.0713925, 0.91601507]),
        ('xyaxes="1 1 0 0 1 1"', "", [0.57735027, -0.57735027, 0.57735027]),
        ('zaxis="1 0 1"', "", [0.70710678, 0.0, 0.70710678]),
        ('quat="1 2 0 0"', "", [0.0, -0.8, -0.6]),
        ('euler="10 20 30"', "", [0.34202014, -0.16317591, 0.92541658]),
        ('euler="10 20 30"', 'eulerseq="zyx"', [0.37852231, -0.44096961, 0.81379768]),
        ('euler="10 20 30"', 'eulerseq="XYZ"', [0.37852231, 0.01802831, 0.92541658]),
        ('euler="10 20 30"', 'eulerseq="ZxY"', [0.52128058, -0.33682409, 0.78410209]),
        ('class="b"', "", [1.0, 0.0, 0.0]),
        ('class="b" euler="90 0 0"', "", [0.0, -1.0, 0.0]),
    ],
)
def test_geoms_are_turned_as_mujoco_turns_them(geom, compiler, z_axis, tmp_path):
    robot = geoms(tmp_path, geoms=f'<geom name="g" type="box" size="1 1 1" {geom}/>', compiler=compiler)
    assert_allclose(robot.locate("g")[1].rotation[:, 2], z_axis, atol=1e-8)


@pytest.mark.parametrize(
    ("geom", "shape"),
    [
        ('size="0.1"', Sphere(0.1, material=xs.Material(friction=0.7), frame="trunk")),
        (
            'type="box" size="0.1 0.2 0.3" pos="1 2 3" friction="0.5 1 1"',
            Box((0.2, 0.4, 0.6), (1.0, 2.0, 3.0), material=xs.Material(friction=0.5), frame="trunk"),
        ),
        ('class="a"', Capsule(0.05, 0.4, material=xs.Material(friction=0.7), frame="trunk")),
        (
            'type="cylinder" size="0.1 0.2"',
            Cylinder(0.1, 0.4, material=xs.Material(friction=0.7), frame="trunk"),
        ),
        (
            'type="capsule" size="0.1" fromto="0 0 2 0 0 1"',
            Capsule(0.1, 1.0, (0.0, 0.0, 1.5), material=xs.Material(friction=0.7), frame="trunk"),
        ),
        (
            'type="box" size="0.1 0.3" fromto="0 0 2 0 0 1"',
            Box((0.2, 0.2, 1.0), (0.0, 0.0, 1.5), material=xs.Material(friction=0.7), frame="trunk"),
        ),
    ],
)
def test_geoms_become_shapes_with_their_friction(geom, shape, tmp_path):
    assert geoms(tmp_path, geoms=f"<geom {geom}/>").shapes == (shape,)


def test_geoms_become_contact_points(tmp_path):
    robot = geoms(
        tmp_path,
        geoms='<geom type="box" size="0.1 0.2 0.3"/>',
        leg='<geom type="sphere" size="0.03" pos="0 0 -0.4"/>',
        foot='<geom type="ellipsoid" size="0.1 0.2 0.3" pos="0 0 -1"/>',
    )
    frames = [point.frame for point in robot.contact_points]
    assert (frames.count("trunk"), frames.count("foot")) == (8, 8)
    lowest = min(point.offset[2] for point in robot.contact_points if point.frame == "foot")
    assert_allclose(lowest, -1.2, atol=1e-9)  # its class turns z to x, x to y and y to z


def test_what_is_for_the_eye_is_not_touched(tmp_path):
    robot = geoms(
        tmp_path, geoms='<geom size="0.1" contype="0" conaffinity="0"/><geom size="0.2" contype="0"/><geom size="0.3"/>'
    )
    assert [shape.radius for shape in robot.shapes] == [0.2, 0.3]


def test_geoms_and_sites_with_a_name_are_frames(tmp_path):
    robot = geoms(
        tmp_path,
        geoms='<geom name="ball" size="0.1" pos="0 0 0.5"/><site name="top" class="a"/>',
        leg='<site name="shin"/>',
        foot='<geom name="sole" type="box" size="0.1 0.1 0.1" pos="0 0 -0.1"/><site name="toe" pos="0 0 -0.2"/>',
        points=[xs.ContactPoint("sole"), xs.ContactPoint("toe"), xs.ContactPoint("ball", radius=0.1)],
    )
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, pin.neutral(robot.model))
    places = {
        name: data.oMf[robot.model.getFrameId(name)].translation for name in ("ball", "top", "shin", "sole", "toe")
    }
    trunk = data.oMf[robot.model.getFrameId("trunk")].translation
    for name, place in {
        "ball": (0, 0, 0.5),
        "top": (0.1, 0.2, 0.3),  # of its class, which Pinocchio does not look at
        "shin": (0.1, 0.2, 0.0),
        "sole": (0, 0, -0.6),
        "toe": (0, 0, -0.7),  # which Pinocchio puts 10 cm too high, by what the knee is above the leg
    }.items():
        assert_allclose(places[name] - trunk, place, atol=1e-12, err_msg=name)


def test_meshes_of_geoms_are_found_in_their_folder(tmp_path):
    (tmp_path / "parts").mkdir()
    write_stl(tmp_path / "parts" / "it.stl", cube(0.1))
    robot = geoms(
        tmp_path,
        compiler='meshdir="parts"',
        geoms='<geom type="mesh" mesh="it"/><geom type="mesh" mesh="gone"/><geom type="mesh" mesh="none"/>',
        extra='<asset><mesh file="it.stl" scale="2 2 2"/><mesh name="gone" file="gone.stl"/></asset>',
    )
    (mesh,) = robot.shapes
    assert (str(mesh.path), mesh.scale) == (str((tmp_path / "parts" / "it.stl").resolve()), 2.0)
    assert_allclose(np.abs([point.offset for point in robot.contact_points]), 0.2, atol=1e-9)
    assert "there is no file gone.stl" in str(robot)
    assert "no file has its mesh 'none'" in str(robot)


WORLD = """<geom type="plane" size="0 0 1" zaxis="0 0.6 0.8" pos="0 0 -1"/>
  <geom type="box" size="0.1 0.2 0.3" pos="1 2 3" friction="0.4"/><geom size="1" contype="0" conaffinity="0"/>"""
TABLE = """<body name="table" pos="3 0 0" euler="0 0 90"><geom type="box" size="0.4 0.3 0.1" pos="1 0 1"/>
  <body pos="0 0 1.2"><geom type="cylinder" size="0.1 0.2"/></body></body>
  <body name="door"><joint name="hinge"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
    <geom size="0.1"/></body>"""


def test_what_is_fixed_to_the_world_is_ground(tmp_path):
    geoms(tmp_path, geoms='<geom size="0.1"/>', world=WORLD, others=TABLE)
    plane, step, top, cup = xs.load_ground(tmp_path / "robot.xml")
    assert plane == xs.HalfSpace(xs.Material(friction=0.7), (0, 0, -1), (0, 0.6, 0.8))
    assert step == Box((0.2, 0.4, 0.6), (1.0, 2.0, 3.0), material=xs.Material(friction=0.4))
    assert_allclose(top.position, [3, 1, 1], atol=1e-12)
    assert_allclose(cup.position, [3, 0, 1.2], atol=1e-12)
    assert (top.frame, cup.frame) == (None, None)


def test_the_note_says_what_reads_the_ground_and_what_was_lost(tmp_path):
    text = note(lambda: geoms(tmp_path, geoms='<geom size="0.1"/>', world=WORLD, others=TABLE))
    assert "geometry that is fixed to the world, which exposim.load_ground reads" in text
    assert "more than one robot in a file (door was left out)" in text


def test_a_robot_stands_on_the_ground_of_its_file(tmp_path):
    floor = '<geom type="plane" size="0 0 1" pos="0 0 0.2"/>'
    robot = geoms(tmp_path, geoms='<geom type="box" size="0.2 0.2 0.1" pos="0 0 -1"/>', world=floor)
    sim = xs.Simulator(robot.replace(joint_damping=1.0), xs.load_ground(tmp_path / "robot.xml"), dt=5e-3)
    sim.reset([0, 0, 1.3, 0, 0, 0, 1, 0])
    sim.step(n=200)
    assert_allclose(sim.positions[:, 2].min(), 0.2, atol=2e-3)


@pytest.mark.parametrize(
    ("world", "told"),
    [
        ('<geom type="hfield" hfield="hills"/>', "height fields of files are not read"),
        ('<geom type="ellipsoid" size="1 1 1"/>', "there is no surface of that kind"),
        ('<geom type="box" size="1 1"/>', "its size is 2 2"),
        ('<geom type="sdf" mesh="a"/>', "a shape of that kind is not known"),
        ('<geom type="box" mesh="a"/>', "a shape that is to be fitted to a mesh is not"),
        ('<geom type="mesh" mesh="a" name="rock"/>', "mesh 'rock': no file has its mesh 'a'"),
    ],
)
def test_ground_that_is_not_read_is_told_of(world, told, tmp_path):
    text = f"<mujoco><worldbody>{world}</worldbody></mujoco>"
    refused(xs.UnsupportedModel, lambda: xs.load_ground(write(tmp_path, text, "w.xml")), told, "nothing to stand on")
    path = write(tmp_path, text.replace("<worldbody>", '<worldbody><geom size="1"/>'), "w.xml")
    assert told in note(lambda: xs.load_ground(path))


@pytest.mark.parametrize(
    "geom",
    [
        'size="a"',
        'size="nan"',
        'size="1" pos="1 2"',
        'size="1" quat="0 0 0 0"',
        'size="1" zaxis="0 0 0"',
        'size="1" euler="a b c"',
        'size="1" friction="-1"',
        'type="capsule" size="1" fromto="1 2 3"',
    ],
)
def test_geoms_that_cannot_be_are_refused(geom, tmp_path):
    text = f"<mujoco><worldbody><geom {geom}/></worldbody></mujoco>"
    refused(xs.ModelParseError, lambda: xs.load_ground(write(tmp_path, text, "w.xml")), "w.xml")


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("w.urdf", "<robot/>", xs.UnsupportedModel),
        ("w.xml", "<robot/>", xs.ModelParseError),
        ("w.xml", "<mujoco><worldbody/></mujoco>", xs.UnsupportedModel),
        ("w.xml", "<mujoco>" + "<body>" * 400 + "</body>" * 400 + "</mujoco>", xs.UnsupportedModel),
        ("w.txt", "", xs.UnsupportedModel),
    ],
)
def test_files_without_ground_are_refused(name, text, error, tmp_path):
    refused(error, lambda: xs.load_ground(write(tmp_path, text, name)), name)


def test_ground_of_no_file_is_refused(tmp_path):
    refused(xs.UnknownFile, lambda: xs.load_ground(tmp_path / "gone.xml"), "gone.xml")
