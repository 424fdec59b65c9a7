"""A cell of a sweep: one run, known by what it depends on."""

from __future__ import annotations

import hashlib
import json
import platform
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import Any

import exposim
from exposim.analysis.summary import Summary
from exposim.errors import ExposimError
from exposim.scenarios import Run
from exposim.simulation.trajectory import Trajectory
from exposim.sweeps.settings import start
from exposim.tasks import Task

FORMAT = 1  # of files; another one is another result
KEY_LENGTH = 16  # hexadecimal digits: two of a billion cells share one with a probability of 3 %
PACKAGES = ("pin", "example-robot-data")  # whose versions count as well


class StaleCell(ExposimError, RuntimeError):
    """A cell is to be computed by another version, or from another file, than it was made with."""


@dataclass(frozen=True)
class Cell:
    """One run of a scenario.

    Args:
        scenario: Its name, or the whole path of its Python file.
        settings: Plain data; what is not in it is as the scenario has it.
    """

    scenario: str
    settings: Mapping[str, Any]

    @cached_property
    def key(self) -> str:
        """Of its result: another one as soon as a setting, a file it is made of, or a version changes."""
        depends_on = {
            "format": FORMAT,
            "versions": versions(),
            "scenario": _name_or_content(self.scenario),
            "settings": {name: _name_or_content(value) for name, value in self.settings.items()},
        }
        return hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).hexdigest()[:KEY_LENGTH]

    def start(self) -> Run:
        """Its run, at the beginning."""
        return start(self.scenario, self.settings)

    def run(self) -> Trajectory:
        """All of its motion, which no file keeps: the same bits as when it was computed."""
        run = self.start()
        while not run.done:
            run.advance()
        return run.trajectory

    def task(self) -> Task:
        """To compute it anywhere."""
        return Task(f"{__name__}:compute", {"scenario": self.scenario, "settings": self.settings, "key": self.key})

    def describe(self) -> dict[str, Any]:
        """What a record of it begins with, whatever came of it."""
        return {
            "format": FORMAT,
            "key": self.key,
            "versions": versions(),
            "scenario": self.scenario,
            "settings": dict(self.settings),
        }


def compute(scenario: str, settings: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Runs a cell to its end: what its record holds of that.

    Raises:
        StaleCell: If this machine has another version of the package, or other files.
    """
    if Cell(scenario, settings).key != key:
        here = ", ".join(f"{name} {version}" for name, version in versions().items())
        raise StaleCell(
            f"{platform.node()} has other versions ({here}) or another file {scenario} than the machine that began the "
            f"sweep; install the same, and share the files"
        )
    started = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        run = start(scenario, settings)
        while not run.done:
            run.advance()
        trajectory = run.trajectory
        summary = Summary.of(run.scenario, trajectory, run)
    return {
        "status": "done" if summary.stable else "diverged",
        "reason": summary.divergence,
        "summary": summary.to_dict(),
        "bits": bits(trajectory),
        "warnings": list(dict.fromkeys(str(each.message) for each in caught)),
        "seconds": perf_counter() - started,
        "machine": platform.node(),
    }


def bits(trajectory: Trajectory) -> str:
    """A checksum of times, configurations, velocities and forces: equal where these are, to the last bit."""
    found = hashlib.sha256()
    for array in (trajectory.t, trajectory.q, trajectory.v, trajectory.force):
        found.update(array.tobytes())
    return found.hexdigest()


@cache
def versions() -> dict[str, str]:
    """Of this package and of those whose files make a difference."""
    return {"exposim": exposim.__version__} | {name: metadata.version(name) for name in PACKAGES}


def _name_or_content(value: Any) -> Any:
    """Of a file its checksum, wherever it is; all else as it is."""
    if isinstance(value, str) and Path(value).is_absolute() and Path(value).is_file():
        return hashlib.sha256(Path(value).read_bytes()).hexdigest()
    return value
