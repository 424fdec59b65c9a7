"""Draws docs/images/drives.png: a landing on drives at large steps, beside the truth and torques that are held.

Run: python tools/make_drives_plot.py [--output docs/images/drives.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import exposim as xs

JOINT = "FL_calf_joint"
KP, KD = 100.0, 5.0
HEIGHT = 0.1  # [m]
SECONDS = 0.4
STEP = 5e-3
TRUTH_STEP = 5e-6
BLUE, ORANGE = "#0072B2", "#D55E00"


def landing(robot: xs.Robot, integrator: xs.Integrator, dt: float, every: int, is_held: bool) -> dict[str, np.ndarray]:
    """Time, angle and torque of the joint; the torque is the mean over each interval, at its middle."""
    sim = xs.Simulator(robot, xs.HalfSpace(), integrator, dt, on_divergence="stop")
    pd = xs.controllers.PD(robot, KP, KD)
    q = robot.q0
    q[2] += HEIGHT
    sim.reset(q)
    in_q = robot.model.joints[robot.model.getJointId(JOINT)].idx_q
    in_torques = robot.actuated_joints.index(JOINT)
    times, angles, torques = [0.0], [sim.q[in_q]], []
    while sim.t < SECONDS - 1e-9 and not sim.diverged:
        given = []
        for _ in range(every):
            sim.step(pd(sim.t, sim.state) if is_held else None)
            given.append(sim.torques[in_torques])
        times.append(sim.t)
        angles.append(sim.q[in_q])
        torques.append(np.mean(given))
    return {"t": np.array(times), "angle": np.array(angles), "torque": np.array(torques)}


def shown(values: np.ndarray) -> tuple[float, float]:
    """The range of an axis."""
    low, high = values.min(), values.max()
    return low - 0.3 * (high - low), high + 0.3 * (high - low)


def draw(runs: dict[str, tuple[dict[str, np.ndarray], dict[str, object]]]) -> Figure:
    """Angle above torque; the first is the truth."""
    figure = Figure(figsize=(8.4, 4.4), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    truth = next(iter(runs.values()))[0]
    for name, (run, look) in runs.items():
        middles = 0.5 * (run["t"][1:] + run["t"][:-1])
        for axes, times, what in ((above, run["t"], "angle"), (below, middles, "torque")):
            low, high = shown(truth[what])
            outside = np.flatnonzero((run[what] < low) | (run[what] > high))
            end = outside[0] + 1 if outside.size else len(times)
            axes.plot(1e3 * times[:end], run[what][:end], label=name, **look)
    for axes, what in ((above, "angle"), (below, "torque")):
        axes.set_ylim(shown(truth[what]))
        axes.spines[["top", "right"]].set_visible(False)
    above.set_ylabel("knee [rad]")
    below.set(ylabel="its torque [N·m]", xlabel="time [ms]", xlim=(60.0, 1e3 * SECONDS))
    above.set_title(f"Go2 dropped from 10 cm, kp = {KP:g}, kd = {KD:g}", fontsize=10)
    above.legend(frameon=False, fontsize=8, loc="lower right")
    return figure


def main() -> None:
    """Computes and draws."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("docs/images/drives.png"))
    output = parser.parse_args().output
    robot = xs.load_robot("go2").replace(effort_limits=False)
    driven = robot.replace(drives=xs.Drive(KP, KD))
    runs = {
        "truth: RK4, 5 µs": (
            landing(driven, xs.RungeKutta4(), TRUTH_STEP, 100, False),
            {"color": "0.3", "lw": 1.2},
        ),
        f"drive, steps of {1e3 * STEP:g} ms": (
            landing(driven, xs.Expo(), STEP, 1, False),
            {"color": BLUE, "lw": 0.0, "marker": "o", "ms": 4.0},
        ),
        f"PD held for {1e3 * STEP:g} ms": (
            landing(robot, xs.Expo(), STEP, 1, True),
            {"color": ORANGE, "lw": 1.0, "ls": "--", "marker": "x", "ms": 4.0},
        ),
    }
    for name, (run, _) in runs.items():
        print(f"{name}: until {1e3 * run['t'][-1]:.0f} ms, knee at {run['angle'][-1]:.3f} rad")
    output.parent.mkdir(parents=True, exist_ok=True)
    draw(runs).savefig(output, dpi=140)


if __name__ == "__main__":
    main()
