"""The robots known by name: their files in example-robot-data, where they touch the ground, how they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from exposim.contact.surfaces import Point
from exposim.robots.contact_points import ContactPoint


@dataclass(frozen=True)
class KnownRobot:
    """Where a robot's files are in example-robot-data, where it touches the ground, how it stands."""

    urdf: str
    contact_points: tuple[ContactPoint, ...]
    srdf: str | None = None
    posture: str | None = None  # reference configuration of the SRDF
    joints: Mapping[str, float] = field(default_factory=dict)  # angles [rad] that differ from it


def _sole(frame: str, corners: Mapping[str, Point], radius: float = 0.0) -> tuple[ContactPoint, ...]:
    return tuple(ContactPoint(frame, offset, f"{frame}_{corner}", radius) for corner, offset in corners.items())


def _rectangle(front: float, back: float, half_width: float, z: float) -> dict[str, Point]:
    return {
        "front_left": (front, half_width, z),
        "front_right": (front, -half_width, z),
        "back_left": (back, half_width, z),
        "back_right": (back, -half_width, z),
    }


_ROMEO_SOLE = _rectangle(front=0.10, back=-0.05, half_width=0.05, z=-0.07)
_TALOS_SOLE = _rectangle(front=0.105, back=-0.105, half_width=0.065, z=0.0)
_G1_SOLE = {  # the four collision spheres of its URDF
    "front_left": (0.12, 0.03, -0.03),
    "front_right": (0.12, -0.03, -0.03),
    "back_left": (-0.05, 0.025, -0.03),
    "back_right": (-0.05, -0.025, -0.03),
}

KNOWN_ROBOTS: dict[str, KnownRobot] = {
    "solo12": KnownRobot(
        "solo_description/robots/solo12.urdf",
        tuple(ContactPoint(leg + "_FOOT") for leg in ("FL", "FR", "HL", "HR")),
        "solo_description/srdf/solo.srdf",
        "standing",
    ),
    "go2": KnownRobot(
        "go2_description/urdf/go2.urdf",
        tuple(ContactPoint(leg + "_foot", radius=0.022) for leg in ("FL", "FR", "RL", "RR")),
        "go2_description/srdf/go2.srdf",
        "standing",
    ),
    "anymal_c": KnownRobot(
        "anymal_c_simple_description/urdf/anymal.urdf",
        tuple(ContactPoint(leg + "_FOOT", (0.0, 0.0, 0.0225), radius=0.03) for leg in ("LF", "RF", "LH", "RH")),
        "anymal_c_simple_description/srdf/anymal.srdf",
        "standing",
    ),
    "romeo": KnownRobot(
        "romeo_description/urdf/romeo_small.urdf",
        _sole("LAnkleRoll", _ROMEO_SOLE) + _sole("RAnkleRoll", _ROMEO_SOLE),
        "romeo_description/srdf/romeo_small.srdf",
        "half_sitting",
    ),
    "talos": KnownRobot(
        "talos_data/robots/talos_reduced.urdf",
        _sole("left_sole_link", _TALOS_SOLE) + _sole("right_sole_link", _TALOS_SOLE),
        "talos_data/srdf/talos.srdf",
        "half_sitting",
    ),
    "g1": KnownRobot(
        "g1_description/urdf/g1_29dof_rev_1_0.urdf",
        _sole("left_ankle_roll_link", _G1_SOLE, 0.005) + _sole("right_ankle_roll_link", _G1_SOLE, 0.005),
        joints={
            f"{side}_{joint}_joint": angle
            for side, outwards in (("left", 1.0), ("right", -1.0))
            for joint, angle in {
                "hip_pitch": -0.2,
                "knee": 0.42,
                "ankle_pitch": -0.22,
                "shoulder_pitch": 0.2,
                "shoulder_roll": 0.2 * outwards,
                "elbow": 0.6,
            }.items()
        },
    ),
}
