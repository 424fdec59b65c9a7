"""Many environments at once: rows are single environments, and begin anew as Gymnasium's modes say."""

import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.testing import assert_array_equal

import exposim as xs
from exposim.envs import Randomise, RobotVectorEnv

ID = "exposim/Go2-v0"


def many(count=3, **options):
    return gymnasium.make_vec(ID, num_envs=count, **options)


def actions(count, steps, seed=0):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (steps, count, 12)).astype(np.float32)


def solo(count, **options):
    robot = xs.load_robot("solo12").replace(drives=xs.Drive(kp=3.0, kd=0.2))
    return RobotVectorEnv(robot, xs.HalfSpace(), num_envs=count, **options)


def test_make_vec_makes_our_own_and_declares_its_mode():
    envs = many(2)
    assert type(envs).__name__ == "VelocityVectorEnv"
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert envs.spec.id == ID
    assert many(2, autoreset_mode="SAME_STEP").metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    obs, _ = envs.reset(seed=0)
    assert obs in envs.observation_space
    obs, reward, terminated, truncated, _ = envs.step(envs.action_space.sample())
    assert obs in envs.observation_space
    assert reward.dtype == np.float64
    assert terminated.dtype == truncated.dtype == bool
    assert obs.shape == (2, *envs.single_observation_space.shape)
    envs.close()


@pytest.mark.parametrize("terrain", ("flat", "rough"))
@pytest.mark.parametrize("mode", (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP))
def test_rows_are_what_gymnasium_makes_of_single_ones_bit_for_bit(mode, terrain):
    often = Randomise((0.4, 1.2), (0.8, 1.2), (5e4, 2e5), (0.2, 0.8), push_every=(0.1, 0.3), posture=0.1, speed=0.2)
    options = {"terrain": terrain, "max_episode_steps": 13, "randomise": often}
    singles = SyncVectorEnv([lambda: gymnasium.make(ID, **options)] * 3, autoreset_mode=mode)
    ours = many(3, autoreset_mode=mode, threads=2, **options)
    seeds = [11, 5, 8]
    assert_array_equal(ours.reset(seed=seeds)[0], singles.reset(seed=seeds)[0])
    ends = 0
    for action in actions(3, 60):
        mine, theirs = ours.step(action), singles.step(action)
        for one, other in zip(mine[:4], theirs[:4], strict=True):
            assert_array_equal(one, other)
        ends += int((mine[2] | mine[3]).sum())
        same_information(mine[4], theirs[4])
    assert ends > 6


def same_information(ours, theirs):
    """Whatever is marked in theirs is the same in ours."""
    for name, value in theirs.items():
        if name.startswith("_"):
            assert_array_equal(ours[name], value)
        elif isinstance(value, dict):
            same_information(ours[name], value)
        else:
            for row in np.flatnonzero(theirs[f"_{name}"]):
                assert_array_equal(ours[name][row], value[row])


def test_a_row_does_not_depend_on_the_others_or_on_threads():
    few, more = many(2, threads=1), many(5, threads=2)
    seeds = [4, 9, 1, 2, 3]
    first = [few.reset(seed=seeds[:2])[0]]
    second = [more.reset(seed=seeds)[0][:2]]
    for action in actions(5, 40):
        first.append(few.step(action[:2])[0])
        second.append(more.step(action)[0][:2])
    assert_array_equal(first, second)


def test_one_number_counts_up_from_row_to_row():
    assert_array_equal(many(3).reset(seed=5)[0], many(3).reset(seed=[5, 6, 7])[0])
    assert not np.array_equal(many(3).reset()[0], many(3).reset()[0])


def test_the_next_step_after_an_end_begins_anew_with_no_reward():
    envs = solo(2, max_episode_steps=2, randomise=Randomise(posture=0.1))
    envs.reset(seed=0)
    still = np.zeros((2, 12))
    envs.step(still)
    *_, truncated, _ = envs.step(still)
    assert truncated.all()
    obs, reward, terminated, truncated, info = envs.step(still)
    assert not (reward.any() or terminated.any() or truncated.any() or info["_rewards"].any())
    assert not obs[:, -12:].any()
    *_, truncated, info = envs.step(still)
    assert info["_rewards"].all()
    assert not truncated.any()


def test_in_the_same_step_the_last_observation_is_kept_and_the_first_returned():
    envs = solo(3, max_episode_steps=2, autoreset_mode="SAME_STEP", terminate=lambda rows: rows.command[:, 0] > 9.0)
    envs.reset(seed=0, options={"command": [(10.0, 0, 0), (0, 0, 0), (0, 0, 0)]})
    push = np.full((3, 12), 0.5)
    obs, _, terminated, _, info = envs.step(push)
    assert terminated.tolist() == info["_final_obs"].tolist() == [True, False, False]
    assert (info["final_obs"][0][-12:] == 0.5).all()
    assert not obs[0, -12:].any()
    assert (obs[1:, -12:] == 0.5).all()
    assert info["final_info"]["rewards"]["_alive"].tolist() == [True, False, False]
    assert info["rewards"]["_alive"].tolist() == [False, True, True]
    _, _, _, truncated, info = envs.step(push)
    assert truncated.tolist() == [False, True, True]


def test_without_autoreset_the_mask_says_who_begins_anew():
    envs = solo(3, autoreset_mode="DISABLED", terminate=lambda rows: rows.command[:, 0] > 9.0)
    envs.reset(seed=0, options={"command": [(0, 0, 0), (10.0, 0, 0), (0, 0, 0)]})
    returned = envs.step(np.full((3, 12), 0.5))[0]
    seen = returned.copy()
    returned[:] = 7.0  # which is the caller's
    with pytest.raises(xs.InvalidArgument, match="rows 1 have ended"):
        envs.step(np.zeros((3, 12)))
    mask = np.array([False, True, False])
    obs, _ = envs.reset(options={"reset_mask": mask, "command": (0.0, 0.0, 0.0)})
    assert_array_equal(obs[~mask], seen[~mask])
    assert not obs[1, -12:].any()
    assert not envs.step(np.zeros((3, 12)))[2].any()


def test_what_is_returned_is_not_changed_later():
    envs = many(2)
    first = envs.reset(seed=0)[0]
    kept = first.copy()
    step = envs.step(np.ones((2, 12)))
    copies = [each.copy() for each in step[:4]]
    envs.step(-np.ones((2, 12)))
    assert_array_equal(first, kept)
    for one, other in zip(step[:4], copies, strict=True):
        assert_array_equal(one, other)


def test_pickled_rows_continue_bit_for_bit():
    envs = many(3)
    envs.reset(seed=1)
    for action in actions(3, 8):
        envs.step(action)
    other = pickle.loads(pickle.dumps(envs))
    for action in actions(3, 40, seed=2):
        for one, two in zip(envs.step(action)[:4], other.step(action)[:4], strict=True):
            assert_array_equal(one, two)


def test_pictures_are_one_for_each_row():
    envs = many(2, render_mode="rgb_array", width=32, height=24)
    envs.reset(seed=0)
    frames = envs.render()
    assert [frame.shape for frame in frames] == [(24, 32, 3)] * 2


def test_a_row_that_diverges_terminates_is_marked_and_counted_and_the_others_go_on():
    envs = solo(3)
    envs.reset(seed=0)
    calm = solo(3)
    calm.reset(seed=0)
    layout = envs._batch._layout
    envs._batch.x[1, 1 + layout.nq + 6] = 9.9e4  # a joint faster than any
    still = np.zeros((3, 12))
    obs, reward, terminated, _, info = envs.step(still)
    truth = calm.step(still)[0]
    assert terminated.tolist() == info["diverged"].tolist() == [False, True, False]
    assert "diverged" in info["divergence"][1]
    assert envs.diverged == 1
    assert np.isfinite(obs).all()
    assert np.isfinite(reward).all()
    assert_array_equal(obs[[0, 2]], truth[[0, 2]])
    obs, _, terminated, _, info = envs.step(still)
    assert not terminated.any()
    assert not info["diverged"].any()
    assert np.abs(obs[1]).max() <= 1.5
