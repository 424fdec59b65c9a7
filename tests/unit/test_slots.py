"""A contact point remembers a few contacts, however many surfaces there are."""

import warnings

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from systems import INTEGRATORS, block, integrator_id, point_mass

FAR = [xs.HalfSpace(point=(0.0, 0.0, -10.0 - i)) for i in range(97)]
CORNER = [
    xs.HalfSpace(xs.Material(friction=0.5)),
    xs.HalfSpace(xs.Material(friction=0.3), (0.3, 0.0, 0.0), (-1.0, 0.0, 0.0)),
    xs.HalfSpace(xs.Material(friction=0.3), (0.0, 0.3, 0.0), (0.0, -1.0, 0.0)),
]


def thrown_into_a_corner(ground, integrator=None, dt=1e-3, **options):
    sim = xs.Simulator(block(), ground, integrator, dt, **options)
    q = np.array([0.1, 0.1, 0.3, 0.1, 0.2, 0.05, 1.0])
    q[3:] /= np.linalg.norm(q[3:])
    sim.reset(q, [1.5, 1.2, -1.5, 3.0, 2.0, 1.0])
    return sim


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=integrator_id)
def test_surfaces_that_are_far_away_change_nothing(integrator):
    exponential = isinstance(integrator, (xs.Expo, xs.PaperExpo))
    robot = xs.load_robot("solo12")
    dt = 2e-3 if exponential else 1e-4
    q = pin.integrate(robot.model, robot.q0, np.r_[0, 0, 0.005, 0.05, 0.1, np.zeros(13)])
    ends = []
    for ground in (CORNER[:1], CORNER[:1] + FAR):
        sim = xs.Simulator(robot, ground, integrator, dt)
        sim.reset(q, np.r_[0.5, 0.3, -0.3, np.zeros(15)])
        sim.step(n=round(0.1 / dt))
        ends.append(np.r_[sim.q, sim.v])
    assert_allclose(ends[1], ends[0], rtol=0.0, atol=1e-12)


def test_a_box_in_a_corner_among_many_surfaces_moves_as_in_the_corner_alone():
    alone, among = thrown_into_a_corner(CORNER), thrown_into_a_corner(CORNER + FAR, slots=3)
    assert among.contacts[0].surface is None  # in the air
    for _ in range(300):
        alone.step()
        among.step()
    assert alone.statistics.resolved > 20
    assert_allclose(among.q, alone.q, atol=1e-9)
    touched = {(c.name, id(c.surface)) for c in among.contacts if c.active}
    assert touched == {(c.name, id(c.surface)) for c in alone.contacts if c.active}


def test_a_state_does_not_grow_with_the_number_of_surfaces():
    sizes = [thrown_into_a_corner(CORNER[:1] + FAR[:n]).state.to_array().size for n in (10, 90)]
    assert sizes[0] == sizes[1]


def test_a_state_among_many_surfaces_continues_with_the_same_bits():
    sim, other = (thrown_into_a_corner(CORNER + FAR, slots=3) for _ in range(2))
    while not sim.active.any():
        sim.step()
    sim.step(n=2)
    assert sim.active.any()
    other.state = xs.State.from_array(sim.state.to_array())
    assert np.array_equal(other.forces, sim.forces)
    for each in (sim, other):
        each.step(n=100)
    assert sim.state == other.state


FAR_WALLS = [
    xs.HalfSpace(normal=(np.cos(a), np.sin(a), 0), point=(-9 * np.cos(a), -9 * np.sin(a), 0))
    for a in np.arange(7) * 0.8
]


def test_planes_that_are_near_but_not_touched_take_no_slot_from_one_that_is():
    """Whatever their order: the landing keeps its stretch."""
    near = [
        xs.HalfSpace(normal=(1, 0, 0), point=(-0.008, 0, 0)),
        xs.HalfSpace(normal=(0, 1, 0), point=(0, -0.008, 0)),
        xs.HalfSpace(),
    ]
    ends = []
    for ground in (near, near + FAR_WALLS, near[::-1] + FAR_WALLS):
        sim = xs.Simulator(point_mass(), ground, dt=5e-3)
        sim.reset([0, 0, 0.002], [0.3, 0.4, -1.0])
        sim.step(n=2)
        ends.append(np.r_[sim.q, sim.v, sim.forces.sum(axis=0)])
        assert sim.statistics.overflows == 0
    assert_allclose(ends[1:], [ends[0]] * 2, atol=1e-12)


def test_random_corners_with_two_touched_planes_need_two_slots():
    rng = np.random.default_rng(3)
    compared = 0
    for _ in range(40):
        normals = rng.standard_normal((3, 3))
        ground = [xs.HalfSpace(normal=n, point=-0.004 * rng.random() * n / np.linalg.norm(n)) for n in normals]
        v = 0.8 * rng.standard_normal(3)
        fixed, free = (xs.Simulator(point_mass(), planes, dt=5e-3, slots=k) for planes, k in ((ground, 3), (ground, 2)))
        most = 0
        for sim in (fixed, free):
            sim.reset([0, 0, 0], v)
        for _ in range(4):
            fixed.step()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", xs.ContactWarning)
                free.step()
            most = max(most, fixed.active.sum())
        if most <= 2 and free.statistics.overflows == 0:
            assert_allclose(free.v, fixed.v, atol=1e-9)
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("integrator", [xs.ExplicitEuler(), xs.PaperExpo(), xs.RungeKutta4(), xs.Expo()], ids=repr)
def test_a_slot_is_given_back_before_another_surface_takes_it(integrator):
    ground = [xs.HalfSpace(normal=(1, 0, 0)), xs.HalfSpace(normal=(-1, 0, 0), point=(0.004, 0, 0))]
    robot = point_mass().replace(gravity=(0, 0, 0))
    ends = []
    for slots in (1, 2):
        sim = xs.Simulator(robot, ground, integrator, 5e-3, slots=slots)
        sim.reset([-1e-5, 0, 0], [1.5, 0, 0])
        sim.step(n=2)
        assert sim.statistics.overflows == 0
        ends.append(sim.v)
    assert_allclose(ends[0], ends[1], atol=1e-12)


@pytest.mark.parametrize("integrator", [xs.RungeKutta4(), xs.Expo()], ids=repr)
def test_of_more_surfaces_than_slots_the_deepest_hold(integrator):
    walls = [((1, 0, 0), (0, 0, 0)), ((0, 1, 0), (0, 0, 0)), ((-1, 0, 0), (1, 0, 0)), ((0, -1, 0), (0, 1, 0))]
    slippery = [xs.HalfSpace(xs.Material(friction=0.2), normal=n, point=p) for n, p in walls]
    robot = point_mass().replace(gravity=(-0.5, -0.5, -9.81))
    sim = xs.Simulator(robot, [*slippery, xs.HalfSpace()], integrator, 1e-4)
    sim.reset([-1e-5, -1e-5, -2e-4])
    assert sim.statistics.overflows == 1
    with pytest.warns(xs.ContactWarning):
        sim.step(n=2000)
    assert sim.q[2] > -1e-3  # the floor is among them


def test_a_table_of_a_motion_among_many_surfaces_has_every_force():
    robot = xs.load_robot("solo12")
    q = robot.q0
    q[2] += 0.02
    tables = []
    for ground in ([xs.HalfSpace()], [xs.HalfSpace(), *FAR_WALLS]):
        scenario = xs.scenarios.Scenario(
            name="dropped",
            robot=robot,
            make_controller=lambda: xs.controllers.PD(robot, 8.0, 0.1),
            control_period=5e-3,
            duration=0.2,
            ground=ground,
            q0=q,
        )
        trajectory = scenario.run()
        tables.append((trajectory.to_dataframe(), trajectory))
    alone, among = tables
    assert len(among[0].columns) == len(set(among[0].columns))
    assert_allclose(among[0]["FL_FOOT#0_fz"] + among[0]["FL_FOOT#1_fz"], alone[0]["FL_FOOT_fz"], atol=1e-9)
    normal, _ = xs.analysis.forces_by_direction(among[1])
    assert_allclose(normal.sum(axis=1), among[1].force[:, :, 2].sum(axis=1), atol=1e-9)


def test_a_state_with_a_surface_in_two_slots_of_a_point_is_refused():
    sim = xs.Simulator(point_mass(), CORNER + FAR)
    sim.reset([0.0, 0.0, -1e-4])
    with pytest.raises(xs.StateMismatch):
        sim.state = sim.state.replace(surface=[0, 0], mode=[2, 2])


def test_a_touch_without_a_slot_is_counted_and_warned_of_once():
    sim = xs.Simulator(point_mass(), CORNER + FAR, dt=1e-3)
    sim.reset([0.3001, 0.3001, -1e-4])
    with pytest.warns(xs.ContactWarning, match=r"slots=3"):
        sim.step(n=2)
    assert sim.statistics.overflows > 0
    assert sim.active.sum() == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step()


@pytest.mark.parametrize("slots", [0, -1, 1.5, True, "two"])
def test_a_number_of_slots_that_cannot_be_is_refused(slots):
    with pytest.raises(xs.InvalidArgument, match="slots"):
        xs.Simulator(point_mass(), CORNER, slots=slots)
