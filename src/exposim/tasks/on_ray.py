"""Tasks on a Ray cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from exposim import _checks
from exposim._extras import load
from exposim.errors import ExposimError, InvalidArgument
from exposim.tasks.executor import Executor, Waiting
from exposim.tasks.processes import SINGLE_THREADED, cores
from exposim.tasks.task import Outcome, Task, perform

AUTO = "auto"
LOCALHOST = "127.0.0.1"
PATIENCE = 1.0  # [s] until an interruption is looked for again

# Of a Ray that is started here. The second keeps it on this machine: without, a node on Linux listens on all
# addresses whatever address it is given, and tells it to whoever asks.
_OF_LOCAL_RAY = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", **SINGLE_THREADED}
_PATH = "PYTHONPATH"  # where its workers find modules: where this process does


class OnRay(Executor):
    """On a Ray cluster, whose machines have the same exposim installed; one core for each task.

    A task whose worker or machine dies is begun again elsewhere.

    Args:
        address: ``"auto"`` starts a Ray on this machine, which nobody reaches from elsewhere and which ends with the
            executor; ``"host:port"`` or ``"ray://host:port"`` connects to a cluster. A Ray that this process is
            connected to already is used as it is.
        workers: How many tasks at once; by default as many as there are cores.
    """

    def __init__(self, address: str = AUTO, workers: int | None = None):
        if not isinstance(address, str) or not address.strip():
            raise InvalidArgument(f"ray is {address!r}; give 'auto' or the address of a cluster")
        self._asked = None if workers is None else _checks.count("workers", workers)
        variables = _OF_LOCAL_RAY | {_PATH: os.pathsep.join(sys.path)} if address == AUTO else {}
        with _environment(variables):  # read when it is imported, and by the processes that it starts
            self._ray = load("ray")
            self._owns = not self._ray.is_initialized()
            if self._owns:
                self._start(address)
        there = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self.workers = min(there, self._asked or there)
        self._perform = self._ray.remote(num_cpus=1, max_retries=0)(perform)

    def outcomes(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Outcome]]:
        """See :class:`Executor`."""
        waiting = Waiting(tasks)
        running: dict[Any, int] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self.workers:
                    number = waiting.take()
                    running[self._perform.remote(tasks[number].function, dict(tasks[number].arguments))] = number
                ready, _ = self._ray.wait(list(running), num_returns=1, timeout=PATIENCE)
                for reference in ready:
                    number = running.pop(reference)
                    outcome = self._outcome(reference) or waiting.lose(number)
                    if outcome is not None:
                        yield number, outcome
        finally:
            for reference in running:
                with suppress(Exception):  # it may be the cluster that is gone
                    self._ray.cancel(reference, force=True)

    def close(self) -> None:
        """Ends the Ray that was started, or the connection that was made, here."""
        if self._owns:
            self._ray.shutdown()

    def _start(self, address: str) -> None:
        if address != AUTO:
            try:
                self._ray.init(address=address, log_to_driver=False, logging_level="error")
            except Exception as error:  # of many kinds
                raise InvalidArgument(f"there is no Ray cluster at {address}: {_first_line(error)}") from None
            return
        if self._ray.util.get_node_ip_address() != LOCALHOST:  # it was imported before the environment was set
            raise InvalidArgument(
                "ray was imported before exposim could keep it on this machine; before importing it, set "
                "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 in the environment, or call ray.init() yourself"
            )
        self._ray.init(
            num_cpus=self._asked or cores(),
            _node_ip_address=LOCALHOST,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="error",
        )

    def _outcome(self, reference: Any) -> Outcome | None:
        """Nothing, if what performed it has died."""
        errors = self._ray.exceptions
        try:
            outcome: Outcome = self._ray.get(reference)
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError, errors.ObjectLostError):
            return None
        except errors.RayTaskError as error:  # before the task itself began
            return Outcome(error=f"{_first_line(error.cause)} (is exposim installed on all machines of the cluster?)")
        except errors.RayError as error:
            raise ExposimError(f"the Ray cluster failed: {_first_line(error)}") from error
        return outcome


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Within, the environment has these; afterwards it is as it was."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _first_line(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
