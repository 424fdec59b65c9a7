"""Functions of tasks for tests of executors, and what tests do while they are performed."""

import os
import signal
import threading
from pathlib import Path
from time import monotonic, sleep

from exposim.tasks import Task

HERE = "task_functions"
PATIENCE = 30.0  # [s]


def square(x):
    return x * x


def fail(x):
    raise ArithmeticError(f"no {x} today")


def whereabouts(x):
    return os.getpid(), os.environ.get("OMP_NUM_THREADS")


def exit_at_once(x):
    os._exit(7)


def made_of_lambdas(x):
    return lambda: x


def noted(x, folder):
    """Notes that it began; waits until it is told to go on."""
    (Path(folder) / f"{x}.{os.getpid()}.begun").touch()
    while not (Path(folder) / "go on").exists():
        sleep(0.01)
    return x


def rows_by(x, folder):
    """Of a cell of the paper."""
    return [{"x": x, "pid": os.getpid()}]


def tasks(count=5, name="square", **arguments):
    return [Task(f"{HERE}:{name}", {"x": x, **arguments}) for x in range(count)]


def values(executor, given):
    found = dict(executor.outcomes(given))
    return [found[number].value for number in range(len(given))]


def until(condition):
    deadline = monotonic() + PATIENCE
    while not condition():
        assert monotonic() < deadline
        sleep(0.01)


def begun(folder, x="*"):
    return sorted(folder.glob(f"{x}.*.begun"))


def kill_the_worker_of(x, folder):
    """As soon as it has begun, and lets the others go on only when a second worker has begun with its task."""

    def act():
        try:
            until(lambda: begun(folder, x))
            os.kill(int(begun(folder, x)[0].name.split(".")[1]), signal.SIGKILL)
            until(lambda: len(begun(folder, x)) == 2)
        finally:
            (folder / "go on").touch()

    thread = threading.Thread(target=act)
    thread.start()
    return thread
