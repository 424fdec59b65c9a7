"""What does not fit is refused before anything runs, and leaves no trace."""

import numpy as np
import pytest

import exposim as xs
from rows import driven, random_targets, refuses

ROWS, STEPS = 3, 6


def pool_and_states():
    pool = xs.Rollout(driven("solo12"), threads=2)
    return pool, pool.reset(rows=ROWS)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"taus": np.zeros(5)}, "5 entries"),
        ({"taus": np.zeros((4, 12))}, r"\(rows, 1, 12\)"),
        ({"taus": np.zeros((ROWS, 2, 12))}, "2 steps"),
        ({"taus": np.zeros((4, STEPS, 12))}, "states has 3, taus has 4"),
        ({"taus": np.zeros((1, ROWS, STEPS, 12))}, "taus has shape"),
        ({"taus": 3.0}, "taus has shape"),
        ({"taus": "none"}, "taus is 'none'"),
        ({"targets": np.zeros(11)}, "targets has 11"),
        ({"targets": np.zeros((0, STEPS, 12))}, "no rows"),
        ({"target_velocities": np.zeros(3)}, "target_velocities has 3"),
        ({"wrenches": np.zeros(6)}, "mapping"),
        ({"wrenches": {"base_link": np.zeros(5)}}, "6 "),
        ({"wrenches": {"base": np.zeros(6)}}, "base"),
        ({"steps": 0}, "steps is 0"),
        ({"steps": 2.5}, "steps is 2.5"),
        ({"every": 4}, "every is 4"),
        ({"every": 0}, "every is 0"),
        ({"record": ("q", "speed")}, "speed"),
        ({"record": "q"}, "record is 'q'"),
        ({"record": ("sensors",)}, "sensors"),
        ({"progress": 3}, "progress is 3"),
        ({"out": 3}, "out is a int"),
        ({"out": {"forces": np.zeros(3)}}, "not recorded"),
        ({"out": {"q": np.zeros((ROWS, STEPS, 18))}}, "out"),
        ({"out": {"q": np.zeros((ROWS, STEPS, 19), np.float32)}}, "float64"),
        ({"out": {"q": np.zeros((ROWS, 19, STEPS)).transpose(0, 2, 1)}}, "contiguous"),
        ({"policy": 3}, "policy is 3"),
    ],
    ids=str,
)
def test_calls_that_do_not_fit_are_refused_without_trace(given, words):
    pool, x = pool_and_states()
    kept, written = x.copy(), np.full((ROWS, STEPS, 18), 7.0)
    arguments = {"steps": STEPS, "out": {"v": written}, **given}
    with refuses(words):
        pool(x, **arguments)
    assert np.array_equal(x, kept)
    assert (written == 7.0).all()


def test_states_of_another_simulator_are_refused():
    pool, x = pool_and_states()
    other = driven("g1")
    for states in (other.state, [other.state], x[:, :-1], x[None], np.zeros((0, pool.size))):
        with pytest.raises(xs.StateMismatch):
            pool(states, steps=STEPS)
    with refuses("state"):
        pool([pool.states(x)[0], 3], steps=STEPS)


def test_pools_that_cannot_be_are_refused():
    sim = driven("solo12")
    for threads in (0, -1, 1.5, True, "2", 10**6):
        with refuses("threads"):
            xs.Rollout(sim, threads=threads)
    with refuses("Simulator"):
        xs.Rollout(sim.robot)
    with refuses("Simulator"):
        xs.Rollout([])
    for other, words in (
        (driven("solo12", dt=1e-3), "dt"),
        (driven("g1"), "layout"),
        (driven("solo12", integrator=xs.ExplicitEuler()), "integrator"),
        (driven("solo12", ground=[xs.HalfSpace(), xs.Sphere(0.1)]), "layout"),
    ):
        with refuses(words):
            xs.Rollout([sim, other])


def test_targets_are_refused_where_nothing_follows_them():
    pool = xs.Rollout(xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace()))
    for name in ("targets", "target_velocities"):
        with refuses("drives"):
            pool(pool.reset(), **{name: np.zeros(12)}, steps=STEPS)


def test_a_reset_that_cannot_be_is_refused():
    pool, _ = pool_and_states()
    q = np.tile(pool._robot.q0, (ROWS, 1))
    with refuses("shape"):
        pool.reset(q[:, :5])
    with refuses("rows"):
        pool.reset(q, rows=ROWS + 1)
    q[1, 3:7] = 0.5, 0.5, 0.5, 5.0
    with refuses(r"q\[1\]"):
        pool.reset(q)
    with refuses(r"v\[0\]"):
        pool.reset(v=np.full(18, np.nan))


def test_what_was_not_recorded_is_not_there_and_says_so():
    pool, x = pool_and_states()
    out = pool(x, targets=random_targets(driven("solo12"), ROWS, STEPS), steps=STEPS)
    for name in ("forces", "events"):
        with pytest.raises(AttributeError, match="record="):
            getattr(out, name)
    with pytest.raises(AttributeError, match="forces"):
        _ = out.force
    with refuses("row is 3"):
        out.reason(ROWS)


def test_what_is_varied_wrongly_is_refused_and_changes_nothing():
    pool, x = pool_and_states()
    pool.vary(slice(ROWS), friction=0.5)
    before = pool(x, steps=STEPS).end
    for rows, given, words in (
        (slice(ROWS), {}, "nothing to change"),
        ([0, 7], {"friction": 0.1}, "rows"),
        (slice(ROWS), {"friction": [0.1, 0.2]}, "friction has shape"),
        (slice(ROWS), {"friction": [0.1, 0.2, -1.0]}, "friction is -1"),
        (slice(ROWS), {"stiffness": 0.0}, "stiffness"),
        (slice(ROWS), {"mass": {"nobody": 1.0}}, "nobody"),
        (slice(ROWS), {"mass": {"base_link": -1.0}}, "mass"),
        (slice(ROWS), {"mass_factor": {"base_link": 0.0}}, "mass_factor"),
        (slice(ROWS), {"mass": 2.0}, "mapping"),
    ):
        with refuses(words):
            pool.vary(rows, **given)
    assert np.array_equal(pool(x, steps=STEPS).end, before)
    with refuses("rows"):
        pool(pool.reset()[:1].repeat(ROWS + 1, 0), steps=STEPS)
    with refuses("list of simulators"):
        xs.Rollout([driven("solo12"), driven("solo12")]).vary([0], friction=0.5)
    with refuses(r"slice\(N\)"):
        xs.Rollout(driven("solo12")).vary(slice(None), friction=0.5)
