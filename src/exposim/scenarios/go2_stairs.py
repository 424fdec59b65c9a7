"""Go2 walks up stairs and down again, one foot at a time, by inverse dynamics."""

from __future__ import annotations

from functools import partial

import numpy as np

from exposim import _checks
from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.robots.loading import load_robot
from exposim.robots.robot import Robot
from exposim.scenarios.crawling import Crawl, follow, stance
from exposim.scenarios.measures import Judgement, judge_upright
from exposim.scenarios.scenario import Scenario
from exposim.scenarios.standing import pressed_into_ground
from exposim.simulation.trajectory import Trajectory
from exposim.terrain import stairs

CONTROL_PERIOD = 5e-3  # [s]
RUN, STEPS, LANDING = 0.3, 3, 0.6  # depth of a tread [m], how many, length of the level ground on top [m]
START = 0.35  # [m] from the middle of the robot to the first riser
MARGIN = 0.06  # [m] between a foothold and a riser
STRIDE = 0.2  # [m]
CROUCH = 0.03  # [m] for legs to reach down a step


def scenario(rise: float = 0.08) -> Scenario:
    """Starts and ends standing on level ground.

    Args:
        rise: Height of a step [m].
    """
    rise = _checks.number("rise", rise, "[m]", above=0.0)
    robot, material = load_robot("go2"), Material()
    way = Way(rise)
    walk = crawl(robot, way)
    return Scenario(
        name="go2-stairs",
        description=f"Go2 crawls up and down {STEPS} steps of {100 * rise:g} cm: inverse dynamics on footholds",
        robot=robot,
        make_controller=lambda: follow(robot, walk, "base"),
        control_period=CONTROL_PERIOD,
        ground=stairs(rise, RUN, STEPS, down=True, landing=LANDING, position=(START, 0.0, 0.0), material=material),
        q0=pressed_into_ground(robot, material),
        duration=walk.end + 0.5,
        judge=lambda trajectory: judge(walk, way, trajectory),
    )


class Way:
    """The stairs as feet see them: levels with risers in between.

    Args:
        rise: Height of a step [m].
    """

    def __init__(self, rise: float):
        up = START + RUN * np.arange(STEPS)
        self.risers = np.concatenate([up, (up[-1] + LANDING) + RUN * np.arange(STEPS)])
        self._levels = rise * np.concatenate([np.arange(STEPS + 1), np.arange(STEPS)[::-1]])

    def height(self, x: float) -> float:
        """Of the ground [m]."""
        return float(self._levels[np.searchsorted(self.risers, x)])

    def tread(self, foot: Array) -> Array:
        """Where a foot touches the ground whose centre is on a foothold [m], (3,)."""
        return np.array([foot[0], foot[1], self.height(foot[0])])

    def foothold(self, radius: float, x: float, y: float) -> Array:
        """Nearest to x, y that keeps away from risers: where the centre of a foot is then [m], (3,)."""
        nearest = self.risers[np.argmin(np.abs(self.risers - x))]
        if abs(x - nearest) < MARGIN:
            x = nearest + np.copysign(MARGIN, x - nearest)
        return np.array([x, y, self.height(x) + radius])


def crawl(robot: Robot, way: Way) -> Crawl:
    """From where the robot stands to where all feet are behind the last riser."""
    feet, com = stance(robot, robot.feet)
    last = way.risers[-1] + 2.0 * MARGIN
    rounds = int(np.ceil((last - min(foot[0] for foot in feet.values())) / STRIDE))
    foothold = partial(way.foothold, robot.contact_points[0].radius)
    return Crawl(feet, com, foothold, stride=STRIDE, rounds=rounds, crouch=CROUCH)


def judge(walk: Crawl, way: Way, trajectory: Trajectory) -> Judgement:
    """Whether it stayed upright, how high it climbed, and how far feet landed from their footholds."""
    complaints = []
    column = trajectory.contact_names.index
    missed = [
        (float(np.linalg.norm(trajectory.position[at, column(swing.foot)] - way.tread(swing.after[swing.foot]))), swing)
        for swing in walk.swings
        if (at := int(np.searchsorted(trajectory.t, swing.end + 0.05))) < len(trajectory)
    ]
    worst = max((off for off, _ in missed), default=0.0)
    for off, swing in missed:
        if off > 0.5 * MARGIN:
            complaints.append(f"{swing.foot} landed {100 * off:.1f} cm off its foothold at {swing.end:.3g} s")
            break
    x, z = trajectory.q[:, 0], trajectory.q[:, 2]
    climbed = float(z.max() - z[0])
    if trajectory.t[-1] >= walk.end:
        if x[-1] < way.risers[-1]:
            complaints.append(f"went {x[-1] - x[0]:.2f} m and not over the last step")
        elif abs(z[-1] - z[0]) > 0.06:
            complaints.append(f"ended {100 * (z[-1] - z[0]):.1f} cm higher than it began")
    measures = {"distance [m]": float(x[-1] - x[0]), "climbed [m]": climbed, "worst foothold [m]": worst}
    return judge_upright(trajectory) + Judgement(measures, tuple(complaints))
