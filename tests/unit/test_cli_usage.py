"""The command line says in one line what is wrong, and what to type instead."""

import pytest

import exposim as xs
from command_line import refused


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("rnu drop", "rnu is no command; did you mean 'run'?"),
        ("frobnicate", "give one of run, compare, sweep, list, view"),
        ("run", ["SCENARIO", "exposim run --help"]),
        ("run drp", "did you mean 'drop'?"),
        ("run drop extra", "extra"),
        ("run drop --dtt 1ms", "--dtt is no option of exposim run; did you mean '--dt'?"),
        ("run drop --duration", "--duration"),
        ("run drop --dt 2kg", "dt is '2kg'; give a time such as 2ms or 0.5s"),
        ("run drop --dt 0.7ms", "control period"),
        ("run drop --duration 0s", "give a time above 0"),
        ("run drop --stiffness 1e5Ns/m", "stiffness is '1e5Ns/m'"),
        ("run drop --damping -3", "a damping of at least 0"),
        ("run drop --friction much", "friction is 'much'; give a number such as 1 or 0.8"),
        ("run drop --integrator exp", "did you mean 'expo'?"),
        ("run drop --integrator paper-expo --kernel pade4", ["pade3", "pade5"]),
        ("run drop --integrator rk4 --kernel expm", "rk4 has no choice of them; it goes with paper-expo"),
        ("run drop --kernel expm", "expo has no choice of them"),
        ("run drop --record-every 7", "record_every is 7"),
        ("run drop --record-every x", "--record-every"),
        ("run drop --robot sol12", "did you mean 'solo12'?"),
        ("run drop --robot nowhere.urdf", "there is no file"),
        ("run drop --contacts FL_FOO", "did you mean 'FL_FOOT'?"),
        ("run drop --contacts ,", "LF_FOOT,RF_FOOT"),
        ("run drop --option height", "give key=value such as height=0.2"),
        ("run drop --option hight=1", "did you mean 'height'?"),
        ("run drop --option height=high", "height is 'high'"),
        ("run solo-squat --robot go2", "has no option 'robot'"),
        ("run nowhere.py", "there is no file nowhere.py"),
        ("run nowhere.npz", "there is no trajectory nowhere.npz"),
        ("run .", "exposim run makes one"),
        ("run drop --resume", "no run in results/drop to go on with"),
        ("run drop --resume --overwrite", "give one of them"),
        ("compare drop --integrators expo,expo", "twice"),
        ("compare drop --integrators expo@", "paper-expo:pade3@2ms"),
        ("compare drop --integrators expo,rk5", "did you mean 'rk4'?"),
        ("reproduce", "make paper"),
        ("reproduce timing --quick --help", "python -m paper"),
        ("view nowhere", "there is no trajectory nowhere"),
        ("view . --port 0", "--port"),
        ("list --jsn", "did you mean '--json'?"),
    ],
)
def test_bad_usage_is_refused_in_one_line_with_a_suggestion(words, says, tmp_path):
    refused(*words.split(), says=says)
    assert not list(tmp_path.rglob("*.npz"))


def test_a_folder_that_cannot_be_written_is_refused_before_the_run(tmp_path):
    (tmp_path / "file").write_text("in the way")
    refused("run", "drop", "--output", "file/out", says=["cannot write into file/out", "--output"])
    refused("compare", "drop", "--output", "file", says="cannot write into file")


def test_a_damaged_trajectory_is_refused(tmp_path):
    (tmp_path / "bad.npz").write_bytes(b"no zip")
    refused("run", "bad.npz", says="is not a trajectory")
    refused("view", "bad.npz", says="is not a trajectory")
    (tmp_path / "trajectory.npz").write_bytes(b"no zip")
    refused("run", "drop", "--output", ".", says=["is not a trajectory", "--overwrite"])


def test_a_name_from_a_file_does_not_move_the_cursor(tmp_path):
    name = "\x1b]0;mine\x07\x1b[2Jgone"
    trajectory = xs.scenarios.get("drop").run(duration=0.002)
    trajectory.header["settings"]["scenario"]["origin"]["name"] = name
    trajectory.save(tmp_path / "x.npz")
    line = refused("run", "x.npz", says="is not known")
    assert "\x1b" not in line
    assert "\x07" not in line
