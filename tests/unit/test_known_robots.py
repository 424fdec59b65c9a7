"""The known robots stand where they should and are what they should be."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from robot_files import KNOWN, heights, known

# Known robots.


def test_the_known_robots_are_the_ones_promised():
    assert set(KNOWN) == set(xs.KNOWN_ROBOTS)


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_robot_has_its_degrees_of_freedom(name):
    model = known(name).model
    assert (model.nq, model.nv) == KNOWN[name][:2]


@pytest.mark.parametrize("name", KNOWN)
def test_q0_of_a_known_robot_has_nq_finite_entries(name):
    robot = known(name)
    assert robot.q0.shape == (robot.model.nq,)
    assert np.isfinite(robot.q0).all()


@pytest.mark.parametrize("name", KNOWN)
def test_q0_of_a_known_robot_is_a_configuration(name):
    robot = known(name)
    assert pin.isNormalized(robot.model, robot.q0, 1e-12)


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_robot_has_the_contact_points_promised(name):
    assert len(known(name).contact_points) == KNOWN[name][2]


@pytest.mark.parametrize("name", KNOWN)
def test_feet_are_the_unique_names_of_the_contact_points(name):
    robot = known(name)
    assert robot.feet == tuple(point.name for point in robot.contact_points)
    assert len(set(robot.feet)) == len(robot.feet), f"names repeat: {robot.feet}"


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_robot_stands_with_every_contact_point_on_the_ground(name):
    robot = known(name)
    assert_allclose(heights(robot, robot.q0), 0.0, atol=1e-9)


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_robot_stands_upright(name):
    assert_allclose(known(name).q0[3:7], [0, 0, 0, 1], atol=1e-12)


@pytest.mark.parametrize("name", KNOWN)
def test_every_contact_of_a_known_robot_is_active_at_reset(name):
    contacts = xs.Simulator(known(name), xs.HalfSpace()).contacts
    assert [c.name for c in contacts if not c.active] == []


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_robot_keeps_its_height_for_a_moment_under_pd_control(name):
    # Stands in earnest: the joints hold q0 by stiff springs, and no foot leaves or sinks in.
    robot = known(name).replace(joint_damping=20.0, armature=0.1)
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=1e-3)
    dofs = list(robot.actuated_dofs)
    for _ in range(50):
        sim.step(-2000.0 * pin.difference(robot.model, robot.q0, sim.q)[dofs])
    assert abs(sim.q[2] - robot.q0[2]) < 0.01


@pytest.mark.parametrize("name", ["romeo", "talos", "g1"])
def test_a_humanoid_has_four_points_on_each_foot(name):
    frames = [point.frame for point in known(name).contact_points]
    assert sorted(frames.count(frame) for frame in set(frames)) == [4, 4]


@pytest.mark.parametrize("name", ["romeo", "talos", "g1"])
def test_the_corners_of_a_sole_differ(name):
    points = known(name).contact_points
    assert len({(p.frame, p.offset) for p in points}) == len(points)


def test_romeo_has_37_degrees_of_freedom():
    assert known("romeo").model.nv == 37


@pytest.mark.parametrize("ankle", ["LAnkleRoll", "RAnkleRoll"])
def test_the_corners_of_romeos_soles_are_where_the_paper_has_them(ankle):
    robot = known("romeo")
    model, data = robot.model, robot.model.createData()
    pin.framesForwardKinematics(model, data, robot.q0)
    oMankle = data.oMi[model.getJointId(ankle)]
    contacts = xs.Simulator(robot, xs.HalfSpace()).contacts
    corners = [
        oMankle.actInv(contact.position)
        for contact, point in zip(contacts, robot.contact_points, strict=True)
        if point.frame == ankle
    ]
    expected = [(-0.05, -0.05, -0.07), (-0.05, 0.05, -0.07), (0.10, -0.05, -0.07), (0.10, 0.05, -0.07)]
    assert_allclose(sorted(np.round(corners, 9).tolist()), expected, atol=1e-8)


def test_the_feet_of_romeo_point_ahead():
    # "Ahead" is +x of the ankle-roll frame only if that is +x of the world when standing.
    robot = known("romeo")
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, robot.q0)
    for ankle in ("LAnkleRoll", "RAnkleRoll"):
        assert_allclose(data.oMi[robot.model.getJointId(ankle)].rotation, np.eye(3), atol=1e-6)


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_robot_has_all_its_joints_actuated_but_the_base(name):
    robot = known(name)
    assert robot.has_floating_base
    assert len(robot.actuated_dofs) == robot.model.nv - 6


@pytest.mark.parametrize("spelling", ["solo12", "Solo12", "SOLO12"])
def test_the_case_of_a_known_name_does_not_matter(spelling):
    assert xs.load_robot(spelling).name == "solo12"


def test_a_known_robot_takes_other_contact_points():
    robot = xs.load_robot("solo12", contact_points=[xs.ContactPoint("FL_FOOT", name="toe")])
    assert robot.feet == ("toe",)


def test_a_known_robot_takes_another_q0():
    q0 = known("solo12").q0
    q0[2] += 0.1
    assert_array_equal(xs.load_robot("solo12", q0=q0).q0, q0)


def test_a_known_robot_takes_another_name():
    assert xs.load_robot("solo12", name="Hugo").name == "Hugo"
