"""Tasks are performed wherever there is room, each until something came of it, and none twice."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from exposim.errors import ExposimError, InvalidArgument
from exposim.tasks import InThisProcess, Kept, Processes, Task, executor_for
from task_functions import HERE, begun, kill_the_worker_of, tasks, until, values


@pytest.mark.parametrize("make", [InThisProcess, lambda: Processes(2)])
def test_every_task_has_one_outcome(make):
    with make() as executor:
        assert values(executor, tasks(20)) == [x * x for x in range(20)]
        assert values(executor, tasks(3)) == [0, 1, 4]  # again, with what is there


def test_arrays_come_and_go_with_the_same_bits():
    given = np.random.default_rng(0).standard_normal((100, 7))
    with Processes(1) as executor:
        (squared,) = values(executor, [Task(f"{HERE}:square", {"x": given})])
    assert np.array_equal(squared, given * given)


@pytest.mark.parametrize("make", [InThisProcess, lambda: Processes(2)])
def test_a_task_that_fails_tells_why_and_stops_no_other(make):
    with make() as executor:
        found = dict(executor.outcomes([*tasks(2, "fail"), *tasks(2)]))
    assert [found[i].error for i in range(4)] == [
        *("ArithmeticError: no 0 today", "ArithmeticError: no 1 today"),
        *(None, None),
    ]


def test_what_cannot_be_sent_back_is_told():
    with Processes(1) as executor:
        ((_, outcome),) = executor.outcomes(tasks(1, "made_of_lambdas"))
    assert "pickle" in outcome.error


def test_workers_are_processes_that_start_no_threads_of_their_own(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with Processes(2) as executor:
        found = values(executor, tasks(4, "whereabouts"))
    assert os.getpid() not in {pid for pid, _ in found}
    assert {threads for _, threads in found} == {"1"}


def test_a_killed_worker_loses_nothing_and_nothing_finished_is_repeated(tmp_path):
    with Processes(2) as executor:
        thread = kill_the_worker_of(1, tmp_path)
        found = values(executor, tasks(4, "noted", folder=str(tmp_path)))
        thread.join()
    assert found == [0, 1, 2, 3]
    assert [len(begun(tmp_path, x)) for x in range(4)] == [1, 2, 1, 1]


def test_a_task_that_kills_its_workers_is_given_up_and_stops_no_other():
    with Processes(2) as executor:
        list(executor.outcomes(tasks(2)))
        found = dict(executor.outcomes([*tasks(1, "exit_at_once"), *tasks(6)]))
    assert found[0].is_lost
    assert "its worker died, 3 times" in found[0].error
    assert [found[number].value for number in range(1, 7)] == [x * x for x in range(6)]


def test_workers_that_cannot_start_are_no_fault_of_the_tasks(monkeypatch, capfd):
    monkeypatch.setattr("exposim.tasks.processes._CODE", "raise SystemExit('no room')")
    with Processes(2) as executor, pytest.raises(ExposimError, match="end as soon as they start"):
        list(executor.outcomes(tasks(5)))
    assert "no room" in capfd.readouterr().err


def test_the_longest_task_begins_first():
    given = [Task(f"{HERE}:square", {"x": x}, cost=float(x)) for x in range(4)]
    with Processes(1) as executor:
        assert [number for number, _ in executor.outcomes(given)] == [3, 2, 1, 0]


def test_who_stops_reading_stops_the_work(tmp_path):
    with Processes(2) as executor:
        outcomes = executor.outcomes([*tasks(1), *tasks(2, "noted", folder=str(tmp_path))])
        next(outcomes)
        until(lambda: begun(tmp_path))
        outcomes.close()
    for each in begun(tmp_path):
        with pytest.raises(ProcessLookupError):
            os.kill(int(each.name.split(".")[1]), 0)


def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    perform = f"list(executor.outcomes(tasks(2, 'noted', folder={str(tmp_path)!r})))"
    code = f"from {HERE} import *; from exposim.tasks import *\nwith Processes(2) as executor: {perform}"
    paths = os.pathsep.join(sys.path)
    process = subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": paths})
    until(lambda: len(begun(tmp_path)) == 2)
    process.kill()
    process.wait()
    for each in begun(tmp_path):
        pid = int(each.name.split(".")[1])
        until(
            lambda pid=pid: not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes()
        )


@pytest.mark.parametrize("workers", [0, -1, 1.5, "two", True])
def test_a_number_of_workers_that_is_none_is_refused(workers):
    with pytest.raises(InvalidArgument, match=r"workers is .*; give a whole number"):
        executor_for(workers)


def test_one_worker_is_this_process_and_there_are_no_more_than_tasks():
    assert isinstance(executor_for(1), InThisProcess)
    assert isinstance(executor_for(8, most=1), InThisProcess)
    assert executor_for(8, most=3).workers == 3


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"status'])
def test_a_damaged_record_is_none(damage, tmp_path):
    kept = Kept(tmp_path / "cells")
    assert kept.read("one") is None
    kept.write("one", {"x": 1.5})
    assert kept.read("one") == {"x": 1.5}
    kept.file("one").write_text(damage)
    assert kept.read("one") is None
    assert [file.name for file in kept.folder.iterdir()] == ["one.json"]
