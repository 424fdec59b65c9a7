"""Planar linkages whose loops are closed by springs, and what they do where the loops are closed for good."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import exposim as xs


def along(x):
    return pin.SE3(np.eye(3), np.array([x, 0.0, 0.0]))


def add_bar(model, parent, x, name, length, mass=1.0):
    """A thin rod from a hinge about y at x of its parent, with a frame at its other end."""
    joint = model.addJoint(parent, pin.JointModelRY(), along(x), name)
    moments = mass * length**2 / 12.0 * np.array([0.01, 1.0, 1.0])
    model.appendBodyToJoint(joint, pin.Inertia(mass, np.array([length / 2, 0, 0]), np.diag(moments)), along(0.0))
    model.addFrame(pin.Frame(f"{name}_end", joint, 0, along(length), pin.FrameType.OP_FRAME))
    return joint


class Linkage:
    """A tree of bars with one loop to close between the ends of two of them.

    Args:
        model: The tree.
        ends: Names of the two frames that are one.
        guess: Near a configuration in which they meet.
    """

    def __init__(self, model, ends, guess):
        self.model, self.ends = model, ends
        self.data = model.createData()
        self._frames = [model.getFrameId(end) for end in ends]
        self.q0 = self._closed(np.array(guess))

    def robot(self, **loop):
        return xs.Robot(self.model, q0=self.q0, loops=[xs.Loop(*self.ends, **loop)])

    def gap(self, q):
        pin.framesForwardKinematics(self.model, self.data, q)
        a, b = (self.data.oMf[i].translation for i in self._frames)
        return a - b

    def energy(self, q, v):
        kinetic = pin.computeKineticEnergy(self.model, self.data, q, v)
        return kinetic + pin.computePotentialEnergy(self.model, self.data, q)

    def constrained(self, duration, steps):
        """Position and velocity, by Runge and Kutta, of what has no spring but a constraint; from rest."""
        q, v, h = self.q0, np.zeros(self.model.nv), duration / steps
        for _ in range(steps):
            a1 = self._acceleration(q, v)
            v2 = v + h / 2 * a1
            a2 = self._acceleration(q + h / 2 * v, v2)
            v3 = v + h / 2 * a2
            a3 = self._acceleration(q + h / 2 * v2, v3)
            v4 = v + h * a3
            a4 = self._acceleration(q + h * v3, v4)
            q, v = q + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        return q, v

    def _acceleration(self, q, v):
        """M a + h = Jᵀ λ and J a = −J̇ v, in the plane."""
        model, data = self.model, self.data
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        h = pin.nonLinearEffects(model, data, q, v)
        pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        drift = [
            pin.getFrameClassicalAcceleration(model, data, i, pin.LOCAL_WORLD_ALIGNED).linear for i in self._frames
        ]
        J = self._jacobian(q)[[0, 2]]
        system = np.block([[M, -J.T], [J, np.zeros((2, 2))]])
        return np.linalg.solve(system, np.concatenate([-h, (drift[1] - drift[0])[[0, 2]]]))[: model.nv]

    def _jacobian(self, q):
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        a, b = (pin.getFrameJacobian(self.model, self.data, i, pin.LOCAL_WORLD_ALIGNED)[:3] for i in self._frames)
        return a - b

    def _closed(self, q):
        for _ in range(50):
            q = q - np.linalg.lstsq(self._jacobian(q), self.gap(q), rcond=1e-8)[0]
        return q


def four_bar():
    """A crank of 20 cm, a coupler and a rocker, which fall from above."""
    model = pin.Model()
    crank = add_bar(model, 0, 0.0, "crank", 0.2)
    add_bar(model, crank, 0.2, "coupler", 0.5)
    add_bar(model, 0, 0.5, "rocker", 0.4)
    return Linkage(model, ("coupler_end", "rocker_end"), [-0.3, 0.0, -1.2])


def five_bar():
    """Two arms of two bars that hold hands, and swing below their shoulders."""
    model = pin.Model()
    left = add_bar(model, 0, 0.0, "left", 0.2)
    add_bar(model, left, 0.2, "left_far", 0.4)
    right = add_bar(model, 0, 0.3, "right", 0.25)
    add_bar(model, right, 0.25, "right_far", 0.4)
    return Linkage(model, ("left_far_end", "right_far_end"), [1.2, -0.6, 0.7, 0.9])
