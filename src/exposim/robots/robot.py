"""The robot: a Pinocchio model, its contact points, its actuated joints."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from exposim import _checks, _core
from exposim._checks import Array
from exposim.contact.surfaces import Surface
from exposim.errors import InvalidArgument, UnknownFrame, did_you_mean
from exposim.robots.carried_shapes import checked_shapes
from exposim.robots.collision_shapes import FileShapes
from exposim.robots.contact_points import ContactPoint
from exposim.robots.joint_laws import JointArrays, joint_arrays, joints_to_look_at, stated_friction
from exposim.robots.joint_settings import (
    Drives,
    EffortLimits,
    Friction,
    JointSettings,
    Limits,
    PerDof,
    changed_drives,
    checked_actuated_joints,
    checked_effort_limits,
    checked_limits,
    per_dof,
    per_joint,
)
from exposim.robots.joints import Drive, DryFriction, Joint, JointLimits
from exposim.robots.loops import Loop, bonds_of, checked_loops
from exposim.robots.made_of import Combination, Part, RigidBody, innermost
from exposim.robots.masses import checked_masses, masses_of, set_masses
from exposim.robots.model_type import Model
from exposim.robots.models import (
    distance_from_unit,
    free_bases,
    from_bytes,
    has_floating_base,
    joints_of,
    refuse_what_cannot_be_simulated,
    to_bytes,
)

__all__ = ["ContactPoint", "Robot"]

# How far from unit length a quaternion may be given; closer, it is normalised.
QUATERNION_TOLERANCE = 1e-3
# Not written into pickles.
_MADE_AGAIN = ("_core", "_given_model", "_arrays")


class Robot:
    """A robot that never changes; :meth:`replace` gives a new one.

    Usually made by :func:`exposim.load_robot`, :func:`exposim.rigid_body` or :func:`exposim.combine`.

    Args:
        model: The Pinocchio model. It stays yours: the simulator works on a copy made now.
        contact_points: Where the robot may touch something.
        q0: Configuration to start from; by default the model's neutral one.
        name: For messages and tables; by default the model's.
        actuated_joints: Names of the joints that motors drive; by default all but free bases.
        drives: Servos, as of :meth:`replace`; by default none.
        joint_limits: Whether the joints stop at their position limits, or how hard; as of :meth:`replace`.
        effort_limits: Whether the torque limits that the model states hold; as of :meth:`replace`.
        joint_friction: Dry, as of :meth:`replace`; by default what the model states.
        shapes: Surfaces that its links carry for others to touch, each with the name of its frame; or what a file says
            of them.
        loops: Frames that are held together.
        source: File that the model was read from, if any.
        package_dirs: Where ``package://`` addresses of meshes are looked up.
        made_of: How it was made, if not from a file.
    """

    def __init__(
        self,
        model: pin.Model,
        contact_points: Iterable[ContactPoint] = (),
        *,
        q0: ArrayLike | None = None,
        name: str | None = None,
        actuated_joints: Sequence[str] | None = None,
        drives: Drives | None = None,
        joint_limits: Limits = True,
        effort_limits: EffortLimits = True,
        joint_friction: Friction | None = None,
        shapes: Iterable[Surface] | FileShapes = (),
        loops: Iterable[Loop] = (),
        source: Path | None = None,
        package_dirs: Sequence[Path] = (),
        made_of: RigidBody | Combination | None = None,
    ):
        if not isinstance(model, pin.Model):
            raise InvalidArgument(f"model is a {type(model).__name__}; give a pinocchio.Model")
        self._name = str(name or model.name or "robot")
        refuse_what_cannot_be_simulated(model, self._name)
        self._given_model = model
        self._model = model.copy()  # what happens to the original later is of no effect
        self._contact_points = self._check_contact_points(contact_points)
        self._q0: Array = self.check_configuration(pin.neutral(model) if q0 is None else q0, name="q0")
        self._actuated_joints = checked_actuated_joints(actuated_joints, self._model, self._name)
        self._joint_settings = JointSettings(
            drives={} if drives is None else changed_drives(drives, {}, self._actuated_joints, self._name),
            limits=per_joint("joint_limits", joint_limits, checked_limits, JointLimits(), self._model, self._name),
            effort_limits=per_joint(
                "effort_limits", effort_limits, checked_effort_limits, True, self._model, self._name
            ),
            friction=self._check_friction(joint_friction),
        )
        self._shapes: tuple[Surface, ...] | FileShapes = (
            shapes if isinstance(shapes, FileShapes) else self._check_shapes(shapes)
        )
        self._loops = checked_loops(loops, self.locate)
        self._source = source
        self._package_dirs = tuple(package_dirs)
        self._made_of = made_of

    # What it is.

    @property
    def name(self) -> str:
        """For messages and tables."""
        return self._name

    @property
    def model(self) -> Model:
        """The ``pinocchio.Model`` that was given."""
        given: Model = self._given_model
        return given

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

    @cached_property
    def shapes(self) -> tuple[Surface, ...]:
        """Surfaces that its links carry; ``frame`` of each says where. Those of a file are made at first use."""
        return self._check_shapes(self._shapes.surfaces()) if isinstance(self._shapes, FileShapes) else self._shapes

    @property
    def has_shapes_of_file(self) -> bool:
        """Whether its shapes are those that its file states."""
        return isinstance(self._shapes, FileShapes)

    @property
    def file_shapes(self) -> FileShapes:
        """What its file says of its shapes; nothing, where they were given as surfaces."""
        return self._shapes if isinstance(self._shapes, FileShapes) else FileShapes()

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
        """Whether the first joint is a free base: q begins with its pose."""
        return has_floating_base(self._model)

    @property
    def free_bases(self) -> tuple[str, ...]:
        """Names of the joints that are free bases, which no motor drives: one, none, or several of a combined robot."""
        return tuple(self._model.names[joint] for joint in free_bases(self._model))

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Frames that are held together."""
        return self._loops

    @property
    def members(self) -> dict[str, Robot]:
        """The robots that a combined one was made of, by name; as they were then. Empty for others."""
        return dict(self._made_of.members) if isinstance(self._made_of, Combination) else {}

    @property
    def made_of(self) -> RigidBody | Combination | None:
        """How it was made, if not from a file."""
        return self._made_of

    def part(self, name: str) -> Part:
        """Where a member of a combined robot is in q, v and tau: ``sim.q[both.part("go2").q]``."""
        return Part.of(name, self.members, self.actuated_dofs, self._name)

    @property
    def joints(self) -> Mapping[str, Joint]:
        """Limits, friction and drive of every joint but free bases, by its name; to look at."""
        return joints_to_look_at(self._model, self._joint_settings)

    @property
    def drives(self) -> dict[str, Drive]:
        """Servos by the names of the joints that have one; a copy."""
        return dict(self._joint_settings.drives)

    @property
    def joint_limits(self) -> JointLimits | Literal[False] | dict[str, JointLimits | Literal[False]]:
        """How hard the joints stop at their position limits; False if they do not; by joint where they differ."""
        limits = self._joint_settings.limits
        if isinstance(limits, Mapping):
            return {name: each or False for name, each in limits.items()}
        return limits or False

    @property
    def effort_limits(self) -> bool | dict[str, bool]:
        """Whether the torque limits that the model states hold; by joint where that differs."""
        limits = self._joint_settings.effort_limits
        return dict(limits) if isinstance(limits, Mapping) else limits

    @property
    def joint_friction(self) -> Array:
        """Dry friction of the moving joints [N·m or N], (nv,); a copy."""
        return np.array([each.dynamic for each in self._joint_settings.friction])

    @property
    def dry_friction(self) -> tuple[DryFriction, ...]:
        """All there is to the friction of every degree of freedom, in the order of v."""
        return self._joint_settings.friction

    @property
    def joint_damping(self) -> Array:
        """Viscous joint damping [N·m·s/rad or N·s/m], (nv,); a copy."""
        return np.array(self._model.damping)

    @property
    def armature(self) -> Array:
        """Rotor inertia seen at the joint [kg·m² or kg], (nv,); a copy."""
        return np.array(self._model.armature)

    @property
    def masses(self) -> dict[str, float]:
        """Of the body that each moving link belongs to: the link with all that is fixed to it [kg]; a copy."""
        return masses_of(self._model)

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

    def __str__(self) -> str:
        describing: Any = importlib.import_module("exposim.robots.describing")  # only those who print need it
        frames = (frame.name for frame in self._model.frames)
        return str(describing.describe(self._heading(), self._contact_points, self._shapes, frames, self._loops))

    def _repr_html_(self) -> str:
        notebook: Any = importlib.import_module("exposim.robots.notebook")
        mass = sum(inertia.mass for inertia in list(self._model.inertias)[1:])
        return str(notebook.shown(self._heading(), mass, self.joints, self._contact_points))

    def _heading(self) -> str:
        free, members = len(self.free_bases), len(innermost(self))
        base = f"{free} free bases" if free > 1 else "a floating base" if free else "a fixed base"
        of = f" of {members} robots" if self.members else ""
        source = "" if self._source is None else f", from {self._source}"
        return f"robot {self._name!r}{of} with {base} and {len(self._actuated_joints)} actuated joints{source}"

    # What can be made of it.

    def replace(
        self,
        *,
        drives: Drives | None = None,
        joint_limits: Limits | None = None,
        effort_limits: EffortLimits | None = None,
        joint_friction: Friction | None = None,
        joint_damping: PerDof | None = None,
        armature: PerDof | None = None,
        gravity: ArrayLike | None = None,
        mass: Mapping[str, float] | None = None,
        contact_points: Iterable[ContactPoint] | None = None,
        q0: ArrayLike | None = None,
        name: str | None = None,
        actuated_joints: Sequence[str] | None = None,
        shapes: Iterable[Surface] | FileShapes | None = None,
        loops: Iterable[Loop] | None = None,
    ) -> Robot:
        """A new robot with some properties changed, on a model of its own; what is not given stays as it is.

        What each joint has of its own is given as one value for all actuated joints, as nv entries, or as a mapping
        from names or globs of joints (``{"*_knee": 0.1}``) to values, of which later ones go before earlier ones and
        which leaves other joints as they are.

        Args:
            drives: Servos: an :class:`exposim.Drive`, or a mapping in which ``None`` is no drive. ``False`` or an empty
                mapping removes them all.
            joint_limits: Whether the joints stop at their position limits, or how hard: one for all, or a mapping.
            effort_limits: Whether the torque limits that the model states hold, likewise.
            joint_friction: Dry [N·m or N]: numbers, or :class:`exposim.DryFriction` objects.
            joint_damping: Viscous [N·m·s/rad or N·s/m].
            armature: Rotor inertia [kg·m² or kg].
            gravity: Acceleration [m/s²], x, y, z in the world.
            mass: Of bodies, by names or globs of their links [kg], above zero: of a link with all that is fixed to it,
                as :attr:`masses` has it. The inertia is scaled alike, the centre of mass stays where it is.
            contact_points: Instead of the present ones.
            q0: Instead of the present one.
            name: Instead of the present one.
            actuated_joints: Instead of the present ones.
            shapes: Surfaces that links carry, instead of the present ones; each names its frame.
            loops: Frames that are held together, instead of the present ones.
        """
        given = self._actuated_joints if actuated_joints is None else actuated_joints
        actuated = checked_actuated_joints(given, self._model, self._name)

        def changed(name: str, value: Any, present: Sequence[Any]) -> list[Any]:
            return per_dof(name, value, present, self._model, actuated, self._name)

        joints = self._joint_settings
        model, friction = self._model.copy(), joints.friction
        if joint_damping is not None:
            model.damping = np.array(changed("joint_damping", joint_damping, self.joint_damping.tolist()))
        if armature is not None:
            model.armature = np.array(changed("armature", armature, self.armature.tolist()))
        if joint_friction is not None:
            friction = tuple(changed("joint_friction", joint_friction, friction))
            model.upperDryFrictionLimit = np.array([each.dynamic for each in friction])
            model.lowerDryFrictionLimit = -model.upperDryFrictionLimit
        if gravity is not None:
            model.gravity = pin.Motion(_checks.vector("gravity", gravity, 3, "x, y, z in m/s²"), np.zeros(3))
        if mass is not None:
            set_masses(model, checked_masses(mass, model, self._name))
        return Robot(
            model,
            self._contact_points if contact_points is None else contact_points,
            q0=self._q0 if q0 is None else q0,
            name=self._name if name is None else name,
            actuated_joints=actuated,
            drives=joints.drives if drives is None else changed_drives(drives, joints.drives, actuated, self._name),
            joint_limits=_changed(self.joint_limits, joint_limits),
            effort_limits=_changed(self.effort_limits, effort_limits),
            joint_friction=friction,
            shapes=self._shapes if shapes is None else shapes,
            loops=self._loops if loops is None else loops,
            source=self._source,
            package_dirs=self._package_dirs,
            made_of=self._made_of,
        )

    def _start_at(self, q0: ArrayLike) -> None:
        """For the loader alone, which needs the robot to find out where it starts."""
        self._q0 = self.check_configuration(q0, "q0")
        self.__dict__.pop("_arrays", None)

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

    @cached_property
    def _arrays(self) -> JointArrays:
        return joint_arrays(self._model, self._q0, self._actuated_joints, self._joint_settings)

    def _joint_arrays(self) -> JointArrays:
        return self._arrays

    def _joint_laws(self) -> Any:
        return _core.JointLaws(**vars(self._joint_arrays()))

    def _bonds(self) -> list[Any]:
        return bonds_of(self._loops, self._model, self._q0, self.locate)

    def joints_of(self, in_q: NDArray[np.bool_], in_v: NDArray[np.bool_]) -> tuple[str, ...]:
        """Names of the joints with a marked entry in q or v."""
        return joints_of(self._model, in_q, in_v)

    def __getstate__(self) -> dict[str, Any]:
        kept = {key: value for key, value in self.__dict__.items() if key not in _MADE_AGAIN}
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

    def _check_shapes(self, shapes: Iterable[Surface]) -> tuple[Surface, ...]:
        checked = checked_shapes(shapes)
        for shape in checked:
            self.locate(str(shape.frame))
        return checked

    def _check_friction(self, given: Friction | None) -> tuple[DryFriction, ...]:
        stated = stated_friction(self._model)
        if given is None:
            return stated
        return tuple(per_dof("joint_friction", given, stated, self._model, self._actuated_joints, self._name))


def _changed(present: Any, given: Any) -> Any:
    """What is given by joint, in front of what is present; or one of the two."""
    if given is None:
        return present
    if not isinstance(given, Mapping):
        return given
    return {**(present if isinstance(present, Mapping) else {"*": present}), **given}
