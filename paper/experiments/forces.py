r"""Contact forces: predicted over 20 ms, jumping at touchdown, and on the friction cone when slipping starts.

The paper's figures of force prediction and of normal forces, and its claim that :math:`\dot p_0^t - \dot p^t` of a
slipping contact decays at the rate K/B, on which it rests setting :math:`\dot p_0^t = \dot p^t` at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from paper.cell import Cell
from paper.figures.forces import figures
from paper.measure.forces import HERE, IMPACTS, JUMP_STEPS, SQUAT, TROT, WALK
from paper.measure.variants import SCENARIOS
from paper.notebook import Notebook

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["figures", "phases", "tables"]

FINE = 1e-3 / 256  # [s] step of what counts as true
SPEEDS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # [m/s] of feet that land
# Which part of a motion is shown [s], and how finely it is simulated and kept.
SHOWN = {TROT: (1.3, 2.5), WALK: (0.5, 3.5)}
FORCE_STEP = 1e-3 / 8
KEPT = {TROT: 1, WALK: 4}  # of so many steps one
# Stiffness and damping of slipping contacts: the paper's K/B = 1000/s, and that of the default material.
SLIPPING = ((1e5, 100.0), (1e5, 300.0))


def phases(chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> list[list[Cell]]:
    """All at once."""
    return [[cell for cells in _cells(chosen, quick).values() for cell in cells]]


def tables(notebook: Notebook, chosen: tuple[str, ...] = SCENARIOS, quick: bool = False) -> dict[str, pd.DataFrame]:
    """``force_prediction``, ``force_jump``, ``touchdown``, ``foot_force`` and ``slip_decay``."""
    pd = importlib.import_module("pandas")  # slow to import
    return {name: pd.DataFrame(notebook.rows(cells)) for name, cells in _cells(chosen, quick).items()}


def _cells(chosen: tuple[str, ...], quick: bool) -> dict[str, list[Cell]]:
    """By the name of the table that they make."""
    squat = SQUAT in chosen
    speeds = SPEEDS[::2] if quick else SPEEDS
    shown = {TROT: (1.3, 1.8), WALK: (0.7, 1.9)} if quick else SHOWN
    return {
        "force_prediction": [Cell(f"{HERE}:prediction", {"case": case, "dt": FINE}) for case in IMPACTS if squat],
        "force_jump": [Cell(f"{HERE}:jump", {"speed": speed, "dt": dt}) for speed in speeds for dt in JUMP_STEPS],
        "touchdown": [Cell(f"{HERE}:touchdown", {"speed": speed, "dt": JUMP_STEPS[-1]}) for speed in speeds],
        "foot_force": [
            Cell(
                f"{HERE}:foot_force",
                {"scenario": name, "start": shown[name][0], "end": shown[name][1]}
                | {"dt": FORCE_STEP, "every": KEPT[name]},
            )
            for name in (TROT, WALK)
            if name in chosen
        ],
        "slip_decay": [
            Cell(f"{HERE}:slip_decay", {"stiffness": K, "damping": B, "duration": 0.012, "dt": 1e-5})
            for K, B in SLIPPING
        ],
    }
