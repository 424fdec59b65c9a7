"""Integrals of a linear system, the heart of the exponential integrator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from exposim import _checks, _core
from exposim._checks import Array
from exposim.contact.materials import Material
from exposim.contact.modes import MODES
from exposim.errors import InvalidArgument

KernelInfo = _core.KernelInfo

# Into which a step can be divided: no step goes on for hours, deaf to signals.
MOST_MICRO_STEPS = 100_000


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
    tolerance: float = _core.KERNEL_TOLERANCE,
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
    tolerance: float = _core.KERNEL_TOLERANCE,
    balance: bool = True,
) -> tuple[Array, Array, KernelInfo]:
    """As :func:`contact_integrals`, and what it took.

    ``.terms`` of a series, or ``.degree``, ``.squarings``, ``.products`` and ``.error_bound`` of an approximant.
    """
    stiffness = _checks.vector("K", K)
    m = len(stiffness)
    if m == 0 or m % 3 != 0:
        raise InvalidArgument(f"K has {m} entries; give three for every contact")
    for i, each in enumerate(stiffness):
        _checks.number(f"K[{i}]", each, "[N/m]", above=0.0)
    damping = _checks.vector("B", B, m, "as many as K")
    for i, each in enumerate(damping):
        _checks.number(f"B[{i}]", each, "[N·s/m]", least=0.0)
    inertia = _symmetric("Upsilon", Upsilon, m)
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


@dataclass(frozen=True)
class Element:
    """A contact in contact space, at the start of a step that :func:`resolve` follows it through.

    Args:
        material: Of the contact.
        normal: Unit vector out of the surface, (3,).
        gap: Distance from the surface [m], negative inside.
        velocity: Of the point [m/s], (3,).
        mode: ``"open"``, ``"sticking"``, ``"slipping"``, ``"idle"`` or ``"bilateral"``.
        stretch: From the anchor to the point [m], tangential, or of a bilateral contact whole, (3,).
        gap0: At which the normal spring is at rest [m].
    """

    material: Material = field(default_factory=Material)
    normal: tuple[float, ...] = (0.0, 0.0, 1.0)
    gap: float = 0.0
    velocity: tuple[float, ...] = (0.0, 0.0, 0.0)
    mode: str = "open"
    stretch: tuple[float, ...] = (0.0, 0.0, 0.0)
    gap0: float = 0.0

    def __post_init__(self) -> None:
        _checks.choice("mode", self.mode, MODES)
        for name, meaning in (("normal", "a unit vector"), ("velocity", "[m/s]"), ("stretch", "[m]")):
            vector = _checks.vector(name, getattr(self, name), 3, meaning)
            object.__setattr__(self, name, tuple(vector.tolist()))
        for name in ("gap", "gap0"):
            object.__setattr__(self, name, _checks.number(name, getattr(self, name), "[m]"))
        if not isinstance(self.material, Material):
            raise InvalidArgument(f"material is {self.material!r}; give an exposim.Material")
        along = abs(np.dot(self.normal, self.stretch))
        if self.mode != "bilateral" and along > 1e-6 * (np.linalg.norm(self.stretch) + 1e-6):
            raise InvalidArgument(f"stretch is {self.stretch!r}; give it no part along the normal")
        if abs(np.linalg.norm(self.normal) - 1.0) > 1e-9:
            raise InvalidArgument(f"normal is {self.normal!r}; give a vector of unit length")
        if self.mode == "bilateral" and (self.gap, self.gap0) != (0.0, 0.0):
            raise InvalidArgument("gap and gap0 are not for bilateral elements; give the whole stretch instead")
        if self.mode != "open" and self.gap > 0.0:
            raise InvalidArgument(
                f"gap is {self.gap!r}, but the contact is {self.mode}; give mode 'open', or a gap ≤ 0"
            )

    def _build(self) -> _core.Element:
        material = self.material._build()
        law = _core.Bilateral(material) if self.mode == "bilateral" else self.material._law(_core.ExplicitEuler())
        n, dp, s = map(np.array, (self.normal, self.velocity, self.stretch))
        return _core.Element(law, n, self.gap, dp, MODES.index(self.mode), s, self.gap0)


class Event(NamedTuple):
    """A contact changed its mode.

    Args:
        t: Since the start of the step [s].
        element: Which contact.
        before: Its mode until then.
        after: Its mode from then on.
    """

    t: float
    element: int
    before: str
    after: str


@dataclass(frozen=True, eq=False)
class Resolved:
    """What became of contacts in a step.

    Args:
        lam_bar: Mean forces [N], (n, 3).
        lam_bar2: Double means [N], (n, 3).
        displacement: Of the points over the step [m], (n, 3).
        velocity: At its end [m/s], (n, 3).
        stretch: At its end [m], (n, 3).
        modes: At its end.
        events: Changes of mode, in the order of time.
        micro_steps: That it took.
        changed: Whether anything changed, or slipped.
        limited: Whether there were more changes than are located in a step.
    """

    lam_bar: Array
    lam_bar2: Array
    displacement: Array
    velocity: Array
    stretch: Array
    modes: tuple[str, ...]
    events: tuple[Event, ...]
    micro_steps: int
    changed: bool
    limited: bool


def resolve(
    Upsilon: ArrayLike,
    ddp_bar: ArrayLike,
    elements: Sequence[Element],
    dt: float,
    micro_steps: int = _core.MICRO_STEPS,
    tolerance: float | None = None,
) -> Resolved:
    r"""Follows contacts through a step in contact space, as :class:`exposim.Expo` does where they may change.

    :math:`\ddot p = \Upsilon \lambda(p, \dot p) + \ddot{\bar p}` with the whole contact law, all
    other terms frozen.

    Args:
        Upsilon: Inverse inertia at the contacts [1/kg], symmetric, (3n, 3n).
        ddp_bar: Acceleration without contact forces [m/s²], (3n,).
        elements: The n contacts.
        dt: Length of the step [s], at least 1e-12.
        micro_steps: Into which it is divided at least, from 1 to 100,000.
        tolerance: Error of a velocity that each of them may make [m/s], above zero; ``None``: that of ``Expo()``.
    """
    elements = tuple(elements)
    if not elements or not all(isinstance(each, Element) for each in elements):
        raise InvalidArgument(f"elements is {elements!r}; give at least one exposim.kernels.Element")
    m = 3 * len(elements)
    dt = _checks.number("dt", dt, "[s]", least=_core.MIN_STEP)
    found = _core.resolve(
        _symmetric("Upsilon", Upsilon, m),
        _checks.vector("ddp_bar", ddp_bar, m, "three for every element"),
        [each._build() for each in elements],
        dt,
        _checks.count("micro_steps", micro_steps, MOST_MICRO_STEPS),
        dt * _core.MICRO_TOLERANCE if tolerance is None else _checks.positive("tolerance", tolerance, "[m/s], or inf"),
    )
    return Resolved(
        found.lam_bar,
        found.lam_bar2,
        found.displacement,
        found.velocity,
        found.stretch,
        tuple(MODES[mode] for mode in found.modes),
        tuple(Event(t, k, MODES[before], MODES[after]) for t, k, before, after in found.events),
        found.micro_steps,
        found.changed,
        found.limited,
    )


def _symmetric(name: str, value: ArrayLike, size: int) -> Array:
    matrix = _checks.matrix(name, value, size, size)
    if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12 * np.abs(matrix).max()):
        raise InvalidArgument(f"{name} is not symmetric; give J M⁻¹ Jᵀ")
    return matrix


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
