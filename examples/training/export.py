"""A trained policy as an exposim.MLP, so that rollouts run it inside their loop, without torch."""

from __future__ import annotations

import numpy as np
from stable_baselines3.common.policies import ActorCriticPolicy

import exposim as xs
from exposim.envs.task import PARTS, Task

SEEN = {"positions": "joint_positions", "velocities": "joint_velocities", "action": "last_action"}  # the rest as here


def exported(policy: ActorCriticPolicy, task: Task) -> xs.MLP:
    """Of a policy with layers of ELU, whose task observes known parts alone (of `walk` it has a clock: refused).

    Actions beyond ±1, which environments cut off, are not cut off here.
    """
    layers = [each for each in (*policy.mlp_extractor.policy_net, policy.action_net) if hasattr(each, "weight")]
    weights = [each.weight.detach().numpy().astype(float) for each in layers]
    joints = len(task.standing)
    sizes = {"gravity": 3, "angular_velocity": 3, "linear_velocity": 3, "command": len(task.command)}
    parts = task.observe
    if any(callable(part) or part == "height" for part in parts):
        raise xs.InvalidArgument(f"the task observes {parts}; an exposim.MLP sees {', '.join((*sizes, *SEEN))}")
    weights[0] = weights[0] * np.concatenate([np.full(sizes.get(part, joints), PARTS[part]) for part in parts])
    return xs.MLP(
        weights,
        [each.bias.detach().numpy().astype(float) for each in layers],
        observation=[SEEN.get(part, part) for part in parts],
        activation="elu",
        scale=task.action_scale,
        offset=task.held - task.standing,
        hold=task.steps,
    )
