"""What environments refuse, before anything changes."""

import gymnasium
import numpy as np
import pytest

import exposim as xs
from exposim.envs import Fallen, Randomise, RobotEnv, RobotVectorEnv, Sensing

SOLO = xs.load_robot("solo12")
DRIVEN = SOLO.replace(drives=xs.Drive(kp=3.0, kd=0.2))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"terrain": "muddy"}, "'flat', 'rough'"),
        ({"reward": {"track_lineal": 1.0}}, "did you mean 'track_linear'"),
        ({"reward": {"alive": np.nan}}, r"reward\['alive'\]"),
        ({"reward": {}}, "reward is"),
        ({"observe": ("gravty",)}, "did you mean 'gravity'"),
        ({"observe": ()}, "observe is empty"),
        ({"observe": (lambda rows: np.zeros(99),)}, "shape"),
        ({"terminate": 1.0}, "terminate is"),
        ({"command": [(1.0, -1.0)]}, r"command\[0\]"),
        ({"idle": 1.5}, "idle"),
        ({"action_scale": (1.0, 2.0)}, "action_scale"),
        ({"dt": 0.0}, "dt"),
        ({"steps": 0}, "steps"),
        ({"randomise": 0.5}, "exposim.envs.Randomise"),
        ({"sensing": "noise"}, "exposim.envs.Sensing"),
        ({"max_episode_steps": 0}, "max_episode_steps"),
        ({"render_mode": "ascii"}, "render_mode"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(options, told):
    # Those that gymnasium.make checks itself never come to us.
    with pytest.raises(xs.InvalidArgument, match=told):
        xs.envs.VelocityEnv("go2", **options)


@pytest.mark.parametrize(
    ("robot", "told"),
    [
        (SOLO, "no drive"),
        (xs.load_robot("talos").replace(drives=xs.Drive(100.0, 1.0)).model, "load_robot"),
        (DRIVEN.replace(contact_points=()), "contact points"),
        (xs.rigid_body("ball", xs.Sphere(0.1), 1.0), "drive"),
    ],
)
def test_a_robot_that_cannot_be_told_anything_is_refused(robot, told):
    with pytest.raises(xs.InvalidArgument, match=told):
        RobotEnv(robot, xs.HalfSpace())


@pytest.mark.parametrize(
    "make",
    [
        lambda: Randomise(friction=(-0.1, 1.0)),
        lambda: Randomise(mass=(0.0, 1.0)),
        lambda: Randomise(stiffness=1e5),
        lambda: Randomise(push=(1.0, 0.5)),
        lambda: Randomise(push=(0.1, 0.5), push_every=(0.01, 1.0)),
        lambda: Randomise(posture=-1.0),
        lambda: Sensing(positions=-1.0),
        lambda: Sensing(delay=(-0.1, 0.0)),
        lambda: Fallen(tilt=0.0),
    ],
)
def test_bounds_that_cannot_be_are_refused(make):
    with pytest.raises(xs.InvalidArgument):
        make()


def test_bad_actions_are_refused_and_change_nothing():
    env = RobotEnv(DRIVEN, xs.HalfSpace())
    env.reset(seed=0)
    before = env._batch.x.copy()
    with pytest.raises(xs.InvalidArgument, match=r"shape \(11,\); give \(12,\)"):
        env.step(np.zeros(11))
    with pytest.raises(xs.InvalidArgument, match="finite; entry 0, 3 is nan"):
        env.step(np.where(np.arange(12) == 3, np.nan, 0.0))
    assert np.array_equal(env._batch.x, before)
    envs = RobotVectorEnv(DRIVEN, xs.HalfSpace(), num_envs=3)
    envs.reset(seed=0)
    with pytest.raises(xs.InvalidArgument, match=r"shape \(2, 12\); give \(3, 12\)"):
        envs.step(np.zeros((2, 12)))
    with pytest.raises(xs.InvalidArgument, match="entry 2, 0 is inf"):
        envs.step(np.where(np.arange(36).reshape(3, 12) == 24, np.inf, 0.0))


def test_steps_before_a_reset_are_refused():
    with pytest.raises(xs.InvalidArgument, match="reset"):
        RobotEnv(DRIVEN, xs.HalfSpace()).step(np.zeros(12))
    with pytest.raises(xs.InvalidArgument, match="reset"):
        RobotVectorEnv(DRIVEN, xs.HalfSpace()).step(np.zeros((1, 12)))


def test_rewards_and_ends_of_a_wrong_kind_are_named():
    env = RobotEnv(DRIVEN, xs.HalfSpace(), reward={"mine": (1.0, lambda rows: np.zeros((2, 2)))})
    env.reset(seed=0)
    with pytest.raises(xs.InvalidArgument, match=r"reward 'mine' gave shape \(2, 2\)"):
        env.step(np.zeros(12))
    env = RobotEnv(DRIVEN, xs.HalfSpace(), reward=lambda rows: np.full(1, np.nan))
    env.reset(seed=0)
    with pytest.raises(xs.InvalidArgument, match="not finite"):
        env.step(np.zeros(12))
    env = RobotEnv(DRIVEN, xs.HalfSpace(), terminate=lambda rows: rows.height)
    env.reset(seed=0)
    with pytest.raises(xs.InvalidArgument, match="terminate gave float64"):
        env.step(np.zeros(12))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"comand": (0, 0, 0)}, "comand"),
        ({"command": (0.0, 0.0)}, r"\(3,\)"),
        ({"reset_mask": [True, False]}, "reset_mask"),
        ({"reset_mask": np.zeros(2, dtype=bool)}, "at least one"),
        ({"reset_mask": np.ones(3, dtype=bool)}, r"\(2,\)"),
        ({"reset_mask": np.array([True, False])}, "not begun"),
    ],
)
def test_options_that_cannot_be_are_refused(options, told):
    envs = RobotVectorEnv(DRIVEN, xs.HalfSpace(), num_envs=2)
    with pytest.raises(xs.InvalidArgument, match=told):
        envs.reset(options=options)


@pytest.mark.parametrize("option", [{"num_envs": 0}, {"autoreset_mode": "never"}, {"render_mode": "human"}])
def test_settings_of_many_are_refused_likewise(option):
    with pytest.raises(xs.InvalidArgument, match=next(iter(option))):
        RobotVectorEnv(DRIVEN, xs.HalfSpace(), **option)


def test_seeds_are_one_or_as_many_as_rows():
    envs = gymnasium.make_vec("exposim/Solo12-v0", num_envs=2)
    with pytest.raises(xs.InvalidArgument, match="3 entries"):
        envs.reset(seed=[1, 2, 3])


@pytest.mark.parametrize("seed", [-1, True, [7, -1], [1.9, 2], ["1", 2], [True, 2]])
def test_seeds_that_are_none_are_refused_before_any_row_is_seeded(seed):
    envs = gymnasium.make_vec("exposim/Solo12-v0", num_envs=2)
    envs.reset(seed=[1, 2])
    before = [generator.bit_generator.state for generator in envs.unwrapped.generators]
    with pytest.raises(xs.InvalidArgument, match="seed"):
        envs.reset(seed=seed)
    assert [generator.bit_generator.state for generator in envs.unwrapped.generators] == before
