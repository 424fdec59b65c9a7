"""Draws docs/images/convergence.png: error against step, without and with transitions.

Run: python tools/make_convergence_plot.py [--output docs/images/convergence.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pinocchio as pin
from matplotlib.figure import Figure

import exposim as xs
from exposim.analysis.local_error import distance

SCHEMES = {
    "Expo": (xs.Expo(), "#0072B2", "-"),
    "Expo, order 1": (xs.Expo(order=1), "#56B4E9", "-"),
    "averaged (paper)": (xs.PaperExpo(), "0.25", "--"),
    "explicit Euler": (xs.ExplicitEuler(), "#D55E00", "-"),
    "RK4": (xs.RungeKutta4(), "#CC79A7", "-"),
}
STEPS = 1.6e-2 / 2.0 ** np.arange(11)


def box(**contact: object) -> xs.Robot:
    """2 kg, 20 × 20 × 10 cm, with contact points at its lower corners."""
    model = pin.Model()
    model.name = "box"
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "free")
    model.appendBodyToJoint(joint, pin.Inertia.FromBox(2.0, 0.2, 0.2, 0.1), pin.SE3.Identity())
    model.addFrame(pin.Frame("box", joint, pin.SE3.Identity(), pin.FrameType.BODY))
    corners = [(x, y, -0.05) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    points = [xs.ContactPoint("box", corner, f"corner {i}", **contact) for i, corner in enumerate(corners)]
    return xs.load_robot(model, contact_points=points)


def on_springs() -> tuple[xs.Robot, xs.HalfSpace | None, tuple[list[float], list[float]]]:
    """Spinning between four bilateral springs: nothing is linear, nothing switches."""
    robot = box(bilateral=True, material=xs.Material(2e4, 10.0))
    return robot, None, ([1e-3, 0, 0, 0, 0, 0, 1], [0.2, -0.1, 0.3, 3.0, 2.0, -5.0])


def on_a_corner() -> tuple[xs.Robot, xs.HalfSpace | None, tuple[list[float], list[float]]]:
    """Lands on a corner, tips over on the others, slides."""
    attitude = pin.Quaternion(pin.rpy.rpyToMatrix(0.15, 0.1, 0.0)).coeffs()
    start = [0.0, 0.0, 0.075, *attitude], [1.0, 0.0, -0.5, 0.0, 0.0, 2.0]
    return box(), xs.HalfSpace(xs.Material(friction=0.4)), start


def errors(setting: tuple[xs.Robot, xs.HalfSpace | None, tuple[list[float], list[float]]]) -> dict[str, list[float]]:
    """After 64 ms, at all steps; infinite where a scheme diverges or is far off."""
    robot, ground, start = setting

    def end(integrator: xs.Integrator, dt: float) -> xs.Simulator:
        sim = xs.Simulator(robot, ground, integrator, dt, on_divergence="stop")
        sim.reset(*start)
        sim.step(n=round(0.064 / dt))
        return sim

    exact = end(xs.RungeKutta4(), 1.6e-2 / 2**16).state
    found: dict[str, list[float]] = {}
    for name, (integrator, *_) in SCHEMES.items():
        ends = [end(integrator, dt) for dt in STEPS]
        found[name] = [np.inf if sim.diverged else distance(robot, exact, sim.state) for sim in ends]
    return found


def main() -> None:
    """Computes and draws."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("docs/images/convergence.png"))
    output = parser.parse_args().output
    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    titles = ("no contact changes", "landing on a corner, tipping, sliding")
    for axes, setting, title in zip(panels, (on_springs(), on_a_corner()), titles, strict=True):
        for name, values in errors(setting).items():
            _, colour, style = SCHEMES[name]
            shown = np.array([value if value < 30.0 else np.nan for value in values])
            axes.loglog(1e3 * STEPS, shown, style, color=colour, marker="o", ms=3, lw=1.5, label=name)
            print(title, name, " ".join(f"{value:.1e}" for value in values))
        for order in (1, 2):
            axes.loglog(1e3 * STEPS[:4], 3e-3 * (STEPS[:4] / STEPS[3]) ** order / 30, ":", color="0.6", lw=1.0)
            end = 3e-3 * 8.0**order / 30
            axes.text(1e3 * STEPS[0] * 1.1, end, f"order {order}", color="0.5", fontsize=7, va="center")
        axes.set(title=title, xlabel="step [ms]", ylim=(1e-9, 50.0), xlim=(0.012, 40.0))
        axes.title.set_fontsize(10)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("error after 64 ms")
    panels[0].legend(frameon=False, fontsize=8, loc="lower right")
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=140)


if __name__ == "__main__":
    main()
