"""Integrals of linear systems: accuracy, cost, and what the options do."""

import itertools

import mpmath
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import exposim as xs
from exposim import _core
from reference import integrate_linear_system

PRODUCTS = {1: 0, 2: 1, 3: 2, 5: 3, 7: 4}


def contact_system(rng, contacts, stiffness, rank=None, damping=None):
    """A, b, x0 of some contacts on a body or bodies of about a kilogram; `rank` < 3·contacts makes A singular."""
    m = 3 * contacts
    R = rng.standard_normal((m, rank or m)) / np.sqrt(m)
    Upsilon = R @ R.T
    K = stiffness * np.diag(rng.uniform(0.5, 2.0, m))
    B = (2 * 0.5 * np.sqrt(stiffness) if damping is None else damping) * np.eye(m)
    A = np.block([[np.zeros((m, m)), np.eye(m)], [-Upsilon @ K, -Upsilon @ B]])
    b = np.concatenate([np.zeros(m), rng.normal(scale=10.0, size=m)])
    x0 = np.concatenate([rng.normal(scale=10.0 / stiffness, size=m), rng.normal(scale=0.1, size=m)])
    return A, b, x0


def exact_integrals(A, b, x0, dt):
    """The augmented exponential at 50 digits."""
    n = len(x0)
    with mpmath.workdps(50):
        A_bar = mpmath.zeros(n + 3)
        for i in range(n):
            for j in range(n):
                A_bar[i, j] = mpmath.mpf(A[i, j])
            A_bar[i, n], A_bar[i, n + 1] = mpmath.mpf(b[i]), mpmath.mpf(x0[i])
        A_bar[n, n + 1] = A_bar[n + 1, n + 2] = 1
        exponential = mpmath.expm(A_bar * mpmath.mpf(dt))
    columns = [[float(exponential[i, n + 1 + k]) for i in range(n)] for k in range(2)]
    return np.array(columns[0]), np.array(columns[1])


def relative_difference(found, expected):
    """Largest, separately for positions and velocities, which have different units."""
    m = len(found) // 2
    return max(np.abs(found[part] - expected[part]).max() / np.abs(expected[part]).max() for part in np.s_[:m, m:])


@pytest.mark.parametrize("rank", [None, 3, 6])
@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e8])
@pytest.mark.parametrize("dt", [1e-6, 1e-3, 1e-2])
def test_the_exponential_agrees_with_scipy_on_stiff_and_singular_systems(rng, dt, stiffness, rank):
    for _ in range(10):
        A, b, x0 = contact_system(rng, 4, stiffness, rank)
        found = xs.kernels.integrals(A, b, x0, dt, "expm")
        for each, expected in zip(found, integrate_linear_system(A, b, x0, dt), strict=True):
            assert relative_difference(each, expected) < 1e-12


@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e8])
def test_the_exponential_is_right_to_twelve_digits(rng, stiffness):
    A, b, x0 = contact_system(rng, 2, stiffness, rank=5)
    for dt in (1e-6, 1e-3, 1e-2):
        found = xs.kernels.integrals(A, b, x0, dt)
        for each, expected in zip(found, exact_integrals(A, b, x0, dt), strict=True):
            assert relative_difference(each, expected) < 1e-12


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(1, 8),
    scale=st.floats(1e-3, 30.0),
    seed=st.integers(0, 2**32 - 1),
    balance=st.booleans(),
)
def test_any_linear_system_agrees_with_scipy(n, scale, seed, balance):
    rng = np.random.default_rng(seed)
    A, b, x0 = scale * rng.standard_normal((n, n)), rng.standard_normal(n), rng.standard_normal(n)
    found = xs.kernels.integrals(A, b, x0, 0.5, balance=balance)
    for each, expected in zip(found, integrate_linear_system(A, b, x0, 0.5), strict=True):
        assert_allclose(each, expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())


def test_a_nilpotent_system_gives_polynomials():
    x_int, x_int2 = xs.kernels.integrals([[0.0, 1.0], [0.0, 0.0]], [0.0, 6.0], [1.0, 2.0], 2.0)
    t = 2.0  # x = (1 + 2t + 3t², 2 + 6t)
    assert_allclose(x_int, [t + t**2 + t**3, 2 * t + 3 * t**2], rtol=1e-15)
    assert_allclose(x_int2, [t**2 / 2 + t**3 / 3 + t**4 / 4, t**2 + t**3], rtol=1e-15)


@pytest.mark.parametrize("degree", PRODUCTS)
@pytest.mark.parametrize("balance", [True, False])
def test_a_pade_kernel_spends_the_products_it_says(rng, degree, balance):
    *_, info = xs.kernels.integrals_with_info(*contact_system(rng, 2, 1e5), 1e-3, xs.Pade(degree), balance=balance)
    assert (info.degree, info.products, info.squarings) == (degree, PRODUCTS[degree], 0)


@pytest.mark.parametrize("degree", PRODUCTS)
def test_a_pade_kernel_is_the_rational_approximant_of_that_degree(rng, degree):
    """Not merely close to the exponential: equal to N/D evaluated by the definition, so a wrong branch shows."""
    A, b, x0 = contact_system(rng, 2, 1e5)
    n, dt = len(x0), 2e-3
    A_bar = np.zeros((n + 3, n + 3))
    A_bar[:n, :n], A_bar[:n, n], A_bar[:n, n + 1] = A, b, x0
    A_bar[n, n + 1] = A_bar[n + 1, n + 2] = 1.0
    factorial = [float(mpmath.factorial(k)) for k in range(2 * degree + 1)]
    N, D = np.zeros_like(A_bar), np.zeros_like(A_bar)
    for k in range(degree + 1):
        c = (
            factorial[2 * degree - k]
            * factorial[degree]
            / (factorial[2 * degree] * factorial[k] * factorial[degree - k])
        )
        power = np.linalg.matrix_power(dt * A_bar, k)
        N, D = N + c * power, D + c * (-1) ** k * power
    expected = np.linalg.solve(D, N)[:n, -2:].T
    for each, column in zip(xs.kernels.integrals(A, b, x0, dt, xs.Pade(degree)), expected, strict=True):
        assert relative_difference(each, column) < 1e-10


def test_a_higher_pade_degree_is_more_accurate(rng):
    A, b, x0 = contact_system(rng, 4, 1e5)
    exact = integrate_linear_system(A, b, x0, 2e-3)[0]
    errors = [relative_difference(xs.kernels.integrals(A, b, x0, 2e-3, xs.Pade(d))[0], exact) for d in PRODUCTS]
    assert all(b < 0.5 * a for a, b in itertools.pairwise(errors)), errors


def test_the_exponential_takes_the_lowest_degree_that_is_exact(rng):
    """The ranges of Higham (2005), and one product less where only two columns of the last square are needed."""
    A, b, x0 = contact_system(rng, 1, 1e5)
    found = []
    for dt in (1e-6, 1e-4, 1e-3, 3e-3, 1e-2, 0.1):
        info = xs.kernels.integrals_with_info(A, b, x0, dt)[2]
        norm = np.linalg.norm(_core.balance(augmented(A, b, x0, dt))[0], 1)
        degree = next((d for d, limit in HIGHAM_RANGES.items() if norm <= limit), 13)
        squarings = max(0, int(np.ceil(np.log2(norm / HIGHAM_RANGES[13]))))
        assert (info.degree, info.squarings) == (degree, squarings)
        assert info.products == {3: 2, 5: 3, 7: 4, 9: 5, 13: 6}[degree] + max(0, squarings - 1)
        found.append(degree)
    assert len(set(found)) >= 4


HIGHAM_RANGES = {
    3: 1.495585217958292e-2,
    5: 2.539398330063230e-1,
    7: 9.504178996162932e-1,
    9: 2.097847961257068,
    13: 5.371920351148152,
}


def augmented(A, b, x0, dt):
    n = len(x0)
    A_bar = np.zeros((n + 3, n + 3))
    A_bar[:n, :n], A_bar[:n, n], A_bar[:n, n + 1] = A, b, x0
    A_bar[n, n + 1] = A_bar[n + 1, n + 2] = 1.0
    return dt * A_bar


@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e8])
def test_balancing_is_an_exact_similarity_that_shrinks_the_norm(rng, stiffness):
    A = augmented(*contact_system(rng, 4, stiffness), 5e-3)
    balanced, scaling = _core.balance(A)
    assert np.all(np.frexp(scaling)[0] == 0.5)  # powers of two
    assert np.array_equal(balanced, A * scaling / scaling[:, None])
    assert np.linalg.norm(balanced, 1) < 0.3 * np.linalg.norm(A, 1)
    lapack = scipy.linalg.matrix_balance(A, permute=False)[0]
    assert np.linalg.norm(balanced, 1) < 2.0 * np.linalg.norm(lapack, 1)


def test_balancing_saves_products(rng):
    system = contact_system(rng, 4, 1e5)
    with_balancing, without = (
        xs.kernels.integrals_with_info(*system, 5e-3, balance=balance)[2].products for balance in (True, False)
    )
    assert with_balancing < without


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)
