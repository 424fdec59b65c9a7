"""Tasks on a real Ray, of this machine."""

import os
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import exposim as xs
from exposim.errors import InvalidArgument
from exposim.tasks import OnRay, executor_for
from paper.cell import Cell
from paper.notebook import Notebook, compute
from swept import all_bits, sweep_and_kill_a_worker
from task_functions import HERE, begun, kill_the_worker_of, tasks, values

# Not by importing it: what it listens to is settled before.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed"),
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def cluster():
    with OnRay(workers=2) as executor:
        yield executor


def test_every_task_has_one_outcome(cluster):
    assert cluster.workers == 2
    assert values(cluster, tasks(20)) == [x * x for x in range(20)]


def test_a_task_that_fails_tells_why_and_stops_no_other(cluster):
    found = dict(cluster.outcomes([*tasks(1, "fail"), *tasks(2)]))
    assert [found[i].error for i in range(3)] == ["ArithmeticError: no 0 today", None, None]


def test_a_killed_worker_loses_nothing_and_nothing_finished_is_repeated(cluster, tmp_path):
    thread = kill_the_worker_of(1, tmp_path)
    found = values(cluster, tasks(4, "noted", folder=str(tmp_path)))
    thread.join()
    assert found == [0, 1, 2, 3]
    assert [len(begun(tmp_path, x)) for x in range(4)] == [1, 2, 1, 1]


def test_a_task_that_kills_its_workers_is_given_up_and_stops_no_other(cluster):
    found = dict(cluster.outcomes([*tasks(1, "exit_at_once"), *tasks(3)]))
    assert found[0].is_lost
    assert [found[number].value for number in range(1, 4)] == [0, 1, 4]


def family():
    """This process and all that it has started."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def listening(pids):
    """Addresses on which processes listen, as the system writes them."""
    sockets = set()
    for pid in pids:
        for descriptor in Path(f"/proc/{pid}/fd").glob("*"):
            with suppress(OSError):
                sockets.add(os.readlink(descriptor))
    lines = [line.split() for table in ("tcp", "tcp6") for line in Path(f"/proc/net/{table}").read_text().splitlines()]
    return {line[1].partition(":")[0] for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in sockets}


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="the system tells its sockets otherwise")
def test_a_ray_of_this_machine_listens_to_this_machine_alone(cluster):
    values(cluster, tasks(2))
    started = family()
    assert len(started) > 4
    assert listening(started) == {"0100007F", "0000000000000000FFFF00000100007F"}


def test_a_second_executor_uses_what_is_there_and_leaves_it(cluster):
    with executor_for(ray="auto") as second:
        assert values(second, tasks(3)) == [0, 1, 4]
    assert values(cluster, tasks(3)) == [0, 1, 4]


def test_a_killed_worker_loses_no_cell_of_a_sweep_and_repeats_none(cluster, tmp_path):
    sweep_and_kill_a_worker(cluster, tmp_path)


def test_cells_of_the_paper_are_computed_on_ray_and_kept_in_their_notebook(cluster, tmp_path):
    notebook = Notebook(tmp_path / "cells")
    cells = [Cell(f"{HERE}:rows_by", {"x": x}) for x in range(4)]
    compute([cells], notebook, jobs=None, ray="auto")
    rows = notebook.rows(cells)
    assert [row["x"] for row in rows] == [0, 1, 2, 3]
    assert os.getpid() not in {row["pid"] for row in rows}
    compute([cells], notebook, jobs=1)
    assert notebook.rows(cells) == rows


def test_the_command_sweeps_on_a_ray_of_its_own_with_the_same_bits(tmp_path):
    words = [
        "-m",
        "exposim",
        "sweep",
        "drop",
        "--grid",
        "stiffness=1e4,1e5",
        "--grid",
        "dt=1ms,5ms",
        "--duration",
        "0.2s",
    ]
    for name, where in (("here", ("--workers", "1")), ("ray", ("--ray", "auto", "--workers", "2"))):
        told = subprocess.run(
            [sys.executable, *words, *where, "--output", name],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert told.returncode == 0, told.stderr
    assert len(all_bits(tmp_path / "ray")) == 4
    assert all_bits(tmp_path / "ray") == all_bits(tmp_path / "here")


def test_rows_of_a_rollout_have_the_same_bits_on_ray(cluster):
    sim = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace(), dt=5e-3)
    states = xs.Rollout(sim).reset(v=0.3 * np.random.default_rng(1).standard_normal((6, sim.robot.nv)))
    shared = xs.sweeps.rollout(sim, states, cluster, steps=40, rows_at_once=2)
    whole = xs.Rollout(sim)(states, steps=40)
    assert np.array_equal(shared.q, whole.q)
    assert np.array_equal(shared.end, whole.end)


def test_a_ray_that_could_not_be_kept_on_this_machine_is_not_started():
    code = "import ray; from exposim.tasks import OnRay; OnRay()"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert "ray was imported before exposim could keep it on this machine" in told.stderr


@pytest.mark.parametrize("address", ["", "  ", 5])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(InvalidArgument, match="give 'auto' or the address of a cluster"):
        OnRay(address)
