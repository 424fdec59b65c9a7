"""A simulator whose ground, gravity or masses are changed under way."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs
from robot_files import known
from systems import GRAVITY, block, downhill, on_slope, slope

ANGLE = 0.3  # tan: 0.309


def on_ground(**material):
    sim = xs.Simulator(known("solo12"), xs.HalfSpace(xs.Material(**material)))
    sim.step(n=20)
    return sim


def held_on_slope(friction=0.8):
    """A block at rest on a slope, its springs stretched."""
    sim = xs.Simulator(block(), slope(ANGLE, friction=friction))
    sim.reset(on_slope(ANGLE, 0.05))
    sim.step(n=200)
    assert np.abs(sim.v).max() < 1e-6
    return sim


def along(sim):
    """Velocity downhill [m/s]."""
    return sim.frame_velocity("box")[:3] @ downhill(ANGLE)


def test_state_and_time_go_on():
    sim = on_ground()
    before = sim.state
    sim.set(friction=0.9)
    assert sim.state == before
    assert sim.t == 0.1
    assert sim.surfaces[0].material == xs.Material(friction=0.9)
    assert set(sim.frictions) == {0.9}


def test_what_is_set_to_what_it_was_changes_no_bit():
    sim, other = on_ground(), on_ground()
    sim.set(friction=1.0, gravity=(0.0, 0.0, -9.81), mass={"base_link": sim.robot.masses["base_link"]})
    for each in (sim, other):
        each.step(n=40)
    assert sim.state == other.state


def test_a_changed_simulator_is_one_made_so():
    sim = on_ground()
    sim.set(friction=0.3, stiffness=(2e5, 1e5), damping=100.0, gravity=(0.0, 0.5, -3.7), mass={"*_FOOT": 0.1})
    robot = known("solo12").replace(gravity=(0.0, 0.5, -3.7), mass={"*_FOOT": 0.1})
    made = xs.Simulator(robot, xs.HalfSpace(xs.Material((2e5, 1e5), 100.0, 0.3)))
    made.state = sim.state
    for each in (sim, made):
        each.step(n=40)
    assert sim.state == made.state
    assert sim.robot.model.gravity.linear[2] == -3.7


def test_a_block_that_less_friction_cannot_hold_slides_as_it_should():
    sim = held_on_slope()
    force = sim.forces.sum(axis=0)
    sim.set(friction=0.1)
    assert sim.slipping.all()
    normal, shear = (
        sim.forces @ slope(ANGLE).normal,
        np.linalg.norm(sim.forces - np.outer(sim.forces @ slope(ANGLE).normal, slope(ANGLE).normal), axis=1),
    )
    assert_allclose(shear, 0.1 * normal, rtol=1e-9)  # on the new cone, at once
    assert_allclose(normal.sum(), force @ slope(ANGLE).normal)  # and pressed as before
    speed = along(sim)
    sim.step(n=40)
    expected = GRAVITY * (np.sin(ANGLE) - 0.1 * np.cos(ANGLE)) * 0.2
    assert_allclose(along(sim) - speed, expected, rtol=0.01)


def test_a_block_that_slides_is_held_by_more_friction():
    sim = held_on_slope()
    sim.set(friction=0.1)
    sim.step(n=20)
    assert along(sim) > 0.1
    sim.set(friction=1.5)
    sim.step(n=200)
    assert abs(along(sim)) < 1e-6
    assert not sim.slipping.any()


def test_enough_friction_keeps_a_block_where_it_is():
    sim = held_on_slope()
    before = sim.state
    sim.set(friction=0.5)
    assert sim.state == before
    sim.step(n=100)
    assert_allclose(sim.q, before.q, atol=1e-9)


def test_gravity_and_masses_are_felt_and_seen():
    sim = on_ground()
    weight = sum(inertia.mass for inertia in sim.robot.model.inertias)
    sim.set(gravity=(0.0, 0.0, -1.62), mass={"base_link": 5.0})
    heavier = weight - known("solo12").masses["base_link"] + 5.0
    assert sim.robot.masses["base_link"] == 5.0
    sim.reset(sim.q + 0.5 * np.eye(19)[2])
    before = sim.energy.gravity
    sim.reset(sim.q + 0.5 * np.eye(19)[2])
    assert_allclose(sim.energy.gravity - before, 1.62 * heavier * 0.5)
    sim.step(n=20)
    assert_allclose(sim.energy.total, before + 1.62 * heavier * 0.5, rtol=1e-6)


def test_the_inertia_grows_with_the_mass_and_the_centre_stays():
    robot = known("solo12")
    joint = robot.locate("FL_LOWER_LEG")[0]
    one, other = robot.model.inertias[joint], robot.replace(mass={"FL_LOWER_LEG": 0.5}).model.inertias[joint]
    assert_allclose(other.inertia, one.inertia * 0.5 / one.mass, rtol=1e-12)
    assert_array_equal(other.lever, one.lever)
    assert robot.replace(mass={"FL_LOWER_LEG": 0.5}).masses["FL_FOOT"] == 0.5  # fixed to it: one body


def test_one_foot_on_ice():
    sim = on_ground()
    sim.set(friction={"FL_FOOT": 0.05})
    assert sim.frictions == tuple(0.05 if foot == "FL_FOOT" else 1.0 for foot in sim.robot.feet)
    sim.set(friction=0.4)  # of all contacts with the ground
    assert set(sim.frictions) == {0.4}


def test_it_survives_pickles_and_copies():
    sim = on_ground()
    sim.set(friction=0.2, mass={"base_link": 4.0})
    for other in (pickle.loads(pickle.dumps(sim)), sim.copy()):
        assert (other.robot.masses, other.frictions) == (sim.robot.masses, sim.frictions)
        ahead = sim.copy()
        for each in (ahead, other):
            each.step(n=10)
        assert ahead.state == other.state
    sim.set(friction=0.7)
    assert set(other.frictions) == {0.2}


def test_a_diverged_one_stays_diverged():
    sim = xs.Simulator(known("solo12"), xs.HalfSpace(), xs.ExplicitEuler(), dt=0.02, on_divergence="stop")
    sim.step(n=400)
    sim.set(friction=0.5)
    assert sim.diverged


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"friction": -0.1},
        {"friction": 0.3, "gravity": (0.0, 1.0)},
        {"stiffness": 0.0, "friction": 0.3},
        {"friction": 0.3, "mass": {"base_link": 0.0}},
        {"friction": 0.3, "mass": 3.0},
        {"friction": {"FL_FOTO": 0.3}},
        {"friction": {}},
        {"gravity": (0.0, 0.0, np.nan)},
    ],
)
def test_bad_values_change_nothing(changes):
    sim = on_ground()
    before = sim.state, sim.robot, sim.surfaces
    with pytest.raises(xs.InvalidArgument, match=r"give|did you mean|finite"):
        sim.set(**changes)
    assert (sim.state, sim.robot, sim.surfaces) == before
    sim.step()


def test_an_unknown_link_is_named_with_the_closest_one():
    with pytest.raises(xs.UnknownFrame, match="did you mean 'base_link'"):
        on_ground().set(friction=0.3, mass={"base_lnk": 3.0})


def test_what_is_not_there_cannot_be_changed():
    with pytest.raises(xs.InvalidArgument, match="no ground whose friction"):
        xs.Simulator(known("solo12")).set(friction=0.3)
    bound = block().replace(contact_points=[xs.ContactPoint("box", name="pin", bilateral=True)])
    with pytest.raises(xs.InvalidArgument, match="bilateral and has none"):
        xs.Simulator(bound).set(friction={"pin": 0.3})


def test_a_setup_warning_is_not_said_again():
    robot = known("solo12")
    sim = xs.Simulator(robot, xs.HalfSpace())
    buried = robot.q0 - 0.2 * np.eye(19)[2]
    with pytest.warns(xs.SetupWarning, match="below"):
        sim.reset(buried)
    sim.set(friction=0.5)
    sim.reset(buried)  # warnings are errors


def test_the_settings_of_a_robot_keep_its_masses():
    from exposim.simulation.settings import RobotSettings  # noqa: PLC0415

    crate = xs.rigid_body("crate", xs.Box((0.4, 0.4, 0.4)), 5.0)
    for robot in (
        known("solo12").replace(mass={"*_FOOT": 0.1}),
        xs.combine(a=crate, b=crate).replace(mass={"b/*": 7.0}),
    ):
        again = RobotSettings.build(RobotSettings.of(robot).describe()).load()
        assert again.masses == robot.masses
        for one, other in zip(again.model.inertias, robot.model.inertias, strict=True):
            assert_array_equal(one.inertia, other.inertia)
    old = RobotSettings.of(known("solo12")).describe()
    del old["masses"]
    assert RobotSettings.build(old).load().masses == known("solo12").masses


def test_geometry_is_not_made_again():
    field = xs.HeightField(np.zeros((5, 5)))
    sim = xs.Simulator(block(), field)
    made = sim.surfaces[0]._made
    sim.set(friction=0.3)
    assert sim.surfaces[0]._made is made
    assert sim.surfaces[0].material.friction == 0.3


def test_a_beam_on_edges_that_less_friction_cannot_hold_slides_off_them():
    pillars = [xs.Box((0.1, 0.4, 0.2), (x, 0.0, 0.1), material=xs.Material(friction=0.8)) for x in (-0.2, 0.2)]
    sim = xs.Simulator(xs.rigid_body("beam", xs.Box((0.8, 0.1, 0.06)), 1.0).replace(gravity=(0.0, 2.0, -9.0)), pillars)
    sim.reset([0.05, 0.02, 0.23, 0.0, 0.0, 0.0, 1.0])
    sim.step(n=200)
    assert abs(sim.v[1]) < 1e-6
    sim.set(friction=0.1)
    assert_allclose(sim.forces.sum(axis=0), [0.0, -0.9, 9.0], atol=0.06)
    sim.step(n=10)
    assert_allclose(sim.v[1], (2.0 - 0.9) * 0.05, rtol=0.02)
