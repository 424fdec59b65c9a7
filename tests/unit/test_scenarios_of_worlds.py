"""Scenarios with several bodies, stairs and rough ground; what touches what is part of a scenario and of its file."""

import dataclasses

import numpy as np
import pytest
from test_scenarios import finish
from test_trajectory import assert_same

import exposim as xs
from exposim import scenarios
from exposim.analysis.local_error import ground_truth, local_errors
from exposim.contact.surfaces import Surface
from exposim.scenarios import Run
from exposim.scenarios.measures import forces_by_direction
from exposim.simulation.settings import RunSettings


@pytest.fixture(scope="module")
def crate():
    return scenarios.get("push-crate")


@pytest.fixture(scope="module")
def stack():
    return scenarios.get("stack")


# ----- the scenarios


@pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2])
def test_a_stack_comes_to_rest_as_high_as_its_springs_say(dt, stack):
    trajectory = stack.run(dt=dt)
    judgement = stack.judge(trajectory)
    assert judgement.complaints == ()
    assert judgement.measures["creep in the last second [m]"] < 1e-15
    assert judgement.measures["off the springs' height [m]"] < 1e-12


def test_boxes_that_do_not_touch_each_other_are_no_stack(stack):
    apart = stack.replace(collisions=None)
    (complaint,) = apart.judge(apart.run()).complaints
    assert complaint.startswith("box 5 ended 800 mm from")


@pytest.mark.parametrize(("robot", "limp"), [("solo12", False), ("go2", False), ("anymal_c", True)])
def test_a_robot_comes_to_rest_on_rough_ground(robot, limp):
    scenario = scenarios.get("rough-drop", robot=robot, limp=limp, height=0.1)
    assert len(scenario.robot.contact_points) > 20
    assert bool(scenario.robot.drives) is not limp
    assert scenario.judge(scenario.run()).complaints == ()


def test_a_robot_that_sinks_deeper_than_its_fall_says_so():
    scenario = scenarios.get("rough-drop", robot="solo12")
    trajectory = scenario.run(duration=0.5)
    (floor,) = trajectory.settings.ground
    raised = xs.HeightField(np.array(floor.heights) + 0.1, floor.spacing, floor.origin)
    deeper = dataclasses.replace(trajectory.settings, ground=(raised,))
    trajectory.header["settings"] = deeper.describe()
    del trajectory.__dict__["settings"]
    (complaint,) = scenario.judge(trajectory).complaints
    assert "sank by 9" in complaint


def test_a_crate_is_pushed_and_held_back_by_its_friction(crate):
    trajectory = crate.run(duration=3.5)
    measures = crate.judge(trajectory).measures
    assert measures["crate went [m]"] > 0.15
    assert measures["friction by μ m g [-]"] == pytest.approx(1.0, abs=0.02)
    normal, _ = forces_by_direction(trajectory)
    on_crate = [i for i, contact in enumerate(trajectory.contacts) if contact.surface == 1]
    pushing = {trajectory.contact_names[i] for i in on_crate if normal[:, i].max() > 0.0}
    assert pushing == {"go2/bumper_left", "go2/bumper_right"}


def test_a_crate_that_nobody_touches_stays(crate):
    through = crate.replace(collisions=None)
    trajectory = through.run(dt=0.02, control_period=0.02)
    assert through.judge(trajectory).measures["crate went [m]"] == 0.0
    assert any("the crate went 0.00 m" in each for each in through.judge(trajectory).complaints)


def test_two_robots_carry_a_beam_between_them():
    scenario = scenarios.get("two-robots")
    judgement = scenario.judge(scenario.run(duration=3.0))
    assert judgement.complaints == ()
    assert judgement.measures["greatest tilt [rad]"] > 0.05
    dropped = scenario.replace(collisions=None)
    assert "the left one carries -0 % of the beam" in dropped.judge(dropped.run(duration=1.5)).complaints


def test_a_go2_climbs_the_first_steps():
    scenario = scenarios.get("go2-stairs")
    trajectory = scenario.run(duration=6.0)
    judgement = scenario.judge(trajectory)
    assert judgement.complaints == ()
    assert judgement.measures["worst foothold [m]"] < 5e-3
    assert judgement.measures["climbed [m]"] > 0.05
    front = trajectory.contact_names.index("FL_foot")
    assert trajectory.position[:, front, 2].max() > 2 * 0.08
    # Feet land on treads; none strikes a riser.
    normal, _ = forces_by_direction(trajectory)
    assert not ((normal > 0.0) & (trajectory.normal[..., 2] < 0.99)).any()


def test_a_go2_that_walks_past_the_stairs_says_so():
    scenario = scenarios.get("go2-stairs")
    flat = scenario.replace(ground=xs.HalfSpace())
    (complaint,) = flat.judge(flat.run(duration=2.5)).complaints
    assert "foot landed 8.6 cm off its foothold" in complaint


# ----- collisions


def test_collisions_are_kept_as_pairs_of_names(stack):
    assert stack.collisions[0] == ("box1", "box2")
    assert len(stack.replace(collisions="all").collisions) == 10
    assert stack.replace(collisions=None).collisions == ()
    with pytest.raises(xs.InvalidArgument, match="did you mean 'box"):
        stack.replace(collisions=[("box", "box1")])


def test_collisions_are_written_and_read(stack, tmp_path):
    trajectory = stack.run(duration=0.1)
    loaded = xs.Trajectory.load(trajectory.save(tmp_path / "stack.npz"))
    assert loaded.settings.collisions == stack.collisions
    assert scenarios.of(loaded).collisions == stack.collisions
    assert_same(finish(Run.again(loaded, scenarios.of(loaded))), trajectory)


def test_files_without_collisions_have_none(stack):
    described = stack.run(duration=0.01).settings.describe()
    del described["collisions"]
    assert RunSettings.build(described).collisions == ()
    described["collisions"] = [["box1", 2]]
    with pytest.raises(xs.InvalidArgument, match="collisions"):
        RunSettings.build(described)


def test_a_run_of_several_robots_resumes_with_the_same_bits_and_with_the_same_collisions_only(tmp_path):
    scenario = scenarios.get("two-robots")
    whole = scenario.run(duration=0.2)
    half = xs.Trajectory.load(scenario.run(duration=0.1).save(tmp_path / "half.npz"))
    assert_same(finish(Run.resume(half, scenarios.of(half), duration=0.2)), whole)
    with pytest.raises(xs.StateMismatch, match="collisions of scenario 'two-robots' is not as it was"):
        Run.resume(half, scenarios.of(half).replace(collisions="all"))


def test_the_friction_between_bodies_is_that_of_their_contact(crate):
    contacts = crate.run(duration=0.01).contacts
    friction = {(contact.name, contact.surface): contact.friction for contact in contacts}
    assert friction["go2/FL_foot", 0] == 1.0
    assert friction["go2/bumper_left", 1] == 0.1
    assert friction["crate/crate_corner_0", 0] == 0.4


def test_local_errors_are_of_bodies_that_touch_each_other(stack):
    falling = stack.replace(control_period=0.01)
    truth = ground_truth(falling, xs.Expo(), 1e-3, 0.2)
    assert local_errors(falling, xs.Expo(), 1e-3, truth).max() == 0.0
    apart = falling.replace(collisions="all")
    assert local_errors(apart, xs.Expo(), 1e-3, truth).max() < 1e-9


# ----- materials


class Bowl(Surface):
    def distance(self, p):
        return 2.0 - np.linalg.norm(p - [0, 0, 2], axis=1)

    def normal(self, p):
        away = np.array([0, 0, 2]) - p
        return away / np.linalg.norm(away, axis=1)[:, None]


def test_another_material_is_that_of_all_surfaces(crate):
    ground = (xs.HalfSpace(), xs.Box(size=(1, 1, 1)), xs.terrain.stairs(), xs.terrain.rough(2.0, 0.1), Bowl())
    changed = crate.replace(ground=ground).with_material(friction=0.3)
    assert [surface.material.friction for surface in changed.ground] == [0.3] * 5
    assert [type(surface) for surface in changed.ground] == [type(surface) for surface in ground]
    assert Bowl().material.friction == ground[-1].material.friction == 1.0
    assert changed.robot is crate.robot
