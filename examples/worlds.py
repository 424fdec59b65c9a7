"""A world of one's own: a Go2 stands on a step while a crate slides down a slope beside it, and a ball rolls.

Run: python examples/worlds.py. More of this is in docs/worlds.md.
"""

import numpy as np

import exposim as xs

ICE = xs.Material(friction=0.1)
SLOPE = 15.0  # [degrees]


def world() -> xs.Simulator:
    """Everything in one simulator; what touches what is said by `collisions`."""
    go2 = xs.load_robot("go2").replace(drives=xs.Drive(kp=300.0, kd=10.0), shapes=[])
    crate = xs.rigid_body("crate", xs.Box(size=(0.3, 0.3, 0.3)), mass=5.0, material=ICE)
    ball = xs.rigid_body("ball", xs.Sphere(radius=0.1), mass=1.0)
    stairs = xs.terrain.stairs(rise=0.1, run=1.0, steps=1, position=(-0.5, 0.0, 0.0))
    ramp = xs.Box(size=(4.0, 2.0, 0.2), position=(0.0, 3.0, 1.0), rotation=turned(SLOPE))
    down = np.array([np.cos(np.radians(SLOPE)), 0.0, -np.sin(np.radians(SLOPE))])
    up = np.array([np.sin(np.radians(SLOPE)), 0.0, np.cos(np.radians(SLOPE))])
    on_ramp = np.array([0.0, 3.0, 1.0]) - 1.5 * down
    standing = go2.q0[:7]
    standing[[0, 2]] += 0.1  # on the step
    poses = {
        "go2": standing,
        "crate": [*(on_ramp + 0.25 * up), *turned(SLOPE)],
        "ball": [*(on_ramp + 0.2 * up + [0.0, 0.6, 0.0]), 0.0, 0.0, 0.0, 1.0],
    }
    everything = xs.combine(go2=go2, crate=crate, ball=ball, poses=poses)
    return xs.Simulator(everything, [stairs, ramp], dt=5e-3, collisions="all")


def turned(degrees: float) -> tuple[float, float, float, float]:
    """About y, as a quaternion x, y, z, w."""
    half = np.radians(degrees) / 2.0
    return (0.0, float(np.sin(half)), 0.0, float(np.cos(half)))


if __name__ == "__main__":
    sim = world()
    part = {name: sim.robot.part(name).q.start for name in sim.robot.members}
    start = {name: sim.q[at : at + 3] for name, at in part.items()}
    sim.step(n=100)
    g, angle, t = 9.81, np.radians(SLOPE), sim.t
    expected = {
        "go2": 0.0,
        "crate": 0.5 * g * (np.sin(angle) - ICE.friction * np.cos(angle)) * t**2,  # slides
        "ball": 0.5 * 5.0 / 7.0 * g * np.sin(angle) * t**2,  # rolls
    }
    for name, at in part.items():
        went = np.linalg.norm(sim.q[at : at + 2] - start[name][:2]) / (1.0 if name == "go2" else np.cos(angle))
        print(f"{name:6} went {went:.3f} m in {t:g} s, should {expected[name]:.3f} m")
