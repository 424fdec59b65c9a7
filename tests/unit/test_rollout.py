"""Rollouts are loops of steps, bit for bit, whatever the threads; rows that go wrong harm no other."""

import pickle
import resource

import numpy as np
import pinocchio as pin
import pytest

import exposim as xs
from bodies import colliding
from rows import driven, looped, random_targets, same_events, thrown_states
from systems import point_mass

ALL = ("q", "v", "t", "states", "forces", "active", "torques", "events")
THREADS = (1, 2, 5)


def stairs():
    sim = driven("solo12", ground=[xs.HalfSpace(), xs.terrain.stairs(rise=0.05, run=0.2, steps=3)])
    return sim, thrown_states(sim, 6), {"target": random_targets(sim, 6, 12)}


def rough():
    sim = driven("solo12", ground=xs.terrain.rough(4.0, 0.03, seed=1))
    return sim, thrown_states(sim, 6), {"target": random_targets(sim, 6, 12)}


def late_drives():
    sim = driven("go2", kp=25.0, kd=0.5, delay=0.012)
    states = thrown_states(sim, 6)
    for i, state in enumerate(states):  # with targets on their way
        sim.state = state
        sim.step(target=random_targets(sim, 1, 1, seed=i)[0, 0])
        states[i] = sim.state
    return sim, states, {"target": random_targets(sim, 6, 12)}


def torques():
    sim = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace(material=xs.Material(friction=0.3)), dt=2e-3)
    return sim, thrown_states(sim, 6), {"tau": 0.4 * np.random.default_rng(3).standard_normal((6, 12, 12))}


def boxes():
    robot, q, v = colliding("box", "cylinder", 3)
    sim = xs.Simulator(robot, xs.HalfSpace(point=(0.0, 0.0, -1.0)), dt=5e-3, collisions="all")
    states = []
    for k in range(6):
        sim.reset(q, v)
        sim.step(n=10 * (k + 1))
        states.append(sim.state)
    return sim, states, {}


WORLDS = (stairs, rough, late_drives, torques, boxes)
GIVEN_AS = {"target": "targets", "tau": "taus"}


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.__name__)
def test_rows_are_loops_of_steps_bit_for_bit_for_any_threads_and_any_order(world):
    sim, states, inputs = world()
    rows, steps = len(states), 12
    loops = [
        looped(sim, state, steps, **{name: values[i] for name, values in inputs.items()})
        for i, state in enumerate(states)
    ]
    rng = np.random.default_rng(0)
    for threads in THREADS:
        pool = xs.Rollout(sim, threads=threads)
        order = rng.permutation(rows)
        given = {GIVEN_AS[name]: values[order] for name, values in inputs.items()}
        out = pool([states[i] for i in order], **given, steps=steps, record=ALL)
        assert not out.status.any()
        for row, i in enumerate(order):
            loop_states, forces, motors, events = loops[i]
            assert np.array_equal(out.states[row], loop_states)
            assert np.array_equal(out.forces[row], forces)
            assert np.array_equal(out.torques[row][:, sim.robot.actuated_dofs], motors)
            assert same_events(out.events[row], events)
            ends = [xs.State._of(x.copy(), sim.state.layout) for x in loop_states]
            assert np.array_equal(out.q[row], [each.q for each in ends])
            assert np.array_equal(out.v[row], [each.v for each in ends])
            assert np.array_equal(out.t[row], [each.t for each in ends])
            assert np.array_equal(out.active[row], [each.active for each in ends])
            assert np.array_equal(out.end[row], loop_states[-1])
    assert sum(len(loop[3]) for loop in loops) > 5  # contacts changed: it is not all free flight


@pytest.mark.parametrize("every", [2, 3, 12])
def test_records_are_taken_every_so_many_steps(every):
    sim, states, inputs = torques()
    pool = xs.Rollout(sim, threads=2)
    all_of_them = pool(states, inputs["tau"], steps=12, record=ALL)
    some = pool(states, inputs["tau"], steps=12, every=every, record=ALL)
    for name in ("q", "v", "t", "states", "forces", "active", "torques"):
        assert np.array_equal(getattr(some, name), getattr(all_of_them, name)[:, every - 1 :: every])
    assert np.array_equal(some.end, all_of_them.end)
    assert all(map(same_events, some.events, all_of_them.events))


def test_wrenches_and_target_velocities_are_those_of_a_step():
    sim = driven("solo12")
    states = thrown_states(sim, 3)
    rng = np.random.default_rng(1)
    wrenches, velocities = 5.0 * rng.standard_normal((3, 8, 6)), rng.standard_normal((3, 8, 12))
    out = xs.Rollout(sim)(
        states, target_velocities=velocities, wrenches={"base_link": wrenches}, steps=8, record=("states",)
    )
    for i, state in enumerate(states):
        pushes = [{"base_link": each} for each in wrenches[i]]
        assert np.array_equal(out.states[i], looped(sim, state, 8, target_velocity=velocities[i], wrenches=pushes)[0])


def test_inputs_are_broadcast_over_rows_and_steps():
    sim = driven("solo12")
    pool = xs.Rollout(sim, threads=2)
    states = pool.pack(thrown_states(sim, 4))
    targets = random_targets(sim, 4, 6)
    q = np.tile(sim.robot.q0, (4, 6, 1))
    q[:, :, 7:] = targets
    whole = pool(states, targets=targets, steps=6, record=("states",)).states
    assert np.array_equal(pool(states, targets=q, steps=6, record=("states",)).states, whole)
    assert np.array_equal(pool(states, targets=targets[:, ::-1][:, ::-1], steps=6).end, whole[:, -1])
    for given in (targets[0, 0], targets[0], targets[:, :1], targets[:1, :], np.float32(targets[0, 0])):
        full = np.broadcast_to(np.float64(given)[(None,) * (3 - given.ndim)], targets.shape)
        assert np.array_equal(pool(states, targets=given, steps=6).end, pool(states, targets=full.copy(), steps=6).end)
    one = pool(states[0], targets=targets, steps=6)
    assert np.array_equal(one.end, pool(np.tile(states[0], (4, 1)), targets=targets, steps=6).end)
    assert one.q.shape == (4, 6, 19)


def test_joints_that_turn_in_circles_get_targets_as_in_a_step():
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRUBY(), pin.SE3.Identity(), "wheel")
    model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3(np.eye(3), np.array([0.1, 0.0, 0.0])))
    robot = xs.load_robot(model).replace(drives=xs.Drive(kp=3.0, kd=0.1))
    sim = xs.Simulator(robot, dt=5e-3)
    targets = np.random.default_rng(0).uniform(-3.0, 3.0, (2, 5, 1))
    out = xs.Rollout(sim)(sim.state, targets=targets, steps=5, record=("states",))
    start = sim.state
    for i in range(2):
        assert np.array_equal(out.states[i], looped(sim, start, 5, target=targets[i])[0])


def test_states_go_in_and_out_as_objects_and_as_arrays():
    sim = driven("go2", delay=0.01)  # of which to_array says more
    pool = xs.Rollout(sim)
    states = thrown_states(sim, 3)
    x = pool.pack(states)
    assert x.shape == (3, pool.size)
    assert pool.states(x) == states
    whole = np.array([state.to_array() for state in states])
    assert np.array_equal(pool(whole, steps=3).end, pool(states, steps=3).end)
    assert pool.states(pool(x, steps=3).end)[1].t == pytest.approx(states[1].t + 0.015)


def test_a_batched_reset_is_a_reset_of_each():
    sim = driven("solo12")
    pool = xs.Rollout(sim)
    rng = np.random.default_rng(0)
    q = np.tile(sim.robot.q0, (5, 1))
    q[:, 2] -= 0.01 * rng.uniform(size=5)
    v = rng.standard_normal((5, sim.robot.nv))
    for i, row in enumerate(pool.reset(q, v)):
        sim.reset(q[i], v[i])
        assert np.array_equal(row, sim.state._x)
    assert np.array_equal(pool.reset(rows=2), np.tile(pool.reset(), (2, 1)))


def wild(sim):
    """A pool, states, and torques of which row 2 blows its robot up in step 4 to 6."""
    pool = xs.Rollout(sim, threads=2)
    taus = np.zeros((4, 10, 12))
    taus[2, 3:] = 1e9
    return pool, pool.reset(rows=4), taus


def test_a_row_that_diverges_is_frozen_and_says_why_and_the_others_go_on():
    robot = xs.load_robot("solo12").replace(effort_limits=False)
    sim = xs.Simulator(robot, xs.HalfSpace(), dt=5e-3)
    pool, x, taus = wild(sim)
    out = pool(x, taus, steps=10, record=ALL)
    assert out.status.tolist() == [0, 0, 1, 0]
    failed = out.diverged_at[2]
    assert out.diverged_at.tolist() == [-1, -1, failed, -1]
    sim.state = pool.states(x)[2]
    with pytest.raises(xs.SimulationDiverged) as caught:
        for k in range(10):
            sim.step(taus[2, k])
    assert out.reason(2) == str(caught.value).replace(f"step {1}", f"step {failed}") or "diverged" in out.reason(2)
    assert f"(step {failed})" in out.reason(2)
    assert [out.reason(i) for i in (0, 1, 3)] == [None] * 3
    good = caught.value.last_good_state
    assert np.array_equal(out.end[2], good._x)
    assert np.array_equal(out.states[2, failed - 1 :], np.tile(good._x, (10 - failed + 1, 1)))
    assert np.isfinite(out.torques).all() and np.isfinite(out.forces).all()
    calm = pool(x, steps=10, record=ALL)
    for name in ("states", "forces", "torques"):
        assert np.array_equal(getattr(out, name)[[0, 1, 3]], getattr(calm, name)[[0, 1, 3]])
    assert "1 diverged" in repr(out)


def test_a_nan_marks_its_row_and_no_other():
    sim = driven("solo12")
    pool = xs.Rollout(sim, threads=2)
    x = pool.pack(thrown_states(sim, 6))
    targets, push = random_targets(sim, 6, 8), np.zeros((6, 8, 6))
    calm = pool(x, targets=targets, steps=8, record=ALL)
    x[1, 3], targets[2, 5, 7], push[4, 0, 2] = np.nan, np.inf, np.nan
    out = pool(x, targets=targets, wrenches={"base_link": push}, steps=8, record=ALL)
    assert out.status.tolist() == [0, 2, 2, 0, 2, 0]
    assert (out.diverged_at == -1).all()
    assert "state" in out.reason(1)
    assert "targets for step 6" in out.reason(2)
    assert "wrench for step 1" in out.reason(4)
    assert np.isnan(out.q[1]).all() and np.array_equal(out.end[1], x[1], equal_nan=True)
    assert np.array_equal(out.states[2, :5], calm.states[2, :5])
    assert np.array_equal(out.states[2, 5:], np.tile(calm.states[2, 4], (3, 1)))
    assert np.array_equal(out.end[4], x[4])
    for i in (0, 3, 5):
        assert np.array_equal(out.states[i], calm.states[i])
    assert "3 with bad input" in repr(out)


def test_arrays_that_are_given_are_written_into():
    sim = driven("solo12")
    pool = xs.Rollout(sim, threads=2)
    x, targets = pool.reset(rows=3), random_targets(sim, 3, 6)
    new = pool(x, targets=targets, steps=6, record=("q", "forces"))
    q = np.full((3, 6, 19), np.nan)
    out = pool(x, targets=targets, steps=6, record=("q", "forces"), out={"q": q})
    assert out.q is q
    assert np.array_equal(q, new.q)
    again = pool(x, targets=targets[::-1], steps=6, record=("q", "forces"), out=out)
    assert again.q is q and again.end is out.end and again.status is out.status
    # A call may go on where the one before ended, in the same memory.
    ends = pool(x, targets=targets, steps=6, record=())
    ends = pool(ends.end, targets=targets, steps=6, record=(), out=ends)
    twice = pool(pool(x, targets=targets, steps=6).end, targets=targets, steps=6)
    assert np.array_equal(ends.end, twice.end)
    # And what is read of an array that is written to is what it was before.
    plans = pool(x, targets=targets, steps=6, record=("q",))
    over = pool(x, targets=plans.q[:, ::-1].copy(), steps=6, record=("q",)).q
    assert np.array_equal(pool(x, targets=plans.q[:, ::-1], steps=6, record=("q",), out=plans).q, over)


def test_nothing_is_kept_of_steps_that_are_not_recorded():
    sim = driven("solo12")
    pool = xs.Rollout(sim, threads=1)
    x, target = pool.reset(rows=1), random_targets(sim, 1, 1)[0, 0]
    pool(x, targets=target, steps=500, record=())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    pool(x, targets=target, steps=20_000, record=())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2_000  # [kB]


def test_simulators_in_a_list_are_rows_of_their_own():
    robot = xs.load_robot("solo12")
    sims = [
        xs.Simulator(robot.replace(mass={"base_link": mass}), xs.HalfSpace(material=xs.Material(friction=mu)), dt=5e-3)
        for mass, mu in ((1.0, 0.2), (2.0, 0.5), (3.0, 1.0))
    ]
    taus = np.random.default_rng(0).standard_normal((3, 15, 12))
    for threads in (1, 2):
        pool = xs.Rollout(sims, threads=threads)
        assert pool.rows == 3
        x = pool.reset()
        out = pool(x, taus, steps=15, record=("states",))
        for i, sim in enumerate(sims):
            sim.reset()
            assert np.array_equal(x[i], sim.state._x)
            assert np.array_equal(out.states[i], looped(sim, sim.state, 15, tau=taus[i])[0])


def test_a_surface_written_in_python_is_asked_by_one_thread():
    class Flat(xs.Surface):
        def distance(self, p):
            return p[:, 2]

        def normal(self, p):
            return np.tile([0.0, 0.0, 1.0], (len(p), 1))

    sim = xs.Simulator(xs.load_robot("solo12"), Flat(), dt=5e-3)
    pool = xs.Rollout(sim, threads=3)
    assert pool.threads == 1
    sim.reset()
    start = sim.state
    out = pool([start, start], steps=4, record=("states",))
    assert np.array_equal(out.states[1], looped(sim, start, 4)[0])


def test_a_surface_that_fails_stops_the_rollout_with_its_own_error():
    class Fails(xs.Surface):
        calls = 0

        def distance(self, p):
            self.calls += 1
            if self.calls > 200:
                raise ZeroDivisionError("too many")
            return p[:, 2]

        def normal(self, p):
            return np.tile([0.0, 0.0, 1.0], (len(p), 1))

    sim = xs.Simulator(xs.load_robot("solo12"), Fails(), dt=5e-3)
    pool = xs.Rollout(sim)
    with pytest.raises(ZeroDivisionError, match="too many"):
        pool(sim.state, steps=1000)


def test_touches_without_a_slot_are_told_of_once():
    corner = [xs.HalfSpace(normal=n) for n in ((0.0, 0.0, 1.0), (1.0, 0.0, 0.3), (0.0, 1.0, 0.3))]
    sim = xs.Simulator(point_mass(), corner, dt=1e-3, slots=1)
    sim.reset([0.0, 0.0, 1e-5])
    pool = xs.Rollout(sim)
    with pytest.warns(xs.ContactWarning, match="slots=2"):
        pool(sim.state, steps=50)


def test_progress_is_told_as_a_share_of_the_steps():
    sim = driven("solo12")
    pool = xs.Rollout(sim, threads=2)
    shares = []
    pool(pool.reset(rows=4), steps=2000, record=(), progress=shares.append)
    assert shares and shares == sorted(shares)
    assert 0.0 < shares[-1] <= 1.0


def test_a_simulator_that_goes_on_is_of_no_effect():
    sim = driven("solo12")
    pool = xs.Rollout(sim)
    x = pool.reset(rows=2)
    before = pool(x, steps=5).end
    sim.step(n=3)
    sim.set(friction=0.1)
    assert np.array_equal(pool(x, steps=5).end, before)


def test_pools_are_pickled_with_what_was_varied():
    pool = xs.Rollout(driven("solo12"), threads=3)
    pool.vary(slice(3), friction=[0.1, 0.2, 0.3])
    pool.vary([1], mass={"base_link": 4.0})
    again = pickle.loads(pickle.dumps(pool))
    x = pool.reset()
    assert (again.threads, again.rows) == (3, 3)
    assert np.array_equal(again(x, steps=20).end, pool(x, steps=20).end)


def test_results_are_pickled():
    sim = driven("solo12")
    pool = xs.Rollout(sim)
    x = pool.reset(rows=2)
    x[1, 1] = np.nan
    out = pool(x, steps=5, record=("q", "events"))
    again = pickle.loads(pickle.dumps(out))
    assert np.array_equal(again.q, out.q, equal_nan=True)
    assert again.reason(1) == out.reason(1)
    assert same_events(again.events[0], out.events[0])
