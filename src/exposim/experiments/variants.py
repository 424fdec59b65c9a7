"""What is compared: integrators, the paper's method beside ours, and its kernels and variants."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from exposim.kernels import Pade
from exposim.simulation.integrators import (
    ExplicitEuler,
    Expo,
    ImplicitEuler,
    Integrator,
    RungeKutta4,
    SemiImplicitEuler,
)

SCENARIOS = ("solo-squat", "solo-jump", "solo-trot", "romeo-walk")
# How much of each motion is looked at [s].
DURATIONS = {"solo-squat": 4.0, "solo-jump": 2.0, "solo-trot": 4.0, "romeo-walk": 5.0}
QUICK_DURATIONS = {"solo-squat": 0.4, "solo-jump": 1.0, "solo-trot": 0.8, "romeo-walk": 1.8}


@dataclass(frozen=True)
class Variant:
    """A way to simulate.

    Args:
        label: In tables and figures.
        integrator: The scheme.
        family: ``"expo"``, ``"explicit"`` or ``"implicit"``; explicit ones start at smaller steps.
        settings: Of the simulator, where they differ from the usual.
    """

    label: str
    integrator: Integrator
    family: str
    settings: dict[str, Any] = field(default_factory=dict)


OURS = "Expo"  # contacts resolved within the step, second order
AVERAGED = "Expo, averaged (paper)"  # the paper's method
PRODUCTS = {0: 1, 1: 2, 2: 3, 3: 5, 4: 7}  # number of matrix products: degree of the approximant

VARIANTS: dict[str, Variant] = {
    variant.label: variant
    for variant in (
        Variant(OURS, Expo(), "expo"),
        Variant("Expo, order 1", Expo(order=1), "expo"),
        Variant(AVERAGED, Expo(transitions="averaged"), "expo"),
        Variant("Expo, full exponential", Expo(kernel="expm", transitions="averaged"), "expo"),
        *(
            Variant(f"Expo, {products} products", Expo(kernel=Pade(degree), transitions="averaged"), "expo")
            for products, degree in PRODUCTS.items()
        ),
        Variant("Expo, anchor as detected", Expo(transitions="averaged"), "expo", {"anchor": "detected"}),
        Variant("Expo, position from lam_pr", Expo(position_update="lam_pr", transitions="averaged"), "expo"),
        Variant("Expo, not balanced", Expo(kernel="expm", balance=False, transitions="averaged"), "expo"),
        Variant("implicit Euler", ImplicitEuler(), "implicit"),
        Variant("RK4", RungeKutta4(), "explicit"),
        Variant("explicit Euler", ExplicitEuler(), "explicit"),
        Variant("semi-implicit Euler", SemiImplicitEuler(), "explicit"),
    )
}
# Of the paper's method: first in closed form.
EXPO_KERNELS = (AVERAGED, "Expo, full exponential", *(f"Expo, {products} products" for products in PRODUCTS))
VERSIONS = (OURS, "Expo, order 1", AVERAGED)
SCHEMES = (*VERSIONS, "implicit Euler", "RK4", "explicit Euler", "semi-implicit Euler")


def steps_of(variant: Variant, control_period: float, smallest: float = 1.25e-4) -> list[float]:
    """Steps to try [s]: the control period, halved as often as leaves it at `smallest` or above.

    The two Euler schemes that need one evaluation only start two halvings lower: about where they cost as much as Expo.
    """
    cheap = isinstance(variant.integrator, (ExplicitEuler, SemiImplicitEuler))
    least = smallest / (4 if cheap else 1) * (1.0 - 1e-9)
    steps, dt = [], control_period
    while dt >= least:
        steps.append(dt)
        dt /= 2
    return steps
