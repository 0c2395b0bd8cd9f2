"""Meta-methods: supervised combinations of other systems' scores, learned from val-cold labels (stacking).

Wolpert ("Stacked generalization", Neural Networks 5(2), 1992) trains the combination on predictions for what the
combined models have not seen. Here nothing that is combined has seen any cold item, so val-cold labels serve; and what
may be judged on them is out of fold: an item's val scores come from a model that saw no label of its item fold, and of
its user's half neither (see `user_groups`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from frostline.folds import meta_half

Example = tuple[np.ndarray, np.ndarray]
"""Features and labels of some queries and their candidates."""

ROWS = 1024
"""Queries scored at a time: few, since a block holds every signal, and fixed, as last bits depend on a product's shape."""

SHARED, DISJOINT, CROSSFIT = "shared", "disjoint", "crossfit"


@dataclass(frozen=True)
class MetaMethod:
    """Base of the meta-methods, which stand among the methods in the config; the features are other systems' scores.

    Parameters
    ----------
    folds : int
        Where it is above 0, the warm items are divided into so many folds and each is played cold in turn, with every
        donor refitted without it (see `frostline.pseudo_split`); the model learns from their labels beside those of val.

    Class attributes
    ----------------
    combines : tuple of str or None
        Names of the methods whose systems are the signals, those that transfer a donor's scores once for each donor; None
        for the systems that the parameter `signals` names, or for all that learn from no label if it names none.
    within_query : bool
        Whether each signal is brought to mean 0 and standard deviation 1 over the candidates of a query. The features
        are the scores as they are otherwise.
    """

    combines: ClassVar[tuple[str, ...] | None] = None
    within_query: ClassVar[bool] = True

    folds: int = 0

    def __post_init__(self) -> None:
        if self.folds < 0 or self.folds == 1:
            raise ValueError("folds must be 0 (learn from val alone) or at least 2")

    def fit(self, examples: Sequence[Example], seed: int) -> Mapping[str, Any]:
        """Learn a model (arrays by name).

        Parameters
        ----------
        examples : sequence of (features, relevant)
            One for val-cold and one for each pseudo-cold fold, each with candidates and queries of its own: `features`
            is float32 of shape (n_queries, n_candidates, n_signals), `relevant` bool of shape (n_queries, n_candidates).
            Together they hold both classes.
        seed : int
        """
        raise NotImplementedError

    def score(self, model: Mapping[str, Any], features: np.ndarray) -> np.ndarray:
        """Scores of shape (n_queries, n_candidates) from features of shape (n_queries, n_candidates, n_signals)."""
        raise NotImplementedError


@dataclass(frozen=True)
class UserGroup:
    """Which users' labels train a model, and which users that model scores; masks over all queries."""

    train: np.ndarray
    apply: np.ndarray


def user_groups(n_queries: int, meta_users: str, seed: int) -> list[UserGroup]:
    """Divide the users as `split.meta_users` says.

    Returns
    -------
    list of UserGroup
        `shared`: one model trained on all users for all. `crossfit`: two, each half of the users being scored by the one
        trained on the other half. `disjoint`: one, trained on half of the users, who are then left out of the evaluation
        of every system (see `meta_half`).
    """
    half, everyone = meta_half(n_queries, seed), np.ones(n_queries, dtype=bool)
    if meta_users == SHARED:
        return [UserGroup(everyone, everyone)]
    if meta_users == DISJOINT:
        return [UserGroup(half, everyone)]
    return [UserGroup(half, ~half), UserGroup(~half, half)]


def score_by_group(
    method: MetaMethod, models: Sequence[Mapping[str, Any]], groups: Sequence[UserGroup], rows: slice, block: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the queries `rows`, whose features are `block`, float32, and which group's model gave each row's, int8."""
    scores, scored_by = np.empty(block.shape[:2], np.float32), np.empty(len(block), np.int8)
    for number, (model, group) in enumerate(zip(models, groups, strict=True)):
        own = group.apply[rows]
        if own.any():
            scores[own] = method.score(model, block[own])
            scored_by[own] = number
    return scores, scored_by


def scaled(scores: np.ndarray, within_query: bool) -> np.ndarray:
    """Scores as a feature: as they are, or each row brought to mean 0 and standard deviation 1 (0 if it is constant)."""
    if not within_query:
        return scores
    scores = scores.astype(np.float64)
    centred = scores - scores.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    # What is left of a constant row is rounding, which must not be blown up to a signal.
    varies = spread > 1e-9 * np.abs(scores).max(axis=1, keepdims=True)
    return np.divide(centred, spread, out=np.zeros_like(centred), where=varies).astype(np.float32)
