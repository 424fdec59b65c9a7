"""The paper's experiments in cells: computed once, resumed, reported on one page, and started from the command line."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import browser
from command_line import exposim, fails, refused
from exposim.cli.cell_progress import CellProgress
from exposim.experiments import EXPERIMENTS, Notebook, Result, accuracy, compute, forces, report, results_page
from exposim.experiments.cells import Cell, CellFailed
from exposim.experiments.claims import evaluate

HERE = "test_reproduce"
PATIENCE = 60.0  # [s]


# Functions of cells.


def square(x, folder):
    with (folder / "calls").open("a") as calls:
        calls.write(f"{x}\n")
    return [{"x": x, "square": x * x}]


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


def test_the_key_changes_with_the_simulator(monkeypatch):
    (cell,) = cells(1)
    before = cell.key
    monkeypatch.setattr("exposim.experiments.cells._package_digest", lambda: "another build")
    assert cell.key != before


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", "null", '{"rows'])
def test_a_damaged_file_is_computed_again(damage, notebook):
    compute([cells(1)], notebook)
    (file,) = notebook.folder.glob("*.json")
    file.write_text(damage)
    compute([cells(1)], notebook)
    assert calls(notebook) == ["0", "0"]
    assert json.loads(file.read_text())["rows"] == [{"x": 0, "square": 0}]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_names_its_cell_and_leaves_the_finished_ones(jobs, notebook):
    with pytest.raises(CellFailed, match=re.escape("fail 0.5: ArithmeticError: no 0.5 today")):
        compute([cells(1), [Cell(f"{HERE}:fail", {"x": 0.5}), *cells(1, "wait")]], notebook, jobs)
    assert notebook.read(cells(1)[0]) is not None


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interruption_leaves_what_is_finished(number, jobs, notebook):
    code = (
        f"from {HERE} import *; from exposim.cli.reproduce import _compute\n"
        f"if __name__ == '__main__': _compute([cells(3, 'wait')], Notebook(Path({str(notebook.folder)!r})), {jobs})"
    )
    script = notebook.folder / "main.py"  # processes of a pool import it, which they cannot from a string
    script.write_text(code)
    paths = os.pathsep.join(str(folder) for folder in (Path(__file__).parent, Path(__file__).parents[1]))
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
    monkeypatch.setattr("exposim.cli.cell_progress.monotonic", lambda: now[0])
    lines = []
    monkeypatch.setattr("exposim.cli.cell_progress.say", lines.append)
    many = [*cells(4, cost=10.0), Cell(f"{HERE}:square", {"x": 9}, alone=True, cost=10.0)]
    with CellProgress(6) as progress:
        progress.begin(many, jobs=2)
        now[0] = 100.0  # a quarter of two halves: 5 of 30
        progress.done(many[0])
    assert lines == ["2 of 6 cells · 8:20 left · square"]


# The page.


@pytest.fixture(scope="module")
def made_up():
    """Results of one experiment as it might be, with one that diverges and a disturbed time."""
    rows = [
        {
            "scenario": scenario, "variant": label, "dt": dt, "truth": truth, "periods": 9, "mean": dt * factor,
            "median": dt, "max": 1.0, "share of changes": 0.5, "diverged": 0.0, "seconds": 1e-5,
            "real-time factor": dt / 1e-5, "iterations": 0.0, "not converged": 0.0, "disturbed": label == "RK4",
        }
        for scenario in ("solo-squat", "solo-trot", "solo-jump")
        for label, factor in (("Expo", 1.0), ("RK4", np.inf), ("explicit Euler", 3.0), ("Expo, 0 products", 1.1))
        for dt in (5e-4, 1e-3, 2e-3)
        for truth in ("own", "common")
    ]  # fmt: skip
    truths = [{"scenario": "solo-trot", "dt": 1e-6, "left": 1e-9, "changing periods": 0.02}]
    tables = {"accuracy": pd.DataFrame(rows), "truths": pd.DataFrame(truths)}
    results = {"accuracy": Result(tables, accuracy.figures(tables))}
    return report.Report(results, evaluate(tables), ("solo-squat", "solo-trot"), quick=True)


@pytest.fixture(scope="module")
def page(made_up, tmp_path_factory):
    return report.write(made_up, tmp_path_factory.mktemp("report"))


def test_the_page_needs_nothing_else(page):
    text = page.read_text()
    assert not re.search(r"https?://", text)
    assert not re.search(r"@import|url\(|<script|<link", text)
    sources = re.findall(r'src="([^"]*)', text)
    assert len(sources) == 7
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert all((page.parent / link).is_file() for link in re.findall(r'href="([^#"][^"]*)', text))


def test_the_page_tells_claims_verdicts_and_disturbed_times(page, made_up):
    text = page.read_text()
    for verdict in made_up.verdicts:
        assert verdict.claim.split(";")[0].replace("'", "&#x27;") in text
    assert text.count("10 †") == 9
    assert "--quick" in text
    assert "not confirmed" in text and "not measured" in text


def test_the_data_of_the_figures_are_beside_them(page, made_up):
    for name, table in made_up.results["accuracy"].tables.items():
        assert len(pd.read_csv(page.parent / "data" / f"{name}.csv")) == len(table)
    for name in made_up.results["accuracy"].figures:
        assert (page.parent / "figures" / f"{name}.svg").read_bytes().startswith(b"<?xml")
        assert (page.parent / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.skipif(browser.CHROMIUM is None, reason="needs chromium")
@pytest.mark.parametrize("width", [1200, 390])
def test_the_page_fits_into_a_window(width, page):
    with browser.Browser((width, 900)) as window, window.open(page.as_uri()) as tab:
        assert tab.evaluate("[...document.images].every((image) => image.complete && image.naturalWidth > 100)")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert not tab.errors()
        assert tab.requests() == [page.as_uri()]


def test_the_page_of_the_documentation_is_short_and_its_pictures_small(made_up, tmp_path):
    old = tmp_path / "images" / "results" / "gone.png"
    old.parent.mkdir(parents=True)
    old.touch()
    text = results_page.write_page(made_up, tmp_path).read_text()
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert {tmp_path / name for name in pictures} == set(tmp_path.glob("images/results/*.png"))
    assert 0 < len(pictures) < 15
    assert all((tmp_path / name).stat().st_size < 100_000 for name in pictures)
    assert text.count("**not measured**") == sum(verdict.verdict == "not measured" for verdict in made_up.verdicts)
    assert "cores" in text


# The command.


@pytest.fixture
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("in_an_empty_folder")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("reproduce acuracy", "did you mean 'accuracy'?"),
        ("reproduce everything", "give one of accuracy, stiffness, stability, forces, timing, all"),
        ("reproduce --scenario solo-tro", "did you mean 'solo-trot'?"),
        ("reproduce --scenario drop", "give one of solo-squat, solo-jump, solo-trot, romeo-walk"),
        ("reproduce --jobs 0", "jobs is 0; give a whole number of at least 1"),
        ("reproduce --jobs some", "--jobs"),
        ("reproduce --quik", "did you mean '--quick'?"),
    ],
)
def test_bad_usage_is_refused_in_one_line(words, says, tmp_path):
    refused(*words.split(), says=says)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("in_an_empty_folder")
def test_a_folder_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    (tmp_path / "file").touch()
    refused("reproduce", "forces", "--output", "file/out", says="cannot write into file/out")


def test_help_names_the_experiments():
    text = exposim("reproduce", "--help").output
    assert all(name in text for name in EXPERIMENTS)


@pytest.mark.usefixtures("in_an_empty_folder")
def test_an_experiment_from_beginning_to_end(tmp_path, monkeypatch):
    monkeypatch.setattr(forces, "SPEEDS", (0.1, 0.2, 0.5))
    monkeypatch.setattr(forces, "JUMP_STEPS", (1e-3 / 4,))
    words = ("reproduce", "forces", "--quick", "--scenario", "solo-squat", "--jobs", "1", "--docs", "docs")
    result = exposim(*words)
    assert result.exit_code == 0, result.output
    assert "results/paper/index.html" in result.output
    assert "Forces predicted" in result.output
    assert (tmp_path / "results/paper/data/force_prediction.csv").is_file()
    assert "images/results/force_prediction.png" in (tmp_path / "docs/results.md").read_text()
    again = exposim(*words[:-2])
    assert re.search(r"(\d+) of \1 cells were there already", again.output)


@pytest.mark.usefixtures("in_an_empty_folder")
def test_an_error_in_a_cell_is_one_line_that_names_it(monkeypatch):
    failing = SimpleNamespace(phases=lambda chosen, quick: [[Cell(f"{HERE}:fail", {"x": "Expo"})]])
    monkeypatch.setitem(EXPERIMENTS, "timing", failing)
    fails(70, "reproduce", "timing", says=["fail Expo: ArithmeticError: no Expo today", "results/paper/cells"])
