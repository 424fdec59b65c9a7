"""A simulator in the browser while a loop of one's own steps it."""

from __future__ import annotations

import html
import threading
import time
import webbrowser
from collections.abc import Sequence
from types import TracebackType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exposim import _checks
from exposim._checks import Array
from exposim.errors import InvalidArgument
from exposim.simulation.observing import Taken
from exposim.simulation.simulator import Simulator
from exposim.viewer.flashes import left_of_flash
from exposim.viewer.lines import PLANNED, checked_line
from exposim.viewer.live import LiveViewer
from exposim.viewer.terrain_places import world_of

PERIOD = 1.0 / 40.0  # between two images at least [s]
# A loop that is later than this does not hurry after real time [s], and one that is earlier by less does not wait.
LATE, EARLY = 0.25, 1e-3
HEIGHT = 480  # of the page in a notebook [pixels]


class Live:
    """Shows a simulator in the browser while it is stepped, at the address ``url``; in a notebook below a cell.

    Whatever the simulator does is shown, at most 40 times a second, by a thread of its own; the simulation is the same
    as without, bit for bit::

        with xs.viewer.Live(sim, real_time=True):
            while sim.t < 5.0:
                sim.step(controller(sim))

    Args:
        sim: That is shown.
        real_time: Whether steps wait until as much time has passed as they simulate. A loop that is slower than that
            is shown as fast as it is.
        port: Of the address; the next free one if it is taken, any for 0.
        host: Name or number of the network interface; the default is seen from this machine only.
        open_browser: Whether to open the page.
        title: Over the controls; by default the robot's name.
        allowed_hosts: Names that the page may be reached by besides those of this machine, behind a proxy for example.

    Raises:
        InvalidArgument: If no port is free.
    """

    def __init__(
        self,
        sim: Simulator,
        *,
        real_time: bool = False,
        port: int = 8080,
        host: str = "127.0.0.1",
        open_browser: bool = False,
        title: str | None = None,
        allowed_hosts: Sequence[str] = (),
    ):
        if not isinstance(sim, Simulator):
            raise InvalidArgument(f"sim is a {type(sim).__name__}; give an exposim.Simulator, or a trajectory to serve")
        self._real_time = _checks.flag("real_time", real_time)
        self._sim = sim
        self._page = LiveViewer(sim.robot, world_of(sim), port, host, title=title, allowed_hosts=allowed_hosts)
        self._page.add_following()
        self.url = self._page.url
        self._landed = np.full(len(sim.active), -np.inf)  # when each contact did [s]
        self._start = time.perf_counter() - sim.t  # of the simulation, on the clock [s]
        self._latest: tuple[Array, Array, Array, NDArray[np.bool_], NDArray[np.bool_], Array]
        self._new, self._stopped = threading.Event(), threading.Event()
        self._look()
        self._thread = threading.Thread(target=self._run, name="exposim live", daemon=True)
        self._thread.start()
        sim._observe(self)
        if open_browser:
            webbrowser.open(self.url)

    def show(self) -> None:
        """Shows the simulator as it is now, at once; what it does is shown without."""
        self._look()
        self._draw()

    def draw(self, name: str, points: ArrayLike | None, colour: ArrayLike = PLANNED) -> None:
        """Draws a line through points, such as a plan, in place of what had this name before.

        Args:
            name: Of the line.
            points: In the world [m], (n, 3); ``None`` removes the line.
            colour: Red, green, blue from 0 to 1.
        """
        self._page.draw_line(name, checked_line(name, points, colour))

    def wait(self) -> None:
        """Keeps the page after a loop has ended; returns on an interrupt from the keyboard, or when it is stopped."""
        self._page.wait()

    def stop(self) -> None:
        """Shows the last state, and ends; nothing happens the second time."""
        if self._stopped.is_set():
            return
        self._sim._observe_no_more(self)
        self._stopped.set()
        self._new.set()
        self._thread.join()
        self._page.stop()

    def __enter__(self) -> Live:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _repr_html_(self) -> str:
        return f'<iframe src="{html.escape(self.url)}" width="100%" height="{HEIGHT}" style="border: 0"></iframe>'

    def stepped(self, sim: Simulator, taken: Taken) -> None:
        """Called by the simulator after its steps."""
        for event in taken.events:
            if event.kind == "land":
                self._landed[event.index] = event.t
        self._look()
        if not self._real_time:
            return
        ahead = self._start + sim.t - time.perf_counter()
        if ahead < -LATE:  # the loop paused, or is slow
            self._start -= ahead
        elif ahead > EARLY:
            time.sleep(ahead)

    def restarted(self, sim: Simulator) -> None:
        """Called by the simulator when it begins anew, somewhere else or at another time."""
        self._landed[:] = -np.inf
        self._start = time.perf_counter() - sim.t
        self._look()

    def _look(self) -> None:
        sim = self._sim
        flash = left_of_flash(sim.t - self._landed)
        self._latest = (sim.q, sim.positions, sim.forces, sim.active, sim.slipping, flash)
        self._new.set()

    def _draw(self) -> None:
        self._page.draw(*self._latest)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._new.wait()
            self._new.clear()
            self._draw()
            self._stopped.wait(PERIOD)
        self._draw()
