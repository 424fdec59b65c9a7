"""Independent pieces of work, performed here, in processes of this machine or on a Ray cluster."""

from exposim.tasks.choosing import executor_for
from exposim.tasks.executor import Executor, InThisProcess
from exposim.tasks.kept import Kept
from exposim.tasks.on_ray import OnRay
from exposim.tasks.processes import Processes
from exposim.tasks.task import Outcome, Task

__all__ = ["Executor", "InThisProcess", "Kept", "OnRay", "Outcome", "Processes", "Task", "executor_for"]
