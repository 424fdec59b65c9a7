"""Whether a motion tells what is asked of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from exposim._checks import Array
from exposim.errors import Unobservable
from exposim.simulation.parameters import Parameter

# Of a direction in which parameters can change unseen, the share from which on one takes part in it.
TAKES_PART = 0.3

WHY = {
    "stiffness": "contacts hardly change how deep they are or how far they are stretched, as where they only slide",
    "damping": "contacts hardly change how fast they are pressed or stretched: nothing lands",
    "friction": "no contact slips for as long as it would take to tell",
    "mass": "the body is hardly accelerated",
}
WHAT = {
    "stiffness": "a motion in which feet land and stick",
    "damping": "a motion in which feet land",
    "friction": "a motion in which they slip: faster, or on smoother ground",
    "mass": "a motion that moves it",
}


def deviations(information: Array) -> Array:
    """Standard deviations, each with all others unknown; infinite where there are none, (np,)."""
    values, vectors = np.linalg.eigh(information)
    floor = max(1e-14 * float(values.max(initial=0.0)), 1e-300)
    with np.errstate(divide="ignore"):
        shares = vectors**2 / np.maximum(values, 0.0)
    shares[:, values < floor] = np.where(vectors[:, values < floor] ** 2 > 1e-6, np.inf, 0.0)
    return np.asarray(np.sqrt(shares.sum(axis=1)))


def refuse_unseen(asked: Sequence[Parameter], information: Array, most: float) -> None:
    """Of parameters that noise would move by more than a share of their value.

    Args:
        asked: The parameters.
        information: Of their logarithms, whatever the starts, (np, np).
        most: The share.

    Raises:
        Unobservable: That says which, by how much, and why.
    """
    with np.errstate(divide="ignore"):
        alone = 1.0 / np.sqrt(np.maximum(np.diag(information), 0.0))
    together = deviations(information)
    told = {each.name: float(sd) for each, sd in zip(asked, together, strict=True)}
    for i, each in enumerate(asked):
        if alone[i] > most:
            raise Unobservable(
                f"{each.name} cannot be seen in this motion: {WHY[each.kind]}; noise would move the estimate by "
                f"{_share(alone[i])} of its value: give {WHAT[each.kind]}, or leave it out",
                (each.name,),
                told,
            )
    if together.max(initial=0.0) <= most:
        return
    _, vectors = np.linalg.eigh(information)
    worst = int(np.argmax(together))
    scaled = np.abs(vectors[:, 0])
    mixed = tuple(each.name for i, each in enumerate(asked) if scaled[i] > TAKES_PART or i == worst)
    raise Unobservable(
        f"{' and '.join(mixed)} cannot be told apart in this motion: what one does to it the other does too; noise "
        f"would move {asked[worst].name} by {_share(together[worst])} of its value, and by {_share(alone[worst])} if "
        f"the others were known: give another motion beside it, or ask for one of them",
        mixed,
        told,
    )


def _share(deviation: float) -> str:
    return "any multiple" if not np.isfinite(deviation) or deviation > 1e3 else f"{100.0 * deviation:.2g} %"
