"""The series of the contact dynamics: accuracy, where it is taken, and the bounds on forces that it gives."""

import mpmath
import numpy as np
import pytest
from scipy.linalg import block_diag, expm

import exposim as xs
from exposim import _bench
from systems import block


def contact_system(rng, contacts, stiffness, *, relative_damping, proportional=True, rank=None, mass=1.0):
    """Υ, K, B, p̈̄ and x0 of random contacts; `relative_damping` is c of B = cK [s]."""
    m = 3 * contacts
    R = rng.standard_normal((m, rank or m)) / np.sqrt(m * mass)
    K = stiffness * rng.uniform(0.3, 3.0, m)
    B = relative_damping * K * (1.0 if proportional else rng.uniform(0.2, 3.0, m))
    x0 = np.concatenate([rng.normal(scale=10.0 / stiffness, size=m), rng.normal(scale=0.1, size=m)])
    return R @ R.T, K, B, rng.normal(scale=10.0, size=m), x0


def random_systems(rng, count):
    """Stiff and soft, damped and not, light and heavy, of full rank or not; and steps."""
    for _ in range(count):
        yield (
            contact_system(
                rng,
                int(rng.integers(1, 7)),
                10.0 ** rng.uniform(3, 8),
                relative_damping=rng.choice([0.0, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2]),
                proportional=rng.random() < 0.5,
                rank=rng.choice([None, 1, 3]),
                mass=10.0 ** rng.uniform(-1.5, 1.0),
            ),
            10.0 ** rng.uniform(-6, -1.4),
        )


def average_forces(K, B, x_int, x_int2, dt):
    m = len(K)
    return -(K * x_int[:m] + B * x_int[m:]) / dt, -(K * x_int2[:m] + B * x_int2[m:]) * 2.0 / dt**2


def largest_force(K, B, x0, average):
    m = len(K)
    return max(np.abs(K * x0[:m] + B * x0[m:]).max(), np.abs(average).max())


def test_the_series_is_right_to_twelve_digits_of_the_largest_force_wherever_it_is_taken():
    rng = np.random.default_rng(1)
    taken = []
    for system, dt in random_systems(rng, 1000):
        *found, info = xs.kernels.contact_integrals_with_info(*system, dt, "auto")
        taken.append(info.terms > 0)
        if not taken[-1]:
            continue
        _, K, B, _, x0 = system
        expected = average_forces(K, B, *xs.kernels.contact_integrals(*system, dt, "expm"), dt)
        scale = largest_force(K, B, x0, expected[0])
        for one, other in zip(average_forces(K, B, *found, dt), expected, strict=True):
            assert np.abs(one - other).max() <= 1e-12 * scale, (K[0], dt, info.terms)
    assert np.mean(taken) > 0.8


@pytest.mark.parametrize("proportional", [True, False])
def test_the_series_agrees_with_fifty_digits(proportional):
    rng = np.random.default_rng(2)
    for stiffness, dt in ((1e3, 1e-6), (1e5, 1e-3), (1e5, 1e-2), (1e7, 1e-4)):
        system = contact_system(rng, 2, stiffness, relative_damping=3e-3, proportional=proportional, rank=5, mass=0.2)
        Upsilon, K, B, ddp_bar, x0 = system
        *found, info = xs.kernels.contact_integrals_with_info(*system, dt, "auto")
        assert info.terms > 0
        m = len(K)
        with mpmath.workdps(50):
            A = mpmath.zeros(2 * m + 3)
            for i in range(m):
                A[i, m + i] = 1
                A[m + i, 2 * m], A[i, 2 * m + 1], A[m + i, 2 * m + 1] = map(mpmath.mpf, (ddp_bar[i], x0[i], x0[m + i]))
                for j in range(m):
                    A[m + i, j], A[m + i, m + j] = (-mpmath.mpf(Upsilon[i, j]) * mpmath.mpf(x[j]) for x in (K, B))
            A[2 * m, 2 * m + 1] = A[2 * m + 1, 2 * m + 2] = 1
            exponential = mpmath.expm(A * mpmath.mpf(dt))
        exact = [np.array([float(exponential[i, 2 * m + 1 + k]) for i in range(2 * m)]) for k in range(2)]
        expected = average_forces(K, B, *exact, dt)
        scale = largest_force(K, B, x0, expected[0])
        for one, other in zip(average_forces(K, B, *found, dt), expected, strict=True):
            assert np.abs(one - other).max() <= 1e-13 * scale


def test_terms_are_few_and_where_they_would_be_many_the_modes_are_taken():
    rng = np.random.default_rng(3)
    terms = []
    for dt in (1e-4, 1e-3, 1e-2, 1.0):
        system = contact_system(rng, 4, 1e5, relative_damping=3e-3, mass=0.2)
        *found, info = xs.kernels.contact_integrals_with_info(*system, dt, "auto")
        terms.append(info.terms)
        if info.terms == 0:
            for one, other in zip(found, xs.kernels.contact_integrals(*system, dt, "modal"), strict=True):
                assert np.array_equal(one, other)
    assert 5 < terms[0] < terms[1] < 60 < terms[2] < 160
    assert terms[3] == 0


def test_the_same_series_comes_out_whatever_was_computed_before():
    """Coefficients are remembered for a few stiffnesses seen from the contacts: more than are kept, in two orders."""
    robot = xs.load_robot("solo12")
    rng = np.random.default_rng(6)
    lowered = np.r_[0.0, 0.0, -0.1, np.zeros(robot.nq - 3)]
    bent = [robot.q0 + lowered + np.r_[np.zeros(7), rng.normal(scale=0.5, size=robot.nq - 7)] for _ in range(60)]
    sim = xs.Simulator(robot, xs.HalfSpace(), xs.PaperExpo(kernel="auto"), 2e-3)
    ends = []
    for order in (1, -1):
        for q in bent[::order]:
            sim.reset(q)
            sim.step()
            ends.append(np.concatenate([sim.q, sim.v]))
    assert np.array_equal(ends[: len(bent)], ends[: len(bent) - 1 : -1])


def distance_from_line(x, a, b):
    """Of points x, (…, n, 3), from the lines from a to b, (n, 3)."""
    along = b - a
    length = (along**2).sum(-1)
    share = np.clip(((x - a) * along).sum(-1) / np.where(length > 0.0, length, 1.0), 0.0, 1.0)
    return np.linalg.norm(x - a - share[..., None] * along, axis=-1)


def assert_forces_keep_to(pieces, A, b, x0, D, dt):
    """λ = D x sampled densely, for bounds that are to hold throughout."""
    n = len(A)
    A_bar = np.zeros((n + 1, n + 1))
    A_bar[:n, :n], A_bar[:n, n] = A, b
    samples = 400
    forward, x = expm(A_bar * dt / samples), np.r_[x0, 1.0]
    states = [x := x if k == 0 else forward @ x for k in range(samples + 1)]
    times, lam = (
        dt * np.arange(samples + 1) / samples,
        np.array([D @ x[:n] for x in states]).reshape(samples + 1, -1, 3),
    )
    assert np.isclose(sum(piece[0] for piece in pieces), dt)
    slack, begin = 1e-9 * np.abs(lam).max(), 0.0
    for length, start, end, deviation in pieces:
        within = (times >= begin) & (times <= begin + length)
        assert (distance_from_line(lam[within], start, end) <= deviation + slack).all()
        begin += length


@pytest.mark.parametrize("closely", [False, True])
def test_forces_never_leave_their_bounds(closely):
    rng = np.random.default_rng(4)
    bounded = 0
    for system, dt in random_systems(rng, 300):
        pieces = _bench.force_bounds(*system, dt, closely)
        if not pieces:
            continue
        bounded += 1
        Upsilon, K, B, ddp_bar, x0 = system
        m = len(K)
        A = np.block([[np.zeros((m, m)), np.eye(m)], [-Upsilon * K, -Upsilon * B]])
        D = -np.hstack([np.diag(K), np.diag(B)])
        assert_forces_keep_to(pieces, A, np.r_[np.zeros(m), ddp_bar], x0, D, dt)
    assert bounded > 200


@pytest.mark.parametrize("closely", [False, True])
@pytest.mark.parametrize("damping", [(300.0, 240.0), (300.0, 500.0)])
def test_forces_of_bodies_with_several_points_never_leave_their_bounds(damping, closely):
    rng = np.random.default_rng(5)
    corners = [
        xs.ContactPoint("box", np.array([x, y, -0.05]), f"{x}{y}") for x in (-0.1, 0.0, 0.1) for y in (-0.1, 0.1)
    ]
    robot = block().replace(contact_points=corners)
    material = xs.Material((1e5, 8e4), damping)
    for dt in (1e-4, 1e-3, 5e-3, 2e-2):
        sim = xs.Simulator(robot, xs.HalfSpace(material), xs.Expo(), dt)
        for _ in range(5):
            sim.reset([0, 0, 0.0498, 0, 0, 0, 1], 0.05 * rng.standard_normal(6))
            pieces, A, b_x0 = _bench.force_bounds_at(sim._core, closely)
            if not pieces:
                assert closely and damping == (300.0, 500.0)  # not proportional: one look is all
                continue
            m = len(A) // 2
            (K_n, K_t), (B_n, B_t) = material.stiffness, material.damping
            K, B = (block_diag(*[np.diag([t, t, n])] * (m // 3)) for n, t in ((K_n, K_t), (B_n, B_t)))
            assert_forces_keep_to(pieces, A, *b_x0.T, -np.hstack([K, B]), dt)


@pytest.mark.parametrize("stiffness", [1e5, (1e5, 8e4)])
@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_a_robot_that_stands_is_not_followed_in_vain(stiffness, dt):
    """Also where damping is not proportional to stiffness."""
    robot = xs.load_robot("solo12")
    sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(stiffness, 300.0)), xs.Expo(), dt)
    controller = xs.controllers.PD(robot, 8.0, 0.1)
    sim.reset(robot.q0)
    followed = []
    for _ in range(round(0.5 / dt)):
        sim.step(controller(sim.t, sim.state))
        followed.append(sim.info.micro_steps > 0)
    assert not any(followed[len(followed) // 2 :])
