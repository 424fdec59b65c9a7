"""Controls of the live page that play a recorded motion."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import viser

from exposim._checks import Array
from exposim.simulation.trajectory import Trajectory
from exposim.viewer import scene as looks
from exposim.viewer.scene import Scene

PERIOD = 1.0 / 30.0  # between two images [s]
SPEEDS = {"0.1×": 0.1, "0.25×": 0.25, "0.5×": 0.5, "1×": 1.0, "2×": 2.0}

Show = Callable[[Trajectory, int, Array], None]


class Playback:
    """Time slider, play and pause, speed, follow, reset of the camera, and the thread that moves the time on.

    Args:
        server: Whose page gets the controls.
        scene: That is shown.
        trajectory: That is played.
        show: Shows an instant of it, with the world moved by so much [m], (3,).
        aim: Puts a camera where it was at the start.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        scene: Scene,
        trajectory: Trajectory,
        show: Show,
        aim: Callable[[viser.CameraHandle], None],
    ):
        self._trajectory, self._show, self._aim = trajectory, show, aim
        frames = looks.frames(trajectory.t)
        self._t = trajectory.t[frames]
        focus = looks.smooth(scene.focus(trajectory.q[frames]), self._t)
        self._moves = scene.focus(scene.robot.q0[None]) - focus  # to where the camera looks
        self._lock = threading.RLock()
        self._time = float(trajectory.t[0])
        self._stopped, self._playing = threading.Event(), threading.Event()
        gui = server.gui
        self._folder = gui.add_folder("Motion")
        with self._folder:
            first, last = self._time, max(float(trajectory.t[-1]), self._time + 1e-3)
            self._slider = gui.add_slider("time [s]", min=first, max=last, step=1e-3, initial_value=first)
            self._button = gui.add_button("pause")
            self._speed = gui.add_dropdown("speed", tuple(SPEEDS), initial_value="1×")
            self._follow = gui.add_checkbox("follow", True, hint="keep the robot in view")
            reset = gui.add_button("reset view")
            gui.add_markdown(_legend(scene))
        self._slider.on_update(self._on_slider)
        self._button.on_click(lambda _: self.pause() if self._playing.is_set() else self.play())
        self._follow.on_update(lambda _: self._draw())
        reset.on_click(self._on_reset)
        self._draw()
        self._thread = threading.Thread(target=self._run, name="exposim playback", daemon=True)
        self._thread.start()
        self.play()

    def play(self) -> None:
        """Lets time run, from the start if it is at the end."""
        with self._lock:
            if self._time >= self._trajectory.t[-1]:
                self._time = float(self._trajectory.t[0])
            self._button.label = "pause"
            self._playing.set()

    def pause(self) -> None:
        """Lets time stand still."""
        with self._lock:
            self._playing.clear()
            self._button.label = "play"

    def seek(self, time: float) -> None:
        """Shows the motion at a time [s] and stays there."""
        with self._lock:
            self.pause()
            self._time = min(max(time, float(self._slider.min)), float(self._slider.max))
            self._draw()
            self._slider.value = self._time  # type: ignore[misc]  # it has a setter for other types

    def stop(self) -> None:
        """Ends the thread and removes the controls."""
        self._stopped.set()
        self._playing.set()
        self._thread.join()
        self._folder.remove()

    def _run(self) -> None:
        while self._playing.wait() and not self._stopped.is_set():
            began = perf_counter()
            self._stopped.wait(PERIOD)
            with self._lock:
                if self._playing.is_set() and not self._stopped.is_set():
                    self._time += (perf_counter() - began) * SPEEDS[self._speed.value]
                    self._draw()
                    self._slider.value = min(self._time, self._slider.max)  # type: ignore[misc]
                    if self._time >= self._trajectory.t[-1]:
                        self.pause()

    def _draw(self) -> None:
        with self._lock:
            i = int(np.searchsorted(self._trajectory.t, self._time + 1e-9, side="right")) - 1
            i = min(max(i, 0), len(self._trajectory) - 1)
            moved = np.array([np.interp(self._time, self._t, along) for along in self._moves.T])
            self._show(self._trajectory, i, moved if self._follow.value else np.zeros(3))

    def _on_slider(self, event: viser.GuiEvent[Any]) -> None:
        if event.client is not None:  # moved by a hand, not by us
            self.seek(float(self._slider.value))

    def _on_reset(self, event: viser.GuiEvent[Any]) -> None:
        if event.client is not None:
            self._aim(event.client.camera)


def _legend(scene: Scene) -> str:
    lines = [
        f"Arrows are contact forces, {scene.force_legend}: blue while the contact sticks, red while it slips.",
        "Points that have just landed are yellow for a moment.",
    ]
    if scene.ground.has_tiles:
        lines.append(f"Tiles of {100 * scene.tile:g} cm.")
    return " ".join(lines)
