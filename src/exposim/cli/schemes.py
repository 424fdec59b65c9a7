"""Integrators and kernels by the names that the command line has for them."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

from exposim._durations import show_time
from exposim.cli.quantities import parse_step
from exposim.errors import InvalidArgument, did_you_mean
from exposim.kernels import ContactKernel, Pade
from exposim.simulation.integrators import Expo, Integrator, PaperExpo, scheme_named, short_name

KERNELS: dict[str, str] = {
    "auto": "a series; where that is long, the closed form or the cheapest that meets the tolerance",
    "modal": "closed form; refused where damping is not proportional to stiffness",
    "expm": "the paper's full matrix exponential",
    **{
        f"pade{degree}": f"the paper's fast path: a Padé approximant, products of matrices: {products}"
        for degree, products in ((1, 0), (2, 1), (3, 2), (5, 3), (7, 4))
    },
}


@dataclass(frozen=True)
class Scheme:
    """An integrator with its step, as ``paper-expo:pade3@2ms`` says it.

    Args:
        integrator: The scheme.
        dt: Time step [s]; ``None`` for the common one.
    """

    integrator: Integrator
    dt: float | None = None


def integrator_of(name: str | None, kernel: str | None, base: Integrator) -> Integrator:
    """What two flags ask for, the rest as in `base`.

    Args:
        name: Of the integrator; ``None`` for that of `base`.
        kernel: Of PaperExpo; ``None`` for that of `base`.
        base: Whose options are kept where the flags do not say otherwise.
    """
    integrator = base
    if name is not None and (kind := scheme_named(name)) is not type(base):
        integrator = kind()
    if kernel is None:
        return integrator
    if not isinstance(integrator, PaperExpo):
        raise InvalidArgument(
            f"kernel is {kernel!r}, but {integrator.name} has no choice of them; it goes with {PaperExpo.name}"
        )
    return dataclasses.replace(integrator, kernel=_kernel_of(kernel))


def parse_scheme(text: str) -> Scheme:
    """Reads ``integrator[:kernel][@step]``."""
    found = re.fullmatch(r"\s*([^:@]+?)\s*(?::\s*([^:@]+?)\s*)?(?:@\s*([^:@]+?)\s*)?", text)
    if found is None:
        raise InvalidArgument(f"integrator is {text!r}; give integrator[:kernel][@step], such as paper-expo:pade3@2ms")
    name, kernel, dt = found.groups()
    step = None if dt is None else parse_step(dt)
    return Scheme(integrator_of(name, kernel, Expo()), step)


def label(integrator: Integrator, dt: float | None = None, accuracy: float | None = None) -> str:
    """For tables: the name, the kernel unless it is the default, the step or the accuracy that chooses it."""
    text = short_name(integrator)
    if accuracy is not None:
        return f"{text} to {accuracy:g}"
    return text if dt is None else f"{text} {show_time(dt)}"


def _kernel_of(name: str) -> ContactKernel:
    key = name.strip().lower()
    if key not in KERNELS:
        raise InvalidArgument(f"kernel is {name!r}{did_you_mean(key, KERNELS) or ';'} give one of {', '.join(KERNELS)}")
    if key.startswith("pade"):
        return Pade(int(key.removeprefix("pade")))
    return key  # type: ignore[return-value]  # one of the names that KERNELS lists
