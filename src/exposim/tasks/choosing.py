"""Which executor is meant."""

from __future__ import annotations

from exposim import _checks
from exposim.tasks.executor import Executor, InThisProcess
from exposim.tasks.on_ray import OnRay
from exposim.tasks.processes import Processes, cores


def executor_for(workers: int | None = None, ray: str | None = None, most: int | None = None) -> Executor:
    """By default processes of this machine, one for every core.

    Args:
        workers: How many tasks are performed at once; 1 performs them in this process.
        ray: ``"auto"`` for a Ray on this machine, or the address of a cluster: see :class:`OnRay`.
        most: How many tasks there are: no more workers than that.
    """
    if ray is not None:
        return OnRay(ray, workers)
    wanted = cores() if workers is None else _checks.count("workers", workers)
    wanted = wanted if most is None else min(wanted, max(most, 1))
    return InThisProcess() if wanted == 1 else Processes(wanted)
