"""Contacts followed through a step in contact space: the core beside its NumPy reading and an exact solution."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import contact_space
import exposim as xs
from systems import random_contact_space

DT = 4e-3
UP = np.array([0.0, 0.0, 1.0])


def of_the_core(element):
    material = xs.Material(element.material.stiffness, element.material.damping, element.material.friction)
    return xs.kernels.Element(
        material=material,
        normal=element.normal,
        gap=element.gap,
        velocity=element.velocity,
        mode=element.mode,
        stretch=element.stretch,
        gap0=element.gap0,
    )


def resolve_both(Upsilon, ddp_bar, elements, dt=DT, micro_steps=20, tolerance=np.inf):
    how = {"micro_steps": micro_steps, "tolerance": tolerance}
    found = xs.kernels.resolve(Upsilon, ddp_bar, [of_the_core(e) for e in elements], dt, **how)
    return found, contact_space.resolve(Upsilon, ddp_bar, elements, dt, **how)


def assert_same(found, expected, tolerance=1e-9):
    force = 1.0 + np.abs(expected.lam_bar).max()
    assert_allclose(found.lam_bar, expected.lam_bar, rtol=0, atol=tolerance * force)
    assert_allclose(found.lam_bar2, expected.lam_bar2, rtol=0, atol=tolerance * force)
    assert_allclose(found.displacement, expected.displacement, rtol=0, atol=tolerance)
    assert_allclose(found.velocity, expected.velocity, rtol=0, atol=tolerance)
    assert_allclose(found.stretch, expected.stretch, rtol=0, atol=tolerance)
    assert list(found.modes) == expected.modes
    if tolerance < 1e-6:  # otherwise rounding may decide how often a cut is cut again
        assert found.micro_steps == expected.micro_steps
    assert found.changed == expected.changed
    # The reading lists what was located; the core every change of mode, also one that a micro-step ends with.
    located = [event for event in expected.events if event.before != event.after]
    changes = [event for event in found.events if (event.before, event.after) != ("idle", "open")]
    for event in located:
        same = [c for c in changes if (c.element, c.before, c.after) == (event.element, event.before, event.after)]
        assert same
        assert min(abs(c.t - event.t) for c in same) < max(1e-12, 0.1 * tolerance)


def searches_over_and_over(expected):
    """An end of slipping that is looked for again and again: rounding decides when it is found."""
    return sum(event.before == event.after == "slipping" for event in expected.events) > 3


@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_core_agrees_on_random_systems(count):
    left_out, kinds = 0, set()
    for seed in range(40):
        found, expected = resolve_both(*random_contact_space(seed, count))
        if searches_over_and_over(expected):
            left_out += 1
            continue
        assert_same(found, expected)
        kinds.update((event.before, event.after) for event in expected.events)
    assert left_out <= 4
    assert {("open", "slipping"), ("slipping", "sticking"), ("sticking", "slipping")} <= kinds


@pytest.mark.parametrize(
    "stiffness, damping",
    [
        ((1e5, 1e5), (300.0, 0.0)),  # yields
        ((1e5, 3e4), (3.0, 0.0)),
        ((1e5, 1e5), (0.0, 1.0)),  # lands without a force
        ((1e7, 1e7), (300.0, 300.0)),  # springs back, and yields in the end
        ((1e8, 1e8), (300.0, 300.0)),
        ((1e8, 1e8), (3000.0, 30.0)),
        ((1e8, 1e8), (300.0, 0.0)),  # yields until it lifts
    ],
)
def test_the_core_agrees_whatever_the_material(stiffness, damping):
    left_out, kinds = 0, set()
    for count in (1, 3):
        for seed in range(20):
            found, expected = resolve_both(*random_contact_space(seed, count, stiffness, damping))
            if searches_over_and_over(expected):
                left_out += 1
            else:
                assert_same(found, expected, 1e-5)  # where a cut is near enough, on hard ground
                kinds.update((event.before, event.after) for event in expected.events)
    assert left_out <= 4
    springs_back = stiffness[0] >= 1e7 and damping[1] > 0.0
    assert ("sticking", "sticking" if springs_back else "slipping") in kinds


def test_a_bounce_without_damping_is_given_back_by_the_stretch():
    """At μ = 1 the stretch turns the sliding velocity round: exact are −1/2 and 1 m/s after half a period."""
    element = contact_space.Element(
        contact_space.Material((1e5, 1e5), (0.0, 0.0), 1.0), UP, 1e-4, np.array([1.5, 0, -1])
    )
    found, expected = resolve_both(np.eye(3), np.zeros(3), [element], 12e-3, micro_steps=200)
    assert_same(found, expected, 1e-7)
    assert_allclose(found.velocity[0], [-0.5, 0.0, 1.0], atol=2e-3)


@pytest.mark.parametrize("micro_steps", [1, 5, 50])
def test_any_number_of_micro_steps_agrees(micro_steps):
    for seed in range(10):
        found, expected = resolve_both(*random_contact_space(seed), micro_steps=micro_steps)
        if not searches_over_and_over(expected):
            assert_same(found, expected)


@pytest.mark.parametrize("tolerance", [3e-2, 3e-3, 1e-4])
def test_micro_steps_of_a_tolerance_agree(tolerance):
    left_out, counts = 0, []
    for seed in range(20):
        found, expected = resolve_both(*random_contact_space(seed, 2), micro_steps=2, tolerance=tolerance)
        if searches_over_and_over(expected):
            left_out += 1
            continue
        assert_same(found, expected)
        counts.append(found.micro_steps)
    assert left_out <= 4
    assert min(counts) < max(counts)


def test_a_smaller_tolerance_follows_more_closely():
    errors, counts = [], []
    for tolerance in (1e-1, 1e-2, 1e-3, 1e-4):
        found = [(*random_contact_space(seed), 8e-3) for seed in (4, 7, 10, 19)]
        pairs = [
            (
                xs.kernels.resolve(Upsilon, ddp_bar, [of_the_core(e) for e in elements], dt, 1, tolerance),
                contact_space.follow_exactly(Upsilon, ddp_bar, elements, dt),
            )
            for Upsilon, ddp_bar, elements, dt in found
        ]
        errors.append(max(np.abs(ours.velocity - exact.velocity).max() for ours, exact in pairs))
        counts.append(sum(ours.micro_steps for ours, _ in pairs))
    assert counts == sorted(counts)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-3


def test_a_bilateral_element_pulls_and_never_changes():
    Upsilon, ddp_bar, elements = random_contact_space(3)
    first = elements[0]
    stretch = 1e-4 * np.cross(first.normal, [0.0, 1.0, 0.0])
    tied = contact_space.Element(first.material, first.normal, 0.0, first.velocity, "bilateral", stretch)
    found, expected = resolve_both(Upsilon, ddp_bar, [tied, elements[1]])
    # The core has no gap beside the stretch of a bilateral element, the reading has.
    assert_allclose(found.stretch[0], stretch + found.displacement[0], atol=1e-15)
    expected.stretch[0] = found.stretch[0]
    assert_same(found, expected)
    assert found.modes[0] == "bilateral"


def test_the_normal_spring_acts_on_what_the_gap_is_beyond_gap0():
    Upsilon, ddp_bar, (element,) = random_contact_space(5, 1)
    deep = contact_space.Element(element.material, UP, -1e-3, np.zeros(3), "sticking", gap0=-9e-4)
    shallow = contact_space.Element(element.material, UP, -1e-4, np.zeros(3), "sticking")
    same = [xs.kernels.resolve(Upsilon, ddp_bar, [of_the_core(e)], 1e-4) for e in (deep, shallow)]
    assert_allclose(same[0].lam_bar, same[1].lam_bar, rtol=1e-9)
    assert_same(*resolve_both(Upsilon, ddp_bar, [deep], 1e-4))


def test_a_contact_that_sticks_throughout_has_not_changed():
    material = contact_space.Material((1e5, 1e5), (300.0, 300.0), 1.0)
    element = contact_space.Element(material, UP, -1e-4, np.zeros(3), "sticking")
    found, expected = resolve_both(0.5 * np.eye(3), [0.0, 0.0, -9.81], [element], 1e-3)
    assert_same(found, expected)
    assert not found.changed


@pytest.mark.parametrize("seed", [4, 7, 10, 19])
def test_micro_steps_tend_to_the_exact_motion(seed):
    Upsilon, ddp_bar, elements = random_contact_space(seed)
    exact = contact_space.follow_exactly(Upsilon, ddp_bar, elements, 8e-3)
    found = xs.kernels.resolve(
        Upsilon, ddp_bar, [of_the_core(e) for e in elements], 8e-3, micro_steps=160, tolerance=np.inf
    )
    assert np.abs(found.lam_bar - exact.lam_bar).max() < 1e-5 * np.abs(exact.lam_bar).max()
    assert list(found.modes) == exact.modes
