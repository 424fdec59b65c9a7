"""Solo12 dropped on hard ground (K = 1e5 N/m): Expo at 5 ms beside explicit schemes at the same step.

Run: python examples/drop.py. The command line does the same, with plots:
exposim compare drop --integrators expo,explicit-euler,semi-implicit-euler --dt 5ms
"""

import exposim as xs
from exposim.scenarios import Scenario

INTEGRATORS = (xs.Expo(), xs.ExplicitEuler(), xs.SemiImplicitEuler())


def drop(height: float = 0.1) -> Scenario:
    """Falls from `height` [m] above standing; joint springs hold the posture."""
    robot = xs.load_robot("solo12")
    q0 = robot.q0
    q0[2] += height
    return Scenario(
        name="drop",
        robot=robot,
        make_controller=lambda: xs.controllers.PD(robot, kp=8.0, kd=0.1),
        control_period=5e-3,
        duration=1.5,
        ground=xs.HalfSpace(material=xs.Material(stiffness=1e5, damping=300.0, friction=1.0)),
        q0=q0,
    )


if __name__ == "__main__":
    for integrator in INTEGRATORS:
        trajectory = drop().run(integrator)
        diverged_at = trajectory.outcome.diverged_at
        end = f"stands at {trajectory.q[-1, 2]:.3f} m" if diverged_at is None else f"diverges at {diverged_at:.3f} s"
        print(f"{type(integrator).__name__:20} {end}")
