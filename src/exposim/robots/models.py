"""What has to be known of a Pinocchio model before it can be simulated."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from exposim._checks import Array
from exposim.errors import UnsupportedModel

# Pinocchio's data take 57 bytes for each three of them: 1.5 GB here, 57 GB for a thousand.
MOST_DOFS = 300


def refuse_what_cannot_be_simulated(model: pin.Model, name: str) -> None:
    """Raises UnsupportedModel for a model without a forward dynamics."""
    if model.nv == 0:
        raise UnsupportedModel(
            f"robot {name!r} has no degree of freedom; load it with floating_base=True to let it move"
        )
    if model.nv > MOST_DOFS:
        raise UnsupportedModel(
            f"robot {name!r} has {model.nv} degrees of freedom; Pinocchio's memory for it would grow with their third "
            f"power, and more than {MOST_DOFS} are not taken"
        )
    if len(model.mimicking_joints) > 0:
        names = ", ".join(model.names[i] for i in model.mimicking_joints)
        raise UnsupportedModel(
            f"robot {name!r} has mimic joints ({names}), for which Pinocchio has no forward dynamics; "
            f"load the model without them (in pinocchio: mimic=False)"
        )
    for what, values in _numbers_of(model).items():
        if not np.isfinite(values).all():
            raise UnsupportedModel(f"robot {name!r} has numbers in its {what} that are not finite; mend the model")
        if what in ("damping", "armature", "dry friction") and np.any(np.asarray(values) < 0.0):
            raise UnsupportedModel(f"robot {name!r} has a negative {what}; mend the model, or use robot.replace")
    for what, values in _limits_of(model).items():
        if np.isnan(values).any():
            raise UnsupportedModel(f"robot {name!r} has numbers in its {what} that are not numbers; mend the model")
    M = _mass_matrix(model)
    if not (fine := np.isfinite(M).all(axis=0)).all():
        raise UnsupportedModel(
            f"robot {name!r} has masses, inertias or lengths so large that its mass matrix is not finite, at joint "
            f"{_joint_of(model, int(fine.argmin()))!r}; mend the model"
        )
    if (joint := _joint_without_inertia(model, M)) is not None:
        raise UnsupportedModel(
            f"robot {name!r} has a mass matrix that is not positive definite, at joint {joint!r}: it moves nothing "
            f"with inertia of its own; give its link mass, or armature, or floating_base=False if its base is fixed"
        )


def has_floating_base(model: pin.Model) -> bool:
    """Whether the first joint is a free base, so that q begins with its pose."""
    return model.njoints > 1 and is_free_base(model, 1)


def is_free_base(model: pin.Model, joint: int) -> bool:
    """Whether a joint is a free flyer in the world: of no robot's mechanism, and never driven."""
    return bool(model.parents[joint] == 0 and model.joints[joint].shortname() == "JointModelFreeFlyer")


def free_bases(model: pin.Model) -> list[int]:
    """Joints that are free bases: one of a robot that floats, and one for each such part of a combined one."""
    return [joint for joint in range(1, model.njoints) if is_free_base(model, joint)]


def free_dofs(model: pin.Model) -> list[int]:
    """Entries of v that belong to free bases."""
    return [i for joint in free_bases(model) for i in range(model.idx_vs[joint], model.idx_vs[joint] + 6)]


def root_of(model: pin.Model, joint: int) -> int:
    """The joint in the world on which a joint depends; of the world itself, 0."""
    while model.parents[joint] != 0:
        joint = int(model.parents[joint])
    return joint


def joint_names(model: pin.Model) -> list[str]:
    """Of all joints but free bases."""
    return [model.names[joint] for joint in range(1, model.njoints) if not is_free_base(model, joint)]


def dofs_of(model: pin.Model, joint_name: str) -> slice:
    """Its entries of v."""
    joint = model.joints[model.getJointId(joint_name)]
    return slice(joint.idx_v, joint.idx_v + joint.nv)


def parts_of(joint: Any) -> list[Any]:
    """The simple joints that a joint is made of: itself, unless it is a composite."""
    if joint.shortname() != "JointModelComposite":
        return [joint]
    return [part for each in joint.extract().joints for part in parts_of(each)]


def distance_from_unit(joint: Any, q: Array) -> float:
    """How far the unit vectors (quaternion, cosine and sine) in a joint's configuration are from length one."""
    kind = joint.shortname()
    if kind == "JointModelComposite":
        return max(distance_from_unit(j, q[j.idx_q - joint.idx_q :][: j.nq]) for j in parts_of(joint))
    if kind in ("JointModelFreeFlyer", "JointModelSpherical"):
        return abs(math.hypot(*q[-4:]) - 1.0)
    if kind == "JointModelPlanar" or (joint.nq == 2 and joint.nv == 1):
        return abs(math.hypot(*q[-2:]) - 1.0)
    return 0.0


def joints_of(model: pin.Model, in_q: NDArray[np.bool_], in_v: NDArray[np.bool_]) -> tuple[str, ...]:
    """Names of the joints with a marked entry in q or v."""
    return tuple(
        model.names[i]
        for i, joint in enumerate(model.joints)
        if i > 0
        and (in_q[joint.idx_q : joint.idx_q + joint.nq].any() or in_v[joint.idx_v : joint.idx_v + joint.nv].any())
    )


def to_bytes(model: pin.Model) -> bytes:
    """The model as bytes. Pinocchio's own pickling cannot read back the infinite limits that it writes."""
    with _temporary_folder() as folder:
        path = Path(folder) / "model"
        model.saveToBinary(str(path))
        return path.read_bytes()


def from_bytes(data: bytes) -> pin.Model:
    """The model that :func:`to_bytes` was given."""
    model = pin.Model()
    with _temporary_folder() as folder:
        path = Path(folder) / "model"
        path.write_bytes(data)
        model.loadFromBinary(str(path))
    return model


def _temporary_folder() -> Any:
    return importlib.import_module("tempfile").TemporaryDirectory()  # slow to import


def _numbers_of(model: pin.Model) -> dict[str, Any]:
    return {
        "gravity": model.gravity.vector,
        "damping": model.damping,
        "armature": model.armature,
        "dry friction": model.upperDryFrictionLimit,
        "inertias": [inertia.toDynamicParameters() for inertia in list(model.inertias)[1:]],
        "joint placements": [placement.homogeneous for placement in model.jointPlacements],
        "frames": [frame.placement.homogeneous for frame in model.frames],
    }


def _limits_of(model: pin.Model) -> dict[str, Any]:
    """Which may be infinite."""
    return {
        "position limits": [model.lowerPositionLimit, model.upperPositionLimit],
        "effort limits": model.effortLimit,
        "velocity limits": model.velocityLimit,
    }


def _mass_matrix(model: pin.Model) -> Array:
    """At a configuration with nothing special to it."""
    q = pin.integrate(model, pin.neutral(model), 0.3 * np.cos(np.arange(1.0, model.nv + 1.0)))
    M = pin.crba(model, model.createData(), q)
    full: Array = np.triu(M) + np.triu(M, 1).T
    return full


def _joint_without_inertia(model: pin.Model, M: Array) -> str | None:
    """A joint that makes the mass matrix singular, if there is one."""
    eigenvalues, vectors = np.linalg.eigh(M / (np.abs(M).max() or 1.0))  # of which no product overflows
    if eigenvalues[0] > 1e-12 * eigenvalues[-1]:
        return None
    return _joint_of(model, int(np.abs(vectors[:, 0]).argmax()))


def _joint_of(model: pin.Model, dof: int) -> str:
    return joints_of(model, np.zeros(model.nq, dtype=bool), np.arange(model.nv) == dof)[0]
