"""Solo12 dropped on hard ground (K = 1e5 N/m): Expo at 5 ms beside two explicit schemes at the same step.

Run: python examples/drop.py [--height 0.1] [--dt 0.005] [--duration 1.5] [--output results/drop]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter

import matplotlib
import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import exposim as xs

matplotlib.use("Agg")
import matplotlib.pyplot as plt

INTEGRATORS = {
    "Expo": xs.Expo(),
    "explicit Euler": xs.ExplicitEuler(),
    "semi-implicit Euler": xs.SemiImplicitEuler(),
}
COLOURS = {"Expo": "#0072B2", "explicit Euler": "#D55E00", "semi-implicit Euler": "#009E73"}


@dataclass
class Drop:
    """What one run recorded."""

    diverged_at: float | None = None  # [s]
    seconds: list[float] = field(default_factory=list)  # of every step
    t: list[float] = field(default_factory=list)
    height: list[float] = field(default_factory=list)  # of the trunk [m]
    force: list[float] = field(default_factory=list)  # sum of the normal forces [N]

    @property
    def per_step(self) -> float:
        """Time of a step, the median [s]: the last one of a run that diverges also says why."""
        return float(np.median(self.seconds))


def drop(integrator: xs.Integrator, height: float, dt: float, duration: float, advance=lambda: None) -> Drop:
    """Drops Solo12 from `height` above its standing posture, which a PD controller holds."""
    robot = xs.load_robot("solo12")
    ground = xs.HalfSpace(material=xs.Material(stiffness=1e5, damping=300.0, friction=1.0))
    sim = xs.Simulator(robot, ground, integrator, dt, on_divergence="stop")
    controller = xs.controllers.PD(robot, kp=8.0, kd=0.1)
    q = robot.q0
    q[2] += height
    sim.reset(q)

    result = Drop()
    for _ in range(round(duration / dt) + 1):
        result.t.append(sim.t)
        result.height.append(sim.q[2])
        result.force.append(sum(contact.force[2] for contact in sim.contacts))
        tau = controller(sim.t, sim.state)
        start = perf_counter()
        sim.step(tau)
        result.seconds.append(perf_counter() - start)
        advance()
        if sim.divergence is not None:
            result.diverged_at = sim.divergence.time
            break
    return result


def table_of(results: dict[str, Drop], dt: float) -> Table:
    """One row per integrator: final height, peak normal force, time per step, real-time factor."""
    table = Table(title=f"Solo12 dropped on K = 1e5 N/m, B = 300 N·s/m, dt = {1e3 * dt:g} ms", title_justify="left")
    for column in ("integrator", "stable"):
        table.add_column(column, no_wrap=True)
    for column in ("final height", "peak force", "per step", "real time"):
        table.add_column(column, justify="right")
    for name, run in results.items():
        stable = "yes" if run.diverged_at is None else f"no, {run.diverged_at:.3f} s"
        table.add_row(
            name,
            f"[{'green' if run.diverged_at is None else 'red'}]{stable}",
            f"{run.height[-1]:.4f} m" if run.diverged_at is None else "–",
            f"{max(run.force):.0f} N" if run.diverged_at is None else "–",
            f"{1e6 * run.per_step:.1f} µs",
            f"{dt / run.per_step:.0f}×",
        )
    return table


def plot(results: dict[str, Drop], weight: float, dt: float, path: Path) -> None:
    """Height and normal force over time; what diverges ends with a cross."""
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(7.0, 5.2), sharex=True, layout="constrained")
    stable = [run for run in results.values() if run.diverged_at is None] or list(results.values())
    highest, strongest = max(max(run.height) for run in stable), max(max(run.force) for run in stable)
    for name, run in results.items():
        for axes, values in ((top, run.height), (bottom, run.force)):
            on_top = 3 if run.diverged_at is None else 2
            axes.plot(run.t, values, color=COLOURS[name], label=name, lw=1.6, zorder=on_top)
            if run.diverged_at is not None:
                shown = np.clip(values[-1], 0.0, 1.1 * highest if axes is top else strongest)
                axes.plot(run.t[-1], shown, "x", color=COLOURS[name], ms=8, mew=2, clip_on=False)
    bottom.set_yscale("symlog", linthresh=10.0)  # an impact beside the weight
    bottom.axhline(weight, color="0.5", lw=0.8, ls="--", zorder=0)
    bottom.text(0.99, weight, "weight", transform=bottom.get_yaxis_transform(), ha="right", va="bottom", color="0.4")
    top.set(ylabel="height of the trunk [m]", ylim=(0.0, 1.15 * highest))
    bottom.set(xlabel="time [s]", ylabel="sum of normal forces [N]", ylim=(0.0, 1.5 * strongest))
    top.set_title(f"Solo12 dropped on hard ground, dt = {1e3 * dt:g} ms  (× = diverged)", loc="left", fontsize=11)
    top.legend(frameon=False, loc="upper right")
    for axes in (top, bottom):
        axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Runs, prints the table, saves the plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--height", type=float, default=0.1, help="[m] above standing")
    parser.add_argument("--dt", type=float, default=5e-3, help="time step [s]")
    parser.add_argument("--duration", type=float, default=1.5, help="[s]")
    parser.add_argument("--output", type=Path, default=Path("results/drop"), help="folder for the plot")
    arguments = parser.parse_args()

    console, results = Console(), {}
    steps = round(arguments.duration / arguments.dt) + 1
    with Progress(console=console, transient=True) as progress:
        for name, integrator in INTEGRATORS.items():
            task = progress.add_task(name, total=steps)
            advance = partial(progress.advance, task)
            results[name] = drop(integrator, arguments.height, arguments.dt, arguments.duration, advance)
    console.print(table_of(results, arguments.dt))
    path = arguments.output / "drop.png"
    weight = 9.81 * sum(inertia.mass for inertia in xs.load_robot("solo12").model.inertias)
    plot(results, weight, arguments.dt, path)
    console.print(f"Height and normal force: {path}")
    console.print("Touchdown is noticed at the end of a step, so the impact peak is too high at large steps.")


if __name__ == "__main__":
    main()
