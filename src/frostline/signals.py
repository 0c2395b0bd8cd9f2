"""What a meta-method combines: the scores of other systems, each at the point of its grid that may be known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from frostline.artifacts import ArrayFile, Job
from frostline.tuning import GridPoint, best_point


@dataclass(frozen=True)
class Signal:
    """One system's val scores: of every point of its grid, where it has one.

    Attributes
    ----------
    scores : ArrayFile
        Shape (n_points * n_queries, n_candidates), a point after another.
    figures : ndarray of float64, shape (n_points, n_folds)
        The primary metric of each point on each item fold; of no columns where there is one point.
    """

    scores: ArrayFile
    figures: np.ndarray

    def point_without(self, folds: Sequence[int]) -> int:
        """The point that is best when the labels of some item folds are unknown."""
        return best_point(np.delete(self.figures, list(folds), axis=1)) if self.figures.shape[1] else 0

    def at(self, point: int, n_queries: int) -> GridPoint:
        return GridPoint(self.scores, point, n_queries)


def val_signals(job: Job, n_signals: int) -> list[Signal]:
    """Read `signal<j>` and, of systems with a grid, `tuned<j>`."""
    found = []
    for number in range(n_signals):
        figures = np.zeros((1, 0))
        if f"tuned{number}" in job.inputs:
            figures = np.array([point["folds"] for point in job.read_json(f"tuned{number}")["points"]])
        found.append(Signal(job.read_array(f"signal{number}"), figures))
    return found
