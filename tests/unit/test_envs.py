"""Environments as Gymnasium wants them: one robot."""

import copy
import pickle
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pinocchio as pin
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.testing import assert_array_equal

import exposim as xs
from exposim.envs import Fallen, Randomise, RobotEnv, Sensing

NAMES = ("Solo12", "Go2", "AnymalC", "G1")


def go2(**options):
    return gymnasium.make("exposim/Go2-v0", **options)


def motion(env, seed, steps=30):
    """Observations and rewards of an episode with random actions."""
    rng = np.random.default_rng(7)
    seen, rewards = [env.reset(seed=seed)[0]], []
    for _ in range(steps):
        obs, reward, terminated, _, _ = env.step(rng.uniform(-1.0, 1.0, env.action_space.shape))
        seen.append(obs)
        rewards.append(reward)
        if terminated:
            break
    return np.array(seen), np.array(rewards)


def own(**task):
    """Solo12 on drives with a task of its own, all else as simple as it can be."""
    robot = xs.load_robot("solo12").replace(drives=xs.Drive(kp=3.0, kd=0.2))
    return RobotEnv(robot, xs.HalfSpace(), **task)


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_s_checker_finds_nothing_to_complain_of(name):
    env = gymnasium.make(f"exposim/{name}-v0", width=32, height=24, render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", xs.ModelWarning)
        check_env(env.unwrapped, skip_render_check=name != "Solo12")  # which opens a page
    frame = env.unwrapped.render()
    assert frame.shape == (24, 32, 3)
    assert frame.dtype == np.uint8
    assert np.ptp(frame) > 100


def test_human_rendering_serves_a_page_and_ends_with_the_environment(capsys):
    env = go2(render_mode="human")
    env.reset(seed=0)
    env.step(env.action_space.sample())
    page = env.unwrapped._pictures._page
    assert page.url in capsys.readouterr().out
    env.close()
    assert page._stopped.is_set()
    env.close()


def test_environments_are_found_without_an_import_of_their_own():
    code = """
import gymnasium, sys
env = gymnasium.make("exposim.envs:exposim/Solo12-v0")
print(type(env.unwrapped).__name__)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "VelocityEnv\n"


def test_the_same_seed_gives_the_same_bits_and_another_one_others():
    one, other = motion(go2(), 3), motion(go2(), 3)
    assert_array_equal(one[0], other[0])
    assert_array_equal(one[1], other[1])
    assert not np.array_equal(one[0][0], motion(go2(), 4)[0][0])


def test_episodes_after_a_seeded_one_are_drawn_on_and_just_as_certain():
    def two():
        env = go2()
        motion(env, 3, steps=5)
        return env.reset()[0], env.reset()[0]

    (first, second), again = two(), two()
    assert_array_equal((first, second), again)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("name", ("Solo12", "Go2", "AnymalC"))
@pytest.mark.parametrize("terrain", ("flat", "rough"))
def test_four_legs_stand_for_as_long_as_nothing_is_done(name, terrain):
    env = gymnasium.make(f"exposim/{name}-v0", terrain=terrain, randomise=None)
    env.reset(seed=2)
    ends = [env.step(np.zeros(12, dtype=np.float32))[2] for _ in range(150)]
    assert not any(ends)


def test_two_legs_fall_and_that_terminates_and_costs():
    env = gymnasium.make("exposim/G1-v0", randomise=None)
    env.reset(seed=0)
    for _ in range(400):
        _, _, terminated, truncated, info = env.step(np.zeros(env.action_space.shape, dtype=np.float32))
        if terminated:
            break
    assert terminated
    assert not truncated
    assert not info["diverged"]
    assert info["rewards"]["fall"] == pytest.approx(-1.0)
    with pytest.raises(xs.InvalidArgument, match="reset"):
        env.step(np.zeros(env.action_space.shape, dtype=np.float32))


def test_time_is_up_by_truncation_alone():
    env = own(max_episode_steps=3)
    env.reset(seed=0)
    ends = [env.step(np.zeros(12))[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]
    limited = go2(max_episode_steps=2)
    limited.reset(seed=0)
    limited.step(np.zeros(12, dtype=np.float32))
    assert limited.step(np.zeros(12, dtype=np.float32))[2:4] == (False, True)


def test_the_observation_is_what_the_page_says():
    env = go2(randomise=None, sensing=None, headings=False, idle=0.0)
    obs, _ = env.reset(seed=5, options={"command": (0.5, -0.25, 0.1)})
    assert obs.dtype == np.float32
    assert obs.shape == (3 + 3 + 3 + 12 + 12 + 12,)
    assert_array_equal(obs[:3], np.float32([0, 0, -1]))
    assert_array_equal(obs[6:9], np.float32([0.5, -0.25, 0.1]))
    assert_array_equal(obs[9:33], np.zeros(24, dtype=np.float32))
    action = np.linspace(-0.5, 0.5, 12, dtype=np.float32)
    obs = env.step(action)[0]
    sim = simulated(env, action)
    turn = xs_rotation(sim.q)
    np.testing.assert_allclose(obs[:3], turn.T @ [0, 0, -1], atol=1e-6)
    np.testing.assert_allclose(obs[3:6], 0.25 * sim.v[3:6], atol=1e-6)
    np.testing.assert_allclose(obs[9:21], sim.q[7:] - env.unwrapped.task.robot.q0[7:], atol=1e-6)
    np.testing.assert_allclose(obs[21:33], 0.05 * sim.v[6:], atol=1e-6)
    assert_array_equal(obs[33:], action)


def simulated(env, action):
    """The first period of an environment without randomness, by a simulator."""
    task = env.unwrapped.task
    sim = xs.Simulator(task.robot, xs.HalfSpace(), dt=5e-3)
    sim.reset(task.robot.q0)
    sim.step(n=4, target=task.held + 0.5 * action.astype(float))
    return sim


def xs_rotation(q):
    x, y, z, w = q[3:7]
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def test_the_rewards_in_info_add_up_to_the_reward_and_are_what_they_are_called():
    env = go2(randomise=None, sensing=None, headings=False)
    env.reset(seed=5, options={"command": (0.5, 0.0, 0.0)})
    action = np.linspace(-0.5, 0.5, 12, dtype=np.float32)
    _, reward, _, _, info = env.step(action)
    sim = simulated(env, action)
    assert reward == pytest.approx(sum(info["rewards"].values()), rel=1e-12)
    off = (sim.v[0] - 0.5) ** 2 + sim.v[1] ** 2
    assert info["rewards"]["track_linear"] == pytest.approx(1.5 * 0.02 * np.exp(-off / 0.25), rel=1e-9)
    assert info["rewards"]["vertical"] == pytest.approx(-2.0 * 0.02 * sim.v[2] ** 2, rel=1e-6)
    assert info["rewards"]["action_rate"] == pytest.approx(
        -0.01 * 0.02 * float(action.astype(float) @ action), rel=1e-6
    )


def test_noise_is_as_large_as_it_says_and_delay_is_a_delay():
    quiet, noisy = own(), own(sensing=Sensing(positions=0.1))
    seen = []
    for seed in range(40):
        seen.append(noisy.reset(seed=seed)[0] - quiet.reset(seed=seed)[0])
    off = np.array(seen)
    assert off[:, 9:21].std() == pytest.approx(0.1, rel=0.15)
    assert not off[:, :9].any()
    late = own(sensing=Sensing(delay=(0.02, 0.02)))
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1.0, 1.0, (6, 12))
    now = [quiet.reset(seed=0)[0], *(quiet.step(each)[0] for each in actions)]
    then = [late.reset(seed=0)[0], *(late.step(each)[0] for each in actions)]
    assert_array_equal(np.array(then)[1:, 9:33], np.array(now)[:-1, 9:33])  # one period of 20 ms before
    assert_array_equal(np.array(then)[:, 33:], np.array(now)[:, 33:])  # actions are known at once


def test_a_push_gives_a_flying_robot_the_speed_that_it_says():
    robot = xs.load_robot("go2").replace(drives=xs.Drive(kp=25.0, kd=0.5))
    env = RobotEnv(robot, None, randomise=Randomise(push=(0.5, 0.5), push_every=(0.1, 0.1), push_time=0.04))
    env.reset(seed=1)
    speeds = []
    for _ in range(8):
        env.step(np.zeros(12))
        speeds.append(np.linalg.norm(momentum(robot, env)[:2]))
    mass = sum(inertia.mass for inertia in list(robot.model.inertias)[1:])
    assert np.array(speeds) / mass == pytest.approx([0, 0, 0, 0, 0, 0.25, 0.5, 0.5], abs=0.01)


def momentum(robot, env):
    q, v = env._batch._parts(env._batch.x)
    return np.array(pin.computeCentroidalMomentum(robot.model, robot.model.createData(), q[0], v[0]).linear)


def test_what_is_randomised_is_within_its_bounds_and_felt():
    robot = xs.load_robot("solo12").replace(drives=xs.Drive(kp=3.0, kd=0.2))
    slippery = RobotEnv(robot, xs.HalfSpace(), randomise=Randomise(friction=(0.0, 0.0), speed=0.5))
    rough = RobotEnv(robot, xs.HalfSpace(), randomise=Randomise(friction=(2.0, 2.0), speed=0.5))
    ways = []
    for env in (slippery, rough):
        env.reset(seed=3)
        for _ in range(50):
            env.step(np.zeros(12))
        ways.append(np.linalg.norm(env._batch.x[0, 1:3]))
    assert ways[0] > 3.0 * ways[1]
    heavy = RobotEnv(robot, xs.HalfSpace(), randomise=Randomise(mass=(2.0, 2.0)))
    heavy.reset(seed=0)
    for _ in range(100):
        heavy.step(np.zeros(12))
    assert heavy._batch.x[0, 3] < robot.q0[2] - 0.005  # its drives hold the weight of one


def test_air_time_counts_from_when_a_foot_left_the_ground():
    told = []

    def flying(rows):
        told.append((rows.touching.any(), rows.air_time.copy()))
        return np.zeros(len(rows.q))

    robot = xs.load_robot("solo12").replace(drives=xs.Drive(kp=3.0, kd=0.2))
    env = RobotEnv(robot, None, reward=flying)
    env.reset(seed=0)
    for _ in range(3):
        env.step(np.zeros(12))
    assert [touching for touching, _ in told] == [False] * 3
    for i, (_, times) in enumerate(told):
        assert times[0] == pytest.approx(np.full(4, 0.02 * (i + 1)))


def test_any_heading_is_a_turn_about_the_upright_axis():
    robot = xs.load_robot("solo12").replace(drives=xs.Drive(kp=3.0, kd=0.2))
    q0 = robot.q0
    q0[3:7] = np.array([0.1, 0.2, 0.0, 1.0]) / np.linalg.norm([0.1, 0.2, 0.0, 1.0])
    env = RobotEnv(robot.replace(q0=q0), xs.HalfSpace(), headings=True)
    tilts, turns = [], []
    for seed in range(5):
        tilts.append(env.reset(seed=seed)[0][:3])
        turns.append(xs_rotation(env._batch.x[0, 1:20])[:2, 0])
    np.testing.assert_allclose(tilts, np.repeat([xs_rotation(q0).T @ [0, 0, -1]], 5, axis=0), atol=1e-6)
    assert np.ptp(turns, axis=0).min() > 0.3


def test_commands_are_drawn_within_their_bounds_some_of_them_zero():
    env = own(command=[(0.5, 1.0), (-0.2, 0.2)], idle=0.5)
    drawn = np.array([env.reset(seed=seed)[0][6:8] for seed in range(60)])
    zero = ~drawn.any(axis=1)
    assert 15 < zero.sum() < 45
    assert (drawn[~zero, 0] >= 0.5).all()
    assert (np.abs(drawn[:, 1]) <= 0.2).all()


def test_a_task_of_one_s_own_takes_functions_of_all_rows():
    def crouched(rows):
        return np.exp(-100.0 * (rows.height - 0.12) ** 2)

    env = own(
        command=(),
        reward={"crouched": (2.0, crouched), "torques": -1e-3},
        terminate=lambda rows: rows.time > 0.05,
        observe=("gravity", "positions", lambda rows: rows.touching),
    )
    obs, _ = env.reset(seed=0)
    assert obs.shape == (3 + 12 + 4,)
    assert obs[-4:].tolist() == [1, 1, 1, 1]
    done = [env.step(np.zeros(12)) for _ in range(3)]
    assert [each[2] for each in done] == [False, False, True]
    assert set(done[0][4]["rewards"]) == {"crouched", "torques"}
    assert own(reward=crouched).reset()[0].shape == (45,)


def test_falling_is_by_tilt_and_by_height():
    env = own(terminate=Fallen(tilt=3.0, height=0.9), action_scale=1.0)
    env.reset(seed=0)
    fold = np.array([0.0, 0.6, -1.0, 0.0, 0.6, -1.0, 0.0, -0.6, 1.0, 0.0, -0.6, 1.0])
    assert not env.step(np.zeros(12))[2]
    while not env.step(fold)[2]:
        assert env._batch.x[0, 3] > 0.9 * env.task.standing_height
    assert env._batch.x[0, 3] < 0.9 * env.task.standing_height
    assert xs_rotation(env._batch.x[0, 1:20])[2, 2] > np.cos(0.3)


def test_an_environment_can_be_copied_and_pickled_in_the_middle_of_an_episode():
    env = go2().unwrapped
    env.reset(seed=9)
    rng = np.random.default_rng(0)
    for _ in range(5):
        env.step(rng.uniform(-1.0, 1.0, 12))
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    actions = rng.uniform(-1.0, 1.0, (10, 12))
    truth = [env.step(each) for each in actions]
    for other in copies:
        for action, (obs, reward, *_) in zip(actions, truth, strict=True):
            again = other.step(action)
            assert_array_equal(again[0], obs)
            assert again[1] == reward


def test_actions_beyond_one_are_cut_off():
    one, other = own(), own()
    one.reset(seed=0)
    other.reset(seed=0)
    assert_array_equal(one.step(np.full(12, 5.0))[0], other.step(np.ones(12))[0])


def test_the_import_is_on_use_and_names_its_extra():
    code = "import sys, exposim as xs; assert 'gymnasium' not in sys.modules; print(xs.envs.RobotEnv.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "RobotEnv\n"
