"""Instructions per step, which do not mind a busy machine: python benchmarks/instructions.py (needs valgrind)."""

import os
import re
import subprocess
import sys

import numpy as np

import exposim as xs

FEW, MANY = 20, 100


def moving(case: str) -> tuple[xs.Simulator, np.ndarray]:
    """A simulator on its way, and torques to hold."""
    name, doing = case.split()
    robot = xs.load_robot(name)
    if name == "romeo":
        robot = robot.replace(armature=0.1)
    gains = (300.0, 5.0) if name == "romeo" else (5.0, 0.05)
    sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(friction=0.1 if doing == "slipping" else 1.0)), dt=1e-3)
    v = np.r_[np.zeros(6), 0.05 * np.sin(np.arange(robot.nv - 6))]
    sim.reset(robot.q0, np.r_[2.0, 1.0, np.zeros(robot.nv - 2)] if doing == "slipping" else v)
    if doing == "driven":  # the same torques, given by drives
        sim = xs.Simulator(robot.replace(drives=xs.Drive(*gains)), xs.HalfSpace(xs.Material(friction=1.0)), dt=1e-3)
        sim.reset(robot.q0, v)
        sim.step(n=20)
        return sim, np.zeros(len(robot.actuated_dofs))
    controller = xs.controllers.PD(robot, *gains)
    for _ in range(10):
        sim.step(controller(sim.t, sim.state), n=2)
    return sim, controller(sim.t, sim.state)


def count(case: str, steps: int) -> int:
    """Instructions of a process that takes so many steps."""
    command = [
        "valgrind",
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        sys.executable,
        __file__,
        case,
        str(steps),
    ]
    environment = os.environ | {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    output = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stderr
    found = re.search(r"Collected : (\d+)", output)
    assert found, output
    return int(found[1])


def main() -> None:
    for case in ("solo12 standing", "solo12 driven", "solo12 slipping", "romeo standing", "romeo driven"):
        per_step = (count(case, MANY) - count(case, FEW)) / (MANY - FEW)
        print(f"{case:20} {per_step:10.0f} instructions per step")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        simulator, torques = moving(sys.argv[1])
        simulator.step(torques, n=int(sys.argv[2]))
    else:
        main()
