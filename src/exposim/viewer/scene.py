"""What both viewers show and how large, computed once: sizes, colours, scale of the forces, the world."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from exposim import _checks
from exposim._checks import Array
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument
from exposim.robots.robot import Robot
from exposim.simulation.trajectory import Trajectory
from exposim.viewer.geometry import add_carried, bounds, owners, visual_model
from exposim.viewer.ground import Ground, Look
from exposim.viewer.terrain_meshes import normals

# Red, green, blue from 0 to 1.
STICKING = (0.05, 0.40, 0.95)
SLIPPING = (0.90, 0.05, 0.05)
OPEN = (0.30, 0.30, 0.30)
LIGHT_TILE, DARK_TILE = (0.91, 0.92, 0.93), (0.78, 0.81, 0.84)
SOLID, EDGE = (0.76, 0.77, 0.77), (0.45, 0.48, 0.52)

# Of the Earth [m/s²], also where a robot is elsewhere: arrows of the same length are the same force.
GRAVITY = 9.81
# The robot's weight is an arrow about as long as this part of the robot's size, the longest arrow as this multiple.
WEIGHT_ARROW, LONGEST_ARROW = 0.8, 4.0
# Forces below this part of the robot's weight are not drawn.
LEAST_FORCE = 0.002
# Between two images [s]; what lies between is interpolated. Long motions have no more than so many images.
FRAME, MOST_FRAMES = 0.01, 2000
# The camera follows where the robot is on average over so long [s].
SMOOTHING = 0.4
# From the robot to the camera, before it is made a unit vector; turned to another side from which so many times more is
# seen of the walls of the terrain: stairs are looked at from below.
VIEW_DIRECTION = (1.0, -1.15, 0.55)
MORE_IS_SEEN = 1.5
# Of several bodies that go apart, the camera stays back by at most so many times what it would at the start.
MOST_REACH = 3.0


@dataclass(frozen=True)
class Scene:
    """A robot, or several, in their world, measured.

    Args:
        robot: That is shown.
        shapes: What is drawn of it, and of the surfaces that its links carry.
        ground: The surfaces that stay where they are.
        centre: Of all that moves at the start [m], (3,).
        size: Of the robot, of several the largest: the longest edge of the box around it [m].
        radius: Of the ball around all that moves [m].
        newtons_per_metre: Force that an arrow of one metre stands for [N/m].
        least_force: Smaller ones are not drawn [N].
        tile: Edge of a tile of the ground [m].
    """

    robot: Robot
    shapes: pin.GeometryModel
    ground: Ground
    centre: Array
    size: float
    radius: float
    newtons_per_metre: float
    least_force: float
    tile: float

    @classmethod
    def of(cls, robot: Robot, ground: Surface | Iterable[Surface] | None, q: Array) -> Scene:
        """Measures the robot at q."""
        shapes = visual_model(robot)
        boxes = bounds(robot, shapes, q)
        low, high = (np.array(ends) for ends in zip(*boxes.values(), strict=True))
        size = max(float((high - low).max()), 1e-3)
        weight = max(GRAVITY * max(masses(robot).values(), default=0.0), 1e-9)
        low, high = low.min(axis=0), high.max(axis=0)
        tile = rounded(0.4 * size)
        world = Ground.of(ground, tile, size)
        for i, surface in enumerate(world.carried):
            add_carried(shapes, robot, surface, f"carried_{i}")
        return cls(
            robot=robot,
            shapes=shapes,
            ground=world,
            centre=(low + high) / 2.0,
            size=size,
            radius=max(float(np.linalg.norm(high - low)) / 2.0, size / 2.0),
            newtons_per_metre=10.0 * rounded(0.1 * weight / (WEIGHT_ARROW * size)),
            least_force=LEAST_FORCE * weight,
            tile=tile,
        )

    def following(self, q: Array) -> Scene:
        """The same from so far that several bodies are seen together at all configurations, (n, nq)."""
        if len(q) == 0 or len(masses(self.robot)) < 2:
            return self
        places = centres_of_mass(self.robot, q)
        apart = np.linalg.norm(places - focus_of(places)[:, None], axis=2)
        more = float((apart.max(axis=1) - apart[0].max()).max())
        return replace(self, radius=min(self.radius + max(more, 0.0), MOST_REACH * self.radius))

    def focus(self, q: Array) -> Array:
        """Where the camera looks at configurations (n, nq) [m], (n, 3): amid the bodies."""
        return focus_of(centres_of_mass(self.robot, q))

    @property
    def force_legend(self) -> str:
        """How long the arrows are, in words."""
        return f"10 cm = {0.1 * self.newtons_per_metre:g} N"

    def arrows(self, force: Array, active: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Array]:
        """Of forces [N], (…, 3): whether each is drawn, and its arrow from tail to tip [m], (…, 3)."""
        norm = np.linalg.norm(force, axis=-1)
        drawn: NDArray[np.bool_] = active & (norm > self.least_force)
        length = np.minimum(norm / self.newtons_per_metre, LONGEST_ARROW * self.size)
        return drawn, force * (length / np.where(norm > 0.0, norm, 1.0))[..., None]

    def colours(self, drawn: NDArray[np.bool_], slipping: NDArray[np.bool_]) -> Array:
        """Of contact points and their arrows, (…, 3)."""
        closed = np.where(slipping[..., None], SLIPPING, STICKING)
        return np.where(drawn[..., None], closed, OPEN)

    def view(self, terrain: Iterable[tuple[Look, Look]]) -> Array:
        """From the robot to the camera, (3,), of unit length."""
        sides = np.array(VIEW_DIRECTION) * [(1, 1, 1), (-1, 1, 1), (1, -1, 1), (-1, -1, 1)]
        sides /= np.linalg.norm(VIEW_DIRECTION)
        facing = np.concatenate([np.zeros((1, 3)), *(normals(*look.mesh) for shades in terrain for look in shades)])
        seen = np.maximum(0.0, facing[:, :2] @ sides[:, :2].T).sum(axis=0)
        best = int(np.argmax(seen))
        chosen: Array = sides[best if seen[best] > MORE_IS_SEEN * seen[0] else 0]
        return chosen

    @property
    def shade(self) -> float:
        """How far from the robot shadows are drawn [m]: as far as needed, for they are coarser the further."""
        is_alone = not self.ground.terrain and not self.ground.solids
        return 1.5 * self.size if is_alone and not self.robot.members else 3.0 * max(self.size, self.radius)

    def distance_to_camera(self, field_of_view: float) -> float:
        """From which the ball around the robot fills most of a field of view [rad] of the camera [m]."""
        return 1.2 * self.radius / float(np.sin(field_of_view / 2.0))


def robot_of(trajectory: Trajectory, robot: Robot | None = None) -> Robot:
    """The robot given, if it is of the right size, or the one at hand that moved so, or that of the settings."""
    if robot is None and trajectory._made_with is not None:
        robot = trajectory._made_with[0]
    robot = trajectory.settings.robot.load() if robot is None else robot
    nq = trajectory.q.shape[1]
    if robot.nq != nq:
        raise InvalidArgument(
            f"robot {robot.name!r} has configurations of {robot.nq} entries, the trajectory of {nq}; give its own robot"
        )
    for name in ("t", "q"):
        _checks.finite(f"trajectory.{name}", getattr(trajectory, name))
    return robot


def world_around(
    trajectory: Trajectory, ground: Surface | Iterable[Surface] | None = None
) -> Surface | Iterable[Surface]:
    """The ground given, or the one at hand that it moved on, or that of the settings."""
    if ground is not None:
        return ground
    return trajectory.settings.ground if trajectory._made_with is None else trajectory._made_with[1]


def scene_of(
    trajectory: Trajectory, robot: Robot | None = None, ground: Surface | Iterable[Surface] | None = None
) -> Scene:
    """The scene of a recorded motion, of the robot and the ground given or those of its settings."""
    scene = Scene.of(robot_of(trajectory, robot), world_around(trajectory, ground), trajectory.q[0])
    return scene.following(trajectory.q[frames(trajectory.t)])


def title_of(trajectory: Trajectory) -> str:
    """Scenario, robot, integrator and step in one line, and how it ended if badly."""
    settings, outcome = trajectory.settings, trajectory.outcome
    scheme, dt = type(settings.integrator).__name__, settings.dt
    title = f"{settings.scenario.name} · {settings.robot.name} · {scheme} · dt = {1e3 * dt:g} ms"
    return title if outcome.diverged_at is None else f"{title} · diverged at {outcome.diverged_at:.4g} s"


def frames(t: Array) -> NDArray[np.int_]:
    """Of times [s], (n,), the numbers of those that are shown, the first and the last among them."""
    step = max(FRAME, float(t[-1] - t[0]) / MOST_FRAMES)
    wanted = np.append(np.arange(t[0], t[-1], step), t[-1])
    return np.unique(np.searchsorted(t, wanted - 1e-9).clip(0, len(t) - 1))


def masses(robot: Robot) -> dict[str, float]:
    """Of the members that move [kg], by what their names begin with."""
    found: dict[str, float] = {}
    for name, inertia in list(zip(owners(robot), robot.model.inertias, strict=True))[1:]:
        found[name] = found.get(name, 0.0) + inertia.mass
    return found


def centres_of_mass(robot: Robot, q: Array) -> Array:
    """Of the members that move at configurations (n, nq) [m], (n, members, 3)."""
    model, data = robot.model, robot.model.createData()
    weights, names = masses(robot), owners(robot)
    members = list(weights)
    roots = [(j, members.index(names[j])) for j in range(1, model.njoints) if model.parents[j] == 0]
    centres = np.zeros((len(q), len(members), 3))
    for i, each in enumerate(q):
        pin.centerOfMass(model, data, each, True)
        for joint, k in roots:
            centres[i, k] += data.mass[joint] * data.oMi[joint].act(data.com[joint])
    centres /= np.maximum(np.array(list(weights.values())), 1e-300)[:, None]
    return centres


def focus_of(places: Array) -> Array:
    """The middle of bodies (…, members, 3), not weighed: a light one is worth a look too."""
    middle: Array = (places.min(axis=-2) + places.max(axis=-2)) / 2.0
    return middle


def smooth(points: Array, t: Array) -> Array:
    """Points at times [s] (n,) averaged over a stretch of time around each, (n, 3)."""
    first = np.searchsorted(t, t - SMOOTHING / 2.0)
    last = np.searchsorted(t, t + SMOOTHING / 2.0, side="right")
    sums = np.concatenate([np.zeros((1, 3)), np.cumsum(points, axis=0)])
    averages: Array = (sums[last] - sums[first]) / (last - first)[:, None]
    return averages


def quaternion_wxyz(rotation: Array) -> Array:
    """The quaternion w, x, y, z of a rotation matrix, (4,)."""
    x, y, z, w = pin.Quaternion(rotation).coeffs()
    return np.array([w, x, y, z])


def rounded(value: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(min((1.0, 2.0, 5.0, 10.0), key=lambda digit: abs(np.log(digit * power / value))) * power)
