"""Pictures of rows, and a page that shows one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from exposim import viewer
from exposim._checks import Array
from exposim.envs.task import Task
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import State

if TYPE_CHECKING:
    from exposim.viewer import Live, Renderer

MODES = ("rgb_array", "human")


class Pictures:
    """Draws states of a task's robot, with contact forces by the ground as it is without randomisation.

    Args:
        task: What is drawn.
        width: Of pictures [pixels].
        height: Of pictures [pixels].
    """

    def __init__(self, task: Task, width: int, height: int):
        self._task, self._width, self._height = task, width, height
        self._sim: Simulator | None = None
        self._renderer: Renderer | None = None
        self._page: Live | None = None
        self._shown = 0.0  # when the last image was [s]

    def image(self, x: Array) -> NDArray[np.uint8]:
        """Of a flat state, (height, width, 3)."""
        sim = self._at(x)
        if self._renderer is None:
            self._renderer = viewer.Renderer(sim, self._width, self._height)
        return self._renderer.image()

    def show(self, x: Array) -> None:
        """A flat state in the browser, not sooner than a period after the last."""
        sim = self._at(x)
        if self._page is None:
            self._page = viewer.Live(sim)
            print(f"watch it at {self._page.url}")
        time.sleep(max(0.0, self._shown + self._task.period - time.perf_counter()))
        self._shown = time.perf_counter()
        self._page.show()

    def close(self) -> None:
        """Ends the page, if there is one."""
        if self._page is not None:
            self._page.stop()
            self._page = None

    def _at(self, x: Array) -> Simulator:
        if self._sim is None:
            self._sim = self._task.simulator.copy()
        self._sim.state = State._of(np.array(x), self._sim._layout)
        return self._sim

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_sim": None, "_renderer": None, "_page": None}
