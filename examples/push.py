"""A scenario of one's own, for `exposim run examples/push.py`: a Go2 keeps its balance while it is pushed."""

import numpy as np
import pinocchio as pin

import exposim as xs
from exposim.controllers.tasks import CentreOfMass, FramePose, Posture
from exposim.scenarios import Judgement, Scenario, judge_upright


def scenario(push: float = 40.0) -> Scenario:
    """Pushed sideways for a fifth of a second with a force of `push` [N]."""
    robot = xs.load_robot("go2")
    com = np.array(pin.centerOfMass(robot.model, robot.model.createData(), robot.q0))
    level = pin.XYZQUATToSE3(robot.q0[:7])
    tasks = [CentreOfMass(com), FramePose("base", level, "orientation"), Posture(weight=1e-4)]

    def judge(trajectory: xs.Trajectory) -> Judgement:
        swayed = np.abs(trajectory.q[:, 1] - trajectory.q[0, 1])
        complaints = () if swayed[-1] < 0.01 else ("did not come back",)
        return judge_upright(trajectory) + Judgement({"swayed by [m]": float(swayed.max())}, complaints)

    return Scenario(
        name="push",
        robot=robot,
        make_controller=lambda: xs.controllers.InverseDynamics(robot, tasks),
        control_period=0.01,
        duration=2.0,
        disturbance=lambda t: {"base": [0, push, 0, 0, 0, 0]} if 0.5 <= t < 0.7 else {},
        judge=judge,
    )


if __name__ == "__main__":
    pushed = scenario()
    print(pushed.judge(pushed.run()))
