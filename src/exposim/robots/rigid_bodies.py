"""Bodies without joints: a box to push, a ball."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from exposim import _checks
from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.contact.mesh_files import Faces
from exposim.contact.meshes import Mesh
from exposim.contact.shapes import Box, Capsule, Cylinder, Sphere
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument
from exposim.robots.carried_shapes import carried_by
from exposim.robots.contact_points import ContactPoint
from exposim.robots.made_of import RigidBody
from exposim.robots.postures import on_the_ground
from exposim.robots.robot import Robot
from exposim.robots.shape_points import placement_of, points_of

# Of the edges of boxes and cylinders that are given sharp: at most so long, and this part of the smallest size.
ROUNDING = 5e-3  # [m]
ROUNDED_PART = 0.05


def rigid_body(
    name: str,
    shape: Surface,
    mass: float,
    *,
    inertia: ArrayLike | None = None,
    contact_points: Iterable[ContactPoint] | None = None,
    material: Material | None = None,
) -> Robot:
    """A robot of one free body, without joints to drive. It stands with its lowest contact point on z = 0.

    Args:
        name: Of the robot, and of its body's frame; without ``"/"``.
        shape: In the axes of the body: an :class:`exposim.Box`, Sphere, Capsule, Cylinder or Mesh; others need
            ``inertia`` and ``contact_points``. Edges of boxes and cylinders with a ``rounding`` of 0 are rounded by
            5 mm, or 5 % of the smallest size if that is less.
        mass: [kg].
        inertia: About the centre of mass, which is at ``shape.position``, or in the middle of what a mesh encloses, in
            the body's axes [kg·m²]: (3, 3), or three numbers for the diagonal. By default that of a homogeneous body.
        contact_points: In frame ``name``; by default made from the shape: the centre of a sphere, the ends of a
            capsule, the corners of a box, eight points on each rim of a cylinder, up to 16 corners of a mesh.
        material: Of these points, instead of that of what they touch. What touches the body meets ``shape.material``.
    """
    if not isinstance(name, str) or not name or name == "universe":
        raise InvalidArgument(f"name is {name!r}; give the body a name")
    if "/" in name:
        raise InvalidArgument(
            f"name is {name!r}; give one without '/', which parts the names of robots that are combined"
        )
    if not isinstance(shape, Surface):
        raise InvalidArgument(f"shape is {shape!r}; give for example exposim.Box(size=(0.4, 0.4, 0.4))")
    if shape.frame not in (None, name):
        raise InvalidArgument(f"shape has the frame {shape.frame!r}; leave it out, the body {name!r} carries it")
    mass = _checks.number("mass", mass, "[kg]", above=0.0)
    given = None if inertia is None else _checked_inertia(inertia)
    shape = carried_by(name, _rounded(shape))
    model = pin.Model()
    model.name = name
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    model.addJointFrame(joint)
    model.appendBodyToJoint(joint, _inertia_of(shape, mass, given), pin.SE3.Identity())
    model.addBodyFrame(name, joint, pin.SE3.Identity(), -1)
    points = points_of(shape, name, name) if contact_points is None else contact_points
    if material is not None and contact_points is None:
        points = [dataclasses.replace(point, material=material) for point in points]
    elif material is not None:
        raise InvalidArgument("material is for the contact points that are made from the shape; give it to your own")
    made_of = RigidBody(name, shape, mass, None if given is None else tuple(map(tuple, given.tolist())))
    robot = Robot(model, points, name=name, shapes=(shape,), made_of=made_of)
    return robot.replace(q0=on_the_ground(robot, robot.q0))


def _rounded(shape: Surface) -> Surface:
    if not isinstance(shape, (Box, Cylinder)) or shape.rounding > 0.0:
        return shape
    sizes = shape.size if isinstance(shape, Box) else (2.0 * shape.radius, shape.length)
    return dataclasses.replace(shape, rounding=min(ROUNDING, ROUNDED_PART * float(min(sizes))))


def _checked_inertia(inertia: ArrayLike) -> Array:
    array = _checks.as_array("inertia", inertia)
    array = np.diag(array) if array.shape == (3,) else array
    array = _checks.matrix("inertia", array, 3, 3)
    moments = np.linalg.eigvalsh(array)
    scale = np.abs(array).max()
    # A body has no moment above the sum of the others; a flat one reaches it.
    if not (
        np.abs(array - array.T).max() <= 1e-9 * scale
        and moments[0] > 0.0
        and moments[2] <= (1.0 + 1e-9) * (moments[0] + moments[1])
    ):
        raise InvalidArgument(
            f"inertia is {array.tolist()}, which no body has; give a symmetric matrix with positive moments, none of "
            f"them above the sum of the others [kg·m²]"
        )
    symmetric: Array = (array + array.T) / 2.0
    return symmetric


def _inertia_of(shape: Any, mass: float, given: Array | None) -> pin.Inertia:
    """In the body's axes."""
    if isinstance(shape, Mesh):
        own = placement_of(shape).act(_of_triangles(mass, *shape.triangles()))
        return own if given is None else pin.Inertia(mass, own.lever, given)
    if given is not None:
        return pin.Inertia(mass, np.array(getattr(shape, "position", np.zeros(3)), dtype=float), given)
    if isinstance(shape, Box):
        own = mass / 12.0 * (np.sum(np.square(shape.size)) - np.square(shape.size))
    elif isinstance(shape, Sphere):
        own = np.full(3, 0.4 * mass * shape.radius**2)
    elif isinstance(shape, Cylinder):
        own = _of_cylinder(mass, shape.radius, shape.length)
    elif isinstance(shape, Capsule):
        own = _of_capsule(mass, shape.radius, shape.length)
    else:
        raise InvalidArgument(
            f"the inertia of a body of shape {type(shape).__name__} is not known; give inertia=..., about its centre"
        )
    return placement_of(shape).act(pin.Inertia(mass, np.zeros(3), np.diag(own)))


def _of_triangles(mass: float, vertices: Array, faces: Faces) -> pin.Inertia:
    """Sums over tetrahedra of each triangle and one point, negative where the triangle faces it."""
    middle = vertices.mean(axis=0)
    a, b, c = (vertices[faces[:, k]] - middle for k in range(3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    part = volume / volume.sum()
    centre = part @ (a + b + c) / 4.0
    # ∫ r rᵀ of a tetrahedron with a corner at r = 0 is its volume times this.
    second = sum((part[:, None] * each).T @ each for each in (a, b, c, a + b + c)) / 20.0 - np.outer(centre, centre)
    return pin.Inertia(mass, middle + centre, mass * (np.trace(second) * np.eye(3) - second))


def _of_cylinder(mass: float, radius: float, length: float) -> Array:
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    return np.array([across, across, mass * radius**2 / 2.0])


def _of_capsule(mass: float, radius: float, length: float) -> Array:
    """A cylinder, and a hemisphere at each end, whose centre of mass is 3/8 of its radius away from its flat side."""
    part = 3.0 * length / (3.0 * length + 4.0 * radius)  # of the volume, in the cylinder
    ends = (1.0 - part) * mass
    along = 0.4 * ends * radius**2
    across = along + ends * (length**2 / 4.0 + 3.0 * length * radius / 8.0)
    moments: Array = _of_cylinder(part * mass, radius, length) + np.array([across, across, along])
    return moments
