"""Steps for PyTorch, with gradients: ``x = xs.torch.step(sim, x, tau)``."""

from __future__ import annotations

from typing import Any

from exposim._extras import load
from exposim.errors import InvalidArgument
from exposim.simulation.differentiable import DifferentiableStep, differentiable
from exposim.simulation.simulator import Simulator

torch: Any = load("torch")


def step(sim: Simulator, x: Any, tau: Any = None, target: Any = None) -> Any:
    """One step of dt from every state, on the CPU and in threads; gradients are those of the step itself.

    ``x`` is a flat state, as ``sim.state.to_array()`` gives it: complete, so that steps can be chained and land where
    :meth:`exposim.Simulator.step` does, to the last bit. Gradients by quaternions are those of a step that normalizes
    them first; by whole numbers in it (surface, mode, sizes), ``phi0`` and targets on their way they are zero.

    Args:
        sim: What takes the steps; it is neither moved nor changed.
        x: (nx,) or (..., nx), in double precision.
        tau: Torques of the actuated degrees of freedom, (..., nu), of the same or no leading axes; by default none.
        target: Of drives, likewise; by default ``robot.q0``.

    Returns:
        Flat states, as ``x``.

    Raises:
        InvalidArgument: Of other shapes or precision, or of a row that is no state.
        SimulationDiverged: If a row diverges.
    """
    taken = differentiable(sim)
    given = {name: each for name, each in (("x", x), ("tau", tau), ("target", target)) if each is not None}
    for name, each in given.items():
        size = taken.nx if name == "x" else taken.nu
        if not isinstance(each, torch.Tensor) or each.dtype != torch.float64:
            kind = each.dtype if isinstance(each, torch.Tensor) else type(each).__name__
            raise InvalidArgument(f"{name} is a {kind}; give a torch tensor of float64: single precision is too coarse")
        if each.ndim == 0 or each.shape[-1] != size:
            raise InvalidArgument(f"{name} has shape {tuple(each.shape)}; give (..., {size})")
    shape = torch.broadcast_shapes(*(each.shape[:-1] for each in given.values()))
    flat = {name: each.expand(*shape, -1).reshape(-1, each.shape[-1]) for name, each in given.items()}
    found = _Step.apply(taken, flat["x"], flat.get("tau"), flat.get("target"))
    return found.reshape(*shape, taken.nx)


class _Step(torch.autograd.Function):  # type: ignore[misc]
    """Rows: (N, nx), (N, nu)."""

    @staticmethod
    def forward(ctx: Any, taken: DifferentiableStep, x: Any, tau: Any, target: Any) -> Any:
        ctx.taken = taken
        ctx.save_for_backward(x, tau, target)
        return torch.from_numpy(taken.take(_numbers(x), taus=_numbers(tau), targets=_numbers(target))).to(x.device)

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Any) -> tuple[Any, ...]:
        x, tau, target = ctx.saved_tensors
        found = ctx.taken.jacobians(_numbers(x), taus=_numbers(tau), targets=_numbers(target))
        needed = ctx.needs_input_grad[1:]
        return None, *(
            torch.einsum("nij,ni->nj", torch.from_numpy(each).to(gradient), gradient) if wanted else None
            for each, wanted in zip(found, needed, strict=True)
        )


def _numbers(tensor: Any) -> Any:
    return None if tensor is None else tensor.detach().cpu().numpy()
