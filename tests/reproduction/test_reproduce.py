"""The paper's experiments in cells: computed once, resumed, and started from the command line."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep
from types import SimpleNamespace

import pytest

from command_line import fails, paper, refused
from paper.cell import FILE, Cell, CellFailed
from paper.experiments import EXPERIMENTS, forces
from paper.measure import accuracy
from paper.measure import forces as measured_forces
from paper.notebook import Notebook, compute
from paper.progress import CellProgress

HERE = "test_reproduce"
PATIENCE = 60.0  # [s]


# Functions of cells.


def square(x, folder):
    with (folder / "calls").open("a") as calls:
        calls.write(f"{x}\n")
    return [{"x": x, "square": x * x}]


def leave(x, folder):
    (folder / f"left {x}").touch()
    return [row | {FILE: f"left {x}"} for row in square(x, folder)]


def threads(x, folder):
    return [{"threads": os.environ.get("OMP_NUM_THREADS")}]


def fail(x, folder):
    raise ArithmeticError(f"no {x} today")


def wait(x, folder):
    """The first is done at once, the others wait for a file that a test may make."""
    while x > 0 and not (folder / "go on").exists():
        sleep(0.01)
    return square(x, folder)


def cells(count=3, name="square", **options):
    return [Cell(f"{HERE}:{name}", {"x": x}, **options) for x in range(count)]


def calls(notebook):
    return sorted((notebook.folder / "calls").read_text().split())


@pytest.fixture
def notebook(tmp_path):
    return Notebook(tmp_path / "cells")


@pytest.mark.parametrize("jobs", [1, 2])
def test_cells_are_computed_once(jobs, notebook):
    phases = [cells(2), [Cell(f"{HERE}:square", {"x": 7}, alone=True)]]
    compute(phases, notebook, jobs)
    compute(phases, notebook, jobs)
    assert calls(notebook) == ["0", "1", "7"]
    assert notebook.rows(phases[0] + phases[1])[-1] == {"x": 7, "square": 49}


def test_another_argument_is_another_cell(notebook):
    compute([cells(2)], notebook)
    compute([cells(3)], notebook)
    assert calls(notebook) == ["0", "1", "2"]


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", "null", '{"rows'])
def test_a_damaged_file_is_computed_again(damage, notebook):
    compute([cells(1)], notebook)
    (file,) = notebook.folder.glob("*.json")
    file.write_text(damage)
    compute([cells(1)], notebook)
    assert calls(notebook) == ["0", "0"]
    assert json.loads(file.read_text())["rows"] == [{"x": 0, "square": 0}]


def test_a_cell_whose_file_is_gone_is_computed_again(notebook):
    one = Cell(f"{HERE}:leave", {"x": 3})
    compute([[one]], notebook)
    compute([[one]], notebook)
    assert calls(notebook) == ["3"]
    (notebook.folder / "left 3").unlink()
    assert notebook.read(one) is None
    compute([[one]], notebook)
    assert calls(notebook) == ["3", "3"]
    assert (notebook.folder / "left 3").is_file()


def test_ground_truths_name_their_files(tmp_path):
    cell = Cell(f"{accuracy.HERE}:common_truth", {"scenario": "solo-trot", "duration": 0.01, "dt": 1e-3 / 32})
    (row,) = cell.compute(tmp_path)
    assert tmp_path / row[FILE] == accuracy.truth_file(tmp_path, cell.key)
    assert (tmp_path / row[FILE]).is_file()


def test_workers_do_not_start_threads_of_their_own(notebook, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    compute([cells(2, "threads")], notebook, jobs=2)
    assert {row["threads"] for row in notebook.rows(cells(2, "threads"))} == {"1"}
    assert "OMP_NUM_THREADS" not in os.environ


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_names_its_cell_and_leaves_the_finished_ones(jobs, notebook):
    with pytest.raises(CellFailed, match=re.escape("fail 0.5: ArithmeticError: no 0.5 today")):
        compute([cells(1), [Cell(f"{HERE}:fail", {"x": 0.5}), *cells(1, "wait")]], notebook, jobs)
    assert notebook.read(cells(1)[0]) is not None


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interruption_leaves_what_is_finished(number, jobs, notebook):
    code = (
        f"from {HERE} import *; from paper.command import _compute\n"
        f"if __name__ == '__main__': _compute([cells(3, 'wait')], Notebook(Path({str(notebook.folder)!r})), {jobs})"
    )
    script = notebook.folder / "main.py"  # processes of a pool import it, which they cannot from a string
    script.write_text(code)
    paths = os.pathsep.join(map(str, Path(__file__).parents[:3]))
    process = subprocess.Popen(
        [sys.executable, script], env=os.environ | {"PYTHONPATH": paths}, text=True, stderr=subprocess.PIPE
    )
    deadline = monotonic() + PATIENCE
    while not list(notebook.folder.glob("*.json")):
        assert process.poll() is None and monotonic() < deadline
        sleep(0.02)
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE)  # ends when all processes of a pool have ended
    if number != signal.SIGKILL:
        assert "interrupted; 1 of 3 cells are done and kept in" in errors
        assert "the same command goes on" in errors
    (notebook.folder / "go on").touch()
    before = {file: file.stat().st_mtime_ns for file in notebook.folder.glob("*.json")}
    compute([cells(3, "wait")], notebook)
    assert [row["x"] for row in notebook.rows(cells(3, "wait"))] == [0, 1, 2]
    assert all(file.stat().st_mtime_ns == time for file, time in before.items())


def test_progress_estimates_what_is_left(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("paper.progress.monotonic", lambda: now[0])
    lines = []
    monkeypatch.setattr("paper.progress.say", lines.append)
    many = [*cells(4, cost=10.0), Cell(f"{HERE}:square", {"x": 9}, alone=True, cost=10.0)]
    with CellProgress(6) as progress:
        progress.begin(many, jobs=2)
        now[0] = 100.0  # a quarter of two halves: 5 of 30
        progress.done(many[0])
    assert lines == ["2 of 6 cells · 8:20 left · square"]


# The command.


@pytest.fixture
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("in_an_empty_folder")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("acuracy", "did you mean 'accuracy'?"),
        ("everything", "give one of accuracy, stiffness, stability, forces, timing, all"),
        ("--scenario solo-tro", "did you mean 'solo-trot'?"),
        ("--scenario drop", "give one of solo-squat, solo-jump, solo-trot, romeo-walk"),
        ("--jobs 0", "jobs is 0; give a whole number of at least 1"),
        ("--jobs some", "--jobs"),
        ("--quik", "did you mean '--quick'?"),
    ],
)
def test_bad_usage_is_refused_in_one_line(words, says, tmp_path):
    refused(*words.split(), says=says, command=paper)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("in_an_empty_folder")
def test_a_folder_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    (tmp_path / "file").touch()
    refused("forces", "--output", "file/out", says="cannot write into file/out", command=paper)


def test_help_names_the_experiments():
    text = paper("--help").output
    assert all(name in text for name in EXPERIMENTS)


@pytest.mark.usefixtures("in_an_empty_folder")
def test_an_experiment_from_beginning_to_end(tmp_path, monkeypatch):
    monkeypatch.setattr(forces, "SPEEDS", (0.1, 0.2, 0.5))
    for module in (forces, measured_forces):
        monkeypatch.setattr(module, "JUMP_STEPS", (1e-3 / 4,))
    words = ("forces", "--quick", "--scenario", "solo-squat", "--jobs", "1", "--docs", "docs")
    result = paper(*words)
    assert result.exit_code == 0, result.output
    assert "results/paper/index.html" in result.output
    assert "Forces predicted" in result.output
    assert (tmp_path / "results/paper/data/force_prediction.csv").is_file()
    assert "images/results/force_prediction.png" in (tmp_path / "docs/results.md").read_text()
    again = paper(*words[:-2])
    assert re.search(r"(\d+) of \1 cells were there already", again.output)


@pytest.mark.usefixtures("in_an_empty_folder")
def test_an_error_in_a_cell_is_one_line_that_names_it(monkeypatch):
    failing = SimpleNamespace(phases=lambda chosen, quick: [[Cell(f"{HERE}:fail", {"x": "Expo"})]])
    monkeypatch.setitem(EXPERIMENTS, "timing", failing)
    says = ["fail Expo: ArithmeticError: no Expo today", "results/paper/cells"]
    fails(70, "timing", says=says, command=paper)
