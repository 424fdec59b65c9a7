"""Integrals of a linear system, the heart of the exponential integrator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks, _core
from exposim._checks import Array
from exposim.errors import InvalidArgument

KernelInfo = _core.KernelInfo


@dataclass(frozen=True)
class Pade:
    """One Padé approximant of the exponential, without scaling: the paper's fast path.

    Args:
        degree: 1, 2, 3, 5 or 7, for 0, 1, 2, 3 or 4 matrix products.
    """

    degree: int

    def __post_init__(self) -> None:
        _checks.choice("degree", self.degree, (1, 2, 3, 5, 7))


Kernel = Literal["expm"] | Pade
ContactKernel = Literal["auto", "modal", "expm"] | Pade


def integrals(
    A: ArrayLike, b: ArrayLike, x0: ArrayLike, dt: float, kernel: Kernel = "expm", *, balance: bool = True
) -> tuple[Array, Array]:
    r"""Single and double integral of the solution of :math:`\dot x = A x + b`, :math:`x(0) = x_0`.

    Args:
        A: Square matrix, (n, n).
        b: Constant term, (n,).
        x0: Initial value, (n,).
        dt: Length of the interval, above zero.
        kernel: ``"expm"`` (to machine precision) or ``Pade(degree)``.
        balance: Reduce the norm of the augmented matrix by a diagonal similarity first.

    Returns:
        :math:`\int_0^{dt} x` and :math:`\int_0^{dt}\!\int_0^{\tau} x`, each (n,).
    """
    x_int, x_int2, _ = integrals_with_info(A, b, x0, dt, kernel, balance=balance)
    return x_int, x_int2


def integrals_with_info(
    A: ArrayLike, b: ArrayLike, x0: ArrayLike, dt: float, kernel: Kernel = "expm", *, balance: bool = True
) -> tuple[Array, Array, KernelInfo]:
    """As :func:`integrals`, and what it took: ``.degree``, ``.squarings``, ``.products``."""
    x0 = _checks.vector("x0", x0)
    n = len(x0)
    if n == 0:
        raise InvalidArgument("x0 has 0 entries; give a vector of at least one")
    x_int, x_int2, info = _core.integrals(
        _checks.matrix("A", A, n, n),
        _checks.vector("b", b, n, "as many as x0"),
        x0,
        _checks.number("dt", dt, "[s]", above=0.0),
        _options(kernel, balance),
    )
    if not (np.isfinite(x_int).all() and np.isfinite(x_int2).all()):
        raise InvalidArgument("A and dt give integrals beyond double precision; take a smaller dt")
    return x_int, x_int2, info


def _options(kernel: Kernel, balance: bool) -> _core.KernelOptions:
    balance = _checks.flag("balance", balance)
    if isinstance(kernel, Pade):
        return _core.KernelOptions(_core.KernelMethod.PADE, kernel.degree, balance)
    if isinstance(kernel, str) and kernel == "expm":
        return _core.KernelOptions(_core.KernelMethod.EXPM, 0, balance)
    raise InvalidArgument(f"kernel is {kernel!r}; give 'expm' or Pade(degree)")


def _contact_kernel(kernel: ContactKernel, balance: bool, tolerance: float) -> _core.ContactKernel:
    tolerance = _checks.number("tolerance", tolerance, "", above=0.0)
    methods = {"auto": _core.ContactMethod.AUTO, "modal": _core.ContactMethod.MODAL}
    if isinstance(kernel, str) and kernel in methods:
        return _core.ContactKernel(methods[kernel], tolerance, _options("expm", balance))
    if not isinstance(kernel, Pade) and not (isinstance(kernel, str) and kernel == "expm"):
        raise InvalidArgument(f"kernel is {kernel!r}; give 'auto', 'modal', 'expm' or Pade(degree)")
    return _core.ContactKernel(_core.ContactMethod.DENSE, tolerance, _options(kernel, balance))
