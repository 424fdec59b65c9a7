"""Go2 walks into a crate and pushes it over the ground."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exposim import _checks
from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.contact.shapes import Box
from exposim.contact.surfaces import HalfSpace
from exposim.controllers import Together
from exposim.robots.combining import combine
from exposim.robots.contact_points import ContactPoint
from exposim.robots.loading import load_robot
from exposim.robots.rigid_bodies import rigid_body
from exposim.robots.robot import Robot
from exposim.scenarios.crawling import Crawl, follow, stance
from exposim.scenarios.measures import Judgement, forces_by_direction, judge_upright
from exposim.scenarios.scenario import Scenario
from exposim.scenarios.standing import pressed_into_ground
from exposim.simulation.trajectory import Trajectory

CONTROL_PERIOD = 5e-3  # [s]
SIZE = 0.4  # [m] of the crate
GAP = 0.1  # [m] between robot and crate at the start
STRIDE, ROUNDS = 0.16, 7  # [m] of a foot, and how often each steps
# Ahead of the trunk, so far that no foot kicks the crate, smooth balls of rubber: where they are in frame base [m].
BUMPERS = {"left": (0.37, 0.08, -0.03), "right": (0.37, -0.08, -0.03)}
BUMPER = Material(stiffness=2e4, damping=200.0, friction=0.1)
BUMPER_RADIUS = 0.03  # [m]


def scenario(mass: float = 4.0, friction: float = 0.4) -> Scenario:
    """The robot walks straight ahead, whatever is in its way.

    Args:
        mass: Of the crate [kg].
        friction: Between crate and ground; the feet have a friction of 1.
    """
    under = Material(friction=_checks.number("friction", friction, "", least=0.0))
    crate = rigid_body("crate", Box(size=(SIZE, SIZE, SIZE)), mass, material=under)
    go2, ground = with_bumpers(load_robot("go2")), HalfSpace()
    feet, com = stance(go2, _feet(go2))
    walk = Crawl(feet, com, lambda x, y: np.array([x, y, 0.022]), stride=STRIDE, rounds=ROUNDS)
    front = BUMPERS["left"][0] + BUMPER_RADIUS
    poses: dict[str, ArrayLike] = {
        "go2": pressed_into_ground(load_robot("go2"), ground.material)[:7],
        "crate": [front + GAP + 0.5 * SIZE, 0.0, crate.q0[2], 0.0, 0.0, 0.0, 1.0],
    }
    both = combine(go2=go2, crate=crate, poses=poses)
    return Scenario(
        name="push-crate",
        description=f"Go2 pushes a crate of {mass:g} kg by walking into it; friction {friction:g} under the crate",
        robot=both,
        make_controller=lambda: Together(both, go2=follow(go2, walk, "base")),
        control_period=CONTROL_PERIOD,
        ground=ground,
        collisions=[("go2", "crate")],
        duration=walk.end,
        judge=lambda trajectory: judge(both, walk, trajectory),
    )


def with_bumpers(go2: Robot) -> Robot:
    """Contact points at the front of its trunk, beside the feet; its own shapes are left out."""
    bumpers = [
        ContactPoint("base", place, f"bumper_{side}", BUMPER_RADIUS, material=BUMPER) for side, place in BUMPERS.items()
    ]
    return go2.replace(contact_points=[*go2.contact_points, *bumpers], shapes=())


def judge(robot: Robot, walk: Crawl, trajectory: Trajectory) -> Judgement:
    """How far the crate went, and with which friction the ground held it back while it slid."""
    settings = trajectory.settings
    crate = robot.members["crate"]
    at = robot.part("crate").q.start
    way = trajectory.q[:, at : at + 2] - trajectory.q[0, at : at + 2]
    friction = crate.contact_points[0].material.friction  # type: ignore[union-attr]
    weight = -settings.robot.gravity[2] * crate.model.inertias[1].mass
    sliding, held = friction_under_crate(trajectory)
    ratio = float(held[sliding].mean() / (friction * weight)) if sliding.any() else float("nan")
    complaints = []
    if trajectory.t[-1] >= walk.end - 0.5:
        least = 0.8 * (STRIDE * ROUNDS - GAP)
        if way[-1, 0] < least:
            complaints.append(f"the crate went {way[-1, 0]:.2f} m, not {least:.2f} m or more")
        if not abs(ratio - 1.0) < 0.05:
            complaints.append(f"the ground held the crate back with {ratio:.3f} times μ m g while it slid")
    measures = {
        "crate went [m]": float(way[-1, 0]),
        "crate went aside [m]": float(way[-1, 1]),
        "crate slid for [s]": float(sliding.sum() * np.diff(trajectory.t[:2])[0]),
        "friction by μ m g [-]": ratio,
    }
    return judge_upright(trajectory) + Judgement(measures, tuple(complaints))


def friction_under_crate(trajectory: Trajectory) -> tuple[NDArray[np.bool_], Array]:
    """Whether the crate slides on all corners that press, (n,), and their tangential force together [N], (n,)."""
    corners = np.array([contact.name.startswith("crate/") for contact in trajectory.contacts])
    normal, tangential = forces_by_direction(trajectory)
    pressing = corners & (normal > 0.0)
    sliding = pressing.any(axis=1) & (trajectory.slipping | ~pressing).all(axis=1)
    return np.asarray(sliding), np.where(pressing, tangential, 0.0).sum(axis=1)


def _feet(go2: Robot) -> list[str]:
    return [name for name in go2.feet if name.endswith("_foot")]
