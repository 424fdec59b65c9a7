"""What is compared: integrators, the paper's method beside ours, and its kernels and variants."""

from __future__ import annotations

from typing import Any

from exposim.kernels import Pade
from exposim.scenarios import Scenario
from exposim.simulation.integrators import (
    ExplicitEuler,
    Expo,
    ImplicitEuler,
    Integrator,
    PaperExpo,
    RungeKutta4,
    SemiImplicitEuler,
)
from exposim.simulation.simulator import Simulator

SCENARIOS = ("solo-squat", "solo-jump", "solo-trot", "romeo-walk")
# How much of each motion is looked at [s].
DURATIONS = {"solo-squat": 4.0, "solo-jump": 2.0, "solo-trot": 4.0, "romeo-walk": 5.0}
QUICK_DURATIONS = {"solo-squat": 0.4, "solo-jump": 1.0, "solo-trot": 0.8, "romeo-walk": 1.8}


OURS = "Expo"  # contacts resolved within the step, second order
AVERAGED = "Expo, averaged (paper)"  # the paper's method
PRODUCTS = {0: 1, 1: 2, 2: 3, 3: 5, 4: 7}  # number of matrix products: degree of the approximant

# By their labels in tables and figures.
VARIANTS: dict[str, Integrator] = {
    OURS: Expo(),
    "Expo, order 1": Expo(order=1),
    AVERAGED: PaperExpo(),
    "Expo, full exponential": PaperExpo(kernel="expm"),
    **{f"Expo, {products} products": PaperExpo(kernel=Pade(degree)) for products, degree in PRODUCTS.items()},
    "Expo, anchor as detected": PaperExpo(anchor="detected"),
    "Expo, position from lam_pr": PaperExpo(position_update="lam_pr"),
    "Expo, not balanced": PaperExpo(kernel="expm", balance=False),
    "implicit Euler": ImplicitEuler(),
    "RK4": RungeKutta4(),
    "explicit Euler": ExplicitEuler(),
    "semi-implicit Euler": SemiImplicitEuler(),
}
# Of the paper's method: first in closed form.
EXPO_KERNELS = (AVERAGED, "Expo, full exponential", *(f"Expo, {products} products" for products in PRODUCTS))
VERSIONS = (OURS, "Expo, order 1", AVERAGED)
SCHEMES = (*VERSIONS, "implicit Euler", "RK4", "explicit Euler", "semi-implicit Euler")


def simulator_of(label: str, setting: Scenario, dt: float, **options: Any) -> Simulator:
    """Of a variant, to be timed."""
    return Simulator(setting.robot, setting.ground, VARIANTS[label], dt, on_divergence="stop", **options)


def steps_of(integrator: Integrator, control_period: float, smallest: float = 1.25e-4) -> list[float]:
    """Steps to try [s]: the control period, halved as often as leaves it at `smallest` or above.

    The two Euler schemes that need one evaluation only start two halvings lower: about where they cost as much as Expo.
    """
    cheap = isinstance(integrator, (ExplicitEuler, SemiImplicitEuler))
    least = smallest / (4 if cheap else 1) * (1.0 - 1e-9)
    steps, dt = [], control_period
    while dt >= least:
        steps.append(dt)
        dt /= 2
    return steps
