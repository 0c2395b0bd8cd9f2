"""Ridge from content to the donor's scores, category affinity and category popularity, combined by logistic regression."""

from __future__ import annotations

from dataclasses import dataclass

from frostline.stacking import LogisticMeta


@dataclass(frozen=True)
class StackingPlus(LogisticMeta):
    combines = ("linmap", "grouped_popularity_personal", "grouped_popularity")
    within_query = False
