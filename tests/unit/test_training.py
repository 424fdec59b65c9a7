"""The training example: its adapter to stable-baselines3, what is learned, and policies in rollouts."""

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import exposim as xs

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "training"


@pytest.fixture
def example(monkeypatch):
    """The modules of the example, by name."""
    pytest.importorskip("stable_baselines3", reason="of the extra train, which tests do not need")
    monkeypatch.syspath_prepend(EXAMPLE)
    before = set(sys.modules)
    import adapter  # noqa: PLC0415
    import tasks  # noqa: PLC0415

    yield {"adapter": adapter, "tasks": tasks}
    for name in {"adapter", "tasks", "train", "export"} & (set(sys.modules) - before):
        del sys.modules[name]


def few(**options):
    given = {"num_envs": 3, "max_episode_steps": 4, "autoreset_mode": "DISABLED", "sensing": None, **options}
    return xs.envs.VelocityVectorEnv("go2", threads=1, **given)


def test_rows_that_end_for_want_of_time_say_so_and_begin_anew_in_the_same_step(example):
    stepper, twin = example["adapter"].Stepper(few(), seed=5), few()
    first, _ = twin.reset(seed=5)
    assert_array_equal(stepper.reset(), first)
    action = np.full((3, 12), 0.1, dtype=np.float32)
    for period in range(1, 5):
        seen, reward, done, infos = stepper.step(action)
        last, expected, *_ = twin.step(action)
        assert_allclose(reward, expected, rtol=1e-6)
        assert done.all() == done.any() == (period == 4)
    for row, info in enumerate(infos):
        assert info["TimeLimit.truncated"] is True
        assert_array_equal(info["terminal_observation"], last[row])
    anew, _ = twin.reset(options={"reset_mask": np.ones(3, dtype=bool)})
    assert_array_equal(seen, anew)
    assert not np.array_equal(seen, last)


def test_rows_that_fall_are_not_truncated_and_leave_the_others_alone(example):
    def tall(rows):
        return np.arange(len(rows.q)) == (1 if rows.time[0] > 0.03 else 9)

    stepper = example["adapter"].Stepper(few(terminate=tall, max_episode_steps=2), seed=0)
    stepper.reset()
    stepper.step(np.zeros((3, 12)))
    *_, done, infos = stepper.step(np.zeros((3, 12)))
    assert done.all()
    assert [info["TimeLimit.truncated"] for info in infos] == [True, False, True]  # it fell as time was up
    stepper = example["adapter"].Stepper(few(terminate=tall), seed=0)
    stepper.reset()
    stepper.step(np.zeros((3, 12)))
    *_, done, infos = stepper.step(np.zeros((3, 12)))
    assert done.tolist() == [False, True, False]
    assert [set(info) for info in infos] == [set(), {"terminal_observation", "TimeLimit.truncated"}, set()]


def test_actions_are_added_to_those_of_the_gait_for_what_was_seen_last(example):
    def gait(observed):
        return np.full((3, 12), 0.1) * observed[:, :1] + 0.2

    stepper, twin = example["adapter"].Stepper(few(), seed=5, gait=gait), few()
    seen, _ = twin.reset(seed=5)
    stepper.reset()
    for _ in range(3):
        action = gait(seen) - 0.3
        seen, *_ = twin.step(action)
        assert_array_equal(stepper.step(np.full((3, 12), -0.3))[0], seen)


def test_environments_that_begin_anew_by_themselves_are_refused(example):
    with pytest.raises(xs.InvalidArgument, match="DISABLED"):
        example["adapter"].Stepper(few(autoreset_mode="NEXT_STEP"))


def test_training_never_asks_for_what_is_evaluated(example):
    tasks = example["tasks"]
    walk = tasks.TASKS["walk"]
    stepper = example["adapter"].Stepper(few(max_episode_steps=1), tasks.commands(walk.trained, 0), seed=0)
    seen = [stepper.reset()] + [stepper.step(np.zeros((3, 12)))[0] for _ in range(40)]
    asked = np.concatenate(seen)[:, 6]  # behind gravity and angular velocity
    ((low, high),) = walk.evaluated
    assert not ((asked > low) & (asked < high)).any()
    assert (asked < low).any() and (asked > high).any()
    unseen = tasks.commands(walk.evaluated, 1)(50)[:, 0]
    assert low <= unseen.min() and unseen.max() <= high


def test_an_evaluation_counts_falls_and_is_the_same_twice(example):
    tasks = example["tasks"]
    pushed = dict(randomise=xs.envs.Randomise(push=(2.0, 2.0), push_every=(0.2, 0.4)), max_episode_steps=80, threads=1)
    once, again = (tasks.evaluate("push", tasks.nothing, 4, **pushed) for _ in range(2))
    assert once == again
    assert once["falls"] == 1.0
    calm = tasks.evaluate("push", tasks.nothing, 4, **{**pushed, "randomise": None})
    assert calm["falls"] == 0.0 and calm["error"] < 0.05 < once["error"]


def test_an_exported_policy_says_the_same_inside_a_rollout(example):
    import torch  # noqa: PLC0415
    from export import exported  # noqa: PLC0415
    from stable_baselines3 import PPO  # noqa: PLC0415

    envs = example["tasks"].make("push", 4, sensing=None, randomise=None, autoreset_mode="DISABLED", threads=1)
    net = dict(net_arch=[16, 16], activation_fn=torch.nn.ELU)
    model = PPO("MlpPolicy", example["adapter"].Stepper(envs), seed=0, device="cpu", policy_kwargs=net)
    with torch.no_grad():
        model.policy.action_net.weight *= 20.0  # its first actions are next to nothing
        model.policy.action_net.bias += 0.05
    asked = np.array([[0.5, -0.2, 0.3]] * 4)
    seen, _ = envs.reset(seed=0, options={"command": asked})
    actions, start = [], envs._batch.x.copy()
    for _ in range(10):
        action = model.predict(seen, deterministic=True)[0]
        actions.append(action)
        seen, *_ = envs.step(action)
    actions = np.stack(actions, axis=1)
    assert 0.02 < np.abs(actions).max() < 1.0
    pool = xs.Rollout(envs.task.simulator, threads=1)
    out = pool(
        start, policy=exported(model.policy, envs.task), commands=asked, steps=40, every=4, record=("q", "actions")
    )
    assert_allclose(out.actions, actions, atol=1e-5)
    assert_allclose(out.end, envs._batch.x, atol=1e-5)
    with pytest.raises(xs.InvalidArgument, match="clock"):
        exported(model.policy, example["tasks"].make("walk", 1).task)


def test_the_curves_that_are_kept_are_those_of_the_docs(tmp_path, monkeypatch, capsys):
    plot = tmp_path / "curves.png"
    monkeypatch.setattr(sys, "argv", ["figure.py", str(EXAMPLE / "results.json"), "--plot", str(plot)])
    runpy.run_path(str(EXAMPLE / "figure.py"), run_name="__main__")
    table = capsys.readouterr().out.partition("plotted")[0].strip()
    assert table in (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    assert plot.stat().st_size > 10_000


@pytest.mark.slow
def test_a_short_training_is_kept_and_taken_up_again(example, tmp_path):
    import train  # noqa: PLC0415

    few = dict(robots=4, threads=1, evaluations=2, batch_size=96)
    _, points = train.train("push", 0, 192, tmp_path / "push-0", **few)
    assert [point["steps"] for point in points] == [0, 96, 192]
    model, points = train.train("push", 0, 384, tmp_path / "push-0", resume=True, **few)
    assert model.num_timesteps == 384
    assert points[-1]["steps"] == 384 and points[-1]["seconds"] > points[2]["seconds"]
    assert json.loads((tmp_path / "push-0.json").read_text()) == points
