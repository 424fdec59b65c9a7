"""Pictures of docs/worlds.md: python tools/make_world_pictures.py.

Runs scenarios, writes their replays and takes a still of each in a headless Chromium.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]

from make_stills import SIZE, take  # noqa: E402

from browser import Browser  # noqa: E402
from exposim import scenarios  # noqa: E402
from exposim.viewer import write_replay  # noqa: E402

# Scenario, time of the still [s], options.
PICTURES: dict[str, tuple[float, dict[str, Any]]] = {
    "go2-stairs": (14.6, {}),
    "rough-drop": (3.5, {"robot": "g1", "limp": True}),
    "push-crate": (6.0, {}),
    "two-robots": (2.5, {}),
}


def main() -> None:
    """Writes all of them into docs/images."""
    with Browser(SIZE) as browser, tempfile.TemporaryDirectory() as scratch:
        for name, (t, options) in PICTURES.items():
            trajectory = scenarios.get(name, **options).run(duration=t + 0.1)
            page = browser.open(write_replay(trajectory, Path(scratch) / f"{name}.html").as_uri() + "#t=0")
            target = take(page, t, ROOT / "docs" / "images" / f"{name}.png")
            print(f"{target}: t = {t:g} s, {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
