"""What type checkers and editors know of a ``pinocchio.Model``, which says nothing of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from exposim._checks import Array


class Model(Protocol):
    """A ``pinocchio.Model``: the members that are used most; it has all others too."""

    name: str
    nq: int
    nv: int
    njoints: int
    nbodies: int
    nframes: int
    names: Sequence[str]
    parents: Sequence[int]
    joints: Sequence[Any]
    frames: Sequence[Any]
    inertias: Sequence[Any]
    jointPlacements: Sequence[Any]
    gravity: Any
    damping: Array
    armature: Array
    lowerPositionLimit: Array
    upperPositionLimit: Array
    velocityLimit: Array
    effortLimit: Array

    def createData(self) -> Any:
        """Where Pinocchio's algorithms put what they compute."""

    def copy(self) -> Model:
        """One that can be changed without changing this one."""

    def getJointId(self, name: str, /) -> int:
        """Number of a joint; ``njoints`` if there is none of that name."""

    def getFrameId(self, name: str, /, *kinds: Any) -> int:
        """Number of a frame; ``nframes`` if there is none of that name."""

    def existJointName(self, name: str, /) -> bool:
        """Whether there is a joint of that name."""

    def existFrame(self, name: str, /, *kinds: Any) -> bool:
        """Whether there is a frame of that name."""

    def __getattr__(self, name: str) -> Any: ...
