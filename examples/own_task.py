"""A task of one's own for Gymnasium: 32 Go2 shall crouch to a height that each is told, while they are pushed."""

import numpy as np

import exposim as xs


def near(rows: xs.envs.Rows) -> np.ndarray:
    """One where the base is as high above the ground as the command says [m]."""
    return np.exp(-500.0 * (rows.height - rows.command[:, 0]) ** 2)


def crouching(count: int) -> xs.envs.RobotVectorEnv:
    """As many as that."""
    return xs.envs.RobotVectorEnv(
        xs.load_robot("go2").replace(drives=xs.Drive(kp=25.0, kd=0.5)),
        xs.HalfSpace(),
        num_envs=count,
        command=[(0.2, 0.32)],
        reward={"near": (1.0, near), "torques": -1e-4, "action_rate": -0.01},
        terminate=xs.envs.Fallen(tilt=0.8, height=0.3),
        randomise=xs.envs.Randomise(friction=(0.5, 1.2), push=(0.1, 0.3), push_every=(0.5, 1.0)),
        max_episode_steps=100,
    )


if __name__ == "__main__":
    envs = crouching(32)
    for gain in (0.0, 8.0):  # how far to fold for a height [1/m]
        obs, _ = envs.reset(seed=0)
        rewards = np.zeros(32)
        for _ in range(100):
            fold = gain * (0.334 - obs[:, 6:7])  # the command, behind gravity and angular velocity
            obs, reward, *_ = envs.step(fold * np.tile([0.0, 1.0, -2.0], 4))
            rewards += reward
        print(f"gain {gain:g}: reward {rewards.mean():.2f} in 2 s, from {rewards.min():.2f} to {rewards.max():.2f}")
