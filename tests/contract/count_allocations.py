"""Run under count_allocations.c: allocations until now, in few, and in many steps with the same contacts."""

import ctypes
import sys

import numpy as np

import exposim as xs

FEW, MANY = 2, 502


def main(integrator, material, drive=None):
    count = ctypes.CDLL(None).allocation_count
    count.restype = ctypes.c_long
    robot = xs.load_robot("solo12")
    if drive is not None:
        robot = robot.replace(drives=drive, joint_friction=0.02, joint_damping=1e-3)
    sim = xs.Simulator(robot, xs.HalfSpace(material), integrator, dt=1e-6)
    q = robot.q0
    q[2] -= 1e-4
    sim.reset(q, np.r_[0.2, 0.1, np.zeros(16)])  # four feet down, slipping at first
    tau = np.zeros(18)
    sim.step(tau, n=100)
    assert sim.state.active.all()

    counts = [count()]
    for n in (FEW, MANY):
        before = count()
        sim.step(tau, n=n)
        counts.append(count() - before)
    assert sim.state.active.all()
    print(*counts)


names = {name: getattr(xs, name) for name in xs.__all__}
main(*(eval(argument, names) for argument in sys.argv[1:]))
