"""Tasks on a real Ray, of this machine."""

import os
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from exposim.errors import InvalidArgument
from exposim.tasks import OnRay, executor_for
from task_functions import begun, kill_the_worker_of, tasks, values

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


def test_a_ray_that_could_not_be_kept_on_this_machine_is_not_started():
    code = "import ray; from exposim.tasks import OnRay; OnRay()"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert "ray was imported before exposim could keep it on this machine" in told.stderr


@pytest.mark.parametrize("address", ["", "  ", 5])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(InvalidArgument, match="give 'auto' or the address of a cluster"):
        OnRay(address)
