"""Tasks in processes of this machine."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait

from exposim import _checks
from exposim.errors import ExposimError
from exposim.tasks.executor import ATTEMPTS, Executor, Waiting
from exposim.tasks.task import Outcome, Task

# Workers are as many as there is room for: libraries in them shall not start threads as well.
SINGLE_THREADED = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

# Modules are found where this process finds them, and the main one is not run again, as multiprocessing would.
_CODE = "import sys; sys.path[:] = {path!r}; from exposim.tasks.worker import work; work({descriptor})"


class _Worker:
    """A process, and the connection to it."""

    def __init__(self) -> None:
        self.connection, theirs = Pipe()
        code = _CODE.format(path=sys.path, descriptor=theirs.fileno())
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            pass_fds=(theirs.fileno(),),
            env=os.environ | SINGLE_THREADED,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C on the terminal is for the parent
        )
        theirs.close()
        self.pid = self._process.pid
        self.has_answered = False

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self.connection.close()


class Processes(Executor):
    """In processes of their own, which start with the first tasks.

    A worker that dies is replaced, and its task alone is begun again.

    Args:
        workers: How many; by default one for every core that this process may use.
    """

    def __init__(self, workers: int | None = None):
        self.workers = cores() if workers is None else _checks.count("workers", workers)
        self._workers: dict[Connection, _Worker] = {}

    @property
    def pids(self) -> list[int]:
        """Of the processes."""
        return [worker.pid for worker in self._workers.values()]

    def outcomes(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Outcome]]:
        """See :class:`Executor`.

        Raises:
            ExposimError: If workers end before they have done anything: then no task is to blame.
        """
        waiting = Waiting(tasks)
        running: dict[Connection, int] = {}
        stillborn = 0
        try:
            while waiting or running:
                while waiting and len(running) < self.workers:
                    number = waiting.take()
                    running[self._give(tasks[number], running)] = number
                for ready in wait(list(running)):
                    assert isinstance(ready, Connection)
                    number = running.pop(ready)
                    outcome = self._answer(ready)
                    if outcome is None:
                        stillborn += self._bury(ready)
                        if stillborn > self.workers + ATTEMPTS:
                            raise ExposimError("worker processes end as soon as they start; what they say is above")
                        outcome = waiting.lose(number)
                    if outcome is not None:
                        yield number, outcome
        finally:
            for connection in running:  # what they are at could take long
                self._bury(connection)

    def close(self) -> None:
        """Ends the processes."""
        for connection in list(self._workers):
            self._bury(connection)

    def _give(self, task: Task, busy: dict[Connection, int]) -> Connection:
        """Hands a task to an idle worker, or to a new one."""
        message = pickle.dumps((task.function, task.arguments))
        while True:
            idle = next((each for each in self._workers if each not in busy), None)
            if idle is None:
                worker = _Worker()
                idle = worker.connection
                self._workers[idle] = worker
            try:
                idle.send_bytes(message)
            except OSError:  # it has died since
                self._bury(idle)
            else:
                return idle

    def _answer(self, connection: Connection) -> Outcome | None:
        """Nothing, if the worker has died."""
        try:
            outcome: Outcome = pickle.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return None
        self._workers[connection].has_answered = True
        return outcome

    def _bury(self, connection: Connection) -> bool:
        """Ends a worker; whether it never answered."""
        worker = self._workers.pop(connection)
        with suppress(OSError):
            worker.end()
        return not worker.has_answered


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
