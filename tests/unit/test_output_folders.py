"""What a run has written is not lost to the next one, nor to one beside it, nor to a disk that is full."""

import errno
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest

import exposim as xs
from command_line import exposim, fails, refused
from exposim._writing import writing
from exposim.cli.folders import LOCK, default_folder, latest, next_free
from exposim.errors import UnwritableFile

SHORT = ("--duration", "5ms", "--no-replay")


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def without_plots(monkeypatch):
    monkeypatch.setattr("exposim.cli.run._plot", lambda *_: [])


@pytest.fixture
def long_run(tmp_path):
    """A run of 600 s into ``out``, in a process of its own, that has begun."""
    process = subprocess.Popen(
        [sys.executable, "-m", "exposim", "run", "drop", "--duration", "600s", "--no-replay", "--output", "out"],
        cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=1,
    )  # fmt: skip
    assert "drop: solo12" in process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def t_end(folder):
    return float(xs.Trajectory.load(f"{folder}/trajectory.npz").t[-1])


# ----- finished runs


@pytest.mark.usefixtures("without_plots")
def test_a_finished_run_is_replaced_only_on_demand(tmp_path):
    assert exposim("run", "drop", *SHORT, "--output", "out").exit_code == 0
    before = (tmp_path / "out" / "trajectory.npz").read_bytes()
    again = ("run", "drop", "--duration", "6ms", "--no-replay", "--output", "out")
    refused(*again, says=["out holds a finished run of drop, 0.005 s", "--overwrite", "--output"])
    assert (tmp_path / "out" / "trajectory.npz").read_bytes() == before
    assert exposim(*again, "--overwrite").exit_code == 0
    assert t_end("out") == pytest.approx(0.006)


@pytest.mark.usefixtures("without_plots")
def test_runs_without_a_folder_of_their_own_get_one_with_a_number(tmp_path):
    for folder in ("drop", "drop-2", "drop-3"):
        result = exposim("run", "drop", *SHORT)
        assert result.exit_code == 0, result.output
        assert f"→ results/{folder}\n" in result.output
    for words in (("--overwrite",), ("--resume",)):  # both mean the last one
        result = exposim("run", "drop", "--duration", "9ms", "--no-replay", *words)
        assert result.exit_code == 0, result.output
        assert "results/drop-3" in result.output
    assert [t_end(f"results/{name}") for name in ("drop", "drop-2")] == pytest.approx([0.005, 0.005])
    assert "→ results/drop-2-again\n" in exposim("run", "results/drop-2", "--no-replay").output


@pytest.mark.usefixtures("without_plots")
def test_an_unfinished_run_among_the_numbered_is_not_passed_over(tmp_path):
    assert exposim("run", "drop", *SHORT).exit_code == 0
    run = xs.scenarios.Run(xs.scenarios.get("drop"), duration=0.05)
    run.advance()
    run.trajectory.save(tmp_path / "results" / "drop-2" / "trajectory.npz")
    refused("run", "drop", *SHORT, says=["results/drop-2 holds an unfinished run", "--resume", "--overwrite"])
    assert exposim("run", "drop", "--resume", "--no-replay").exit_code == 0
    assert t_end("results/drop-2") == pytest.approx(0.05)


@pytest.mark.usefixtures("without_plots")
def test_a_diverged_run_makes_room_with_a_word(tmp_path):
    words = ("run", "drop", "--no-replay", "--output", "out")
    fails(1, *words, "--integrator", "explicit-euler", "--stiffness", "1e8", says="diverged")
    result = exposim(*words, "--duration", "5ms")
    assert result.exit_code == 0, result.output
    assert "note: replaces the run in out that diverged at" in result.stderr


def test_comparisons_are_not_replaced_either(tmp_path):
    words = ("compare", "drop", "--integrators", "expo", "--duration", "5ms")
    for folder in ("drop-compare", "drop-compare-2"):
        assert exposim(*words).exit_code == 0
        assert (tmp_path / "results" / folder / "compare.csv").is_file()
    last = ("--output", "results/drop-compare-2")
    refused(*words, *last, says=["holds a comparison", "--overwrite", "--output"])
    assert exposim(*words, *last, "--overwrite").exit_code == 0


@pytest.mark.parametrize(
    ("there", "last", "free"),
    [
        ((), "a", "a"),
        (("a",), "a", "a-2"),
        (("a", "a-2", "a-10"), "a-10", "a-11"),
        (("a", "a-b", "a-2b", "b-7", "a-02", "a-"), "a", "a-2"),
        (("a-3",), "a-3", "a-4"),
    ],
)
def test_numbers_are_counted_on_from_the_last(there, last, free, tmp_path):
    for name in there:
        (tmp_path / name).mkdir()
    assert latest(tmp_path / "a").name == last
    assert next_free(tmp_path / "a").name == free


@pytest.mark.parametrize("name", ["..", ".", "...", "../x", "a/b", "/etc"])
def test_no_name_leads_out_of_the_results(name, tmp_path):
    folder = (tmp_path / default_folder(name)).resolve()
    assert folder.parent == tmp_path / "results"


# ----- two runs at once


@pytest.mark.usefixtures("without_plots")
def test_two_runs_do_not_write_into_one_folder(long_run, tmp_path):
    (tmp_path / "link").symlink_to("out")
    for folder in ("out", "link", "./out/../out"):
        for words in ((), ("--overwrite",)):
            line = refused("run", "drop", *SHORT, "--output", folder, *words, says=["another run is writing into"])
            assert folder.rsplit("/", 1)[-1] in line
            assert f"process {long_run.pid}" in line
    refused("compare", "drop", "--output", "out", says="another run is writing into out")
    assert long_run.poll() is None
    assert exposim("run", "drop", *SHORT, "--output", "other").exit_code == 0


@pytest.mark.usefixtures("without_plots")
def test_the_folder_of_a_killed_run_is_free(long_run, tmp_path):
    long_run.kill()
    long_run.wait()
    assert (tmp_path / "out" / LOCK).exists()  # nobody was left to remove it
    assert exposim("run", "drop", *SHORT, "--output", "out").exit_code == 0
    assert not (tmp_path / "out" / LOCK).exists()


@pytest.mark.usefixtures("without_plots")
def test_a_run_is_not_resumed_while_it_goes_on(long_run, tmp_path):
    run = xs.scenarios.Run(xs.scenarios.get("drop"), duration=0.05)
    run.advance()
    run.trajectory.save(tmp_path / "out" / "trajectory.npz")
    refused("run", "out", "--resume", says="another run is writing into out")


@pytest.mark.usefixtures("without_plots")
def test_a_lock_that_leads_elsewhere_is_refused(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / LOCK).symlink_to(tmp_path / "precious")
    refused("run", "drop", *SHORT, "--output", "out", says=["cannot write into out", LOCK])
    assert not (tmp_path / "precious").exists()


# ----- processes that were killed, disks that are full


@pytest.mark.usefixtures("without_plots")
def test_what_killed_runs_have_left_is_removed_and_nothing_else(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    left = ["trajectory.npz.4711.part", "replay.html.0a1b2c.part", "motion.png.ff.part", "summary.json.1.part"]
    kept = ["mine.part", "trajectory.npz.txt", "part"]
    for name in (*left, *kept):
        (out / name).write_text("x")
    assert exposim("run", "drop", *SHORT, "--output", "out").exit_code == 0
    assert {path.name for path in out.iterdir()} == {"trajectory.npz", "summary.json", *kept}


@pytest.fixture(scope="module")
def recorded():
    return xs.scenarios.get("drop").run(duration=0.01)


def save_plot(recorded, path):
    xs.plots.save(xs.plots.forces(recorded), path)


def save_replay(recorded, path):
    xs.viewer.write_replay(recorded, path)


@pytest.mark.parametrize(("write", "name"), [(save_plot, "forces.png"), (save_replay, "replay.html")])
def test_a_picture_or_page_is_written_whole_or_not_at_all(write, name, recorded, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    pytest.importorskip("meshcat")
    path = tmp_path / name
    path.write_text("old")
    seen = []

    def sync(descriptor):
        seen.append(path.read_text())
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("exposim._writing.os.fsync", sync)
    with pytest.raises(UnwritableFile, match=f"cannot write {path}: No space left on device"):
        write(recorded, path)
    assert seen == ["old"]
    assert [each.name for each in tmp_path.iterdir()] == [name]
    monkeypatch.undo()
    write(recorded, path)
    assert path.stat().st_size > 10_000
    assert path.stat().st_mode & 0o777 == 0o666 & ~current_umask()


def current_umask():
    done = subprocess.run([sys.executable, "-c", "import os; print(os.umask(0))"], check=True, capture_output=True)
    return int(done.stdout)


def test_a_stream_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), writing(tmp_path / "x") as stream:
        stream.write(b"half")
        1 / 0  # noqa: B018
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [1000, 30_000, 60_000])
def test_a_disk_that_is_full_is_said_with_the_name_of_the_file(size, tmp_path):
    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    done = subprocess.run(
        [sys.executable, "-m", "exposim", "run", "drop", "--duration", "0.1s", "--output", "out"],
        cwd=tmp_path, capture_output=True, text=True, preexec_fn=limited, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    name = {1000: "trajectory.npz", 30_000: "trajectory.npz", 60_000: "png"}[size]
    assert line.startswith("error: cannot write out/")
    assert name in line
    assert line.endswith("File too large")
    assert "Traceback" not in done.stderr
    assert not [path.name for path in (tmp_path / "out").iterdir() if path.suffix == ".part"]


@pytest.mark.usefixtures("without_plots")
def test_a_save_in_between_that_fails_does_not_end_the_run(monkeypatch):
    save, failures = xs.Trajectory.save, []

    def fail_at_first(trajectory, path):
        if not failures:
            failures.append(path)
            raise UnwritableFile(f"cannot write {path}: No space left on device")
        return save(trajectory, path)

    monkeypatch.setattr(xs.Trajectory, "save", fail_at_first)
    result = exposim("run", "drop", "--duration", "20ms", "--autosave", "0s", "--no-replay")
    assert result.exit_code == 0, result.output
    assert "note: cannot write results/drop/trajectory.npz: No space left on device; the run goes on" in result.stderr
    assert t_end("results/drop") == pytest.approx(0.02)


@pytest.mark.usefixtures("without_plots")
def test_a_file_system_without_locks_gets_a_note(monkeypatch, tmp_path):
    def refuse(*_):
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", refuse)
    result = exposim("run", "drop", *SHORT, "--output", "out")
    assert result.exit_code == 0, result.output
    assert "note: out cannot be locked (Operation not supported)" in result.stderr
    assert not (tmp_path / "out" / LOCK).exists()


def test_a_folder_that_cannot_be_made_is_said_with_the_name_of_the_file(recorded, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UnwritableFile, match=r"cannot write .*file/x\.npz"):
        recorded.save(tmp_path / "file" / "x.npz")
    with pytest.raises(UnwritableFile, match=r"cannot write .*nowhere/x\.png: No such file"):
        xs.plots.save(xs.plots.forces(recorded), tmp_path / "nowhere" / "x.png")


def test_a_picture_of_an_unknown_kind_is_refused(recorded, tmp_path):
    for name in ("x", "x.xyz"):
        with pytest.raises(xs.InvalidArgument, match=r"ends in one of .*\.png"):
            xs.plots.save(xs.plots.forces(recorded), tmp_path / name)
    assert not list(tmp_path.iterdir())


# ----- files in the place of trajectories


def test_plots_and_replays_take_the_file_of_a_trajectory(recorded, tmp_path):
    file = recorded.save(tmp_path / "x.npz")
    for plot in (xs.plots.forces, xs.plots.torques, xs.plots.motion):
        for given in (file, str(file)):
            assert plot(given).axes[0].lines[0].get_xdata().shape == recorded.t.shape
    np.testing.assert_array_equal(xs.plots.comparison({"a": str(file)}).axes[0].lines[0].get_ydata(), recorded.q[:, 2])
    assert xs.viewer.write_replay(str(file), tmp_path / "x.html").stat().st_size > 10_000


@pytest.mark.parametrize("given", [None, 5, {}, np.zeros(3)], ids=str)
def test_what_is_no_trajectory_is_told_what_is(given, tmp_path):
    for show in (
        xs.plots.forces,
        xs.plots.torques,
        xs.plots.motion,
        lambda each: xs.plots.comparison({"a": each}),
        lambda each: xs.viewer.write_replay(each, tmp_path / "x.html"),
        lambda each: xs.viewer.serve(each, port=0, open_browser=False),
    ):
        with pytest.raises(xs.InvalidArgument, match="give a Trajectory, or the path of a saved one"):
            show(given)
    with pytest.raises(xs.UnknownFile):
        xs.plots.forces("nowhere.npz")
    with pytest.raises(xs.InvalidArgument, match="a mapping from labels"):
        xs.plots.comparison(given)


# ----- steps without a unit


@pytest.mark.parametrize("dt", ["1", "5", "5.0", " 2 ", "1e3", "3/2"])
def test_a_step_from_one_on_must_have_a_unit(dt):
    refused("run", "drop", "--dt", dt, says=[f"dt is {dt!r}, which has no unit", f"{dt.strip()}ms"])
    refused("compare", "drop", "--integrators", f"expo@{dt}", says="has no unit")


@pytest.mark.usefixtures("without_plots")
@pytest.mark.parametrize("dt", ["0.001", "1e-3", "1/1000", "1ms"])
def test_a_small_step_is_in_seconds_without_a_unit(dt):
    assert exposim("run", "drop", "--dt", dt, *SHORT).exit_code == 0
    assert xs.Trajectory.load("results/drop/trajectory.npz").settings.dt == 1e-3
