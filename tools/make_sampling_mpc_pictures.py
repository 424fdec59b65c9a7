"""Draws docs/images/sampling_mpc.png and sampling_mpc_plan.png: a Go2 that plans while it is pushed, and on its way.

Run: python tools/make_sampling_mpc_pictures.py [--folder docs/images]
"""

from __future__ import annotations

import argparse
import runpy
from pathlib import Path

import numpy as np
import pinocchio as pin
from matplotlib.figure import Figure
from PIL import Image

import exposim as xs

ROOT = Path(__file__).parents[1]
EXAMPLE = runpy.run_path(str(ROOT / "examples" / "sampling_mpc.py"))
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "0.6"
PUSHES = [(0.5, 1.0, 0.0), (2.0, 1.25, np.pi / 2.0), (3.5, 1.5, np.pi)]  # when [s], how hard [m/s], whither [rad]
ARROWS = ("→ forward", "↑ left", "← backward")
GOAL = (1.0, 0.0)


def curves(axes, runs, labels) -> None:
    """Height, tilt and way of runs, one above the other."""
    for done, label, colour in zip(runs, labels, (BLUE, GREY), strict=False):
        t, q = np.array(done.t), np.array(done.q)
        tilt = np.degrees(np.arccos(np.clip(EXAMPLE["upright"](q), -1.0, 1.0)))
        axes[0].plot(t, q[:, 2], color=colour, label=label)
        axes[1].plot(t, tilt, color=colour)
        axes[2].plot(t, q[:, 0], color=colour, label="x")
        axes[2].plot(t, q[:, 1], color=colour, ls="--", label="y")
        if done.fell:
            axes[0].plot(t[-1], q[-1, 2], "x", color="black", ms=7)
            axes[0].annotate("fell", (t[-1], q[-1, 2]), (6, -3), textcoords="offset points", fontsize=8.5)
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
        each.grid(True, axis="y", color="0.92", lw=0.6)
        each.tick_params(labelsize=8.5)
    axes[-1].set_xlabel("time [s]", fontsize=9.5)


def plot(path: Path, pushed, held, walked) -> None:
    """Pushes on the left, the walk on the right."""
    figure = Figure(figsize=(9.0, 5.4), layout="constrained")
    axes = figure.subplots(3, 2, sharex="col", sharey="row")
    curves(axes[:, 0], [pushed, held], ["plans by sampling", "drives hold the posture"])
    curves(axes[:, 1], [walked], ["plans by sampling"])
    for (start, speed, _), arrow in zip(PUSHES, ARROWS, strict=True):
        for each in axes[:, 0]:
            each.axvspan(start, start + EXAMPLE["PUSHING"], color=ORANGE, alpha=0.3, lw=0)
        axes[0, 0].text(start + 0.14, 0.385, f"{speed:g} m/s {arrow}", fontsize=8, color=ORANGE, va="top")
    axes[2, 1].axhline(GOAL[0], color=ORANGE, lw=0.8)
    axes[2, 1].text(0.05, GOAL[0] + 0.03, "goal", fontsize=8, color=ORANGE)
    axes[0, 0].set_ylim(0.1, 0.39)
    axes[1, 0].set_ylim(0.0, 50.0)
    axes[2, 0].set_ylim(-0.7, 1.25)
    for each, label in zip(axes[:, 0], ("height [m]", "tilt [°]", "place [m]"), strict=True):
        each.set_ylabel(label, fontsize=9.5)
    axes[0, 0].legend(fontsize=8, frameon=False, loc="lower right")
    axes[2, 1].legend(fontsize=8, frameon=False, loc="center right")
    axes[0, 0].set_title("pushed three times", loc="left", fontsize=9.5)
    axes[0, 1].set_title("to a point 1 m ahead", loc="left", fontsize=9.5)
    figure.savefig(path, dpi=130)


def paths_of_feet(robot: xs.Robot, configurations: list[np.ndarray]) -> np.ndarray:
    """Of every foot, (4, n, 3) [m]."""
    model, data = robot.model, robot.model.createData()
    places = []
    for q in configurations:
        pin.framesForwardKinematics(model, data, q)
        places.append([data.oMf[model.getFrameId(foot)].translation.copy() for foot in robot.feet])
    return np.swapaxes(places, 0, 1)


def picture(path: Path) -> None:
    """On its way (blue), with the plan of base and feet (orange) and other attempts (pink)."""
    sim, mpc = EXAMPLE["simulator"](), EXAMPLE["planner"](EXAMPLE["GoTo"](GOAL))
    seen = []
    cost = mpc.cost
    mpc.cost = lambda tried: (seen.append(tried.q), cost(tried))[1]
    done = EXAMPLE["run"](sim, mpc, 1.5)
    plan = mpc.plan(sim.state)
    camera = xs.viewer.Camera((1.15, -1.2, 0.8), (0.55, 0.0, 0.15), 40.0)
    renderer = xs.viewer.Renderer(sim, 900, 520, camera=camera, forces=False)
    flat = np.array([1.0, 1.0, 0.0])  # onto the ground, where they are seen
    for i, tried in enumerate(seen[-1][6::2]):
        line = np.vstack([sim.q[:3], tried[:, :3]]) * flat + [0.0, 0.0, 0.004]
        renderer.draw(f"tried-{i}", line, colour=(0.8, 0.55, 0.75))
    renderer.draw("plan", np.vstack([sim.q[:3], plan.q[:, :3]]) * flat + [0.0, 0.0, 0.012])
    for foot, way in zip(sim.robot.feet, paths_of_feet(sim.robot, [sim.q, *plan.q]), strict=True):
        renderer.draw(foot, way)
    renderer.draw("way", np.array([q[:3] for q in done.q[::10]]) * flat + [0.0, 0.0, 0.005], colour=(0.0, 0.45, 0.7))
    turn = np.linspace(0.0, 2.0 * np.pi, 33)[:, None]
    circle = np.array(GOAL) + 0.1 * np.hstack([np.cos(turn), np.sin(turn)])
    renderer.draw("goal", np.hstack([circle, np.full((33, 1), 0.005)]), colour=(0.0, 0.6, 0.45))
    Image.fromarray(renderer.image()).save(path, optimize=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "docs" / "images")
    folder = parser.parse_args().folder
    picture(folder / "sampling_mpc_plan.png")
    make, run = EXAMPLE["simulator"], EXAMPLE["run"]
    pushed = run(make(), EXAMPLE["planner"](EXAMPLE["GoTo"]()), 5.0, PUSHES)
    walked = run(make(), EXAMPLE["planner"](EXAMPLE["GoTo"](GOAL)), 5.0)
    plot(folder / "sampling_mpc.png", pushed, run(make(), None, 5.0, PUSHES), walked)
