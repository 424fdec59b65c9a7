"""Five boxes, dropped a little onto each other, come to rest as a stack."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from exposim import _checks
from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.contact.shapes import Box
from exposim.contact.surfaces import HalfSpace
from exposim.robots.combining import combine
from exposim.robots.rigid_bodies import rigid_body
from exposim.scenarios.measures import Judgement, judge_upright
from exposim.scenarios.scenario import Scenario
from exposim.simulation.collisions import in_series
from exposim.simulation.trajectory import Trajectory

SIZE = 0.2  # [m] of a box
MASS = 1.0  # [kg]
STEP = 5e-3  # [s]
MATERIAL = Material(stiffness=1e5, damping=300.0, friction=0.6)
CORNERS = 4  # of a box, on which it stands
# What a stack at rest may do: move within its last second, and stand higher or lower than its springs say [m].
CREEP, OFF = 1e-6, 1e-5


def scenario(boxes: int = 5, gap: float = 0.01) -> Scenario:
    """Boxes above each other that fall, the lowest one first.

    Args:
        boxes: How many.
        gap: Under each of them at the start [m].
    """
    boxes = _checks.count("boxes", boxes)
    gap = _checks.number("gap", gap, "[m]", least=0.0)
    box = rigid_body("box", Box(size=(SIZE, SIZE, SIZE), material=MATERIAL), MASS)
    names = [f"box{i + 1}" for i in range(boxes)]
    poses = {name: [0.0, 0.0, (i + 0.5) * SIZE + (i + 1) * gap, 0.0, 0.0, 0.0, 1.0] for i, name in enumerate(names)}
    robot = combine(poses=poses, **dict.fromkeys(names, box)).replace(name="boxes")
    return Scenario(
        name="stack",
        description=f"{boxes} boxes of {MASS:g} kg fall onto each other by {100 * gap:g} cm each and come to rest",
        robot=robot,
        make_controller=None,
        control_period=STEP,
        ground=HalfSpace(MATERIAL),
        collisions=tuple(pairwise(names)),
        duration=3.0,
        judge=judge,
    )


def judge(trajectory: Trajectory) -> Judgement:
    """Whether the boxes stand still in the last second, as high as their weight and the springs between them say."""
    judgement = judge_upright(trajectory)
    poses = trajectory.q.reshape(len(trajectory), -1, 7)
    last = trajectory.t >= trajectory.t[-1] - 1.0
    creep = float(np.abs(poses[last] - poses[-1]).max())
    height = poses[-1, :, 2]
    off = float(np.abs(height - resting_heights(trajectory)).max())
    complaints = []
    if trajectory.t[-1] > 2.0:  # it has had the time
        if creep > CREEP:
            complaints.append(f"crept by {1e6 * creep:.3g} µm in the last second")
        if off > OFF:
            box = int(np.argmax(np.abs(height - resting_heights(trajectory)))) + 1
            complaints.append(f"box {box} ended {1e3 * off:.3g} mm from where the springs would hold it")
    measures = {"creep in the last second [m]": creep, "off the springs' height [m]": off}
    return judgement + Judgement(measures | {"height of the top box [m]": float(height[-1])}, tuple(complaints))


def resting_heights(trajectory: Trajectory) -> Array:
    """Of the middle of each box [m], lowest first: every joint between two carries what is above it."""
    settings = trajectory.settings
    count = len(settings.robot.member_names)
    materials = [settings.ground[0].material] + [in_series(MATERIAL, MATERIAL)] * (count - 1)
    weight = -settings.robot.gravity[2] * MASS * np.arange(count, 0, -1)
    # Above the ground the corners of both boxes press on the other's face.
    points = CORNERS * np.array([1.0] + [2.0] * (count - 1))
    give = weight / (points * [float(np.ravel(each.stiffness)[0]) for each in materials])
    heights: Array = SIZE * (np.arange(count) + 0.5) - np.cumsum(give)
    return heights
