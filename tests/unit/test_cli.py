"""The command line does what it says."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import exposim as xs
from command_line import exposim, fails, refused
from exposim.cli.app import app

COMMANDS = ("run", "compare", "list", "view")

FAILING = '''"""A scenario of one's own."""
import exposim as xs

def scenario(height: float = 0.05, label: str = "x", fail: bool = False):
    """Drops Solo12."""
    judge = lambda trajectory: xs.scenarios.Judgement({"answer [-]": 42.0}, ("did not fly",) if fail else ())
    return xs.scenarios.get("drop", height=height).replace(name="own", judge=judge)
'''
CRASHING = '''"""A controller with a bug."""
import exposim as xs

def scenario():
    """Drops Solo12, until t = 0.01 s."""
    made = xs.scenarios.get("drop")
    zeros = 12 * [0.0]
    def controller(t, state):
        return zeros if t < 0.0095 else 1 / 0
    return made.replace(name="crash", make_controller=lambda: controller)
'''


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def without_plots(monkeypatch):
    """For tests of other things: plots take most of the time."""
    monkeypatch.setattr("exposim.cli.run._plot", lambda *_: [])


# ----- help and lists


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_its_options(command):
    result = exposim(command, "--help")
    assert result.exit_code == 0
    assert f"exposim {command}" in result.output
    for unit in {"run": ("[s]", "[N/m]", "[N·s/m]", "Exit status: 0"), "compare": ("[s]", "[N/m]")}.get(command, ()):
        assert unit in result.output


def test_without_a_command_there_is_help():
    assert exposim().exit_code == 0
    assert exposim().output.strip() == exposim("--help").output.strip()


def test_the_version_is_printed():
    assert exposim("--version").output == f"exposim {xs.__version__}\n"


def test_the_module_runs_as_a_program():
    done = subprocess.run([sys.executable, "-m", "exposim", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"exposim {xs.__version__}\n"


def test_everything_is_listed_with_a_line():
    shown = exposim("list").output
    listed = json.loads(exposim("list", "--json").output)
    assert list(listed) == ["scenarios", "robots", "integrators", "kernels", "surfaces"]
    assert listed["scenarios"].keys() == xs.scenarios.SCENARIOS.keys()
    assert listed["robots"].keys() == xs.KNOWN_ROBOTS.keys()
    for entries in listed.values():
        for name, line in entries.items():
            assert name in shown
            assert line


def test_help_and_lists_do_not_wait_for_slow_imports():
    code = """
import sys
from exposim.cli.app import app
try:
    app(["list"])
except SystemExit as end:
    assert not end.code
slow = {"matplotlib", "viser", "meshcat", "crocoddyl", "pandas"} & set(sys.modules)
assert not slow, slow
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


# ----- run


def test_a_run_writes_trajectory_summary_plots_and_says_where(tmp_path):
    result = exposim("run", "drop", "--duration", "0.3s", "--no-replay")
    assert result.exit_code == 0, result.output
    folder = tmp_path / "results" / "drop"
    written = {"trajectory.npz", "summary.json", "motion.png", "torques.png", "forces.png"}
    assert {path.name for path in folder.iterdir()} == written
    for name in written:
        assert f"results/drop/{name}" in result.output
    assert "exposim view results/drop" in result.output
    for row in ("stable", "task", "final height [m]", "peak normal force [N]", "longest slip [m]", "real-time factor"):
        assert row in result.output
    trajectory = xs.Trajectory.load(folder / "trajectory.npz")
    assert trajectory.outcome.finished
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["stable"] is summary["succeeded"] is True
    assert summary["units"]["peak_force"] == "N"
    assert summary["peak_force"] == pytest.approx(trajectory.force[:, :, 2].max())
    assert summary["seconds_per_step"] > 0.0


@pytest.mark.usefixtures("without_plots")
def test_the_flags_are_the_settings_of_the_run(tmp_path):
    flags = (
        "--integrator expo-averaged --kernel pade3 --dt 1/4ms --stiffness 50kN/m,2e4 --damping 0.2kNs/m --friction 0.7"
    )
    more = "--duration 20ms --record-every 2 --robot go2 --option height=5cm"
    assert exposim("run", "drop", *flags.split(), *more.split(), "--output", "out", "--no-replay").exit_code == 0
    settings = xs.Trajectory.load(tmp_path / "out" / "trajectory.npz").settings
    assert settings.integrator == xs.PaperExpo(kernel=xs.Pade(3))
    assert (settings.dt, settings.duration, settings.record_every) == (0.25e-3, 0.02, 2)
    assert settings.ground[0].material == xs.Material((5e4, 2e4), 200.0, 0.7)
    assert settings.robot.name == "go2"
    assert settings.scenario.origin.options == {"robot": "go2", "height": 0.05}


@pytest.mark.parametrize("name", ["explicit-euler", "semi-implicit-euler", "rk4", "runge-kutta4", "implicit-euler"])
@pytest.mark.usefixtures("without_plots")
def test_every_integrator_has_a_name(name, tmp_path):
    result = exposim(
        "run", "drop", "--integrator", name, "--dt", "0.1ms", "--duration", "5ms", "--output", "out", "--no-replay"
    )
    assert result.exit_code == 0, result.output


def test_a_diverged_run_is_kept_and_plotted(tmp_path):
    words = "run drop --integrator explicit-euler --stiffness 1e8 --output out --no-replay"
    line = fails(1, *words.split(), says=["diverged at t =", "ExplicitEuler needs a smaller dt"])
    assert line.count("\n") == 0
    assert (tmp_path / "out" / "forces.png").is_file()
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["stable"] is False
    assert summary["diverged_at"] > 0.1
    refused("run", "drop", "--output", "out", "--resume", says="diverged at")
    assert exposim("run", "drop", "--output", "out", "--duration", "10ms", "--no-replay").exit_code == 0


@pytest.mark.usefixtures("without_plots")
def test_a_failed_task_has_a_status_of_its_own(tmp_path):
    (tmp_path / "own.py").write_text(FAILING)
    words = ("run", "own.py", "--duration", "10ms", "--no-replay")
    result = exposim(*words)
    assert result.exit_code == 0
    assert "answer [-]" in result.output
    fails(3, *words, "--option", "fail=true", says="failed its task: did not fly")
    assert (tmp_path / "results" / "own" / "trajectory.npz").is_file()


@pytest.mark.usefixtures("without_plots")
def test_an_error_in_one_s_own_file_names_the_line_and_keeps_what_came_before(tmp_path):
    (tmp_path / "crash.py").write_text(CRASHING)
    refused("run", "crash.py", "--no-replay", says=["crash.py, line 9", "ZeroDivisionError", "--debug"])
    kept = xs.Trajectory.load(tmp_path / "results" / "crash" / "trajectory.npz")
    assert kept.t[-1] == pytest.approx(0.01)
    refused("run", "crash.py", "--no-replay", says="unfinished")


def test_a_bug_of_ours_is_said_to_be_one_and_shown_with_debug(monkeypatch):
    monkeypatch.setattr("exposim.cli.run.Summary", None)
    words = ("run", "drop", "--duration", "5ms", "--no-replay")
    fails(70, *words, says=["a bug in exposim", "AttributeError", "run.py, line", "--debug"])
    for debugging in (("--debug", *words), (*words, "--debug")):
        result = CliRunner().invoke(app, debugging)
        assert isinstance(result.exception, AttributeError)


@pytest.mark.usefixtures("without_plots")
def test_saved_results_are_run_again_with_their_settings_unless_flags_say_otherwise(tmp_path):
    first = "run drop --duration 30ms --dt 0.5ms --integrator rk4 --friction 0.5 --option height=0.01 --no-replay"
    assert exposim(*first.split()).exit_code == 0
    again = exposim("run", "results/drop", "--no-replay")
    assert "results/drop-again" in again.output  # not over what it comes from
    path = tmp_path / "results" / "drop" / "trajectory.npz"
    assert exposim("run", path, "--no-replay", "--dt", "0.25ms", "--output", "finer").exit_code == 0
    assert exposim("run", path, "--no-replay", "--option", "height=0.02", "--output", "higher").exit_code == 0
    one, same, finer, higher = (
        xs.Trajectory.load(tmp_path / folder / "trajectory.npz")
        for folder in ("results/drop", "results/drop-again", "finer", "higher")
    )
    assert same.settings == one.settings
    np.testing.assert_array_equal(same.q, one.q)
    assert finer.settings.dt == 0.25e-3
    assert finer.settings.integrator == one.settings.integrator
    assert finer.settings.ground == one.settings.ground
    assert higher.q[0, 2] == pytest.approx(one.q[0, 2] + 0.01)
    assert higher.settings.ground == one.settings.ground


@pytest.mark.usefixtures("without_plots")
def test_files_of_an_earlier_run_do_not_stay_beside_a_new_trajectory(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "replay.html").write_text("old")
    assert exposim("run", "drop", "--duration", "5ms", "--output", "out", "--no-replay").exit_code == 0
    assert not (tmp_path / "out" / "replay.html").exists()


@pytest.mark.usefixtures("without_plots")
def test_a_replay_is_written_unless_it_is_not_wanted(tmp_path, monkeypatch):
    viewer = pytest.importorskip("exposim.viewer")
    monkeypatch.setattr(viewer, "write_replay", lambda trajectory, path, *_: path.write_text(str(len(trajectory))))
    result = exposim("run", "drop", "--duration", "5ms", "--output", "out")
    assert "out/replay.html" in result.output
    assert (tmp_path / "out" / "replay.html").read_text() == "6"


@pytest.mark.usefixtures("without_plots")
def test_a_robot_of_one_s_own_is_dropped_by_the_path_of_its_file(tmp_path):
    source = xs.load_robot("go2").source
    result = exposim(
        "run", "drop", "--robot", source, "--contacts", "FL_foot,FR_foot,RL_foot,RR_foot", "--duration", "5ms",
        "--no-replay",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    names = xs.Trajectory.load(tmp_path / "results" / "drop" / "trajectory.npz").contact_names
    assert names == ("FL_foot", "FR_foot", "RL_foot", "RR_foot")


@pytest.mark.usefixtures("without_plots")
def test_contacts_take_a_radius(tmp_path):
    def run(contacts):
        words = ("run", "drop", "--robot", "go2", "--contacts", contacts, "--duration", "2ms", "--no-replay")
        assert exposim(*words, "--overwrite").exit_code == 0
        return xs.Trajectory.load(tmp_path / "results" / "drop" / "trajectory.npz")

    points = xs.scenarios.of(run("FL_foot:2.2cm, FR_foot:0.022,RL_foot")).robot.contact_points
    assert [(point.frame, point.radius) for point in points] == [
        ("FL_foot", 0.022),
        ("FR_foot", 0.022),
        ("RL_foot", 0.0),
    ]
    assert run("FL_foot,FR_foot").settings.scenario.origin.options["contacts"] == ["FL_foot", "FR_foot"]
    refused("run", "drop", "--contacts", "FL_foot:2kg", says=["radius of 'FL_foot' is '2kg'", "give a length"])
    refused("run", "drop", "--contacts", "FL_foot:-1cm", says="of at least 0")
    refused("run", "drop", "--contacts", "a:b", says="'a:b'")


# ----- compare and view


def test_integrators_are_compared_side_by_side(tmp_path):
    schemes = "expo@1ms,paper-expo:pade3@0.5ms,explicit-euler"
    result = exposim("compare", "drop", "--integrators", schemes, "--stiffness", "1e8", "--duration", "0.2s")
    assert result.exit_code == 0, result.output
    for word in ("paper-expo:pade3", "explicit-euler", "0.5 ms", "base differs by [m]", "no, "):
        assert word in result.output
    folder = tmp_path / "results" / "drop-compare"
    assert (folder / "compare.png").stat().st_size > 10_000
    with (folder / "compare.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["label"] for row in rows] == ["expo 1 ms", "paper-expo:pade3 0.5 ms", "explicit-euler 1 ms"]
    assert [row["stable"] for row in rows] == ["True", "True", "False"]
    assert rows[0]["difference_base"] == ""
    assert float(rows[1]["difference_base"]) > 0.0


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_a_comparison_breaks_no_number_however_narrow_the_terminal(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("exposim.plots.save", lambda *_: None)
    schemes = "expo,paper-expo,implicit-euler,semi-implicit-euler@0.1ms"
    shown = exposim("compare", "drop", "--integrators", schemes, "--duration", "0.2s").output
    tables = shown.count("stable ")
    assert tables == {40: 4, 80: 2, 120: 1}[columns]
    assert all(f" {name} " in shown for name in ("expo", "implicit-euler", "semi-implicit-euler"))
    assert "…" not in shown
    rows = [line.split() for line in shown.splitlines() if "mean total force" in line]
    with Path("results/drop-compare/compare.csv").open(newline="") as stream:
        written = [f"{float(row['mean_force']):.3g}" for row in csv.DictReader(stream)]
    assert [value for row in rows for value in row[4:]] == written
    if columns > 40:
        assert max(map(len, shown.splitlines()[:-2])) <= columns


def test_the_control_period_is_kept_and_said(tmp_path):
    words = ("compare", "solo-trot", "--duration", "50ms", "--integrators")
    refused(*words, "expo,expo@5ms", says=["dt is 0.005 s", "control period of 0.002 s", "--control-period 5ms"])
    refused("run", "solo-trot", "--dt", "5ms", says=["control period of 0.002 s", "--control-period 5ms"])
    refused(*words, "expo", "--control-period", "5", says="control_period is '5', which has no unit")
    for flags, period in (("expo,expo@1ms", "2 ms"), ("expo@5ms,expo@1ms --control-period 5ms", "5 ms")):
        result = exposim(*words, *flags.split(), "--overwrite")
        assert result.exit_code == 0, result.output
        (row,) = (line.split() for line in result.output.splitlines() if "control period" in line)
        assert " ".join(row) == f"control period {period} {period}"
    with (tmp_path / "results" / "solo-trot-compare" / "compare.csv").open(newline="") as stream:
        assert {row["control_period"] for row in csv.DictReader(stream)} == {"0.005"}


@pytest.mark.usefixtures("without_plots")
def test_a_saved_run_keeps_its_control_period_unless_flags_say_otherwise(tmp_path):
    first = "run solo-trot --dt 5ms --control-period 5ms --duration 20ms --no-replay --output out"
    assert "control period          5 ms" in exposim(*first.split()).output
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["control_period"] == 5e-3
    for flags, period in (("--dt 2.5ms", 5e-3), ("--control-period 10ms", 1e-2)):
        again = exposim("run", "out", *flags.split(), "--no-replay", "--output", "again", "--overwrite")
        assert again.exit_code == 0, again.output
        assert xs.Trajectory.load(tmp_path / "again" / "trajectory.npz").settings.control_period == period
    refused("run", "out", "--dt", "10ms", says="control period of 0.005 s")
    longer = ("run", "out", "--resume", "--no-replay", "--duration", "40ms")
    refused(*longer, "--control-period", "10ms", says="resume it without --control-period")
    assert exposim(*longer).exit_code == 0


@pytest.mark.usefixtures("without_plots")
def test_a_saved_run_that_holds_nothing_is_run_again_at_any_step(tmp_path):
    assert exposim("run", "drop", "--duration", "20ms", "--no-replay", "--output", "out").exit_code == 0
    again = exposim("run", "out", "--dt", "5ms", "--no-replay", "--output", "again")
    assert again.exit_code == 0, again.output
    assert "control period          none" in again.output


@pytest.mark.usefixtures("without_plots")
def test_steps_are_chosen_by_accuracy_and_told(tmp_path):
    words = ("run", "solo-trot", "--accuracy", "1e-3", "--no-replay", "--output", "out", "--duration")
    result = exposim(*words, "20ms")
    assert result.exit_code == 0, result.output
    assert "solo-trot: solo12, expo to 0.001, 0.02 s" in result.output
    for row in ("steps ", "rejected ", "smallest step ", "largest step ", "control period          2 ms"):
        assert row in result.output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    trajectory = xs.Trajectory.load(tmp_path / "out" / "trajectory.npz")
    assert trajectory.settings.accuracy == summary["accuracy"] == 1e-3
    assert summary["steps"] == len(trajectory) - 1 >= 10
    assert 0.0 < summary["smallest"] <= summary["largest"] <= 2e-3 + 1e-12
    assert exposim(*words, "40ms", "--resume").exit_code == 0
    refused(
        *words, "60ms", "--resume", "--accuracy", "1e-4", says="accuracy 0.001, not accuracy 0.0001; resume it without"
    )
    refused("run", "out", "--resume", "--dt", "1ms", says="accuracy 0.001, not dt 1 ms; resume it without --dt")
    assert exposim("run", "out", "--dt", "1ms", "--no-replay", "--output", "fixed").exit_code == 0
    fixed = xs.Trajectory.load(tmp_path / "fixed" / "trajectory.npz").settings
    assert (fixed.accuracy, fixed.dt) == (None, 1e-3)
    assert exposim("run", "fixed", "--accuracy", "1e-2", "--no-replay", "--output", "again").exit_code == 0
    assert xs.Trajectory.load(tmp_path / "again" / "trajectory.npz").settings.accuracy == 1e-2


def test_runs_by_accuracy_are_compared_with_others(monkeypatch):
    monkeypatch.setattr("exposim.plots.save", lambda *_: None)
    words = ("compare", "solo-trot", "--accuracy", "1e-3", "--integrators", "expo,expo@1ms", "--duration", "20ms")
    result = exposim(*words)
    assert result.exit_code == 0, result.output
    assert " to 0.001 " in result.output and " 1 ms " in result.output
    with Path("results/solo-trot-compare/compare.csv").open(newline="") as stream:
        chosen, fixed = csv.DictReader(stream)
    assert (chosen["accuracy"], fixed["accuracy"]) == ("0.001", "")
    assert 0.0 < float(fixed["difference_joints"]) < 1e-3


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("--accuracy 1e-3 --dt 1ms", "--accuracy chooses the steps, and all are recorded; leave out --dt, or it"),
        ("--accuracy 1e-3 --record-every 2", "leave out --record-every, or it"),
        ("--accuracy 0", "accuracy is '0'; give a number above 0 such as 1e-3 or 1e-4"),
        ("--accuracy 1ms", "accuracy is '1ms'; give a number such as 1e-3"),
    ],
)
def test_accuracies_that_make_no_sense_are_refused(flags, says):
    refused("run", "drop", *flags.split(), says=says)


def test_runs_by_two_exact_kernels_do_not_differ(tmp_path):
    exposim("compare", "drop", "--integrators", "paper-expo,paper-expo:modal", "--duration", "0.2s")
    with (tmp_path / "results" / "drop-compare" / "compare.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert max(float(rows[1]["difference_base"]), float(rows[1]["difference_joints"])) < 1e-12


@pytest.mark.usefixtures("without_plots")
def test_view_serves_until_it_is_interrupted(monkeypatch):
    viewer = pytest.importorskip("exposim.viewer")
    calls = []

    class Server:
        url = "http://localhost:1234"

        def wait(self):
            raise KeyboardInterrupt

        def stop(self):
            calls.append("stop")

    def serve(trajectory, *, port, open_browser):
        calls.append((len(trajectory), port, open_browser))
        return Server()

    monkeypatch.setattr(viewer, "serve", serve)
    exposim("run", "drop", "--duration", "5ms", "--no-replay")
    result = exposim("view", "results/drop", "--port", "1234", "--no-browser")
    assert result.exit_code == 0
    assert "http://localhost:1234" in result.output
    assert calls == [(6, 1234, False), "stop"]
