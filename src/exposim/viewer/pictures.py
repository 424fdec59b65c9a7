"""Pictures of motions, computed without a browser, a display or a graphics card."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike

import numpy as np
import pinocchio as pin
import trimesh
from numpy.typing import ArrayLike, NDArray

from exposim import _checks
from exposim._checks import Array
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument
from exposim.robots.robot import Robot
from exposim.simulation.simulator import Simulator
from exposim.simulation.trajectory import Trajectory, as_trajectory
from exposim.viewer import scene as looks
from exposim.viewer.camera import FIELD_OF_VIEW, Camera
from exposim.viewer.flashes import FLASHING, Flashes
from exposim.viewer.lighting import Stage
from exposim.viewer.lines import PLANNED, THICKNESS, Line, checked_line
from exposim.viewer.rays import Floats, Part, Solid, tubes
from exposim.viewer.robot_meshes import coloured
from exposim.viewer.scene import Scene
from exposim.viewer.terrain_places import TerrainPlaces, world_of

Image = NDArray[np.uint8]

LARGEST = 8192  # pixels along an edge
# Pixels that differ from a neighbour by so much get rays through these places of theirs, from their middle.
EDGE, WITHIN = 0.03, np.array([(-0.375, -0.125), (-0.125, 0.375), (0.125, -0.375), (0.375, 0.125)])


@dataclass(frozen=True)
class _Instant:
    """What is seen at a time: of the contacts (n, ...) each, how much of their flash is left, from 0 to 1."""

    q: Array
    focus: Array
    position: Array
    force: Array
    active: NDArray[np.bool_]
    slipping: NDArray[np.bool_]
    flash: Array


class Renderer:
    """Takes pictures of a simulator as it is now, or of a recorded motion.

    It draws what the other viewers draw: robots, world, contact points and contact forces, with shadows. What does not
    change is made once: pictures after the first are cheaper. The simulator is looked at and never changed.

    Args:
        shown: A simulator, a trajectory, or the file of one.
        width: Of the pictures [pixels].
        height: Of the pictures [pixels].
        camera: From where; by default one that shows all that moves and goes along with it.
        robot: That is drawn of a trajectory; by default loaded again from the file that the settings name.
        ground: Of a trajectory, one surface or several; by default those of the settings, which has none that were
            written in Python.
        forces: Whether to draw contact points and forces.

    Warns:
        ModelWarning: If the robot is drawn as a stick figure, because a mesh or its file is missing; if a surface is
            not drawn.
    """

    def __init__(
        self,
        shown: Simulator | Trajectory | str | PathLike[str],
        width: int = 640,
        height: int = 480,
        *,
        camera: Camera | None = None,
        robot: Robot | None = None,
        ground: Surface | Iterable[Surface] | None = None,
        forces: bool = True,
    ):
        self._width, self._height = picture_size(width, height)
        if camera is not None and not isinstance(camera, Camera):
            raise InvalidArgument(f"camera is {camera!r}; give an exposim.viewer.Camera(position, target)")
        self._camera, self._forces = camera, _checks.flag("forces", forces)
        self._lines: dict[str, Line] = {}
        self._sim: Simulator | None = None
        if isinstance(shown, Simulator):
            if robot is not None or ground is not None:
                raise InvalidArgument("robot and ground are those of the simulator; give them with a trajectory only")
            self._sim = shown
            self._scene = Scene.of(shown.robot, world_of(shown), shown.q)
        else:
            self._trajectory = as_trajectory(shown)
            self._scene = looks.scene_of(self._trajectory, robot, ground)
            frames = looks.frames(self._trajectory.t)
            self._t = self._trajectory.t[frames]
            self._focus = looks.smooth(self._scene.focus(self._trajectory.q[frames]), self._t)
            self._flashes = Flashes.of(self._trajectory)
        start = self._instant(None if self._sim is not None else float(self._t[0]))
        self._offset = self._scene.centre - start.focus
        self._shapes = [[Part.of_mesh(*part) for part in coloured(each)] for each in self._scene.shapes.geometryObjects]
        self._data, self._placed = self._scene.robot.model.createData(), self._scene.shapes.createData()
        self._places = TerrainPlaces(self._scene)
        terrain = self._places.around(start.focus)
        if self._sim is None and terrain:
            terrain = self._scene.ground.terrain_looks(self._focus.min(axis=0), self._focus.max(axis=0))
        self._view = self._scene.view(terrain)
        self._draw_world()

    def draw(self, name: str, points: ArrayLike | None, colour: ArrayLike = PLANNED) -> None:
        """Puts a line through points into the pictures from now on, in place of what had this name before.

        Args:
            name: Of the line.
            points: In the world [m], (n, 3); ``None`` removes the line.
            colour: Red, green, blue from 0 to 1.
        """
        line = checked_line(name, points, colour)
        self._lines.pop(name, None)
        if line is not None:
            self._lines[name] = line

    def image(self, t: float | None = None) -> Image:
        """A picture: rows from the top, red, green, blue from 0 to 255, (height, width, 3).

        Args:
            t: Time of the motion [s]; by default its end. A simulator is shown as it is now.
        """
        instant = self._instant(t)
        self._places.around(instant.focus)
        if self._places.place != self._drawn_at:
            self._draw_world()
        camera = self._camera if self._camera is not None else self._following(instant.focus)
        radius = 0.5 * THICKNESS * self._scene.size
        lines = [tubes(line.segments, radius, line.colour) for line in self._lines.values()]
        stage = Stage(
            solids=(Solid(self._draw_robot(instant.q)), self._world),
            shining=(Solid((self._draw_arrows(instant) if self._forces else []) + lines), self._edges),
            planes=self._scene.ground.planes,
            tile=self._scene.tile,
            focus=instant.focus,
            size=self._scene.size,
        )
        picture = self._take(stage, camera)
        if self._forces:
            self._mark_contacts(picture, camera, instant)
        return np.round(255.0 * picture).astype(np.uint8)

    # What is seen.

    def _instant(self, t: float | None) -> _Instant:
        sim = self._sim
        if sim is not None:
            if t is not None:
                raise InvalidArgument(f"t is {t!r}; a simulator is shown as it is now: give t with a trajectory only")
            state = (sim.positions, sim.forces, sim.active, sim.slipping)
            return _Instant(sim.q, self._scene.focus(sim.q[None])[0], *state, np.zeros(len(sim.active)))
        motion = self._trajectory
        first, last = float(motion.t[0]), float(motion.t[-1])
        t = last if t is None else _checks.number("t", t, "[s]")
        if not first - 1e-9 <= t <= last + 1e-9:
            raise InvalidArgument(f"t is {t:g} s; the motion is from {first:g} to {last:g} s")
        i = int(np.clip(np.searchsorted(motion.t, t + 1e-9, side="right") - 1, 0, len(motion) - 1))
        k = min(i + 1, len(motion) - 1)
        part = 0.0 if k == i else float(np.clip((t - motion.t[i]) / (motion.t[k] - motion.t[i]), 0.0, 1.0))
        return _Instant(
            pin.interpolate(self._scene.robot.model, motion.q[i], motion.q[k], part),
            np.array([np.interp(t, self._t, along) for along in self._focus.T]),
            motion.position[i] + part * (motion.position[k] - motion.position[i]),
            motion.force[i],
            motion.active[i],
            motion.slipping[i],
            self._flashes.at(t),
        )

    def _following(self, focus: Array) -> Camera:
        target = focus + self._offset
        narrow = min(1.0, self._width / self._height / 1.2)
        distance = self._scene.distance_to_camera(np.radians(FIELD_OF_VIEW)) / narrow
        return Camera(tuple(target + distance * self._view), tuple(target))

    def _draw_robot(self, q: Array) -> list[Part]:
        shapes = self._scene.shapes
        pin.updateGeometryPlacements(self._scene.robot.model, self._data, shapes, self._placed, q)
        return [
            part.moved(place.rotation, place.translation)
            for parts, place in zip(self._shapes, self._placed.oMg, strict=True)
            for part in parts
        ]

    def _draw_world(self) -> None:
        """All that stands, and the edges of it."""
        drawn = [(look, looks.SOLID) for look in (self._scene.ground.solid_look(),) if look is not None]
        for shades in self._places.terrain:
            drawn += zip(shades, (looks.LIGHT_TILE, looks.DARK_TILE), strict=True)
        self._world = Solid([Part.of(*look.mesh, colour) for look, colour in drawn])
        self._edges = Solid([tubes(look.edges, 2e-3 * self._scene.size, looks.EDGE) for look, _ in drawn])
        self._drawn_at = self._places.place

    def _draw_arrows(self, instant: _Instant) -> list[Part]:
        size, parts = self._scene.size, []
        drawn, arrows = self._scene.arrows(instant.force, instant.active)
        colours = self._scene.colours(drawn, instant.slipping)
        for i in np.flatnonzero(drawn):
            length = float(np.linalg.norm(arrows[i]))
            head = min(0.05 * size, 0.6 * length)
            along = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), arrows[i]).toRotationMatrix()
            for vertices, faces in _arrow(length, head):
                part = Part.of_mesh(vertices, faces, tuple(colours[i]))
                parts.append(part.moved(along, instant.position[i]))
        return parts

    # Onto the picture.

    def _take(self, stage: Stage, camera: Camera) -> Floats:
        height, width = self._height, self._width
        origin, pixel = np.array(camera.position), camera.pixel(height)
        rows, columns = (grid.ravel() for grid in np.mgrid[:height, :width])
        middle = (width - 1) / 2.0, (height - 1) / 2.0
        seen = stage.colours(origin, camera.rays(columns - middle[0], rows - middle[1], height), pixel)
        edges = np.flatnonzero(_edges(seen.reshape(height, width, 3)))
        total = np.zeros((len(edges), 3))
        for right, down in WITHIN:
            through = camera.rays(columns[edges] - middle[0] + right, rows[edges] - middle[1] + down, height)
            total += stage.colours(origin, through, pixel)
        seen[edges] = total / len(WITHIN)
        return seen.reshape(height, width, 3)

    def _mark_contacts(self, picture: Floats, camera: Camera, instant: _Instant) -> None:
        """Discs at contact points, seen through the feet around them, and light around those that have just landed."""
        drawn, _ = self._scene.arrows(instant.force, instant.active)
        colours = self._scene.colours(drawn, instant.slipping)
        columns, rows, ahead = camera.places(instant.position, self._height)
        for i in np.flatnonzero((ahead > 0.0) & (drawn | (instant.flash > 0.0))):
            at = columns[i] + (self._width - 1) / 2.0, rows[i] + (self._height - 1) / 2.0
            radius = 0.012 * self._scene.size / (ahead[i] * camera.pixel(self._height))
            if instant.flash[i] > 0.0:
                glow = radius * (6.0 - 3.0 * instant.flash[i])
                _disc(picture, at, glow, np.array(FLASHING), 0.85 * instant.flash[i], soft=0.7)
            if drawn[i]:
                _disc(picture, at, max(radius, 1.0), colours[i], 1.0)


def render(
    shown: Simulator | Trajectory | str | PathLike[str],
    t: float | None = None,
    width: int = 640,
    height: int = 480,
    *,
    camera: Camera | None = None,
    robot: Robot | None = None,
    ground: Surface | Iterable[Surface] | None = None,
    forces: bool = True,
) -> Image:
    """A picture of a simulator as it is now, or of a recorded motion at a time; many of one: :class:`Renderer`.

    Args:
        shown: A simulator, a trajectory, or the file of one.
        t: Time of the motion [s]; by default its end.
        width: Of the picture [pixels].
        height: Of the picture [pixels].
        camera: From where; by default one that shows all that moves.
        robot: That is drawn of a trajectory; by default loaded again from the file that the settings name.
        ground: Of a trajectory, one surface or several; by default those of the settings.
        forces: Whether to draw contact points and forces.

    Returns:
        Rows from the top, red, green, blue from 0 to 255, (height, width, 3).
    """
    taken = Renderer(shown, width, height, camera=camera, robot=robot, ground=ground, forces=forces)
    return taken.image(t)


def picture_size(width: int, height: int) -> tuple[int, int]:
    """Checked [pixels]."""
    return _checks.count("width", width, LARGEST), _checks.count("height", height, LARGEST)


def _arrow(length: float, head: float) -> list[tuple[Array, NDArray[np.int_]]]:
    """Shaft and head of an arrow along z from the origin [m]; of short ones thin."""
    shaft = trimesh.creation.cylinder(0.13 * head, length - head, sections=16)
    shaft.apply_translation((0.0, 0.0, (length - head) / 2.0))
    cone = trimesh.creation.cone(0.35 * head, head, sections=24)
    cone.apply_translation((0.0, 0.0, length - head))
    return [(np.array(mesh.vertices), np.array(mesh.faces)) for mesh in (shaft, cone)]


def _edges(picture: Floats) -> NDArray[np.bool_]:
    """Which pixels differ from a neighbour, (h, w)."""
    edges = np.zeros(picture.shape[:2], dtype=bool)
    for axis in (0, 1):
        step = np.abs(np.diff(picture, axis=axis)).max(axis=2) > EDGE
        edges[tuple(slice(1, None) if k == axis else slice(None) for k in (0, 1))] |= step
        edges[tuple(slice(None, -1) if k == axis else slice(None) for k in (0, 1))] |= step
    return edges


def _disc(
    picture: Floats, at: tuple[float, float], radius: float, colour: Array, opacity: float, soft: float = 0.0
) -> None:
    """Paints a disc around a column and a row, of which the outer part may be soft."""
    height, width = picture.shape[:2]
    left, right = (int(np.clip(np.floor(at[0] + side * (radius + 1.0)), 0, width)) for side in (-1, 1))
    top, bottom = (int(np.clip(np.floor(at[1] + side * (radius + 1.0)), 0, height)) for side in (-1, 1))
    rows, columns = np.mgrid[top : bottom + 1, left : right + 1]
    rows, columns = rows[: height - top, : width - left], columns[: height - top, : width - left]
    away = np.hypot(columns - at[0], rows - at[1])
    cover = opacity * np.clip((radius + 0.5 - away) / (1.0 + soft * radius), 0.0, 1.0)[..., None]
    part = picture[top : bottom + 1, left : right + 1]
    part += cover * (colour - part)
