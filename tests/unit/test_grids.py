"""Sweeps: a scenario under all combinations of settings, each computed once."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import exposim as xs
from command_line import exposim, refused
from exposim.errors import UnknownScenario
from exposim.sweeps import Grid, Results, array_script, part_of
from exposim.sweeps import cell as cell_module
from exposim.sweeps.cell import bits
from swept import SLEEPY, all_bits, files, sweep_and_kill_a_worker
from task_functions import until

SHORT = {"duration": 0.02}
AXES = {"stiffness": [1e4, 1e5], "dt": [1e-3, 5e-3]}
WORDS = ("--grid", "stiffness=1e4,100kN/m", "--grid", "dt=1ms,5ms", "--duration", "20ms")


@pytest.fixture
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


# What is computed.


def test_a_cell_is_the_run_that_its_settings_describe(tmp_path):
    results = xs.sweep("drop", {"stiffness": [2e4], "integrator": ["rk4"]}, tmp_path, friction=0.3, dt=1e-3, **SHORT)
    scenario = xs.scenarios.get("drop").with_material(stiffness=2e4, friction=0.3)
    alone = scenario.run("rk4", 1e-3, 0.02)
    (record,) = results.records
    assert record["bits"] == bits(alone) == bits(results.grid.cells[0].run())
    assert results.values("height").item() == alone.q[-1, 2]
    other = scenario.with_material(friction=0.31).run("rk4", 1e-3, 0.05)
    assert bits(other) != record["bits"]


def test_the_bits_are_the_same_wherever_a_cell_is_computed(tmp_path):
    for workers in (1, 2):
        xs.sweep("drop", AXES, tmp_path / f"{workers}", workers=workers, duration=0.2)
    assert all_bits(tmp_path / "1") == all_bits(tmp_path / "2")
    assert len(set(all_bits(tmp_path / "1").values())) == 4


def test_what_is_finished_is_never_computed_again(tmp_path):
    xs.sweep("drop", AXES, tmp_path, workers=1, **SHORT)
    before = files(tmp_path)
    told = []
    results = xs.sweep(
        "drop", AXES | {"stiffness": [1e4, 1e5, 1e6]}, tmp_path, workers=1, progress=lambda *e: told.append(e), **SHORT
    )
    assert {file: files(tmp_path)[file] for file in before} == before
    assert [(finished, total) for _, finished, total in told] == [(5, 6), (6, 6)]
    assert {cell.settings["stiffness"] for cell, _, _ in told} == {1e6}
    assert results.statuses == ("done",) * 6


@pytest.mark.parametrize("damage", ["", "{", "{}", '{"key": 1}', "null"])
def test_a_damaged_cell_is_computed_again(damage, tmp_path):
    results = xs.sweep("drop", {"dt": [5e-3]}, tmp_path, **SHORT)
    (file,) = files(tmp_path)
    whole = json.loads(file.read_text())
    file.write_text(damage)
    assert Results.load(results.grid, tmp_path).statuses == ("missing",)
    xs.sweep("drop", {"dt": [5e-3]}, tmp_path, **SHORT)
    assert json.loads(file.read_text())["bits"] == whole["bits"]
    file.write_text(json.dumps(whole | {"summary": {"nothing": 0}}))
    assert Results.load(results.grid, tmp_path).statuses == ("missing",)


def test_another_setting_version_or_file_is_another_cell(tmp_path, monkeypatch):
    def key(**settings):
        return Grid.of("drop", {"dt": [1e-3]}, settings).cells[0].key

    assert key() == key()
    assert len({key(), key(friction=0.5), key(friction=0.6), key(robot="go2"), key(height=0.2)}) == 5
    file = tmp_path / "own.py"
    file.write_text(SLEEPY)
    before = Grid.of(file, {"x": [0]}).cells[0].key
    file.write_text(SLEEPY + "# changed\n")
    assert Grid.of(file, {"x": [0]}).cells[0].key != before
    old = key()
    monkeypatch.setattr(cell_module, "versions", lambda: {"exposim": "0.0.0"})
    assert key() != old


def test_a_machine_with_another_version_refuses_to_compute(monkeypatch):
    task = Grid.of("drop", {"dt": [1e-3]}, SHORT).cells[0].task()
    monkeypatch.setattr(cell_module, "versions", lambda: {"exposim": "0.0.0"})
    with pytest.raises(cell_module.StaleCell, match=r"has other versions \(exposim 0\.0\.0\)"):
        cell_module.compute(**task.arguments)


def test_what_diverges_or_fails_is_recorded_and_stops_nothing(tmp_path):
    axes = {"dt": [1e-3, 5e-3], "control_period": [5e-3, 1e-3]}
    results = xs.sweep("solo-trot", axes, tmp_path, integrator="explicit-euler", duration=0.1, stiffness=1e6)
    assert results.statuses == ("done", "done", "diverged", "failed")
    assert "diverged at t =" in results.records[2]["reason"]
    assert "holds its inputs for a control period of 0.001 s" in results.records[3]["reason"]
    assert "InvalidArgument" in results.records[3]["traceback"]
    assert np.isnan(results.values("simulated")).tolist() == [[False, False], [True, True]]
    before = files(tmp_path)
    xs.sweep("solo-trot", axes, tmp_path, integrator="explicit-euler", duration=0.1, stiffness=1e6)
    assert files(tmp_path) == before
    xs.sweep("solo-trot", axes, tmp_path, integrator="explicit-euler", duration=0.1, stiffness=1e6, retry=True)
    changed = [file.stem for file, time in files(tmp_path).items() if before[file] != time]
    assert changed == [results.grid.cells[3].key]


def test_a_killed_worker_loses_no_cell_and_repeats_none(tmp_path):
    with xs.tasks.Processes(2) as executor:
        sweep_and_kill_a_worker(executor, tmp_path)


def test_a_lost_cell_is_told_and_computed_again(tmp_path):
    grid = Grid.of("drop", {"dt": [5e-3]}, SHORT)
    (cell,) = grid.cells
    kept = xs.tasks.Kept(tmp_path / "cells")
    kept.write(cell.key, cell.describe() | {"status": "lost", "reason": "its worker died"})
    assert Results.load(grid, tmp_path).statuses == ("lost",)
    assert xs.sweep("drop", {"dt": [5e-3]}, tmp_path, **SHORT).statuses == ("done",)


# What is refused.


@pytest.mark.parametrize(
    ("axes", "settings", "says"),
    [
        ({"stifness": [1e4]}, {}, "did you mean 'stiffness'?"),
        ({"seed": [1]}, {}, "'seed' cannot be set in drop"),
        ({"stiffness": [1e4, -1.0]}, {}, "stiffness is -1.0; give a finite number above 0"),
        ({"stiffness": [(1e4, 1e5, 1e6)]}, {}, "give one value, or two"),
        ({"integrator": ["rk5"]}, {}, "did you mean 'rk4'?"),
        ({"robot": ["solo12", "goo2"]}, {}, "robot = goo2 cannot be run"),
        ({"kp": [10.0, 20.0]}, {}, "kp is given alone"),
        ({"height": [0.1, "high"]}, {}, "height = high cannot be run"),
        ({"height": [{1}]}, {}, "which no file can hold"),
        ({"dt": []}, {}, "dt has no values"),
        ({"dt": 1e-3}, {}, "dt is 0.001; give a list of values"),
        ({"dt": [1e-3, 1e-3]}, {}, "dt has 1 ms twice"),
        ({"dt": [1e-3]}, {"dt": 1e-3}, "dt is an axis of the grid, and is also given"),
        ({"dt": [1e-3]}, {"accuracy": 1e-3}, "leave out dt, or it"),
        ({}, {}, "give values by the name"),
        ({"seed": range(2000), "height": range(2000)}, {}, "cannot be set"),
    ],
)
def test_bad_grids_are_refused_before_anything_runs(axes, settings, says, tmp_path):
    with pytest.raises(xs.InvalidArgument, match=re.escape(says)):
        xs.sweep("drop", axes, tmp_path / "out", **settings)
    assert not (tmp_path / "out").exists()


def test_scenarios_that_are_not_known_are_refused(tmp_path):
    with pytest.raises(UnknownScenario, match="did you mean 'drop'"):
        xs.sweep("dropp", AXES, tmp_path)


def test_too_many_cells_are_refused(tmp_path):
    with pytest.raises(xs.InvalidArgument, match="the grid has 4000000 cells"):
        Grid.of("rough-drop", {"seed": range(2000), "height": np.linspace(0.1, 0.2, 2000)})


def test_an_option_that_has_the_name_of_a_setting_is_set_by_its_prefix():
    ground, crate = (
        Grid.of("push-crate", {name: [0.9]}).cells[0].start().scenario for name in ("friction", "option.friction")
    )
    assert ground.ground[0].material.friction == 0.9
    assert crate.ground[0].material.friction != 0.9
    assert crate.origin.options == {"friction": 0.9}


# What comes out.


def test_tables_have_a_row_for_each_cell_and_arrays_an_axis_for_each_setting(tmp_path):
    results = xs.sweep(
        "drop",
        {"stiffness": [1e4, (1e5, 5e4)], "integrator": ["expo", xs.PaperExpo(kernel=xs.Pade(3))]},
        tmp_path,
        **SHORT,
    )
    with (tmp_path / "sweep.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["stiffness"], row["integrator"]) for row in rows] == [
        *(("10000.0", "expo"), ("10000.0", "paper-expo:pade3")),
        *(("1e5:5e4", "expo"), ("1e5:5e4", "paper-expo:pade3")),
    ]
    height = results.values("final height [m]")
    assert height.shape == (2, 2)
    assert [float(row["final height [m]"]) for row in rows] == height.ravel().tolist()
    with pytest.raises(xs.InvalidArgument, match="did you mean 'final height"):
        results.values("final heigt [m]")


def test_the_figure_shows_every_measure_and_marks_what_failed(tmp_path):
    axes = {"stiffness": [1e4, 1e6], "dt": [1e-3, 5e-3], "integrator": ["expo", "explicit-euler"]}
    results = xs.sweep("drop", axes, tmp_path, duration=0.3)
    assert "diverged" in results.statuses
    figure = xs.plots.sweep(results, ["final height [m]", "peak_force"])
    assert len(figure.axes) == 4
    lines = [line for line in figure.axes[1].lines if line.get_marker() == "o"]
    assert lines[0].get_ydata() == pytest.approx(results.values("final height [m]")[:, 0, 1])
    crosses = sum(
        len(line.get_xdata()) for panel in figure.axes[:2] for line in panel.lines if line.get_marker() == "x"
    )
    assert crosses == sum(status != "done" for status in results.statuses)
    with pytest.raises(xs.InvalidArgument, match="give what exposim"):
        xs.plots.sweep([results])


# The command.


@pytest.mark.usefixtures("in_an_empty_folder")
def test_the_command_sweeps_prints_plots_and_goes_on():
    result = exposim("sweep", "drop", *WORDS)
    assert result.exit_code == 0, result.output
    assert "4 cells, 2 at once" in result.output or "4 cells, " in result.output
    assert re.search(r"1e5 +5 ms +done", result.output)
    folder = Path("results/drop-sweep")
    assert {"sweep.csv", "sweep.png", "cells"} <= {path.name for path in folder.iterdir()}
    before = files(folder)
    again = exposim("sweep", "drop", *WORDS, "--measure", "slip")
    assert "4 of 4 cells were there already" in again.output
    assert "slip" in again.output
    assert files(folder) == before


@pytest.mark.usefixtures("in_an_empty_folder")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", "there is no --grid"),
        ("--grid dt", "give name=value,value"),
        ("--grid dt=", "give name=value,value"),
        ("--grid dt=1ms,,2ms", "dt has an empty value"),
        ("--grid dt=1ms --grid dt=2ms", "grid has dt twice"),
        ("--grid dt=1ms,5", "which has no unit"),
        ("--grid stiffness=1e5N", "give a stiffness such as"),
        ("--grid integrator=expo@1ms", "steps are an axis of their own"),
        ("--grid damping=1:2:3", "give one value, or two"),
        ("--grid freiction=1", "did you mean 'friction'?"),
        ("--grid dt=1ms --chunk 2/2", "chunk is 2/2; give one from 0/2 to 1/2"),
        ("--grid dt=1ms --chunk first", "give i/N"),
        ("--grid dt=1ms --chunks 2", "--chunks is for the script"),
        ("--grid dt=1ms --slurm --chunks 2", "chunks is 2; give a whole number from 1 to 1"),
        ("--grid dt=1ms --slurm --ray auto", "leave out --ray"),
        ("--grid dt=1ms --workers 0", "workers is 0; give a whole number"),
        ("--gird dt=1ms", "did you mean '--grid'?"),
    ],
)
def test_bad_usage_is_refused_in_one_line(words, says, tmp_path):
    refused("sweep", "drop", *words.split(), says=says)
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.usefixtures("in_an_empty_folder")
def test_cells_that_fail_are_said_and_make_the_status():
    words = ("--grid", "dt=1ms,5ms", "--grid", "control-period=1ms,5ms", "--duration", "10ms")
    result = exposim("sweep", "solo-trot", *words)
    assert result.exit_code == 3
    assert "dt 5 ms, control_period 1 ms: InvalidArgument" in result.stderr
    assert "1 of 4 cells failed" in result.stderr


@pytest.mark.usefixtures("in_an_empty_folder")
def test_chunks_computed_by_hand_and_gathered_are_the_same_folder():
    script = exposim("sweep", "drop", *WORDS, "--slurm", "--chunks", "3", "--output", "chunks").output
    assert "#SBATCH --array=0-2" in script
    (line,) = [line for line in script.splitlines() if line.startswith("srun exposim ")]
    assert line.endswith('--chunk "$SLURM_ARRAY_TASK_ID/3"')
    for number in range(3):
        words = line.removeprefix("srun exposim ").replace('"$SLURM_ARRAY_TASK_ID/3"', f"{number}/3").split()
        assert exposim(*words).exit_code == 0
    assert not Path("chunks/sweep.csv").exists()
    gathered = exposim("sweep", "drop", *WORDS, "--output", "chunks")
    assert "4 of 4 cells were there already" in gathered.output
    exposim("sweep", "drop", *WORDS, "--output", "whole")
    assert all_bits("chunks") == all_bits("whole")
    assert Path("chunks/sweep.csv").exists()


def test_every_cell_is_in_one_chunk():
    cells = list(range(10))
    assert sorted(cell for i in range(4) for cell in part_of(cells, i, 4)) == cells
    assert subprocess.run(["bash", "-n"], input=array_script("a b", ["x", "it's"], 9, 9), text=True, check=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sweep_keeps_what_is_there_and_goes_on(number, tmp_path):
    file = tmp_path / "own.py"
    file.write_text(SLEEPY)
    marks = tmp_path / "marks"
    marks.mkdir()
    words = ["sweep", str(file), "--grid", "x=0,1", "--option", f"folder={marks}", "--workers", "2", "--output", "out"]
    process = subprocess.Popen(
        [sys.executable, "-m", "exposim", *words],
        cwd=tmp_path,
        text=True,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        until(lambda: files(tmp_path / "out"))
    finally:
        os.killpg(process.pid, number)  # as a terminal does
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert "interrupted; 1 of 2 cells are done and kept in out; the same command goes on" in errors
    (marks / "go on").touch()
    again = subprocess.run(
        [sys.executable, "-m", "exposim", *words], cwd=tmp_path, text=True, capture_output=True, check=True
    )
    assert "1 of 2 cells were there already" in again.stdout
