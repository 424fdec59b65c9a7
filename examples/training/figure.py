"""Learning curves of several seeds, and the table beside them: python examples/training/figure.py FOLDER [--keep FILE].

A folder has what train.py writes, FILE is one that this script kept before: examples/training/results.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

TITLES = {"push": "Go2 stands up to pushes", "walk": "Go2 walks forwards"}
SHOWN = {
    "push": (("falls", "episodes that end in a fall [%]", 100.0), ("return", "return of an episode", 1.0)),
    "walk": (("error", "error of the velocity [m/s]", 1.0), ("return", "return of an episode", 1.0)),
}
COLOURS = ("#2a6f97", "#bc6c25", "#5a7d2a")


def gather(folder: Path) -> dict[str, Any]:
    """By task: what doing nothing comes to, and the curves by seed."""
    found: dict[str, Any] = {}
    for path in sorted(folder.glob("*.json")):
        task, _, seed = path.stem.rpartition("-")
        if task not in TITLES:
            continue
        of_task = found.setdefault(task, {"seeds": {}})
        if seed == "nothing":
            of_task["nothing"] = json.loads(path.read_text(encoding="utf-8"))
        else:
            of_task["seeds"][seed] = [
                {name: round(value, 4) for name, value in point.items()}
                for point in json.loads(path.read_text(encoding="utf-8"))
            ]
    return found


def table(found: dict[str, Any]) -> str:
    """Doing nothing beside what is learned: mean over the seeds, and from the least to the greatest."""
    names = {"return": "return", "falls": "falls", "speed": "speed [m/s]", "error": "error [m/s]"}
    lines = ["| task | policy | steps | " + " | ".join(names.values()) + " |", "|---|---|---|" + "---|" * len(names)]
    for task, of_task in found.items():
        lines.append(f"| {task} | does nothing | | " + " | ".join(f"{of_task['nothing'][n]:.2f}" for n in names) + " |")
        last = [points[-1] for points in of_task["seeds"].values()]
        cells = []
        for name in names:
            values = np.array([point[name] for point in last])
            spread = f" ({values.min():.2f} to {values.max():.2f})" if len(last) > 1 else ""
            cells.append(f"{values.mean():.2f}{spread}")
        lines.append(
            f"| | learned, {len(last)} seed{'s'[: len(last) - 1]} | {last[0]['steps']:,} | " + " | ".join(cells) + " |"
        )
    return "\n".join(lines)


def draw(found: dict[str, Any], path: Path) -> None:
    """A row of plots for every task."""
    figure, rows = plt.subplots(len(found), 2, figsize=(9.0, 3.1 * len(found)), squeeze=False, layout="constrained")
    for (task, of_task), axes in zip(found.items(), rows, strict=True):
        for ax, (name, label, factor) in zip(axes, SHOWN[task], strict=True):
            for (seed, points), colour in zip(of_task["seeds"].items(), COLOURS * 9, strict=False):
                steps = [point["steps"] / 1e3 for point in points]
                values = [factor * point[name] for point in points]
                ax.plot(steps, values, color=colour, lw=1.6, marker="o", ms=3, label=f"seed {seed}")
            ax.axhline(factor * of_task["nothing"][name], color="0.4", ls="--", lw=1.2, label="does nothing")
            ax.set(xlabel="environment steps [thousands]", ylabel=label, title=TITLES[task])
            ax.spines[["top", "right"]].set_visible(False)
            ax.grid(alpha=0.25)
            if name != "return":
                ax.set_ylim(bottom=0.0)
        axes[1].legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    """From the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="folder of train.py, or a file that was kept")
    parser.add_argument("--keep", type=Path, help="write all curves into this file")
    parser.add_argument("--plot", type=Path, default=Path("training.png"))
    given = parser.parse_args()
    found = gather(given.source) if given.source.is_dir() else json.loads(given.source.read_text(encoding="utf-8"))
    if given.keep:
        given.keep.write_text(json.dumps(found, indent=None), encoding="utf-8")
    print(table(found))
    draw(found, given.plot)
    print(f"plotted: {given.plot}")


if __name__ == "__main__":
    main()
