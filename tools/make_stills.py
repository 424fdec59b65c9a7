"""Stills of scenarios for the documentation: python tools/make_stills.py drop solo-trot --folder docs/images/stills.

Runs each scenario, writes its replay and takes a picture of it in a headless Chromium.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from exposim import scenarios
from exposim.scenarios.measures import flights
from exposim.simulation.trajectory import Trajectory
from exposim.viewer import write_replay

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser import Browser, Page  # noqa: E402

SIZE = (900, 600)
MOST_BYTES = 200_000


def main() -> None:
    """Makes the stills that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenarios", nargs="*", default=list(scenarios.SCENARIOS), help="names; by default all")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "docs" / "images" / "stills", help="that the PNG files go to"
    )
    parser.add_argument("--at", type=float, help="time of the still [s]; by default one with much to see")
    given = parser.parse_args()
    with Browser(SIZE) as browser, tempfile.TemporaryDirectory() as scratch:
        for name in given.scenarios:
            trajectory = scenarios.get(name).run()
            t = telling_instant(trajectory) if given.at is None else given.at
            page = browser.open(write_replay(trajectory, Path(scratch) / f"{name}.html").as_uri() + "#t=0")
            target = take(page, t, given.folder / f"{name}.png")
            print(f"{target}: t = {t:.3f} s, {target.stat().st_size / 1000:.0f} kB")


def telling_instant(trajectory: Trajectory) -> float:
    """Time since the start [s]: amid the longest jump, or else with usual forces, and on some feet if it steps."""
    t, touching = trajectory.t - trajectory.t[0], trajectory.active.sum(axis=1)
    jumps = [(first, last) for first, last in flights(trajectory) if trajectory.t[0] < first and last - first > 0.05]
    if jumps:
        first, last = max(jumps, key=lambda jump: jump[1] - jump[0])
        return float((first + last) / 2.0 - trajectory.t[0])
    some = (touching > 0) & (touching < trajectory.active.shape[1])
    wanted = (t > t[-1] / 2.0) & (some if some.mean() > 0.2 else True)
    force = np.linalg.norm(trajectory.force, axis=2).sum(axis=1)
    usual = np.median(force[wanted]) if wanted.any() else 0.0
    return float(t[np.argmin(np.where(wanted, np.abs(force - usual), np.inf))])


def take(page: Page, t: float, target: Path) -> Path:
    """Saves what the replay shows at a time [s], without its controls."""
    page.wait_for("window.replay && replay.ready")
    page.evaluate("document.getElementById('bar').style.display = 'none'")
    page.evaluate(f"replay.seek({t})")
    page.next_frame()
    still = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    target.parent.mkdir(parents=True, exist_ok=True)
    for colours in (None, 256, 128, 64):  # fewer until it is small enough
        drawn = still if colours is None else still.quantize(colours, dither=Image.Dither.NONE)
        drawn.save(target, optimize=True)
        if target.stat().st_size < MOST_BYTES:
            break
    return target


if __name__ == "__main__":
    main()
