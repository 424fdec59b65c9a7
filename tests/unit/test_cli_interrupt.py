"""A long run that is interrupted, terminated or killed is not lost, and goes on with the same bits."""

import signal
import subprocess
import sys
from time import monotonic, sleep

import numpy as np
import pytest

import exposim as xs
from command_line import exposim
from exposim.simulation.file_format import ARRAYS

PATIENCE = 60.0  # [s]


@pytest.fixture(autouse=True)
def without_plots(monkeypatch):
    monkeypatch.setattr("exposim.cli.run._plot", lambda *_: [])


@pytest.fixture
def long_run(tmp_path):
    """Starts a run of 600 s in a process of its own; waits until it says that it runs."""
    started = []

    def start(*words):
        command = [sys.executable, "-m", "exposim", "run", "drop", "--duration", "600s", "--no-replay", *words]
        process = subprocess.Popen(
            command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=1,
            # As under a shell in the background, where SIGINT is ignored by inheritance.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),  # noqa: PLW1509
        )  # fmt: skip
        started.append(process)
        assert "drop: solo12, expo 1 ms, 600 s" in process.stdout.readline()
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_goes_on_with_the_same_bits(number, status, long_run, tmp_path, monkeypatch):
    process = long_run("--output", "out")
    sleep(0.1)  # somewhere in the middle: nothing depends on where
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == status
    (line,) = errors.splitlines()
    assert "saved in out/trajectory.npz; go on with: exposim run out --resume" in line

    monkeypatch.chdir(tmp_path)
    saved = xs.Trajectory.load("out/trajectory.npz")
    assert not saved.outcome.finished
    assert len(saved) > 1
    duration = f"{saved.t[-1] + 0.25}s"
    refused = exposim("run", "drop", "--output", "out")
    assert refused.exit_code == 2
    assert "unfinished run" in refused.stderr
    resumed = exposim("run", "out", "--resume", "--duration", duration, "--no-replay")
    assert resumed.exit_code == 0, resumed.output
    assert exposim("run", "drop", "--output", "whole", "--duration", duration, "--no-replay").exit_code == 0
    one, other = xs.Trajectory.load("out/trajectory.npz"), xs.Trajectory.load("whole/trajectory.npz")
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.header == other.header


def test_a_killed_run_leaves_its_last_save(long_run, tmp_path, monkeypatch):
    process = long_run("--output", "out", "--autosave", "50ms")
    saved = tmp_path / "out" / "trajectory.npz"
    deadline = monotonic() + PATIENCE
    while not saved.exists():
        assert monotonic() < deadline
        sleep(0.02)
    process.kill()
    process.wait()
    assert len(xs.Trajectory.load(saved)) > 1
    monkeypatch.chdir(tmp_path)
    t = xs.Trajectory.load(saved).t[-1]
    resumed = exposim("run", "drop", "--output", "out", "--resume", "--duration", f"{t + 0.01}s", "--no-replay")
    assert resumed.exit_code == 0, resumed.output
    assert xs.Trajectory.load(saved).outcome.finished


@pytest.fixture
def unfinished(tmp_path, monkeypatch):
    """A folder with a run that stopped at 20 of 50 ms."""
    monkeypatch.chdir(tmp_path)
    run = xs.scenarios.Run(xs.scenarios.get("drop"), duration=0.05)
    for _ in range(20):
        run.advance()
    run.trajectory.save(tmp_path / "results" / "drop" / "trajectory.npz")
    return tmp_path / "results" / "drop"


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("--dt 0.5ms", "holds a run with dt 1 ms, not dt 0.5 ms; resume it without --dt"),
        ("--stiffness 2e5", "stiffness 100000, not stiffness 200000; resume it without --stiffness"),
        ("--friction 0.5 --damping 300", "friction"),
        ("--integrator rk4", "integrator expo, not integrator rk4"),
        (
            "--integrator paper-expo --kernel expm",
            "integrator expo, not integrator paper-expo:expm; resume it without --integrator, --kernel",
        ),
        ("--option height=0.2", "resume it without --option height"),
        ("--robot go2", "robot by default, not robot go2; resume it without --robot"),
        ("--duration 10ms", "0.02 s have been simulated already"),
    ],
)
def test_a_run_is_not_resumed_with_other_settings(flags, says, unfinished):
    before = (unfinished / "trajectory.npz").read_bytes()
    result = exposim("run", "drop", "--resume", "--no-replay", *flags.split())
    assert result.exit_code == 2
    assert says in result.stderr
    assert (unfinished / "trajectory.npz").read_bytes() == before


def test_a_run_of_another_scenario_is_not_resumed(unfinished):
    result = exposim("run", "solo-squat", "--resume", "--output", unfinished)
    assert result.exit_code == 2
    assert "holds a run of drop, not of solo-squat" in result.stderr


@pytest.mark.parametrize("what", ["drop", "results/drop", "results/drop/trajectory.npz"])
def test_flags_that_repeat_the_settings_do_no_harm(what, unfinished):
    flags = "--dt 1ms --stiffness 1e5 --integrator expo --duration 50ms"
    result = exposim("run", what, "--resume", "--no-replay", *flags.split())
    assert result.exit_code == 0, result.output
    assert xs.Trajectory.load(unfinished / "trajectory.npz").outcome.finished


def test_a_finished_run_says_so_and_can_be_extended(unfinished):
    assert exposim("run", "drop", "--resume", "--no-replay").exit_code == 0
    again = exposim("run", "drop", "--resume", "--no-replay")
    assert again.exit_code == 0
    assert "finished run of 0.05 s; a longer --duration extends it" in again.output
    assert exposim("run", "drop", "--resume", "--no-replay", "--duration", "60ms").exit_code == 0
    assert xs.Trajectory.load(unfinished / "trajectory.npz").t[-1] == pytest.approx(0.06)


def test_an_unfinished_run_is_replaced_only_on_demand(unfinished):
    refused = exposim("run", "drop", "--no-replay")
    assert refused.exit_code == 2
    assert "0.02 of 0.05 s; go on with --resume, or replace it with --overwrite" in refused.stderr
    assert exposim("run", "drop", "--no-replay", "--overwrite", "--duration", "5ms").exit_code == 0
