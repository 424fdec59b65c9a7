"""Examples run, and what is generated is up to date."""

import importlib.metadata
import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import exposim as xs

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


def test_the_drop_shows_expo_stable_where_the_euler_schemes_diverge():
    drop = runpy.run_path(str(ROOT / "examples" / "drop.py"))["drop"]
    expo = drop().run(xs.Expo())
    assert expo.outcome.diverged_at is None
    assert 0.19 < expo.q[-1, 2] < 0.22
    for scheme in (xs.ExplicitEuler(), xs.SemiImplicitEuler()):
        assert drop().run(scheme).outcome.diverged_at is not None


def test_the_readme_s_first_example_runs(capsys):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = text.split("```python\n", 1)[1].split("```", 1)[0]
    exec(compile(code, "README.md", "exec"), {})
    assert "FL_FOOT" in capsys.readouterr().out


def test_the_stubs_are_those_of_the_extension():
    make_stubs = runpy.run_path(str(ROOT / "tools" / "make_stubs.py"))
    assert make_stubs["TARGET"].read_text(encoding="utf-8") == make_stubs["generate"](), "run: make stubs"


def test_the_version_is_stated_once():
    assert importlib.metadata.version("exposim") == xs.__version__
    assert f"## {xs.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_public_names_are_few_and_documented():
    assert len(xs.__all__) <= 38
    assert all(getattr(xs, name).__doc__ for name in xs.__all__)


def test_the_step_benchmark_runs_saves_and_compares(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # where MuJoCo writes its log, if it is installed
    saved = tmp_path / "now.json"
    benchmark = str(ROOT / "benchmarks" / "step.py")
    for arguments in (["--save", str(saved)], ["--compare", str(saved)]):
        monkeypatch.setattr(sys, "argv", [benchmark, "solo12-2", "--repeats", "1", *arguments])
        runpy.run_path(benchmark, run_name="__main__")
    printed = capsys.readouterr().out
    assert "Expo, Padé 1" in printed
    assert "before" in printed
    seconds = json.loads(saved.read_text())["seconds"]["solo12-2"]
    assert 0.0 < seconds["explicit Euler"] < 1.0


def test_the_tutorial_runs_from_beginning_to_end(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    blocks = [block.split("```", 1)[0] for block in text.split("```python\n")[1:]]
    names = {}
    for block in blocks:
        exec(compile(block, "docs/tutorial.md", "exec"), names)
    assert 0.035 < np.ptp(names["moved"].q[100:, 1]) < 0.05
    assert "ExplicitEuler needs a smaller dt" in capsys.readouterr().out


def test_a_scenario_of_one_s_own_takes_less_than_40_lines():
    example = ROOT / "examples" / "push.py"
    assert len(example.read_text(encoding="utf-8").splitlines()) < 40
    scenario = xs.scenarios.get(example)
    assert scenario.judge(scenario.run()).complaints == ()
