"""Read the scores of a system: a whole grid, or what is stored of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frostline.artifacts import ArrayFile, Job

if TYPE_CHECKING:
    from frostline.sparse import SparseScores


def read_scores(job: Job, name: str) -> ArrayFile | SparseScores:
    """An npy input by rows, an npz input as SparseScores."""
    if job.inputs[name].endswith(".npz"):
        from frostline.sparse import SparseScores  # and with it scipy, which takes a fifth of a second to import

        return SparseScores.from_arrays(job.read_arrays(name))
    return job.read_array(name)
