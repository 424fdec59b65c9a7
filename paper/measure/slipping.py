"""A block pushed harder than friction holds: how its anchor catches up, by the continuous law and in the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.contact.surfaces import HalfSpace
from exposim.robots.loading import load_robot
from exposim.robots.robot import ContactPoint, Robot
from exposim.simulation.integrators import Expo
from exposim.simulation.simulator import Simulator

MASS, MU, GRAVITY = 2.0, 1.0, 9.81
PUSH = 2.0  # horizontal force over the greatest friction force


def slip_by_continuous_law(stiffness: float, damping: float, duration: float, dt: float) -> tuple[Array, Array]:
    """Time since slipping starts [s], and anchor minus point velocity [m/s], by the differential equations.

    While it sticks the anchor rests; while it slips the anchor moves so that the force stays on the cone:
    K (p₀ − p) + B (ṗ₀ − ṗ) = −μλ_n, which gives ṗ₀. Classical Runge-Kutta.
    """
    limit = MU * MASS * GRAVITY
    push = PUSH * limit

    def trial(x: Array) -> float:
        return float(stiffness * (x[2] - x[0]) - damping * x[1])

    def anchor_velocity(x: Array) -> float:
        return float(x[1] + (-limit - stiffness * (x[2] - x[0])) / damping)

    def sticking(x: Array) -> Array:
        return np.array([x[1], (push + trial(x)) / MASS, 0.0])

    def slipping(x: Array) -> Array:
        return np.array([x[1], (push - limit) / MASS, anchor_velocity(x)])

    x = np.zeros(3)  # position and velocity of the point, position of the anchor
    while trial(after := _runge_kutta(sticking, x, dt)) > -limit:
        x = after
    x = _runge_kutta(sticking, x, dt * (trial(x) + limit) / (trial(x) - trial(after)))  # just onto the cone
    steps = round(duration / dt)
    difference = np.zeros(steps + 1)
    for k in range(steps + 1):
        difference[k] = anchor_velocity(x) - x[1]
        x = _runge_kutta(slipping, x, dt)
    return dt * np.arange(steps + 1.0), difference


def slip_in_simulator(stiffness: float, damping: float, duration: float, dt: float) -> tuple[Array, Array]:
    """The same of the simulator, with a step so small that only the law matters; first the last instant that sticks."""
    robot = _block()
    ground = HalfSpace(Material(stiffness, damping, MU))
    sim = Simulator(robot, ground, Expo(), dt)
    weight = MASS * GRAVITY
    sim.reset([0.0, 0.0, -weight / stiffness])
    push = [PUSH * MU * weight, 0.0, 0.0]
    before = 0.0
    while not sim.contacts[0].slipping:
        before = -float(sim.v[0])  # the anchor of a sticking contact rests
        sim.step(push)
    steps = round(duration / dt)
    difference = np.full(steps + 1, before)
    for k in range(1, steps + 1):
        # The anchor of a contact that slips goes along with the point.
        anchor_velocity = sim.velocities[0, 0] if sim.slipping[0] else 0.0
        difference[k] = anchor_velocity - sim.v[0]
        sim.step(push)
    return dt * np.arange(steps + 1.0), difference


def _block() -> Robot:
    """A mass that moves along three axes, with one contact point."""
    model = pin.Model()
    model.name = "block"
    joint = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "translation")
    model.appendBodyToJoint(joint, pin.Inertia(MASS, np.zeros(3), 1e-3 * np.eye(3)), pin.SE3.Identity())
    model.addFrame(pin.Frame("tip", joint, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    return load_robot(model, contact_points=[ContactPoint("tip")])


def _runge_kutta(f: Any, x: Array, dt: float) -> Array:
    k1 = f(x)
    k2 = f(x + dt / 2 * k1)
    k3 = f(x + dt / 2 * k2)
    k4 = f(x + dt * k3)
    moved: Array = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return moved
