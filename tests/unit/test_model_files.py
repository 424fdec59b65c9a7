"""Robots from Pinocchio models, URDF and MJCF files."""

import pickle

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from robot_files import (
    ARM_URDF,
    BALL,
    BODY_URDF,
    KEYFRAME,
    KNOWN,
    chain_with,
    heights,
    hopper,
    pendulum,
    trajectory,
    warnings_of,
    write,
)

# Pinocchio models.


def test_the_model_of_a_robot_is_the_one_given():
    model = pendulum()
    assert xs.load_robot(model).model is model


def test_the_model_of_a_simulator_is_the_one_given():
    model = pendulum()
    assert xs.Simulator(xs.load_robot(model)).robot.model is model


def test_a_pinocchio_model_starts_at_its_neutral_configuration():
    model = pendulum(pin.JointModelFreeFlyer())
    assert_array_equal(xs.load_robot(model).q0, pin.neutral(model))


def test_a_floating_pinocchio_model_starts_with_its_lowest_contact_point_on_the_ground():
    # As load_robot says of every robot that is not known.
    points = [xs.ContactPoint("tip", offset=(0, 0, z), name=f"at {z}") for z in (0.1, -0.2)]
    robot = xs.load_robot(pendulum(pin.JointModelFreeFlyer()), contact_points=points)
    assert_allclose(heights(robot, robot.q0).min(), 0.0, atol=1e-9)


def test_a_pinocchio_model_starts_at_its_reference_configuration():
    # As load_robot says of every robot that is not known.
    model = pendulum()
    model.referenceConfigurations["bent"] = np.array([0.7])
    assert_array_equal(xs.load_robot(model).q0, [0.7])


def test_a_pinocchio_model_keeps_its_name():
    assert xs.load_robot(pendulum()).name == "pendulum"


def test_a_pinocchio_model_with_infinite_limits_can_be_simulated():
    # As Pinocchio's own MJCF reader makes them.
    model = pendulum()
    model.upperPositionLimit = np.array([np.inf])
    model.lowerPositionLimit = np.array([-np.inf])
    model.effortLimit = np.array([np.inf])
    model.velocityLimit = np.array([np.inf])
    assert_array_equal(
        trajectory(xs.load_robot(model), ground=(), steps=10), trajectory(xs.load_robot(pendulum()), (), 10)
    )


def test_a_robot_without_a_floating_base_says_so():
    assert not xs.load_robot(pendulum()).has_floating_base


def test_all_joints_of_a_fixed_robot_are_actuated():
    assert xs.load_robot(pendulum()).actuated_joints == ("pivot",)


# URDF files.


def test_a_urdf_file_floats_by_default(tmp_path):
    robot = xs.load_robot(write(tmp_path, ARM_URDF))
    assert robot.has_floating_base
    assert robot.model.nv == 6 + 2


def test_a_urdf_file_may_be_given_as_a_string(tmp_path):
    assert xs.load_robot(str(write(tmp_path, ARM_URDF))).name == "arm"


def test_the_suffix_of_a_urdf_file_may_be_in_capitals(tmp_path):
    assert xs.load_robot(write(tmp_path, ARM_URDF, "ARM.URDF")).name == "arm"


def test_a_urdf_file_with_floating_base_false_is_fixed(tmp_path):
    robot = xs.load_robot(write(tmp_path, ARM_URDF), floating_base=False)
    assert not robot.has_floating_base
    assert robot.actuated_joints == ("shoulder", "elbow")
    assert (robot.model.nq, robot.model.nv) == (3, 2)  # the elbow is a cosine and a sine


def test_floating_base_true_is_what_a_urdf_file_gets_by_default(tmp_path):
    path = write(tmp_path, ARM_URDF)
    assert xs.load_robot(path, floating_base=True).model == xs.load_robot(path).model


def test_a_single_body_floats(tmp_path):
    robot = xs.load_robot(write(tmp_path, BODY_URDF))
    assert (robot.model.nv, robot.actuated_joints) == (6, ())


def test_a_free_body_falls_with_g(tmp_path):
    sim = xs.Simulator(xs.load_robot(write(tmp_path, BODY_URDF)), dt=1e-3)
    sim.step(n=100)
    assert_allclose(sim.v, [0, 0, -0.981, 0, 0, 0], atol=1e-12)
    assert_allclose(sim.q[2], -0.5 * 9.81 * 0.1**2, atol=1e-12)


def test_a_fixed_arm_swings_as_pinocchio_says(tmp_path):
    robot = xs.load_robot(write(tmp_path, ARM_URDF), floating_base=False)
    q, v, tau, dt = np.array([0.4, 0.6, 0.8]), np.array([1.0, -2.0]), np.array([0.3, 0.2]), 1e-3
    sim = xs.Simulator(robot, integrator=xs.ExplicitEuler(), dt=dt)
    sim.reset(q, v)
    sim.step(tau)
    dv = pin.aba(robot.model, robot.model.createData(), q, v, tau)
    assert_allclose(sim.v, v + dt * dv, rtol=0, atol=1e-13)


def test_q0_of_a_file_puts_the_lowest_contact_point_on_the_ground(tmp_path):
    points = [
        xs.ContactPoint("wrist"),
        xs.ContactPoint("upper"),
        xs.ContactPoint("wrist", (0, 0, -0.1), "tip"),
    ]
    robot = xs.load_robot(write(tmp_path, ARM_URDF), contact_points=points)
    assert_allclose(heights(robot, robot.q0), [0.1, 0.7, 0.0], atol=1e-9)


def test_q0_of_a_file_counts_the_radius_of_a_spherical_foot(tmp_path):
    robot = xs.load_robot(write(tmp_path, ARM_URDF), contact_points=[xs.ContactPoint("wrist", radius=0.05)])
    assert_allclose(robot.q0[2], 0.6 + 0.05, atol=1e-9)


def test_q0_of_a_fixed_robot_is_neutral(tmp_path):
    robot = xs.load_robot(write(tmp_path, ARM_URDF), floating_base=False, contact_points=[xs.ContactPoint("wrist")])
    assert_array_equal(robot.q0, [0, 1, 0])


def test_a_file_takes_a_q0(tmp_path):
    q0 = [0.0, 0.0, 0.9, 0.0, 0.0, 0.0, 1.0, 0.5, 0.0, 1.0]
    assert_array_equal(xs.load_robot(write(tmp_path, ARM_URDF), q0=q0).q0, q0)


def test_a_robot_knows_the_file_it_came_from(tmp_path):
    path = write(tmp_path, ARM_URDF)
    assert xs.load_robot(path).source == path.resolve()


def test_a_robot_knows_its_package_dirs(tmp_path):
    robot = xs.load_robot(write(tmp_path, ARM_URDF), package_dirs=[tmp_path])
    assert robot.package_dirs == (tmp_path.resolve(),)


def test_meshes_need_not_be_found_to_simulate(tmp_path):
    mesh = '<collision><geometry><mesh filename="package://nowhere/a.stl"/></geometry></collision>'
    robot = xs.load_robot(write(tmp_path, BODY_URDF.replace("</link>", mesh + "</link>")))
    assert robot.model.nv == 6


def test_damping_and_friction_of_a_urdf_file_reach_the_robot(tmp_path):
    text = ARM_URDF.replace("<limit", '<dynamics damping="0.25" friction="0"/><limit')
    robot = xs.load_robot(write(tmp_path, text), floating_base=False)
    assert_array_equal(robot.joint_damping, [0.25, 0.0])


# MJCF files.


def test_an_mjcf_file_with_a_free_joint_floats(tmp_path):
    robot = hopper(tmp_path)
    assert robot.has_floating_base
    assert (robot.model.nq, robot.model.nv, robot.actuated_joints) == (8, 7, ("knee",))


def test_an_mjcf_file_with_a_joint_of_type_free_floats(tmp_path):
    assert hopper(tmp_path, free='<joint type="free"/>').has_floating_base


def test_an_mjcf_file_without_a_free_joint_is_fixed(tmp_path):
    robot = hopper(tmp_path, free="")
    assert not robot.has_floating_base
    assert robot.model.nv == 1


def test_an_mjcf_file_without_a_free_joint_floats_if_asked_to(tmp_path):
    robot = hopper(tmp_path, free="", floating_base=True)
    assert robot.has_floating_base
    assert robot.actuated_joints == ("knee",)


def test_an_mjcf_file_with_a_free_joint_may_be_asked_to_float(tmp_path):
    assert hopper(tmp_path, floating_base=True).model.nv == 7


def test_an_mjcf_file_with_a_free_joint_cannot_be_fixed(tmp_path):
    with pytest.raises(xs.InvalidArgument, match=r"floating_base is False.*hopper\.xml has a free joint; remove"):
        hopper(tmp_path, floating_base=False)


@pytest.mark.parametrize("name", ["home", "stand"])  # before and after Pinocchio's own entry "qpos0"
def test_an_mjcf_file_starts_at_its_keyframe(tmp_path, name):
    robot = hopper(tmp_path, keyframe=KEYFRAME.format(name=name))
    assert_allclose(robot.q0, [0, 0, 0.5, 0, 0.8, 0, 0.6, 0.3], atol=1e-15)  # quaternion x, y, z, w


def test_damping_and_armature_of_an_mjcf_file_reach_the_robot(tmp_path):
    robot = hopper(tmp_path)
    assert_array_equal(robot.joint_damping, [0] * 6 + [0.5])
    assert_array_equal(robot.armature, [0] * 6 + [0.1])


def test_a_site_of_an_mjcf_file_can_be_a_contact_point(tmp_path):
    robot = hopper(tmp_path, contact_points=[xs.ContactPoint("toe")])
    sim = xs.Simulator(robot, xs.HalfSpace())
    sim.reset([0, 0, 0.499, 0, 0, 0, 1, 0])
    assert_allclose(sim.contacts[0].position, [0, 0, -0.001], atol=1e-12)


def test_a_robot_from_an_mjcf_file_is_picklable(tmp_path):
    robot = hopper(tmp_path)
    assert_array_equal(trajectory(pickle.loads(pickle.dumps(robot)), (), 10), trajectory(robot, (), 10))


def test_an_mjcf_file_with_two_robots_is_not_loaded_by_half_in_silence(tmp_path):
    # Pinocchio reads the first body of the world and drops the others.
    body = '<body name="{}"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>'
    text = f"<mujoco><worldbody>{body.format('alice')}{body.format('bob')}</worldbody></mujoco>"
    path = write(tmp_path, text, "two.xml")
    try:
        (message,) = warnings_of(lambda: xs.load_robot(path))
    except xs.ExposimError as error:
        message = str(error)
    assert "bob" in message


def test_a_hopper_falls_with_g(tmp_path):
    sim = xs.Simulator(hopper(tmp_path), dt=1e-3)
    sim.step(n=10)
    assert_allclose(sim.v, [0, 0, -0.0981, 0, 0, 0, 0], atol=1e-12)


# What is refused.


def test_mimic_joints_are_refused():
    model = chain_with(pin.JointModelRY())
    mimicking = pin.transformJointIntoMimic(model, 1, 2, 1.0, 0.0)
    with pytest.raises(xs.UnsupportedModel, match=r"mimic joints \(it\).*load the model without them"):
        xs.load_robot(mimicking)


def test_the_mimic_joints_of_a_urdf_file_move_freely(tmp_path):
    text = ARM_URDF.replace('<axis xyz="0 1 0"/></joint>', '<axis xyz="0 1 0"/><mimic joint="shoulder"/></joint>')
    assert xs.load_robot(write(tmp_path, text), floating_base=False).model.nv == 2


def test_a_massless_joint_is_refused():
    model = pendulum()
    model.addJoint(1, pin.JointModelRX(), pin.SE3.Identity(), "feather")
    with pytest.raises(xs.UnsupportedModel, match=r"'feather'.*give its link mass, or armature"):
        xs.load_robot(model)


def test_a_massless_base_is_refused(tmp_path):
    text = '<robot name="ghost"><link name="ghost"/></robot>'
    with pytest.raises(xs.UnsupportedModel, match=r"'root_joint'.*give its link mass, or armature"):
        xs.load_robot(write(tmp_path, text))


def test_a_negative_mass_is_refused(tmp_path):
    with pytest.raises(xs.UnsupportedModel, match="not positive definite"):
        xs.load_robot(write(tmp_path, BODY_URDF.replace('mass value="2"', 'mass value="-2"')))


def test_a_robot_that_is_only_singular_at_its_neutral_configuration_can_be_simulated():
    # A gimbal of three hinges: coaxial first and last at zero, fine where it is asked to start.
    model, parent = pin.Model(), 0
    for kind in (pin.JointModelRZ, pin.JointModelRY, pin.JointModelRZ):
        parent = model.addJoint(parent, kind(), pin.SE3.Identity(), f"hinge {parent}")
    model.appendBodyToJoint(parent, pin.Inertia.FromBox(1.0, 0.1, 0.2, 0.3), pin.SE3.Identity())
    robot = xs.load_robot(model, q0=[0.0, 1.0, 0.0])
    assert np.isfinite(trajectory(robot, (), 10)).all()


def test_a_model_without_degrees_of_freedom_is_refused(tmp_path):
    with pytest.raises(xs.UnsupportedModel, match=r"no degree of freedom.*floating_base=True"):
        xs.load_robot(write(tmp_path, BODY_URDF), floating_base=False)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda model: setattr(model, "gravity", pin.Motion(np.array([0, 0, np.nan, 0, 0, 0]))),
        lambda model: setattr(model, "damping", np.array([np.nan])),
        lambda model: setattr(model, "armature", np.array([np.nan])),
        lambda model: setattr(model, "armature", np.array([np.inf])),
        lambda model: model.jointPlacements.__setitem__(1, pin.SE3(np.eye(3), np.array([0, 0, np.nan]))),
        lambda model: model.inertias.__setitem__(1, pin.Inertia(np.nan, np.zeros(3), np.eye(3))),
    ],
    ids=["gravity", "damping", "armature nan", "armature inf", "placement", "inertia"],
)
def test_a_model_with_nan_in_it_is_refused(spoil):
    model = pendulum()
    spoil(model)
    with pytest.raises(xs.UnsupportedModel):
        xs.load_robot(model)


def test_a_model_with_negative_damping_is_refused():
    model = pendulum()
    model.damping = np.array([-1.0])
    with pytest.raises(xs.ExposimError, match="damping"):
        xs.load_robot(model)


@pytest.mark.parametrize("source", ["solo12", "model"])
def test_floating_base_is_for_files_only(source):
    with pytest.raises(xs.InvalidArgument, match=r"floating_base is for model files.*leave it out"):
        xs.load_robot(pendulum() if source == "model" else source, floating_base=True)


# What is warned of.


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_robot_is_loaded_without_a_warning(name):
    assert warnings_of(lambda: xs.load_robot(name)) == []


def test_a_file_of_which_all_is_simulated_is_not_warned_of(tmp_path):
    path = write(tmp_path, ARM_URDF)
    assert warnings_of(lambda: xs.load_robot(path, floating_base=True, contact_points=[xs.ContactPoint("wrist")])) == []


def test_solid_links_without_contact_points_are_warned_of(tmp_path):
    head, base, upper, lower = ARM_URDF.split("</link>", 3)
    path = write(tmp_path, "</link>".join([head + BALL, base + BALL, upper, lower]))
    (message,) = warnings_of(lambda: xs.load_robot(path, contact_points=[xs.ContactPoint("wrist")]))
    assert "links without contact points, which pass through the ground (base, upper)" in message


def test_a_solid_link_with_a_contact_point_is_not_warned_of(tmp_path):
    head, base, rest = ARM_URDF.split("</link>", 2)
    path = write(tmp_path, "</link>".join([head, base + BALL, rest]))
    (message,) = warnings_of(lambda: xs.load_robot(path, contact_points=[xs.ContactPoint("upper")]))
    assert "links without" not in message


def test_a_robot_without_contact_points_is_warned_of(tmp_path):
    (message,) = warnings_of(lambda: xs.load_robot(write(tmp_path, ARM_URDF)))
    assert "no contact points were named" in message


def test_a_model_without_contact_points_is_warned_of():
    (message,) = warnings_of(lambda: xs.load_robot(pendulum()))
    assert "no contact points were named" in message


def test_a_warning_points_at_the_line_that_loads_the_robot():
    with pytest.warns(xs.ModelWarning) as caught:
        xs.load_robot(pendulum())
    assert caught[0].filename == __file__


def test_rotor_inertia_that_pinocchio_ignores_is_warned_of():
    model = pendulum()
    model.rotorInertia = np.array([1e-5])
    model.rotorGearRatio = np.array([9.0])
    (message,) = warnings_of(lambda: xs.load_robot(model, contact_points=[xs.ContactPoint("tip")]))
    assert "rotor inertia" in message
