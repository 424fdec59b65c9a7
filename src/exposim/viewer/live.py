"""A page in the browser that shows the robot while Python runs, or plays a recorded motion."""

from __future__ import annotations

import asyncio
import contextlib
import io
import socket
import threading
import webbrowser
from collections.abc import Iterable, Sequence
from os import PathLike
from types import TracebackType

import numpy as np
import viser
from numpy.typing import ArrayLike, NDArray

from exposim._checks import Array
from exposim.contact.contacts import Contact
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument
from exposim.robots.robot import Robot
from exposim.simulation.state import State
from exposim.simulation.trajectory import Trajectory, as_trajectory
from exposim.viewer import scene as looks
from exposim.viewer.flashes import SWELLING, Flashes, lit
from exposim.viewer.lines import THICKNESS, Line
from exposim.viewer.playback import Playback
from exposim.viewer.scene import Scene
from exposim.viewer.viser_ground import ViserGround
from exposim.viewer.viser_robot import ViserRobot
from exposim.viewer.visitors import Visitors, start_server

# Ports that are tried, from the one that was asked for.
ATTEMPTS = 50
# Time that connections have to end in order [s].
GRACE = 0.2
FIELD_OF_VIEW = np.radians(35.0)
# Radius of a contact point, in parts of the robot's size.
POINT = 0.02
# How much of the way to the robot the page follows with every image.
FOLLOWING = 0.15
# Everything hangs on this node: the page follows the robot by moving the world, so that the camera stays the user's.
WORLD = "/world"


class LiveViewer:
    """A robot in the browser, at the address ``url``; it can be used in a ``with`` statement.

    Args:
        robot: That is shown.
        ground: One surface, several, or none.
        port: Of the address; the next free one if it is taken, any for 0.
        host: Name or number of the network interface; the default is seen from this machine only.
        open_browser: Whether to open the page.
        title: Over the controls.
        allowed_hosts: Names that the page may be reached by besides those of this machine, behind a proxy for example.
            Requests with another ``Host``, or of pages from elsewhere (``Origin``), are refused.

    Raises:
        InvalidArgument: If no port is free.
    """

    def __init__(
        self,
        robot: Robot,
        ground: Surface | Iterable[Surface] | None = None,
        port: int = 8080,
        host: str = "127.0.0.1",
        open_browser: bool = False,
        title: str | None = None,
        allowed_hosts: Sequence[str] = (),
    ):
        visitors = Visitors.of(host, allowed_hosts)
        free = _free_port(host, port)
        self._scene = Scene.of(robot, ground, robot.q0)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._points: list[viser.IcosphereHandle] = []
        self._arrows: list[viser.ArrowsHandle] = []
        self._lines: dict[str, viser.LineSegmentsHandle] = {}
        self._follow: viser.GuiCheckboxHandle | None = None
        self._flashes: Flashes | None = None  # of the motion that is played
        self.playback: Playback | None = None
        with contextlib.redirect_stdout(io.StringIO()):  # viser prints its own address
            self._server = start_server(visitors, free, title or robot.name)
        name = "localhost" if host in ("127.0.0.1", "0.0.0.0", "") else host
        self.url = f"http://{name}:{self._server.get_port()}"
        try:
            self._set_the_stage()
            self._robot = ViserRobot(self._scene, self._server, f"{WORLD}/robot")
            self.show(robot.q0)
        except BaseException:
            self.stop()
            raise
        if open_browser:
            webbrowser.open(self.url)

    def show(self, state: State | ArrayLike, contacts: Sequence[Contact] = ()) -> None:
        """Shows the robot at a state or configuration, (nq,), with contacts such as ``sim.contacts``."""
        q = self._scene.robot.check_configuration(state.q if isinstance(state, State) else state)
        self.draw(
            q,
            np.array([contact.position for contact in contacts]).reshape(-1, 3),
            np.array([contact.force for contact in contacts]).reshape(-1, 3),
            np.array([contact.active for contact in contacts], dtype=bool),
            np.array([contact.slipping for contact in contacts], dtype=bool),
        )

    def replay(self, trajectory: Trajectory | str | PathLike[str]) -> None:
        """Adds controls to the page that play a recorded motion, or the one in a file; it starts at once."""
        trajectory = as_trajectory(trajectory)
        looks.robot_of(trajectory, self._scene.robot)  # refuses a motion of another robot
        if self.playback is not None:
            self.playback.stop()
        self._scene = self._scene.following(trajectory.q[looks.frames(trajectory.t)])
        self._aim_camera(self._server.initial_camera)
        self._flashes = Flashes.of(trajectory)
        self.playback = Playback(self._server, self._scene, trajectory, self._show_instant, self._aim_camera)

    def wait(self) -> None:
        """Returns when the viewer is stopped, or on an interrupt from the keyboard."""
        with contextlib.suppress(KeyboardInterrupt):
            while not self._stopped.wait(0.5):  # in pieces, so that interrupts are noticed on all systems
                pass

    def stop(self) -> None:
        """Ends the server and frees its port; nothing happens the second time."""
        if self._stopped.is_set():
            return
        if self.playback is not None:
            self.playback.stop()
        loop = self._server.get_event_loop()
        loop.call_soon_threadsafe(lambda: loop.call_later(GRACE, _drop_connections, loop))
        with contextlib.redirect_stdout(io.StringIO()):  # viser prints that it ends
            self._server.stop()
        self._stopped.set()

    def __enter__(self) -> LiveViewer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _set_the_stage(self) -> None:
        page = self._server.scene
        self._server.gui.configure_theme(show_logo=False, show_share_button=False)
        self._server.gui.main_panel.dock_right()
        page.configure_environment_map(None)  # it bleaches all colours
        page.add_light_ambient("/ambient", intensity=0.9)
        self._world = page.add_frame(WORLD, show_axes=False)
        self._ground = ViserGround(self._scene, self._server, WORLD)
        self._server.initial_camera.fov = FIELD_OF_VIEW
        self._aim_camera(self._server.initial_camera)

    def _aim_camera(self, camera: viser.InitialCameraConfig | viser.CameraHandle) -> None:
        direction = self._scene.view(self._ground.terrain)
        camera.position = self._scene.centre + self._scene.distance_to_camera(FIELD_OF_VIEW) * direction
        camera.look_at = self._scene.centre

    def _show_instant(self, trajectory: Trajectory, i: int, moved: Array) -> None:
        """An instant of a trajectory, with the world moved [m], (3,)."""
        arrays = (trajectory.q, trajectory.position, trajectory.force, trajectory.active, trajectory.slipping)
        with self._server.atomic():
            self._world.position = moved
            flash = None if self._flashes is None else self._flashes.at(float(trajectory.t[i]))
            q, position, force, active, slipping = (array[i] for array in arrays)
            self.draw(q, position, force, active, slipping, flash)

    def draw(
        self,
        q: Array,
        position: Array,
        force: Array,
        active: NDArray[np.bool_],
        slipping: NDArray[np.bool_],
        flash: Array | None = None,
    ) -> None:
        """Shows a configuration with contacts.

        Args:
            q: The configuration, (nq,).
            position: Of the contacts [m], (nc, 3).
            force: On the robot [N], (nc, 3).
            active: Whether each touches, (nc,).
            slipping: Whether each slips, (nc,).
            flash: How much is left of the light after its landing, from 0 to 1, (nc,).
        """
        flash = np.zeros(len(position)) if flash is None else flash
        drawn, arrows = self._scene.arrows(force, active)
        colours = self._scene.colours(drawn, slipping)
        with self._lock, self._server.atomic():
            self._robot.display(q)
            self._keep_in_view(q)
            self._ground.move(self._scene.focus(q[None])[0])
            while len(self._points) < len(position):
                self._add_contact()
            for i, (point, arrow) in enumerate(zip(self._points, self._arrows, strict=True)):
                point.visible = i < len(position)
                arrow.visible = bool(point.visible and drawn[i])
                if point.visible:
                    point.position, point.color = position[i], _bytes(lit(colours[i], flash[i]))
                    point.radius = POINT * self._scene.size * float(1.0 + SWELLING * flash[i])
                if arrow.visible:
                    head = min(0.05 * self._scene.size, 0.6 * float(np.linalg.norm(arrows[i])))
                    arrow.head_length, arrow.head_radius, arrow.shaft_radius = head, 0.35 * head, 0.13 * head
                    arrow.points = np.array([[position[i], position[i] + arrows[i]]], dtype=np.float32)
                    # Viser takes the colours of arrows as linear ones.
                    arrow.colors = np.round(255 * colours[i] ** 2.2).astype(np.uint8)

    def draw_line(self, name: str, line: Line | None) -> None:
        """Shows a line of one's own in place of the one of that name, or removes it."""
        with self._lock, self._server.atomic():
            before = self._lines.pop(name, None)
            if line is None:
                if before is not None:
                    before.remove()
                return
            self._lines[name] = self._server.scene.add_line_segments(
                f"{WORLD}/lines/{name}",
                line.segments.astype(np.float32),
                _bytes(np.array(line.colour)),
                thickness=THICKNESS * self._scene.size,
            )

    def add_following(self) -> None:
        """Adds a box to the page by which it keeps what is drawn in view, smoothly; ticked."""
        self._follow = self._server.gui.add_checkbox("follow", True, hint="keep the robot in view")
        self._middle = self._home = self._scene.focus(self._scene.robot.q0[None])[0]

    def _keep_in_view(self, q: Array) -> None:
        if self._follow is None:
            return
        self._middle = self._middle + FOLLOWING * (self._scene.focus(q[None])[0] - self._middle)
        self._world.position = self._home - self._middle if self._follow.value else np.zeros(3)

    def _add_contact(self) -> None:
        name = f"{WORLD}/contacts/{len(self._points)}"
        add = self._server.scene
        self._points.append(add.add_icosphere(f"{name}/point", radius=POINT * self._scene.size, color=looks.OPEN))
        self._arrows.append(
            add.add_arrows(f"{name}/arrow", np.zeros((1, 2, 3)), np.array(looks.STICKING), visible=False)
        )


def serve(
    trajectory: Trajectory | str | PathLike[str],
    robot: Robot | None = None,
    port: int = 8080,
    open_browser: bool = True,
    host: str = "127.0.0.1",
    allowed_hosts: Sequence[str] = (),
    ground: Surface | Iterable[Surface] | None = None,
) -> LiveViewer:
    """Opens a page that plays a recorded motion; it lasts until ``stop()`` or the end of Python.

    Args:
        trajectory: What is shown, or its file.
        robot: That is drawn; by default loaded again from the file that the settings name.
        port: Of the address; the next free one if it is taken, any for 0.
        open_browser: Whether to open the page.
        host: Name or number of the network interface; the default is seen from this machine only.
        allowed_hosts: Names that the page may be reached by besides those of this machine.
        ground: One surface or several; by default those of the settings, which has none that were written in Python.

    Returns:
        A viewer with the address ``url``, and the methods ``wait()`` and ``stop()``.

    Raises:
        InvalidArgument: If no port is free.
    """
    trajectory = as_trajectory(trajectory)
    viewer = LiveViewer(
        looks.robot_of(trajectory, robot),
        looks.world_around(trajectory, ground),
        port,
        host,
        title=looks.title_of(trajectory),
        allowed_hosts=allowed_hosts,
    )
    viewer.replay(trajectory)
    if open_browser:
        webbrowser.open(viewer.url)
    return viewer


def _drop_connections(loop: asyncio.AbstractEventLoop) -> None:
    """Ends what is left of them: browsers keep unused connections open, and viser waits ten seconds for each."""
    for task in asyncio.all_tasks(loop):
        if getattr(task.get_coro(), "__name__", "") == "conn_handler":
            task.cancel()


def _bytes(colour: Array) -> tuple[int, int, int]:
    red, green, blue = (round(255 * float(part)) for part in colour)
    return red, green, blue


def _free_port(host: str, port: int) -> int:
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise InvalidArgument(f"port is {port!r}; give a whole number from 0 to 65535")
    tried = range(port, min(port + ATTEMPTS, 65536))
    reason = ""
    for each in tried:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, each))
            except OSError as error:
                reason = str(error.strerror)
                continue
            return int(probe.getsockname()[1])
    raise InvalidArgument(f"no port from {port} to {tried[-1]} is free on {host} ({reason}); give another one (port)")
