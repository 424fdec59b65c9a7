"""The closed form of the contact dynamics: oscillators, modes, bodies, and the choice between kernels."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from exposim import _core
from systems import block, point_mass


def exact_oscillator(omega, c, t):
    return [float(value) for value in precise_oscillator(omega, c, t)]


def precise_oscillator(omega, c, t):
    """dG, G, G1, G2, G3 at 50 digits and more where there is cancellation."""
    with mpmath.workdps(120):
        omega, c, t = mpmath.mpf(omega), mpmath.mpf(c), mpmath.mpf(t)
        a = c * omega / 2
        root = mpmath.sqrt(mpmath.mpc(a**2 - omega))
        if omega == 0:
            values = [1, t, t**2 / 2, t**3 / 6, t**4 / 24]
        elif abs(root) * t < mpmath.mpf(10) ** -40:
            G = t * mpmath.exp(-a * t)
            dG = (1 - a * t) * mpmath.exp(-a * t)
            values = [dG, G]
        else:
            r1, r2 = -a + root, -a - root
            values = [
                ((r1 * mpmath.exp(r1 * t) - r2 * mpmath.exp(r2 * t)) / (r1 - r2)).real,
                ((mpmath.exp(r1 * t) - mpmath.exp(r2 * t)) / (r1 - r2)).real,
            ]
        if len(values) == 2:
            dG, G = values
            G1 = (1 - dG - c * omega * G) / omega
            G2 = (t - G - c * omega * G1) / omega
            G3 = (t**2 / 2 - G1 - c * omega * G2) / omega
            values = [dG, G, G1, G2, G3]
        return values


def envelope(omega, t):
    """Of dG, G, G1, G2, G3: what an undamped oscillator, or a free mass, reaches at the most."""
    frequency = np.sqrt(omega)
    free = [1.0, t, t**2 / 2, t**3 / 6, t**4 / 24]
    bound = [1.0, 1.0, 2.0, 1.0, 1.0]
    power = [1.0, frequency, omega, omega, omega]
    linear = [1.0, 1.0, 1.0, t, t**2 / 2]
    return [min(f, b * g / p) if omega > 0 else f for f, b, p, g in zip(free, bound, power, linear, strict=True)]


@pytest.mark.parametrize("t", [1e-9, 1e-6, 1e-4, 1e-3, 5e-3, 0.1, 1.0])
@pytest.mark.parametrize("ratio", [0.0, 0.01, 0.5, 0.999999, 1.0, 1.000001, 1.5, 30.0, 1e4])
def test_an_oscillator_s_integrals_are_right_to_twelve_digits_in_every_regime(ratio, t):
    for omega in (0.0, 1e-6, 1.0, 1e2, 1e4, 1e5, 1.7e6, 1e8, 1e10, 1e12):
        c = 2.0 * ratio / np.sqrt(omega) if omega > 0 else ratio
        found = _core.oscillator_integrals(omega, c, t)
        tolerance = 1e-12 * (1.0 + np.sqrt(omega) * t)
        for k, (value, expected, scale) in enumerate(
            zip(found, exact_oscillator(omega, c, t), envelope(omega, t), strict=True)
        ):
            assert abs(value - expected) <= tolerance * scale, (k, omega, c, t, value, expected)


@pytest.mark.parametrize("t", [1e-4, 1e-3, 5e-3, 2e-2])
@pytest.mark.parametrize("c", [0.0, 1e-4, 3e-3, 2e-2])
def test_pairs_of_oscillators_are_divided_differences_also_of_like_and_critical_ones(c, t):
    critical = 4.0 / c**2 if c > 0 else 3e4
    omega = np.array([0.0, 0.0, 1.0, 1e3, 1e3 * (1 + 1e-9), 3e4, critical, critical * (1 + 1e-6), 1e5, 1.7e6])
    found = _core.oscillator_pairs(omega, c, t)
    # What is doubled often, as time is, is rounded as often.
    tolerance = 2e-14 + 1e-15 * t * (np.sqrt(omega) + c * omega).max()
    with mpmath.workdps(120):
        apart = mpmath.mpf(10) ** -22  # of those that are the same
        values = [[precise_oscillator(w + shift * apart, c, t) for w in omega] for shift in (0, 1)]
        for k in range(len(omega)):
            for j in range(len(omega)):
                between = mpmath.mpf(float(omega[j])) - mpmath.mpf(float(omega[k])) + apart
                for n in range(4):
                    expected = -(values[1][j][n + 1] - values[0][k][n + 1]) / between
                    most = t ** (n + 3) / (n + 1) + c * t ** (n + 2)  # of what neither spring feels
                    assert abs(found[n][k, j] - expected) <= tolerance * most, (n, k, j, found[n][k, j], expected)


def test_an_oscillator_s_integrals_do_not_jump_where_the_method_changes():
    for c in (1e-4, 3e-3, 0.1):
        for x in (4.0, 3.999999999, 4.000000001):
            for t in (1e-3, 1e-2):
                for omega in (x / t**2, x / (c * t)):
                    found = _core.oscillator_integrals(omega, c, t)
                    expected = exact_oscillator(omega, c, t)
                    for value, right, scale in zip(found, expected, envelope(omega, t), strict=True):
                        assert abs(value - right) <= 1e-13 * scale * (1.0 + np.sqrt(omega) * t)


def contact_system(rng, contacts, stiffness, *, proportional=True, rank=None):
    m = 3 * contacts
    R = 2.0 * rng.standard_normal((m, rank or m)) / np.sqrt(m)
    K = stiffness * rng.uniform(0.3, 3.0, m)
    B = 3e-3 * K * (1.0 if proportional else rng.uniform(0.2, 3.0, m))
    x0 = np.concatenate([rng.normal(scale=10.0 / stiffness, size=m), rng.normal(scale=0.1, size=m)])
    return R @ R.T, K, B, rng.normal(scale=10.0, size=m), x0


def relative_difference(found, expected):
    m = len(found) // 2
    return max(np.abs(found[part] - expected[part]).max() / np.abs(expected[part]).max() for part in np.s_[:m, m:])


@pytest.mark.parametrize("contacts", [1, 2, 4, 9])
@pytest.mark.parametrize("rank", [None, 1, 3])
def test_the_closed_form_agrees_with_the_exponential(contacts, rank):
    rng = np.random.default_rng(4)
    for stiffness in (1e3, 1e5, 1e6):
        for dt in (1e-6, 1e-4, 1e-3, 5e-3):
            system = contact_system(rng, contacts, stiffness, rank=rank)
            modal = xs.kernels.contact_integrals(*system, dt, "modal")
            expm = xs.kernels.contact_integrals(*system, dt, "expm")
            for found, expected in zip(modal, expm, strict=True):
                assert relative_difference(found, expected) < 1e-12


def test_the_contact_system_is_the_linear_system_of_the_paper():
    rng = np.random.default_rng(5)
    Upsilon, K, B, ddp_bar, x0 = contact_system(rng, 2, 1e4, proportional=False)
    A = np.block([[np.zeros((6, 6)), np.eye(6)], [-Upsilon * K, -Upsilon * B]])
    b = np.concatenate([np.zeros(6), ddp_bar])
    for kernel in ("expm", xs.Pade(5)):
        for found, expected in zip(
            xs.kernels.contact_integrals(Upsilon, K, B, ddp_bar, x0, 1e-3, kernel),
            xs.kernels.integrals(A, b, x0, 1e-3, kernel),
            strict=True,
        ):
            assert_allclose(found, expected, rtol=1e-13, atol=1e-25)


def average_forces(K, B, x_int, x_int2, dt):
    m = len(K)
    single = -(K * x_int[:m] + B * x_int[m:]) / dt
    double = -(K * x_int2[:m] + B * x_int2[m:]) * 2.0 / dt**2
    return single.reshape(-1, 3), double.reshape(-1, 3)


def largest_norm(forces):
    return np.linalg.norm(forces, axis=1).max()


# Costs in products of full matrices: with the linear solve, and for scaling and squaring a full right-hand side.
def cost(products, degree):
    return products + (1.3 if degree >= 9 else 0.4)


@pytest.mark.parametrize(("tolerance", "most"), [(1e-4, 1.5), (1e-8, 1.3)])
def test_the_choice_keeps_its_bound_and_is_nearly_the_cheapest(tolerance, most):
    """On random systems whose damping is not proportional to stiffness, from easy to hard."""
    rng = np.random.default_rng(6)
    ratios = []
    for _ in range(1500):
        contacts = int(rng.integers(1, 5))
        stiffness, dt = 10.0 ** rng.uniform(3, 6), 10.0 ** rng.uniform(-5.5, -2)
        system = contact_system(rng, contacts, stiffness, proportional=False)
        K, B = system[1:3]
        exact = average_forces(K, B, *xs.kernels.contact_integrals(*system, dt, "expm"), dt)
        scale = largest_norm(exact[0])

        def error(x_int, x_int2, K=K, B=B, dt=dt, exact=exact, scale=scale):
            found = average_forces(K, B, x_int, x_int2, dt)
            return max(largest_norm(f - e) for f, e in zip(found, exact, strict=True)) / scale

        x_int, x_int2, info = xs.kernels.contact_integrals_with_info(*system, dt, "auto", tolerance=tolerance)
        found = error(x_int, x_int2)
        assert info.error_bound <= tolerance
        assert found <= max(info.error_bound, 1e-11), (found, info.error_bound)  # scaling and squaring only rounds

        *_, exponential = xs.kernels.contact_integrals_with_info(*system, dt, "expm")
        cheapest = cost(exponential.products, exponential.degree)
        for degree, products in {1: 0, 2: 1, 3: 2, 5: 3, 7: 4}.items():
            if error(*xs.kernels.contact_integrals(*system, dt, xs.Pade(degree))) <= tolerance:
                cheapest = min(cheapest, cost(products, degree))
                break
        ratios.append(cost(info.products, info.degree) / cheapest)
    assert np.median(ratios) <= most, np.percentile(ratios, [10, 50, 90])


@pytest.mark.parametrize("name", ["solo12", "romeo"])
@pytest.mark.parametrize("friction", [1.0, 0.3])
def test_trajectories_are_those_of_the_exponential_to_rounding(name, friction):
    """One second, with feet that slip at first where friction is low."""
    robot = xs.load_robot(name)
    if name == "romeo":
        robot = robot.replace(armature=0.1)
    controller = xs.controllers.PD(robot, *((8.0, 0.1) if name == "solo12" else (300.0, 5.0)))
    finals, slipped = [], False
    for kernel in ("auto", "expm"):
        sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(friction=friction)), xs.PaperExpo(kernel=kernel), 2e-3)
        push = 0.3 if friction < 1.0 else 0.02
        sim.reset(robot.q0, np.r_[push, 0.5 * push, np.zeros(robot.nv - 2)])
        for step in range(500 if friction == 1.0 else 50):  # slipping is chaotic: rounding grows tenfold in 0.1 s
            sim.step(controller(sim.t, sim.state))
            slipped |= bool(sim.state.slipping.any()) and step > 0
        finals.append(np.concatenate([sim.q, sim.v]))
    assert_allclose(*finals, atol=1e-9)
    assert slipped or friction == 1.0


@pytest.mark.parametrize("name", ["solo12", "romeo"])
def test_the_choice_keeps_its_bound_at_states_of_a_moving_robot(name):
    """Feet held by springs with damping of another proportion along the normal, so that nothing is projected."""
    robot = xs.load_robot(name)
    material = xs.Material((1e5, 4e4), (300.0, 400.0))
    feet = [xs.ContactPoint(p.frame, p.offset, p.name, bilateral=True, material=material) for p in robot.contact_points]
    robot = robot.replace(contact_points=feet)
    mover = xs.Simulator(robot, None, xs.PaperExpo(kernel="expm"), 1e-4)
    mover.reset(robot.q0, 0.1 * np.random.default_rng(8).standard_normal(robot.nv))
    for dt in (1e-6, 1e-5, 1e-4, 1e-3, 5e-3):
        chosen, exact = (xs.Simulator(robot, None, xs.PaperExpo(kernel=kernel), dt) for kernel in ("auto", "expm"))
        for _ in range(5):
            mover.step(n=3)
            for sim in (chosen, exact):
                sim.state = mover.state
                sim.step()
            scale = largest_norm(exact.info.lam_pr)
            for found, expected in zip(
                (chosen.info.lam_pr, chosen.info.lam_pr2), (exact.info.lam_pr, exact.info.lam_pr2), strict=True
            ):
                assert largest_norm(found - expected) <= max(chosen.info.error_bound, 1e-10) * scale
            assert chosen.info.error_bound <= 1e-8


def test_points_of_one_body_are_solved_in_its_six_coordinates():
    """Any number of points, collinear and coincident ones among them, gives what the full system gives."""
    for points in (
        [(0.1, 0, 0)],
        [(0.1, 0, 0), (-0.1, 0, 0)],
        [(0.1, 0, 0)] * 3,
        [(x, y, 0) for x in (0, 1, 2) for y in (0, 1)],
    ):
        corners = [xs.ContactPoint("box", np.array(p) * 0.1 + [0, 0, -0.05], f"{i}") for i, p in enumerate(points)]
        robot = block().replace(contact_points=corners)
        states = []
        for kernel in ("modal", "auto", "expm"):
            sim = xs.Simulator(robot, xs.HalfSpace(), xs.PaperExpo(kernel=kernel), 2e-3)
            sim.reset([0, 0, 0.0498, 0, 0, 0, 1], [0.1, 0.05, -0.1, 0.3, 0.2, 0.5])
            sim.step(n=20)
            states.append(np.concatenate([sim.q, sim.v, sim.info.lam_pr.ravel() / 1e3]))
        for found in states[:2]:
            assert_allclose(found, states[2], atol=1e-10)


def test_two_materials_under_one_robot_are_solved_in_body_coordinates_too():
    romeo = xs.load_robot("romeo").replace(armature=0.1)
    left, right = xs.Material(1e5, 300.0), xs.Material(4e4, 500.0)
    points = [
        xs.ContactPoint(p.frame, p.offset, p.name, material=left if p.frame.startswith("L") else right)
        for p in romeo.contact_points
    ]
    robot = romeo.replace(contact_points=points)
    finals = []
    for scheme in (xs.PaperExpo(tolerance=1e-10), xs.PaperExpo(kernel="expm")):
        sim = xs.Simulator(robot, xs.HalfSpace(), scheme, 2e-3)
        sim.reset(robot.q0, np.full(robot.nv, 0.01))
        controller = xs.controllers.PD(robot, 300.0, 5.0)
        for _ in range(30):
            sim.step(controller(sim.t, sim.state))
        finals.append(np.concatenate([sim.q, sim.v]))
    assert_allclose(*finals, atol=1e-8)
    with pytest.raises(xs.InvalidArgument, match=r"modal.*not proportional.*'auto'"):
        xs.Simulator(robot, xs.HalfSpace(), xs.PaperExpo(kernel="modal"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"K": np.ones(4)}, "three for every contact"),
        ({"K": -np.ones(6)}, r"K\[0\]"),
        ({"B": np.ones(5)}, "B has 5"),
        ({"Upsilon": np.eye(5)}, "Upsilon has shape"),
        ({"Upsilon": np.triu(np.ones((6, 6)))}, "not symmetric"),
        ({"x0": np.zeros(6)}, "x0 has 6"),
        ({"kernel": "magic"}, "kernel is 'magic'"),
        ({"kernel": "modal", "B": np.arange(6.0)}, "not proportional"),
        ({"tolerance": 0.0}, "tolerance"),
    ],
)
def test_bad_contact_systems_are_refused(change, message):
    arguments = {"Upsilon": np.eye(6), "K": np.full(6, 1e4), "B": np.full(6, 10.0), "ddp_bar": np.zeros(6)}
    arguments |= {"x0": np.zeros(12), "dt": 1e-3} | change
    with pytest.raises(xs.InvalidArgument, match=message):
        xs.kernels.contact_integrals(**arguments)


def test_advice_tells_the_step_at_which_explicit_euler_fails():
    robot = xs.load_robot("solo12")
    feet = [xs.ContactPoint(foot, bilateral=True) for foot in robot.feet]
    robot = robot.replace(contact_points=feet)
    advice = xs.Simulator(robot, None, xs.Expo(), 5e-3).advise()
    assert advice.contacts == 4
    assert len(advice.modes) == 24
    assert advice.kernel == "series"
    for factor, stable in ((0.9, True), (1.2, False)):
        sim = xs.Simulator(robot, None, xs.ExplicitEuler(), factor * advice.explicit_euler_dt, on_divergence="stop")
        sim.reset(robot.q0, np.full(18, 1e-3))
        sim.step(n=400)
        assert (np.abs(sim.v).max() < 1e2) == stable
    assert "explicit Euler is stable up to" in str(advice)


def test_advice_of_a_point_mass_is_what_the_textbook_says():
    m, K, B = 2.0, 1e5, 300.0
    sim = xs.Simulator(point_mass(m), xs.HalfSpace(xs.Material(K, B)), xs.Expo(), 1e-3)
    sim.reset([0, 0, -1e-4])
    advice = sim.advise()
    assert_allclose(advice.fastest, np.sqrt(K / m), rtol=1e-9)
    assert_allclose(advice.damping_ratio, B / (2 * np.sqrt(K * m)), rtol=1e-9)
    assert_allclose(advice.explicit_euler_dt, min(2 * B / K, 2 * m / B), rtol=1e-3)
    sim.reset([0, 0, 1.0])
    assert sim.advise().kernel == "none"
