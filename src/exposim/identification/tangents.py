"""Differences of many configurations at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from exposim._checks import Array

SMALL = 1e-6  # of an angle [rad], below which series take the place of quotients


class Tangents:
    """The tangent space of configurations, as Pinocchio has it.

    Args:
        model: Of Pinocchio.
    """

    def __init__(self, model: Any):
        self._model = model
        joints = model.joints[1:]
        plain = [joint for joint in joints if joint.nq == joint.nv == 1]
        free = [joint for joint in joints if joint.shortname() == "JointModelFreeFlyer"]
        self._q = np.array([joint.idx_q for joint in plain], dtype=int)
        self._v = np.array([joint.idx_v for joint in plain], dtype=int)
        self._free = [(joint.idx_q, joint.idx_v) for joint in free]
        self._known = len(plain) + len(free) == len(joints)

    def difference(self, start: Array, end: Array) -> Array:
        """From one to the other, (..., nv), of (..., nq)."""
        shape = np.broadcast_shapes(start.shape, end.shape)
        found = np.empty((*shape[:-1], self._model.nv))
        if not self._known:
            start, end = np.broadcast_to(start, shape), np.broadcast_to(end, shape)
            for at in np.ndindex(shape[:-1]):
                found[at] = pin.difference(self._model, start[at], end[at])
            return found
        found[..., self._v] = end[..., self._q] - start[..., self._q]
        for q, v in self._free:
            of_one = (*shape[:-1], 7)
            placements = (np.broadcast_to(each[..., q : q + 7], of_one) for each in (start, end))
            found[..., v : v + 6] = _of_placements(*placements)
        return found

    def integrate(self, q: Array, dq: Array) -> Array:
        """One configuration, moved."""
        return np.asarray(pin.integrate(self._model, q, dq))


def _of_placements(start: Array, end: Array) -> Array:
    """log(M₀⁻¹ M₁), (..., 6), of positions and quaternions (x, y, z, w), (..., 7)."""
    u, w = start[..., 3:6], start[..., 6:7]
    other, other_w = end[..., 3:6], end[..., 6:7]
    turn = w * other - other_w * u - _cross(u, other)
    cosine = w * other_w + np.sum(u * other, axis=-1, keepdims=True)
    turn, cosine = np.where(cosine < 0.0, -turn, turn), np.abs(cosine)
    sine = np.linalg.norm(turn, axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, cosine)
    small = angle < SMALL
    safe = np.where(small, 1.0, angle)
    omega = turn * np.where(small, 2.0, angle / np.where(small, 1.0, sine))
    moved = end[..., :3] - start[..., :3]
    across = _cross(u, moved)
    moved = moved - 2.0 * w * across + 2.0 * _cross(u, across)  # as the first body sees it
    # V⁻¹ = 1 − ω×/2 + (1 − θ/2 cot θ/2) (ω×)²/θ²
    beta = np.where(small, 1.0 / 12.0, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    turned = _cross(omega, moved)
    return np.concatenate([moved - 0.5 * turned + beta * _cross(omega, turned), omega], axis=-1)


def _cross(a: Array, b: Array) -> Array:
    """Of vectors of the same shape, (..., 3); numpy.cross takes several times as long."""
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    found = np.empty(a.shape)
    found[..., 0] = y * b[..., 2] - z * b[..., 1]
    found[..., 1] = z * b[..., 0] - x * b[..., 2]
    found[..., 2] = x * b[..., 1] - y * b[..., 0]
    return found
