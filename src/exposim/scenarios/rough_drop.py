"""Any robot falls on rough ground, and may touch it with all of its body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from exposim import _checks
from exposim.contact.surfaces import surfaces_of
from exposim.robots.robot import Robot
from exposim.scenarios.drop import falling_robot, posture_drives
from exposim.scenarios.measures import Judgement, centre_of_mass
from exposim.scenarios.scenario import Scenario
from exposim.simulation.trajectory import Trajectory
from exposim.terrain import rough

STEP = 5e-3  # [s]
SIZE = 6.0  # [m] of the rough ground
# Of the centre of mass at the end [m/s]: one that lies still, but for arms and legs that settle.
AT_REST = 0.1


def scenario(
    robot: str = "go2",
    contacts: Sequence[str] | Mapping[str, float] = (),
    height: float = 0.3,
    amplitude: float = 0.08,
    seed: int = 0,
    limp: bool = False,
) -> Scenario:
    """A robot dropped from above its standing height.

    Args:
        robot: A known robot's name, or the path of a URDF or MJCF file.
        contacts: Frames whose origins may touch the ground, or the radius [m] of a ball around each; by default points
            all over its collision geometry.
        height: Of the fall, to the highest bump [m].
        amplitude: Of the highest bump or deepest hollow [m].
        seed: Which ground.
        limp: Whether its joints are without drives; else they hold their posture.
    """
    dropped = falling_robot(robot, contacts, "auto")
    ground = rough(SIZE, amplitude, seed)
    q0 = dropped.q0
    q0[2] += _checks.number("height", height, "[m]", least=0.0) + amplitude
    if _checks.flag("limp", limp):
        dropped = dropped.replace(drives=False)
    elif not dropped.drives:
        dropped = dropped.replace(drives=posture_drives(dropped))
    how = "limp" if limp else "joints held by drives"
    return Scenario(
        name="rough-drop",
        description=f"{dropped.name} dropped from {height:g} m on rough ground, ±{100 * amplitude:g} cm, {how}",
        robot=dropped,
        make_controller=None,
        control_period=STEP,
        ground=ground,
        duration=4.0,
        q0=q0,
        judge=lambda trajectory: judge(dropped, trajectory),
    )


def judge(robot: Robot, trajectory: Trajectory) -> Judgement:
    """Whether it comes to rest, and sinks nowhere deeper than all of its fall could press one point."""
    complaints = []
    if (diverged_at := trajectory.outcome.diverged_at) is not None:
        complaints.append(f"diverged at {diverged_at:.4g} s")
    surfaces = surfaces_of(trajectory.settings.ground)
    points = trajectory.position.reshape(-1, 3)
    gaps = np.min([surface.distance(points) for surface in surfaces], axis=0)
    depth = -gaps.reshape(trajectory.position.shape[:2])
    when, which = np.unravel_index(int(np.argmax(depth)), depth.shape)
    deepest = float(depth[when, which])
    com = centre_of_mass(robot, trajectory)
    fallen = float(com[0, 2] - com[:, 2].min())
    mass = sum(body.mass for body in robot.model.inertias)
    stiffness = min(float(np.ravel(surface.material.stiffness)[0]) for surface in surfaces)
    most = np.sqrt(2.0 * mass * 9.81 * fallen / stiffness)  # ½ K x² = m g h, of one spring for all of the robot
    if deepest > most:
        complaints.append(
            f"{trajectory.contact_names[which]} sank by {1e3 * deepest:.1f} mm at {trajectory.t[when]:.3g} s, "
            f"more than the {1e3 * most:.1f} mm to which its fall could press it"
        )
    recent = max(1, round(0.1 / trajectory.settings.dt))
    speed = float("nan")
    if len(trajectory) > recent:
        speed = float(np.linalg.norm(com[-1] - com[-1 - recent]) / (trajectory.t[-1] - trajectory.t[-1 - recent]))
    if trajectory.t[-1] > 3.0 and speed > AT_REST:
        complaints.append(f"still moves at {speed:.2f} m/s")
    return Judgement({"deepest [m]": deepest, "fallen [m]": fallen, "speed at the end [m/s]": speed}, tuple(complaints))
