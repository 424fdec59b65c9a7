"""Drives, limits and friction of joints: what is given, what it means in numbers, and what is refused."""

import dataclasses
import pickle

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from bad_input import refused, short
from exposim.simulation.settings import RobotSettings
from robot_files import KNOWN, chain_with, known, pendulum

INF, NAN = np.inf, np.nan
GO2_CALF = {"lower": -2.7227, "upper": -0.83776, "effort": 45.43, "velocity": 15.7}
LEGS = ("FL", "FR", "RL", "RR")


def limited_pendulum(lower=-1.0, upper=2.0, effort=5.0, velocity=7.0):
    model = pendulum()
    model.lowerPositionLimit, model.upperPositionLimit = np.array([lower]), np.array([upper])
    model.effortLimit, model.velocityLimit = np.array([effort]), np.array([velocity])
    return model


def inertia_of_the_pendulum():
    body = pin.Inertia.FromBox(2.0, 0.1, 0.2, 0.3)
    return body.inertia[1, 1] + 2.0 * 0.3**2


# What a model states.


@pytest.mark.parametrize("leg", LEGS)
def test_a_joint_is_as_its_file_states(leg):
    joint = known("go2").joints[f"{leg}_calf_joint"]
    assert {name: getattr(joint, name) for name in GO2_CALF} == GO2_CALF
    assert (joint.damping, joint.friction, joint.armature, joint.drive) == (0.0, 0.0, 0.0, None)


def test_the_joints_are_all_but_a_floating_base():
    assert list(known("go2").joints) == list(known("go2").actuated_joints)
    assert list(xs.load_robot(pendulum()).joints) == ["pivot"]


def test_friction_and_damping_of_a_joint_are_as_its_file_states():
    joints = known("talos").joints
    assert (joints["torso_1_joint"].friction, joints["torso_1_joint"].damping) == (1.0, 1.0)
    assert (joints["head_1_joint"].friction, joints["head_1_joint"].damping) == (1.0, 0.5)
    assert (joints["leg_left_1_joint"].friction, joints["leg_left_1_joint"].static_friction) == (0.0, 0.0)


@pytest.mark.parametrize("nothing", [0.0, INF, np.finfo(float).max])
def test_nothing_or_zero_is_no_limit_of_effort_and_velocity(nothing):
    joint = xs.load_robot(limited_pendulum(effort=nothing, velocity=nothing)).joints["pivot"]
    assert (joint.effort, joint.velocity) == (INF, INF)


def test_a_joint_of_several_degrees_of_freedom_has_as_many_of_each():
    joint = xs.load_robot(chain_with(pin.JointModelSpherical())).joints["it"]
    assert_array_equal(joint.lower, [-INF] * 3)
    assert_array_equal(joint.upper, [INF] * 3)
    assert_array_equal(joint.friction, [0.0] * 3)
    with pytest.raises(ValueError, match="read-only"):
        joint.armature[0] = 1.0


def test_an_endless_joint_has_no_limits():
    joint = xs.load_robot(chain_with(pin.JointModelRUBX())).joints["it"]
    assert (joint.lower, joint.upper) == (-INF, INF)


def test_limits_the_wrong_way_round_are_none():
    robot = xs.load_robot(limited_pendulum(lower=1.0, upper=-1.0))
    assert (robot.joints["pivot"].lower, robot.joints["pivot"].upper) == (-INF, INF)
    assert robot._joint_arrays().limits == []


@pytest.mark.parametrize("limit", ["lowerPositionLimit", "effortLimit", "velocityLimit", "upperDryFrictionLimit"])
def test_a_model_with_limits_that_are_not_numbers_is_refused(limit):
    model = pendulum()
    setattr(model, limit, np.array([NAN]))
    refused(xs.UnsupportedModel, lambda: xs.load_robot(model), "pendulum", "mend the model")


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_robot_starts_within_its_limits(name):
    robot = known(name)
    for in_q, _, lower, upper, _, _ in robot._joint_arrays().limits:
        assert lower <= robot.q0[in_q] <= upper


# Drives.


def test_one_drive_is_for_all_actuated_joints():
    drive = xs.Drive(kp=25.0, kd=0.5, effort=23.5, velocity=30.0, delay=0.002)
    robot = known("go2").replace(drives=drive)
    assert robot.drives == dict.fromkeys(robot.actuated_joints, drive)
    assert robot.joints["FL_calf_joint"].drive is drive
    arrays = robot._joint_arrays()
    for name in ("kp", "kd", "effort", "velocity", "delay"):
        assert_array_equal(getattr(arrays, name)[6:], getattr(drive, name))
    assert_array_equal(arrays.kp[:6], 0.0)
    assert_array_equal(arrays.effort[:6], INF)


def test_drives_are_found_by_name_and_glob_the_later_first():
    calf, other, one = xs.Drive(30.0, 1.0), xs.Drive(20.0, 0.5), xs.Drive(0.0, 3.0)
    robot = known("go2").replace(drives={"*": other, "*_calf_joint": calf, "FL_calf_joint": one, "RR_*": None})
    assert robot.drives["FL_thigh_joint"] is other
    assert robot.drives["FR_calf_joint"] is calf
    assert robot.drives["FL_calf_joint"] is one
    assert not [name for name in robot.drives if name.startswith("RR")]


def test_other_joints_keep_their_drives():
    robot = known("go2").replace(drives=xs.Drive(25.0, 0.5)).replace(drives={"FL_*": xs.Drive(50.0, 1.0)})
    kp = robot._joint_arrays().kp
    assert_array_equal(kp[robot.actuated_dofs], [50.0] * 3 + [25.0] * 9)


@pytest.mark.parametrize("nothing", [{}, False, {"*": None}], ids=short)
def test_drives_can_be_removed(nothing):
    robot = known("go2").replace(drives=xs.Drive(25.0, 0.5))
    assert robot.replace(drives=nothing).drives == {}
    assert len(robot.drives) == 12
    assert len(robot.replace(name="other").drives) == 12


def test_a_drive_without_effort_has_that_of_its_joint_while_effort_limits_are_on():
    robot = xs.load_robot(limited_pendulum()).replace(drives=xs.Drive(1.0, 0.1))
    assert (robot._joint_arrays().effort, robot._joint_arrays().velocity) == (5.0, 7.0)
    off = robot.replace(effort_limits=False)
    assert not off.effort_limits
    assert not off.replace(name="other").effort_limits
    assert (off._joint_arrays().effort, off._joint_arrays().velocity) == (INF, INF)


@pytest.mark.parametrize("on", [True, False])
def test_the_effort_of_a_drive_holds_always(on):
    robot = xs.load_robot(limited_pendulum()).replace(drives=xs.Drive(1.0, 0.1, effort=2.0, velocity=3.0))
    arrays = robot.replace(effort_limits=on)._joint_arrays()
    assert (arrays.effort, arrays.velocity) == (2.0, 3.0)


def test_a_joint_without_drive_has_its_effort_and_no_torque_speed_line():
    arrays = xs.load_robot(limited_pendulum())._joint_arrays()
    assert (arrays.effort, arrays.velocity) == (5.0, INF)


def test_a_drive_may_have_no_limit_though_its_joint_has():
    drive = xs.Drive(1.0, 0.1, effort=INF, velocity=INF)
    arrays = xs.load_robot(limited_pendulum()).replace(drives=drive)._joint_arrays()
    assert (arrays.effort, arrays.velocity) == (INF, INF)


def test_what_is_not_actuated_has_no_effort_limit():
    arrays = known("go2").replace(actuated_joints=["FL_calf_joint"])._joint_arrays()
    assert np.isfinite(arrays.effort).sum() == 1


def test_drives_rest_at_q0():
    assert_array_equal(known("go2")._joint_arrays().rest, known("go2").q0)


def test_a_drive_leaves_with_its_joint_only_if_it_is_removed():
    robot = known("go2").replace(drives=xs.Drive(25.0, 0.5))
    legs = robot.actuated_joints[3:]
    refused(xs.InvalidArgument, lambda: robot.replace(actuated_joints=legs), "drives has 'FL_hip_joint'", "actuated")
    assert set(robot.replace(actuated_joints=legs, drives={"FL_*": None}).drives) == set(legs)
    assert set(robot.replace(actuated_joints=legs, drives=xs.Drive(1.0, 1.0)).drives) == set(legs)


# Limits.


def test_the_default_stop_is_as_stiff_as_its_inertia_asks():
    robot = xs.load_robot(limited_pendulum())
    stiffness = inertia_of_the_pendulum() * 600.0**2
    ((in_q, in_v, lower, upper, K, B),) = robot._joint_arrays().limits
    assert (in_q, in_v, lower, upper) == (0, 0, -1.0, 2.0)
    assert_allclose([K, B], [stiffness, 3e-3 * stiffness], rtol=1e-12)


@pytest.mark.parametrize("way", ["model", "drive"])
def test_the_default_stop_gives_way_to_a_strong_motor_by_a_fiftieth(way):
    effort = 1e6
    robot = xs.load_robot(limited_pendulum(effort=effort if way == "model" else 5.0))
    if way == "drive":
        robot = robot.replace(drives=xs.Drive(1.0, 0.1, effort=effort))
    assert_allclose(robot._joint_arrays().limits[0][4], effort / 0.02)


def test_the_inertia_is_what_a_joint_feels_with_the_others_free():
    robot = known("g1")
    M = pin.crba(robot.model, robot.model.createData(), robot.q0)
    felt = 1.0 / np.diag(np.linalg.inv(np.triu(M) + np.triu(M, 1).T))
    for _, in_v, _, _, K, _ in robot._joint_arrays().limits:
        motor = robot.model.effortLimit[in_v] / 0.02
        assert_allclose(K, max(felt[in_v] * 600.0**2, motor), rtol=1e-6)


def test_armature_makes_stops_stiffer():
    robot = xs.load_robot(limited_pendulum())
    grown = robot.replace(armature=0.1)._joint_arrays().limits[0][4] - robot._joint_arrays().limits[0][4]
    assert_allclose(grown, 0.1 * 600.0**2, rtol=1e-9)


def test_stops_can_be_given():
    robot = known("go2").replace(joint_limits=xs.JointLimits(stiffness=300.0))
    assert {limit[4:] for limit in robot._joint_arrays().limits} == {(300.0, 3e-3 * 300.0)}
    robot = known("go2").replace(joint_limits=xs.JointLimits(damping=2.0))
    assert {limit[5] for limit in robot._joint_arrays().limits} == {2.0}
    assert robot.replace(name="other").joint_limits == xs.JointLimits(damping=2.0)


def test_stops_can_be_left_out_and_put_back():
    robot = known("go2").replace(joint_limits=False)
    assert robot.joint_limits is False
    assert robot._joint_arrays().limits == []
    assert robot.replace(joint_limits=True).joint_limits == xs.JointLimits()
    assert len(robot.replace(joint_limits=True)._joint_arrays().limits) == 12


@pytest.mark.parametrize(("lower", "upper"), [(-INF, 1.0), (-1.0, INF), (-np.finfo(float).max, 1.0)])
def test_a_joint_may_have_one_end(lower, upper):
    ((_, _, low, up, _, _),) = xs.load_robot(limited_pendulum(lower, upper))._joint_arrays().limits
    assert (low, up) == (lower if lower == -1.0 else -INF, upper)


def test_joints_without_ends_have_no_stops():
    assert xs.load_robot(pendulum())._joint_arrays().limits == []
    assert xs.load_robot(chain_with(pin.JointModelSpherical()))._joint_arrays().limits == []


# Dry friction.


def test_friction_has_its_stiffness_from_its_torque_and_is_critically_damped():
    arrays = xs.load_robot(pendulum()).replace(joint_friction=0.2)._joint_arrays()
    stiffness = 0.2 / 1e-3
    assert (arrays.static_friction, arrays.dynamic_friction) == (0.2, 0.2)
    assert_allclose(arrays.friction_stiffness, stiffness)
    assert_allclose(arrays.friction_damping, 2.0 * np.sqrt(stiffness * inertia_of_the_pendulum()), rtol=1e-12)


def test_friction_can_be_given_whole():
    friction = xs.DryFriction(0.2, static=0.5, stiffness=90.0, damping=7.0)
    robot = known("go2").replace(joint_friction=friction)
    arrays = robot._joint_arrays()
    for name, value in {
        "dynamic_friction": 0.2,
        "static_friction": 0.5,
        "friction_stiffness": 90.0,
        "friction_damping": 7.0,
    }.items():
        assert_array_equal(getattr(arrays, name)[6:], value)
        assert_array_equal(getattr(arrays, name)[:6], 0.0)
    assert (robot.joints["FL_calf_joint"].friction, robot.joints["FL_calf_joint"].static_friction) == (0.2, 0.5)


def test_static_friction_sets_the_stiffness():
    arrays = xs.load_robot(pendulum()).replace(joint_friction=xs.DryFriction(0.2, static=0.5))._joint_arrays()
    assert_allclose(arrays.friction_stiffness, 0.5 / 1e-3)


def test_friction_of_a_model_counts_in_both_directions():
    model = pendulum()
    model.upperDryFrictionLimit, model.lowerDryFrictionLimit = np.array([0.3]), np.array([-0.4])
    assert_array_equal(xs.load_robot(model).joint_friction, [0.4])


@pytest.mark.parametrize("name", ["joint_friction", "joint_damping", "armature"])
def test_joint_properties_are_found_by_name_and_glob(name):
    robot = known("talos").replace(**{name: {"arm_*": 0.3, "arm_left_1_joint": 0.4}})
    before, now = getattr(known("talos"), name), getattr(robot, name)
    joints = robot.joints
    dof = {joint: robot.model.joints[robot.model.getJointId(joint)].idx_v for joint in joints}
    for joint in joints:
        wanted = 0.4 if joint == "arm_left_1_joint" else 0.3 if joint.startswith("arm_") else before[dof[joint]]
        assert now[dof[joint]] == wanted


@pytest.mark.parametrize("name", ["joint_friction", "joint_damping", "armature"])
def test_a_number_is_for_the_joints_actuated_from_now_on(name):
    robot = known("go2").replace(actuated_joints=["FL_calf_joint"], **{name: 0.3})
    assert_array_equal(np.flatnonzero(getattr(robot, name)), robot.actuated_dofs)


def test_replaced_friction_reaches_the_model():
    model = known("go2").replace(joint_friction=0.3).model
    assert_array_equal(model.upperDryFrictionLimit[6:], 0.3)
    assert_array_equal(model.lowerDryFrictionLimit[6:], -0.3)


def test_friction_entry_by_entry():
    entries = np.arange(18) / 10
    assert_array_equal(known("go2").replace(joint_friction=entries).joint_friction, entries)
    whole = [xs.DryFriction(each, 2.0) for each in entries]
    assert known("go2").replace(joint_friction=whole).dry_friction == tuple(whole)


# Robots are values.


def dressed():
    return known("go2").replace(
        drives={"*_calf_joint": xs.Drive(30.0, 1.0, effort=INF, delay=0.01), "FL_hip_joint": xs.Drive(2.0, 0.0)},
        joint_limits=xs.JointLimits(stiffness=500.0),
        effort_limits=False,
        joint_friction={"*_hip_joint": xs.DryFriction(0.1, 0.2, damping=0.3)},
    )


def same_joints(one, other):
    for a, b in zip(vars(one._joint_arrays()).values(), vars(other._joint_arrays()).values(), strict=True):
        assert_array_equal(a, b)
    assert (one.drives, one.joint_limits, one.effort_limits, one.dry_friction) == (
        other.drives,
        other.joint_limits,
        other.effort_limits,
        other.dry_friction,
    )


def test_a_pickled_robot_has_the_same_joints():
    same_joints(pickle.loads(pickle.dumps(dressed())), dressed())


def test_a_robot_of_saved_settings_has_the_same_joints():
    saved = RobotSettings.build(RobotSettings.of(dressed()).describe())
    assert saved == RobotSettings.of(dressed())
    same_joints(saved.load(), dressed())


def test_a_robot_of_saved_settings_without_any_of_it_has_none():
    bare = known("talos").replace(joint_limits=False, effort_limits=False, joint_friction=np.zeros(38))
    same_joints(RobotSettings.build(RobotSettings.of(bare).describe()).load(), bare)


def test_settings_with_drives_of_nobody_are_refused():
    described = RobotSettings.of(dressed()).describe() | {"driven_joints": ["FL_hip_joint"]}
    refused(xs.InvalidArgument, lambda: RobotSettings.build(described), "5 drives", "1 joints")


@pytest.mark.parametrize("attribute", ["joints", "drives", "joint_limits", "effort_limits", "joint_friction"])
def test_the_joints_of_a_robot_cannot_be_changed(attribute):
    with pytest.raises(AttributeError):
        setattr(dressed(), attribute, None)


def test_what_is_read_is_a_copy():
    robot = dressed()
    robot.drives.clear()
    robot.joint_friction[:] = 9.0
    same_joints(robot, dressed())


@pytest.mark.parametrize("value", [xs.Drive(1.0, 1.0), xs.JointLimits(), xs.DryFriction(1.0)], ids=short)
def test_values_do_not_change(value):
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.damping = 1.0


# What is refused.

NOT_AT_LEAST_ZERO = [-1.0, NAN, INF, "1", None, [1.0], 1j]


@pytest.mark.parametrize("name", ["kp", "kd", "delay"])
@pytest.mark.parametrize("value", NOT_AT_LEAST_ZERO, ids=short)
def test_a_drive_with_a_bad_gain_or_delay_is_refused(name, value):
    refused(xs.InvalidArgument, lambda: xs.Drive(**{"kp": 1.0, "kd": 1.0} | {name: value}), f"{name} is", "at least 0")


@pytest.mark.parametrize("name", ["effort", "velocity"])
@pytest.mark.parametrize("value", [-1.0, 0.0, NAN, "1", [1.0], 1j], ids=short)
def test_a_drive_with_a_bad_limit_is_refused(name, value):
    refused(xs.InvalidArgument, lambda: xs.Drive(1.0, 1.0, **{name: value}), f"{name} is", "above 0", "inf", "None")


@pytest.mark.parametrize("value", [-1.0, 0.0, NAN, INF, "1", [1.0]], ids=short)
def test_a_bad_stiffness_is_refused(value):
    for kind in (xs.JointLimits, lambda stiffness: xs.DryFriction(1.0, stiffness=stiffness)):
        refused(xs.InvalidArgument, lambda kind=kind: kind(stiffness=value), "stiffness is", "above 0")


@pytest.mark.parametrize("value", [-1.0, NAN, INF, "1", [1.0]], ids=short)
def test_a_bad_damping_is_refused(value):
    for kind in (xs.JointLimits, lambda damping: xs.DryFriction(1.0, damping=damping)):
        refused(xs.InvalidArgument, lambda kind=kind: kind(damping=value), "damping is", "at least 0")


@pytest.mark.parametrize("value", NOT_AT_LEAST_ZERO, ids=short)
def test_a_bad_friction_is_refused(value):
    refused(xs.InvalidArgument, lambda: xs.DryFriction(value), "dynamic is", "at least 0")


def test_static_friction_below_dynamic_is_refused():
    refused(xs.InvalidArgument, lambda: xs.DryFriction(0.5, static=0.4), "static is 0.4", "dynamic 0.5")


@pytest.mark.parametrize("value", [5.0, "all", [xs.Drive(1, 1)], True, xs.DryFriction(1.0)], ids=short)
def test_drives_that_are_none_are_refused(value):
    refused(xs.InvalidArgument, lambda: known("go2").replace(drives=value), "drives is", "exposim.Drive")


@pytest.mark.parametrize("value", [5.0, "stiff", False, (1.0, 2.0)], ids=short)
def test_a_drive_of_a_joint_that_is_none_is_refused(value):
    refused(xs.InvalidArgument, lambda: known("go2").replace(drives={"*": value}), "drives has", "'*'", "exposim.Drive")


@pytest.mark.parametrize("value", [xs.Drive(1.0, 1.0), None], ids=short)
def test_a_drive_of_an_unknown_joint_is_told_the_closest(value):
    act = lambda: known("go2").replace(drives={"FL_calf_joynt": value})  # noqa: E731
    refused(xs.InvalidArgument, act, "'FL_calf_joynt'", "'go2'", "mean 'FL_calf_joint'")


@pytest.mark.parametrize("pattern", ["xyzzy*", "", 5, None, b"FL_calf_joint", "root_joint"], ids=short)
@pytest.mark.parametrize("name", ["drives", "joint_friction", "joint_damping", "armature"])
def test_a_pattern_that_stands_for_no_joint_is_refused(name, pattern):
    value = xs.Drive(1.0, 1.0) if name == "drives" else 0.1
    refused(xs.InvalidArgument, lambda: known("go2").replace(**{name: {pattern: value}}), name, repr(pattern), "go2")


def test_a_drive_without_actuated_joints_is_refused():
    body = xs.load_robot(pendulum(pin.JointModelFreeFlyer()))
    refused(xs.InvalidArgument, lambda: body.replace(drives=xs.Drive(1.0, 1.0)), "actuated joints", "has none")


@pytest.mark.parametrize("value", [5.0, "on", None, {"*": 5.0}], ids=short)
def test_bad_joint_limits_are_refused(value):
    act = lambda: xs.Robot(pendulum(), joint_limits=value)  # noqa: E731
    refused(xs.InvalidArgument, act, "joint_limits is", "exposim.JointLimits")


@pytest.mark.parametrize("value", [1, "on", [True]], ids=short)
def test_effort_limits_that_are_neither_on_nor_off_are_refused(value):
    refused(xs.InvalidArgument, lambda: known("go2").replace(effort_limits=value), "effort_limits is", "True or False")


@pytest.mark.parametrize("value", [-0.1, NAN, "1", {"*": -0.1}, [0.1] * 17, [xs.DryFriction(1.0)] * 17], ids=short)
def test_bad_joint_friction_is_refused(value):
    refused(xs.InvalidArgument, lambda: known("go2").replace(joint_friction=value), "joint_friction", "give")


@pytest.mark.parametrize("name", ["joint_damping", "armature"])
def test_dry_friction_is_no_damping(name):
    refused(xs.InvalidArgument, lambda: known("go2").replace(**{name: xs.DryFriction(1.0)}), name, "give")


def test_a_delay_of_more_targets_than_a_state_holds_is_refused():
    robot = known("go2").replace(drives=xs.Drive(25.0, 0.5, delay=100.0))
    refused(xs.InvalidArgument, lambda: xs.Simulator(robot, dt=1e-3), "delay is 100 s", "10000 targets", "dt 0.001 s")


@pytest.mark.parametrize("given", [np.array(0.3), np.float64(0.3)])
def test_one_number_for_all_joints_may_be_an_array_without_dimensions(given):
    robot = known("go2").replace(joint_friction=given, joint_damping=given)
    assert robot.joints["FL_calf_joint"].friction == robot.joints["FL_calf_joint"].damping == 0.3
