"""Run under count_allocations.c: allocations until now, and in rollouts of few and of many steps."""

import ctypes

import numpy as np

import exposim as xs


def main():
    count = ctypes.CDLL(None).allocation_count
    count.restype = ctypes.c_long
    robot = xs.load_robot("solo12").replace(drives=xs.Drive(5.0, 0.1, delay=2e-6))
    pool = xs.Rollout(xs.Simulator(robot, xs.HalfSpace(), dt=1e-6), threads=1)
    q = robot.q0
    q[2] -= 1e-4
    x = pool.reset(np.tile(q, (2, 1)), np.r_[0.2, 0.1, np.zeros(16)])
    pool.vary(slice(2), friction=[0.3, 0.4])
    policies = (
        xs.LinearPolicy(np.full((12, 36), 1e-3), robot.q0),
        xs.MLP([np.full((12, 15), 1e-3)], [np.zeros(12)], observation=("gravity", "joint_positions"), hold=2),
    )
    for policy in policies:
        counts = []
        push = {"base_link": np.zeros(6)}
        for steps in (300, 300, 300, 708):  # the first make what later ones work in
            before = count()
            pool(x, targets=robot.q0[7:], wrenches=push, policy=policy, steps=steps, every=steps)
            counts.append(count() - before)
        print(count(), *counts[-2:])


main()
