"""A scenario under all combinations of settings: cells that are computed once, anywhere, and kept."""

from exposim.sweeps.cell import Cell
from exposim.sweeps.grid import Grid
from exposim.sweeps.results import Results
from exposim.sweeps.rollouts import rollout
from exposim.sweeps.settings import SETTINGS
from exposim.sweeps.slurm import array_script
from exposim.sweeps.sweeping import part_of, sweep

__all__ = ["SETTINGS", "Cell", "Grid", "Results", "array_script", "part_of", "rollout", "sweep"]
