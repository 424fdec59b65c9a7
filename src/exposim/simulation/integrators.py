"""Time-stepping schemes, as value objects: their options, nothing that changes.

A scheme is a class of this file: its name and its order are said there and nowhere else.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from exposim import _checks, _core
from exposim.errors import InvalidArgument, did_you_mean
from exposim.kernels import MOST_MICRO_STEPS, ContactKernel, Pade, _contact_kernel

_POSITION_UPDATES = {"lam_pr2": _core.PositionUpdate.DOUBLE_AVERAGE, "lam_pr": _core.PositionUpdate.SINGLE_AVERAGE}
_ANCHOR_RULES = {"surface": _core.AnchorRule.SURFACE, "detected": _core.AnchorRule.DETECTED}
_PROJECTIONS = {"horizontal": _core.Projection.HORIZONTAL, "orthogonal": _core.Projection.ORTHOGONAL}
_OF_THE_PAPER = ("transitions", "kernel", "balance", "position_update", "anchor", "projection")


class Integrator(ABC):
    """A time-stepping scheme. Every simulator makes an instance of its own from these options.

    Attributes:
        name: By which files, tables and the command line know it.
        order: Of its error in a smooth motion, as a power of the step.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def order(self) -> int:
        """Of its error in a smooth motion, as a power of the step."""

    @abstractmethod
    def _build(self) -> _core.Integrator: ...


class LeavesToPaperExpo:
    """Refuses options of the paper's method that are given elsewhere, and says where they belong."""

    def __new__(cls, *_: Any, **options: Any) -> Any:
        """An object as usual, unless an option belongs to :class:`PaperExpo`."""
        for name in _OF_THE_PAPER:
            if name in options:
                there = "" if name == "transitions" else f"{name}={options[name]!r}"
                raise InvalidArgument(
                    f"{name} is no option of {cls.__name__} but of the paper's method; "
                    f"give the integrator exposim.PaperExpo({there}), or leave it out"
                )
        return super().__new__(cls)


@dataclass(frozen=True)
class Expo(LeavesToPaperExpo, Integrator):
    r"""Exponential integrator for stiff contacts.

    Freezes :math:`A` and :math:`b` over the step and integrates the contact dynamics :math:`\dot x = A x + b`
    exactly (``eq:contact_dyn``); the remaining dynamics are explicit. Where a contact may land, lift, slip or stick
    within the step, it is followed through that in contact space. Choose it for stiff contacts and large steps.

    The integrals are taken in closed form where damping is proportional to stiffness, otherwise by the cheapest
    approximation that meets the tolerance.

    Args:
        order: 1: the terms of the dynamics are those at the start of the step. 2: those at an estimate of its middle,
            for a third more time; second order while no contact changes.
        tolerance: Largest error of an average contact force, relative to the largest of them.
        micro_steps: Into which a step is divided at least where contacts change, up to 100,000.
        micro_tolerance: Error [m/s²] of the mean acceleration of contacts that each micro-step may make, beside
            up to six tenths of what terms that are frozen cost anyway; ``inf``: no more micro-steps than said above.
        max_acceleration: Open contacts are looked after that this acceleration [m/s²] would close within the step;
            where another one closed, the step is taken again.
        max_turn: A step in which a body turns by more than this [rad] is divided into up to 64 parts; ``None``: never.
    """

    name: ClassVar[str] = "expo"
    order: Literal[1, 2] = 2
    tolerance: float = _core.KERNEL_TOLERANCE
    micro_steps: int = _core.MICRO_STEPS
    micro_tolerance: float = _core.MICRO_TOLERANCE
    max_acceleration: float = _core.MAX_ACCELERATION
    max_turn: float | None = _core.MAX_TURN

    def __post_init__(self) -> None:
        _checks.choice("order", self.order, (1, 2))
        _checks.number("tolerance", self.tolerance, "", above=0.0)
        _checks.count("micro_steps", self.micro_steps, MOST_MICRO_STEPS)
        _checks.positive("micro_tolerance", self.micro_tolerance, "[m/s²], or inf")
        _checks.number("max_acceleration", self.max_acceleration, "[m/s²]", least=0.0)
        if self.max_turn is not None:
            _checks.number("max_turn", self.max_turn, "[rad]", above=0.0)

    def _build(self) -> _core.Integrator:
        max_turn = math.inf if self.max_turn is None else float(self.max_turn)
        return _core.Expo(
            self.order,
            float(self.tolerance),
            self.micro_steps,
            float(self.micro_tolerance),
            float(self.max_acceleration),
            max_turn,
        )


@dataclass(frozen=True)
class PaperExpo(Integrator):
    """The paper's exponential integrator: average forces are projected on the friction cone.

    As :class:`Expo` of first order, but contacts do not change within a step: the average forces are projected on the
    friction cone, and landings are noticed at the end of the step.

    Args:
        kernel: How the integrals are computed. ``"auto"``: by a series; where that would be long, in closed
            form if damping is proportional to stiffness, otherwise by the cheapest approximation that meets the
            tolerance. ``"modal"``: the closed form, refused for other materials. ``"expm"`` or ``Pade(degree)``: as in
            the paper.
        tolerance: Of ``"auto"``: largest error of an average contact force, relative to the largest of them.
        balance: Balance the matrix of ``"expm"`` or ``Pade`` first; ``False`` is the paper's baseline.
        position_update: Which average of the contact force moves the configuration: ``"lam_pr2"``, the double
            average (``eq:state_int_friction2``), or ``"lam_pr"``, the paper's simpler one
            (``eq:state_int_friction``).
        anchor: Where a new contact is anchored: on the ``"surface"`` or, as in the paper, where it was ``"detected"``.
        projection: Of forces on the friction cone: ``"horizontal"`` keeps the normal force, ``"orthogonal"`` takes the
            nearest point.
    """

    name: ClassVar[str] = "paper-expo"
    order = 1
    kernel: ContactKernel = "auto"
    tolerance: float = _core.KERNEL_TOLERANCE
    balance: bool = True
    position_update: Literal["lam_pr2", "lam_pr"] = "lam_pr2"
    anchor: Literal["surface", "detected"] = "surface"
    projection: Literal["horizontal", "orthogonal"] = "horizontal"

    def __post_init__(self) -> None:
        _contact_kernel(self.kernel, self.balance, self.tolerance)
        if self.kernel == "modal" and not self.balance:
            raise InvalidArgument("balance is False, but kernel 'modal' has no matrix to balance; leave it out")
        if self.kernel != "auto" and self.tolerance != _core.KERNEL_TOLERANCE:
            raise InvalidArgument(f"tolerance is {self.tolerance!r}, but only kernel 'auto' goes by it; leave it out")
        _checks.choice("position_update", self.position_update, tuple(_POSITION_UPDATES))
        _checks.choice("anchor", self.anchor, tuple(_ANCHOR_RULES))
        _checks.choice("projection", self.projection, tuple(_PROJECTIONS))

    def _build(self) -> _core.Integrator:
        kernel = _contact_kernel(self.kernel, self.balance, self.tolerance)
        return _core.PaperExpo(
            kernel,
            _POSITION_UPDATES[self.position_update],
            _ANCHOR_RULES[self.anchor],
            _PROJECTIONS[self.projection],
        )


@dataclass(frozen=True)
class ExplicitEuler(Integrator):
    r"""Explicit Euler: :math:`v^+ = v + dt\,\dot v`, :math:`q^+ = q \oplus (dt\,v + \frac{dt^2}{2}\dot v)`.

    First order. Stable only for steps far below :math:`\sqrt{m/K}` and :math:`m/B`.
    """

    name: ClassVar[str] = "explicit-euler"
    order = 1

    def _build(self) -> _core.Integrator:
        return _core.ExplicitEuler()


@dataclass(frozen=True)
class SemiImplicitEuler(Integrator):
    r"""Semi-implicit (symplectic) Euler: :math:`v^+ = v + dt\,\dot v`, :math:`q^+ = q \oplus dt\,v^+`.

    First order, with the usual stability of game engines: steps below :math:`2\sqrt{m/K}` without damping.
    """

    name: ClassVar[str] = "semi-implicit-euler"
    order = 1

    def _build(self) -> _core.Integrator:
        return _core.SemiImplicitEuler()


@dataclass(frozen=True)
class RungeKutta4(Integrator):
    r"""The classical fourth-order Runge-Kutta scheme, on the manifold of configurations.

    Moves the configuration by compositions of :math:`\oplus` (Celledoni, Marthinsen, Owren 2003). Fourth order while no
    contact changes; explicit, so stable only for small steps. Its stages follow the contact law from the contacts at
    the start of the step.
    """

    name: ClassVar[str] = "rk4"
    order = 4

    def _build(self) -> _core.Integrator:
        return _core.RungeKutta4()


@dataclass(frozen=True)
class ImplicitEuler(Integrator):
    r"""Implicit Euler by Newton's method: :math:`v^+ = v + dt\,\dot v(q^+, v^+)`, :math:`q^+ = q \oplus dt\,v^+`.

    First order, stable at large steps, with artificial viscosity. ``sim.info`` tells iterations and residual of the
    last step, ``sim.statistics`` of the run. Where Newton's method does not converge, at contact changes for example,
    the best iterate is kept.

    Args:
        tolerance: On the norm of :math:`v^+ - v - dt\,\dot v` [m/s, rad/s], above zero.
        max_iterations: Newton steps at the most, from 1 to 10,000.
    """

    name: ClassVar[str] = "implicit-euler"
    order = 1
    tolerance: float = 1e-6
    max_iterations: int = 100

    def __post_init__(self) -> None:
        _checks.number("tolerance", self.tolerance, "[m/s, rad/s]", above=0.0)
        _checks.count("max_iterations", self.max_iterations, 10_000)

    def _build(self) -> _core.Integrator:
        return _core.ImplicitEuler(float(self.tolerance), int(self.max_iterations))


# Every scheme by its name, and what else people call some.
SCHEMES: dict[str, type[Integrator]] = {kind.name: kind for kind in Integrator.__subclasses__()}
SYNONYMS = {"expo-averaged": PaperExpo.name, "runge-kutta4": RungeKutta4.name, "runge-kutta-4": RungeKutta4.name}


def scheme_named(name: str) -> type[Integrator]:
    """The scheme of that name, as the command line and tables have it; also of its class (``"RungeKutta4"``).

    Raises:
        InvalidArgument: If none has it; the closest one is suggested.
    """
    word = name.strip()
    key = word.lower().replace("_", "-")
    key = SYNONYMS.get(key, key)
    by_class = {kind.__name__: kind for kind in SCHEMES.values()}
    if key not in SCHEMES and word not in by_class:
        near = did_you_mean(key, [*SCHEMES, *SYNONYMS])
        raise InvalidArgument(f"integrator is {name!r}{near or ';'} give one of {', '.join(SCHEMES)}")
    return SCHEMES.get(key) or by_class[word]


def as_integrator(integrator: Integrator | str | None) -> Integrator:
    """An integrator itself, one of that name with its own defaults, or by default ``Expo()``."""
    if integrator is None:
        return Expo()
    if isinstance(integrator, str):
        return scheme_named(integrator)()
    if not isinstance(integrator, Integrator):
        meant = f" (a step is dt={integrator!r})" if isinstance(integrator, (int, float)) else ""
        raise InvalidArgument(
            f"integrator is {integrator!r}{meant}; give an integrator, for example exposim.Expo(), or its name: "
            f"{', '.join(SCHEMES)}"
        )
    return integrator


def short_name(integrator: Integrator) -> str:
    """For tables: the name, and the kernel unless it is the default: ``"paper-expo:pade3"``."""
    if not isinstance(integrator, PaperExpo) or integrator.kernel == "auto":
        return integrator.name
    kernel = integrator.kernel
    return f"{integrator.name}:{f'pade{kernel.degree}' if isinstance(kernel, Pade) else kernel}"
