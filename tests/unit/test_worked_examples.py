"""One point of 2 kg on z = 0, worked out by hand: force, flags, anchor, then one Expo step of 5 ms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from exposim.contact.modes import MODES
from systems import point_mass

EXAMPLES = {
    "sticking": dict(
        before=[(0, 0, -2e-4), (1e-3, 0, -0.01), (0, 0, 0)],
        force=(-0.3, 0, 23),
        slipping=False,
        mode="sticking",
        p0=(0, 0, 0),
        dp0=(0, 0, 0),
        lam_pr=(-0.349051788358, 0, 23.326007450695),
        q=(2.835389041031e-6, 0, -2.266540701743e-4),
        v=(1.27370529e-4, 0, -7.34981373e-4),
    ),
    "slipping": dict(
        before=[(2e-4, 0, -2e-4), (0.1, 0.05, -0.01), (0, 0, 0)],
        force=(-11.015002280043, -3.304500684013, 23),
        slipping=True,
        mode="slipping",
        p0=(8.984997719957e-5, -3.304500684013e-5, 0),
        dp0=(0.1, 0.05, 0),
        lam_pr=(-6.246363350353, -1.873909005106, 23.326007450695),
        q=(6.50727569e-4, 2.35218271e-4, -2.2665407e-4),
        v=(0.084384091624, 0.045315227487, -7.34981373e-4),
    ),
    "landing": dict(
        before=[(0.3, 0.2, -5e-4), (0.2, 0, -0.5), None],
        force=(-60, 0, 200),
        slipping=False,
        mode="sticking",
        p0=(0.3, 0.2, 0),
        dp0=(0, 0, 0),
        lam_pr=(-69.810357671543, 0, 211.37371799216),
        q=(0.300567077808, 0.2, -1.781798366e-3),
        v=(0.025474105821, 0, -0.02061570502),
    ),
    "leaving": dict(
        before=[(0, 0, -1e-5), (0.02, 0, 0.1), (0, 0, 0)],
        force=(0, 0, 0),
        slipping=True,
        mode="idle",
        p0=(0, 0, 0),
        dp0=(0.02, 0, 0),
        lam_pr=(0, 0, 0),
        q=(1e-4, 0, 3.67375e-4),
        v=(0.02, 0, 0.05095),
    ),
}


def at_worked_example(before, integrator):
    """A simulator whose law has been applied at p, dp with the previous anchor p0."""
    p, dp, p0 = before
    dt = 5e-3
    sim = xs.Simulator(point_mass(), xs.HalfSpace(xs.Material(1e5, 300.0, 0.5)), integrator, dt)
    if p0 is None:
        sim.reset(p, dp)
        return sim
    # An explicit step of a tiny dt leads to (p, dp) with the anchor of the contact before it.
    tiny = 1e-12
    mover = xs.Simulator(sim.robot, sim.surfaces, xs.ExplicitEuler(), tiny)
    mover.reset((0.0, 0.0, -1e-9))
    start = mover.state
    mover.state = start.replace(q=p, v=dp, **sticking_to(p0, p))
    mover.step()
    sim.state = mover.state
    return sim


def sticking_to(p0, p):
    """The memory of a contact with z = 0 whose point is at p and whose anchor is at p0."""
    stretch = np.subtract(p, p0) * (1, 1, 0)
    return {"mode": [MODES.index("sticking")], "phi0": [p0[2]], "stretch": [stretch]}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_law_and_one_step_are_as_worked_out_by_hand(name):
    example = EXAMPLES[name]
    sim = at_worked_example(example["before"], xs.PaperExpo())
    (contact,) = sim.contacts
    assert contact.active
    assert contact.slipping == example["slipping"]
    assert_allclose(contact.force, example["force"], rtol=1e-11, atol=2e-9)  # of the tiny step
    assert_allclose(contact.anchor, example["p0"], rtol=1e-10, atol=1e-12)
    assert MODES[sim.state.mode[0]] == example["mode"]
    assert_allclose(sim.state.phi0, [example["p0"][2]], rtol=0.0, atol=1e-16)
    stretch = (contact.position - example["p0"]) * (1, 1, 0)
    assert_allclose(sim.state.stretch[0], stretch, rtol=1e-10, atol=1e-12)
    anchor_velocity = contact.velocity * (1, 1, 0) if contact.slipping else np.zeros(3)
    assert_allclose(anchor_velocity, example["dp0"], rtol=1e-9, atol=1e-12)

    sim.step()
    assert_allclose(sim.info.lam_pr[0], example["lam_pr"], rtol=1e-10, atol=2e-9)
    assert_allclose(sim.q, example["q"], rtol=3e-9, atol=1e-12)
    assert_allclose(sim.v, example["v"], rtol=3e-9, atol=1e-10)
