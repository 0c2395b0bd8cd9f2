"""The donor's scores of the nearest items, their weighted mean, mean and maximum, combined by logistic regression."""

from __future__ import annotations

from dataclasses import dataclass

from frostline.stacking import LogisticMeta


@dataclass(frozen=True)
class LogregCalib(LogisticMeta):
    combines = ("knn", "embedding_average", "neighbour_max")
    within_query = False
