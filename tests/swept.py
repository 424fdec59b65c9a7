"""A scenario of one's own whose runs can be held up, swept while one of the workers is killed."""

import json
import os
import signal
from pathlib import Path

from exposim.sweeps import Grid, Results
from exposim.sweeps.sweeping import compute_all
from task_functions import until

SLEEPY = """
'''One of one's own.'''
import os, time
from pathlib import Path
import exposim as xs

def scenario(x: int = 0, folder: str = "."):
    first = not list(Path(folder).glob(f"{x}.*"))  # that is when the grid is checked
    Path(folder, f"{x}.{os.getpid()}.begun").touch()
    made = xs.scenarios.get("drop")
    if x == 3:
        raise ArithmeticError("no 3 today")
    while x == 1 and not first and not Path(folder, "go on").exists():
        time.sleep(0.01)
    return made.replace(name="sleepy", duration=0.01)
"""


def files(folder):
    """Of the cells of a sweep, and when they were written."""
    return {file: file.stat().st_mtime_ns for file in Path(folder, "cells").glob("*.json")}


def all_bits(folder):
    """Checksums of all motions."""
    return {file.stem: json.loads(file.read_text())["bits"] for file in files(folder)}


def sweep_and_kill_a_worker(executor, folder):
    """Four cells: one is held up until its worker is killed, one fails."""
    file, marks = folder / "own.py", folder / "marks"
    file.write_text(SLEEPY)
    marks.mkdir()
    (marks / "1.0.checked").touch()
    grid = Grid.of(file, {"x": [0, 1, 2, 3]}, {"folder": str(marks)})
    killed = []

    def kill(cell, finished, total):
        """The worker that is held up, when another cell has ended; the next one may then go on."""
        if not killed:
            until(lambda: list(marks.glob("1.*.begun")))
            killed.append(int(next(marks.glob("1.*.begun")).name.split(".")[1]))
            os.kill(killed[0], signal.SIGKILL)
            (marks / "go on").touch()

    compute_all(grid.cells, folder, executor, kill)
    results = Results.load(grid, folder)
    assert killed
    assert results.statuses == ("done", "done", "done", "failed")
    assert results.records[3]["reason"] == "ArithmeticError: no 3 today"
    assert [len(list(marks.glob(f"{x}.*.begun"))) for x in range(4)] == [1, 2, 1, 1]
