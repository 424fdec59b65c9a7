"""Rollouts beside other threads, forks, signals and exits: nothing hangs, aborts or is lost."""

import subprocess
import sys
import textwrap
from pathlib import Path

PATIENCE = 120.0  # [s]
TESTS = Path(__file__).parents[1]

SCENE = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
import os, signal, threading, time
import numpy as np
import exposim as xs
from rows import driven
signal.signal(signal.SIGINT, signal.default_int_handler)  # which is ignored in what a shell has put in the background
sim = driven("solo12")
pool = xs.Rollout(sim, threads=3)
x = pool.reset(rows=6)

def threads():
    return len(os.listdir("/proc/self/task"))
"""


def run(code):
    """The output of a program, which must end by itself and well."""
    whole = SCENE + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_an_interrupt_stops_all_threads_promptly():
    out = run("""
        before, pressed = threads(), []
        def press():
            time.sleep(0.3)
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=press).start()
        try:
            pool(x, steps=10**8, record=())
        except KeyboardInterrupt:
            print(time.monotonic() - pressed[0])
        time.sleep(0.05)
        assert threads() == before
        assert not pool(x, steps=5).status.any()
    """)
    assert float(out) < 0.5  # 20 to 50 ms on an idle machine


def test_no_thread_is_left_after_a_call_and_a_child_has_a_pool_of_its_own():
    out = run("""
        before = threads()
        ends = pool(x, steps=20, record=()).end
        assert threads() == before
        child = os.fork()
        same = np.array_equal(pool(x, steps=20, record=()).end, ends)
        if not child:
            print(same, flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print(same)
    """)
    assert out.split() == ["True", "True"]


def test_a_child_forked_in_the_middle_of_a_call_is_told_so():
    out = run("""
        threading.Thread(target=lambda: pool(x, steps=10**8, record=()), daemon=True).start()
        time.sleep(0.2)
        child = os.fork()
        if not child:
            signal.alarm(20)
            try:
                pool(x, steps=1)
            except xs.SimulatorBusy as error:
                print("busy", flush=True)
            assert not xs.Rollout(sim, threads=2)(x, steps=3).status.any()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    """)
    assert out == "busy\n"


def test_the_interpreter_may_leave_while_a_daemon_thread_rolls_out():
    run("""
        threading.Thread(target=lambda: pool(x, steps=10**8, record=()), daemon=True).start()
        time.sleep(0.3)
    """)


def test_other_threads_of_python_go_on_meanwhile():
    out = run("""
        done = []
        thread = threading.Thread(target=lambda: done.append(pool(x, steps=400, record=())))
        thread.start()
        ticks = 0
        while thread.is_alive():
            ticks += 1
            time.sleep(1e-3)
        print(ticks, int(done[0].status.sum()))
    """)
    ticks, bad = map(int, out.split())
    assert ticks > 5
    assert bad == 0


def test_two_threads_that_share_a_pool_have_their_turns():
    run("""
        ends = []
        def roll(): ends.append(pool(x, steps=50, record=()).end)
        both = [threading.Thread(target=roll) for _ in range(3)]
        for each in both: each.start()
        for each in both: each.join()
        assert len(ends) == 3 and all(np.array_equal(each, ends[0]) for each in ends)
    """)


def test_what_a_progress_function_raises_comes_through_and_stops_all():
    out = run("""
        def enough(share): raise ValueError("enough")
        try:
            pool(x, steps=10**8, record=(), progress=enough)
        except ValueError as error:
            print(error)
    """)
    assert out == "enough\n"
