"""What all executors promise, and the simplest of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from types import TracebackType

from exposim.tasks.task import Outcome, Task, perform

# A task whose worker dies is taken again; one that kills so many workers is not.
ATTEMPTS = 3


class Executor(ABC):
    """Performs tasks; each outcome is handed back as it comes.

    Used in a ``with`` statement, at the end of which nothing of it is left. Whoever stops reading outcomes stops the
    work: tasks that are being performed are then given up.

    Attributes:
        workers: How many tasks are performed at once.
    """

    workers: int

    @abstractmethod
    def outcomes(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Outcome]]:
        """Numbers of tasks and what came of them, in the order in which they end."""

    def close(self) -> None:  # noqa: B027  # not all start something
        """Ends what it has started."""

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class InThisProcess(Executor):
    """One after the other, in the order given."""

    workers = 1

    def outcomes(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Outcome]]:
        """See :class:`Executor`."""
        for number, task in enumerate(tasks):
            yield number, perform(task.function, task.arguments)


class Waiting:
    """Numbers of tasks that are to be begun, the longest first; those whose worker died come again.

    Args:
        tasks: All.
    """

    def __init__(self, tasks: Sequence[Task]):
        self._left = deque(sorted(range(len(tasks)), key=lambda number: -tasks[number].cost))
        self._deaths = [0] * len(tasks)

    def __len__(self) -> int:
        return len(self._left)

    def take(self) -> int:
        """The next."""
        return self._left.popleft()

    def lose(self, number: int) -> Outcome | None:
        """A task's worker has died: it is to be begun again, unless an outcome says that it was often enough."""
        self._deaths[number] += 1
        if self._deaths[number] < ATTEMPTS:
            self._left.appendleft(number)
            return None
        return Outcome(error=f"its worker died, {ATTEMPTS} times (killed, out of memory, or a crash)", is_lost=True)
