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


def contact_integrals(
    Upsilon: ArrayLike,
    K: ArrayLike,
    B: ArrayLike,
    ddp_bar: ArrayLike,
    x0: ArrayLike,
    dt: float,
    kernel: ContactKernel = "auto",
    *,
    tolerance: float = 1e-8,
    balance: bool = True,
) -> tuple[Array, Array]:
    r"""Single and double integral of the contact dynamics, by any kernel that :class:`exposim.Expo` knows.

    :math:`\Delta\ddot p = -\Upsilon (K \Delta p + B \Delta\dot p) + \ddot{\bar p}`, three coordinates to a contact
    (``eq:contact_dyn``).

    Args:
        Upsilon: Inverse inertia at the contacts [1/kg], symmetric, (3n, 3n).
        K: Diagonal of the stiffness [N/m], above zero, (3n,).
        B: Diagonal of the damping [N·s/m], not negative, (3n,).
        ddp_bar: Acceleration without contact forces [m/s²], (3n,).
        x0: Displacements [m], then velocities [m/s], (6n,).
        dt: Length of the interval [s], above zero.
        kernel: ``"auto"``, ``"modal"`` (only where B is proportional to K), ``"expm"`` or ``Pade(degree)``.
        tolerance: Of ``"auto"``.
        balance: For ``"expm"`` and ``Pade``.

    Returns:
        :math:`\int x` and :math:`\int\!\int x`, each (6n,).
    """
    x_int, x_int2, _ = contact_integrals_with_info(
        Upsilon, K, B, ddp_bar, x0, dt, kernel, tolerance=tolerance, balance=balance
    )
    return x_int, x_int2


def contact_integrals_with_info(
    Upsilon: ArrayLike,
    K: ArrayLike,
    B: ArrayLike,
    ddp_bar: ArrayLike,
    x0: ArrayLike,
    dt: float,
    kernel: ContactKernel = "auto",
    *,
    tolerance: float = 1e-8,
    balance: bool = True,
) -> tuple[Array, Array, KernelInfo]:
    """As :func:`contact_integrals`, and what it took: ``.degree``, ``.squarings``, ``.products``, ``.error_bound``."""
    stiffness = _checks.vector("K", K)
    m = len(stiffness)
    if m == 0 or m % 3 != 0:
        raise InvalidArgument(f"K has {m} entries; give three for every contact")
    for i, each in enumerate(stiffness):
        _checks.number(f"K[{i}]", each, "[N/m]", above=0.0)
    damping = _checks.vector("B", B, m, "as many as K")
    for i, each in enumerate(damping):
        _checks.number(f"B[{i}]", each, "[N·s/m]", least=0.0)
    inertia = _checks.matrix("Upsilon", Upsilon, m, m)
    if not np.allclose(inertia, inertia.T, rtol=1e-9, atol=1e-12 * np.abs(inertia).max()):
        raise InvalidArgument("Upsilon is not symmetric; give J M⁻¹ Jᵀ")
    if isinstance(kernel, str) and kernel == "modal" and not is_proportional(stiffness, damping):
        raise InvalidArgument("kernel is 'modal', but B is not proportional to K; give 'auto'")
    return _core.contact_integrals(
        inertia,
        stiffness,
        damping,
        _checks.vector("ddp_bar", ddp_bar, m, "as many as K"),
        _checks.vector("x0", x0, 2 * m, "displacements, then velocities"),
        _checks.number("dt", dt, "[s]", above=0.0),
        _contact_kernel(kernel, balance, tolerance),
    )


def is_proportional(K: Array, B: Array) -> bool:
    """Whether B = c K for one number c."""
    c = B.sum() / K.sum()
    return bool(np.all(np.abs(B - c * K) <= 1e-13 * c * K))


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
