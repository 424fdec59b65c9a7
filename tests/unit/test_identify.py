"""Numbers of a world from motions that were measured in it."""

import numpy as np
import pinocchio as pin
import pytest

import exposim as xs
from crates import DT, crate, measured, on_ground, thrown
from exposim.identification.fitting import Fit
from exposim.identification.measured import motions_of
from exposim.identification.starts import SmoothedStarts
from exposim.identification.tangents import Tangents
from exposim.identification.windows import Noise, Windows
from exposim.simulation.parameters import Parameters

TRUTH = {"stiffness": 2e4, "damping": 60.0, "friction": 0.4}
WRONG = {"stiffness": 1e4, "damping": 100.0, "friction": 0.7}


@pytest.fixture(scope="module")
def result():
    return xs.identify(on_ground(**WRONG), measured(on_ground(**TRUTH), *thrown(), 250, seed=0), list(TRUTH))


def test_a_thrown_crate_tells_stiffness_damping_and_friction(result):
    assert result.converged
    for name, truth in TRUTH.items():
        assert result.start[name] == WRONG[name]
        assert result.estimate[name] == pytest.approx(truth, rel=0.02), name
        assert abs(result.estimate[name] - truth) < 4.0 * result.deviation[name], name
        assert 0.0 < result.deviation[name] < 0.02 * truth, name


def test_what_is_left_is_the_noise(result):
    assert result.chi2 == pytest.approx(1.0, abs=0.1)
    (residuals,) = result.residuals
    assert residuals.q.shape == residuals.v.shape == (251, 6)
    assert residuals.q.std() == pytest.approx(1e-3, rel=0.1)
    assert residuals.v.std() == pytest.approx(1e-2, rel=0.1)


def test_covariance_correlation_and_deviations_are_of_one_piece(result):
    spread = np.array([result.deviation[name] for name in result.names])
    assert np.allclose(np.diag(result.covariance), spread**2)
    assert np.allclose(result.correlation * np.outer(spread, spread), result.covariance)


def test_deviations_are_those_of_estimates_from_other_noise():
    ratios = []
    for seed in range(1, 7):
        motion = measured(on_ground(**TRUTH), *thrown(), 150, seed=seed)
        found = xs.identify(on_ground(**TRUTH), motion, ["stiffness", "friction"])
        ratios.append([(found.estimate[name] - TRUTH[name]) / found.deviation[name] for name in found.names])
    assert 0.4 < np.sqrt(np.mean(np.square(ratios))) < 1.8


def test_derivatives_are_computed_anew_where_steps_surprise_and_of_all_windows_before_the_end(result):
    shares = [each.renewed for each in result.history]
    assert shares[0] == 1.0
    assert min(shares[1:]) < 0.5
    assert max(shares[-3:]) == 1.0
    assert result.tally.linearizations < 0.7 * len(shares)


def test_steps_mislead_where_contacts_depend_on_what_is_changed():
    sim, names = on_ground(**TRUTH), ["stiffness"]
    motion, known = measured(sim, *thrown(), 120, seed=0), Parameters(sim)
    asked, noise = known.named(names), Noise(np.full(6, 1e-3), np.full(6, 1e-2))
    windows = Windows(sim, motions_of(motion, sim), 0.04, noise)
    fit = Fit(windows, xs.Rollout(sim), asked, known, np.array([[-np.inf, np.inf]]), SmoothedStarts(windows, noise))
    before = fit.begin(np.log([TRUTH["stiffness"]]))
    fit.sensitivities.renew(before.pool, before.states, np.exp(before.p), fit.sensitivities.steps)
    after = fit.evaluate(before.p + 0.3, before.starts, before.away)
    every, between = np.ones(len(windows), dtype=bool), (before.states, after.states, after.p - before.p)
    assert fit.sensitivities.misleading(*between, after.p, every).all()  # as those of another parameter
    misled = fit.sensitivities.misleading(*between, before.p, every)
    touching = (sim._layout.memory(before.states)[:, :, :, 1] > 0.0).any(axis=2)
    touched = touching[:, :-1] | touching[:, 1:]
    some = misled.sum(axis=1) < windows.T  # where none misleads by itself all are named
    assert 0 < misled[some].sum() < 0.8 * touched.sum()
    assert not misled[some][~touched[some]].any()


def test_a_simulator_set_to_the_estimates_is_that_of_the_motion(result):
    sim = on_ground(**WRONG)
    sim.set(**result.changes)
    material = sim.surfaces[0].material
    assert material.stiffness == result.estimate["stiffness"]
    assert material.friction == result.estimate["friction"]


def test_the_simulator_itself_is_not_changed():
    sim = on_ground()
    sim.reset(*thrown())
    before = sim.state
    xs.identify(sim, measured(on_ground(), *thrown(), 100, seed=0), ["friction"])
    assert sim.state == before
    assert sim.surfaces[0].material.friction == 0.4


def test_masses_are_told_by_known_forces():
    push = np.array([3.0, 1.0, 2.0, 0.0, 0.0, 0.1])
    q, v = thrown()
    motion = measured(on_ground(), q, v, 100, seed=5, wrench=push)
    sim = on_ground()
    sim.set(mass={"crate": 1.4})
    found = xs.identify(sim, motion, ["mass:crate", "stiffness"])
    assert found.estimate["mass:crate"] == pytest.approx(1.0, rel=0.02)


def test_several_motions_tell_more_than_one():
    motions = [measured(on_ground(), *thrown(), 100, seed=seed) for seed in (1, 2)]
    one, both = (xs.identify(on_ground(), given, ["stiffness"]) for given in (motions[0], motions))
    assert both.deviation["stiffness"] == pytest.approx(one.deviation["stiffness"] / np.sqrt(2.0), rel=0.25)
    assert len(both.residuals) == 2


def test_steps_may_be_shorter_than_the_intervals_of_the_sensors():
    motion = measured(on_ground(dt=DT / 2), *thrown(), 100, seed=3, every=2)
    found = xs.identify(on_ground(dt=DT / 2), motion, ["stiffness", "friction"], start={"friction": 0.6})
    assert found.estimate["stiffness"] == pytest.approx(2e4, rel=0.03)
    assert found.estimate["friction"] == pytest.approx(0.4, rel=0.03)


def test_positions_alone_tell_too():
    motion = measured(on_ground(), *thrown(), 150, seed=4)
    motion = xs.Measured(motion.t, motion.q)
    found = xs.identify(on_ground(), motion, ["friction"], start={"friction": 0.5})
    assert found.estimate["friction"] == pytest.approx(0.4, rel=0.05)
    assert not found.residuals[0].v.any()


def test_recorded_states_need_no_estimates_of_the_starts():
    sim = on_ground()
    with xs.Recorder(sim) as recorder:
        sim.reset(*thrown())
        for _ in range(100):
            sim.step()
    found = xs.identify(on_ground(**WRONG), recorder.trajectory, list(TRUTH), states="recorded")
    for name, truth in TRUTH.items():
        assert found.estimate[name] == pytest.approx(truth, rel=1e-3), name


def test_friction_of_a_motion_that_never_slips_is_refused():
    q = crate().q0
    q[2] += 0.05
    motion = measured(on_ground(), q, np.zeros(6), 150, seed=3)
    with pytest.raises(xs.Unobservable, match="friction cannot be seen in this motion: no contact slips") as refusal:
        xs.identify(on_ground(), motion, ["stiffness", "friction"])
    assert refusal.value.parameters == ("friction",)
    assert refusal.value.deviations["friction"] > 0.1


def test_stiffness_of_a_motion_that_only_slides_is_refused():
    q = crate().q0
    motion = measured(on_ground(stiffness=1e5, damping=300.0), q, np.array([1.5, 0, 0, 0, 0, 0]), 150, seed=4)
    sim = on_ground(stiffness=1e5, damping=300.0)
    assert xs.identify(sim, motion, ["friction"]).estimate["friction"] == pytest.approx(0.4, rel=0.05)
    with pytest.raises(
        xs.Unobservable, match=r"stiffness cannot be seen .* as where they only slide; noise would move"
    ):
        xs.identify(sim, motion, ["stiffness", "friction"])


def test_what_cannot_be_told_apart_is_refused_by_name():
    motion = measured(on_ground(), *thrown(), 150, seed=1)
    with pytest.raises(xs.Unobservable, match="cannot be told apart in this motion") as refusal:
        xs.identify(on_ground(), motion, ["stiffness", "damping", "mass:crate"])  # it moves by their ratios
    assert refusal.value.parameters == ("stiffness", "damping", "mass:crate")


def test_estimates_stay_within_bounds():
    motion = measured(on_ground(), *thrown(), 100, seed=1)
    found = xs.identify(on_ground(friction=0.6), motion, ["friction"], bounds={"friction": (0.5, 0.8)})
    assert found.estimate["friction"] == pytest.approx(0.5)


def test_results_print_and_make_pages(result, tmp_path):
    text = str(result)
    assert "stiffness" in text
    assert "N/m" in text
    assert "Identified(stiffness=" in repr(result)
    page = result.report(tmp_path / "page.html").read_text(encoding="utf-8")
    for word in ("<!doctype html>", "stiffness", "Correlation", "<svg", "Iterations"):
        assert word in page
    assert "<h2>Estimates" in result._repr_html_()
    assert result.plot().axes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parameters": ["stifness"]}, "did you mean 'stiffness'"),
        ({"parameters": []}, "parameters is empty"),
        ({"start": {"fricton": 1.0}}, "start has 'fricton', which is not among the parameters; did you mean"),
        ({"start": {"friction": 0.0}}, "friction is 0 to begin with; give a value above zero"),
        ({"bounds": {"friction": (0.5, 0.1)}}, r"give \(least, most\)"),
        ({"bounds": {"friction": (0.5, 0.6)}}, "outside its bounds 0.5 and 0.6"),
        ({"sigma_q": 0.0}, "give standard deviations above zero"),
        ({"sigma_v": [1.0, 2.0]}, "give one number, or 6"),
        ({"window": 0.0}, "window is 0.0"),
        ({"states": "recorded"}, "whose contacts nobody knows"),
        ({"trajectory": []}, "empty list"),
        ({"trajectory": 3}, r"give a Trajectory, or a Measured\(t, q, v, tau\)"),
    ],
)
def test_bad_requests_are_refused(change, message):
    given = {"trajectory": measured(on_ground(), *thrown(), 20, seed=0), "parameters": ["friction"]} | change
    with pytest.raises(xs.InvalidArgument, match=message):
        xs.identify(on_ground(), **given)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t": [0.0, 0.002, 0.005, 0.006]}, "give times at equal intervals"),
        ({"t": 1e-3 * np.arange(4)}, r"no multiple of the simulator's step of 0.002 s; give Simulator\(dt=0.001\)"),
        ({"q": np.zeros((3, 7))}, r"trajectory.q has shape \(3, 7\)"),
        ({"tau": np.zeros((3, 1))}, "give a row for each of the 4 times"),
    ],
)
def test_bad_measurements_are_refused(change, message):
    q, v = thrown()
    given = {"t": DT * np.arange(4), "q": np.tile(q, (4, 1)), "v": np.tile(v, (4, 1))} | change
    with pytest.raises(xs.InvalidArgument, match=message):
        xs.identify(on_ground(), xs.Measured(**given), ["friction"])


@pytest.mark.parametrize("joint", [pin.JointModelFreeFlyer(), pin.JointModelSpherical(), pin.JointModelRUBX()])
def test_differences_of_many_configurations_are_those_of_pinocchio(joint):
    model = pin.Model()
    model.addJoint(model.addJoint(0, joint, pin.SE3.Identity(), "a"), pin.JointModelRX(), pin.SE3.Identity(), "b")
    rng = np.random.default_rng(0)
    q = np.stack([pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv)) for _ in range(20)])
    near = np.stack([pin.integrate(model, each, 1e-7 * rng.normal(size=model.nv)) for each in q])
    for end in (near, q[::-1]):
        expected = np.stack([pin.difference(model, a, b) for a, b in zip(q, end, strict=True)])
        assert np.allclose(Tangents(model).difference(q, end), expected, atol=1e-12)
