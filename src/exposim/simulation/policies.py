"""Feedback that is evaluated within a rollout, by the core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks, _core
from exposim._checks import Array
from exposim.errors import InvalidArgument, did_you_mean
from exposim.robots.robot import Robot
from exposim.simulation.inputs import Inputs
from exposim.simulation.rollout_inputs import RowInputs

Output = Literal["targets", "taus"]
Activation = Literal["elu", "relu", "tanh"]
OBSERVATIONS = (
    "gravity",
    "linear_velocity",
    "angular_velocity",
    "joint_positions",
    "joint_velocities",
    "last_action",
    "command",
)
_OF_BASE = OBSERVATIONS[:3]


class Policy:
    """What gives every step of a row an input of its own; see :class:`LinearPolicy` and :class:`MLP`."""

    takes_commands = False

    def _build(self, robot: Robot, inputs: Inputs, given: RowInputs, commands: int) -> tuple[_core.Policy, int]:
        """For rows of a robot: as the core has it, and how many entries an action has."""
        raise InvalidArgument(f"policy is a {type(self).__name__}; give an exposim.LinearPolicy or an exposim.MLP")


class LinearPolicy(Policy):
    """Linear feedback: ``taus`` or ``targets`` of the call plus ``gain @ (x ⊖ reference)``.

    The state is seen as ``x ⊖ reference = (q ⊖ q_ref, v − v_ref)``, 2 nv numbers: q in the tangent space, of a free
    base in its own axes, as of ``pinocchio.difference``. A regulator that is given as ``u = −K x`` has ``gain=-K``.

    Args:
        gain: (n, 2 nv), or (T, n, 2 nv) for each step, or (N, T, n, 2 nv) for each row; n is one per actuated degree of
            freedom, or of torques nv.
        q: Reference, (nq,), (T, nq) or (N, T, nq).
        v: Reference, (nv,), (T, nv) or (N, T, nv); by default at rest.
        output: Whether it is torques or targets that it adds to.
        hold: Steps for which what it adds is held.
    """

    def __init__(
        self,
        gain: ArrayLike,
        q: ArrayLike,
        v: ArrayLike | None = None,
        *,
        output: Output = "taus",
        hold: int = 1,
    ):
        self._gain = _checks.finite("gain", _checks.as_array("gain", gain))
        if self._gain.ndim not in (2, 3, 4):
            raise InvalidArgument(
                f"gain has shape {self._gain.shape}; give (n, 2 nv), (steps, n, 2 nv) or (rows, steps, n, 2 nv)"
            )
        self._q = _checks.finite("q", _checks.as_array("q", q))
        self._v = None if v is None else _checks.finite("v", _checks.as_array("v", v))
        self._output = _checks.choice("output", output, get_args(Output))
        self._hold = _checks.count("hold", hold)

    def _build(self, robot: Robot, inputs: Inputs, given: RowInputs, commands: int) -> tuple[_core.Policy, int]:
        size, seen = self._gain.shape[-2:]
        if seen != 2 * robot.nv:
            raise InvalidArgument(f"gain has {seen} columns; give {2 * robot.nv} (2 nv of {robot.name})")
        entries = _entries(self._output, size, robot, inputs)
        flat = self._gain.reshape(*self._gain.shape[:-2], size * seen)
        q, v = (
            given.series(f"{name} of the policy", value)
            for name, value in (("q", self._q), ("v", np.zeros(robot.nv) if self._v is None else self._v))
        )
        for name, array, wanted in (("q", q, robot.nq), ("v", v, robot.nv)):
            if array.shape[2] != wanted:
                raise InvalidArgument(
                    f"{name} of the policy has {array.shape[2]} entries; give {wanted} (n{name} of {robot.name})"
                )
        for reference in q.reshape(-1, robot.nq):
            robot.check_configuration(reference, "q of the policy")
        gain, q, v = (np.ascontiguousarray(each) for each in (given.series("gain of the policy", flat), q, v))
        return _core.LinearPolicy(gain, q, v, self._output == "taus", entries, self._hold), size


class MLP(Policy):
    r"""A small neural network: ``taus`` or ``targets`` of the call plus ``offset + scale * network(observation)``.

    Layers are ``W x + b``, with the activation between them and none after the last. As the target of a drive is
    ``robot.q0`` where none is given, a network that says how far from it the joints shall be needs no offset.
    What its observations are to be multiplied with belongs into the first layer.

    Args:
        weights: Of every layer, (outputs, inputs).
        biases: Of every layer, (outputs,).
        activation: ``"elu"``, ``"relu"`` or ``"tanh"``.
        observation: What it sees, in this order. Of the free base, in its own axes: ``gravity`` (the direction of
            what falls, of length one), ``linear_velocity`` [m/s], ``angular_velocity`` [rad/s]. Of the actuated
            joints: ``joint_positions`` (less those of ``robot.q0``) and ``joint_velocities``. ``last_action`` (the
            network's last output; zero at the start of a call), ``command`` (``commands`` of the call).
        scale: One number, or one per output.
        offset: Likewise.
        output: Whether it is targets or torques that it adds to, of the actuated degrees of freedom.
        hold: Steps for which what it adds is held: a policy of 50 Hz at steps of 5 ms has 4.
    """

    def __init__(
        self,
        weights: Sequence[ArrayLike],
        biases: Sequence[ArrayLike],
        *,
        observation: Sequence[str],
        activation: Activation = "elu",
        scale: ArrayLike = 1.0,
        offset: ArrayLike = 0.0,
        output: Output = "targets",
        hold: int = 1,
    ):
        self._layers = _checked_layers(weights, biases)
        self._activation = _checks.choice("activation", activation, get_args(Activation))
        self._seen = _checks.several("observation", observation, f"a list of {', '.join(OBSERVATIONS)}")
        for name in self._seen:
            if name not in OBSERVATIONS:
                near = did_you_mean(str(name), OBSERVATIONS)
                raise InvalidArgument(f"observation has {name!r}{near}; there are {', '.join(OBSERVATIONS)}")
        self.takes_commands = "command" in self._seen
        outputs = len(self._layers[-1][1])
        self._scale, self._offset = (
            _per_output(name, value, outputs) for name, value in (("scale", scale), ("offset", offset))
        )
        self._output = _checks.choice("output", output, get_args(Output))
        self._hold = _checks.count("hold", hold)

    def _build(self, robot: Robot, inputs: Inputs, given: RowInputs, commands: int) -> tuple[_core.Policy, int]:
        outputs, joints = len(self._scale), len(robot.actuated_dofs)
        if outputs != joints:
            raise InvalidArgument(
                f"the policy has {outputs} outputs; give {joints} (one per actuated degree of freedom of {robot.name})"
            )
        entries = _entries(self._output, outputs, robot, inputs)
        sizes = dict.fromkeys(_OF_BASE, 3) | {"last_action": outputs, "command": commands}
        sizes |= {"joint_positions": joints, "joint_velocities": joints}
        self._refuse_unseen(robot, inputs)
        seen = sum(sizes[name] for name in self._seen)
        first = self._layers[0][0].shape[1]
        if seen != first:
            parts = ", ".join(f"{name} {sizes[name]}" for name in self._seen)
            raise InvalidArgument(f"the first layer has {first} inputs, but the observation {seen} ({parts})")
        straight = inputs.target_entries(outputs) or []
        in_q = [to for _, to in straight]
        core = _core.MLP(
            self._layers,
            getattr(_core.MLP.Activation, self._activation),
            [getattr(_core.MLP.Seen, name) for name in self._seen],
            self._scale,
            self._offset,
            in_q,
            robot.actuated_dofs.tolist(),
            robot.q0[in_q],
            commands if self.takes_commands else 0,
            self._output == "taus",
            entries,
            self._hold,
        )
        return core, outputs

    def _refuse_unseen(self, robot: Robot, inputs: Inputs) -> None:
        base = [name for name in self._seen if name in _OF_BASE]
        if base and not robot.has_floating_base:
            raise InvalidArgument(f"observation has {base[0]!r}, but {robot.name!r} has no free base; leave it out")
        if "joint_positions" in self._seen and inputs.target_entries(len(robot.actuated_dofs)) is None:
            raise InvalidArgument(
                f"observation has 'joint_positions', but joints of {robot.name!r} turn in circles or in space, where "
                f"a position is no number"
            )


def _entries(output: str, size: int, robot: Robot, inputs: Inputs) -> list[int]:
    """Of torques, or of a configuration, that an action of so many entries is added to."""
    if output == "taus":
        return [to for _, to in inputs.dof_entries("an action of the policy", size)]
    inputs.refuse_without_drives("a policy with output='targets'")
    if size != len(robot.actuated_dofs):
        raise InvalidArgument(
            f"an action of the policy has {size} entries; give {len(robot.actuated_dofs)} (one per actuated degree "
            f"of freedom)"
        )
    entries = inputs.target_entries(size)
    if entries is None:
        raise InvalidArgument(
            f"joints of {robot.name!r} turn in circles or in space, where a policy cannot add to a target; "
            f"give output='taus'"
        )
    return [to for _, to in entries]


def _checked_layers(weights: Any, biases: Any) -> list[tuple[Array, Array]]:
    matrices = _checks.several("weights", weights, "a list of matrices, (outputs, inputs)")
    vectors = _checks.several("biases", biases, "a list of vectors, (outputs,)")
    if not matrices or len(matrices) != len(vectors):
        raise InvalidArgument(f"there are {len(matrices)} weights and {len(vectors)} biases; give one for each layer")
    layers: list[tuple[Array, Array]] = []
    for i, (given, bias) in enumerate(zip(matrices, vectors, strict=True)):
        W = _checks.finite(f"weights[{i}]", _checks.as_array(f"weights[{i}]", given))
        if W.ndim != 2 or not W.size or (layers and W.shape[1] != len(layers[-1][1])):
            inputs = len(layers[-1][1]) if layers else "inputs"
            raise InvalidArgument(f"weights[{i}] has shape {W.shape}; give (outputs, {inputs})")
        layers.append((W, _checks.vector(f"biases[{i}]", bias, len(W), f"outputs of weights[{i}]")))
    return layers


def _per_output(name: str, value: Any, outputs: int) -> Array:
    array = _checks.finite(name, _checks.as_array(name, value))
    if array.ndim == 0:
        array = np.full(outputs, float(array))
    return _checks.vector(name, array, outputs, "one per output, or one for all")
