"""Sweeps where machines are given out by SLURM."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from exposim.errors import InvalidArgument

MOST_CHUNKS = 1000  # SLURM's own default allows 1001 in an array
CELLS_OF_A_CHUNK = 16  # by default: a job takes seconds to begin, and each imports everything anew

_SCRIPT = """\
#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --array=0-{last}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={workers}
#SBATCH --time=01:00:00
#SBATCH --output={name}-%A_%a.log

# {cells} cells in {chunks} chunks. A job that is sent off again computes only what is missing.
# Submit from a folder that all machines see, where exposim is found:   sbatch this-file
# When all have ended, this gathers them into a table and a plot:
#   {gather}
srun {command} --workers {workers} --chunk "$SLURM_ARRAY_TASK_ID/{chunks}"
"""


def default_chunks(cells: int) -> int:
    """Into how many a number of cells is divided."""
    return min(MOST_CHUNKS, -(-cells // CELLS_OF_A_CHUNK))


def array_script(name: str, command: Sequence[str], cells: int, chunks: int, workers: int = 1) -> str:
    """A script for ``sbatch`` that computes a sweep in chunks, each a job of an array.

    Args:
        name: Of the jobs.
        command: The words of a command that sweeps all, and takes ``--workers`` and ``--chunk i/N``.
        cells: How many there are.
        chunks: Into how many they are divided.
        workers: Cores of a job.
    """
    if not 1 <= chunks <= min(cells, MOST_CHUNKS):
        raise InvalidArgument(f"chunks is {chunks}; give a whole number from 1 to {min(cells, MOST_CHUNKS)}")
    words = shlex.join(command)
    safe = "".join(each if each.isalnum() or each in "-_" else "-" for each in name)
    return _SCRIPT.format(
        name=safe, last=chunks - 1, workers=workers, cells=cells, chunks=chunks, command=words, gather=words
    )
