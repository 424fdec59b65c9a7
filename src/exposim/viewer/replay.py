"""A recorded motion as one HTML file that needs nothing else: no server, no network."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import meshcat
import meshcat.animation as ma
import meshcat.geometry as mg
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from pinocchio.visualize import MeshcatVisualizer

from exposim._checks import Array
from exposim._writing import make_parents, writing
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument
from exposim.robots.robot import Robot
from exposim.simulation.trajectory import Trajectory, as_trajectory
from exposim.viewer import scene as looks
from exposim.viewer.flashes import FLASHING, SWELLING, Flashes, lit
from exposim.viewer.ground import MARGIN, MOST_TILES, Look
from exposim.viewer.recorder import RecordingWindow
from exposim.viewer.scene import Scene
from exposim.viewer.tiles import placement, tiles

FIELD_OF_VIEW = 35.0  # vertical [degrees]
ROBOT, GROUND, CONTACTS, FOCUS = "robot", "ground", "contacts", "focus"
TERRAIN = f"{GROUND}/terrain"


def write_replay(
    trajectory: Trajectory | str | PathLike[str],
    path: str | PathLike[str],
    robot: Robot | None = None,
    ground: Surface | Iterable[Surface] | None = None,
) -> Path:
    """Writes a page that plays the motion, with robot, world, contact points and contact forces.

    Open it in any browser. Arrows are proportional to the forces, with the scale in the page, and cut at four times the
    robot's size. ``page.html#t=0.5`` opens it stopped half a second after the start.

    Args:
        trajectory: What is shown, or its file.
        path: Of the file, ending in ``.html``; folders are made as needed.
        robot: That is drawn; by default loaded again from the file that the settings name.
        ground: One surface or several; by default those of the settings, which has none that were written in Python.

    Warns:
        ModelWarning: If the robot is drawn as a stick figure, because a mesh or its file is missing; if a surface is
            not drawn.
    """
    target = Path(path)
    if target.suffix.lower() != ".html":
        raise InvalidArgument(f"path is {target}; give a name that ends in .html")
    trajectory = as_trajectory(trajectory)
    scene = looks.scene_of(trajectory, robot, ground)
    frames = looks.frames(trajectory.t)
    window = RecordingWindow()
    viewer = meshcat.Visualizer(window=window)
    focus = looks.smooth(scene.focus(trajectory.q[frames]), trajectory.t[frames])
    _set_the_stage(viewer)
    terrain = scene.ground.terrain_looks(focus.min(axis=0), focus.max(axis=0))
    _draw_ground(viewer[GROUND], scene, focus, terrain)
    contacts = _contacts_to_show(trajectory, scene)
    _draw_contacts(viewer[CONTACTS], scene, contacts)
    animation = ma.Animation(default_framerate=1)  # one frame a second: frames are seconds
    animate = _Animator(animation, viewer, trajectory.t[frames] - trajectory.t[0])
    _animate_robot(animate, viewer, scene, trajectory.q[frames])
    _animate_contacts(animate, scene, trajectory, frames, contacts)
    animate(FOCUS, position=focus)
    viewer.set_animation(animation, play=False)
    page = window.page(looks.title_of(trajectory), _settings(trajectory, scene, focus[0], viewer, scene.view(terrain)))
    make_parents(target)
    with writing(target) as stream:
        stream.write(page.encode())
    return target


def _set_the_stage(viewer: meshcat.Visualizer) -> None:
    for clutter in ("/Grid", "/Axes", "/Lights/PointLightNegativeX", "/Lights/PointLightPositiveX"):
        viewer[clutter].set_property("visible", False)
    viewer["/Background"].set_property("top_color", [0.82, 0.88, 0.95])
    viewer["/Background"].set_property("bottom_color", [0.98, 0.98, 0.98])
    viewer["/Lights/AmbientLight/<object>"].set_property("intensity", 0.65)
    viewer["/Lights/FillLight/<object>"].set_property("intensity", 0.2)


def _draw_ground(node: meshcat.Visualizer, scene: Scene, focus: Array, terrain: list[tuple[Look, Look]]) -> None:
    low, high = focus.min(axis=0), focus.max(axis=0)
    way = float((high - low).max()) / scene.tile
    count = 2 * round(min(MARGIN + way / 2, MOST_TILES / 2))
    for i, surface in enumerate(scene.ground.planes):
        for shade, colour in enumerate((looks.LIGHT_TILE, looks.DARK_TILE)):
            patch = mg.TriangularMeshGeometry(*tiles(scene.tile, shade, count))
            node[f"{i}/{shade}"].set_object(patch, _material(colour, shininess=0))
        node[str(i)].set_transform(placement(surface, (low + high) / 2.0, 2.0 * scene.tile).homogeneous)
    for i, shades in enumerate(terrain):
        for shade, (look, colour) in enumerate(zip(shades, (looks.LIGHT_TILE, looks.DARK_TILE), strict=True)):
            _draw(node[f"terrain/{i}/{shade}"], look, colour)
    if (look_of_solids := scene.ground.solid_look()) is not None:
        _draw(node["solids"], look_of_solids, looks.SOLID)


def _draw(node: meshcat.Visualizer, look: Look, colour: tuple[float, ...]) -> None:
    if len(look.mesh[1]):
        # A little further away than it is: lines along edges are in front of it, and planes that it stands on.
        behind = {"polygonOffset": True, "polygonOffsetFactor": 1, "polygonOffsetUnits": 1}
        node["faces"].set_object(mg.TriangularMeshGeometry(*look.mesh), _material(colour, shininess=0, **behind))
    if len(look.edges):
        lines = mg.PointsGeometry(look.edges.reshape(-1, 3).T.astype(np.float32))
        node["edges"].set_object(mg.LineSegments(lines, mg.LineBasicMaterial(color=_number(looks.EDGE))))


def _contacts_to_show(trajectory: Trajectory, scene: Scene) -> list[int]:
    """One of every point, and all that touch at some time: most points never touch two surfaces at once, or edges."""
    names, feet = trajectory.contact_names, set(scene.robot.feet)
    return [
        i for i, name in enumerate(names) if (names.index(name) == i and name in feet) or trajectory.active[:, i].any()
    ]


def _draw_contacts(node: meshcat.Visualizer, scene: Scene, contacts: list[int]) -> None:
    radius = 0.012 * scene.size
    # A cylinder's axis is y, around the origin; ours is z, from it. Meshcat hands the matrix on by rows, as columns.
    upright = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0.5], [0, 0, 0, 1]]).T
    shaft = type("Shaft", (mg.Cylinder,), {"intrinsic_transform": lambda _: upright})
    for i in contacts:
        seen_through = {"depthTest": False, "transparent": True}  # the foot is around it
        node[f"{i}/point"].set_object(mg.Sphere(radius), _material(looks.OPEN, **seen_through))
        node[f"{i}/arrow/shaft"].set_object(shaft(1.0, 0.55 * radius), _material(looks.STICKING))
        node[f"{i}/arrow/head"].set_object(shaft(1.0, 0.0, 0.0, 1.4 * radius), _material(looks.STICKING))


def _material(colour: tuple[float, ...], **properties: Any) -> mg.Material:
    return mg.MeshPhongMaterial(color=_number(colour), **properties)


def _number(colour: tuple[float, ...]) -> int:
    return sum(round(255 * part) << shift for part, shift in zip(colour, (16, 8, 0), strict=True))


# Properties of Three.js and the types of their tracks.
_TRACKS = {
    "position": ("position", "vector3"),
    "scale": ("scale", "vector3"),
    "quaternion": ("quaternion", "quaternion"),
    "visible": ("visible", "bool"),
    "colour": ("material.color", "color"),
}


class _Animator:
    """Adds tracks to an animation."""

    def __init__(self, animation: ma.Animation, viewer: meshcat.Visualizer, t: Array):
        self._animation, self._viewer, self._t = animation, viewer, t.tolist()

    def __call__(self, path: str, **tracks: NDArray[Any]) -> None:
        """Properties of the object at a path at all times: (n, …) each."""
        clip = {}
        for name, values in tracks.items():
            theirs, kind = _TRACKS[name]
            step = max(1, len(values) - 1) if (values == values[0]).all() else 1  # what rests has a start and an end
            clip[theirs] = ma.AnimationTrack(theirs, kind, self._t[::step], values[::step].tolist())
        self._animation.clips[self._viewer[path].path] = ma.AnimationClip(clip, fps=1)


def _animate_robot(animate: _Animator, viewer: meshcat.Visualizer, scene: Scene, q: Array) -> None:
    drawn = MeshcatVisualizer(scene.robot.model, None, scene.shapes)
    drawn.initViewer(viewer=viewer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python, about how Pinocchio reads Collada files
        drawn.loadViewerModel(rootNodeName=ROBOT)
    drawn.display(q[0])
    places = np.empty((len(q), scene.shapes.ngeoms, 7))
    for i, each in enumerate(q):
        pin.updateGeometryPlacements(drawn.model, drawn.data, drawn.visual_model, drawn.visual_data, each)
        places[i] = [pin.SE3ToXYZQUAT(place) for place in drawn.visual_data.oMg]
    for k, shape in enumerate(scene.shapes.geometryObjects):
        path = drawn.getViewerNodeName(shape, pin.GeometryType.VISUAL)
        animate(path, position=places[:, k, :3], quaternion=places[:, k, 3:])


def _animate_contacts(
    animate: _Animator, scene: Scene, trajectory: Trajectory, frames: NDArray[np.int_], contacts: list[int]
) -> None:
    drawn, arrows = scene.arrows(trajectory.force[frames], trajectory.active[frames])
    colours = scene.colours(drawn, trajectory.slipping[frames])
    position = trajectory.position[frames]
    flashes = Flashes.of(trajectory)
    flash = np.array([flashes.at(float(t)) for t in trajectory.t[frames]])
    points = lit(colours, flash)
    swollen = np.repeat(1.0 + SWELLING * flash[..., None], 3, axis=-1)
    for i in contacts:
        length = np.linalg.norm(arrows[:, i], axis=1)
        head = np.minimum(0.05 * scene.size, 0.6 * length)
        along = np.array([_turn_to(arrow) for arrow in np.where(drawn[:, i, None], arrows[:, i], 0.0)])
        thick = head / (0.05 * scene.size)  # short arrows are thin ones
        shaft = np.column_stack([thick, thick, length - head])
        arrow = f"{CONTACTS}/{i}/arrow"
        animate(f"{CONTACTS}/{i}/point", position=position[:, i], scale=swollen[:, i])
        animate(f"{CONTACTS}/{i}/point/<object>", colour=points[:, i])
        animate(arrow, position=position[:, i], quaternion=along, visible=drawn[:, i])
        animate(f"{arrow}/shaft", scale=np.maximum(shaft, 1e-6))
        animate(
            f"{arrow}/head",
            position=np.column_stack([0 * head, 0 * head, length - head]),
            scale=np.maximum(np.column_stack([thick, thick, head]), 1e-6),
        )
        for part in ("shaft", "head"):
            animate(f"{arrow}/{part}/<object>", colour=colours[:, i])


def _turn_to(direction: Array) -> Array:
    """Quaternion x, y, z, w that turns z into the direction."""
    up = np.array([0.0, 0.0, 1.0])
    turned: Array = pin.Quaternion.FromTwoVectors(up, direction if direction.any() else up).coeffs()
    return turned


def _settings(
    trajectory: Trajectory, scene: Scene, focus: Array, viewer: meshcat.Visualizer, view: Array
) -> dict[str, Any]:
    return {
        "start": float(trajectory.t[0]),
        "duration": float(trajectory.t[-1] - trajectory.t[0]),
        "focus": viewer[FOCUS].path.lower(),
        "terrain": viewer[TERRAIN].path.lower(),
        # A little below the middle: the controls are at the bottom of the page.
        "offset": (scene.centre - focus - (0.0, 0.0, 0.06 * scene.size)).tolist(),
        "size": scene.size,
        "fieldOfView": FIELD_OF_VIEW,
        "distance": scene.distance_to_camera(np.radians(FIELD_OF_VIEW)),
        "view": view.tolist(),
        "shade": scene.shade,
        "legend": list(_legend(scene, bool(trajectory.contact_names))),
    }


def _legend(scene: Scene, has_contacts: bool) -> Iterator[dict[str, str]]:
    if has_contacts:
        yield {"colour": _css(looks.STICKING), "text": f"force, {scene.force_legend}"}
        yield {"colour": _css(looks.SLIPPING), "text": "slipping"}
        yield {"colour": _css(FLASHING), "text": "has just landed"}
    if scene.ground.has_tiles:
        yield {"colour": _css(looks.DARK_TILE), "text": f"tiles of {100 * scene.tile:g} cm"}


def _css(colour: tuple[float, ...]) -> str:
    return f"rgb({', '.join(str(round(255 * part)) for part in colour)})"
