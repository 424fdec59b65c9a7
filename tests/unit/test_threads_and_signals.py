"""Threads beside the interpreter, forks, signals, as many steps as one likes: nothing hangs, aborts or is lost."""

import pickle
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import exposim as xs
from bad_input import refused
from systems import point_mass

PATIENCE = 120.0  # [s]
TESTS = Path(__file__).parents[1]

SCENE = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
import os, signal, threading, time
import numpy as np
import exposim as xs
from systems import point_mass

class Flat(xs.Surface):
    def distance(self, p):
        return p[:, 2]
    def normal(self, p):
        return np.tile([0.0, 0.0, 1.0], (len(p), 1))

class Slow(Flat):
    def distance(self, p):
        time.sleep(1e-3)  # gives up the interpreter lock
        return p[:, 2]

class Endless(Flat):
    entered = threading.Event()
    def distance(self, p):
        if threading.current_thread() is not threading.main_thread():
            self.entered.set()
            time.sleep(1e6)
        return p[:, 2]

def simulator(ground):
    sim = xs.Simulator(point_mass(), ground, xs.Expo(), 1e-3)
    sim.reset([0.0, 0.0, 0.1])
    return sim

def in_a_thread(act):
    threading.Thread(target=act, daemon=True).start()

def for_ever(act):
    while True:
        act()
"""


def run(code):
    """The output of a program, which must end by itself and well."""
    whole = SCENE + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("ground", ["xs.HalfSpace()", "Flat()", "Slow()"])
@pytest.mark.parametrize("n", [1, 10**9])
def test_the_interpreter_may_leave_while_a_daemon_thread_steps(ground, n):
    run(f"""
        sim = simulator({ground})
        in_a_thread(lambda: for_ever(lambda: sim.step(n={n})))
        time.sleep(0.2)
    """)


def test_what_is_cleared_at_exit_finds_no_simulator_that_waits_for_ever():
    out = run("""
        sim = simulator(Endless())
        class Last:
            def __del__(self, sim=sim, error=xs.SimulatorBusy, write=os.write):
                try:
                    sim.q
                except error as busy:
                    write(1, str(busy).encode())
        sys.last = Last()  # what belongs to the program is not cleared while a thread is in its functions
        in_a_thread(sim.step)
        Endless.entered.wait()
    """)
    assert "in the middle of a step of a thread that has ended" in out


def test_a_child_forked_while_no_thread_steps_has_a_simulator_of_its_own():
    out = run("""
        sim = simulator(xs.HalfSpace())
        thread = threading.Thread(target=lambda: sim.step(n=10))
        thread.start(); thread.join()
        child = os.fork()
        sim.step(n=5 if child else 20)
        if not child:
            print(round(sim.t, 6), flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print(round(sim.t, 6))
    """)
    assert out.split() == ["0.03", "0.015"]


@pytest.mark.parametrize("act", ["sim.step()", "sim.q", "sim.reset()", "sim.state"])
def test_a_child_forked_in_the_middle_of_a_step_of_another_thread_is_told_so(act):
    out = run(f"""
        sim = simulator(Endless())
        in_a_thread(sim.step)
        Endless.entered.wait()
        child = os.fork()
        if not child:
            signal.alarm(20)
            try:
                {act}
            except xs.SimulatorBusy as error:
                print(error, flush=True)
            del sim  # what is not whole is not destroyed
            simulator(xs.HalfSpace()).step(n=10)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    """)
    assert "in the middle of a step of another thread when this process was forked" in out


def test_children_of_a_stepping_process_do_not_hang():
    run("""
        sim = simulator(xs.HalfSpace())
        in_a_thread(lambda: for_ever(lambda: sim.step(n=50)))
        for _ in range(6):
            time.sleep(2e-3)
            child = os.fork()
            if not child:
                signal.alarm(20)
                try:
                    sim.step(n=3)
                except xs.SimulatorBusy:
                    pass
                sys.exit()  # with destructors
            assert os.waitpid(child, 0)[1] == 0
    """)


def test_a_surface_may_fork():
    run("""
        class Forks(Flat):
            child = None
            def distance(self, p):
                if sim is not None and self.child is None:
                    self.child = os.fork()
                return p[:, 2]
        sim = None
        sim = simulator(Forks())
        signal.alarm(20)
        sim.step()
        sim.step(n=3)
        assert round(sim.t, 6) == 0.004
        child = sim.surfaces[0].child
        if child:
            assert os.waitpid(child, 0)[1] == 0
    """)


def test_a_simulator_that_waits_for_another_thread_can_be_interrupted():
    out = run("""
        sim = simulator(Endless())
        in_a_thread(sim.step)
        Endless.entered.wait()
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        def handler(*_): raise ValueError("enough")
        signal.signal(signal.SIGALRM, handler)
        try:
            sim.q
        except ValueError as error:
            print(error)
    """)
    assert out == "enough\n"


def test_one_who_looks_gets_a_turn_beside_one_who_steps_for_ever():
    out = run("""
        sim = simulator(xs.HalfSpace())
        in_a_thread(lambda: sim.step(n=2**62))
        time.sleep(0.1)
        began = time.monotonic()
        for _ in range(10):
            sim.q
        print(time.monotonic() - began)
    """)
    assert float(out) < 5.0


@pytest.fixture
def raised_by_handlers():
    """Errors that the handler of SIGALRM has raised."""
    raised = []

    def handler(*_):
        raised.append(ValueError(f"number {len(raised)}"))
        raise raised[-1]

    before = signal.signal(signal.SIGALRM, handler)
    yield raised
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("tau", [None, np.zeros(3), [0.0, 0.0, 0.0], (0, 0, 0)], ids=repr)
@pytest.mark.parametrize("n", [1, 7, 10**12])
def test_what_a_signal_handler_raises_comes_through_after_a_whole_number_of_steps(tau, n, raised_by_handlers):
    sim = xs.Simulator(point_mass(), xs.HalfSpace(), dt=1e-3)
    for delay in np.linspace(1e-4, 1e-3, 30):
        raised_by_handlers.clear()
        before = after = sim.statistics.steps
        try:
            signal.setitimer(signal.ITIMER_REAL, delay)
            while not raised_by_handlers:
                sim.step(tau, n)
                after += n
            came_through = None
        except ValueError as error:
            came_through = error
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        assert came_through is raised_by_handlers[0]
        taken = sim.statistics.steps
        assert after <= taken <= after + n
        assert taken - before == round((sim.t - before * 1e-3) / 1e-3)


def test_a_value_that_cannot_be_converted_is_refused_as_ever():
    class Odd:
        def __float__(self):
            raise ValueError("no")

    sim = xs.Simulator(point_mass(), xs.HalfSpace())
    refused(xs.InvalidArgument, lambda: sim.step([Odd(), 0.0, 0.0]), "tau", "give real numbers")


@pytest.mark.parametrize("n", [2**31 - 1, 2**31, 2**63 - 1, np.int64(2**62)], ids=repr)
def test_as_many_steps_as_anyone_asks_for_can_be_interrupted(n, raised_by_handlers):
    sim = xs.Simulator(point_mass(), xs.HalfSpace(), dt=1e-3)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with pytest.raises(ValueError, match="number 0"):
        sim.step(n=n)
    assert sim.statistics.steps > 0


@pytest.mark.parametrize(
    "n", [0, -1, -(2**63), 2**63, 10**30, True, np.True_, 1.0, np.float64(2.0), "1", None], ids=repr
)
def test_what_is_no_number_of_steps_is_refused(n):
    sim = xs.Simulator(point_mass(), xs.HalfSpace())
    refused(xs.InvalidArgument, lambda: sim.step(n=n), "n is", "give a whole number from 1 to")
    assert sim.t == 0.0


@pytest.mark.parametrize("n", [np.int8(3), np.uint64(3), np.int32(3)], ids=repr)
def test_whole_numbers_of_numpy_count_steps(n):
    sim = xs.Simulator(point_mass(), xs.HalfSpace())
    sim.step(n=n)
    assert sim.statistics.steps == 3


@pytest.mark.parametrize("dt", [5e-324, 1e-310, 1e-200, 1e-30, 0.99e-12])
def test_a_step_that_vanishes_is_refused(dt):
    refused(xs.InvalidArgument, lambda: xs.Simulator(point_mass(), xs.HalfSpace(), dt=dt), "dt", "at least 1e-12")


@pytest.mark.parametrize("integrator", [xs.Expo(), xs.PaperExpo(), xs.RungeKutta4(), xs.ImplicitEuler()], ids=repr)
def test_the_shortest_step_is_taken(integrator):
    sim = xs.Simulator(point_mass(), xs.HalfSpace(), integrator, 1e-12)
    sim.reset([0.0, 0.0, -1e-5], [1.0, 0.0, -1.0])
    sim.step(n=100)
    assert np.isclose(sim.t, 1e-10)


def diverging():
    """A simulator that diverges under SHOVE, after a step or two."""
    return xs.Simulator(point_mass(), xs.HalfSpace(), xs.ExplicitEuler(), 1e-3)


SHOVE = np.array([7e7, 0.0, 0.0])


def test_threads_that_diverge_and_reset_meet_divergence_and_nothing_else():
    sim, met, ended = diverging(), [], threading.Event()

    def diverge():
        while not ended.is_set():
            try:
                sim.step(SHOVE, n=30)
            except Exception as error:
                met.append(error)

    def reset():
        while not ended.is_set():
            sim.reset()

    threads = [threading.Thread(target=act) for act in (diverge, diverge, reset)]
    for thread in threads:
        thread.start()
    ended.wait(2.0)
    ended.set()
    for thread in threads:
        thread.join()
    assert met
    assert {type(error) for error in met} == {xs.SimulationDiverged}
    sim.reset()
    assert not sim.diverged


def test_a_divergence_says_what_the_step_came_from_even_after_a_reset():
    sim = diverging()
    with pytest.raises(xs.SimulationDiverged) as caught:
        sim.step(SHOVE, n=30)
    assert sim.divergence.last_good_state == caught.value.last_good_state == sim.state
    copy = pickle.loads(pickle.dumps(sim))
    assert copy.diverged
    assert str(copy.divergence) == str(caught.value)
    sim.reset()
    assert not sim.diverged
    assert sim.divergence is None
