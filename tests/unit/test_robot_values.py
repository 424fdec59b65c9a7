"""Contact points, and robots as values: replaced, pickled, never changed."""

import dataclasses
import pickle

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from robot_files import KNOWN, known, pendulum, trajectory

# Contact points.


def test_a_contact_point_is_at_its_offset_in_the_frame():
    robot = xs.load_robot(pendulum(), contact_points=[xs.ContactPoint("tip", offset=(0.1, 0.2, 0.3))])
    sim = xs.Simulator(robot, xs.HalfSpace())
    sim.reset([np.pi / 2])  # about y: x goes to -z, z goes to x
    assert_allclose(sim.contacts[0].position, [0.3, 0.2, -0.6], atol=1e-15)


def test_a_contact_point_is_called_after_its_frame():
    assert xs.ContactPoint("tip").name == "tip"


def test_a_contact_point_takes_a_name():
    robot = xs.load_robot(pendulum(), contact_points=[xs.ContactPoint("tip", name="nose")])
    assert robot.feet == ("nose",)
    assert xs.Simulator(robot, xs.HalfSpace()).contacts[0].name == "nose"


def test_two_contact_points_may_share_a_frame():
    points = [xs.ContactPoint("tip", name="left"), xs.ContactPoint("tip", (0, 0.1, 0), "right")]
    assert xs.load_robot(pendulum(), contact_points=points).feet == ("left", "right")


def test_contact_points_may_come_from_a_generator():
    robot = xs.load_robot(pendulum(), contact_points=(xs.ContactPoint(frame) for frame in ["tip"]))
    assert robot.feet == ("tip",)


def test_a_spherical_foot_touches_a_radius_early():
    robot = xs.load_robot(pendulum(), contact_points=[xs.ContactPoint("tip", radius=0.02)])
    sim = xs.Simulator(robot, xs.HalfSpace(point=(0, 0, -0.0199)))
    assert sim.contacts[0].active
    assert not xs.Simulator(robot, xs.HalfSpace(point=(0, 0, -0.0201))).contacts[0].active


def test_the_position_of_a_spherical_foot_is_its_lowest_point():
    robot = xs.load_robot(pendulum(), contact_points=[xs.ContactPoint("tip", radius=0.02)])
    assert_allclose(xs.Simulator(robot, xs.HalfSpace()).contacts[0].position, [0.5, 0, -0.02], atol=1e-15)


def test_a_bilateral_contact_needs_no_surface():
    robot = xs.load_robot(pendulum(), contact_points=[xs.ContactPoint("tip", bilateral=True)])
    contact = xs.Simulator(robot).contacts[0]
    assert contact.active
    assert contact.surface is None


def test_a_bilateral_contact_holds_the_robot_up():
    robot = xs.load_robot(pendulum(), contact_points=[xs.ContactPoint("tip", bilateral=True)])
    sim = xs.Simulator(robot)
    sim.step(n=400)
    assert_allclose(sim.contacts[0].force[2], 2 * 9.81 * 0.3 / 0.5, rtol=1e-3)


def test_a_bilateral_contact_is_attached_where_the_user_says():
    point = xs.ContactPoint("tip", bilateral=True, anchor=(0.5, 0, 0.001))
    contact = xs.Simulator(xs.load_robot(pendulum(), contact_points=[point])).contacts[0]
    assert_array_equal(contact.anchor, [0.5, 0, 0.001])
    assert_allclose(contact.force, [0, 0, 100.0], atol=1e-9)


def test_the_material_of_a_contact_point_goes_before_that_of_the_surface():
    soft = xs.ContactPoint("tip", material=xs.Material(stiffness=1e3, damping=0.0))
    sim = xs.Simulator(xs.load_robot(pendulum(), contact_points=[soft]), xs.HalfSpace(point=(0, 0, 0.01)))
    assert_allclose(sim.contacts[0].force, [0, 0, 10.0], atol=1e-12)


def test_a_contact_point_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        xs.ContactPoint("tip").radius = 1.0


# Robots are values.


def test_q0_is_a_copy():
    robot = xs.load_robot(pendulum())
    robot.q0[:] = 9.0
    assert_array_equal(robot.q0, [0.0])


@pytest.mark.parametrize("attribute", ["model", "q0", "feet", "contact_points", "joint_damping", "armature"])
def test_a_robot_cannot_be_changed(attribute):
    robot = xs.load_robot(pendulum())
    with pytest.raises(AttributeError):
        setattr(robot, attribute, getattr(robot, attribute))


@pytest.mark.parametrize("attribute", ["joint_damping", "armature"])
def test_a_joint_property_is_a_copy(attribute):
    robot = xs.load_robot(pendulum())
    getattr(robot, attribute)[:] = 9.0
    assert_array_equal(getattr(robot, attribute), [0.0])


@pytest.mark.parametrize("attribute", ["joint_damping", "armature"])
def test_replace_gives_a_new_robot(attribute):
    new = known("solo12").replace(**{attribute: np.arange(18) / 10})
    assert_array_equal(getattr(new, attribute), np.arange(18) / 10)


@pytest.mark.parametrize("attribute", ["joint_damping", "armature"])
def test_replace_leaves_the_old_robot(attribute):
    robot = xs.load_robot("solo12")
    before, path = getattr(robot, attribute), trajectory(robot, steps=20)
    robot.replace(**{attribute: np.full(18, 0.7)})
    assert_array_equal(getattr(robot, attribute), before)
    assert_array_equal(trajectory(robot, steps=20), path)


@pytest.mark.parametrize("attribute", ["joint_damping", "armature"])
def test_replace_with_one_number_is_for_the_actuated_joints(attribute):
    robot = known("solo12")
    new = getattr(robot.replace(**{attribute: 0.7}), attribute)
    assert_array_equal(new[6:], 0.7)
    assert_array_equal(new[:6], getattr(robot, attribute)[:6])


def test_replace_with_nothing_gives_an_equal_robot():
    robot = known("solo12")
    new = robot.replace()
    assert new is not robot
    assert new.model == robot.model
    assert_array_equal(new.q0, robot.q0)
    assert (new.name, new.contact_points, new.actuated_joints) == (
        robot.name,
        robot.contact_points,
        robot.actuated_joints,
    )


def test_replace_takes_contact_points_q0_name_and_actuated_joints():
    new = known("solo12").replace(
        contact_points=[xs.ContactPoint("FL_FOOT")],
        q0=pin.neutral(known("solo12").model),
        name="three legs",
        actuated_joints=["FL_KFE", "FL_HAA"],
    )
    assert (new.feet, new.name, new.actuated_joints) == (("FL_FOOT",), "three legs", ("FL_KFE", "FL_HAA"))
    assert_array_equal(new.q0, pin.neutral(new.model))


def test_torques_are_in_the_order_of_the_actuated_joints():
    robot = known("solo12").replace(actuated_joints=["FL_KFE", "FL_HAA"])
    sim, twin = xs.Simulator(robot), xs.Simulator(robot)
    sim.step([1.0, 2.0])
    spread = np.zeros(18)
    spread[robot.model.joints[robot.model.getJointId("FL_KFE")].idx_v] = 1.0
    spread[robot.model.joints[robot.model.getJointId("FL_HAA")].idx_v] = 2.0
    twin.step(spread)
    assert sim.state == twin.state


def test_replace_keeps_the_reference_configurations():
    robot = known("solo12")
    assert "standing" in [entry.key() for entry in robot.replace(armature=0.1).model.referenceConfigurations]


@pytest.mark.parametrize("name", KNOWN)
def test_a_pickled_robot_is_the_same_robot(name):
    robot = known(name)
    copy = pickle.loads(pickle.dumps(robot))
    assert copy.model == robot.model
    assert_array_equal(copy.q0, robot.q0)
    assert (copy.name, copy.contact_points, copy.actuated_joints, copy.source, copy.package_dirs) == (
        robot.name,
        robot.contact_points,
        robot.actuated_joints,
        robot.source,
        robot.package_dirs,
    )


@pytest.mark.parametrize("name", KNOWN)
def test_a_pickled_robot_gives_the_same_bits(name):
    robot = known(name)
    assert_array_equal(trajectory(pickle.loads(pickle.dumps(robot)), steps=20), trajectory(robot, steps=20))


def turn_off_gravity(model):
    model.gravity = pin.Motion.Zero()


def change_inertia(model):
    model.inertias[1] = pin.Inertia.FromSphere(9.0, 0.3)


def move_joint(model):
    model.jointPlacements[1] = pin.SE3(np.eye(3), np.array([0, 0, 1.0]))


def change_damping(model):
    model.damping = np.full(model.nv, 5.0)


def change_armature(model):
    model.armature = np.full(model.nv, 5.0)


def move_frame(model):
    model.frames[model.getFrameId("tip")].placement = pin.SE3(np.eye(3), np.array([0, 0, 1.0]))


def add_joint(model):
    joint = model.addJoint(1, pin.JointModelSpherical(), pin.SE3.Identity(), "more")
    model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())


CHANGES = [
    turn_off_gravity,
    change_inertia,
    move_joint,
    change_damping,
    change_armature,
    move_frame,
    add_joint,
]


@pytest.mark.parametrize("change", CHANGES)
def test_changing_the_model_later_changes_no_simulation(change):
    model = pendulum()
    robot = xs.load_robot(model, contact_points=[xs.ContactPoint("tip")])
    before = trajectory(robot)
    change(model)
    assert_array_equal(trajectory(robot), before)


@pytest.mark.parametrize("change", [turn_off_gravity, add_joint])
def test_changing_the_model_later_changes_no_pickled_robot(change):
    model = pendulum()
    robot = xs.load_robot(model, contact_points=[xs.ContactPoint("tip")])
    before = trajectory(robot)
    change(model)
    assert_array_equal(trajectory(pickle.loads(pickle.dumps(robot))), before)


@pytest.mark.parametrize("change", [turn_off_gravity, add_joint])
def test_changing_the_model_later_changes_no_replaced_robot(change):
    model = pendulum()
    robot = xs.load_robot(model, contact_points=[xs.ContactPoint("tip")])
    before = trajectory(robot)
    change(model)
    assert_array_equal(trajectory(robot.replace(name="other")), before)


def test_changing_the_model_of_a_replaced_robot_changes_nothing_of_the_old_one():
    robot = xs.load_robot(pendulum())
    before = trajectory(robot)
    turn_off_gravity(robot.replace(armature=1.0).model)
    assert_array_equal(trajectory(robot), before)


def test_a_model_has_its_own_gravity():
    model = pendulum(pin.JointModelFreeFlyer())
    model.gravity = pin.Motion(np.array([1.0, 0, 0, 0, 0, 0]))
    sim = xs.Simulator(xs.load_robot(model), dt=1e-2)
    sim.step(n=10)
    assert_allclose(sim.v, [0.1, 0, 0, 0, 0, 0], atol=1e-13)
