"""Systems that learn from no label, all of every donor or those named, combined by logistic regression within the query."""

from __future__ import annotations

from dataclasses import dataclass

from frostline.stacking import LogisticMeta


@dataclass(frozen=True)
class StackingFull(LogisticMeta):
    """What a query's candidates have in common cannot order them, so each signal counts by its place within the query."""

    C: float = 0.0001
    signals: tuple[str, ...] = ()
