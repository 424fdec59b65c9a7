"""A row with materials and masses of its own is a simulator that was made with them, bit for bit."""

import numpy as np
import pytest

import exposim as xs
from rows import driven, looped, random_targets

STEPS = 20
OWN = xs.Material(stiffness=5e4, friction=0.7)


def assert_rows_are(pool, sims, x, **inputs):
    """Every row is its simulator, to the last bit, for any threads."""
    out = pool(x, **{f"{name}s": values for name, values in inputs.items()}, steps=STEPS, record=("states",))
    assert not out.status.any()
    for i, sim in enumerate(sims):
        start = pool.states(x[i])[0]
        assert np.array_equal(out.states[i], looped(sim, start, STEPS, **{k: v[i] for k, v in inputs.items()})[0]), i


@pytest.mark.parametrize("threads", [1, 3])
def test_materials_of_rows_are_those_of_simulators_made_with_them(threads):
    sim = driven("solo12")
    frictions, stiffnesses, dampings = (0.1, 0.4, 0.9, 0.4), (2e4, 5e4, 1e5, 1e6), (50.0, 100.0, 300.0, 1000.0)
    pool = xs.Rollout(sim, threads=threads)
    pool.vary(slice(4), friction=frictions)
    pool.vary(slice(4), stiffness=np.array(stiffnesses), damping=np.array(dampings))
    sims = [
        driven("solo12", ground=xs.HalfSpace(material=xs.Material(K, B, mu)))
        for K, B, mu in zip(stiffnesses, dampings, frictions, strict=True)
    ]
    x = pool.reset()
    for i, other in enumerate(sims):
        other.reset()
        assert np.array_equal(x[i], other.state._x)
    assert_rows_are(pool, sims, x, target=random_targets(sim, 4, STEPS))


@pytest.mark.parametrize("scheme", [xs.Expo(), xs.PaperExpo(), xs.ImplicitEuler(), xs.RungeKutta4()], ids=repr)
def test_masses_of_rows_are_those_of_robots_made_with_them(scheme):
    sim = driven("solo12", dt=5e-4, integrator=scheme)
    pool = xs.Rollout(sim, threads=2)
    masses = (0.8, 1.4, 2.5)
    pool.vary(slice(3), mass={"base_link": masses, "*_LOWER_LEG": 0.05})
    sims = [
        xs.Simulator(sim.robot.replace(mass={"base_link": mass, "*_LOWER_LEG": 0.05}), xs.HalfSpace(), scheme, dt=5e-4)
        for mass in masses
    ]
    assert_rows_are(pool, sims, pool.reset(), target=random_targets(sim, 3, STEPS))


def test_limits_follow_the_masses_and_factors_are_of_the_robots_own():
    robot = xs.load_robot("go2").replace(joint_friction=0.05)
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=5e-3)
    pool = xs.Rollout(sim)
    pool.vary([0, 1], mass_factor={"*": [0.5, 3.0]})
    taus = 20.0 * np.random.default_rng(0).choice([-1.0, 1.0], (2, 1, 12)).repeat(STEPS, 1)
    sims = [
        xs.Simulator(
            robot.replace(mass={link: factor * mass for link, mass in robot.masses.items()}), xs.HalfSpace(), dt=5e-3
        )
        for factor in (0.5, 3.0)
    ]
    x = pool.reset()
    far = pool(x, taus[:, :1], steps=60, record=()).end
    assert_rows_are(pool, sims, far, tau=taus)
    joints = pool.states(far)[0].q[7:]
    limits = [robot.joints[name] for name in robot.actuated_joints]
    assert any(q < each.lower or q > each.upper for q, each in zip(joints, limits, strict=True))  # some are at them


def test_a_change_by_contact_point_and_points_of_their_own_material():
    points = xs.load_robot("solo12").contact_points
    own = [
        xs.ContactPoint(p.frame, p.offset, p.name, p.radius, material=OWN if i < 2 else None)
        for i, p in enumerate(points)
    ]
    sim = xs.Simulator(xs.load_robot("solo12").replace(contact_points=own), xs.HalfSpace(), dt=5e-3)
    pool = xs.Rollout(sim)
    pool.vary(slice(2), friction={points[0].name: [0.2, 0.3]})
    pool.vary([1], stiffness=(3e4, 1e4))
    taus = np.random.default_rng(0).standard_normal((2, STEPS, 12))
    sims = [sim.copy(), sim.copy()]
    sims[0].set(friction={points[0].name: 0.2})
    sims[1].set(friction={points[0].name: 0.3})
    sims[1].set(stiffness=(3e4, 1e4))
    assert_rows_are(pool, sims, pool.reset(), tau=taus)


def test_where_bodies_carry_surfaces_worlds_are_made_anew():
    boxes = xs.combine(
        a=xs.rigid_body("a", xs.Box((0.2, 0.2, 0.2)), 1.0), b=xs.rigid_body("b", xs.Box((0.1, 0.1, 0.1)), 2.0)
    )
    q = boxes.q0
    q[2], q[9] = 0.1, 0.25
    sim = xs.Simulator(boxes.replace(q0=q), xs.HalfSpace(), dt=5e-3, collisions="all")
    pool = xs.Rollout(sim)
    link = next(iter(boxes.masses))
    pool.vary(slice(2), friction=[0.1, 0.8], mass={link: [0.5, 4.0]})
    sims = [sim.copy(), sim.copy()]
    for other, mu, mass in zip(sims, (0.1, 0.8), (0.5, 4.0), strict=True):
        other.set(friction=mu, mass={link: mass})
    assert_rows_are(pool, sims, pool.reset())


def test_rows_that_are_not_varied_are_as_before():
    sim = driven("solo12")
    pool, plain = xs.Rollout(sim), xs.Rollout(sim)
    x, targets = plain.reset(rows=3), random_targets(sim, 3, STEPS)
    pool.vary(np.array([False, True, False]), mass={"base_link": 5.0}, friction=0.1)
    assert pool.rows == 3
    varied, before = pool(x, targets=targets, steps=STEPS).q, plain(x, targets=targets, steps=STEPS).q
    assert np.array_equal(varied[[0, 2]], before[[0, 2]])
    assert not np.allclose(varied[1], before[1])


def test_what_is_given_by_names_stays_beside_other_names_given_later():
    sim = driven("solo12")
    both, later = xs.Rollout(sim), xs.Rollout(sim)
    both.vary(slice(2), mass={"FL_UPPER_LEG": 0.3, "FR_UPPER_LEG": 0.4})
    for mass in ({"FL_UPPER_LEG": 0.3}, {"FR_UPPER_LEG": 0.4}):
        later.vary(slice(2), mass=mass)
    ends = [pool(pool.reset(), steps=10, record=()).end for pool in (both, later)]
    assert np.array_equal(*ends)


@pytest.mark.parametrize("rows", [None, "a", ["a"], {1}, slice("a"), np.zeros((2, 2), int), slice(4, 2)])
def test_rows_that_are_none_are_refused(rows):
    with pytest.raises(xs.InvalidArgument, match="rows is"):
        xs.Rollout(driven("solo12")).vary(rows, friction=0.5)
