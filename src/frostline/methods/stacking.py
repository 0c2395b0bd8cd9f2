"""Category affinity, category popularity and the donor's nearest neighbours, combined by logistic regression."""

from __future__ import annotations

from dataclasses import dataclass

from frostline.stacking import LogisticMeta


@dataclass(frozen=True)
class Stacking(LogisticMeta):
    combines = ("grouped_popularity_personal", "grouped_popularity", "knn")
    within_query = False
