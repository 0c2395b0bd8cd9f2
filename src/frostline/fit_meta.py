"""Stage `fit_meta`: let a meta-method learn from val-cold labels, and give its val scores out of fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from frostline import registry
from frostline.api import BLOCK
from frostline.artifacts import Job
from frostline.errors import FrostlineError
from frostline.folds import meta_half
from frostline.labels import Labels, val_labels
from frostline.meta import DISJOINT, MetaMethod, UserGroup, scaled, score_by_group, user_groups
from frostline.ranking import Metric
from frostline.seeds import generator
from frostline.signals import Signal, features, val_signals
from frostline.tuning import best_point, fold_figure, tuned_record

TRAINING_PAIRS = 1_000_000
"""A model learns from so many user–item pairs at most: all candidates of users drawn at random."""


def run(job: Job) -> None:
    """Read `items`, `queries`, val `labels` and the `signal<j>` and `tuned<j>` of what is combined; write the results.

    `model` holds, for each user group and at the chosen point, a model that learned from all item folds: it scores
    test-cold items. `scores` are those of val-cold items, float32, shape (n_queries, n_candidates): an item of fold f is
    scored by a model that learned from the labels of the other folds, at the point that is best by the other folds
    alone. `tuned` is as the stage `tune` writes it.
    """
    params, known = job.params, val_labels(job)
    folds, n_points = range(params["val_folds"]), len(params["points"])
    if n_points > 1 and len(folds) < 3:
        raise FrostlineError(
            f"system '{params['system']}' has a grid, which takes three item folds: one to judge on, one to choose by and "
            "one to learn from. Raise split.val_folds, or give each of its parameters one value"
        )
    groups = user_groups(known.n_queries, params["meta_users"], params["seed"])
    models = Models(val_signals(job, len(params["signals"])), known, groups, params)
    judge = _Judge(models, known, params)
    figures = np.array([[judge.figure(point, fold, (fold,)) for fold in folds] for point in range(n_points)])
    job.write_json("tuned", tuned_record(params["primary"], params["points"], figures))

    def chosen_without(fold: int) -> int:
        """The point that is best on the other folds, by models that learned nothing of this one."""
        if n_points == 1:
            return 0
        others = [other for other in folds if other != fold]
        return best_point(
            np.array([[judge.figure(p, other, (fold, other)) for other in others] for p in range(n_points)])
        )

    scores = OutOfFold(models, {fold: (chosen_without(fold), (fold,)) for fold in folds})
    with job.array_writer("scores", scores.shape, np.float32) as write:
        for start in range(0, known.n_queries, BLOCK):
            write(scores[start : start + BLOCK])
    final = best_point(figures)
    fitted = {group: models.fitted(final, group, ()) for group in range(len(groups))}
    job.write_arrays(
        "model", {f"{group}.{name}": value for group, model in fitted.items() for name, value in model.items()}
    )


class Models:
    """Models by point, user group and the item folds whose labels they must not know, each fitted once."""

    def __init__(
        self, signals: Sequence[Signal], known: Labels, groups: Sequence[UserGroup], params: Mapping[str, Any]
    ) -> None:
        method = registry.load("methods", params["method"])
        self.methods: list[MetaMethod] = [method(**point["options"]) for point in params["points"]]
        self.signals, self.known, self.groups = signals, known, groups
        self.system, self.seed = params["system"], params["seed"]
        most = max(1, TRAINING_PAIRS // len(known.fold))
        draw = generator(self.seed, "meta-training").permutation(known.n_queries)
        self.users = [np.sort(draw[group.train[draw]][:most]) for group in groups]
        self.fitted, self._column = cache(self._fit), cache(self._read)

    def _fit(self, point: int, group: int, unknown: tuple[int, ...]) -> Mapping[str, Any]:
        known, users, method = self.known, self.users[group], self.methods[point]
        allowed = np.flatnonzero(~np.isin(known.fold, unknown))
        relevant = np.zeros((known.n_queries, len(known.fold)), dtype=bool)
        relevant[known.query, known.column] = True
        relevant = relevant[users][:, allowed]
        if relevant.all() or not relevant.any():
            raise FrostlineError(
                f"system '{self.system}': its {len(users)} users have {'only' if relevant.any() else 'no'} relevant items "
                f"among the {len(allowed)} val-cold items that it may learn from, and one class teaches nothing. Use a "
                "larger split.val, fewer split.val_folds, or meta_users: shared"
            )
        columns = [
            self._column(group, number, signal.point_without(unknown))[:, allowed]
            for number, signal in enumerate(self.signals)
        ]
        return method.fit(np.stack(columns, axis=-1), relevant, self.seed)

    def _read(self, group: int, number: int, point: int) -> np.ndarray:
        users, signal = self.users[group], self.signals[number].at(point, self.known.n_queries)
        blocks = [
            signal[start : start + BLOCK][users[(users >= start) & (users < start + BLOCK)] - start]
            for start in range(0, self.known.n_queries, BLOCK)
        ]
        return scaled(np.concatenate(blocks), self.methods[0].within_query)

    def score(self, rows: slice, columns: np.ndarray, point: int, unknown: tuple[int, ...]) -> np.ndarray:
        """Scores of some queries and some val-cold items, each query by the model of its group."""
        method = self.methods[point]
        signals = [s.at(s.point_without(unknown), self.known.n_queries) for s in self.signals]
        block = features(signals, rows, method.within_query)[:, columns]
        return score_by_group(
            method, [self.fitted(point, group, unknown) for group in range(len(self.groups))], self.groups, rows, block
        )


@dataclass(frozen=True)
class OutOfFold:
    """Val scores, the items of each fold by a point and a model without the labels of some folds; zero for other folds."""

    models: Models
    folds: Mapping[int, tuple[int, tuple[int, ...]]]

    @property
    def shape(self) -> tuple[int, int]:
        return self.models.known.n_queries, len(self.models.known.fold)

    def __getitem__(self, rows: slice) -> np.ndarray:
        start, stop, _ = rows.indices(self.shape[0])
        block = np.zeros((stop - start, self.shape[1]), np.float32)
        for fold, (point, unknown) in self.folds.items():
            columns = np.flatnonzero(self.models.known.fold == fold)
            block[:, columns] = self.models.score(slice(start, stop), columns, point, unknown)
        return block


class _Judge:
    """The primary metric on an item fold, over the users that count."""

    def __init__(self, models: Models, known: Labels, params: Mapping[str, Any]) -> None:
        self.models, self.fold = models, known.fold
        self.metric, self.ties = Metric.parse(params["primary"]), params["ties"]
        counts = np.ones(known.n_queries, dtype=bool)
        if params["meta_users"] == DISJOINT:
            counts = ~meta_half(known.n_queries, params["seed"])
        self.query, self.column = known.query[counts[known.query]], known.column[counts[known.query]]

    def figure(self, point: int, fold: int, unknown: tuple[int, ...]) -> float:
        scores = OutOfFold(self.models, {fold: (point, unknown)})
        return fold_figure(scores, self.query, self.column, self.fold == fold, self.metric, self.ties)
