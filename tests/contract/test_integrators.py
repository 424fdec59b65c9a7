"""What every integrator promises, whatever its scheme."""

import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from systems import EXPONENTIAL, INTEGRATORS, block, integrator_id, point_mass

every_integrator = pytest.mark.parametrize("integrator", INTEGRATORS, ids=integrator_id)


def slipping_solo(integrator, dt=None):
    """Solo12 landing askew on slippery ground: sticking, slipping and open contacts within 0.1 s."""
    robot = xs.load_robot("solo12")
    dt = dt or (2e-3 if isinstance(integrator, EXPONENTIAL) else 5e-5)
    sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(friction=0.4)), integrator, dt)
    q = pin.integrate(robot.model, robot.q0, np.r_[0, 0, 0.01, 0.05, 0.1, np.zeros(13)])
    sim.reset(q, np.r_[0.5, 0.3, -0.3, np.zeros(15)])
    return sim


def run(sim, duration):
    controller = xs.controllers.PD(sim.robot, 5.0, 0.05)
    for _ in range(round(duration / 2e-3)):
        sim.step(controller(sim.t, sim.state), n=round(2e-3 / sim.dt))
    return sim.state


def final_of(robot, integrator, dt, start, duration=0.128):
    sim = xs.Simulator(robot, integrator=integrator, dt=dt)
    sim.reset(*start)
    sim.step(n=round(duration / dt))
    return sim.q, sim.v


@every_integrator
def test_the_order_is_as_stated_on_a_smooth_problem(integrator):
    """A floating body on four soft bilateral springs, spinning: nothing is linear, nothing switches."""
    robot = block(bilateral=True, material=xs.Material(2e3, 5.0))
    start = [0.01, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.2, -0.1, 0.3, 3.0, 2.0, -5.0]
    longest = {1: 2e-4, 2: 1e-3, 4: 4e-3}[integrator.order]
    q_exact, v_exact = final_of(robot, xs.RungeKutta4(), 5e-5, start)
    errors = []
    for dt in longest / np.array([1, 2, 4, 8]):
        q, v = final_of(robot, integrator, dt, start)
        errors.append(max(np.abs(pin.difference(robot.model, q, q_exact)).max(), np.abs(v - v_exact).max()))
    observed = np.polyfit(np.log2([8, 4, 2, 1]), np.log2(errors), 1)[0]
    assert abs(observed - integrator.order) < 0.15, (observed, errors)


@every_integrator
def test_the_same_run_gives_the_same_bits(integrator):
    assert run(slipping_solo(integrator), 0.2) == run(slipping_solo(integrator), 0.2)


@every_integrator
def test_a_reset_leaves_nothing_behind(integrator):
    used = slipping_solo(integrator)
    run(used, 0.1)
    fresh = slipping_solo(integrator)
    used.reset(fresh.q, fresh.v)
    assert used.state == fresh.state
    assert run(used, 0.1) == run(fresh, 0.1)


@every_integrator
def test_a_restored_state_continues_with_the_same_bits(integrator):
    sim = slipping_solo(integrator)
    run(sim, 0.06)
    saved = pickle.loads(pickle.dumps(sim.state))
    forces = [c.force.tolist() for c in sim.contacts]
    assert sim.state.slipping.any()
    through = run(sim, 0.1)

    other = slipping_solo(integrator)
    other.state = saved
    assert other.state == saved
    assert [c.force.tolist() for c in other.contacts] == forces
    assert run(other, 0.1) == through


@every_integrator
def test_a_pickled_simulator_continues_with_the_same_bits(integrator):
    sim = slipping_solo(integrator)
    run(sim, 0.06)
    copy = pickle.loads(pickle.dumps(sim))
    assert run(copy, 0.1) == run(sim, 0.1)


@every_integrator
def test_substeps_in_one_call_are_the_same_steps(integrator):
    one, many = slipping_solo(integrator), slipping_solo(integrator)
    one.step(n=57)
    for _ in range(57):
        many.step()
    assert one.state == many.state


@every_integrator
def test_simulators_in_threads_give_the_same_bits(integrator):
    expected = run(slipping_solo(integrator), 0.1)
    with ThreadPoolExecutor(4) as pool:
        assert all(state == expected for state in pool.map(lambda _: run(slipping_solo(integrator), 0.1), range(8)))


@every_integrator
def test_one_simulator_may_be_shared_by_threads(integrator):
    sim, alone = slipping_solo(integrator), slipping_solo(integrator)
    threads = [threading.Thread(target=lambda: [sim.step() for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert np.isfinite(sim.q).all()
    for thread in threads:
        thread.join()
    alone.step(n=200)
    assert sim.state == alone.state


def test_a_step_releases_the_interpreter_lock():
    sim = slipping_solo(xs.Expo(), dt=1e-7)
    progress = []
    worker = threading.Thread(target=lambda: (sim.step(n=20_000), progress.append("stepped")))
    worker.start()
    counted = 0
    while not progress:
        counted += 1
    worker.join()
    assert counted > 100


@every_integrator
def test_without_contacts_a_body_falls_freely(integrator):
    sim = xs.Simulator(point_mass(), xs.HalfSpace(), integrator, 1e-3)
    sim.reset([0.0, 0.0, 10.0], [1.0, 0.0, 0.0])
    sim.step(n=500)
    assert not sim.contacts[0].active
    assert_allclose(sim.v, [1.0, 0.0, -9.81 * 0.5], rtol=1e-12)
    endpoint = isinstance(integrator, (xs.SemiImplicitEuler, xs.ImplicitEuler))  # moves with the new velocity
    first_order = 9.81 * 0.5 * 1e-3 / 2 if endpoint else 0.0
    assert_allclose(sim.q, [0.5, 0.0, 10.0 - 9.81 * 0.5**2 / 2 - first_order], rtol=1e-12)


@every_integrator
def test_a_wrench_does_what_the_same_torques_do(integrator):
    """Jₑᵀwₑ at a frame of the trunk, as Pinocchio computes it."""
    robot = xs.load_robot("solo12")
    wrench = np.array([3.0, -2.0, 5.0, 0.3, 0.2, -0.1])
    dt = 1e-9  # so short that it does not matter where within the step the wrench acts
    pushed, driven = (xs.Simulator(robot, xs.HalfSpace(), integrator, dt) for _ in range(2))
    data = robot.model.createData()
    q = pin.integrate(robot.model, robot.q0, np.r_[0, 0, 0, 0.1, 0.2, 0.3, np.full(12, 0.1)])
    frame = robot.model.getFrameId("FR_UPPER_LEG")
    J = pin.computeFrameJacobian(robot.model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
    for sim in (pushed, driven):
        sim.reset(q, np.full(18, 0.1))
    pushed.step(wrenches={"FR_UPPER_LEG": wrench})
    driven.step(J.T @ wrench)
    pushed_dv, driven_dv = ((sim.v - 0.1) / dt for sim in (pushed, driven))
    assert_allclose(pushed_dv, driven_dv, atol=1e-5 * np.abs(driven_dv).max())
    free = xs.Simulator(robot, xs.HalfSpace(), integrator, dt)
    free.reset(q, np.full(18, 0.1))
    free.step()
    assert np.abs(free.v - pushed.v).max() > 1e-8


@every_integrator
def test_a_torque_per_actuated_joint_is_a_torque_per_degree_of_freedom(integrator):
    short, long = slipping_solo(integrator), slipping_solo(integrator)
    tau = np.linspace(-1.0, 1.0, 12)
    short.step(tau)
    long.step(np.r_[np.zeros(6), tau])
    assert short.state == long.state


@every_integrator
def test_a_fixed_base_robot_can_be_simulated(integrator):
    robot = xs.load_robot(pin.buildSampleModelManipulator())
    sim = xs.Simulator(robot, integrator=integrator, dt=1e-4)
    tau = np.linspace(0.5, -0.5, 6)
    sim.step(tau, n=1)
    expected = pin.aba(robot.model, robot.model.createData(), robot.q0, np.zeros(6), tau) * 1e-4
    assert_allclose(sim.v, expected, rtol=1e-6)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts allocations through the dynamic linker")
@pytest.mark.parametrize(
    "damping, drive",
    [(300.0, None), ((300.0, 500.0), None), (300.0, xs.Drive(5e3, 5.0, effort=2.0, velocity=20.0, delay=2e-6))],
    ids=["proportional", "not proportional", "with drives"],
)
@every_integrator
def test_a_step_does_not_allocate_after_the_first(integrator, damping, drive, allocation_counter):
    """Counted by a malloc put before the C library's: 500 more steps, not one allocation more."""
    script = Path(__file__).with_name("count_allocations.py")
    environment = {"LD_PRELOAD": str(allocation_counter), "PATH": ""}
    command = [sys.executable, str(script), repr(integrator), repr(xs.Material(1e5, damping, 0.3)), repr(drive)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    before, few, many = map(int, done.stdout.split())
    assert before > 1000  # the counter counts
    assert many == few


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts allocations through the dynamic linker")
def test_a_rollout_does_not_allocate_in_its_steps_whatever_its_policy(allocation_counter):
    script = Path(__file__).with_name("count_rollout_allocations.py")
    environment = {"LD_PRELOAD": str(allocation_counter), "PATH": ""}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        before, few, many = map(int, line.split())
        assert before > 1000
        assert many == few


@pytest.fixture(scope="session")
def allocation_counter(tmp_path_factory):
    library = tmp_path_factory.mktemp("counter") / "libcount.so"
    source = Path(__file__).with_name("count_allocations.c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    return library
