"""Links of one robot against each other, and robots within combined ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import exposim as xs

UPRIGHT = (0.0, 0.0, 0.0, 1.0)


@pytest.fixture(scope="module")
def ball():
    return xs.rigid_body("ball", xs.Sphere(0.1), mass=1.0)


@pytest.fixture(scope="module")
def nested(ball):
    """Three balls above each other, two of them a pair."""
    pair = xs.combine(a=ball, b=ball, poses={"a": [0.0, 0.0, 0.1, *UPRIGHT], "b": [0.0, 0.0, 0.4, *UPRIGHT]})
    return xs.combine(pair=pair, top=ball, poses={"top": [0.0, 0.0, 0.7, *UPRIGHT]})


def heights(robot, collisions):
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=5e-3, collisions=collisions)
    sim.step(n=400)
    return sim.q[[2, 9, 16]]


@pytest.mark.parametrize(
    ("collisions", "expected"),
    [
        ("all", (0.1, 0.3, 0.5)),
        ([("pair", "pair")], (0.1, 0.3, 0.1)),
        ([("pair/a", "pair/b")], (0.1, 0.3, 0.1)),
        ([("pair/b", "top")], (0.1, 0.1, 0.3)),
        ([("pair", "top")], (0.1, 0.1, 0.3)),
    ],
)
def test_collisions_reach_into_members_of_members(nested, collisions, expected):
    assert_allclose(heights(nested, collisions), expected, atol=2e-3)


def test_a_member_stands_for_all_that_it_is_made_of(nested):
    sim = xs.Simulator(nested, collisions=[("pair", "top"), ("pair", "pair")])
    within = [("pair/a", "pair/a"), ("pair/a", "pair/b"), ("pair/b", "pair/b")]
    assert sim.collisions == (("pair/a", "top"), ("pair/b", "top"), *within)
    assert [shape.frame for shape in sim.surfaces] == ["pair/a/ball", "pair/b/ball", "top/ball"]
    with pytest.raises(xs.InvalidArgument, match=r"did you mean 'pair/[ab]'"):
        xs.Simulator(nested, collisions=[("pair/c", "top")])


def test_points_within_a_shape_of_the_same_robot_at_the_start_are_left_out():
    go2 = xs.load_robot("go2", contact_points="auto")
    sim = xs.Simulator(go2, xs.HalfSpace(), collisions=[("go2", "go2")])
    assert not any(contact.active and contact.surface.frame for contact in sim.contacts)
    assert len(sim.overlaps) > 0
    point, shape = sim.overlaps[0]
    assert any(each.shape is shape and each.materials[go2.contact_points.index(point)] is None for each in sim.carried)


def test_the_same_points_touch_the_shapes_of_others():
    """Two of the same robot on the same spot: what is left out of each is not left out between them."""
    crate = xs.rigid_body("crate", xs.Box(size=(0.2, 0.2, 0.2)), mass=1.0)
    both = xs.combine(a=crate, b=crate, poses={"b": [0.05, 0.0, 0.1, *UPRIGHT]})
    sim = xs.Simulator(both, collisions="all")
    assert sim.overlaps == ()
    assert np.count_nonzero(sim.active) > 0


def test_links_that_are_apart_at_the_start_still_collide():
    go2 = xs.load_robot("go2", contact_points="auto").replace(gravity=(0.0, 0.0, 0.0))
    sim = xs.Simulator(go2, collisions="all", dt=1e-3)
    q = sim.q
    legs = {name: go2.model.joints[go2.model.getJointId(name)].idx_q for name in ("FL_hip_joint", "FR_hip_joint")}
    q[legs["FL_hip_joint"]], q[legs["FR_hip_joint"]] = -0.45, 0.45  # feet inwards, into each other
    sim.reset(q)
    assert any(contact.active for contact in sim.contacts)


def test_what_falls_on_the_base_of_a_fixed_robot_lies_on_it(tmp_path, ball):
    path = tmp_path / "arm.urdf"
    path.write_text(
        '<robot name="arm"><link name="world"><collision><geometry><box size="1 1 0.2"/></geometry></collision></link>'
        '<link name="tip"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="turn" type="continuous"><parent link="world"/><child link="tip"/></joint>'
        "</robot>"
    )
    arm = xs.load_robot(path, contact_points=())
    both = xs.combine(arm=arm, ball=ball, poses={"ball": [0.2, 0.0, 0.3, *UPRIGHT]})
    sim = xs.Simulator(both, collisions="all", dt=5e-3)
    sim.step(n=400)
    assert_allclose(sim.q[both.part("ball").q][2], 0.2, atol=1e-3)
