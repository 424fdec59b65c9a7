"""Time-stepping schemes, as value objects: their options, nothing that changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

from exposim import _checks, _core
from exposim.kernels import ContactKernel, _contact_kernel


class Integrator(ABC):
    """A time-stepping scheme. Every simulator makes an instance of its own from these options."""

    @abstractmethod
    def _build(self) -> _core.IntegratorFactory: ...


@dataclass(frozen=True)
class Expo(Integrator):
    r"""Exponential integrator for stiff contacts.

    Freezes :math:`A` and :math:`b` over the step and integrates the contact dynamics :math:`\dot x = A x + b`
    exactly (``eq:contact_dyn``); the remaining dynamics are explicit. Where a contact may land, lift, slip or stick
    within the step, it is followed through that in contact space. Choose it for stiff contacts and large steps.

    Args:
        transitions: What becomes of contacts that change within a step. ``"resolved"``: they follow the continuous
            contact law. ``"averaged"``, the paper's method: the average forces are projected on the friction cone, and
            landings are noticed at the end of the step.
        order: 1: the terms of the dynamics are those at the start of the step. 2: those at an estimate of its middle,
            for a third more time; second order while no contact changes. By default 2, with averaged transitions 1.
        kernel: How the integrals are computed. ``"auto"``: in closed form where damping is proportional to stiffness,
            otherwise by the cheapest approximation that meets the tolerance. ``"modal"``: the closed form, refused for
            other materials. ``"expm"`` or ``Pade(degree)``: as in the paper.
        tolerance: Of ``"auto"``: largest error of an average contact force, relative to the largest of them.
        balance: Balance the matrix of ``"expm"`` or ``Pade`` first; ``False`` is the paper's baseline.
        position_update: Which average of the contact force moves the configuration: ``"lam_pr2"``, the double
            average (``eq:state_int_friction2``), or ``"lam_pr"``, the paper's simpler one
            (``eq:state_int_friction``).
    """

    kernel: ContactKernel = "auto"
    tolerance: float = 1e-8
    balance: bool = True
    position_update: Literal["lam_pr2", "lam_pr"] = "lam_pr2"
    transitions: Literal["resolved", "averaged"] = "resolved"
    order: Literal[1, 2] | None = None

    def __post_init__(self) -> None:
        _contact_kernel(self.kernel, self.balance, self.tolerance)
        _checks.choice("transitions", self.transitions, ("resolved", "averaged"))
        if self.order is None:
            object.__setattr__(self, "order", 2 if self.transitions == "resolved" else 1)
        _checks.choice("order", self.order, (1, 2))
        _checks.choice("position_update", self.position_update, ("lam_pr2", "lam_pr"))

    def _build(self) -> _core.IntegratorFactory:
        position_updates = {
            "lam_pr2": _core.PositionUpdate.DOUBLE_AVERAGE,
            "lam_pr": _core.PositionUpdate.SINGLE_AVERAGE,
        }
        kernel = _contact_kernel(self.kernel, self.balance, self.tolerance)
        transitions = {"resolved": _core.Transitions.RESOLVED, "averaged": _core.Transitions.AVERAGED}
        return _core.expo(
            kernel, position_updates[self.position_update], transitions[self.transitions], self.order or 2
        )


@dataclass(frozen=True)
class ExplicitEuler(Integrator):
    r"""Explicit Euler: :math:`v^+ = v + dt\,\dot v`, :math:`q^+ = q \oplus (dt\,v + \frac{dt^2}{2}\dot v)`.

    First order. Stable only for steps far below :math:`\sqrt{m/K}` and :math:`m/B`.
    """

    def _build(self) -> _core.IntegratorFactory:
        return _core.explicit_euler()


@dataclass(frozen=True)
class SemiImplicitEuler(Integrator):
    r"""Semi-implicit (symplectic) Euler: :math:`v^+ = v + dt\,\dot v`, :math:`q^+ = q \oplus dt\,v^+`.

    First order, with the usual stability of game engines: steps below :math:`2\sqrt{m/K}` without damping.
    """

    def _build(self) -> _core.IntegratorFactory:
        return _core.semi_implicit_euler()


@dataclass(frozen=True)
class RungeKutta4(Integrator):
    r"""The classical fourth-order Runge-Kutta scheme, on the manifold of configurations.

    Moves the configuration by compositions of :math:`\oplus` (Celledoni, Marthinsen, Owren 2003). Fourth order while no
    contact changes; explicit, so stable only for small steps. Its stages follow the contact law from the contacts at
    the start of the step.
    """

    def _build(self) -> _core.IntegratorFactory:
        return _core.runge_kutta4()


@dataclass(frozen=True)
class ImplicitEuler(Integrator):
    r"""Implicit Euler by Newton's method: :math:`v^+ = v + dt\,\dot v(q^+, v^+)`, :math:`q^+ = q \oplus dt\,v^+`.

    First order, stable at large steps, with artificial viscosity. ``sim.info`` tells iterations and residual of the
    last step, ``sim.statistics`` of the run. Where Newton's method does not converge, at contact changes for example,
    the best iterate is kept.

    Args:
        tolerance: On the norm of :math:`v^+ - v - dt\,\dot v` [m/s, rad/s], above zero.
        max_iterations: Newton steps at the most, at least 1.
    """

    tolerance: float = 1e-6
    max_iterations: int = 100

    def __post_init__(self) -> None:
        _checks.number("tolerance", self.tolerance, "[m/s, rad/s]", above=0.0)
        _checks.count("max_iterations", self.max_iterations)

    def _build(self) -> _core.IntegratorFactory:
        return _core.implicit_euler(float(self.tolerance), int(self.max_iterations))
