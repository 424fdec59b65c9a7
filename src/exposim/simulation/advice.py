"""How stiff contacts and joints are, and what that asks of the step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exposim import _core, _html
from exposim._checks import Array
from exposim._durations import show_time
from exposim.errors import InvalidArgument
from exposim.simulation.joint_advice import JointAdvice


@dataclass(frozen=True, eq=False)
class Advice:
    """The stiff spectrum of active contacts and limits, and of the joints, as they are now. Prints as a table.

    Args:
        contacts: How many are active.
        modes: Eigenvalues of the linear contact dynamics [1/s], complex, fastest first.
        fastest: Largest of their magnitudes [rad/s]; 0 without contact.
        damping_ratio: Of the mode of largest stiffness: below 1 it oscillates.
        explicit_euler_dt: Largest step at which explicit Euler is stable [s]; infinite without contact.
        dt: The simulator's step [s].
        kernel: What ``Expo()`` takes: ``"series"``, where that is long ``"modal"``, ``"expm"`` or ``"Pade(j)"``, or
            ``"none"`` in the air.
        error_bound: Of the average forces it gives, relative to the largest; 0 for the exact kernels.
        joints: What drives, dampers and friction of the joints ask for; ``None`` without joints.
    """

    contacts: int
    modes: NDArray[np.complex128]
    fastest: float
    damping_ratio: float
    explicit_euler_dt: float
    dt: float
    kernel: str
    error_bound: float
    joints: JointAdvice | None

    def _repr_html_(self) -> str:
        return _html.plain(str(self))

    def __str__(self) -> str:
        rows = {
            "active contacts": f"{self.contacts}",
            "fastest contact mode": f"{self.fastest:.4g} rad/s",
            "its damping ratio": f"{self.damping_ratio:.3g}",
            "explicit Euler is stable up to": show_time(self.explicit_euler_dt, 3),
            "step of this simulator": show_time(self.dt, 3),
            "kernel of Expo": self.kernel,
            "error bound of its forces": f"{self.error_bound:.1e}" if self.error_bound else "rounding",
        }
        rows |= {} if self.joints is None else self.joints.rows()
        return "\n".join(f"{name:32}{value}" for name, value in rows.items())


def advise(
    A: Array, contacts: int, dt: float, info: _core.KernelInfo | None, joints: JointAdvice | None = None
) -> Advice:
    """From the matrix of the linear contact dynamics (``eq:contact_dyn``), in which limits that are reached have rows.

    Raises:
        InvalidArgument: If its entries are too large for floating-point numbers.
    """
    m = len(A) // 2
    if m == 0 or info is None:
        return Advice(0, np.zeros(0, complex), 0.0, 0.0, np.inf, dt, "none", 0.0, joints)
    if not np.isfinite(A).all():
        raise InvalidArgument(
            "the contacts have a stiffness or damping too large for the robot's inertia: their ratio is not finite; "
            "give other materials or masses"
        )
    Upsilon_K, Upsilon_B = -A[m:, :m], -A[m:, m:]
    # In a unit of time in which no entry is large, so that no product overflows. Scaling by a power of two is exact.
    rate = _power_of_two(max(np.sqrt(np.abs(Upsilon_K).max()), np.abs(Upsilon_B).max()))
    scaled_K, scaled_B = Upsilon_K / rate / rate, Upsilon_B / rate
    modes = rate * np.linalg.eigvals(np.block([[A[:m, :m], A[:m, m:]], [-scaled_K, -scaled_B]])).astype(np.complex128)
    modes = modes[np.argsort(-np.abs(modes))]
    if info.terms > 0:
        kernel = "series"
    else:
        kernel = "modal" if info.degree == 0 else "expm" if info.error_bound == 0.0 else f"Pade({info.degree})"
    stable = _largest_stable_step(scaled_K, scaled_B, rate)
    ratio = _damping_ratio(Upsilon_K, Upsilon_B)
    return Advice(contacts, modes, float(np.abs(modes[0])), ratio, stable, dt, kernel, info.error_bound, joints)


def _power_of_two(value: float) -> float:
    """At most the value, and more than half of it; 1 for 0."""
    return float(np.ldexp(1.0, int(np.frexp(value)[1]) - 1)) if value > 0.0 else 1.0


def _damping_ratio(Upsilon_K: Array, Upsilon_B: Array) -> float:
    """Of the mode of largest stiffness; infinite without any."""
    stiffness, damping = (_power_of_two(float(np.abs(each).max())) for each in (Upsilon_K, Upsilon_B))
    omega, vectors = np.linalg.eig(Upsilon_K / stiffness)  # squares of the undamped frequencies
    stiffest = int(np.argmax(omega.real))
    v = vectors[:, stiffest].real
    along = float(v @ (Upsilon_B / damping) @ v / (v @ v))
    frequency = math.sqrt(max(float(omega.real[stiffest]), 0.0))
    if frequency == 0.0:
        return math.inf if along > 0.0 else 0.0
    return along / (2.0 * frequency) * (damping / math.sqrt(stiffness))


def _largest_stable_step(Upsilon_K: Array, Upsilon_B: Array, rate: float) -> float:
    """Of explicit Euler [s], by bisection on the spectral radius of its map; time is scaled by `rate` [1/s]."""
    m = len(Upsilon_K)
    identity = np.eye(m)

    def is_stable(h: float) -> bool:
        x = h * rate
        half_square = x * x / 2.0  # infinite where a power would raise an error
        above = np.hstack([identity - half_square * Upsilon_K, x * identity - half_square * Upsilon_B])
        below = np.hstack([-x * Upsilon_K, identity - x * Upsilon_B])
        step = np.vstack([above, below])
        # Motions that no spring feels have a double eigenvalue 1, which rounding splits by its square root.
        return bool(np.isfinite(step).all() and np.abs(np.linalg.eigvals(step)).max() <= 1.0 + 1e-5)

    low, high = 0.0, 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(40):
            middle = np.sqrt(low * high) if low > 0.0 else 1e-3 * high
            low, high = (middle, high) if is_stable(middle) else (low, middle)
            if high < 1e-12:
                return 0.0
    return low
