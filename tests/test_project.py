"""Examples run, and what is generated is up to date."""

import importlib.metadata
import inspect
import json
import re
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
    assert len(xs.__all__) <= 64
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


def test_the_world_benchmark_runs_and_saves(tmp_path, monkeypatch, capsys):
    saved = tmp_path / "now.json"
    monkeypatch.setattr(sys, "argv", ["world.py", "--rounds", "1", "--save", str(saved)])
    runpy.run_path(str(ROOT / "benchmarks" / "world.py"), run_name="__main__")
    assert "rough height field" in capsys.readouterr().out
    assert 0.0 < json.loads(saved.read_text())["queries"]["box"]["query"] < 1e4


def test_the_workload_benchmark_runs_saves_and_compares(tmp_path, monkeypatch, capsys):
    benchmarks = ROOT / "benchmarks"
    monkeypatch.chdir(tmp_path)  # where MuJoCo writes its log, if it is installed
    monkeypatch.syspath_prepend(benchmarks)
    for arguments in (["--errors", "--save", "now.json"], ["--drives", "--compare", "now.json"]):
        monkeypatch.setattr(sys, "argv", ["workload.py", "--quick", "--repeats", "1", *arguments])
        runpy.run_path(str(benchmarks / "workload.py"), run_name="__main__")
    assert "--drives was False before and is True now" in capsys.readouterr().out
    found = json.loads(Path("now.json").read_text())["results"]["workload solo12 10 ms"]["Expo"]
    assert 0.0 < found["seconds per step"] <= found["worst period"] < 1.0
    assert 0.2 < found["resolved"] < 1.0
    assert found["error"] < 1.0


def test_the_benchmark_of_the_inside_of_steps_runs_saves_compares_and_writes_its_section(tmp_path, monkeypatch, capsys):
    benchmarks = ROOT / "benchmarks"
    monkeypatch.chdir(tmp_path)  # where MuJoCo writes its log, if it is installed
    monkeypatch.syspath_prepend(benchmarks)
    Path("results.md").write_text("# Results\n\n## Inside the step\n\nas it was\n")
    for arguments in (["--save", "now.json", "--docs", "."], ["--load", "now.json", "--compare", "now.json"]):
        monkeypatch.setattr(sys, "argv", ["inside.py", "--quick", *arguments])
        runpy.run_path(str(benchmarks / "inside.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert "before" in printed
    assert "missed" not in printed.rpartition("Bars")[2]
    found = json.loads(Path("now.json").read_text())["results"]
    step, truths = found["forces"]["solo-jump"]["step"], found["forces"]["solo-jump"]["truths"]
    assert truths["mean"] < 1e-4 < step["mean"] < 0.03
    assert [each["landings"] for each in found["events"]["solo-jump"].values()] == [8, 8, 8, 8]
    errors = found["accuracy"]["box tumbling"]["errors"]
    assert np.mean(errors["alone 1e-05"]) < np.mean(errors["fixed 1"])
    page = Path("results.md").read_text()
    assert page.startswith("# Results\n\n## Inside the step\n")
    assert "as it was" not in page
    assert Path("images/work_precision.png").stat().st_size > 10_000


def test_contacts_in_mujoco_are_as_stiff_as_ours(monkeypatch):
    mujoco = pytest.importorskip("mujoco")
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from rival import Mujoco  # noqa: PLC0415
    from workload_scenes import CALM  # noqa: PLC0415

    scene = CALM["solo12"]
    theirs = Mujoco(scene.robot, mujoco.mjtIntegrator.mjINT_DISCRETE, 1e-3, xs.Material(1e5, 300.0, 0.8))
    theirs.reset(scene.robot.q0, np.zeros(scene.robot.nv))
    for _ in range(1000):
        scene.command(theirs, scene.robot.q0[7:])
        theirs.run(1)
    pressed = [-contact.dist for contact in theirs.data.contact]
    assert np.sum(pressed) == pytest.approx(9.81 * sum(theirs.model.body_mass) / 1e5, rel=1e-3)


def run_blocks(page):
    """All blocks of Python of a page of the documentation, in one session; what it leaves behind."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    names = {}
    for block in text.split("```python\n")[1:]:
        exec(compile(block.split("```", 1)[0], f"docs/{page}", "exec"), names)
    return names


def test_the_page_on_seeing_runs_from_beginning_to_end(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run_blocks("seeing.md")
    assert names["rgb"].shape == (120, 160, 3)
    assert Path("drop.gif").stat().st_size > 1000


def test_the_tutorial_runs_from_beginning_to_end(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = run_blocks("tutorial.md")
    assert 0.035 < np.ptp(names["moved"].q[100:, 1]) < 0.05
    assert "ExplicitEuler needs a smaller dt" in capsys.readouterr().out


def test_the_page_on_sweeps_runs_and_its_commands_are_understood(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = run_blocks("sweeps.md")
    assert names["height"].shape == (3, 2, 2)
    assert names["results"].statuses.count("diverged") == int(np.isnan(names["height"]).sum()) > 0
    record = names["results"].records[0]
    assert record["bits"] == xs.sweeps.cell.bits(names["trajectory"])
    text = (ROOT / "docs" / "sweeps.md").read_text("utf-8")
    entries = text.split("| entry |", 1)[1].split("\n\n", 1)[0]
    assert {name for name in record if f"`{name}`" not in entries} == {"format"}
    assert (ROOT / "docs" / "images" / "sweep.png").is_file()


def test_the_page_on_motors_runs_and_is_true(capsys):
    with pytest.warns(xs.SetupWarning, match="effort"):
        names = run_blocks("motors.md")
    assert set(names["sim"].info.limits) == {f"{leg}_calf_joint" for leg in ("FL", "FR", "RL", "RR")}
    assert names["stiff"].joints["RR_calf_joint"].drive is None
    assert names["rough"].joints["FL_hip_joint"].static_friction == 0.3
    assert "stable at 5 ms" in capsys.readouterr().out


def test_the_page_on_rollouts_runs_and_is_true(capsys):
    names = run_blocks("rollouts.md")
    assert not any(names[each].status.any() for each in ("out", "more", "ends", "damped", "walk", "fallen"))
    assert names["bad"].status.tolist() == [0, 2, 0]
    assert "the state is not finite" in capsys.readouterr().out


def test_the_page_on_sampling_mpc_runs_and_its_options_are_those_of_the_solver():
    names = run_blocks("sampling_mpc.md")
    assert abs(names["sim"].q[2] - 0.2) < 0.02
    assert names["picture"].shape == (120, 160, 3)
    text = (ROOT / "docs" / "sampling_mpc.md").read_text("utf-8").split("| option |", 1)[1].split("\n\n", 1)[0]
    listed = {name for line in text.splitlines() for name in re.findall(r"`(\w+)`", (line + "||").split("|")[1])}
    options = set(inspect.signature(xs.mpc.SamplingMPC).parameters) - {"pool", "start", "record"}
    assert listed == options


def test_the_page_on_identification_runs_and_its_refusal_is_as_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    result = run_blocks("identification.md")["result"]
    for name, truth in {"stiffness": 2e4, "damping": 60.0, "friction": 0.4}.items():
        assert result.estimate[name] == pytest.approx(truth, rel=0.02)
    assert Path("crate.html").stat().st_size > 1000
    told = " ".join(capsys.readouterr().out.split())
    text = " ".join((ROOT / "docs" / "identification.md").read_text(encoding="utf-8").split())
    refusal = text.split("``` friction cannot be seen", 1)[1].split("```", 1)[0]
    assert all(f"{part.strip()}" in told for part in refusal.split("…"))


def test_the_identification_benchmark_runs_and_saves(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arguments = [
        "--seeds",
        "1",
        "--seconds",
        "0.3",
        "--parameters",
        "stiffness",
        "mass:base_link",
        "--save",
        "now.json",
    ]
    monkeypatch.setattr(sys, "argv", ["identify.py", *arguments])
    runpy.run_path(str(ROOT / "benchmarks" / "identify.py"), run_name="__main__")
    assert "times the rollouts" in capsys.readouterr().out
    (row,) = json.loads(Path("now.json").read_text(encoding="utf-8"))
    assert abs(row["mass:base_link [%]"]) < 2.0


def test_the_page_on_mpc_runs_and_its_options_are_those_of_the_solver():
    names = run_blocks("mpc.md")
    assert names["plan"].cost < names["plan"].costs[0]
    assert abs(names["sim"].q[2] - names["low"][2]) < 0.01
    assert names["solver"].cost < names["before"]
    text = (ROOT / "docs" / "mpc.md").read_text("utf-8").split("| option |", 1)[1].split("\n\n", 1)[0]
    listed = {name for line in text.splitlines() for name in re.findall(r"`(\w+)`", (line + "||").split("|")[1])}
    assert listed == set(inspect.signature(xs.mpc.ILQR).parameters) - {"sim", "cost"}


def test_the_mpc_benchmark_runs_and_saves(tmp_path, monkeypatch, capsys):
    arguments = ["--tasks", "time", "--seconds", "0.06", "--save", str(tmp_path / "now.json")]
    monkeypatch.setattr(sys, "argv", ["mpc.py", *arguments])
    runpy.run_path(str(ROOT / "benchmarks" / "mpc.py"), run_name="__main__")
    assert "plans per second" in capsys.readouterr().out
    assert json.loads((tmp_path / "now.json").read_text())[0]["plans"] == 3


def test_the_rollout_benchmark_runs_and_saves(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # where MuJoCo writes its log, if it is installed
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    arguments = ["--robots", "solo12", "--rows", "4", "--steps", "4", "--repeats", "1", "--save", "now.json"]
    monkeypatch.setattr(sys, "argv", ["rollout.py", *arguments])
    runpy.run_path(str(ROOT / "benchmarks" / "rollout.py"), run_name="__main__")
    assert "processors" in capsys.readouterr().out
    assert json.loads(Path("now.json").read_text())["solo12, drives"]["steps per CPU-second"] > 100.0


def test_the_page_on_sensors_runs_and_is_true(capsys):
    names = run_blocks("sensors.md")
    assert names["landings"].tolist() == [1, 1, 1, 1]
    assert names["trajectory"].readings["imu"]["acceleration"].shape == (201, 3)
    assert capsys.readouterr().out.splitlines()[3].startswith("3.0 (")


def test_the_page_on_environments_runs_and_is_true():
    names = run_blocks("envs.md")
    assert names["obs"].shape == (45,)
    assert names["obs"][6:9].tolist() == pytest.approx([0.8, 0.0, 0.0])
    assert names["crouched"].shape == (8, 3 + 3 + 12 + 12 + 4)
    assert names["picture"].shape == (120, 160, 3)
    text = (ROOT / "docs" / "envs.md").read_text("utf-8")
    for name, weight in xs.envs.registered.REWARD.items():
        (line,) = (each for each in text.splitlines() if each.startswith("|") and f"`{name}`" in each.split("|")[1])
        terms, weights = (part.split(", ") for part in line.split("|")[1:3])
        assert float(weights[[each.strip() for each in terms].index(f"`{name}`")].replace("−", "-")) == weight


def test_a_task_of_one_s_own_takes_less_than_40_lines():
    example = ROOT / "examples" / "own_task.py"
    assert len(example.read_text(encoding="utf-8").splitlines()) < 40
    envs = runpy.run_path(str(example))["crouching"](3)
    envs.reset(seed=0)
    rewards = [envs.step(np.zeros((3, 12)))[1] for _ in range(50)]
    assert np.sum(rewards) < 0.5  # standing is not crouching


def test_the_benchmark_of_environments_runs_and_saves(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # where MuJoCo writes its log, if it is installed
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    monkeypatch.setattr(sys, "argv", ["envs.py", "--quick", "--save", "now.json"])
    runpy.run_path(str(ROOT / "benchmarks" / "envs.py"), run_name="__main__")
    assert "exposim, Go2" in capsys.readouterr().out
    found = json.loads(Path("now.json").read_text())["results"]["exposim, Go2"]
    assert 0.0 < found["seconds"] < 1.0


def test_random_actions_for_a_while_break_nothing(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["soak.py", "--steps", "2000", "--robot", "solo12", "--terrain", "rough"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "tools" / "soak.py"), run_name="__main__")
    assert ended.value.code == 0
    assert ", 0 diverged" in capsys.readouterr().out


def test_the_page_on_worlds_runs_and_is_true(capsys):
    names = run_blocks("worlds.md")
    assert np.abs(names["bowl"].q[:2]).max() < 0.2
    (line,) = (each for each in capsys.readouterr().out.splitlines() if "should be" in each)
    pressed, should = (float(each.split()[-2]) for each in line.split(","))
    assert pressed == pytest.approx(should, rel=1e-3)
    apart = names["carrying"].q[:3] - names["carrying"].q[names["loaded"].part("weight").q][:3]
    assert np.abs(apart).max() < 1e-4
    pictures = [line.split(")")[0] for line in (ROOT / "docs" / "worlds.md").read_text("utf-8").split("](images/")[1:]]
    assert len(pictures) == 4
    assert all((ROOT / "docs" / "images" / each).stat().st_size < 300_000 for each in pictures)


def test_the_page_on_tuning_runs_and_prints_what_it_says(capsys):
    run_blocks("tuning.md")
    text = (ROOT / "docs" / "tuning.md").read_text("utf-8")
    said = [line.removeprefix("# → ") for line in text.splitlines() if line.startswith("# → ")]
    assert capsys.readouterr().out.splitlines() == said
    symptoms = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    for symptom in symptoms:
        assert f"](#{symptom.lower().replace(' ', '-').replace('?', '')})" in text


def test_the_page_on_the_flight_recorder_runs_and_prints_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = run_blocks("flight_recorder.md")
    text = (ROOT / "docs" / "flight_recorder.md").read_text("utf-8")
    said = [line.removeprefix("# → ") for line in text.splitlines() if line.startswith("# → ")]
    assert capsys.readouterr().out.splitlines() == said
    assert Path("flight.png").stat().st_size > 20_000
    assert names["found"].gone[0].t == pytest.approx(0.5, abs=0.1)


def test_the_page_on_trajectories_runs_and_is_true(capsys):
    names = run_blocks("trajectories.md")
    assert "FL_FOOT" in capsys.readouterr().out
    assert names["first"].velocity[2] == pytest.approx(-np.sqrt(2.0 * 9.81 * 0.05), rel=0.05)
    assert names["forces"].max() > 0.999 * names["peak"] > 1.2 * names["seen"]
    assert {each.kind for each in names["told"]} >= {"land"}
    assert names["counts"]["land"] >= 4


def test_bodies_of_the_example_of_worlds_go_as_far_as_they_should(capsys, monkeypatch):
    example = str(ROOT / "examples" / "worlds.py")
    monkeypatch.setattr(sys, "argv", [example])
    runpy.run_path(example, run_name="__main__")
    for line in capsys.readouterr().out.splitlines():
        _, _, went, *_, should, _ = line.split()
        assert float(went) == pytest.approx(float(should), rel=5e-3, abs=5e-3)


def test_the_table_of_largest_steps_is_made(monkeypatch, capsys):
    benchmarks = ROOT / "benchmarks"
    monkeypatch.syspath_prepend(benchmarks)
    monkeypatch.setattr(sys, "argv", ["largest_steps.py", "--quick"])
    runpy.run_path(str(benchmarks / "largest_steps.py"), run_name="__main__")
    made = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| go2")]
    page = (ROOT / "docs" / "motors.md").read_text(encoding="utf-8")
    assert len(made) == 1
    assert made[0] in page


def test_a_scenario_of_one_s_own_takes_less_than_40_lines():
    example = ROOT / "examples" / "push.py"
    assert len(example.read_text(encoding="utf-8").splitlines()) < 40
    scenario = xs.scenarios.get(example)
    assert scenario.judge(scenario.run()).complaints == ()
