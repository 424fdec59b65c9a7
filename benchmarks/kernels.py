"""Time of the kernels alone, and of a step against the number of contact points per sole.

    python benchmarks/kernels.py [--repeats 21]

The first table times the integrals of the contact dynamics at recorded states of a moving robot, in closed form and by
exponentials, Eigen's own among them. The second gives Romeo more and more contact points per sole.
"""

from __future__ import annotations

import argparse
import statistics
import warnings

import numpy as np
from rich.console import Console
from rich.table import Table

import exposim as xs
from exposim import _bench
from exposim._checks import Array
from exposim.kernels import _contact_kernel
from step import record

KERNELS = {
    "series": "auto",
    "modal": "modal",
    "Padé 1": xs.Pade(1),
    "Padé 3": xs.Pade(3),
    "Padé 7": xs.Pade(7),
    "exponential": "expm",
}


def packed(states: list[xs.State]) -> Array:
    return np.array([state.to_array() for state in states])


def kernels(scene: str, repeats: int) -> Table:
    robot, states = record(scene)
    sim, at = xs.Simulator(robot, xs.HalfSpace(), xs.Expo(), 1e-3)._core, packed(states)
    samples: dict[str, list[float]] = {name: [] for name in [*KERNELS, "exp() of Eigen"]}
    from_eigen = from_balanced = 0.0
    for _ in range(repeats):
        for name, kernel in KERNELS.items():
            seconds = _bench.time_kernel(sim, at, _contact_kernel(kernel, True, 1e-8))  # type: ignore[arg-type]
            samples[name].append(statistics.mean(seconds))
        seconds, from_eigen, from_balanced = _bench.time_eigen_exponential(sim, at)
        samples["exp() of Eigen"].append(statistics.mean(seconds))
    table = Table(title=f"{scene}: integrals of the contact dynamics over 1 ms", title_justify="left")
    for column in ("kernel", "µs", "Eigen's exp() / it"):
        table.add_column(column, justify="left" if column == "kernel" else "right")
    medians = {name: statistics.median(values) for name, values in samples.items()}
    for name, median in medians.items():
        table.add_row(name, f"{1e6 * median:.2f}", f"{medians['exp() of Eigen'] / median:.1f}")
    table.caption = (
        f"largest relative difference of modal from Eigen's exp(), which is not balanced: {from_eigen:.1e}; "
        f"from our balanced exponential: {from_balanced:.1e}"
    )
    return table


def romeo_with(per_sole: int) -> xs.Robot:
    """Romeo with a grid of contact points under each sole."""
    robot = xs.load_robot("romeo")
    side = round(per_sole**0.5)
    points = [
        xs.ContactPoint(frame, (x, y, -0.07), f"{frame}_{i}_{j}")
        for frame in ("LAnkleRoll", "RAnkleRoll")
        for i, x in enumerate(np.linspace(-0.05, 0.10, side))
        for j, y in enumerate(np.linspace(-0.05, 0.05, side))
    ]
    return robot.replace(contact_points=points)


def points(repeats: int) -> Table:
    table = Table(title="romeo: a step of 1 ms against the contact points per sole", title_justify="left")
    for column in ("points per sole", "Expo [µs]", "per added point [µs]", "full exponential [µs]"):
        table.add_column(column, justify="right")
    previous = None
    for per_sole in (4, 16, 64, 256):
        robot = romeo_with(per_sole)
        at = xs.Simulator(robot, xs.HalfSpace(), xs.Expo(), 1e-3)
        at.reset(robot.q0 - 1e-4 * np.eye(robot.nq)[2], 0.01 * np.random.default_rng(0).standard_normal(robot.nv))
        states = packed([at.state] * 10)
        tau = np.zeros(robot.nv)
        found = {}
        for name, kernel, count in (("auto", "auto", repeats), ("expm", "expm", 1 if per_sole > 4 else 5)):
            if name == "expm" and per_sole > 16:
                continue
            core = xs.Simulator(robot, xs.HalfSpace(), xs.PaperExpo(kernel=kernel), 1e-3)._core  # type: ignore[arg-type]
            runs = [statistics.mean(core.time_steps(states, tau)[0]) for _ in range(count)]
            found[name] = statistics.median(runs)
        slope = (
            "" if previous is None else f"{1e6 * (found['auto'] - previous[1]) / (2 * (per_sole - previous[0])):.2f}"
        )
        dense = f"{1e6 * found['expm']:.0f}" if "expm" in found else "not run"
        table.add_row(str(per_sole), f"{1e6 * found['auto']:.1f}", slope, dense)
        previous = (per_sole, found["auto"])
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=21)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", xs.ModelWarning)
    console = Console(width=100)
    for scene in ("solo12-4", "solo12-2", "romeo-8"):
        console.print(kernels(scene, arguments.repeats))
    console.print(points(arguments.repeats))


if __name__ == "__main__":
    main()
