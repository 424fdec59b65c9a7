"""How a simulation diverged, and what helps."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from exposim import _core
from exposim.errors import SimulationDiverged
from exposim.robots.robot import Robot
from exposim.simulation.integrators import Expo, Integrator, PaperExpo
from exposim.simulation.layout import Layout
from exposim.simulation.state import State

# Velocities beyond this [rad/s, m/s] count as divergence.
MAX_VELOCITY: float = _core.MAX_VELOCITY


def describe(
    found: _core.Divergence,
    robot: Robot,
    layout: Layout,
    integrator: Integrator,
    dt: float,
    dump: Path | str | None = None,
) -> SimulationDiverged:
    """An error that names the joints that went wrong, and the file of a flight recorder, or why there is none."""
    bad_q = ~np.isfinite(found.q)
    bad_v = ~(np.abs(found.v) < MAX_VELOCITY)  # also true for NaN
    joints = robot.joints_of(bad_q, bad_v)
    advice = (
        "take a smaller dt; if a light joint went first, its controller may hold torques for too long: give the gains "
        "as drives (robot.replace(drives=...)), or lower them, or give it armature"
    )
    if isinstance(integrator, PaperExpo):
        advice = (
            "take a smaller dt; if a light joint went first, lower its gains or joint damping, which the paper's "
            "method integrates explicitly, or take Expo()"
        )
    elif not isinstance(integrator, Expo):
        advice = f"{type(integrator).__name__} needs a smaller dt than {dt:g} s here, or take Expo()"
    return SimulationDiverged(found.t, found.step, joints, State._of(found.start, layout), advice, dump)
