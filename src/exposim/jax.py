"""Steps for JAX, with derivatives forwards and backwards: ``x = xs.jax.step(sim, x, tau)``."""

from __future__ import annotations

from typing import Any

import numpy as np

from exposim._checks import Array
from exposim._extras import load
from exposim.errors import InvalidArgument
from exposim.simulation.differentiable import DifferentiableStep, differentiable
from exposim.simulation.simulator import Simulator

jax: Any = load("jax")
jnp: Any = load("jax.numpy")


def step(sim: Simulator, x: Any, tau: Any = None, target: Any = None) -> Any:
    """One step of dt from every state, by a callback on the host; derivatives are those of the step itself.

    As :func:`exposim.torch.step`, within ``jit``, ``vmap``, ``grad``, ``jvp`` and ``scan``. A row that diverges, or is
    no state, is an error of the callback.

    Args:
        sim: What takes the steps; it is neither moved nor changed.
        x: Flat states, (nx,) or (..., nx), in double precision: ``jax.config.update("jax_enable_x64", True)``.
        tau: Torques of the actuated degrees of freedom, (..., nu), of the same or no leading axes; by default none.
        target: Of drives, likewise; by default ``robot.q0``.

    Returns:
        Flat states, as ``x``.

    Raises:
        InvalidArgument: Of other shapes or precision.
    """
    taken = differentiable(sim)
    if not jax.config.jax_enable_x64:
        raise InvalidArgument(
            'JAX computes in single precision, which is too coarse; run: jax.config.update("jax_enable_x64", True)'
        )
    given = [("x", x, taken.nx), ("tau", tau, taken.nu), ("target", target, taken.nu)]
    arrays = []
    for name, value, size in given:
        if value is None:
            continue
        array = jnp.asarray(value, dtype=jnp.float64)
        if array.ndim == 0 or array.shape[-1] != size:
            raise InvalidArgument(f"{name} has shape {array.shape}; give (..., {size})")
        arrays.append(array)
    shape = jnp.broadcast_shapes(*(each.shape[:-1] for each in arrays))
    arrays = [jnp.broadcast_to(each, (*shape, each.shape[-1])) for each in arrays]
    names = tuple(name for name, value, _ in given if value is not None)
    if names not in taken.functions:
        taken.functions[names] = _made(taken, names)
    return taken.functions[names](*arrays)


def _made(taken: DifferentiableStep, names: tuple[str, ...]) -> Any:
    """The step as a function of what is given, whose derivative JAX can turn round."""

    def rows(arrays: tuple[Any, ...]) -> tuple[Array, dict[str, Any], tuple[int, ...]]:
        x, *inputs = (np.asarray(each) for each in arrays)
        flat = {f"{name}s": each.reshape(-1, taken.nu) for name, each in zip(names[1:], inputs, strict=True)}
        return x.reshape(-1, taken.nx), flat, x.shape[:-1]

    def take(*arrays: Any) -> Array:
        x, inputs, shape = rows(arrays)
        return taken.take(x, **inputs).reshape(*shape, taken.nx)

    def differentiate(*arrays: Any) -> tuple[Array, ...]:
        x, inputs, shape = rows(arrays)
        by = dict(zip(("x", "tau", "target"), taken.jacobians(x, **inputs), strict=True))
        return tuple(by[name].reshape(*shape, *by[name].shape[1:]) for name in names)

    def shaped(like: Any, *sizes: int) -> Any:
        return jax.ShapeDtypeStruct((*like.shape[:-1], *sizes), jnp.float64)

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def stepped(*arrays: Any) -> Any:
        return jax.pure_callback(take, shaped(arrays[0], taken.nx), *arrays, vmap_method="broadcast_all")

    @stepped.defjvp  # type: ignore[untyped-decorator]
    def forwards(primals: Any, tangents: Any) -> tuple[Any, Any]:
        shapes = tuple(shaped(each, taken.nx, each.shape[-1]) for each in primals)
        by = jax.pure_callback(differentiate, shapes, *primals, vmap_method="broadcast_all")
        moved = sum(jnp.einsum("...ij,...j->...i", J, each) for J, each in zip(by, tangents, strict=True))
        return stepped(*primals), moved

    return stepped
