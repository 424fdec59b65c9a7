"""The robot: a Pinocchio model, its contact points, its actuated joints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from exposim import _checks, _core
from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.contact.surfaces import Point
from exposim.errors import InvalidArgument, UnknownFrame, did_you_mean
from exposim.robots.models import distance_from_unit, from_bytes, joints_of, refuse_what_cannot_be_simulated, to_bytes

# How far from unit length a quaternion may be given; closer, it is normalised.
QUATERNION_TOLERANCE = 1e-3


@dataclass(frozen=True)
class ContactPoint:
    """A point of the robot that may touch something.

    Args:
        frame: Name of the frame it is fixed to.
        offset: Position in that frame [m].
        name: Its own name; by default that of the frame.
        radius: Of a spherical foot around the point [m]; it rolls.
        bilateral: Always in contact, pulls as well as pushes, knows no friction limit, ignores the surfaces.
        material: Of a bilateral contact (default ``Material()``); otherwise instead of the surface's.
        anchor: Where a bilateral contact is attached in the world [m]; by default where the point is at reset.
    """

    frame: str
    offset: Point = (0.0, 0.0, 0.0)
    name: str = ""
    radius: float = 0.0
    bilateral: bool = False
    material: Material | None = None
    anchor: Point | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.frame, str) or not self.frame:
            raise InvalidArgument(f"frame is {self.frame!r}; give the name of a frame of the model")
        offset = _checks.vector("offset", self.offset, 3, "x, y, z in metres, in the frame")
        object.__setattr__(self, "offset", tuple(offset.tolist()))
        if not isinstance(self.name, str):
            raise InvalidArgument(f"name is {self.name!r}; give text, or leave it out")
        object.__setattr__(self, "name", self.name or self.frame)
        object.__setattr__(self, "radius", _checks.number("radius", self.radius, "[m]", least=0.0))
        _checks.flag("bilateral", self.bilateral)
        if self.material is not None and not isinstance(self.material, Material):
            raise InvalidArgument(f"material is {self.material!r}; give an exposim.Material or None")
        if self.anchor is not None:
            if not self.bilateral:
                raise InvalidArgument("anchor is for bilateral contacts only; set bilateral=True or leave it out")
            anchor = _checks.vector("anchor", self.anchor, 3, "x, y, z in metres, in the world")
            object.__setattr__(self, "anchor", tuple(anchor.tolist()))


class Robot:
    """A robot that never changes; :meth:`replace` gives a new one.

    Usually made by :func:`exposim.load_robot`.

    Args:
        model: The Pinocchio model. It stays yours: the simulator works on a copy made now.
        contact_points: Where the robot may touch something.
        q0: Configuration to start from; by default the model's neutral one.
        name: For messages and tables; by default the model's.
        actuated_joints: Names of the joints that motors drive; by default all but a floating base.
        source: File that the model was read from, if any.
        package_dirs: Where ``package://`` addresses of meshes are looked up.
    """

    def __init__(
        self,
        model: pin.Model,
        contact_points: Iterable[ContactPoint] = (),
        *,
        q0: ArrayLike | None = None,
        name: str | None = None,
        actuated_joints: Sequence[str] | None = None,
        source: Path | None = None,
        package_dirs: Sequence[Path] = (),
    ):
        if not isinstance(model, pin.Model):
            raise InvalidArgument(f"model is a {type(model).__name__}; give a pinocchio.Model")
        self._name = str(name or model.name or "robot")
        refuse_what_cannot_be_simulated(model, self._name)
        self._given_model = model
        self._model = model.copy()  # what happens to the original later is of no effect
        self._contact_points = self._check_contact_points(contact_points)
        self._q0: Array = self.check_configuration(pin.neutral(model) if q0 is None else q0, name="q0")
        self._actuated_joints = self._check_actuated_joints(actuated_joints)
        self._source = source
        self._package_dirs = tuple(package_dirs)

    # What it is.

    @property
    def name(self) -> str:
        """For messages and tables."""
        return self._name

    @property
    def model(self) -> pin.Model:
        """The Pinocchio model that was given."""
        return self._given_model

    @property
    def nq(self) -> int:
        """Size of a configuration."""
        return int(self._model.nq)

    @property
    def nv(self) -> int:
        """Size of a velocity: the number of degrees of freedom."""
        return int(self._model.nv)

    @property
    def q0(self) -> Array:
        """Configuration to start from, (nq,); a copy."""
        return np.array(self._q0)

    @property
    def contact_points(self) -> tuple[ContactPoint, ...]:
        """Where the robot may touch something."""
        return self._contact_points

    @property
    def feet(self) -> tuple[str, ...]:
        """Names of the contact points."""
        return tuple(point.name for point in self._contact_points)

    @property
    def actuated_joints(self) -> tuple[str, ...]:
        """Names of the joints that motors drive, in the order of their torques."""
        return self._actuated_joints

    @cached_property
    def actuated_dofs(self) -> NDArray[np.int_]:
        """Index in v of every actuated degree of freedom; read-only."""
        model = self._model
        ids = [model.getJointId(name) for name in self._actuated_joints]
        dofs = np.array([i for j in ids for i in range(model.idx_vs[j], model.idx_vs[j] + model.nvs[j])], dtype=int)
        dofs.flags.writeable = False
        return dofs

    @property
    def has_floating_base(self) -> bool:
        """Whether the first joint is a free flyer."""
        return bool(self._model.njoints > 1 and self._model.joints[1].shortname() == "JointModelFreeFlyer")

    @property
    def joint_damping(self) -> Array:
        """Viscous joint damping [N·m·s/rad or N·s/m], (nv,); a copy."""
        return np.array(self._model.damping)

    @property
    def armature(self) -> Array:
        """Rotor inertia seen at the joint [kg·m² or kg], (nv,); a copy."""
        return np.array(self._model.armature)

    @property
    def source(self) -> Path | None:
        """File that the model was read from, if any."""
        return self._source

    @property
    def package_dirs(self) -> tuple[Path, ...]:
        """Where ``package://`` addresses of meshes are looked up."""
        return self._package_dirs

    def __repr__(self) -> str:
        return (
            f"Robot({self._name!r}, nq={self.nq}, nv={self.nv}, "
            f"{len(self._actuated_joints)} actuated joints, {len(self._contact_points)} contact points)"
        )

    # What can be made of it.

    def replace(
        self,
        *,
        joint_damping: ArrayLike | None = None,
        armature: ArrayLike | None = None,
        gravity: ArrayLike | None = None,
        contact_points: Iterable[ContactPoint] | None = None,
        q0: ArrayLike | None = None,
        name: str | None = None,
        actuated_joints: Sequence[str] | None = None,
    ) -> Robot:
        """A new robot with some properties changed, on a model of its own.

        Args:
            joint_damping: [N·m·s/rad or N·s/m] nv entries, or one number for all actuated joints.
            armature: Rotor inertia [kg·m² or kg], nv entries, or one number for all actuated joints.
            gravity: Acceleration [m/s²], x, y, z in the world.
            contact_points: Instead of the present ones.
            q0: Instead of the present one.
            name: Instead of the present one.
            actuated_joints: Instead of the present ones.
        """
        model = self._model.copy()
        if joint_damping is not None:
            model.damping = self._per_dof("joint_damping", joint_damping, self.joint_damping)
        if armature is not None:
            model.armature = self._per_dof("armature", armature, self.armature)
        if gravity is not None:
            model.gravity = pin.Motion(_checks.vector("gravity", gravity, 3, "x, y, z in m/s²"), np.zeros(3))
        return Robot(
            model,
            self._contact_points if contact_points is None else contact_points,
            q0=self._q0 if q0 is None else q0,
            name=self._name if name is None else name,
            actuated_joints=self._actuated_joints if actuated_joints is None else actuated_joints,
            source=self._source,
            package_dirs=self._package_dirs,
        )

    def _start_at(self, q0: ArrayLike) -> None:
        """For the loader alone, which needs the robot to find out where it starts."""
        self._q0 = self.check_configuration(q0, "q0")

    def locate(self, frame: str) -> tuple[int, pin.SE3]:
        """Joint that carries a frame, and the frame's placement in it.

        Where a joint and a body share a name, the body's frame is meant.
        """
        found = [f for f in self._model.frames if f.name == frame]
        if not found:
            near = did_you_mean(str(frame), (f.name for f in self._model.frames))
            raise UnknownFrame(
                f"frame {frame!r} is not in robot {self._name!r}{near or '; robot.model.frames has those that are'}"
            )
        best = min(found, key=lambda f: f.type != pin.FrameType.BODY)
        return int(best.parentJoint), best.placement

    def check_configuration(self, q: ArrayLike, name: str = "q", *, normalise: bool = True) -> Array:
        """A copy of q, checked; quaternions (and other unit vectors in it) a little off are normalised."""
        model = self._model
        q = _checks.vector(name, q, model.nq, f"nq of {self._name}")
        for joint, joint_name in zip(model.joints[1:], list(model.names)[1:], strict=True):
            part = slice(joint.idx_q, joint.idx_q + joint.nq)
            off = distance_from_unit(joint, q[part])
            if off > QUATERNION_TOLERANCE:
                raise InvalidArgument(
                    f"{name} has a quaternion (or cosine and sine) of length off by {off:.3g} at joint {joint_name!r}, "
                    f"within entries {part.start} to {part.stop - 1}: {q[part]}; give it unit length (order x, y, z, w)"
                )
        return np.array(pin.normalize(model, q)) if normalise else q

    @cached_property
    def _core(self) -> _core.Robot:
        points = []
        for point in self._contact_points:
            joint, placement = self.locate(point.frame)
            points.append(_core.ContactPoint(joint, placement.act(np.array(point.offset)), point.radius))
        return _core.Robot(self._model.saveToString(), points, self.actuated_dofs.tolist())

    def joints_of(self, in_q: NDArray[np.bool_], in_v: NDArray[np.bool_]) -> tuple[str, ...]:
        """Names of the joints with a marked entry in q or v."""
        return joints_of(self._model, in_q, in_v)

    def __getstate__(self) -> dict[str, Any]:
        kept = {key: value for key, value in self.__dict__.items() if key not in ("_core", "_given_model")}
        return kept | {"_model": to_bytes(self._model)}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._model = from_bytes(kept["_model"])
        self._given_model = self._model.copy()

    # Checks at construction.

    def _check_contact_points(self, points: Iterable[ContactPoint]) -> tuple[ContactPoint, ...]:
        points = _checks.several("contact_points", points, "a list of exposim.ContactPoint objects")
        if not all(isinstance(point, ContactPoint) for point in points):
            raise InvalidArgument(f"contact_points has {points!r}; give exposim.ContactPoint objects only")
        for point in points:
            self.locate(point.frame)
        names = [point.name for point in points]
        if twice := [name for name in names if names.count(name) > 1]:
            raise InvalidArgument(
                f"contact_points has the name {twice[0]!r} more than once; give each point a name of its own (name=...)"
            )
        return points

    def _check_actuated_joints(self, names: Sequence[str] | None) -> tuple[str, ...]:
        movable = list(self._model.names)[1:]
        if names is None:
            return tuple(movable[1:] if self.has_floating_base else movable)
        names = _checks.several("actuated_joints", names, "a list of names of joints")
        for name in names:
            if not isinstance(name, str) or name not in movable:
                near = did_you_mean(str(name), movable)
                raise InvalidArgument(f"actuated_joints has {name!r}, which is no joint of {self._name!r}{near}")
            if names.count(name) > 1:
                raise InvalidArgument(f"actuated_joints has {name!r} more than once; give each joint once")
        return names

    def _per_dof(self, name: str, value: ArrayLike, present: Array) -> Array:
        if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, np.ndarray)):
            present[self.actuated_dofs] = _checks.number(name, value, "", least=0.0)
            return present
        given = _checks.vector(name, value, self.nv, f"nv of {self._name}, or one number")
        for i, each in enumerate(given):
            _checks.number(f"{name}[{i}]", each, "", least=0.0)
        return given
