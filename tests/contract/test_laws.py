"""What a law promises, seen through `resolve`: forces in the cone, no energy from nothing, changes in their place."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import exposim as xs
from exposim.kernels import Element, resolve

MASS, GRAVITY = 1.3, np.array([0.0, 0.0, -9.81])


def follow(element, dt, **options):
    return resolve(np.eye(3) / MASS, GRAVITY, [element], dt, **options)


def landing(friction=0.5, damping=300.0, velocity=(0.3, 0.1, -0.5), gap=1e-3, stiffness=1e5):
    return Element(xs.Material(stiffness, damping, friction), gap=gap, velocity=velocity)


def test_a_landing_is_located_to_rounding_in_free_fall():
    element = landing()
    found = follow(element, 5e-3)
    fall = (np.sqrt(0.5**2 + 2 * 9.81 * 1e-3) - 0.5) / 9.81
    assert found.events[0].before == "open"
    assert_allclose(found.events[0].t, fall, rtol=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    st.floats(0.0, 2.0),
    st.floats(-2.0, 2.0),
    st.floats(-2.0, 1.0),
    st.floats(-5e-4, 2e-3),
    st.sampled_from([1e-3, 5e-3, 2e-2]),
    st.sampled_from([1e3, 1e5, 1e7]),
)
def test_mean_forces_lie_in_the_friction_cone(friction, sliding, falling, gap, dt, stiffness):
    mode = "open" if gap > 0.0 else "slipping"  # or idle: that is found by itself
    material = xs.Material(stiffness, 0.003 * stiffness, friction)
    found = follow(Element(material, gap=gap, velocity=(sliding, 0.0, falling), mode=mode), dt)
    for lam in (*found.lam_bar, *found.lam_bar2):
        assert lam[2] >= -1e-6 * max(1.0, np.abs(lam).max())
        assert np.hypot(lam[0], lam[1]) <= friction * lam[2] + 0.02 * (1.0 + np.abs(lam).max())


@pytest.mark.parametrize("stiffness", [1e4, 1e6])
@pytest.mark.parametrize("damping", [0.0, 100.0])
def test_without_friction_energy_never_grows(stiffness, damping):
    element = landing(friction=0.0, damping=damping, stiffness=stiffness)

    def energy(height, velocity):
        return 0.5 * MASS * velocity @ velocity + MASS * 9.81 * height + 0.5 * stiffness * min(0.0, height) ** 2

    before = energy(1e-3, np.array(element.velocity))
    for dt in np.linspace(1e-3, 2e-2, 12):
        found = follow(element, dt, micro_steps=200)
        assert energy(1e-3 + found.displacement[0, 2], found.velocity[0]) <= before * (1.0 + 1e-6)
        assert_allclose(found.velocity[0, :2], element.velocity[:2], rtol=1e-9)  # nothing holds it sideways


def test_momentum_is_what_the_mean_force_says():
    element = landing()
    dt = 5e-3
    found = follow(element, dt)
    expected = np.array(element.velocity) + dt * (GRAVITY + found.lam_bar[0] / MASS)
    assert_allclose(found.velocity[0], expected, rtol=1e-12)
    way = dt * np.array(element.velocity) + 0.5 * dt**2 * (GRAVITY + found.lam_bar2[0] / MASS)
    assert_allclose(found.displacement[0], way, rtol=1e-10)


def test_a_slip_ends_where_coulomb_says():
    """λ_n = m g throughout: it stops after v/(μ g)."""
    stiffness, friction, speed = 1e5, 0.4, 0.02
    depth = MASS * 9.81 / stiffness
    element = Element(
        xs.Material(stiffness, 0.0, friction),
        gap=-depth,
        velocity=(speed, 0.0, 0.0),
        mode="slipping",
        stretch=(friction * MASS * 9.81 / stiffness, 0.0, 0.0),
    )
    found = follow(element, 1e-2)
    stops = [event for event in found.events if event.after == "sticking"]
    assert_allclose(stops[0].t, speed / (friction * 9.81), rtol=1e-6)
    assert_allclose(found.lam_bar[0, 2], MASS * 9.81, rtol=1e-9)


def test_contacts_that_stay_what_they_are_are_said_to_be_unchanged():
    stiffness = 1e5
    resting = Element(xs.Material(stiffness, 300.0, 0.5), gap=-MASS * 9.81 / stiffness, mode="sticking")
    assert not follow(resting, 5e-3).changed
    assert not follow(landing(gap=1.0), 5e-3).changed
    assert follow(landing(), 5e-3).changed


def test_a_bilateral_element_pulls_and_never_changes():
    element = Element(xs.Material(1e4, 30.0), mode="bilateral", stretch=(0.0, 0.0, 1e-3))
    found = follow(element, 1e-3)
    assert not found.events
    assert found.lam_bar[0, 2] < 0.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mode": "flying"}, "mode"),
        ({"normal": (0.0, 0.0, 2.0)}, "unit length"),
        ({"velocity": (0.0, np.nan, 0.0)}, "velocity"),
        ({"mode": "sticking", "gap": 1e-3}, "gap"),
    ],
)
def test_an_element_that_cannot_be_is_refused(change, message):
    with pytest.raises(xs.InvalidArgument, match=message):
        Element(**change)


def test_terms_of_a_wrong_size_are_refused():
    with pytest.raises(xs.InvalidArgument, match="Upsilon"):
        resolve(np.eye(6), np.zeros(3), [landing()], 1e-3)
    with pytest.raises(xs.InvalidArgument, match="elements"):
        resolve(np.eye(3), np.zeros(3), [], 1e-3)
